//! The data that stands in a page beside each widget, so that it works before
//! the engine is loaded, and without it. Computed where the page is built.

use crate::cell::{Name, Place};
use crate::derive::{self, Derivation};
use crate::head::{Computed, HeadAnswer, Refusal};
use crate::json::write::members;
use crate::json::{Json, object, written};
use crate::lookup::{self, LookupAnswer};
use crate::presets::{self, Preset, owned, typed};
use worked::soft_lookup as drinks;

/// The data of `<attention-head>`: the presets, and of the first every matrix
/// and every derivation. `HeadData` in `types.d.ts`.
///
/// # Errors
///
/// Why the first preset cannot be computed: a number in it that is none.
pub fn attention_head() -> Result<String, String> {
    let presets = presets::all();
    let first = presets.first().ok_or("there is no preset")?;
    let computed = Computed::new(first.state.clone()).map_err(|refusal| match refusal {
        Refusal::Unreadable(sentence) => sentence,
        Refusal::Problems(problems) => written(&problems),
    })?;
    let cells = Cells::of(&computed)?;
    Ok(inert(&written(&HeadData { trace: computed.answer(), presets, cells })))
}

/// The data of `<soft-lookup>`: the menu of drinks at temperature 1.
/// `LookupData` in `types.d.ts`.
///
/// # Errors
///
/// Why the lookup cannot be computed: a number in it that is none.
pub fn soft_lookup() -> Result<String, String> {
    let query = drinks::query().insert_axis(attention::ndarray::Axis(0));
    let state = lookup::State {
        names: owned(&drinks::DRINKS),
        axes: owned(&drinks::TASTES),
        facts: owned(&drinks::FACTS),
        keys: typed(&drinks::keys()),
        values: typed(&drinks::values()),
        query: typed(&query).concat(),
        temperature: lookup::MIDDLE,
    };
    let answer = lookup::answer(state.clone())?;
    Ok(inert(&written(&LookupData { state, answer })))
}

/// The data cannot end the script element that it stands in.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

struct HeadData {
    presets: Vec<Preset>,
    trace: HeadAnswer,
    cells: Cells,
}

object!(HeadData { presets, trace, cells });

/// The derivations of each computed matrix.
struct Cells(Vec<(Name, Vec<Vec<Derivation>>)>);

impl Cells {
    fn of(head: &Computed) -> Result<Cells, String> {
        let derived = |name: Name| {
            let (rows, columns) = head.numbers(name).dim();
            let row = |row| (0..columns).map(move |column| Place(name, row, column));
            let rows = (0..rows).map(|r| row(r).map(|place| derive::cell(head, place)).collect());
            Ok((name, rows.collect::<Result<_, String>>()?))
        };
        let computed = Name::ALL.into_iter().filter(|name| !name.is_input());
        computed.map(derived).collect::<Result<_, String>>().map(Cells)
    }
}

impl Json for Cells {
    fn write(&self, text: &mut String) {
        let matrices: Vec<(&str, &dyn Json)> =
            self.0.iter().map(|(name, cells)| (name.text(), cells as &dyn Json)).collect();
        members(text, &matrices);
    }
}

struct LookupData {
    state: lookup::State,
    answer: LookupAnswer,
}

object!(LookupData { state, answer });
