// Where the numbers come from: the engine, once it is loaded; until then, and if
// WebAssembly fails, the trace of the first preset that was computed when the
// book was built. Everyone else asks here and need not know which it is.

/** @import { Derivation, Engine, HeadAnswer, HeadData, HeadState, Place, ComputedName } from './types.d.ts' */

export class Source {
    /** @type {Engine | null} */
    engine = null;
    failed = false;
    #data;

    /** @param {HeadData} data */
    constructor(data) {
        this.#data = data;
    }

    /** Fetches the engine. Never throws: without it the widget still explains. */
    async load() {
        try {
            const { load } = await import('./engine.js');
            this.engine = await load('head.wasm');
        } catch (reason) {
            this.failed = true;
            console.info(`The widget's engine could not be loaded, so editing is off: ${reason}`);
        }
        return this.engine;
    }

    /**
     * @param {HeadState} state
     * @returns {HeadAnswer}
     */
    head(state) {
        return this.engine ? this.engine.ask({ ask: 'head', state }) : this.#data.trace;
    }

    /**
     * How a cell was computed; nothing for the cells that were given.
     * @param {HeadState} state
     * @param {Place} place
     * @returns {Derivation | undefined}
     */
    cell(state, [name, row, column]) {
        const matrix = /** @type {ComputedName} */ (name);
        if (!(matrix in this.#data.cells)) {
            return undefined;
        }
        return this.engine
            ? this.engine.ask({ ask: 'cell', state, matrix, row, column })
            : this.#data.cells[matrix][row]?.[column];
    }
}
