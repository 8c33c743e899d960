//! What queries, keys and values can be stored as, and what they are computed in.

use crate::Real;

pub(crate) mod sealed {
    use super::Element;
    use crate::Error;
    use crate::heads::{Instructions, Problem, block};

    /// What only this crate can be, and which kernel many queries are for.
    pub trait Sealed: Sized {
        /// Computes the output `(H, T_q, d_v)` of a problem; it must not be empty.
        fn attend(
            instructions: Instructions,
            problem: &Problem<Self>,
            output: &mut [Self],
        ) -> Result<(), Error>
        where
            Self: Element,
        {
            block::attend(instructions, problem, output)
        }
    }

    impl Sealed for f32 {}
    impl Sealed for f64 {}

    #[cfg(feature = "bf16")]
    impl Sealed for half::bf16 {
        #[cfg(target_arch = "x86_64")]
        fn attend(
            instructions: Instructions,
            problem: &Problem<Self>,
            output: &mut [Self],
        ) -> Result<(), Error> {
            use crate::heads::pairs::{self, Processor};
            match Processor::with(instructions) {
                Some(processor) => pairs::attend(processor, problem, output),
                None => block::attend(instructions, problem, output),
            }
        }
    }
}

/// A number that [`heads::attend`](crate::heads::attend) takes and gives: `f32`,
/// `f64`, and with the feature `bf16` the shorter [`half::bf16`], which is stored
/// in 16 bits and computed in `f32`.
///
/// The trait is sealed, as [`Real`] is.
pub trait Element: Copy + Default + Send + Sync + sealed::Sealed + 'static {
    /// The type that sums, scores and weights are computed in.
    type Real: Real;

    /// The same number in the type that is computed in.
    fn widen(self) -> Self::Real;

    /// The nearest number of this type; of two as near, the even one.
    fn narrow(real: Self::Real) -> Self;

    /// The same numbers without copying them, where both types are one.
    fn as_reals(elements: &[Self]) -> Option<&[Self::Real]>;
}

/// What is computed in its own type.
macro_rules! computed_in_itself {
    ($real:ty) => {
        impl Element for $real {
            type Real = Self;

            #[inline(always)]
            fn widen(self) -> Self {
                self
            }

            #[inline(always)]
            fn narrow(real: Self) -> Self {
                real
            }

            #[inline(always)]
            fn as_reals(elements: &[Self]) -> Option<&[Self]> {
                Some(elements)
            }
        }
    };
}

computed_in_itself!(f32);
computed_in_itself!(f64);

#[cfg(feature = "bf16")]
impl Element for half::bf16 {
    type Real = f32;

    /// The upper half of an `f32`: the lower is 0.
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn narrow(real: f32) -> Self {
        Self::from_f32(real)
    }

    #[inline(always)]
    fn as_reals(_: &[Self]) -> Option<&[f32]> {
        None
    }
}
