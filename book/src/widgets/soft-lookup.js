// <soft-lookup>: a query that is moved among keys, a temperature from exact lookup
// to plain average, and the weights and the mixed value that follow. It wires the
// parts together; all numbers come from the engine.

import { Bars } from './bars.js';
import { showLines } from './derivation.js';
import { button, make, setAttribute, write } from './dom.js';
import { Plane } from './plane.js';
import { Voice } from './voice.js';

/** @import { Engine, LookupAnswer, LookupData, LookupState } from './types.d.ts' */

const OFF = 'The query can’t be moved here, as the engine (WebAssembly) did not load. '
    + 'The numbers are those of this page.';

class SoftLookup extends HTMLElement {
    /** @type {LookupState} */
    #first = /** @type {any} */ (null);
    /** @type {LookupState} */
    #state = /** @type {any} */ (null);
    /** @type {LookupAnswer} */
    #answer = /** @type {any} */ (null);
    /** @type {Engine | null} */
    #engine = null;
    /** What is explained. @type {{ key: number } | { fact: number } | null} */
    #asked = { fact: 0 };

    #voice = new Voice();
    /** @type {Plane} */
    #plane = /** @type {any} */ (null);
    /** @type {Bars} */
    #bars = /** @type {any} */ (null);
    /** @type {HTMLInputElement[]} */
    #fields = [];
    #slider = make('input', { type: 'range', min: 0, max: 1000, step: 10, 'aria-label': 'Temperature' });
    #temperature = make('output', { class: 'temperature' });
    #sentence = make('p', { class: 'temperature-sentence' });
    #note = make('p', { class: 'notice', 'data-kind': 'mistake', hidden: true });
    #how = make('div', { class: 'how', role: 'region', 'aria-label': 'How this was computed', tabindex: 0 });
    #reset = button('reset', 'Reset', () => this.#change(this.#first), { shown: true });
    #leave = new AbortController();

