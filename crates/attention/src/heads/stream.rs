//! A few queries against many keys, as when text is generated one token after
//! another. Each key and value is read once for a handful of multiplications:
//! what counts is that they come from memory without a pause.

use super::block::{self, Block};
use super::exponential::{exp2, multiply_add};
use super::instructions::{Instructions, Job};
use super::parallel;
use super::problem::{KEY_BLOCK, Problem};
use super::softmax::SUM_BLOCK;
use super::tile::{Tile, Tiles};
use crate::shape::{collected, zeroed};
use crate::{Error, Real};
use ndarray::s;
use std::ops::Range;

/// How many queries are a few. More are better served side by side.
pub(super) const FEW: usize = 4;

/// How many sums a dot product ends with, side by side.
const LANES: usize = 16;

/// How far ahead of a row memory is asked for, in bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const PREFETCH_DISTANCE: usize = 8192;

/// How many keys one job takes. It is fixed, so that the sums come out the same
/// on any number of threads.
const KEY_RANGE: usize = 1024;

/// Computes the output `(H, T_q, d_v)` of a few queries: first what each range
/// of keys contributes, then the sum of the ranges, in their order.
pub(super) fn attend<F: Real>(
    instructions: Instructions,
    problem: &Problem<F>,
    output: &mut [F],
) -> Result<(), Error> {
    let (heads, queries, keys, d_v) =
        (problem.heads(), problem.queries(), problem.keys(), problem.d_v());
    let ranges = keys.div_ceil(KEY_RANGE);
    let mut outputs = zeroed("the output of each range", &[heads, ranges, queries, d_v])?;
    let sums = outputs.chunks_exact_mut(d_v).map(Sums::new);
    let mut sums = collected("the sums of each range", &[heads, ranges, queries], sums)?;
    let parts = sums.chunks_exact_mut(queries).enumerate().map(|(index, sums)| {
        let first = index % ranges * KEY_RANGE;
        Part { head: index / ranges, keys: first..keys.min(first + KEY_RANGE), sums }
    });
    parallel::for_each(
        collected("the list of ranges", &[heads, ranges], parts)?,
        problem.multiplications(),
        || Scratch::new(problem),
        |scratch, part| instructions.run(Stream { problem, part, scratch }),
    )?;
    for (index, row) in output.chunks_exact_mut(d_v).enumerate() {
        let (head, query) = (index / queries, index % queries);
        let ranges =
            sums.iter().skip(head * ranges * queries + query).step_by(queries).take(ranges);
        let sums = ranges.fold(Sums::new(row), |whole, part| whole.merge(part, problem.factor()));
        if !sums.divide(problem) {
            let queries = query..query + 1;
            let block = Block { head, queries, rows: row, summaries: &mut [] };
            block::attend_block(instructions, problem, block)?;
        }
    }
    Ok(())
}

/// A few queries and a range of the keys of one head.
struct Part<'s, 'o, F> {
    head: usize,
    keys: Range<usize>,
    /// One for each query.
    sums: &'s mut [Sums<'o, F>],
}

/// Memory for one part at a time; a thread uses it again for its next part.
struct Scratch<'a, F> {
    /// The queries, one after another: `(T_q, d)`.
    queries: Vec<F>,
    tiles: Tiles<'a, F>,
}

impl<'a, F: Real> Scratch<'a, F> {
    fn new(problem: &Problem<'a, F>) -> Result<Self, Error> {
        let queries = zeroed("a few queries", &[problem.queries(), problem.d()])?;
        Ok(Self { queries, tiles: Tiles::new(problem)? })
    }
}

/// A part to be computed, with all that it takes.
struct Stream<'j, 'p, 's, 'o, F> {
    problem: &'j Problem<'p, F>,
    part: Part<'s, 'o, F>,
    scratch: &'j mut Scratch<'p, F>,
}

impl<F: Real> Job<F> for Stream<'_, '_, '_, '_, F> {
    fn queries(&self) -> usize {
        usize::MAX
    }

    #[inline(always)]
    fn run<const FUSED: bool, const WIDTH: usize>(self) {
        let Self { problem, part: Part { head, keys, sums }, scratch: Scratch { queries, tiles } } =
            self;
        let (d, direction) = (problem.d(), problem.direction());
        for (to, &from) in queries.iter_mut().zip(problem.q.slice(s![head, .., ..])) {
            *to = from * direction;
        }
        for first in keys.clone().step_by(KEY_BLOCK) {
            let tile = tiles.tile(head, first, keys.end);
            for (query, sums) in sums.iter_mut().enumerate() {
                let open = problem.open_keys(query).clamp(first, tile.keys.end) - first;
                let q = &queries[query * d..][..d];
                sums.absorb::<FUSED>(q, &tile, open, problem.factor());
            }
        }
    }
}

/// The softmax of one query, and the sum of the values, each times its weight,
/// as far as keys were seen.
struct Sums<'a, F> {
    largest: F,
    total: F,
    output: &'a mut [F],
}

