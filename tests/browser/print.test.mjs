// On paper: black on white whatever the theme, nothing cut, controls away,
// solutions open, matrices whole.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DARK, Reader, onEach } from './lib/reader.mjs';
import { findChapters, findPages } from './lib/site.mjs';

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

/** The text area of A4 with the margins that paper.css gives: 178 mm at 96 dpi. */
const PAPER = { width: 672, height: 970 };

/** What paper would cut or what would not be readable on it; runs in the page. */
function findUnprintable() {
    const found = [];
    const name = element => `<${element.tagName.toLowerCase()} class="${element.className}"> “${(element.textContent ?? '').trim().slice(0, 40)}”`;
    const shown = element => element.getClientRects().length > 0;
    for (const box of document.querySelectorAll('main *')) {
        if (!shown(box) || box.closest('.katex-mathml, svg')) {
            continue;
        }
        const { overflowX } = getComputedStyle(box);
        if (overflowX !== 'visible' && box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0) {
            found.push(`${name(box)} is cut: ${box.scrollWidth} px in ${box.clientWidth} px`);
        }
        if (box.matches('.matrix table, table, .katex-display, figure svg') && box.getBoundingClientRect().right > innerWidth + 1) {
            found.push(`${name(box)} sticks out of the paper`);
        }
    }
    for (const control of document.querySelectorAll('#mdbook-menu-bar, #mdbook-sidebar, .nav-chapters, .mobile-nav-chapters, .buttons, #mdbook-search-wrapper')) {
        if (shown(control)) {
            found.push(`${name(control)} is printed`);
        }
    }
    for (const matrix of document.querySelectorAll('figure')) {
        if (getComputedStyle(matrix).breakInside !== 'avoid') {
            found.push(`${name(matrix)} may be split over two pages`);
        }
    }
    const light = colour => {
        const canvas = document.createElement('canvas').getContext('2d');
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
        return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
    };
    if (light(getComputedStyle(document.body.parentElement).backgroundColor) < 0.99) {
        found.push('the paper is not white');
    }
    for (const element of document.querySelectorAll('main :is(p, li, h1, h2, h3, td, th, code, code span, figcaption, a)')) {
        const { color } = getComputedStyle(element);
        if (shown(element) && light(color) > 0.48) {
            found.push(`${name(element)} is too pale for paper: ${color}`);
        }
    }
    return found.slice(0, 8);
}

for (const theme of ['light', DARK]) {
    test(`every page can be printed from ${theme}`, async () => {
        await onEach(reader, { ...PAPER, theme }, await findPages(), async ({ page }) => {
            await page.emulateMedia({ media: 'print' });
            const wrong = await page.evaluate(findUnprintable);
            await page.emulateMedia({ media: 'screen' });
            return wrong;
        });
    });
}

test('solutions are printed open, and closed again afterwards', async () => {
    await onEach(reader, PAPER, await findChapters(), async ({ page }) => {
        // A widget may come while this looks, with details of its own that are not printed.
        const closed = () => page.evaluate(() =>
            document.querySelectorAll('details:not([open], .widget details)').length);
        const before = await closed();
        await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
        const during = await closed();
        await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
        assert.equal(await closed(), before);
        return during === 0 ? [] : [`${during} solutions stay closed on paper`];
    });
});

test('without scripts solutions are printed open too', async () => {
    await onEach(reader, { ...PAPER, javaScriptEnabled: false }, await findChapters(), async ({ page }) => {
        await page.emulateMedia({ media: 'print' });
        const hidden = [];
        for (const solution of await page.locator('main details > :not(summary)').all()) {
            if (!await solution.isVisible()) {
                hidden.push(`solution “${(await solution.textContent())?.trim().slice(0, 40)}” is not printed`);
            }
        }
        return hidden;
    });
});
