// Play, pause, one step forward or back, the speed, and the slider that shows and
// sets the position. It keeps time; what a position means, the widget knows.

import { button, icon, make, setAttribute } from './dom.js';

/** How long a step is looked at, at normal speed. */
const STEP_MS = 3000;

/** The speeds: name, and how many steps in the time of one. */
const SPEEDS = /** @type {const} */ ([['½×', 0.5], ['1×', 1], ['2×', 2]]);

export class Player {
    position;
    #begin;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    #speed = 1;
    #names;
    #moved;
    #play;
    #word = make('span', {}, 'Play');
    #slider;
    #back;
    #forward;

    /**
     * @param {{ name: string, tick?: string }[]} steps  their names, and shorter ones
     * @param {number} begin  where a play begins that begins anew; unless it is 0, also where all begins
     * @param {(position: number, how: 'forward' | 'jump' | 'drag') => void} moved
     */
    constructor(steps, begin, moved) {
        const names = steps.map(({ name }) => name);
        this.#names = names;
        this.#begin = begin;
        this.#moved = moved;
        this.position = begin || names.length;
        this.#play = make('button', { type: 'button', class: 'play' }, icon('play'), this.#word);
        this.#play.addEventListener('click', () => (this.playing ? this.pause() : this.play()));
        this.#back = button('back', 'One step back', () => this.#byHand(this.position - 1, 'jump'));
        this.#forward = button('forward', 'One step forward', () => this.#byHand(this.position + 1, 'forward'));
        this.#slider = make('input', { type: 'range', min: 0, max: names.length, step: 1, 'aria-label': 'Step' });
        this.#slider.addEventListener('input', () => this.#byHand(Number(this.#slider.value), 'drag'));
        const ticks = make('span', { class: 'ticks', 'aria-hidden': 'true' });
        ticks.append(...['input', ...steps.map(({ name, tick }) => tick ?? name)].map((name, at) =>
            make('span', { class: begin > 0 && at > begin ? 'back' : undefined }, name.toLowerCase())));
        this.root = make(
            'div',
            { class: `player${begin > 0 ? ' and-back' : ''}`, role: 'group', 'aria-label': 'Play the steps', style: `--stops: ${names.length + 1}` },
            this.#back, this.#play, this.#forward,
            make('span', { class: 'track' }, this.#slider, ticks),
            this.#speeds(),
        );
        this.#show();
    }

    get playing() {
        return this.#timer !== undefined;
    }

    play() {
        this.#go(this.position === this.#names.length ? this.#begin : this.position + 1, 'forward');
        this.#wait();
    }

    pause() {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        this.#show();
    }

    /**
     * Goes to a position without telling anyone.
     * @param {number} position
     */
    set(position) {
        this.pause();
        this.position = position;
        this.#show();
    }

    #wait() {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
            this.#go(this.position + 1, 'forward');
            if (this.position < this.#names.length) {
                this.#wait();
            } else {
                this.pause();
            }
        }, (this.position === this.#begin ? 0.4 : 1) * STEP_MS / this.#speed);
        this.#show();
    }

    /**
     * @param {number} position
     * @param {'forward' | 'jump' | 'drag'} how
     */
    #byHand(position, how) {
        this.pause();
        this.#go(position, how);
    }

    /**
     * @param {number} position
     * @param {'forward' | 'jump' | 'drag'} how
     */
    #go(position, how) {
        this.position = Math.max(0, Math.min(position, this.#names.length));
        this.#show();
        this.#moved(this.position, how);
    }

    #show() {
        const { position, playing } = this;
        const last = this.#names.length;
        this.#slider.value = String(position);
        setAttribute(this.#slider, 'aria-valuetext', position === 0 ? 'the input' : `${position} of ${last}: ${this.#names[position - 1]}`);
        this.root.style.setProperty('--position', String(position));
        this.root.querySelectorAll('.ticks > *').forEach((tick, at) => tick.classList.toggle('now', at === position));
        this.#word.textContent = playing ? 'Pause' : 'Play';
        this.#play.firstElementChild?.replaceWith(icon(playing ? 'pause' : 'play'));
        setAttribute(this.#back, 'aria-disabled', position === 0 && 'true');
        setAttribute(this.#forward, 'aria-disabled', position === last && 'true');
    }

    #speeds() {
        const select = make('select', { 'aria-label': 'Speed', class: 'speed', title: 'Speed' });
        select.append(...SPEEDS.map(([name, speed]) => make('option', { value: speed, selected: speed === 1 }, name)));
        select.addEventListener('change', () => {
            this.#speed = Number(select.value);
            this.root.dispatchEvent(new CustomEvent('speed', { detail: this.#speed, bubbles: true }));
            if (this.playing) {
                this.#wait();
            }
        });
        return select;
    }
}
