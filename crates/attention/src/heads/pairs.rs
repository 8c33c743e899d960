//! Blocks of numbers of 16 bits, on processors with an instruction that multiplies
//! them in pairs and adds both products to a sum of 32 bits: twice the work of a
//! fused multiply-add. It is `block`, `panel`, `tile` and `product` once more, for
//! that one instruction; softmax and mask are theirs.
//!
//! Two numbers that are multiplied together lie side by side: two components of a
//! query and of a key for the scores, two keys' weights and values for the output.

use super::block::{self, Block, QUERY_BLOCK, heaviest_first};
use super::instructions::Instructions;
use super::panel::Panel;
use super::parallel;
use super::problem::{KEY_BLOCK, Problem};
use super::softmax::{Running, add, weigh};
use crate::shape::zeroed;
use crate::{Element, Error};
use half::bf16;
use ndarray::{ArrayView1, ArrayView2, s};
use std::arch::x86_64::{
    __m512, __m512bh, __m512i, _mm512_cvtne2ps_pbh, _mm512_dpbf16_ps, _mm512_fmadd_ps,
    _mm512_permutexvar_epi16, _mm512_set1_epi32, _mm512_setzero_ps,
};
use std::iter::repeat;
use std::mem::transmute;

/// Two numbers, multiplied at once with two others.
type Pair = [bf16; 2];

/// How many queries are side by side: all of a block.
const WIDTH: usize = QUERY_BLOCK;

/// How many numbers of `f32`, or pairs, a vector holds.
const LANES: usize = 16;

/// A row of sums, one for each query.
type Sums = [__m512; WIDTH / LANES];

/// How many rows grow at once, as in `product`.
const ROWS: usize = 4;

/// Computes the output `(H, T_q, d_v)` of a problem; it must not be empty.
pub(crate) fn attend(
    processor: Processor,
    problem: &Problem<bf16>,
    output: &mut [bf16],
) -> Result<(), Error> {
    parallel::for_each(
        heaviest_first(problem, output, &mut [])?,
        problem.multiplications(),
        || Scratch::new(problem),
        |scratch, mut block| {
            if !processor.fill(problem, &mut block, scratch) {
                // Only what is computed number by number knows NaN and infinities.
                block.fill(processor.0, problem, &mut scratch.careful);
            }
        },
    )
}

/// A processor that multiplies pairs.
#[derive(Clone, Copy)]
pub(crate) struct Processor(Instructions);

impl Processor {
    /// A proof that the processor multiplies pairs, if these instructions do.
    pub(crate) fn with(instructions: Instructions) -> Option<Self> {
        instructions.multiply_pairs().then_some(Self(instructions))
    }

    /// Fills a block; false if something in it is NaN or infinite.
    #[allow(unsafe_code, reason = "the compiler cannot see that the processor was asked")]
    fn fill(self, problem: &Problem<bf16>, block: &mut Block<bf16>, scratch: &mut Scratch) -> bool {
        // SAFETY: a `Processor` is a proof that it has these instructions.
        unsafe { fill(problem, block, scratch) }
    }
}

/// Memory for one block at a time; a thread uses it again for its next block.
struct Scratch<'a> {
    /// The queries of the block, `(⌈d/2⌉, WIDTH)`.
    queries: Vec<Pair>,
    /// Its output, `(d_v, WIDTH)`.
    outputs: Vec<f32>,
    /// Its scores for one tile, `(KEY_BLOCK, WIDTH)`, and the weights made of them,
    /// `(KEY_BLOCK/2, WIDTH)`.
    scores: Vec<f32>,
    weights: Vec<Pair>,
    /// The keys of a tile, `(KEY_BLOCK, ⌈d/2⌉)`, and its values, `(KEY_BLOCK/2, d_v)`.
    keys: Vec<Pair>,
    values: Vec<Pair>,
    careful: block::Scratch<'a, bf16>,
}

