//! The machine whose two ceilings were measured, read from
//! `book/measurements/machine.json`. Nothing is measured here: the example
//! `ceilings` of `attention` does that, and writes the file.

use attention::cost::Roofline;
use ledger::Ledger;
use serde::Deserialize;

/// The file, as it was when this was compiled.
const MEASURED: &str = include_str!("../../../../book/measurements/machine.json");

/// Enters what was measured.
pub fn enter(ledger: &mut Ledger) {
    ledger.enter("cost.machine.name", name).about("the machine that was measured");
    ledger.enter("cost.machine.cores", cores).about("its processor cores");
    ledger.enter("cost.machine.date", date).about("the day of the measurement");
    ledger
        .enter("cost.machine.arithmetic", gflops)
        .digits(0)
        .about("billion operations a second in registers, measured");
    ledger
        .enter("cost.machine.product", product_gflops)
        .digits(0)
        .about("billion operations a second in a product of large matrices, measured");
    ledger
        .enter("cost.machine.bandwidth", gigabytes_per_second)
        .digits(1)
        .about("billion bytes a second read from memory, measured");
    ledger
        .enter("cost.machine.ridge", ridge)
        .digits(1)
        .about("the operations for a byte at which both ceilings meet");
}

/// A record of a machine's ceilings.
#[derive(Clone, Debug, Deserialize)]
pub struct Machine {
    machine: String,
    cores: u32,
    date: String,
    arithmetic: Operations,
    product: Operations,
    bandwidth: Bytes,
}

#[derive(Clone, Debug, Deserialize)]
struct Operations {
    gflops: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct Bytes {
    gigabytes_per_second: f64,
}

impl Machine {
    /// Bytes a second from memory.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth.gigabytes_per_second * 1e9
    }
}

/// The machine that was measured.
///
/// # Errors
///
/// What is wrong with the file.
pub fn machine() -> Result<Machine, String> {
    read(MEASURED)
}

fn read(text: &str) -> Result<Machine, String> {
    let machine: Machine = serde_json::from_str(text)
        .map_err(|error| format!("book/measurements/machine.json: {error}"))?;
    let measured =
        [machine.arithmetic.gflops, machine.product.gflops, machine.bandwidth.gigabytes_per_second];
    if measured.iter().all(|&number| number.is_finite() && number > 0.0) {
        Ok(machine)
    } else {
        Err(format!("book/measurements/machine.json: {measured:?} must be positive numbers"))
    }
}

/// The two ceilings of the machine that was measured.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn roofline() -> Result<Roofline, String> {
    let machine = machine()?;
    Ok(Roofline {
        operations_per_second: machine.arithmetic.gflops * 1e9,
        bytes_per_second: machine.bandwidth(),
    })
}

/// The machine's name.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn name() -> Result<String, String> {
    Ok(machine()?.machine)
}

/// The machine's cores.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn cores() -> Result<u32, String> {
    Ok(machine()?.cores)
}

/// The day of the measurement.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn date() -> Result<String, String> {
    Ok(machine()?.date)
}

/// Billion operations a second, in registers.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn gflops() -> Result<f64, String> {
    Ok(machine()?.arithmetic.gflops)
}

/// Billion operations a second, in a product of matrices.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn product_gflops() -> Result<f64, String> {
    Ok(machine()?.product.gflops)
}

/// Billion bytes a second, from memory.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn gigabytes_per_second() -> Result<f64, String> {
    Ok(machine()?.bandwidth.gigabytes_per_second)
}

/// Operations for a byte where both ceilings meet.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn ridge() -> Result<f64, String> {
    Ok(roofline()?.ridge())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_broken_is_told_with_its_file() {
        let error = read("{}").unwrap_err();
        assert!(error.starts_with("book/measurements/machine.json: missing field"), "{error}");
        let none =
            MEASURED.replacen("\"gigabytes_per_second\": ", "\"gigabytes_per_second\": -", 1);
        assert!(read(&none).unwrap_err().contains("must be positive"));
    }
}
