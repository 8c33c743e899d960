//! What is asked of a training: the task, and the seed and the learning rate as
//! they were typed.

use crate::json::{Unreadable, Value, object};
use crate::number::{Typed, shortened};
use learning::single_head::{Task, Training};

/// No seed is larger.
const LARGEST_SEED: u64 = 999_999_999;

/// A task, a seed and a learning rate, read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Asked {
    task: Task,
    seed: u64,
    rate: Typed,
}

/// Something typed that cannot be used.
#[derive(Debug)]
pub(crate) struct Problem {
    field: &'static str,
    sentence: String,
}

object!(Problem { field, sentence });

impl Asked {
    /// Reads a request: what is asked, or everything that is wrong with what was typed.
    pub(crate) fn read(request: &Value) -> Result<Result<Asked, Vec<Problem>>, Unreadable> {
        let task = match request.text("task")? {
            "noun" => Task::Noun,
            "previous" => Task::Previous,
            _ => return Err("`task` is neither `noun` nor `previous`.".to_owned()),
        };
        let seed = seed(request.text("seed")?);
        let rate = rate(request.text("rate")?);
        let problem = |field, sentence| Problem { field, sentence };
        Ok(match (seed, rate) {
            (Ok(seed), Ok(rate)) => Ok(Asked { task, seed, rate }),
            (seed, rate) => {
                let seed = seed.err().map(|sentence| problem("seed", sentence));
                let rate = rate.err().map(|sentence| problem("rate", sentence));
                Err(seed.into_iter().chain(rate).collect())
            }
        })
    }

    /// The training before its first step.
    pub(super) fn training(self) -> Result<Training, Unreadable> {
        Training::new(self.task, self.seed, self.rate.value())
            .map_err(|error| format!("The training cannot begin: {error}."))
    }
}

fn seed(typed: &str) -> Result<u64, String> {
    let text = typed.trim();
    if text.is_empty() {
        return Err("There is no seed here; type a whole number, such as 7.".to_owned());
    }
    if !text.bytes().all(|letter| letter.is_ascii_digit()) {
        return Err(format!(
            "“{}” is not a whole number from 0 on; type one, such as 7.",
            shortened(text)
        ));
    }
    // One with more digits than the type holds is too large as well.
    text.parse().ok().filter(|&seed| seed <= LARGEST_SEED).ok_or_else(|| {
        format!(
            "{} is too large here; type a number up to 999\u{202f}999\u{202f}999.",
            shortened(text)
        )
    })
}

fn rate(typed: &str) -> Result<Typed, String> {
    let rate = Typed::read(typed)?;
    if rate.value() > 0.0 {
        return Ok(rate);
    }
    Err("A learning rate is above 0, or nothing would be learned; type one, such as 1.".to_owned())
}
