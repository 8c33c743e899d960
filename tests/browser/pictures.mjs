// Pictures of the book for human eyes, and the three that are kept: the one shown
// when a page's link is shared, the one in the README, and the icon.
//
//   npm run pictures               every chapter, to target/pictures
//   npm run pictures -- softmax    the chapters whose path holds this word
//   npm run pictures -- --kept     book/src/preview.png, .github/page.png and
//                                  book/theme/favicon.png
//
// Reads the built book: run `cargo book build` first.

import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { DARK, Reader, WIDTHS } from './lib/reader.mjs';
import { findChapters, root } from './lib/site.mjs';

const { values: { kept, out }, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        kept: { type: 'boolean', default: false },
        out: { type: 'string', default: path.join(root, 'target/pictures') },
    },
});

/** The weights matrix of the toy head, and the chapter it stands in. */
const WEIGHTS = 'qkv.weights';

/** Every chapter, at every width, on light and dark paper and in print. */
async function takeAll(reader) {
    const words = positionals;
    const chapters = (await findChapters())
        .filter(chapter => words.length === 0 || words.some(word => chapter.includes(word)));
    await mkdir(out, { recursive: true });
    for (const chapter of chapters) {
        const name = chapter.replace(/\.html$/, '').replaceAll('/', '-');
        for (const theme of ['light', DARK]) {
            for (const width of WIDTHS) {
                const tab = await reader.tab({ width, theme });
                await tab.open(chapter);
                await tab.page.screenshot({ path: path.join(out, `${name}-${width}-${theme}.png`), fullPage: true });
                await tab.close();
            }
        }
        const tab = await reader.tab({ theme: DARK });
        await tab.open(chapter);
        await tab.page.pdf({ path: path.join(out, `${name}-print.pdf`), format: 'A4', preferCSSPageSize: true });
        await tab.close();
        console.log(`${name}: ${WIDTHS.length * 2} pictures and a PDF`);
    }
    console.log(`in ${out}`);
}

/** The figure whose caption names the value. */
const figureOf = (page, value) =>
    page.locator('figure.matrix', { has: page.locator('.origin', { hasText: new RegExp(`^${value.replaceAll('.', '\\.')}$`) }) });

/** Finds the chapter that shows the weights, and opens it. */
async function openWeights(reader, options) {
    for (const chapter of await findChapters()) {
        const tab = await reader.tab(options);
        await tab.open(chapter);
        if (await figureOf(tab.page, WEIGHTS).count() > 0) {
            return tab;
        }
        await tab.close();
    }
    throw new Error(`No chapter shows {{matrix ${WEIGHTS}}}.`);
}

/** 1200 × 630: the book's title beside the weights of its toy head. */
async function takePreview(reader) {
    const tab = await openWeights(reader, { width: 1200, height: 630 });
    const icon = await readFile(path.join(root, 'book/theme/favicon.svg'), 'utf8');
    const figure = figureOf(tab.page, WEIGHTS).first();
    const table = await figure.locator('table').first().evaluate(node => node.outerHTML);
    const symbol = await figure.getAttribute('data-symbol');
    await tab.page.evaluate(({ table, symbol, icon }) => {
        const title = document.querySelector('.menu-title')?.textContent ?? document.title;
        document.body.innerHTML = `
            <div class="share content">
                <div><span class="icon">${icon}</span><h1></h1><p>Attention, worked through by hand and by tested Rust code.</p></div>
                <figure class="matrix" data-symbol="${symbol}">${table}</figure>
            </div>
            <style>
                html, body, .share { margin: 0; inline-size: 1200px; block-size: 630px; overflow: hidden; }
                .share { box-sizing: border-box; display: flex; align-items: center; gap: 60px; padding: 60px; background: var(--bg); }
                .share > div { flex: 1 1 0; min-inline-size: 0; }
                .share .icon svg { inline-size: 84px; }
                .content.share h1 { font-size: 50px; line-height: 1.14; margin: 24px 0; }
                .content.share h1::after { margin-block-start: 28px; }
                .share p { font-size: 25px; line-height: 1.4; color: var(--quiet); }
                .content.share figure { margin: 0; }
                .content.share .matrix table { font-size: 21px; }
            </style>`;
        document.querySelector('.share h1').textContent = title;
    }, { table, symbol, icon });
    const file = path.join(root, 'book/src/preview.png');
    await mkdir(path.dirname(file), { recursive: true });
    await tab.page.screenshot({ path: file });
    await tab.close();
    console.log(file);
}

/** The icon, for browsers that take no SVG. */
async function takeIcon(reader) {
    const tab = await reader.tab({ width: 64, height: 64 });
    const icon = await readFile(path.join(root, 'book/theme/favicon.svg'), 'utf8');
    await tab.page.setContent(`<style>* { margin: 0 } svg { display: block; inline-size: 64px }</style>${icon}`);
    const file = path.join(root, 'book/theme/favicon.png');
    await tab.page.screenshot({ path: file, omitBackground: true });
    await tab.close();
    console.log(file);
}

/** A page as a reader sees it, at the place where the weights are. */
async function takePage(reader) {
    const tab = await openWeights(reader, { width: 1280, height: 800 });
    await figureOf(tab.page, WEIGHTS).first().evaluate(figure => {
        window.scrollTo(0, figure.getBoundingClientRect().top + window.scrollY - 300);
    });
    const file = path.join(root, '.github/page.png');
    await tab.page.waitForTimeout(200);
    await tab.page.screenshot({ path: file });
    await tab.close();
    console.log(file);
}

const reader = await Reader.start();
try {
    if (kept) {
        await takePreview(reader);
        await takePage(reader);
        await takeIcon(reader);
    } else {
        await takeAll(reader);
    }
} finally {
    await reader.stop();
}
