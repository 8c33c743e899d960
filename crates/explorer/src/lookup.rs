//! The soft lookup of the first chapter, live: a query on a plane of two
//! numbers, keys on the same plane, and a temperature between exact lookup and
//! plain average.

use crate::derive::{Line, products};
use crate::head::SIZES;
use crate::json::{Unreadable, Value, object};
use crate::number::Typed;
use crate::written::Num;
use attention::ndarray::Array2;
use attention::{Real as _, recipe};

/// The plane shows numbers from here ...
const LOW: f64 = -0.25;
/// ... to here, in both directions.
const HIGH: f64 = 1.5;
/// How many digits after the point a dragged query gets.
const DRAGGED_DIGITS: u32 = 2;
/// The slider's right end, and its middle, where the temperature is 1.
const END: i64 = 1000;
pub(crate) const MIDDLE: i64 = END / 2;
/// The logarithm of the highest temperature short of ∞, 20; the lowest above 0 is 1/20.
const LOG_HOTTEST: f64 = 2.995_732_273_553_991;
/// The most keys, and the most numbers in a value.
const MOST: usize = 8;
/// Scores closer than this are equal for exact lookup: typed decimals tie where
/// their products in binary may not.
const TIE: f64 = 1e-9;

/// What a reader can change of the lookup, and what is looked up; as typed.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) names: Vec<String>,
    pub(crate) axes: Vec<String>,
    pub(crate) facts: Vec<String>,
    pub(crate) keys: Vec<Vec<String>>,
    pub(crate) values: Vec<Vec<String>>,
    pub(crate) query: Vec<String>,
    /// The position of the slider.
    pub(crate) temperature: i64,
}

object!(State { names, axes, facts, keys, values, query, temperature });

/// The same with its numbers read.
struct Lookup {
    state: State,
    keys: Numbers,
    values: Numbers,
    query: Numbers,
    temperature: Temperature,
}

/// A table of typed numbers.
struct Numbers {
    table: Array2<f64>,
    /// The most digits after the point that any has.
    decimals: u8,
}

/// How far scores count.
#[derive(Clone, Copy, PartialEq)]
enum Temperature {
    /// The best match alone.
    Exact,
    /// Scores are divided by this.
    Warm(f64),
    /// No score counts.
    Average,
}

/// Everything that follows from a state.
pub(crate) fn answer(state: State) -> Result<LookupAnswer, Unreadable> {
    Lookup::new(state)?.answer().map_err(|_| SIZES.to_owned())
}

/// The query at a place of the plane, from 0 to 1.
pub(crate) fn point(x: f64, y: f64) -> [Typed; 2] {
    [x, y].map(|share| {
        let number = LOW + (HIGH - LOW) * share.clamp(0.0, 1.0);
        Typed::nearest(number, DRAGGED_DIGITS)
    })
}

/// The query moved by so many tenths, kept on the plane.
pub(crate) fn nudged(query: [Typed; 2], tenths: [i64; 2]) -> [Typed; 2] {
    let kept = |number: Typed| {
        number.clamp(Typed::nearest(LOW, DRAGGED_DIGITS), Typed::nearest(HIGH, DRAGGED_DIGITS))
    };
    [kept(query[0].stepped(tenths[0])), kept(query[1].stepped(tenths[1]))]
}

impl State {
    /// Reads a state, but none of its numbers.
    pub(crate) fn read(state: &Value) -> Result<State, Unreadable> {
        Ok(State {
            names: state.texts("names")?,
            axes: state.texts("axes")?,
            facts: state.texts("facts")?,
            keys: state.table("keys")?,
            values: state.table("values")?,
            query: state.texts("query")?,
            temperature: state.whole("temperature")?,
        })
    }
}

impl Lookup {
    fn new(state: State) -> Result<Lookup, Unreadable> {
        let (names, facts) = (state.names.len(), state.facts.len());
        if !(1..=MOST).contains(&names) || !(1..=MOST).contains(&facts) {
            return Err(format!("There must be 1 to {MOST} `names` and `facts`."));
        }
        if state.axes.len() != 2 {
            return Err("There must be two `axes`.".to_owned());
        }
        Ok(Lookup {
            keys: Numbers::read("keys", &state.keys, (names, 2))?,
            values: Numbers::read("values", &state.values, (names, facts))?,
            query: Numbers::read("query", std::slice::from_ref(&state.query), (1, 2))?,
            temperature: Temperature::at(state.temperature),
            state,
        })
    }

