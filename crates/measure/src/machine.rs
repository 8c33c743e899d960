//! The machine that is measured on, and its two ceilings: how fast it
//! multiplies, and how fast it reads. No attention can be faster.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sysinfo::System;

use crate::cases::Case;
use crate::contestants::Contestant;
use crate::contestants::python::Python;

/// What the figures depend on.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) threads: usize,
    /// The instructions that our kernel uses there.
    pub(crate) instructions: String,
    pub(crate) memory_gib: u64,
    pub(crate) system: String,
}

impl Machine {
    /// This machine, of which `threads` are used.
    pub(crate) fn this(threads: usize) -> Machine {
        let system = System::new_all().ok();
        let processor = system.as_ref().and_then(|system| system.cpus().first());
        Machine {
            processor: processor.map_or("unknown", |cpu| cpu.brand().trim()).to_owned(),
            threads,
            instructions: attention::heads::instructions().to_string(),
            memory_gib: system.as_ref().map_or(0, System::total_memory) >> 30,
            system: System::long_os_version().unwrap_or_else(|_| std::env::consts::OS.to_owned()),
        }
    }
}

/// Keeps a thread on a core of its own, where the system lets us: else two of them may
/// find themselves on one core, and stay there while another is idle.
pub(crate) fn stay_on_a_core(thread: usize) {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    if let Some(&core) = cores.get(thread % cores.len().max(1)) {
        core_affinity::set_for_current(core);
    }
}

/// What the machine can do at best, as measured.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ceilings {
    /// The machine's own product of two large matrices in f32, by PyTorch.
    pub(crate) product_gflops: Option<f64>,
    /// Reading a large array with all threads, in turn with decoding where that was
    /// measured.
    pub(crate) bandwidth_gigabytes: f64,
}

impl fmt::Display for Ceilings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(gflops) = self.product_gflops {
            writeln!(f, "a product of two large matrices: {gflops:.1} GFLOP/s")?;
        }
        writeln!(f, "reading memory: {:.1} GB/s", self.bandwidth_gigabytes)
    }
}

/// Measures both ceilings; the first only where there is a PyTorch to ask.
pub(crate) fn ceilings(python: Option<&mut Python>, runs: u32) -> Result<Ceilings> {
    const SIZE: usize = 4096;
    let product_gflops = match python {
        Some(python) => {
            python.product(SIZE)?;
            let times = (0..runs).map(|_| python.product(SIZE)).collect::<Result<Vec<_>>>()?;
            Some(2.0 * (SIZE as f64).powi(3) / median(times).as_secs_f64() / 1e9)
        }
        None => None,
    };
    Ok(Ceilings { product_gflops, bandwidth_gigabytes: bandwidth(runs) })
}

/// Reads half a GiB.
fn bandwidth(runs: u32) -> f64 {
    let memory = Reading::new(1 << 29);
    memory.read();
    memory.gigabytes() / median((0..runs).map(|_| memory.read()).collect()).as_secs_f64()
}

/// Memory that is read with all threads, and nothing else done: what decoding is
/// compared with, in turn with the others, as memory that several machines share is
/// now faster and now slower.
#[derive(Default)]
pub(crate) struct Reading {
    numbers: Vec<f32>,
}

impl Reading {
    /// Its name in the record.
    pub(crate) const NAME: &'static str = "reading alone";

    /// So many bytes of memory; they should be more than any cache holds.
    fn new(bytes: usize) -> Self {
        Self { numbers: vec![1.0; bytes / size_of::<f32>()] }
    }

    /// How much is read, in thousands of millions of bytes.
    fn gigabytes(&self) -> f64 {
        (self.numbers.len() * size_of::<f32>()) as f64 / 1e9
    }

    /// Reads it once.
    fn read(&self) -> Duration {
        const LANES: usize = 64;
        let start = Instant::now();
        // Many sums side by side, so that none waits for the one before it.
        let sum: f32 = self
            .numbers
            .par_chunks(1 << 20)
            .map(|part| {
                let mut sums = [0.0_f32; LANES];
                for lane in part.chunks_exact(LANES) {
                    for (sum, number) in sums.iter_mut().zip(lane) {
                        *sum += number;
                    }
                }
                sums.iter().sum::<f32>()
            })
            .sum();
        let took = start.elapsed();
        std::hint::black_box(sum);
        took
    }
}

impl Contestant for Reading {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn takes_part(&self, case: Case) -> bool {
        case.is_decoding()
    }

    fn prepare(&mut self, case: Case) -> Result<()> {
        *self = Self::new(case.bytes_read() as usize);
        Ok(())
    }

    fn run(&mut self) -> Result<Duration> {
        Ok(self.read())
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
