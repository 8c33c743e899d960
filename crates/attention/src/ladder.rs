//! One head of attention in six versions, from plain loops to all that the
//! machine can do: what the chapter “Every core, every lane” climbs. Each has
//! one idea more than the one before; [`crate::heads`] is the last of them.
//!
//! They are here to be read and measured, and for finite numbers only: what
//! NaN and infinities mean is not their subject.

mod columns;
mod loops;
mod panels;
mod tiles;

pub use columns::columns;
pub use loops::loops;
pub use panels::{exponentials, registers};
pub use tiles::tiles;

use crate::shape::{axis, must_match, zeros};
use crate::{Error, Options, heads};
use ndarray::{Array2, ArrayRef2, Axis};

/// Attention for one head: queries, keys, values and options to output.
pub type Attend = fn(
    &ArrayRef2<f32>,
    &ArrayRef2<f32>,
    &ArrayRef2<f32>,
    Options<f32>,
) -> Result<Array2<f32>, Error>;

/// The six versions with their names, each faster than the one before.
pub const VERSIONS: [(&str, Attend); 6] = [
    ("loops", loops),
    ("columns", columns),
    ("tiles", tiles),
    ("registers", registers),
    ("exponentials", exponentials),
    ("cores", cores),
];

/// Version 6: every core. Blocks of queries are handed out to threads, those
/// with the most keys first.
///
/// # Shapes
///
/// `q (T_q, d)`, `k (T_k, d)`, `v (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// Those of [`heads::attend`], which it is.
pub fn cores(
    q: &ArrayRef2<f32>,
    k: &ArrayRef2<f32>,
    v: &ArrayRef2<f32>,
    options: Options<f32>,
) -> Result<Array2<f32>, Error> {
    let [q, k, v] = [q, k, v].map(|array| array.view().insert_axis(Axis(0)));
    Ok(heads::attend(&q, &k, &v, options)?.index_axis_move(Axis(0), 0))
}

/// Checks the shapes, and returns the scale and an output of zeros.
fn begin(
    q: &ArrayRef2<f32>,
    k: &ArrayRef2<f32>,
    v: &ArrayRef2<f32>,
    options: Options<f32>,
) -> Result<(f32, Array2<f32>), Error> {
    must_match(axis("k", k, 1), axis("q", q, 1), "their last axes (head size d)")?;
    must_match(axis("v", v, 0), axis("k", k, 0), "their first axes (keys T_k)")?;
    Ok((options.scale_for(q.ncols())?, zeros("the output", (q.nrows(), v.ncols()))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mask, recipe};
    use ndarray::s;

    /// Numbers between −1 and 1 in no order.
    fn varied(rows: usize, columns: usize, turn: usize) -> Array2<f32> {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            ((i * 37 + j * 11 + i * j * 5 + turn) % 101) as f32 / 50.0 - 1.0
        })
    }

    #[test]
    fn every_version_gives_what_the_recipe_gives() {
        // On both sides of every block and tile; and one query, and one key.
        let sizes =
            [(150, 140, 7, 9), (3, 300, 64, 5), (70, 1, 4, 6), (1, 1, 1, 2), (33, 65, 5, 3)];
        // An interpreter would take minutes for the largest.
        let sizes = if cfg!(miri) { &sizes[3..] } else { &sizes };
        for &(queries, keys, d, d_v) in sizes {
            let (q, k, v) = (varied(queries, d, 1), varied(keys, d, 2), varied(keys, d_v, 3));
            for mask in [Mask::Full, Mask::Causal, Mask::CausalFromStart] {
                for scale in [None, Some(-3.0)] {
                    let options = Options { mask, scale };
                    let whole = recipe::attend(&q, &k, &v, options).unwrap();
                    for (name, attend) in VERSIONS {
                        let output = attend(&q, &k, &v, options).unwrap();
                        let error = (&output - &whole).fold(0.0_f32, |most, e| most.max(e.abs()));
                        assert!(error < 2e-5, "{name} {queries} {keys} {options:?}: {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_version_takes_views_and_empty_arrays() {
        let (q, k, v) = (varied(12, 10, 1), varied(14, 20, 2), varied(6, 14, 3));
        let (q, k, v) = (q.slice(s![..;-2, ..;2]), k.slice(s![..;2, ..;-4]), v.slice(s![.., ..;2]));
        let v = v.t();
        for (name, attend) in VERSIONS {
            let whole = recipe::attend(&q, &k, &v, Options::causal()).unwrap();
            let output = attend(&q, &k, &v, Options::causal()).unwrap();
            assert!((&output - &whole).iter().all(|error| error.abs() < 1e-6), "{name}");
            for [queries, keys, d, d_v] in [[0, 2, 3, 4], [2, 0, 3, 4], [2, 3, 0, 4], [2, 3, 4, 0]]
            {
                let (q, k, v) = (varied(queries, d, 1), varied(keys, d, 2), varied(keys, d_v, 3));
                let whole = recipe::attend(&q, &k, &v, Options::causal()).unwrap();
                let output = attend(&q, &k, &v, Options::causal()).unwrap();
                assert_eq!(output.dim(), whole.dim(), "{name}");
                assert!((&output - &whole).iter().all(|error| error.abs() < 1e-6), "{name}");
            }
        }
    }

    #[test]
    fn every_version_names_shapes_that_do_not_fit() {
        let (a, b) = (varied(5, 4, 1), varied(3, 2, 2));
        for (name, attend) in VERSIONS {
            for (k, v) in [(&b, &b), (&a, &b)] {
                assert!(attend(&a, k, v, Options::full()).is_err(), "{name}");
            }
            assert!(attend(&a, &a, &a, Options::full().with_scale(f32::NAN)).is_err(), "{name}");
        }
    }
}
