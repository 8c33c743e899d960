//! Tiles of keys and values: rows that follow each other without gaps, which
//! is what the products read. Where the caller's do so already, nothing is
//! copied, but for numbers of a shorter type, which are widened.

use super::problem::{KEY_BLOCK, Problem};
use crate::shape::zeroed;
use crate::{Element, Error};
use ndarray::{ArrayView3, Axis, s};
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
pub(super) struct Tiles<'a, E: Element> {
    k: Rows<'a, E>,
    v: Rows<'a, E>,
}

impl<'a, E: Element> Tiles<'a, E> {
    /// The tiles of a problem.
    pub(super) fn new(problem: &Problem<'a, E>) -> Result<Self, Error> {
        Ok(Self {
            k: Rows::new("a tile of keys", &problem.k)?,
            v: Rows::new("a tile of values", &problem.v)?,
        })
    }

    /// The tile that begins with key `first`, of the keys before `end`.
    #[inline(always)]
    pub(super) fn tile(&mut self, head: usize, first: usize, end: usize) -> Tile<'_, E::Real> {
        let keys = first..end.min(first + KEY_BLOCK);
        Tile { k: self.k.tile(head, &keys), v: self.v.tile(head, &keys), keys }
    }
}

/// The rows of one array, `(H, T_k, columns)`.
struct Rows<'a, E: Element> {
    array: ArrayView3<'a, E>,
    /// Room for one tile; none if each head can be read where it lies.
    copy: Vec<E::Real>,
}

impl<'a, E: Element> Rows<'a, E> {
    fn new(name: &'static str, array: &ArrayView3<'a, E>) -> Result<Self, Error> {
        let in_order = array.outer_iter().next().is_none_or(|head| head.is_standard_layout());
        let rows = if in_order && E::as_reals(&[]).is_some() { 0 } else { KEY_BLOCK };
        Ok(Self { array: *array, copy: zeroed(name, &[rows, array.len_of(Axis(2))])? })
    }

    #[inline(always)]
    fn tile(&mut self, head: usize, rows: &Range<usize>) -> &[E::Real] {
        let tile = self.array.slice_move(s![head, rows.clone(), ..]);
        let in_order = tile.to_slice();
        if let Some(in_order) = in_order.and_then(E::as_reals) {
            return in_order;
        }
        let copy = &mut self.copy[..tile.len()];
        match in_order {
            Some(in_order) => widen(in_order.iter(), copy),
            None => widen(tile.iter(), copy),
        }
        copy
    }
}

/// Copies elements in the type that is computed in.
#[inline(always)]
fn widen<'e, E: Element>(elements: impl Iterator<Item = &'e E>, copy: &mut [E::Real]) {
    for (copy, element) in copy.iter_mut().zip(elements) {
        *copy = element.widen();
    }
}
