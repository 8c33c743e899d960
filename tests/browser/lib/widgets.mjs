// What the tests of the widgets share: finding cells and reading them, a head
// computed by hand to compare with, and terms that are summed again. Nothing
// here is taken from the engine or from the widgets' own modules.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

export const HEAD_PAGE = 'attention/queries-keys-values.html';
export const LOOKUP_PAGE = 'attention/soft-lookup.html';

/** Every matrix of a head, and the value of the ledger that the chapter shows of it. */
export const MATRICES = {
    X: 'qkv.x',
    W_Q: 'qkv.w-q',
    W_K: 'qkv.w-k',
    W_V: 'qkv.w-v',
    Q: 'qkv.q',
    K: 'qkv.k',
    V: 'qkv.v',
    S: 'qkv.scores',
    scaled: 'qkv.scaled',
    masked: 'qkv.masked',
    A: 'qkv.weights',
    O: 'qkv.output',
};

export const COMPUTED = ['Q', 'K', 'V', 'S', 'scaled', 'masked', 'A', 'O'];

/** The toy head, copied by hand from the chapter. */
export const TOY = {
    tokens: ['The', 'cat', 'sat', 'on', 'the'],
    x: [[0.1, 0, 0.9, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0.3, 0.8, 0], [0.1, 0, 0.9, 0]],
    w_q: [[0, 2, 0], [1, 0, 1], [2, 0, 0], [0, 0, 1]],
    w_k: [[1, 0, 0], [0, 2, 0], [-1, 0, 0], [0, 0, 1]],
    w_v: [[2, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]],
    mask: true,
    scale: true,
};

/**
 * A tab with a widget that is ready.
 * @param {import('./reader.mjs').Reader} reader
 * @param {Parameters<import('./reader.mjs').Reader['tab']>[0] & { page?: string, engine?: string | null }} options
 */
export async function openWidget(reader, { page: name = HEAD_PAGE, engine = 'head.wasm', ...options } = {}) {
    const tab = await reader.tab(options);
    await tab.open(name);
    await tab.page.locator('.widget [data-ready]').first().scrollIntoViewIfNeeded();
    if (engine) {
        await whenLoaded(tab.page, engine);
    }
    return tab;
}

/**
 * Waits until the engine answers: the module is loaded once, for all who ask.
 * @param {import('playwright-core').Page} page
 * @param {string} engine  its file
 */
export const whenLoaded = (page, engine) => page.evaluate(async file => {
    const { load } = await import(new URL('../widgets/engine.js', location.href).href);
    await load(file);
    await new Promise(done => setTimeout(done, 0));
}, engine);

/**
 * @param {import('playwright-core').Page} page
 * @param {string} matrix
 * @param {number} row  from 0
 * @param {number} column  from 0
 */
export const cell = (page, matrix, row, column) =>
    page.locator(`[data-name="${matrix}"] tbody tr:nth-child(${row + 1}) td:nth-of-type(${column + 1})`);

/**
 * What a matrix of the widget shows.
 * @param {import('playwright-core').Page} page
 * @param {string} matrix
 * @returns {Promise<string[][]>}
 */
export const shown = (page, matrix) => page.locator(`[data-name="${matrix}"] tbody tr`).evaluateAll(rows =>
    rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.firstChild?.textContent ?? '')));

/**
 * What a table of the chapter shows.
 * @param {import('playwright-core').Page} page
 * @param {string} value  its name in the ledger
 * @returns {Promise<string[][]>}
 */
export const inChapter = (page, value) => page.locator('main figure.matrix').evaluateAll((figures, value) => {
    const figure = figures.find(figure => figure.querySelector('.origin')?.textContent === value);
    return [...figure?.querySelectorAll('tbody tr') ?? []].map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent));
}, value);

/**
 * A number as it is shown: '−1.44', '−∞', '1.23·10⁵'.
 * @param {string} text
 */
