//! Keys and values in panels of WIDTH side by side, with their gradients: what
//! stays in place while the queries pass by.

use crate::heads::problem::Problem;
use crate::shape::zeroed;
use crate::{Error, Real};
use ndarray::{ArrayView2, s};
use std::ops::Range;

/// The widest panel there is.
pub(super) const WIDEST: usize = 64;

/// How much memory panels may take, in bytes: half of the cache that a core commonly
/// has for itself, so that they stay there.
const BYTES: usize = 1 << 19;

/// How many keys stand in panels at a time, at most: whole panels of any width.
pub(super) fn most_keys<F: Real>(attention: &Problem<F>) -> usize {
    let numbers = attention.d().saturating_mul(3).saturating_add(attention.d_v() * 2);
    let keys = BYTES / numbers.saturating_mul(size_of::<F>()).max(1);
    (keys / WIDEST * WIDEST).clamp(WIDEST, BYTES)
}

/// Neighbouring keys of one head and their values, in panels.
pub(super) struct Panels<F> {
    /// Which keys these are.
    keys: Range<usize>,
    /// The keys, transposed, `(d, WIDTH)` for each panel, and their values,
    /// `(d_v, WIDTH)`.
    k_columns: Vec<F>,
    v_columns: Vec<F>,
    /// The keys once more in rows, cut into columns of WIDTH: for each panel and
    /// each column `(WIDTH, WIDTH)`.
    k_rows: Vec<F>,
    /// The gradients of both, as `k_columns` and `v_columns`.
    d_k_columns: Vec<F>,
    d_v_columns: Vec<F>,
}

/// WIDTH neighbouring keys, or fewer: then the last places stand empty, zeros that
/// take no weight.
pub(super) struct Panel<'a, F, const WIDTH: usize> {
    pub(super) first_key: usize,
    pub(super) k_columns: &'a [[F; WIDTH]],
    pub(super) v_columns: &'a [[F; WIDTH]],
    pub(super) k_rows: &'a [[F; WIDTH]],
    pub(super) d_k_columns: &'a mut [[F; WIDTH]],
    pub(super) d_v_columns: &'a mut [[F; WIDTH]],
}

impl<F: Real> Panels<F> {
    /// Room for as many keys as there are at a time.
    pub(super) fn new(attention: &Problem<F>) -> Result<Self, Error> {
        let (d, d_v) = (attention.d(), attention.d_v());
        let keys = most_keys(attention).min(attention.keys().next_multiple_of(WIDEST));
        let padded = d.next_multiple_of(WIDEST);
        Ok(Self {
            keys: 0..0,
            k_columns: zeroed("the keys in panels", &[keys, d])?,
            v_columns: zeroed("the values in panels", &[keys, d_v])?,
            k_rows: zeroed("the keys in rows", &[keys, padded])?,
            d_k_columns: zeroed("the gradient of the keys in panels", &[keys, d])?,
            d_v_columns: zeroed("the gradient of the values in panels", &[keys, d_v])?,
        })
    }

    /// Sets keys and values in order, and their gradients to 0.
    #[inline(always)]
    pub(super) fn set<const WIDTH: usize>(
        &mut self,
        attention: &Problem<F>,
        head: usize,
        keys: Range<usize>,
    ) {
        let k = attention.k.slice(s![head, keys.clone(), ..]);
        let v = attention.v.slice(s![head, keys.clone(), ..]);
        in_columns::<F, WIDTH>(&k, attention.direction(), &mut self.k_columns);
        in_columns::<F, WIDTH>(&v, F::one(), &mut self.v_columns);
        in_rows::<F, WIDTH>(&k, &mut self.k_rows);
        self.d_k_columns.fill(F::zero());
        self.d_v_columns.fill(F::zero());
        self.keys = keys;
    }

    /// How many panels there are.
    pub(super) fn count<const WIDTH: usize>(&self) -> usize {
        self.keys.len().div_ceil(WIDTH)
    }

    /// One of the panels.
    #[inline(always)]
    pub(super) fn panel<const WIDTH: usize>(
        &mut self,
        attention: &Problem<F>,
        index: usize,
    ) -> Panel<'_, F, WIDTH> {
        let place = |columns: usize| index * columns..(index + 1) * columns;
        let (d, d_v) = (place(attention.d()), place(attention.d_v()));
        let rows = place(attention.d().div_ceil(WIDTH) * WIDTH);
        Panel {
            first_key: self.keys.start + index * WIDTH,
            k_columns: &self.k_columns.as_chunks().0[d.clone()],
            v_columns: &self.v_columns.as_chunks().0[d_v.clone()],
            k_rows: &self.k_rows.as_chunks().0[rows],
            d_k_columns: &mut self.d_k_columns.as_chunks_mut().0[d],
            d_v_columns: &mut self.d_v_columns.as_chunks_mut().0[d_v],
        }
    }

    /// Writes the gradients of the keys and the values as rows.
    #[inline(always)]
    pub(super) fn write<const WIDTH: usize>(
        &self,
        attention: &Problem<F>,
        d_k: &mut [F],
        d_v: &mut [F],
    ) {
        write_columns::<F, WIDTH>(&self.d_k_columns, attention.d(), attention.scale, d_k);
        write_columns::<F, WIDTH>(&self.d_v_columns, attention.d_v(), F::one(), d_v);
    }
}

/// Sets rows in panels of WIDTH, each transposed, times a factor.
#[inline(always)]
fn in_columns<F: Real, const WIDTH: usize>(rows: &ArrayView2<F>, factor: F, columns: &mut [F]) {
    columns.fill(F::zero());
    let panels = columns.as_chunks_mut::<WIDTH>().0;
    for (index, row) in rows.outer_iter().enumerate() {
        let first = index / WIDTH * rows.ncols();
        for (column, &element) in panels[first..].iter_mut().zip(row) {
            column[index % WIDTH] = element * factor;
        }
    }
}

/// Cuts rows into columns of WIDTH, panel by panel.
#[inline(always)]
fn in_rows<F: Real, const WIDTH: usize>(rows: &ArrayView2<F>, pieces: &mut [F]) {
    pieces.fill(F::zero());
    let (pieces, columns) = (pieces.as_chunks_mut::<WIDTH>().0, rows.ncols().div_ceil(WIDTH));
    for (index, row) in rows.outer_iter().enumerate() {
        let first = index / WIDTH * columns * WIDTH + index % WIDTH;
        for (component, &element) in row.iter().enumerate() {
            pieces[first + component / WIDTH * WIDTH][component % WIDTH] = element;
        }
    }
}

/// Writes panels as rows, times a factor.
#[inline(always)]
fn write_columns<F: Real, const WIDTH: usize>(
    panels: &[F],
    columns: usize,
    factor: F,
    rows: &mut [F],
) {
    let panels = panels.as_chunks::<WIDTH>().0;
    for (index, row) in rows.chunks_exact_mut(columns.max(1)).enumerate() {
        let first = index / WIDTH * columns;
        for (element, column) in row.iter_mut().zip(&panels[first..]) {
            *element = column[index % WIDTH] * factor;
        }
    }
}
