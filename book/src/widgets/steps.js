// The steps of an attention head, forward and, where it has a target, backward:
// their names, what they compute, and a line to explain each. The one place where
// the widget knows of particular matrices.

/** @import { HeadState, MatrixName } from './types.d.ts' */

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} [tick]  its short name, below the slider
 * @property {Partial<Record<MatrixName, string | ((state: HeadState) => string)>>} makes  the matrices it
 *     computes, and from what
 * @property {string} caption  what happens, in a line
 * @property {{ by: 'mask' | 'scale', caption: string }[]} [off]  the lines while something is switched off
 */

/** A formula of '' stands where the matrix's symbol is one. @type {Step[]} */
const FORWARD = [
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
        off: [{ by: 'scale', caption: 'The scale is switched off: the scores stay as large as they are.' }],
    },
    {
        name: 'Mask',
        makes: { masked: '' },
        caption: 'The scores of later tokens are closed, so that no token sees what comes after it.',
        off: [{ by: 'mask', caption: 'The mask is switched off: every token sees all others, later ones too.' }],
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

/** The same steps from the end to the beginning. @type {Step[]} */
const BACKWARD = [
    {
        name: 'Loss',
        makes: { L: '½ Σ (o − t)²', dO: 'O − t' },
        caption: 'How far the last output misses the target is the loss, and where the way back begins.',
    },
    {
        name: 'Mix backwards',
        tick: 'mix',
        makes: { dA: 'dOVᵀ', dV: 'AᵀdO' },
        caption: 'Each weight hears how much its value would help or hurt; each value, as much as it was listened to.',
    },
    {
        name: 'Softmax backwards',
        tick: 'softmax',
        makes: { dmasked: 'A ∘ (dA − rowsum(A ∘ dA))' },
        caption: 'What one weight gains the others lose, so only better or worse than the row’s average counts.',
    },
    {
        name: 'Mask and scale backwards',
        tick: 'scale',
        makes: {
            dscaled: ({ mask }) => (mask ? 'dS′ where open' : 'dS′'),
            dS: ({ scale }) => (scale ? 'd(S/√d) / √d' : 'd(S)'),
        },
        caption: 'A closed score had no say: its gradient is 0. All others are divided by √d, as the scores were.',
        off: [
            { by: 'mask', caption: 'The mask is switched off: every score had a say, and hears of the error.' },
            { by: 'scale', caption: 'The scale is switched off: the gradients stay as large as they are.' },
        ],
    },
    {
        name: 'Score backwards',
        tick: 'score',
        makes: { dQ: 'dSK', dK: 'dSᵀQ' },
        caption: 'Each query is told along the keys it met, each key along the queries, as their scores matter.',
    },
    {
        name: 'Project backwards',
        tick: 'project',
        makes: { dW_Q: 'XᵀdQ', dW_K: 'XᵀdK', dW_V: 'XᵀdV', dX: 'dQW_Qᵀ + dKW_Kᵀ + dVW_Vᵀ' },
        caption: 'The weights add up what all tokens say; each embedding, what comes back on three ways.',
    },
];

const STEPS = [...FORWARD, ...BACKWARD];

/** How many steps go forward. */
export const TURN = FORWARD.length;

/** What stands there before the first step. */
const BEFORE = 'The input: a row of X for each token, and the weights that a model has learned.';

/** The matrices in which a followed token has a row of its own. */
export const FOLLOWED = new Set(['X', 'Q', 'S', 'scaled', 'masked', 'A', 'O', 'dO', 'dA', 'dmasked', 'dscaled', 'dS', 'dQ', 'dX']);

/** The matrices in which closed cells are drawn as closed. */
export const CLOSES = new Set(['masked', 'A', 'dscaled', 'dS']);

/**
 * The steps of a head.
 * @param {HeadState} state
 */
export const stepsOf = state => (state.target ? STEPS : FORWARD);

/**
 * How many steps must have been made before a matrix is there: none for an input.
 * @param {string} name
 */
export const stepOf = name => 1 + STEPS.findIndex(({ makes }) => name in makes);

/**
 * The name of the step at a position, 1 to 12; none before the first.
 * @param {number} position
 */
export const nameOf = position => STEPS[position - 1]?.name;

/**
 * What a matrix is computed from, as a formula.
 * @param {MatrixName} name
 * @param {HeadState} state
 */
export function formulaOf(name, state) {
    const formula = STEPS[stepOf(name) - 1]?.makes[name] ?? '';
    return typeof formula === 'string' ? formula : formula(state);
}

/**
 * What has just happened at a position.
 * @param {number} position
 * @param {HeadState} state
 */
export function captionOf(position, state) {
    const step = STEPS[position - 1];
    if (!step) {
        return BEFORE;
    }
    return step.off?.find(({ by }) => !state[by])?.caption ?? step.caption;
}
