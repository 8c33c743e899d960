//! The two matrix products of attention, each for a few queries side by side:
//! where nearly all of the time goes. They know neither softmax nor mask.
//!
//! A *row* here holds one number for each of WIDTH queries, and is a few
//! vector registers long. Four rows grow at once: more sums under way than a
//! processor can begin before the first is done, and few enough that all of
//! them stay in registers.

use super::exponential::multiply_add;
use crate::Real;

/// How many rows grow at once.
const ROWS: usize = 4;

/// How many components of the queries are gone through at a time: as many as stay
/// in the nearest cache while all keys pass by.
const DEPTH: usize = 64;

/// The scores `(keys, WIDTH)` of keys `(keys, d)` and queries `(d, WIDTH)`.
#[inline(always)]
pub(crate) fn score<F: Real, const FUSED: bool, const WIDTH: usize>(
    keys: &[F],
    queries: &[[F; WIDTH]],
    scores: &mut [[F; WIDTH]],
) {
    let d = queries.len();
    let (first, rest) = queries.split_at(d.min(DEPTH));
    multiply::<F, FUSED, WIDTH, false>(keys, d, first, scores);
    for (index, queries) in rest.chunks(DEPTH).enumerate() {
        let keys = keys.get((index + 1) * DEPTH..).unwrap_or_default();
        multiply::<F, FUSED, WIDTH, true>(keys, d, queries, scores);
    }
}

/// Sets each of some sums, or with ADD adds to it, the product of a row of factors
/// with a matrix of as many rows. Rows of factors begin `stride` apart.
#[inline(always)]
pub(super) fn multiply<F: Real, const FUSED: bool, const WIDTH: usize, const ADD: bool>(
    factors: &[F],
    stride: usize,
    matrix: &[[F; WIDTH]],
    sums: &mut [[F; WIDTH]],
) {
    let (fours, rest) = sums.as_chunks_mut::<ROWS>();
    let first_of_rest = fours.len() * ROWS;
    for (index, four) in fours.iter_mut().enumerate() {
        let first = index * ROWS;
        multiply_rows::<F, FUSED, WIDTH, ADD, ROWS>(factors, stride, first, matrix, four);
    }
    for (index, row) in rest.as_chunks_mut::<1>().0.iter_mut().enumerate() {
        let first = first_of_rest + index;
        multiply_rows::<F, FUSED, WIDTH, ADD, 1>(factors, stride, first, matrix, row);
    }
}

/// The products of neighbouring rows of factors.
#[inline(always)]
fn multiply_rows<
    F: Real,
    const FUSED: bool,
    const WIDTH: usize,
    const ADD: bool,
    const ROWS: usize,
>(
    factors: &[F],
    stride: usize,
    first: usize,
    matrix: &[[F; WIDTH]],
    sums: &mut [[F; WIDTH]; ROWS],
) {
    let mut rows = [&factors[..0]; ROWS];
    for row in 0..ROWS {
        rows[row] = &factors[(first + row) * stride..][..matrix.len()];
    }
    let mut products = if ADD { *sums } else { [[F::zero(); WIDTH]; ROWS] };
    for (c, components) in matrix.iter().enumerate() {
        for row in 0..ROWS {
            add_multiple::<F, FUSED, WIDTH>(&mut products[row], rows[row][c], components);
        }
    }
    *sums = products;
}

/// Lets an output `(d_v, WIDTH)` fade, and adds to it the values `(keys, d_v)`,
/// each times its weight, `(keys, WIDTH)`.
///
/// With CAREFUL a weight of 0 takes nothing from its value, not even NaN or ∞;
/// without, values must be finite. Where they are, both give the same bits.
#[inline(always)]
pub(crate) fn mix<F: Real, const FUSED: bool, const WIDTH: usize, const CAREFUL: bool>(
    weights: &[[F; WIDTH]],
    values: &[F],
    fade: &[F; WIDTH],
    output: &mut [[F; WIDTH]],
) {
    let d_v = output.len();
    let (fours, rest) = output.as_chunks_mut::<ROWS>();
    let first_of_rest = fours.len() * ROWS;
    for (index, four) in fours.iter_mut().enumerate() {
        let sums = mix_rows::<F, FUSED, WIDTH, CAREFUL, ROWS>(weights, values, d_v, index * ROWS);
        for (row, sums) in four.iter_mut().zip(&sums) {
            fade_and_add::<F, FUSED, WIDTH>(row, fade, sums);
        }
    }
    for (index, row) in rest.iter_mut().enumerate() {
        let first = first_of_rest + index;
        let [sums] = mix_rows::<F, FUSED, WIDTH, CAREFUL, 1>(weights, values, d_v, first);
        fade_and_add::<F, FUSED, WIDTH>(row, fade, &sums);
    }
}

