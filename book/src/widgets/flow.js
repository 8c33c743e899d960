// Where the matrices stand: in groups, in the order in which the data flows, and
// below them those of the backward pass, in the order in which the gradient does.

import { make } from './dom.js';
import { TURN, stepOf } from './steps.js';

/** @import { Grid } from './grid.js' */

/** The groups, by their class, with the last step that they show. */
const GROUPS = /** @type {const} */ ([['project', 1], ['scores', 4], ['mix', 6]]);
const BACKWARD = /** @type {const} */ ([['loss', 7], ['mix', 8], ['scores', 10], ['score', 11], ['learn', 12]]);

/** What comes between the two. */
const TURNING = 'And back: how would the loss change if a number were a little larger?';

/** @param {Map<string, Grid>} grids */
export function flowOf(grids) {
    const target = grids.get('target');
    const forward = groups([...grids].filter(([name]) => name !== 'target' && stepOf(name) <= TURN), GROUPS);
    // Each product comes right after the weights that make it.
    const families = ['input', 'query', 'key', 'value'];
    forward[0].append(...families.flatMap(family => [...forward[0].querySelectorAll(`[data-family=${family}]`)]));
    if (!target) {
        return make('div', { class: 'flow' }, ...forward);
    }
    const backward = groups([...grids].filter(([name]) => stepOf(name) > TURN), BACKWARD);
    backward[0].prepend(target.root);
    return make(
        'div',
        { class: 'flow' },
        ...forward,
        make('p', { class: 'turn' }, TURNING),
        ...backward.map(group => (group.classList.add('backward'), group)),
    );
}

/**
 * @param {[string, Grid][]} grids
 * @param {readonly (readonly [kind: string, last: number])[]} kinds
 */
function groups(grids, kinds) {
    const made = kinds.map(([kind]) => make('div', { class: `group ${kind}` }));
    for (const [name, grid] of grids) {
        made[kinds.findIndex(([, last]) => stepOf(name) <= last)].append(grid.root);
    }
    return made;
}