export function number(text) {
    const raised = { '⁰': 0, '¹': 1, '²': 2, '³': 3, '⁴': 4, '⁵': 5, '⁶': 6, '⁷': 7, '⁸': 8, '⁹': 9, '⁻': '-' };
    const plain = text.trim().replaceAll('−', '-').replace('∞', 'Infinity')
        .replace(/·10([⁰¹²³⁴-⁹⁻]+)/, (_, power) => `e${[...power].map(letter => raised[letter]).join('')}`);
    return plain === '' ? NaN : Number(plain);
}

/** How far a shown number may be from what it stands for: half of its last digit. */
export const slack = text => 0.5 * 10 ** -((text.split('.')[1] ?? '').replace(/·.*/, '').length) + 1e-9;

const multiply = (a, b) => a.map(row => b[0].map((_, j) => row.reduce((sum, each, k) => sum + each * b[k][j], 0)));
const transposed = a => a[0].map((_, j) => a.map(row => row[j]));

/**
 * A head computed from the formula, as plainly as can be.
 * @param {typeof TOY} head
 */
export function computed({ x, w_q, w_k, w_v, mask, scale }) {
    const [Q, K, V] = [multiply(x, w_q), multiply(x, w_k), multiply(x, w_v)];
    const S = multiply(Q, transposed(K));
    const scaled = S.map(row => row.map(score => (scale ? score / Math.sqrt(Q[0].length) : score)));
    const masked = scaled.map((row, i) => row.map((score, j) => (mask && j > i ? -Infinity : score)));
    const A = masked.map(row => {
        const exponentials = row.map(score => Math.exp(score));
        const sum = exponentials.reduce((a, b) => a + b);
        return exponentials.map(each => each / sum);
    });
    return { X: x, W_Q: w_q, W_K: w_k, W_V: w_v, Q, K, V, S, scaled, masked, A, O: multiply(A, V) };
}

/**
 * What the widget shows otherwise than it should, in words.
 * @param {import('playwright-core').Page} page
 * @param {typeof TOY} head
 */
export async function differences(page, head) {
    const wrong = [];
    for (const [matrix, rows] of Object.entries(computed(head))) {
        const texts = await shown(page, matrix);
        if (texts.length !== rows.length) {
            wrong.push(`${matrix} has ${texts.length} rows, not ${rows.length}`);
        }
        rows.forEach((row, i) => row.forEach((expected, j) => {
            const text = texts[i]?.[j] ?? '';
            if (!(number(text) === expected || Math.abs(number(text) - expected) <= slack(text))) {
                wrong.push(`${matrix}[${i}][${j}] shows ${text}, should be ${expected}`);
            }
        }));
    }
    return wrong;
}

/** The derivation in the panel, in the page: its lines with the numbers in them, as shown and exact. */
function readDerivation() {
    const panel = document.querySelector('.panel');
    const numbers = element => [...element.querySelectorAll('.number')].map(each => ({
        part: each.className.replace('number', '').trim(), shown: each.textContent, exact: each.dataset.exact, from: each.dataset.from,
    }));
    return {
        title: panel.querySelector('.title').textContent,
        lines: [...panel.querySelectorAll('.line')].map(line => ({
            kind: line.dataset.kind, rounding: line.classList.contains('rounding'), text: line.textContent, numbers: numbers(line),
        })),
    };
}

/** @param {import('playwright-core').Page} page */
export const derivation = page => page.evaluate(readDerivation);

/**
 * Points at every cell of a matrix in turn; says what was explained and marked.
 * @param {import('playwright-core').Page} page
 * @param {string} matrix
 */
export const derivations = (page, matrix) => page.evaluate(([matrix, read]) => {
    const readDerivation = new Function(`return ${read}`)();
    const place = cell => `${cell.closest('[data-name]').dataset.name} ${cell.parentElement.sectionRowIndex} ${cell.cellIndex - 1}`;
    return [...document.querySelectorAll(`[data-name="${matrix}"] tbody td`)].map(cell => {
        cell.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));
        return {
            place: place(cell),
            text: cell.firstChild.textContent,
            derived: readDerivation(),
            sources: [...document.querySelectorAll('.source')].map(place).sort(),
            chosen: [...document.querySelectorAll('.chosen')].map(place),
        };
    });
}, [matrix, readDerivation.toString()]);

