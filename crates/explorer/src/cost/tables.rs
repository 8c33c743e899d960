//! What sizes cost, as tables to be shown: one head step by step, the whole
//! model in reading and in writing, and the memory; each beside what it is for
//! twice the tokens.

use super::{Follows, Problem, Sizes, units};
use crate::json::object;
use attention::cost::{self, Head, Step, Work};

/// The queries of a block, for tiles: as in the chapter.
const BLOCK: u64 = 64;

const STEPS: [&str; 6] = ["project", "score", "scale", "mask", "softmax", "mix"];

/// Everything to be shown of some sizes; with problems, nothing but those.
#[derive(Debug, Default)]
pub(crate) struct CostAnswer {
    pub(super) problems: Vec<Problem>,
    pub(super) follows: Follows,
    pub(super) tables: Vec<Table>,
    pub(super) sentences: Vec<String>,
    pub(super) spoken: String,
}

#[derive(Debug)]
pub(super) struct Table {
    name: &'static str,
    title: &'static str,
    columns: Vec<&'static str>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: &'static str,
    cells: Vec<Cell>,
}

/// A quantity as it is shown, and with all of its digits where it is a count.
#[derive(Debug)]
struct Cell {
    shown: String,
    exact: Option<String>,
}

object!(CostAnswer { problems, follows, tables, sentences, spoken });
object!(Table { name, title, columns, rows });
object!(Row { name, cells });
object!(Cell { shown, exact });

/// Something counted, or computed from counts.
#[derive(Clone, Copy)]
enum Quantity {
    Count(u64),
    Bytes(u64),
    Seconds(f64),
    Intensity(f64),
}
use Quantity::{Bytes, Count, Intensity, Seconds};

impl Cell {
    fn text(shown: String) -> Cell {
        Cell { shown, exact: None }
    }
}

impl Quantity {
    fn cell(self) -> Cell {
        let exact = match self {
            Count(count) => Some(units::grouped(count)),
            Bytes(bytes) => Some(format!("{} bytes", units::grouped(bytes))),
            Seconds(_) | Intensity(_) => None,
        };
        Cell { shown: self.shown(), exact }
    }

    fn shown(self) -> String {
        match self {
            Count(count) => units::count(count),
            Bytes(bytes) => units::bytes(bytes),
            Seconds(seconds) => units::time(seconds),
            Intensity(intensity) => units::three_digits(intensity),
        }
    }

    fn value(self) -> f64 {
        match self {
            Count(count) | Bytes(count) => count as f64,
            Seconds(number) | Intensity(number) => number,
        }
    }

    /// How many times as much it is for twice the tokens. Nothing stays nothing,
    /// and what can no longer be counted has no factor.
    fn growth(self, twice: Option<Quantity>) -> String {
        match twice {
            Some(twice) if self.value() > 0.0 => units::factor(twice.value() / self.value()),
            _ => "–".to_owned(),
        }
    }
}

/// A row before it is written.
type Counted<const N: usize> = (&'static str, [Quantity; N]);

/// The tables of some sizes, or what cannot be counted.
pub(super) fn tables(sizes: Sizes) -> Result<CostAnswer, &'static str> {
    let twice = Sizes { tokens: 2 * sizes.tokens, ..sizes };
    let (text, token) = (reading(sizes)?, writing(sizes)?);
    let (long_text, late_token) = (reading(twice).ok(), writing(twice).ok());
    Ok(CostAnswer {
        tables: vec![
            step_table(&steps(sizes)?, steps(twice).ok().as_deref()),
            model_table([(&text, long_text.as_ref()), (&token, late_token.as_ref())]),
            memory_table(&memory(sizes)?, memory(twice).ok().as_ref()),
        ],
        sentences: vec![
            growth_sentence([(&text, long_text.as_ref()), (&token, late_token.as_ref())]),
            limit_sentence(sizes, &text, &token),
            crossover_sentence(sizes)?,
        ],
        spoken: format!(
            "{} tokens: reading them takes at least {}, writing one more at least {}.",
            units::grouped(sizes.tokens),
            text.least().shown(),
            token.least().shown()
        ),
        ..CostAnswer::default()
    })
}