    connectedCallback() {
        const data = this.querySelector(':scope > script[type="application/json"]');
        if (!data || this.#state) {
            return;
        }
        /** @type {LookupData} */
        const { state, answer } = JSON.parse(data.textContent ?? '');
        [this.#first, this.#state, this.#answer] = [state, state, answer];
        this.#build();
        this.#render();
        this.#loadInSight();
    }

    disconnectedCallback() {
        this.#leave.abort();
    }

    #build() {
        this.#plane = new Plane(this.#state, {
            move: (spot, done) => this.#aim(this.#engine?.ask({ ask: 'point', ...spot }), done),
            nudge: (x, y) => this.#aim(this.#engine?.ask({ ask: 'nudge', query: this.#state.query, x, y }), true),
        });
        this.#bars = new Bars(this.#state, asked => {
            this.#asked = asked;
            this.#render();
        });
        this.#fields = this.#state.axes.map((_, axis) => this.#field(axis));
        this.#slider.addEventListener('input', () =>
            this.#change({ ...this.#state, temperature: this.#slider.valueAsNumber }));
        const widget = make(
            'div',
            { class: 'lookup-widget' },
            this.#plane.root,
            make('div', { class: 'query-row', role: 'group', 'aria-label': 'The query' },
                make('span', { class: 'query' }, 'Query'),
                ...this.#fields.map((field, axis) => make('label', {}, this.#state.axes[axis], field))),
            this.#bars.root,
            make('div', { class: 'temperature-row' },
                make('span', { class: 'name', 'aria-hidden': 'true' }, 'Temperature'), this.#temperature, this.#reset,
                this.#slider,
                make('span', { class: 'ends', 'aria-hidden': 'true' }, make('span', {}, 'exact lookup'), make('span', {}, 'plain average')),
                this.#sentence),
            this.#note,
            this.#how,
            this.#voice.root,
        );
        // mdBook turns the page at arrow keys, and searches at a letter.
        widget.addEventListener('keydown', event => event.stopPropagation());
        setAttribute(this, 'data-ready', true);
        this.append(widget);
    }

    /**
     * A field for one number of the query.
     * @param {number} axis
     */
    #field(axis) {
        const field = make('input', { autocomplete: 'off', enterkeyhint: 'done' });
        field.addEventListener('input', () => this.#type(axis, this.#engine?.ask({ ask: 'number', text: field.value }), field));
        field.addEventListener('blur', () => this.#render());
        field.addEventListener('keydown', ({ key }) => {
            const by = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[key];
            if (by !== undefined) {
                const answer = this.#engine?.ask({ ask: 'step', text: field.value, by });
                this.#type(axis, answer, field);
                field.value = this.#state.query[axis];
            } else if (key === 'Enter' || key === 'Escape') {
                this.#render();
                field.value = this.#state.query[axis];
            }
        });
        return field;
    }

    /**
     * @param {number} axis
     * @param {{ text: string } | { sentence: string } | undefined} answer
     * @param {HTMLInputElement} field
     */
    #type(axis, answer, field) {
        const sentence = answer && 'sentence' in answer ? answer.sentence : '';
        setAttribute(field, 'aria-invalid', sentence !== '' && 'true');
        write(this.#note, sentence);
        this.#note.hidden = sentence === '';
        if (sentence) {
            this.#voice.say(sentence);
        } else if (answer && 'text' in answer) {
            const [x, y] = this.#state.query;
            this.#change({ ...this.#state, query: axis === 0 ? [answer.text, y] : [x, answer.text] });
        }
    }

    /**
     * @param {{ query: [string, string] } | { sentence: string } | undefined} answer
     * @param {boolean} speak
     */
    #aim(answer, speak) {
        if (answer && 'query' in answer) {
            this.#change({ ...this.#state, query: answer.query });
            if (speak) {
                this.#voice.say(this.#answer.spoken);
            }
        }
    }

    /** @param {LookupState} state */
    #change(state) {
        if (this.#engine) {
            this.#state = state;
            this.#answer = this.#engine.ask({ ask: 'lookup', state });
        }
        this.#render();
    }

    #render() {
        const [state, answer] = [this.#state, this.#answer];
        this.#plane.update(answer, state);
        this.#bars.update(answer, this.#asked);
        this.#fields.forEach((field, axis) => {
            if (field !== document.activeElement) {
                field.value = state.query[axis];
                setAttribute(field, 'aria-invalid', undefined);
            }
        });
        this.#slider.value = String(state.temperature);
        setAttribute(this.#slider, 'aria-valuetext', `${answer.temperature.shown}, ${answer.temperature.sentence}`);
        write(this.#temperature, answer.temperature.shown);
        write(this.#sentence, answer.temperature.sentence);
        setAttribute(this.#reset, 'aria-disabled', JSON.stringify(state) === JSON.stringify(this.#first) && 'true');
        this.#explain();
    }

    #explain() {
        const [asked, { keys, mixed }] = [this.#asked, this.#answer];
        if (asked && 'key' in asked) {
            this.#how.replaceChildren(make('p', { class: 'title' }, `Score of the query with ${keys[asked.key].name}`), ...showLines(keys[asked.key].how));
        } else if (asked) {
            this.#how.replaceChildren(make('p', { class: 'title' }, `How many ${mixed[asked.fact].fact}: each value, times its weight`), ...showLines(mixed[asked.fact].how));
        }
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
            this.#engine = await (await import('./engine.js')).load('head.wasm');
        } catch (reason) {
            console.info(`The widget's engine could not be loaded: ${reason}`);
            this.#plane.freeze();
            [...this.#fields, this.#slider, this.#reset].forEach(control => { control.disabled = true; });
            write(this.#note, OFF);
            this.#note.hidden = false;
        }
    }
}

customElements.define('soft-lookup', SoftLookup);
