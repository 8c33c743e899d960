// Loads the code of the widgets that stand on this page, and nothing on pages
// that have none. It knows where each widget lives, not what it does.

/** The custom elements, and the modules that define them. */
const WIDGETS = {
    'attention-head': () => import('./attention-head.js'),
    'cost-calculator': () => import('./cost-calculator.js'),
    'learning-head': () => import('./learning-head.js'),
    'pattern-reader': () => import('./pattern-reader.js'),
    'soft-lookup': () => import('./soft-lookup.js'),
};

for (const [element, load] of Object.entries(WIDGETS)) {
    if (document.querySelector(element)) {
        load();
    }
}
