//! A head computed: every matrix with its numbers, digits, labels and shades,
//! and those of the backward pass if there is a target to miss. How a single
//! cell came about is told in `derive`.

use crate::backward::Backward;
use crate::cell::{Name, Place};
use crate::json::{Unreadable, object};
use crate::shade::{Legend, Range};
use crate::state::{HeadState, Inputs, Problem};
use crate::words;
use crate::written::{Num, shown};
use attention::ndarray::Array2;
use attention::{Head, Mask, Options, Trace, recipe};

/// How many digits after the point a matrix shows where it needs more.
const DIGITS: u8 = 2;
/// The same where a single cell is explained.
const CLOSE_DIGITS: u8 = 3;
/// The same for gradients, which shrink on their way back, and for the loss.
const GRADIENT_DIGITS: u8 = 3;
const LOSS_DIGITS: u8 = 4;
/// More than that no derivation shows.
const MOST_DIGITS: u8 = 4;

/// Said where `attention` refuses matrices.
pub(crate) const SIZES: &str = "The sizes of the matrices do not fit each other.";

/// A head with everything that it computes.
#[derive(Debug)]
pub(crate) struct Computed {
    pub(crate) state: HeadState,
    x: Array2<f64>,
    head: Head<f64>,
    trace: Trace<f64>,
    /// Where there is a target.
    backward: Option<Backward>,
    /// What a matrix has that is not there.
    nothing: Array2<f64>,
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
        let Inputs { head, target } = state.inputs().map_err(Refusal::Problems)?;
        let decimals = [0, 1, 2, 3].map(|input: usize| head[input].decimals);
        let [x, w_q, w_k, w_v] = head.map(|input| input.numbers);
        let head = Head::new(w_q, w_k, w_v)?;
        let options = options(&state);
        let trace = head.trace(&x, options)?;
        let backward =
            target.map(|target| Backward::new(target, &x, &head, &trace, options)).transpose()?;
        let nothing = Array2::zeros((0, 0));
        Ok(Computed { state, x, head, trace, backward, nothing, decimals })
    }

    /// How many tokens there are.
    pub(crate) fn length(&self) -> usize {
        self.state.tokens.len()
    }

    /// Whether there is a target, and so a backward pass.
    pub(crate) fn has_target(&self) -> bool {
        self.backward.is_some()
    }

    /// Every matrix that there is.
    pub(crate) fn names(&self) -> &'static [Name] {
        const FORWARD: &[Name] = Name::ALL.split_at(Name::FORWARD).0;
        if self.has_target() { &Name::ALL } else { FORWARD }
    }

    /// The numbers of a matrix; none of the backward pass without a target.
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
            backward => self
                .backward
                .as_ref()
                .and_then(|pass| pass.numbers(backward))
                .unwrap_or(&self.nothing),
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
            Name::Target => self.backward.as_ref().map(Backward::decimals),
            _ => None,
        }
    }

    /// How many digits after the point a matrix shows: what was typed in full.
    pub(crate) fn digits(&self, name: Name) -> u8 {
        match name {
            Name::Loss => LOSS_DIGITS,
            Name::DOutput | Name::DWeights | Name::DValues => DIGITS,
            name if name.subject().is_some() => GRADIENT_DIGITS,
            name if name.is_input() => self.exact_digits(name).unwrap_or(DIGITS),
            name => self.exact_digits(name).unwrap_or(DIGITS).min(DIGITS),
        }
    }

    /// How many digits a number that needs more has in the derivation of a matrix:
    /// one more than the matrix shows.
    pub(crate) fn closeness(&self, derived: Name) -> u8 {
        if derived.is_backward() {
            (self.digits(derived) + 1).min(MOST_DIGITS)
        } else {
            CLOSE_DIGITS
        }
    }

    /// How many digits a number of the matrix has in the derivation of another.
    pub(crate) fn close_digits(&self, name: Name, derived: Name) -> u8 {
        let most = self.closeness(derived);
        self.exact_digits(name).unwrap_or(most).min(most)
    }

    /// The number of a cell as the derivation of a matrix shows it.
    pub(crate) fn number(&self, place: Place, derived: Name) -> Num {
        let Place(name, row, column) = place;
        Num::of(place, self.numbers(name)[[row, column]], self.close_digits(name, derived))
    }

    /// The labels of a matrix's rows.
    pub(crate) fn rows(&self, name: Name) -> &[String] {
        match name.subject().unwrap_or(name) {
            Name::QueryWeights | Name::KeyWeights | Name::ValueWeights => &self.state.meanings,
            // The loss looks at the last token.
            Name::Target | Name::Loss => &self.state.tokens[self.length() - 1..],
            _ => &self.state.tokens,
        }
    }

    /// The labels of a matrix's columns.
    pub(crate) fn columns(&self, name: Name) -> &[String] {
        match name.subject().unwrap_or(name) {
            Name::X => &self.state.meanings,
            Name::QueryWeights | Name::KeyWeights | Name::Queries | Name::Keys => {
                &self.state.matches
            }
            Name::ValueWeights | Name::Values | Name::Output | Name::Target => &self.state.messages,
            Name::Loss => self.backward.as_ref().map_or(&[], Backward::loss_label),
            _ => &self.state.tokens,
        }
    }

    /// The answer to a request for the whole head.
    pub(crate) fn answer(&self) -> HeadAnswer {
        let matrices = self.names().iter().map(|&name| self.matrix(name)).collect();
        HeadAnswer { matrices, problems: Vec::new() }
    }

    fn matrix(&self, name: Name) -> Matrix {
        let numbers = self.numbers(name);
        let digits = self.digits(name);
        let range = Range::of(name, numbers);
        let per_query = matches!(
            name.subject().unwrap_or(name),
            Name::Scores | Name::Scaled | Name::Masked | Name::Weights
        );
        Matrix {
            name,
            symbol: words::symbol(name, &self.state),
            about: words::about(name, &self.state),
            shape: format!("({}, {})", numbers.nrows(), numbers.ncols()),
            family: name.family(),
            rows: self.rows(name).to_vec(),
            columns: self.columns(name).to_vec(),
            shown: table(numbers, &|number| shown(number, digits)),
            shade: table(numbers, &|number| range.shade(number)),
            exact: table(numbers, &|number| number),
            legend: range.legend(digits),
            open: per_query.then(|| (0..self.length()).map(|row| self.open_keys(row)).collect()),
        }
    }
}

fn options(state: &HeadState) -> Options<f64> {
    let options = Options::masked(if state.mask { Mask::Causal } else { Mask::Full });
    if state.scale { options } else { options.with_scale(1.0) }
}

fn table<T>(numbers: &Array2<f64>, write: &dyn Fn(f64) -> T) -> Vec<Vec<T>> {
    let (rows, columns) = numbers.dim();
    let cell = |row, column| write(numbers[[row, column]]);
    (0..rows).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect()
}
