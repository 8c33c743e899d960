//! The answers to the exercises that are numbers or claims.

use attention::cost::{Head, Model, Roofline, Step, step};
use ledger::Ledger;

use super::machine::{gflops, roofline};
use super::models::{GPT_3, LLAMA_3};
use super::{decoding_intensity, known, tiles_intensity};
use crate::Claim;

/// The head of the first exercise.
const SMALL: Head = Head { tokens: 10, d_model: 6, d: 4, d_v: 4 };
/// The tokens that GPT-3 was trained on: table D.1 of its paper.
const TRAINING_TOKENS: u64 = 300_000_000_000;
/// The tokens of a long context.
const LONG: u64 = 131_072;
const GIBIBYTE: f64 = (1_u64 << 30) as f64;

/// Enters the answers.
pub fn enter(ledger: &mut Ledger) {
    ledger.enter("cost.exercise.project", project).about("multiplications to project 10 tokens");
    ledger.enter("cost.exercise.score", score).about("multiplications to score 10 tokens");
    ledger.enter("cost.exercise.mix", mix).about("multiplications to mix 10 tokens");
    ledger
        .enter("cost.exercise.cache", long_cache)
        .digits(0)
        .about("the GiB of keys and values of Llama 3 8B for 131 072 tokens");
    ledger
        .enter("cost.exercise.cache.unshared", long_cache_unshared)
        .digits(0)
        .about("the same if no heads shared their keys");
    ledger
        .enter("cost.exercise.faster", twice_the_arithmetic_decodes_no_faster)
        .about("with twice the arithmetic, decoding is as slow as before, and tiles are faster");
    ledger
        .enter("cost.exercise.training", training_operations)
        .digits(0)
        .about("the operations of GPT-3's training, in units of 10 to the 21st");
    ledger
        .enter("cost.exercise.training.known", training_is_as_published)
        .about("that is the number of the paper, 3.14 times 10 to the 23rd, to 1 %");
    ledger
        .enter("cost.exercise.training.years", training_years)
        .about("the years that this machine would take at least");
}

/// Multiplications of step 1 for the head of the exercise.
///
/// # Errors
///
/// None that can happen: the count fits.
pub fn project() -> Result<u64, String> {
    Ok(known(step(Step::Project, SMALL))?.multiplications)
}

/// Multiplications of step 2.
///
/// # Errors
///
/// None that can happen: the count fits.
pub fn score() -> Result<u64, String> {
    Ok(known(step(Step::Score, SMALL))?.multiplications)
}

/// Multiplications of step 6.
///
/// # Errors
///
/// None that can happen: the count fits.
pub fn mix() -> Result<u64, String> {
    Ok(known(step(Step::Mix, SMALL))?.multiplications)
}

/// The GiB of keys and values of Llama 3 8B for a long context.
///
/// # Errors
///
/// None that can happen: the count fits.
pub fn long_cache() -> Result<f64, String> {
    Ok(known(LLAMA_3.cache_bytes(LONG, 2))? as f64 / GIBIBYTE)
}

/// The same with as many heads of keys as of queries.
///
/// # Errors
///
/// None that can happen: the count fits.
pub fn long_cache_unshared() -> Result<f64, String> {
    let unshared = Model { key_value_heads: LLAMA_3.heads, ..LLAMA_3 };
    Ok(known(unshared.cache_bytes(LONG, 2))? as f64 / GIBIBYTE)
}

/// Twice the arithmetic changes nothing for decoding, which waits for memory,
/// and something for tiles, which do not.
///
/// # Errors
///
/// What changes for decoding, or does not for tiles.
pub fn twice_the_arithmetic_decodes_no_faster() -> Claim {
    let machine = roofline()?;
    let doubled =
        Roofline { operations_per_second: 2.0 * machine.operations_per_second, ..machine };
    let factor = |intensity: f64| doubled.ceiling(intensity) / machine.ceiling(intensity);
    let (decoding, tiles) = (factor(decoding_intensity()?), factor(tiles_intensity()?));
    if decoding == 1.0 && tiles > 1.0 {
        Ok(())
    } else {
        Err(format!("decoding becomes {decoding} times as fast, tiles {tiles} times"))
    }
}

/// The operations of GPT-3's training, in units of 10²¹: two for each weight
/// and token forward, four backward.
///
/// # Errors
///
/// None that can happen: the count fits.
pub fn training_operations() -> Result<f64, String> {
    let weights = known(GPT_3.weights())? as f64;
    Ok(6.0 * weights * TRAINING_TOKENS as f64 / 1e21)
}

/// The paper's table D.1 has 3.14·10²³.
///
/// # Errors
///
/// The number, where it is another.
pub fn training_is_as_published() -> Claim {
    let counted = training_operations()?;
    if (counted / 314.0 - 1.0).abs() < 0.01 { Ok(()) } else { Err(format!("it is {counted}")) }
}

/// The whole years that this machine would take, if it did nothing but arithmetic.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn training_years() -> Result<u64, String> {
    let seconds = training_operations()? * 1e21 / (gflops()? * 1e9);
    Ok((seconds / (365.25 * 24.0 * 3600.0)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10·6·4 for each of three; 10·10·4; 10·10·4. 32·2·8·128·2 bytes are 128
    /// KiB a token, times 2¹⁷ tokens 16 GiB.
    #[test]
    fn the_answers_are_those_worked_by_hand() {
        assert_eq!((project(), score(), mix()), (Ok(720), Ok(400), Ok(400)));
        assert_eq!((long_cache(), long_cache_unshared()), (Ok(16.0), Ok(64.0)));
    }
}
