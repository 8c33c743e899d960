//! What is to be computed, and how it divides into blocks. It computes nothing.

use crate::{Element, Mask, Real};
use ndarray::{ArrayView3, Axis};
use std::ops::Range;

/// How many keys and values a tile holds at most. Their scores for one panel
/// of queries stay in the nearest cache.
pub(super) const KEY_BLOCK: usize = 128;

/// Queries, keys and values of shapes known to fit: `q (H, T_q, d)`,
/// `k (H, T_k, d)`, `v (H, T_k, d_v)`.
pub struct Problem<'a, E: Element> {
    pub(super) q: ArrayView3<'a, E>,
    pub(super) k: ArrayView3<'a, E>,
    pub(super) v: ArrayView3<'a, E>,
    pub(super) mask: Mask,
    pub(super) scale: E::Real,
}

impl<F: Real, E: Element<Real = F>> Problem<'_, E> {
    /// How many heads there are, H.
    pub(super) fn heads(&self) -> usize {
        self.q.len_of(Axis(0))
    }

    /// How many queries each has, `T_q`.
    pub(super) fn queries(&self) -> usize {
        self.q.len_of(Axis(1))
    }

    /// How many keys each has, `T_k`.
    pub(super) fn keys(&self) -> usize {
        self.k.len_of(Axis(1))
    }

    /// The head size of queries and keys.
    pub(super) fn d(&self) -> usize {
        self.q.len_of(Axis(2))
    }

    /// The size of a value.
    pub(super) fn d_v(&self) -> usize {
        self.v.len_of(Axis(2))
    }

    /// How many multiplications the two products take, if every key is open.
    pub(super) fn multiplications(&self) -> usize {
        self.q
            .len_of(Axis(0))
            .saturating_mul(self.q.len_of(Axis(1)))
            .saturating_mul(self.k.len_of(Axis(1)))
            .saturating_mul(self.d().saturating_add(self.d_v()))
    }

    /// How many keys a query may see.
    pub(super) fn open_keys(&self, query: usize) -> usize {
        self.mask.open_keys(query, self.queries(), self.keys())
    }

    /// How many keys the last of neighbouring queries may see. The others see
    /// no more, so the keys after these are closed to all of them.
    pub(super) fn reach(&self, queries: &Range<usize>) -> usize {
        queries.clone().next_back().map_or(0, |last| self.open_keys(last))
    }

    /// The sign of the scale, which the queries take on: the largest score is
    /// then the one with the largest weight. It is 0 for a scale of 0.
    pub(super) fn direction(&self) -> F {
        if self.scale.is_zero() { F::zero() } else { self.scale.signum() }
    }

    /// What a difference of scores is multiplied by to be an exponent of 2.
    pub(super) fn factor(&self) -> F {
        if self.scale.is_zero() { F::one() } else { self.scale.abs() * F::LOG2_E }
    }

    /// Whether a row of the output is what the recipe gives, for a query with
    /// this largest score and this sum of weights. The sums know only finite
    /// numbers: they make NaN of scores of +∞, or of a NaN whose weight came to
    /// be 0, and do not see scores that only their scale makes infinite.
    #[inline(always)]
    pub(super) fn is_settled(&self, largest: F, total: F, row: &[E]) -> bool {
        finite(row) && ((largest * self.scale).is_finite() || total.is_zero())
    }
}

/// Whether all numbers are finite.
#[inline(always)]
pub(super) fn finite<F: Real, E: Element<Real = F>>(numbers: &[E]) -> bool {
    // Without a way out in the middle, so that many are asked at once.
    numbers.iter().fold(true, |so_far, number| so_far & number.widen().is_finite())
}
