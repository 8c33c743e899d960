//! Times attention on random numbers, to compare it with other programs:
//! prints one line of JSON. It checks nothing, and reads no files.

use anyhow::{Result, ensure};
use attention::ndarray::Array3;
use attention::{Options, Real, heads};
use clap::{Parser, ValueEnum};
use std::process::ExitCode;
use std::time::Instant;

/// Times attention for many heads of random numbers.
#[derive(Parser)]
#[command(name = "time")]
struct Arguments {
    /// How many heads, H.
    #[arg(long, default_value_t = 8)]
    heads: usize,
    /// How many queries, T.
    #[arg(long, default_value_t = 4096)]
    tokens: usize,
    /// How many keys, if not as many as queries.
    #[arg(long)]
    keys: Option<usize>,
    /// The head size d.
    #[arg(long, default_value_t = 64)]
    dim: usize,
    /// Let each query see the keys up to itself, and the last query every key.
    #[arg(long)]
    causal: bool,
    /// The type of the numbers.
    #[arg(long, value_enum, default_value_t = Type::F32)]
    dtype: Type,
    /// How many runs to take the median of, after one that is not counted.
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// How many threads; one for each core if not given.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Instead of one report, answer each line on stdin with the time of a run.
    #[arg(long, hide = true)]
    serve: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Type {
    F32,
    F64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("time: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(a: &Arguments) -> Result<()> {
    ensure!(a.runs > 0, "--runs must be at least 1");
    rayon::ThreadPoolBuilder::new().num_threads(a.threads).build_global()?;
    match a.dtype {
        Type::F32 => go(a, |x| x as f32),
        Type::F64 => go(a, |x| x),
    }
}

fn go<F: Real>(a: &Arguments, f: impl Fn(f64) -> F) -> Result<()> {
    let mut state = 1_u64;
    let mut random = |t| {
        Array3::from_shape_simple_fn((a.heads, t, a.dim), || {
            let s: f64 = (0..4)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
                })
                .sum();
            f(s * 1.73)
        })
    };
    let keys = a.keys.unwrap_or(a.tokens);
    let (q, k, v) = (random(a.tokens), random(keys), random(keys));
    let options = if a.causal { Options::causal() } else { Options::full() };
    let time = || -> Result<f64> {
        let start = Instant::now();
        let o = heads::attend(&q, &k, &v, options)?;
        let t = start.elapsed().as_secs_f64() * 1e3;
        std::hint::black_box(o);
        Ok(t)
    };
    time()?;
    if a.serve {
        for line in std::io::stdin().lines() {
            line?;
            println!("{}", time()?);
        }
        return Ok(());
    }
    let mut times = (0..a.runs).map(|_| time()).collect::<Result<Vec<_>>>()?;
    times.sort_by(f64::total_cmp);
    let ms = times[times.len() / 2];
    let flop = 4.0 * (a.heads * a.tokens * keys * a.dim) as f64 / if a.causal { 2.0 } else { 1.0 };
    println!("{{\"ms\": {ms:.3}, \"gflops\": {:.1}, \"min\": {:.3}}}", flop / ms / 1e6, times[0]);
    Ok(())
}
