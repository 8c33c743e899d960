//! What was measured, as the book keeps it: a file of JSON under
//! book/measurements/, written as a whole or not at all.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::cases::Case;
use crate::contestants::Contestant;
use crate::machine::{Ceilings, Machine, Reading};

/// This book's kernel, and the peer that it is compared with, by their names.
const OURS: &str = "attention";
const PYTORCH: &str = "PyTorch";

/// Everything about one measurement.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The day, in UTC.
    pub(crate) date: String,
    /// What it was measured with.
    pub(crate) command: String,
    pub(crate) machine: Machine,
    pub(crate) versions: BTreeMap<String, String>,
    /// How often each ran, if it was not too slow for that.
    pub(crate) runs: u32,
    /// Not where only the book's own versions were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ceilings: Option<Ceilings>,
    pub(crate) cases: Vec<Timed>,
}

/// One case with the figures of all that took part.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) case: Case,
    pub(crate) figures: Vec<Figures>,
}

impl Timed {
    /// What the table shows of a contestant: GFLOP/s, or GB/s for decoding.
    fn speed(&self, contestant: &str) -> Option<f64> {
        let figures = self.figures.iter().find(|figures| figures.contestant == contestant)?;
        Some(if self.case.is_decoding() { figures.gigabytes } else { figures.gflops })
    }

    /// How many times as fast as PyTorch we are.
    fn gain(&self) -> Option<f64> {
        Some(self.speed(OURS)? / self.speed(PYTORCH)?)
    }
}

/// How one contestant did in one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) contestant: String,
    /// The median, and the extremes, in milliseconds.
    pub(crate) milliseconds: f64,
    pub(crate) fastest: f64,
    pub(crate) slowest: f64,
    pub(crate) runs: usize,
    /// Useful operations in a second at the median, in thousands of millions.
    pub(crate) gflops: f64,
    /// Bytes of keys and values read in a second, in thousands of millions.
    pub(crate) gigabytes: f64,
}

impl Figures {
    /// The figures of one or more runs.
    pub(crate) fn of(contestant: &str, case: Case, mut times: Vec<Duration>) -> Figures {
        times.sort();
        let seconds = times[times.len() / 2].as_secs_f64();
        let milliseconds = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64) * 1e3;
        Figures {
            contestant: contestant.to_owned(),
            milliseconds: seconds * 1e3,
            fastest: milliseconds(times.first()),
            slowest: milliseconds(times.last()),
            runs: times.len(),
            gflops: case.operations() / seconds / 1e9,
            gigabytes: case.bytes_read() / seconds / 1e9,
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { contestant, milliseconds, fastest, slowest, gflops, .. } = self;
        write!(
            f,
            "{contestant:22} {milliseconds:9.2} ms ({fastest:.2} to {slowest:.2}), {gflops:6.1} GFLOP/s"
        )
    }
}

