//! Measures the two ceilings of this machine, and one product of matrices, and
//! prints them as JSON: how fast it can compute, and how fast it can read. It
//! computes no attention.

use anyhow::{Context, Result, ensure};
use attention::ndarray::linalg::general_mat_mul;
use attention::ndarray::{Array2, Axis};
use clap::Parser;
use std::hint::black_box;
use std::path::PathBuf;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Measures arithmetic, a matrix product and memory, in single precision.
#[derive(Parser)]
#[command(name = "ceilings")]
struct Arguments {
    /// The file to write; standard output if not given.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// What the machine is called; what /proc/cpuinfo says if not given.
    #[arg(long)]
    machine: Option<String>,
    /// Threads; as many as there are cores if not given.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Times each is measured; the best counts, for a ceiling is sought.
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Memory that is read, in MiB: many times the largest cache.
    #[arg(long, default_value_t = 1024)]
    mebibytes: usize,
    /// Rows and columns of the matrices that are multiplied.
    #[arg(long, default_value_t = 3072)]
    size: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let cores = thread::available_parallelism()?.get();
    let threads = arguments.threads.unwrap_or(cores);
    let Arguments { runs, mebibytes, size, .. } = arguments;
    let within = |name: &str, number: usize, most: usize| {
        ensure!((1..=most).contains(&number), "{name} is {number}, but must be from 1 to {most}");
        Ok(())
    };
    within("--threads", threads, 1024)?;
    within("--runs", runs, 10_000)?;
    within("--mebibytes", mebibytes, 1 << 20)?;
    within("--size", size, 16_384)?;

    eprintln!("arithmetic in registers, {threads} threads …");
    let arithmetic = best(10 * runs, || arithmetic(threads));
    eprintln!("a product of {size} × {size} matrices …");
    let product = product(threads, runs, size);
    eprintln!("reading {mebibytes} MiB …");
    let bandwidth = bandwidth(threads, runs, mebibytes)?;

    let record = serde_json::json!({
        "machine": arguments.machine.unwrap_or_else(machine),
        "cores": cores,
        "threads": threads,
        "date": today(),
        "command": "cargo run --release -p attention --example ceilings",
        "arithmetic": {
            "gflops": rounded(arithmetic),
            "what": format!("multiplications with additions in registers, {}; two operations each", lanes()),
        },
        "product": {
            "gflops": rounded(product),
            "what": format!(
                "{size} × {size} matrices in single precision, ndarray's own product, \
                 a share of the rows for each thread"
            ),
        },
        "bandwidth": {
            "gigabytes_per_second": rounded(bandwidth),
            "what": format!("the sum of {mebibytes} MiB, 256 at a time, a share for each thread"),
        },
        "runs": runs,
        "counted": "the best run",
    });
    let text = serde_json::to_string_pretty(&record)? + "\n";
    match arguments.write {
        Some(file) => std::fs::write(&file, text)
            .with_context(|| format!("{} cannot be written", file.display()))?,
        None => print!("{text}"),
    }
    Ok(())
}

/// The largest of several measurements.
fn best(runs: usize, measure: impl FnMut() -> f64) -> f64 {
    std::iter::repeat_with(measure).take(runs).fold(0.0, f64::max)
}

/// Runs a job on each thread, and returns the seconds until all are done.
fn seconds(threads: usize, job: impl Fn(usize) + Sync) -> f64 {
    let start = Instant::now();
    thread::scope(|scope| {
        for thread in 0..threads {
            let job = &job;
            scope.spawn(move || job(thread));
        }
    });
    start.elapsed().as_secs_f64()
}

/// Billions of operations a second, where nothing has to be fetched.
fn arithmetic(threads: usize) -> f64 {
    // Some 10 milliseconds: short enough to fall between other programs.
    const ROUNDS: usize = 4_000_000;
    let taken = seconds(threads, |_| fused(ROUNDS));
    (2 * ROUNDS * CHAINS * lanes_in_use() * threads) as f64 / taken / 1e9
}

/// Chains of operations that don't wait for each other: enough to keep every
/// arithmetic unit busy while each waits for its own last result.
const CHAINS: usize = 12;

/// Multiplies and adds, again and again, in the widest registers there are.
fn fused(rounds: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            #[allow(
                unsafe_code,
                reason = "the function asks for a feature that was just detected"
            )]
            // SAFETY: the processor has AVX-512.
            return unsafe { fused_avx512(rounds) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            #[allow(
                unsafe_code,
                reason = "the function asks for features that were just detected"
            )]
            // SAFETY: the processor has AVX2 and FMA.
            return unsafe { fused_avx2(rounds) };
        }
    }
    chains::<4, { !cfg!(target_arch = "x86_64") }>(rounds);
}

