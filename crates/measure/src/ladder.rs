//! The six versions of the chapter “Every core, every lane”, timed by turns on
//! one head. All of them on one thread, the last also on every thread there is.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use attention::Options;
use attention::ladder::{Attend, VERSIONS};
use ndarray::{Array2, Axis};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cases::{Case, square};
use crate::contestants::{Contestant, inputs};
use crate::race;
use crate::record::{Figures, Record, Timed};

/// What the last version is called on every thread.
const EVERY_THREAD: &str = "cores, all threads";

/// The cases: one head, causal and full.
pub(crate) fn table() -> Vec<Case> {
    [true, false].map(|causal| square(1, 2048, 64, causal)).to_vec()
}

/// The name by which a case is chosen: `ladder H1 T2048 d64 full`.
pub(crate) fn name(case: Case) -> String {
    format!("ladder {}", case.name())
}

/// Times every version in every case.
pub(crate) fn run(cases: Vec<Case>, threads: usize, runs: u32) -> Result<Record> {
    let mut versions = Vec::new();
    for (name, attend) in VERSIONS {
        versions.push(Version::on_one_thread(name, attend)?);
    }
    let (_, cores) = VERSIONS[VERSIONS.len() - 1];
    versions.push(Version { name: EVERY_THREAD, attend: cores, alone: None, prepared: None });
    let mut versions: Vec<Box<dyn Contestant>> =
        versions.into_iter().map(|version| Box::new(version) as _).collect();
    let mut record = Record::new(threads, runs, &[]);
    record.versions.insert("attention".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    for case in cases {
        eprintln!("{}", name(case));
        record.cases.push(race::run(case, &mut versions, runs)?);
    }
    Ok(record)
}

/// One version, with the threads that it runs on.
struct Version {
    name: &'static str,
    attend: Attend,
    /// The one thread that it runs on; else those that the peers run on too.
    alone: Option<ThreadPool>,
    prepared: Option<([Array2<f32>; 3], Options<f32>)>,
}

impl Version {
    fn on_one_thread(name: &'static str, attend: Attend) -> Result<Version> {
        let alone = ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .with_context(|| format!("a thread for `{name}` cannot be started"))?;
        Ok(Version { name, attend, alone: Some(alone), prepared: None })
    }
}

impl Contestant for Version {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn takes_part(&self, _: Case) -> bool {
        true
    }

    fn prepare(&mut self, case: Case) -> Result<()> {
        let head = inputs(case).map(|array| array.index_axis_move(Axis(0), 0));
        let options = if case.causal { Options::causal() } else { Options::full() };
        self.prepared = Some((head, options));
        Ok(())
    }

    fn run(&mut self) -> Result<Duration> {
        let ([q, k, v], options) = self.prepared.as_ref().context("no case is prepared")?;
        let attend = || {
            let start = Instant::now();
            let output = (self.attend)(q, k, v, *options)?;
            let took = start.elapsed();
            std::hint::black_box(output);
            Ok(took)
        };
        match &self.alone {
            Some(thread) => thread.install(attend),
            None => attend(),
        }
    }
}

/// The versions of each case with their speed, and how many times that of the
/// first version and of the one before it is.
pub(crate) fn shown(record: &Record) -> String {
    record.cases.iter().map(shown_case).collect()
}

fn shown_case(Timed { case, figures, .. }: &Timed) -> String {
    let mut table = format!(
        "{:26}{:>12}{:>12}{:>12}{:>12}\n",
        name(*case),
        "ms",
        "GFLOP/s",
        "× the first",
        "× before"
    );
    let first = figures.first().map_or(f64::NAN, |figures| figures.gflops);
    let mut before = first;
    for Figures { contestant, milliseconds, gflops, .. } in figures {
        let _ = writeln!(
            table,
            "  {contestant:24}{milliseconds:>12.2}{gflops:>12.1}{:>12.1}{:>12.2}",
            gflops / first,
            gflops / before
        );
        before = *gflops;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Case =
        Case { heads: 1, queries: 9, keys: 9, dim: 3, causal: true, gradient: false, bf16: false };

    #[test]
    fn every_version_is_timed_and_the_last_on_every_thread_too() {
        let record = run(vec![SMALL], 3, 2).unwrap();
        let names: Vec<_> =
            record.cases[0].figures.iter().map(|figures| figures.contestant.as_str()).collect();
        let expected = VERSIONS.map(|(name, _)| name);
        assert_eq!(names[..6], expected);
        assert_eq!(names[6..], [EVERY_THREAD]);
        assert!(record.ceilings.is_none());
        assert!(!serde_json::to_string(&record).unwrap().contains("ceilings"));
    }

    #[test]
    fn a_version_runs_what_it_prepared_and_on_its_own_thread() {
        let threads: Attend = |q, _, _, _| {
            assert_eq!(rayon::current_num_threads(), 1);
            Ok(q.to_owned())
        };
        let mut version = Version::on_one_thread("one", threads).unwrap();
        assert_eq!(version.run().unwrap_err().to_string(), "no case is prepared");
        version.prepare(SMALL).unwrap();
        version.run().unwrap();
    }

    #[test]
    fn gains_are_over_the_first_and_over_the_one_before() {
        let times = [("a", 12), ("b", 4), ("c", 2)];
        let figures = times
            .map(|(name, ms)| Figures::of(name, SMALL, vec![Duration::from_millis(ms)]))
            .into();
        let shown = shown_case(&Timed { name: SMALL.name(), case: SMALL, figures });
        let last: Vec<_> = shown.lines().last().unwrap().split_whitespace().collect();
        assert_eq!((last[0], last[1], last[3], last[4]), ("c", "2.00", "6.0", "2.00"));
    }
}
