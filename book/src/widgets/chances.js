// The words that may come next, the likeliest first, as bars with numbers; and
// with heads switched off the same a second time, beside those from before.

import { make, setAttribute, write } from './dom.js';

/** @import { NextWords } from './types.d.ts' */

export class Chances {
    #heading = make('p', { class: 'heading' });
    #before = new Column();
    #after = new Column();
    root = make('div', { class: 'chances', role: 'region', 'aria-label': 'Next word' },
        this.#heading, make('div', { class: 'columns' }, this.#before.root, this.#after.root));

    /**
     * @param {string} word
     * @param {NextWords} before
     * @param {NextWords | undefined} after
     * @param {[number, number][]} off
     */
    update(word, before, after, off) {
        write(this.#heading, `What comes after “${word}”`);
        this.#before.update('all heads on', before);
        this.#after.root.hidden = after === undefined;
        if (after) {
            const heads = off.map(([layer, head]) => `${layer + 1}.${head + 1}`).join(', ');
            this.#after.update(`without ${heads}`, after);
        }
    }
}

class Column {
    #caption = make('caption');
    #body = make('tbody');
    /** @type {HTMLTableRowElement[]} */
    #rows = [];
    root = make('table', {}, this.#caption, this.#body);

    /**
     * @param {string} title
     * @param {NextWords} next
     */
    update(title, { likeliest, verb_for_one, verb_for_many }) {
        write(this.#caption, title);
        const rows = [
            ...likeliest.map(({ word, chance }) => ({ word, chance, kind: '' })),
            { word: 'all verbs for one', chance: verb_for_one, kind: 'sum' },
            { word: 'all verbs for many', chance: verb_for_many, kind: 'sum' },
        ];
        while (this.#rows.length < rows.length) {
            const row = make('tr', {}, make('th', { scope: 'row' }), make('td', {}, make('span', { class: 'fill' }), make('span', { class: 'number' })));
            this.#rows.push(row);
            this.#body.append(row);
        }
        rows.forEach(({ word, chance, kind }, at) => {
            const [name, cell] = this.#rows[at].cells;
            write(name, word);
            write(/** @type {Element} */ (cell.lastElementChild), chance.shown);
            setAttribute(this.#rows[at], 'class', kind);
            this.#rows[at].style.setProperty('--share', String(chance.share));
        });
    }
}
