// A head as a link: the state goes into the fragment of the address, which never
// leaves the reader's machine, behind the widget's name and a version. Whether a
// state that came with a link makes sense, the engine says.

/** @import { HeadState } from './types.d.ts' */

/** The order of the fields in a link. Old links live on: never change it, begin another version. */
const FIELDS = /** @type {const} */ (
    ['tokens', 'meanings', 'matches', 'messages', 'x', 'w_q', 'w_k', 'w_v', 'mask', 'scale']
);

/** The fields by version: a head, and one with a target. */
const VERSIONS = { 1: FIELDS, 2: /** @type {const} */ ([...FIELDS, 'target']) };

/**
 * The address of this page with a widget's state in it.
 * @param {string} widget
 * @param {HeadState} state
 */
export function linkTo(widget, state) {
    const version = state.target ? 2 : 1;
    const bytes = new TextEncoder().encode(JSON.stringify(VERSIONS[version].map(field => state[field])));
    const text = btoa(String.fromCharCode(...bytes));
    const address = new URL(location.href);
    address.hash = `${widget}=${version}.${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
    return address.href;
}

/**
 * The state in the address, if there is one for this widget.
 * @param {string} widget
 * @returns {HeadState | 'unreadable' | null}
 */
export function stateInAddress(widget) {
    const start = `#${widget}=`;
    if (!location.hash.startsWith(start)) {
        return null;
    }
    try {
        const [version, text] = location.hash.slice(start.length).split('.');
        const bytes = Uint8Array.from(
            atob(text.replaceAll('-', '+').replaceAll('_', '/')),
            letter => letter.charCodeAt(0),
        );
        const values = JSON.parse(new TextDecoder().decode(bytes));
        const fields = VERSIONS[/** @type {1 | 2} */ (Number(version))];
        return /** @type {HeadState} */ (Object.fromEntries(fields.map((field, at) => [field, values[at]])));
    } catch {
        return 'unreadable';
    }
}

/**
 * Puts a text on the clipboard; says whether that worked.
 * @param {string} text
 */
export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        return false;
    }
}
