// Changing a number where it stands: an input field over its cell, and dragging.
// What is typed goes on as typed; stepping by tenths is left to the engine too.

import { make } from './dom.js';

/** How far the pointer goes for a step, and before it counts as a drag. */
const STEP_PX = 8;
const SLACK_PX = 5;

/**
 * What an editor needs.
 * @typedef {object} Work
 * @property {string} text  what stands there now
 * @property {string} name  of the cell, for screen readers
 * @property {(text: string) => void} change
 * @property {(text: string, by: number) => string} step  `by` tenths more
 * @property {(move: 'stay' | 'leave') => void} done
 */

/**
 * Opens a field over a cell.
 * @param {HTMLElement} cell
 * @param {Work} work
 * @param {string} [first]  the letter that opened it, and replaces what was there
 */
export function openEditor(cell, work, first) {
    const field = make('input', {
        class: 'editor', 'aria-label': work.name, autocomplete: 'off', spellcheck: 'false', enterkeyhint: 'done',
    });
    const before = work.text;
    field.value = first ?? before;
    let closed = false;
    /** @param {'stay' | 'leave'} move */
    const close = move => {
        if (!closed) {
            closed = true;
            field.remove();
            work.done(move);
        }
    };
    /** @param {string} text */
    const put = text => {
        field.value = text;
        work.change(text);
    };
    field.addEventListener('input', () => work.change(field.value));
    field.addEventListener('blur', () => close('leave'));
    // A click inside the field is no click on the cell.
    field.addEventListener('click', event => event.stopPropagation());
    field.addEventListener('keydown', event => {
        const by = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
        if (by !== undefined) {
            event.preventDefault();
            put(work.step(field.value, event.shiftKey && Math.abs(by) === 1 ? by * 10 : by));
        } else if (event.key === 'Enter') {
            event.preventDefault();
            event.stopPropagation();
            close('stay');
        } else if (event.key === 'Escape') {
            event.stopPropagation();
            put(before);
            close('stay');
        }
    });
    cell.append(field);
    field.focus();
    if (first === undefined) {
        field.select();
    } else {
        work.change(first);
    }
}

/**
 * Lets numbers be dragged: to the right or up for more, with Shift ten times as
 * much. A finger drags sideways, as up and down scrolls the page.
 * @param {HTMLElement} root
 * @param {(target: Element) => Omit<Work, 'name'> | null} begin  the work on what is under the pointer
 */
export function letDrag(root, begin) {
    root.addEventListener('pointerdown', down => {
        const target = /** @type {Element} */ (down.target);
        const cell = target.closest('.editable tbody td');
        const work = down.button === 0 && cell && !(target instanceof HTMLInputElement) ? begin(cell) : null;
        if (!work || !cell) {
            return;
        }
        let [text, steps, dragging] = [work.text, 0, false];
        const stop = new AbortController();
        const { signal } = stop;
        /** @param {PointerEvent} move */
        const onMove = move => {
            const [right, up] = [move.clientX - down.clientX, down.clientY - move.clientY];
            const far = Math.abs(right) > Math.abs(up) ? right : up;
            if (!dragging && Math.abs(far) > SLACK_PX) {
                dragging = true;
                root.setPointerCapture(down.pointerId);
                root.classList.add('dragging');
            }
            const now = Math.trunc(far / STEP_PX);
            if (dragging && now !== steps) {
                text = work.step(text, (now - steps) * (move.shiftKey ? 10 : 1));
                steps = now;
                work.change(text);
            }
        };
        const onEnd = () => {
            stop.abort();
            root.classList.remove('dragging');
            if (dragging) {
                // The click that follows a drag is none.
                const hush = (/** @type {Event} */ event) => event.stopPropagation();
                root.addEventListener('click', hush, { capture: true });
                setTimeout(() => root.removeEventListener('click', hush, { capture: true }));
                work.done('stay');
            }
        };
        root.addEventListener('pointermove', onMove, { signal });
        for (const end of ['pointerup', 'pointercancel']) {
            window.addEventListener(end, onEnd, { signal });
        }
    });
}
