//! Times attention forward and backward on random numbers, to compare it with other
//! programs: prints one line of JSON. It checks nothing, and reads no files.

use anyhow::{Result, ensure};
use attention::ndarray::Array3;
use attention::{Options, Real, heads};
use clap::{Parser, ValueEnum};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

/// Times attention for many heads of random numbers, forward and then backward.
#[derive(Parser)]
#[command(name = "time_gradient")]
struct Arguments {
    /// How many heads, H.
    #[arg(long, default_value_t = 8)]
    heads: usize,
    /// How many queries and keys, T.
    #[arg(long, default_value_t = 2048)]
    tokens: usize,
    /// The head size d.
    #[arg(long, default_value_t = 64)]
    dim: usize,
    /// Let each query see the keys up to itself.
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
            eprintln!("time_gradient: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.runs > 0, "--runs must be at least 1");
    rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build_global()?;
    match arguments.dtype {
        Type::F32 => time(arguments, |number| number as f32),
        Type::F64 => time(arguments, |number| number),
    }
}

fn time<F: Real>(arguments: &Arguments, convert: impl Fn(f64) -> F) -> Result<()> {
    let mut random = Random(1);
    let shape = (arguments.heads, arguments.tokens, arguments.dim);
    let mut array = || Array3::from_shape_simple_fn(shape, || convert(random.number()));
    let (q, k, v, d_output) = (array(), array(), array(), array());
    let options = if arguments.causal { Options::causal() } else { Options::full() };
    let both = || -> Result<[f64; 2]> {
        let start = Instant::now();
        let attended = heads::Forward::new(&q, &k, &v, options)?;
        let forward = start.elapsed();
        black_box(attended.gradient(&d_output)?);
        Ok([forward, start.elapsed() - forward].map(|time| time.as_secs_f64() * 1e3))
    };
    both()?;
    let runs = (0..arguments.runs).map(|_| both()).collect::<Result<Vec<_>>>()?;
    let forward = median(runs.iter().map(|run| run[0]));
    let backward = median(runs.iter().map(|run| run[1]));
    let both = median(runs.iter().map(|run| run[0] + run[1]));
    println!("{{\"forward_ms\": {forward:.3}, \"backward_ms\": {backward:.3}, \"ms\": {both:.3}}}");
    Ok(())
}

/// The middle of some times.
fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Numbers of mean 0 and variance 1: a linear congruential generator with Knuth's
/// MMIX constants.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 / (1_u64 << 53) as f64 - 0.5) * 12_f64.sqrt()
    }
}
