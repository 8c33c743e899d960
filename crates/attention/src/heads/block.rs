//! Blocks of queries, each against all of its keys, a tile at a time: how the
//! work is divided, and what one block does. The arithmetic is in `panel`.

use super::careful::look_again;
use super::instructions::{Instructions, Job};
use super::panel::Panel;
use super::parallel;
use super::problem::{KEY_BLOCK, Problem};
use super::softmax::Summary;
use super::tile::Tiles;
use crate::shape::{collected, zeroed};
use crate::{Element, Error};
use std::cmp::Reverse;
use std::ops::Range;

/// How many queries a block holds at most: a multiple of every panel's width.
pub(super) const QUERY_BLOCK: usize = 64;

/// Neighbouring queries of one head, at most `QUERY_BLOCK`, and their rows of
/// the output: `d_v` elements for each query.
pub(super) struct Block<'a, E: Element> {
    pub(super) head: usize,
    pub(super) queries: Range<usize>,
    pub(super) rows: &'a mut [E],
    /// One for each query, or none if they are not asked for.
    pub(super) summaries: &'a mut [Summary<E::Real>],
}

/// Computes the output `(H, T_q, d_v)` of a problem; it must not be empty. Where
/// there is room for summaries `(H, T_q)`, they are written down too.
pub(crate) fn attend<E: Element>(
    instructions: Instructions,
    problem: &Problem<E>,
    output: &mut [E],
    summaries: &mut [Summary<E::Real>],
) -> Result<(), Error> {
    parallel::for_each(
        heaviest_first(problem, output, summaries)?,
        problem.multiplications(),
        || Scratch::new(problem),
        |scratch, mut block| block.fill(instructions, problem, scratch),
    )
}

/// Computes the rows of a single block.
pub(super) fn attend_block<E: Element>(
    instructions: Instructions,
    problem: &Problem<E>,
    mut block: Block<E>,
) -> Result<(), Error> {
    block.fill(instructions, problem, &mut Scratch::new(problem)?);
    Ok(())
}

/// Divides the output into blocks of queries, those with the most keys first:
/// were a heavy block taken last, the other threads would wait for it.
pub(super) fn heaviest_first<'a, E: Element>(
    problem: &Problem<E>,
    output: &'a mut [E],
    mut summaries: &'a mut [Summary<E::Real>],
) -> Result<Vec<Block<'a, E>>, Error> {
    let (queries, d_v) = (problem.queries(), problem.d_v());
    let rows_of_heads = output.chunks_exact_mut(queries * d_v).enumerate();
    let rows_of_blocks = rows_of_heads.flat_map(|(head, rows_of_head)| {
        let firsts = (0..queries).step_by(QUERY_BLOCK);
        let rows = rows_of_head.chunks_mut(QUERY_BLOCK * d_v);
        firsts.zip(rows).map(move |(first, rows)| (head, first, rows))
    });
    let blocks = rows_of_blocks.map(|(head, first, rows)| {
        let queries = first..queries.min(first + QUERY_BLOCK);
        let summaries = summaries.split_off_mut(..queries.len()).unwrap_or_default();
        Block { head, queries, rows, summaries }
    });
    let shape = [problem.heads(), queries.div_ceil(QUERY_BLOCK)];
    let mut blocks = collected("the list of blocks", &shape, blocks)?;
    blocks.sort_by_key(|block| Reverse(problem.reach(&block.queries)));
    Ok(blocks)
}

/// Memory for one block at a time; a thread uses it again for its next block.
pub(super) struct Scratch<'a, E: Element> {
    /// The queries of the block in panels, each `(d, WIDTH)`.
    queries: Vec<E::Real>,
    /// The output of the block in panels, each `(d_v, WIDTH)`.
    outputs: Vec<E::Real>,
    /// The scores of one panel for one tile, `(KEY_BLOCK, WIDTH)`.
    scores: Vec<E::Real>,
    tiles: Tiles<'a, E>,
}

