//! Version 1: plain loops, one number at a time.

use super::begin;
use crate::{Error, Options};
use ndarray::{Array2, ArrayRef2};

/// Version 1: plain loops. The recipe without a detour, one query after another
/// and one multiplication after another.
///
/// # Shapes
///
/// `q (T_q, d)`, `k (T_k, d)`, `v (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// Those of [`crate::recipe::attend`].
pub fn loops(
    q: &ArrayRef2<f32>,
    k: &ArrayRef2<f32>,
    v: &ArrayRef2<f32>,
    options: Options<f32>,
) -> Result<Array2<f32>, Error> {
    let (scale, mut output) = begin(q, k, v, options)?;
    for query in 0..q.nrows() {
        let open = options.mask.open_keys(query, q.nrows(), k.nrows());
        let mut weights = vec![0.0; open];
        for key in 0..open {
            for c in 0..q.ncols() {
                weights[key] += q[[query, c]] * k[[key, c]];
            }
            weights[key] *= scale;
        }
        let largest = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut total = 0.0;
        for weight in &mut weights {
            *weight = (*weight - largest).exp();
            total += *weight;
        }
        for key in 0..open {
            for c in 0..v.ncols() {
                output[[query, c]] += weights[key] / total * v[[key, c]];
            }
        }
    }
    Ok(output)
}
