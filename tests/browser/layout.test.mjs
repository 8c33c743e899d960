// Every page fits its window: nothing sticks out at 320, 768 and 1280 px, on
// light and dark paper. On the way: no request to another host, no missing
// file, no error in the console.

import { after, before, test } from 'node:test';
import { DARK, Reader, WIDTHS, onEach } from './lib/reader.mjs';
import { findPages } from './lib/site.mjs';

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

/**
 * What sticks out of the window, in the page. mdBook hides the overflow of the
 * body and lets `.content` scroll, so the width of the document alone says
 * little: each element is measured, unless a box of its own scrolls it.
 */
function findOverflow() {
    const found = [];
    const width = document.documentElement.clientWidth;
    const describe = element => {
        const classes = typeof element.className === 'string' && element.className ? `.${element.className.trim().replaceAll(/\s+/g, '.')}` : '';
        const text = (element.textContent ?? '').trim().replaceAll(/\s+/g, ' ').slice(0, 50);
        return `<${element.tagName.toLowerCase()}${classes}> “${text}”`;
    };
    for (const box of [document.documentElement, document.body, document.querySelector('.content')]) {
        if (box && box.scrollWidth > box.clientWidth) {
            found.push(`${describe(box).split(' “')[0]} scrolls sideways: ${box.scrollWidth} px in ${box.clientWidth} px`);
        }
    }
    const scrolledApart = element => {
        for (let box = element.parentElement; box && !box.matches('.content, body'); box = box.parentElement) {
            if (/auto|scroll/.test(getComputedStyle(box).overflowX)) {
                return true;
            }
        }
        return false;
    };
    for (const element of document.querySelectorAll('main *')) {
        if (element.closest('.katex-mathml, .buttons') || element instanceof SVGElement && !(element instanceof SVGSVGElement)) {
            continue;
        }
        const { left, right, width: own } = element.getBoundingClientRect();
        if (own > 0 && (right > width + 1 || left < -1) && !scrolledApart(element)) {
            found.push(`${describe(element)} lies from ${Math.round(left)} to ${Math.round(right)} px`);
        }
    }
    return found.slice(0, 5);
}

/** A formula that its own box cuts above or below. */
function findCutMath() {
    return [...document.querySelectorAll('.katex-display')]
        .filter(box => box.scrollHeight > box.clientHeight + 1)
        .map(box => `formula is cut: ${box.scrollHeight} px high in ${box.clientHeight} px: ${box.querySelector('annotation')?.textContent?.slice(0, 60)}`);
}

for (const width of WIDTHS) {
    for (const theme of ['light', DARK]) {
        test(`every page fits ${width} px in ${theme}, and asks nobody else for anything`, async () => {
            await onEach(reader, { width, theme }, await findPages(), async ({ page, troubles }) => [
                ...await page.evaluate(findOverflow),
                ...await page.evaluate(findCutMath),
                ...troubles.foreign.map(url => `asks another host for ${url}`),
                ...troubles.failed.map(url => `asks in vain for ${url}`),
                ...troubles.errors.map(error => `console: ${error}`),
            ]);
        });
    }
}

test('solutions fit too, once opened on a phone', async () => {
    await onEach(reader, { width: 320 }, await findPages(), async ({ page }) => {
        await page.evaluate(() => document.querySelectorAll('details').forEach(details => { details.open = true; }));
        return page.evaluate(findOverflow);
    });
});
