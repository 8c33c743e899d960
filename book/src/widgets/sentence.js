// The sentence on top: its tokens as buttons that are followed, with the weights
// that the followed one gives to each; and, after “Edit words”, as fields.

import { button, icon, make, setAttribute, write } from './dom.js';

/** @import { TokenChange } from './types.d.ts' */

/** What the engine allows; more is refused by it anyway, with a sentence. */
const MOST = 12;

export class Sentence {
    #chips = make('div', { class: 'chips', role: 'group', 'aria-label': 'The sentence. Choose a token to follow it.' });
    #edit;
    #editing = false;
    /** @type {string[]} */
    #tokens = [];
    #listener;

    /**
     * @param {{ follow: (token: number) => void, change: (change: TokenChange) => string | undefined, close: () => void }} listener
     *     `change` returns a sentence if the change cannot be made
     */
    constructor(listener) {
        this.#listener = listener;
        this.#edit = make('button', { type: 'button', class: 'quiet', 'aria-pressed': 'false' }, icon('pencil'), make('span', {}, 'Edit words'));
        this.#edit.addEventListener('click', () => this.#toggle());
        this.root = make('div', { class: 'sentence' }, this.#chips, this.#edit);
    }

    /**
     * @param {string[]} tokens
     * @param {number | null} followed
     * @param {{ shown: string[], shade: number[], open: number } | null} weights  of the followed token
     * @param {boolean} editable
     */
    update(tokens, followed, weights, editable) {
        this.#edit.hidden = !editable;
        const fits = this.#chips.childElementCount === tokens.length + (this.#editing ? 1 : 0);
        if (!fits || this.#chips.classList.contains('editing') !== this.#editing) {
            this.#build(tokens);
        }
        this.#tokens = tokens;
        this.#chips.classList.toggle('weighed', weights !== null);
        tokens.forEach((token, at) => {
            const chip = /** @type {HTMLElement} */ (this.#chips.children[at]);
            if (this.#editing) {
                this.#fillField(chip, token, at);
            } else {
                this.#fillChip(chip, token, followed === at, weights && {
                    shown: at < weights.open ? weights.shown[at] : '',
                    shade: at < weights.open ? weights.shade[at] : 0,
                });
            }
        });
    }

    /** @param {string[]} tokens */
    #build(tokens) {
        const chips = tokens.map((_, at) => (this.#editing ? this.#makeField(at) : this.#makeChip(at)));
        if (this.#editing) {
            const add = button('plus', 'Add a word', () => this.#add(), { class: 'add' });
            add.hidden = tokens.length >= MOST;
            chips.push(add);
        }
        this.#chips.replaceChildren(...chips);
        this.#chips.classList.toggle('editing', this.#editing);
    }

    /** @param {number} at */
    #makeChip(at) {
        const chip = make('button', { type: 'button', class: 'chip' }, make('span', { class: 'word' }), make('span', { class: 'weight' }));
        chip.addEventListener('click', () => this.#listener.follow(at));
        return chip;
    }

    /**
     * @param {HTMLElement} chip
     * @param {string} token
     * @param {boolean} followed
     * @param {{ shown: string, shade: number } | null} weight
     */
    #fillChip(chip, token, followed, weight) {
        write(chip.children[0], token);
        write(chip.children[1], weight?.shown ?? '');
        chip.style.setProperty('--shade', String(weight?.shade ?? 0));
        setAttribute(chip, 'aria-pressed', String(followed));
    }

    /** @param {number} at */
    #makeField(at) {
        const field = make('input', { autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', maxlength: 24, enterkeyhint: 'done' });
        field.addEventListener('input', () => {
            const sentence = this.#listener.change({ rename: at, to: field.value });
            setAttribute(field, 'aria-invalid', sentence && 'true');
            setAttribute(field, 'title', sentence);
        });
        // A name that was refused gives way to the last good one.
        field.addEventListener('change', () => {
            field.value = this.#tokens[at];
            setAttribute(field, 'aria-invalid', undefined);
            setAttribute(field, 'title', undefined);
        });
        field.addEventListener('keydown', event => {
            if (event.key === 'Escape') {
                event.stopPropagation();
                this.#toggle();
                this.#edit.focus();
            }
        });
        const remove = button('close', '', () => this.#remove(at), { class: 'remove' });
        return make('span', { class: 'chip' }, field, remove);
    }

    /**
     * @param {HTMLElement} chip
     * @param {string} token
     * @param {number} at
     */
    #fillField(chip, token, at) {
        const field = /** @type {HTMLInputElement} */ (chip.children[0]);
        const remove = /** @type {HTMLButtonElement} */ (chip.children[1]);
        if (field !== document.activeElement || !field.hasAttribute('aria-invalid')) {
            if (field.value !== token) {
                field.value = token;
            }
        }
        field.style.setProperty('--letters', String(Math.max(2, token.length)));
        setAttribute(field, 'aria-label', `Word ${at + 1}`);
        setAttribute(remove, 'aria-label', `Remove “${token}”`);
        setAttribute(remove, 'title', `Remove “${token}”`);
    }

    #add() {
        this.#listener.change({ add: { after: this.#tokens.length - 1 } });
        const last = this.#chips.querySelector('.chip:last-of-type input');
        if (last instanceof HTMLInputElement) {
            last.focus();
            last.select();
        }
    }

    /** @param {number} at */
    #remove(at) {
        if (this.#listener.change({ remove: at }) === undefined) {
            const next = this.#chips.children[Math.min(at, this.#tokens.length - 1)]?.querySelector('.remove');
            /** @type {HTMLElement | null | undefined} */ (next)?.focus();
        }
    }

    #toggle() {
        this.#editing = !this.#editing;
        setAttribute(this.#edit, 'aria-pressed', String(this.#editing));
        write(/** @type {Element} */ (this.#edit.lastElementChild), this.#editing ? 'Done' : 'Edit words');
        this.#listener.close();
        if (this.#editing) {
            this.#chips.querySelector('input')?.focus();
        }
    }
}
