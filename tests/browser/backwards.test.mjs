// The attention-head widget of the backward pass, used as readers use it: played
// back from the loss, asked how each gradient came about, and changed. Its numbers
// are compared with the chapter's own tables and with a backward pass computed here.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DARK, Reader, report } from './lib/reader.mjs';
import {
    BACK_PAGE, COMPUTED, HEAD_PAGE, TOY, axe, cell, derivation, derivations, differences, inChapter, misfits, number, openWidget, shown,
} from './lib/widgets.mjs';

/** @type {Reader} */
let reader;
before(async () => { reader = await Reader.start(); });
after(() => reader?.stop());

/** The toy head with the chapter's target. */
const BACK = { ...TOY, target: [2, 0, 0] };

/** The steps back, and what each makes. */
const STEPS = {
    Loss: ['L', 'dO'],
    'Mix backwards': ['dA', 'dV'],
    'Softmax backwards': ['dmasked'],
    'Mask and scale backwards': ['dscaled', 'dS'],
    'Score backwards': ['dQ', 'dK'],
    'Project backwards': ['dW_Q', 'dW_K', 'dW_V', 'dX'],
};
const GRADIENTS = Object.values(STEPS).flat();

/** The tables of the chapter. */
const TABLES = {
    target: 'back.target',
    dO: 'back.d-output',
    dA: 'back.d-weights',
    dV: 'back.d-v',
    dS: 'back.d-scores',
    dQ: 'back.d-q',
    dK: 'back.d-k',
    dW_Q: 'back.d-w-q',
    dW_K: 'back.d-w-k',
    dW_V: 'back.d-w-v',
    dX: 'back.d-x',
};

const title = page => page.locator('.panel .title').textContent();
const boxes = page => page.locator('.widget .matrix').evaluateAll(all =>
    all.map(each => { const { width, height } = each.getBoundingClientRect(); return `${each.dataset.name} ${width} ${height}`; }));

/** The widget, with all steps made. */
async function openPlayed(options = {}) {
    const tab = await openWidget(reader, { page: BACK_PAGE, ...options });
    await tab.page.getByRole('slider', { name: 'Step' }).fill('12');
    return tab;
}

test('the first press of play goes backwards, and ends with the numbers of the chapter', async () => {
    const { page, close, open } = await reader.tab();
    await page.clock.install();
    await open(BACK_PAGE);
    await page.locator('attention-head').scrollIntoViewIfNeeded();
    assert.match(await title(page), /^6\. Mix/);
    assert.match(await page.locator('.explanation').textContent(), /press play/i, 'it says what to do');
    for (const matrix of COMPUTED) {
        assert.ok((await shown(page, matrix)).flat().every(text => text !== '·'), `${matrix} is there from the start`);
    }
    assert.deepEqual(await shown(page, 'target'), [['2', '0', '0']]);
    const size = await boxes(page);
    await page.click('.play');
    for (const [at, step] of Object.keys(STEPS).entries()) {
        if (at > 0) {
            await page.clock.runFor(3000);
        }
        assert.equal(await title(page), `${7 + at}. ${step}`);
        const [caption] = await page.locator('.explanation p:not(.notice)').allTextContents();
        assert.ok(caption.length > 20, `${step} has a caption: ${caption}`);
        const made = Object.values(STEPS).slice(0, at + 1).flat();
        for (const matrix of GRADIENTS) {
            const texts = (await shown(page, matrix)).flat();
            assert.equal(texts.every(text => text === '·'), !made.includes(matrix), `${step}: ${matrix} shows ${texts}`);
        }
        assert.deepEqual(await boxes(page), size, `${step}: no matrix changes its size`);
    }
    await page.clock.runFor(3000);
    assert.equal(await page.locator('.play').textContent(), 'Play', 'it stops at the end');
    for (const [matrix, value] of Object.entries(TABLES)) {
        const chapter = await inChapter(page, value);
        assert.ok(chapter.length > 0, `the chapter shows ${value}`);
        assert.deepEqual(await shown(page, matrix), chapter, `${matrix} is ${value}`);
    }
    assert.deepEqual((await shown(page, 'dmasked'))[4], (await inChapter(page, 'back.the.softmax'))[3]);
    assert.ok((await page.locator('main').innerText()).includes(`it is ${await cell(page, 'L', 0, 0).textContent()}`), 'the loss is that of the text');
    report(await differences(page, BACK));
    await page.click('.play');
    assert.match(await title(page), /^6\. Mix/, 'and again from the turn');
    await page.clock.runFor(1500);
    assert.match(await title(page), /^7\. Loss/);
    await close();
});

