// The steps of an attention head: their names, what they compute, and a line to
// explain each. The one place where the widget knows of particular matrices.

/** @import { HeadState, MatrixName } from './types.d.ts' */

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {Partial<Record<MatrixName, string>>} makes  the matrices it computes, and from what
 * @property {string} caption  what happens, in a line
 * @property {{ by: 'mask' | 'scale', caption: string }} [off]  the line while it is switched off
 */

/** A formula of '' stands where the matrix's symbol is one. @type {Step[]} */
export const STEPS = [
    {
        name: 'Project',
        makes: { Q: 'XW_Q', K: 'XW_K', V: 'XW_V' },
        caption: 'Each token makes a query, a key and a value: its row of X, times the weights.',
    },
    {
        name: 'Score',
        makes: { S: 'QKᵀ' },
        caption: 'Every query meets every key. Their dot product says how well they match.',
    },
    {
        name: 'Scale',
        makes: { scaled: '' },
        caption: 'Every score is divided by √d, so that long queries don’t make large scores.',
        off: { by: 'scale', caption: 'The scale is switched off: the scores stay as large as they are.' },
    },
    {
        name: 'Mask',
        makes: { masked: '' },
        caption: 'The scores of later tokens are closed, so that no token sees what comes after it.',
        off: { by: 'mask', caption: 'The mask is switched off: every token sees all others, later ones too.' },
    },
    {
        name: 'Softmax',
        makes: { A: 'softmax(S/√d + M)' },
        caption: 'Each row turns into weights: none is negative, and together they make 1.',
    },
    {
        name: 'Mix',
        makes: { O: 'AV' },
        caption: 'Each token’s output is an average of the values, weighted by its row of A.',
    },
];

/** What stands there before the first step. */
export const BEFORE = 'The input: a row of X for each token, and the weights that a model has learned.';

/** The matrices in which a followed token has a row of its own. */
export const FOLLOWED = new Set(['X', 'Q', 'S', 'scaled', 'masked', 'A', 'O']);

/** The matrices in which closed cells are drawn as closed. */
export const CLOSES = new Set(['masked', 'A']);

/**
 * How many steps must have been made before a matrix is there: none for an input.
 * @param {string} name
 */
export const stepOf = name => 1 + STEPS.findIndex(({ makes }) => name in makes);

/**
 * What a matrix is computed from, as a formula.
 * @param {MatrixName} name
 */
export const formulaOf = name => STEPS[stepOf(name) - 1]?.makes[name] ?? '';

/**
 * What has just happened at a position, 0 to 6.
 * @param {number} position
 * @param {HeadState} state
 */
export function captionOf(position, state) {
    const step = STEPS[position - 1];
    if (!step) {
        return BEFORE;
    }
    return step.off && !state[step.off.by] ? step.off.caption : step.caption;
}
