// <attention-head>: a whole attention head to step through, to follow and to
// change. This module wires the parts together: it holds what the reader points
// at and follows, and hands each part what it shows. What the head is, and what
// changes it, is in head.js.

import { Explainer } from './explainer.js';
import { freshId, make, setAttribute } from './dom.js';
import { letDrag, openEditor } from './editor.js';
import { flowOf } from './flow.js';
import { Grid } from './grid.js';
import { Head } from './head.js';
import { Player } from './player.js';
import { Sentence } from './sentence.js';
import { copy, linkTo, stateInAddress } from './share.js';
import { sheetOf } from './sheets.js';
import { FOLLOWED, TURN, captionOf, nameOf, stepOf, stepsOf } from './steps.js';
import { isInput, samePlace } from './state.js';
import { Tools } from './tools.js';
import { Voice } from './voice.js';

/** @import { Place, TokenChange } from './types.d.ts' */

const OFF = 'Numbers and words can’t be changed here, as the engine (WebAssembly) did not load. '
    + 'Play, follow a word, and see how each number was computed: all of that works.';

class AttentionHead extends HTMLElement {
    /** @type {Head} */
    #head = /** @type {any} */ (null);
    /** The mistake that was spoken of last. @type {string | undefined} */
    #mistake;

    /** The row that is followed. @type {number | null} */
    #followed = null;
    /** What the reader points at, in three ways; the first that is there is explained. */
    #pointed = { pinned: /** @type {Place | null} */ (null), hovered: /** @type {Place | null} */ (null), focused: /** @type {Place | null} */ (null) };

    /** The given number that was clicked last. @type {Place | null} */
    #pressed = null;