test('steps go by hand and by the slider, forward and back over the turn', async () => {
    const { page, close } = await openWidget(reader, { page: BACK_PAGE });
    const slider = page.getByRole('slider', { name: 'Step' });
    assert.equal(await slider.getAttribute('aria-valuetext'), '6 of 12: Mix');
    await page.getByRole('button', { name: 'One step back' }).click();
    assert.match(await title(page), /Softmax$/);
    assert.equal((await shown(page, 'O'))[0][0], '·');
    await slider.fill('9');
    assert.equal(await slider.getAttribute('aria-valuetext'), '9 of 12: Softmax backwards');
    assert.equal((await shown(page, 'dS'))[0][0], '·');
    await page.getByRole('button', { name: 'One step forward' }).click();
    assert.match(await title(page), /Mask and scale backwards/);
    assert.match(await page.locator('.widget-voice').textContent(), /Mask and scale backwards\. .{20}/, 'it is said');
    await slider.fill('0');
    assert.equal((await shown(page, 'Q'))[0][0], '·');
    await close();
});

/** The cells that a cell comes from, by the formulas of the chapter. */
function sourcesOf(matrix, row, column) {
    const range = count => [...Array(count).keys()];
    const [tokens, size, messages] = [range(5), range(3), range(3)];
    const open = Number(column) <= Number(row);
    const learned = made => tokens.flatMap(k => [`X ${k} ${row}`, `${made} ${k} ${column}`]);
    return {
        L: () => messages.flatMap(k => [`O 4 ${k}`, `target 0 ${k}`]),
        dO: () => (row === '4' ? [`O 4 ${column}`, `target 0 ${column}`] : []),
        dA: () => messages.flatMap(k => [`dO ${row} ${k}`, `V ${column} ${k}`]),
        dV: () => tokens.flatMap(k => [`A ${k} ${row}`, `dO ${k} ${column}`]),
        dmasked: () => tokens.flatMap(k => [`A ${row} ${k}`, `dA ${row} ${k}`]),
        // What was closed is 0, whatever came back to it.
        dscaled: () => (open ? [`dmasked ${row} ${column}`] : []),
        dS: () => [`dscaled ${row} ${column}`],
        dQ: () => tokens.flatMap(k => [`dS ${row} ${k}`, `K ${k} ${column}`]),
        dK: () => tokens.flatMap(k => [`dS ${k} ${row}`, `Q ${k} ${column}`]),
        dW_Q: () => learned('dQ'),
        dW_K: () => learned('dK'),
        dW_V: () => learned('dV'),
        dX: () => ['Q', 'K', 'V'].flatMap(made => size.flatMap(k => [`d${made} ${row} ${k}`, `W_${made} ${column} ${k}`])),
    }[matrix]();
}

test('every cell of every gradient says how it was computed, and its numbers add up', async () => {
    const { page, close } = await openPlayed();
    const kinds = new Set();
    const wrong = [];
    for (const matrix of GRADIENTS) {
        const cells = await derivations(page, matrix);
        assert.deepEqual(cells.map(({ text }) => text), (await shown(page, matrix)).flat());
        for (const { place, text, derived, sources, chosen } of cells) {
            derived.lines.forEach(({ kind }) => kinds.add(kind));
            wrong.push(...misfits(derived, text).map(line => `${place}: ${line}`));
            const expected = sourcesOf(...place.split(' ')).sort();
            if (sources.join() !== expected.join()) {
                wrong.push(`${place}: marks ${sources}, not ${expected}`);
            }
            if (chosen.join() !== place || !/^(Gradient of|The loss)/.test(derived.title)) {
                wrong.push(`${place}: ${chosen} is explained, as ${derived.title}`);
            }
        }
    }
    report(wrong);
    assert.deepEqual([...kinds].sort(), ['mask', 'minus', 'products', 'scaled', 'sentence', 'squares', 'sum', 'times', 'zero']);
    await close();
});

