//! Trains the small transformer of the book and writes its weights: the one
//! command that makes them. It only shows how far it is, measures and writes.

use anyhow::{Context, Result, ensure};
use clap::Parser;
use learning::patterns::{Abilities, Sample, Scores, abilities, found, scores};
use learning::training::{Plan, Training};
use learning::weights::{Made, to_bytes};
use ndarray::Array2;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Trains the small transformer, and writes its weights once it is done.
#[derive(Parser)]
#[command(name = "train")]
struct Arguments {
    /// Where all chance comes from: the same seed gives the same weights.
    #[arg(long, default_value_t = 2)]
    seed: u32,
    /// How many batches to learn from.
    #[arg(long, default_value_t = STEPS)]
    steps: usize,
    /// The file to write.
    #[arg(long, value_name = "FILE", default_value = OUT)]
    out: PathBuf,
}

const STEPS: usize = 3200;
const OUT: &str = "book/src/widgets/patterns.safetensors";
/// Which unseen texts the result is measured on, and how many of each kind.
const UNSEEN: (u32, usize) = (1, 256);
/// A line of progress every so many steps.
const EVERY: usize = 100;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("train: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Trains, measures, tells and writes.
fn run(arguments: &Arguments) -> Result<()> {
    let folder = folder_of(&arguments.out);
    ensure!(folder.is_dir(), "{} is no folder to write to", folder.display());
    let training = train(arguments)?;
    let sample = Sample::unseen(UNSEEN.0, UNSEEN.1);
    let loss = report(&training, &sample)?;
    let command = format!(
        "cargo run --release -p learning --example train -- --seed {} --steps {}",
        arguments.seed, arguments.steps
    );
    let made = Made { command, seed: arguments.seed, steps: arguments.steps, loss };
    let bytes = to_bytes(training.model(), &made)?;
    write_whole(&arguments.out, &bytes)
        .with_context(|| format!("{} cannot be written", arguments.out.display()))?;
    println!("wrote {} ({} bytes)", arguments.out.display(), bytes.len());
    Ok(())
}

/// All steps, with a line of progress now and then.
fn train(arguments: &Arguments) -> Result<Training> {
    let mut training = Training::new(Plan::new(arguments.seed, arguments.steps));
    let started = Instant::now();
    for step in 1..=arguments.steps {
        let loss = training.step()?;
        if step % EVERY == 0 || step == arguments.steps || step == 1 {
            let left = started.elapsed().div_f64(step as f64) * (arguments.steps - step) as u32;
            println!("step {step:5}  loss {loss:.4}  {} left", minutes(left));
        }
    }
    println!("trained in {}", minutes(started.elapsed()));
    Ok(training)
}

fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// Tells what the heads do and what the model can do; gives its loss.
fn report(training: &Training, sample: &Sample) -> Result<f64> {
    let model = training.model();
    let scores = scores(model, sample)?;
    println!("head  previous  induction  subject  distractors");
    for ((layer, head), of_head) in scores.indexed_iter() {
        let Scores { previous, induction, subject, distractors } = of_head;
        println!(
            "{}.{}   {previous:8.3}  {induction:9.3}  {subject:7.3}  {distractors:11.3}",
            layer + 1,
            head + 1
        );
    }
    let all = abilities(model, sample, &[])?;
    println!("switched off  loss on sentences  on repeats  copying  agreement");
    tell("nothing", &all);
    for (name, head) in found_heads(&scores) {
        tell(name, &abilities(model, sample, &[head])?);
    }
    Ok(all.loss())
}

fn found_heads(scores: &Array2<Scores>) -> [(&'static str, (usize, usize)); 3] {
    [
        ("previous", found(scores, |head| head.previous)),
        ("induction", found(scores, |head| head.induction)),
        ("subject", found(scores, |head| head.subject)),
    ]
}

fn tell(name: &str, abilities: &Abilities) {
    let Abilities { loss_on_sentences, loss_on_repeats, copying, agreement } = abilities;
    println!(
        "{name:12}  {loss_on_sentences:17.3}  {loss_on_repeats:10.3}  {copying:7.3}  {agreement:9.3}"
    );
}

/// Writes the file whole or not at all: beside its place first.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let part = path.with_extension("part");
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // What is left of it is of no use, and may not be there.
        let _ = fs::remove_file(&part);
    }
    written
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
