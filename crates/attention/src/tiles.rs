//! One head a tile at a time, without the matrix of scores: a block of queries
//! meets the keys a few at a time. Plain loops to be read; what is fast, and
//! works for many heads in parallel, is in `heads`.

use crate::online::Partial;
use crate::shape::{axis, must_match, zeros};
use crate::{Error, Mask, Options, Real, recipe};
use ndarray::{Array2, ArrayRef2, s};
use std::ops::Range;

/// How many queries and keys a tile holds; at the edges it may hold fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    queries: usize,
    keys: usize,
}

impl Size {
    /// Tiles of so many queries and keys.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyTile`] if either is 0.
    pub fn new(queries: usize, keys: usize) -> Result<Self, Error> {
        if queries == 0 || keys == 0 {
            return Err(Error::EmptyTile { queries, keys });
        }
        Ok(Self { queries, keys })
    }

    /// How many numbers are at hand while a tile is computed: a block of
    /// queries, a tile of keys, of values and of scores, and for each query a
    /// partial result. None if they cannot be counted.
    ///
    /// `b_q·d + b_k·d + b_k·d_v + b_q·b_k + b_q·(2 + d_v)`, whatever `T` is.
    ///
    /// ```
    /// use attention::tiles::Size;
    ///
    /// // 2·3 + 5·3 + 5·4 + 2·5 + 2·(2 + 4)
    /// assert_eq!(Size::new(2, 5)?.numbers_at_hand(3, 4), Some(63));
    /// # Ok::<(), attention::Error>(())
    /// ```
    #[must_use]
    pub fn numbers_at_hand(self, d: usize, d_v: usize) -> Option<usize> {
        let Self { queries, keys } = self;
        let parts = [
            queries.checked_mul(d)?,
            keys.checked_mul(d)?,
            keys.checked_mul(d_v)?,
            queries.checked_mul(keys)?,
            queries.checked_mul(d_v.checked_add(2)?)?,
        ];
        parts.into_iter().try_fold(0_usize, usize::checked_add)
    }
}

/// How much of a tile the mask leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// All of it: there is nothing to mask.
    Whole,
    /// Some of it: with a causal mask the tiles that the diagonal crosses.
    Partly,
    /// Nothing: it is never computed.
    Skipped,
}

/// A tile of the matrix of scores: some queries (rows) by some keys (columns).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The queries, counted from 0.
    pub queries: Range<usize>,
    /// The keys, counted from 0.
    pub keys: Range<usize>,
    /// How much of it is open.
    pub kind: Kind,
}

/// Every tile of the `(T_q, T_k)` scores, the skipped ones too: block of
/// queries by block of queries, and in each from the first keys to the last.
///
/// ```
/// use attention::{Mask, tiles::{Kind, Size, all}};
///
/// let kinds: Vec<Kind> =
///     all(Mask::Causal, 4, 4, Size::new(2, 2)?).map(|tile| tile.kind).collect();
/// assert_eq!(kinds, [Kind::Partly, Kind::Skipped, Kind::Whole, Kind::Partly]);
/// # Ok::<(), attention::Error>(())
/// ```
pub fn all(mask: Mask, queries: usize, keys: usize, size: Size) -> impl Iterator<Item = Tile> {
    cut(queries, size.queries).flat_map(move |block| row(mask, block, (queries, keys), size))
}

/// The tiles of one block of queries, from the first keys to the last.
fn row(
    mask: Mask,
    block: Range<usize>,
    (queries, keys): (usize, usize),
    size: Size,
) -> impl Iterator<Item = Tile> {
    let open = |query| mask.open_keys(query, queries, keys);
    // A later query sees no fewer keys than an earlier one.
    let (fewest, most) = (open(block.start), open(block.end - 1));
    cut(keys, size.keys).map(move |keys| {
        let kind = if keys.end <= fewest {
            Kind::Whole
        } else if keys.start < most {
            Kind::Partly
        } else {
            Kind::Skipped
        };
        Tile { queries: block.clone(), keys, kind }
    })
}

/// The numbers below `count` in runs of `length`, the last perhaps shorter.
fn cut(count: usize, length: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(length).map(move |start| start..count.min(start.saturating_add(length)))
}

