//! What sizes cost, as tables to be shown: one head step by step, the whole
//! model in reading and in writing, and the memory; each beside what becomes of
//! it for twice the tokens.

use super::{Follows, Problem, Sizes, units};
use crate::json::object;
use crate::written;
use attention::cost::{self, Head, Step, Work};

/// The queries of a block, for tiles: as in the chapter.
const BLOCK: u64 = 64;

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

/// What a column shows of a row's quantities.
#[derive(Clone, Copy)]
enum Column {
    The(usize),
    /// How many times as much it is for twice the tokens.
    GrowthOf(usize),
}
use Column::{GrowthOf, The};

/// A table before there are numbers in it.
struct Layout {
    name: &'static str,
    title: &'static str,
    columns: &'static [(&'static str, Column)],
    rows: &'static [&'static str],
}

const STEPS: Layout = Layout {
    name: "steps",
    title: "One head, step by step",
    columns: &[
        ("multiplications", The(0)),
        ("operations", The(1)),
        ("bytes moved", The(2)),
        ("operations for a byte", The(3)),
        ("takes at least", The(4)),
        ("operations at 2T", GrowthOf(1)),
    ],
    rows: &["project", "score", "scale", "mask", "softmax", "mix", "2 to 6 together", "in tiles"],
};

const MODEL: Layout = Layout {
    name: "model",
    title: "The whole model",
    columns: &[
        ("reading T tokens", The(0)),
        ("at 2T", GrowthOf(0)),
        ("writing one more", The(1)),
        ("at 2T", GrowthOf(1)),
    ],
    rows: &[
        "multiplications by weights",
        "by keys and values",
        "operations",
        "bytes moved at least",
        "operations for a byte",
        "time to compute",
        "time to move",
        "takes at least",
    ],
};

const MEMORY: Layout = Layout {
    name: "memory",
    title: "Memory",
    columns: &[("numbers", The(0)), ("bytes", The(1)), ("at 2T", GrowthOf(0))],
    rows: &[
        "all weights",
        "keys and values of a token",
        "KV cache of T tokens",
        "scores of a layer, if stored",
    ],
};

/// Something counted, or computed from counts.
#[derive(Clone, Copy)]
enum Quantity {
    Count(u64),
    Bytes(u64),
    Seconds(f64),
    Intensity(f64),
}
use Quantity::{Bytes, Count, Intensity, Seconds};

impl Quantity {
    fn cell(self) -> Cell {
        Cell { shown: self.shown(), exact: self.exact() }
    }

    fn shown(self) -> String {
        match self {
            Count(count) => units::count(count),
            Bytes(bytes) => units::bytes(bytes),
            Seconds(seconds) => units::time(seconds),
            Intensity(intensity) => units::three_digits(intensity),
        }
    }

    fn exact(self) -> Option<String> {
        match self {
            Count(count) | Bytes(count) => Some(units::grouped(count)),
            Seconds(_) | Intensity(_) => None,
        }
    }

    fn value(self) -> f64 {
        match self {
            Count(count) | Bytes(count) => count as f64,
            Seconds(number) | Intensity(number) => number,
        }
    }

    /// How many times as much it becomes. Nothing stays nothing, and what can
    /// no longer be counted has no factor.
    fn growth(self, twice: Option<Quantity>) -> String {
        match twice {
            Some(twice) if self.value() > 0.0 => units::factor(twice.value() / self.value()),
            _ => "–".to_owned(),
        }
    }
}

/// Everything that is counted for some number of tokens, in the order of the
/// tables' rows.
struct Counts {
    steps: [[Quantity; 5]; 8],
    /// Reading the text, and writing a token.
    runs: [Run; 2],
    memory: [[Quantity; 2]; 4],
    /// The keys for which a token costs as much as for the weights.
    crossover: u64,
}

impl Counts {
    /// The error says what cannot be counted.
    // Asked for twice; inlined, it would make the engine larger.
    #[inline(never)]
    fn of(sizes: &Sizes) -> Result<Counts, &'static str> {
        let of_a_key = sizes.model.multiplications_by_keys(1);
        let of_weights = sizes.model.multiplications_by_weights();
        Ok(Counts {
            steps: steps(sizes).ok_or("the operations of one head")?,
            runs: runs(sizes).ok_or("the operations of the whole text")?,
            memory: memory(sizes).ok_or("the memory")?,
            crossover: of_weights.zip(of_a_key).map_or(0, |(weights, one)| weights / one),
        })
    }
}

/// What is to be shown of some sizes, or what cannot be counted.
pub(super) fn answer(sizes: &Sizes) -> Result<CostAnswer, &'static str> {
    let once = &Counts::of(sizes)?;
    let twice = Counts::of(&Sizes { tokens: 2 * sizes.tokens, ..*sizes }).ok();
    let twice = twice.as_ref();
    Ok(CostAnswer {
        tables: vec![
            table(&STEPS, once, twice, |counts, row, which| counts.steps[row][which]),
            table(&MODEL, once, twice, |counts, row, which| counts.runs[which].rows()[row]),
            table(&MEMORY, once, twice, |counts, row, which| counts.memory[row][which]),
        ],
        sentences: sentences(sizes, once, twice),
        spoken: format!(
            "{} tokens: reading them takes at least {}, writing one more at least {}.",
            units::grouped(sizes.tokens),
            units::time(once.runs[0].least()),
            units::time(once.runs[1].least())
        ),
        ..CostAnswer::default()
    })
}

