//! What `cargo book bench` runs, in release mode: times attention side by side
//! with its peers and records everything under book/measurements/, where the
//! chapters quote it from. It measures; it computes no attention of its own.

mod cases;
mod contestants;
mod machine;
mod race;
mod record;

use std::path::PathBuf;
use std::thread::available_parallelism;

use anyhow::{Context as _, bail};
use clap::Parser;

use crate::contestants::python::Python;
use crate::contestants::{Contestant, Plain, Tiles};
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
    /// Only the cases whose name holds this, such as `H8` or `causal`
    #[arg(long, value_name = "PART", default_value = "")]
    only: String,
    /// Where to record the figures; nothing is recorded with --only
    #[arg(long, value_name = "FILE", default_value = "book/measurements/peers.json")]
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
        .build_global()
        .context("the threads cannot be started")?;
    let cases: Vec<_> =
        cases::table().into_iter().filter(|case| case.name().contains(&arguments.only)).collect();
    if cases.is_empty() {
        bail!(
            "no case's name holds `{}`; names are like `{}`",
            arguments.only,
            cases::table()[0].name()
        );
    }
    let mut python =
        arguments.python.as_deref().map(|path| Python::start(path, threads)).transpose()?;
    let mut contestants = contestants(python.as_mut());
    let mut record = Record::new(threads, arguments.runs, &contestants);
    for case in cases {
        eprintln!("{}", case.name());
        record.cases.push(race::run(case, &mut contestants, arguments.runs)?);
    }
    drop(contestants);
    record.ceilings = machine::ceilings(python.as_mut(), arguments.runs)?;
    print!("{}", record.table());
    if arguments.only.is_empty() {
        record.write(&arguments.record)?;
        eprintln!(
            "recorded in {}; run `cargo book bless` to see what the book says now",
            arguments.record.display()
        );
    }
    Ok(())
}

/// Everyone who takes part, ours first.
fn contestants(python: Option<&mut Python>) -> Vec<Box<dyn Contestant + '_>> {
    let mut all: Vec<Box<dyn Contestant>> =
        vec![Box::new(Tiles::default()), Box::new(Plain::default())];
    #[cfg(feature = "candle")]
    all.push(Box::new(contestants::candle::Candle::default()));
    if let Some(python) = python {
        all.extend(python.contestants());
    }
    all
}
