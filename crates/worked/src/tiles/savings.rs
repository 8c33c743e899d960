//! What tiles save: the memory of the scores, the tiles above the diagonal,
//! and the reading of the same keys again and again. All of it counted.

use attention::tiles::{Kind, Size, Tile, all};
use attention::{Error, Mask};
use ledger::{Axis, Figure, Ledger, Plot, Series};

use crate::Claim;

/// The queries and the keys of a tile of realistic size.
const TILE: (usize, usize) = (64, 256);
/// The head size of the tables.
const HEAD_SIZE: usize = 64;
/// The bytes of a single-precision number.
const BYTES: usize = 4;

/// Enters the savings.
pub fn enter(ledger: &mut Ledger) {
    enter_length::<1024>(ledger);
    enter_length::<4096>(ledger);
    enter_length::<16_384>(ledger);
    enter_length::<65_536>(ledger);
    ledger
        .enter("tiles.at.hand", kibibytes_at_hand)
        .digits(1)
        .about("the memory at hand for a tile of 64 × 256 with d = 64, in KiB");
    ledger
        .enter("tiles.share", share_computed)
        .digits(3)
        .about("the share of the tiles that is computed, against the number of tokens");
    ledger
        .enter("tiles.half", nearly_half_is_skipped)
        .about("at 65 536 tokens between 49 and 50 of 100 tiles are skipped");
    ledger
        .enter("tiles.reads.single", keys_read_by_single_queries)
        .about("how many keys are read for 4096 tokens if each query reads its own");
    ledger
        .enter("tiles.reads.block", keys_read_by_blocks)
        .about("how many keys are read for 4096 tokens if 64 queries share them");
    ledger
        .enter("tiles.reads.ratio", single_queries_read_sixty_times_as_much)
        .about("single queries read about 60 times as many keys as blocks of 64: 59 to 61 times");
}

fn enter_length<const T: usize>(ledger: &mut Ledger) {
    ledger
        .enter(&format!("tiles.scores.mebibytes.{T}"), score_mebibytes::<T>)
        .about("the memory of all scores of one head for so many tokens, in MiB");
    ledger
        .enter(&format!("tiles.count.all.{T}"), tiles_in_all::<T>)
        .about("the tiles of 64 × 256 for so many tokens");
    ledger
        .enter(&format!("tiles.count.partly.{T}"), tiles_partly::<T>)
        .about("those that are open in part");
    ledger
        .enter(&format!("tiles.count.skipped.{T}"), tiles_skipped::<T>)
        .about("those that are skipped");
}

/// The memory of all scores of one head, in MiB of single precision.
#[must_use]
pub fn score_mebibytes<const T: usize>() -> usize {
    T * T * BYTES / (1 << 20)
}

/// The memory at hand for one tile of 64 × 256, with `d = d_v = 64`, in KiB.
///
/// # Errors
///
/// None that can happen: such a tile can be counted.
pub fn kibibytes_at_hand() -> Result<f64, Error> {
    let numbers = Size::new(TILE.0, TILE.1)?.numbers_at_hand(HEAD_SIZE, HEAD_SIZE).unwrap_or(0);
    Ok((numbers * BYTES) as f64 / 1024.0)
}

/// The tiles of 64 × 256 for so many tokens, the skipped ones too.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn tiles_in_all<const T: usize>() -> Result<usize, Error> {
    count(T, TILE, |_| true)
}

/// Those of them with something open and something closed.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn tiles_partly<const T: usize>() -> Result<usize, Error> {
    count(T, TILE, |tile| tile.kind == Kind::Partly)
}

/// Those of them with nothing open.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn tiles_skipped<const T: usize>() -> Result<usize, Error> {
    count(T, TILE, |tile| tile.kind == Kind::Skipped)
}

fn count(
    tokens: usize,
    (queries, keys): (usize, usize),
    which: impl Fn(&Tile) -> bool,
) -> Result<usize, Error> {
    let tiles = all(Mask::Causal, tokens, tokens, Size::new(queries, keys)?);
    Ok(tiles.filter(which).count())
}

