//! What queries, keys and values can be stored as, and what they are computed in.

use crate::Real;

pub(crate) mod sealed {
    use super::Element;
    use crate::Error;
    use crate::heads::{Instructions, Problem, block};

    /// A number that holds an element: the element itself, or a longer one.
    pub trait Of<E>: Copy + Default {
        /// The number.
        fn of(element: E) -> Self;

        /// The same numbers without a copy, where they are the elements themselves.
        fn in_place(elements: &[E]) -> Option<&[Self]>;
    }

    impl<E: Element> Of<E> for E {
        #[inline(always)]
        fn of(element: E) -> E {
            element
        }

        #[inline(always)]
        fn in_place(elements: &[E]) -> Option<&[E]> {
            Some(elements)
        }
    }

    #[cfg(feature = "bf16")]
    impl Of<half::bf16> for f32 {
        #[inline(always)]
        fn of(element: half::bf16) -> f32 {
            element.widen()
        }

        #[inline(always)]
        fn in_place(_: &[half::bf16]) -> Option<&[f32]> {
            None
        }
    }

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
            block::attend(instructions, problem, output, &mut [])
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
                None => block::attend(instructions, problem, output, &mut []),
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
    type Real: Real + sealed::Of<Self>;

    /// The same number in the type that is computed in.
    fn widen(self) -> Self::Real;

    /// The nearest number of this type; of two as near, the even one.
    fn narrow(real: Self::Real) -> Self;
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
}