test('each kind of derivation says its own', async () => {
    const { page, close } = await openPlayed({ height: 1600 });
    const told = async (...place) => {
        await cell(page, ...place).hover();
        return (await derivation(page)).lines.map(({ text }) => text).join(' | ');
    };
    assert.match(await told('L', 0, 0), /1\.0745−2−0\.92550\.8566.*sum of squares.*half.*0\.5.*0\.4844/);
    assert.match(await told('dO', 4, 0), /output1\.074.*target2.*gradient−0\.93/);
    assert.match(await told('dO', 1, 0), /looks only at the output of the last token/);
    assert.match(await told('dA', 4, 1), /“thing”−0\.926·2\.0.*sum−1\.85/);
    assert.match(await told('dmasked', 4, 1), /average.*\| gradient of the weight.*−.*above average.*\| weight.*·.*gradient/);
    assert.match(await told('dscaled', 1, 2), /“sat” is closed to “cat”/);
    assert.match(await told('dS', 4, 1), /gradient−0\.5049·1 \/ √30\.5774=gradient−0\.291/);
    assert.match(await told('dX', 1, 0), /through the query.*\|.*through the key.*\|.*through the value.*\| added up/);
    await close();
});

test('an edit of the target moves the error, and everything behind it', async () => {
    const { page, close } = await openPlayed();
    await cell(page, 'target', 0, 1).click();
    await page.keyboard.type('1.5');
    await page.keyboard.press('Enter');
    report(await differences(page, { ...BACK, target: [2, 1.5, 0] }));
    await page.keyboard.press('F2');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    report(await differences(page, { ...BACK, target: [2, 1.6, 0] }));
    await page.keyboard.press('Control+z');
    report(await differences(page, { ...BACK, target: [2, 1.5, 0] }));

    const box = await cell(page, 'target', 0, 2).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 33, box.y + box.height / 2, { steps: 6 });
    await page.mouse.up();
    report(await differences(page, { ...BACK, target: [2, 1.5, -0.4] }));
    const w_v = structuredClone(TOY.w_v);
    w_v[0][0] = -1.25;
    await cell(page, 'W_V', 0, 0).click();
    await page.keyboard.type('-1.25');
    await page.keyboard.press('Enter');
    report(await differences(page, { ...BACK, w_v, target: [2, 1.5, -0.4] }));
    await page.getByRole('switch', { name: 'Mask' }).uncheck();
    await page.getByRole('switch', { name: 'Scale' }).uncheck();
    report(await differences(page, { ...BACK, w_v, target: [2, 1.5, -0.4], mask: false, scale: false }));
    assert.equal(await page.locator('[data-name^="d"] td.closed').count(), 0);
    await page.getByRole('button', { name: 'Reset' }).click();
    report(await differences(page, BACK));
    assert.match(await title(page), /^12\./, 'and nothing of what was made is gone');
    await close();
});

test('bad numbers of the target are marked where they stand, and nothing breaks', async () => {
    const { page, troubles, close } = await openPlayed();
    await cell(page, 'target', 0, 0).click();
    for (const text of ['', 'NaN', '1e308', '-', '∞']) {
        await page.keyboard.press('F2');
        await page.keyboard.press('Control+a');
        await page.keyboard.press('Delete');
        await page.keyboard.insertText(text);
        await page.keyboard.press('Enter');
        assert.equal(await cell(page, 'target', 0, 0).getAttribute('aria-invalid'), 'true', `“${text}” is marked`);
        assert.ok((await page.locator('.notice').textContent()).length > 20);
        assert.equal(await page.locator('.matrix[data-stale]').count(), 8 + GRADIENTS.length, 'the results are marked as old');
        assert.equal(await cell(page, 'dO', 4, 0).textContent(), '−0.93', 'and are the last good ones');
    }
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Reset' }).click();
    report(await differences(page, BACK));
    assert.deepEqual(troubles.errors, []);
    await close();
});

test('words come and go; the loss looks at the last', async () => {
    const { page, close } = await openPlayed();
    await page.getByRole('button', { name: 'Edit words' }).click();
    await page.locator('.remove').last().click();
    report(await differences(page, { ...BACK, tokens: TOY.tokens.slice(0, 4), x: TOY.x.slice(0, 4) }));
    assert.equal(await page.locator('[data-name="target"] tbody th').textContent(), 'on');
    await page.locator('.chip').nth(1).locator('input').fill('dog');
    assert.equal(await page.locator('[data-name="dA"] thead th').nth(1).textContent(), 'dog');
    await page.getByRole('button', { name: 'Done' }).click();
    await page.locator('.chip').nth(3).click();
    const rows = await page.locator('.widget tr.followed').evaluateAll(all => all.map(row => `${row.closest('[data-name]').dataset.name} ${row.sectionRowIndex}`));
    assert.deepEqual(rows.sort(), ['A', 'O', 'Q', 'S', 'X', 'dA', 'dO', 'dQ', 'dS', 'dX', 'dmasked', 'dscaled', 'masked', 'scaled'].map(name => `${name} 3`));
    await close();
});

