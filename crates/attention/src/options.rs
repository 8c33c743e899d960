//! What a caller can choose: the mask and the scale. One type for the recipe's
//! head and for many heads, so that the two can be compared.

use crate::{Error, Mask, Real, recipe};

/// The choices that attention leaves open: which keys are seen, and how the
/// scores are scaled.
///
/// ```
/// use attention::{Mask, Options};
///
/// let options = Options::causal().with_scale(0.5);
/// assert_eq!(options.mask, Mask::Causal);
/// assert_eq!(options.scale, Some(0.5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options<F> {
    /// Which keys each query may attend to.
    pub mask: Mask,
    /// What the scores are multiplied by; `None` means `1/√d`.
    pub scale: Option<F>,
}

impl<F: Real> Options<F> {
    /// Every query sees every key; scale `1/√d`.
    #[must_use]
    pub fn full() -> Self {
        Self::masked(Mask::Full)
    }

    /// Each query sees the keys up to itself, the last query every key; scale `1/√d`.
    #[must_use]
    pub fn causal() -> Self {
        Self::masked(Mask::Causal)
    }

    /// Any mask; scale `1/√d`.
    #[must_use]
    pub fn masked(mask: Mask) -> Self {
        Self { mask, scale: None }
    }

    /// The same options with a scale of the caller's own, any finite number.
    #[must_use]
    pub fn with_scale(self, scale: F) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// The scale in force for a head of size `d`: the one chosen, else `1/√d`.
    ///
    /// # Errors
    ///
    /// [`Error::Scale`] if the one chosen is NaN or infinite.
    pub fn scale_for(&self, d: usize) -> Result<F, Error> {
        match self.scale {
            Some(scale) if !scale.is_finite() => Err(Error::Scale(scale.into())),
            Some(scale) => Ok(scale),
            None => Ok(recipe::default_scale(d)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_one_over_root_d_unless_chosen() {
        assert_eq!(Options::<f64>::full().scale_for(16), Ok(0.25));
        assert_eq!(Options::full().with_scale(-2.0).scale_for(16), Ok(-2.0));
    }

    #[test]
    fn a_scale_that_is_not_finite_is_refused_and_shown() {
        for scale in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let error = Options::causal().with_scale(scale).scale_for(3).unwrap_err();
            assert!(error.to_string().starts_with(&format!("the scale is {scale}, ")), "{error}");
        }
    }
}
