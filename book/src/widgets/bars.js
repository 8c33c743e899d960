// The weights of a lookup as bars, and the mixed value below them. Each is a
// button that asks how it was computed.

import { make, setAttribute, write } from './dom.js';

/** @import { LookupAnswer, LookupState } from './types.d.ts' */

export class Bars {
    #weights;
    #mixed;

    /**
     * @param {LookupState} state
     * @param {(what: { key: number } | { fact: number }) => void} ask
     */
    constructor(state, ask) {
        this.#weights = state.names.map((name, key) => {
            const row = make(
                'button',
                { type: 'button', class: 'bar-row' },
                make('span', { class: 'name' }, name),
                make('span', { class: 'track-of-bar' }, make('span', { class: 'bar-fill' })),
                make('span', { class: 'number' }),
            );
            row.addEventListener('click', () => ask({ key }));
            return row;
        });
        this.#mixed = state.facts.map((fact, at) => {
            const cell = make('button', { type: 'button', class: 'mixed' }, make('span', { class: 'number' }), make('span', { class: 'fact' }, fact));
            cell.addEventListener('click', () => ask({ fact: at }));
            return cell;
        });
        this.root = make(
            'div',
            { class: 'bars' },
            make('p', { class: 'heading-of-bars' }, 'Weights'),
            ...this.#weights,
            make('p', { class: 'heading-of-bars' }, 'The mixed value'),
            make('div', { class: 'mixed-row' }, ...this.#mixed),
        );
    }

    /**
     * @param {LookupAnswer} answer
     * @param {{ key: number } | { fact: number } | null} asked
     */
    update({ keys, mixed }, asked) {
        keys.forEach(({ share, weight }, at) => {
            const row = this.#weights[at];
            row.style.setProperty('--share', String(share));
            this.#fill(row, weight, asked !== null && 'key' in asked && asked.key === at);
        });
        mixed.forEach(({ number }, at) => {
            this.#fill(this.#mixed[at], number, asked !== null && 'fact' in asked && asked.fact === at);
        });
    }

    /**
     * @param {HTMLElement} button
     * @param {import('./types.d.ts').Num} number
     * @param {boolean} asked
     */
    #fill(button, number, asked) {
        const place = button.querySelector('.number');
        if (place) {
            write(place, number.shown);
            setAttribute(place, 'data-exact', number.exact);
        }
        setAttribute(button, 'aria-pressed', String(asked));
    }
}
