//! The recipe backwards: how a loss changes with each matrix of attention, one
//! function for each step of [`recipe`]. Like the recipe it is
//! written to be read and is never optimised.
//!
//! A *loss* is one number that says how wrong an output was. Its gradient with
//! respect to a matrix has that matrix's shape: entry for entry, by how much the
//! loss grows if the entry grows a little, per unit. In code the gradient of `q`
//! is called `d_q`.
//!
//! Each function here takes what its step made, as a gradient, and gives the
//! gradients of what its step was made of, in the order of the step's arguments:
//!
//! | Step | Forward | Backward |
//! |---|---|---|
//! | [`mix`] | `O = A·V` | `dA = dO·Vᵀ`, `dV = Aᵀ·dO` |
//! | [`softmax`] | `A = softmax(S')` | `dS' = A ∘ (dA − rowsum(A ∘ dA))` |
//! | [`mask`] | closes scores | 0 where closed |
//! | [`scale`] | `S·factor` | `dS'·factor` |
//! | [`score`] | `S = Q·Kᵀ` | `dQ = dS·K`, `dK = dSᵀ·Q` |
//! | [`project`] | `Q = X·W` | `dX = dQ·Wᵀ`, `dW = Xᵀ·dQ` |
//!
//! [`Trace::gradient`] and [`Head::gradient`] go through all of them. For many
//! heads [`heads::gradient`](crate::heads::gradient()) gives the same, faster and
//! without holding a square of anything.
//!
//! # Semantics
//!
//! - **An exact 0 passes nothing on**: a product with it is 0, even if the other
//!   factor is NaN or infinite. So a closed key gets a gradient of 0 and leaks
//!   nothing, and neither does an output that the loss does not depend on.
//! - **Order.** Each entry is summed from left to right, so the same bits come out
//!   on every platform.
//! - **Empty arrays** are fine, and so is any layout.
//!
//! [`Trace::gradient`]: crate::Trace::gradient
//! [`Head::gradient`]: crate::Head::gradient

mod trace;

pub use trace::{HeadGradient, TraceGradient};

use crate::shape::{axis, must_match, zeros};
use crate::{Error, Mask, Real, recipe};
use ndarray::{Array2, ArrayRef1, ArrayRef2, ArrayViewMut1};

/// Step 6 backwards: the gradients of the weights and of the values.
///
/// `dA = dO·Vᵀ`: a weight matters as far as its value points where the loss
/// grows. `dV = Aᵀ·dO`: a value matters to each query as far as it has its weight.
///
/// ```
/// use attention::{gradient, ndarray::array};
///
/// let weights = array![[0.25, 0.75]];
/// let values = array![[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]];
/// // The loss grows with the last number of the output, and with no other.
/// let d_output = array![[0.0, 0.0, 1.0]];
/// let (d_weights, d_values) = gradient::mix(&weights, &values, &d_output)?;
/// assert_eq!(d_weights, array![[2.0, 0.0]]);
/// assert_eq!(d_values, array![[0.0, 0.0, 0.25], [0.0, 0.0, 0.75]]);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `weights (T_q, T_k)`, `values (T_k, d_v)`, `d_output (T_q, d_v)` →
/// `(T_q, T_k)` and `(T_k, d_v)`.
///
/// # Errors
///
/// [`Error::Shape`] if the shapes do not fit; [`Error::TooLarge`] if a result
/// cannot be allocated.
pub fn mix<F: Real>(
    weights: &ArrayRef2<F>,
    values: &ArrayRef2<F>,
    d_output: &ArrayRef2<F>,
) -> Result<(Array2<F>, Array2<F>), Error> {
    const KEYS: &str = "the rows of values and the columns of weights (keys T_k)";
    must_match(axis("values", values, 0), axis("weights", weights, 1), KEYS)?;
    must_match(axis("d_output", d_output, 0), axis("weights", weights, 0), QUERIES)?;
    must_match(axis("d_output", d_output, 1), axis("values", values, 1), VALUE_SIZE)?;
    let d_weights = product("the gradient of the weights", d_output, &values.t())?;
    let d_values = product("the gradient of the values", &weights.t(), d_output)?;
    Ok((d_weights, d_values))
}

