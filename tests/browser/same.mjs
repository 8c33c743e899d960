// Compares two builds of the book, page by page: what stands in `<main>` must be
// the same. `node same.mjs target/book target/stock-book`

import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

const [ours, stock] = process.argv.slice(2);
if (!ours || !stock) {
    console.error('usage: node same.mjs FOLDER FOLDER');
    process.exit(2);
}

/** The pages of a build, but for the crates' documentation. */
const pages = async folder => (await readdir(folder, { recursive: true }))
    .map(file => file.split(path.sep).join('/'))
    .filter(file => file.endsWith('.html') && !file.startsWith('api/'))
    .sort();

const main = async file => {
    const html = await readFile(file, 'utf8');
    return html.match(/<main>([\s\S]*)<\/main>/)?.[1] ?? '';
};

const differences = [];
const [left, right] = [await pages(ours), await pages(stock)];
for (const page of new Set([...left, ...right])) {
    if (!left.includes(page) || !right.includes(page)) {
        differences.push(`${page} is only in ${left.includes(page) ? ours : stock}`);
        continue;
    }
    const [a, b] = [await main(path.join(ours, page)), await main(path.join(stock, page))];
    if (a !== b) {
        const at = [...a].findIndex((character, index) => character !== b[index]);
        const around = text => JSON.stringify(text.slice(Math.max(0, at - 40), at + 60));
        differences.push(`${page} differs:\n    ${ours}: ${around(a)}\n    ${stock}: ${around(b)}`);
    }
}
if (left.length === 0) {
    differences.push(`${ours} has no pages`);
}
for (const difference of differences) {
    console.error(difference);
}
console.log(`${left.length} pages compared, ${differences.length} differ`);
process.exit(differences.length === 0 ? 0 : 1);
