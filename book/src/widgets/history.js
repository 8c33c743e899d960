// Undo and redo: a line of states with a place on it. Knows nothing of what the
// states are.

/** @template State */
export class History {
    /** @type {State[]} */
    #past = [];
    /** @type {State[]} */
    #future = [];
    #mark = '';
    #same;

    /**
     * @param {State} state
     * @param {(a: State, b: State) => boolean} same  whether two states are alike
     */
    constructor(state, same) {
        this.now = state;
        this.#same = same;
    }

    get canUndo() {
        return this.#past.length > 0;
    }

    get canRedo() {
        return this.#future.length > 0;
    }

    /**
     * Goes on to a new state. Changes with the same mark, one after the other,
     * are undone as one: the letters of a number, a drag. One that leads back to
     * where it began leaves nothing to undo.
     * @param {State} state
     * @param {string} [mark]
     */
    set(state, mark = '') {
        if (this.#same(state, this.now)) {
            return;
        }
        if (!mark || mark !== this.#mark) {
            this.#past.push(this.now);
        }
        this.#mark = mark;
        this.#future = [];
        this.now = state;
        const began = this.#past.at(-1);
        if (mark && began !== undefined && this.#same(state, began)) {
            this.#past.pop();
            this.settle();
        }
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
