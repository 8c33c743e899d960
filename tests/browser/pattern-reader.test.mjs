// The reader of sentences, used as readers use it: typed and chosen sentences, all
// heads, words that look, heads switched off, and what is said where a sentence or
// the weights cannot be read. Its numbers are compared with the chapter's tables.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { DARK, Reader, THEMES, report } from './lib/reader.mjs';
import { axe, inChapter, openWidget } from './lib/widgets.mjs';

const PAGE = 'learning/real-attention-patterns.html';
const BIRDS = 'the birds near the old cat';

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

const open = options => openWidget(reader, { page: PAGE, engine: 'reader.wasm', ...options });
const field = page => page.getByRole('textbox', { name: 'Sentence', exact: true });
const note = page => page.locator('.reader-note').textContent();
const head = (page, number) => page.locator('.head-map', { has: page.locator('.number', { hasText: number }) });
const choose = (page, number) => head(page, number).locator('input').check({ force: true });
/** A row of the map of the chosen head: where a word looks. */
const looks = (page, at) => page.locator('.arcs tbody tr').nth(at).click()
    .then(() => page.locator('.arcs tbody tr .number').allTextContents());
const words = page => page.locator('.arcs tbody .word').allTextContents();
/** Each column of next words: its title, and the words with their numbers. */
const next = page => page.locator('.chances table:not([hidden])').evaluateAll(tables => tables.map(table => ({
    title: table.caption.textContent,
    rows: [...table.tBodies[0].rows].map(row => [row.cells[0].textContent, row.cells[1].textContent]),
})));
/** The probability of verbs of both numbers in the last column shown. */
const verbs = async page => (await next(page)).at(-1).rows.slice(-2).map(([, shown]) => shown);
/** Waits until the model can be asked. */
const loaded = page => page.locator('pattern-reader[data-model="ready"]').waitFor();

/** Types a sentence, which is read at once. */
async function type(page, sentence) {
    await loaded(page);
    await field(page).fill(sentence);
}