/// Attention of one head by tiles: `O = softmax(mask(scale(Q·Kᵀ)))·V`.
///
/// It gives what [`recipe::attend`] gives, up to rounding, and never holds more
/// scores than one tile has.
///
/// ```
/// use attention::{Options, ndarray::array, recipe, tiles};
///
/// let q = array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
/// let v = array![[1.0], [2.0], [4.0]];
/// let size = tiles::Size::new(2, 1)?;
/// let output = tiles::attend(&q, &q, &v, Options::causal(), size)?;
/// let whole = recipe::attend(&q, &q, &v, Options::causal())?;
/// assert!((output - whole).iter().all(|gap: &f64| gap.abs() < 1e-15));
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
///
/// `q (T_q, d)`, `k (T_k, d)`, `v (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// [`Error::Shape`] if the shapes do not fit, [`Error::Scale`] if the scale is
/// not finite, [`Error::TooLarge`] if the output or a tile cannot be allocated.
///
/// # Numerics
///
/// That of [`Partial`]; the keys are met in their order.
///
/// # Reference
///
/// Dao et al. (2022), algorithm 1, <https://arxiv.org/abs/2205.14135>; the order
/// of the loops is that of Dao (2023), algorithm 1, <https://arxiv.org/abs/2307.08691>.
pub fn attend<F: Real>(
    q: &ArrayRef2<F>,
    k: &ArrayRef2<F>,
    v: &ArrayRef2<F>,
    options: Options<F>,
    size: Size,
) -> Result<Array2<F>, Error> {
    watched(q, k, v, options, size, |_, _, _| ())
}

/// What there was after one tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<F> {
    /// The tile.
    pub tile: Tile,
    /// Its scores, scaled and masked.
    pub scores: Array2<F>,
    /// What each query of the block keeps after it.
    pub partials: Vec<Partial<F>>,
}

/// The output of [`attend`], with every tile that was computed on the way.
///
/// # Errors
///
/// Those of [`attend`].
pub fn trace<F: Real>(
    q: &ArrayRef2<F>,
    k: &ArrayRef2<F>,
    v: &ArrayRef2<F>,
    options: Options<F>,
    size: Size,
) -> Result<(Array2<F>, Vec<Step<F>>), Error> {
    let mut steps = Vec::new();
    let output = watched(q, k, v, options, size, |tile, scores, partials| {
        let (tile, scores, partials) = (tile.clone(), scores.clone(), partials.to_vec());
        steps.push(Step { tile, scores, partials });
    })?;
    Ok((output, steps))
}

/// [`attend`], which shows each tile once it has been absorbed.
fn watched<F: Real>(
    q: &ArrayRef2<F>,
    k: &ArrayRef2<F>,
    v: &ArrayRef2<F>,
    options: Options<F>,
    size: Size,
    mut watch: impl FnMut(&Tile, &Array2<F>, &[Partial<F>]),
) -> Result<Array2<F>, Error> {
    must_match(axis("k", k, 1), axis("q", q, 1), "their last axes (head size d)")?;
    must_match(axis("v", v, 0), axis("k", k, 0), "their first axes (keys T_k)")?;
    let scale = options.scale_for(q.ncols())?;
    let mut output = zeros("the output", (q.nrows(), v.ncols()))?;
    for block in cut(q.nrows(), size.queries) {
        let mut partials = begin(block.len(), v.ncols())?;
        for tile in row(options.mask, block.clone(), (q.nrows(), k.nrows()), size) {
            if tile.kind != Kind::Skipped {
                let scores = tile_scores(q, k, scale, options.mask, &tile)?;
                absorb(&mut partials, &scores, &v.slice(s![tile.keys.clone(), ..]))?;
                watch(&tile, &scores, &partials);
            }
        }
        finish(partials, &mut output.slice_mut(s![block, ..]));
    }
    Ok(output)
}

/// An empty partial result for each query of a block.
fn begin<F: Real>(queries: usize, d_v: usize) -> Result<Vec<Partial<F>>, Error> {
    (0..queries).map(|_| Partial::empty(d_v)).collect()
}

/// Steps 2 to 4 of the recipe, for the queries and keys of one tile.
fn tile_scores<F: Real>(
    q: &ArrayRef2<F>,
    k: &ArrayRef2<F>,
    scale: F,
    mask: Mask,
    tile: &Tile,
) -> Result<Array2<F>, Error> {
    let queries = q.slice(s![tile.queries.clone(), ..]);
    let keys = k.slice(s![tile.keys.clone(), ..]);
    let mut scores = recipe::scale(&recipe::score(&queries, &keys)?, scale);
    if tile.kind == Kind::Partly {
        for ((row, column), score) in scores.indexed_iter_mut() {
            let (query, key) = (tile.queries.start + row, tile.keys.start + column);
            if !mask.allows(query, key, q.nrows(), k.nrows()) {
                *score = F::neg_infinity();
            }
        }
    }
    Ok(scores)
}

/// Steps 5 and 6, as far as one tile goes: each query meets its keys.
fn absorb<F: Real>(
    partials: &mut [Partial<F>],
    scores: &ArrayRef2<F>,
    values: &ArrayRef2<F>,
) -> Result<(), Error> {
    for (partial, row) in partials.iter_mut().zip(scores.outer_iter()) {
        partial.absorb_tile(&row, values)?;
    }
    Ok(())
}

