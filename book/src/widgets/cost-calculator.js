// <cost-calculator>: the sizes of a model and of a text, and what they cost. It
// lays out fields and tables; every number and sentence comes from the engine.

import { button, freshId, make, setAttribute, write } from './dom.js';
import { Voice } from './voice.js';

/** @import { CostAnswer, CostData, CostSize, CostState, Engine } from './types.d.ts' */

const OFF = 'The sizes can’t be changed here, as the engine (WebAssembly) did not load. '
    + 'The numbers are those of this page.';
const HINT = 'Arrow keys double and halve a size. An empty one follows from the others.';
const STALE = 'The counts below are those from before.';

/** How long a reader stops before the counts are spoken, in milliseconds. */
const PAUSE = 700;

/** @returns {[CostSize, ...(string | Node)[]][]} */
const sizes = () => [
    ['tokens', 'Tokens ', make('i', {}, 'T')],
    ['layers', 'Layers'],
    ['d_model', 'Model width ', make('i', {}, 'd', make('sub', {}, 'model'))],
    ['heads', 'Heads ', make('i', {}, 'H')],
    ['d', 'Head size ', make('i', {}, 'd')],
    ['key_value_heads', 'Key heads'],
    ['feed_forward', 'Feed-forward width'],
    ['vocabulary', 'Vocabulary'],
];

/** What is chosen from a list: a name, and each value with how it is called. */
const CHOICES = /** @type {const} */ ([
    ['bytes', 'Bytes per number', [['4', '4 (single)'], ['2', '2 (half)'], ['1', '1 (8 bits)']]],
    ['feed_forward_matrices', 'Feed-forward matrices', [['2', '2'], ['3', '3 (gate)']]],
    ['tied', 'Output matrix', [['false', 'its own'], ['true', 'embedding']]],
]);

class CostCalculator extends HTMLElement {
    /** @type {CostData} */
    #data = /** @type {any} */ (null);
    /** @type {CostState} */
    #state = /** @type {any} */ (null);
    /** The last that had no problems. @type {CostAnswer} */
    #answer = /** @type {any} */ (null);
    /** @type {CostAnswer['problems']} */
    #problems = [];
    /** @type {Engine | null} */
    #engine = null;
    /** The size changed last. @type {CostSize} */
    #last = 'tokens';

    #voice = new Voice();
    /** @type {Map<CostSize, HTMLInputElement>} */
    #fields = new Map();
    /** @type {Map<'bytes' | 'feed_forward_matrices' | 'tied', HTMLSelectElement>} */
    #choices = new Map();
    #preset = make('select', { 'aria-label': 'Model' });
    #reset = button('reset', 'Reset', () => this.#change(this.#data.presets[0].state), { shown: true });
    #halve = make('button', { type: 'button', 'aria-label': 'T ÷ 2: half the tokens' }, 'T ÷ 2');
    #double = make('button', { type: 'button', 'aria-label': 'T × 2: twice the tokens' }, 'T × 2');
    #note = make('p', { class: 'cost-note', id: freshId() }, HINT);
    #sentences = make('ul', { class: 'cost-sentences' });
    #results = make('div', { class: 'cost-results' });
    /** The cells of each table, in order. @type {HTMLTableCellElement[]} */
    #cells = [];
    #leave = new AbortController();
    #pause = 0;

    connectedCallback() {
        const data = this.querySelector(':scope > script[type="application/json"]');
        if (!data || this.#state) {
            return;
        }
        this.#data = JSON.parse(data.textContent ?? '');
        this.#state = this.#data.presets[0].state;
        this.#answer = this.#data.answer;
        this.#build();
        this.#render();
        this.#loadInSight();
    }

