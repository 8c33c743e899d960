// A plane with arrows on it, one of which can be moved: by pointer, or by arrow
// keys once it has the focus. It knows places from 0 to 1, and no numbers.

import { make, setAttribute, write } from './dom.js';

/** @import { LookupAnswer, LookupState, Spot } from './types.d.ts' */

const SVG = 'http://www.w3.org/2000/svg';

/** Which way the keys go, in steps. */
const WAYS = /** @type {Record<string, [number, number]>} */ ({
    ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
});

export class Plane {
    #square = make('div', { class: 'square' });
    #axes = [arrow(), arrow()];
    #arrows;
    #dots;
    #handle = make('div', { class: 'handle', role: 'application', tabindex: 0, 'aria-roledescription': 'point on a plane' });
    #listener;

    /**
     * @param {LookupState} state
     * @param {{ move: (to: Spot, done: boolean) => void, nudge: (x: number, y: number) => void }} listener
     */
    constructor(state, listener) {
        this.#listener = listener;
        this.#arrows = [...state.names.map(() => arrow()), arrow()];
        this.#dots = state.names.map(name => make('div', { class: 'dot' }, make('span', {}, name)));
        const drawing = document.createElementNS(SVG, 'svg');
        drawing.setAttribute('viewBox', '0 0 1 1');
        drawing.setAttribute('preserveAspectRatio', 'none');
        drawing.setAttribute('aria-hidden', 'true');
        this.#axes.forEach(axis => axis.classList.add('axis'));
        this.#arrows.at(-1)?.classList.add('asked');
        drawing.append(...this.#axes, ...this.#arrows);
        this.#handle.append(make('span', {}, 'query'));
        this.#square.append(drawing, ...this.#dots, this.#handle);
        this.root = make(
            'div',
            { class: 'plane' },
            this.#square,
            make('span', { class: 'axis-x', 'aria-hidden': 'true' }, `${state.axes[0]} →`),
            make('span', { class: 'axis-y', 'aria-hidden': 'true' }, `${state.axes[1]} →`),
        );
        this.#listen();
    }

    /**
     * @param {LookupAnswer} answer
     * @param {LookupState} state
     */
    update({ origin, keys, query }, { axes }) {
        draw(this.#axes[0], { x: 0, y: origin.y }, { x: 1, y: origin.y });
        draw(this.#axes[1], { x: origin.x, y: 0 }, { x: origin.x, y: 1 });
        keys.forEach((key, at) => {
            draw(this.#arrows[at], origin, key);
            put(this.#dots[at], key);
            this.#dots[at].style.setProperty('--share', String(key.share));
        });
        draw(this.#arrows[keys.length], origin, query);
        put(this.#handle, query);
        const [x, y] = query.numbers;
        setAttribute(this.#handle, 'aria-label', `Query: ${axes[0]} ${x.shown}, ${axes[1]} ${y.shown}. Arrow keys move it.`);
    }

    /** Says that the query can't be moved. */
    freeze() {
        this.#handle.removeAttribute('tabindex');
        setAttribute(this.#handle, 'role', 'img');
        write(/** @type {Element} */ (this.#handle.firstElementChild), 'query');
    }

    #listen() {
        this.#square.addEventListener('pointerdown', down => {
            // A finger beside the handle scrolls the page; a tap there still counts.
            if (down.button !== 0 || (down.pointerType !== 'mouse' && !this.#handle.contains(/** @type {Node} */ (down.target)))) {
                return;
            }
            down.preventDefault();
            this.#handle.focus({ preventScroll: true });
            this.#square.setPointerCapture(down.pointerId);
            const stop = new AbortController();
            this.#square.addEventListener('pointermove', move => this.#listener.move(this.#spot(move), false), { signal: stop.signal });
            for (const end of ['pointerup', 'pointercancel']) {
                this.#square.addEventListener(end, () => stop.abort(), { signal: stop.signal });
            }
        });
        this.#square.addEventListener('click', event => this.#listener.move(this.#spot(event), true));
        this.#handle.addEventListener('keydown', event => {
            const way = WAYS[event.key];
            if (way) {
                event.preventDefault();
                const far = event.shiftKey ? 5 : 1;
                this.#listener.nudge(way[0] * far, way[1] * far);
            }
        });
    }

    /**
     * Where an event is on the plane.
     * @param {MouseEvent} event
     * @returns {Spot}
     */
    #spot({ clientX, clientY }) {
        const { left, bottom, width, height } = this.#square.getBoundingClientRect();
        return { x: (clientX - left) / width, y: (bottom - clientY) / height };
    }
}

const arrow = () => document.createElementNS(SVG, 'line');

/**
 * @param {SVGLineElement} line
 * @param {Spot} from
 * @param {Spot} to
 */
function draw(line, from, to) {
    setAttribute(line, 'x1', from.x);
    setAttribute(line, 'y1', from.y);
    setAttribute(line, 'x2', to.x);
    setAttribute(line, 'y2', to.y);
}

/**
 * @param {HTMLElement} element
 * @param {Spot} spot
 */
function put(element, { x, y }) {
    element.style.setProperty('--x', String(x));
    element.style.setProperty('--y', String(y));
}
