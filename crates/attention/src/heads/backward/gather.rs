//! The product that goes over queries: what each key or value gets from all
//! queries of a panel. It knows neither softmax nor mask.

use crate::Real;
use crate::heads::product::score;

/// Adds to the sums of each key the rows of a panel of queries, each times its
/// weight `(keys, WIDTH)`.
///
/// Rows are cut into columns of WIDTH components: for each column `rows` holds one
/// piece for each of WIDTH queries, and `sums` one for each of `most_keys` keys, of
/// which the first are added to. `product` is room for as many.
///
/// It is the product that makes scores, with other names: weights take the place of
/// keys, and components that of queries.
#[inline(always)]
pub(super) fn gather<F: Real, const FUSED: bool, const WIDTH: usize>(
    weights: &[[F; WIDTH]],
    rows: &[[F; WIDTH]],
    product: &mut [[F; WIDTH]],
    sums: &mut [[F; WIDTH]],
    most_keys: usize,
) {
    let product = &mut product[..weights.len()];
    for (rows, sums) in rows.chunks_exact(WIDTH).zip(sums.chunks_exact_mut(most_keys)) {
        score::<F, FUSED, WIDTH>(weights.as_flattened(), rows, product);
        for (sums, terms) in sums.iter_mut().zip(&*product) {
            for lane in 0..WIDTH {
                sums[lane] += terms[lane];
            }
        }
    }
}
