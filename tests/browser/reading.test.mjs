// Reading: with the keyboard, without scripts, with less motion; finding a
// word, changing the theme, copying a program.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DARK, Reader, onEach, report } from './lib/reader.mjs';
import { findChapters, findPages } from './lib/site.mjs';

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

/**
 * The first chapter that has what `selector` selects, opened.
 * @param {string} selector
 * @param {Parameters<Reader['tab']>[0]} options
 */
async function openWith(selector, options = {}) {
    for (const name of await findChapters()) {
        const tab = await reader.tab(options);
        await tab.open(name);
        if (await tab.page.locator(selector).count() > 0) {
            return { ...tab, name };
        }
        await tab.close();
    }
    assert.fail(`no chapter has ${selector}`);
}

test('without scripts, text, matrices and formulas are there', async () => {
    await onEach(reader, { javaScriptEnabled: false }, await findChapters(), async ({ page }) => {
        const wrong = [];
        if (!await page.locator('main h1').first().isVisible()) {
            wrong.push('no title');
        }
        if ((await page.locator('main').innerText()).length < 30) {
            wrong.push('hardly any text');
        }
        for (const [what, selector] of [['matrix', 'main .matrix table'], ['formula', 'main .katex-html'], ['program', 'main pre > code']]) {
            for (const [index, found] of (await page.locator(selector).all()).entries()) {
                const inSolution = await found.evaluate(node => node.closest('details') !== null);
                if (!inSolution && !await found.isVisible()) {
                    wrong.push(`${what} ${index + 1} cannot be seen`);
                }
            }
        }
        return wrong;
    });
});

test('without scripts the book has matrices and formulas at all, and a list of contents', async () => {
    const { page, close } = await openWith('main .matrix table', { javaScriptEnabled: false });
    assert.ok(await page.locator('main .katex-html').first().isVisible());
    assert.ok(await page.frameLocator('iframe.sidebar-iframe-outer').locator('a').count() > 2);
    await close();
});

test('the search finds “softmax” and opens it', async () => {
    const { page, open, close } = await reader.tab();
    await open('index.html');
    await page.keyboard.press('s');
    await page.locator('#mdbook-searchbar').pressSequentially('softmax');
    const results = page.locator('#mdbook-searchresults a');
    await results.first().waitFor();
    await results.first().click();
    await page.waitForURL(/highlight=softmax/);
    await page.locator('main mark').first().waitFor();
    assert.match((await page.locator('main mark').first().textContent()) ?? '', /softmax/i);
    await close();
});

test('the theme menu changes the theme, and the choice lasts', async () => {
    // Not through `theme`, which would set the choice anew on every page.
    const context = await reader.browser.newContext({ colorScheme: 'dark' });
    const page = await context.newPage();
    await page.goto(`${reader.site.origin}/index.html`);
    const themed = () => page.evaluate(() => document.documentElement.className);
    assert.match(await themed(), new RegExp(`\\b${DARK}\\b`), 'a dark system gets the dark theme');
    for (const theme of ['light', 'rust', 'coal', 'ayu']) {
        await page.click('#mdbook-theme-toggle');
        await page.click(`#mdbook-theme-${theme}`);
        assert.match(await themed(), new RegExp(`\\b${theme}\\b`));
        await page.keyboard.press('Escape');
    }
    await page.reload();
    assert.match(await themed(), /\bayu\b/, 'the choice outlives a reload');
    await context.close();
});

test('copying a snippet copies the whole program, hidden lines included', async () => {
    const { page, close, name } = await openWith('pre > code .boring');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate(() => document.querySelectorAll('details').forEach(details => { details.open = true; }));
    const code = page.locator('pre > code:has(.boring)').first();
    const hidden = await code.locator('.boring').first().textContent();
    assert.ok(!await code.locator('.boring').first().isVisible(), 'the line is hidden at first');
    const block = page.locator('pre:has(> code .boring)').first();
    await block.hover();
    await block.locator('.clip-button').click();
    await block.locator('.clip-button.tooltipped').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(hidden && copied.includes(hidden.trimEnd()), `${name}: the clipboard lacks the hidden line ${hidden}:\n${copied}`);
    assert.equal(copied.trimEnd(), (await code.textContent())?.trimEnd());

    await block.locator('button[title="Show hidden lines"]').click();
    assert.ok(await code.locator('.boring').first().isVisible(), 'hidden lines can be shown');
    await close();
});

test('no snippet has a Run button', async () => {
    await onEach(reader, {}, await findChapters(), async ({ page }) =>
        (await page.locator('.play-button, pre.playground').count()) === 0 ? [] : ['has a Run button']);
});

