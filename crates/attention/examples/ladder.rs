//! Times the six versions of `attention::ladder` on one head, by turns, and
//! prints a line of JSON for each. It checks no results.

use anyhow::Result;
use attention::ladder::{Attend, VERSIONS};
use attention::ndarray::Array2;
use attention::{Options, heads};
use clap::Parser;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Instant;

/// Times one head of attention in six versions, from plain loops to every core.
#[derive(Parser)]
#[command(name = "ladder")]
struct Arguments {
    /// Queries, and as many keys, T
    #[arg(long, value_name = "T", default_value = "2048")]
    tokens: NonZeroUsize,
    /// Size of queries, keys and values, d
    #[arg(long, value_name = "D", default_value = "64")]
    dim: NonZeroUsize,
    /// Let each query see the keys up to itself
    #[arg(long)]
    causal: bool,
    /// Runs of each version to take the median of
    #[arg(long, value_name = "N", default_value = "5")]
    runs: NonZeroUsize,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ladder: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let (tokens, dim, causal) = (arguments.tokens.get(), arguments.dim.get(), arguments.causal);
    let [q, k, v] = [1, 2, 3].map(|turn| numbers(tokens, dim, turn));
    let options = if causal { Options::causal() } else { Options::full() };
    let time = |attend: Attend| -> Result<f64> {
        let start = Instant::now();
        black_box(attend(&q, &k, &v, options)?);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let mut times = VERSIONS.map(|_| Vec::new());
    for _ in 0..arguments.runs.get() {
        for ((_, attend), times) in VERSIONS.iter().zip(&mut times) {
            times.push(time(*attend)?);
        }
    }
    let operations = 4.0 * (tokens as f64).powi(2) * dim as f64 / if causal { 2.0 } else { 1.0 };
    let (instructions, threads) = (heads::instructions(), rayon::current_num_threads());
    for ((name, _), mut times) in VERSIONS.iter().zip(times) {
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        let gflops = operations / median / 1e6;
        println!(
            "{{\"version\": \"{name}\", \"tokens\": {tokens}, \"dim\": {dim}, \"causal\": {causal}, \
             \"instructions\": \"{instructions}\", \"threads\": {threads}, \
             \"median_ms\": {median:.4}, \"gflops\": {gflops:.3}}}"
        );
    }
    Ok(())
}

/// Numbers between −1 and 1 that follow no simple pattern.
fn numbers(rows: usize, columns: usize, turn: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        ((i * 7919 + j * 104_729 + i * j * 31 + turn * 541) % 2003) as f32 / 1001.0 - 1.0
    })
}
