//! The solutions of the chapter's exercises.

use ledger::Ledger;

use super::balance::{end, in_runs, one_by_one};
use super::gap::multiplications_of_a_tile;
use super::versions::saved_by_exponentials;

/// The blocks of exercise 3.
const BLOCKS: [usize; 6] = [1, 2, 3, 4, 5, 6];

/// Enters the solutions.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("lanes.exercise.tile", multiplications_of_tile)
        .about("the instructions for the scores of 128 keys and 64 queries with d = 64");
    ledger
        .enter("lanes.exercise.few", share_with_four_sums)
        .digits(0)
        .about("the percentage of the peak with 4 sums, where 8 must be under way");
    ledger
        .enter("lanes.exercise.runs", runs)
        .about("when three threads are done with runs of six blocks");
    ledger
        .enter("lanes.exercise.lightest", lightest_first)
        .about("when three threads are done with six blocks, lightest first");
    ledger
        .enter("lanes.exercise.heaviest", heaviest_first)
        .about("when three threads are done with six blocks, heaviest first");
    ledger
        .enter("lanes.exercise.saved", saved_by_exponentials)
        .digits(0)
        .about("the percentage of the time of version 4 that version 5 saves");
    ledger
        .enter("lanes.exercise.most", most_from_products)
        .digits(1)
        .about("the gain if three quarters of the time become sixteen times as fast");
    ledger
        .enter("lanes.exercise.lines", lines_of_a_block)
        .about("the cache lines of the output of 64 queries with d = 64");
}

/// Instructions for the scores of a tile of 128 keys and 64 queries.
#[must_use]
pub fn multiplications_of_tile() -> usize {
    multiplications_of_a_tile()
}

/// The percentage of the peak if 4 sums are under way: two instructions begin
/// in a cycle, and each takes 4 cycles.
#[must_use]
pub fn share_with_four_sums() -> f64 {
    100.0 * 4.0 / (2.0 * 4.0)
}

/// When three threads are done that get a run of the six blocks each.
#[must_use]
pub fn runs() -> usize {
    end(&in_runs(&BLOCKS, 3))
}

/// When they are done if they take them one by one, the lightest first.
#[must_use]
pub fn lightest_first() -> usize {
    end(&one_by_one(&BLOCKS, 3))
}

/// When they are done if they take the heaviest first.
#[must_use]
pub fn heaviest_first() -> usize {
    end(&one_by_one(&[6, 5, 4, 3, 2, 1], 3))
}

/// The gain if three quarters of the time become sixteen times as fast.
#[must_use]
pub fn most_from_products() -> f64 {
    1.0 / (0.25 + 0.75 / 16.0)
}

/// The cache lines, of 64 bytes, of 64 rows of 64 numbers of 4 bytes.
#[must_use]
pub fn lines_of_a_block() -> usize {
    64 * 64 * 4 / 64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5 + 6; then 1 + 4, 2 + 5, 3 + 6; then 6 + 1, 5 + 2, 4 + 3.
    #[test]
    fn six_blocks_are_shared_out_as_by_hand() {
        assert_eq!([runs(), lightest_first(), heaviest_first()], [11, 9, 7]);
    }
}
