// The head that learns, used as readers use it: played to its end, paused, stepped
// and reset, from other seeds and at rates that are too high. What it ends with is
// compared with the chapter's tables and with the data that native code put into
// the page.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DARK, Reader, THEMES, report } from './lib/reader.mjs';
import { axe, inChapter, openWidget } from './lib/widgets.mjs';

const PAGE = 'learning/learning-the-weights.html';
const ENGINE = 'models.wasm';

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

const open = options => openWidget(reader, { page: PAGE, engine: ENGINE, reducedMotion: 'no-preference', ...options });
const named = (page, name) => page.locator('.learn-widget').getByRole('button', { name, exact: true });
const field = (page, name) => page.locator(`.learn-widget [name="${name}"]`);
const spoken = page => page.locator('.learn-spoken').textContent();
const voice = page => page.locator('learning-head .widget-voice').textContent();
const note = page => page.locator('.learn-note').textContent();
const state = page => page.locator('learning-head').getAttribute('data-state');
const ended = (page, as = 'learned') => page.waitForFunction(as => document.querySelector('learning-head').dataset.state === as, as, { timeout: 60_000 });
const step = async page => Number(/(\d+) steps?/.exec(await spoken(page))?.[1]);

/** What native code has put into the page. */
const data = page => page.evaluate(() => JSON.parse(document.querySelector('learning-head script').textContent));

/** The attention that is shown, as the chapter's tables show it. */
const attention = page => page.locator('.learn-map tbody tr').evaluateAll(rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent)));

/** The numbers of a weight matrix. */
const weights = (page, name) => page.locator(`.learn-grid[data-name="${name}"] tbody tr`).evaluateAll(rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.title)));

/** All of what is shown. */
const everything = async page => [await spoken(page), await attention(page), await weights(page, 'W_Q'), await weights(page, 'W_K'), await weights(page, 'W_V'),
    await page.locator('.learn-line polyline').getAttribute('points')];

/** The attention of a run in the data, without the closed cells. */
const openCells = ({ examples: [{ shown }] }) => shown.map((row, at) => row.map((text, column) => (column > at ? '' : text)));