/// One head: each step by itself, all but the first together, and those in tiles.
fn steps(sizes: Sizes) -> Result<Vec<Counted<5>>, &'static str> {
    const WHAT: &str = "the operations of one head";
    let Sizes { tokens, model, bytes, machine } = sizes;
    let head = Head { tokens, d_model: model.d_model, d: model.d, d_v: model.d };
    let row = |name, work: Work, seconds: Option<f64>| {
        let (multiplications, operations) = (Count(work.multiplications), Count(work.operations));
        let moved = Bytes(work.bytes(bytes)?);
        let intensity = Intensity(work.intensity(bytes)?);
        let seconds = Seconds(seconds.or(machine.seconds(work, bytes))?);
        Some((name, [multiplications, operations, moved, intensity, seconds]))
    };
    let counted = || {
        let mut rows = Vec::new();
        // The steps after the first come one after the other: their times add up.
        let (mut together, mut seconds) = (Work::default(), 0.0);
        for (name, step) in STEPS.into_iter().zip(Step::ALL) {
            let work = cost::step(step, head)?;
            rows.push(row(name, work, None)?);
            if step != Step::Project {
                together = together.and(work)?;
                seconds += machine.seconds(work, bytes)?;
            }
        }
        rows.push(row("2 to 6 together", together, Some(seconds))?);
        rows.push(row("the same in tiles", cost::tiled(head, BLOCK)?, None)?);
        Some(rows)
    };
    counted().ok_or(WHAT)
}

fn step_table(steps: &[Counted<5>], twice: Option<&[Counted<5>]>) -> Table {
    const OPERATIONS: usize = 1;
    let rows = steps.iter().enumerate().map(|(place, (name, quantities))| {
        let twice = twice.and_then(|rows| rows.get(place));
        let growth = quantities[OPERATIONS].growth(twice.map(|(_, row)| row[OPERATIONS]));
        let cells = quantities.iter().map(|quantity| quantity.cell());
        Row { name, cells: cells.chain([Cell::text(growth)]).collect() }
    });
    Table {
        name: "steps",
        title: "One head, step by step",
        columns: vec![
            "multiplications",
            "operations",
            "bytes moved",
            "operations for a byte",
            "takes at least",
            "operations at 2T",
        ],
        rows: rows.collect(),
    }
}

/// A run of the whole model, counted.
struct Run {
    by_weights: u64,
    by_keys: u64,
    operations: u64,
    bytes: u64,
    intensity: f64,
    computing: f64,
    moving: f64,
}

impl Run {
    /// All weights that are multiplied by, and the keys and values of all
    /// tokens, move once, in reading as in writing.
    fn new(sizes: Sizes, by_weights: Option<u64>, by_keys: Option<u64>) -> Option<Run> {
        let Sizes { tokens, model, bytes, machine } = sizes;
        let (by_weights, by_keys) = (by_weights?, by_keys?);
        let multiplications = by_weights.checked_add(by_keys)?;
        let work = Work {
            multiplications,
            operations: multiplications.checked_mul(2)?,
            read: model.multiplications_by_weights()?.checked_add(model.cache_bytes(tokens, 1)?)?,
            written: 0,
        };
        let moved = work.bytes(bytes)?;
        Some(Run {
            by_weights,
            by_keys,
            operations: work.operations,
            bytes: moved,
            intensity: work.intensity(bytes)?,
            computing: work.operations as f64 / machine.operations_per_second,
            moving: moved as f64 / machine.bytes_per_second,
        })
    }

    fn least(&self) -> Quantity {
        Seconds(self.computing.max(self.moving))
    }

    fn rows(&self) -> [(&'static str, Quantity); 8] {
        [
            ("multiplications by weights", Count(self.by_weights)),
            ("by keys and values", Count(self.by_keys)),
            ("operations", Count(self.operations)),
            ("bytes moved at least", Bytes(self.bytes)),
            ("operations for a byte", Intensity(self.intensity)),
            ("time to compute", Seconds(self.computing)),
            ("time to move", Seconds(self.moving)),
            ("takes at least", self.least()),
        ]
    }
}

/// A forward pass of all tokens, closed scores left out.
fn reading(sizes: Sizes) -> Result<Run, &'static str> {
    let Sizes { tokens, model, .. } = sizes;
    let by_weights = model.multiplications_by_weights().and_then(|each| each.checked_mul(tokens));
    let by_keys =
        cost::open_scores(tokens).and_then(|scores| model.multiplications_by_keys(scores));
    Run::new(sizes, by_weights, by_keys).ok_or("the operations of the whole text")
}

