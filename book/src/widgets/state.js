// What a reader can change of a head, as plain data: reaching into it, and
// making changed copies. Whether the numbers are any good is the engine's to say.

/** @import { HeadState, InputName, Place } from './types.d.ts' */

/** The matrices that can be edited, and where their numbers are. */
const FIELDS = /** @type {const} */ ({ X: 'x', W_Q: 'w_q', W_K: 'w_k', W_V: 'w_v' });

/**
 * @param {string} name
 * @returns {name is InputName}
 */
export const isInput = name => name in FIELDS;

/**
 * The numbers of an input matrix, as typed, with the names of its rows and columns.
 * @param {HeadState} state
 * @param {InputName} name
 */
export function typed(state, name) {
    return {
        rows: name === 'X' ? state.tokens : state.meanings,
        columns: { X: state.meanings, W_Q: state.matches, W_K: state.matches, W_V: state.messages }[name],
        texts: state[FIELDS[name]],
    };
}

/**
 * @param {HeadState} state
 * @param {Place} place  in an input matrix
 */
export function numberAt(state, [name, row, column]) {
    return isInput(name) ? state[FIELDS[name]][row]?.[column] ?? '' : '';
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
    const field = FIELDS[name];
    return { ...state, [field]: state[field].with(row, state[field][row].with(column, text)) };
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
