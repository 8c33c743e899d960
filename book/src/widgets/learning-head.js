// <learning-head>: a head that learns while the reader looks on. It lays out the
// controls, asks the engine for the run after so many steps, and shows it; every
// number and sentence comes from the engine.

import { button, freshId, icon, make, setAttribute, write } from './dom.js';
import { Pacer } from './learning-pacer.js';
import { AttentionView, CurveView, WeightsView } from './learning-views.js';
import { Voice } from './voice.js';

/** @import { Engine, TrainAnswer, TrainData, TrainRun } from './types.d.ts' */

const HINT = 'A change of the task, the seed or the rate begins anew. Arrow keys change a number.';
const STALE = 'Below is the run from before.';
const OFF = 'The head can’t learn here, as the engine (WebAssembly) did not load. '
    + 'Step shows the training of this page at three moments.';

/** How long a reader stops before a mistake is spoken, in milliseconds. */
const PAUSE = 700;

/** Speeds, in steps a second. */
const SPEEDS = /** @type {const} */ ([['10', 'slow'], ['40', 'normal'], ['Infinity', 'fast']]);

/** What an arrow key adds to a field, in tenths. */
const TENTHS = { seed: 10, rate: 1 };

class LearningHead extends HTMLElement {
    /** @type {TrainData} */
    #data = /** @type {any} */ (null);
    /** @type {TrainRun} */
    #run = /** @type {any} */ (null);
    /** @type {TrainAnswer['problems']} */
    #problems = [];
    /** @type {Engine | null} */
    #engine = null;
    /** Whether it is known that the engine cannot be loaded. */
    #off = false;
    #voice = new Voice();
    #leave = new AbortController();
    #pause = 0;

    #task = make('select', { name: 'task', 'aria-label': 'Task' });
    #fields = { seed: this.#field('seed', 'numeric'), rate: this.#field('rate', 'decimal') };
    #note = make('p', { class: 'learn-note', id: freshId() }, HINT);
    #about = make('p', { class: 'learn-about' });
    #word = make('span', {}, 'Play');
    #play = make('button', { type: 'button', class: 'play' }, icon('play'), this.#word);
    #step = button('forward', 'Step', () => this.#once(), { shown: true });
    #reset = button('reset', 'Reset', () => this.#begin(), { shown: true });
    #speed = make('select', { 'aria-label': 'Speed' }, ...SPEEDS.map(([value, name]) => make('option', { value, selected: name === 'normal' }, name)));
    #spoken = make('p', { class: 'learn-spoken' });
    #results = make('div', { class: 'learn-results' });
    #curve = new CurveView();
    #attention = new AttentionView();
    /** @type {WeightsView[]} */
    #weights = [];
    #pacer = new Pacer(this, steps => this.#advance(steps));

    connectedCallback() {
        const data = this.querySelector(':scope > script[type="application/json"]');
        if (!data || this.#run) {
            return;
        }
        this.#data = JSON.parse(data.textContent ?? '');
        this.#run = this.#data.tasks[0].stages[0];
        this.#build();
        this.#render();
        this.#loadInSight();
    }

    disconnectedCallback() {
        clearTimeout(this.#pause);
        this.#pacer.stop();
        this.#leave.abort();
    }

    #build() {
        const { words, positions, tasks, seed, rate } = this.#data;
        this.#task.append(...tasks.map(({ name, title }) => make('option', { value: name }, title)));
        this.#task.addEventListener('change', () => this.#begin());
        this.#fields.seed.value = seed;
        this.#fields.rate.value = rate;
        this.#play.addEventListener('click', () => (this.#pacer.playing ? this.#halt() : this.#start()));
        this.#speed.addEventListener('change', () => { this.#pacer.speed = Number(this.#speed.value); });
        const rows = [...words, ...positions];
        this.#weights = this.#run.matrices.map(({ name, shown }) =>
            new WeightsView(name, rows, name === 'W_V' ? words : shown[0].map((_, at) => String(at + 1))));
        const widget = make(
            'div',
            { class: 'learn-widget' },
            make('div', { class: 'learn-fields', role: 'group', 'aria-label': 'What is learned' },
                make('label', {}, make('span', {}, 'Task'), this.#task),
                make('label', {}, make('span', {}, 'Seed'), this.#fields.seed),
                make('label', {}, make('span', {}, 'Learning rate'), this.#fields.rate)),
            this.#note,
            make('div', { class: 'learn-row', role: 'group', 'aria-label': 'Training' },
                this.#play, this.#step, this.#reset, this.#speed),
            this.#results,
            this.#voice.root,
        );
        this.#results.append(
            this.#spoken,
            this.#curve.root,
            make('div', { class: 'learn-attention' }, this.#about, this.#attention.root),
            make('div', {},
                make('p', { class: 'learn-title' }, 'The weights'),
                make('p', { class: 'learn-legend' }, 'One row a word or position. Striped: below 0.'),
                make('div', { class: 'learn-weights' }, ...this.#weights.map(({ root }) => root))),
        );
        // mdBook turns the page at arrow keys, and searches at a letter.
        widget.addEventListener('keydown', event => event.stopPropagation());
        setAttribute(this, 'data-ready', true);
        this.append(widget);
    }

    /**
     * @param {'seed' | 'rate'} name
     * @param {string} inputmode
     */
    #field(name, inputmode) {
        const field = make('input', { name, inputmode, autocomplete: 'off', enterkeyhint: 'done' });
        field.addEventListener('input', () => this.#begin());
        field.addEventListener('focus', () => this.#tell());
        field.addEventListener('keydown', event => {
            const times = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
            if (times !== undefined) {
                event.preventDefault();
                const answer = this.#engine?.ask({ ask: 'step', text: field.value, by: times * TENTHS[name] });
                if (answer && 'text' in answer) {
                    field.value = answer.text;
                    this.#begin();
                }
            }
        });
        return field;
    }

    /** Asks for the run after so many steps; whether there is one. @param {number} steps */
    #ask(steps) {
        if (!this.#engine) {
            return false;
        }
        const { problems, run } = this.#engine.ask({
            ask: 'train', task: this.#stage().name, seed: this.#fields.seed.value, rate: this.#fields.rate.value, steps,
        });
        this.#problems = problems;
        this.#run = run ?? this.#run;
        return run !== undefined;
    }

    #stage() {
        return this.#data.tasks[Math.max(0, this.#task.selectedIndex)];
    }

    /** Before the first step of what is chosen now. */
    #begin() {
        this.#pacer.stop();
        if (this.#off) {
            this.#run = this.#stage().stages[0];
        } else {
            this.#ask(0);
        }
        this.#render();
        this.#sayLater();
    }

    async #start() {
        await this.#load();
        if (this.#problems.length > 0 || !this.#engine) {
            this.#sayLater();
            return;
        }
        if (this.#run.state !== 'learning') {
            this.#ask(0);
        }
        this.#pacer.speed = Number(this.#speed.value);
        this.#pacer.start();
        this.#voice.say('Learning.');
        this.#render();
    }

    #halt() {
        this.#pacer.stop();
        this.#render();
        this.#voice.say(this.#run.spoken);
    }

