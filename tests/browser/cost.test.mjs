// The cost calculator, used as readers use it: sizes that are typed, doubled and
// chosen, and what is said where they cannot be counted. Its numbers are compared
// with the chapter's tables, and with counts made here.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DARK, Reader, THEMES, report } from './lib/reader.mjs';
import { axe, inChapter, number, openWidget } from './lib/widgets.mjs';

const PAGE = 'speed/forward-pass.html';

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

const open = options => openWidget(reader, { page: PAGE, engine: 'models.wasm', ...options });
const field = (page, name) => page.locator(`.cost-widget [name="${name}"]`);
const note = page => page.locator('.cost-note').textContent();
const choose = (page, title) => page.getByRole('combobox', { name: 'Model', exact: true }).selectOption({ label: title });

/** Every cell of a table of the calculator. */
const table = (page, name) => page.locator(`[data-name="${name}"] tbody tr`).evaluateAll(rows =>
    rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent)));

/** All of what is shown. */
const everything = async page => Promise.all(['steps', 'model', 'memory'].map(name => table(page, name)));

const UNITS = {
    million: 1e6, billion: 1e9, trillion: 1e12,
    bytes: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
    ns: 1e-9, µs: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600,
};

/** A quantity with its unit, and how far it may be from what it stands for. */
function quantity(text) {
    const [digits, unit] = text.replaceAll('\u202f', '').split('\u00a0');
    const size = UNITS[unit] ?? 1;
    assert.ok(unit === undefined || unit in UNITS, `${text} has a known unit`);
    const decimals = (digits.split('.')[1] ?? '').length;
    return [number(digits) * size, 0.5000001 * 10 ** -decimals * (digits.includes('.') || unit ? size : 0)];
}

/** Whether a shown quantity and a number of a table, in some unit, can be the same. */
function same(shown, chapter, unit = 1) {
    const [[a, near], [b, about]] = [quantity(shown), quantity(chapter)];
    return Math.abs(a - b * unit) <= near + Math.max(about, 0.5000001 * (chapter.includes('.') ? 0 : 1)) * unit;
}

/** Where columns of the two differ, in words. */
function differences(shown, chapter, unit, what) {
    assert.ok(shown.length > 0 && shown.length === chapter.length, what);
    return shown.flatMap((text, at) => (same(text, chapter[at], unit) ? [] : [`${what}, row ${at + 1}: ${text} is not ${chapter[at]}`]));
}

const column = (rows, at) => rows.map(row => row[at]);

