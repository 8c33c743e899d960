//! Tiles of keys and values: rows that follow each other without gaps, which
//! is what the products read. Where the caller's do so already, nothing is
//! copied.

use super::problem::KEY_BLOCK;
use crate::shape::zeroed;
use crate::{Error, Real};
use ndarray::{ArrayView3, ArrayViewMut2, Axis, s};
use std::ops::Range;

/// Hands out the rows of one array, a tile at a time.
pub(super) struct Tiles<'a, F> {
    array: ArrayView3<'a, F>,
    /// Room for one tile; none if each head is in order.
    copy: Vec<F>,
}

impl<'a, F: Real> Tiles<'a, F> {
    /// Tiles of an array `(H, T_k, columns)`.
    pub(super) fn new(name: &'static str, array: ArrayView3<'a, F>) -> Result<Self, Error> {
        let in_order = array.outer_iter().next().is_none_or(|head| head.is_standard_layout());
        let rows = if in_order { 0 } else { KEY_BLOCK };
        Ok(Self { array, copy: zeroed(name, &[rows, array.len_of(Axis(2))])? })
    }

    /// Rows of one head, at most `KEY_BLOCK`.
    pub(super) fn rows(&mut self, head: usize, rows: Range<usize>) -> &[F] {
        let tile = self.array.slice_move(s![head, rows, ..]);
        if let Some(in_order) = tile.to_slice() {
            return in_order;
        }
        let copy = &mut self.copy[..tile.len()];
        if let Ok(mut copy) = ArrayViewMut2::from_shape(tile.dim(), &mut *copy) {
            copy.assign(&tile);
        }
        copy
    }
}
