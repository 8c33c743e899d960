//! Chapter *What a forward pass costs*: counts of operations and bytes, for one
//! head and for whole models, and what a measured machine makes of them. The
//! machine, the models and the exercises have files of their own.

pub mod exercises;
pub mod machine;
pub mod models;

use attention::cost::{Head, Step, Work, decoding, step, tiled};
use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::Array2;

use crate::Claim;
use machine::roofline;

/// The six steps, as the tables name them.
const STEPS: [&str; 6] = ["project", "score", "scale", "mask", "softmax", "mix"];
/// The toy head.
const TOY: Head = Head { tokens: 5, d_model: 4, d: 3, d_v: 3 };
/// A head of realistic size: one of GPT-2 small, over four times its context.
pub const REAL: Head = Head { tokens: 4096, d_model: 768, d: 64, d_v: 64 };
/// The queries of a block, for tiles.
const BLOCK: u64 = 64;
/// The bytes of a single-precision number.
pub const BYTES: u64 = 4;
/// The lengths of the table of doublings.
const LENGTHS: [u64; 4] = [1024, 2048, 4096, 8192];

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    enter_head(ledger);
    enter_intensity(ledger);
    enter_decoding(ledger);
    machine::enter(ledger);
    models::enter(ledger);
    exercises::enter(ledger);
}

fn enter_head(ledger: &mut Ledger) {
    ledger
        .enter("cost.toy", toy_steps)
        .digits(0)
        .rows(&STEPS)
        .columns(&["multiplications", "operations", "read", "written"])
        .about("what each step costs for the toy head");
    ledger
        .enter("cost.real", real_steps)
        .digits(1)
        .rows(&STEPS)
        .columns(&["million operations", "MiB moved", "operations for a byte"])
        .about("what each step costs for 4096 tokens, d_model = 768 and d = 64");
    ledger
        .enter("cost.doubling", operations_by_length)
        .digits(0)
        .rows(&LENGTHS.map(|tokens| format!("T = {tokens}")))
        .columns(&STEPS)
        .about("million operations of each step, for four lengths");
    ledger
        .enter("cost.quadruples", scores_quadruple)
        .about("twice the tokens: twice the work to project, four times that of each other step");
    ledger
        .enter("cost.mostly.products", products_dominate)
        .about("more than 95 of 100 operations of that head are in products of matrices");
}

fn enter_intensity(ledger: &mut Ledger) {
    ledger
        .enter("cost.recipe.moved", recipe_mebibytes)
        .digits(0)
        .about("the MiB that steps 2 to 6 move for one such head");
    ledger
        .enter("cost.tiles.moved", tiles_mebibytes)
        .digits(0)
        .about("the MiB that they move in tiles, with blocks of 64 queries");
    ledger
        .enter("cost.recipe.intensity", recipe_intensity)
        .digits(1)
        .about("the operations for each byte moved, in steps 2 to 6 of the recipe");
    ledger
        .enter("cost.tiles.intensity", tiles_intensity)
        .digits(1)
        .about("the operations for each byte moved, in tiles");
    ledger
        .enter("cost.roofline", roofline_figure)
        .digits(1)
        .about("what this machine reaches at most, against the operations for each byte");
    ledger
        .enter("cost.floors", floors)
        .rows(&[&STEPS[1..], &["2 to 6 together", "in tiles"]].concat())
        .columns(&["to compute", "to move", "at least"])
        .about("the milliseconds that each step takes at least on this machine");
}

fn enter_decoding(ledger: &mut Ledger) {
    ledger
        .enter("cost.decode.intensity", decoding_intensity)
        .about("the operations for each byte, for one query and numbers of 4 bytes");
    ledger
        .enter("cost.decode.intensity.half", decoding_intensity_in_half_precision)
        .about("the same with numbers of 2 bytes");
    ledger
        .enter("cost.decode.intensity.shared", decoding_intensity_shared)
        .about("the same with 4 queries that share their keys and values");
    ledger
        .enter("cost.decode.any.length", decoding_intensity_stays)
        .about("from 1000 keys to 1 000 000, the operations for each byte change by less than 1 %");
    ledger
        .enter("cost.decode.memory", decoding_waits_for_memory)
        .about("decoding lies below the ridge of this machine");
    ledger
        .enter("cost.decode.share", decoding_share)
        .digits(1)
        .about("the percentage of this machine's arithmetic that decoding can use at most");
}

/// Why a count may be missing.
const TOO_LARGE: &str = "the count does not fit";

/// A count that is known to fit.
pub(crate) fn known<T>(count: Option<T>) -> Result<T, String> {
    count.ok_or_else(|| TOO_LARGE.to_owned())
}