test('the keyboard reaches the text, and shows where it is', async () => {
    const { page, close, name } = await openWith('main a[href]', { width: 1280 });
    const reached = new Set();
    const wrong = [];
    for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press('Tab');
        const focus = await page.evaluate(() => {
            const element = document.activeElement;
            if (!element || element === document.body) {
                return null;
            }
            const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
            return {
                what: `<${element.tagName.toLowerCase()} class="${element.className}"> ${element.textContent?.trim().slice(0, 30)}`,
                place: element.closest('main') ? 'text' : element.id,
                visible: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 || boxShadow !== 'none',
            };
        });
        if (!focus) {
            continue;
        }
        reached.add(focus.place);
        if (!focus.visible) {
            wrong.push(`${name}: focus cannot be seen on ${focus.what}`);
        }
    }
    report(wrong);
    assert.ok(reached.has('text'), `${name}: 60 tabs do not reach the text, only ${[...reached].join(', ')}`);
    assert.ok(reached.has('mdbook-sidebar-toggle'), 'the button for the contents can be reached');
    assert.ok(reached.has('mdbook-theme-toggle') && reached.has('mdbook-search-toggle'), 'so can themes and search');
    await close();
});

test('Enter and Space work the button for the contents', async () => {
    const { page, open, close } = await reader.tab();
    await open('index.html');
    const expanded = () => page.getAttribute('#mdbook-sidebar-toggle', 'aria-expanded');
    assert.equal(await expanded(), 'true');
    await page.focus('#mdbook-sidebar-toggle');
    await page.keyboard.press('Enter');
    assert.equal(await expanded(), 'false');
    await page.keyboard.press('Space');
    assert.equal(await expanded(), 'true');
    await close();
});

test('every box that scrolls can be reached by keyboard', async () => {
    await onEach(reader, { width: 320 }, await findPages(), ({ page }) => page.evaluate(async () => {
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        return [...document.querySelectorAll('main *')]
            .filter(box => box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX))
            .filter(box => !box.closest('.katex-mathml') && box.tabIndex !== 0)
            .map(box => `<${box.tagName.toLowerCase()} class="${box.className}"> scrolls, but not by keyboard`);
    }));
});

test('in a box that scrolls the arrow keys scroll; elsewhere they turn the page', async () => {
    for (const selector of ['.matrix .scroll', 'pre > code']) {
        // So narrow that even a small matrix scrolls.
        const { page, close, name } = await openWith(selector, { width: 160 });
        const address = page.url();
        const index = await page.locator(selector).evaluateAll(boxes =>
            boxes.findIndex(box => box.scrollWidth > box.clientWidth + 20 && !box.closest('details')));
        assert.ok(index >= 0, `${name}: no ${selector} is wider than 160 px`);
        const box = page.locator(selector).nth(index);
        await box.scrollIntoViewIfNeeded();
        await box.focus();
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('ArrowRight');
        await page.waitForTimeout(400);
        assert.equal(page.url(), address, `${name}: the arrow key turned the page from inside ${selector}`);
        assert.ok(await box.evaluate(node => node.scrollLeft) > 0, `${name}: the arrow key does not scroll ${selector}`);
        await page.evaluate(() => document.activeElement?.blur());
        await Promise.all([
            page.waitForURL(url => url.href.split('#')[0] !== address.split('#')[0]),
            page.keyboard.press((await page.locator('.nav-chapters.next').count()) > 0 ? 'ArrowRight' : 'ArrowLeft'),
        ]);
        await close();
    }
});

test('with reduced motion nothing moves', async () => {
    await onEach(reader, { reducedMotion: 'reduce' }, await findChapters(), ({ page }) => page.evaluate(() => {
        const slow = value => value.split(',').some(time => parseFloat(time) * (time.trim().endsWith('ms') ? 1 : 1000) > 10);
        return [...document.querySelectorAll('*')]
            .filter(element => {
                const { transitionDuration, animationDuration } = getComputedStyle(element);
                return slow(transitionDuration) || slow(animationDuration);
            })
            .slice(0, 3)
            .map(element => `<${element.tagName.toLowerCase()} class="${element.className}"> moves`);
    }));
});

test('queries, keys and values have a colour each, in formulas as in matrices', async () => {
    for (const theme of ['light', DARK]) {
        const { page, close, name } = await openWith('main:has(.katex .query):has(.katex .key):has(.katex .value)', { theme });
        const colours = await page.evaluate(() => {
            const root = getComputedStyle(document.documentElement);
            const probe = document.body.appendChild(document.createElement('i'));
            const named = role => {
                probe.style.color = `var(--${role})`;
                return getComputedStyle(probe).color;
            };
            const text = root.color;
            return ['query', 'key', 'value'].map(role => {
                const formula = document.querySelector(`.katex .enclosing.${role} .mord, .katex .enclosing.${role}`);
                const head = document.querySelector(`.matrix[data-symbol="${role[0].toUpperCase()}"] thead th`);
                return {
                    role,
                    text,
                    named: named(role),
                    formula: formula && getComputedStyle(formula).color,
                    matrix: head && getComputedStyle(head).color,
                };
            });
        });
        for (const { role, text, named, formula, matrix } of colours) {
            assert.equal(formula, named, `${name}, ${theme}: ${role} in a formula`);
            assert.notEqual(formula, text, `${name}, ${theme}: ${role} has the colour of the text`);
            if (matrix) {
                assert.equal(matrix, named, `${name}, ${theme}: the matrix of the ${role}`);
            }
        }
        assert.equal(new Set(colours.map(({ named }) => named)).size, 3, `${theme}: three roles, three colours`);
        await close();
    }
});
