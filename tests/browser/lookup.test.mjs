// The soft-lookup widget, used as readers use it: a query that is dragged, moved
// by keys and typed, a temperature from exact lookup to plain average. Its
// numbers are compared with the chapter's, and with a lookup computed here.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DARK, Reader, THEMES, report } from './lib/reader.mjs';
import { LOOKUP_PAGE, axe, inChapter, misfits, number, openWidget, slack } from './lib/widgets.mjs';

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

/** The menu, copied by hand from the chapter. */
const KEYS = [[1, 0], [0.8, 0.6], [0, 1], [0, 0]];
const VALUES = [[3, 1, 2], [4, 6, 3], [2, 4, 0], [1, 0, 0]];

const open = options => openWidget(reader, { page: LOOKUP_PAGE, ...options });
const texts = (page, selector) => page.locator(selector).allTextContents();
const weights = page => texts(page, '.bar-row .number');
const mixed = page => texts(page, '.mixed .number');
const query = page => page.locator('.query-row input').evaluateAll(fields => fields.map(field => Number(field.value)));

/** What is shown otherwise than it should for a query and a temperature. */
async function differences(page, [x, y], temperature) {
    const scores = KEYS.map(([a, b]) => a * x + b * y);
    const best = Math.max(...scores);
    const shares = scores.map(score => {
        if (temperature === 0) {
            return Number(Math.abs(score - best) < 1e-9);
        }
        return Math.exp((score - best) / temperature);
    });
    const sum = shares.reduce((a, b) => a + b);
    const expected = [
        ...shares.map(share => share / sum),
        ...VALUES[0].map((_, fact) => shares.reduce((total, share, key) => total + share / sum * VALUES[key][fact], 0)),
    ];
    const seen = [...await weights(page), ...await mixed(page)];
    return expected.flatMap((each, at) => (Math.abs(number(seen[at]) - each) <= slack(seen[at]) ? [] : [`${seen[at]} should be ${each}`]));
}

test('it begins with the lookup of the chapter', async () => {
    const { page, close } = await open();
    assert.deepEqual(await weights(page), (await inChapter(page, 'lookup.weights')).flat());
    assert.deepEqual(await mixed(page), (await inChapter(page, 'lookup.answer')).flat());
    report(await differences(page, [1, 0.8], 1));
    await close();
});

test('the query is dragged, and everything follows while it moves', async () => {
    const { page, close } = await open();
    const square = await page.locator('.square').boundingBox();
    const handle = await page.locator('.handle').boundingBox();
    await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
    await page.mouse.down();
    const seen = new Set();
    for (const [left, up] of [[0.7, 0.5], [0.5, 0.3], [0.3, 0.6]]) {
        await page.mouse.move(square.x + square.width * left, square.y + square.height * (1 - up));
        seen.add((await weights(page)).join());
        report(await differences(page, await query(page), 1));
    }
    assert.equal(seen.size, 3, 'the weights follow');
    await page.mouse.move(square.x + square.width * 2, square.y - 50);
    report(await differences(page, await query(page), 1));
    await page.mouse.up();
    const dot = await page.locator('.handle').boundingBox();
    assert.ok(dot.x + dot.width / 2 <= square.x + square.width + 2, 'it stays on the plane');
    await page.mouse.move(square.x + 50, square.y + 50);
    const [x, y] = await query(page);
    await page.mouse.move(square.x + 90, square.y + 50);
    assert.deepEqual(await query(page), [x, y], 'let go, it stays');
    await page.locator('.square').click({ position: { x: square.width / 2, y: square.height / 2 } });
    report(await differences(page, await query(page), 1));
    assert.notDeepEqual(await query(page), [x, y], 'a click moves it too');
    await close();
});

test('arrow keys move the query, and do not turn the page', async () => {
    const { page, close } = await open();
    await page.locator('.handle').focus();
    const before = await page.locator('.handle').boundingBox();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await query(page), [0.8, 0.7]);
    report(await differences(page, [0.8, 0.7], 1));
    const after = await page.locator('.handle').boundingBox();
    assert.ok(after.x < before.x && after.y > before.y, 'to the left and down');
    assert.match(await page.locator('.widget-voice').textContent(), /cocoa/, 'what comes of it is spoken');
    assert.match(await page.locator('.handle').getAttribute('aria-label'), /sweet 0\.8, bitter 0\.7/);
    assert.ok(page.url().endsWith(LOOKUP_PAGE));
    await close();
});

