//! Attention backwards for many heads, in parallel and in memory that grows with
//! T·d: the weights are made again, a tile at a time, and never kept. It divides
//! the work and puts the parts together; the arithmetic is in `sweep`.

mod careful;
mod keys;
mod others;
mod queries;
mod statistics;
mod sweep;

use super::check_shapes;
use super::instructions::Instructions;
use super::parallel;
use super::problem::Problem;
use super::softmax::Summary;
use crate::shape::{axis, collected, from_elements, must_match, zeroed};
use crate::{Error, Options, Real};
use careful::look_again;
use keys::WIDEST;
use ndarray::{Array3, ArrayRef3, ArrayView3, Axis};
use others::Others;
use statistics::{Statistics, summarise};
use std::cmp::Reverse;
use std::ops::Range;
use sweep::{Part, Scratch, Sweep, first_query_to_see};

/// How many parts there are to share among threads, at least, where each head is
/// long enough to be divided. The count must not depend on the threads: how the
/// parts are added up decides about the last bits.
const PARTS: usize = 32;

/// How many keys a part holds at least: each part adds to the gradients of all
/// queries, and with fewer keys that would count beside the work on them.
const KEYS_OF_PART: usize = 256;

/// How many multiplications take about as long as it takes to get two numbers from
/// memory for one.
const WAIT: usize = 8;

/// The gradients of a loss with respect to queries, keys and values.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient<F> {
    /// `dQ`: `(H, T_q, d)`.
    pub q: Array3<F>,
    /// `dK`: `(H, T_k, d)`.
    pub k: Array3<F>,
    /// `dV`: `(H, T_k, d_v)`.
    pub v: Array3<F>,
}

/// Attention backwards for every head: from the gradient of the output to those
/// of the queries, the keys and the values.
///
/// It gives what [`Trace::gradient`](crate::Trace::gradient) gives for each head,
/// up to rounding, without ever holding the weights. With `D = rowsum(dO ∘ O)`,
/// which is the sum of `A ∘ dA` in softmax backwards, each tile of
/// `A = softmax(S')` and of `dS' = A ∘ (dO·Vᵀ − D)` is made, used and forgotten:
///
/// `dV = Aᵀ·dO`, `dQ = scale·dS'·K`, `dK = scale·dS'ᵀ·Q`
///
/// ```
/// use attention::{Options, heads, ndarray::Array3};
///
/// // H = 2 heads, T_q = 3 queries, T_k = 5 keys, d = 4, d_v = 6.
/// let q = Array3::from_elem((2, 3, 4), 0.5_f32);
/// let k = Array3::from_elem((2, 5, 4), 0.5_f32);
/// let v = Array3::from_elem((2, 5, 6), 7.0_f32);
/// let output = heads::attend(&q, &k, &v, Options::full())?;
///
/// // Let the loss be the sum of the output: each query gives each key a fifth.
/// let d_output = Array3::ones((2, 3, 6));
/// let gradient = heads::gradient(&q, &k, &v, &output, &d_output, Options::full())?;
/// assert!((gradient.v[[1, 4, 5]] - 3.0 / 5.0).abs() < 1e-6);
/// assert!(gradient.q.iter().all(|entry| entry.abs() < 1e-4), "all values are alike");
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `q (H, T_q, d)`, `k (H, T_k, d)`, `v (H, T_k, d_v)`, `output` and
/// `d_output (H, T_q, d_v)` → gradients with the shapes of `q`, `k` and `v`.
///
/// # Errors
///
/// [`Error::Shape`] if the shapes do not fit, [`Error::Scale`] if the scale is
/// not finite, [`Error::TooLarge`] if a result or a block cannot be allocated.
///
/// # Numerics
///
/// `output` must be what [`attend`](super::attend) gave for the same arguments.
/// Parts have a size that follows from the shapes alone and are added in a fixed
/// order, so the same bits come out on any number of threads, and without the
/// feature `rayon`. A head whose gradients come out NaN or infinite is computed
/// again by the recipe, row by row, so that the two agree on what such numbers
/// mean. Memory beyond the results grows with `T·d`.
///
/// # Reference
///
/// Dao, *FlashAttention-2* (2023), algorithm 2, <https://arxiv.org/abs/2307.08691>;
/// `D` is from Dao et al. (2022), appendix B.2, <https://arxiv.org/abs/2205.14135>.
pub fn gradient<F: Real>(
    q: &ArrayRef3<F>,
    k: &ArrayRef3<F>,
    v: &ArrayRef3<F>,
    output: &ArrayRef3<F>,
    d_output: &ArrayRef3<F>,
    options: Options<F>,
) -> Result<Gradient<F>, Error> {
    gradient_on(Instructions::best(), q, k, v, output, d_output, options)
}

