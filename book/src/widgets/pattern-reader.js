// <pattern-reader>: a sentence that is typed, the attention maps of all heads, and
// the words that the model expects next, with heads to switch off. It wires the
// parts together; all numbers and sentences come from the engine.

import { Arcs } from './arcs.js';
import { Chances } from './chances.js';
import { button, freshId, make, setAttribute, write } from './dom.js';
import { HeadMaps } from './head-maps.js';
import { Voice } from './voice.js';

/** @import { Engine, ReadAnswer, ReaderData, Reading } from './types.d.ts' */

const HINT = 'The model knows the words in the list below and no others.';
const OFF = 'No sentence can be typed here. The numbers are those of this page.';

/** How long a reader stops typing before a mistake is told, in milliseconds. */
const PAUSE = 700;

class PatternReader extends HTMLElement {
    /** @type {ReaderData} */
    #data = /** @type {any} */ (null);
    #words = '';
    /** Pairs of layer and head. @type {[number, number][]} */
    #off = [];
    /** The last sentence that could be read. @type {Reading} */
    #reading = /** @type {any} */ (null);
    /** @type {ReadAnswer['problem']} */
    #problem;
    /** @type {[number, number]} */
    #head = [0, 0];
    /** The word that looks: chosen, and pointed at. */
    #at = 0;
    /** @type {number | null} */
    #pointed = null;
    /** @type {Engine | null} */
    #engine = null;

