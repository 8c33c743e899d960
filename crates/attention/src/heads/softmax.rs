//! The online softmax of a few queries side by side: what is kept of the keys
//! that were seen, a largest score and a sum for each query.

use super::exponential::exp2;
use crate::Real;

/// The softmax of WIDTH queries, as far as they have seen the keys.
pub(super) struct Running<F, const WIDTH: usize> {
    /// The largest score of each query so far.
    pub(super) largest: [F; WIDTH],
    /// The sum of its weights so far, relative to that score.
    pub(super) total: [F; WIDTH],
}

impl<F: Real, const WIDTH: usize> Running<F, WIDTH> {
    /// No key seen.
    pub(super) fn new() -> Self {
        Self { largest: [F::neg_infinity(); WIDTH], total: [F::zero(); WIDTH] }
    }

    /// Turns new scores `(keys, WIDTH)` into weights `exp2(factor·(score −
    /// largest))`. Returns by how much the weights of earlier keys, and with
    /// them the output, have to fade since the largest score has grown.
    #[inline(always)]
    pub(super) fn absorb<const FUSED: bool>(
        &mut self,
        scores: &mut [[F; WIDTH]],
        factor: F,
    ) -> [F; WIDTH] {
        let mut largest = self.largest;
        for scores in scores.iter() {
            for query in 0..WIDTH {
                let score = scores[query];
                largest[query] = if score > largest[query] { score } else { largest[query] };
            }
        }
        // While every score is −∞, any finite stand-in gives each the weight 0.
        let pivot =
            largest.map(|largest| if largest == F::neg_infinity() { F::zero() } else { largest });
        let mut fade = self.largest;
        weigh::<F, FUSED, WIDTH>(&mut fade, &pivot, factor);
        let mut total = [F::zero(); WIDTH];
        for scores in scores.iter_mut() {
            weigh::<F, FUSED, WIDTH>(scores, &pivot, factor);
            for query in 0..WIDTH {
                total[query] += scores[query];
            }
        }
        for query in 0..WIDTH {
            self.total[query] = self.total[query] * fade[query] + total[query];
        }
        self.largest = largest;
        fade
    }
}

/// Turns scores into weights.
#[inline(always)]
fn weigh<F: Real, const FUSED: bool, const WIDTH: usize>(
    scores: &mut [F; WIDTH],
    pivot: &[F; WIDTH],
    factor: F,
) {
    for query in 0..WIDTH {
        scores[query] = exp2::<F, FUSED>((scores[query] - pivot[query]) * factor);
    }
}
