//! One part of the work: some keys of one head against all queries that may see
//! them. Each tile of keys meets the queries a panel at a time; the weights of the
//! two and their gradients are made again, used in three products, and forgotten.

use super::Loss;
use super::gather::gather;
use super::statistics::Row;
use crate::heads::exponential::exp2;
use crate::heads::instructions::Job;
use crate::heads::problem::{KEY_BLOCK, Problem};
use crate::heads::product::{mix, score};
use crate::heads::tile::{Tile, Tiles};
use crate::shape::zeroed;
use crate::{Error, Real};
use ndarray::{ArrayView2, s};
use std::ops::Range;

/// The widest panel there is.
const WIDEST: usize = 64;

/// Some keys of one head, and the places of what they contribute.
pub(super) struct Part<'a, F> {
    pub(super) head: usize,
    pub(super) keys: Range<usize>,
    /// `(T_q, d)`, of these keys alone.
    pub(super) d_q: &'a mut [F],
    /// `(keys, d)`.
    pub(super) d_k: &'a mut [F],
    /// `(keys, d_v)`.
    pub(super) d_v: &'a mut [F],
}

impl<F: Real> Part<'_, F> {
    /// About how many scores there are: a measure of the work.
    pub(super) fn scores(&self, attention: &Problem<F>) -> usize {
        let blind = first_query_to_see(attention, self.keys.start);
        self.keys.len().saturating_mul(attention.queries() - blind)
    }
}

/// The first query that sees a key, or the number of queries: as later queries
/// see no less, it can be searched for.
fn first_query_to_see<F: Real>(attention: &Problem<F>, key: usize) -> usize {
    let (mut blind, mut seeing) = (0, attention.queries());
    while blind < seeing {
        let middle = blind.midpoint(seeing);
        if attention.open_keys(middle) > key { seeing = middle } else { blind = middle + 1 }
    }
    blind
}

/// Memory for one part at a time; a thread uses it again for its next part.
pub(super) struct Scratch<'a, F: Real> {
    /// The queries in panels, each `(d, WIDTH)`, and the gradients of their
    /// output, each `(d_v, WIDTH)`.
    q_columns: Vec<F>,
    d_output_columns: Vec<F>,
    /// Both once more in rows, cut into columns of WIDTH: for each panel and each
    /// column `(WIDTH, WIDTH)`.
    q_rows: Vec<F>,
    d_output_rows: Vec<F>,
    /// The gradients of the queries in panels, each `(d, WIDTH)`.
    d_q_columns: Vec<F>,
    /// The weights of a tile and a panel, the gradients of its scores, and room for
    /// a product with them: `(KEY_BLOCK, WIDTH)`.
    weights: Vec<F>,
    d_scores: Vec<F>,
    product: Vec<F>,
    /// The gradients of the keys and values of a tile, for each column
    /// `(KEY_BLOCK, WIDTH)`.
    d_k: Vec<F>,
    d_v: Vec<F>,
    tiles: Tiles<'a, F>,
}

impl<'a, F: Real> Scratch<'a, F> {
    /// Room for any part of a loss.
    pub(super) fn new(loss: &Loss<'a, F>) -> Result<Self, Error> {
        const TILE: &str = "a tile of weights";
        let attention = &loss.attention;
        let (d, d_v) = (attention.d(), attention.d_v());
        let queries = attention.queries().next_multiple_of(WIDEST);
        let padded = |columns: usize| columns.next_multiple_of(WIDEST);
        Ok(Self {
            q_columns: zeroed("the queries in panels", &[queries, d])?,
            d_output_columns: zeroed("the gradient of the output in panels", &[queries, d_v])?,
            q_rows: zeroed("the queries in rows", &[queries, padded(d)])?,
            d_output_rows: zeroed("the gradient of the output in rows", &[queries, padded(d_v)])?,
            d_q_columns: zeroed("the gradient of the queries in panels", &[queries, d])?,
            weights: zeroed(TILE, &[KEY_BLOCK, WIDEST])?,
            d_scores: zeroed(TILE, &[KEY_BLOCK, WIDEST])?,
            product: zeroed(TILE, &[KEY_BLOCK, WIDEST])?,
            d_k: zeroed("the gradient of a tile of keys", &[KEY_BLOCK, padded(d)])?,
            d_v: zeroed("the gradient of a tile of values", &[KEY_BLOCK, padded(d_v)])?,
            tiles: Tiles::new(attention)?,
        })
    }
}

/// A part to be computed, with all that it takes.
pub(super) struct Sweep<'j, 'p, 'o, F: Real> {
    pub(super) loss: &'j Loss<'p, F>,
    pub(super) statistics: &'j [Row<F>],
    pub(super) part: Part<'o, F>,
    pub(super) scratch: &'j mut Scratch<'p, F>,
}

