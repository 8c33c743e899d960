//! A head computed: every matrix with its numbers, digits, labels and shades.
//! How a single cell came about is told in `derive`.

use crate::cell::Name;
use crate::json::{Unreadable, object};
use crate::state::{HeadState, Problem};
use crate::written::shown;
use attention::ndarray::Array2;
use attention::{Head, Mask, Options, Trace, recipe};

/// How many digits after the point a matrix shows where it needs more.
const DIGITS: u8 = 2;
/// The same where a single cell is explained.
const CLOSE_DIGITS: u8 = 3;

/// Said where `attention` refuses matrices.
pub(crate) const SIZES: &str = "The sizes of the matrices do not fit each other.";

/// A head with everything that it computes.
#[derive(Debug)]
pub(crate) struct Computed {
    pub(crate) state: HeadState,
    x: Array2<f64>,
    head: Head<f64>,
    trace: Trace<f64>,
    /// How many digits after the point X, `W_Q`, `W_K` and `W_V` have.
    decimals: [u8; 4],
}

/// All matrices, or all problems.
#[derive(Debug)]
pub(crate) struct HeadAnswer {
    pub(crate) matrices: Vec<Matrix>,
    pub(crate) problems: Vec<Problem>,
}

/// A matrix to be looked at.
#[derive(Debug)]
pub(crate) struct Matrix {
    name: Name,
    symbol: &'static str,
    about: &'static str,
    shape: String,
    family: &'static str,
    rows: Vec<String>,
    columns: Vec<String>,
    shown: Vec<Vec<String>>,
    shade: Vec<Vec<f64>>,
    exact: Vec<Vec<f64>>,
    legend: Legend,
    open: Option<Vec<usize>>,
}

object!(HeadAnswer { matrices, problems });
object!(Matrix {
    name,
    symbol,
    about,
    shape,
    family,
    rows,
    columns,
    shown,
    shade,
    exact,
    legend,
    open,
});
object!(Legend { low, high, zero });

/// What the shades of a matrix mean.
#[derive(Debug)]
struct Legend {
    low: String,
    high: String,
    zero: f64,
}

/// Why a head cannot be computed.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The request makes no sense.
    Unreadable(Unreadable),
    /// The reader has something to mend.
    Problems(Vec<Problem>),
}

impl From<Unreadable> for Refusal {
    fn from(sentence: Unreadable) -> Refusal {
        Refusal::Unreadable(sentence)
    }
}

/// The sizes were checked when the state was read, so that this cannot happen;
/// to print the error itself would make the engine larger.
impl From<attention::Error> for Refusal {
    fn from(_: attention::Error) -> Refusal {
        Refusal::Unreadable(SIZES.to_owned())
    }
}

impl Computed {
    /// Computes the head of a state.
    pub(crate) fn new(state: HeadState) -> Result<Computed, Refusal> {
        let inputs = state.inputs().map_err(Refusal::Problems)?;
        let decimals = [0, 1, 2, 3].map(|input: usize| inputs[input].decimals);
        let [x, w_q, w_k, w_v] = inputs.map(|input| input.numbers);
        let head = Head::new(w_q, w_k, w_v)?;
        let trace = head.trace(&x, options(&state))?;
        Ok(Computed { state, x, head, trace, decimals })
    }

    /// How many tokens there are.
    pub(crate) fn length(&self) -> usize {
        self.state.tokens.len()
    }

    /// The numbers of a matrix.
    pub(crate) fn numbers(&self, name: Name) -> &Array2<f64> {
        match name {
            Name::X => &self.x,
            Name::QueryWeights => self.head.w_q(),
            Name::KeyWeights => self.head.w_k(),
            Name::ValueWeights => self.head.w_v(),
            Name::Queries => &self.trace.q,
            Name::Keys => &self.trace.k,
            Name::Values => &self.trace.v,
            Name::Scores => &self.trace.scores,
            Name::Scaled => &self.trace.scaled,
            Name::Masked => &self.trace.masked,
            Name::Weights => &self.trace.weights,
            Name::Output => &self.trace.output,
        }
    }

    /// How many keys are open to a query.
    pub(crate) fn open_keys(&self, query: usize) -> usize {
        options(&self.state).mask.open_keys(query, self.length(), self.length())
    }

    /// What the scores are multiplied by.
    pub(crate) fn factor(&self) -> f64 {
        recipe::default_scale(self.state.matches.len())
    }

    /// How many digits after the point the numbers of a matrix have, if it is
    /// so few that one can know: sums of products of what was typed.
    pub(crate) fn exact_digits(&self, name: Name) -> Option<u8> {
        let [x, w_q, w_k, w_v] = self.decimals;
        match name {
            Name::X => Some(x),
            Name::QueryWeights => Some(w_q),
            Name::KeyWeights => Some(w_k),
            Name::ValueWeights => Some(w_v),
            Name::Queries => Some(x + w_q),
            Name::Keys => Some(x + w_k),
            Name::Values => Some(x + w_v),
            Name::Scores => Some(x + w_q + x + w_k),
            Name::Scaled | Name::Masked if !self.state.scale => self.exact_digits(Name::Scores),
            Name::Scaled | Name::Masked | Name::Weights | Name::Output => None,
        }
    }

