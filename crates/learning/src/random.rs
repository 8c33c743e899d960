//! Random numbers that come out alike on every machine and in every year: a
//! generator whose algorithm is its name, and arithmetic without rounding in doubt.

use ndarray::Array2;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// A stream of random numbers; the same seed gives the same numbers.
#[derive(Clone, Debug)]
pub struct Random(Pcg32);

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Random {
        Random(Pcg32::new(seed, 0))
    }

    /// A number of mean 0 and variance 1, evenly spread between −√3 and √3.
    pub fn standard(&mut self) -> f64 {
        let between_0_and_1 = (f64::from(self.0.next_u32()) + 0.5) / 2_f64.powi(32);
        (between_0_and_1 - 0.5) * 12_f64.sqrt()
    }

    /// A whole number below `count`, each about as likely as the others; 0 if there is none.
    pub fn below(&mut self, count: usize) -> usize {
        // The product's upper half: a number from 0 to 1, times the count.
        let scaled = (u128::from(self.0.next_u32()) * count as u128) >> 32;
        scaled as usize
    }

    /// A matrix of numbers of mean 0 and variance 1.
    pub fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((rows, columns), || self.standard())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn the_numbers_have_mean_0_and_variance_1() {
        let numbers = Random::seeded(7).matrix(200, 100);
        assert_abs_diff_eq!(numbers.mean().unwrap(), 0.0, epsilon = 0.03);
        assert_abs_diff_eq!(numbers.var(0.0), 1.0, epsilon = 0.03);
    }

    #[test]
    fn every_number_below_a_count_comes_as_often() {
        let mut random = Random::seeded(7);
        let mut seen = [0; 5];
        for _ in 0..10_000 {
            seen[random.below(5)] += 1;
        }
        assert!(seen.iter().all(|&times| (1850..2150).contains(&times)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }

    /// The first number of the generator's published test, for seed 42 and stream 54.
    #[test]
    fn the_generator_is_the_published_one() {
        assert_eq!(Pcg32::new(42, 54).next_u32(), 0xa15c_02b7);
    }
}
