//! What the backward pass must know of each row before it begins: enough to make
//! any of its weights again, and the average that softmax backwards subtracts.

use super::{Loss, WAIT};
use crate::heads::instructions::{Instructions, Job};
use crate::heads::panel::Panel;
use crate::heads::parallel;
use crate::heads::problem::{KEY_BLOCK, Problem};
use crate::heads::softmax::Summary;
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
    /// From the summaries of every row's softmax, `(H, T_q)`.
    pub(super) fn new(loss: &Loss<F>, summaries: &[Summary<F>]) -> Result<Self, Error> {
        let attention = &loss.attention;
        let (heads, queries) = (attention.heads(), attention.queries());
        let unknown = Row { largest: F::zero(), share: F::zero(), average: F::zero() };
        let rows = std::iter::repeat_n(unknown, heads.saturating_mul(queries));
        let mut rows = collected("what is known of each row", &[heads, queries], rows)?;
        let jobs = rows.chunks_mut(QUERY_BLOCK).zip(summaries.chunks(QUERY_BLOCK)).enumerate();
        parallel::for_each(
            collected("the list of blocks", &[(heads * queries).div_ceil(QUERY_BLOCK)], jobs)?,
            loss.output.len().saturating_mul(WAIT),
            || Ok(()),
            |(), (index, (rows, summaries))| {
                for (place, (row, summary)) in rows.iter_mut().zip(summaries).enumerate() {
                    let row_of_all = index * QUERY_BLOCK + place;
                    *row = known(loss, row_of_all / queries, row_of_all % queries, summary);
                }
            },
        )?;
        Ok(Self(rows))
    }

    /// The rows of one head.
    pub(super) fn of_head(&self, head: usize, queries: usize) -> &[Row<F>] {
        &self.0[head * queries..(head + 1) * queries]
    }
}

/// What is known of a row, from the summary of its softmax.
fn known<F: Real>(loss: &Loss<F>, head: usize, query: usize, summary: &Summary<F>) -> Row<F> {
    let &Summary { largest, total } = summary;
    if total.is_zero() {
        return Row { largest: F::zero(), share: F::zero(), average: F::zero() };
    }
    let finite = (largest * loss.attention.scale).is_finite();
    let average = if finite { average(loss, head, query) } else { F::nan() };
    Row { largest, share: total.recip(), average }
}

/// The sum of `dO ∘ O` over a row.
fn average<F: Real>(loss: &Loss<F>, head: usize, query: usize) -> F {
    let output = loss.output.slice(s![head, query, ..]);
    let d_output = loss.d_output.slice(s![head, query, ..]);
    output.iter().zip(d_output).fold(F::zero(), |sum, (&o, &d_o)| sum + o * d_o)
}

/// Goes through the keys once, for the softmax of every row, `(H, T_q)`.
pub(super) fn summarise<F: Real>(
    instructions: Instructions,
    attention: &Problem<F>,
) -> Result<Vec<Summary<F>>, Error> {
    let (heads, queries) = (attention.heads(), attention.queries());
    let unknown = Summary { largest: F::zero(), total: F::zero() };
    let summaries = std::iter::repeat_n(unknown, heads.saturating_mul(queries));
    let mut summaries = collected("what is known of each row", &[heads, queries], summaries)?;
    let jobs = summaries.chunks_exact_mut(queries).enumerate().flat_map(|(head, summaries)| {
        let firsts = (0..queries).step_by(QUERY_BLOCK);
        firsts.zip(summaries.chunks_mut(QUERY_BLOCK)).map(move |(first, summaries)| Block {
            head,
            queries: first..first + summaries.len(),
            summaries,
        })
    });
    let jobs = collected("the list of blocks", &[heads, queries.div_ceil(QUERY_BLOCK)], jobs)?;
    parallel::for_each(
        jobs,
        attention.multiplications() / 2,
        || Scratch::new(attention),
        |scratch, block| instructions.run(Look { attention, block, scratch }),
    )?;
    Ok(summaries)
}

/// Neighbouring queries of one head, and what is to be found out of them.
struct Block<'a, F> {
    head: usize,
    queries: Range<usize>,
    summaries: &'a mut [Summary<F>],
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
struct Look<'j, 'p, 's, F: Real> {
    attention: &'j Problem<'p, F>,
    block: Block<'s, F>,
    scratch: &'j mut Scratch<'p, F>,
}

impl<F: Real> Job<F> for Look<'_, '_, '_, F> {
    fn queries(&self) -> usize {
        self.block.queries.len()
    }

    #[inline(always)]
    fn run<const FUSED: bool, const WIDTH: usize>(self) {
        let Self { attention, block: Block { head, queries, summaries }, scratch } = self;
        let scores = scratch.scores.as_chunks_mut().0;
        for (first, summaries) in queries.step_by(WIDTH).zip(summaries.chunks_mut(WIDTH)) {
            let queries = first..first + summaries.len();
            let columns = &mut scratch.queries.as_chunks_mut().0[..attention.d()];
            let reach = attention.reach(&queries);
            let mut panel = Panel::<F, WIDTH>::new(attention, head, queries, columns, &mut []);
            for first_key in (0..reach).step_by(KEY_BLOCK) {
                let tile = scratch.tiles.tile(head, first_key, reach);
                let scores = panel.score::<F, FUSED>(attention, &tile, scores);
                panel.close(attention, first_key, scores);
                panel.softmax.absorb::<FUSED>(scores, attention.factor());
            }
            panel.softmax.summarise(summaries);
        }
    }
}
