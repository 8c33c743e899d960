// What a reader can change of a head, as plain data: reaching into it, and
// making changed copies. Whether the numbers are any good is the engine's to say.

/** @import { HeadState, InputName, Place } from './types.d.ts' */

/** The matrices that can be edited, and where their numbers are. */
const FIELDS = /** @type {const} */ ({ X: 'x', W_Q: 'w_q', W_K: 'w_k', W_V: 'w_v', target: 'target' });

/**
 * @param {string} name
 * @returns {name is InputName}
 */
export const isInput = name => name in FIELDS;

/**
 * The rows of an input matrix; the target is a single one.
 * @param {HeadState} state
 * @param {InputName} name
 */
const rowsOf = (state, name) => (name === 'target' ? [state.target ?? []] : state[FIELDS[name]]);

/**
 * The numbers of an input matrix, as typed, with the names of its rows and columns.
 * @param {HeadState} state
 * @param {InputName} name
 */
export function typed(state, name) {
    return {
        rows: { X: state.tokens, target: state.tokens.slice(-1) }[/** @type {string} */ (name)] ?? state.meanings,
        columns: { X: state.meanings, W_Q: state.matches, W_K: state.matches, W_V: state.messages, target: state.messages }[name],
        texts: rowsOf(state, name),
    };
}

/**
 * @param {HeadState} state
 * @param {Place} place  in an input matrix
 */
export function numberAt(state, [name, row, column]) {
    return isInput(name) ? rowsOf(state, name)[row]?.[column] ?? '' : '';
}

/**
 * The state with one number typed anew.
 * @param {HeadState} state
 * @param {Place} place
 * @param {string} text
 * @returns {HeadState}
 */
export function withNumber(state, [name, row, column], text) {
    if (!isInput(name)) {
        return state;
    }
    const line = rowsOf(state, name)[row].with(column, text);
    return { ...state, [FIELDS[name]]: name === 'target' ? line : rowsOf(state, name).with(row, line) };
}

/**
 * @param {HeadState} a
 * @param {HeadState} b
 */
export const sameState = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * @param {Place | null} a
 * @param {Place | null} b
 */
export const samePlace = (a, b) => a === b || a?.join() === b?.join();
