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
    /// The polynomial that is nearest to 2ᶠ for |f| ≤ ½, highest power first,
    /// among those with floats for coefficients: each was rounded before the
    /// next smaller ones were chosen.
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
        1.532_888_7e-4,
        1.339_097_2e-3,
        9.618_5e-3,
        5.550_359_6e-2,
        2.402_264_8e-1,
        std::f32::consts::LN_2,
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
        4.438_727_745_258_826e-10,
        7.073_233_174_557_296_4e-9,
        1.017_816_095_320_862_2e-7,
        1.321_543_883_478_440_6e-6,
        1.525_273_363_180_226_4e-5,
        1.540_353_044_903_904_6e-4,
        1.333_355_814_654_846_2e-3,
        9.618_129_107_601_603e-3,
        5.550_410_866_482_171_5e-2,
        2.402_265_069_591_010_8e-1,
        std::f64::consts::LN_2,
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
/// together. It is off by at most 1.3 units in the last place in f32 (1 with
/// fused multiply-adds), and by 2 in f64.
#[inline(always)]
pub(crate) fn exp2<F: Real, const FUSED: bool>(t: F) -> F {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of 2ᵗ in units of the last place: the distance to the next f32.
    fn error_in_f32<const FUSED: bool>(t: f32) -> f64 {
        let truth = libm::exp2(f64::from(t));
        let last_place = f64::from((truth as f32).next_up()) - f64::from(truth as f32);
        (f64::from(exp2::<f32, FUSED>(t)) - truth).abs() / last_place
    }

    #[test]
    fn f32_is_off_by_a_unit_in_the_last_place_at_most() {
        // Every 997th float from −0 to −152, subnormal results among them; not
        // so many where an interpreter takes each step.
        let step = if cfg!(miri) { 9_970_007 } else { 997 };
        let largest = |error: fn(f32) -> f64| {
            let bits = (-0.0_f32).to_bits()..=(-152.0_f32).to_bits();
            bits.step_by(step).map(|bits| error(f32::from_bits(bits))).fold(0.0, f64::max)
        };
        assert!(largest(error_in_f32::<true>) <= 1.0);
        // Rounded twice for each coefficient, it is off by a little more.
        assert!(largest(error_in_f32::<false>) <= 1.3);
    }

    #[test]
    fn f64_is_off_by_two_units_in_the_last_place_at_most() {
        // libm's own value is off by almost one; the rest is left for ours.
        let growth = if cfg!(miri) { 1.1 } else { 1.000_1 };
        let mut t = -1e-9;
        while t > -1080.0 {
            let truth = libm::exp2(t);
            let last_place = truth.next_up() - truth;
            for power in [exp2::<f64, true>(t), exp2::<f64, false>(t)] {
                assert!((power - truth).abs() <= last_place, "2^{t} is {truth}, not {power}");
            }
            t = t * growth - 1e-5;
        }
    }

    #[test]
    fn what_is_known_exactly_is_exact() {
        for (t, power) in [(0.0, 1.0), (-0.0, 1.0), (-1.0, 0.5), (-10.0, 1.0 / 1024.0)] {
            assert_eq!(exp2::<f64, true>(t), power);
            assert_eq!(exp2::<f32, false>(t as f32), power as f32);
        }
        // The smallest numbers above 0, and half of them, which rounds to 0.
        assert_eq!(exp2::<f32, true>(-149.0), f32::from_bits(1));
        assert_eq!(exp2::<f64, true>(-1074.0), f64::from_bits(1));
        assert_eq!(exp2::<f32, true>(-150.0), 0.0);
        assert_eq!(exp2::<f64, true>(-1075.0), 0.0);
    }

    #[test]
    fn below_everything_is_zero_and_nan_stays_nan() {
        for t in [-151.0, -200.0, -1e30, f32::MIN, f32::NEG_INFINITY] {
            assert_eq!(exp2::<f32, true>(t).to_bits(), 0, "2^{t}");
        }
        for t in [-1076.0, -1e300, f64::MIN, f64::NEG_INFINITY] {
            assert_eq!(exp2::<f64, false>(t).to_bits(), 0, "2^{t}");
        }
        // NaN of every kind: its lowest bits must not pass for an exponent.
        for low_bits in [0, 1, 0x7f, 0xff, 0x1ff, 0x003f_ffff] {
            assert!(exp2::<f32, true>(f32::from_bits(0x7fc0_0000 | low_bits)).is_nan());
            assert!(exp2::<f32, false>(f32::from_bits(0xffc0_0000 | low_bits)).is_nan());
        }
    }
}