    disconnectedCallback() {
        clearTimeout(this.#pause);
        this.#leave.abort();
    }

    #build() {
        const own = make('option', { value: '' }, 'sizes of your own');
        this.#preset.append(...this.#data.presets.map(({ title }, at) => make('option', { value: at }, title)), own);
        this.#preset.addEventListener('change', () => {
            const preset = this.#data.presets[Number(this.#preset.value)];
            this.#change(this.#preset.value !== '' && preset ? preset.state : this.#state);
        });
        this.#halve.addEventListener('click', () => this.#step('tokens', -1));
        this.#double.addEventListener('click', () => this.#step('tokens', 1));
        const widget = make(
            'div',
            { class: 'cost-widget' },
            make('div', { class: 'cost-row' }, this.#preset, this.#halve, this.#double, this.#reset),
            make('div', { class: 'cost-fields', role: 'group', 'aria-label': 'Sizes' },
                ...sizes().map(([name, ...label]) => make('label', {}, make('span', {}, ...label), this.#field(name))),
                ...CHOICES.map(([name, label, values]) => make('label', {}, make('span', {}, label), this.#choice(name, values)))),
            this.#note,
            this.#results,
            this.#voice.root,
        );
        this.#results.append(...this.#answer.tables.map(table => this.#table(table)), this.#sentences);
        this.#sentences.append(...this.#answer.sentences.map(() => make('li')));
        // mdBook turns the page at arrow keys, and searches at a letter.
        widget.addEventListener('keydown', event => event.stopPropagation());
        setAttribute(this, 'data-ready', true);
        this.append(widget);
    }

    /** @param {CostSize} name */
    #field(name) {
        const field = make('input', {
            name, autocomplete: 'off', inputmode: 'numeric', enterkeyhint: 'done', 'aria-describedby': this.#note.id,
        });
        field.addEventListener('input', () => this.#type(name, field.value));
        field.addEventListener('focus', () => this.#tell());
        field.addEventListener('keydown', event => {
            const times = { ArrowUp: 1, ArrowDown: -1, PageUp: 4, PageDown: -4 }[event.key];
            if (times !== undefined) {
                event.preventDefault();
                this.#step(name, times);
            }
        });
        this.#fields.set(name, field);
        return field;
    }

    /**
     * @param {'bytes' | 'feed_forward_matrices' | 'tied'} name
     * @param {readonly (readonly [string, string])[]} values
     */
    #choice(name, values) {
        const select = make('select', { name }, ...values.map(([value, text]) => make('option', { value }, text)));
        select.addEventListener('change', () =>
            this.#change({ ...this.#state, [name]: name === 'tied' ? select.value === 'true' : select.value }));
        this.#choices.set(name, select);
        return select;
    }

    /** @param {CostAnswer['tables'][number]} table */
    #table({ name, title, columns, rows }) {
        const body = rows.map(row => {
            const cells = row.cells.map(() => make('td'));
            this.#cells.push(...cells);
            return make('tr', {}, make('th', { scope: 'row' }, row.name), ...cells);
        });
        const head = columns.map(column => make('th', { scope: 'col' }, column));
        return make('div', { class: 'cost-table', 'data-name': name, role: 'region', 'aria-label': title, tabindex: 0 },
            make('table', {}, make('caption', {}, title),
                make('thead', {}, make('tr', {}, make('td'), ...head)), make('tbody', {}, ...body)));
    }

    /**
     * @param {CostSize} name
     * @param {string} text
     */
    #type(name, text) {
        this.#last = name;
        this.#change({ ...this.#state, [name]: text });
    }

    /**
     * Doubles a size, or halves it.
     * @param {CostSize} name
     * @param {number} times
     */
    #step(name, times) {
        const field = /** @type {HTMLInputElement} */ (this.#fields.get(name));
        const answer = this.#engine?.ask({ ask: 'double', text: field.value || field.placeholder, times });
        if (answer && 'text' in answer) {
            this.#type(name, answer.text);
        }
    }

    /** @param {CostState} state */
    #change(state) {
        this.#state = state;
        if (this.#engine) {
            const answer = this.#engine.ask({ ask: 'cost', state });
            this.#problems = answer.problems;
            // With problems, the last counts stay, and are marked.
            this.#answer = answer.problems.length > 0 ? { ...this.#answer, follows: answer.follows } : answer;
            clearTimeout(this.#pause);
            this.#pause = setTimeout(() => this.#voice.say(answer.problems[0]?.sentence ?? answer.spoken), PAUSE);
        }
        this.#render();
    }

    #render() {
        const [state, answer] = [this.#state, this.#answer];
        for (const [name, field] of this.#fields) {
            if (field.value !== state[name]) {
                field.value = state[name];
            }
            field.placeholder = name in answer.follows ? answer.follows[/** @type {'d'} */ (name)] : '';
        }
        for (const [name, select] of this.#choices) {
            select.value = String(state[name]);
        }
        const same = this.#data.presets.findIndex(preset => JSON.stringify(preset.state) === JSON.stringify(state));
        this.#preset.value = same < 0 ? '' : String(same);
        setAttribute(this.#reset, 'aria-disabled', same === 0 && 'true');
        answer.tables.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells)).forEach(({ shown, exact }, at) => {
            write(this.#cells[at], shown);
            setAttribute(this.#cells[at], 'title', exact);
        });
        answer.sentences.forEach((sentence, at) => write(this.#sentences.children[at], sentence));
        this.#tell();
    }

    /** Marks the sizes that cannot be used, and says of one what is wrong. */
    #tell() {
        const problems = this.#problems.map(({ field = this.#last, sentence }) => ({ field, sentence }));
        for (const [name, field] of this.#fields) {
            setAttribute(field, 'aria-invalid', problems.some(problem => problem.field === name) && 'true');
        }
        const here = problems.find(({ field }) => this.#fields.get(field) === document.activeElement) ?? problems[0];
        const label = here && this.#fields.get(here.field)?.parentElement?.firstElementChild?.textContent;
        write(this.#note, here ? `${label}: ${here.sentence} ${STALE}` : HINT);
        setAttribute(this.#note, 'data-mistake', here !== undefined);
        setAttribute(this.#results, 'data-stale', here !== undefined);
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
            this.#engine = await (await import('./engine.js')).load('models.wasm');
            if (this.#state !== this.#data.presets[0].state) {
                this.#change(this.#state);
            }
        } catch (reason) {
            console.info(`The widget's engine could not be loaded: ${reason}`);
            this.#state = this.#data.presets[0].state;
            this.#render();
            [...this.#fields.values(), ...this.#choices.values(), this.#preset, this.#halve, this.#double, this.#reset]
                .forEach(control => { control.disabled = true; });
            write(this.#note, OFF);
            setAttribute(this.#note, 'data-mistake', true);
        }
    }
}

customElements.define('cost-calculator', CostCalculator);