/// Step 5 backwards: the gradient of the scores, scaled and masked.
///
/// `dS'ᵢⱼ = Aᵢⱼ·(dAᵢⱼ − Σₖ Aᵢₖ·dAᵢₖ)`. The sum is the row's average of `dA`, by its
/// own weights: a score matters as far as its weight is better or worse than that
/// average, and as far as it has a weight at all. So each row of `dS'` adds up to 0.
///
/// ```
/// use attention::{gradient, ndarray::array};
///
/// let weights = array![[0.25, 0.75, 0.0]];
/// let d_weights = array![[8.0, 4.0, 100.0]]; // on average 0.25·8 + 0.75·4 = 5
/// assert_eq!(gradient::softmax(&weights, &d_weights)?, array![[0.75, -0.75, 0.0]]);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `weights`, `d_weights (T_q, T_k)` → `(T_q, T_k)`.
///
/// # Errors
///
/// [`Error::Shape`] if the shapes differ; [`Error::TooLarge`] if the result
/// cannot be allocated.
///
/// # Numerics
///
/// It needs what softmax gave, not what it was given, for its derivative can be
/// said in the weights alone.
pub fn softmax<F: Real>(
    weights: &ArrayRef2<F>,
    d_weights: &ArrayRef2<F>,
) -> Result<Array2<F>, Error> {
    must_match(axis("d_weights", d_weights, 0), axis("weights", weights, 0), QUERIES)?;
    must_match(axis("d_weights", d_weights, 1), axis("weights", weights, 1), KEYS)?;
    let mut d_scores = zeros("the gradient of the masked scores", weights.dim())?;
    let rows = weights.outer_iter().zip(d_weights.outer_iter());
    for ((weights, d_weights), d_scores) in rows.zip(d_scores.outer_iter_mut()) {
        softmax_row(&weights, &d_weights, d_scores);
    }
    Ok(d_scores)
}

/// Softmax of one row, backwards.
fn softmax_row<F: Real>(
    weights: &ArrayRef1<F>,
    d_weights: &ArrayRef1<F>,
    mut d_scores: ArrayViewMut1<F>,
) {
    let average = dot(weights, d_weights);
    let entries = weights.iter().zip(d_weights).zip(&mut d_scores);
    for ((&weight, &d_weight), d_score) in entries {
        *d_score = times(weight, d_weight - average);
    }
}

/// Step 4 backwards: the gradient of the scaled scores.
///
/// An open score went through unchanged, and so does its gradient. A closed one
/// was replaced: the loss does not depend on it, and its gradient is 0.
///
/// ```
/// use attention::{Mask, gradient, ndarray::array};
///
/// let d_masked = array![[1.0, f64::NAN], [3.0, 4.0]];
/// assert_eq!(gradient::mask(&d_masked, Mask::Causal), array![[1.0, 0.0], [3.0, 4.0]]);
/// ```
///
/// # Shapes
///
/// `d_masked (T_q, T_k)` → `(T_q, T_k)`.
#[must_use]
pub fn mask<F: Real>(d_masked: &ArrayRef2<F>, mask: Mask) -> Array2<F> {
    let (queries, keys) = d_masked.dim();
    Array2::from_shape_fn((queries, keys), |(query, key)| {
        let open = mask.allows(query, key, queries, keys);
        if open { d_masked[[query, key]] } else { F::zero() }
    })
}

/// Step 3 backwards: the gradient of the scores, `dS'·factor`.
///
/// What was stretched by a factor moves the loss by that factor more.
///
/// ```
/// use attention::{gradient, ndarray::array};
///
/// assert_eq!(gradient::scale(&array![[2.0, -4.0]], 0.5), array![[1.0, -2.0]]);
/// ```
///
/// # Shapes
///
/// `d_scaled (T_q, T_k)` → `(T_q, T_k)`.
#[must_use]
pub fn scale<F: Real>(d_scaled: &ArrayRef2<F>, factor: F) -> Array2<F> {
    recipe::scale(d_scaled, factor)
}

