// Where the matrices stand: in groups, in the order in which the data flows, and
// below them those of the backward pass, in the order in which the gradient does.

import { make } from './dom.js';

/** @import { Grid } from './grid.js' */
/** @import { MatrixName } from './types.d.ts' */

/** What makes Q, K and V; the scores; what comes of them. */
const FORWARD = /** @type {Record<string, MatrixName[]>} */ ({
    // Each product comes right after the weights that make it.
    project: ['X', 'W_Q', 'Q', 'W_K', 'K', 'W_V', 'V'],
    scores: ['S', 'scaled', 'masked'],
    mix: ['A', 'O'],
});

/** The error; whom it is handed to; the scores; what made them; what is learned. */
const BACKWARD = /** @type {Record<string, MatrixName[]>} */ ({
    error: ['target', 'L', 'dO'],
    blame: ['dA', 'dV'],
    scores: ['dmasked', 'dscaled'],
    makers: ['dS', 'dQ', 'dK'],
    lessons: ['dW_Q', 'dW_K', 'dW_V', 'dX'],
});

/** What comes between the two. */
const TURN = 'And back: how would the loss change if a number were a little larger?';

/** @param {Map<string, Grid>} grids */
export function flowOf(grids) {
    const flow = make('div', { class: 'flow' }, ...groups(grids, FORWARD, 'group'));
    if (grids.has('target')) {
        flow.append(make('p', { class: 'turn' }, TURN), ...groups(grids, BACKWARD, 'group backward'));
    }
    return flow;
}

/**
 * @param {Map<string, Grid>} grids
 * @param {Record<string, MatrixName[]>} kinds
 * @param {string} style
 */
const groups = (grids, kinds, style) => Object.entries(kinds).map(([kind, names]) =>
    make('div', { class: `${style} ${kind}` }, ...names.flatMap(name => grids.get(name)?.root ?? [])));
