//! The exponential that the kernel weighs with: 2ᵗ for t ≤ 0, in steps that a
//! compiler can take for many numbers at once. It is no `exp` for all floats.

use crate::Real;

/// What the exponential must know of a float's format.
pub trait Exponential: Copy + 'static {
    /// log₂(e): `exp(x) = 2^(x·log₂e)`.
    const LOG2_E: Self;
    /// Below this 2ᵗ is less than half of the smallest number above 0.
    const LOWEST: Self;
    /// So large that the next float is one more: a sum with it is rounded to
    /// an integer, which then stands in its lowest bits, beside [`Self::BIAS`]
    /// and the format's own bias.
    const SHIFT: Self;
    /// 2⁻⁶⁴. The powers of two are made 2⁶⁴ too large, since the smallest of
    /// them are subnormal and have no exponent of their own to be written to.
    const BIAS: Self;
    /// The polynomial that is nearest to 2ᶠ for |f| ≤ ½, highest power first.
    const POLYNOMIAL: &'static [Self];

    /// The float whose exponent is in the lowest bits of this one.
    #[must_use]
    fn exponent_from_low_bits(self) -> Self;
}

impl Exponential for f32 {
    const LOG2_E: Self = std::f32::consts::LOG2_E;
    const LOWEST: Self = -152.0;
    const SHIFT: Self = (3 << 22) as f32 + (127 + 64) as f32;
    const BIAS: Self = 1.0 / (1_u128 << 64) as f32;
    const POLYNOMIAL: &'static [Self] = &[
        1.559_467_8e-4,
        1.340_664_4e-3,
        9.617_693e-3,
        5.550_310_6e-2,
        2.402_265_3e-1,
        6.931_472e-1,
        1.0,
    ];

    #[inline(always)]
    fn exponent_from_low_bits(self) -> Self {
        Self::from_bits(self.to_bits() << 23)
    }
}

impl Exponential for f64 {
    const LOG2_E: Self = std::f64::consts::LOG2_E;
    const LOWEST: Self = -1080.0;
    const SHIFT: Self = (3_u64 << 51) as f64 + (1023 + 64) as f64;
    const BIAS: Self = 1.0 / (1_u128 << 64) as f64;
    const POLYNOMIAL: &'static [Self] = &[
        4.078_071_929_588_336_7e-10,
        7.072_570_412_814_423_5e-9,
        1.018_064_765_923_413_9e-7,
        1.321_544_267_532_982_2e-6,
        1.525_272_738_519_386_8e-5,
        1.540_353_044_157_213_0e-4,
        1.333_355_815_343_946_5e-3,
        9.618_129_107_607_002_4e-3,
        5.550_410_866_479_039_5e-2,
        2.402_265_069_591_009_8e-1,
        6.931_471_805_599_456_97e-1,
        1.0,
    ];

    #[inline(always)]
    fn exponent_from_low_bits(self) -> Self {
        Self::from_bits(self.to_bits() << 52)
    }
}

/// 2ᵗ for t ≤ 0; of NaN it is NaN.
///
/// With `2ᵗ = 2ⁿ·2ᶠ`, where n is the integer nearest to t, the polynomial has
/// only to know |f| ≤ ½, and the power of two is a matter of writing n into the
/// exponent of a float. No step asks what t is, so that neighbours can take it
/// together.
#[inline(always)]
pub(super) fn exp2<F: Real, const FUSED: bool>(t: F) -> F {
    let t = if t < F::LOWEST { F::LOWEST } else { t };
    let shifted = t + F::SHIFT;
    let f = t - (shifted - F::SHIFT);
    let mut power = F::POLYNOMIAL[0];
    for &coefficient in &F::POLYNOMIAL[1..] {
        power = multiply_add::<F, FUSED>(power, f, coefficient);
    }
    power * shifted.exponent_from_low_bits() * F::BIAS
}

/// `a·b + c`, rounded once where the processor can do it so, else twice.
#[inline(always)]
pub(super) fn multiply_add<F: Real, const FUSED: bool>(a: F, b: F, c: F) -> F {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}
