// WCAG AA in all five of mdBook's themes, by axe-core, on every page; and the
// contrast of shaded cells, which axe cannot judge.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { Reader, THEMES, onEach } from './lib/reader.mjs';
import { findChapters, findPages } from './lib/site.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

const AA = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** mdBook's own parts of a page. */
const CONTROLS = ['#mdbook-menu-bar', '#mdbook-search-wrapper', '#mdbook-sidebar', '.nav-wide-wrapper'];

/**
 * @param {import('playwright-core').Page} page
 * @param {string[]} parts  selectors of the parts to look at; else all of it
 */
async function findViolations(page, parts = []) {
    await page.evaluate(axe);
    return page.evaluate(async ({ tags, parts }) => {
        const context = parts.length > 0 ? { include: parts.filter(part => document.querySelector(part)) } : document;
        const { violations } = await window.axe.run(context, {
            runOnly: tags,
            rules: { 'target-size': { enabled: true } },
            resultTypes: ['violations'],
        });
        return violations
            .filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .flatMap(({ id, nodes }) => nodes.map(({ target, any, html }) =>
                `${id}: ${target.join(' ')}: ${any[0]?.message ?? html.slice(0, 120)}`));
    }, { tags: AA, parts });
}

/**
 * Waits until a part no longer moves: contents that are sliding away are hidden
 * to a screen reader already, and lose their place for the keyboard at the end.
 * @param {import('playwright-core').Page} page
 * @param {string} part  its selector
 */
async function atRest(page, part) {
    await page.locator(part).evaluate(async element => {
        await Promise.allSettled(element.getAnimations().map(({ finished }) => finished));
        // What listens for the end of a movement hears of it with the next frame.
        await new Promise(requestAnimationFrame);
    });
}

for (const theme of THEMES) {
    test(`every page meets WCAG AA in ${theme}`, async () => {
        await onEach(reader, { theme }, await findPages(), async ({ page }) => {
            await page.evaluate(() => document.querySelectorAll('details').forEach(details => { details.open = true; }));
            return findViolations(page);
        });
    });

    test(`mdBook's own controls meet WCAG AA in ${theme}`, async () => {
        for (const width of [1280, 320]) {
            await onEach(reader, { theme, width }, ['index.html'], async ({ page }) => {
                await page.click('#mdbook-search-toggle');
                await page.locator('#mdbook-searchbar').pressSequentially('softmax');
                await page.waitForSelector('#mdbook-searchresults li');
                const inSearch = await findViolations(page, CONTROLS);
                await page.click('#mdbook-theme-toggle');
                const inThemes = await findViolations(page, CONTROLS);
                await page.keyboard.press('Escape');
                await page.click('#mdbook-sidebar-toggle');
                await atRest(page, '#mdbook-sidebar');
                const inContents = await findViolations(page, CONTROLS);
                return [
                    ...inSearch.map(line => `with search open: ${line}`),
                    ...inThemes.map(line => `with the theme menu open: ${line}`),
                    ...inContents.map(line => `with the contents toggled: ${line}`),
                ];
            });
        }
    });
}

/**
 * Contrasts that axe cannot see, in the page: text in shaded cells (a striped
 * one has two grounds, and the text must be readable on both), coloured
 * formulas, and the lines of icons, plots and focus.
 */
function findFaint() {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const over = (colour, ground) => {
        canvas.fillStyle = ground;
        canvas.fillRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return canvas.getImageData(0, 0, 1, 1).data;
    };
    const css = ([r, g, b]) => `rgb(${r} ${g} ${b})`;
    const luminance = data => {
        const [r, g, b] = [...data].slice(0, 3).map(value => {
            const part = value / 255;
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (text, ground) => {
        const [high, low] = [luminance(text), luminance(ground)].sort((a, b) => b - a);
        return (high + 0.05) / (low + 0.05);
    };
    const paper = getComputedStyle(document.documentElement).backgroundColor;
    const faint = [];
    const judge = (element, ground, what) => {
        const ratio = contrast(over(getComputedStyle(element).color, css(ground)), ground);
        if (ratio < 4.5) {
            faint.push(`${what} has contrast ${ratio.toFixed(2)}, needs 4.5`);
        }
    };
    for (const cell of document.querySelectorAll('.matrix td:not(:empty)')) {
        const style = getComputedStyle(cell);
        const symbol = cell.closest('.matrix').dataset.symbol;
        judge(cell, over(style.backgroundColor, paper), `cell ${cell.textContent} of ${symbol}`);
        for (const [stripe] of style.backgroundImage.matchAll(/(?:color|rgba?|oklab|oklch)\((?:[^()]|\([^()]*\))*\)/g)) {
            judge(cell, over(stripe, css(over(style.backgroundColor, paper))), `striped cell ${cell.textContent} of ${symbol}`);
        }
    }
    for (const coloured of document.querySelectorAll('.katex .enclosing:is(.query, .key, .value)')) {
        judge(coloured, over(paper, paper), `${coloured.textContent} in a formula`);
    }
    // What is not text needs 3, by WCAG 1.4.11.
    const probe = document.body.appendChild(document.createElement('i'));
    for (const name of ['icons', 'focus', 'plot-ink', ...[1, 2, 3, 4, 5, 6].map(index => `series-${index}`)]) {
        probe.style.color = `var(--${name})`;
        const ratio = contrast(over(getComputedStyle(probe).color, paper), over(paper, paper));
        if (ratio < 3) {
            faint.push(`--${name} has contrast ${ratio.toFixed(2)}, needs 3`);
        }
    }
    probe.remove();
    return [...new Set(faint)];
}

for (const theme of THEMES) {
    test(`shaded cells and coloured formulas can be read in ${theme}`, async () => {
        await onEach(reader, { theme }, await findChapters(), ({ page }) => page.evaluate(findFaint));
    });
}
