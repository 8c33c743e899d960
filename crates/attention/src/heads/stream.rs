//! A few queries against many keys, as when text is generated one token after
//! another. Each key and value is read once for a handful of multiplications:
//! what counts is that they come from memory without a pause. So they are read in
//! the order in which they lie there, which processors foresee; to take several rows
//! side by side, as `product` does, would lose more than it gains.

use super::block::{self, Block};
use super::exponential::{exp2, multiply_add};
use super::instructions::{Instructions, Job};
use super::parallel;
use super::problem::{KEY_BLOCK, Problem};
use super::softmax::SUM_BLOCK;
use super::tile::{Tile, Tiles};
use crate::shape::{collected, zeroed};
use crate::{Element, Error, Real};
use ndarray::s;
use std::ops::Range;

/// How many queries are a few. More are better served side by side.
pub(super) const FEW: usize = 4;

/// How many sums a dot product ends with, side by side.
const LANES: usize = 16;

/// How many keys one job takes. It is fixed, so that the sums come out the same
/// on any number of threads.
const KEY_RANGE: usize = 1024;

/// Computes the output `(H, T_q, d_v)` of a few queries: first what each range
/// of keys contributes, then the sum of the ranges, in their order.
pub(super) fn attend<F: Real, E: Element<Real = F>>(
    instructions: Instructions,
    problem: &Problem<E>,
    output: &mut [E],
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
    let mut sums_of_row = zeroed("the sums of a row", &[d_v])?;
    for (index, row) in output.chunks_exact_mut(d_v).enumerate() {
        let (head, query) = (index / queries, index % queries);
        let ranges =
            sums.iter().skip(head * ranges * queries + query).step_by(queries).take(ranges);
        sums_of_row.fill(F::zero());
        let whole = Sums::new(&mut sums_of_row);
        let whole = ranges.fold(whole, |whole, part| whole.merge(part, problem.factor()));
        if !whole.divide(problem, row) {
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
struct Scratch<'a, E: Element> {
    /// The queries, one after another: `(T_q, d)`.
    queries: Vec<E::Real>,
    tiles: Tiles<'a, E, E>,
}

impl<'a, E: Element> Scratch<'a, E> {
    fn new(problem: &Problem<'a, E>) -> Result<Self, Error> {
        let queries = zeroed("a few queries", &[problem.queries(), problem.d()])?;
        Ok(Self { queries, tiles: Tiles::new(problem)? })
    }
}

/// A part to be computed, with all that it takes.
struct Stream<'j, 'p, 's, 'o, E: Element> {
    problem: &'j Problem<'p, E>,
    part: Part<'s, 'o, E::Real>,
    scratch: &'j mut Scratch<'p, E>,
}

impl<E: Element> Job<E::Real> for Stream<'_, '_, '_, '_, E> {
    fn queries(&self) -> usize {
        usize::MAX
    }

    #[inline(always)]
    fn run<const FUSED: bool, const WIDTH: usize>(self) {
        let Self { problem, part: Part { head, keys, sums }, scratch: Scratch { queries, tiles } } =
            self;
        let (d, direction) = (problem.d(), problem.direction());
        for (to, &from) in queries.iter_mut().zip(problem.q.slice(s![head, .., ..])) {
            *to = from.widen() * direction;
        }
        for first in keys.clone().step_by(KEY_BLOCK) {
            let tile = tiles.tile(head, first, keys.end);
            for (query, sums) in sums.iter_mut().enumerate() {
                let open = problem.open_keys(query).clamp(first, tile.keys.end) - first;
                let q = &queries[query * d..][..d];
                sums.absorb::<E, FUSED>(q, &tile, open, problem.factor());
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
    fn absorb<E: Element<Real = F>, const FUSED: bool>(
        &mut self,
        query: &[F],
        tile: &Tile<E>,
        open: usize,
        factor: F,
    ) {
        let mut scores = [F::zero(); KEY_BLOCK];
        let scores = &mut scores[..open];
        score::<F, E, FUSED>(query, tile.k, scores);
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
            for (sum, &component) in self.output.iter_mut().zip(value) {
                *sum = multiply_add::<F, FUSED>(weight, component.widen(), *sum);
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

    /// Writes the averages into a row. Returns whether they are settled.
    fn divide<E: Element<Real = F>>(&self, problem: &Problem<E>, row: &mut [E]) -> bool {
        let divisor = if self.total.is_zero() { F::one() } else { self.total };
        for (element, &sum) in row.iter_mut().zip(&*self.output) {
            *element = E::narrow(sum / divisor);
        }
        problem.is_settled(self.largest, self.total, row)
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
fn score<F: Real, E: Element<Real = F>, const FUSED: bool>(
    query: &[F],
    keys: &[E],
    scores: &mut [F],
) {
    let d = query.len();
    for (key, score) in scores.iter_mut().enumerate() {
        *score = sum(&multiply::<F, E, FUSED>(query, &keys[key * d..][..d]));
    }
}

/// The products of the components of a query and a key, added up in lanes.
#[inline(always)]
fn multiply<F: Real, E: Element<Real = F>, const FUSED: bool>(
    query: &[F],
    key: &[E],
) -> [F; LANES] {
    let (query, rest_of_query) = query.as_chunks::<LANES>();
    let (key, rest_of_key) = key.as_chunks::<LANES>();
    let mut sums = [F::zero(); LANES];
    for (query, key) in query.iter().zip(key) {
        for lane in 0..LANES {
            sums[lane] = multiply_add::<F, FUSED>(query[lane], key[lane].widen(), sums[lane]);
        }
    }
    // A copy, so that the sums above can stay in a register.
    let mut lanes = sums;
    for (lane, (&query, &key)) in rest_of_query.iter().zip(rest_of_key).enumerate() {
        lanes[lane] = multiply_add::<F, FUSED>(query, key.widen(), lanes[lane]);
    }
    lanes
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