/// [`gradient`] with instructions that need not be the best: to test each of them.
#[doc(hidden)]
pub fn gradient_on<F: Real>(
    instructions: Instructions,
    q: &ArrayRef3<F>,
    k: &ArrayRef3<F>,
    v: &ArrayRef3<F>,
    output: &ArrayRef3<F>,
    d_output: &ArrayRef3<F>,
    options: Options<F>,
) -> Result<Gradient<F>, Error> {
    check_shapes(q, k, v)?;
    check_output("output", output, q, v)?;
    check_output("d_output", d_output, q, v)?;
    let scale = options.scale_for(q.len_of(Axis(2)))?;
    let attention = Problem { q: q.view(), k: k.view(), v: v.view(), mask: options.mask, scale };
    let loss = Loss { attention, output: output.view(), d_output: d_output.view() };
    loss.gradient(instructions, &[])
}

/// The names of the results, for errors.
const D_Q: &str = "the gradient of q";
const D_K: &str = "the gradient of k";
const D_V: &str = "the gradient of v";

/// Checks that an array is of the shape of the output, `(H, T_q, d_v)`.
pub(super) fn check_output<F: Real>(
    name: &'static str,
    array: &ArrayRef3<F>,
    q: &ArrayRef3<F>,
    v: &ArrayRef3<F>,
) -> Result<(), Error> {
    must_match(axis(name, array, 0), axis("q", q, 0), "their first axes (heads H)")?;
    must_match(axis(name, array, 1), axis("q", q, 1), "their second axes (queries T_q)")?;
    must_match(axis(name, array, 2), axis("v", v, 2), "their last axes (value size d_v)")
}

/// Attention, what came out of it, and how a loss changes with that.
pub(super) struct Loss<'a, F: Real> {
    pub(super) attention: Problem<'a, F>,
    /// `O (H, T_q, d_v)`.
    pub(super) output: ArrayView3<'a, F>,
    /// `dO (H, T_q, d_v)`.
    pub(super) d_output: ArrayView3<'a, F>,
}

impl<F: Real> Loss<'_, F> {
    /// The gradients of a loss of shapes known to fit. Summaries of the softmax of
    /// every row `(H, T_q)` spare a pass over the keys; if there are none, they are
    /// made.
    pub(super) fn gradient(
        &self,
        instructions: Instructions,
        summaries: &[Summary<F>],
    ) -> Result<Gradient<F>, Error> {
        let attention = &self.attention;
        let Problem { q, k, v, .. } = attention;
        let ranges = ranges_of_keys(attention)?;
        let others = Others::new(attention, &ranges)?;
        let [terms, d_q, d_k, d_v] = zeroed_together([
            ("the parts of the gradient of q", &others.shape(attention)),
            (D_Q, q.shape()),
            (D_K, k.shape()),
            (D_V, v.shape()),
        ])?;
        let mut places = Places { d_q: d_q?, terms: terms?, d_k: d_k?, d_v: d_v? };
        if attention.heads().min(attention.queries()).min(attention.keys()) > 0 {
            places.fill(instructions, self, summaries, &ranges, &others)?;
        }
        Ok(Gradient {
            q: from_elements(D_Q, q.raw_dim(), places.d_q)?,
            k: from_elements(D_K, k.raw_dim(), places.d_k)?,
            v: from_elements(D_V, v.raw_dim(), places.d_v)?,
        })
    }
}