test('the examples show what they say', async () => {
    const { page, close } = await openPlayed();
    const choose = async name => {
        await page.locator('.tools select').selectOption(name);
        assert.ok((await page.locator('.tools .about').textContent()).length > 20);
    };
    const largest = async matrix => Math.max(...(await shown(page, matrix)).flat().map(text => Math.abs(number(text))));
    assert.deepEqual(await page.locator('.tools select option').evaluateAll(all => all.map(each => each.value).filter(Boolean)), ['toy', 'wrong', 'fresh']);
    await choose('wrong');
    assert.ok(await largest('dA') > 1 && await largest('dS') < 0.05, 'the complaint is lost in softmax');
    await choose('fresh');
    assert.ok(await largest('dK') === 0 && await largest('dQ') > 0.05, 'only the queries hear of it');
    await choose('toy');
    report(await differences(page, BACK));
    await close();
});

test('a link carries the head and its target; a head without one is not taken', async () => {
    const { page, close } = await openPlayed();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await cell(page, 'target', 0, 2).click();
    await page.keyboard.type('-3.5');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.locator('.notice', { hasText: 'copied' }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    await close();

    const { page: other, troubles, close: closeOther } = await reader.tab();
    await other.goto(link);
    await other.locator('[data-name="target"] td', { hasText: '−3.5' }).waitFor();
    await other.getByRole('slider', { name: 'Step' }).fill('12');
    report(await differences(other, { ...BACK, target: [2, 0, -3.5] }));
    assert.deepEqual(troubles.errors, []);
    await closeOther();

    for (const [from, to, name] of [[BACK_PAGE, HEAD_PAGE, 'qkv.widget'], [HEAD_PAGE, BACK_PAGE, 'back.widget']]) {
        const tab = await openWidget(reader, { page: from });
        await tab.page.getByRole('button', { name: 'Copy link' }).click();
        await tab.page.locator('.notice', { hasText: 'link' }).waitFor();
        const { hash } = new URL(tab.page.url());
        await tab.close();
        const foreign = await reader.tab();
        await foreign.page.goto(`${reader.site.origin}/${to}#${name}${hash.slice(hash.indexOf('='))}`);
        await foreign.page.locator('.notice', { hasText: 'no head that can be read' }).waitFor();
        report(await differences(foreign.page, TOY));
        await foreign.close();
    }
});

test('the keyboard does everything, with one tab stop a matrix', async () => {
    const { page, close } = await openPlayed();
    const stops = await page.locator('.widget .matrix').evaluateAll(all => all.map(each => each.querySelectorAll('[tabindex="0"], .follow:not([tabindex="-1"])').length));
    assert.deepEqual(stops, Array(26).fill(1));
    await cell(page, 'dA', 0, 0).focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await title(page), 'Gradient of the weight that “the” gives to “on”', 'the focus explains');
    assert.match(await page.locator('.widget-voice').textContent(), /gives to “on”\..*The sum is 0\.25\./s, 'and is spoken');
    await page.keyboard.press('Tab');
    const where = () => page.evaluate(() => document.activeElement?.closest('[data-name]')?.getAttribute('data-name'));
    assert.equal(await where(), 'dV', 'one tab leads to the next matrix');
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('[data-name="dV"] .pinned').count(), 1);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.pinned').count(), 0);
    await page.locator('.play').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForTimeout(100);
    assert.ok(page.url().endsWith(BACK_PAGE), 'the page was turned');
    // The order in which one tabs is that in which one sees.
    const order = await page.locator('.widget .matrix').evaluateAll(all => all.map(each => each.dataset.name));
    assert.deepEqual(order.slice(12), ['target', ...GRADIENTS]);
    await close();
});