/// The work of each step, for some head.
fn steps(head: Head) -> Result<[Work; 6], String> {
    let works: Vec<Work> = known(Step::ALL.into_iter().map(|each| step(each, head)).collect())?;
    works.try_into().map_err(|_| TOO_LARGE.to_owned())
}

/// Multiplications, operations, numbers read and written, for the toy head: `(6, 4)`.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn toy_steps() -> Result<Array2<f64>, String> {
    let works = steps(TOY)?;
    Ok(Array2::from_shape_fn((6, 4), |(row, column)| {
        let Work { multiplications, operations, read, written } = works[row];
        [multiplications, operations, read, written][column] as f64
    }))
}

/// Million operations, MiB and intensity of each step, for a head of realistic
/// size: `(6, 3)`.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn real_steps() -> Result<Array2<f64>, String> {
    let mut table = Array2::zeros((6, 3));
    for (mut row, work) in table.outer_iter_mut().zip(steps(REAL)?) {
        row[0] = work.operations as f64 / 1e6;
        row[1] = mebibytes(work)?;
        row[2] = known(work.intensity(BYTES))?;
    }
    Ok(table)
}

fn mebibytes(work: Work) -> Result<f64, String> {
    Ok(known(work.bytes(BYTES))? as f64 / f64::from(1 << 20))
}

/// Million operations of each step, for four lengths: `(4, 6)`.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn operations_by_length() -> Result<Array2<f64>, String> {
    let mut table = Array2::zeros((LENGTHS.len(), 6));
    for (mut row, tokens) in table.outer_iter_mut().zip(LENGTHS) {
        for (entry, work) in row.iter_mut().zip(steps(Head { tokens, ..REAL })?) {
            *entry = work.operations as f64 / 1e6;
        }
    }
    Ok(table)
}

/// Twice the tokens make twice the operations of step 1, and four times those
/// of the others.
///
/// # Errors
///
/// The step and the length for which it is not so.
pub fn scores_quadruple() -> Claim {
    for tokens in LENGTHS {
        let (once, twice) =
            (steps(Head { tokens, ..REAL })?, steps(Head { tokens: 2 * tokens, ..REAL })?);
        for (index, name) in STEPS.iter().enumerate() {
            let factor = if index == 0 { 2 } else { 4 };
            if twice[index].operations != factor * once[index].operations {
                return Err(format!("{name} does not grow {factor} times after {tokens}"));
            }
        }
    }
    Ok(())
}

/// More than 95 of 100 operations are in the products: project, score and mix.
///
/// # Errors
///
/// The share, where it is less.
pub fn products_dominate() -> Claim {
    let [project, score, scale, mask, softmax, mix] = steps(REAL)?.map(|work| work.operations);
    let products = project + score + mix;
    let share = products as f64 / (products + scale + mask + softmax) as f64;
    if share > 0.95 { Ok(()) } else { Err(format!("their share is {share}")) }
}

/// Steps 2 to 6 of the recipe together.
fn recipe() -> Result<Work, String> {
    let mut together = Work::default();
    for work in &steps(REAL)?[1..] {
        together = known(together.and(*work))?;
    }
    Ok(together)
}

/// Steps 2 to 6 in tiles.
fn in_tiles() -> Result<Work, String> {
    known(tiled(REAL, BLOCK))
}

/// The MiB that steps 2 to 6 move.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn recipe_mebibytes() -> Result<f64, String> {
    mebibytes(recipe()?)
}

/// The MiB that they move in tiles, if no key stays in the cache from one block
/// of queries to the next.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn tiles_mebibytes() -> Result<f64, String> {
    mebibytes(in_tiles()?)
}

/// Operations for each byte, in steps 2 to 6 of the recipe.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn recipe_intensity() -> Result<f64, String> {
    known(recipe()?.intensity(BYTES))
}

/// Operations for each byte, in tiles.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn tiles_intensity() -> Result<f64, String> {
    known(in_tiles()?.intensity(BYTES))
}

/// One query, 4096 keys: what a model that writes does again and again.
fn one_query(sharing: u64, keys: u64) -> Result<Work, String> {
    known(decoding(sharing, keys, 128, 128))
}

/// Operations for each byte when decoding in single precision.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn decoding_intensity() -> Result<f64, String> {
    known(one_query(1, 4096)?.intensity(BYTES))
}

/// Operations for each byte when decoding in half precision.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn decoding_intensity_in_half_precision() -> Result<f64, String> {
    known(one_query(1, 4096)?.intensity(2))
}

/// Operations for each byte when four queries share keys, in half precision.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn decoding_intensity_shared() -> Result<f64, String> {
    known(one_query(4, 4096)?.intensity(2))
}

