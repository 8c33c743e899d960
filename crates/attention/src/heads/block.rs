//! One block of queries against all of its keys, a tile at a time, with an
//! online softmax. It knows nothing of threads, nor of other blocks.

use crate::shape::zeroed;
use crate::{Error, Mask, Options, Real, recipe};
use ndarray::{ArrayView3, Axis, s};
use std::ops::Range;

/// How many queries a block holds at most.
pub(super) const QUERY_BLOCK: usize = 32;

/// How many keys and values a tile holds at most: a multiple of every vector
/// register's width, and few enough for a tile to stay in the nearest cache.
pub(super) const KEY_BLOCK: usize = 64;

/// What is to be computed, of shapes known to fit: `q (H, T_q, d)`,
/// `k (H, T_k, d)`, `v (H, T_k, d_v)`.
pub(super) struct Problem<'a, F> {
    pub(super) q: ArrayView3<'a, F>,
    pub(super) k: ArrayView3<'a, F>,
    pub(super) v: ArrayView3<'a, F>,
    pub(super) mask: Mask,
    pub(super) scale: F,
}

/// Neighbouring queries of one head, at most `QUERY_BLOCK`, and their rows of
/// the output: `d_v` elements for each query, zeros to begin with.
pub(super) struct QueryBlock<'a, F> {
    pub(super) head: usize,
    pub(super) queries: Range<usize>,
    pub(super) rows: &'a mut [F],
}

/// Memory for one block at a time; a thread uses it again for its next block.
pub(super) struct Scratch<F> {
    /// The queries of the block, one after another.
    queries: Vec<F>,
    /// A tile of keys, transposed to `(d, KEY_BLOCK)`: neighbouring keys are
    /// neighbours in memory, and their scores can grow side by side.
    keys: Vec<F>,
    /// A tile of values, `(KEY_BLOCK, d_v)`.
    values: Vec<F>,
    /// The softmax of each query.
    running: [Running<F>; QUERY_BLOCK],
}

impl<F: Real> Scratch<F> {
    /// Room for any block of a problem.
    pub(super) fn new(problem: &Problem<F>) -> Result<Self, Error> {
        let (d, d_v) = problem.head_sizes();
        Ok(Self {
            queries: zeroed("a block of queries", &[QUERY_BLOCK, d])?,
            keys: zeroed("a tile of keys", &[d, KEY_BLOCK])?,
            values: zeroed("a tile of values", &[KEY_BLOCK, d_v])?,
            running: [Running::new(); QUERY_BLOCK],
        })
    }
}

impl<F: Real> Problem<'_, F> {
    /// d and `d_v`.
    fn head_sizes(&self) -> (usize, usize) {
        (self.q.len_of(Axis(2)), self.v.len_of(Axis(2)))
    }

    /// How many keys a query may see.
    fn open_keys(&self, query: usize) -> usize {
        self.mask.open_keys(query, self.q.len_of(Axis(1)), self.k.len_of(Axis(1)))
    }

    /// How many keys the last query of a block may see. The others see no
    /// more, so the keys after these are closed to the whole block.
    pub(super) fn reach(&self, block: &QueryBlock<F>) -> usize {
        block.queries.clone().next_back().map_or(0, |last| self.open_keys(last))
    }

    /// Computes the rows of a block.
    pub(super) fn fill(
        &self,
        mut block: QueryBlock<F>,
        scratch: &mut Scratch<F>,
    ) -> Result<(), Error> {
        let reach = self.reach(&block);
        self.load_queries(&block, scratch);
        for first_key in (0..reach).step_by(KEY_BLOCK) {
            let keys = first_key..reach.min(first_key + KEY_BLOCK);
            self.load_tile(block.head, keys.clone(), scratch);
            self.absorb_tile(&mut block, keys, scratch);
        }
        self.finish(block, scratch)
    }

    /// Copies the queries of a block, and begins their softmax.
    fn load_queries(&self, block: &QueryBlock<F>, scratch: &mut Scratch<F>) {
        let queries = self.q.slice(s![block.head, block.queries.clone(), ..]);
        copy(queries.iter(), &mut scratch.queries);
        scratch.running.fill(Running::new());
    }

    /// Copies a tile of keys and values. After a short tile stands what was
    /// left by an earlier one; nobody looks at it.
    fn load_tile(&self, head: usize, keys: Range<usize>, scratch: &mut Scratch<F>) {
        let tile = self.k.slice(s![head, keys.clone(), ..]);
        let columns = scratch.keys.chunks_exact_mut(KEY_BLOCK);
        for (components, column) in tile.axis_iter(Axis(1)).zip(columns) {
            copy(components.iter(), column);
        }
        copy(self.v.slice(s![head, keys, ..]).iter(), &mut scratch.values);
    }

    /// Takes a tile into the softmax and the output of each query of a block,
    /// as far as the query may see it.
    fn absorb_tile(&self, block: &mut QueryBlock<F>, keys: Range<usize>, scratch: &mut Scratch<F>) {
        let (d, d_v) = self.head_sizes();
        let rows = block.rows.chunks_exact_mut(d_v);
        for (index, (query, row)) in block.queries.clone().zip(rows).enumerate() {
            let open = self.open_keys(query).min(keys.end).saturating_sub(keys.start);
            let query = &scratch.queries[index * d..(index + 1) * d];
            let mut scores = score_tile(query, &scratch.keys, self.scale);
            let scores = &mut scores[..open];
            scratch.running[index].absorb(scores, row);
            add_values(scores, &scratch.values, row);
        }
    }

    /// Turns the sums of a block into averages.
    fn finish(&self, block: QueryBlock<F>, scratch: &Scratch<F>) -> Result<(), Error> {
        let (_, d_v) = self.head_sizes();
        let rows = block.rows.chunks_exact_mut(d_v);
        for ((query, row), running) in block.queries.zip(rows).zip(&scratch.running) {
            running.divide(row);
            if row.iter().any(|element| !element.is_finite()) {
                self.redo(block.head, query, row)?;
            }
        }
        Ok(())
    }

    /// Computes one row by the recipe. The sums above know only finite numbers:
    /// they make NaN of a score of +∞, or of a NaN whose weight comes to be 0.
    /// The recipe says what the row is to be then.
    fn redo(&self, head: usize, query: usize, row: &mut [F]) -> Result<(), Error> {
        let open = self.open_keys(query);
        let q = self.q.slice(s![head, query..=query, ..]);
        let k = self.k.slice(s![head, ..open, ..]);
        let v = self.v.slice(s![head, ..open, ..]);
        let output = recipe::attend(&q, &k, &v, Options::full().with_scale(self.scale))?;
        copy(output.iter(), row);
        Ok(())
    }
}