impl<'a, F: Real> Sums<'a, F> {
    /// No key seen; the output must be zeros.
    fn new(output: &'a mut [F]) -> Self {
        Self { largest: F::neg_infinity(), total: F::zero(), output }
    }

    /// Takes in the first `open` keys of a tile.
    #[inline(always)]
    fn absorb<const FUSED: bool>(&mut self, query: &[F], tile: &Tile<F>, open: usize, factor: F) {
        let mut scores = [F::zero(); KEY_BLOCK];
        let scores = &mut scores[..open];
        score::<F, FUSED>(query, tile.k, scores);
        let mut largest = self.largest;
        for &score in &*scores {
            largest = if score > largest { score } else { largest };
        }
        let fade = weight::<F, FUSED>(self.largest, largest, factor);
        self.largest = largest;
        self.total *= fade;
        // Two loops: one that also adds up could not take many scores at once.
        for score in &mut *scores {
            *score = weight::<F, FUSED>(*score, largest, factor);
        }
        for weights in scores.chunks(SUM_BLOCK) {
            self.total += weights.iter().fold(F::zero(), |sum, &weight| sum + weight);
        }
        for sum in &mut *self.output {
            *sum *= fade;
        }
        for (&weight, value) in scores.iter().zip(tile.v.chunks_exact(self.output.len())) {
            prefetch(value);
            for (sum, &component) in self.output.iter_mut().zip(value) {
                *sum = multiply_add::<F, FUSED>(weight, component, *sum);
            }
        }
    }

    /// Adds what other keys contribute; of the two, the one whose largest score
    /// is smaller has to fade.
    fn merge(mut self, other: &Sums<F>, factor: F) -> Self {
        let largest = if other.largest > self.largest { other.largest } else { self.largest };
        let fade = weight::<F, false>(self.largest, largest, factor);
        let fade_of_other = weight::<F, false>(other.largest, largest, factor);
        self.largest = largest;
        self.total = self.total * fade + other.total * fade_of_other;
        for (sum, &other) in self.output.iter_mut().zip(&*other.output) {
            *sum = *sum * fade + other * fade_of_other;
        }
        self
    }

    /// Turns the sums into averages. Returns whether they are settled.
    fn divide(self, problem: &Problem<F>) -> bool {
        let divisor = if self.total.is_zero() { F::one() } else { self.total };
        for sum in &mut *self.output {
            *sum /= divisor;
        }
        problem.is_settled(self.largest, self.total, self.output)
    }
}

/// exp2(factor·(score − largest)). While every score is −∞, any finite stand-in
/// for the largest gives each the weight 0.
#[inline(always)]
fn weight<F: Real, const FUSED: bool>(score: F, largest: F, factor: F) -> F {
    let pivot = if largest == F::neg_infinity() { F::zero() } else { largest };
    exp2::<F, FUSED>((score - pivot) * factor)
}

/// The scores of the first keys: their dot products with a query.
#[inline(always)]
fn score<F: Real, const FUSED: bool>(query: &[F], keys: &[F], scores: &mut [F]) {
    let d = query.len();
    let mut lanes = [[F::zero(); LANES]; KEY_BLOCK];
    for (key, lanes) in lanes[..scores.len()].iter_mut().enumerate() {
        multiply::<F, FUSED>(query, &keys[key * d..][..d], lanes);
    }
    for (score, lanes) in scores.iter_mut().zip(&lanes) {
        *score = sum(lanes);
    }
}

/// The products of the components of a query and a key, added up in lanes.
#[inline(always)]
fn multiply<F: Real, const FUSED: bool>(query: &[F], key: &[F], lanes: &mut [F; LANES]) {
    prefetch(key);
    let (query, rest_of_query) = query.as_chunks::<LANES>();
    let (key, rest_of_key) = key.as_chunks::<LANES>();
    let mut sums = [F::zero(); LANES];
    for (query, key) in query.iter().zip(key) {
        for lane in 0..LANES {
            sums[lane] = multiply_add::<F, FUSED>(query[lane], key[lane], sums[lane]);
        }
    }
    *lanes = sums;
    for (lane, (&query, &key)) in rest_of_query.iter().zip(rest_of_key).enumerate() {
        lanes[lane] = multiply_add::<F, FUSED>(query, key, lanes[lane]);
    }
}

/// The sum of all lanes, added in pairs.
#[inline(always)]
fn sum<F: Real>(lanes: &[F; LANES]) -> F {
    let mut eight = [F::zero(); 8];
    for lane in 0..8 {
        eight[lane] = lanes[lane] + lanes[lane + 8];
    }
    let mut four = [F::zero(); 4];
    for lane in 0..4 {
        four[lane] = eight[lane] + eight[lane + 4];
    }
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Asks for what lies some rows behind a row, to be there when its turn comes.
#[inline(always)]
#[allow(unsafe_code, reason = "an address to prefetch is a raw pointer")]
fn prefetch<F>(row: &[F]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in (0..size_of_val(row)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = row.as_ptr().cast::<i8>().wrapping_add(line + PREFETCH_DISTANCE);
        // SAFETY: a prefetch reads nothing that the program could see, and may
        // be given any address, even one where nothing is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = row;
}