impl<'a> Scratch<'a> {
    fn new(problem: &Problem<'a, bf16>) -> Result<Self, Error> {
        const BLOCK: &str = "a block of queries";
        const TILE: &str = "a tile of keys and values";
        let (pairs, d_v) = (problem.d().div_ceil(2), problem.d_v());
        Ok(Self {
            queries: zeroed(BLOCK, &[pairs, WIDTH])?,
            outputs: zeroed(BLOCK, &[d_v, WIDTH])?,
            scores: zeroed(TILE, &[KEY_BLOCK, WIDTH])?,
            weights: zeroed(TILE, &[KEY_BLOCK / 2, WIDTH])?,
            keys: zeroed(TILE, &[KEY_BLOCK, pairs])?,
            values: zeroed(TILE, &[KEY_BLOCK / 2, d_v])?,
            careful: block::Scratch::new(problem)?,
        })
    }
}

/// Computes the rows of a block. Returns whether all of them are settled.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")]
fn fill(problem: &Problem<bf16>, block: &mut Block<bf16>, scratch: &mut Scratch) -> bool {
    let queries = scratch.queries.as_chunks_mut().0;
    set_in_pairs(problem, block, queries);
    let output = scratch.outputs.as_chunks_mut().0;
    output.fill([0.0; WIDTH]);
    let (of_block, softmax) = (block.queries.clone(), Running::new());
    let mut panel = Panel { queries: of_block, columns: &*queries, softmax, output };
    let reach = problem.reach(&block.queries);
    for first in (0..reach).step_by(KEY_BLOCK) {
        let tile = s![block.head, first..reach.min(first + KEY_BLOCK), ..];
        let keys = keys_in_pairs(&problem.k.slice_move(tile), &mut scratch.keys);
        let values = values_in_pairs(&problem.v.slice_move(tile), &mut scratch.values);
        let scores = &mut scratch.scores.as_chunks_mut().0[..reach.min(first + KEY_BLOCK) - first];
        score(keys, panel.columns, scores);
        panel.close(problem, first, scores);
        let (fade, pivot) = panel.softmax.grow::<true>(scores, problem.factor());
        for scores in &mut *scores {
            weigh::<f32, true, WIDTH>(scores, &pivot, problem.factor());
        }
        let weights = weights_in_pairs(scores, scratch.weights.as_chunks_mut().0);
        add(&mut panel.softmax.total, &sum(weights));
        mix(weights, values, &fade, panel.output);
    }
    panel.finish(problem, block.rows)
}

/// Sets the queries of a block side by side, two components together.
fn set_in_pairs(problem: &Problem<bf16>, block: &Block<bf16>, columns: &mut [[Pair; WIDTH]]) {
    let direction = problem.direction();
    let queries = problem.q.slice(s![block.head, block.queries.clone(), ..]);
    for (index, query) in queries.outer_iter().enumerate() {
        for (component, &element) in query.iter().enumerate() {
            let element = bf16::narrow(element.widen() * direction);
            columns[component / 2][index][component % 2] = element;
        }
    }
}

/// The components of each key in pairs: where they lie so already, nothing is
/// copied. An odd one is paired with 0.
fn keys_in_pairs<'a>(keys: &ArrayView2<'a, bf16>, copy: &'a mut [Pair]) -> &'a [Pair] {
    let d = keys.ncols();
    if let (true, Some(in_order)) = (d.is_multiple_of(2), keys.to_slice()) {
        return in_order.as_chunks().0;
    }
    for (key, copy) in keys.outer_iter().zip(copy.chunks_exact_mut(d.div_ceil(2).max(1))) {
        for (component, &element) in key.iter().enumerate() {
            copy[component / 2][component % 2] = element;
        }
    }
    copy
}

/// The values of each two keys in pairs; an odd one is paired with zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn values_in_pairs<'a>(values: &ArrayView2<bf16>, copy: &'a mut [Pair]) -> &'a [Pair] {
    let d_v = values.ncols();
    for (index, copy) in copy.chunks_exact_mut(d_v).take(values.nrows().div_ceil(2)).enumerate() {
        let first = values.row(2 * index);
        let second = (2 * index + 1 < values.nrows()).then(|| values.row(2 * index + 1));
        match (first.to_slice(), second.as_ref().and_then(ArrayView1::to_slice)) {
            (Some(first), Some(second)) => interleave(first.iter(), second.iter(), copy),
            _ => match second {
                Some(second) => interleave(first.iter(), second.iter(), copy),
                None => interleave(first.iter(), repeat(&bf16::ZERO), copy),
            },
        }
    }
    copy
}

