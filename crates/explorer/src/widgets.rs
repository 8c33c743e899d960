//! The widgets of the book as values of the ledger: each with the data that
//! stands in the page beside it, so that it works before the engine is loaded,
//! and without it. Computed where the page is built.

use crate::cell::{Name, Place};
use crate::cost::{self, CostAnswer};
use crate::derive::{self, Derivation};
use crate::head::{Computed, HeadAnswer, Refusal};
use crate::json::write::members;
use crate::json::{Json, Value, object, written};
use crate::lookup::{self, LookupAnswer};
use crate::presets::{self, Preset, owned, typed};
use crate::reader::page;
use crate::trainer;
use attention::cost::Model;
use learning::single_head::WORDS;
use ledger::{Ledger, Widget};
use worked::forward_pass::{self as chapter, machine, models};
use worked::learning_the_weights::{POSITIONS, RATE, SEED, runs};
use worked::soft_lookup as drinks;

/// Enters every widget.
pub(crate) fn enter(ledger: &mut Ledger) {
    ledger
        .enter("qkv.widget", attention_head)
        .about("the head of the chapter, to step through and to change");
    ledger
        .enter("back.widget", backward_pass)
        .about("the head of the chapter, to follow backwards from its loss and to change");
    ledger
        .enter("lookup.widget", soft_lookup)
        .about("the menu of drinks, with a query to drag and a temperature to set");
    ledger.enter("cost.widget", cost_calculator).about("what a model costs, for sizes to choose");
    ledger.enter("learn.widget", learning_head).about("a head that learns while one looks on");
    ledger
        .enter("patterns.widget", pattern_reader)
        .about("the trained transformer, to read sentences with");
}

/// `<attention-head>`, and as its data (`HeadData` in `types.d.ts`) the
/// presets, and of the first every matrix and every derivation.
///
/// # Errors
///
/// Why the first preset cannot be computed: a number in it that is none.
pub fn attention_head() -> Result<Widget, String> {
    head_widget(
        presets::all(),
        "With JavaScript, one can step through the head here, see how each number was computed, \
         and change it. Every number stands in the tables of this chapter.",
    )
}

/// `<attention-head>` once more, with heads that have a target and so a backward
/// pass.
///
/// # Errors
///
/// Those of [`attention_head`].
pub fn backward_pass() -> Result<Widget, String> {
    head_widget(
        presets::backward(),
        "With JavaScript, one can follow the loss back through the head here, see how each number \
         of each gradient was computed, and change the head and its target. Every gradient stands \
         in the tables of this chapter.",
    )
}

fn head_widget(presets: Vec<Preset>, fallback: &str) -> Result<Widget, String> {
    let first = presets.first().ok_or("there is no preset")?;
    let computed = Computed::new(first.state.clone()).map_err(|refusal| match refusal {
        Refusal::Unreadable(sentence) => sentence,
        Refusal::Problems(problems) => written(&problems),
    })?;
    let cells = Cells::of(&computed)?;
    Ok(Widget {
        element: "attention-head".to_owned(),
        fallback: fallback.to_owned(),
        data: inert(&written(&HeadData { trace: computed.answer(), presets, cells })),
    })
}

/// `<soft-lookup>`, and as its data (`LookupData` in `types.d.ts`) the menu of
/// drinks at temperature 1.
///
/// # Errors
///
/// Why the lookup cannot be computed: a number in it that is none.
pub fn soft_lookup() -> Result<Widget, String> {
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
    Ok(Widget {
        element: "soft-lookup".to_owned(),
        fallback: "With JavaScript, one can drag the query and set the temperature here, and see \
                   the weights and the answer follow. The tables of this chapter show a few such \
                   answers."
            .to_owned(),
        data: inert(&written(&LookupData { state, answer })),
    })
}

/// `<cost-calculator>`, and as its data (`CostData` in `types.d.ts`) the
/// published models, and what the chapter's head costs in the first of them.
///
/// # Errors
///
/// The measurement of the machine cannot be read.
pub fn cost_calculator() -> Result<Widget, String> {
    let published = models::NAMES.into_iter().zip(models::MODELS).zip(models::CONTEXTS);
    let mut presets = vec![CostPreset {
        title: format!("{}, {} tokens", models::NAMES[0], chapter::REAL.tokens),
        state: sizes(models::GPT_2, chapter::REAL.tokens, chapter::BYTES)?,
    }];
    for ((name, model), context) in published {
        let title = format!("{name}, full context");
        presets.push(CostPreset { title, state: sizes(model, context, models::BYTES)? });
    }
    let answer = cost::answer(&presets[0].state)?;
    Ok(Widget {
        element: "cost-calculator".to_owned(),
        fallback: "With JavaScript, one can choose the sizes of a model here and see the counts \
                   follow. The tables of this chapter have them for four published models."
            .to_owned(),
        data: inert(&written(&CostData { presets, answer })),
    })
}