impl Record {
    /// A record without figures as yet.
    pub(crate) fn new(
        threads: usize,
        runs: u32,
        contestants: &[Box<dyn Contestant + '_>],
    ) -> Record {
        let versions = contestants.iter().map(|one| (one.name().to_owned(), one.version()));
        Record {
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            command: "cargo book bench".to_owned(),
            machine: Machine::this(threads),
            versions: versions.collect(),
            runs,
            ceilings: None,
            cases: Vec::new(),
        }
    }

    /// The figures as a table: useful GFLOP/s, a line a case; for decoding GB/s.
    /// Where PyTorch took part, the last column says how many times as fast as
    /// it we are, and the line below the table what that is on average.
    pub(crate) fn table(&self) -> String {
        let mut table = String::new();
        let first = self.cases.first();
        let names: Vec<&str> = first
            .into_iter()
            .flat_map(|timed| timed.figures.iter().map(|figures| figures.contestant.as_str()))
            .collect();
        let width = |name: &str| name.len().max(10) + 2;
        let left = self.cases.iter().map(|timed| timed.name.len()).max().unwrap_or(0) + 10;
        let _ = write!(table, "{:left$}", "");
        for name in &names {
            let _ = write!(table, "{name:>0$}", width(name));
        }
        table.push_str("     × PyTorch\n");
        for timed in &self.cases {
            let unit = if timed.case.is_decoding() { "GB/s" } else { "GFLOP/s" };
            let _ = write!(table, "{:left$}", format!("{} {unit}", timed.name));
            for name in &names {
                let shown =
                    timed.speed(name).map_or("–".to_owned(), |speed| format!("{speed:.1}"));
                let _ = write!(table, "{shown:>0$}", width(name));
            }
            let gain = timed.gain().map_or("–".to_owned(), |gain| format!("{gain:.2}"));
            let _ = writeln!(table, "{gain:>14}");
        }
        if let Some(mean) = self.mean_gain() {
            let _ = writeln!(table, "geometric mean, but for decoding: {mean:.2} × PyTorch");
        }
        if let Some(ceilings) = &self.ceilings {
            let _ = write!(table, "{ceilings}");
        }
        table
    }

    /// The geometric mean of the gains over PyTorch, but for decoding, which is
    /// about another speed; none where PyTorch took no part.
    fn mean_gain(&self) -> Option<f64> {
        let cases = self.cases.iter().filter(|timed| !timed.case.is_decoding());
        let logarithms: Vec<f64> = cases.filter_map(Timed::gain).map(f64::ln).collect();
        let count = logarithms.len() as f64;
        (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp())
    }

    /// How fast memory was read in turn with decoding, in GB/s.
    pub(crate) fn reading(&self) -> Option<f64> {
        self.cases.iter().find_map(|timed| timed.speed(Reading::NAME))
    }

    /// Writes the record, whole or not at all.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
        }
        let text = serde_json::to_string_pretty(self)? + "\n";
        ledger::replace_file(file, text.as_bytes())
            .with_context(|| format!("{} cannot be written", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn the_median_counts() {
        let times = [7, 1, 4].map(Duration::from_millis).to_vec();
        let figures = Figures::of("one", cases::table()[3], times);
        assert_eq!((figures.milliseconds, figures.fastest, figures.slowest), (4.0, 1.0, 7.0));
        // 1 073 741 824 operations in 4 ms.
        assert!((figures.gflops - 268.435_456).abs() < 1e-9, "{figures:?}");
    }

    #[test]
    fn the_gain_is_over_pytorch_and_its_mean_is_geometric() {
        let mut record = Record::new(1, 1, &[]);
        // Twice as fast in one case, 8 times in the other: 4 times on average.
        for (case, theirs) in cases::table().into_iter().zip([4, 16]) {
            let figures = [(OURS, 2), (PYTORCH, theirs)]
                .map(|(name, ms)| Figures::of(name, case, vec![Duration::from_millis(ms)]))
                .into();
            record.cases.push(Timed { name: case.name(), case, figures });
        }
        assert!((record.mean_gain().unwrap() - 4.0).abs() < 1e-12);
        let table = record.table();
        assert!(table.lines().nth(2).unwrap().ends_with(" 8.00"), "{table}");
        assert!(table.ends_with("geometric mean, but for decoding: 4.00 × PyTorch\n"), "{table}");
        record.cases[0].figures.pop();
        assert_eq!(record.cases[0].gain(), None);
        assert!(record.table().lines().nth(1).unwrap().ends_with('–'));
    }

    #[test]
    fn reading_is_found_where_it_took_part_in_decoding() {
        let mut record = Record::new(1, 1, &[]);
        assert_eq!(record.reading(), None);
        // 536 870 912 bytes of keys and values in 32 ms.
        let case = cases::table()[9];
        let figures = vec![Figures::of(Reading::NAME, case, vec![Duration::from_millis(32)])];
        record.cases.push(Timed { name: case.name(), case, figures });
        assert!((record.reading().unwrap() - 16.777_216).abs() < 1e-9);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/peers.json");
        let mut record = Record::new(3, 5, &[]);
        let case = cases::table()[0];
        let figures = vec![Figures::of("one", case, vec![Duration::from_millis(2)])];
        record.cases.push(Timed { name: case.name(), case, figures });
        record.write(&file).unwrap();
        let read: Record = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(read, record);
        assert_eq!(record.machine.threads, 3);
    }
}
