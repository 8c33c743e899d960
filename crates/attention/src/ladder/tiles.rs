//! Version 3: a tile of keys at a time, with an online softmax.

use super::begin;
use crate::{Error, Options};
use ndarray::{Array2, ArrayRef2, ArrayView2, s};

/// How many queries meet a tile before the next is loaded.
const QUERIES: usize = 32;

/// How many keys a tile holds.
const KEYS: usize = 64;

/// Version 3: tiles. A tile of keys and values is loaded once for a block of
/// queries, and stays in the nearest cache while each of them takes it in. The
/// softmax is online: no row of scores ever exists.
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
    let q = q.as_standard_layout();
    let open = |query: usize| options.mask.open_keys(query, q.nrows(), k.nrows());
    for first_query in (0..q.nrows()).step_by(QUERIES) {
        let queries = first_query..q.nrows().min(first_query + QUERIES);
        let mut running = [(f32::NEG_INFINITY, 0.0); QUERIES];
        for first_key in (0..open(queries.end - 1)).step_by(KEYS) {
            let rows = s![first_key..k.nrows().min(first_key + KEYS), ..];
            let (keys, values) = (transposed(k.slice(rows)), v.slice(rows));
            let values = values.as_standard_layout();
            for query in queries.clone() {
                let open = open(query).clamp(first_key, first_key + keys.ncols()) - first_key;
                let mut scores = [0.0; KEYS];
                score(q.row(query).to_slice().unwrap_or_default(), &keys, &mut scores);
                let weights = &mut scores[..open];
                let fade = absorb(weights, scale, &mut running[query - first_query]);
                let mut output = output.row_mut(query);
                output *= fade;
                for (&mut weight, value) in weights.iter_mut().zip(values.outer_iter()) {
                    output.scaled_add(weight, &value);
                }
            }
        }
        for (query, (_, total)) in queries.zip(running) {
            if total > 0.0 {
                output.row_mut(query).mapv_inplace(|sum| sum / total);
            }
        }
    }
    Ok(output)
}

/// Keys `(n, d)` as columns `(d, n)`.
fn transposed(keys: ArrayView2<f32>) -> Array2<f32> {
    keys.t().as_standard_layout().into_owned()
}

/// The scores of one query for a tile of keys, `(d, n)`.
fn score(query: &[f32], keys: &Array2<f32>, scores: &mut [f32; KEYS]) {
    for (component, keys) in query.iter().zip(keys.outer_iter()) {
        for (score, key) in scores.iter_mut().zip(keys.to_slice().into_iter().flatten()) {
            *score += component * key;
        }
    }
}

/// Turns new scores into weights, keeps the largest score and the sum of the
/// weights up to date, and returns by how much earlier weights have to fade.
fn absorb(scores: &mut [f32], scale: f32, (largest, total): &mut (f32, f32)) -> f32 {
    let before = *largest;
    for score in &mut *scores {
        *score *= scale;
        *largest = largest.max(*score);
    }
    // Nothing seen yet, and nothing open here either.
    if *largest == f32::NEG_INFINITY {
        return 1.0;
    }
    let fade = (before - *largest).exp();
    *total *= fade;
    for score in scores {
        *score = (*score - *largest).exp();
        *total += *score;
    }
    fade
}