/// Fills a table with quantities, which are found by row and place in it.
fn table(
    layout: &Layout,
    once: &Counts,
    twice: Option<&Counts>,
    quantity: fn(&Counts, usize, usize) -> Quantity,
) -> Table {
    let mut rows = Vec::new();
    for (row, &name) in layout.rows.iter().enumerate() {
        let cell = |&(_, column): &(_, Column)| match column {
            The(which) => quantity(once, row, which).cell(),
            GrowthOf(which) => {
                let twice = twice.map(|counts| quantity(counts, row, which));
                Cell { shown: quantity(once, row, which).growth(twice), exact: None }
            }
        };
        rows.push(Row { name, cells: layout.columns.iter().map(cell).collect() });
    }
    let columns = layout.columns.iter().map(|column| column.0).collect();
    Table { name: layout.name, title: layout.title, columns, rows }
}

/// One head: each step by itself, all but the first together, and those in tiles.
fn steps(sizes: &Sizes) -> Option<[[Quantity; 5]; 8]> {
    let &Sizes { tokens, model, bytes, machine } = sizes;
    let head = Head { tokens, d_model: model.d_model, d: model.d, d_v: model.d };
    let row = |work: Work, seconds| {
        Some([
            Count(work.multiplications),
            Count(work.operations),
            Bytes(work.bytes(bytes)?),
            Intensity(work.intensity(bytes)?),
            Seconds(seconds),
        ])
    };
    let mut rows = [[Count(0); 5]; 8];
    // The steps after the first come one after the other: their times add up.
    let (mut together, mut sum) = (Work::default(), 0.0);
    for (place, step) in Step::ALL.into_iter().enumerate() {
        let work = cost::step(step, head)?;
        let seconds = machine.seconds(work, bytes)?;
        rows[place] = row(work, seconds)?;
        if step != Step::Project {
            together = together.and(work)?;
            sum += seconds;
        }
    }
    let tiled = cost::tiled(head, BLOCK)?;
    rows[6] = row(together, sum)?;
    rows[7] = row(tiled, machine.seconds(tiled, bytes)?)?;
    Some(rows)
}

/// A run of the whole model, counted.
struct Run {
    by_weights: u64,
    by_keys: u64,
    operations: u64,
    bytes: u64,
    computing: f64,
    moving: f64,
}

impl Run {
    /// So many tokens, and so many keys that they see. All weights that are
    /// multiplied by, and the keys and values of the text, move once.
    #[inline(never)]
    fn new(sizes: &Sizes, tokens: u64, keys: u64) -> Option<Run> {
        let &Sizes { model, bytes, machine, .. } = sizes;
        let weights = model.multiplications_by_weights()?;
        let by_weights = weights.checked_mul(tokens)?;
        let by_keys = model.multiplications_by_keys(keys)?;
        let operations = by_weights.checked_add(by_keys)?.checked_mul(2)?;
        let numbers = weights.checked_add(model.cache_bytes(sizes.tokens, 1)?)?;
        let bytes = numbers.checked_mul(bytes)?;
        let computing = operations as f64 / machine.operations_per_second;
        let moving = bytes as f64 / machine.bytes_per_second;
        Some(Run { by_weights, by_keys, operations, bytes, computing, moving })
    }

    fn intensity(&self) -> f64 {
        self.operations as f64 / self.bytes as f64
    }

    fn least(&self) -> f64 {
        self.computing.max(self.moving)
    }

    fn rows(&self) -> [Quantity; 8] {
        [
            Count(self.by_weights),
            Count(self.by_keys),
            Count(self.operations),
            Bytes(self.bytes),
            Intensity(self.intensity()),
            Seconds(self.computing),
            Seconds(self.moving),
            Seconds(self.least()),
        ]
    }
}

/// A forward pass of all tokens, closed scores left out; and one token that sees
/// as many keys as the text has tokens.
fn runs(sizes: &Sizes) -> Option<[Run; 2]> {
    let tokens = sizes.tokens;
    Some([Run::new(sizes, tokens, cost::open_scores(tokens)?)?, Run::new(sizes, 1, tokens)?])
}

/// What has to be kept: numbers and bytes.
fn memory(sizes: &Sizes) -> Option<[[Quantity; 2]; 4]> {
    let &Sizes { tokens, model, bytes, .. } = sizes;
    let kept = [
        model.weights()?,
        model.cache_bytes(1, 1)?,
        model.cache_bytes(tokens, 1)?,
        tokens.checked_mul(tokens)?.checked_mul(model.heads)?,
    ];
    let mut rows = [[Count(0); 2]; 4];
    for (row, numbers) in rows.iter_mut().zip(kept) {
        *row = [Count(numbers), Bytes(numbers.checked_mul(bytes)?)];
    }
    Some(rows)
}

fn sentences(sizes: &Sizes, once: &Counts, twice: Option<&Counts>) -> Vec<String> {
    let growth = |run: usize| {
        let operations = |counts: &Counts| Count(counts.runs[run].operations);
        operations(once).growth(twice.map(operations))
    };
    let ridge = sizes.machine.ridge();
    let limit =
        |run: usize| if once.runs[run].intensity() < ridge { "memory" } else { "arithmetic" };
    vec![
        format!(
            "Twice the tokens: ×4 scores, {} operations to read the text, {} to write a token.",
            growth(0),
            growth(1)
        ),
        format!(
            "The ridge of the measured machine is at {} operations for a byte: there, reading \
             this text waits for {}, and writing for {}.",
            written::shown(ridge, 1),
            limit(0),
            limit(1)
        ),
        format!(
            "A token that sees {} keys takes as many multiplications by keys and values as by \
             weights.",
            units::grouped(once.crossover)
        ),
    ]
}
