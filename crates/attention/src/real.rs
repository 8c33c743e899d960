//! The scalars that attention is computed in: `f32` and `f64`, nothing else.
//! What a float can do comes from ndarray's `NdFloat`.

use crate::element::{Element, sealed};
use crate::heads::exponential::Exponential;
use ndarray::NdFloat;

/// A scalar that attention can be computed in: `f32` or `f64`.
///
/// The trait is sealed, so that the numerics promised in this crate's
/// documentation hold for every type there is.
pub trait Real: NdFloat + Into<f64> + sealed::Sealed + Exponential + Element<Real = Self> {
    /// The float nearest to a count, such as a head size.
    fn from_count(count: usize) -> Self;

    /// The exponential, computed in plain Rust and so to the same bits on every
    /// platform, WebAssembly included. The system's own `exp` differs from one
    /// to the next in the last place.
    #[must_use]
    fn portable_exp(self) -> Self;
}

impl Real for f32 {
    fn from_count(count: usize) -> Self {
        count as f32
    }

    fn portable_exp(self) -> Self {
        libm::expf(self)
    }
}

impl Real for f64 {
    fn from_count(count: usize) -> Self {
        count as f64
    }

    fn portable_exp(self) -> Self {
        libm::exp(self)
    }
}
