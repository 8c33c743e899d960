// What a page says of itself when its link is shared: a title, a description,
// a picture that exists. `cargo book build` adds these; the stock `mdbook
// build` gives title and description only, and BOOK_STOCK=1 says so.

import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Reader, onEach, report } from './lib/reader.mjs';
import { findChapters, folder } from './lib/site.mjs';

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

/** @param {import('playwright-core').Page} page */
const readMeta = page => page.evaluate(() => Object.fromEntries(
    [...document.querySelectorAll('meta[name], meta[property]')]
        .map(meta => [meta.getAttribute('property') ?? meta.getAttribute('name'), meta.getAttribute('content')]),
));

test('every chapter has a title and a description of its own', async () => {
    const seen = new Map();
    await onEach(reader, {}, await findChapters(), async ({ page }, name) => {
        const title = await page.title();
        const { description } = await readMeta(page);
        const wrong = [];
        if (!title.trim()) {
            wrong.push('no title');
        }
        if (!description?.trim()) {
            wrong.push('no description');
        }
        // The first chapter is also index.html: the same page twice.
        if (seen.has(title) && ![name, seen.get(title)].includes('index.html')) {
            wrong.push(`has the title of ${seen.get(title)}: ${title}`);
        }
        seen.set(title, name);
        return wrong;
    });
});

test('every chapter has a preview for its link', { skip: process.env.BOOK_STOCK ? 'stock mdBook writes none' : false }, async () => {
    await onEach(reader, {}, await findChapters(), async ({ page }) => {
        const meta = await readMeta(page);
        const wrong = ['og:title', 'og:description', 'og:type', 'og:image']
            .filter(name => !meta[name]?.trim())
            .map(name => `no ${name}`);
        const image = meta['og:image'];
        if (image && !/\/?preview\.png$/.test(image)) {
            wrong.push(`og:image is not the book's picture: ${image}`);
        }
        return wrong;
    });
});

test('the preview picture is a PNG of 1200 × 630', { skip: process.env.BOOK_STOCK ? 'stock mdBook writes none' : false }, async () => {
    const file = path.join(folder, 'preview.png');
    const wrong = [];
    await stat(file).catch(() => report([`${file} is missing: npm run pictures -- --kept`]));
    const bytes = await readFile(file);
    if (bytes.toString('latin1', 1, 4) !== 'PNG') {
        wrong.push('preview.png is not a PNG');
    } else if (bytes.readUInt32BE(16) !== 1200 || bytes.readUInt32BE(20) !== 630) {
        wrong.push(`preview.png is ${bytes.readUInt32BE(16)} × ${bytes.readUInt32BE(20)}`);
    }
    report(wrong);
});
