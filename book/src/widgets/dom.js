// Small helpers to make and change elements. No widget in particular, and no
// framework: what the page shows is changed in place.

/**
 * An element with attributes and children. `true` sets an attribute without a
 * value; `false` and `undefined` leave it out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        setAttribute(element, name, value);
    }
    element.append(...children);
    return element;
}

/**
 * Sets or removes an attribute, and touches the page only if that changes it.
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | undefined | null} value
 */
export function setAttribute(element, name, value) {
    if (value === false || value === undefined || value === null) {
        element.removeAttribute(name);
    } else {
        const text = value === true ? '' : String(value);
        if (element.getAttribute(name) !== text) {
            element.setAttribute(name, text);
        }
    }
}

/**
 * Writes a text into an element, if it isn't there already.
 * @param {Element} element
 * @param {string} text
 */
export function write(element, text) {
    if (element.textContent !== text) {
        element.textContent = text;
    }
}

/** Strokes of the icons, on a square of 24. */
const ICONS = {
    play: 'M8 5v14l11-7z',
    pause: 'M8 5v14M16 5v14',
    back: 'M15 6l-6 6 6 6',
    forward: 'M9 6l6 6-6 6',
    undo: 'M9 14L4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3',
    redo: 'M15 14l5-5-5-5M20 9H10a6 6 0 0 0 0 12h3',
    reset: 'M4 4v6h6M4.5 10a8 8 0 1 1-.5 5',
    link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
    pencil: 'M4 20l1-5L16 4l4 4L9 19z',
    close: 'M6 6l12 12M18 6L6 18',
    plus: 'M12 5v14M5 12h14',
    minus: 'M5 12h14',
    fold: 'M6 9l6 6 6-6',
};

/**
 * A drawing for a button, hidden from screen readers: the button has a name.
 * @param {keyof typeof ICONS} name
 */
export function icon(name) {
    const space = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(space, 'svg');
    svg.setAttribute('viewBox', '0 0 24 24');
    svg.setAttribute('class', `icon icon-${name}`);
    svg.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS(space, 'path');
    path.setAttribute('d', ICONS[name]);
    svg.append(path);
    return svg;
}

/**
 * A button with an icon and a name, which is seen only if `shown`.
 * @param {keyof typeof ICONS} drawing
 * @param {string} name
 * @param {() => void} press
 * @param {{ shown?: boolean, class?: string }} [options]
 */
export function button(drawing, name, press, { shown = false, class: kind = '' } = {}) {
    const element = make('button', { type: 'button', class: kind || undefined }, icon(drawing));
    if (shown) {
        element.append(make('span', {}, name));
    } else {
        setAttribute(element, 'aria-label', name);
        setAttribute(element, 'title', name);
    }
    element.addEventListener('click', press);
    return element;
}

/**
 * A symbol as in the formulas: 'W_Q' becomes W with a lowered Q.
 * @param {string} text
 */
export function symbol(text) {
    const element = make('span', { class: 'symbol' });
    for (const [, base, below] of text.matchAll(/([^_]+)(?:_(\w))?/g)) {
        element.append(base);
        if (below) {
            element.append(make('sub', {}, below));
        }
    }
    return element;
}

let count = 0;

/** An id that nothing else on the page has. */
export const freshId = () => `widget-${count += 1}`;