impl<F: Real> Job<F> for Sweep<'_, '_, '_, F> {
    fn queries(&self) -> usize {
        self.statistics.len()
    }

    #[inline(always)]
    fn run<const FUSED: bool, const WIDTH: usize>(self) {
        let Self { loss, statistics, part, scratch } = self;
        let attention = &loss.attention;
        let (d, d_v) = (attention.d(), attention.d_v());
        set_in_order::<F, WIDTH>(loss, part.head, scratch);
        let mut panels = Panels::<F, WIDTH> {
            attention,
            statistics,
            q_columns: scratch.q_columns.as_chunks().0,
            d_output_columns: scratch.d_output_columns.as_chunks().0,
            q_rows: scratch.q_rows.as_chunks().0,
            d_output_rows: scratch.d_output_rows.as_chunks().0,
            d_q_columns: scratch.d_q_columns.as_chunks_mut().0,
            weights: scratch.weights.as_chunks_mut().0,
            d_scores: scratch.d_scores.as_chunks_mut().0,
            product: scratch.product.as_chunks_mut().0,
        };
        let first_panel = first_query_to_see(attention, part.keys.start) / WIDTH;
        let last_panel = statistics.len().div_ceil(WIDTH);
        for first in part.keys.clone().step_by(KEY_BLOCK) {
            let tile = scratch.tiles.tile(part.head, first, part.keys.end);
            scratch.d_k.fill(F::zero());
            scratch.d_v.fill(F::zero());
            for panel in first_panel..last_panel {
                let (d_k, d_v) = (scratch.d_k.as_chunks_mut().0, scratch.d_v.as_chunks_mut().0);
                panels.absorb::<FUSED>(panel, &tile, d_k, d_v);
            }
            let first = tile.keys.start - part.keys.start;
            let rows = |columns: usize| first * columns..(first + tile.keys.len()) * columns;
            write_rows::<F, WIDTH>(&scratch.d_k, d, attention.scale, &mut part.d_k[rows(d)]);
            write_rows::<F, WIDTH>(&scratch.d_v, d_v, F::one(), &mut part.d_v[rows(d_v)]);
        }
        write_columns::<F, WIDTH>(panels.d_q_columns, d, attention.scale, part.d_q);
    }
}

/// Sets the queries and the gradients of their output in panels and in rows, and
/// the gradients of the queries to 0.
#[inline(always)]
fn set_in_order<F: Real, const WIDTH: usize>(
    loss: &Loss<F>,
    head: usize,
    scratch: &mut Scratch<F>,
) {
    let attention = &loss.attention;
    let q = attention.q.slice(s![head, .., ..]);
    let d_output = loss.d_output.slice(s![head, .., ..]);
    in_columns::<F, WIDTH>(&q, attention.direction(), &mut scratch.q_columns);
    in_columns::<F, WIDTH>(&d_output, F::one(), &mut scratch.d_output_columns);
    in_rows::<F, WIDTH>(&q, &mut scratch.q_rows);
    in_rows::<F, WIDTH>(&d_output, &mut scratch.d_output_rows);
    scratch.d_q_columns.fill(F::zero());
}

/// Sets rows in panels of WIDTH, each transposed; the places after the last are
/// zeros as they were.
#[inline(always)]
fn in_columns<F: Real, const WIDTH: usize>(rows: &ArrayView2<F>, factor: F, columns: &mut [F]) {
    let panels = columns.as_chunks_mut::<WIDTH>().0;
    for (index, row) in rows.outer_iter().enumerate() {
        let first = index / WIDTH * rows.ncols();
        for (column, &element) in panels[first..].iter_mut().zip(row) {
            column[index % WIDTH] = element * factor;
        }
    }
}

/// Cuts rows into columns of WIDTH, panel by panel; the places after the last row
/// and the last component are zeros as they were.
#[inline(always)]
fn in_rows<F: Real, const WIDTH: usize>(rows: &ArrayView2<F>, pieces: &mut [F]) {
    let (pieces, columns) = (pieces.as_chunks_mut::<WIDTH>().0, rows.ncols().div_ceil(WIDTH));
    for (index, row) in rows.outer_iter().enumerate() {
        let first = index / WIDTH * columns * WIDTH + index % WIDTH;
        for (component, &element) in row.iter().enumerate() {
            pieces[first + component / WIDTH * WIDTH][component % WIDTH] = element;
        }
    }
}

/// Writes rows that were cut into columns of WIDTH, times a factor.
#[inline(always)]
fn write_rows<F: Real, const WIDTH: usize>(
    pieces: &[F],
    columns: usize,
    factor: F,
    rows: &mut [F],
) {
    let pieces = pieces.as_chunks::<WIDTH>().0;
    for (index, row) in rows.chunks_exact_mut(columns.max(1)).enumerate() {
        for (component, element) in row.iter_mut().enumerate() {
            let piece = &pieces[component / WIDTH * KEY_BLOCK + index];
            *element = piece[component % WIDTH] * factor;
        }
    }
}

