//! The cost calculator: the sizes of a model and of a text, as typed, and what
//! can be said of them. Reading and checking sizes is here; what follows from
//! them is in `tables`, and how counts are written in `units`. The counting
//! itself is `attention::cost`.

mod tables;
mod units;

use crate::json::{Unreadable, Value, object};
use attention::cost::{Model, Roofline};
pub(crate) use tables::CostAnswer;
use units::{grouped, shortened};

/// No size is larger than this; their products may well be too large to count.
const LARGEST: u64 = 1_000_000_000;
/// The numbers of the measured ceilings are in billions a second.
const BILLION: f64 = 1e9;

/// What a reader can change; sizes are as typed. An empty `d`,
/// `key_value_heads` or `feed_forward` follows from the other sizes.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) tokens: String,
    pub(crate) layers: String,
    pub(crate) d_model: String,
    pub(crate) heads: String,
    pub(crate) d: String,
    pub(crate) key_value_heads: String,
    pub(crate) feed_forward: String,
    pub(crate) feed_forward_matrices: String,
    pub(crate) vocabulary: String,
    /// Whether one matrix is both embedding and output.
    pub(crate) tied: bool,
    pub(crate) bytes: String,
    /// The machine's ceilings, in billions a second.
    pub(crate) gigaflops: f64,
    pub(crate) gigabytes: f64,
}

object!(State {
    tokens,
    layers,
    d_model,
    heads,
    d,
    key_value_heads,
    feed_forward,
    feed_forward_matrices,
    vocabulary,
    tied,
    bytes,
    gigaflops,
    gigabytes,
});

/// The sizes, read.
#[derive(Clone, Copy)]
struct Sizes {
    tokens: u64,
    model: Model,
    bytes: u64,
    machine: Roofline,
}

/// What an empty size stands for; empty where that cannot be told.
#[derive(Debug, Default)]
struct Follows {
    d: String,
    key_value_heads: String,
    feed_forward: String,
}

object!(Follows { d, key_value_heads, feed_forward });

/// A size that cannot be used, or sizes that cannot be counted together.
#[derive(Debug)]
struct Problem {
    field: Option<&'static str>,
    sentence: String,
}

object!(Problem { field, sentence });

/// Everything that follows from a state.
pub(crate) fn answer(state: &State) -> Result<CostAnswer, Unreadable> {
    let mut reading = Reading::default();
    let sizes = reading.sizes(state)?;
    let mut answer = CostAnswer::default();
    match sizes.filter(|_| reading.problems.is_empty()).map(tables::tables) {
        Some(Ok(counted)) => answer = counted,
        Some(Err(what)) => {
            let sentence = format!(
                "These sizes are too large together: {what} would not fit in 64 bits, which end \
                 near 1.8·10¹⁹. Make one of them smaller."
            );
            reading.problems.push(Problem { field: None, sentence });
        }
        None => {}
    }
    Ok(CostAnswer { follows: reading.follows, problems: reading.problems, ..answer })
}

/// A size doubled so many times, or halved, kept from 1 to the largest.
pub(crate) fn doubled(typed: &str, times: i64) -> Result<String, String> {
    let mut size = whole(typed)?;
    for _ in 0..times.unsigned_abs().min(64) {
        size = if times < 0 { (size / 2).max(1) } else { size * 2 };
        if size > LARGEST {
            return Ok((size / 2).to_string());
        }
    }
    Ok(size.to_string())
}

impl State {
    /// Reads a state, but none of its sizes.
    pub(crate) fn read(state: &Value) -> Result<State, Unreadable> {
        let text = |name| state.text(name).map(str::to_owned);
        Ok(State {
            tokens: text("tokens")?,
            layers: text("layers")?,
            d_model: text("d_model")?,
            heads: text("heads")?,
            d: text("d")?,
            key_value_heads: text("key_value_heads")?,
            feed_forward: text("feed_forward")?,
            feed_forward_matrices: text("feed_forward_matrices")?,
            vocabulary: text("vocabulary")?,
            tied: state.flag("tied")?,
            bytes: text("bytes")?,
            gigaflops: state.number("gigaflops")?,
            gigabytes: state.number("gigabytes")?,
        })
    }

    fn machine(&self) -> Result<Roofline, Unreadable> {
        if self.gigaflops > 0.0 && self.gigabytes > 0.0 {
            Ok(Roofline {
                operations_per_second: self.gigaflops * BILLION,
                bytes_per_second: self.gigabytes * BILLION,
            })
        } else {
            Err("`gigaflops` and `gigabytes` must be more than 0.".to_owned())
        }
    }
}

/// Sizes being read, with what is wrong with them so far.
#[derive(Default)]
struct Reading {
    follows: Follows,
    problems: Vec<Problem>,
}