/// The rows of the output, once a block has met all of its keys.
fn finish<F: Real>(partials: Vec<Partial<F>>, rows: &mut ArrayRef2<F>) {
    for (partial, mut row) in partials.into_iter().zip(rows.outer_iter_mut()) {
        row.assign(&partial.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn size(queries: usize, keys: usize) -> Size {
        Size::new(queries, keys).unwrap()
    }

    /// The tiles drawn, a row a block: `#` whole, `+` partly open, `.` skipped.
    fn drawn(mask: Mask, queries: usize, keys: usize, size: Size) -> Vec<String> {
        let mut rows: Vec<String> = Vec::new();
        for tile in all(mask, queries, keys, size) {
            if tile.keys.start == 0 {
                rows.push(String::new());
            }
            rows.last_mut().unwrap().push(match tile.kind {
                Kind::Whole => '#',
                Kind::Partly => '+',
                Kind::Skipped => '.',
            });
        }
        rows
    }

    #[test]
    fn a_causal_mask_skips_what_lies_above_the_diagonal() {
        assert_eq!(drawn(Mask::Causal, 6, 6, size(2, 2)), ["+..", "#+.", "##+"]);
        assert_eq!(drawn(Mask::Causal, 6, 6, size(3, 2)), ["++.", "##+"]);
        assert_eq!(drawn(Mask::Causal, 6, 6, size(2, 3)), ["+.", "#+", "#+"]);
        assert_eq!(drawn(Mask::Full, 3, 5, size(2, 2)), ["###", "###"]);
    }

    #[test]
    fn tiles_at_the_edge_are_shorter() {
        // The last tile holds one score, which is open.
        assert_eq!(drawn(Mask::Causal, 5, 5, size(2, 2)), ["+..", "#+.", "###"]);
        let last = all(Mask::Causal, 5, 5, size(2, 2)).last().unwrap();
        assert_eq!(last, Tile { queries: 4..5, keys: 4..5, kind: Kind::Whole });
    }

    #[test]
    fn fewer_queries_than_keys_align_as_the_mask_says() {
        assert_eq!(drawn(Mask::Causal, 2, 6, size(1, 2)), ["##+", "###"]);
        assert_eq!(drawn(Mask::CausalFromStart, 2, 6, size(1, 2)), ["+..", "#.."]);
        // The first two of four queries see nothing of two keys.
        assert_eq!(drawn(Mask::Causal, 4, 2, size(2, 2)), [".", "+"]);
    }

    #[test]
    fn no_queries_make_no_tiles_and_a_tile_may_be_larger_than_all() {
        assert_eq!(all(Mask::Full, 0, 3, size(2, 2)).count(), 0);
        assert_eq!(all(Mask::Full, 3, 0, size(2, 2)).count(), 0);
        assert_eq!(drawn(Mask::Causal, 3, 3, size(usize::MAX, usize::MAX)), ["+"]);
    }

    #[test]
    fn a_step_keeps_the_masked_scores_and_what_each_query_has() {
        // Keys 0 and 1 score 0 and ln 3 with every query, key 2 nothing yet.
        let q = array![[1.0], [1.0], [1.0]];
        let k = array![[0.0], [3.0_f64.ln()], [5.0]];
        let v = array![[4.0], [8.0], [100.0]];
        let (output, steps) = trace(&q, &k, &v, Options::causal(), size(2, 2)).unwrap();
        assert_eq!(steps.len(), 3);
        assert_eq!(steps[0].tile.kind, Kind::Partly);
        assert_eq!(steps[0].scores, array![[0.0, f64::NEG_INFINITY], [0.0, 3.0_f64.ln()]]);
        // The second query: 1/3 and 1 relative to ln 3, so 4/3 + 8 over 4/3.
        assert!((steps[0].partials[1].sum() - 4.0 / 3.0).abs() < 1e-15);
        assert!((output[[1, 0]] - 7.0).abs() < 1e-14);
        assert_eq!(steps[2].tile, Tile { queries: 2..3, keys: 2..3, kind: Kind::Whole });
    }

    #[test]
    fn wrong_input_is_named() {
        assert_eq!(
            Size::new(0, 4).unwrap_err().to_string(),
            "tiles of 0 queries and 4 keys hold nothing: both must be at least 1"
        );
        let (long, wide) = (Array2::<f64>::zeros((5, 3)), Array2::<f64>::zeros((4, 2)));
        let error = attend(&long, &wide, &wide, Options::full(), size(2, 2)).unwrap_err();
        assert!(error.to_string().starts_with("k has shape (4, 2) but q has shape (5, 3)"));
        let error = attend(&long, &long, &wide, Options::full(), size(2, 2)).unwrap_err();
        assert!(error.to_string().starts_with("v has shape (4, 2) but k has shape (5, 3)"));
        let scale = Options::full().with_scale(f64::NAN);
        assert!(matches!(attend(&long, &long, &long, scale, size(2, 2)), Err(Error::Scale(_))));
    }

    #[test]
    fn numbers_that_cannot_be_counted_are_none() {
        assert_eq!(size(usize::MAX, 2).numbers_at_hand(1, 1), None);
        assert_eq!(size(1, 1).numbers_at_hand(1, usize::MAX), None);
    }
}
