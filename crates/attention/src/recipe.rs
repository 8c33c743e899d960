//! Attention in six steps, each a function of its own, as the book tells them.
//! This is the reference: it is written to be read and is never optimised.

use crate::shape::{axis, must_match, product, zeros};
use crate::{Error, Mask, Options, Real};
use ndarray::{Array2, ArrayRef2, ArrayViewMut1};

/// Step 1, project: turns tokens into queries, keys or values.
///
/// `Q = X·W_Q`, and likewise `K = X·W_K` and `V = X·W_V`.
///
/// ```
/// use attention::{ndarray::array, recipe::project};
///
/// let x = array![[1.0, 2.0]];
/// let w_q = array![[1.0, 0.0, 3.0], [0.0, 1.0, 1.0]];
/// assert_eq!(project(&x, &w_q)?, array![[1.0, 2.0, 5.0]]);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `x (T, d_model)` · `w (d_model, d)` → `(T, d)`.
///
/// # Errors
///
/// [`Error::Shape`] if x has another model width than w;
/// [`Error::TooLarge`] if the result cannot be allocated.
pub fn project<F: Real>(x: &ArrayRef2<F>, w: &ArrayRef2<F>) -> Result<Array2<F>, Error> {
    must_match(
        axis("x", x, 1),
        axis("w", w, 0),
        "the columns of x and the rows of w (model width d_model)",
    )?;
    product("the projection of x", x, w)
}

/// Step 2, score: how well each key fits each query.
///
/// `S = Q·Kᵀ`: the score of a query and a key is their dot product.
///
/// ```
/// use attention::{ndarray::array, recipe::score};
///
/// let queries = array![[1.0, 2.0]];
/// let keys = array![[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]];
/// assert_eq!(score(&queries, &keys)?, array![[1.0, 2.0, 9.0]]);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `queries (T_q, d)`, `keys (T_k, d)` → `(T_q, T_k)`.
///
/// # Errors
///
/// [`Error::Shape`] if the head sizes differ;
/// [`Error::TooLarge`] if the result cannot be allocated.
pub fn score<F: Real>(queries: &ArrayRef2<F>, keys: &ArrayRef2<F>) -> Result<Array2<F>, Error> {
    must_match(
        axis("keys", keys, 1),
        axis("queries", queries, 1),
        "their last axes (head size d)",
    )?;
    product("the score matrix", queries, &keys.t())
}

/// Step 3, scale: brings the scores back to a size that softmax can tell apart.
///
/// `S·factor`, where the factor is [`default_scale`] unless one has a reason.
///
/// ```
/// use attention::{ndarray::array, recipe::scale};
///
/// assert_eq!(scale(&array![[2.0, -4.0, 6.0]], 0.5), array![[1.0, -2.0, 3.0]]);
/// ```
///
/// # Shapes
///
/// `scores (T_q, T_k)` → `(T_q, T_k)`.
#[must_use]
pub fn scale<F: Real>(scores: &ArrayRef2<F>, factor: F) -> Array2<F> {
    scores.mapv(|score| score * factor)
}

/// The factor of step 3: `1/√d`.
///
/// A dot product of d independent terms of variance 1 has variance d; dividing
/// by `√d` makes it 1 again, whatever the head size. A head of size 0 has only
/// empty dot products, all 0: its factor is 1, so that they stay 0.
///
/// ```
/// assert_eq!(attention::recipe::default_scale::<f64>(16), 0.25);
/// ```
///
/// # Reference
///
/// Vaswani et al., *Attention Is All You Need* (2017), section 3.2.1 and its
/// footnote, <https://arxiv.org/abs/1706.03762>.
#[must_use]
pub fn default_scale<F: Real>(d: usize) -> F {
    if d == 0 { F::one() } else { F::one() / F::from_count(d).sqrt() }
}

