//! One block of queries against all of its keys, a tile at a time, with an
//! online softmax. It knows nothing of threads, nor of other blocks.

use super::panel::Panel;
use super::problem::{Block, KEY_BLOCK, Problem, QUERY_BLOCK, Tile};
use super::tile::Tiles;
use crate::shape::zeroed;
use crate::{Error, Real};

/// Memory for one block at a time; a thread uses it again for its next block.
pub(super) struct Scratch<'a, F> {
    /// The queries of the block in panels, each `(d, WIDTH)`.
    queries: Vec<F>,
    /// The output of the block in panels, each `(d_v, WIDTH)`.
    outputs: Vec<F>,
    /// The scores of one panel for one tile, `(KEY_BLOCK, WIDTH)`.
    scores: Vec<F>,
    keys: Tiles<'a, F>,
    values: Tiles<'a, F>,
}

impl<'a, F: Real> Scratch<'a, F> {
    /// Room for any block of a problem.
    pub(super) fn new(problem: &Problem<'a, F>) -> Result<Self, Error> {
        Ok(Self {
            queries: zeroed("a block of queries", &[problem.d(), QUERY_BLOCK])?,
            outputs: zeroed("a block of the output", &[problem.d_v(), QUERY_BLOCK])?,
            scores: zeroed("a tile of scores", &[KEY_BLOCK, QUERY_BLOCK])?,
            keys: Tiles::new("a tile of keys", problem.k)?,
            values: Tiles::new("a tile of values", problem.v)?,
        })
    }
}

/// Computes the rows of a block, in panels of WIDTH queries.
#[inline(always)]
pub(super) fn fill<F: Real, const FUSED: bool, const WIDTH: usize>(
    problem: &Problem<F>,
    block: Block<F>,
    scratch: &mut Scratch<F>,
) -> Result<(), Error> {
    let Scratch { queries, outputs, scores, keys, values } = scratch;
    let (mut queries, mut outputs) =
        (queries.as_chunks_mut::<WIDTH>().0, outputs.as_chunks_mut::<WIDTH>().0);
    let mut panels = Vec::with_capacity(QUERY_BLOCK / WIDTH);
    for first in block.queries.clone().step_by(WIDTH) {
        let of_panel = first..block.queries.end.min(first + WIDTH);
        let (columns, output);
        (columns, queries) = queries.split_at_mut(problem.d());
        (output, outputs) = outputs.split_at_mut(problem.d_v());
        panels.push(Panel::new(problem, block.head, of_panel, columns, output));
    }
    let reach = problem.reach(&block.queries);
    for first in (0..reach).step_by(KEY_BLOCK) {
        let of_tile = first..reach.min(first + KEY_BLOCK);
        let tile = Tile {
            k: keys.rows(block.head, of_tile.clone()),
            v: values.rows(block.head, of_tile.clone()),
            keys: of_tile,
        };
        for panel in &mut panels {
            panel.absorb::<FUSED>(problem, &tile, scores.as_chunks_mut::<WIDTH>().0);
        }
    }
    for (panel, rows) in panels.into_iter().zip(block.rows.chunks_mut(WIDTH * problem.d_v())) {
        panel.finish(problem, rows)?;
    }
    Ok(())
}
