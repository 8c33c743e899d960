// Undo and redo: a line of states with a place on it. Knows nothing of what the
// states are.

/** @template State */
export class History {
    /** @type {State[]} */
    #past = [];
    /** @type {State[]} */
    #future = [];
    #mark = '';

    /** @param {State} state */
    constructor(state) {
        this.now = state;
    }

    get canUndo() {
        return this.#past.length > 0;
    }

    get canRedo() {
        return this.#future.length > 0;
    }

    /**
     * Goes on to a new state. Changes with the same mark, one after the other,
     * are undone as one: the letters of a number, a drag.
     * @param {State} state
     * @param {string} [mark]
     */
    set(state, mark = '') {
        if (!mark || mark !== this.#mark) {
            this.#past.push(this.now);
        }
        this.#mark = mark;
        this.#future = [];
        this.now = state;
    }

    /** Ends a change: the next one is undone apart from it, whatever its mark. */
    settle() {
        this.#mark = '';
    }

    undo() {
        this.#move(this.#past, this.#future);
    }

    redo() {
        this.#move(this.#future, this.#past);
    }

    /**
     * @param {State[]} from
     * @param {State[]} to
     */
    #move(from, to) {
        const state = from.pop();
        if (state !== undefined) {
            to.push(this.now);
            this.now = state;
        }
        this.settle();
    }
}