test('the query is typed; what is no number is marked, and nothing breaks', async () => {
    const { page, troubles, close } = await open();
    const field = page.getByRole('textbox', { name: 'sweet' });
    await field.fill('0.25');
    report(await differences(page, [0.25, 0.8], 1));
    await field.press('ArrowUp');
    report(await differences(page, [0.35, 0.8], 1));
    for (const text of ['', 'NaN', '1e308', 'x']) {
        await field.fill(text);
        assert.equal(await field.getAttribute('aria-invalid'), 'true', text);
        assert.ok((await page.locator('.lookup-widget .notice').textContent()).length > 20);
        report(await differences(page, [0.35, 0.8], 1));
    }
    await field.fill('-0.1');
    assert.ok(!await page.locator('.lookup-widget .notice').isVisible());
    report(await differences(page, [-0.1, 0.8], 1));
    await page.getByRole('button', { name: 'Reset' }).click();
    report(await differences(page, [1, 0.8], 1));
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('the temperature goes from exact lookup to plain average', async () => {
    const { page, close } = await open();
    const slider = page.getByRole('slider', { name: 'Temperature' });
    await slider.focus();
    await page.keyboard.press('Home');
    report(await differences(page, [1, 0.8], 0));
    assert.deepEqual(await weights(page), ['0.00', '1.00', '0.00', '0.00'], 'only cocoa counts');
    assert.match(await slider.getAttribute('aria-valuetext'), /exact/i);
    await page.keyboard.press('End');
    report(await differences(page, [1, 0.8], Infinity));
    assert.deepEqual(await weights(page), Array(4).fill('0.25'), 'all count alike');
    assert.match(await slider.getAttribute('aria-valuetext'), /average/i);
    const cocoa = [];
    for (const position of [0, 200, 400, 500, 600, 800, 1000]) {
        await slider.fill(String(position));
        cocoa.push(number((await weights(page))[1]));
        const shown = /τ = ([\d.]+)/.exec(await page.locator('.temperature').textContent());
        if (shown) {
            assert.equal(position === 500, Number(shown[1]) === 1);
        }
    }
    assert.deepEqual(cocoa, [...cocoa].sort((a, b) => b - a), 'cocoa’s share only falls');
    assert.ok(page.url().endsWith(LOOKUP_PAGE));
    await close();
});

test('each weight and each number of the answer says how it was computed', async () => {
    const { page, close } = await open();
    const lines = () => page.locator('.how').evaluate(panel => ({
        title: panel.querySelector('.title').textContent,
        lines: [...panel.querySelectorAll('.line')].map(line => ({
            kind: line.dataset.kind,
            rounding: line.classList.contains('rounding'),
            numbers: [...line.querySelectorAll('.number')].map(each => ({
                part: each.className.replace('number', '').trim(), shown: each.textContent, exact: each.dataset.exact,
            })),
        })),
    }));
    for (const [at, name] of (await texts(page, '.bar-row .name')).entries()) {
        await page.locator('.bar-row').nth(at).click();
        const how = await lines();
        assert.match(how.title, new RegExp(name));
        const score = KEYS[at][0] + 0.8 * KEYS[at][1];
        report(misfits(how, score.toFixed(2)));
    }
    for (const [at, text] of (await mixed(page)).entries()) {
        await page.locator('.mixed').nth(at).click();
        report(misfits(await lines(), text));
    }
    await close();
});

test('on a telephone a finger drags the query, and the page stays', async () => {
    const { page, close } = await open({ width: 360, height: 740, hasTouch: true, isMobile: true });
    await page.locator('.handle').scrollIntoViewIfNeeded();
    const { x, y, width, height } = await page.locator('.handle').boundingBox();
    assert.ok(width >= 24 && height >= 24);
    const scrolled = await page.evaluate(() => scrollY);
    const client = await page.context().newCDPSession(page);
    const touch = (type, left, down) => client.send('Input.dispatchTouchEvent', {
        type, touchPoints: type === 'touchEnd' ? [] : [{ x: x + width / 2 + left, y: y + height / 2 + down }],
    });
    await touch('touchStart', 0, 0);
    for (const step of [10, 25, 40, 60]) {
        await touch('touchMove', -step, step);
    }
    await touch('touchEnd', -60, 60);
    const [sweet, bitter] = await query(page);
    assert.ok(sweet < 0.9 && bitter < 0.7, `the query is at ${sweet}, ${bitter}`);
    report(await differences(page, [sweet, bitter], 1));
    assert.equal(await page.evaluate(() => scrollY), scrolled);
    await close();
});

test('without the engine the numbers of the chapter stand there, and it is said', async () => {
    const { page, close, open: go } = await reader.tab();
    await page.route('**/head.wasm', route => route.abort());
    await go(LOOKUP_PAGE);
    await page.locator('soft-lookup').scrollIntoViewIfNeeded();
    await page.locator('.lookup-widget .notice').waitFor();
    report(await differences(page, [1, 0.8], 1));
    assert.ok(await page.getByRole('slider', { name: 'Temperature' }).isDisabled());
    await page.locator('.square').click({ position: { x: 20, y: 20 } });
    report(await differences(page, [1, 0.8], 1));
    await page.locator('.bar-row').nth(2).click();
    assert.match(await page.locator('.how .title').textContent(), /coffee/);
    await close();
});

for (const theme of THEMES) {
    test(`axe finds nothing in the soft lookup, in ${theme}`, async () => {
        const { page, close } = await open({ theme, width: theme === DARK ? 360 : 1280 });
        await page.locator('.bar-row').nth(1).click();
        report(await axe(page));
        await close();
    });
}
