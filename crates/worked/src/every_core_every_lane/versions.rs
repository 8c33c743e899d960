//! The six versions of one head, as they were measured: how fast each is, and
//! what it gained over the one before.

use attention::ladder::VERSIONS;
use ledger::{Axis, Figure, Ledger, Plot};
use ndarray::Array2;

use super::measured::versions as record;
use crate::Claim;

/// The two cases that were timed.
const CASES: [&str; 2] = ["H1 T2048 d64 causal", "H1 T2048 d64 full"];
/// The last version on every thread, as the record calls it.
const EVERY_THREAD: &str = "cores, all threads";
/// How the table calls what was timed.
const NAMES: [&str; 7] = [
    "1 loops",
    "2 columns",
    "3 tiles",
    "4 registers",
    "5 exponentials",
    "6 cores, one thread",
    "6 cores, all threads",
];

/// Enters the versions.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("lanes.versions", table)
        .digits(1)
        .rows(&NAMES)
        .columns(&["causal", "full", "full, × version 1"])
        .about("GFLOP/s of each version, for one head of 2048 tokens with d = 64");
    ledger
        .enter("lanes.versions.figure", figure)
        .digits(1)
        .about("GFLOP/s of each version, causal and full");
    enter_gain::<1>(ledger, "columns");
    enter_gain::<2>(ledger, "tiles");
    enter_gain::<3>(ledger, "registers");
    enter_gain::<4>(ledger, "exponentials");
    enter_gain::<5>(ledger, "blocks");
    enter_gain::<6>(ledger, "threads");
    ledger.enter("lanes.loops.speed", speed_of_loops).digits(1).about("GFLOP/s of version 1, full");
    ledger
        .enter("lanes.gain.all", gain_of_all)
        .digits(0)
        .about("how many times as fast as version 1 the last is on every thread, full");
    ledger
        .enter("lanes.versions.machine", machine)
        .about("the processor that the versions were measured on");
    ledger.enter("lanes.versions.threads", threads).about("the threads that there were");
    ledger
        .enter("lanes.versions.instructions", instructions)
        .about("the vector instructions that it has");
    ledger.enter("lanes.versions.date", date).about("the day on which they were measured");
    ledger
        .enter("lanes.versions.fivefold", last_is_five_times_the_first)
        .about("on one thread the last version is at least five times as fast as the first");
}

fn enter_gain<const VERSION: usize>(ledger: &mut Ledger, name: &str) {
    ledger
        .enter(&format!("lanes.gain.{name}"), gain::<VERSION>)
        .digits(1)
        .about("how many times as fast as the line above it in the table, full");
}

/// What was timed, by its name in the record: each version on one thread, and
/// the last on every thread.
fn timed(index: usize) -> &'static str {
    VERSIONS.get(index).map_or(EVERY_THREAD, |(name, _)| name)
}

/// GFLOP/s of what was timed, in one of the cases.
fn speed(index: usize, case: &str) -> Result<f64, String> {
    record()?.gflops(case, timed(index))
}

/// GFLOP/s causal and full, and how many times as fast as version 1: `(7, 3)`.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn table() -> Result<Array2<f64>, String> {
    let [causal, full] = CASES;
    let mut table = Array2::zeros((NAMES.len(), 3));
    for (index, mut row) in table.outer_iter_mut().enumerate() {
        let speeds = [speed(index, causal)?, speed(index, full)?];
        let times = speeds[1] / speed(0, full)?;
        row.assign(&ndarray::array![speeds[0], speeds[1], times]);
    }
    Ok(table)
}

/// The same as bars.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn figure() -> Result<Figure, String> {
    let table = table()?;
    let series = ["causal", "full"];
    Ok(Figure {
        description: "A pair of bars for each version, causal and full, on a logarithmic axis: a \
                      staircase from plain loops on the left to every core on the right."
            .to_owned(),
        plot: Plot::Bars {
            categories: NAMES.map(str::to_owned).to_vec(),
            y: Axis::logarithmic("GFLOP/s"),
            series: (0..2).map(|i| (series[i].to_owned(), table.column(i).to_vec())).collect(),
        },
    })
}

/// How many times as fast as what stands above it in the table, full.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn gain<const VERSION: usize>() -> Result<f64, String> {
    Ok(speed(VERSION, CASES[1])? / speed(VERSION - 1, CASES[1])?)
}

/// GFLOP/s of version 1, full.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn speed_of_loops() -> Result<f64, String> {
    speed(0, CASES[1])
}

/// How many times as fast as version 1 the last is, on every thread.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn gain_of_all() -> Result<f64, String> {
    Ok(speed(6, CASES[1])? / speed_of_loops()?)
}

/// The percentage of the time of version 4 that version 5 saves, full.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn saved_by_exponentials() -> Result<f64, String> {
    let record = record()?;
    let before = record.milliseconds(CASES[1], timed(3))?;
    Ok(100.0 * (1.0 - record.milliseconds(CASES[1], timed(4))? / before))
}

/// On one thread the last version is five times as fast as the first, or more.
///
/// # Errors
///
/// The case and both speeds, where it is not.
pub fn last_is_five_times_the_first() -> Claim {
    for case in CASES {
        let (first, last) = (speed(0, case)?, speed(5, case)?);
        if last < 5.0 * first {
            return Err(format!("{case}: {first} GFLOP/s, and then {last}"));
        }
    }
    Ok(())
}

/// The processor.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn machine() -> Result<String, String> {
    Ok(record()?.machine.processor)
}

/// How many threads there were.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn threads() -> Result<usize, String> {
    Ok(record()?.machine.threads)
}

/// The instructions that the kernel used.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn instructions() -> Result<String, String> {
    Ok(record()?.machine.instructions)
}

/// The day.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn date() -> Result<String, String> {
    Ok(record()?.date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_multiply_to_the_whole_gain() {
        let gains = [gain::<1>(), gain::<2>(), gain::<3>(), gain::<4>(), gain::<5>(), gain::<6>()];
        let product: f64 = gains.map(Result::unwrap).iter().product();
        let whole = gain_of_all().unwrap();
        assert!((product / whole - 1.0).abs() < 1e-12, "{product} {whole}");
        assert!((table().unwrap()[[6, 2]] / whole - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_was_timed_is_every_version_and_then_every_thread() {
        assert_eq!((0..7).map(timed).collect::<Vec<_>>()[5..], ["cores", EVERY_THREAD]);
    }
}