/// Writes panels as rows, times a factor.
#[inline(always)]
fn write_columns<F: Real, const WIDTH: usize>(
    panels: &[[F; WIDTH]],
    columns: usize,
    factor: F,
    rows: &mut [F],
) {
    for (index, row) in rows.chunks_exact_mut(columns.max(1)).enumerate() {
        let first = index / WIDTH * columns;
        for (element, column) in row.iter_mut().zip(&panels[first..]) {
            *element = column[index % WIDTH] * factor;
        }
    }
}

/// The queries of one head in panels of WIDTH, with what is known of them and
/// what is being found out.
struct Panels<'a, 'p, F: Real, const WIDTH: usize> {
    attention: &'a Problem<'p, F>,
    statistics: &'a [Row<F>],
    q_columns: &'a [[F; WIDTH]],
    d_output_columns: &'a [[F; WIDTH]],
    q_rows: &'a [[F; WIDTH]],
    d_output_rows: &'a [[F; WIDTH]],
    d_q_columns: &'a mut [[F; WIDTH]],
    weights: &'a mut [[F; WIDTH]],
    d_scores: &'a mut [[F; WIDTH]],
    product: &'a mut [[F; WIDTH]],
}

impl<F: Real, const WIDTH: usize> Panels<'_, '_, F, WIDTH> {
    /// Takes one tile and one panel into the gradients of both.
    #[inline(always)]
    fn absorb<const FUSED: bool>(
        &mut self,
        panel: usize,
        tile: &Tile<F>,
        d_k: &mut [[F; WIDTH]],
        d_v: &mut [[F; WIDTH]],
    ) {
        let (d, value_size) = (self.attention.d(), self.attention.d_v());
        let first = panel * WIDTH;
        let queries = first..self.statistics.len().min(first + WIDTH);
        let end = self.attention.reach(&queries).min(tile.keys.end);
        let keys = end.saturating_sub(tile.keys.start);
        let (weights, d_scores) = (&mut self.weights[..keys], &mut self.d_scores[..keys]);
        score::<F, FUSED, WIDTH>(tile.k, &self.q_columns[panel * d..][..d], weights);
        let d_output = &self.d_output_columns[panel * value_size..][..value_size];
        score::<F, FUSED, WIDTH>(tile.v, d_output, d_scores);
        self.weigh::<FUSED>(&queries, tile.keys.start, keys);

        let (weights, d_scores) = (&self.weights[..keys], &self.d_scores[..keys]);
        let rows = |columns: usize| {
            let length = columns.div_ceil(WIDTH) * WIDTH;
            panel * length..(panel + 1) * length
        };
        let d_output_rows = &self.d_output_rows[rows(value_size)];
        gather::<F, FUSED, WIDTH>(weights, d_output_rows, self.product, d_v, KEY_BLOCK);
        let q_rows = &self.q_rows[rows(d)];
        gather::<F, FUSED, WIDTH>(d_scores, q_rows, self.product, d_k, KEY_BLOCK);
        let d_q = &mut self.d_q_columns[panel * d..][..d];
        mix::<F, FUSED, WIDTH, false>(d_scores, tile.k, &[F::one(); WIDTH], d_q);
    }

    /// Turns scores into weights, and the gradients of the weights into those of
    /// the scores: `A ∘ (dA − D)`.
    #[inline(always)]
    fn weigh<const FUSED: bool>(&mut self, queries: &Range<usize>, first_key: usize, keys: usize) {
        let mut largest = [F::zero(); WIDTH];
        let mut share = [F::zero(); WIDTH];
        let mut average = [F::zero(); WIDTH];
        let mut open = [F::zero(); WIDTH];
        for (index, query) in queries.clone().enumerate() {
            let row = self.statistics[query];
            (largest[index], share[index], average[index]) = (row.largest, row.share, row.average);
            let open_keys = self.attention.open_keys(query);
            open[index] = F::from_count(open_keys.saturating_sub(first_key).min(keys));
        }
        let factor = self.attention.factor();
        let (weights, d_scores) = (&mut self.weights[..keys], &mut self.d_scores[..keys]);
        for weights in weights.iter_mut() {
            for query in 0..WIDTH {
                let exponent = (weights[query] - largest[query]) * factor;
                weights[query] = exp2::<F, FUSED>(exponent) * share[query];
            }
        }
        if first_key + keys > self.attention.open_keys(queries.start) {
            for (key, weights) in weights.iter_mut().enumerate() {
                let key = F::from_count(key);
                for query in 0..WIDTH {
                    weights[query] = if key < open[query] { weights[query] } else { F::zero() };
                }
            }
        }
        for (weights, d_scores) in weights.iter().zip(d_scores) {
            for query in 0..WIDTH {
                d_scores[query] = weights[query] * (d_scores[query] - average[query]);
            }
        }
    }
}
