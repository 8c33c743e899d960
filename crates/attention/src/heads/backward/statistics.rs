//! What the backward pass must know of each row before it begins: enough to make
//! any of its weights again, and the average that softmax backwards subtracts.

use super::Loss;
use crate::heads::instructions::{Instructions, Job};
use crate::heads::panel::Panel;
use crate::heads::parallel;
use crate::heads::problem::{KEY_BLOCK, Problem};
use crate::heads::tile::Tiles;
use crate::shape::{collected, zeroed};
use crate::{Error, Real};
use ndarray::s;
use std::ops::Range;

/// How many queries a job is for: a multiple of every panel's width.
const QUERY_BLOCK: usize = 64;

/// What is known of a row.
#[derive(Clone, Copy)]
pub(super) struct Row<F> {
    /// Its largest score, or 0 if no key is open to it.
    pub(super) largest: F,
    /// One over the sum of its weights relative to that score, or 0.
    pub(super) share: F,
    /// `D`, the sum of `dO ∘ O`: the average of `dA` by the weights of the row.
    /// NaN if the largest score is not finite, so that the head is looked at again.
    pub(super) average: F,
}

/// What is known of every row, `(H, T_q)`.
pub(super) struct Statistics<F>(Vec<Row<F>>);

impl<F: Real> Statistics<F> {
    /// Goes through the keys once, for every row.
    pub(super) fn new(instructions: Instructions, loss: &Loss<F>) -> Result<Self, Error> {
        let attention = &loss.attention;
        let (heads, queries) = (attention.heads(), attention.queries());
        let unknown = Row { largest: F::zero(), share: F::zero(), average: F::zero() };
        let rows = std::iter::repeat_n(unknown, heads.saturating_mul(queries));
        let mut rows = collected("what is known of each row", &[heads, queries], rows)?;
        let jobs = rows.chunks_exact_mut(queries).enumerate().flat_map(|(head, rows)| {
            let firsts = (0..queries).step_by(QUERY_BLOCK);
            firsts.zip(rows.chunks_mut(QUERY_BLOCK)).map(move |(first, rows)| Block {
                head,
                queries: first..first + rows.len(),
                rows,
            })
        });
        let jobs = collected("the list of blocks", &[heads, queries.div_ceil(QUERY_BLOCK)], jobs)?;
        parallel::for_each(
            jobs,
            attention.multiplications() / 2,
            || Scratch::new(attention),
            |scratch, block| instructions.run(Look { loss, block, scratch }),
        )?;
        Ok(Self(rows))
    }

    /// The rows of one head.
    pub(super) fn of_head(&self, head: usize, queries: usize) -> &[Row<F>] {
        &self.0[head * queries..(head + 1) * queries]
    }
}

/// Neighbouring queries of one head, and what is to be found out of them.
struct Block<'a, F> {
    head: usize,
    queries: Range<usize>,
    rows: &'a mut [Row<F>],
}

/// Memory for one block at a time.
struct Scratch<'a, F: Real> {
    /// A panel of queries, `(d, WIDTH)`.
    queries: Vec<F>,
    /// Its scores for one tile, `(KEY_BLOCK, WIDTH)`.
    scores: Vec<F>,
    tiles: Tiles<'a, F>,
}

impl<'a, F: Real> Scratch<'a, F> {
    fn new(attention: &Problem<'a, F>) -> Result<Self, Error> {
        Ok(Self {
            queries: zeroed("a block of queries", &[attention.d(), QUERY_BLOCK])?,
            scores: zeroed("a tile of scores", &[KEY_BLOCK, QUERY_BLOCK])?,
            tiles: Tiles::new(attention)?,
        })
    }
}

/// A block to be looked at, with all that it takes.
struct Look<'j, 'p, 'r, F: Real> {
    loss: &'j Loss<'p, F>,
    block: Block<'r, F>,
    scratch: &'j mut Scratch<'p, F>,
}

impl<F: Real> Job<F> for Look<'_, '_, '_, F> {
    fn queries(&self) -> usize {
        self.block.queries.len()
    }

    #[inline(always)]
    fn run<const FUSED: bool, const WIDTH: usize>(self) {
        let Self { loss, block: Block { head, queries, rows }, scratch } = self;
        let attention = &loss.attention;
        let scores = scratch.scores.as_chunks_mut().0;
        for (first, rows) in queries.clone().step_by(WIDTH).zip(rows.chunks_mut(WIDTH)) {
            let of_panel = first..first + rows.len();
            let columns = &mut scratch.queries.as_chunks_mut().0[..attention.d()];
            let mut panel =
                Panel::<F, WIDTH>::new(attention, head, of_panel.clone(), columns, &mut []);
            let reach = attention.reach(&of_panel);
            for first_key in (0..reach).step_by(KEY_BLOCK) {
                let tile = scratch.tiles.tile(head, first_key, reach);
                let scores = panel.score::<F, FUSED>(attention, &tile, scores);
                panel.close(attention, first_key, scores);
                panel.softmax.absorb::<FUSED>(scores, attention.factor());
            }
            for (index, (row, query)) in rows.iter_mut().zip(of_panel).enumerate() {
                let (largest, total) = (panel.softmax.largest[index], panel.softmax.total[index]);
                *row = known(loss, head, query, largest, total);
            }
        }
    }
}

/// What is known of a row with this largest score and this sum of weights.
#[inline(always)]
fn known<F: Real>(loss: &Loss<F>, head: usize, query: usize, largest: F, total: F) -> Row<F> {
    if total.is_zero() {
        return Row { largest: F::zero(), share: F::zero(), average: F::zero() };
    }
    let output = loss.output.slice(s![head, query, ..]);
    let d_output = loss.d_output.slice(s![head, query, ..]);
    let finite = (largest * loss.attention.scale).is_finite();
    let average = output.iter().zip(d_output).fold(F::zero(), |sum, (&o, &d_o)| sum + o * d_o);
    Row { largest, share: total.recip(), average: if finite { average } else { F::nan() } }
}