    /** @type {Map<string, Grid>} */
    #grids = new Map();
    #voice = new Voice();
    /** @type {Player} */
    #player = /** @type {any} */ (null);
    #sentence = new Sentence({
        follow: token => this.#follow(token),
        change: change => this.#changeTokens(change),
        close: () => this.#render(),
    });
    /** @type {Tools} */
    #tools = /** @type {any} */ (null);
    /** @type {Explainer} */
    #explainer = /** @type {any} */ (null);
    #leave = new AbortController();

    connectedCallback() {
        const data = this.querySelector(':scope > script[type="application/json"]');
        if (!data || this.#head) {
            return;
        }
        this.#head = new Head(JSON.parse(data.textContent ?? ''), () => this.#onChange());
        this.#build();
        this.#listen();
        this.#render();
        this.#openLink();
    }

    disconnectedCallback() {
        this.#player.pause();
        this.#leave.abort();
    }

    // ------------------------------------------------------------- the page

    #build() {
        const head = this.#head;
        const steps = stepsOf(head.now);
        // Where the head is followed backwards, the way there has been gone already.
        const begin = steps.length > TURN ? TURN : 0;
        this.#player = new Player(steps, begin, (position, how) => this.#onMove(position, how));
        this.#explainer = new Explainer(this.#player.root, begin, {
            letGo: () => this.#letGo(),
            step: (place, by) => head.type(place, head.step(head.numberAt(place), by)),
            edit: place => this.#edit(place),
        });
        this.#tools = new Tools(head.presets, {
            example: name => {
                const example = head.presets.find(preset => preset.name === name);
                this.#afresh(() => example && head.change(example.state));
            },
            turn: (what, on) => head.change({ ...head.now, [what]: on }),
            undo: () => head.undo(),
            redo: () => head.redo(),
            reset: () => this.#afresh(() => head.reset()),
            link: () => this.#copyLink(),
        });
        const hints = {
            input: make('p', { id: freshId() }, 'Arrow keys move. Enter or a digit edits the number, Escape lets go.'),
            result: make('p', { id: freshId() }, 'Arrow keys move. Enter holds the explanation, Escape lets go.'),
        };
        for (const matrix of head.good.answer.matrices) {
            const editable = isInput(matrix.name);
            this.#grids.set(matrix.name, new Grid(matrix, {
                editable,
                tag: editable ? 'given' : `${stepOf(matrix.name)} · ${nameOf(stepOf(matrix.name))?.toLowerCase()}`,
                follows: FOLLOWED.has(matrix.name),
                hint: (editable ? hints.input : hints.result).id,
            }, {
                focus: place => this.#onFocus(place),
                press: place => this.#onPress(place),
                hover: place => this.#point({ hovered: place }),
                follow: row => this.#follow(row),
                key: (place, key) => this.#onKey(place, key),
            }));
        }
        const widget = make(
            'div',
            { class: 'head-widget' },
            this.#sentence.root,
            this.#tools.root,
            flowOf(this.#grids),
            this.#explainer.root,
            this.#voice.root,
            make('div', { hidden: true }, hints.input, hints.result),
        );
        setAttribute(this, 'data-ready', true);
        this.append(widget);
    }

    #listen() {
        const { signal } = this.#leave;
        // mdBook turns the page at arrow keys, and searches at a letter.
        this.addEventListener('keydown', event => this.#onWidgetKey(event), { signal });
        this.addEventListener('focusout', ({ relatedTarget }) => {
            const stays = relatedTarget instanceof Element
                && (relatedTarget.closest('[role=grid]') || this.#explainer.root.contains(relatedTarget));
            if (!stays && this.#pointed.focused) {
                this.#point({ focused: null });
            }
        }, { signal });
        this.#player.root.addEventListener('speed', event =>
            this.style.setProperty('--pace', String(/** @type {CustomEvent} */ (event).detail)), { signal });
        window.addEventListener('hashchange', () => this.#openLink(), { signal });
        letDrag(this, cell => this.#dragged(cell));
        const observer = new IntersectionObserver(([{ isIntersecting }]) => {
            if (isIntersecting) {
                this.#load();
            } else {
                this.#player.pause();
            }
        }, { rootMargin: '200px' });
        observer.observe(this);
        signal.addEventListener('abort', () => observer.disconnect());
    }

    async #load() {
        const changeable = await this.#head.load();
        if (!changeable && !this.hasAttribute('data-fixed')) {
            this.#tools.turnOff(OFF);
            setAttribute(this, 'data-fixed', true);
            this.#render();
        }
    }

    /** Shows everything as it is now. */
    #render() {
        const { now, good, problems, fixed } = this.#head;
        const position = this.#player.position;
        for (const matrix of good.answer.matrices) {
            this.#grids.get(matrix.name)?.update(sheetOf(matrix, {
                now,
                problems,
                hidden: stepOf(matrix.name) > position,
                followed: this.#followed,
            }));
        }
        this.#sentence.update(now.tokens, this.#followed, this.#weights(), !fixed);
        this.#showTools();
        setAttribute(this, 'data-step', position);
        this.#explain();
    }

    /** What the followed token gives to each, once that is computed. */
    #weights() {
        const weights = this.#head.matrix('A');
        const row = this.#followed;
        if (row === null || !weights || this.#head.problems.length > 0 || this.#player.position < stepOf('A')) {
            return null;
        }
        return { shown: weights.shown[row], shade: weights.shade[row], open: weights.open?.[row] ?? Infinity };
    }

    #showTools() {
        const { now, example, canUndo, canRedo } = this.#head;
        this.#tools.update({
            example: example?.name ?? '',
            about: example?.about ?? 'A head of your own. Reset brings the example back.',
            mask: now.mask,
            scale: now.scale,
            canUndo,
            canRedo,
            canReset: !example,
        });
    }

    // -------------------------------------------------- pointing and following

    /**
     * @param {Partial<{ pinned: Place | null, hovered: Place | null, focused: Place | null }>} pointed
     */
    #point(pointed) {
        Object.assign(this.#pointed, pointed);
        this.#explain();
    }

    /** The cell that is explained, if it is computed yet. */
    get #chosen() {
        const { pinned, hovered, focused } = this.#pointed;
        const place = pinned ?? hovered ?? focused;
        const there = place && this.#grids.get(place[0])?.cell(place[1], place[2]);
        return there && place[2] >= 0 && stepOf(place[0]) <= this.#player.position ? place : null;
    }

    #explain() {
        const head = this.#head;
        const place = this.#chosen;
        const pinned = place !== null && place === this.#pointed.pinned;
        const derivation = place ? head.derivation(place) : undefined;
        const matrix = place && head.matrix(place[0]);
        if (derivation && matrix) {
            this.#explainer.derive(derivation, matrix, pinned);
        } else if (place && matrix) {
            this.#explainer.offer(place, matrix, head.numberAt(place), !head.fixed, pinned);
        } else {
            this.#explainer.caption(this.#player.position, captionOf(this.#player.position, head.now));
        }
        for (const grid of this.#grids.values()) {
            grid.mark(place, pinned, derivation?.sources ?? []);
        }
    }

    /** @param {Place} place */
    #onFocus(place) {
        const { pinned } = this.#pointed;
        if (!samePlace(this.#pressed, place)) {
            this.#pressed = null;
        }
        // The keyboard moves on: what was held is let go.
        this.#point({ focused: place, hovered: null, pinned: samePlace(pinned, place) ? pinned : null });
        this.#speak();
    }

    /** Says the computation that is shown. */
    #speak() {
        const place = this.#chosen;
        const derivation = place && this.#head.derivation(place);
        if (derivation) {
            this.#voice.say(derivation.spoken);
        }
    }

    /**
     * A click, a tap, or Enter on a result. A result is held, or let go; a given
     * number, which has the focus now, is edited the second time.
     * @param {Place} place
     */
    #onPress(place) {
        const again = samePlace(this.#pointed.pinned, place);
        if (isInput(place[0])) {
            const second = samePlace(this.#pressed, place);
            this.#pressed = place;
            this.#point({ pinned: null });
            if (second) {
                this.#edit(place);
            }
        } else if (stepOf(place[0]) <= this.#player.position) {
            this.#point({ pinned: again ? null : place, ...again && { hovered: null, focused: null } });
        }
        this.#keepInSight(place);
    }

    /**
     * Keeps a cell out from under the panel.
     * @param {Place} place
     */
    #keepInSight([name, row, column]) {
        this.#grids.get(name)?.cell(row, column)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }

    /**
     * @param {Place} place
     * @param {string} key
     */
    #onKey(place, key) {
        if (isInput(place[0])) {
            if (key === 'Enter' || key === 'F2') {
                this.#edit(place);
            } else if (/^[\d.,+\-−]$/.test(key)) {
                this.#edit(place, key);
            } else if (key === 'Delete' || key === 'Backspace') {
                this.#edit(place, '');
            } else {
                return false;
            }
            return true;
        }
        if (key === 'Enter' || key === ' ') {
            this.#onPress(place);
            this.#speak();
            return true;
        }
        return false;
    }

    /** @param {number} row */
    #follow(row) {
        this.#followed = this.#followed === row ? null : row;
        const token = this.#head.now.tokens[row];
        this.#render();
        this.#voice.say(this.#followed === null ? `“${token}” is no longer followed.` : `Following “${token}”: its rows are marked.`);
    }

    #letGo() {
        this.#followed = null;
        this.#pointed = { pinned: null, hovered: null, focused: null };
        this.#explainer.note('');
        this.#render();
    }

    /** @param {KeyboardEvent} event */
    #onWidgetKey(event) {
        event.stopPropagation();
        const types = event.target instanceof HTMLInputElement && event.target.type === 'text';
        const command = (event.ctrlKey || event.metaKey) && !types;
        if (event.key === 'Escape') {
            this.#letGo();
        } else if (command && event.key.toLowerCase() === 'z') {
            event.preventDefault();
            this.#head[event.shiftKey ? 'redo' : 'undo']();
        } else if (command && event.key.toLowerCase() === 'y') {
            event.preventDefault();
            this.#head.redo();
        }
    }

    // --------------------------------------------------------------- playing

    /**
     * @param {number} position
     * @param {'forward' | 'jump' | 'drag'} how
     */
    #onMove(position, how) {
        this.#pointed = { pinned: null, hovered: null, focused: null };
        let order = 0;
        for (const [name, grid] of this.#grids) {
            const made = stepOf(name) === position;
            setAttribute(grid.root, 'data-now', made);
            setAttribute(grid.root, 'data-fresh', made && how === 'forward');
            if (made) {
                grid.root.style.setProperty('--order', String(order));
                order += 1;
            }
        }
        this.#render();
        if (how !== 'drag') {
            this.#bringIntoView(position);
            this.#voice.say(`${nameOf(position) ?? 'Input'}. ${captionOf(position, this.#head.now)}`);
        }
    }

    /** @param {number} position */
    #bringIntoView(position) {
        const made = [...this.#grids].filter(([name]) => stepOf(name) === position).map(([, { root }]) => root);
        const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
        // On the way back, what a step makes is begun at the top if it is not all in sight.
        const hides = this.#explainer.root.getBoundingClientRect().top;
        const below = position > TURN && made.some(root => root.getBoundingClientRect().bottom > hides);
        const first = below ? made.toSorted((a, b) => a.offsetTop - b.offsetTop)[0] : made[0];
        first?.scrollIntoView({ block: below ? 'start' : 'nearest', inline: 'nearest', behavior: still ? 'instant' : 'smooth' });
    }

    // -------------------------------------------------------------- changing

    /** Shows what comes of a change, and says what is wrong with it. */
    #onChange() {
        const { now, problems } = this.#head;
        if (this.#followed !== null && this.#followed >= now.tokens.length) {
            this.#followed = null;
        }
        const sentence = problems[0]?.sentence;
        this.#explainer.note(sentence ? `${sentence} Until then, the results are the last good ones.` : '', 'mistake');
        if (sentence && sentence !== this.#mistake) {
            this.#voice.say(sentence);
        }
        this.#mistake = sentence;
        this.#render();
    }

    /**
     * Changes the whole head, with all steps forward made and nothing pointed at.
     * @param {() => void} change
     */
    #afresh(change) {
        change();
        this.#pointed = { pinned: null, hovered: null, focused: null };
        this.#player.set(Math.max(TURN, this.#player.position));
        this.#render();
    }

    /**
     * @param {TokenChange} change
     * @returns {string | undefined} why it cannot be made
     */
    #changeTokens(change) {
        if (!('rename' in change)) {
            this.#followed = null;
            this.#pointed = { pinned: null, hovered: null, focused: null };
        }
        const sentence = this.#head.changeTokens(change);
        if (sentence !== undefined) {
            this.#explainer.note(sentence, 'mistake');
            this.#voice.say(sentence);
        }
        return sentence;
    }

    /**
     * What an editor or a drag does with a number.
     * @param {Place} place
     */
    #workOn(place) {
        const head = this.#head;
        head.settle();
        return {
            text: head.numberAt(place),
            name: this.#explainer.nameOf(place, head.good.answer.matrices),
            change: (/** @type {string} */ text) => head.type(place, text),
            step: (/** @type {string} */ text, /** @type {number} */ by) => head.step(text, by),
            done: () => head.settle(),
        };
    }

    /**
     * @param {Place} place
     * @param {string} [first]
     */
    #edit(place, first) {
        const grid = this.#grids.get(place[0]);
        const cell = grid?.cell(place[1], place[2]);
        if (!this.#head.changeable || !cell) {
            return;
        }
        const work = this.#workOn(place);
        openEditor(cell, {
            ...work,
            done: move => {
                work.done();
                if (move === 'stay') {
                    grid?.focus(place[1], place[2]);
                }
            },
        }, first);
    }

    /** @param {Element} cell */
    #dragged(cell) {
        const name = cell.closest('[data-name]')?.getAttribute('data-name');
        const place = name && this.#grids.get(name)?.placeOf(cell);
        return place && this.#head.changeable ? this.#workOn(place) : null;
    }

    // ------------------------------------------------------------ the address

    get #name() {
        return this.dataset.name ?? 'head';
    }

    async #copyLink() {
        const link = linkTo(this.#name, this.#head.now);
        window.history.replaceState(window.history.state, '', link);
        const said = await copy(link)
            ? 'The link is copied. Whoever opens it sees this head.'
            : 'The link could not be copied, but it stands in the address bar now.';
        this.#explainer.note(said);
        this.#voice.say(said);
    }

    /** Takes the state that the address carries, if it carries one. */
    async #openLink() {
        const state = stateInAddress(this.#name);
        if (state === null) {
            return;
        }
        await this.#load();
        this.scrollIntoView({ block: 'start', behavior: 'instant' });
        try {
            if (state === 'unreadable' || !this.#head.changeable) {
                throw new Error('no state, or nothing to compute it with');
            }
            this.#afresh(() => this.#head.adopt(state));
        } catch {
            const said = this.#head.changeable
                ? 'The link to this page holds no head that can be read. Perhaps a part of it is missing.'
                : 'The link holds another head, but without the engine it can’t be computed.';
            this.#explainer.note(said, 'mistake');
            this.#voice.say(said);
        }
    }
}

customElements.define('attention-head', AttentionHead);