/// Arrays of zeros, made by several threads: to touch new memory takes its time.
fn zeroed_together<F: Real, const N: usize>(
    arrays: [(&'static str, &[usize]); N],
) -> Result<[Result<Vec<F>, Error>; N], Error> {
    let mut made = std::array::from_fn(|_| Ok(Vec::new()));
    let numbers = arrays.map(|(_, shape)| {
        shape.iter().fold(1_usize, |product, &length| product.saturating_mul(length))
    });
    let numbers = numbers.into_iter().fold(0, usize::saturating_add);
    parallel::for_each(
        made.iter_mut().zip(arrays).collect(),
        numbers.saturating_mul(WAIT),
        || Ok(()),
        |(), (made, (name, shape))| *made = zeroed(name, shape),
    )?;
    Ok(made)
}

/// The places of the results, and of what is to be added to one of them.
struct Places<F> {
    d_q: Vec<F>,
    /// What all parts of a head but the first add to `d_q`.
    terms: Vec<F>,
    d_k: Vec<F>,
    d_v: Vec<F>,
}

impl<F: Real> Places<F> {
    /// Computes the gradients of a loss; there must be heads, queries and keys.
    fn fill(
        &mut self,
        instructions: Instructions,
        loss: &Loss<F>,
        summaries: &[Summary<F>],
        ranges: &[Range<usize>],
        others: &Others,
    ) -> Result<(), Error> {
        let attention = &loss.attention;
        let statistics = if summaries.is_empty() {
            Statistics::new(loss, &summarise(instructions, attention)?)?
        } else {
            Statistics::new(loss, summaries)?
        };
        let mut parts = self.divide(attention, ranges)?;
        parts.sort_by_key(|part| Reverse(part.scores(attention)));
        parallel::for_each(
            parts,
            attention.multiplications().saturating_mul(2),
            || Scratch::new(loss),
            |scratch, part| {
                let statistics = statistics.of_head(part.head, attention.queries());
                instructions.run(Sweep { loss, statistics, part, scratch });
            },
        )?;
        others.add(attention, &self.terms, &mut self.d_q)?;
        look_again(loss, &mut self.d_q, &mut self.d_k, &mut self.d_v)
    }

    /// The parts of every head, each with its place. The first of each head has its
    /// place in `d_q` itself, to which what the others give is added.
    fn divide(
        &mut self,
        attention: &Problem<F>,
        ranges: &[Range<usize>],
    ) -> Result<Vec<Part<'_, F>>, Error> {
        let (mut d_q, mut terms) = (&mut *self.d_q, &mut *self.terms);
        let (mut d_k, mut d_v) = (&mut *self.d_k, &mut *self.d_v);
        let ranges_of_heads = (0..attention.heads())
            .flat_map(|head| ranges.iter().map(move |keys| (head, keys.clone())));
        let parts = ranges_of_heads.map(|(head, keys)| {
            let first_query = first_query_to_see(attention, keys.start);
            let length = (attention.queries() - first_query) * attention.d();
            let d_q = if keys.start == 0 {
                split_off(&mut d_q, first_query * attention.d());
                split_off(&mut d_q, length)
            } else {
                split_off(&mut terms, length)
            };
            let d_k = split_off(&mut d_k, keys.len() * attention.d());
            let d_v = split_off(&mut d_v, keys.len() * attention.d_v());
            Part { head, keys, first_query, d_q, d_k, d_v }
        });
        collected("the list of parts", &[attention.heads(), ranges.len()], parts)
    }
}

/// Divides the keys of a head into parts of whole panels, all but the last alike.
fn ranges_of_keys<F: Real>(attention: &Problem<F>) -> Result<Vec<Range<usize>>, Error> {
    let keys = attention.keys();
    let wanted = PARTS.div_ceil(attention.heads().max(1));
    let parts = wanted.min(keys / KEYS_OF_PART).max(1);
    let length = keys.div_ceil(parts).max(1).next_multiple_of(WIDEST);
    let ranges = (0..keys).step_by(length).map(|first| first..keys.min(first + length));
    collected("the list of parts", &[parts], ranges)
}

/// Takes the first elements of what is left.
fn split_off<'a, F>(rest: &mut &'a mut [F], length: usize) -> &'a mut [F] {
    rest.split_off_mut(..length).unwrap_or_default()
}
