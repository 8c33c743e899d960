//! All steps backwards: from the gradient of a head's output to the gradients of
//! every matrix on the way, and of the tokens and weights it began with. It calls
//! the steps of `gradient`, no more.

use super::{mask, mix, project, scale, score, softmax};
use crate::shape::{axis, must_match};
use crate::{Error, Head, Options, Real, Trace};
use ndarray::{Array2, ArrayRef2};

/// The gradient of a loss with respect to every matrix of a [`Trace`]: each field
/// has the name and the shape of the field it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceGradient<F> {
    /// `dO`, where everything begins: `(T_q, d_v)`.
    pub output: Array2<F>,
    /// `dA = dO·Vᵀ`: `(T_q, T_k)`. It knows nothing of the mask: a closed key has
    /// an entry too, and the next step silences it.
    pub weights: Array2<F>,
    /// `A ∘ (dA − rowsum(A ∘ dA))`, of the masked scores: `(T_q, T_k)`.
    pub masked: Array2<F>,
    /// That of the scaled scores, 0 where a key is closed: `(T_q, T_k)`.
    pub scaled: Array2<F>,
    /// `dS`, that times the scale: `(T_q, T_k)`.
    pub scores: Array2<F>,
    /// `dQ = dS·K`: `(T_q, d)`.
    pub q: Array2<F>,
    /// `dK = dSᵀ·Q`: `(T_k, d)`.
    pub k: Array2<F>,
    /// `dV = Aᵀ·dO`: `(T_k, d_v)`.
    pub v: Array2<F>,
}

impl<F: Real> Trace<F> {
    /// Steps 6 to 2 backwards: from the gradient of the output to those of every
    /// other matrix of the trace.
    ///
    /// ```
    /// use attention::{Options, Trace, ndarray::array};
    ///
    /// let (q, k, v) = (array![[0.0]], array![[1.0], [3.0]], array![[10.0], [20.0]]);
    /// let options = Options::full();
    /// let trace = Trace::new(q, k, v, options)?;
    /// assert_eq!(trace.output, array![[15.0]], "a query of 0 shares equally");
    ///
    /// // Let the loss be the output itself: it grows with it, one for one.
    /// let gradient = trace.gradient(&array![[1.0]], options)?;
    /// assert_eq!(gradient.v, array![[0.5], [0.5]]);
    /// assert_eq!(gradient.scores, array![[-2.5, 2.5]]);
    /// assert_eq!(gradient.q, array![[5.0]], "a larger query finds the second key");
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Shapes
    ///
    /// `d_output (T_q, d_v)`, like the output.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if `d_output` has not the shape of the output,
    /// [`Error::Scale`] if the scale is not finite, [`Error::TooLarge`] if a
    /// gradient cannot be allocated.
    ///
    /// # Numerics
    ///
    /// `options` must be those that the trace was made with; a trace does not
    /// remember them.
    pub fn gradient(
        &self,
        d_output: &ArrayRef2<F>,
        options: Options<F>,
    ) -> Result<TraceGradient<F>, Error> {
        const ROWS: &str = "their rows (queries T_q)";
        const COLUMNS: &str = "their last axes (value size d_v)";
        must_match(axis("d_output", d_output, 0), axis("the output", &self.output, 0), ROWS)?;
        must_match(axis("d_output", d_output, 1), axis("the output", &self.output, 1), COLUMNS)?;
        let factor = options.scale_for(self.q.ncols())?;
        let (weights, v) = mix(&self.weights, &self.v, d_output)?;
        let masked = softmax(&self.weights, &weights)?;
        let scaled = mask(&masked, options.mask);
        let scores = scale(&scaled, factor);
        let (q, k) = score(&self.q, &self.k, &scores)?;
        Ok(TraceGradient { output: d_output.to_owned(), weights, masked, scaled, scores, q, k, v })
    }
}

/// The gradient of a loss with respect to everything that a [`Head`] works with.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadGradient<F> {
    /// `dX`, of the tokens, which were used three times: what comes back through
    /// the queries, through the keys and through the values, added in this order.
    /// `(T, d_model)`.
    pub x: Array2<F>,
    /// `dW_Q`: `(d_model, d)`.
    pub w_q: Array2<F>,
    /// `dW_K`: `(d_model, d)`.
    pub w_k: Array2<F>,
    /// `dW_V`: `(d_model, d_v)`.
    pub w_v: Array2<F>,
    /// The gradients of every matrix in between.
    pub through: TraceGradient<F>,
}

impl<F: Real> Head<F> {
    /// The whole recipe backwards: from the gradient of the output to those of the
    /// tokens and the weights.
    ///
    /// `x` and `options` must be those that [`Head::trace`] was given.
    ///
    /// ```
    /// use attention::{Head, Options, ndarray::array};
    ///
    /// let head = Head::new(array![[1.0]], array![[1.0]], array![[1.0, 2.0]])?;
    /// let (x, options) = (array![[3.0]], Options::causal());
    /// let trace = head.trace(&x, options)?;
    /// let gradient = head.gradient(&x, &trace, &array![[1.0, 1.0]], options)?;
    /// // One token alone: its output is 3·1 and 3·2, whatever its score.
    /// assert_eq!(gradient.w_v, array![[3.0, 3.0]]);
    /// assert_eq!(gradient.x, array![[3.0]]);
    /// assert_eq!((gradient.w_q, gradient.w_k), (array![[0.0]], array![[0.0]]));
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Shapes
    ///
    /// `x (T, d_model)`, `d_output (T, d_v)`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if x, the trace, `d_output` and the head do not fit together,
    /// [`Error::Scale`] if the scale is not finite, [`Error::TooLarge`] if a
    /// gradient cannot be allocated.
    pub fn gradient(
        &self,
        x: &ArrayRef2<F>,
        trace: &Trace<F>,
        d_output: &ArrayRef2<F>,
        options: Options<F>,
    ) -> Result<HeadGradient<F>, Error> {
        let through = trace.gradient(d_output, options)?;
        let (x_by_q, w_q) = project(x, self.w_q(), &through.q)?;
        let (x_by_k, w_k) = project(x, self.w_k(), &through.k)?;
        let (x_by_v, w_v) = project(x, self.w_v(), &through.v)?;
        Ok(HeadGradient { x: x_by_q + x_by_k + x_by_v, w_q, w_k, w_v, through })
    }
}