/// Step 4, mask: closes the keys that a query may not see.
///
/// An open score stays, a closed one becomes −∞. The mask *sets* closed scores
/// and adds nothing to them, so even a closed NaN is gone.
///
/// ```
/// use attention::{Mask, ndarray::array, recipe::mask};
///
/// let scores = array![[1.0, f64::NAN], [3.0, 4.0]];
/// let masked = mask(&scores, Mask::Causal);
/// assert_eq!(masked, array![[1.0, f64::NEG_INFINITY], [3.0, 4.0]]);
/// ```
///
/// # Shapes
///
/// `scores (T_q, T_k)` → `(T_q, T_k)`.
#[must_use]
pub fn mask<F: Real>(scores: &ArrayRef2<F>, mask: Mask) -> Array2<F> {
    let (queries, keys) = scores.dim();
    Array2::from_shape_fn((queries, keys), |(query, key)| {
        if mask.allows(query, key, queries, keys) {
            scores[[query, key]]
        } else {
            F::neg_infinity()
        }
    })
}

/// Step 5, softmax: turns each row of scores into weights that sum to 1.
///
/// `Aᵢⱼ = exp(Sᵢⱼ − mᵢ) / Σₖ exp(Sᵢₖ − mᵢ)`, where `mᵢ` is the largest score of
/// row `i`. Subtracting it changes no weight, and keeps exp from overflowing.
///
/// ```
/// use attention::{ndarray::array, recipe::softmax};
///
/// let closed = f64::NEG_INFINITY;
/// let weights = softmax(&array![[1000.0, 1000.0, closed], [closed, closed, closed]]);
/// assert_eq!(weights, array![[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]);
/// ```
///
/// # Shapes
///
/// `scores (T_q, T_k)` → `(T_q, T_k)`.
///
/// # Numerics
///
/// A score of −∞ gives the weight 0, and a row of nothing else gives zeros.
/// Scores of +∞ share the row equally, the limit of softmax as they grow
/// together. A NaN makes every weight of its row NaN that would not be 0.
#[must_use]
pub fn softmax<F: Real>(scores: &ArrayRef2<F>) -> Array2<F> {
    let mut weights = scores.to_owned();
    for row in weights.rows_mut() {
        softmax_row(row);
    }
    weights
}

/// Softmax of one row, in place.
fn softmax_row<F: Real>(mut row: ArrayViewMut1<F>) {
    let largest = row.fold(F::neg_infinity(), |largest, &score| largest.max(score));
    row.mapv_inplace(|score| exp_below(score, largest));
    let total = row.sum();
    // What is exactly zero stays so: a row with nothing open has total 0.
    row.mapv_inplace(|weight| if weight.is_zero() { weight } else { weight / total });
}

/// exp(score − largest), with ∞ − ∞ understood: a score of −∞ counts nothing,
/// and a score as large as the largest counts 1.
pub(crate) fn exp_below<F: Real>(score: F, largest: F) -> F {
    if score == F::neg_infinity() {
        F::zero()
    } else if score == largest {
        F::one()
    } else {
        (score - largest).portable_exp()
    }
}

/// Step 6, mix: each query's weighted average of the values.
///
/// `O = A·V`, where a weight of exactly 0 takes nothing from its value, not even
/// NaN or ∞: what a query may not see cannot reach it.
///
/// ```
/// use attention::{ndarray::array, recipe::mix};
///
/// let weights = array![[0.25, 0.75, 0.0]];
/// let values = array![[4.0, 0.0], [0.0, 4.0], [f64::NAN, f64::INFINITY]];
/// assert_eq!(mix(&weights, &values)?, array![[1.0, 3.0]]);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `weights (T_q, T_k)` · `values (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// [`Error::Shape`] if there are not as many values as a query has weights;
/// [`Error::TooLarge`] if the result cannot be allocated.
///
/// # Numerics
///
/// The values are summed in the order of the keys.
pub fn mix<F: Real>(weights: &ArrayRef2<F>, values: &ArrayRef2<F>) -> Result<Array2<F>, Error> {
    must_match(
        axis("values", values, 0),
        axis("weights", weights, 1),
        "the rows of values and the columns of weights (keys T_k)",
    )?;
    let mut output = zeros("the output", (weights.nrows(), values.ncols()))?;
    for (weights_of_query, mut output_row) in weights.outer_iter().zip(output.outer_iter_mut()) {
        for (&weight, value) in weights_of_query.iter().zip(values.outer_iter()) {
            if !weight.is_zero() {
                output_row.scaled_add(weight, &value);
            }
        }
    }
    Ok(output)
}

