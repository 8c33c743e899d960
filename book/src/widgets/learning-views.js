// What is seen of a training: its loss curve, where the head looks in a sentence,
// and its weights. Each is made once and then changed in place, for it may change
// in every frame.

import { make, setAttribute, symbol, write } from './dom.js';

/** @import { TrainRun } from './types.d.ts' */

const SVG = 'http://www.w3.org/2000/svg';

export class CurveView {
    #line = document.createElementNS(SVG, 'polyline');
    #x = make('div', { class: 'ticks-x' });
    #y = make('div', { class: 'ticks-y' });
    #svg = document.createElementNS(SVG, 'svg');

    constructor() {
        this.#svg.setAttribute('viewBox', '0 0 1000 1000');
        this.#svg.setAttribute('preserveAspectRatio', 'none');
        this.#svg.setAttribute('role', 'img');
        this.#svg.append(this.#line);
        this.root = make(
            'div',
            { class: 'learn-curve' },
            make('p', { class: 'learn-title' }, 'Loss, step by step'),
            make('div', { class: 'learn-plot' }, this.#y, make('div', { class: 'learn-line' }), this.#x),
        );
        this.root.querySelector('.learn-line')?.append(this.#svg);
    }

    /** @param {TrainRun} run */
    show({ curve, loss, steps }) {
        setAttribute(this.#line, 'points', curve.line);
        setAttribute(this.#svg, 'aria-label', `Loss curve: ${loss.shown} after ${steps} steps`);
        this.#ticks(this.#x, curve.x);
        this.#ticks(this.#y, curve.y);
    }

    /**
     * @param {HTMLElement} axis
     * @param {TrainRun['curve']['x']} ticks
     */
    #ticks(axis, ticks) {
        const texts = ticks.map(({ text }) => text).join(' ');
        if (axis.dataset.texts !== texts) {
            axis.dataset.texts = texts;
            axis.replaceChildren(...ticks.map(({ at, text }) => {
                const tick = make('span', {}, text);
                tick.style.setProperty('--at', String(at));
                return tick;
            }));
        }
    }
}

export class AttentionView {
    #choice = make('select', { 'aria-label': 'Sentence' });
    #place = make('div', { class: 'scroll', role: 'region', 'aria-label': 'Attention', tabindex: 0 });
    /** @type {HTMLTableCellElement[][]} */
    #cells = [];
    /** The sentences that are to choose from. */
    #known = '';
    /** @type {TrainRun | undefined} */
    #run;

    constructor() {
        this.#choice.addEventListener('change', () => this.#build());
        this.root = make(
            'div',
            { class: 'matrix learn-map', 'data-symbol': 'A' },
            make('p', { class: 'learn-title' }, 'Where it looks ', this.#choice),
            this.#place,
            make('p', { class: 'learn-legend' }, 'A row looks at the columns. Framed: where the answer stands.'),
        );
    }

    /** @param {TrainRun} run */
    show(run) {
        this.#run = run;
        const sentences = run.examples.map(({ words }) => words.join(' '));
        if (this.#known !== sentences.join('|')) {
            this.#known = sentences.join('|');
            this.#choice.replaceChildren(...sentences.map((sentence, at) => make('option', { value: at }, sentence)));
            this.#build();
        }
        this.#fill();
    }

    #example() {
        return this.#run?.examples[Math.max(0, this.#choice.selectedIndex)];
    }

    #build() {
        const example = this.#example();
        if (!example) {
            return;
        }
        const { words, asked } = example;
        this.#cells = words.map((_, row) => words.map((_, column) => make('td', {
            class: column > row ? 'closed' : asked.some(([at, source]) => at === row && source === column) ? 'source' : undefined,
        })));
        this.#place.replaceChildren(make('table', {},
            make('thead', {}, make('tr', {}, make('td'), ...words.map(word => make('th', { scope: 'col' }, word)))),
            make('tbody', {}, ...words.map((word, row) => make('tr', {}, make('th', { scope: 'row' }, word), ...this.#cells[row])))));
        this.#fill();
    }

    #fill() {
        const example = this.#example();
        this.#cells.forEach((cells, row) => cells.forEach((cell, column) => {
            if (example && column <= row) {
                write(cell, example.shown[row][column]);
                shade(cell, example.shade[row][column]);
            }
        }));
    }
}

export class WeightsView {
    /** @type {HTMLTableCellElement[][]} */
    #cells;
    #full = make('span', { class: 'full' });

    /**
     * @param {string} name
     * @param {string[]} rows
     * @param {string[]} columns
     */
    constructor(name, rows, columns) {
        this.#cells = rows.map(() => columns.map(() => make('td')));
        const body = rows.map((row, at) => make('tr', {}, make('th', { scope: 'row' }, row), ...this.#cells[at]));
        this.root = make(
            'div',
            { class: 'matrix learn-grid', 'data-symbol': name, 'data-name': name },
            make('table', {},
                make('caption', {}, symbol(name), ' ', this.#full),
                make('thead', {}, make('tr', {}, make('td'), ...columns.map(column => make('th', { scope: 'col' }, column)))),
                make('tbody', {}, ...body)),
        );
    }

    /**
     * @param {TrainRun['matrices'][number]} matrix
     * @param {boolean} withNumbers  whether there is time to write them too
     */
    show({ shown, shade: shades, full }, withNumbers) {
        write(this.#full, `full shade: ±${full}`);
        this.#cells.forEach((cells, row) => cells.forEach((cell, column) => {
            shade(cell, shades[row][column]);
            if (withNumbers) {
                setAttribute(cell, 'title', shown[row][column]);
            }
        }));
    }
}

/** The shade that each cell has now. @type {WeakMap<HTMLElement, number>} */
const shadeOf = new WeakMap();

/**
 * @param {HTMLElement} cell
 * @param {number} shade  from −1 to 1
 */
function shade(cell, shade) {
    const before = shadeOf.get(cell);
    if (before !== shade) {
        shadeOf.set(cell, shade);
        cell.style.setProperty('--shade', String(Math.abs(shade)));
        cell.classList.toggle('negative', shade < 0);
    }
}