    /// How many digits after the point a matrix shows: what was typed in full.
    pub(crate) fn digits(&self, name: Name) -> u8 {
        let exact = self.exact_digits(name);
        if name.is_input() { exact.unwrap_or(DIGITS) } else { exact.unwrap_or(DIGITS).min(DIGITS) }
    }

    /// How many digits a number of the matrix has in the derivation of another.
    pub(crate) fn close_digits(&self, name: Name) -> u8 {
        self.exact_digits(name).unwrap_or(CLOSE_DIGITS).min(CLOSE_DIGITS)
    }

    /// The labels of a matrix's rows.
    pub(crate) fn rows(&self, name: Name) -> &[String] {
        match name {
            Name::QueryWeights | Name::KeyWeights | Name::ValueWeights => &self.state.meanings,
            _ => &self.state.tokens,
        }
    }

    /// The labels of a matrix's columns.
    pub(crate) fn columns(&self, name: Name) -> &[String] {
        match name {
            Name::X => &self.state.meanings,
            Name::QueryWeights | Name::KeyWeights | Name::Queries | Name::Keys => {
                &self.state.matches
            }
            Name::ValueWeights | Name::Values | Name::Output => &self.state.messages,
            Name::Scores | Name::Scaled | Name::Masked | Name::Weights => &self.state.tokens,
        }
    }

    /// The answer to a request for the whole head.
    pub(crate) fn answer(&self) -> HeadAnswer {
        let matrices = Name::ALL.map(|name| self.matrix(name)).into();
        HeadAnswer { matrices, problems: Vec::new() }
    }

    fn matrix(&self, name: Name) -> Matrix {
        let numbers = self.numbers(name);
        let digits = self.digits(name);
        let range = Range::of(name, numbers);
        let per_query = matches!(name, Name::Scores | Name::Scaled | Name::Masked | Name::Weights);
        Matrix {
            name,
            symbol: self.symbol(name),
            about: self.about(name),
            shape: format!("({}, {})", numbers.nrows(), numbers.ncols()),
            family: name.family(),
            rows: self.rows(name).to_vec(),
            columns: self.columns(name).to_vec(),
            shown: table(numbers, |number| shown(number, digits)),
            shade: table(numbers, |number| range.shade(number)),
            exact: table(numbers, |number| number),
            legend: range.legend(digits),
            open: per_query.then(|| (0..self.length()).map(|row| self.open_keys(row)).collect()),
        }
    }

    fn symbol(&self, name: Name) -> &'static str {
        match (name, self.state.scale, self.state.mask) {
            (Name::Scaled, true, _) | (Name::Masked, true, false) => "S/√d",
            (Name::Scaled, false, _) | (Name::Masked, false, false) => "S",
            (Name::Masked, true, true) => "S/√d + M",
            (Name::Masked, false, true) => "S + M",
            (name, ..) => name.text(),
        }
    }

    fn about(&self, name: Name) -> &'static str {
        match name {
            Name::X => "each token’s embedding",
            Name::QueryWeights => "what each meaning makes a token look for",
            Name::KeyWeights => "what each meaning lets a token be found as",
            Name::ValueWeights => "what each meaning makes a token pass on",
            Name::Queries => "each token’s query: what it looks for",
            Name::Keys => "each token’s key: what it is found by",
            Name::Values => "each token’s value: what it passes on",
            Name::Scores => "the score of each query (row) with each key (column)",
            Name::Scaled if self.state.scale => "the scores divided by √d",
            Name::Scaled => "the scores as they are: dividing by √d is switched off",
            Name::Masked if self.state.mask => {
                "the scores, −∞ where the key is later than the query"
            }
            Name::Masked => "the scores as they are: the mask is switched off",
            Name::Weights => {
                "how much of its attention each query (row) gives to each key (column)"
            }
            Name::Output => "each token’s output: the weighted average of the values",
        }
    }
}

fn options(state: &HeadState) -> Options<f64> {
    let options = Options::masked(if state.mask { Mask::Causal } else { Mask::Full });
    if state.scale { options } else { options.with_scale(1.0) }
}

/// The numbers between which a matrix is shaded: 0 and whatever goes beyond.
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    fn of(name: Name, numbers: &Array2<f64>) -> Range {
        if name == Name::Weights {
            return Range { low: 0.0, high: 1.0 };
        }
        let finite = || numbers.iter().copied().filter(|number| number.is_finite());
        Range { low: finite().fold(0.0, f64::min), high: finite().fold(0.0, f64::max) }
    }

    /// Where a number stands, from 0 to 1, to three digits.
    fn shade(&self, number: f64) -> f64 {
        if number <= self.low || self.high <= self.low {
            return 0.0;
        }
        let share = (number - self.low) / (self.high - self.low);
        (share * 1000.0).round() / 1000.0
    }

    fn legend(&self, digits: u8) -> Legend {
        Legend {
            low: shown(self.low, digits),
            high: shown(self.high, digits),
            zero: self.shade(0.0),
        }
    }
}

fn table<T>(numbers: &Array2<f64>, write: impl Fn(f64) -> T) -> Vec<Vec<T>> {
    numbers.outer_iter().map(|row| row.iter().map(|&number| write(number)).collect()).collect()
}
