//! Tiles of keys and values: rows that follow each other without gaps, which
//! is what the products read. Where the caller's do so already, nothing is
//! copied, unless they are wanted in a longer type.

use super::problem::{KEY_BLOCK, Problem};
use crate::element::sealed::Of;
use crate::shape::zeroed;
use crate::{Element, Error};
use ndarray::{ArrayView3, Axis, s};
use std::ops::Range;

/// Neighbouring keys and their values, at most `KEY_BLOCK`.
pub(super) struct Tile<'a, Number> {
    /// Which keys these are.
    pub(super) keys: Range<usize>,
    /// The keys, `(keys, d)`, one after another.
    pub(super) k: &'a [Number],
    /// The values, `(keys, d_v)`, one after another.
    pub(super) v: &'a [Number],
}

/// Hands out keys and values, a tile at a time, in the type that is computed in or
/// as they are stored.
pub(super) struct Tiles<'a, E: Element, Number = <E as Element>::Real> {
    k: Rows<'a, E, Number>,
    v: Rows<'a, E, Number>,
}

impl<'a, E: Element, Number: Of<E>> Tiles<'a, E, Number> {
    /// The tiles of a problem.
    pub(super) fn new(problem: &Problem<'a, E>) -> Result<Self, Error> {
        Ok(Self {
            k: Rows::new("a tile of keys", &problem.k)?,
            v: Rows::new("a tile of values", &problem.v)?,
        })
    }

    /// The tile that begins with key `first`, of the keys before `end`.
    #[inline(always)]
    pub(super) fn tile(&mut self, head: usize, first: usize, end: usize) -> Tile<'_, Number> {
        let keys = first..end.min(first + KEY_BLOCK);
        Tile { k: self.k.tile(head, &keys), v: self.v.tile(head, &keys), keys }
    }
}

/// The rows of one array, `(H, T_k, columns)`.
struct Rows<'a, E, Number> {
    array: ArrayView3<'a, E>,
    /// Room for one tile; none if each head can be read where it lies.
    copy: Vec<Number>,
}

impl<'a, E: Element, Number: Of<E>> Rows<'a, E, Number> {
    fn new(name: &'static str, array: &ArrayView3<'a, E>) -> Result<Self, Error> {
        let in_order = array.outer_iter().next().is_none_or(|head| head.is_standard_layout());
        let rows = if in_order && Number::in_place(&[]).is_some() { 0 } else { KEY_BLOCK };
        Ok(Self { array: *array, copy: zeroed(name, &[rows, array.len_of(Axis(2))])? })
    }

    #[inline(always)]
    fn tile(&mut self, head: usize, rows: &Range<usize>) -> &[Number] {
        let tile = self.array.slice_move(s![head, rows.clone(), ..]);
        let in_order = tile.to_slice();
        if let Some(in_place) = in_order.and_then(Number::in_place) {
            return in_place;
        }
        let copy = &mut self.copy[..tile.len()];
        match in_order {
            Some(in_order) => hold(in_order.iter(), copy),
            None => hold(tile.iter(), copy),
        }
        copy
    }
}

/// Copies elements into numbers.
#[inline(always)]
fn hold<'e, E: Element, Number: Of<E>>(
    elements: impl Iterator<Item = &'e E>,
    numbers: &mut [Number],
) {
    for (number, &element) in numbers.iter_mut().zip(elements) {
        *number = Number::of(element);
    }
}
