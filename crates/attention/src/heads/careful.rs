//! A second look at a panel with infinities or NaN, where the quick sums of
//! the first went wrong: the recipe's softmax, step by step, for queries side
//! by side. It is slower a few times, whatever the numbers are.

use super::exponential::exp2;
use super::panel::Panel;
use super::problem::{KEY_BLOCK, Problem};
use super::product::mix;
use super::softmax::add;
use super::tile::{Tile, Tiles};
use crate::element::sealed::Of;
use crate::{Element, Real};

/// Computes again those rows of a panel that the first look left with infinite
/// numbers or NaN. The largest score of each query is known from then.
#[inline(always)]
pub(super) fn look_again<
    F: Real + Of<E>,
    E: Element<Real = F>,
    const FUSED: bool,
    const WIDTH: usize,
>(
    problem: &Problem<E>,
    head: usize,
    panel: &mut Panel<F, WIDTH>,
    tiles: &mut Tiles<E>,
    scores: &mut [[F; WIDTH]],
    rows: &mut [E],
) {
    let reach = problem.reach(&panel.queries);
    let mut total = [F::zero(); WIDTH];
    for first in (0..reach).step_by(KEY_BLOCK) {
        let tile = tiles.tile(head, first, reach);
        for weights in weigh::<F, E, FUSED, WIDTH>(problem, panel, &tile, scores) {
            add::<F, WIDTH>(&mut total, weights);
        }
    }
    panel.output.fill([F::zero(); WIDTH]);
    for first in (0..reach).step_by(KEY_BLOCK) {
        let tile = tiles.tile(head, first, reach);
        let weights = weigh::<F, E, FUSED, WIDTH>(problem, panel, &tile, scores);
        for weights in &mut *weights {
            for query in 0..WIDTH {
                let weight = weights[query];
                // What is exactly zero stays so, even if the total is NaN.
                weights[query] = if weight.is_zero() { weight } else { weight / total[query] };
            }
        }
        mix::<F, FUSED, WIDTH, true>(weights, tile.v, &[F::one(); WIDTH], panel.output);
    }
    for (index, row) in rows.chunks_exact_mut(problem.d_v()).enumerate() {
        if !panel.is_settled(problem, index, row) {
            for (element, sums) in row.iter_mut().zip(&*panel.output) {
                *element = E::narrow(sums[index]);
            }
        }
    }
}

/// The weights of a tile, before they are divided by their sum.
#[inline(always)]
fn weigh<'s, F: Real, E: Element<Real = F>, const FUSED: bool, const WIDTH: usize>(
    problem: &Problem<E>,
    panel: &Panel<F, WIDTH>,
    tile: &Tile<F>,
    scores: &'s mut [[F; WIDTH]],
) -> &'s mut [[F; WIDTH]] {
    let scores = panel.score::<E, FUSED>(problem, tile, scores);
    let scale = problem.scale.abs();
    for score in scores.as_flattened_mut() {
        *score *= scale;
    }
    panel.close(problem, tile.keys.start, scores);
    let largest = panel.softmax.largest.map(|largest| largest * scale);
    for scores in &mut *scores {
        for query in 0..WIDTH {
            scores[query] = exp_below::<F, FUSED>(scores[query], largest[query]);
        }
    }
    scores
}

/// exp(score − largest), with ∞ − ∞ understood: a score of −∞ counts nothing,
/// and a score as large as the largest counts 1.
#[inline(always)]
fn exp_below<F: Real, const FUSED: bool>(score: F, largest: F) -> F {
    let weight = exp2::<F, FUSED>((score - largest) * F::LOG2_E);
    let weight = if score == largest { F::one() } else { weight };
    if score == F::neg_infinity() { F::zero() } else { weight }
}