    #voice = new Voice();
    #note = make('p', { class: 'reader-note', id: freshId() }, HINT);
    #take = make('button', { type: 'button', class: 'take' });
    #known = make('p');
    #field = make('input', {
        type: 'text', class: 'sentence', 'aria-label': 'Sentence', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
        enterkeyhint: 'done', 'aria-describedby': this.#note.id,
    });
    #choose = make('select', { 'aria-label': 'A sentence to begin with' });
    #reset = button('reset', 'Reset', () => this.#begin(), { shown: true });
    #switch = make('input', { type: 'checkbox' });
    #switchName = make('span');
    #all = make('button', { type: 'button', class: 'all' }, 'All heads on');
    #results = make('div', { class: 'reader-results' });
    /** @type {HeadMaps} */
    #maps = /** @type {any} */ (null);
    /** @type {Arcs} */
    #arcs = /** @type {any} */ (null);
    #chances = new Chances();
    #leave = new AbortController();
    #pause = 0;

    connectedCallback() {
        const data = this.querySelector(':scope > script[type="application/json"]');
        if (!data || this.#data) {
            return;
        }
        this.#data = JSON.parse(data.textContent ?? '');
        this.#build();
        this.#begin();
        this.#loadInSight();
    }

    disconnectedCallback() {
        clearTimeout(this.#pause);
        this.#leave.abort();
    }

    #build() {
        this.#maps = new HeadMaps(this.#data.names, head => {
            this.#head = head;
            this.#render();
        });
        this.#arcs = new Arcs({
            choose: at => {
                this.#at = at;
                this.#render();
            },
            point: at => {
                this.#pointed = at;
                this.#render();
            },
        });
        const own = make('option', { value: '' }, 'a sentence of your own');
        this.#choose.append(...this.#data.sentences.map((sentence, at) => make('option', { value: at }, sentence)), own);
        this.#choose.addEventListener('change', () => {
            this.#read(this.#data.sentences[Number(this.#choose.value || NaN)] ?? this.#words, this.#off);
        });
        this.#field.addEventListener('input', () => this.#read(this.#field.value, this.#off));
        this.#field.addEventListener('blur', () => this.#tell());
        this.#field.addEventListener('keydown', ({ key }) => key === 'Enter' && this.#tell());
        this.#take.addEventListener('click', () => {
            this.#read(this.#problem?.mended ?? this.#words, this.#off);
            this.#field.focus();
        });
        this.#switch.addEventListener('change', () => this.#turn());
        this.#all.addEventListener('click', () => this.#read(this.#words, []));
        this.#results.append(
            make('div', { class: 'reader-heads' },
                this.#maps.root,
                make('div', { class: 'reader-row' }, make('label', { class: 'switch' }, this.#switch, this.#switchName), this.#all)),
            this.#arcs.root,
            this.#chances.root,
        );
        const widget = make(
            'div',
            { class: 'reader-widget' },
            make('div', { class: 'reader-row' }, this.#choose, this.#reset),
            this.#field,
            make('div', { class: 'reader-row told' }, this.#note, this.#take),
            make('details', { class: 'known-words' }, make('summary', {}, 'The words it knows'), this.#known),
            this.#results,
            this.#voice.root,
        );
        write(this.#known, this.#data.vocabulary.join(' '));
        // mdBook turns the page at arrow keys, and searches at a letter.
        widget.addEventListener('keydown', event => event.stopPropagation());
        setAttribute(this, 'data-ready', true);
        this.append(widget);
    }

    /** Shows what stands in the page. */
    #begin() {
        [this.#words, this.#off, this.#head] = [this.#data.sentences[0], [], this.#data.head];
        this.#show({ reading: this.#data.reading });
        this.#render();
    }

    /**
     * Reads a sentence with some heads switched off.
     * @param {string} words
     * @param {[number, number][]} off
     */
    #read(words, off) {
        if (!this.#engine) {
            return;
        }
        [this.#words, this.#off] = [words, off];
        this.#show(this.#engine.ask({ ask: 'read', words, off }));
        clearTimeout(this.#pause);
        this.#pause = setTimeout(() => {
            this.#tell();
            this.#voice.say(this.#problem?.sentence ?? this.#reading.spoken);
        }, PAUSE);
        this.#render();
    }

    /**
     * Takes a new reading; with a problem the last one stays, and is marked.
     * @param {ReadAnswer} answer
     */
    #show({ reading, problem }) {
        this.#problem = problem;
        if (reading) {
            const longer = reading.words.length !== this.#reading?.words.length;
            this.#reading = reading;
            this.#at = longer ? reading.words.length - 1 : this.#at;
            this.#pointed = null;
            this.#tell();
        }
    }

    /** Switches the chosen head off, or on again. */
    #turn() {
        const others = this.#off.filter(head => !same(head, this.#head));
        this.#read(this.#words, this.#switch.checked ? others : [...others, this.#head]);
    }

    #render() {
        const [reading, at, [layer, head]] = [this.#reading, this.#pointed ?? this.#at, this.#head];
        if (this.#field.value !== this.#words) {
            this.#field.value = this.#words;
        }
        const chosen = this.#data.sentences.indexOf(this.#words);
        this.#choose.value = chosen < 0 ? '' : String(chosen);
        const unchanged = chosen === 0 && this.#off.length === 0 && same(this.#head, this.#data.head);
        setAttribute(this.#reset, 'aria-disabled', unchanged && 'true');
        setAttribute(this.#all, 'aria-disabled', this.#off.length === 0 && 'true');
        this.#switch.checked = !this.#off.some(off => same(off, this.#head));
        write(this.#switchName, `Head ${layer + 1}.${head + 1} is switched on`);
        this.#maps.update(reading.maps, this.#head, this.#off);
        this.#arcs.update(reading.words, reading.maps[layer][head], at, this.#at, `${layer + 1}.${head + 1}`);
        this.#chances.update(reading.words[at], reading.before[at], reading.after?.[at], this.#off);
        setAttribute(this.#results, 'data-stale', this.#problem !== undefined);
    }

    /** Says what is wrong with the sentence, if it is. */
    #tell() {
        const problem = this.#problem;
        setAttribute(this.#field, 'aria-invalid', problem && 'true');
        write(this.#note, problem ? `${problem.sentence} Shown is the sentence from before.` : HINT);
        setAttribute(this.#note, 'data-mistake', problem !== undefined);
        this.#take.hidden = problem?.suggestion === undefined;
        write(this.#take, `Use “${problem?.suggestion ?? ''}”`);
    }

    #loadInSight() {
        const observer = new IntersectionObserver(async ([{ isIntersecting }]) => {
            if (isIntersecting) {
                observer.disconnect();
                await this.#load();
            }
        }, { rootMargin: '200px' });
        observer.observe(this);
        this.#leave.signal.addEventListener('abort', () => observer.disconnect());
    }

    async #load() {
        try {
            const { load, weights } = await import('./engine.js');
            const [engine, bytes] = await Promise.all([load('reader.wasm'), weights('patterns.safetensors')]);
            engine.keep(bytes);
            this.#engine = engine;
            setAttribute(this, 'data-model', 'ready');
            if (this.#field.value !== this.#words) {
                this.#read(this.#field.value, this.#off);
            }
        } catch (reason) {
            console.info(`The model could not be loaded: ${reason}`);
            [this.#field, this.#choose, this.#reset, this.#switch, this.#all]
                .forEach(control => { control.disabled = true; });
            write(this.#note, `${reason instanceof Error ? reason.message : ''} ${OFF}`);
            setAttribute(this.#note, 'data-mistake', true);
        }
    }
}

/**
 * @param {[number, number]} one
 * @param {[number, number]} other
 */
const same = (one, other) => one[0] === other[0] && one[1] === other[1];

customElements.define('pattern-reader', PatternReader);
