//! Chapter *Attention in tiles*: the toy head computed in tiles of two queries
//! by two keys, step by step. What the tiles save, and the exercises, have
//! files of their own.

pub mod exercises;
pub mod savings;

use attention::online::Partial;
use attention::tiles::{Kind, Size, Step, Tile, all, attend, trace};
use attention::{Error, Mask, Options};
use ledger::{Ledger, number_tex};
use ndarray::{Array1, Array2, Axis};

use crate::Claim;
use crate::queries_keys_values::{MESSAGES, TOKENS, example};

/// The tokens of each block, of the sentence cut in twos.
const BLOCKS: [&str; 3] = ["The cat", "sat on", "the"];
/// What a query keeps.
const KEPT: [&str; 5] = ["largest m", "sum ℓ", "“thing”", "“action”", "“small word”"];
/// The rows of the block that the chapter follows.
const BLOCK: [&str; 2] = ["sat", "on"];

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    enter_tiles(ledger);
    enter_block(ledger);
    enter_output(ledger);
    savings::enter(ledger);
    exercises::enter(ledger);
}

fn enter_tiles(ledger: &mut Ledger) {
    ledger
        .enter("tiles.open", open_scores)
        .digits(0)
        .rows(&BLOCKS)
        .columns(&BLOCKS)
        .about("how many scores of each tile are open");
    ledger
        .enter("tiles.entries", entries)
        .digits(0)
        .rows(&BLOCKS)
        .columns(&BLOCKS)
        .about("how many scores each tile has");
    ledger.enter("tiles.all", tiles_in_all).about("the tiles of the toy head");
    ledger.enter("tiles.whole", whole_tiles).about("the tiles with nothing closed");
    ledger.enter("tiles.partly", partly_open_tiles).about("the tiles with something closed");
    ledger.enter("tiles.skipped", skipped_tiles).about("the tiles with nothing open");
}

fn enter_block(ledger: &mut Ledger) {
    ledger
        .enter("tiles.first.scores", first_scores)
        .rows(&BLOCK)
        .columns(&["The", "cat"])
        .about("the scores of “sat” and “on” with the first two keys");
    ledger
        .enter("tiles.first.kept", first_kept)
        .rows(&BLOCK)
        .columns(&KEPT)
        .about("what “sat” and “on” keep after the first tile");
    ledger
        .enter("tiles.second.scores", second_scores)
        .rows(&BLOCK)
        .columns(&BLOCK)
        .about("the scores of “sat” and “on” with their own keys, masked");
    ledger
        .enter("tiles.second.kept", second_kept)
        .rows(&BLOCK)
        .columns(&KEPT)
        .about("what “sat” and “on” keep after the second tile");
    ledger
        .enter("tiles.on.sum.first", sum_of_on_after_first_spelled)
        .about("the sum of “on” after the first tile, written out");
    ledger
        .enter("tiles.on.sum.second", sum_of_on_after_second_spelled)
        .about("the sum of “on” after the second tile, written out");
    ledger
        .enter("tiles.block.output", block_output)
        .rows(&BLOCK)
        .columns(&MESSAGES)
        .about("the finished rows of “sat” and “on”");
}

fn enter_output(ledger: &mut Ledger) {
    ledger
        .enter("tiles.output", output)
        .rows(&TOKENS)
        .columns(&MESSAGES)
        .symbol("O")
        .about("the output of the toy head, computed in tiles");
    ledger
        .enter("tiles.equals.recipe", every_size_gives_the_recipe)
        .about("tiles of every size from 1 × 1 to 6 × 6 give the output of the recipe");
    ledger
        .enter("tiles.largest", scores_at_a_time)
        .about("the most scores that were there at a time");
}

/// Tiles of two queries by two keys.
pub(crate) fn twos() -> Result<Size, Error> {
    Size::new(2, 2)
}

/// Every tile of the toy head.
fn tiles() -> Result<Vec<Tile>, Error> {
    Ok(all(Mask::Causal, TOKENS.len(), TOKENS.len(), twos()?).collect())
}

/// The toy head in tiles: its output, and every tile computed on the way.
fn traced() -> Result<(Array2<f64>, Vec<Step<f64>>), Error> {
    let head = example()?.trace;
    trace(&head.q, &head.k, &head.v, Options::causal(), twos()?)
}

