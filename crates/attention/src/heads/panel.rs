//! A panel: WIDTH queries side by side, with their softmax and their output.
//! It meets the keys a tile at a time, and knows nothing of other panels.

use super::problem::{Problem, finite};
use super::product::{mix, score};
use super::softmax::Running;
use super::tile::Tile;
use crate::{Element, Real};
use ndarray::s;
use std::ops::Range;

/// WIDTH neighbouring queries of one head, or fewer: then the last of the
/// WIDTH places stand empty, and what is computed there is looked at by nobody.
pub(super) struct Panel<'a, F, const WIDTH: usize, Component = F> {
    pub(super) queries: Range<usize>,
    /// The queries, transposed to `(d, WIDTH)`.
    pub(super) columns: &'a [[Component; WIDTH]],
    pub(super) softmax: Running<F, WIDTH>,
    /// The sum of the values, each times its weight: `(d_v, WIDTH)`.
    pub(super) output: &'a mut [[F; WIDTH]],
}

impl<'a, F: Real, const WIDTH: usize> Panel<'a, F, WIDTH> {
    /// Begins with queries that have seen no key.
    #[inline(always)]
    pub(super) fn new<E: Element<Real = F>>(
        problem: &Problem<E>,
        head: usize,
        queries: Range<usize>,
        columns: &'a mut [[F; WIDTH]],
        output: &'a mut [[F; WIDTH]],
    ) -> Self {
        let direction = problem.direction();
        for (row, query) in problem.q.slice(s![head, queries.clone(), ..]).outer_iter().enumerate()
        {
            for (column, &component) in columns.iter_mut().zip(query) {
                column[row] = component.widen() * direction;
            }
        }
        output.fill([F::zero(); WIDTH]);
        Self { queries, columns, softmax: Running::new(), output }
    }

    /// Takes a tile into the softmax and the output of each query.
    #[inline(always)]
    pub(super) fn absorb<E: Element<Real = F>, const FUSED: bool>(
        &mut self,
        problem: &Problem<E>,
        tile: &Tile<F>,
        scores: &mut [[F; WIDTH]],
    ) {
        let scores = self.score::<E, FUSED>(problem, tile, scores);
        let diagonal = self.close(problem, tile.keys.start, scores);
        let fade = self.softmax.absorb::<FUSED>(scores, problem.factor());
        // What is closed has the weight 0, and 0 times NaN would be NaN.
        if diagonal && !finite(tile.v) {
            mix::<F, FUSED, WIDTH, true>(scores, tile.v, &fade, self.output);
        } else {
            mix::<F, FUSED, WIDTH, false>(scores, tile.v, &fade, self.output);
        }
    }

    /// The scores of a tile, as far as any query may see it.
    #[inline(always)]
    pub(super) fn score<'s, E: Element<Real = F>, const FUSED: bool>(
        &self,
        problem: &Problem<E>,
        tile: &Tile<F>,
        scores: &'s mut [[F; WIDTH]],
    ) -> &'s mut [[F; WIDTH]] {
        let end = problem.reach(&self.queries).min(tile.keys.end);
        let scores = &mut scores[..end.saturating_sub(tile.keys.start)];
        score::<F, FUSED, WIDTH>(tile.k, self.columns, scores);
        scores
    }
}

impl<F: Real, const WIDTH: usize, Component> Panel<'_, F, WIDTH, Component> {
    /// Sets the scores of keys that a query may not see to −∞. Returns whether
    /// there are any.
    #[inline(always)]
    pub(super) fn close<E: Element<Real = F>>(
        &self,
        problem: &Problem<E>,
        first_key: usize,
        scores: &mut [[F; WIDTH]],
    ) -> bool {
        if first_key + scores.len() <= problem.open_keys(self.queries.start) {
            return false;
        }
        // Counted from the first key of the tile, in the type of the scores, so
        // that the comparisons too are made side by side.
        let open: [F; WIDTH] = std::array::from_fn(|index| {
            let open = problem.open_keys(self.queries.start + index);
            F::from_count(open.saturating_sub(first_key).min(scores.len()))
        });
        for (key, scores) in scores.iter_mut().enumerate() {
            let key = F::from_count(key);
            for query in 0..WIDTH {
                scores[query] = if key < open[query] { scores[query] } else { F::neg_infinity() };
            }
        }
        true
    }

    /// Writes the averages of the values into rows of `d_v` elements. Returns
    /// whether all of them are settled.
    #[inline(always)]
    pub(super) fn finish<E: Element<Real = F>>(
        &self,
        problem: &Problem<E>,
        rows: &mut [E],
    ) -> bool {
        let mut all_settled = true;
        for (index, row) in rows.chunks_exact_mut(problem.d_v()).enumerate() {
            // A query that saw nothing has no average, and gets zeros.
            let total = self.softmax.total[index];
            let divisor = if total.is_zero() { F::one() } else { total };
            for (element, sums) in row.iter_mut().zip(&*self.output) {
                *element = E::narrow(sums[index] / divisor);
            }
            all_settled &= self.is_settled(problem, index, row);
        }
        all_settled
    }

    /// Whether a row, that of the query at an index, is what the recipe gives.
    #[inline(always)]
    pub(super) fn is_settled<E: Element<Real = F>>(
        &self,
        problem: &Problem<E>,
        index: usize,
        row: &[E],
    ) -> bool {
        problem.is_settled(self.softmax.largest[index], self.softmax.total[index], row)
    }
}
