//! One attention head: its three weight matrices, and the trace of every
//! intermediate on the way from tokens to output. It calls the recipe, no more.

use crate::recipe::{mask, mix, project, scale, score, softmax};
use crate::shape::{axis, must_match};
use crate::{Error, Options, Real};
use ndarray::{Array2, ArrayRef2};

/// An attention head: the matrices `W_Q`, `W_K` and `W_V`.
///
/// ```
/// use attention::{Head, Options, ndarray::array};
///
/// // d_model = 2, d = 1, d_v = 3.
/// let head = Head::new(
///     array![[1.0], [0.0]],
///     array![[0.0], [1.0]],
///     array![[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]],
/// )?;
/// let x = array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]];
/// let output = head.attend(&x, Options::causal())?;
/// assert_eq!(output.dim(), (4, 3));
/// assert_eq!(output.row(0), array![1.0, 0.0, 2.0], "the first token sees itself alone");
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `W_Q` and `W_K (d_model, d)`, `W_V (d_model, d_v)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Head<F> {
    w_q: Array2<F>,
    w_k: Array2<F>,
    w_v: Array2<F>,
}

impl<F: Real> Head<F> {
    /// A head with the given weights.
    ///
    /// # Shapes
    ///
    /// `w_q` and `w_k (d_model, d)`, `w_v (d_model, d_v)`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the model widths differ, or the head sizes of `W_Q`
    /// and `W_K`.
    pub fn new(w_q: Array2<F>, w_k: Array2<F>, w_v: Array2<F>) -> Result<Self, Error> {
        const MODEL: &str = "their rows (model width d_model)";
        must_match(axis("w_k", &w_k, 0), axis("w_q", &w_q, 0), MODEL)?;
        must_match(axis("w_k", &w_k, 1), axis("w_q", &w_q, 1), "their columns (head size d)")?;
        must_match(axis("w_v", &w_v, 0), axis("w_q", &w_q, 0), MODEL)?;
        Ok(Self { w_q, w_k, w_v })
    }

    /// `W_Q`, which makes queries: `(d_model, d)`.
    #[must_use]
    pub fn w_q(&self) -> &Array2<F> {
        &self.w_q
    }

    /// `W_K`, which makes keys: `(d_model, d)`.
    #[must_use]
    pub fn w_k(&self) -> &Array2<F> {
        &self.w_k
    }

    /// `W_V`, which makes values: `(d_model, d_v)`.
    #[must_use]
    pub fn w_v(&self) -> &Array2<F> {
        &self.w_v
    }

    /// Self-attention over the tokens `x`, with every intermediate kept.
    ///
    /// `O = softmax(mask(scale(Q·Kᵀ)))·V` with `Q = X·W_Q`, `K = X·W_K`, `V = X·W_V`.
    ///
    /// # Shapes
    ///
    /// `x (T, d_model)` → a [`Trace`], whose output is `(T, d_v)`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if x has another model width than the head,
    /// [`Error::Scale`] if the scale is not finite, [`Error::TooLarge`] if an
    /// intermediate cannot be allocated.
    pub fn trace(&self, x: &ArrayRef2<F>, options: Options<F>) -> Result<Trace<F>, Error> {
        must_match(
            axis("x", x, 1),
            axis("w_q", &self.w_q, 0),
            "the columns of x and the rows of w_q (model width d_model)",
        )?;
        let q = project(x, &self.w_q)?;
        let k = project(x, &self.w_k)?;
        let v = project(x, &self.w_v)?;
        Trace::new(q, k, v, options)
    }

    /// Self-attention over the tokens `x`: the output of [`Head::trace`] alone.
    ///
    /// # Shapes
    ///
    /// `x (T, d_model)` → `(T, d_v)`.
    ///
    /// # Errors
    ///
    /// Those of [`Head::trace`].
    pub fn attend(&self, x: &ArrayRef2<F>, options: Options<F>) -> Result<Array2<F>, Error> {
        Ok(self.trace(x, options)?.output)
    }
}

/// Every intermediate of one head, in the order of the recipe.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace<F> {
    /// `Q`, the queries: `(T_q, d)`.
    pub q: Array2<F>,
    /// `K`, the keys: `(T_k, d)`.
    pub k: Array2<F>,
    /// `V`, the values: `(T_k, d_v)`.
    pub v: Array2<F>,
    /// `S = Q·Kᵀ`, how well each key fits each query: `(T_q, T_k)`.
    pub scores: Array2<F>,
    /// `S·scale`: `(T_q, T_k)`.
    pub scaled: Array2<F>,
    /// The scaled scores, −∞ where a key is closed to a query: `(T_q, T_k)`.
    pub masked: Array2<F>,
    /// `A`, the softmax of each row: `(T_q, T_k)`.
    pub weights: Array2<F>,
    /// `O = A·V`, the weighted averages of the values: `(T_q, d_v)`.
    pub output: Array2<F>,
}

impl<F: Real> Trace<F> {
    /// Steps 2 to 6 of the recipe, from queries, keys and values however made.
    ///
    /// The queries need not come from the same tokens as the keys, nor be as many.
    ///
    /// # Shapes
    ///
    /// `q (T_q, d)`, `k (T_k, d)`, `v (T_k, d_v)`; the output is `(T_q, d_v)`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the shapes do not fit, [`Error::Scale`] if the scale
    /// is not finite, [`Error::TooLarge`] if an intermediate cannot be allocated.
    pub fn new(
        q: Array2<F>,
        k: Array2<F>,
        v: Array2<F>,
        options: Options<F>,
    ) -> Result<Self, Error> {
        must_match(axis("k", &k, 1), axis("q", &q, 1), "their last axes (head size d)")?;
        must_match(axis("v", &v, 0), axis("k", &k, 0), "their first axes (keys T_k)")?;
        let factor = options.scale_for(q.ncols())?;
        let scores = score(&q, &k)?;
        let scaled = scale(&scores, factor);
        let masked = mask(&scaled, options.mask);
        let weights = softmax(&masked);
        let output = mix(&weights, &v)?;
        Ok(Self { q, k, v, scores, scaled, masked, weights, output })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mask, recipe};
    use ndarray::array;

    /// Three tokens, `d_model` = 2, d = 1, `d_v` = 4.
    fn small() -> (Array2<f64>, Head<f64>) {
        let w_v = array![[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 3.0]];
        let head = Head::new(array![[1.0], [0.0]], array![[0.0], [0.0]], w_v).unwrap();
        (array![[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]], head)
    }

    #[test]
    fn a_trace_holds_every_step() {
        // W_K is zero, so that every score is 0 and each query averages the
        // values it may see: their columns are x₀, x₁, 2·x₀ and 3·x₁.
        let (x, head) = small();
        let trace = head.trace(&x, Options::causal()).unwrap();
        let closed = f64::NEG_INFINITY;
        assert_eq!(trace.q, array![[1.0], [3.0], [5.0]]);
        assert_eq!(trace.k, Array2::<f64>::zeros((3, 1)));
        assert_eq!(trace.v.row(1), array![3.0, 4.0, 6.0, 12.0]);
        assert_eq!(trace.scores, Array2::<f64>::zeros((3, 3)));
        assert_eq!(trace.scaled, trace.scores);
        assert_eq!(trace.masked.row(0), array![0.0, closed, closed]);
        assert_eq!(trace.weights.row(1), array![0.5, 0.5, 0.0]);
        assert_eq!(trace.output.row(1), array![2.0, 3.0, 4.0, 9.0]);
        assert_eq!(head.attend(&x, Options::causal()).unwrap(), trace.output);
    }

    #[test]
    fn a_trace_and_the_recipe_in_one_give_the_same() {
        let q = array![[1.0, 2.0, 0.5], [-1.0, 0.0, 3.0]];
        let k = array![[0.1, 0.2, 0.3], [1.0, -1.0, 1.0], [2.0, 2.0, 2.0], [0.0, 1.0, 0.0]];
        let v = array![[1.0], [10.0], [100.0], [1000.0]];
        for mask in [Mask::Full, Mask::Causal, Mask::CausalFromStart] {
            let options = Options::masked(mask).with_scale(0.7);
            let output = recipe::attend(&q, &k, &v, options);
            let trace = Trace::new(q.clone(), k.clone(), v.clone(), options).unwrap();
            assert_eq!(output.as_ref(), Ok(&trace.output));
            assert_eq!(trace.scaled, &trace.scores * 0.7);
        }
    }

    #[test]
    fn weights_of_different_widths_are_named() {
        let w = |rows, columns| Array2::<f32>::zeros((rows, columns));
        let message = |w_q, w_k, w_v| Head::new(w_q, w_k, w_v).unwrap_err().to_string();
        assert_eq!(
            message(w(4, 3), w(5, 3), w(4, 2)),
            "w_k has shape (5, 3) but w_q has shape (4, 3): \
             their rows (model width d_model) must be equal"
        );
        assert_eq!(
            message(w(4, 3), w(4, 2), w(4, 2)),
            "w_k has shape (4, 2) but w_q has shape (4, 3): \
             their columns (head size d) must be equal"
        );
        assert_eq!(
            message(w(4, 3), w(4, 3), w(3, 2)),
            "w_v has shape (3, 2) but w_q has shape (4, 3): \
             their rows (model width d_model) must be equal"
        );
    }

    #[test]
    fn tokens_of_another_width_are_named() {
        let (x, head) = small();
        assert_eq!(
            head.trace(&x.t(), Options::full()).unwrap_err().to_string(),
            "x has shape (2, 3) but w_q has shape (2, 1): \
             the columns of x and the rows of w_q (model width d_model) must be equal"
        );
    }

    #[test]
    fn queries_keys_and_values_that_do_not_fit_are_named() {
        let [a, b] = [Array2::<f64>::zeros((5, 4)), Array2::<f64>::zeros((3, 2))];
        let message = |q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>| {
            Trace::new(q.clone(), k.clone(), v.clone(), Options::full()).unwrap_err().to_string()
        };
        assert!(message(&a, &b, &b).starts_with("k has shape (3, 2) but q has shape (5, 4): "));
        assert!(message(&a, &a, &b).starts_with("v has shape (3, 2) but k has shape (5, 4): "));
    }

    #[test]
    fn a_scale_must_be_finite() {
        let (x, head) = small();
        let error = head.attend(&x, Options::full().with_scale(f64::INFINITY)).unwrap_err();
        assert_eq!(error, Error::Scale(f64::INFINITY));
    }

    #[test]
    fn no_tokens_and_one_token_are_fine() {
        let (x, head) = small();
        let none = head.trace(&Array2::zeros((0, 2)), Options::causal()).unwrap();
        assert_eq!((none.weights.dim(), none.output.dim()), ((0, 0), (0, 4)));
        let one = x.slice(ndarray::s![1..2, ..]);
        let trace = head.trace(&one, Options::causal()).unwrap();
        assert_eq!(trace.weights, array![[1.0]]);
        assert_eq!(trace.output, trace.v);
    }
}
