//! Attention of one query, a key at a time, without its whole row of scores:
//! the online softmax. It is written to be read; what is fast is in `heads`.

use crate::recipe::exp_below;
use crate::shape::{axis, must_match, zeros};
use crate::{Error, Real};
use ndarray::{Array1, ArrayRef1, ArrayRef2};

/// A partial result: attention of one query over the keys it has met so far.
///
/// Of scores `sⱼ` and values `vⱼ` it keeps the largest score `m`, the sum
/// `ℓ = Σⱼ exp(sⱼ − m)`, and the output before its division,
/// `o = Σⱼ exp(sⱼ − m)·vⱼ`. Then `o/ℓ` is the average of the values, weighted
/// by the softmax of the scores.
///
/// ```
/// use attention::{ndarray::array, online::Partial};
///
/// // exp(ln n) = n, so the weights are 1, 3 and 4 eighths.
/// let mut partial = Partial::empty(2)?;
/// partial.absorb(1.0_f64.ln(), &array![8.0, 0.0])?;
/// partial.absorb(3.0_f64.ln(), &array![0.0, 8.0])?;
///
/// let mut rest = Partial::empty(2)?;
/// rest.absorb(4.0_f64.ln(), &array![8.0, 16.0])?;
///
/// let output = partial.merge(rest)?.finish();
/// assert!((output - array![5.0, 11.0]).iter().all(|gap| gap.abs() < 1e-12));
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Numerics
///
/// In exact arithmetic the order of the keys and the way they are split make
/// no difference; in floats they may change the last digits. Scores of −∞, +∞
/// and NaN mean what they mean to [`recipe::softmax`](crate::recipe::softmax).
/// A value that is NaN or infinite stays in the output once its weight was
/// above zero, unless that weight later fades to zero in a single step.
///
/// # Reference
///
/// Milakov and Gimelshein, *Online normalizer calculation for softmax* (2018),
/// algorithm 3 and section 3.1, <https://arxiv.org/abs/1805.02867>.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial<F> {
    largest: F,
    sum: F,
    output: Array1<F>,
}

impl<F: Real> Partial<F> {
    /// No key met: the largest score is −∞, the sum and the output are 0.
    ///
    /// # Shapes
    ///
    /// The output is `(d_v)`.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if the output cannot be allocated.
    pub fn empty(d_v: usize) -> Result<Self, Error> {
        let output = zeros("the output so far", d_v)?;
        Ok(Self { largest: F::neg_infinity(), sum: F::zero(), output })
    }

    /// Meets one key: takes in its score and its value.
    ///
    /// `m' = max(m, s)`, then `ℓ' = ℓ·exp(m − m') + exp(s − m')`, and likewise
    /// `o' = o·exp(m − m') + exp(s − m')·v`.
    ///
    /// # Shapes
    ///
    /// `value (d_v)`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the value has another length than the output so far.
    pub fn absorb(&mut self, score: F, value: &ArrayRef1<F>) -> Result<(), Error> {
        must_match(axis("value", value, 0), axis("the output", &self.output, 0), LENGTHS)?;
        self.raise(self.largest.max(score));
        self.add(score, value);
        Ok(())
    }

    /// Meets several keys at once, and fades at most once for all of them.
    ///
    /// It gives what [`Partial::absorb`] gives for one after the other.
    ///
    /// # Shapes
    ///
    /// `scores (n)`, `values (n, d_v)`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are not as many values as scores, or of
    /// another length than the output so far.
    pub fn absorb_tile(
        &mut self,
        scores: &ArrayRef1<F>,
        values: &ArrayRef2<F>,
    ) -> Result<(), Error> {
        must_match(
            axis("values", values, 0),
            axis("scores", scores, 0),
            "their first axes (keys)",
        )?;
        must_match(axis("values", values, 1), axis("the output", &self.output, 0), LENGTHS)?;
        self.raise(scores.fold(self.largest, |largest, &score| largest.max(score)));
        for (&score, value) in scores.iter().zip(values.outer_iter()) {
            self.add(score, &value);
        }
        Ok(())
    }

    /// Joins what two partial results have met.
    ///
    /// `m = max(m₁, m₂)`, then `ℓ = ℓ₁·exp(m₁ − m) + ℓ₂·exp(m₂ − m)`, and
    /// likewise `o = o₁·exp(m₁ − m) + o₂·exp(m₂ − m)`.
    ///
    /// Merging is associative, and [`Partial::empty`] changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the outputs have different lengths.
    pub fn merge(mut self, mut other: Self) -> Result<Self, Error> {
        let ours = axis("the output", &self.output, 0);
        must_match(axis("the other output", &other.output, 0), ours, LENGTHS)?;
        let largest = self.largest.max(other.largest);
        self.raise(largest);
        other.raise(largest);
        self.sum += other.sum;
        self.output += &other.output;
        Ok(self)
    }

    /// Makes sum and output relative to a largest score that is no smaller.
    fn raise(&mut self, largest: F) {
        let fade = exp_below(self.largest, largest);
        self.largest = largest;
        self.sum *= fade;
        // What fades to nothing takes its NaN and ∞ along.
        let faded = |element| if fade.is_zero() { F::zero() } else { element * fade };
        self.output.mapv_inplace(faded);
    }

    /// Adds the exponential of a score, no larger than the largest, to the sum,
    /// and that many times its value to the output.
    fn add(&mut self, score: F, value: &ArrayRef1<F>) {
        let exponential = exp_below(score, self.largest);
        self.sum += exponential;
        if !exponential.is_zero() {
            self.output.scaled_add(exponential, value);
        }
    }

