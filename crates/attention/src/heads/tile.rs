//! Tiles of keys and values: rows that follow each other without gaps, which
//! is what the products read. Where the caller's do so already, nothing is
//! copied.

use super::problem::{KEY_BLOCK, Problem};
use crate::shape::zeroed;
use crate::{Error, Real};
use ndarray::{ArrayView3, ArrayViewMut2, Axis, s};
use std::ops::Range;

/// Neighbouring keys and their values, at most `KEY_BLOCK`.
pub(super) struct Tile<'a, F> {
    /// Which keys these are.
    pub(super) keys: Range<usize>,
    /// The keys, `(keys, d)`, one after another.
    pub(super) k: &'a [F],
    /// The values, `(keys, d_v)`, one after another.
    pub(super) v: &'a [F],
}

/// Hands out keys and values, a tile at a time.
pub(super) struct Tiles<'a, F> {
    k: Rows<'a, F>,
    v: Rows<'a, F>,
}

impl<'a, F: Real> Tiles<'a, F> {
    /// The tiles of a problem.
    pub(super) fn new(problem: &Problem<'a, F>) -> Result<Self, Error> {
        Ok(Self {
            k: Rows::new("a tile of keys", &problem.k)?,
            v: Rows::new("a tile of values", &problem.v)?,
        })
    }

    /// The tile that begins with key `first`, of the keys before `end`.
    pub(super) fn tile(&mut self, head: usize, first: usize, end: usize) -> Tile<'_, F> {
        let keys = first..end.min(first + KEY_BLOCK);
        Tile { k: self.k.tile(head, &keys), v: self.v.tile(head, &keys), keys }
    }
}

/// The rows of one array, `(H, T_k, columns)`.
struct Rows<'a, F> {
    array: ArrayView3<'a, F>,
    /// Room for one tile; none if each head is in order.
    copy: Vec<F>,
}

impl<'a, F: Real> Rows<'a, F> {
    fn new(name: &'static str, array: &ArrayView3<'a, F>) -> Result<Self, Error> {
        let in_order = array.outer_iter().next().is_none_or(|head| head.is_standard_layout());
        let rows = if in_order { 0 } else { KEY_BLOCK };
        Ok(Self { array: *array, copy: zeroed(name, &[rows, array.len_of(Axis(2))])? })
    }

    fn tile(&mut self, head: usize, rows: &Range<usize>) -> &[F] {
        let tile = self.array.slice_move(s![head, rows.clone(), ..]);
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
