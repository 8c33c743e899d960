//! Version 3: a tile of keys at a time, with an online softmax.

use super::begin;
use crate::{Error, Options};
use ndarray::{Array2, ArrayRef2, ArrayView2, Axis, Slice};

/// How many queries meet a tile before the next is loaded.
const QUERIES: usize = 64;

/// How many keys a tile holds: so few that their scores fit in registers.
const KEYS: usize = 32;

/// Version 3: tiles. A tile of keys and values is loaded once for a block of
/// queries, and stays in the nearest cache while each of them takes it in. The
/// softmax is online: no row of scores ever exists, only those of a tile, and
/// they can stay in registers while they grow.
///
/// # Shapes
///
/// `q (T_q, d)`, `k (T_k, d)`, `v (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// Those of [`crate::recipe::attend`].
pub fn tiles(
    q: &ArrayRef2<f32>,
    k: &ArrayRef2<f32>,
    v: &ArrayRef2<f32>,
    options: Options<f32>,
) -> Result<Array2<f32>, Error> {
    let (scale, mut output) = begin(q, k, v, options)?;
    let [q, k, v] = [q, k, v].map(|array| array.as_standard_layout());
    let open = |query: usize| options.mask.open_keys(query, q.nrows(), k.nrows());
    for first_query in (0..q.nrows()).step_by(QUERIES) {
        let queries = first_query..q.nrows().min(first_query + QUERIES);
        let mut softmax = [Softmax::default(); QUERIES];
        for first_key in (0..open(queries.end - 1)).step_by(KEYS) {
            let tile = Slice::from(first_key..k.nrows().min(first_key + KEYS));
            let keys = transposed(&k.slice_axis(Axis(0), tile));
            let values = v.slice_axis(Axis(0), tile);
            for (query, softmax) in queries.clone().zip(&mut softmax) {
                let open = open(query).saturating_sub(first_key).min(values.nrows());
                let mut scores = score(q.row(query).as_slice().unwrap_or_default(), &keys);
                let weights = &mut scores[..open];
                let fade = softmax.absorb(weights, scale);
                let mut output = output.row_mut(query);
                mix(weights, &values, fade, output.as_slice_mut().unwrap_or_default());
            }
        }
        for (query, softmax) in queries.zip(softmax) {
            if softmax.total > 0.0 {
                output.row_mut(query).mapv_inplace(|sum| sum / softmax.total);
            }
        }
    }
    Ok(output)
}

/// Keys `(n, d)` as columns, one for each component; short ones end in zeros.
fn transposed(keys: &ArrayRef2<f32>) -> Vec<[f32; KEYS]> {
    let mut columns = vec![[0.0; KEYS]; keys.ncols()];
    for (key, components) in keys.outer_iter().enumerate() {
        for (column, &component) in columns.iter_mut().zip(components) {
            column[key] = component;
        }
    }
    columns
}

/// The scores of one query for a tile of keys.
fn score(query: &[f32], keys: &[[f32; KEYS]]) -> [f32; KEYS] {
    let mut scores = [0.0; KEYS];
    for (component, keys) in query.iter().zip(keys) {
        for (score, key) in scores.iter_mut().zip(keys) {
            *score += component * key;
        }
    }
    scores
}

/// The softmax of one query, as far as it has seen the keys.
#[derive(Clone, Copy)]
struct Softmax {
    /// The largest score so far.
    largest: f32,
    /// The sum of exp(score − largest) so far.
    total: f32,
}

impl Default for Softmax {
    fn default() -> Self {
        Self { largest: f32::NEG_INFINITY, total: 0.0 }
    }
}

impl Softmax {
    /// Turns new scores into weights, relative to the largest seen. Returns by
    /// how much the weights of earlier keys have to fade.
    fn absorb(&mut self, scores: &mut [f32], scale: f32) -> f32 {
        let before = self.largest;
        for score in &mut *scores {
            *score *= scale;
            self.largest = self.largest.max(*score);
        }
        if scores.is_empty() {
            return 1.0;
        }
        let fade = (before - self.largest).exp();
        self.total *= fade;
        for score in scores {
            *score = (*score - self.largest).exp();
            self.total += *score;
        }
        fade
    }
}

/// Lets the output of one query fade, and adds the values of a tile to it, each
/// times its weight.
fn mix(weights: &[f32], values: &ArrayView2<f32>, fade: f32, output: &mut [f32]) {
    for sum in &mut *output {
        *sum *= fade;
    }
    for (weight, value) in weights.iter().zip(values.outer_iter()) {
        for (sum, component) in output.iter_mut().zip(value.to_slice().unwrap_or_default()) {
            *sum += weight * component;
        }
    }
}
