//! The records that `cargo book bench` writes, as far as the chapter reads
//! them. What is missing or senseless is an error that names file and case.

use std::collections::BTreeMap;

use serde::Deserialize;

const PEERS: &str = include_str!("../../../../book/measurements/peers.json");
const GRADIENT: &str = include_str!("../../../../book/measurements/gradient.json");
const SHORT: &str = include_str!("../../../../book/measurements/bf16.json");
const VERSIONS: &str = include_str!("../../../../book/measurements/ladder.json");

/// One measurement: who ran in which case, and how fast.
#[derive(Clone, Debug, Deserialize)]
pub struct Record {
    #[serde(skip)]
    file: &'static str,
    /// The day.
    pub date: String,
    /// What it was measured on.
    pub machine: Machine,
    /// The version of each contestant.
    pub versions: BTreeMap<String, String>,
    ceilings: Option<Ceilings>,
    cases: Vec<Case>,
}

/// What was measured on.
#[derive(Clone, Debug, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// How many threads were used.
    pub threads: usize,
    /// The vector instructions that the kernel used.
    pub instructions: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Ceilings {
    product_gflops: Option<f64>,
    bandwidth_gigabytes: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct Case {
    name: String,
    figures: Vec<Figures>,
}

#[derive(Clone, Debug, Deserialize)]
struct Figures {
    contestant: String,
    milliseconds: f64,
    gflops: f64,
    gigabytes: f64,
}

/// The record of the kernel beside its peers.
///
/// # Errors
///
/// What is wrong with the file.
pub fn peers() -> Result<Record, String> {
    read("book/measurements/peers.json", PEERS)
}

/// The record of the kernel beside its peers, forwards and backwards.
///
/// # Errors
///
/// What is wrong with the file.
pub fn gradient() -> Result<Record, String> {
    read("book/measurements/gradient.json", GRADIENT)
}

/// The record of the kernel beside its peers on numbers of 16 bits.
///
/// # Errors
///
/// What is wrong with the file.
pub fn short() -> Result<Record, String> {
    read("book/measurements/bf16.json", SHORT)
}

/// The record of the six versions.
///
/// # Errors
///
/// What is wrong with the file.
pub fn versions() -> Result<Record, String> {
    read("book/measurements/ladder.json", VERSIONS)
}

fn read(file: &'static str, text: &str) -> Result<Record, String> {
    let record: Record = serde_json::from_str(text).map_err(|error| format!("{file}: {error}"))?;
    Ok(Record { file, ..record })
}

impl Record {
    /// Billions of operations a second.
    ///
    /// # Errors
    ///
    /// The contestant did not run in that case.
    pub fn gflops(&self, case: &str, contestant: &str) -> Result<f64, String> {
        self.speed(case, contestant, |figures| figures.gflops)
    }

    /// Billions of bytes of keys and values a second.
    ///
    /// # Errors
    ///
    /// The contestant did not run in that case.
    pub fn gigabytes(&self, case: &str, contestant: &str) -> Result<f64, String> {
        self.speed(case, contestant, |figures| figures.gigabytes)
    }

    /// The median, in milliseconds.
    ///
    /// # Errors
    ///
    /// The contestant did not run in that case.
    pub fn milliseconds(&self, case: &str, contestant: &str) -> Result<f64, String> {
        self.speed(case, contestant, |figures| figures.milliseconds)
    }

    /// The machine's own product of two large matrices, in GFLOP/s.
    ///
    /// # Errors
    ///
    /// It was not measured.
    pub fn product(&self) -> Result<f64, String> {
        let product = self.ceilings.as_ref().and_then(|ceilings| ceilings.product_gflops);
        self.sensible(product, "no product of two matrices, which PyTorch is asked for")
    }

    /// Reading memory with all threads, in GB/s.
    ///
    /// # Errors
    ///
    /// It was not measured.
    pub fn bandwidth(&self) -> Result<f64, String> {
        let bandwidth = self.ceilings.as_ref().map(|ceilings| ceilings.bandwidth_gigabytes);
        self.sensible(bandwidth, "no bandwidth of the memory")
    }

    fn speed(
        &self,
        case: &str,
        contestant: &str,
        of: impl Fn(&Figures) -> f64,
    ) -> Result<f64, String> {
        let case_of_name = self.cases.iter().find(|timed| timed.name == case);
        let figures = case_of_name.and_then(|timed| {
            timed.figures.iter().find(|figures| figures.contestant == contestant)
        });
        self.sensible(figures.map(of), &format!("no figure of `{contestant}` in `{case}`"))
    }

    fn sensible(&self, number: Option<f64>, missing: &str) -> Result<f64, String> {
        number.filter(|number| number.is_finite() && *number > 0.0).ok_or_else(|| {
            format!(
                "{} has {missing}; measure anew with `cargo book bench --python PROGRAM`",
                self.file
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{"date": "2026-01-02", "runs": 1, "versions": {},
        "machine": {"processor": "P", "threads": 2, "instructions": "NEON"},
        "cases": [{"name": "C", "figures": [
            {"contestant": "one", "milliseconds": 4.0, "gflops": 8.0, "gigabytes": 2.0},
            {"contestant": "none", "milliseconds": 0.0, "gflops": 0.0, "gigabytes": 0.0}]}]}"#;

    #[test]
    fn figures_are_found_by_their_names() {
        let record = read("f.json", SMALL).unwrap();
        assert_eq!(record.gflops("C", "one"), Ok(8.0));
        assert_eq!(record.gigabytes("C", "one"), Ok(2.0));
        assert_eq!(record.milliseconds("C", "one"), Ok(4.0));
    }

    #[test]
    fn what_is_missing_is_told_with_its_file() {
        let record = read("f.json", SMALL).unwrap();
        let error = record.gflops("C", "two").unwrap_err();
        assert_eq!(
            error,
            "f.json has no figure of `two` in `C`; measure anew with `cargo book bench --python \
             PROGRAM`"
        );
        assert!(record.gflops("D", "one").is_err());
        assert!(record.gflops("C", "none").is_err());
        assert!(record.product().is_err());
        assert!(record.bandwidth().is_err());
        assert!(read("f.json", "{}").unwrap_err().starts_with("f.json: missing field"));
    }
}