/// More keys leave the operations for each byte as they are.
///
/// # Errors
///
/// Both numbers, where they differ by more than one part in a hundred.
pub fn decoding_intensity_stays() -> Claim {
    let few = known(one_query(1, 1_000)?.intensity(BYTES))?;
    let many = known(one_query(1, 1_000_000)?.intensity(BYTES))?;
    if (many / few - 1.0).abs() < 0.01 { Ok(()) } else { Err(format!("{few} becomes {many}")) }
}

/// Decoding in single precision needs fewer operations for a byte than the ridge.
///
/// # Errors
///
/// Both numbers, where it does not.
pub fn decoding_waits_for_memory() -> Claim {
    let (intensity, ridge) = (decoding_intensity()?, roofline()?.ridge());
    if intensity < ridge { Ok(()) } else { Err(format!("{intensity} is not below {ridge}")) }
}

/// The percentage of the machine's arithmetic that decoding can use.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn decoding_share() -> Result<f64, String> {
    let machine = roofline()?;
    Ok(100.0 * machine.ceiling(decoding_intensity()?) / machine.operations_per_second)
}

/// The roof of this machine, with the kinds of work of the chapter below it.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn roofline_figure() -> Result<Figure, String> {
    let machine = roofline()?;
    let at = |intensity: f64| (intensity, machine.ceiling(intensity) / 1e9);
    let mut roof: Vec<(f64, f64)> = (-3..=8).map(|power| at(2_f64.powi(power))).collect();
    roof.push(at(machine.ridge()));
    roof.sort_by(|a, b| a.0.total_cmp(&b.0));
    let point =
        |name: &str, intensity: f64| Series { name: name.to_owned(), points: vec![at(intensity)] };
    Ok(Figure {
        description: "A roof on logarithmic axes: a slope that rises with the operations for each \
                      byte, as far as memory is the limit, and then a level, where arithmetic is. \
                      Decoding is far down on the slope, the recipe further up, and tiles are \
                      furthest to the right."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::logarithmic("operations for each byte"),
            y: Axis::logarithmic("billion operations a second"),
            series: vec![
                Series { name: "the roof".to_owned(), points: roof },
                point("decoding", decoding_intensity()?),
                point("recipe", recipe_intensity()?),
                point("tiles", tiles_intensity()?),
            ],
        },
    })
}

/// The milliseconds that each of steps 2 to 6 takes at least: to compute, to
/// move, and the larger of the two; then all together, and in tiles; `(7, 3)`.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn floors() -> Result<Array2<f64>, String> {
    let roofline = roofline()?;
    let milliseconds = |work: Work| -> Result<[f64; 3], String> {
        let compute = work.operations as f64 / roofline.operations_per_second;
        let moving = known(work.bytes(BYTES))? as f64 / roofline.bytes_per_second;
        let least = known(roofline.seconds(work, BYTES))?;
        Ok([compute, moving, least].map(|seconds| seconds * 1e3))
    };
    let mut rows = Vec::new();
    for work in &steps(REAL)?[1..] {
        rows.push(milliseconds(*work)?);
    }
    // One step after the other: the limits of each add up.
    rows.push([0, 1, 2].map(|column| rows.iter().map(|row| row[column]).sum()));
    rows.push(milliseconds(in_tiles()?)?);
    Ok(Array2::from_shape_fn((rows.len(), 3), |(row, column)| rows[row][column]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2·4096²·64 operations; 4096² scores and twice 4096·64 numbers of 4 bytes.
    #[test]
    fn the_score_step_is_that_worked_by_hand() {
        let row = real_steps().unwrap().row(1).to_owned();
        assert!((row[0] - 2_147.483_648).abs() < 1e-9);
        assert!((row[1] - 66.0).abs() < 1e-9);
        assert!((row[2] - 2_147_483_648.0 / (66.0 * 1_048_576.0)).abs() < 1e-9);
    }

    /// 4·128 operations for two times 128 numbers of 4 bytes, and 5 for the
    /// softmax and the scale.
    #[test]
    fn decoding_does_half_an_operation_for_a_byte() {
        let by_hand = (4.0 * 128.0 + 5.0) / (2.0 * 128.0 * 4.0);
        assert!((decoding_intensity().unwrap() - by_hand).abs() < 1e-3);
    }

    #[test]
    fn the_steps_together_take_the_sum_of_what_they_take() {
        let floors = floors().unwrap();
        let sum: f64 = floors.column(2).iter().take(5).sum();
        assert!((floors[[5, 2]] - sum).abs() < 1e-9);
        assert!(floors[[5, 2]] >= floors[[5, 0]].max(floors[[5, 1]]) - 1e-9);
        assert!(machine::machine().unwrap().bandwidth() > 0.0);
    }
}
