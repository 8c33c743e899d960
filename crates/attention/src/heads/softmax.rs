//! The online softmax of queries side by side: what is kept of the keys that
//! were seen, a largest score and a sum for each query.

#![expect(clippy::needless_range_loop, reason = "all loops over queries read alike")]

use super::exponential::exp2;
use crate::Real;

/// How many weights are added one after another. Such sums are then added up:
/// a small number added to a large sum loses more digits than to a small one.
pub(super) const SUM_BLOCK: usize = 16;

/// The softmax of WIDTH queries, as far as they have seen the keys.
pub(super) struct Running<F, const WIDTH: usize> {
    /// The largest score of each query so far.
    pub(super) largest: [F; WIDTH],
    /// The sum of its weights so far, relative to that score.
    pub(super) total: [F; WIDTH],
}

/// The softmax of one query that has seen all of its keys: enough to make any of
/// its weights again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary<F> {
    /// Its largest score.
    pub(super) largest: F,
    /// The sum of its weights, relative to that score; 0 if no key is open to it.
    pub(super) total: F,
}

impl<F: Real, const WIDTH: usize> Running<F, WIDTH> {
    /// No key seen.
    pub(super) fn new() -> Self {
        Self { largest: [F::neg_infinity(); WIDTH], total: [F::zero(); WIDTH] }
    }

    /// Writes down what is known of the first queries.
    pub(super) fn summarise(&self, summaries: &mut [Summary<F>]) {
        for (index, summary) in summaries.iter_mut().enumerate() {
            *summary = Summary { largest: self.largest[index], total: self.total[index] };
        }
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
        let (fade, pivot) = self.grow::<FUSED>(scores, factor);
        for scores in scores.chunks_mut(SUM_BLOCK) {
            let mut sum = [F::zero(); WIDTH];
            for scores in scores {
                weigh::<F, FUSED, WIDTH>(scores, &pivot, factor);
                add::<F, WIDTH>(&mut sum, scores);
            }
            add::<F, WIDTH>(&mut self.total, &sum);
        }
        fade
    }

    /// Lets the largest score of each query grow to that of new scores, and the sum
    /// of its weights fade. Returns by how much, and what new scores are to be
    /// weighed against.
    #[inline(always)]
    pub(super) fn grow<const FUSED: bool>(
        &mut self,
        scores: &[[F; WIDTH]],
        factor: F,
    ) -> ([F; WIDTH], [F; WIDTH]) {
        let mut fade = self.largest;
        for scores in scores {
            for query in 0..WIDTH {
                let (largest, score) = (self.largest[query], scores[query]);
                self.largest[query] = if score > largest { score } else { largest };
            }
        }
        // While every score is −∞, any finite stand-in gives each the weight 0.
        let mut pivot = self.largest;
        for pivot in &mut pivot {
            *pivot = if *pivot == F::neg_infinity() { F::zero() } else { *pivot };
        }
        weigh::<F, FUSED, WIDTH>(&mut fade, &pivot, factor);
        for query in 0..WIDTH {
            self.total[query] *= fade[query];
        }
        (fade, pivot)
    }
}

/// Turns scores into weights.
#[inline(always)]
pub(super) fn weigh<F: Real, const FUSED: bool, const WIDTH: usize>(
    scores: &mut [F; WIDTH],
    pivot: &[F; WIDTH],
    factor: F,
) {
    for query in 0..WIDTH {
        scores[query] = exp2::<F, FUSED>((scores[query] - pivot[query]) * factor);
    }
}

/// `sums += row`.
#[inline(always)]
pub(super) fn add<F: Real, const WIDTH: usize>(sums: &mut [F; WIDTH], row: &[F; WIDTH]) {
    for query in 0..WIDTH {
        sums[query] += row[query];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use std::f64::consts::LOG2_E;

    const CLOSED: f64 = f64::NEG_INFINITY;

    #[test]
    fn scores_that_grow_let_the_earlier_fade() {
        // exp(ln n) = n: 1 and 3, then 4; and the other query the other way.
        let mut running = Running::<f64, 2>::new();
        let mut first = [[0.0, 4.0_f64.ln()], [3.0_f64.ln(), 0.0]];
        assert_eq!(running.absorb::<true>(&mut first, LOG2_E), [0.0, 0.0]);
        assert_relative_eq!(first[0][0], 1.0 / 3.0, max_relative = 1e-15);
        let fade = running.absorb::<true>(&mut [[4.0_f64.ln(), 3.0_f64.ln()]], LOG2_E);
        assert_relative_eq!(fade[0], 0.75, max_relative = 1e-15);
        assert_eq!(fade[1], 1.0);
        assert_eq!(running.largest, [4.0_f64.ln(); 2]);
        assert_relative_eq!(running.total[0], (1.0 + 3.0 + 4.0) / 4.0, max_relative = 1e-15);
        assert_relative_eq!(running.total[1], (4.0 + 1.0 + 3.0) / 4.0, max_relative = 1e-15);
    }

    #[test]
    fn closed_scores_weigh_nothing() {
        let mut running = Running::<f64, 1>::new();
        let mut scores = [[CLOSED], [CLOSED]];
        running.absorb::<true>(&mut scores, LOG2_E);
        assert_eq!((scores, running.total), ([[0.0], [0.0]], [0.0]));
        let mut scores = [[CLOSED], [-800.0], [CLOSED]];
        running.absorb::<true>(&mut scores, LOG2_E);
        assert_eq!((scores, running.total), ([[0.0], [1.0], [0.0]], [1.0]));
        running.absorb::<true>(&mut [[CLOSED]], LOG2_E);
        assert_eq!(running.total, [1.0]);
    }
}
