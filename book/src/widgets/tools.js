// What changes the head as a whole: the examples, the switches of mask and scale,
// undo, redo, reset, and the link. It only shows and asks; the widget acts.

import { button, make, setAttribute, write } from './dom.js';

/** @import { Preset } from './types.d.ts' */

/**
 * @typedef {object} Listener
 * @property {(name: string) => void} example
 * @property {(what: 'mask' | 'scale', on: boolean) => void} turn
 * @property {() => void} undo
 * @property {() => void} redo
 * @property {() => void} reset
 * @property {() => void} link
 */

export class Tools {
    #examples = make('select', { 'aria-label': 'Example' });
    #own = make('option', { value: '', disabled: true, hidden: true }, 'Your own');
    #about = make('p', { class: 'about' });
    #switches = { mask: make('input', { type: 'checkbox', role: 'switch' }), scale: make('input', { type: 'checkbox', role: 'switch' }) };
    #buttons;
    #bar;

    /**
     * @param {Preset[]} presets
     * @param {Listener} listener
     */
    constructor(presets, listener) {
        this.#examples.append(...presets.map(({ name, title }) => make('option', { value: name }, title)), this.#own);
        this.#examples.addEventListener('change', () => listener.example(this.#examples.value));
        for (const what of /** @type {const} */ (['mask', 'scale'])) {
            const box = this.#switches[what];
            box.addEventListener('change', () => listener.turn(what, box.checked));
        }
        this.#buttons = {
            undo: button('undo', 'Undo', listener.undo),
            redo: button('redo', 'Redo', listener.redo),
            reset: button('reset', 'Reset', listener.reset, { shown: true }),
            link: button('link', 'Copy link', listener.link, { shown: true }),
        };
        this.#bar = make(
            'div',
            { class: 'bar', role: 'group', 'aria-label': 'Change the head' },
            this.#examples,
            make('label', { class: 'switch' }, this.#switches.mask, 'Mask'),
            make('label', { class: 'switch' }, this.#switches.scale, 'Scale'),
            make('span', { class: 'buttons' }, ...Object.values(this.#buttons)),
        );
        this.root = make('div', { class: 'tools' }, this.#bar, this.#about);
    }

    /**
     * @param {object} now
     * @param {string} now.example  its name, or '' for a head of the reader's own
     * @param {string} now.about
     * @param {boolean} now.mask
     * @param {boolean} now.scale
     * @param {boolean} now.canUndo
     * @param {boolean} now.canRedo
     * @param {boolean} now.canReset
     */
    update(now) {
        this.#examples.value = now.example;
        write(this.#about, now.about);
        this.#switches.mask.checked = now.mask;
        this.#switches.scale.checked = now.scale;
        // Not `disabled`, which would throw the keyboard out of the button.
        setAttribute(this.#buttons.undo, 'aria-disabled', !now.canUndo && 'true');
        setAttribute(this.#buttons.redo, 'aria-disabled', !now.canRedo && 'true');
        setAttribute(this.#buttons.reset, 'aria-disabled', !now.canReset && 'true');
    }

    /**
     * Puts a sentence where the tools were: nothing can be changed.
     * @param {string} why
     */
    turnOff(why) {
        this.#bar.replaceChildren(make('p', { class: 'off' }, why));
    }
}
