//! Attention for many heads at once, in parallel over heads and blocks of
//! queries, in memory that grows with T·d. It divides the work; the arithmetic
//! of one block is in `block`.

mod block;
mod careful;
mod exponential;
mod instructions;
mod panel;
mod parallel;
mod problem;
mod product;
mod softmax;
mod tile;

use crate::shape::{axis, from_elements, must_match, zeroed, zeros};
use crate::{Error, Options, Real, recipe};
use block::Scratch;
pub use exponential::Exponential;
pub use instructions::Instructions;
use ndarray::{Array3, ArrayRef3, Axis, Dimension, IntoDimension};
use problem::{Block, Problem, QUERY_BLOCK};
use std::cmp::Reverse;

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
/// Blocks have a fixed size and are summed in a fixed order, so the same bits
/// come out on any number of threads, and without the feature `rayon`. A row
/// that comes out NaN or infinite is computed again by [`recipe::attend`], so
/// that the two agree on what such numbers mean. Memory beyond the result is a
/// few blocks for each thread.
///
/// # Reference
///
/// The online softmax: Milakov and Gimelshein (2018), algorithm 3,
/// <https://arxiv.org/abs/1805.02867>. Attention by tiles: Dao et al. (2022),
/// algorithm 1, <https://arxiv.org/abs/2205.14135>.
pub fn attend<F: Real>(
    q: &ArrayRef3<F>,
    k: &ArrayRef3<F>,
    v: &ArrayRef3<F>,
    options: Options<F>,
) -> Result<Array3<F>, Error> {
    attend_on(Instructions::best(), q, k, v, options)
}

/// [`attend`] with instructions that need not be the best: to test each of them.
#[doc(hidden)]
pub fn attend_on<F: Real>(
    instructions: Instructions,
    q: &ArrayRef3<F>,
    k: &ArrayRef3<F>,
    v: &ArrayRef3<F>,
    options: Options<F>,
) -> Result<Array3<F>, Error> {
    check_shapes(q, k, v)?;
    let scale = options.scale_for(q.len_of(Axis(2)))?;
    let problem = Problem { q: q.view(), k: k.view(), v: v.view(), mask: options.mask, scale };
    let shape = output_shape(q, v).into_dimension();
    let mut output = zeroed(OUTPUT, shape.slice())?;
    if output.is_empty() {
        return from_elements(OUTPUT, shape, output);
    }
    let blocks = heaviest_first(&problem, &mut output)?;
    parallel::for_each(
        blocks,
        problem.multiplications(),
        || Scratch::new(&problem),
        |scratch, block| instructions.fill(&problem, block, scratch),
    )?;
    from_elements(OUTPUT, shape, output)
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
fn check_shapes<F: Real>(
    q: &ArrayRef3<F>,
    k: &ArrayRef3<F>,
    v: &ArrayRef3<F>,
) -> Result<(), Error> {
    const HEADS: &str = "their first axes (heads H)";
    must_match(axis("k", k, 0), axis("q", q, 0), HEADS)?;
    must_match(axis("k", k, 2), axis("q", q, 2), "their last axes (head size d)")?;
    must_match(axis("v", v, 0), axis("k", k, 0), HEADS)?;
    must_match(axis("v", v, 1), axis("k", k, 1), "their second axes (keys T_k)")
}

/// The shape of the output, `(H, T_q, d_v)`.
fn output_shape<F: Real>(q: &ArrayRef3<F>, v: &ArrayRef3<F>) -> (usize, usize, usize) {
    (q.len_of(Axis(0)), q.len_of(Axis(1)), v.len_of(Axis(2)))
}

/// Divides the output into blocks of queries, those with the most keys first:
/// were a heavy block taken last, the other threads would wait for it. The
/// output must not be empty.
fn heaviest_first<'a, F: Real>(
    problem: &Problem<F>,
    output: &'a mut [F],
) -> Result<Vec<Block<'a, F>>, Error> {
    let (heads, queries, d_v) = output_shape(&problem.q, &problem.v);
    let mut blocks = Vec::new();
    let blocks_of_head = queries.div_ceil(QUERY_BLOCK);
    blocks.try_reserve_exact(heads * blocks_of_head).map_err(|_| Error::TooLarge {
        array: "the list of blocks",
        shape: vec![heads, blocks_of_head],
    })?;
    for (head, rows_of_head) in output.chunks_exact_mut(queries * d_v).enumerate() {
        let firsts = (0..queries).step_by(QUERY_BLOCK);
        for (first, rows) in firsts.zip(rows_of_head.chunks_mut(QUERY_BLOCK * d_v)) {
            let queries = first..queries.min(first + QUERY_BLOCK);
            blocks.push(Block { head, queries, rows });
        }
    }
    blocks.sort_by_key(|block| Reverse(problem.reach(&block.queries)));
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mask;

    #[test]
    fn blocks_cover_every_row_once_the_heaviest_first() {
        // Three blocks of queries, the last of 6, in each of two heads.
        let [q, k, v] =
            [(134, 3), (140, 3), (140, 5)].map(|(t, d)| Array3::<f32>::zeros((2, t, d)));
        let problem =
            Problem { q: q.view(), k: k.view(), v: v.view(), mask: Mask::Causal, scale: 1.0 };
        let mut output = vec![0.0; 2 * 134 * 5];
        let blocks = heaviest_first(&problem, &mut output).unwrap();
        let order: Vec<_> =
            blocks.iter().map(|block| (block.head, block.queries.clone())).collect();
        assert_eq!(
            order,
            [(0, 128..134), (1, 128..134), (0, 64..128), (1, 64..128), (0, 0..64), (1, 0..64)]
        );
        for block in blocks {
            assert_eq!(block.rows.len(), block.queries.len() * 5);
            block.rows.iter_mut().for_each(|element| *element += 1.0);
        }
        assert_eq!(output, vec![1.0; 2 * 134 * 5]);
    }
}