impl<'a, E: Element> Scratch<'a, E> {
    pub(super) fn new(problem: &Problem<'a, E>) -> Result<Self, Error> {
        Ok(Self {
            queries: zeroed("a block of queries", &[problem.d(), QUERY_BLOCK])?,
            outputs: zeroed("a block of the output", &[problem.d_v(), QUERY_BLOCK])?,
            scores: zeroed("a tile of scores", &[KEY_BLOCK, QUERY_BLOCK])?,
            tiles: Tiles::new(problem)?,
        })
    }
}

impl<E: Element> Block<'_, E> {
    /// Computes the rows of the block.
    pub(super) fn fill<'p>(
        &mut self,
        instructions: Instructions,
        problem: &Problem<'p, E>,
        scratch: &mut Scratch<'p, E>,
    ) {
        instructions.run(Fill { problem, block: self, scratch });
    }
}

/// A block to be filled, with all that it takes.
struct Fill<'j, 'p, 'o, E: Element> {
    problem: &'j Problem<'p, E>,
    block: &'j mut Block<'o, E>,
    scratch: &'j mut Scratch<'p, E>,
}

impl<E: Element> Job<E::Real> for Fill<'_, '_, '_, E> {
    fn queries(&self) -> usize {
        self.block.queries.len()
    }

    #[inline(always)]
    fn run<const FUSED: bool, const WIDTH: usize>(self) {
        let Self { problem, block, scratch: Scratch { queries, outputs, scores, tiles } } = self;
        let scores = scores.as_chunks_mut().0;
        let mut panels = panels::<E, WIDTH>(problem, block, queries, outputs);
        let reach = problem.reach(&block.queries);
        for first in (0..reach).step_by(KEY_BLOCK) {
            let tile = tiles.tile(block.head, first, reach);
            for panel in &mut panels {
                panel.absorb::<E, FUSED>(problem, &tile, scores);
            }
        }
        for (panel, summaries) in panels.iter().zip(block.summaries.chunks_mut(WIDTH)) {
            panel.softmax.summarise(summaries);
        }
        for (panel, rows) in panels.iter_mut().zip(block.rows.chunks_mut(WIDTH * problem.d_v())) {
            if !panel.finish(problem, rows) {
                look_again::<_, E, FUSED, WIDTH>(problem, block.head, panel, tiles, scores, rows);
            }
        }
    }
}

/// Divides a block into panels, which take their places in memory.
#[inline(always)]
fn panels<'a, E: Element, const WIDTH: usize>(
    problem: &Problem<E>,
    block: &Block<E>,
    queries: &'a mut [E::Real],
    outputs: &'a mut [E::Real],
) -> Vec<Panel<'a, E::Real, WIDTH>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mask;
    use ndarray::Array3;

    #[test]
    fn blocks_cover_every_row_once_the_heaviest_first() {
        // Three blocks of queries, the last of 6, in each of two heads.
        let [q, k, v] =
            [(134, 3), (140, 3), (140, 5)].map(|(t, d)| Array3::<f32>::zeros((2, t, d)));
        let problem =
            Problem { q: q.view(), k: k.view(), v: v.view(), mask: Mask::Causal, scale: 1.0 };
        let mut output = vec![0.0; 2 * 134 * 5];
        let mut summaries = vec![Summary { largest: 0.0, total: 0.0 }; 2 * 134];
        let blocks = heaviest_first(&problem, &mut output, &mut summaries).unwrap();
        let order: Vec<_> =
            blocks.iter().map(|block| (block.head, block.queries.clone())).collect();
        assert_eq!(
            order,
            [(0, 128..134), (1, 128..134), (0, 64..128), (1, 64..128), (0, 0..64), (1, 0..64)]
        );
        for block in blocks {
            assert_eq!(block.rows.len(), block.queries.len() * 5);
            block.rows.iter_mut().for_each(|element| *element += 1.0);
            assert_eq!(block.summaries.len(), block.queries.len());
            block.summaries.iter_mut().for_each(|summary| summary.total += 1.0);
        }
        assert!(summaries.iter().all(|summary| summary.total == 1.0));
        assert_eq!(output, vec![1.0; 2 * 134 * 5]);
    }
}
