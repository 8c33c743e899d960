// Where one word looks: the words below each other, arcs from the one that looks
// to all that it sees, and the shares as bars with numbers.

import { freshId, make, setAttribute, write } from './dom.js';

/** @import { Share } from './types.d.ts' */

const SVG = 'http://www.w3.org/2000/svg';
/** How wide the drawing of the arcs is, and how far the longest may reach, in rows. */
const WIDTH = 6;

export class Arcs {
    #tell;
    #group = freshId();
    #caption = make('caption');
    #body = make('tbody');
    #drawing = document.createElementNS(SVG, 'svg');
    /** @type {{ row: HTMLTableRowElement, radio: HTMLInputElement, word: HTMLElement, number: HTMLElement, arc: SVGElement }[]} */
    #rows = [];

    /** @param {{ choose: (at: number) => void, point: (at: number | null) => void }} tell */
    constructor(tell) {
        this.#tell = tell;
        this.#drawing.setAttribute('aria-hidden', 'true');
        this.#drawing.setAttribute('preserveAspectRatio', 'none');
        const table = make('table', {}, this.#caption,
            make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'word'), make('th', { scope: 'col' }, 'share'))), this.#body);
        this.root = make('div', { class: 'arcs' }, this.#drawing, table);
        this.#body.addEventListener('pointerover', event => {
            if (event.pointerType === 'mouse') {
                this.#tell.point(this.#place(event.target));
            }
        });
        this.#body.addEventListener('pointerleave', () => this.#tell.point(null));
        this.#body.addEventListener('click', ({ target }) => {
            const at = this.#place(target);
            if (at !== null) {
                this.#rows[at].radio.focus();
                this.#tell.choose(at);
            }
        });
    }

    /** @param {EventTarget | null} target */
    #place(target) {
        const row = target instanceof Element ? target.closest('tr') : null;
        const at = this.#rows.findIndex(other => other.row === row);
        return at < 0 ? null : at;
    }

    /**
     * @param {string[]} words
     * @param {Share[][]} map
     * @param {number} at  the word that looks
     * @param {number} chosen  the one that is chosen, while another is pointed at
     * @param {string} head
     */
    update(words, map, at, chosen, head) {
        if (words.length !== this.#rows.length) {
            this.#build(words.length);
        }
        write(this.#caption, `Where “${words[at]}” looks in head ${head}`);
        this.#rows.forEach(({ row, radio, word, number, arc }, to) => {
            const share = map[at][to];
            write(word, words[to]);
            radio.checked = to === chosen;
            setAttribute(row, 'data-looks', to === at);
            setAttribute(row, 'data-closed', share === undefined);
            write(number, share?.shown ?? '–');
            row.style.setProperty('--share', String(share?.share ?? 0));
            arc.style.setProperty('--share', String(share?.share ?? 0));
            setAttribute(arc, 'd', share ? curve(at, to) : '');
        });
    }

    /** @param {number} count */
    #build(count) {
        this.#rows = Array.from({ length: count }, (_, at) => {
            const radio = make('input', { type: 'radio', name: this.#group });
            radio.addEventListener('change', () => this.#tell.choose(at));
            const [word, number] = [make('span', { class: 'word' }), make('span', { class: 'number' })];
            const row = make('tr', {}, make('th', { scope: 'row' }, make('label', {}, radio, word)),
                make('td', {}, make('span', { class: 'fill' }), number));
            const arc = document.createElementNS(SVG, 'path');
            return { row, radio, word, number, arc };
        });
        this.#body.replaceChildren(...this.#rows.map(({ row }) => row));
        this.#drawing.setAttribute('viewBox', `0 0 ${WIDTH} ${count}`);
        this.#drawing.replaceChildren(...this.#rows.map(({ arc }) => arc));
        this.root.style.setProperty('--rows', String(count));
    }
}

/**
 * From the right edge at one row, round to the left, to the right edge at another;
 * to itself it is a small loop.
 * @param {number} from
 * @param {number} to
 */
function curve(from, to) {
    const [start, end] = from === to ? [from + 0.3, to + 0.7] : [from + 0.5, to + 0.5];
    const reach = WIDTH - Math.min(WIDTH, 1.4 + Math.abs(from - to)) * 1.25;
    return `M${WIDTH} ${start}C${reach} ${start} ${reach} ${end} ${WIDTH} ${end}`;
}