/**
 * Adds up what a derivation shows, once with the digits shown and once with all.
 * Says in words what does not fit the cell.
 * @param {Awaited<ReturnType<typeof derivation>>} derived
 * @param {string} text  what the cell shows
 */
export function misfits({ title, lines }, text) {
    const wrong = [];
    const rounded = lines.some(({ rounding }) => rounding);
    let result;
    for (const { kind, numbers } of lines) {
        const parts = (name, read) => numbers.filter(({ part }) => part === name).map(read);
        const readings = [[({ exact }) => number(exact), true], ...(rounded ? [] : [[({ shown }) => number(shown), false]])];
        const last = numbers.at(-1);
        for (const [read, exact] of readings) {
            const near = (a, b, what) => {
                const allowed = exact ? 1e-9 * Math.max(1, Math.abs(b)) : 1e-9 + (what === 'shown' ? 0 : 0);
                if (!(a === b || Math.abs(a - b) <= allowed)) {
                    wrong.push(`${title}: ${kind}: ${a} is not ${b} (${exact ? 'exact' : 'as shown'})`);
                }
            };
            const sum = list => list.reduce((a, b) => a + b, 0);
            if (kind === 'products') {
                const [left, right, product] = ['left', 'right', 'product'].map(part => parts(part, read));
                const digits = numbers.find(({ part }) => part === 'product')?.shown ?? '';
                left.forEach((each, at) => (exact
                    ? near(each === 0 || right[at] === 0 ? 0 : each * right[at], product[at])
                    : Math.abs(each * right[at] - product[at]) <= slack(digits) || near(each * right[at], product[at])));
                exact ? near(sum(product), parts('sum', read)[0]) : slackSum(sum(product), parts('sum', read)[0], last.shown, near);
            } else if (kind === 'scaled') {
                const product = parts('left', read)[0] * parts('right', read)[0];
                exact ? near(product, parts('result', read)[0]) : slackSum(product, parts('result', read)[0], last.shown, near);
            } else if (kind === 'same') {
                near(parts('left', read)[0], parts('result', read)[0]);
            } else if (kind === 'largest') {
                near(Math.max(...parts('candidate', read)), parts('result', read)[0]);
            } else if (kind === 'exponentials') {
                const [score, difference, exponential] = ['score', 'difference', 'exponential'].map(part => parts(part, read));
                const largest = Math.max(...score);
                const digits = numbers.find(({ part }) => part === 'exponential')?.shown ?? '';
                score.forEach((each, at) => {
                    near(each - largest, difference[at]);
                    exact ? near(Math.exp(difference[at]), exponential[at]) : slackSum(Math.exp(difference[at]), exponential[at], digits, near);
                });
            } else if (kind === 'sum') {
                near(sum(parts('addend', read)), parts('sum', read)[0]);
            } else if (kind === 'quotient') {
                const quotient = parts('top', read)[0] / parts('bottom', read)[0];
                exact ? near(quotient, parts('result', read)[0]) : slackSum(quotient, parts('result', read)[0], last.shown, near);
            }
        }
        if (last && kind !== 'exponentials') {
            result = last.shown;
        }
    }
    if (result !== text) {
        wrong.push(`${title}: ends in ${result}, but the cell shows ${text}`);
    }
    return wrong;
}

/** As shown, a result fits if it is what the numbers give, to its own digits. */
function slackSum(a, b, shown, near) {
    if (Math.abs(a - b) > slack(shown)) {
        near(a, b);
    }
}

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What axe finds wrong with the widgets of a page, down to the minor things.
 * @param {import('playwright-core').Page} page
 */
export async function axe(page) {
    await page.evaluate(AXE);
    return page.evaluate(async () => {
        const { violations } = await window.axe.run({ include: ['.widget'] }, {
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
            rules: { 'target-size': { enabled: true } },
            resultTypes: ['violations'],
        });
        return violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, html }) =>
            `${id}: ${target.join(' ')}: ${any[0]?.message ?? html.slice(0, 120)}`));
    });
}
