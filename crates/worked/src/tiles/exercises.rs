//! The answers to the exercises that are numbers or claims.

use attention::tiles::{Kind, Size, all};
use attention::{Error, Mask};
use ledger::Ledger;
use ndarray::Array2;

/// Enters the answers.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("tiles.exercise.open", open_of_seven)
        .digits(0)
        .rows(&["1 to 3", "4 to 6", "7"])
        .columns(&["1, 2", "3, 4", "5, 6", "7"])
        .about("the open scores in tiles of 3 queries by 2 keys, for 7 tokens");
    ledger
        .enter("tiles.exercise.computed", computed_of_seven)
        .about("how many of those tiles are computed");
    ledger
        .enter("tiles.exercise.state", kept_by_all_queries)
        .about("the numbers in the partial results of 4096 queries with values of 64 numbers");
    ledger
        .enter("tiles.exercise.state.block", kept_by_a_block)
        .about("the numbers in the partial results of 64 queries with values of 64 numbers");
    ledger
        .enter("tiles.exercise.fits", queries_that_fit)
        .about("the most queries in a square tile with d = 64 that fits into 32 KiB");
    ledger
        .enter("tiles.exercise.fits.half", queries_that_fit_in_half_precision)
        .about("the same with two bytes for a number");
}

/// The open scores of 7 tokens in tiles of 3 × 2: `(3, 4)`.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn open_of_seven() -> Result<Array2<f64>, Error> {
    let mut table = Array2::zeros((3, 4));
    for (entry, tile) in table.iter_mut().zip(all(Mask::Causal, 7, 7, Size::new(3, 2)?)) {
        let open = |query| tile.keys.clone().filter(move |&key| key <= query).count();
        *entry = tile.queries.clone().map(open).sum::<usize>() as f64;
    }
    Ok(table)
}

/// How many of those tiles are computed.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn computed_of_seven() -> Result<usize, Error> {
    let tiles = all(Mask::Causal, 7, 7, Size::new(3, 2)?);
    Ok(tiles.filter(|tile| tile.kind != Kind::Skipped).count())
}

/// The numbers in the partial results of all of 4096 queries, with `d_v = 64`.
#[must_use]
pub fn kept_by_all_queries() -> usize {
    4096 * (2 + 64)
}

/// The numbers in the partial results of a block of 64 queries, with `d_v = 64`.
#[must_use]
pub fn kept_by_a_block() -> usize {
    64 * (2 + 64)
}

/// The most queries, and as many keys, of a tile that fits into 32 KiB with
/// `d = d_v = 64`, in single precision.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn queries_that_fit() -> Result<usize, Error> {
    most_that_fit(32 * 1024 / 4)
}

/// The same in half precision.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn queries_that_fit_in_half_precision() -> Result<usize, Error> {
    most_that_fit(32 * 1024 / 2)
}

fn most_that_fit(room: usize) -> Result<usize, Error> {
    let mut most = 0;
    while Size::new(most + 1, most + 1)?.numbers_at_hand(64, 64).is_some_and(|n| n <= room) {
        most += 1;
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_open_scores_of_seven_are_those_counted_by_hand() {
        let open = array![[5.0, 1.0, 0.0, 0.0], [6.0, 6.0, 3.0, 0.0], [2.0, 2.0, 2.0, 1.0]];
        assert_eq!(open_of_seven().unwrap(), open);
        assert_eq!(open.sum(), 28.0, "7·8/2");
        assert_eq!(computed_of_seven(), Ok(9));
    }

    /// b² + 258·b ≤ 8192 holds for b = 28 (8008) and not for 29 (8323).
    #[test]
    fn the_largest_square_tile_solves_its_equation() {
        assert_eq!(queries_that_fit(), Ok(28));
        // b² + 258·b ≤ 16384: 52 gives 16120, 53 gives 16483.
        assert_eq!(queries_that_fit_in_half_precision(), Ok(52));
    }
}
