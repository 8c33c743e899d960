// Keeps time for a training: how many steps are due in each frame of the page,
// and when none are, as nobody looks. What a step is, the widget knows.

/** How long the steps of a frame may take, in milliseconds. */
const BUDGET = 8;

/** The longest time between frames that is made up for. */
const LONGEST_GAP = 100;

/** Where motion is unwelcome: so many steps at once, and so long between them. */
const JUMP = 25;
const JUMP_MS = 1000;

export class Pacer {
    playing = false;
    /** Steps a second. */
    speed = 40;
    #advance;
    /** Frame or timer that was asked for. */
    #frame = 0;
    #timer = 0;
    /** When the last frame was. */
    #last = 0;
    /** Steps that are due, with a fraction. */
    #due = 0;
    /** How many steps fit into a frame, as measured. */
    #fits = 1;
    #inSight = true;
    #observer;
    #still = matchMedia('(prefers-reduced-motion: reduce)');
    #look = () => this.#wake();

    /**
     * @param {Element} element  that must be in sight
     * @param {(steps: number) => boolean} advance  takes steps; whether more are to come
     */
    constructor(element, advance) {
        this.#advance = advance;
        this.#observer = new IntersectionObserver(([{ isIntersecting }]) => {
            this.#inSight = isIntersecting;
            this.#wake();
        });
        this.#observed = element;
    }

    #observed;

    start() {
        if (!this.playing) {
            this.playing = true;
            this.#due = 1;
            this.#observer.observe(this.#observed);
            document.addEventListener('visibilitychange', this.#look);
            this.#still.addEventListener('change', this.#look);
            this.#wake();
        }
    }

    stop() {
        this.playing = false;
        this.#observer.disconnect();
        document.removeEventListener('visibilitychange', this.#look);
        this.#still.removeEventListener('change', this.#look);
        this.#wake();
    }

    /** Asks for a frame if one is wanted, and for none if not. */
    #wake() {
        cancelAnimationFrame(this.#frame);
        clearTimeout(this.#timer);
        if (!this.playing || !this.#inSight || document.hidden) {
            return;
        }
        if (this.#still.matches) {
            this.#timer = setTimeout(() => this.#jump(), JUMP_MS);
        } else {
            this.#last = performance.now();
            this.#frame = requestAnimationFrame(now => this.#tick(now));
        }
    }

    #jump() {
        if (this.#advance(JUMP)) {
            this.#wake();
        }
    }

    /** @param {number} now */
    #tick(now) {
        const passed = Math.min(Math.max(now - this.#last, 0), LONGEST_GAP);
        this.#last = now;
        // What does not fit into the budget is not made up for.
        this.#due = Math.min(this.#due + passed / 1000 * this.speed, this.#fits);
        const steps = Math.floor(this.#due);
        if (steps > 0) {
            this.#due -= steps;
            const began = performance.now();
            if (!this.#advance(steps)) {
                return;
            }
            const each = (performance.now() - began) / steps;
            this.#fits = Math.max(1, Math.floor(BUDGET / each));
        }
        if (this.playing) {
            this.#frame = requestAnimationFrame(next => this.#tick(next));
        }
    }
}
