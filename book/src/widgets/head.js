// The head as the reader has it: its state with undo and redo, the last good
// numbers, and the mistakes in it. It asks the engine, and shows nothing.

import { History } from './history.js';
import { Source } from './source.js';
import { numberAt, sameState, withNumber } from './state.js';

/** @import { HeadAnswer, HeadData, HeadState, Matrix, Place, Preset, Problem, TokenChange } from './types.d.ts' */

export class Head {
    /** @type {Problem[]} */
    problems = [];
    /** The last state without mistakes, and its numbers. @type {{ state: HeadState, answer: HeadAnswer }} */
    good;
    presets;
    #source;
    #history;
    /** The example that a reset goes back to. @type {Preset} */
    #base;
    #changed;

    /**
     * @param {HeadData} data
     * @param {() => void} changed
     */
    constructor(data, changed) {
        this.presets = data.presets;
        this.#changed = changed;
        [this.#base] = data.presets;
        this.good = { state: this.#base.state, answer: data.trace };
        this.#source = new Source(data);
        this.#history = new History(this.#base.state, sameState);
    }

    /** The state, perhaps with mistakes in it. */
    get now() {
        return this.#history.now;
    }

    /** Whether it can be changed: the engine is there. */
    get changeable() {
        return this.#source.engine !== null;
    }

    /** Whether it never can be: the engine did not load. */
    get fixed() {
        return this.#source.failed;
    }

    get canUndo() {
        return this.#history.canUndo;
    }

    get canRedo() {
        return this.#history.canRedo;
    }

    /** The example that it is just now, if it is one. */
    get example() {
        return this.presets.find(({ state }) => sameState(state, this.now));
    }

    /** @type {Promise<unknown> | null} */
    #loading = null;

    /** Loads the engine, once. Says whether the head can be changed then. */
    async load() {
        await (this.#loading ??= this.#source.load());
        return this.changeable;
    }

    /**
     * @param {string} name
     * @returns {Matrix | undefined}
     */
    matrix(name) {
        return this.good.answer.matrices.find(matrix => matrix.name === name);
    }

    /**
     * How a cell was computed; nothing for a given one.
     * @param {Place} place
     */
    derivation(place) {
        return this.#source.cell(this.good.state, place);
    }

    /**
     * Goes on to another state.
     * @param {HeadState} state
     * @param {string} [mark]  changes with the same mark are undone as one
     */
    change(state, mark) {
        if (this.changeable) {
            this.#history.set(state, mark);
            this.#compute();
        }
        this.#changed();
    }

    /**
     * Goes on to a state from elsewhere. Throws, and stays as it is, where the
     * engine can't read it, or where it has a target and this head has none, or
     * the other way round.
     * @param {HeadState} state
     */
    adopt(state) {
        this.#source.head(state);
        if (!state.target !== !this.now.target) {
            throw new Error('a head of another page');
        }
        this.change(state);
    }

    reset() {
        this.change(this.#base.state);
    }

    undo() {
        this.#travel('undo');
    }

    redo() {
        this.#travel('redo');
    }

    /** The next change of a number is undone apart from the last. */
    settle() {
        this.#history.settle();
    }

    /**
     * @param {TokenChange} change
     * @returns {string | undefined} why it cannot be made
     */
    changeTokens(change) {
        const answer = this.#source.engine?.ask({ ask: 'token', state: this.now, change });
        if (!answer || 'sentence' in answer) {
            return answer?.sentence ?? 'Words can’t be changed yet.';
        }
        this.change(answer.state, 'rename' in change ? `rename ${change.rename}` : '');
        return undefined;
    }

    /**
     * @param {Place} place
     * @param {string} text
     */
    type(place, text) {
        this.change(withNumber(this.now, place, text), `number ${place}`);
    }

    /**
     * A number some tenths further, as text; what is no number stays as it is.
     * @param {string} text
     * @param {number} by
     */
    step(text, by) {
        const answer = this.#source.engine?.ask({ ask: 'step', text, by });
        return answer && 'text' in answer ? answer.text : text;
    }

    /** @param {Place} place */
    numberAt(place) {
        return numberAt(this.now, place);
    }

    /** @param {'undo' | 'redo'} way */
    #travel(way) {
        this.#history[way]();
        this.#compute();
        this.#changed();
    }

    #compute() {
        const answer = this.#source.head(this.now);
        this.problems = answer.problems;
        if (answer.problems.length === 0) {
            this.good = { state: this.now, answer };
        }
        this.#base = this.example ?? this.#base;
    }
}
