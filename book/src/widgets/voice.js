// What a screen reader is told without moving: one polite live region.

import { make } from './dom.js';

export class Voice {
    root = make('p', { class: 'widget-voice', role: 'status' });

    /**
     * Says a text, also if it is the same as before.
     * @param {string} text
     */
    say(text) {
        const again = this.root.textContent === text;
        this.root.textContent = again ? `${text}\u00a0` : text;
    }
}
