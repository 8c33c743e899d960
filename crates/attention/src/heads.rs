//! Attention for many heads at once, on every core and in every lane of its
//! vectors, in memory that grows with T·d. Here is the door; behind it, from
//! the outside in:
//!
//! - `stream` for a few queries, `block` for more, divide the work;
//! - `parallel` hands it out to threads;
//! - `instructions` compiles it for the vectors that the processor has;
//! - `pairs` does it once more for numbers of 16 bits, which some processors
//!   multiply in pairs;
//! - `panel` takes queries side by side through the keys, a `tile` at a time:
//!   `product` and `softmax` are its arithmetic, `exponential` is theirs;
//! - `careful` looks again where NaN and infinities came out;
//! - `backward` is the way back, and `forward` keeps what shortens it.

mod backward;
pub(crate) mod block;
mod careful;
pub(crate) mod exponential;
mod forward;
pub(crate) mod instructions;
#[cfg(all(target_arch = "x86_64", feature = "bf16"))]
pub(crate) mod pairs;
mod panel;
mod parallel;
mod problem;
pub(crate) mod product;
mod softmax;
mod stream;
mod tile;

use crate::shape::{axis, from_elements, must_match, zeroed, zeros};
use crate::{Element, Error, Options, Real, recipe};

pub use backward::{Gradient, gradient, gradient_on};
pub use forward::Forward;
pub use instructions::Instructions;
use ndarray::{Array3, ArrayRef3, Axis, Dimension, IntoDimension};
pub(crate) use problem::Problem;

/// The name of the result, for errors.
const OUTPUT: &str = "the output";

/// Attention for every head: `O = softmax(mask(scale(Q·Kᵀ)))·V`.
///
/// It gives what [`reference()`] gives, up to rounding, without ever holding the
/// scores: each block of queries meets the keys a block at a time, and keeps a
/// running largest score, sum and output (an *online softmax*). Arrays and
/// views of any layout are taken by reference.
///
/// ```
/// use attention::{Options, heads, ndarray::Array3};
///
/// // H = 2 heads, T_q = 3 queries, T_k = 5 keys, d = 4, d_v = 6.
/// let q = Array3::from_elem((2, 3, 4), 0.5_f32);
/// let k = Array3::from_elem((2, 5, 4), 0.5_f32);
/// let v = Array3::from_elem((2, 5, 6), 7.0_f32);
/// let output = heads::attend(&q, &k, &v, Options::causal())?;
/// assert_eq!(output, Array3::from_elem((2, 3, 6), 7.0), "an average of sevens");
///
/// let error = heads::attend(&q, &v, &v, Options::full()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "k has shape (2, 5, 6) but q has shape (2, 3, 4): \
///      their last axes (head size d) must be equal",
/// );
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `q (H, T_q, d)`, `k (H, T_k, d)`, `v (H, T_k, d_v)` → `(H, T_q, d_v)`.
///
/// # Errors
///
/// [`Error::Shape`] if the shapes do not fit, [`Error::Scale`] if the scale is
/// not finite, [`Error::TooLarge`] if the result or a block cannot be allocated.
///
/// # Numerics
///
/// Tiles have a fixed size and are summed in a fixed order, so the same bits
/// come out on any number of threads, and without the feature `rayon`. Wider
/// vectors take more queries side by side, but each for itself in that order:
/// AVX-512 and AVX2 give the same bits too. The portable instructions have no
/// fused multiply-add, and differ within rounding. One query of at most
/// four may get other bits than the same among many, whose sums run otherwise.
///
/// Sums are of the type of the numbers, in runs of at most 128 keys that are
/// then added up. The exponential is a polynomial, off by at most 1.3 units in
/// the last place in `f32` and 2 in `f64`, beside the rounding of its argument.
///
/// Numbers of 16 bits, `half::bf16`, are stored so and computed in `f32`: rows are
/// widened as they are needed, and the output is rounded at the end. With AVX-512
/// BF16 the products are made from pairs of short numbers, and the weights are rounded
/// for that too, which adds up to half to the error.
///
/// ```
/// # #[cfg(feature = "bf16")] {
/// use attention::{Options, heads, ndarray::Array3};
/// use half::bf16;
///
/// let q = Array3::from_elem((2, 3, 4), bf16::from_f32(0.5));
/// let v = Array3::from_elem((2, 3, 6), bf16::from_f32(7.0));
/// let output = heads::attend(&q, &q, &v, Options::causal())?;
/// assert_eq!(output, v, "an average of sevens");
/// # }
/// # Ok::<(), attention::Error>(())
/// ```
///
/// Rows that come out NaN or infinite are computed again, step by step as in
/// [`recipe::softmax`] and [`recipe::mix`], so that the two agree on what such
/// numbers mean; that takes a few times as long. Memory beyond the result is a
/// few tiles for each thread; arrays in memory order are read where they lie.
///
/// # Reference
///
/// The online softmax: Milakov and Gimelshein (2018), algorithm 3,
/// <https://arxiv.org/abs/1805.02867>. Attention by tiles: Dao et al. (2022),
/// algorithm 1, <https://arxiv.org/abs/2205.14135>.
pub fn attend<E: Element>(
    q: &ArrayRef3<E>,
    k: &ArrayRef3<E>,
    v: &ArrayRef3<E>,
    options: Options<E::Real>,
) -> Result<Array3<E>, Error> {
    attend_on(Instructions::best(), q, k, v, options)
}