test('on a telephone, by touch: the panel in sight, clear of the cell, and targets large enough', async () => {
    const height = 740;
    const { page, close } = await openPlayed({ width: 360, height, hasTouch: true, isMobile: true });
    for (const [matrix, row, column] of [['target', 0, 0], ['L', 0, 0], ['dO', 4, 0], ['dA', 4, 1], ['dmasked', 4, 1], ['dK', 1, 0], ['dX', 1, 3]]) {
        await cell(page, matrix, row, column).tap();
        const panel = await page.locator('.panel').boundingBox();
        const box = await cell(page, matrix, row, column).boundingBox();
        assert.ok(panel.y >= 0 && panel.y + panel.height <= height + 1, `${matrix}: the panel is in sight: ${JSON.stringify(panel)}`);
        assert.ok(panel.height <= height * 0.4, `${matrix}: the panel leaves room`);
        assert.ok(box.y >= 0 && box.y + box.height <= panel.y + 1, `${matrix}: the panel covers what it explains`);
    }
    assert.match(await title(page), /^Gradient of X of “cat”: /);
    await cell(page, 'target', 0, 0).tap();
    await page.getByRole('button', { name: 'A tenth less' }).tap();
    report(await differences(page, { ...BACK, target: [1.9, 0, 0] }));
    await page.locator('.chip').nth(4).tap();
    assert.equal(await page.locator('.widget tr.followed').count(), 14, 'a tap follows');
    const small = await page.locator('.widget').evaluate(widget => [...widget.querySelectorAll('button, select, input, td[role=gridcell]')]
        .filter(each => each.checkVisibility())
        .map(each => ({ each, box: (each.closest('label') ?? each).getBoundingClientRect() }))
        .filter(({ box }) => box.width < 24 || box.height < 24)
        .map(({ each, box }) => `${each.outerHTML.slice(0, 80)} is ${box.width} × ${box.height}`));
    report(small);
    await close();
});

for (const width of [320, 360, 768, 1280]) {
    test(`at ${width} px nothing sticks out, also with twelve tokens`, async () => {
        const { page, close } = await openPlayed({ width, height: 800 });
        const stick = () => page.evaluate(() => {
            const { right } = document.querySelector('.content').getBoundingClientRect();
            return [...document.querySelectorAll('.widget, .widget *')]
                .filter(each => !each.closest('svg') && each.checkVisibility() && !each.closest('.widget-voice'))
                .filter(each => !each.parentElement.closest('.box, .explanation') && each.getBoundingClientRect().right > right + 1)
                .map(each => `<${each.tagName.toLowerCase()} class="${each.className}"> reaches to ${each.getBoundingClientRect().right}, the page to ${right}`);
        });
        report(await stick());
        await page.getByRole('button', { name: 'Edit words' }).click();
        for (let count = 5; count < 12; count += 1) {
            await page.getByRole('button', { name: 'Add a word' }).click();
        }
        await cell(page, 'dmasked', 11, 3).click();
        report(await stick());
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page does not scroll sideways');
        await close();
    });
}

test('nothing moves when the widget comes', async () => {
    for (const width of [320, 360, 768, 1280]) {
        const { page, close } = await reader.tab({ width, height: 900 });
        // The scripts come late: the page has long been read when the widget is there.
        let arrive = () => {};
        const late = new Promise(done => { arrive = done; });
        await page.route('**/widgets/load.js', async route => {
            await late;
            await route.continue();
        });
        await page.goto(`${reader.site.origin}/${BACK_PAGE}`, { waitUntil: 'commit' });
        await page.locator('footer, .nav-wrapper').first().waitFor({ state: 'attached' });
        await page.evaluate(() => document.fonts.ready.then(() => new Promise(requestAnimationFrame)));
        const height = await page.evaluate(() => document.querySelector('figure.widget').offsetHeight);
        arrive();
        await page.locator('.widget [data-ready]').waitFor();
        await page.waitForTimeout(200);
        assert.equal(await page.evaluate(() => document.querySelector('figure.widget').offsetHeight), height, `${width} px: the height is the one that was kept`);
        await page.getByRole('slider', { name: 'Step' }).fill('12');
        assert.equal(await page.evaluate(() => document.querySelector('figure.widget').offsetHeight), height, `${width} px: at the last step too`);
        await close();
    }
});

for (const [how, block] of [
    ['is not there', page => page.route('**/head.wasm', route => route.abort())],
    ['cannot be run', page => page.addInitScript(() => { delete window.WebAssembly; })],
]) {
    test(`where the engine ${how}, the way back can be played and asked, but not changed`, async () => {
        const { page, troubles, close, open } = await reader.tab();
        await block(page);
        await open(BACK_PAGE);
        await page.locator('attention-head').scrollIntoViewIfNeeded();
        await page.locator('.tools .off').waitFor();
        await page.getByRole('slider', { name: 'Step' }).fill('12');
        report(await differences(page, BACK));
        const wrong = [];
        for (const matrix of GRADIENTS) {
            for (const { place, text, derived } of await derivations(page, matrix)) {
                wrong.push(...misfits(derived, text).map(line => `${place}: ${line}`));
            }
        }
        report(wrong);
        await cell(page, 'target', 0, 0).click();
        await page.keyboard.press('F2');
        assert.equal(await page.locator('.editor').count(), 0);
        report(troubles.errors.filter(error => !/ERR_FAILED|Failed to load resource/.test(error)));
        await close();
    });
}