/// Puts two rows into one of pairs.
#[inline(always)]
fn interleave<'e>(
    first: impl Iterator<Item = &'e bf16>,
    second: impl Iterator<Item = &'e bf16>,
    pairs: &mut [Pair],
) {
    for ((pair, &first), &second) in pairs.iter_mut().zip(first).zip(second) {
        *pair = [first, second];
    }
}

/// Rounds the weights of each two keys `(keys, WIDTH)` and puts them together; an
/// odd one is paired with zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]
fn weights_in_pairs<'a>(
    weights: &[[f32; WIDTH]],
    pairs: &'a mut [[Pair; WIDTH]],
) -> &'a [[Pair; WIDTH]] {
    let (twos, odd) = weights.as_chunks::<2>();
    let pairs = &mut pairs[..weights.len().div_ceil(2)];
    for ([first, second], pairs) in twos.iter().zip(&mut *pairs) {
        round_to_pairs(first, second, pairs);
    }
    if let ([first], Some(pairs)) = (odd, pairs.last_mut()) {
        round_to_pairs(first, &[0.0; WIDTH], pairs);
    }
    pairs
}

/// Rounds two rows of weights into one of pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]
fn round_to_pairs(first: &[f32; WIDTH], second: &[f32; WIDTH], pairs: &mut [Pair; WIDTH]) {
    let (first, second) = (first.as_chunks::<LANES>().0, second.as_chunks::<LANES>().0);
    for ((first, second), pairs) in first.iter().zip(second).zip(pairs.as_chunks_mut().0) {
        // Rounded, all of the first come before all of the second.
        let one_after_other = _mm512_cvtne2ps_pbh(load_sums(*second), load_sums(*first));
        *pairs = halves_in_pairs(one_after_other);
    }
}

/// The scores `(keys, WIDTH)` of keys `(keys, ⌈d/2⌉)` and queries `(⌈d/2⌉, WIDTH)`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]
fn score(keys: &[Pair], queries: &[[Pair; WIDTH]], scores: &mut [[f32; WIDTH]]) {
    let (fours, rest) = scores.as_chunks_mut::<ROWS>();
    let first_of_rest = fours.len() * ROWS;
    for (index, four) in fours.iter_mut().enumerate() {
        *four = score_rows::<ROWS>(keys, index * ROWS, queries).map(store_sums);
    }
    for (index, row) in rest.iter_mut().enumerate() {
        *row = store_sums(score_rows::<1>(keys, first_of_rest + index, queries)[0]);
    }
}

/// The scores of neighbouring keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]
fn score_rows<const ROWS: usize>(
    keys: &[Pair],
    first: usize,
    queries: &[[Pair; WIDTH]],
) -> [Sums; ROWS] {
    let mut rows = [&keys[..0]; ROWS];
    for row in 0..ROWS {
        rows[row] = &keys[(first + row) * queries.len()..][..queries.len()];
    }
    let mut sums = [[_mm512_setzero_ps(); WIDTH / LANES]; ROWS];
    for (c, components) in queries.iter().enumerate() {
        let components = load_pairs(*components);
        for row in 0..ROWS {
            add_products(&mut sums[row], rows[row][c], &components);
        }
    }
    sums
}

/// The sum of the weights of each query, as they are after rounding: what the values
/// lose by it, the sum that they are divided by loses too.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn sum(weights: &[[Pair; WIDTH]]) -> [f32; WIDTH] {
    let mut sums = [_mm512_setzero_ps(); WIDTH / LANES];
    for weights in weights {
        add_products(&mut sums, [bf16::ONE; 2], &load_pairs(*weights));
    }
    store_sums(sums)
}