/// The share of the tiles that is computed, from 64 tokens to 65 536.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn share_computed() -> Result<Figure, Error> {
    let share = |size: (usize, usize)| -> Result<Vec<(f64, f64)>, Error> {
        (6..=16)
            .map(|power| {
                let tokens = 1_usize << power;
                let computed = count(tokens, size, |tile| tile.kind != Kind::Skipped)?;
                Ok((tokens as f64, computed as f64 / count(tokens, size, |_| true)? as f64))
            })
            .collect()
    };
    let curve = |size: (usize, usize)| -> Result<Series, Error> {
        Ok(Series { name: format!("tiles of {} × {}", size.0, size.1), points: share(size)? })
    };
    Ok(Figure {
        description: "Two falling curves. With few tokens, all tiles lie on the diagonal and all \
                      are computed. As the tokens grow more, the share that is computed falls \
                      towards one half, sooner for tiles of 64 × 64 than for tiles of 64 × 256."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::logarithmic("tokens T"),
            y: Axis::linear("share of tiles computed"),
            series: vec![curve((64, 64))?, curve(TILE)?],
        },
    })
}

/// Of the tiles for 65 536 tokens, nearly a half is skipped.
///
/// # Errors
///
/// The share, where it is another.
pub fn nearly_half_is_skipped() -> Claim {
    let counted = || -> Result<_, Error> {
        Ok(tiles_skipped::<65_536>()? as f64 / tiles_in_all::<65_536>()? as f64)
    };
    let share = counted().map_err(|error| error.to_string())?;
    if (0.49..0.5).contains(&share) { Ok(()) } else { Err(format!("{share} of them are")) }
}

/// The keys read for 4096 tokens, if each query reads those that it may see.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn keys_read_by_single_queries() -> Result<usize, Error> {
    keys_read(4096, (1, 1))
}

/// The keys read for 4096 tokens in tiles of 64 × 256.
///
/// # Errors
///
/// None that can happen: such tiles hold something.
pub fn keys_read_by_blocks() -> Result<usize, Error> {
    keys_read(4096, TILE)
}

fn keys_read(tokens: usize, (queries, keys): (usize, usize)) -> Result<usize, Error> {
    let tiles = all(Mask::Causal, tokens, tokens, Size::new(queries, keys)?);
    Ok(tiles.filter(|tile| tile.kind != Kind::Skipped).map(|tile| tile.keys.len()).sum())
}

/// Single queries read about 60 times as many keys as blocks of 64. It is not
/// 64 times, for a tile on the diagonal is read to its end.
///
/// # Errors
///
/// The ratio, where it is another.
pub fn single_queries_read_sixty_times_as_much() -> Claim {
    let single = keys_read_by_single_queries().map_err(|error| error.to_string())?;
    let blocks = keys_read_by_blocks().map_err(|error| error.to_string())?;
    let ratio = single as f64 / blocks as f64;
    if (59.0..61.0).contains(&ratio) { Ok(()) } else { Err(format!("{ratio} times as many")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_that_worked_by_hand() {
        // 65536² · 4 bytes = 2³⁴ bytes = 16 GiB.
        assert_eq!(score_mebibytes::<65_536>(), 16 * 1024);
        // 64·64 + 256·64 + 256·64 + 64·256 + 64·66 numbers of 4 bytes.
        assert_eq!(kibibytes_at_hand(), Ok(57_472.0 * 4.0 / 1024.0));
    }

    /// 1024 tokens: 16 blocks of queries by 4 tiles of keys. A tile of keys is
    /// as long as 4 blocks, so that the picture is a staircase of 4 steps, each
    /// 4 blocks high: 4·(3 + 2 + 1 + 0) are skipped, one of each row is partly open.
    #[test]
    fn the_tiles_are_those_counted_by_hand() {
        assert_eq!(tiles_in_all::<1024>(), Ok(64));
        assert_eq!(tiles_skipped::<1024>(), Ok(24));
        assert_eq!(tiles_partly::<1024>(), Ok(16));
    }

    /// 1 + 2 + … + 4096.
    #[test]
    fn single_queries_read_what_gauss_says() {
        assert_eq!(keys_read_by_single_queries(), Ok(4096 * 4097 / 2));
    }
}
