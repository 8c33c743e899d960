// What the panel says: the caption of the step, how a cell was computed, or how a
// given number can be changed.

import { button, make, write } from './dom.js';
import { showLines } from './derivation.js';
import { Panel } from './panel.js';
import { nameOf } from './steps.js';

/** @import { Derivation, Matrix, Place } from './types.d.ts' */

const HINT = 'Choose any number to see how it was computed, or a word to follow it.';
const BEGIN = 'Press play, or take the steps one by one.';
const TURN = 'That was the way forward. Press play to go back, from the loss to every number.';

export class Explainer {
    #panel;
    #stepper;
    #begin;
    #listener;
    /** @type {Place | null} */
    #place = null;
    #number = make('output', { class: 'number' });

    /**
     * @param {HTMLElement} player
     * @param {number} begin  the position where playing begins
     * @param {{ letGo: () => void, step: (place: Place, by: number) => void, edit: (place: Place) => void }} listener
     */
    constructor(player, begin, listener) {
        this.#begin = begin;
        this.#listener = listener;
        this.#panel = new Panel(player, listener.letGo);
        this.root = this.#panel.root;
        this.#stepper = make(
            'div',
            { class: 'stepper' },
            button('minus', 'A tenth less', () => this.#step(-1)),
            this.#number,
            button('plus', 'A tenth more', () => this.#step(1)),
            button('pencil', 'Type', () => this.#place && this.#listener.edit(this.#place), { shown: true }),
            make('span', { class: 'hint' }, 'Or drag the number where it stands.'),
        );
    }

    /**
     * @param {number} position
     * @param {string} caption
     */
    caption(position, caption) {
        const name = nameOf(position);
        const hint = position === 0 ? BEGIN : position === this.#begin ? TURN : HINT;
        this.#panel.show(
            name ? `${position}. ${name}` : 'The input',
            [make('p', {}, caption), make('p', { class: 'hint' }, hint)],
            false,
        );
    }

    /**
     * @param {Derivation} derivation
     * @param {Matrix} matrix  the one it is of
     * @param {boolean} pinned
     */
    derive(derivation, { symbol, legend }, pinned) {
        const range = `${symbol.replace('_', ' ')} is shaded from ${legend.low} to ${legend.high}`;
        this.#panel.show(derivation.title, showLines(derivation.lines), pinned, range);
    }

    /**
     * A given number, which can be changed.
     * @param {Place} place
     * @param {Matrix} matrix
     * @param {string} text
     * @param {boolean} editable
     * @param {boolean} pinned
     */
    offer(place, matrix, text, editable, pinned) {
        this.#place = place;
        write(this.#number, text.replace('-', '−'));
        this.#panel.show(this.nameOf(place, [matrix]), [editable ? this.#stepper : make('p', {}, `${matrix.about}. This number is given.`)], pinned);
    }

    /**
     * A cell by its matrix and its labels: “X: cat → thing”.
     * @param {Place} place
     * @param {Matrix[]} matrices
     */
    nameOf([name, row, column], matrices) {
        const matrix = matrices.find(each => each.name === name);
        return `${name.replace('_', ' ')}: ${matrix?.rows[row]} → ${matrix?.columns[column]}`;
    }

    /**
     * @param {string} sentence
     * @param {'mistake' | 'news'} [kind]
     */
    note(sentence, kind) {
        this.#panel.note(sentence, kind);
    }

    /** @param {number} by */
    #step(by) {
        if (this.#place) {
            this.#listener.step(this.#place, by);
        }
    }
}
