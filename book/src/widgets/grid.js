// One matrix as an ARIA grid: a caption, the labels and the cells, one tab stop
// for the keyboard and arrow keys inside. It shows what it is given and tells
// what the reader points at; what that means, the widget decides.

import { make, setAttribute, symbol, write } from './dom.js';

/** @import { Matrix, MatrixName, Place } from './types.d.ts' */

/**
 * What a grid shows.
 * @typedef {object} Sheet
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string[][]} texts
 * @property {number[][]} shades  how strong each cell's colour is, 0 to 20
 * @property {number[]} [open]  of cells that are drawn as closed: how many are open in each row
 * @property {string[][]} [problems]  a sentence for each cell with a mistake
 * @property {string} label  for screen readers
 * @property {string} shape
 * @property {string} symbol
 * @property {string} formula  what it is computed from, or ''
 * @property {boolean} hidden  whether it is not computed yet
 * @property {boolean} stale  whether it is from before a mistake
 * @property {number | null} followed  a row
 */

/**
 * What a grid tells.
 * @typedef {object} Listener
 * @property {(place: Place) => void} focus
 * @property {(place: Place) => void} press
 * @property {(place: Place | null) => void} hover
 * @property {(row: number) => void} follow
 * @property {(place: Place, key: string) => boolean} key  whether the key was taken
 */

/** What stands in a cell that is not computed yet. */
const EMPTY = '·';

/** How the keys move, as a change of row and column. */
const MOVES = /** @type {Record<string, [number, number]>} */ ({
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-Infinity, 0],
    PageDown: [Infinity, 0],
    Home: [0, -Infinity],
    End: [0, Infinity],
});

export class Grid {
    /** @type {HTMLElement[][]} the row's label, then its cells */
    #cells = [];
    /** Where the tab stop is. Column 0 is that of the labels. */
    #stop = [0, 1];
    /** @type {HTMLElement[]} */
    #marked = [];
    #shape = '';
    /** The formula that stands there. */
    #written = '';
    #table = make('table', { role: 'grid' });
    #shapeText = make('span', { class: 'shape' });
    #symbol = symbol('');
    #formula = make('span', { class: 'formula', hidden: true });
    #listener;

