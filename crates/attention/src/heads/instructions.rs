//! Which instructions the kernel is compiled for, and which of them this
//! processor has. The kernel itself is written once; here it is only called.

use crate::Real;
use std::fmt;

/// Work that is compiled anew for each set of instructions.
pub(crate) trait Job<F> {
    /// How many queries it is for: a few need no great width.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "only AVX-512 is wide enough to ask")
    )]
    fn queries(&self) -> usize;

    /// Does the work, on WIDTH numbers side by side, with fused multiply-adds or
    /// without. Like all that it calls, it must be inlined: what is not is
    /// compiled for instructions that any processor has.
    fn run<const FUSED: bool, const WIDTH: usize>(self);
}

/// The vector instructions that attention is computed with.
///
/// A value of this type is a proof that the processor has them: it comes from
/// [`Instructions::best`] or [`Instructions::available`], which look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instructions(Set);

/// All that the kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Set {
    /// 512 bits, and 32 numbers of `bf16` multiplied in pairs.
    #[cfg(target_arch = "x86_64")]
    Avx512Bf16,
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
            Set::Avx512Bf16,
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

    /// Whether they multiply numbers of 16 bits in pairs.
    #[cfg(all(target_arch = "x86_64", feature = "bf16"))]
    pub(super) fn multiply_pairs(self) -> bool {
        self.0 == Set::Avx512Bf16
    }

    /// Runs a job, compiled for these instructions.
    #[allow(unsafe_code, reason = "the compiler cannot see that the processor was asked")]
    pub(crate) fn run<F: Real>(self, job: impl Job<F>) {
        match self.0 {
            // SAFETY: the set is in an `Instructions`, so the processor has it.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512Bf16 | Set::Avx512 => unsafe { run_avx512(job) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { run_avx2(job) },
            #[cfg(target_arch = "aarch64")]
            Set::Neon => run_neon(job),
            Set::Portable => run_portable(job),
        }
    }
}

impl Set {
    /// Whether this processor has these instructions.
    fn is_present(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Bf16 => Self::Avx512.is_present() && is_x86_feature_detected!("avx512bf16"),
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
            Set::Avx512Bf16 => "AVX-512 BF16",
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

/// Registers of 512 bits, of which there are 32: half of them for sums.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
fn run_avx512<F: Real>(job: impl Job<F>) {
    match (size_of::<F>(), job.queries()) {
        (4, ..=16) => job.run::<true, 16>(),
        (4, _) => job.run::<true, 64>(),
        (_, ..=8) => job.run::<true, 8>(),
        (_, _) => job.run::<true, 32>(),
    }
}

/// Registers of 256 bits, of which there are 16.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<F: Real>(job: impl Job<F>) {
    match size_of::<F>() {
        4 => job.run::<true, 16>(),
        _ => job.run::<true, 8>(),
    }
}

/// Registers of 128 bits, of which there are 32.
#[cfg(target_arch = "aarch64")]
fn run_neon<F: Real>(job: impl Job<F>) {
    match size_of::<F>() {
        4 => job.run::<true, 16>(),
        _ => job.run::<true, 8>(),
    }
}

/// Registers of 128 bits, of which there are 16, and no fused multiply-add: what
/// any x86-64 has.
fn run_portable<F: Real>(job: impl Job<F>) {
    match size_of::<F>() {
        4 => job.run::<false, 8>(),
        _ => job.run::<false, 4>(),
    }
}
