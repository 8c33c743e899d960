// The panel with a fixed place, at the bottom of the widget and always in sight:
// the player, and below it what is being explained. It has a height of its own,
// so that nothing moves when the explanation changes.

import { button, make, setAttribute, write } from './dom.js';

export class Panel {
    #title = make('p', { class: 'title' });
    #aside = make('p', { class: 'aside' });
    #notice = make('p', { class: 'notice', hidden: true });
    #content = make('div', { class: 'content-of-panel' });
    #letGo;
    #fold;
    #body;

    /**
     * @param {HTMLElement} player
     * @param {() => void} letGo
     */
    constructor(player, letGo) {
        this.#letGo = button('close', 'Let go', letGo, { class: 'let-go' });
        this.#fold = button('fold', 'Fold the explanation away', () => this.#toggle(), { class: 'fold' });
        setAttribute(this.#fold, 'aria-expanded', 'true');
        this.#body = make(
            'div',
            { class: 'explanation', role: 'region', 'aria-label': 'How this was computed', tabindex: 0 },
            this.#notice, this.#content,
        );
        this.root = make(
            'div',
            { class: 'panel' },
            player,
            make('div', { class: 'heading' }, this.#title, this.#aside, this.#letGo, this.#fold),
            this.#body,
        );
    }

    /**
     * @param {string} title
     * @param {(Node | string)[]} content
     * @param {boolean} pinned
     * @param {string} [aside]
     */
    show(title, content, pinned, aside = '') {
        write(this.#title, title);
        write(this.#aside, aside);
        // What is there already stays, and with it the focus.
        if (content.length !== 1 || content[0] !== this.#content.firstChild) {
            this.#content.replaceChildren(...content);
            this.#body.scrollTop = 0;
        }
        setAttribute(this.root, 'data-pinned', pinned);
        this.#letGo.hidden = !pinned;
    }

    /**
     * A sentence above the explanation, until the next one: a mistake, a success.
     * @param {string} sentence  empty for none
     * @param {'mistake' | 'news'} [kind]
     */
    note(sentence, kind = 'news') {
        write(this.#notice, sentence);
        this.#notice.hidden = sentence === '';
        this.#notice.dataset.kind = kind;
    }

    #toggle() {
        const folded = this.root.toggleAttribute('data-folded');
        setAttribute(this.#fold, 'aria-expanded', String(!folded));
    }
}