test('it begins with the head of the chapter, and every model has the chapter’s numbers', async () => {
    const { page, troubles, close } = await open();
    const [steps, real, floors] = [await table(page, 'steps'), await inChapter(page, 'cost.real'), await inChapter(page, 'cost.floors')];
    const [million, MiB, ms, billion, GiB] = [1e6, 2 ** 20, 1e-3, 1e9, 2 ** 30];
    report([
        ...differences(column(steps, 1).slice(0, 6), column(real, 0), million, 'operations'),
        ...differences(column(steps, 2).slice(0, 6), column(real, 1), MiB, 'bytes'),
        ...differences(column(steps, 3).slice(0, 6), column(real, 2), 1, 'operations for a byte'),
        ...differences(column(steps, 4).slice(1), column(floors, 2), ms, 'takes at least'),
    ]);
    // By hand: 4096·768·64 three times, 4096²·64, 4096².
    assert.deepEqual(
        await page.locator('[data-name="steps"] tbody tr td:nth-of-type(1)').evaluateAll(cells => cells.slice(0, 6).map(cell => cell.title.replaceAll('\u202f', ''))),
        ['603979776', '1073741824', '16777216', '0', '0', '1073741824'],
    );
    assert.deepEqual(column(steps, 5), ['×2', '×4', '×4', '–', '×4', '×4', '×4', '×4']);
    const [token, cache, crossover] = await Promise.all(['cost.models.token', 'cost.models.cache', 'cost.models.crossover'].map(name => inChapter(page, name)));
    const names = ['GPT-2 small', 'GPT-3 175B', 'Llama 2 7B', 'Llama 3 8B'];
    for (const [at, name] of names.entries()) {
        await choose(page, `${name}, full context`);
        assert.equal(await field(page, 'tokens').inputValue(), crossover[at][0]);
        const [model, memory] = [await table(page, 'model'), await table(page, 'memory')];
        report([
            ...differences([memory[0][0], model[0][2], model[1][2]], token[at], billion, name),
            ...differences([memory[1][1]], [cache[at][0]], 1024, `${name}, a token`),
            ...differences([memory[2][1], memory[0][1]], cache[at].slice(1), GiB, `${name}, memory`),
        ]);
        const sentence = (await page.locator('.cost-sentences').textContent()).replaceAll('\u202f', '');
        assert.ok(sentence.includes(`sees ${crossover[at][1]} keys`), sentence);
    }
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('sizes are typed and doubled, and all counts follow', async () => {
    const { page, close } = await open();
    const doubling = await inChapter(page, 'cost.doubling');
    for (const [at, tokens] of ['1024', '2048', '4096', '8192'].entries()) {
        await field(page, 'tokens').fill(tokens);
        report(differences(column(await table(page, 'steps'), 1).slice(0, 6), doubling[at], 1e6, `T = ${tokens}`));
    }
    assert.equal(await page.getByRole('combobox', { name: 'Model', exact: true }).locator('option:checked').textContent(), 'sizes of your own');
    await field(page, 'tokens').focus();
    await page.keyboard.press('ArrowDown');
    assert.equal(await field(page, 'tokens').inputValue(), '4096');
    await page.keyboard.press('PageUp');
    assert.equal(await field(page, 'tokens').inputValue(), '65536');
    await page.getByRole('button', { name: /half the tokens/ }).click();
    await page.getByRole('button', { name: /half the tokens/ }).click();
    await page.getByRole('button', { name: /twice the tokens/ }).click();
    assert.equal(await field(page, 'tokens').inputValue(), '32768');
    // The head size follows the heads, and then has a value of its own.
    assert.equal(await field(page, 'd').getAttribute('placeholder'), '64');
    await field(page, 'heads').fill('24');
    assert.equal(await field(page, 'd').getAttribute('placeholder'), '32');
    await field(page, 'd').focus();
    await page.keyboard.press('ArrowUp');
    assert.equal(await field(page, 'd').inputValue(), '64');
    // 2 · 12 layers · 24 heads · 64 numbers · 1 byte for a token.
    await field(page, 'bytes').selectOption('1');
    assert.equal((await table(page, 'memory'))[1][1], '36.0\u00a0KiB');
    await field(page, 'key_value_heads').fill('6');
    assert.equal((await table(page, 'memory'))[1][1], '9.00\u00a0KiB');
    const before = (await table(page, 'memory'))[0][0];
    await field(page, 'tied').selectOption('false');
    assert.notEqual((await table(page, 'memory'))[0][0], before);
    await page.waitForFunction(() => /32.768 tokens: reading/.test(document.querySelector('.widget-voice').textContent));
    await page.getByRole('button', { name: 'Reset' }).click();
    assert.equal(await field(page, 'tokens').inputValue(), '4096');
    assert.ok(page.url().endsWith(PAGE), 'arrow keys do not turn the page');
    await close();
});

test('what cannot be used is marked where it stands, and the last counts stay', async () => {
    const { page, troubles, close } = await open();
    const before = await everything(page);
    for (const [name, text, said] of [
        ['tokens', '', /^Tokens T: There is no number/],
        ['tokens', '1.5', /^Tokens T: “1\.5” is not a whole number/],
        ['layers', '0', /^Layers: 0 is too small/],
        ['vocabulary', '1e99', /^Vocabulary: “1e99” is not a whole/],
        ['d_model', '99999999999', /^Model width dmodel: 99999999999 is too large/],
        ['heads', '7', /^Head size d: A width of 768 cannot be shared out evenly among 7 heads/],
        ['key_value_heads', '5', /^Key heads: 12 heads cannot share 5/],
        ['tokens', '1000000000', /^Tokens T: Too large together: .* 64 bits/],
    ]) {
        const value = await field(page, name).inputValue();
        await field(page, name).fill(text);
        const marked = name === 'heads' ? 'd' : name;
        assert.deepEqual(await page.locator('.cost-fields [aria-invalid]').evaluateAll(fields => fields.map(({ name }) => name)), [marked]);
        assert.match(await note(page), said);
        assert.deepEqual(await everything(page), before, 'the last counts stay');
        assert.ok(await page.locator('.cost-results[data-stale]').count());
        await field(page, name).fill(value);
        assert.equal(await page.locator('[aria-invalid], [data-stale]').count(), 0);
    }
    // Of two that are wrong, the one that is typed into is explained.
    await field(page, 'layers').fill('x');
    await field(page, 'tokens').fill('y');
    assert.match(await note(page), /^Tokens T: “y”/);
    await field(page, 'layers').focus();
    assert.match(await note(page), /^Layers: “x”/);
    const described = await field(page, 'layers').getAttribute('aria-describedby');
    assert.equal(await page.locator(`[id="${described}"]`).textContent(), await note(page));
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('without the engine the counts of the page stand there, and it is said', async () => {
    const { page: usual, close: closeUsual } = await open();
    const expected = await everything(usual);
    await closeUsual();
    const { page, close, open: go } = await reader.tab();
    await page.route('**/models.wasm', route => route.abort());
    await go(PAGE);
    await page.locator('cost-calculator').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => /did not load/.test(document.querySelector('.cost-note').textContent));
    assert.deepEqual(await everything(page), expected);
    for (const control of await page.locator('.cost-widget :is(input, select, button)').all()) {
        assert.ok(await control.isDisabled());
    }
    report(await axe(page));
    await close();
});

test('without JavaScript a sentence says what would be here', async () => {
    const { page, open: go, close } = await reader.tab({ javaScriptEnabled: false });
    await go(PAGE);
    assert.match(await page.locator('cost-calculator .widget-fallback').textContent(), /With JavaScript/);
    assert.ok(await page.locator('cost-calculator .widget-fallback').isVisible());
    await close();
});

test('its place is kept before it comes, and it does nothing while idle', async () => {
    for (const width of [320, 360, 1280]) {
        const { page, close } = await reader.tab({ width });
        await page.addInitScript(() => {
            window.work = 0;
            for (const name of ['requestAnimationFrame', 'setTimeout', 'setInterval', 'requestIdleCallback']) {
                const real = window[name];
                window[name] = (...all) => { window.work += 1; return real(...all); };
            }
        });
        let arrive = () => {};
        const late = new Promise(done => { arrive = done; });
        await page.route('**/widgets/load.js', async route => {
            await late;
            await route.continue();
        });
        await page.goto(`${reader.site.origin}/${PAGE}#try-it`, { waitUntil: 'commit' });
        await page.locator('.nav-wrapper').first().waitFor({ state: 'attached' });
        await page.evaluate(() => document.fonts.ready.then(() => new Promise(requestAnimationFrame)));
        const height = () => page.evaluate(() => document.querySelector('figure.widget').offsetHeight);
        const kept = await height();
        arrive();
        await page.locator('.widget [data-ready]').waitFor();
        assert.equal(await height(), kept, `${width} px`);
        await page.locator('cost-calculator').scrollIntoViewIfNeeded();
        await page.getByRole('combobox', { name: 'Model', exact: true }).selectOption({ index: 2 });
        const small = await page.locator('.cost-widget :is(input, select, button)').evaluateAll(controls =>
            controls.filter(control => control.offsetWidth < 24 || control.offsetHeight < 24).map(({ name }) => name));
        assert.deepEqual(small, [], 'targets are large enough');
        assert.equal(await height(), kept, `${width} px: other numbers take no more room`);
        assert.ok(await page.evaluate(() => document.querySelector('.content').scrollWidth <= document.documentElement.clientWidth));
        if (width === 1280) {
            await page.waitForTimeout(900);
            await page.evaluate(() => { window.work = 0; });
            await page.waitForTimeout(600);
            assert.equal(await page.evaluate(() => window.work), 0, 'timers and frames while idle');
        }
        await close();
    }
});

test('axe finds nothing in the calculator, in any theme', async () => {
    for (const width of [1280, 360]) {
        const { page, close } = await open({ width });
        await field(page, 'layers').fill('x');
        for (const theme of width === 360 ? [DARK] : THEMES) {
            await page.evaluate(([themes, theme]) => {
                document.documentElement.classList.remove(...themes);
                document.documentElement.classList.add(theme);
            }, [THEMES, theme]);
            report((await axe(page)).map(line => `${theme}, ${width} px: ${line}`));
        }
        await close();
    }
});
