//! The kernel beside PyTorch, candle-nn, NumPy and the recipe, as they were
//! measured by turns in one run; and decoding against the memory's bandwidth.

use ledger::{Axis, Figure, Ledger, Plot};
use ndarray::Array2;

use super::measured::peers as record;
use crate::Claim;

/// The cases with as many queries as keys.
pub(super) const CASES: [&str; 9] = [
    "H1 T1024 d64 causal",
    "H1 T4096 d64 causal",
    "H1 T4096 d64 full",
    "H8 T1024 d64 causal",
    "H8 T4096 d64 causal",
    "H8 T4096 d64 full",
    "H8 T4096 d128 causal",
    "H8 T4096 d128 full",
    "H1 T16384 d64 causal",
];
/// Those that are small enough for the ones that keep every score.
const SMALL: [&str; 4] = [CASES[0], CASES[1], CASES[2], CASES[3]];
/// One query.
pub(super) const DECODE: &str = "H32 T16384 d128 decode";

/// This book's kernel, and the peers that keep no scores either.
const TILED: [&str; 3] = ["attention", "PyTorch", "candle-nn"];
/// Those that keep every score.
const WHOLE: [&str; 3] = ["PyTorch, line by line", "NumPy", "recipe"];

/// Enters what was measured.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("lanes.peers", tiled)
        .digits(0)
        .rows(&numbered(&CASES))
        .columns(&TILED)
        .about("GFLOP/s of the kernel and of its peers in each case");
    ledger
        .enter("lanes.peers.whole", whole)
        .digits(0)
        .rows(&numbered(&SMALL))
        .columns(&WHOLE)
        .about("GFLOP/s of those that keep every score, in the smaller cases");
    ledger
        .enter("lanes.peers.gains", gains)
        .digits(2)
        .about("how many times as fast as PyTorch the kernel is, in each case");
    ledger
        .enter("lanes.peers.mean", mean_gain)
        .about("the geometric mean of the times as fast as PyTorch");
    ledger
        .enter("lanes.peers.least", least_gain)
        .about("the smallest of the times as fast as PyTorch");
    ledger
        .enter("lanes.peers.candle", three_times_candle)
        .about("in every case at least three times as fast as candle-nn");
    ledger
        .enter("lanes.peers.long", twice_those_that_keep_scores)
        .about("with 4096 tokens and a mask, at least twice as fast as those that keep scores");
    enter_what_was_compared(ledger);
    enter_decoding(ledger);
}

fn enter_what_was_compared(ledger: &mut Ledger) {
    ledger.enter("lanes.peers.machine", machine).about("the processor they were measured on");
    ledger.enter("lanes.peers.threads", threads).about("the threads that each could use");
    ledger.enter("lanes.peers.date", date).about("the day of the comparison");
    ledger.enter("lanes.peers.pytorch", pytorch).about("the version of PyTorch");
    ledger.enter("lanes.peers.numpy", numpy).about("the version of NumPy");
    ledger.enter("lanes.peers.candle.version", candle).about("the version of candle-nn");
}

fn enter_decoding(ledger: &mut Ledger) {
    ledger
        .enter("lanes.decode", decoding)
        .digits(1)
        .rows(&["one query"])
        .columns(&[&TILED[..], &["reading memory"]].concat())
        .about("GB/s of keys and values, and of memory that is only read");
    ledger
        .enter("lanes.decode.share", decoding_share)
        .digits(0)
        .about("the percentage of the memory's bandwidth that decoding reaches");
    ledger
        .enter("lanes.decode.gflops", decoding_gflops)
        .digits(1)
        .about("GFLOP/s of the kernel in decoding");
    ledger
        .enter("lanes.decode.slow", decoding_computes_little)
        .about("decoding makes less than a fifth of the operations a second of 8 full heads");
}

/// The names of cases behind their numbers, by which the figure knows them.
pub(super) fn numbered(cases: &[&str]) -> Vec<String> {
    (1..).zip(cases).map(|(number, case)| format!("{number}: {case}")).collect()
}

/// A row for each case, a column for each contestant.
fn table(cases: &[&str], contestants: &[&str]) -> Result<Array2<f64>, String> {
    let record = record()?;
    let mut table = Array2::zeros((cases.len(), contestants.len()));
    for ((row, column), entry) in table.indexed_iter_mut() {
        *entry = record.gflops(cases[row], contestants[column])?;
    }
    Ok(table)
}

/// GFLOP/s of the kernel, PyTorch and candle-nn: `(9, 3)`.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn tiled() -> Result<Array2<f64>, String> {
    table(&CASES, &TILED)
}

/// GFLOP/s of those that keep every score: `(4, 3)`.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn whole() -> Result<Array2<f64>, String> {
    table(&SMALL, &WHOLE)
}

/// How many times as fast as PyTorch, in each case.
fn over_pytorch() -> Result<Vec<f64>, String> {
    Ok(first_over_second(&tiled()?))
}

