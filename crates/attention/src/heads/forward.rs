//! Attention forward, for those who will go backward too.

use super::backward::{Gradient, Loss, check_output};
use super::instructions::Instructions;
use super::problem::Problem;
use super::softmax::Summary;
use super::{OUTPUT, block, check_shapes, output_shape};
use crate::shape::{collected, from_elements, zeroed};
use crate::{Error, Options, Real};
use ndarray::{Array3, ArrayRef3, ArrayView3, Axis, Dimension, IntoDimension};

/// The output of attention for every head, with what its gradients are made of.
///
/// [`gradient`](super::gradient) has to go through queries and keys once to find out
/// how large each row's scores are. Here two numbers for each row are kept from the
/// forward pass instead, its largest score and the sum of its weights, which takes
/// an eighth off the work of both passes.
///
/// ```
/// use attention::{Options, heads, ndarray::Array3};
///
/// // H = 2 heads, T_q = 3 queries, T_k = 5 keys, d = 4, d_v = 6.
/// let q = Array3::from_elem((2, 3, 4), 0.5_f32);
/// let k = Array3::from_elem((2, 5, 4), 0.5_f32);
/// let v = Array3::from_elem((2, 5, 6), 7.0_f32);
/// let forward = heads::Forward::new(&q, &k, &v, Options::full())?;
/// assert_eq!(forward.output, Array3::from_elem((2, 3, 6), 7.0), "an average of sevens");
///
/// // Let the loss be the sum of the output: each query gives each key a fifth.
/// let gradient = forward.gradient(&Array3::ones((2, 3, 6)))?;
/// assert!((gradient.v[[1, 4, 5]] - 3.0 / 5.0).abs() < 1e-6);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Forward<'a, F> {
    /// `O`: `(H, T_q, d_v)`.
    pub output: Array3<F>,
    q: ArrayView3<'a, F>,
    k: ArrayView3<'a, F>,
    v: ArrayView3<'a, F>,
    options: Options<F>,
    /// Of each row, `(H, T_q)`; none if the output is empty.
    summaries: Vec<Summary<F>>,
    instructions: Instructions,
}

impl<'a, F: Real> Forward<'a, F> {
    /// What [`attend`](super::attend) gives, but for the last bits of a few queries
    /// (at most four), which here are taken as many are.
    ///
    /// # Shapes
    ///
    /// `q (H, T_q, d)`, `k (H, T_k, d)`, `v (H, T_k, d_v)`; the output is
    /// `(H, T_q, d_v)`.
    ///
    /// # Errors
    ///
    /// Those of [`attend`](super::attend).
    pub fn new(
        q: &'a ArrayRef3<F>,
        k: &'a ArrayRef3<F>,
        v: &'a ArrayRef3<F>,
        options: Options<F>,
    ) -> Result<Self, Error> {
        Self::new_on(Instructions::best(), q, k, v, options)
    }

    /// [`Forward::new`], for it and its gradient, with instructions that need not be
    /// the best: to test each of them.
    #[doc(hidden)]
    pub fn new_on(
        instructions: Instructions,
        q: &'a ArrayRef3<F>,
        k: &'a ArrayRef3<F>,
        v: &'a ArrayRef3<F>,
        options: Options<F>,
    ) -> Result<Self, Error> {
        check_shapes(q, k, v)?;
        let scale = options.scale_for(q.len_of(Axis(2)))?;
        let (q, k, v) = (q.view(), k.view(), v.view());
        let shape = output_shape(&q, &v).into_dimension();
        let mut output = zeroed(OUTPUT, shape.slice())?;
        let mut summaries = Vec::new();
        if !output.is_empty() {
            let (heads, queries, _) = output_shape(&q, &v);
            let unknown = Summary { largest: F::zero(), total: F::zero() };
            let unknown = std::iter::repeat_n(unknown, heads * queries);
            summaries = collected("what is known of each row", &[heads, queries], unknown)?;
            let problem = Problem { q, k, v, mask: options.mask, scale };
            block::attend(instructions, &problem, &mut output, &mut summaries)?;
        }
        let output = from_elements(OUTPUT, shape, output)?;
        Ok(Self { output, q, k, v, options, summaries, instructions })
    }

    /// The gradients of a loss with respect to queries, keys and values, from that of
    /// the output. They are what [`gradient`](super::gradient) gives for the same
    /// output, to the bit.
    ///
    /// # Shapes
    ///
    /// `d_output (H, T_q, d_v)` → gradients with the shapes of `q`, `k` and `v`.
    ///
    /// # Errors
    ///
    /// Those of [`gradient`](super::gradient).
    pub fn gradient(&self, d_output: &ArrayRef3<F>) -> Result<Gradient<F>, Error> {
        let Self { output, q, k, v, options, .. } = self;
        check_output("output", output, q, v)?;
        check_output("d_output", d_output, q, v)?;
        let scale = options.scale_for(q.len_of(Axis(2)))?;
        let attention = Problem { q: *q, k: *k, v: *v, mask: options.mask, scale };
        let loss = Loss { attention, output: output.view(), d_output: d_output.view() };
        loss.gradient(self.instructions, &self.summaries)
    }
}
