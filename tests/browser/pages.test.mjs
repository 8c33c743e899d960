// What the rendered pages say, read as text, without a browser and apart from
// the checks that `cargo book build` makes: a second pair of eyes.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { report } from './lib/reader.mjs';
import { findPages, folder } from './lib/site.mjs';

/** Where a page's `index` is, for a message. */
const lineOf = (html, index) => html.slice(0, index).split('\n').length;

/**
 * @param {(html: string) => Iterable<{ index: number, what: string }>} find
 */
async function nowhere(find) {
    const wrong = [];
    for (const page of await findPages()) {
        const html = await readFile(path.join(folder, page), 'utf8');
        for (const { index, what } of find(html)) {
            wrong.push(`${page}:${lineOf(html, index)}: ${what}`);
        }
    }
    report(wrong);
}

const matches = (html, pattern) => html.matchAll(pattern);

test('no page loads anything from another host', () => nowhere(function* (html) {
    const loads = /<(link|script|img|iframe|source|video|audio|object|embed|use)\b[^>]*?\s(?:href|src|data|srcset)="((?:https?:)?\/\/[^"]*)"/g;
    for (const match of matches(html, loads)) {
        if (!/\brel="(canonical|license|author)"/.test(match[0])) {
            yield { index: match.index, what: `<${match[1]}> loads ${match[2]}` };
        }
    }
    for (const match of matches(html, /@import\s+(?:url\()?["']?https?:[^"')]*/g)) {
        yield { index: match.index, what: match[0] };
    }
}));

test('no style sheet of the book loads anything from another host', async () => {
    const { readdir } = await import('node:fs/promises');
    const wrong = [];
    for (const file of await readdir(folder, { recursive: true })) {
        if (file.endsWith('.css') && !file.startsWith('api')) {
            const css = await readFile(path.join(folder, file), 'utf8');
            for (const [found] of css.matchAll(/(?:url\(|@import\s*)["']?(?:https?:)?\/\/[^)"']*/g)) {
                wrong.push(`${file}: ${found}`);
            }
        }
    }
    report(wrong);
});

/** The page's text as a reader gets it: without code, where braces are code's own, and without scripts and TeX. */
const proseOf = html => html.replaceAll(
    /<(script|style|template|code|annotation)\b[\s\S]*?<\/\1>|<[^>]*>/g,
    found => found.replaceAll(/[^\n]/g, ' '),
);

test('no directive is left unresolved', () => nowhere(function* (html) {
    for (const match of matches(proseOf(html), /\{\{\s*[#a-z][^{}\n]{0,80}\}\}/g)) {
        yield { index: match.index, what: `unresolved ${match[0]}` };
    }
}));

test('no formula is left as source, and none was mangled', () => nowhere(function* (html) {
    for (const match of matches(html, /class="katex-error"[^>]*>/g)) {
        yield { index: match.index, what: `KaTeX could not set it: ${match[0]}` };
    }
    for (const match of matches(proseOf(html), /\$[^$\n]{0,200}?\\[a-zA-Z]+[^$\n]{0,200}?\$/g)) {
        yield { index: match.index, what: `formula left as source: ${match[0]}` };
    }
    for (const match of matches(html, /<annotation\b[^>]*>([\s\S]*?)<\/annotation>/g)) {
        if (/<(em|strong|code|a|del|sup)\b|[–—…]/.test(match[1])) {
            yield { index: match.index, what: `Markdown got into the formula ${match[1]}` };
        }
    }
    for (const match of matches(html, /<span class="katex">(?:(?!<span class="katex">)[\s\S])*?<(em|strong|del|code|p)>/g)) {
        const inside = match[0];
        // Only if the formula is not yet closed where the element begins.
        const opened = (inside.match(/<span\b/g) ?? []).length;
        const closed = (inside.match(/<\/span>/g) ?? []).length;
        if (opened > closed) {
            yield { index: match.index, what: `<${match[1]}> inside a formula` };
        }
    }
}));
