//! One part of the work: some keys of one head against all queries that may see
//! them. The keys stand in panels while the queries pass by, a tile at a time; the
//! weights of a tile and a panel and their gradients are made again, used in three
//! products, and forgotten.
//!
//! Forward, queries stand side by side in panels and keys pass by. Here it is the
//! other way round: two gradients belong to a key and one to a query, and what
//! stands still is not loaded and stored again for each tile. The products are the
//! same with keys and queries exchanged.

use super::Loss;
use super::keys::{Panel, Panels, WIDEST, most_keys};
use super::queries::Tile;
use super::statistics::Row;
use crate::heads::exponential::exp2;
use crate::heads::instructions::Job;
use crate::heads::problem::Problem;
use crate::heads::product::{mix, multiply, score};
use crate::shape::zeroed;
use crate::{Error, Real};
use std::ops::Range;

/// Some keys of one head, and the places of what they contribute.
pub(super) struct Part<'a, F> {
    pub(super) head: usize,
    pub(super) keys: Range<usize>,
    /// The first query that sees any of them, as all later ones do.
    pub(super) first_query: usize,
    /// `(queries, d)` from that query on: what these keys alone contribute.
    pub(super) d_q: &'a mut [F],
    /// `(keys, d)`.
    pub(super) d_k: &'a mut [F],
    /// `(keys, d_v)`.
    pub(super) d_v: &'a mut [F],
}

impl<F: Real> Part<'_, F> {
    /// About how many scores there are: a measure of the work.
    pub(super) fn scores(&self, attention: &Problem<F>) -> usize {
        self.keys.len().saturating_mul(attention.queries() - self.first_query)
    }
}

/// The first query that sees a key, or the number of queries: as later queries
/// see no less, it can be searched for.
pub(super) fn first_query_to_see<F: Real>(attention: &Problem<F>, key: usize) -> usize {
    let (mut blind, mut seeing) = (0, attention.queries());
    while blind < seeing {
        let middle = blind.midpoint(seeing);
        if attention.open_keys(middle) > key { seeing = middle } else { blind = middle + 1 }
    }
    blind
}

/// Memory for one part at a time; a thread uses it again for its next part.
pub(super) struct Scratch<F> {
    panels: Panels<F>,
    tile: Tile<F>,
    /// The weights of a tile and a panel, and the gradients of their scores:
    /// `(WIDTH, WIDTH)`.
    weights: Vec<F>,
    d_scores: Vec<F>,
}

impl<F: Real> Scratch<F> {
    /// Room for any part of a loss.
    pub(super) fn new(loss: &Loss<F>) -> Result<Self, Error> {
        const TILE: &str = "a tile of weights";
        Ok(Self {
            panels: Panels::new(&loss.attention)?,
            tile: Tile::new(loss)?,
            weights: zeroed(TILE, &[WIDEST, WIDEST])?,
            d_scores: zeroed(TILE, &[WIDEST, WIDEST])?,
        })
    }
}

/// A part to be computed, with all that it takes.
pub(super) struct Sweep<'j, 'p, 'o, F: Real> {
    pub(super) loss: &'j Loss<'p, F>,
    /// What is known of each query of the head.
    pub(super) statistics: &'j [Row<F>],
    pub(super) part: Part<'o, F>,
    pub(super) scratch: &'j mut Scratch<F>,
}

impl<F: Real> Job<F> for Sweep<'_, '_, '_, F> {
    /// Here it is keys that stand side by side.
    fn queries(&self) -> usize {
        self.part.keys.len()
    }

    #[inline(always)]
    fn run<const FUSED: bool, const WIDTH: usize>(mut self) {
        let keys = self.part.keys.clone();
        let most_keys = most_keys(&self.loss.attention);
        for first in keys.clone().step_by(most_keys) {
            self.sweep::<FUSED, WIDTH>(first..keys.end.min(first + most_keys));
        }
    }
}

