//! The state of a head: all that a reader can change, as it was typed. Sizes
//! that do not fit make a request unreadable; a number that is none is a
//! problem at its place, and the reader's to mend.

use crate::cell::Name;
use crate::json::{Unreadable, Value, object};
use crate::number::Typed;
use attention::ndarray::Array2;

/// The most tokens that a sentence may have.
pub(crate) const MOST_TOKENS: usize = 12;
/// The most that any other size may be: the model width, the head sizes.
const WIDEST: usize = 8;
/// The longest name of a token.
pub(crate) const LONGEST_NAME: usize = 16;
/// The longest label of a row or column.
const LONGEST_LABEL: usize = 40;

/// Everything that a reader can change of a head.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeadState {
    pub(crate) tokens: Vec<String>,
    pub(crate) meanings: Vec<String>,
    pub(crate) matches: Vec<String>,
    pub(crate) messages: Vec<String>,
    pub(crate) x: Vec<Vec<String>>,
    pub(crate) w_q: Vec<Vec<String>>,
    pub(crate) w_k: Vec<Vec<String>>,
    pub(crate) w_v: Vec<Vec<String>>,
    pub(crate) mask: bool,
    pub(crate) scale: bool,
    /// What the last token's output should be, where the head is followed backwards.
    pub(crate) target: Option<Vec<String>>,
}

object!(HeadState { tokens, meanings, matches, messages, x, w_q, w_k, w_v, mask, scale, target });

impl HeadState {
    /// Reads a state and checks its sizes, but no name and no number.
    pub(crate) fn read(state: &Value) -> Result<HeadState, Unreadable> {
        let state = HeadState {
            tokens: state.texts("tokens")?,
            meanings: state.texts("meanings")?,
            matches: state.texts("matches")?,
            messages: state.texts("messages")?,
            x: state.table("x")?,
            w_q: state.table("w_q")?,
            w_k: state.table("w_k")?,
            w_v: state.table("w_v")?,
            mask: state.flag("mask")?,
            scale: state.flag("scale")?,
            target: state.get("target").map(|_| state.texts("target")).transpose()?,
        };
        state.check_sizes()?;
        Ok(state)
    }

    fn check_sizes(&self) -> Result<(), Unreadable> {
        count("tokens", &self.tokens, MOST_TOKENS)?;
        for (name, labels) in
            [("meanings", &self.meanings), ("matches", &self.matches), ("messages", &self.messages)]
        {
            count(name, labels, WIDEST)?;
            if labels.iter().any(|label| label.chars().count() > LONGEST_LABEL) {
                return Err(format!(
                    "One of the `{name}` is longer than {LONGEST_LABEL} characters."
                ));
            }
        }
        let (t, d_model) = (self.tokens.len(), self.meanings.len());
        size("x", &self.x, (t, d_model))?;
        size("w_q", &self.w_q, (d_model, self.matches.len()))?;
        size("w_k", &self.w_k, (d_model, self.matches.len()))?;
        size("w_v", &self.w_v, (d_model, self.messages.len()))?;
        let messages = self.messages.len();
        if self.target.as_ref().is_some_and(|target| target.len() != messages) {
            return Err(format!("`target` must have {messages} numbers."));
        }
        Ok(())
    }

    /// The numbers that were typed, or everything that is wrong with them.
    pub(crate) fn inputs(&self) -> Result<Inputs, Vec<Problem>> {
        let mut problems = self.wrong_names();
        let inputs = [
            Input::read(Name::X, &self.x, &mut problems),
            Input::read(Name::QueryWeights, &self.w_q, &mut problems),
            Input::read(Name::KeyWeights, &self.w_k, &mut problems),
            Input::read(Name::ValueWeights, &self.w_v, &mut problems),
        ];
        let target = self
            .target
            .as_ref()
            .map(|target| Input::read(Name::Target, std::slice::from_ref(target), &mut problems));
        if problems.is_empty() { Ok(Inputs { head: inputs, target }) } else { Err(problems) }
    }

    fn wrong_names(&self) -> Vec<Problem> {
        let wrong = |(row, name): (usize, &String)| {
            let sentence = token_name(name).err()?;
            Some(Problem { matrix: "tokens", row, column: 0, sentence })
        };
        self.tokens.iter().enumerate().filter_map(wrong).collect()
    }
}

/// A token's name without the spaces around it, or what is wrong with it.
pub(crate) fn token_name(typed: &str) -> Result<&str, String> {
    let name = typed.trim();
    if name.is_empty() {
        return Err("A token needs a name; type a word.".to_owned());
    }
    if name.chars().count() > LONGEST_NAME {
        return Err(format!("A token's name has at most {LONGEST_NAME} characters; shorten it."));
    }
    if name.chars().any(char::is_control) {
        return Err("A token's name stands on one line; leave out tabs and line ends.".to_owned());
    }
    Ok(name)
}

fn count(name: &str, labels: &[String], most: usize) -> Result<(), Unreadable> {
    if (1..=most).contains(&labels.len()) {
        return Ok(());
    }
    Err(format!("There are {} `{name}`, but there must be 1 to {most}.", labels.len()))
}

fn size(name: &str, rows: &[Vec<String>], (high, wide): (usize, usize)) -> Result<(), Unreadable> {
    if rows.len() == high && rows.iter().all(|row| row.len() == wide) {
        return Ok(());
    }
    Err(format!("`{name}` must have {high} rows of {wide} numbers."))
}

/// Every matrix that was typed.
pub(crate) struct Inputs {
    /// X, `W_Q`, `W_K` and `W_V`.
    pub(crate) head: [Input; 4],
    /// A single row.
    pub(crate) target: Option<Input>,
}

/// A matrix that was typed.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) numbers: Array2<f64>,
    /// The most digits after the point that any of its numbers has.
    pub(crate) decimals: u8,
}

impl Input {
    fn read(name: Name, rows: &[Vec<String>], problems: &mut Vec<Problem>) -> Input {
        let width = rows.first().map_or(0, Vec::len);
        let mut decimals = 0;
        let numbers = Array2::from_shape_fn((rows.len(), width), |(row, column)| {
            let typed = Typed::read(&rows[row][column]).unwrap_or_else(|sentence| {
                problems.push(Problem { matrix: name.text(), row, column, sentence });
                Typed::nearest(0.0, 0)
            });
            decimals = decimals.max(typed.decimals());
            typed.value()
        });
        Input { numbers, decimals }
    }
}

/// Something typed that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    /// `tokens` for a name.
    matrix: &'static str,
    row: usize,
    column: usize,
    sentence: String,
}

object!(Problem { matrix, row, column, sentence });
