//! Normalisation by the root mean square, forward and backward: what stands
//! before every layer, so that its input has the same size whatever was added.

use attention::Real;
use ndarray::{Array1, Array2, Axis, Zip};

/// The rows of a matrix, each brought to a root mean square of 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalised<F> {
    /// The rows divided by their root mean square: `(T, d_model)`.
    pub unit: Array2<F>,
    /// What each row was multiplied by, one over its root mean square: `(T)`.
    pub factors: Array1<F>,
    /// `unit`, each column stretched by its gain: `(T, d_model)`.
    pub output: Array2<F>,
}

/// Divides each row by its root mean square, and stretches each column by a gain.
///
/// `yᵢ = gᵢ·xᵢ/√(mean(x²) + ε)`, with `ε = 10⁻⁵`, so that a row of zeros stays one.
///
/// # Shapes
///
/// `x (T, d_model)`, `gain (d_model)` → `(T, d_model)`.
///
/// # Reference
///
/// Zhang and Sennrich, *Root Mean Square Layer Normalization* (2019),
/// <https://arxiv.org/abs/1910.07467>.
#[must_use]
pub fn normalise<F: Real>(x: &Array2<F>, gain: &Array1<F>) -> Normalised<F> {
    let count = F::from_count(x.ncols().max(1));
    let epsilon = F::one() / F::from_count(100_000);
    let factors = x.map_axis(Axis(1), |row| {
        let squares = row.fold(F::zero(), |sum, &x| sum + x * x);
        F::one() / (squares / count + epsilon).sqrt()
    });
    let unit = x * &factors.view().insert_axis(Axis(1));
    let output = &unit * gain;
    Normalised { unit, factors, output }
}

impl<F: Real> Normalised<F> {
    /// Backwards: from the gradient of the output to those of `x` and of the gain.
    ///
    /// With `n` for a row of `unit` and `dn = dy∘g`: `dx = r·(dn − n·mean(n∘dn))`,
    /// where `r` is the row's factor; `dg` adds up `n∘dy` over the rows. What lies
    /// along the row itself has no effect, for its length is divided away.
    ///
    /// # Shapes
    ///
    /// `d_output (T, d_model)`, `gain (d_model)` → `(T, d_model)` and `(d_model)`.
    #[must_use]
    pub fn gradient(&self, gain: &Array1<F>, d_output: &Array2<F>) -> (Array2<F>, Array1<F>) {
        let count = F::from_count(gain.len().max(1));
        let mut d_gain = Array1::zeros(gain.len());
        let mut d_x = d_output * gain;
        let rows = self.unit.outer_iter().zip(d_output.outer_iter()).zip(&self.factors);
        for (((unit, d_output), &factor), mut d_x) in rows.zip(d_x.outer_iter_mut()) {
            Zip::from(&mut d_gain).and(&unit).and(&d_output).for_each(|d, &n, &dy| *d += n * dy);
            let along = unit.iter().zip(&d_x).fold(F::zero(), |sum, (&n, &d)| sum + n * d) / count;
            Zip::from(&mut d_x).and(&unit).for_each(|d, &n| *d = factor * (*d - n * along));
        }
        (d_x, d_gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    #[test]
    fn rows_get_a_root_mean_square_of_1() {
        // 1² + 7² + 5² + 5² = 100, of four numbers: 25, the square of 5.
        let x = array![[1.0, -7.0, 5.0, 5.0], [0.0, 0.0, 0.0, 0.0]];
        let normalised = normalise(&x, &array![1.0, 1.0, 10.0, 0.0]);
        let expected = array![[0.2, -1.4, 10.0, 0.0], [0.0, 0.0, 0.0, 0.0]];
        assert_abs_diff_eq!(normalised.output, expected, epsilon = 1e-5);
    }

    #[test]
    fn what_lies_along_the_row_has_no_effect() {
        let x = array![[1.0, -7.0, 5.0, 5.0]];
        let gain = Array1::ones(4);
        let (d_x, d_gain) = normalise(&x, &gain).gradient(&gain, &x);
        assert_abs_diff_eq!(d_x, Array2::zeros((1, 4)), epsilon = 1e-5);
        assert_abs_diff_eq!(d_gain, array![0.2, 9.8, 5.0, 5.0], epsilon = 1e-4);
    }
}
