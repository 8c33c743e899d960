// A reader of the book: Chromium, driven by Playwright, opening pages of the
// served site in a given width, theme and medium, and noting what went wrong
// on the way.

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { serve } from './site.mjs';

export const WIDTHS = [320, 768, 1280];
export const THEMES = ['light', 'rust', 'coal', 'navy', 'ayu'];
/** The theme of readers whose system is dark, as book.toml says. */
export const DARK = 'navy';

const ARGUMENTS = [
    '--no-sandbox',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
];

function chromiumPath() {
    const candidates = [
        process.env.CHROMIUM,
        '/usr/bin/chromium',
        '/usr/bin/chromium-browser',
        '/usr/bin/google-chrome',
        '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    ].filter(Boolean);
    const found = candidates.find(candidate => existsSync(candidate));
    if (!found) {
        throw new Error(`No Chromium at ${candidates.join(', ')}: install it, or set CHROMIUM to where it is.`);
    }
    return found;
}

/**
 * What went wrong while a page was open.
 * @typedef {{ foreign: string[], failed: string[], errors: string[] }} Troubles
 */

/** A browser and the site it reads. */
export class Reader {
    /** Starts the server and the browser. */
    static async start() {
        const reader = new Reader();
        reader.site = await serve();
        reader.browser = await chromium.launch({ executablePath: chromiumPath(), args: ARGUMENTS });
        return reader;
    }

    async stop() {
        await this.browser.close();
        await this.site.close();
    }

    /**
     * A fresh tab, with nothing remembered from earlier ones.
     * @param {{ width?: number, height?: number, theme?: string, scale?: number } & import('playwright-core').BrowserContextOptions} options
     */
    async tab({ width = 1280, height = 900, theme = 'light', scale = 1, ...options } = {}) {
        const context = await this.browser.newContext({
            viewport: { width, height },
            deviceScaleFactor: scale,
            colorScheme: ['light', 'rust'].includes(theme) ? 'light' : 'dark',
            reducedMotion: 'reduce',
            serviceWorkers: 'block',
            ...options,
        });
        if (options.javaScriptEnabled !== false) {
            // The print page opens the print dialog, which nobody would close.
            await context.addInitScript(chosen => {
                window.print = () => {};
                try {
                    localStorage.setItem('mdbook-theme', chosen);
                } catch { /* a frame of another origin */ }
            }, theme);
        }
        const page = await context.newPage();
        page.setDefaultTimeout(15_000);
        /** @type {Troubles} */
        const troubles = { foreign: [], failed: [], errors: [] };
        const forget = () => Object.values(troubles).forEach(list => { list.length = 0; });
        const { origin } = this.site;
        await page.route(url => url.origin !== origin && /^(https?|wss?):$/.test(url.protocol), route => {
            troubles.foreign.push(route.request().url());
            return route.abort();
        });
        page.on('response', response => {
            if (response.status() >= 400) {
                troubles.failed.push(`${response.status()} ${response.url()}`);
            }
        });
        page.on('pageerror', error => troubles.errors.push(String(error)));
        page.on('console', message => {
            if (message.type() === 'error') {
                troubles.errors.push(message.text());
            }
        });
        return {
            page,
            troubles,
            /** Opens a page of the book, forgets earlier troubles, and waits for the fonts. */
            open: async name => {
                forget();
                await page.goto(`${origin}/${name}`, { waitUntil: 'load' });
                if (options.javaScriptEnabled !== false) {
                    await page.evaluate(() => document.fonts.ready.then(() => undefined));
                }
            },
            close: () => context.close(),
        };
    }
}

/**
 * Opens each page in one tab, runs `check` on it, and reports all that is
 * wrong, not just the first.
 * @param {Reader} reader
 * @param {Parameters<Reader['tab']>[0]} options  of the tab
 * @param {string[]} names  of the pages
 * @param {(tab: Awaited<ReturnType<Reader['tab']>>, name: string) => Promise<string[]>} check
 *     says in words what is wrong
 */
export async function onEach(reader, options, names, check) {
    const tab = await reader.tab(options);
    try {
        const wrong = [];
        for (const name of names) {
            await tab.open(name);
            const lines = await check(tab, name);
            const where = [name, options.width && `${options.width} px`, options.theme].filter(Boolean).join(', ');
            wrong.push(...lines.map(line => `${where}: ${line}`));
        }
        report(wrong);
    } finally {
        await tab.close();
    }
}

/**
 * Fails with a list of what is wrong, if anything is.
 * @param {string[]} wrong
 */
export function report(wrong) {
    if (wrong.length > 0) {
        const shown = wrong.slice(0, 40).map(line => `  - ${line}`).join('\n');
        const more = wrong.length > 40 ? `\n  … and ${wrong.length - 40} more` : '';
        throw new Error(`${wrong.length} wrong:\n${shown}${more}`);
    }
}