/// The weighted sums of neighbouring columns of the values.
#[inline(always)]
fn mix_rows<
    F: Real,
    const FUSED: bool,
    const WIDTH: usize,
    const CAREFUL: bool,
    const ROWS: usize,
>(
    weights: &[[F; WIDTH]],
    values: &[F],
    d_v: usize,
    first: usize,
) -> [[F; WIDTH]; ROWS] {
    let mut sums = [[F::zero(); WIDTH]; ROWS];
    for (weights, value) in weights.iter().zip(values.chunks_exact(d_v)) {
        let components = &value[first..first + ROWS];
        for row in 0..ROWS {
            if CAREFUL {
                add_multiple_but_zeros::<F, FUSED, WIDTH>(&mut sums[row], components[row], weights);
            } else {
                add_multiple::<F, FUSED, WIDTH>(&mut sums[row], components[row], weights);
            }
        }
    }
    sums
}

/// `sums += factor·row`: one multiplication and addition for each query.
#[inline(always)]
fn add_multiple<F: Real, const FUSED: bool, const WIDTH: usize>(
    sums: &mut [F; WIDTH],
    factor: F,
    row: &[F; WIDTH],
) {
    for query in 0..WIDTH {
        sums[query] = multiply_add::<F, FUSED>(factor, row[query], sums[query]);
    }
}

/// `sums += factor·row`, except where the row is 0, whatever the factor is.
#[inline(always)]
fn add_multiple_but_zeros<F: Real, const FUSED: bool, const WIDTH: usize>(
    sums: &mut [F; WIDTH],
    factor: F,
    row: &[F; WIDTH],
) {
    for query in 0..WIDTH {
        let sum = multiply_add::<F, FUSED>(factor, row[query], sums[query]);
        sums[query] = if row[query].is_zero() { sums[query] } else { sum };
    }
}

/// `row = row·fade + sums`.
#[inline(always)]
fn fade_and_add<F: Real, const FUSED: bool, const WIDTH: usize>(
    row: &mut [F; WIDTH],
    fade: &[F; WIDTH],
    sums: &[F; WIDTH],
) {
    for query in 0..WIDTH {
        row[query] = multiply_add::<F, FUSED>(row[query], fade[query], sums[query]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_dot_products() {
        // Five keys, one more than are taken at once; d = 2; three queries.
        let keys = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, -1.0, 0.5, 0.5];
        let queries = [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]];
        let mut scores = [[f64::NAN; 3]; 5];
        score::<f64, true, 3>(&keys, &queries, &mut scores);
        let by_hand = [
            [1.0, 2.0, 3.0],
            [10.0, 20.0, 30.0],
            [11.0, 22.0, 33.0],
            [-8.0, -16.0, -24.0],
            [5.5, 11.0, 16.5],
        ];
        assert_eq!(scores, by_hand);
    }

    #[test]
    fn mix_lets_the_output_fade_and_adds_the_weighted_values() {
        // Two keys, d_v = 5, and two queries, the first of which fades by half.
        let (weights, fade) = ([[1.0, 0.5], [0.0, 0.25]], [0.5, 1.0]);
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0];
        let mut output = [[8.0, 100.0]; 5];
        mix::<f64, true, 2, false>(&weights, &values, &fade, &mut output);
        let by_hand = [[5.0, 103.0], [6.0, 106.0], [7.0, 109.0], [8.0, 112.0], [9.0, 115.0]];
        assert_eq!(output, by_hand);
    }

    #[test]
    fn with_care_a_weight_of_zero_takes_nothing() {
        let (weights, values) = ([[1.0, 0.0], [0.0, 0.5]], [7.0, f64::INFINITY]);
        let mut output = [[0.0; 2]];
        mix::<f64, true, 2, true>(&weights, &values, &[1.0; 2], &mut output);
        assert_eq!(output, [[7.0, f64::INFINITY]]);
        let mut careless = [[0.0; 2]];
        mix::<f64, true, 2, false>(&weights, &values, &[1.0; 2], &mut careless);
        assert!(careless[0][0].is_nan(), "0·∞");
    }
}