/// One token that sees as many keys as the text has tokens.
fn writing(sizes: Sizes) -> Result<Run, &'static str> {
    let Sizes { tokens, model, .. } = sizes;
    let by_keys = model.multiplications_by_keys(tokens);
    Run::new(sizes, model.multiplications_by_weights(), by_keys).ok_or("the operations of a token")
}

fn model_table(runs: [(&Run, Option<&Run>); 2]) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    for (run, twice) in runs {
        let twice = twice.map(Run::rows);
        for (place, (name, quantity)) in run.rows().into_iter().enumerate() {
            let growth = quantity.growth(twice.map(|rows| rows[place].1));
            let cells = [quantity.cell(), Cell::text(growth)];
            match rows.get_mut(place) {
                Some(row) => row.cells.extend(cells),
                None => rows.push(Row { name, cells: cells.into() }),
            }
        }
    }
    Table {
        name: "model",
        title: "The whole model",
        columns: vec!["reading T tokens", "at 2T", "writing one more", "at 2T"],
        rows,
    }
}

/// What has to be kept: numbers and bytes.
type Memory = [(&'static str, u64, u64); 4];

fn memory(sizes: Sizes) -> Result<Memory, &'static str> {
    let Sizes { tokens, model, bytes, .. } = sizes;
    let scores = || tokens.checked_mul(tokens)?.checked_mul(model.heads);
    let row = |name, numbers: Option<u64>| Some((name, numbers?, numbers?.checked_mul(bytes)?));
    let counted = || {
        Some([
            row("all weights", model.weights())?,
            row("keys and values of a token", model.cache_bytes(1, 1))?,
            row("KV cache of T tokens", model.cache_bytes(tokens, 1))?,
            row("scores of a layer, if stored", scores())?,
        ])
    };
    counted().ok_or("the memory")
}

fn memory_table(memory: &Memory, twice: Option<&Memory>) -> Table {
    let rows = memory.iter().enumerate().map(|(place, &(name, numbers, bytes))| {
        let growth = Count(numbers).growth(twice.map(|rows| Count(rows[place].1)));
        Row { name, cells: vec![Count(numbers).cell(), Bytes(bytes).cell(), Cell::text(growth)] }
    });
    Table {
        name: "memory",
        title: "Memory",
        columns: vec!["numbers", "bytes", "at 2T"],
        rows: rows.collect(),
    }
}

fn growth_sentence([text, token]: [(&Run, Option<&Run>); 2]) -> String {
    let growth = |(run, twice): (&Run, Option<&Run>)| {
        Count(run.operations).growth(twice.map(|run| Count(run.operations)))
    };
    format!(
        "Twice the tokens: ×4 scores, {} operations to read the text, {} to write a token.",
        growth(text),
        growth(token)
    )
}

/// What reading and writing wait for on the machine.
fn limit_sentence(sizes: Sizes, text: &Run, token: &Run) -> String {
    let ridge = sizes.machine.ridge();
    let limit = |run: &Run| if run.intensity < ridge { "memory" } else { "arithmetic" };
    format!(
        "The ridge of the measured machine is at {ridge:.1} operations for a byte: there, reading \
         this text waits for {}, and writing for {}.",
        limit(text),
        limit(token)
    )
}

/// The keys for which a token costs as much as for the weights.
fn crossover_sentence(sizes: Sizes) -> Result<String, &'static str> {
    let model = sizes.model;
    let keys = model
        .multiplications_by_weights()
        .zip(model.multiplications_by_keys(1))
        .map(|(weights, one_key)| weights / one_key)
        .ok_or("the operations of a token")?;
    Ok(format!(
        "A token that sees {} keys takes as many multiplications by keys and values as by weights.",
        units::grouped(keys)
    ))
}