/// In each row the first speed over the second: this book's kernel over PyTorch.
pub(super) fn first_over_second(table: &Array2<f64>) -> Vec<f64> {
    table.outer_iter().map(|row| row[0] / row[1]).collect()
}

pub(super) fn geometric_mean(gains: &[f64]) -> f64 {
    (gains.iter().map(|gain| gain.ln()).sum::<f64>() / gains.len() as f64).exp()
}

pub(super) fn least(gains: &[f64]) -> f64 {
    gains.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The same as bars.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn gains() -> Result<Figure, String> {
    Ok(Figure {
        description:
            "A bar for each of the nine cases: the speed of this book's kernel divided by \
                      that of PyTorch. A bar of height 1 means that both are equally fast."
                .to_owned(),
        plot: Plot::Bars {
            categories: (1..=CASES.len()).map(|case| case.to_string()).collect(),
            y: Axis::linear("times the speed of PyTorch"),
            series: vec![("attention over PyTorch".to_owned(), over_pytorch()?)],
        },
    })
}

/// The geometric mean of the times as fast as PyTorch.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn mean_gain() -> Result<f64, String> {
    Ok(geometric_mean(&over_pytorch()?))
}

/// The smallest of the times as fast as PyTorch.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn least_gain() -> Result<f64, String> {
    Ok(least(&over_pytorch()?))
}

/// In each case the kernel is three times as fast as candle-nn, or more.
///
/// # Errors
///
/// The case and both speeds, where it is not.
pub fn three_times_candle() -> Claim {
    for (case, row) in CASES.iter().zip(tiled()?.outer_iter()) {
        if row[0] < 3.0 * row[2] {
            return Err(format!("{case}: {} GFLOP/s, and candle-nn {}", row[0], row[2]));
        }
    }
    Ok(())
}

/// With 4096 tokens and a mask, the kernel is twice as fast as whatever keeps
/// every score, or more.
///
/// # Errors
///
/// Both speeds, where it is not.
pub fn twice_those_that_keep_scores() -> Claim {
    let record = record()?;
    let ours = record.gflops(SMALL[1], TILED[0])?;
    for name in WHOLE {
        let theirs = record.gflops(SMALL[1], name)?;
        if ours < 2.0 * theirs {
            return Err(format!("{ours} GFLOP/s, and {name} {theirs}"));
        }
    }
    Ok(())
}

/// GB/s of keys and values in decoding, and of reading memory: `(1, 4)`.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn decoding() -> Result<Array2<f64>, String> {
    let record = record()?;
    let mut row = Vec::new();
    for name in TILED {
        row.push(record.gigabytes(DECODE, name)?);
    }
    row.push(record.bandwidth()?);
    Ok(Array2::from_shape_fn((1, row.len()), |(_, column)| row[column]))
}

/// The percentage of the memory's bandwidth that decoding reaches.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn decoding_share() -> Result<f64, String> {
    let row = decoding()?;
    Ok(100.0 * row[[0, 0]] / row[[0, 3]])
}

/// GFLOP/s of the kernel in decoding.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn decoding_gflops() -> Result<f64, String> {
    record()?.gflops(DECODE, TILED[0])
}

/// Decoding makes less than a fifth of the operations a second that eight heads
/// of 4096 tokens make.
///
/// # Errors
///
/// Both speeds, where it makes more.
pub fn decoding_computes_little() -> Claim {
    let (decoding, full) = (decoding_gflops()?, record()?.gflops(CASES[5], TILED[0])?);
    if decoding < full / 5.0 { Ok(()) } else { Err(format!("{decoding} GFLOP/s, and {full}")) }
}

/// GFLOP/s of the kernel for eight full heads of 4096 tokens, `d = 64`.
pub(super) fn eight_full_heads() -> Result<f64, String> {
    record()?.gflops(CASES[5], TILED[0])
}

/// The processor.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn machine() -> Result<String, String> {
    Ok(record()?.machine.processor)
}

/// How many threads each could use.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn threads() -> Result<usize, String> {
    Ok(record()?.machine.threads)
}

/// The day.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn date() -> Result<String, String> {
    Ok(record()?.date)
}

/// The version of PyTorch.
///
/// # Errors
///
/// The measurement cannot be read, or was made without it.
pub fn pytorch() -> Result<String, String> {
    version("PyTorch")
}

/// The version of NumPy.
///
/// # Errors
///
/// The measurement cannot be read, or was made without it.
pub fn numpy() -> Result<String, String> {
    version("NumPy")
}

/// The version of candle-nn.
///
/// # Errors
///
/// The measurement cannot be read, or was made without it.
pub fn candle() -> Result<String, String> {
    version("candle-nn")
}

fn version(name: &str) -> Result<String, String> {
    let mut versions = record()?.versions;
    versions.remove(name).ok_or_else(|| format!("peers.json has no version of {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_gain_lies_between_the_least_and_the_most() {
        let gains = over_pytorch().unwrap();
        let most = gains.iter().copied().fold(0.0, f64::max);
        let mean = mean_gain().unwrap();
        assert!(least_gain().unwrap() <= mean && mean <= most, "{gains:?} {mean}");
    }
}
