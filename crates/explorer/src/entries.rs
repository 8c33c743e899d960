//! The widgets as values of the book: the data of each is entered in the ledger
//! beside everything that `worked` computes, locked and quoted like it.

use ledger::{Ledger, Widget};

use crate::widgets;

/// The ledger with every value of the book, widgets included.
///
/// ```
/// let ledger = explorer::ledger();
/// assert_eq!(ledger.faults(), []);
/// assert_eq!(ledger.get("qkv.widget").unwrap().value().kind(), "widget");
/// ```
#[must_use]
pub fn ledger() -> Ledger {
    let mut ledger = worked::ledger();
    ledger
        .enter("qkv.widget", attention_head)
        .about("the toy head and three others, to step through, question and change");
    ledger
        .enter("lookup.widget", soft_lookup)
        .about("the menu as a lookup whose query and temperature can be moved");
    ledger
}

/// The widget of chapter *Queries, keys and values, step by step*.
fn attention_head() -> Result<Widget, String> {
    Ok(Widget {
        element: "attention-head".to_owned(),
        fallback: "With JavaScript, this head can be played step by step, questioned and changed. \
                   Its numbers are those of the tables above."
            .to_owned(),
        data: widgets::attention_head()?,
    })
}

/// The widget of chapter *Attention is a soft lookup*.
fn soft_lookup() -> Result<Widget, String> {
    Ok(Widget {
        element: "soft-lookup".to_owned(),
        fallback: "With JavaScript, the query can be dragged here and the temperature turned. \
                   The tables above show where they start, and what five temperatures do."
            .to_owned(),
        data: widgets::soft_lookup()?,
    })
}