/// Lets an output `(d_v, WIDTH)` fade, and adds to it the values `(⌈keys/2⌉, d_v)`,
/// each times its weight, `(⌈keys/2⌉, WIDTH)`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]
fn mix(
    weights: &[[Pair; WIDTH]],
    values: &[Pair],
    fade: &[f32; WIDTH],
    output: &mut [[f32; WIDTH]],
) {
    let d_v = output.len();
    let (fours, rest) = output.as_chunks_mut::<ROWS>();
    let first_of_rest = fours.len() * ROWS;
    for (index, four) in fours.iter_mut().enumerate() {
        let sums = mix_rows::<ROWS>(weights, values, d_v, index * ROWS);
        for (row, sums) in four.iter_mut().zip(sums) {
            *row = fade_and_add(row, fade, sums);
        }
    }
    for (index, row) in rest.iter_mut().enumerate() {
        let [sums] = mix_rows::<1>(weights, values, d_v, first_of_rest + index);
        *row = fade_and_add(row, fade, sums);
    }
}

/// The weighted sums of neighbouring columns of the values.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]
fn mix_rows<const ROWS: usize>(
    weights: &[[Pair; WIDTH]],
    values: &[Pair],
    d_v: usize,
    first: usize,
) -> [Sums; ROWS] {
    let mut sums = [[_mm512_setzero_ps(); WIDTH / LANES]; ROWS];
    for (weights, values) in weights.iter().zip(values.chunks_exact(d_v)) {
        let weights = load_pairs(*weights);
        let components = &values[first..first + ROWS];
        for row in 0..ROWS {
            add_products(&mut sums[row], components[row], &weights);
        }
    }
    sums
}

/// `sums += factors[0]·row[0] + factors[1]·row[1]`, for each query.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn add_products(sums: &mut Sums, factors: Pair, row: &[__m512bh; WIDTH / LANES]) {
    let factors = repeated(factors);
    for vector in 0..WIDTH / LANES {
        sums[vector] = _mm512_dpbf16_ps(sums[vector], factors, row[vector]);
    }
}

/// `row·fade + sums`, for each query.
#[inline]
#[target_feature(enable = "avx512f")]
fn fade_and_add(row: &[f32; WIDTH], fade: &[f32; WIDTH], mut sums: Sums) -> [f32; WIDTH] {
    let (row, fade) = (row.as_chunks().0, fade.as_chunks().0);
    for vector in 0..WIDTH / LANES {
        let (row, fade) = (load_sums(row[vector]), load_sums(fade[vector]));
        sums[vector] = _mm512_fmadd_ps(row, fade, sums[vector]);
    }
    store_sums(sums)
}

/// The same pair in every place of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn repeated(pair: Pair) -> __m512bh {
    let [low, high] = pair.map(|number| u32::from(number.to_bits()));
    of_pairs(_mm512_set1_epi32((low | high << 16).cast_signed()))
}

/// Puts the first numbers of a vector beside those of its second half.
#[inline]
#[target_feature(enable = "avx512bw")]
fn halves_in_pairs(numbers: __m512bh) -> [Pair; LANES] {
    const PLACES: [[u16; 2]; LANES] = {
        let mut places = [[0; 2]; LANES];
        let mut place = 0;
        while place < LANES {
            places[place] = [place as u16, (place + LANES) as u16];
            place += 1;
        }
        places
    };
    to_pairs(_mm512_permutexvar_epi16(of_places(PLACES), of_numbers(numbers)))
}

/// Vectors, and the arrays that they are in memory.
macro_rules! the_same_bits {
    ($($(#[$doc:meta])* $name:ident: $from:ty => $to:ty;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[allow(unsafe_code, reason = "vectors are made of memory no other way")]
        fn $name(bits: $from) -> $to {
            // SAFETY: both are plain numbers, of the same length (which the compiler
            // checks), so that any bits are a value.
            unsafe { transmute::<$from, $to>(bits) }
        }
    )*};
}

the_same_bits! {
    load_sums: [f32; LANES] => __m512;
    store_sums: Sums => [f32; WIDTH];
    load_pairs: [Pair; WIDTH] => [__m512bh; WIDTH / LANES];
    to_pairs: __m512i => [Pair; LANES];
    of_pairs: __m512i => __m512bh;
    of_places: [[u16; 2]; LANES] => __m512i;
    of_numbers: __m512bh => __m512i;
}