/// How many scores of each tile the mask leaves open: `(3, 3)`.
///
/// # Errors
///
/// None that can happen: tiles of two hold something.
pub fn open_scores() -> Result<Array2<f64>, Error> {
    let open = |tile: &Tile| {
        let open = |query| tile.keys.clone().filter(move |&key| key <= query).count();
        tile.queries.clone().map(open).sum()
    };
    each_tile(open)
}

/// How many scores each tile has: `(3, 3)`.
///
/// # Errors
///
/// None that can happen: tiles of two hold something.
pub fn entries() -> Result<Array2<f64>, Error> {
    each_tile(|tile| tile.queries.len() * tile.keys.len())
}

/// A number for each tile, laid out as the tiles are.
fn each_tile(number: impl Fn(&Tile) -> usize) -> Result<Array2<f64>, Error> {
    let mut table = Array2::zeros((BLOCKS.len(), BLOCKS.len()));
    for (entry, tile) in table.iter_mut().zip(tiles()?) {
        *entry = number(&tile) as f64;
    }
    Ok(table)
}

/// How many tiles the toy head has.
///
/// # Errors
///
/// None that can happen: tiles of two hold something.
pub fn tiles_in_all() -> Result<usize, Error> {
    Ok(tiles()?.len())
}

/// How many of them have nothing closed.
///
/// # Errors
///
/// None that can happen: tiles of two hold something.
pub fn whole_tiles() -> Result<usize, Error> {
    tiles_of(Kind::Whole)
}

/// How many of them have something open and something closed.
///
/// # Errors
///
/// None that can happen: tiles of two hold something.
pub fn partly_open_tiles() -> Result<usize, Error> {
    tiles_of(Kind::Partly)
}

/// How many of them are never computed.
///
/// # Errors
///
/// None that can happen: tiles of two hold something.
pub fn skipped_tiles() -> Result<usize, Error> {
    tiles_of(Kind::Skipped)
}

fn tiles_of(kind: Kind) -> Result<usize, Error> {
    Ok(tiles()?.iter().filter(|tile| tile.kind == kind).count())
}

/// The two steps of the second block, “sat on”.
fn block() -> Result<[Step<f64>; 2], Error> {
    let mut steps = traced()?.1.into_iter().filter(|step| step.tile.queries.start == 2);
    match (steps.next(), steps.next()) {
        (Some(first), Some(second)) => Ok([first, second]),
        _ => Err(Error::EmptyTile { queries: 0, keys: 0 }),
    }
}

/// The scores of “sat” and “on” with “The” and “cat”: `(2, 2)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn first_scores() -> Result<Array2<f64>, Error> {
    let [first, _] = block()?;
    Ok(first.scores)
}

/// The masked scores of “sat” and “on” with themselves: `(2, 2)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn second_scores() -> Result<Array2<f64>, Error> {
    let [_, second] = block()?;
    Ok(second.scores)
}

/// What “sat” and “on” keep after the first tile: `(2, 2 + d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn first_kept() -> Result<Array2<f64>, Error> {
    let [first, _] = block()?;
    Ok(kept(&first.partials))
}

/// What “sat” and “on” keep after the second tile: `(2, 2 + d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn second_kept() -> Result<Array2<f64>, Error> {
    let [_, second] = block()?;
    Ok(kept(&second.partials))
}

/// Partial results, one a row: largest, sum, output.
fn kept(partials: &[Partial<f64>]) -> Array2<f64> {
    let row = |partial: &Partial<f64>| {
        ndarray::concatenate![
            Axis(0),
            Array1::from(vec![partial.largest(), partial.sum()]),
            *partial.output()
        ]
    };
    let mut table = Array2::zeros((partials.len(), KEPT.len()));
    for (mut numbers, partial) in table.outer_iter_mut().zip(partials) {
        numbers.assign(&row(partial));
    }
    table
}

/// The sum of “on” after the first tile, in TeX: one exponential for each key.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn sum_of_on_after_first_spelled() -> Result<String, Error> {
    let [first, _] = block()?;
    let largest = first.partials[1].largest();
    let powers: Vec<String> = first
        .scores
        .row(1)
        .iter()
        .map(|&score| format!("e^{{{} - {}}}", number_tex(score, 2), number_tex(largest, 2)))
        .collect();
    let numbers: Vec<String> =
        first.scores.row(1).iter().map(|&score| number_tex((score - largest).exp(), 2)).collect();
    Ok(format!(
        r"{} \approx {} = {}",
        powers.join(" + "),
        numbers.join(" + "),
        number_tex(first.partials[1].sum(), 2)
    ))
}