/// Steps 2 to 6 in one: score, scale, mask, softmax, mix.
///
/// `O = softmax(mask(scale(Q·Kᵀ)))·V`
///
/// ```
/// use attention::{Options, ndarray::array, recipe};
///
/// let queries = array![[1.0, 0.0]];
/// let keys = array![[0.0, 5.0], [0.0, 7.0]];
/// let values = array![[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]];
/// let output = recipe::attend(&queries, &keys, &values, Options::full())?;
/// assert_eq!(output, array![[2.0, 3.0, 4.0]], "both keys score 0, and share equally");
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `queries (T_q, d)`, `keys (T_k, d)`, `values (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// [`Error::Shape`] if the shapes do not fit, [`Error::Scale`] if the scale is
/// not finite, [`Error::TooLarge`] if a matrix cannot be allocated.
pub fn attend<F: Real>(
    queries: &ArrayRef2<F>,
    keys: &ArrayRef2<F>,
    values: &ArrayRef2<F>,
    options: Options<F>,
) -> Result<Array2<F>, Error> {
    let scores = score(queries, keys)?;
    let scaled = scale(&scores, options.scale_for(queries.ncols())?);
    let weights = softmax(&mask(&scaled, options.mask));
    mix(&weights, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::{Array, array, s};

    const CLOSED: f64 = f64::NEG_INFINITY;

    #[test]
    fn project_is_the_matrix_product() {
        // By hand: 1·1 + 2·3 + 3·5 = 22, and so on; T = 1, d_model = 3, d = 2.
        let x = array![[1.0, 2.0, 3.0]];
        let w = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        assert_eq!(project(&x, &w), Ok(array![[22.0, 28.0]]));
    }

    #[test]
    fn score_compares_every_query_with_every_key() {
        // By hand, T_q = 2, T_k = 3, d = 2: row i, column j is query i · key j.
        let queries = array![[1.0, 2.0], [0.0, -1.0]];
        let keys = array![[3.0, 0.0], [0.0, 4.0], [5.0, 6.0]];
        assert_eq!(score(&queries, &keys), Ok(array![[3.0, 8.0, 17.0], [0.0, -4.0, -6.0]]));
    }

    #[test]
    fn shapes_that_do_not_fit_are_named() {
        let tall = Array2::<f32>::zeros((5, 4));
        let wide = Array2::<f32>::zeros((3, 2));
        let messages = [
            project(&tall, &wide).unwrap_err().to_string(),
            score(&tall, &wide).unwrap_err().to_string(),
            mix(&tall, &wide).unwrap_err().to_string(),
        ];
        assert_eq!(
            messages,
            [
                "x has shape (5, 4) but w has shape (3, 2): \
                 the columns of x and the rows of w (model width d_model) must be equal",
                "keys has shape (3, 2) but queries has shape (5, 4): \
                 their last axes (head size d) must be equal",
                "values has shape (3, 2) but weights has shape (5, 4): \
                 the rows of values and the columns of weights (keys T_k) must be equal",
            ]
        );
    }

    #[test]
    fn scores_beyond_memory_are_an_error() {
        // A broadcast view is as long as you like and takes no memory itself.
        let one = Array2::<f64>::zeros((1, 1));
        let long = one.broadcast((1 << 31, 1)).unwrap();
        assert_eq!(
            score(&long, &long).unwrap_err().to_string(),
            "the score matrix of shape (2147483648, 2147483648) cannot be allocated: \
             there is not enough memory"
        );
        let nothing = Array2::<f64>::zeros((1 << 40, 0));
        assert!(matches!(score(&nothing, &nothing), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn default_scale_is_one_over_the_root() {
        assert_eq!(default_scale::<f32>(64), 0.125);
        assert_relative_eq!(default_scale::<f64>(3), 0.577_350_269_189_625_8);
        assert_eq!(default_scale::<f64>(0), 1.0, "1/√0 would make NaN of empty dot products");
    }

    #[test]
    fn mask_sets_and_does_not_add() {
        let scores = array![[1.0, f64::NAN, f64::INFINITY], [4.0, 5.0, f64::NAN]];
        let masked = mask(&scores, Mask::CausalFromStart);
        assert_eq!(masked, array![[1.0, CLOSED, CLOSED], [4.0, 5.0, CLOSED]]);
    }

    #[test]
    fn softmax_of_logarithms_is_their_share() {
        // exp(ln n) = n, so the weights are n / (1 + 2 + 5).
        let weights = softmax(&array![[1.0_f64.ln(), 2.0_f64.ln(), 5.0_f64.ln()]]);
        assert_relative_eq!(weights, array![[0.125, 0.25, 0.625]], max_relative = 1e-15);
    }

    #[test]
    fn softmax_of_large_scores_does_not_overflow() {
        let weights = softmax(&array![[f64::MAX, f64::MAX, -f64::MAX], [-1e308, -1e308, -1e308]]);
        let third = 1.0 / 3.0;
        assert_eq!(weights, array![[0.5, 0.5, 0.0], [third, third, third]]);
    }

    #[test]
    fn softmax_of_a_row_with_nothing_open_is_zeros() {
        let weights = softmax(&array![[CLOSED, CLOSED], [CLOSED, 7.0]]);
        assert_eq!(weights, array![[0.0, 0.0], [0.0, 1.0]]);
        assert_eq!(softmax(&Array2::<f64>::zeros((3, 0))).dim(), (3, 0));
    }

    #[test]
    fn softmax_shares_equally_among_infinite_scores() {
        let weights = softmax(&array![[f64::INFINITY, 1e308, f64::INFINITY, CLOSED]]);
        assert_eq!(weights, array![[0.5, 0.0, 0.5, 0.0]]);
    }

    #[test]
    fn softmax_of_nan_poisons_its_row_and_no_other() {
        let weights = softmax(&array![[1.0, f64::NAN, CLOSED], [1.0, 1.0, CLOSED]]);
        assert!(weights[[0, 0]].is_nan() && weights[[0, 1]].is_nan(), "{weights}");
        assert_eq!(weights.slice(s![.., 2]), array![0.0, 0.0], "closed stays closed");
        assert_eq!(weights.row(1), array![0.5, 0.5, 0.0]);
    }

    #[test]
    fn softmax_keeps_subnormal_weights() {
        // exp(−740) = 4.2e−322: 85 times the smallest number above 0.
        let weight = softmax(&array![[0.0_f64, -740.0]])[[0, 1]];
        assert!(weight.is_subnormal());
        assert_relative_eq!(weight / f64::from_bits(1), 85.0, max_relative = 0.02);
    }

    #[test]
    fn mix_is_the_weighted_average() {
        // By hand, T_q = 2, T_k = 3, d_v = 1.
        let weights = array![[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]];
        let values = array![[4.0], [8.0], [16.0]];
        assert_eq!(mix(&weights, &values), Ok(array![[8.0], [16.0]]));
    }

    #[test]
    fn mix_takes_nothing_where_the_weight_is_zero() {
        let weights = array![[1.0, 0.0, -0.0, 0.0], [0.5, 0.5, 0.0, 0.0]];
        let values = array![[3.0], [f64::NAN], [f64::INFINITY], [CLOSED]];
        let output = mix(&weights, &values).unwrap();
        assert_eq!(output[[0, 0]], 3.0);
        assert!(output[[1, 0]].is_nan(), "a weight above zero passes NaN on");
    }

    #[test]
    fn each_step_takes_views_of_any_layout() {
        let storage = Array::from_shape_fn((4, 6), |(i, j)| (i * 6 + j) as f64);
        let view = storage.slice(s![..;2, ..;-3]);
        let owned = view.to_owned();
        assert_eq!(project(&view, &view), project(&owned, &owned));
        assert_eq!(score(&view, &view.t()), score(&owned, &owned.t()));
        assert_eq!(scale(&view.t(), 3.0), scale(&owned.t(), 3.0));
        assert_eq!(mask(&view.t(), Mask::Causal), mask(&owned.t(), Mask::Causal));
        assert_eq!(softmax(&view.t()), softmax(&owned.t()));
        assert_eq!(mix(&view, &view.t()), mix(&owned, &owned.t()));
    }
}