    fn weights(&self, scores: &Array2<f64>) -> Array2<f64> {
        match self.temperature {
            Temperature::Warm(tau) => recipe::softmax(&recipe::scale(scores, 1.0 / tau)),
            Temperature::Average => recipe::softmax(&recipe::scale(scores, 0.0)),
            Temperature::Exact => {
                let best = scores.fold(f64::NEG_INFINITY, |best, &score| best.max(score));
                // What is left of scores divided by ever less: the best, and −∞.
                let matches = |score| if best - score < TIE { 0.0 } else { f64::NEG_INFINITY };
                recipe::softmax(&scores.mapv(matches))
            }
        }
    }

    fn answer(&self) -> Result<LookupAnswer, attention::Error> {
        let scores = recipe::score(&self.query.table, &self.keys.table)?;
        let weights = self.weights(&scores);
        let mixed = recipe::mix(&weights, &self.values.table)?;
        let keys = 0..self.state.names.len();
        let keys = keys.map(|key| self.key(key, scores[[0, key]], weights[[0, key]])).collect();
        let facts = 0..self.state.facts.len();
        let facts = facts.map(|fact| self.fact(fact, &weights, mixed[[0, fact]])).collect();
        let Spot { x, y } = self.query.spot(0);
        Ok(LookupAnswer {
            temperature: self.temperature.told(),
            query: Query { x, y, numbers: self.query.numbers(0) },
            origin: Spot::of(0.0, 0.0),
            keys,
            mixed: facts,
            spoken: self.spoken(&weights, &mixed),
        })
    }

    fn key(&self, key: usize, score: f64, weight: f64) -> Key {
        let digits = (self.query.decimals + self.keys.decimals).min(3);
        let score = Num::new(score, digits);
        let pairs = self.state.axes.iter().zip(0..).map(|(axis, column)| {
            (axis.clone(), [self.query.number(0, column), self.keys.number(key, column)])
        });
        let exact = Some([self.query.decimals, self.keys.decimals]);
        let Spot { x, y } = self.keys.spot(key);
        Key {
            x,
            y,
            name: self.state.names[key].clone(),
            numbers: self.keys.numbers(key),
            how: products(pairs.collect(), exact, score.clone()).lines,
            score,
            weight: Num::new(weight, 2),
            share: weight,
            value: self.values.numbers(key),
        }
    }

    fn fact(&self, fact: usize, weights: &Array2<f64>, mixed: f64) -> Fact {
        let number = Num::new(mixed, 2);
        let pairs = self.state.names.iter().zip(0..).map(|(name, key)| {
            let weight = Num::new(weights[[0, key]], 3);
            (name.clone(), [weight, self.values.number(key, fact)])
        });
        let how = products(pairs.collect(), None, number.clone()).lines;
        Fact { fact: self.state.facts[fact].clone(), number, how }
    }

    fn spoken(&self, weights: &Array2<f64>, mixed: &Array2<f64>) -> String {
        let query = self
            .state
            .axes
            .iter()
            .zip(0..)
            .map(|(axis, column)| format!("{axis} {}", self.query.number(0, column).shown));
        let shares = self.state.names.iter().zip(weights);
        let shares =
            shares.map(|(name, &weight)| format!("{} of {name}", ledger::number(weight, 2)));
        let facts = self.state.facts.iter().zip(mixed);
        let facts = facts.map(|(fact, &number)| format!("{} {fact}", ledger::number(number, 2)));
        format!(
            "The query is {}. Temperature: {}. The answer takes {}: {}.",
            joined(&query.collect::<Vec<_>>()),
            self.temperature.sentence(),
            joined(&shares.collect::<Vec<_>>()),
            joined(&facts.collect::<Vec<_>>())
        )
    }
}

