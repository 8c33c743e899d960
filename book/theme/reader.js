// What the pages need beyond mdBook's own script: whole programs on the
// clipboard, boxes that scroll by keyboard, and controls that assistive
// technology understands. Every page can be read without it.
// @ts-check
'use strict';

(() => {
    /** Boxes that may be wider inside than out. */
    const BOXES = 'pre > code, .katex-display, .table-wrapper, .scroll';

    /**
     * Whether a box has more to show sideways than fits.
     * @param {Element} box
     * @returns {boolean}
     */
    const scrolls = box => box.scrollWidth > box.clientWidth + 1;

    /**
     * mdBook copies the lines it shows. A reader who pastes a snippet wants it
     * to compile, so copy the hidden lines too. mdBook looks this function up
     * by its global name whenever a copy button is pressed.
     * @param {Element} block
     * @returns {string}
     */
    const wholeProgram = block => block.querySelector('code')?.textContent ?? '';
    Object.assign(window, { playground_text: wholeProgram });

    // Browsers may break a line between a formula and the comma behind it; a
    // word joiner (U+2060) forbids it.
    for (const formula of document.querySelectorAll('main .katex')) {
        const [before, after] = [formula.previousSibling, formula.nextSibling];
        if (after instanceof Text && /^[.,;:!?)\u2019\u201d]/.test(after.data)) {
            after.insertData(0, '\u2060');
        }
        if (before instanceof Text && /[(\u2018\u201c]$/.test(before.data)) {
            before.appendData('\u2060');
        }
    }

    /** Lets the keyboard reach the boxes that scroll, and only those. */
    function makeBoxesReachable() {
        for (const box of document.querySelectorAll(BOXES)) {
            if (scrolls(box)) {
                if (!box.hasAttribute('tabindex')) {
                    box.setAttribute('tabindex', '0');
                    box.setAttribute('data-reachable', '');
                }
            } else if (box.hasAttribute('data-reachable')) {
                box.removeAttribute('tabindex');
                box.removeAttribute('data-reachable');
            }
        }
    }

    const main = document.querySelector('main');
    if (main) {
        new ResizeObserver(makeBoxesReachable).observe(main);
        main.addEventListener('toggle', makeBoxesReachable, { capture: true });
        document.fonts.ready.then(makeBoxesReachable);
    }

    // The arrow keys turn mdBook's pages. In a box that scrolls they scroll.
    window.addEventListener('keydown', event => {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') {
            return;
        }
        const box = event.target instanceof Element && event.target.closest(BOXES);
        if (box && scrolls(box)) {
            event.stopPropagation();
        }
    }, { capture: true });

    // mdBook's button for the table of contents is a label, which the keyboard
    // cannot reach and whose `aria-expanded` says nothing without a role.
    const contents = document.getElementById('mdbook-sidebar-toggle');
    if (contents) {
        contents.setAttribute('role', 'button');
        contents.tabIndex = 0;
        contents.addEventListener('keydown', event => {
            if (event.key === 'Enter' || event.key === ' ') {
                event.preventDefault();
                contents.click();
            }
        });
    }

    // The search field is described by an element that has another name.
    const search = document.getElementById('mdbook-searchbar');
    search?.setAttribute('aria-describedby', 'mdbook-searchresults-header');
    search?.setAttribute('aria-label', 'Search this book');

    // mdBook names each excerpt that a search shows, but a span has no role to
    // name, and the excerpt of a section without text is empty.
    const results = document.getElementById('mdbook-searchresults');
    if (results) {
        new MutationObserver(() => {
            for (const excerpt of results.querySelectorAll('.teaser[aria-label]')) {
                excerpt.removeAttribute('aria-label');
            }
        }).observe(results, { childList: true, subtree: true });
    }

    // Solutions are printed open, and closed again afterwards.
    /** @type {HTMLDetailsElement[]} */
    let opened = [];
    window.addEventListener('beforeprint', () => {
        opened = [...document.querySelectorAll('details')].filter(details => !details.open);
        opened.forEach(details => { details.open = true; });
    });
    window.addEventListener('afterprint', () => {
        opened.forEach(details => { details.open = false; });
        opened = [];
    });
})();
