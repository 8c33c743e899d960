// What each grid shows: a matrix as the engine answered it, together with what
// the reader has typed, what is wrong with it, and how far the steps have gone.

import { CLOSES, formulaOf } from './steps.js';
import { isInput, typed } from './state.js';

/** @import { HeadState, Matrix, Problem } from './types.d.ts' */
/** @import { Sheet } from './grid.js' */

/**
 * @typedef {object} Circumstances
 * @property {HeadState} now  perhaps with mistakes in it
 * @property {Problem[]} problems
 * @property {boolean} hidden
 * @property {number | null} followed
 */

/**
 * The sentences of a matrix's mistakes, where they stand.
 * @param {string} name
 * @param {Problem[]} problems
 */
function mistakesIn(name, problems) {
    /** @type {string[][]} */
    const found = [];
    for (const { matrix, row, column, sentence } of problems) {
        if (matrix === name) {
            (found[row] ??= [])[column] = sentence;
        }
    }
    return found;
}

/** How many shades there are, but for the ground. */
const SHADES = 20;

/**
 * How strong the colour of each cell is: the further from 0 the stronger, as in
 * the chapters' tables. The engine says where between the ends each number is.
 * @param {Matrix} matrix
 */
function strengths({ shade, legend: { zero } }) {
    const far = Math.max(zero, 1 - zero);
    return shade.map(row => row.map(each => Math.round(SHADES * Math.abs(each - zero) / far)));
}

/**
 * @param {Matrix} matrix
 * @param {Circumstances} circumstances
 * @returns {Sheet}
 */
export function sheetOf(matrix, { now, problems, hidden, followed }) {
    const stale = problems.length > 0;
    const given = isInput(matrix.name) && stale ? typed(now, matrix.name) : null;
    return {
        rows: given?.rows ?? matrix.rows,
        columns: given?.columns ?? matrix.columns,
        texts: given?.texts.map(row => row.map(text => text.replace('-', '−'))) ?? matrix.shown,
        shades: strengths(matrix),
        open: CLOSES.has(matrix.name) ? matrix.open : undefined,
        problems: mistakesIn(matrix.name, problems),
        label: `${matrix.symbol.replace('_', ' ')}: ${matrix.about}, ${matrix.shape}${hidden ? ', not computed yet' : ''}`,
        shape: matrix.shape,
        symbol: matrix.symbol,
        formula: formulaOf(matrix.name, now),
        hidden,
        stale: stale && !given,
        followed,
    };
}