impl Numbers {
    fn read(
        name: &str,
        rows: &[Vec<String>],
        (high, wide): (usize, usize),
    ) -> Result<Numbers, Unreadable> {
        if rows.len() != high || rows.iter().any(|row| row.len() != wide) {
            return Err(format!("`{name}` must have {high} rows of {wide} numbers."));
        }
        let mut table = Array2::zeros((high, wide));
        let mut decimals = 0;
        for (place, typed) in table.iter_mut().zip(rows.iter().flatten()) {
            let typed = Typed::read(typed).map_err(|sentence| format!("`{name}`: {sentence}"))?;
            decimals = decimals.max(typed.decimals());
            *place = typed.value();
        }
        Ok(Numbers { table, decimals })
    }

    fn number(&self, row: usize, column: usize) -> Num {
        Num::new(self.table[[row, column]], self.decimals)
    }

    fn numbers(&self, row: usize) -> Vec<Num> {
        (0..self.table.ncols()).map(|column| self.number(row, column)).collect()
    }

    fn spot(&self, row: usize) -> Spot {
        Spot::of(self.table[[row, 0]], self.table[[row, 1]])
    }
}

impl Temperature {
    /// The temperature at a position of the slider: each step is the same
    /// ratio, and the ends are the limits.
    fn at(position: i64) -> Temperature {
        if position <= 0 {
            return Temperature::Exact;
        }
        if position >= END {
            return Temperature::Average;
        }
        let share = (position - MIDDLE) as f64 / (MIDDLE - 1) as f64;
        let tau = (share * LOG_HOTTEST).portable_exp();
        // What is shown is what is computed with.
        Temperature::Warm((tau * 100.0).round() / 100.0)
    }

    fn shown(self) -> String {
        match self {
            Temperature::Exact => "τ → 0".to_owned(),
            Temperature::Warm(tau) => format!("τ = {}", ledger::number(tau, 2)),
            Temperature::Average => "τ = ∞".to_owned(),
        }
    }

    fn sentence(self) -> String {
        match self {
            Temperature::Exact => "exact lookup, only the best match counts".to_owned(),
            Temperature::Warm(tau) if tau < 1.0 => {
                format!("{}, which favours the best match", ledger::number(tau, 2))
            }
            Temperature::Warm(tau) if tau > 1.0 => {
                format!("{}, which evens out the weights", ledger::number(tau, 2))
            }
            Temperature::Warm(tau) => format!("{}, plain softmax", ledger::number(tau, 2)),
            Temperature::Average => "infinite, the plain average of all".to_owned(),
        }
    }

    fn told(self) -> Told {
        let exact = match self {
            Temperature::Exact => 0.0,
            Temperature::Warm(tau) => tau,
            Temperature::Average => f64::INFINITY,
        };
        Told { shown: self.shown(), exact, sentence: self.sentence() }
    }
}

/// Everything to be shown of a lookup.
#[derive(Debug)]
pub(crate) struct LookupAnswer {
    temperature: Told,
    query: Query,
    origin: Spot,
    keys: Vec<Key>,
    mixed: Vec<Fact>,
    spoken: String,
}

/// The temperature in figures and words.
#[derive(Debug)]
struct Told {
    shown: String,
    exact: f64,
    sentence: String,
}

#[derive(Debug)]
struct Query {
    x: f64,
    y: f64,
    numbers: Vec<Num>,
}

#[derive(Debug)]
struct Key {
    x: f64,
    y: f64,
    name: String,
    numbers: Vec<Num>,
    score: Num,
    how: Vec<Line>,
    weight: Num,
    share: f64,
    value: Vec<Num>,
}

/// One number of the mixed value.
#[derive(Debug)]
struct Fact {
    fact: String,
    number: Num,
    how: Vec<Line>,
}

/// A place on the plane, from 0 to 1 each way.
#[derive(Debug)]
struct Spot {
    x: f64,
    y: f64,
}

object!(LookupAnswer { temperature, query, origin, keys, mixed, spoken });
object!(Told { shown, exact, sentence });
object!(Query { x, y, numbers });
object!(Key { x, y, name, numbers, score, how, weight, share, value });
object!(Fact { fact, number, how });
object!(Spot { x, y });

impl Spot {
    fn of(x: f64, y: f64) -> Spot {
        let share = |number: f64| ((number - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
        Spot { x: share(x), y: share(y) }
    }
}

/// “a, b and c”
fn joined(parts: &[String]) -> String {
    match parts {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => parts.concat(),
    }
}
