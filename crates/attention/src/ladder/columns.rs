//! Version 2: the inner loops run over neighbours in memory.

use super::begin;
use crate::{Error, Options};
use ndarray::{Array2, ArrayRef2};

/// Version 2: columns. The keys are transposed once, so that the innermost loop
/// runs over neighbouring numbers which do not depend on each other; the
/// compiler makes vectors of them by itself.
///
/// A dot product is one long sum, and floats have to be added in the order that
/// is written. The scores of neighbouring keys are many sums, one step each.
///
/// # Shapes
///
/// `q (T_q, d)`, `k (T_k, d)`, `v (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// Those of [`crate::recipe::attend`].
pub fn columns(
    q: &ArrayRef2<f32>,
    k: &ArrayRef2<f32>,
    v: &ArrayRef2<f32>,
    options: Options<f32>,
) -> Result<Array2<f32>, Error> {
    let (scale, mut output) = begin(q, k, v, options)?;
    let keys = k.t().as_standard_layout().into_owned();
    let values = v.as_standard_layout();
    let mut weights = vec![0.0; k.nrows()];
    for (query, (components, mut output)) in q.outer_iter().zip(output.outer_iter_mut()).enumerate()
    {
        let open = options.mask.open_keys(query, q.nrows(), k.nrows());
        let weights = &mut weights[..open];
        weights.fill(0.0);
        for (&component, keys) in components.iter().zip(keys.outer_iter()) {
            for (weight, key) in weights.iter_mut().zip(keys.to_slice().into_iter().flatten()) {
                *weight += component * key;
            }
        }
        let largest = weights.iter().fold(f32::NEG_INFINITY, |most, w| most.max(w * scale));
        let mut total = 0.0;
        for weight in &mut *weights {
            *weight = (*weight * scale - largest).exp();
            total += *weight;
        }
        for (weight, value) in weights.iter().zip(values.outer_iter()) {
            output.scaled_add(weight / total, &value);
        }
    }
    Ok(output)
}