/// By name, for from arrays of 16 the compiler makes loads and stores.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn fused_avx512(rounds: usize) {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps};
    let (x, y) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(0.001)));
    let mut sums = [_mm512_set1_ps(black_box(1.0)); CHAINS];
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, x, y);
        }
    }
    black_box(sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fused_avx2(rounds: usize) {
    chains::<8, true>(rounds);
}

/// `LANES` numbers in each of the chains, `sum ← sum·x + y`, as one operation
/// where the processor has one for both.
#[inline(always)]
fn chains<const LANES: usize, const FUSED: bool>(rounds: usize) {
    let (x, y) = (black_box([0.999_f32; LANES]), black_box([0.001_f32; LANES]));
    let mut sums = black_box([[1.0_f32; LANES]; CHAINS]);
    for _ in 0..rounds {
        for sum in &mut sums {
            for lane in 0..LANES {
                sum[lane] = if FUSED {
                    sum[lane].mul_add(x[lane], y[lane])
                } else {
                    sum[lane] * x[lane] + y[lane]
                };
            }
        }
    }
    black_box(sums);
}

/// How many numbers a register in use holds.
fn lanes_in_use() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return 16;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return 8;
        }
    }
    4
}

fn lanes() -> &'static str {
    match lanes_in_use() {
        16 => "AVX-512, 16 numbers at a time",
        8 => "AVX2, 8 numbers at a time",
        _ => "4 numbers at a time",
    }
}

/// Billions of operations a second in a product of two square matrices.
fn product(threads: usize, runs: usize, size: usize) -> f64 {
    let matrix = |seed: usize| {
        Array2::from_shape_fn((size, size), |(i, j)| ((i * 7 + j * 3 + seed) % 11) as f32 / 11.0)
    };
    let (a, b, mut c) = (matrix(1), matrix(2), Array2::<f32>::zeros((size, size)));
    let rows = size.div_ceil(threads);
    let operations = 2.0 * (size as f64).powi(3);
    best(runs, || {
        let start = Instant::now();
        thread::scope(|scope| {
            let shares =
                a.axis_chunks_iter(Axis(0), rows).zip(c.axis_chunks_iter_mut(Axis(0), rows));
            for (a, mut c) in shares {
                let b = &b;
                scope.spawn(move || general_mat_mul(1.0, &a, b, 0.0, &mut c));
            }
        });
        black_box(&c);
        operations / start.elapsed().as_secs_f64() / 1e9
    })
}

/// Billions of bytes a second that are read from memory. It is read in pieces,
/// each of which has long left the cache when its turn comes again, and each
/// of which is short enough to fall between other programs.
fn bandwidth(threads: usize, runs: usize, mebibytes: usize) -> Result<f64> {
    const PIECE: usize = (256 << 20) / size_of::<f32>();
    let length = (mebibytes << 20) / size_of::<f32>();
    let mut numbers: Vec<f32> = Vec::new();
    numbers.try_reserve_exact(length).context("there is not enough memory; try --mebibytes")?;
    numbers.resize(length, 1.0);
    let mut pieces = numbers.chunks(PIECE).cycle();
    Ok(best(runs * length.div_ceil(PIECE), || {
        let piece = pieces.next().unwrap_or_default();
        let shares: Vec<&[f32]> = piece.chunks(piece.len().div_ceil(threads)).collect();
        let taken = seconds(shares.len(), |thread| {
            black_box(sum(shares[thread]));
        });
        size_of_val(piece) as f64 / taken / 1e9
    }))
}

/// The sum, in many sums side by side, so that it waits for memory alone.
fn sum(numbers: &[f32]) -> f32 {
    let mut sums = [0.0; 64];
    for chunk in numbers.chunks_exact(64) {
        for (sum, number) in sums.iter_mut().zip(chunk) {
            *sum += number;
        }
    }
    sums.iter().sum()
}

/// The processor's name, where Linux tells it.
fn machine() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = told.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    name.unwrap_or("unknown processor").to_owned()
}

/// Today's date in UTC, as 2026-01-31.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (mut year, mut day) = (1970, seconds / 86_400);
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

/// Three digits after the point.
fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}