test('without JavaScript a sentence and the tables stand there', async () => {
    const { page, close, open } = await reader.tab({ javaScriptEnabled: false });
    await open(BACK_PAGE);
    assert.ok(await page.locator('.widget-fallback').isVisible());
    assert.match(await page.locator('.widget-fallback').innerText(), /tables of this chapter/);
    await close();
});

for (const theme of ['light', DARK]) {
    test(`axe finds nothing in ${theme}: before, after, explaining, with a mistake`, async () => {
        // So high that the panel, which stays in sight, covers nothing.
        const { page, close } = await openWidget(reader, { page: BACK_PAGE, theme, height: 2800 });
        const wrong = [];
        const look = async when => wrong.push(...(await axe(page)).map(line => `${when}: ${line}`));
        await look('before the first step back');
        await page.getByRole('slider', { name: 'Step' }).fill('12');
        await page.locator('.chip').nth(4).click();
        for (const [matrix, row, column] of [['L', 0, 0], ['dmasked', 4, 1], ['dscaled', 1, 2], ['dX', 1, 0]]) {
            await cell(page, matrix, row, column).click();
            await look(`with the derivation of ${matrix}`);
        }
        await cell(page, 'target', 0, 0).click();
        await page.keyboard.press('F2');
        await page.keyboard.type('x');
        await look('with a mistake');
        report(wrong);
        await close();
    });
}

test('with reduced motion what is computed is there at once; else it fades in', async () => {
    for (const [reducedMotion, moves] of [['reduce', false], ['no-preference', true]]) {
        const { page, close } = await openWidget(reader, { page: BACK_PAGE, reducedMotion });
        await page.getByRole('button', { name: 'One step forward' }).click();
        const running = await page.evaluate(() => document.querySelector('attention-head').getAnimations({ subtree: true }).length);
        assert.equal(running > 0, moves, `${reducedMotion}: ${running} animations`);
        await close();
    }
});

test('an edit of the target at twelve tokens is on the page within a frame', async context => {
    const { page, close } = await openPlayed();
    await page.getByRole('button', { name: 'Edit words' }).click();
    for (let count = 5; count < 12; count += 1) {
        await page.getByRole('button', { name: 'Add a word' }).click();
    }
    await cell(page, 'target', 0, 1).click();
    await page.keyboard.press('F2');
    const times = await page.evaluate(async () => {
        const field = document.querySelector('.editor');
        const times = [];
        for (let round = 0; round < 40; round += 1) {
            field.value = String((round % 7) / 10);
            const start = performance.now();
            field.dispatchEvent(new InputEvent('input', { bubbles: true }));
            // Reading a size makes the browser lay everything out.
            document.querySelector('attention-head').getBoundingClientRect();
            times.push(performance.now() - start);
            await new Promise(requestAnimationFrame);
        }
        return times.sort((a, b) => a - b);
    });
    const median = times[times.length / 2];
    context.diagnostic(`edit at T = 12, from the event to laid out: median ${median.toFixed(1)} ms, worst ${times.at(-1).toFixed(1)} ms`);
    assert.ok(median < 16, `${median} ms`);
    await close();
});

test('JavaScript and WebAssembly of the page stay under 100 KB', async context => {
    const { gzipSync } = await import('node:zlib');
    const { page, close } = await reader.tab();
    const bodies = new Map();
    page.on('response', response => {
        const { pathname } = new URL(response.url());
        if (pathname.includes('/widgets/')) {
            bodies.set(pathname, response.body());
        }
    });
    await page.goto(`${reader.site.origin}/${BACK_PAGE}`);
    await page.locator('attention-head').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.endsWith('head.wasm')));
    const sizes = await Promise.all([...bodies].map(async ([name, body]) => [name, gzipSync(await body).length]));
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    const scripts = sizes.filter(([name]) => name.endsWith('.js')).reduce((sum, [, size]) => sum + size, 0);
    context.diagnostic(`compressed: ${scripts} bytes of JavaScript in ${sizes.length - 1} files, ${total} with the engine`);
    assert.ok(sizes.some(([name]) => name.endsWith('.wasm')) && !sizes.some(([name]) => name.endsWith('models.wasm')));
    assert.ok(total <= 100_000, `${total} bytes`);
    await close();
});
