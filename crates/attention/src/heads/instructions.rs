//! Which instructions the kernel is compiled for, and which of them this
//! processor has. The kernel itself is written once; here it is only called.

use super::block::{Scratch, fill};
use super::problem::{Block, Problem};
use crate::Real;
use std::fmt;

/// The vector instructions that attention is computed with.
///
/// A value of this type is a proof that the processor has them: it comes from
/// [`Instructions::best`] or [`Instructions::available`], which look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instructions(Set);

/// All that the kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Set {
    /// 512 bits: 16 numbers of `f32`.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 256 bits: 8 numbers of `f32`.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 128 bits: 4 numbers of `f32`.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Whatever every processor of the platform has.
    Portable,
}

impl Instructions {
    /// The fastest that this processor has.
    #[must_use]
    pub fn best() -> Self {
        Self::available().next().unwrap_or(Self(Set::Portable))
    }

    /// All that this processor has, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        const ALL: &[Set] = &[
            #[cfg(target_arch = "x86_64")]
            Set::Avx512,
            #[cfg(target_arch = "x86_64")]
            Set::Avx2,
            #[cfg(target_arch = "aarch64")]
            Set::Neon,
            Set::Portable,
        ];
        ALL.iter().filter(|set| set.is_present()).map(|&set| Self(set))
    }

    /// Computes the rows of a block.
    #[allow(unsafe_code, reason = "the compiler cannot see that the processor was asked")]
    pub(super) fn fill<F: Real>(
        self,
        problem: &Problem<F>,
        block: Block<F>,
        scratch: &mut Scratch<F>,
    ) {
        match self.0 {
            // SAFETY: the set is in an `Instructions`, so the processor has it.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { fill_avx512(problem, block, scratch) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { fill_avx2(problem, block, scratch) },
            #[cfg(target_arch = "aarch64")]
            Set::Neon => todo!(),
            Set::Portable => fill_portable(problem, block, scratch),
        }
    }
}

impl Set {
    /// Whether this processor has these instructions.
    fn is_present(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => true,
            Self::Portable => true,
        }
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "AVX2",
            #[cfg(target_arch = "aarch64")]
            Set::Neon => "NEON",
            Set::Portable => "portable",
        })
    }
}

/// The kernel with registers of 512 bits, of which there are 32.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
fn fill_avx512<F: Real>(problem: &Problem<F>, block: Block<F>, scratch: &mut Scratch<F>) {
    if size_of::<F>() == 4 {
        if block.queries.len() <= 16 {
            fill::<F, true, 16>(problem, block, scratch)
        } else {
            fill::<F, true, 64>(problem, block, scratch)
        }
    } else if block.queries.len() <= 8 {
        fill::<F, true, 8>(problem, block, scratch)
    } else {
        fill::<F, true, 32>(problem, block, scratch)
    }
}

/// The kernel with registers of 256 bits, of which there are 16.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fill_avx2<F: Real>(problem: &Problem<F>, block: Block<F>, scratch: &mut Scratch<F>) {
    if size_of::<F>() == 4 {
        fill::<F, true, 16>(problem, block, scratch)
    } else {
        fill::<F, true, 8>(problem, block, scratch)
    }
}

/// The kernel with what the platform has at least, registers of 128 bits say.
fn fill_portable<F: Real>(problem: &Problem<F>, block: Block<F>, scratch: &mut Scratch<F>) {
    if size_of::<F>() == 4 {
        fill::<F, false, 8>(problem, block, scratch)
    } else {
        fill::<F, false, 4>(problem, block, scratch)
    }
}