test('it plays to the end, and ends as native code does', async () => {
    const { page, troubles, close } = await open();
    const { tasks } = await data(page);
    for (const [at, { name, stages }] of tasks.entries()) {
        const [first, , last] = stages;
        await field(page, 'task').selectOption({ index: at });
        assert.deepEqual(await attention(page), openCells(first), name);
        await page.locator('.learn-row select').selectOption('fast');
        await named(page, 'Play').click();
        await ended(page);
        assert.equal(await spoken(page), last.spoken);
        assert.ok((await spoken(page)).includes(`the loss is ${last.loss.shown}`));
        assert.equal(await page.locator('.learn-line polyline').getAttribute('points'), last.curve.line);
        for (const { name, shown } of last.matrices) {
            assert.deepEqual(await weights(page, name), shown);
        }
        assert.deepEqual(await attention(page), openCells(last));
        assert.equal((await voice(page)).trim(), last.spoken, 'the end is spoken');
        // And the chapter's own table says the same.
        const table = await inChapter(page, `learn.${name}.attention.end`);
        assert.equal(table.length, 6);
        assert.deepEqual((await attention(page)).map((row, at) => row.slice(0, at + 1)), table.map((row, at) => row.slice(0, at + 1)));
        assert.equal(await named(page, 'Play').count(), 1, 'it stopped by itself');
    }
    // Played again, it begins anew.
    await page.locator('.learn-row select').selectOption('slow');
    await named(page, 'Play').click();
    assert.ok(await step(page) < 30);
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('it moves while it plays, and every frame has time for the rest of the page', async () => {
    const { page, close } = await open();
    await page.evaluate(() => {
        window.seen = new Set();
        new MutationObserver(() => window.seen.add(document.querySelector('.learn-spoken').textContent))
            .observe(document.querySelector('.learn-spoken'), { childList: true, characterData: true, subtree: true });
    });
    const before = await everything(page);
    await named(page, 'Play').click();
    assert.equal(await state(page), 'playing');
    assert.equal((await voice(page)).trim(), 'Learning.');
    await ended(page);
    assert.ok(await page.evaluate(() => window.seen.size) > 12, 'many moments were shown');
    (await everything(page)).forEach((part, at) => assert.notDeepEqual(part, before[at], `part ${at} has moved`));
    await close();
});

test('pause, step and reset', async () => {
    const { page, troubles, close } = await open();
    const { tasks: [{ stages: [first] }] } = await data(page);
    const start = await everything(page);
    assert.equal(start[0], first.spoken);
    await named(page, 'Play').click();
    await page.waitForFunction(() => /After \d\d steps/.test(document.querySelector('.learn-spoken').textContent));
    await named(page, 'Pause').click();
    const paused = await everything(page);
    assert.equal((await voice(page)).trim(), paused[0], 'a pause says where it is');
    await page.waitForTimeout(400);
    assert.deepEqual(await everything(page), paused, 'paused is paused');
    const at = await step(page);
    await named(page, 'Step').click();
    assert.equal(await step(page), at + 1);
    await page.waitForFunction(at => document.querySelector('learning-head .widget-voice').textContent.includes(`After ${at} steps`), at + 1);
    await named(page, 'Reset').click();
    assert.deepEqual(await everything(page), start);
    // Whether at once or on the way, a step leads to the same.
    for (let taken = 0; taken < at + 1; taken += 1) {
        await named(page, 'Step').click();
    }
    await named(page, 'Play').click();
    await ended(page);
    const whole = await everything(page);
    await named(page, 'Reset').click();
    await named(page, 'Play').click();
    await ended(page);
    assert.deepEqual(await everything(page), whole);
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('another seed, rate or task is another run, and arrow keys change the numbers', async () => {
    const { page, close } = await open();
    const start = await everything(page);
    await field(page, 'seed').fill('8');
    const other = await everything(page);
    assert.notDeepEqual(other[2], start[2], 'other weights');
    await field(page, 'seed').press('ArrowDown');
    assert.equal(await field(page, 'seed').inputValue(), '7');
    assert.deepEqual(await everything(page), start);
    await field(page, 'rate').press('ArrowUp');
    assert.equal(await field(page, 'rate').inputValue(), '1.1');
    await named(page, 'Step').click();
    const faster = await everything(page);
    await field(page, 'rate').fill('1');
    assert.equal((await everything(page))[0], start[0], 'it begins anew');
    await named(page, 'Step').click();
    assert.notDeepEqual(await everything(page), faster);
    await named(page, 'Play').click();
    await field(page, 'task').selectOption('previous');
    assert.equal(await state(page), 'learning', 'a change stops it');
    assert.notDeepEqual((await everything(page))[1], start[1]);
    await page.locator('.learn-map select').selectOption({ index: 2 });
    const words = await page.locator('.learn-map thead th').allTextContents();
    assert.equal(words.join(' '), await page.locator('.learn-map select option:checked').textContent());
    assert.ok(page.url().endsWith(PAGE), 'arrow keys do not turn the page');
    await close();
});

test('too high a rate is said, and the page lives on', async () => {
    const { page, troubles, close } = await open();
    for (const rate of ['100', '1000']) {
        await field(page, 'rate').fill(rate);
        await named(page, 'Play').click();
        await ended(page, 'diverged');
        assert.match(await spoken(page), /^Diverged after \d+ steps?: .* The learning rate is too high\. Reset, and try a lower one\.$/);
        assert.equal((await voice(page)).trim(), await spoken(page));
        await named(page, 'Reset').click();
        assert.equal(await state(page), 'learning');
        assert.equal(await step(page), 0);
    }
    await field(page, 'rate').fill('10');
    await named(page, 'Play').click();
    await ended(page);
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('what cannot be used is marked where it stands, and the last run stays', async () => {
    const { page, troubles, close } = await open();
    await named(page, 'Step').click();
    const before = await everything(page);
    for (const [name, text, said] of [
        ['seed', '', /^Seed: There is no seed here/],
        ['seed', 'cat', /^Seed: “cat” is not a whole number/],
        ['seed', '-1', /^Seed: “-1” is not a whole number/],
        ['seed', '1e308', /^Seed: “1e308” is not a whole number/],
        ['rate', '', /^Learning rate: There is no number here/],
        ['rate', 'fast', /^Learning rate: “fast” is not a number/],
        ['rate', '-1', /^Learning rate: A learning rate is above 0/],
        ['rate', '1e308', /^Learning rate: 1e308 is too large here/],
    ]) {
        const value = await field(page, name).inputValue();
        await field(page, name).fill(text);
        assert.deepEqual(await page.locator('.learn-fields [aria-invalid]').evaluateAll(fields => fields.map(({ name }) => name)), [name]);
        assert.match(await note(page), said);
        assert.match(await note(page), /from before\.$/);
        const described = await field(page, name).getAttribute('aria-describedby');
        assert.equal(await page.locator(`[id="${described}"]`).textContent(), await note(page));
        assert.deepEqual(await everything(page), before, 'the last run stays');
        await named(page, 'Play').click({ force: true });
        assert.notEqual(await state(page), 'playing');
        await field(page, name).fill(value);
        assert.equal(await page.locator('.learn-widget :is([aria-invalid], [data-stale])').count(), 0);
        await named(page, 'Step').click();
    }
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('by keyboard alone', async () => {
    const { page, close } = await open();
    await field(page, 'task').focus();
    const reached = [];
    for (let tab = 0; tab < 9; tab += 1) {
        reached.push(await page.evaluate(() => document.activeElement.name || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent));
        await page.keyboard.press('Tab');
    }
    assert.deepEqual(reached, ['task', 'seed', 'rate', 'Play', 'Step', 'Reset', 'Speed', 'Sentence', 'Attention']);
    await named(page, 'Play').focus();
    await page.keyboard.press('Space');
    await page.waitForFunction(() => /After \d\d steps/.test(document.querySelector('.learn-spoken').textContent));
    await page.keyboard.press('Enter');
    assert.notEqual(await state(page), 'playing');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Play', 'the focus stays');
    await close();
});

test('by touch on a phone', async () => {
    const { page, troubles, close } = await open({ width: 360, height: 740, hasTouch: true, isMobile: true });
    const small = await page.locator('.learn-widget :is(input, select, button)').evaluateAll(controls =>
        controls.filter(control => control.offsetWidth < 40 || control.offsetHeight < 40).map(({ name, textContent }) => name || textContent));
    assert.deepEqual(small, [], 'targets are large enough for a finger');
    await named(page, 'Play').tap();
    await ended(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the phone');
    report(await axe(page));
    assert.deepEqual(troubles.errors, []);
    await close();
});

/** Counts the frames and timers that a page asks for. */
const counting = () => {
    window.work = 0;
    for (const name of ['requestAnimationFrame', 'setTimeout', 'setInterval', 'requestIdleCallback']) {
        const real = window[name];
        window[name] = (...all) => { window.work += 1; return real(...all); };
    }
};

/** How many it asked for in half a second, once it has come to rest. */
async function work(page) {
    await page.waitForTimeout(1000);
    await page.evaluate(() => { window.work = 0; });
    await page.waitForTimeout(500);
    return page.evaluate(() => window.work);
}

test('paused, out of sight and hidden it does nothing', async () => {
    const tab = await reader.tab({ reducedMotion: 'no-preference' });
    const { page } = tab;
    await page.addInitScript(counting);
    await page.addInitScript(() => {
        window.isHidden = false;
        Object.defineProperty(document, 'hidden', { get: () => window.isHidden });
    });
    await tab.open(PAGE);
    await page.locator('learning-head').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.endsWith('models.wasm')));
    assert.equal(await work(page), 0, 'before it is played');
    // So slow a rate that there is no end to it.
    await field(page, 'rate').fill('0.001');
    await page.locator('.learn-row select').selectOption('slow');
    await named(page, 'Play').click();
    await page.waitForTimeout(300);
    assert.ok(await page.evaluate(() => window.work) > 3, 'it asks for frames while it plays');
    await page.evaluate(() => scrollTo(0, 0));
    assert.equal(await work(page), 0, 'out of sight');
    const away = await step(page);
    await page.waitForTimeout(300);
    assert.equal(await step(page), away);
    await page.locator('.learn-row').scrollIntoViewIfNeeded();
    await page.waitForFunction(away => Number(/(\d+) steps?/.exec(document.querySelector('.learn-spoken').textContent)?.[1]) > away, away);
    assert.equal(await state(page), 'playing', 'back in sight, it goes on');
    await page.evaluate(() => { window.isHidden = true; document.dispatchEvent(new Event('visibilitychange')); });
    assert.equal(await work(page), 0, 'hidden');
    const hidden = await step(page);
    await page.evaluate(() => { window.isHidden = false; document.dispatchEvent(new Event('visibilitychange')); });
    await page.waitForFunction(hidden => Number(/(\d+) steps?/.exec(document.querySelector('.learn-spoken').textContent)?.[1]) > hidden, hidden);
    await named(page, 'Pause').click();
    assert.equal(await work(page), 0, 'paused');
    await tab.close();
});

test('where motion is unwelcome it goes in few large jumps', async () => {
    const { page, close } = await open({ reducedMotion: 'reduce' });
    await page.evaluate(() => {
        window.seen = [];
        new MutationObserver(() => window.seen.push(document.querySelector('.learn-spoken').textContent))
            .observe(document.querySelector('.learn-spoken'), { childList: true, characterData: true, subtree: true });
    });
    await named(page, 'Play').click();
    await ended(page);
    const seen = await page.evaluate(() => window.seen.map(text => Number(/(\d+) steps?/.exec(text)[1])));
    assert.deepEqual(seen, [25, 50, 75, 100, 125, 136]);
    await close();
});

test('without the engine the training of the page stands there, and it is said', async () => {
    const { page, close, open: go } = await reader.tab();
    await page.route('**/models.wasm', route => route.abort());
    await go(PAGE);
    await page.locator('learning-head').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => /did not load/.test(document.querySelector('.learn-note').textContent));
    const { tasks } = await data(page);
    for (const [at, { stages }] of tasks.entries()) {
        await field(page, 'task').selectOption({ index: at });
        for (const stage of [...stages, stages[0]]) {
            assert.equal(await spoken(page), stage.spoken);
            assert.deepEqual(await attention(page), openCells(stage));
            await named(page, 'Step').click();
        }
        await named(page, 'Reset').click();
    }
    for (const control of [named(page, 'Play'), field(page, 'seed'), field(page, 'rate')]) {
        assert.ok(await control.isDisabled());
    }
    report(await axe(page));
    await close();
});

test('without JavaScript a sentence says what would be here', async () => {
    const { page, open: go, close } = await reader.tab({ javaScriptEnabled: false });
    await go(PAGE);
    assert.match(await page.locator('learning-head .widget-fallback').textContent(), /With JavaScript/);
    assert.ok(await page.locator('learning-head .widget-fallback').isVisible());
    await close();
});

test('its place is kept before it comes, whatever it says then', async () => {
    for (const width of [320, 360, 480, 768, 1280]) {
        const { page, close } = await reader.tab({ width });
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
        await page.locator('learning-head').scrollIntoViewIfNeeded();
        await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.endsWith('models.wasm')));
        await field(page, 'rate').fill('100');
        await page.waitForFunction(() => document.querySelector('.learn-widget [name="rate"]').value === '100');
        for (let taken = 0; taken < 4; taken += 1) {
            await named(page, 'Step').click();
        }
        assert.equal(await state(page), 'diverged');
        assert.equal(await height(), kept, `${width} px, diverged`);
        await field(page, 'rate').fill('-1');
        await field(page, 'seed').fill('99999999999999999999');
        assert.equal(await height(), kept, `${width} px, with mistakes`);
        assert.ok(await page.evaluate(() => document.querySelector('.content').scrollWidth <= document.documentElement.clientWidth));
        await close();
    }
});

test('axe finds nothing, in any theme', async () => {
    const { page, close } = await open();
    await named(page, 'Step').click();
    await field(page, 'rate').fill('x');
    for (const theme of [...THEMES, DARK]) {
        await page.evaluate(([themes, theme]) => {
            document.documentElement.classList.remove(...themes);
            document.documentElement.classList.add(theme);
        }, [THEMES, theme]);
        report((await axe(page)).map(line => `${theme}: ${line}`));
    }
    await close();
});

test('a page of it costs less than 100 kilobytes to download, compressed', async () => {
    const { gzipSync } = await import('node:zlib');
    const { page, close } = await reader.tab();
    let bytes = 0;
    const taken = [];
    page.on('response', async response => {
        if (/\/widgets\//.test(response.url())) {
            taken.push(response.body().then(body => { bytes += gzipSync(body, { level: 9 }).length; }));
        }
    });
    await page.goto(`${reader.site.origin}/${PAGE}`);
    await page.locator('learning-head').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.endsWith('models.wasm')));
    await page.waitForTimeout(300);
    await Promise.all(taken);
    assert.ok(bytes > 10_000 && bytes < 100_000, `${bytes} bytes`);
    await close();
});
