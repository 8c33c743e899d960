//! What `cargo book bench` runs, in release mode: times attention side by side
//! with its peers and records everything under book/measurements/, where the
//! chapters quote it from. It measures; it computes no attention of its own.

mod cases;
mod contestants;
mod ladder;
mod machine;
mod race;
mod record;

use std::path::PathBuf;
use std::thread::available_parallelism;

use anyhow::{Context as _, bail};
use clap::Parser;

use crate::cases::Case;
use crate::contestants::python::Python;
use crate::contestants::{Contestant, Plain, Short, Tiles};
use crate::machine::Reading;
use crate::record::Record;

/// Times attention side by side with PyTorch, NumPy, candle-nn and the plain
/// recipe, and records the figures for the book.
///
/// In each case every contestant runs in turn, again and again, so that a
/// machine that is busy for a while slows all of them. What is recorded is the
/// median.
#[derive(Parser)]
#[command(name = "cargo book bench", bin_name = "cargo book bench", version)]
struct Arguments {
    /// A Python with PyTorch and NumPy; without one they are left out
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// How often each contestant runs in each case
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=99))]
    runs: u32,
    /// How many threads each may use; all cores without it
    #[arg(long)]
    threads: Option<usize>,
    /// Only the cases whose name holds this, such as `H8`, `gradient`, `bf16` or `ladder`;
    /// a file is recorded only if all of its cases were run
    #[arg(long, value_name = "PART", default_value = "")]
    only: String,
    /// The folder to record the figures in
    #[arg(long, value_name = "FOLDER", default_value = "book/measurements")]
    record: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let threads = match arguments.threads {
        Some(0) => bail!("--threads is 0, but work needs at least one thread"),
        Some(threads) => threads,
        None => available_parallelism().map_or(1, usize::from),
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(machine::stay_on_a_core)
        .build_global()
        .context("the threads cannot be started")?;
    let peers = arguments.chosen(cases::table(), Case::name);
    let learning = arguments.chosen(cases::with_gradient(), Case::name);
    let short = arguments.chosen(cases::in_bf16(), Case::name);
    let versions = arguments.chosen(ladder::table(), ladder::name);
    if [&peers, &learning, &short].iter().all(|cases| cases.is_empty()) && versions.is_empty() {
        bail!(
            "no case's name holds `{}`; names are like `{}` and `{}`",
            arguments.only,
            cases::table()[0].name(),
            ladder::name(ladder::table()[0])
        );
    }
    let mut recorded = false;
    for (cases, all, file) in [
        (peers, cases::table().len(), "peers.json"),
        (learning, cases::with_gradient().len(), "gradient.json"),
        (short, cases::in_bf16().len(), "bf16.json"),
    ] {
        if !cases.is_empty() {
            let all = cases.len() == all;
            let record = with_peers(cases, threads, &arguments)?;
            print!("{}", record.table());
            recorded |= arguments.record(&record, all, file)?;
        }
    }
    if !versions.is_empty() {
        let all = versions.len() == ladder::table().len();
        let record = ladder::run(versions, threads, arguments.runs)?;
        print!("{}", ladder::shown(&record));
        recorded |= arguments.record(&record, all, "ladder.json")?;
    }
    if recorded {
        eprintln!("run `cargo book bless` to see what the book says now");
    }
    Ok(())
}

impl Arguments {
    /// The cases whose name holds what was asked for.
    fn chosen(&self, cases: Vec<Case>, name: impl Fn(Case) -> String) -> Vec<Case> {
        cases.into_iter().filter(|&case| name(case).contains(&self.only)).collect()
    }

    /// Records all cases of a table; some of them are no record for the book.
    /// Returns whether anything was written.
    fn record(&self, record: &Record, all: bool, file: &str) -> anyhow::Result<bool> {
        let file = self.record.join(file);
        if all {
            record.write(&file)?;
            eprintln!("recorded in {}", file.display());
        } else {
            eprintln!("not recorded in {}: some of its cases were left out", file.display());
        }
        Ok(all)
    }
}

/// Times every contestant in every case, and the machine's ceilings.
fn with_peers(cases: Vec<Case>, threads: usize, arguments: &Arguments) -> anyhow::Result<Record> {
    let mut python =
        arguments.python.as_deref().map(|path| Python::start(path, threads)).transpose()?;
    if python.is_none() {
        eprintln!(
            "PyTorch and NumPy are left out, but the book's tables need them: \
             --python names a Python that has them"
        );
    }
    let mut contestants = contestants(python.as_mut());
    let mut record = Record::new(threads, arguments.runs, &contestants);
    for case in cases {
        eprintln!("{}", case.name());
        record.cases.push(race::run(case, &mut contestants, arguments.runs)?);
    }
    drop(contestants);
    let mut ceilings = machine::ceilings(python.as_mut(), arguments.runs)?;
    if let Some(in_turn) = record.reading() {
        ceilings.bandwidth_gigabytes = in_turn;
    }
    record.ceilings = Some(ceilings);
    Ok(record)
}

/// Everyone who takes part, ours first.
fn contestants(python: Option<&mut Python>) -> Vec<Box<dyn Contestant + '_>> {
    let mut all: Vec<Box<dyn Contestant>> = vec![
        Box::new(Tiles::default()),
        Box::new(Short::default()),
        Box::new(Plain::default()),
        Box::new(Reading::default()),
    ];
    #[cfg(feature = "candle")]
    all.push(Box::new(contestants::candle::Candle::default()));
    if let Some(python) = python {
        all.extend(python.contestants());
    }
    all
}