impl<F: Real> Sweep<'_, '_, '_, F> {
    /// Sets some keys of the part in panels and lets all queries that see any of
    /// them pass by.
    #[inline(always)]
    fn sweep<const FUSED: bool, const WIDTH: usize>(&mut self, keys: Range<usize>) {
        let Self { loss, statistics, part, scratch } = self;
        let Scratch { panels, tile, weights, d_scores } = &mut **scratch;
        let (weights, d_scores) = (weights.as_chunks_mut().0, d_scores.as_chunks_mut().0);
        let attention = &loss.attention;
        let (d, d_v, queries) = (attention.d(), attention.d_v(), attention.queries());
        panels.set::<WIDTH>(attention, part.head, keys.clone());
        for first in (first_query_to_see(attention, keys.start)..queries).step_by(WIDTH) {
            tile.set(loss, part.head, first..queries.min(first + WIDTH));
            for index in 0..panels.count::<WIDTH>() {
                let panel = &mut panels.panel::<WIDTH>(attention, index);
                meet::<F, FUSED, WIDTH>(attention, statistics, tile, panel, weights, d_scores);
            }
            let row = first - part.first_query;
            let rows = &mut part.d_q[row * d..(row + tile.queries.len()) * d];
            tile.add_to::<WIDTH>(d, attention.scale, rows);
        }
        let first = keys.start - part.keys.start;
        let rows = |columns: usize| first * columns..(first + keys.len()) * columns;
        let (d_k, d_v) = (&mut part.d_k[rows(d)], &mut part.d_v[rows(d_v)]);
        panels.write::<WIDTH>(attention, d_k, d_v);
    }
}

/// Takes a tile of queries and a panel of keys into the gradients of both.
#[inline(always)]
fn meet<F: Real, const FUSED: bool, const WIDTH: usize>(
    attention: &Problem<F>,
    statistics: &[Row<F>],
    tile: &mut Tile<F>,
    panel: &mut Panel<F, WIDTH>,
    weights: &mut [[F; WIDTH]],
    d_scores: &mut [[F; WIDTH]],
) {
    let Range { start, end } = tile.queries;
    let queries = first_query_to_see(attention, panel.first_key).clamp(start, end)..end;
    if queries.is_empty() {
        return;
    }
    let blind = queries.start - start;
    let q = &tile.q[blind * attention.d()..];
    let d_output = &tile.d_output[blind * attention.d_v()..];
    let (weights, d_scores) = (&mut weights[..queries.len()], &mut d_scores[..queries.len()]);
    score::<F, FUSED, WIDTH>(q, panel.k_columns, weights);
    score::<F, FUSED, WIDTH>(d_output, panel.v_columns, d_scores);
    close(attention, &queries, panel.first_key, weights);
    weigh::<F, FUSED, WIDTH>(&statistics[queries], attention.factor(), weights, d_scores);

    mix::<F, FUSED, WIDTH, false>(weights, d_output, &[F::one(); WIDTH], panel.d_v_columns);
    mix::<F, FUSED, WIDTH, false>(d_scores, q, &[F::one(); WIDTH], panel.d_k_columns);
    let columns = tile.d_q.as_chunks_mut().0.chunks_exact_mut(WIDTH);
    for (k_rows, d_q) in panel.k_rows.chunks_exact(WIDTH).zip(columns) {
        let d_q = &mut d_q[blind..][..d_scores.len()];
        multiply::<F, FUSED, WIDTH, true>(d_scores.as_flattened(), WIDTH, k_rows, d_q);
    }
}

/// Sets the scores of keys that a query may not see to −∞, and those of places
/// that stand empty.
#[inline(always)]
fn close<F: Real, const WIDTH: usize>(
    attention: &Problem<F>,
    queries: &Range<usize>,
    first_key: usize,
    scores: &mut [[F; WIDTH]],
) {
    if first_key + WIDTH <= attention.open_keys(queries.start) {
        return;
    }
    let places: [F; WIDTH] = std::array::from_fn(F::from_count);
    for (scores, query) in scores.iter_mut().zip(queries.clone()) {
        let open = attention.open_keys(query).saturating_sub(first_key).min(WIDTH);
        let open = F::from_count(open);
        for lane in 0..WIDTH {
            scores[lane] = if places[lane] < open { scores[lane] } else { F::neg_infinity() };
        }
    }
}

/// Turns scores into weights, and the gradients of the weights into those of the
/// scores: `A ∘ (dA − D)`.
#[inline(always)]
fn weigh<F: Real, const FUSED: bool, const WIDTH: usize>(
    statistics: &[Row<F>],
    factor: F,
    scores: &mut [[F; WIDTH]],
    d_weights: &mut [[F; WIDTH]],
) {
    for (row, (scores, d_weights)) in statistics.iter().zip(scores.iter_mut().zip(d_weights)) {
        for lane in 0..WIDTH {
            let exponent = (scores[lane] - row.largest) * factor;
            let weight = exp2::<F, FUSED>(exponent) * row.share;
            scores[lane] = weight;
            d_weights[lane] = weight * (d_weights[lane] - row.average);
        }
    }
}
