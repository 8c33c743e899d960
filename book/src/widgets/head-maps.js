// The attention maps of all heads, small and side by side, of which one is
// chosen. Each is a radio button, so that arrow keys go from one to the next.

import { freshId, make, setAttribute, write } from './dom.js';

/** @import { Share } from './types.d.ts' */

const SVG = 'http://www.w3.org/2000/svg';

/** How many shades a small map has; what is fainter than the first is left white. */
const SHADES = 8;

export class HeadMaps {
    /** @type {{ radio: HTMLInputElement, label: HTMLElement, state: HTMLElement, drawing: SVGElement, shades: SVGElement[] }[][]} */
    #maps;

    /**
     * @param {string[][]} names  what each head is known for, by layer and head
     * @param {(head: [number, number]) => void} choose
     */
    constructor(names, choose) {
        const group = freshId();
        this.#maps = names.map((heads, layer) => heads.map((name, head) => {
            const map = this.#map(group, `${layer + 1}.${head + 1}`, name);
            map.radio.addEventListener('change', () => choose([layer, head]));
            return map;
        }));
        this.root = make('div', { class: 'head-maps', role: 'radiogroup', 'aria-label': 'Heads: layer and head' },
            ...this.#maps.flat().map(({ label }) => label));
    }

    /**
     * @param {string} group
     * @param {string} number
     * @param {string} name
     */
    #map(group, number, name) {
        const radio = make('input', { type: 'radio', name: group });
        const drawing = document.createElementNS(SVG, 'svg');
        drawing.setAttribute('aria-hidden', 'true');
        const shades = Array.from({ length: SHADES }, (_, shade) => {
            const path = document.createElementNS(SVG, 'path');
            path.setAttribute('data-shade', String(shade + 1));
            drawing.append(path);
            return path;
        });
        const state = make('span', { class: 'state' });
        const label = make('label', { class: 'head-map' }, radio, drawing,
            make('span', { class: 'number' }, number), make('span', { class: 'known' }, name), state);
        return { radio, label, state, drawing, shades };
    }

    /**
     * @param {Share[][][][]} maps
     * @param {[number, number]} chosen
     * @param {[number, number][]} off
     */
    update(maps, chosen, off) {
        this.#maps.forEach((heads, layer) => heads.forEach(({ radio, label, state, drawing, shades }, head) => {
            const isOff = off.some(([l, h]) => l === layer && h === head);
            radio.checked = chosen[0] === layer && chosen[1] === head;
            setAttribute(label, 'data-off', isOff);
            write(state, isOff ? 'off' : '');
            const rows = maps[layer][head];
            setAttribute(drawing, 'viewBox', `0 0 ${rows.length} ${rows.length}`);
            const squares = Array.from({ length: SHADES }, () => '');
            rows.forEach((row, y) => row.forEach(({ share }, x) => {
                const shade = Math.round(share * SHADES);
                if (shade > 0) {
                    squares[shade - 1] += `M${x} ${y}h1v1h-1z`;
                }
            }));
            shades.forEach((path, shade) => setAttribute(path, 'd', squares[shade]));
        }));
    }
}