test('it begins with the chapter’s sentence, and each found head has the chapter’s map', async () => {
    const { page, troubles, close } = await open();
    for (const [pattern, sentence] of [
        ['subject', BIRDS], ['previous', 'the young king near the foxes waits'], ['induction', 'king often old dogs king often old'],
    ]) {
        if (sentence !== BIRDS) {
            await type(page, sentence);
        }
        const map = await inChapter(page, `patterns.map.${pattern}`);
        const found = { subject: 'subject', previous: 'previous token', induction: 'induction' }[pattern];
        const number = await page.locator('.head-map', { has: page.locator('.known', { hasText: found }) }).locator('.number').textContent();
        await choose(page, number);
        assert.deepEqual(await words(page), ['.', ...sentence.split(' ')]);
        for (const [at, row] of map.entries()) {
            const shown = await looks(page, at);
            assert.deepEqual(shown.slice(0, at + 1), row.slice(0, at + 1), `${pattern}, row ${at + 1}`);
            assert.ok(shown.slice(at + 1).every(text => text === '–'));
        }
    }
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('a head that is switched off changes what comes next, as the chapter says', async () => {
    const { page, close } = await open();
    await loaded(page);
    const [all, without] = await inChapter(page, 'patterns.next');
    assert.deepEqual(await verbs(page), all);
    assert.equal((await next(page)).length, 1);
    const box = page.getByRole('checkbox');
    await box.uncheck();
    const columns = await next(page);
    assert.equal(columns.length, 2, 'before and after side by side');
    assert.match(columns[1].title, /^without 2\.\d$/);
    assert.deepEqual(columns[0].rows.slice(-2).map(([, shown]) => shown), all);
    assert.deepEqual(await verbs(page), without);
    assert.equal(await page.locator('.head-map[data-off]').count(), 1);
    await page.waitForFunction(() => /Without the heads switched off/.test(document.querySelector('.widget-voice').textContent));
    await page.getByRole('button', { name: 'All heads on' }).click();
    assert.equal((await next(page)).length, 1);
    assert.ok(await box.isChecked());
    await close();
});

test('a word that it does not know gets a suggestion that can be taken', async () => {
    const { page, troubles, close } = await open();
    await type(page, 'the catz near the dogs');
    await page.waitForFunction(() => /does not know the word “catz”/.test(document.querySelector('.reader-note').textContent));
    assert.equal(await field(page).getAttribute('aria-invalid'), 'true');
    assert.equal(await page.locator('.reader-results[data-stale]').count(), 1, 'what is shown is marked as older');
    assert.deepEqual(await words(page), ['.', ...BIRDS.split(' ')]);
    await page.getByRole('button', { name: 'Use “cats”' }).click();
    assert.equal(await field(page).inputValue(), 'the cats near the dogs');
    assert.deepEqual(await words(page), ['.', 'the', 'cats', 'near', 'the', 'dogs']);
    assert.equal(await page.locator('.reader-widget [aria-invalid], .reader-results[data-stale]').count(), 0);
    for (const [sentence, said] of [['', /no word to read/], ['cat '.repeat(40), /40 words are too many: the model reads 31/]]) {
        await type(page, sentence);
        await field(page).press('Enter');
        assert.match(await note(page), said);
        assert.equal(await page.locator('.take:visible').count(), 0);
    }
    await page.getByRole('button', { name: 'Reset' }).click();
    assert.equal(await field(page).inputValue(), BIRDS);
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('it can be used with the keyboard alone', async () => {
    const { page, close } = await open();
    await loaded(page);
    await field(page).focus();
    await page.keyboard.press('End');
    await page.keyboard.type(' often');
    assert.deepEqual((await words(page)).at(-1), 'often');
    const chosen = () => page.locator('.head-map:has(:checked) .number').textContent();
    await page.locator('.head-map input:checked').focus();
    await page.keyboard.press('Home');
    const before = await chosen();
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await chosen(), before);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await chosen(), before);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    assert.equal(await page.locator('.head-map[data-off] .number').textContent(), before);
    await page.locator('.arcs input:checked').focus();
    await page.keyboard.press('ArrowUp');
    assert.match(await page.locator('.arcs caption').textContent(), /^Where “cat” looks/);
    assert.match(await page.locator('.chances .heading').textContent(), /after “cat”/);
    assert.ok(page.url().endsWith(PAGE), 'arrow keys do not turn the page');
    await close();
});

test('on a telephone a tap chooses, and nothing is too wide', async () => {
    for (const width of [320, 360]) {
        const { page, close } = await open({ width, hasTouch: true });
        await loaded(page);
        await head(page, '1.1').tap();
        await page.locator('.arcs tbody tr').nth(2).tap();
        assert.equal(await page.locator('.arcs caption').textContent(), 'Where “birds” looks in head 1.1');
        await type(page, 'fox '.repeat(31).trim());
        assert.equal((await words(page)).length, 32);
        assert.ok(await page.evaluate(() => document.querySelector('.content').scrollWidth <= document.documentElement.clientWidth));
        const wide = await page.locator('.reader-widget *').evaluateAll(elements => elements.filter(element =>
            element.getBoundingClientRect().right > document.documentElement.clientWidth).map(({ className }) => String(className)));
        assert.deepEqual(wide, []);
        await close();
    }
});

test('pointing at a word shows where it looks, and leaving shows the chosen one', async () => {
    const { page, close } = await open();
    const caption = () => page.locator('.arcs caption').textContent();
    await page.locator('.arcs tbody tr').nth(3).hover();
    assert.match(await caption(), /^Where “near” looks/);
    await page.mouse.move(0, 0);
    assert.match(await caption(), /^Where “cat” looks/);
    await close();
});

for (const [name, fault, said] of [
    ['no engine', page => page.route('**/reader.wasm', route => route.abort()), /could not be loaded/],
    ['no weights', page => page.route('**/patterns.safetensors', route => route.abort()), /weights of the model could not be loaded/],
    ['weights cut off', page => page.route('**/patterns.safetensors', route => route.fulfill({ body: Buffer.alloc(99) })), /no whole safetensors file/],
    ['weights changed', page => page.route('**/patterns.safetensors', async route => {
        const body = await (await route.fetch()).body();
        body[body.length - 1] ^= 1;
        await route.fulfill({ body });
    }), /changed after they were made/],
]) {
    test(`with ${name} the sentence of the page stands there, and it is said`, async () => {
        const { page, close, open: go } = await reader.tab();
        await fault(page);
        await go(PAGE);
        await page.locator('pattern-reader').scrollIntoViewIfNeeded();
        await page.waitForFunction(() => document.querySelector('.reader-note[data-mistake]'));
        assert.match(await note(page), said);
        assert.ok(await field(page).isDisabled());
        await choose(page, '1.1');
        const shown = await looks(page, 2);
        assert.equal(shown.length, 7, 'the maps of the page can be looked at all the same');
        report(await axe(page));
        await close();
    });
}

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
        await loaded(page);
        await page.getByRole('checkbox').uncheck();
        assert.equal(await height(), kept, `${width} px, with a head switched off`);
        await type(page, 'the catz');
        await field(page).press('Enter');
        assert.equal(await height(), kept, `${width} px, with an unknown word`);
        if (width === 1280) {
            await page.waitForTimeout(1200);
            await page.evaluate(() => { window.work = 0; });
            await page.waitForTimeout(600);
            assert.equal(await page.evaluate(() => window.work), 0, 'timers and frames while idle');
        }
        await close();
    }
});

test('its JavaScript and WebAssembly stay under 100 KB', async context => {
    const { gzipSync } = await import('node:zlib');
    const { page, close } = await reader.tab();
    const bodies = new Map();
    page.on('response', response => {
        const { pathname } = new URL(response.url());
        if (/[/]widgets[/].*[.](js|wasm)$/.test(pathname)) {
            bodies.set(pathname, response.body());
        }
    });
    await page.goto(`${reader.site.origin}/${PAGE}`);
    await page.locator('pattern-reader').scrollIntoViewIfNeeded();
    await loaded(page);
    const sizes = await Promise.all([...bodies.values()].map(async body => gzipSync(await body).length));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    context.diagnostic(`compressed: ${total} bytes in ${sizes.length} files`);
    assert.ok([...bodies.keys()].some(name => name.endsWith('.wasm')));
    assert.ok(total <= 100_000, `${total} bytes`);
    await close();
});

test('without JavaScript a sentence says what would be here', async () => {
    const { page, open: go, close } = await reader.tab({ javaScriptEnabled: false });
    await go(PAGE);
    assert.match(await page.locator('pattern-reader .widget-fallback').textContent(), /With JavaScript/);
    assert.ok(await page.locator('pattern-reader .widget-fallback').isVisible());
    await close();
});

test('the weights on the site are those that are kept', async () => {
    const kept = await readFile(new URL('../../book/src/widgets/patterns.safetensors', import.meta.url));
    const response = await fetch(`${reader.site.origin}/widgets/patterns.safetensors`);
    assert.ok(kept.equals(Buffer.from(await response.arrayBuffer())));
});

test('axe finds nothing in the reader, in any theme', async () => {
    for (const width of [1280, 360]) {
        const { page, close } = await open({ width });
        await loaded(page);
        await page.getByRole('checkbox').uncheck();
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