    /** One step by hand; without the engine, the next moment of this page. */
    async #once() {
        this.#pacer.stop();
        await this.#load();
        if (this.#off) {
            const { stages } = this.#stage();
            this.#run = stages[(stages.indexOf(this.#run) + 1) % stages.length];
        } else {
            this.#ask(this.#run.steps + 1);
        }
        this.#render();
        this.#sayLater();
    }

    /**
     * Some steps on, while playing; whether there are more to come.
     * @param {number} steps
     */
    #advance(steps) {
        const goesOn = this.#ask(this.#run.steps + steps) && this.#run.state === 'learning';
        if (!goesOn) {
            this.#pacer.stop();
            this.#voice.say(this.#run.spoken);
        }
        this.#render();
        return goesOn;
    }

    #sayLater() {
        clearTimeout(this.#pause);
        this.#pause = setTimeout(() => this.#voice.say(this.#problems[0]?.sentence ?? this.#run.spoken), PAUSE);
    }

    #render() {
        const { playing } = this.#pacer;
        const run = this.#run;
        write(this.#word, playing ? 'Pause' : 'Play');
        if (!this.#play.querySelector(playing ? '.icon-pause' : '.icon-play')) {
            this.#play.firstElementChild?.replaceWith(icon(playing ? 'pause' : 'play'));
        }
        write(this.#about, this.#stage().about);
        write(this.#spoken, run.spoken);
        setAttribute(this, 'data-state', playing ? 'playing' : run.state);
        setAttribute(this.#results, 'data-end', run.state === 'learning' ? false : run.state);
        this.#curve.show(run);
        this.#attention.show(run);
        run.matrices.forEach((matrix, at) => this.#weights[at].show(matrix, !playing));
        this.#tell();
    }

    /** Marks the fields that cannot be used, and says of one what is wrong. */
    #tell() {
        const problems = this.#problems;
        for (const [name, field] of Object.entries(this.#fields)) {
            setAttribute(field, 'aria-describedby', this.#note.id);
            setAttribute(field, 'aria-invalid', problems.some(problem => problem.field === name) && 'true');
        }
        const here = problems.find(({ field }) => this.#fields[field] === document.activeElement) ?? problems[0];
        const label = here && this.#fields[here.field].parentElement?.firstElementChild?.textContent;
        write(this.#note, here ? `${label}: ${here.sentence} ${STALE}` : this.#off ? OFF : HINT);
        setAttribute(this.#note, 'data-mistake', here !== undefined || this.#off);
        setAttribute(this.#results, 'data-stale', here !== undefined);
        const ended = this.#run.state !== 'learning' && !this.#off;
        setAttribute(this.#play, 'aria-disabled', here !== undefined && 'true');
        setAttribute(this.#step, 'aria-disabled', (here !== undefined || ended) && 'true');
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
        if (this.#engine || this.#off) {
            return;
        }
        try {
            const engine = await (await import('./engine.js')).load('models.wasm');
            if (!this.#engine) {
                this.#engine = engine;
                // What was changed meanwhile.
                this.#begin();
                clearTimeout(this.#pause);
            }
        } catch (reason) {
            console.info(`The widget's engine could not be loaded: ${reason}`);
            this.#off = true;
            this.#fields.seed.value = this.#data.seed;
            this.#fields.rate.value = this.#data.rate;
            this.#run = this.#stage().stages[0];
            for (const control of [...Object.values(this.#fields), this.#play, this.#speed]) {
                control.disabled = true;
            }
            this.#render();
        }
    }
}

customElements.define('learning-head', LearningHead);