    /**
     * @param {Pick<Matrix, 'name' | 'family'>} matrix
     * @param {{ tag: string, follows: boolean, editable: boolean, hint: string }} role
     *     `tag`: the step that makes it; `hint`: id of a help text
     * @param {Listener} listener
     */
    constructor(matrix, role, listener) {
        this.name = matrix.name;
        this.follows = role.follows;
        this.editable = role.editable;
        this.#listener = listener;
        setAttribute(this.#table, 'aria-describedby', role.hint);
        setAttribute(this.#table, 'aria-readonly', role.editable ? undefined : 'true');
        const caption = make('p', { class: 'caption' }, make('span', { class: 'tag' }, role.tag), this.#symbol, this.#formula, this.#shapeText);
        this.root = make(
            'div',
            {
                class: `matrix${role.editable ? ' editable' : ''}`,
                'data-symbol': matrix.name,
                'data-name': matrix.name,
                'data-family': matrix.family,
            },
            caption,
            make('div', { class: 'box' }, this.#table),
        );
        this.#listen();
    }

    /** @param {Sheet} sheet */
    update(sheet) {
        const { rows, columns } = sheet;
        const shape = `${rows.length} ${columns.length}`;
        if (shape !== this.#shape) {
            this.#build(rows.length, columns.length);
            this.#shape = shape;
        }
        setAttribute(this.#table, 'aria-label', sheet.label);
        setAttribute(this.root, 'data-hidden', sheet.hidden);
        setAttribute(this.root, 'data-stale', sheet.stale);
        write(this.#shapeText, sheet.shape);
        if (sheet.symbol !== this.root.dataset.shows) {
            this.root.dataset.shows = sheet.symbol;
            this.#symbol.replaceChildren(...symbol(sheet.symbol).childNodes);
        }
        if (sheet.formula !== this.#written) {
            this.#written = sheet.formula;
            this.#formula.replaceChildren(...symbol(sheet.formula).childNodes);
            this.#formula.hidden = sheet.formula === '';
        }
        const longest = Math.max(...sheet.texts.flat().map(text => text.length));
        setAttribute(this.#table, 'style', `--letters: ${longest}`);
        this.#labelColumns(columns);
        rows.forEach((name, row) => this.#fillRow(sheet, name, row));
    }

    /**
     * Marks the cell that is explained, and those it came from.
     * @param {Place | null} chosen
     * @param {boolean} pinned
     * @param {Place[]} sources
     */
    mark(chosen, pinned, sources) {
        for (const cell of this.#marked) {
            cell.classList.remove('chosen', 'pinned', 'source');
            cell.removeAttribute('aria-selected');
        }
        this.#marked = [];
        for (const [name, row, column] of sources) {
            if (name === this.name) {
                this.#mark(this.cell(row, column), 'source');
            }
        }
        if (chosen?.[0] === this.name) {
            const cell = this.cell(chosen[1], chosen[2]);
            this.#mark(cell, 'chosen');
            if (cell && pinned) {
                cell.classList.add('pinned');
                cell.setAttribute('aria-selected', 'true');
            }
        }
    }

    /**
     * @param {number} row
     * @param {number} column
     * @returns {HTMLElement | undefined}
     */
    cell(row, column) {
        return this.#cells[row]?.[column + 1];
    }

    /**
     * @param {HTMLElement | undefined} cell
     * @param {string} kind
     */
    #mark(cell, kind) {
        if (cell) {
            cell.classList.add(kind);
            this.#marked.push(cell);
        }
    }

    /**
     * Makes the rows and cells, empty.
     * @param {number} rows
     * @param {number} columns
     */
    #build(rows, columns) {
        const head = make('tr', {}, make('td'));
        for (let column = 0; column < columns; column += 1) {
            head.append(make('th', { scope: 'col' }));
        }
        const body = make('tbody');
        this.#cells = Array.from({ length: rows }, (_, row) => {
            const label = this.follows
                ? make('button', { type: 'button', class: 'follow', tabindex: -1 })
                : make('span');
            label.append('');
            const cells = Array.from({ length: columns }, () => make('td', { role: 'gridcell', tabindex: -1 }, EMPTY));
            const line = make('tr', {}, make('th', { scope: 'row' }, label), ...cells);
            line.style.setProperty('--row', String(row));
            body.append(line);
            return [label, ...cells];
        });
        this.#table.replaceChildren(make('thead', {}, head), body);
        this.#stop = [Math.min(this.#stop[0], rows - 1), Math.min(this.#stop[1], columns)];
        this.#cells[this.#stop[0]][this.#stop[1]].tabIndex = 0;
    }

    /** @param {string[]} names */
    #labelColumns(names) {
        const head = this.#table.tHead?.rows[0];
        names.forEach((name, column) => {
            const label = head?.cells[column + 1];
            if (label) {
                write(label, name);
            }
        });
    }

    /**
     * @param {Sheet} sheet
     * @param {string} name
     * @param {number} row
     */
    #fillRow(sheet, name, row) {
        const [label, ...cells] = this.#cells[row];
        write(label, name);
        const line = /** @type {HTMLElement} */ (cells[0].parentElement);
        if (this.follows) {
            line.classList.toggle('followed', sheet.followed === row);
            setAttribute(label, 'aria-pressed', String(sheet.followed === row));
            setAttribute(label, 'aria-label', `Follow “${name}”`);
        }
        cells.forEach((cell, column) => {
            const text = sheet.hidden ? EMPTY : sheet.texts[row][column];
            const letters = /** @type {Text} */ (cell.firstChild);
            if (letters.data !== text) {
                letters.data = text;
            }
            setAttribute(cell, 'data-shade', sheet.hidden ? 0 : sheet.shades[row]?.[column] ?? 0);
            const open = sheet.open?.[row] ?? Infinity;
            const wrong = sheet.problems?.[row]?.[column];
            const kind = sheet.hidden ? '' : column >= open ? 'closed' : text.startsWith('−') ? 'negative' : '';
            if (cell.dataset.kind !== kind) {
                cell.classList.toggle('closed', kind === 'closed');
                cell.classList.toggle('negative', kind === 'negative');
                cell.dataset.kind = kind;
            }
            this.#blame(cell, wrong);
        });
    }

    /**
     * Marks a cell that holds no number, or no longer does.
     * @param {HTMLElement} cell
     * @param {string | undefined} sentence
     */
    #blame(cell, sentence) {
        if ((cell.title || undefined) !== sentence) {
            setAttribute(cell, 'aria-invalid', sentence && 'true');
            setAttribute(cell, 'title', sentence);
        }
    }

    /**
     * The place of something inside the grid; its column is −1 for a row's label.
     * @param {EventTarget | null} target
     * @returns {Place | null}
     */
    placeOf(target) {
        const cell = target instanceof Element && target.closest('tbody td, tbody th');
        if (!(cell instanceof HTMLTableCellElement)) {
            return null;
        }
        const line = /** @type {HTMLTableRowElement} */ (cell.parentElement);
        return [/** @type {MatrixName} */ (this.name), line.sectionRowIndex, cell.cellIndex - 1];
    }

    #listen() {
        const table = this.#table;
        table.addEventListener('focusin', ({ target }) => {
            const place = this.placeOf(target);
            if (place) {
                this.#moveStop(place[1], place[2] + 1);
                this.#listener.focus(place);
            }
        });
        table.addEventListener('click', ({ target }) => {
            const place = this.placeOf(target);
            if (place && place[2] >= 0) {
                this.#listener.press(place);
            } else if (place && this.follows) {
                this.#listener.follow(place[1]);
            }
        });
        table.addEventListener('pointerover', event => {
            const place = event.pointerType === 'mouse' ? this.placeOf(event.target) : null;
            if (place) {
                this.#listener.hover(place[2] >= 0 ? place : null);
            }
        });
        table.addEventListener('pointerleave', () => this.#listener.hover(null));
        table.addEventListener('keydown', event => this.#onKey(event));
    }

    /** @param {KeyboardEvent} event */
    #onKey(event) {
        const place = this.placeOf(event.target);
        if (!place || event.target instanceof HTMLInputElement || event.altKey || event.metaKey) {
            return;
        }
        const move = MOVES[event.key];
        if (move && (!event.ctrlKey || event.key === 'Home' || event.key === 'End')) {
            event.preventDefault();
            const [down, right] = move;
            this.focus(place[1] + (event.ctrlKey ? right : down), place[2] + right);
        } else if (place[2] >= 0 && !event.ctrlKey && this.#listener.key(place, event.key)) {
            event.preventDefault();
        }
    }

    /**
     * Moves the focus to a cell, or to the nearest there is.
     * @param {number} row
     * @param {number} column  −1 for the row's label
     */
    focus(row, column) {
        const lines = this.#cells.length;
        const line = this.#cells[Math.max(0, Math.min(row, lines - 1))];
        const first = this.follows ? 0 : 1;
        line[Math.max(first, Math.min(column + 1, line.length - 1))].focus();
    }

    /**
     * @param {number} row
     * @param {number} at
     */
    #moveStop(row, at) {
        const [oldRow, oldAt] = this.#stop;
        const old = this.#cells[oldRow]?.[oldAt];
        if (old) {
            old.tabIndex = -1;
        }
        this.#stop = [row, at];
        this.#cells[row][at].tabIndex = 0;
    }
}

