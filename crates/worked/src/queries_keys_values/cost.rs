//! How the cost of one head grows with the number of tokens.

use attention::recipe::score;
use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::Array2;

use crate::Claim;

/// The head size of the table: a common one in real models.
const HEAD_SIZE: usize = 64;
/// The bytes of a single-precision number.
const BYTES: usize = 4;

/// Enters the values of the section on cost.
pub fn enter(ledger: &mut Ledger) {
    enter_length::<1024>(ledger);
    enter_length::<2048>(ledger);
    enter_length::<4096>(ledger);
    enter_length::<8192>(ledger);
    ledger
        .enter("qkv.cost.quadruples", doubling_quadruples)
        .about("twice the tokens make four times the scores");
    ledger
        .enter("qkv.cost.curves", curves)
        .digits(0)
        .about("the entries of Q and of S against the number of tokens");
}

fn enter_length<const T: usize>(ledger: &mut Ledger) {
    ledger
        .enter(&format!("qkv.cost.queries.{T}"), query_entries::<T>)
        .about("the entries of Q for so many tokens, with d = 64");
    ledger
        .enter(&format!("qkv.cost.scores.{T}"), score_entries::<T>)
        .about("the entries of S for so many tokens");
    ledger
        .enter(&format!("qkv.cost.mebibytes.{T}"), score_mebibytes::<T>)
        .about("the memory of S for so many tokens, in MiB of single-precision numbers");
}

/// The entries of `Q`, and of `K`: `T·d`.
#[must_use]
pub fn query_entries<const T: usize>() -> usize {
    T * HEAD_SIZE
}

/// The entries of `S`: `T²`.
#[must_use]
pub fn score_entries<const T: usize>() -> usize {
    T * T
}

/// The memory of `S` in MiB, at four bytes a score.
#[must_use]
pub fn score_mebibytes<const T: usize>() -> usize {
    score_entries::<T>() * BYTES / (1 << 20)
}

/// Scores computed by the recipe for T and for 2·T tokens: four times as many.
///
/// # Errors
///
/// The length for which it is not so.
pub fn doubling_quadruples() -> Claim {
    for tokens in [1, 5, 64, 100] {
        let (once, twice) = (scores_made(tokens)?, scores_made(2 * tokens)?);
        if twice != 4 * once {
            return Err(format!("{tokens} tokens make {once} scores, twice as many {twice}"));
        }
    }
    Ok(())
}

/// How many scores the recipe makes of so many tokens.
fn scores_made(tokens: usize) -> Result<usize, String> {
    let rows = Array2::<f64>::ones((tokens, 3));
    score(&rows, &rows).map(|scores| scores.len()).map_err(|error| error.to_string())
}

/// The entries of `Q` and of `S`, from 16 tokens to 16 384.
#[must_use]
pub fn curves() -> Figure {
    let curve = |name: &str, entries: fn(f64) -> f64| Series {
        name: name.to_owned(),
        points: (4..=14).map(|power| f64::from(1 << power)).map(|t| (t, entries(t))).collect(),
    };
    Figure {
        description: "Two straight lines on logarithmic axes. The entries of Q grow as the \
                      number of tokens T; the entries of S grow as its square, twice as steeply, \
                      and overtake those of Q where T is equal to the head size, 64."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::logarithmic("tokens T"),
            y: Axis::logarithmic("entries"),
            series: vec![
                curve("Q: T·d, with d = 64", |t| t * HEAD_SIZE as f64),
                curve("S: T·T", |t| t * t),
            ],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mebibyte_holds_half_a_row_of_512_scores_squared() {
        assert_eq!(score_mebibytes::<512>(), 1);
        assert_eq!(score_mebibytes::<1024>(), 4);
    }

    #[test]
    fn the_counts_are_those_of_the_recipe() {
        assert_eq!(scores_made(5), Ok(score_entries::<5>()));
        assert_eq!(scores_made(5), Ok(25));
        assert_eq!(query_entries::<5>(), 320);
    }

    #[test]
    fn the_curves_cross_at_the_head_size() {
        let Plot::Lines { series, .. } = curves().plot else { panic!("not lines") };
        let meets: Vec<f64> = series[0]
            .points
            .iter()
            .zip(&series[1].points)
            .filter(|(q, s)| q.1 == s.1)
            .map(|(q, _)| q.0)
            .collect();
        assert_eq!(meets, [64.0]);
    }
}