/// The sum of “on” after the second tile, in TeX: what was there, faded, and
/// one exponential for each key.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn sum_of_on_after_second_spelled() -> Result<String, Error> {
    let [first, second] = block()?;
    let (before, after) = (&first.partials[1], &second.partials[1]);
    let fade = (before.largest() - after.largest()).exp();
    let numbers: Vec<String> = second
        .scores
        .row(1)
        .iter()
        .map(|&score| number_tex((score - after.largest()).exp(), 2))
        .collect();
    Ok(format!(
        r"{} \cdot {} + {} \approx {}",
        number_tex(before.sum(), 2),
        number_tex(fade, 2),
        numbers.join(" + "),
        number_tex(after.sum(), 2)
    ))
}

/// The finished rows of “sat” and “on”: `(2, d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn block_output() -> Result<Array2<f64>, Error> {
    Ok(output()?.slice(ndarray::s![2..4, ..]).to_owned())
}

/// The output of the toy head, in tiles: `(T, d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn output() -> Result<Array2<f64>, Error> {
    Ok(traced()?.0)
}

/// Tiles of every size up to one more than there are tokens give what the
/// recipe gives.
///
/// # Errors
///
/// The size of tile for which the output is another.
pub fn every_size_gives_the_recipe() -> Claim {
    for queries in 1..=TOKENS.len() + 1 {
        for keys in 1..=TOKENS.len() + 1 {
            gives_the_recipe(queries, keys)?;
        }
    }
    Ok(())
}

fn gives_the_recipe(queries: usize, keys: usize) -> Claim {
    let computed = || -> Result<_, Error> {
        let head = example()?.trace;
        let size = Size::new(queries, keys)?;
        Ok((attend(&head.q, &head.k, &head.v, Options::causal(), size)?, head.output))
    };
    let (tiled, whole) = computed().map_err(|error| error.to_string())?;
    let apart = (&tiled - &whole).iter().fold(0.0, |most: f64, gap| most.max(gap.abs()));
    if apart < 1e-12 {
        Ok(())
    } else {
        Err(format!("tiles of {queries} × {keys} give {tiled}, not {whole}"))
    }
}

/// The most scores that were there at a time, of the toy head's 25.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn scores_at_a_time() -> Result<usize, Error> {
    Ok(traced()?.1.iter().map(|step| step.scores.len()).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    #[test]
    fn the_tiles_are_those_counted_by_hand() {
        let open = array![[3.0, 0.0, 0.0], [4.0, 3.0, 0.0], [2.0, 2.0, 1.0]];
        assert_eq!(open_scores().unwrap(), open);
        assert_eq!(entries().unwrap().sum(), 25.0);
        assert_eq!(
            [tiles_in_all(), whole_tiles(), partly_open_tiles(), skipped_tiles()]
                .map(Result::unwrap),
            [9, 4, 2, 3]
        );
        assert_eq!(scores_at_a_time(), Ok(4));
    }

    /// The query of “on” is (1.9, 0, 0.3): −1.52 + 0.3 with “The”, 1.9 with
    /// “cat”, over √3. Both are relative to 1.0970: e^−1.8013 = 0.1651.
    #[test]
    fn what_on_keeps_is_what_was_worked_by_hand() {
        let scores = first_scores().unwrap();
        assert_abs_diff_eq!(scores.row(1).to_owned(), array![-0.7044, 1.0970], epsilon = 1e-4);
        let kept = first_kept().unwrap();
        let row = array![1.0970, 1.1651, 2.0330, 0.0, 0.1486];
        assert_abs_diff_eq!(kept.row(1).to_owned(), row, epsilon = 2e-4);
        assert_eq!(second_scores().unwrap()[[0, 1]], f64::NEG_INFINITY);
    }

    #[test]
    fn what_is_kept_at_the_end_is_the_output_before_its_division() {
        let kept = second_kept().unwrap();
        for (numbers, row) in kept.outer_iter().zip(block_output().unwrap().outer_iter()) {
            let divided = &numbers.slice(ndarray::s![2..]) / numbers[1];
            assert_abs_diff_eq!(divided, row, epsilon = 1e-12);
        }
    }

    #[test]
    fn an_empty_tile_is_told_as_the_reason() {
        assert!(gives_the_recipe(0, 2).unwrap_err().contains("hold nothing"));
    }
}
