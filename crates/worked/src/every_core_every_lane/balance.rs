//! How evenly the blocks of a causal head can be shared out: counted, not
//! measured. A block takes as long as it has keys, and a thread that is done
//! takes the next from the list.

use ledger::{Axis, Figure, Ledger, Plot};
use ndarray::Array2;

use crate::Claim;

/// The blocks of a head of 4096 tokens, each of 64 queries.
const BLOCKS: usize = 64;
/// The threads of the table.
const THREADS: [usize; 5] = [2, 4, 8, 16, 32];
/// The ways of sharing out.
const WAYS: [&str; 3] = ["a run of blocks each", "one by one, lightest first", "heaviest first"];

/// Enters the schedules.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("lanes.balance", gains)
        .rows(&WAYS)
        .columns(&THREADS.map(|threads| format!("{threads} threads")))
        .about("how many times as fast as one thread, for a causal head of 64 blocks");
    ledger
        .enter("lanes.balance.loads", loads)
        .digits(1)
        .about("the share of the work that each of four threads does, in two ways of sharing");
    ledger
        .enter("lanes.balance.lightest", share_of_the_lightest_block)
        .about("the percentage of all work that is in the first of the 64 blocks");
    ledger
        .enter("lanes.balance.heaviest", share_of_the_heaviest_block)
        .about("the percentage of all work that is in the last of the 64 blocks");
    ledger
        .enter("lanes.balance.never.later", heaviest_first_is_never_later)
        .about("with 1 to 64 threads, heaviest first is done no later than the other two ways");
}

/// How much each block has to do, in the order of the text: it sees the keys of
/// all blocks up to itself.
fn causal(blocks: usize) -> Vec<usize> {
    (1..=blocks).collect()
}

/// How much each thread does if it gets a run of neighbouring blocks.
pub(super) fn in_runs(blocks: &[usize], threads: usize) -> Vec<usize> {
    let bound = |thread: usize| thread * blocks.len() / threads;
    (0..threads).map(|thread| blocks[bound(thread)..bound(thread + 1)].iter().sum()).collect()
}

/// How much each thread does if whoever is done first takes the next block.
pub(super) fn one_by_one(blocks: &[usize], threads: usize) -> Vec<usize> {
    let mut loads = vec![0; threads];
    for block in blocks {
        if let Some(first_done) = loads.iter_mut().min() {
            *first_done += block;
        }
    }
    loads
}

/// What each thread does in each of the three ways.
fn shared_out(threads: usize) -> [Vec<usize>; 3] {
    let blocks = causal(BLOCKS);
    let heaviest_first: Vec<usize> = blocks.iter().rev().copied().collect();
    [in_runs(&blocks, threads), one_by_one(&blocks, threads), one_by_one(&heaviest_first, threads)]
}

/// When the last thread is done.
pub(super) fn end(loads: &[usize]) -> usize {
    loads.iter().copied().max().unwrap_or(0)
}

/// How many times as fast as one thread: `(3, 5)`.
#[must_use]
pub fn gains() -> Array2<f64> {
    let all: usize = causal(BLOCKS).iter().sum();
    Array2::from_shape_fn((WAYS.len(), THREADS.len()), |(way, column)| {
        all as f64 / end(&shared_out(THREADS[column])[way]) as f64
    })
}

/// The share of the work that each of four threads does.
#[must_use]
pub fn loads() -> Figure {
    let [runs, _, heaviest_first] = shared_out(4);
    let all: usize = causal(BLOCKS).iter().sum();
    let percent = |loads: Vec<usize>| -> Vec<f64> {
        loads.into_iter().map(|load| 100.0 * load as f64 / all as f64).collect()
    };
    Figure {
        description: "Two bars for each of four threads. With a run of blocks each, the bars rise \
                      from thread to thread, and the last does most of the work. With the heaviest \
                      block first, all four are equally high."
            .to_owned(),
        plot: Plot::Bars {
            categories: (1..=4).map(|thread| format!("thread {thread}")).collect(),
            y: Axis::linear("% of the work"),
            series: vec![
                (WAYS[0].to_owned(), percent(runs)),
                (WAYS[2].to_owned(), percent(heaviest_first)),
            ],
        },
    }
}

/// The percentage of the work that is in the first block.
#[must_use]
pub fn share_of_the_lightest_block() -> f64 {
    100.0 / causal(BLOCKS).iter().sum::<usize>() as f64
}

/// The percentage of the work that is in the last block.
#[must_use]
pub fn share_of_the_heaviest_block() -> f64 {
    BLOCKS as f64 * share_of_the_lightest_block()
}

/// With any number of threads up to that of the blocks, heaviest first is done
/// no later than the other ways.
///
/// # Errors
///
/// The number of threads for which it is later.
pub fn heaviest_first_is_never_later() -> Claim {
    for threads in 1..=BLOCKS {
        let [runs, lightest_first, heaviest_first] = shared_out(threads).map(|loads| end(&loads));
        if heaviest_first > runs.min(lightest_first) {
            return Err(format!(
                "{threads} threads: {heaviest_first}, against {runs} and {lightest_first}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 1, 2, 3 and 4 for two threads: 1 + 2 and 3 + 4; then 1 + 3 and
    /// 2 + 4; then 4 + 1 and 3 + 2.
    #[test]
    fn four_blocks_are_shared_out_as_by_hand() {
        assert_eq!(in_runs(&causal(4), 2), [3, 7]);
        assert_eq!(one_by_one(&causal(4), 2), [4, 6]);
        assert_eq!(one_by_one(&[4, 3, 2, 1], 2), [5, 5]);
    }

    /// Two threads, halves: 2080 in all, 33 + … + 64 = 1552 in the second.
    #[test]
    fn two_halves_are_no_twice_as_fast() {
        assert!((gains()[[0, 0]] - 2080.0 / 1552.0).abs() < 1e-12);
        for loads in shared_out(7) {
            assert_eq!(loads.iter().sum::<usize>(), 2080);
        }
    }
}