/// `<learning-head>`, and as its data (`TrainData` in `types.d.ts`) the tasks, and
/// the training of the chapter at its three moments.
///
/// # Errors
///
/// Why a training cannot be computed: none that can happen.
pub fn learning_head() -> Result<Widget, String> {
    let data = TrainData {
        words: WORDS.to_vec(),
        positions: POSITIONS.to_vec(),
        seed: SEED.to_string(),
        rate: RATE.to_string(),
        tasks: vec![
            TrainTask {
                name: "noun",
                title: "find the noun",
                about: "At each of the last two words, the head is to say which noun there was.",
                stages: stages::<runs::Noun>("noun")?,
            },
            TrainTask {
                name: "previous",
                title: "copy the word before",
                about: "At each word but the first, the head is to say the word before.",
                stages: stages::<runs::Previous>("previous")?,
            },
        ],
    };
    Ok(Widget {
        element: "learning-head".to_owned(),
        fallback: "With JavaScript, one can watch a head learn here, with a seed and a learning \
                   rate to choose. The tables of this chapter show it before, on its way and after."
            .to_owned(),
        data: inert(&written(&data)),
    })
}

/// `<pattern-reader>`, and as its data (`ReaderData` in `types.d.ts`) a few
/// sentences, and of the first everything that is shown.
///
/// # Errors
///
/// Why the kept weights or the first sentence cannot be read.
pub fn pattern_reader() -> Result<Widget, String> {
    Ok(Widget {
        element: "pattern-reader".to_owned(),
        fallback: "With JavaScript, one can type a sentence here, see where each head looks, and \
                   switch heads off. The tables of this chapter show a few such sentences."
            .to_owned(),
        data: inert(&page::data()?),
    })
}

/// The chapter's training of a task, before its first step, on its way and at its end.
fn stages<L: runs::Lesson>(task: &str) -> Result<Vec<trainer::Run>, String> {
    let text = |name: &str, text: String| (name.to_owned(), Value::Text(text));
    let request = Value::Object(vec![
        text("task", task.to_owned()),
        text("seed", SEED.to_string()),
        text("rate", RATE.to_string()),
    ]);
    let asked = trainer::Asked::read(&request)?.map_err(|problems| written(&problems))?;
    let moments = [0, L::MIDDLE, L::run()?.end.steps()];
    moments.into_iter().map(|steps| trainer::run(asked, steps)).collect()
}

/// The sizes of a model as typed. What follows from others is left out.
fn sizes(model: Model, tokens: u64, bytes: u64) -> Result<Value, String> {
    let unless =
        |size: u64, follows: u64| if size == follows { String::new() } else { size.to_string() };
    let text = |name: &str, text: String| (name.to_owned(), Value::Text(text));
    Ok(Value::Object(vec![
        text("tokens", tokens.to_string()),
        text("layers", model.layers.to_string()),
        text("d_model", model.d_model.to_string()),
        text("heads", model.heads.to_string()),
        text("d", unless(model.d, model.d_model / model.heads)),
        text("key_value_heads", unless(model.key_value_heads, model.heads)),
        text("feed_forward", unless(model.feed_forward, 4 * model.d_model)),
        text("feed_forward_matrices", model.feed_forward_matrices.to_string()),
        text("vocabulary", model.vocabulary.to_string()),
        text("bytes", bytes.to_string()),
        ("tied".to_owned(), Value::Flag(model.tied)),
        ("gigaflops".to_owned(), Value::Number(machine::gflops()?)),
        ("gigabytes".to_owned(), Value::Number(machine::gigabytes_per_second()?)),
    ]))
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
        let computed = head.names().iter().copied().filter(|name| !name.is_input());
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

/// A model to begin with.
struct CostPreset {
    title: String,
    state: Value,
}

struct CostData {
    presets: Vec<CostPreset>,
    answer: CostAnswer,
}

object!(CostPreset { title, state });
object!(CostData { presets, answer });

/// A task to learn.
struct TrainTask {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    stages: Vec<trainer::Run>,
}

struct TrainData {
    words: Vec<&'static str>,
    positions: Vec<&'static str>,
    seed: String,
    rate: String,
    tasks: Vec<TrainTask>,
}

object!(TrainTask { name, title, about, stages });
object!(TrainData { words, positions, seed, rate, tasks });