/// Step 2 backwards: the gradients of the queries and of the keys.
///
/// `dQ = dS·K`: a query is moved along the keys it met, as far as their scores
/// matter. `dK = dSᵀ·Q`: and a key along the queries.
///
/// ```
/// use attention::{gradient, ndarray::array};
///
/// let queries = array![[1.0, 2.0]];
/// let keys = array![[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]];
/// let d_scores = array![[0.5, -0.5, 0.0]];
/// let (d_queries, d_keys) = gradient::score(&queries, &keys, &d_scores)?;
/// assert_eq!(d_queries, array![[0.5, -0.5]]);
/// assert_eq!(d_keys, array![[0.5, 1.0], [-0.5, -1.0], [0.0, 0.0]]);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `queries (T_q, d)`, `keys (T_k, d)`, `d_scores (T_q, T_k)` → `(T_q, d)` and
/// `(T_k, d)`.
///
/// # Errors
///
/// [`Error::Shape`] if the shapes do not fit; [`Error::TooLarge`] if a result
/// cannot be allocated.
pub fn score<F: Real>(
    queries: &ArrayRef2<F>,
    keys: &ArrayRef2<F>,
    d_scores: &ArrayRef2<F>,
) -> Result<(Array2<F>, Array2<F>), Error> {
    const OF_KEYS: &str = "the columns of d_scores and the rows of keys (keys T_k)";
    must_match(axis("keys", keys, 1), axis("queries", queries, 1), HEAD_SIZE)?;
    must_match(axis("d_scores", d_scores, 0), axis("queries", queries, 0), QUERIES)?;
    must_match(axis("d_scores", d_scores, 1), axis("keys", keys, 0), OF_KEYS)?;
    let d_queries = product("the gradient of the queries", d_scores, keys)?;
    let d_keys = product("the gradient of the keys", &d_scores.t(), queries)?;
    Ok((d_queries, d_keys))
}

/// Step 1 backwards: the gradients of the tokens and of the weight matrix.
///
/// `dX = dQ·Wᵀ` and `dW = Xᵀ·dQ`, and likewise for keys and values. A weight is
/// shared by all tokens, so that its gradient adds up what each of them says.
///
/// ```
/// use attention::{gradient, ndarray::array};
///
/// let x = array![[1.0, 2.0]];
/// let w_q = array![[1.0, 0.0, 3.0], [0.0, 1.0, 1.0]];
/// let d_q = array![[1.0, 0.0, -1.0]];
/// let (d_x, d_w) = gradient::project(&x, &w_q, &d_q)?;
/// assert_eq!(d_x, array![[-2.0, -1.0]]);
/// assert_eq!(d_w, array![[1.0, 0.0, -1.0], [2.0, 0.0, -2.0]]);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `x (T, d_model)`, `w (d_model, d)`, `d_projection (T, d)` → `(T, d_model)` and
/// `(d_model, d)`.
///
/// # Errors
///
/// [`Error::Shape`] if the shapes do not fit; [`Error::TooLarge`] if a result
/// cannot be allocated.
pub fn project<F: Real>(
    x: &ArrayRef2<F>,
    w: &ArrayRef2<F>,
    d_projection: &ArrayRef2<F>,
) -> Result<(Array2<F>, Array2<F>), Error> {
    const MODEL: &str = "the columns of x and the rows of w (model width d_model)";
    must_match(axis("x", x, 1), axis("w", w, 0), MODEL)?;
    must_match(axis("d_projection", d_projection, 0), axis("x", x, 0), "their rows (tokens T)")?;
    must_match(axis("d_projection", d_projection, 1), axis("w", w, 1), HEAD_SIZE)?;
    let d_x = product("the gradient of x", d_projection, &w.t())?;
    let d_w = product("the gradient of w", &x.t(), d_projection)?;
    Ok((d_x, d_w))
}

const QUERIES: &str = "their rows (queries T_q)";
const KEYS: &str = "their columns (keys T_k)";
const HEAD_SIZE: &str = "their last axes (head size d)";
const VALUE_SIZE: &str = "their last axes (value size d_v)";

/// The matrix product A·B, of `(m, n)`·`(n, p)` → `(m, p)`, already known to fit,
/// in which an exact 0 passes nothing on.
fn product<F: Real>(
    array: &'static str,
    a: &ArrayRef2<F>,
    b: &ArrayRef2<F>,
) -> Result<Array2<F>, Error> {
    let mut result = zeros(array, (a.nrows(), b.ncols()))?;
    for (row, mut result_row) in a.outer_iter().zip(result.outer_iter_mut()) {
        for (column, entry) in b.columns().into_iter().zip(&mut result_row) {
            *entry = dot(&row, &column);
        }
    }
    Ok(result)
}

/// The dot product, summed from left to right, in which an exact 0 passes nothing on.
fn dot<F: Real>(a: &ArrayRef1<F>, b: &ArrayRef1<F>) -> F {
    a.iter().zip(b).fold(F::zero(), |sum, (&a, &b)| sum + times(a, b))
}

/// a·b, and 0 if either is exactly 0, whatever the other is.
fn times<F: Real>(a: F, b: F) -> F {
    if a.is_zero() || b.is_zero() { F::zero() } else { a * b }
}
