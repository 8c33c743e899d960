//! One block of queries against all of its keys, a tile at a time, with an
//! online softmax. It knows nothing of threads, nor of other blocks.

use super::careful::look_again;
use super::panel::Panel;
use super::problem::{Block, KEY_BLOCK, Problem, QUERY_BLOCK};
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
    tiles: Tiles<'a, F>,
}

impl<'a, F: Real> Scratch<'a, F> {
    /// Room for any block of a problem.
    pub(super) fn new(problem: &Problem<'a, F>) -> Result<Self, Error> {
        Ok(Self {
            queries: zeroed("a block of queries", &[problem.d(), QUERY_BLOCK])?,
            outputs: zeroed("a block of the output", &[problem.d_v(), QUERY_BLOCK])?,
            scores: zeroed("a tile of scores", &[KEY_BLOCK, QUERY_BLOCK])?,
            tiles: Tiles::new(problem)?,
        })
    }
}

/// Computes the rows of a block, in panels of WIDTH queries.
#[inline(always)]
pub(super) fn fill<F: Real, const FUSED: bool, const WIDTH: usize>(
    problem: &Problem<F>,
    block: Block<F>,
    scratch: &mut Scratch<F>,
) {
    let Scratch { queries, outputs, scores, tiles } = scratch;
    let scores = scores.as_chunks_mut().0;
    let mut panels = panels::<F, WIDTH>(problem, &block, queries, outputs);
    let reach = problem.reach(&block.queries);
    for first in (0..reach).step_by(KEY_BLOCK) {
        let tile = tiles.tile(block.head, first, reach);
        for panel in &mut panels {
            panel.absorb::<FUSED>(problem, &tile, scores);
        }
    }
    for (panel, rows) in panels.iter_mut().zip(block.rows.chunks_mut(WIDTH * problem.d_v())) {
        if !panel.finish(problem, rows) {
            look_again::<F, FUSED, WIDTH>(problem, block.head, panel, tiles, scores, rows);
        }
    }
}

/// Divides a block into panels, which take their places in memory.
#[inline(always)]
fn panels<'a, F: Real, const WIDTH: usize>(
    problem: &Problem<F>,
    block: &Block<F>,
    queries: &'a mut [F],
    outputs: &'a mut [F],
) -> Vec<Panel<'a, F, WIDTH>> {
    let mut queries = queries.as_chunks_mut().0;
    let mut outputs = outputs.as_chunks_mut().0;
    let new_panel = |first| {
        let of_panel = first..block.queries.end.min(first + WIDTH);
        let columns = queries.split_off_mut(..problem.d()).unwrap_or_default();
        let output = outputs.split_off_mut(..problem.d_v()).unwrap_or_default();
        Panel::new(problem, block.head, of_panel, columns, output)
    };
    block.queries.clone().step_by(WIDTH).map(new_panel).collect()
}
