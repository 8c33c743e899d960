// How one cell was computed, as lines of numbers. It lays out what the engine
// answered and adds nothing: each number carries its exact value and the matrix
// it comes from.

import { make } from './dom.js';

/** @import { Exponential, Line, Num, Product, Square } from './types.d.ts' */

/**
 * @param {Num} number
 * @param {string} [part]  its part in the computation, as a class
 */
function show({ shown, exact, from }, part = '') {
    return make(
        'span',
        { class: `number ${part}`.trim(), 'data-exact': exact, 'data-from': from?.join(' '), 'data-matrix': from?.[0] },
        shown,
    );
}

/** @param {Num} number */
const isGradient = ({ from }) => from?.[0].startsWith('d') ?? false;

/** @param {string} text */
const sign = text => make('span', { class: 'sign' }, text);

/**
 * One term under its label.
 * @param {string} label
 * @param {(Node | string)[]} parts
 * @param {boolean} [current]
 */
const term = (label, parts, current) => make(
    'span',
    { class: `term${current ? ' current' : ''}` },
    make('span', { class: 'label' }, label),
    make('span', { class: 'parts' }, ...parts),
);

/**
 * A sign and what follows it, on one line.
 * @param {string} text
 * @param {Node} node
 */
const after = (text, node) => make('span', { class: 'pair' }, sign(text), node);

/** @param {Node[]} nodes */
const added = nodes => nodes.map((node, at) => (at === 0 ? node : after('+', node)));

/** @param {Product} product */
const showProduct = ({ label, left, right, product }) => term(label, [
    show(left, 'left'), sign('·'), show(right, 'right'),
    make('span', { class: 'below' }, show(product, 'product')),
]);

/** @param {Square} square */
const showSquare = ({ label, left, right, difference, square }) => term(label, [
    show(left, 'left'), sign('−'), show(right, 'right'),
    make('span', { class: 'below' }, show(difference, 'difference')),
    make('span', { class: 'below squared' }, show(square, 'square')),
]);

/**
 * Two numbers and what comes of them, each under its label.
 * @param {string} between
 * @param {Extract<Line, { kind: 'minus' | 'times' }>} line
 */
const showTwo = (between, { labels, left, right, result }) => [
    term(labels[0], [show(left, 'left')]),
    after(between, term(labels[1], [show(right, 'right')])),
    after('=', term(labels[2], [show(result, 'result')])),
];

/** @param {Exponential[]} terms */
function showExponentials(terms) {
    /**
     * @param {string} name
     * @param {(term: Exponential) => Node} content
     */
    const row = (name, content) => make(
        'tr',
        {},
        make('th', { scope: 'row' }, name),
        ...terms.map(each => make('td', { class: each.current ? 'current' : each.closed ? 'shut' : undefined }, content(each))),
    );
    const head = make('tr', {}, make('td'), ...terms.map(({ label, current }) =>
        make('th', { scope: 'col', class: current ? 'current' : undefined }, label)));
    return make('table', { class: 'exponentials' }, make('thead', {}, head), make(
        'tbody',
        {},
        row('score', ({ score }) => show(score, 'score')),
        row('− largest', ({ difference }) => show(difference, 'difference')),
        row('exp', ({ exponential }) => show(exponential, 'exponential')),
    ));
}

/** @type {{ [Kind in Line['kind']]: (line: Extract<Line, { kind: Kind }>) => (Node | string)[] }} */
const LAYOUTS = {
    products: ({ name, terms, sum }) => [
        ...added(terms.map(showProduct)), after('=', term(name ?? 'sum', [show(sum, 'sum')])),
    ],
    squares: ({ terms, sum }) => [
        ...added(terms.map(showSquare)), after('=', term('sum of squares', [show(sum, 'sum')])),
    ],
    minus: line => showTwo('−', line),
    times: line => showTwo('·', line),
    zero: ({ result, sentence }) => [show(result, 'result'), make('span', { class: 'reason' }, sentence)],
    scaled: ({ score, factor, size, result }) => [
        term(isGradient(score) ? 'gradient' : 'score', [show(score, 'left')]),
        sign('·'),
        term(`1 / √${size}`, [show(factor, 'right')]),
        sign('='),
        term(isGradient(score) ? 'gradient' : 'scaled', [show(result, 'result')]),
    ],
    same: ({ score, result, sentence }) => [
        show(score, 'left'), sign('→'), show(result, 'result'), make('span', { class: 'reason' }, sentence),
    ],
    mask: ({ score, result, sentence }) => [
        show(score, 'left'), sign('→'), show(result, 'result'), make('span', { class: 'reason' }, sentence),
    ],
    largest: ({ labels, numbers, result }) => [
        make('span', { class: 'label' }, 'largest of'),
        ...numbers.map((number, at) => make('span', { title: labels[at] }, show(number, 'candidate'), at < numbers.length - 1 ? ',' : '')),
        after('=', show(result, 'result')),
    ],
    exponentials: ({ terms }) => [showExponentials(terms)],
    sum: ({ name, labels, terms, sum }) => [
        make('span', { class: 'label' }, name ?? 'sum of exp'),
        ...added(terms.map((number, at) => (name ? term(labels[at], [show(number, 'addend')]) : show(number, 'addend')))),
        after('=', show(sum, 'sum')),
    ],
    quotient: ({ top, bottom, result }) => [
        make('span', { class: 'label' }, 'weight'),
        show(top, 'top'), sign('/'), show(bottom, 'bottom'), sign('='), show(result, 'result'),
    ],
    sentence: ({ sentence }) => [sentence],
};

/** @param {Line} line */
function showLine(line) {
    const layout = /** @type {(line: Line) => (Node | string)[]} */ (LAYOUTS[line.kind]);
    return make(
        'div',
        { class: `line line-${line.kind}${'rounding' in line ? ' rounding' : ''}`, 'data-kind': line.kind },
        ...layout(line),
    );
}

/** @param {Line[]} lines */
export const showLines = lines => lines.map(showLine);