/// The softmax of one query, as far as it has seen the keys.
#[derive(Clone, Copy)]
struct Running<F> {
    /// The largest score so far.
    largest: F,
    /// The sum of exp(score − largest) so far.
    total: F,
}

impl<F: Real> Running<F> {
    /// No key seen.
    fn new() -> Self {
        Self { largest: F::neg_infinity(), total: F::zero() }
    }

    /// Turns new scores into weights relative to the largest score seen, and
    /// brings the output so far, a sum with such weights, up to date.
    fn absorb(&mut self, scores: &mut [F], row: &mut [F]) {
        let largest = scores.iter().fold(self.largest, |a, &b| if b > a { b } else { a });
        // While every score is −∞, any finite stand-in gives each the weight 0.
        let pivot = if largest == F::neg_infinity() { F::zero() } else { largest };
        let fade = (self.largest - pivot).exp();
        let mut total = F::zero();
        for score in scores {
            *score = (*score - pivot).exp();
            total += *score;
        }
        self.total = self.total * fade + total;
        self.largest = largest;
        if fade != F::one() {
            row.iter_mut().for_each(|element| *element *= fade);
        }
    }

    /// Divides by the sum of the weights; a query that saw nothing keeps zeros.
    fn divide(&self, row: &mut [F]) {
        if !self.total.is_zero() {
            row.iter_mut().for_each(|element| *element /= self.total);
        }
    }
}

/// The scores of one query for a tile of keys, `(d, KEY_BLOCK)`. As in the
/// recipe they are scaled once summed, so that both overflow alike.
fn score_tile<F: Real>(query: &[F], keys: &[F], scale: F) -> [F; KEY_BLOCK] {
    let mut scores = [F::zero(); KEY_BLOCK];
    for (&component, keys) in query.iter().zip(keys.chunks_exact(KEY_BLOCK)) {
        for (score, &key) in scores.iter_mut().zip(keys) {
            *score += component * key;
        }
    }
    scores.map(|score| score * scale)
}

/// Adds to one row of the output the values, each times its weight.
fn add_values<F: Real>(weights: &[F], values: &[F], row: &mut [F]) {
    for (&weight, value) in weights.iter().zip(values.chunks_exact(row.len())) {
        for (element, &component) in row.iter_mut().zip(value) {
            *element += weight * component;
        }
    }
}

/// Copies elements of any layout into consecutive memory.
fn copy<'a, F: Real>(source: impl Iterator<Item = &'a F>, destination: &mut [F]) {
    for (to, &from) in destination.iter_mut().zip(source) {
        *to = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    const CLOSED: f64 = f64::NEG_INFINITY;

    /// Takes scores, and the values 1, 2, 3 ..., into a softmax and a row.
    fn take(running: &mut Running<f64>, scores: &[f64], row: &mut [f64]) {
        let mut weights = scores.to_vec();
        running.absorb(&mut weights, row);
        add_values(&weights, &[1.0, 2.0, 3.0], row);
    }

    #[test]
    fn scores_that_grow_let_the_earlier_fade() {
        // exp(ln n) = n: the weights are 1, 3 and 4 eighths of 1, 2 and 1.
        let (mut running, mut row) = (Running::new(), [0.0]);
        take(&mut running, &[0.0, 3.0_f64.ln()], &mut row);
        take(&mut running, &[4.0_f64.ln()], &mut row);
        assert_relative_eq!(running.largest, 4.0_f64.ln());
        assert_relative_eq!(running.total, 2.0, max_relative = 1e-15);
        running.divide(&mut row);
        assert_relative_eq!(row[0], (1.0 + 3.0 * 2.0 + 4.0) / 8.0, max_relative = 1e-15);
    }

    #[test]
    fn closed_scores_need_no_second_computation() {
        // The row stays finite, so that the recipe is not called for it.
        let (mut running, mut row) = (Running::new(), [0.0]);
        take(&mut running, &[], &mut row);
        take(&mut running, &[CLOSED, CLOSED], &mut row);
        let mut blind = row;
        running.divide(&mut blind);
        assert_eq!(blind, [0.0]);
        take(&mut running, &[CLOSED, -800.0, CLOSED], &mut row);
        take(&mut running, &[CLOSED], &mut row);
        running.divide(&mut row);
        assert_eq!(row, [2.0]);
    }
}
