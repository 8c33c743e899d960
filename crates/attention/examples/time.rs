//! Times attention for many heads on random numbers, and prints one line of
//! JSON. It checks no results, and reads no files.

use anyhow::{Context, Result, anyhow};
use attention::heads::{self, Instructions};
use attention::ndarray::Array3;
use attention::{Element, Mask, Options, Real};
use clap::{Parser, ValueEnum};
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Instant;

/// Times attention for many heads, on random numbers of the normal distribution.
#[derive(Parser)]
#[command(name = "time")]
struct Arguments {
    /// Heads, H
    #[arg(long, value_name = "H", default_value = "8")]
    heads: NonZeroUsize,
    /// Queries of each head, T
    #[arg(long, value_name = "T", default_value = "4096")]
    tokens: NonZeroUsize,
    /// Keys of each head, if not as many as queries
    #[arg(long, value_name = "N")]
    keys: Option<NonZeroUsize>,
    /// Size of queries, keys and values, d
    #[arg(long, value_name = "D", default_value = "64")]
    dim: NonZeroUsize,
    /// Let each query see the keys up to itself, and the last query every key
    #[arg(long)]
    causal: bool,
    /// Type of the numbers
    #[arg(long, value_enum, default_value_t = Type::F32)]
    dtype: Type,
    /// Runs to take the median of; one more before them is not counted
    #[arg(long, value_name = "N", default_value = "7")]
    runs: NonZeroUsize,
    /// Threads; one for each core if not given
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Vector instructions, such as AVX2; the best there are if not given
    #[arg(long, value_name = "NAME")]
    instructions: Option<String>,
    /// Print no JSON, but for each line on standard input the milliseconds of
    /// one run: to take turns with another program
    #[arg(long)]
    serve: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Type {
    F32,
    F64,
    #[cfg(feature = "bf16")]
    Bf16,
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

/// Starts the threads, and goes on in the type that was asked for.
fn run(arguments: &Arguments) -> Result<()> {
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .build_global()
            .with_context(|| format!("cannot start {threads} threads"))?;
    }
    match arguments.dtype {
        Type::F32 => Timing::<f32>::new(arguments)?.report(arguments),
        Type::F64 => Timing::<f64>::new(arguments)?.report(arguments),
        #[cfg(feature = "bf16")]
        Type::Bf16 => Timing::<half::bf16>::new(arguments)?.report(arguments),
    }
}

/// What is timed.
struct Timing<E: Element> {
    instructions: Instructions,
    q: Array3<E>,
    k: Array3<E>,
    v: Array3<E>,
    options: Options<E::Real>,
}

impl<F: Real, E: Element<Real = F>> Timing<E> {
    fn new(arguments: &Arguments) -> Result<Self> {
        let [heads, tokens, dim] =
            [arguments.heads, arguments.tokens, arguments.dim].map(NonZeroUsize::get);
        let keys = arguments.keys.unwrap_or(arguments.tokens).get();
        let mut generator = Generator(1);
        Ok(Self {
            instructions: instructions(arguments.instructions.as_deref())?,
            q: generator.array("q", [heads, tokens, dim])?,
            k: generator.array("k", [heads, keys, dim])?,
            v: generator.array("v", [heads, keys, dim])?,
            options: if arguments.causal { Options::causal() } else { Options::full() },
        })
    }

    /// One run, in milliseconds.
    fn time(&self) -> Result<f64> {
        let start = Instant::now();
        let o = heads::attend_on(self.instructions, &self.q, &self.k, &self.v, self.options)?;
        let time = start.elapsed();
        black_box(o);
        Ok(time.as_secs_f64() * 1e3)
    }

    fn report(&self, arguments: &Arguments) -> Result<()> {
        self.time()?;
        if arguments.serve {
            for line in std::io::stdin().lines() {
                line.context("cannot read the standard input")?;
                println!("{:.4}", self.time()?);
            }
            return Ok(());
        }
        let mut times =
            (0..arguments.runs.get()).map(|_| self.time()).collect::<Result<Vec<_>>>()?;
        times.sort_by(f64::total_cmp);
        self.print(arguments, median(&times));
        Ok(())
    }

    fn print(&self, arguments: &Arguments, median: f64) {
        let ((heads, tokens, dim), keys) = (self.q.dim(), self.k.dim().1);
        let causal = self.options.mask == Mask::Causal;
        let dtype = match size_of::<E>() {
            2 => "bf16",
            4 => "f32",
            _ => "f64",
        };
        let instructions = self.instructions;
        let path = heads::path(tokens);
        let threads = rayon::current_num_threads();
        let runs = arguments.runs;
        let gflops = useful_operations(heads, tokens, keys, dim, causal) / median / 1e6;
        println!(
            "{{\"heads\": {heads}, \"tokens\": {tokens}, \"keys\": {keys}, \"dim\": {dim}, \
             \"causal\": {causal}, \"dtype\": \"{dtype}\", \"instructions\": \"{instructions}\", \
             \"path\": \"{path}\", \"threads\": {threads}, \"runs\": {runs}, \
             \"median_ms\": {median:.4}, \"gflops\": {gflops:.2}}}"
        );
    }
}

/// Multiplications and additions of the two products, `4·H·T_q·T_k·d`; with a
/// causal mask those of the open keys, half as many where T_q = T_k.
#[expect(clippy::doc_markdown, reason = "notation")]
fn useful_operations(heads: usize, queries: usize, keys: usize, dim: usize, causal: bool) -> f64 {
    let open = match causal {
        false => queries as f64 * keys as f64,
        true if queries == keys => queries as f64 * keys as f64 / 2.0,
        true => (0..queries).map(|query| Mask::Causal.open_keys(query, queries, keys) as f64).sum(),
    };
    4.0 * heads as f64 * open * dim as f64
}

/// The middle one of sorted numbers, or the mean of the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// Instructions by their name, in capitals or not.
fn instructions(name: Option<&str>) -> Result<Instructions> {
    let Some(name) = name else { return Ok(heads::instructions()) };
    let known: Vec<_> = Instructions::available().map(|known| known.to_string()).collect();
    Instructions::available()
        .zip(&known)
        .find(|(_, known)| known.eq_ignore_ascii_case(name))
        .map(|(instructions, _)| instructions)
        .ok_or_else(|| anyhow!("no instructions {name} here; there are: {}", known.join(", ")))
}

/// A linear congruential generator with Knuth's MMIX constants.
struct Generator(u64);

impl Generator {
    /// A number between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A number of the normal distribution, by the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn array<F: Real, E: Element<Real = F>>(
        &mut self,
        name: &str,
        shape: [usize; 3],
    ) -> Result<Array3<E>> {
        let mut elements = Vec::new();
        let too_large = || format!("{name} of shape {shape:?} does not fit in memory");
        let length = shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis));
        let length = length.with_context(too_large)?;
        elements.try_reserve_exact(length).with_context(too_large)?;
        for _ in 0..length {
            let number = F::from(self.normal()).context("no number of this type")?;
            elements.push(E::narrow(number));
        }
        Ok(Array3::from_shape_vec(shape, elements)?)
    }
}
