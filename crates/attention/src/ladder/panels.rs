//! Versions 4 and 5: the kernel's own two products, on one thread; first with
//! the exponential of the standard library, then with the kernel's.

use super::begin;
use crate::heads::exponential::{Exponential, exp2};
use crate::heads::instructions::{Instructions, Job};
use crate::heads::product::{mix, score};
use crate::{Error, Mask, Options};
use ndarray::{Array2, ArrayRef2, CowArray, Ix2, s};

/// How many keys a tile holds.
const KEYS: usize = 128;

/// Version 4: registers. Each lane of a vector is a query. Four rows of sums
/// grow at once and stay in registers, so that nearly every instruction is a
/// multiplication and addition; and the widest vectors that the processor has
/// are used, which it is asked for when the program runs.
///
/// # Shapes
///
/// `q (T_q, d)`, `k (T_k, d)`, `v (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// Those of [`crate::recipe::attend`].
pub fn registers(
    q: &ArrayRef2<f32>,
    k: &ArrayRef2<f32>,
    v: &ArrayRef2<f32>,
    options: Options<f32>,
) -> Result<Array2<f32>, Error> {
    attend(q, k, v, options, false)
}

/// Version 5: exponentials. The exponential is computed for a whole vector at
/// once, by a polynomial; it had become the slowest part.
///
/// # Shapes
///
/// `q (T_q, d)`, `k (T_k, d)`, `v (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// Those of [`crate::recipe::attend`].
pub fn exponentials(
    q: &ArrayRef2<f32>,
    k: &ArrayRef2<f32>,
    v: &ArrayRef2<f32>,
    options: Options<f32>,
) -> Result<Array2<f32>, Error> {
    attend(q, k, v, options, true)
}

fn attend(
    q: &ArrayRef2<f32>,
    k: &ArrayRef2<f32>,
    v: &ArrayRef2<f32>,
    options: Options<f32>,
    vector_exponential: bool,
) -> Result<Array2<f32>, Error> {
    let (scale, mut output) = begin(q, k, v, options)?;
    let [q, k, v] = [q, k, v].map(|array| array.as_standard_layout());
    let mask = options.mask;
    if !output.is_empty() {
        let output = &mut output;
        Instructions::best().run(Head { q, k, v, mask, scale, vector_exponential, output });
    }
    Ok(output)
}

/// One head to be computed.
struct Head<'a> {
    q: CowArray<'a, f32, Ix2>,
    k: CowArray<'a, f32, Ix2>,
    v: CowArray<'a, f32, Ix2>,
    mask: Mask,
    scale: f32,
    vector_exponential: bool,
    output: &'a mut Array2<f32>,
}

impl Job<f32> for Head<'_> {
    fn queries(&self) -> usize {
        self.q.nrows()
    }

    #[inline(always)]
    fn run<const FUSED: bool, const WIDTH: usize>(mut self) {
        for first in (0..self.q.nrows()).step_by(WIDTH) {
            if self.vector_exponential {
                let exponential = |x| exp2::<f32, FUSED>(x * f32::LOG2_E);
                self.panel::<FUSED, WIDTH>(first, exponential);
            } else {
                self.panel::<FUSED, WIDTH>(first, f32::exp);
            }
        }
    }
}

impl Head<'_> {
    /// Computes the output of WIDTH neighbouring queries.
    #[inline(always)]
    fn panel<const FUSED: bool, const WIDTH: usize>(
        &mut self,
        first_query: usize,
        exponential: impl Fn(f32) -> f32,
    ) {
        let queries = first_query..self.q.nrows().min(first_query + WIDTH);
        let mut columns = vec![[0.0; WIDTH]; self.q.ncols()];
        for (lane, query) in queries.clone().enumerate() {
            for (column, &component) in columns.iter_mut().zip(self.q.row(query)) {
                column[lane] = component;
            }
        }
        let mut open = [0; WIDTH];
        for (open, query) in open.iter_mut().zip(queries.clone()) {
            *open = self.mask.open_keys(query, self.q.nrows(), self.k.nrows());
        }
        let reach = open[queries.len() - 1];
        let (mut largest, mut total) = ([f32::NEG_INFINITY; WIDTH], [0.0; WIDTH]);
        let mut sums = vec![[0.0; WIDTH]; self.v.ncols()];
        let mut scores = [[0.0; WIDTH]; KEYS];
        for first_key in (0..reach).step_by(KEYS) {
            let keys = first_key..reach.min(first_key + KEYS);
            let scores = &mut scores[..keys.len()];
            let k = self.k.slice(s![keys.clone(), ..]);
            score::<f32, FUSED, WIDTH>(k.to_slice().unwrap_or_default(), &columns, scores);
            self.scale_and_close(first_key, &open, scores);
            let fade = absorb(scores, &mut largest, &mut total, &exponential);
            let v = self.v.slice(s![keys, ..]);
            let v = v.to_slice().unwrap_or_default();
            mix::<f32, FUSED, WIDTH, false>(scores, v, &fade, &mut sums);
        }
        for (lane, query) in queries.enumerate() {
            if total[lane] > 0.0 {
                for (element, sums) in self.output.row_mut(query).iter_mut().zip(&sums) {
                    *element = sums[lane] / total[lane];
                }
            }
        }
    }

    /// Scales the scores of a tile, and sets those of closed keys to −∞.
    #[inline(always)]
    fn scale_and_close<const WIDTH: usize>(
        &self,
        first_key: usize,
        open: &[usize; WIDTH],
        scores: &mut [[f32; WIDTH]],
    ) {
        let diagonal = open[0] < first_key + scores.len();
        for (key, scores) in (first_key..).zip(scores) {
            for lane in 0..WIDTH {
                scores[lane] *= self.scale;
                if diagonal && key >= open[lane] {
                    scores[lane] = f32::NEG_INFINITY;
                }
            }
        }
    }
}

/// Turns new scores into weights, keeps the largest score and the sum of the
/// weights of each query up to date, and returns by how much earlier weights
/// have to fade.
#[inline(always)]
fn absorb<const WIDTH: usize>(
    scores: &mut [[f32; WIDTH]],
    largest: &mut [f32; WIDTH],
    total: &mut [f32; WIDTH],
    exponential: &impl Fn(f32) -> f32,
) -> [f32; WIDTH] {
    let mut fade = *largest;
    for scores in &*scores {
        for lane in 0..WIDTH {
            largest[lane] = if scores[lane] > largest[lane] { scores[lane] } else { largest[lane] };
        }
    }
    // While every score is −∞, any finite stand-in gives each the weight 0.
    let mut pivot = [0.0; WIDTH];
    for lane in 0..WIDTH {
        pivot[lane] = if largest[lane] == f32::NEG_INFINITY { 0.0 } else { largest[lane] };
        fade[lane] = exponential(fade[lane] - pivot[lane]);
        total[lane] *= fade[lane];
    }
    for scores in scores {
        for lane in 0..WIDTH {
            scores[lane] = exponential(scores[lane] - pivot[lane]);
            total[lane] += scores[lane];
        }
    }
    fade
}
