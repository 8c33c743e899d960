//! The matrix product that the transformer trains with: each entry summed from
//! left to right, as in the recipe, but many entries side by side, so that it is
//! quick and still gives the same bits on every machine.

use attention::Real;
use ndarray::{Array2, ArrayRef2, Axis};

/// A tile of the result, whose sums stay in the registers that any processor has.
const ROWS: usize = 4;
const COLUMNS: usize = 8;

/// The matrix product A·B: `(m, n)`·`(n, p)` → `(m, p)`.
pub(crate) fn product<F: Real>(a: &ArrayRef2<F>, b: &ArrayRef2<F>) -> Array2<F> {
    let mut result = Array2::zeros((a.nrows(), b.ncols()));
    let columns: Vec<_> = panels::<F, COLUMNS>(&b.t());
    for (rows, mut band) in
        panels::<F, ROWS>(a).iter().zip(result.axis_chunks_iter_mut(Axis(0), ROWS))
    {
        for (columns, mut part) in columns.iter().zip(band.axis_chunks_iter_mut(Axis(1), COLUMNS)) {
            let sums = tile(rows, columns);
            for (mut row, sums) in part.outer_iter_mut().zip(&sums) {
                for (entry, &sum) in row.iter_mut().zip(sums) {
                    *entry = sum;
                }
            }
        }
    }
    result
}

/// The rows of a matrix, N at a time and side by side: the first numbers of all
/// N, then the second. Where rows are missing at the end there are zeros.
fn panels<F: Real, const N: usize>(matrix: &ArrayRef2<F>) -> Vec<Vec<[F; N]>> {
    let panel = |rows: ndarray::ArrayView2<F>| {
        let mut panel = vec![[F::zero(); N]; rows.ncols()];
        for (place, row) in rows.outer_iter().enumerate() {
            for (numbers, &number) in panel.iter_mut().zip(row) {
                numbers[place] = number;
            }
        }
        panel
    };
    matrix.axis_chunks_iter(Axis(0), N).map(panel).collect()
}

/// The sums of a few rows with a few columns.
fn tile<F: Real>(rows: &[[F; ROWS]], columns: &[[F; COLUMNS]]) -> [[F; COLUMNS]; ROWS] {
    let mut sums = [[F::zero(); COLUMNS]; ROWS];
    for (row, column) in rows.iter().zip(columns) {
        for (sums, &x) in sums.iter_mut().zip(row) {
            for (sum, &y) in sums.iter_mut().zip(column) {
                *sum += x * y;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use ndarray::s;

    /// Entry for entry the sum that the recipe makes, to the bit.
    #[test]
    fn it_gives_the_bits_of_the_recipe() {
        let mut random = Random::seeded(5);
        for (m, n, p) in
            [(1, 1, 1), (3, 7, 5), (4, 64, 8), (9, 16, 44), (32, 5, 17), (0, 3, 2), (2, 0, 3)]
        {
            let (a, b) = (random.matrix(m, n), random.matrix(n, p));
            assert_eq!(product(&a, &b), attention::recipe::project(&a, &b).unwrap());
            let (a, b) = (a.mapv(|x| x as f32), b.mapv(|x| x as f32));
            assert_eq!(product(&a, &b), attention::recipe::project(&a, &b).unwrap());
        }
    }

    #[test]
    fn any_layout_will_do() {
        let whole = Random::seeded(6).matrix(12, 10);
        let (a, b) = (whole.slice(s![..;2, ..;-1]), whole.slice(s![2.., 3..6]));
        let expected = attention::recipe::project(&a, &b).unwrap();
        assert_eq!(product(&a, &b), expected);
        assert_eq!(product(&b.t(), &a.t()), expected.t());
    }
}