    /// The output `o/ℓ`, the weighted average of the values met; zeros if no
    /// key was open.
    ///
    /// # Shapes
    ///
    /// → `(d_v)`.
    #[must_use]
    pub fn finish(self) -> Array1<F> {
        if self.sum.is_zero() { self.output } else { self.output / self.sum }
    }

    /// `m`: the largest score met; −∞ if there was none.
    #[must_use]
    pub fn largest(&self) -> F {
        self.largest
    }

    /// `ℓ`: the sum of `exp(score − m)` over the keys met.
    #[must_use]
    pub fn sum(&self) -> F {
        self.sum
    }

    /// `o`: the values met, each times its `exp(score − m)`, added up: `(d_v)`.
    #[must_use]
    pub fn output(&self) -> &Array1<F> {
        &self.output
    }
}

/// Which axes must be equal.
const LENGTHS: &str = "their lengths (value size d_v)";

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::array;

    const INFINITY: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    /// What is left of scores, and of the values 1, 2, 3 ...
    fn met(scores: &[f64]) -> Partial<f64> {
        let mut partial = Partial::empty(1).unwrap();
        for (index, &score) in scores.iter().enumerate() {
            partial.absorb(score, &array![index as f64 + 1.0]).unwrap();
        }
        partial
    }

    #[test]
    fn a_larger_score_lets_the_earlier_fade() {
        // exp(ln n) = n: relative to the last score the weights are 1/4, 3/4, 1.
        let partial = met(&[0.0, 3.0_f64.ln(), 4.0_f64.ln()]);
        assert_relative_eq!(partial.largest(), 4.0_f64.ln());
        assert_relative_eq!(partial.sum(), 2.0, max_relative = 1e-15);
        assert_relative_eq!(partial.output()[0], 0.25 + 1.5 + 3.0, max_relative = 1e-15);
        assert_relative_eq!(partial.finish()[0], 2.375, max_relative = 1e-15);
    }

    #[test]
    fn scores_beyond_exp_do_not_overflow() {
        assert_eq!(met(&[1e4, 1e4]).finish(), array![1.5]);
        assert_eq!(met(&[-1e4, -1e4]).finish(), array![1.5]);
    }

    #[test]
    fn nothing_open_gives_zeros() {
        assert_eq!(met(&[]).finish(), array![0.0]);
        assert_eq!(met(&[-INFINITY, -INFINITY]), met(&[]));
        let closed = met(&[-INFINITY]).merge(met(&[-INFINITY])).unwrap();
        assert_eq!(closed.finish(), array![0.0]);
    }

    #[test]
    fn scores_of_infinity_share_equally_wherever_they_are() {
        assert_eq!(met(&[INFINITY, 7.0, INFINITY]).finish(), array![2.0]);
        let merged = met(&[7.0, INFINITY]).merge(met(&[INFINITY, 7.0, -INFINITY])).unwrap();
        assert_eq!(merged.finish(), array![1.5]);
    }

    #[test]
    fn a_nan_score_is_not_forgotten() {
        for scores in [[NAN, 0.0, 1e9], [0.0, NAN, INFINITY], [INFINITY, 0.0, NAN]] {
            assert!(met(&scores).finish()[0].is_nan(), "{scores:?}");
            assert!(met(&[1e9]).merge(met(&scores)).unwrap().finish()[0].is_nan(), "{scores:?}");
        }
        assert!(met(&[NAN]).finish()[0].is_nan());
    }

    #[test]
    fn a_weight_of_zero_takes_nothing() {
        for poison in [NAN, INFINITY, -INFINITY] {
            let mut partial = met(&[0.0]);
            partial.absorb(-2000.0, &array![poison]).unwrap();
            partial.absorb(-INFINITY, &array![poison]).unwrap();
            assert_eq!(partial.finish(), array![1.0]);

            let mut partial = Partial::empty(1).unwrap();
            partial.absorb(-2000.0, &array![poison]).unwrap();
            partial.absorb(0.0, &array![5.0]).unwrap();
            assert_eq!(partial.finish(), array![5.0]);
        }
    }

    #[test]
    fn an_open_value_reaches_the_output_as_it_is() {
        let mut partial = met(&[0.0]);
        partial.absorb(0.0, &array![INFINITY]).unwrap();
        assert_eq!(partial.clone().finish(), array![INFINITY]);
        partial.absorb(0.0, &array![NAN]).unwrap();
        assert!(partial.finish()[0].is_nan());
    }

    #[test]
    fn values_of_another_length_are_named() {
        let mut partial = Partial::<f32>::empty(2).unwrap();
        let error = partial.absorb(1.0, &array![1.0, 2.0, 3.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "value has shape (3) but the output has shape (2): \
             their lengths (value size d_v) must be equal"
        );
        assert_eq!(partial, Partial::empty(2).unwrap(), "nothing was taken in");
        let error = partial.absorb_tile(&array![1.0, 2.0], &array![[1.0, 2.0]]).unwrap_err();
        assert!(error.to_string().starts_with("values has shape (1, 2) but scores"), "{error}");
        let error = partial.absorb_tile(&array![1.0], &array![[1.0]]).unwrap_err();
        assert!(error.to_string().starts_with("values has shape (1, 1) but the output"), "{error}");
        assert_eq!(partial, Partial::empty(2).unwrap(), "nothing was taken in");
        let error = partial.merge(Partial::empty(5).unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("the other output has shape (5)"), "{error}");
    }

    #[test]
    fn an_output_beyond_memory_is_an_error() {
        assert!(matches!(Partial::<f64>::empty(1 << 60), Err(Error::TooLarge { .. })));
    }
}