/// [`attend`] with instructions that need not be the best: to test each of them.
#[doc(hidden)]
pub fn attend_on<E: Element>(
    instructions: Instructions,
    q: &ArrayRef3<E>,
    k: &ArrayRef3<E>,
    v: &ArrayRef3<E>,
    options: Options<E::Real>,
) -> Result<Array3<E>, Error> {
    check_shapes(q, k, v)?;
    let scale = options.scale_for(q.len_of(Axis(2)))?;
    let problem = Problem { q: q.view(), k: k.view(), v: v.view(), mask: options.mask, scale };
    let shape = output_shape(q, v).into_dimension();
    let mut output = zeroed(OUTPUT, shape.slice())?;
    if output.is_empty() {
        return from_elements(OUTPUT, shape, output);
    }
    if problem.queries() <= stream::FEW {
        stream::attend(instructions, &problem, &mut output)?;
    } else {
        E::attend(instructions, &problem, &mut output)?;
    }
    from_elements(OUTPUT, shape, output)
}

/// The vector instructions that [`attend`] uses on this processor.
///
/// ```
/// let instructions = attention::heads::instructions().to_string();
/// let known = ["AVX-512 BF16", "AVX-512", "AVX2", "NEON", "portable"];
/// assert!(known.contains(&instructions.as_str()));
/// ```
#[must_use]
pub fn instructions() -> Instructions {
    Instructions::best()
}

/// How [`attend`] goes about a number of queries: `stream` for a few, else
/// `tiles`.
#[doc(hidden)]
#[must_use]
pub fn path(queries: usize) -> &'static str {
    if queries <= stream::FEW { "stream" } else { "tiles" }
}

/// The recipe for each head in turn: the oracle that [`attend`] is tested against.
///
/// # Shapes
///
/// `q (H, T_q, d)`, `k (H, T_k, d)`, `v (H, T_k, d_v)` → `(H, T_q, d_v)`.
///
/// # Errors
///
/// Those of [`attend`]; here [`Error::TooLarge`] is met sooner, for each head's
/// scores `(T_q, T_k)` are held in full.
pub fn reference<F: Real>(
    q: &ArrayRef3<F>,
    k: &ArrayRef3<F>,
    v: &ArrayRef3<F>,
    options: Options<F>,
) -> Result<Array3<F>, Error> {
    check_shapes(q, k, v)?;
    options.scale_for(q.len_of(Axis(2)))?;
    let mut output = zeros(OUTPUT, output_shape(q, v))?;
    for (head, mut output_of_head) in output.outer_iter_mut().enumerate() {
        let [q, k, v] = [q, k, v].map(|array| array.index_axis(Axis(0), head));
        output_of_head.assign(&recipe::attend(&q, &k, &v, options)?);
    }
    Ok(output)
}

/// Checks that queries, keys and values fit together.
fn check_shapes<E: Element>(
    q: &ArrayRef3<E>,
    k: &ArrayRef3<E>,
    v: &ArrayRef3<E>,
) -> Result<(), Error> {
    const HEADS: &str = "their first axes (heads H)";
    must_match(axis("k", k, 0), axis("q", q, 0), HEADS)?;
    must_match(axis("k", k, 2), axis("q", q, 2), "their last axes (head size d)")?;
    must_match(axis("v", v, 0), axis("k", k, 0), HEADS)?;
    must_match(axis("v", v, 1), axis("k", k, 1), "their second axes (keys T_k)")
}

/// The shape of the output, `(H, T_q, d_v)`.
fn output_shape<E: Element>(q: &ArrayRef3<E>, v: &ArrayRef3<E>) -> (usize, usize, usize) {
    (q.len_of(Axis(0)), q.len_of(Axis(1)), v.len_of(Axis(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mask;

    /// Numbers between −1 and 1 that are all different, in no order.
    fn varied(shape: (usize, usize, usize)) -> Array3<f64> {
        Array3::from_shape_fn(shape, |(h, i, j)| {
            ((h * 577 + i * 89 + j * 233 + i * j * 31) % 1009) as f64 / 504.5 - 1.0
        })
    }

    #[test]
    fn every_kernel_agrees_with_the_recipe() {
        // Few queries and more; and a NaN, for the second look. The sizes are
        // small, for an interpreter that checks each step; more is in `tests`.
        for (queries, poison) in [(2, 0.5), (9, 0.5), (9, f64::NAN)] {
            let (q, mut k) = (varied((2, queries, 5)), varied((2, 135, 5)));
            let mut v = varied((2, 135, 6));
            (k[[0, 130, 1]], v[[1, 131, 2]]) = (poison, poison);
            for mask in [Mask::Full, Mask::Causal] {
                let whole = reference(&q, &k, &v, Options::masked(mask)).unwrap();
                for instructions in Instructions::available() {
                    let output =
                        attend_on(instructions, &q, &k, &v, Options::masked(mask)).unwrap();
                    for (output, whole) in output.iter().zip(&whole) {
                        let near = (output - whole).abs() < 1e-14;
                        assert!(near || output.is_nan() && whole.is_nan(), "{output} {whole}");
                    }
                }
            }
        }
    }
}
