//! Tiles of queries and of the gradients of their output, with the gradients of the
//! queries: what passes by the keys.

use super::Loss;
use super::keys::WIDEST;
use crate::shape::zeroed;
use crate::{Error, Real};
use ndarray::{ArrayView2, ArrayViewMut2, s};
use std::ops::Range;

/// Neighbouring queries of one head, at most WIDTH: a tile and a panel of keys make a
/// square of weights, small enough to stay in the nearest cache.
pub(super) struct Tile<F> {
    /// Which queries these are.
    pub(super) queries: Range<usize>,
    /// The queries themselves, `(queries, d)`, one after another.
    pub(super) q: Vec<F>,
    /// The gradients of their output, `(queries, d_v)`, one after another.
    pub(super) d_output: Vec<F>,
    /// The gradients of the queries, cut into columns of WIDTH: for each column
    /// `(WIDTH, WIDTH)`.
    pub(super) d_q: Vec<F>,
}

impl<F: Real> Tile<F> {
    /// Room for any tile of a loss.
    pub(super) fn new(loss: &Loss<F>) -> Result<Self, Error> {
        let (d, d_v) = (loss.attention.d(), loss.attention.d_v());
        Ok(Self {
            queries: 0..0,
            q: zeroed("a tile of queries", &[WIDEST, d])?,
            d_output: zeroed("the gradient of a tile of the output", &[WIDEST, d_v])?,
            d_q: zeroed(
                "the gradient of a tile of queries",
                &[WIDEST, d.next_multiple_of(WIDEST)],
            )?,
        })
    }

    /// Sets queries and the gradients of their output in order, and the gradients
    /// of the queries to 0.
    pub(super) fn set(&mut self, loss: &Loss<F>, head: usize, queries: Range<usize>) {
        copy(&loss.attention.q.slice(s![head, queries.clone(), ..]), &mut self.q);
        copy(&loss.d_output.slice(s![head, queries.clone(), ..]), &mut self.d_output);
        self.d_q.fill(F::zero());
        self.queries = queries;
    }

    /// Adds the gradients of the queries, times a factor, to rows.
    #[inline(always)]
    pub(super) fn add_to<const WIDTH: usize>(&self, columns: usize, factor: F, rows: &mut [F]) {
        let pieces = self.d_q.as_chunks::<WIDTH>().0;
        for (index, row) in rows.chunks_exact_mut(columns.max(1)).enumerate() {
            for (column, sums) in row.chunks_mut(WIDTH).enumerate() {
                for (sum, &term) in sums.iter_mut().zip(&pieces[column * WIDTH + index]) {
                    *sum += term * factor;
                }
            }
        }
    }
}

/// Copies rows to the beginning of some memory, one after another.
fn copy<F: Real>(rows: &ArrayView2<F>, memory: &mut [F]) {
    if let Some(rows) = rows.to_slice() {
        memory[..rows.len()].copy_from_slice(rows);
    } else if let Ok(mut copy) = ArrayViewMut2::from_shape(rows.dim(), &mut memory[..rows.len()]) {
        copy.assign(rows);
    }
}