impl Reading {
    /// None if any size cannot be used.
    fn sizes(&mut self, state: &State) -> Result<Option<Sizes>, Unreadable> {
        let feed_forward_matrices =
            chosen("feed_forward_matrices", &state.feed_forward_matrices, &["2", "3"])?;
        let bytes = chosen("bytes", &state.bytes, &["1", "2", "4"])?;
        let machine = state.machine()?;
        let tokens = self.size("tokens", &state.tokens);
        let layers = self.size("layers", &state.layers);
        let d_model = self.size("d_model", &state.d_model);
        let heads = self.size("heads", &state.heads);
        let d = self.head_size(&state.d, d_model, heads);
        let key_value_heads = self.key_value_heads(&state.key_value_heads, heads);
        let feed_forward = self.feed_forward(&state.feed_forward, d_model);
        let vocabulary = self.size("vocabulary", &state.vocabulary);
        let model = || {
            Some(Model {
                layers: layers?,
                d_model: d_model?,
                heads: heads?,
                key_value_heads: key_value_heads?,
                d: d?,
                feed_forward: feed_forward?,
                feed_forward_matrices,
                vocabulary: vocabulary?,
                tied: state.tied,
            })
        };
        Ok(tokens.zip(model()).map(|(tokens, model)| Sizes { tokens, model, bytes, machine }))
    }

    fn problem(&mut self, field: &'static str, sentence: String) {
        self.problems.push(Problem { field: Some(field), sentence });
    }

    fn size(&mut self, field: &'static str, typed: &str) -> Option<u64> {
        whole(typed).map_err(|sentence| self.problem(field, sentence)).ok()
    }

    /// `d`, or `d_model` shared out among the heads.
    fn head_size(&mut self, typed: &str, d_model: Option<u64>, heads: Option<u64>) -> Option<u64> {
        let both = d_model.zip(heads);
        let even = both.filter(|(d_model, heads)| d_model.is_multiple_of(*heads));
        let follows = even.map(|(d_model, heads)| d_model / heads);
        self.follows.d = written(follows);
        if !typed.trim().is_empty() {
            return self.size("d", typed);
        }
        if let (Some((d_model, heads)), None) = (both, even) {
            self.problem(
                "d",
                format!(
                    "A width of {} cannot be shared out evenly among {} heads; type a head size, \
                     or change one of them.",
                    grouped(d_model),
                    grouped(heads)
                ),
            );
        }
        follows
    }

    /// As typed, or as many as there are heads.
    fn key_value_heads(&mut self, typed: &str, heads: Option<u64>) -> Option<u64> {
        self.follows.key_value_heads = written(heads);
        if typed.trim().is_empty() {
            return heads;
        }
        let shared = self.size("key_value_heads", typed)?;
        match heads {
            Some(heads) if !heads.is_multiple_of(shared) => {
                self.problem(
                    "key_value_heads",
                    format!(
                        "{} heads cannot share {} key heads evenly; type a divisor of {0}, or \
                         nothing for no sharing.",
                        grouped(heads),
                        grouped(shared)
                    ),
                );
                None
            }
            _ => Some(shared),
        }
    }

    /// As typed, or four times the width of the model.
    fn feed_forward(&mut self, typed: &str, d_model: Option<u64>) -> Option<u64> {
        // Sizes are small enough for this to fit.
        let follows = d_model.map(|d_model| 4 * d_model);
        self.follows.feed_forward = written(follows);
        if typed.trim().is_empty() { follows } else { self.size("feed_forward", typed) }
    }
}

fn written(size: Option<u64>) -> String {
    size.map(|size| size.to_string()).unwrap_or_default()
}

/// A size that comes from a short list.
fn chosen(name: &str, text: &str, from: &[&str]) -> Result<u64, Unreadable> {
    let known = from.contains(&text).then(|| text.parse().ok()).flatten();
    known.ok_or_else(|| format!("`{name}` is none of {}.", from.join(", ")))
}

/// Reads a typed size: digits, perhaps in groups. The error is a sentence for
/// the reader.
fn whole(typed: &str) -> Result<u64, String> {
    let text = typed.trim();
    let digits: String =
        text.chars().filter(|letter| !letter.is_whitespace() && *letter != '_').collect();
    let digits = digits.strip_prefix('+').unwrap_or(&digits);
    if digits.is_empty() {
        return Err("There is no number here; type a whole one, such as 12.".to_owned());
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "“{}” is not a whole number above 0; type one in plain digits, such as 4096.",
            shortened(text)
        ));
    }
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Err("0 is too small here; there must be at least 1.".to_owned());
    }
    match significant.parse() {
        Ok(size) if size <= LARGEST => Ok(size),
        _ => Err(format!(
            "{} is too large here; type a number up to {}.",
            shortened(text),
            grouped(LARGEST)
        )),
    }
}
