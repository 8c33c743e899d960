//! The kernel in 16 bits, and forwards and backwards, beside PyTorch: as they were
//! measured by turns in one run each.

use ledger::Ledger;
use ndarray::Array2;

use super::measured::{Record, gradient, peers, short};
use super::peers::{CASES, DECODE, first_over_second, geometric_mean, least, numbered};

/// The cases forwards and backwards.
const LEARNING: [&str; 6] = [
    "H1 T1024 d64 causal",
    "H1 T4096 d64 causal",
    "H8 T1024 d64 causal",
    "H8 T2048 d64 causal",
    "H8 T2048 d64 full",
    "H8 T2048 d128 causal",
];
/// This book's kernel, and the one that it is compared with.
const BOTH: [&str; 2] = ["attention", "PyTorch"];

/// Enters what was measured.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("lanes.short", in_16_bits)
        .digits(0)
        .rows(&numbered(&CASES))
        .columns(&BOTH)
        .about("GFLOP/s of the kernel and of PyTorch on numbers of 16 bits");
    ledger
        .enter("lanes.short.mean", short_mean_gain)
        .about("the geometric mean of the times as fast as PyTorch on numbers of 16 bits");
    ledger
        .enter("lanes.short.least", short_least_gain)
        .about("the smallest of the times as fast as PyTorch on numbers of 16 bits");
    ledger
        .enter("lanes.short.decode", decoding_in_16_bits)
        .digits(1)
        .about("milliseconds of decoding on numbers of 16 bits");
    ledger
        .enter("lanes.short.decode.f32", decoding_in_32_bits)
        .digits(1)
        .about("milliseconds of decoding on numbers of 32 bits");
    ledger
        .enter("lanes.short.instructions", instructions)
        .about("the instructions that the kernel used on numbers of 16 bits");
    ledger.enter("lanes.short.machine", machine_of_short).about("the processor they ran on");
    ledger
        .enter("lanes.learning", forwards_and_backwards)
        .digits(0)
        .rows(&numbered(&LEARNING))
        .columns(&BOTH)
        .about("GFLOP/s of the kernel and of PyTorch, forwards and backwards");
    ledger
        .enter("lanes.learning.mean", learning_mean_gain)
        .about("the geometric mean of the times as fast as PyTorch, forwards and backwards");
    ledger
        .enter("lanes.learning.least", learning_least_gain)
        .about("the smallest of the times as fast as PyTorch, forwards and backwards");
    ledger.enter("lanes.learning.machine", machine_of_learning).about("the processor they ran on");
}

/// A row for each case, a column for the kernel and one for PyTorch. The record names
/// its cases by what is appended here.
fn table(record: &Record, cases: &[&str], kind: &str) -> Result<Array2<f64>, String> {
    let mut table = Array2::zeros((cases.len(), BOTH.len()));
    for ((row, column), entry) in table.indexed_iter_mut() {
        *entry = record.gflops(&format!("{}{kind}", cases[row]), BOTH[column])?;
    }
    Ok(table)
}

/// GFLOP/s of the kernel and PyTorch on numbers of 16 bits: `(9, 2)`.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn in_16_bits() -> Result<Array2<f64>, String> {
    table(&short()?, &CASES, " bf16")
}

/// The geometric mean of the times as fast as PyTorch on numbers of 16 bits.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn short_mean_gain() -> Result<f64, String> {
    Ok(geometric_mean(&first_over_second(&in_16_bits()?)))
}

/// The smallest of the times as fast as PyTorch on numbers of 16 bits.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn short_least_gain() -> Result<f64, String> {
    Ok(least(&first_over_second(&in_16_bits()?)))
}

/// Milliseconds of decoding on numbers of 16 bits.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn decoding_in_16_bits() -> Result<f64, String> {
    short()?.milliseconds(&format!("{DECODE} bf16"), BOTH[0])
}

/// Milliseconds of decoding on numbers of 32 bits.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn decoding_in_32_bits() -> Result<f64, String> {
    peers()?.milliseconds(DECODE, BOTH[0])
}

/// The instructions that the kernel used on numbers of 16 bits.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn instructions() -> Result<String, String> {
    Ok(short()?.machine.instructions)
}

/// The processor that numbers of 16 bits were measured on.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn machine_of_short() -> Result<String, String> {
    Ok(short()?.machine.processor)
}

/// GFLOP/s of the kernel and PyTorch, forwards and backwards: `(6, 2)`.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn forwards_and_backwards() -> Result<Array2<f64>, String> {
    table(&gradient()?, &LEARNING, " with gradient")
}

/// The geometric mean of the times as fast as PyTorch, forwards and backwards.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn learning_mean_gain() -> Result<f64, String> {
    Ok(geometric_mean(&first_over_second(&forwards_and_backwards()?)))
}

/// The smallest of the times as fast as PyTorch, forwards and backwards.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn learning_least_gain() -> Result<f64, String> {
    Ok(least(&first_over_second(&forwards_and_backwards()?)))
}

/// The processor that gradients were measured on.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn machine_of_learning() -> Result<String, String> {
    Ok(gradient()?.machine.processor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_and_their_mean_are_those_worked_by_hand() {
        // Twice, and eight times as fast: four times on average, twice at least.
        let table = ndarray::array![[6.0, 3.0], [16.0, 2.0]];
        let gains = first_over_second(&table);
        assert_eq!(gains, [2.0, 8.0]);
        assert!((geometric_mean(&gains) - 4.0).abs() < 1e-12);
        assert_eq!(least(&gains), 2.0);
    }

    #[test]
    fn a_case_that_was_not_measured_is_named() {
        let error = table(&short().unwrap(), &["H3 T5 d7 full"], " bf16").unwrap_err();
        assert!(error.contains("`attention` in `H3 T5 d7 full bf16`"), "{error}");
    }
}
