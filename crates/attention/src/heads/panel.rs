//! A panel: WIDTH queries side by side, with their softmax and their output.
//! It meets the keys a tile at a time, and knows nothing of other panels.

use super::problem::{Problem, Tile};
use super::product::{mix, score};
use super::softmax::Running;
use crate::{Error, Options, Real, recipe};
use ndarray::s;
use std::ops::Range;

/// WIDTH neighbouring queries of one head, or fewer: then the last of the
/// WIDTH places stand empty, and what is computed there is looked at by nobody.
pub(super) struct Panel<'a, F, const WIDTH: usize> {
    head: usize,
    pub(super) queries: Range<usize>,
    /// The queries, transposed to `(d, WIDTH)`.
    columns: &'a [[F; WIDTH]],
    softmax: Running<F, WIDTH>,
    /// The sum of the values, each times its weight: `(d_v, WIDTH)`.
    output: &'a mut [[F; WIDTH]],
}

impl<'a, F: Real, const WIDTH: usize> Panel<'a, F, WIDTH> {
    /// Begins with queries that have seen no key.
    #[inline(always)]
    pub(super) fn new(
        problem: &Problem<F>,
        head: usize,
        queries: Range<usize>,
        columns: &'a mut [[F; WIDTH]],
        output: &'a mut [[F; WIDTH]],
    ) -> Self {
        let direction = problem.direction();
        for (row, query) in problem.q.slice(s![head, queries.clone(), ..]).outer_iter().enumerate()
        {
            for (column, &component) in columns.iter_mut().zip(query) {
                column[row] = component * direction;
            }
        }
        output.fill([F::zero(); WIDTH]);
        Self { head, queries, columns, softmax: Running::new(), output }
    }

    /// Takes a tile into the softmax and the output of each query.
    #[inline(always)]
    pub(super) fn absorb<const FUSED: bool>(
        &mut self,
        problem: &Problem<F>,
        tile: &Tile<F>,
        scores: &mut [[F; WIDTH]],
    ) {
        let open = problem.reach(&self.queries).min(tile.keys.end).saturating_sub(tile.keys.start);
        let scores = &mut scores[..open];
        score::<F, FUSED, WIDTH>(tile.k, self.columns, scores);
        let diagonal = problem.open_keys(self.queries.start) < tile.keys.start + open;
        if diagonal {
            self.close(problem, tile.keys.start, scores);
        }
        let fade = self.softmax.absorb::<FUSED>(scores, problem.factor());
        // What is closed has the weight 0, and 0 times NaN would be NaN.
        if diagonal && !tile.v.iter().all(|value| value.is_finite()) {
            mix::<F, FUSED, WIDTH, true>(scores, tile.v, &fade, self.output);
        } else {
            mix::<F, FUSED, WIDTH, false>(scores, tile.v, &fade, self.output);
        }
    }

    /// Sets the scores of keys that a query may not see to −∞.
    #[inline(always)]
    fn close(&self, problem: &Problem<F>, first_key: usize, scores: &mut [[F; WIDTH]]) {
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
    }

    /// Writes the averages of the values into rows of `d_v` elements.
    #[inline(always)]
    pub(super) fn finish(self, problem: &Problem<F>, rows: &mut [F]) -> Result<(), Error> {
        for (index, row) in rows.chunks_exact_mut(problem.d_v()).enumerate() {
            let total = self.softmax.total[index];
            if total.is_zero() {
                row.fill(F::zero());
                continue;
            }
            for (element, sums) in row.iter_mut().zip(&*self.output) {
                *element = sums[index] / total;
            }
            let largest = self.softmax.largest[index] * problem.scale;
            if largest.is_infinite() || row.iter().any(|element| !element.is_finite()) {
                redo(problem, self.head, self.queries.start + index, row)?;
            }
        }
        Ok(())
    }
}

/// Computes one row by the recipe. The sums above know only finite numbers:
/// they make NaN of a score of +∞, or of a NaN whose weight comes to be 0.
/// The recipe says what the row is to be then.
#[cold]
fn redo<F: Real>(
    problem: &Problem<F>,
    head: usize,
    query: usize,
    row: &mut [F],
) -> Result<(), Error> {
    let open = problem.open_keys(query);
    let q = problem.q.slice(s![head, query..=query, ..]);
    let k = problem.k.slice(s![head, ..open, ..]);
    let v = problem.v.slice(s![head, ..open, ..]);
    let output = recipe::attend(&q, &k, &v, Options::full().with_scale(problem.scale))?;
    row.iter_mut().zip(&output).for_each(|(to, &from)| *to = from);
    Ok(())
}
