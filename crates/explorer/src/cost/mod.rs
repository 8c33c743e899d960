//! The cost calculator: the sizes of a model and of a text, as typed, and what
//! can be said of them. Reading and checking sizes is here; what follows from
//! them is in `tables`, and how counts are written in `units`. The counting
//! itself is `attention::cost`.

mod tables;
mod units;

use crate::json::{Unreadable, Value, object};
use crate::number::shortened;
use attention::cost::{Model, Roofline};
pub(crate) use tables::CostAnswer;
use units::grouped;

/// No size is larger than this; their products may well be too large to count.
const LARGEST: u64 = 1_000_000_000;
/// The numbers of the measured ceilings are in billions a second.
const BILLION: f64 = 1e9;

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

/// Everything that follows from a state (`CostState` in `types.d.ts`), whose
/// sizes are as typed. An empty `d`, `key_value_heads` or `feed_forward` follows
/// from the other sizes.
pub(crate) fn answer(state: &Value) -> Result<CostAnswer, Unreadable> {
    let mut reading = Reading::default();
    let sizes = reading.sizes(state)?;
    let mut answer = CostAnswer::default();
    match sizes.filter(|_| reading.problems.is_empty()).map(|sizes| tables::answer(&sizes)) {
        Some(Ok(counted)) => answer = counted,
        Some(Err(what)) => {
            let sentence = format!(
                "Too large together: {what} would not fit in 64 bits. Make a size smaller."
            );
            reading.problems.push(Problem { field: None, sentence });
        }
        None => {}
    }
    answer.follows = reading.follows;
    answer.problems = reading.problems;
    Ok(answer)
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

/// The machine's ceilings.
fn machine(state: &Value) -> Result<Roofline, Unreadable> {
    let (gigaflops, gigabytes) = (state.number("gigaflops")?, state.number("gigabytes")?);
    if gigaflops <= 0.0 || gigabytes <= 0.0 {
        return Err("`gigaflops` and `gigabytes` must be more than 0.".to_owned());
    }
    Ok(Roofline {
        operations_per_second: gigaflops * BILLION,
        bytes_per_second: gigabytes * BILLION,
    })
}

/// Sizes being read, with what is wrong with them so far.
#[derive(Default)]
struct Reading {
    follows: Follows,
    problems: Vec<Problem>,
}

impl Reading {
    /// None if any size cannot be used.
    fn sizes(&mut self, state: &Value) -> Result<Option<Sizes>, Unreadable> {
        let feed_forward_matrices = chosen(state, "feed_forward_matrices", &["2", "3"])?;
        let bytes = chosen(state, "bytes", &["1", "2", "4"])?;
        let machine = machine(state)?;
        let tied = state.flag("tied")?;
        let tokens = self.size(state, "tokens")?;
        let layers = self.size(state, "layers")?;
        let d_model = self.size(state, "d_model")?;
        let heads = self.size(state, "heads")?;
        let d = self.head_size(state, d_model, heads)?;
        let key_value_heads = self.key_value_heads(state, heads)?;
        // Sizes are small enough for four times as much to fit.
        let wide = d_model.map(|d_model| 4 * d_model);
        self.follows.feed_forward = written(wide);
        let feed_forward = self.size_or(state, "feed_forward", wide)?;
        let vocabulary = self.size(state, "vocabulary")?;
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
                tied,
            })
        };
        Ok(tokens.zip(model()).map(|(tokens, model)| Sizes { tokens, model, bytes, machine }))
    }

    fn problem(&mut self, field: &'static str, sentence: String) {
        self.problems.push(Problem { field: Some(field), sentence });
    }

    fn size(&mut self, state: &Value, field: &'static str) -> Result<Option<u64>, Unreadable> {
        let size = whole(state.text(field)?);
        Ok(size.map_err(|sentence| self.problem(field, sentence)).ok())
    }

    /// What is typed, or if that is nothing, what follows.
    fn size_or(
        &mut self,
        state: &Value,
        field: &'static str,
        follows: Option<u64>,
    ) -> Result<Option<u64>, Unreadable> {
        if is_empty(state, field)? { Ok(follows) } else { self.size(state, field) }
    }

    /// `d`, or `d_model` shared out among the heads.
    fn head_size(
        &mut self,
        state: &Value,
        d_model: Option<u64>,
        heads: Option<u64>,
    ) -> Result<Option<u64>, Unreadable> {
        let both = d_model.zip(heads);
        let even = both.filter(|(d_model, heads)| d_model.is_multiple_of(*heads));
        let follows = even.map(|(d_model, heads)| d_model / heads);
        self.follows.d = written(follows);
        if let (Some((d_model, heads)), None, true) = (both, even, is_empty(state, "d")?) {
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
        self.size_or(state, "d", follows)
    }

    /// As typed, or as many as there are heads.
    fn key_value_heads(
        &mut self,
        state: &Value,
        heads: Option<u64>,
    ) -> Result<Option<u64>, Unreadable> {
        const FIELD: &str = "key_value_heads";
        self.follows.key_value_heads = written(heads);
        let shared = self.size_or(state, FIELD, heads)?;
        if let Some((heads, shared)) = heads.zip(shared)
            && !heads.is_multiple_of(shared)
        {
            self.problem(
                FIELD,
                format!(
                    "{0} heads cannot share {1} key heads evenly; type a divisor of {0}, or \
                     nothing for no sharing.",
                    grouped(heads),
                    grouped(shared)
                ),
            );
        }
        Ok(shared)
    }
}

fn is_empty(state: &Value, field: &str) -> Result<bool, Unreadable> {
    Ok(state.text(field)?.trim().is_empty())
}

fn written(size: Option<u64>) -> String {
    size.map(|size| size.to_string()).unwrap_or_default()
}

/// A size that comes from a short list.
fn chosen(state: &Value, name: &str, from: &[&str]) -> Result<u64, Unreadable> {
    let text = state.text(name)?;
    let known = from.contains(&text).then(|| whole(text).ok()).flatten();
    known.ok_or_else(|| format!("`{name}` is none of {}.", from.join(", ")))
}

/// Reads a typed size: digits, perhaps in groups. The error is a sentence for
/// the reader.
fn whole(typed: &str) -> Result<u64, String> {
    let text = typed.trim();
    if text.is_empty() {
        return Err("There is no number here; type a whole one, such as 12.".to_owned());
    }
    let (mut size, mut any) = (0_u64, false);
    for letter in text.strip_prefix('+').unwrap_or(text).chars() {
        match letter.to_digit(10) {
            // Above the largest it matters no more how far.
            Some(digit) => size = (size * 10 + u64::from(digit)).min(LARGEST + 1),
            None if letter.is_whitespace() || letter == '_' => continue,
            None => return Err(not_whole(text)),
        }
        any = true;
    }
    match size {
        0 if any => Err("0 is too small here; there must be at least 1.".to_owned()),
        0 => Err(not_whole(text)),
        1..=LARGEST => Ok(size),
        _ => Err(format!(
            "{} is too large here; type a number up to {}.",
            shortened(text),
            grouped(LARGEST)
        )),
    }
}

fn not_whole(text: &str) -> String {
    format!(
        "“{}” is not a whole number above 0; type one in plain digits, such as 4096.",
        shortened(text)
    )
}
