// The built book as a web site: where it lies, which pages it has, and a small
// static server on loopback. Knows nothing of browsers.

import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');

/** The folder of the built book: $BOOK_DIR, or where `cargo book build` puts it. */
export const folder = path.resolve(process.env.BOOK_DIR ?? path.join(root, 'target/book'));

const TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.json': 'application/json',
    '.png': 'image/png',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain; charset=utf-8',
    '.wasm': 'application/wasm',
    '.woff2': 'font/woff2',
};

/**
 * Every HTML page of the book but the crate's API pages, which rustdoc makes
 * and looks after.
 * @returns {Promise<string[]>} paths relative to the site's root, in order
 */
export async function findPages() {
    let files;
    try {
        files = await readdir(folder, { recursive: true });
    } catch (error) {
        throw new Error(`No built book in ${folder}: run \`cargo book build\` first, or set BOOK_DIR.`, { cause: error });
    }
    const pages = files
        .map(file => file.split(path.sep).join('/'))
        .filter(file => file.endsWith('.html') && !file.startsWith('api/'))
        .sort();
    if (pages.length === 0) {
        throw new Error(`No HTML pages in ${folder}: run \`cargo book build\` first, or set BOOK_DIR.`);
    }
    return pages;
}

/** mdBook's own pages, which are not chapters: the contents as a frame, the error page, the whole book. */
const OF_MDBOOK = new Set(['toc.html', '404.html', 'print.html']);

/**
 * The pages that are chapters.
 * @returns {Promise<string[]>}
 */
export async function findChapters() {
    return (await findPages()).filter(page => !OF_MDBOOK.has(page));
}

/**
 * Serves the built book on a free port of the loopback interface.
 * @returns {Promise<{ origin: string, close: () => Promise<void> }>}
 */
export async function serve() {
    const server = createServer(async (request, response) => {
        const { pathname } = new URL(request.url ?? '/', 'http://localhost');
        let file = path.join(folder, path.normalize(decodeURIComponent(pathname)));
        try {
            if (!file.startsWith(folder)) {
                throw new Error('outside the book');
            }
            if ((await stat(file)).isDirectory()) {
                file = path.join(file, 'index.html');
                await stat(file);
            }
        } catch {
            response.writeHead(404, { 'content-type': 'text/plain' });
            response.end('not found');
            return;
        }
        response.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
        createReadStream(file).pipe(response);
    });
    await new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '127.0.0.1', resolve);
    });
    return {
        origin: `http://127.0.0.1:${server.address().port}`,
        close: () => new Promise(resolve => {
            server.closeAllConnections();
            server.close(() => resolve());
        }),
    };
}
