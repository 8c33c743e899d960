//! Chapter *Softmax without the whole row*: the last “the” of the toy head
//! meets its keys one by one, then in two parts that are merged. Its claims,
//! and its mistakes and exercises, have files of their own.

pub mod claims;
pub mod practice;

use attention::Error;
use attention::online::Partial;
use ledger::{Ledger, number_tex};
use ndarray::{Array1, Array2, ArrayRef1, Axis, s};
use std::ops::Range;

use crate::queries_keys_values::{CAT, MESSAGES, SAT, THE, THING, TOKENS, example};

/// The size of a value in the toy head.
const D_V: usize = MESSAGES.len();
/// What a partial result holds, besides the output.
const KEPT: [&str; 5] = ["score", "largest m", "fade", "exponential", "sum ℓ"];
/// The two parts, and what they make together.
const PARTS: [&str; 3] = ["The, cat", "sat, on, the", "merged"];

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    enter_steps(ledger);
    enter_merge(ledger);
    claims::enter(ledger);
    practice::enter(ledger);
}

fn enter_steps(ledger: &mut Ledger) {
    ledger
        .enter("online.scores", scores)
        .columns(&TOKENS)
        .about("the scaled scores of the last “the”, all of them open");
    ledger
        .enter("online.steps", steps)
        .rows(&TOKENS)
        .columns(&KEPT)
        .about("what the last “the” keeps after each key: largest score, sum, and what changed");
    ledger
        .enter("online.outputs", outputs)
        .rows(&TOKENS)
        .columns(&MESSAGES)
        .about("the output before its division, after each key");
    ledger
        .enter("online.answers", answers)
        .rows(&TOKENS)
        .columns(&MESSAGES)
        .about("the output after each key, divided by the sum: attention over the keys so far");
    ledger
        .enter("online.cat.fade", fade_at_cat_spelled)
        .about("what the fade is when “cat” comes, written out");
    ledger.enter("online.cat.sum", sum_at_cat_spelled).about("the sum after “cat”, written out");
    ledger
        .enter("online.cat.output", output_at_cat_spelled)
        .about("the first number of the output after “cat”, written out");
    ledger.enter("online.sat.sum", sum_at_sat_spelled).about("the sum after “sat”, written out");
    ledger
        .enter("online.finished", finished)
        .columns(&MESSAGES)
        .symbol("o")
        .about("the output of the last “the”: sums divided at the end");
    ledger
        .enter("online.kept", numbers_kept)
        .about("how many numbers a partial result holds, for values of 128 numbers");
}

fn enter_merge(ledger: &mut Ledger) {
    ledger
        .enter("online.parts", parts)
        .rows(&PARTS)
        .columns(&["largest m", "fade", "sum ℓ", "“thing”", "“action”", "“small word”"])
        .about("two partial results, and what merging makes of them");
    ledger
        .enter("online.merge.fade", fade_of_merge_spelled)
        .about("how much the second part fades in the merge, written out");
    ledger
        .enter("online.merge.sum", sum_of_merge_spelled)
        .about("the sum of the merge, written out");
    ledger
        .enter("online.merge.output", output_of_merge_spelled)
        .about("the first number of the merged output, written out");
}

/// The scaled scores of the last “the”: `(T)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn scores() -> Result<Array1<f64>, Error> {
    Ok(example()?.trace.masked.row(THE).to_owned())
}

/// The partial result of some neighbouring keys, for the last “the”.
fn met(keys: Range<usize>) -> Result<Partial<f64>, Error> {
    let trace = example()?.trace;
    absorbed(&trace.masked.slice(s![THE, keys.clone()]), &trace.v.slice(s![keys, ..]))
}

/// The partial result of these scores `(n)` and values `(n, d_v)`, in their order.
///
/// # Errors
///
/// Those of [`Partial::empty`]; the values have the length that it was given.
pub(crate) fn absorbed(
    scores: &ArrayRef1<f64>,
    values: &ndarray::ArrayRef2<f64>,
) -> Result<Partial<f64>, Error> {
    let mut partial = Partial::empty(values.ncols())?;
    for (&score, value) in scores.iter().zip(values.outer_iter()) {
        partial.absorb(score, &value)?;
    }
    Ok(partial)
}

/// What is kept after each key, with what changed it: score, largest score,
/// fade of what was there before, exponential of the new key, sum; `(T, 5)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn steps() -> Result<Array2<f64>, Error> {
    steps_of(&scores()?)
}

/// The same for any scores: `(n)` → `(n, 5)`.
fn steps_of(scores: &ArrayRef1<f64>) -> Result<Array2<f64>, Error> {
    let mut partial = Partial::empty(0)?;
    let mut table = Array2::zeros((scores.len(), KEPT.len()));
    for (mut row, &score) in table.outer_iter_mut().zip(scores) {
        let before = partial.largest();
        partial.absorb(score, &Array1::zeros(0))?;
        let largest = partial.largest();
        let numbers =
            [score, largest, (before - largest).exp(), (score - largest).exp(), partial.sum()];
        row.assign(&Array1::from(numbers.to_vec()));
    }
    Ok(table)
}

/// The output after each key, not yet divided: `(T, d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn outputs() -> Result<Array2<f64>, Error> {
    after_each_key(|partial| partial.output().clone())
}

/// The output after each key, divided by the sum: `(T, d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn answers() -> Result<Array2<f64>, Error> {
    after_each_key(Partial::finish)
}

fn after_each_key(show: impl Fn(Partial<f64>) -> Array1<f64>) -> Result<Array2<f64>, Error> {
    let mut table = Array2::zeros((TOKENS.len(), D_V));
    for (key, mut row) in table.outer_iter_mut().enumerate() {
        row.assign(&show(met(0..key + 1)?));
    }
    Ok(table)
}

/// How much “The” fades when “cat” comes, in TeX.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn fade_at_cat_spelled() -> Result<String, Error> {
    let before = met(0..CAT)?;
    Ok(fade_spelled(&before, &met(0..CAT + 1)?))
}

/// The sum after “cat”, in TeX: what was there fades, and “cat” adds 1.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn sum_at_cat_spelled() -> Result<String, Error> {
    sum_spelled(CAT)
}

/// The sum after “sat”, in TeX: nothing fades.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn sum_at_sat_spelled() -> Result<String, Error> {
    sum_spelled(SAT)
}

/// The sum after a key, in TeX.
fn sum_spelled(key: usize) -> Result<String, Error> {
    let (before, after) = (met(0..key)?, met(0..key + 1)?);
    let fade = (before.largest() - after.largest()).exp();
    let exponential = (scores()?[key] - after.largest()).exp();
    Ok(format!(
        r"{} \cdot {} + {} \approx {}",
        number_tex(before.sum(), 2),
        number_tex(fade, 2),
        number_tex(exponential, 2),
        number_tex(after.sum(), 2)
    ))
}

/// The first number of the output after “cat”, in TeX.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn output_at_cat_spelled() -> Result<String, Error> {
    let (before, after) = (met(0..CAT)?, met(0..CAT + 1)?);
    let fade = (before.largest() - after.largest()).exp();
    Ok(format!(
        r"{} \cdot {} + {} \cdot {} \approx {}",
        number_tex(before.output()[THING], 2),
        number_tex(fade, 2),
        number_tex((scores()?[CAT] - after.largest()).exp(), 2),
        number_tex(example()?.trace.v[[CAT, THING]], 2),
        number_tex(after.output()[THING], 2)
    ))
}

/// `e^{m - m'} = …`, in TeX.
fn fade_spelled(before: &Partial<f64>, after: &Partial<f64>) -> String {
    let (from, to) = (before.largest(), after.largest());
    format!(
        r"e^{{{} - {}}} = e^{{{}}} \approx {}",
        number_tex(from, 2),
        number_tex(to, 2),
        number_tex(from - to, 2),
        number_tex((from - to).exp(), 2)
    )
}

/// The output of the last “the”, divided at the end: `(d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn finished() -> Result<Array1<f64>, Error> {
    Ok(met(0..TOKENS.len())?.finish())
}

/// The numbers in a partial result with `d_v = 128`: largest, sum and output.
///
/// # Errors
///
/// None that can happen: there is memory for 128 numbers.
pub fn numbers_kept() -> Result<usize, Error> {
    let partial = Partial::<f32>::empty(128)?;
    Ok([partial.largest(), partial.sum()].len() + partial.output().len())
}

/// “The, cat” and “sat, on, the”, and the two merged.
fn halves() -> Result<[Partial<f64>; 3], Error> {
    let (left, right) = (met(0..SAT)?, met(SAT..TOKENS.len())?);
    let merged = left.clone().merge(right.clone())?;
    Ok([left, right, merged])
}

/// The two parts and their merge: largest, fade in the merge, sum, output; `(3, 3 + d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn parts() -> Result<Array2<f64>, Error> {
    let parts = halves()?;
    let merged = parts[2].largest();
    let rows = parts.iter().map(|part| {
        let numbers = [part.largest(), (part.largest() - merged).exp(), part.sum()];
        ndarray::concatenate![Axis(0), Array1::from(numbers.to_vec()), *part.output()]
    });
    let mut table = Array2::zeros((PARTS.len(), 3 + D_V));
    for (mut row, numbers) in table.outer_iter_mut().zip(rows) {
        row.assign(&numbers);
    }
    Ok(table)
}

/// How much “sat, on, the” fades in the merge, in TeX.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn fade_of_merge_spelled() -> Result<String, Error> {
    let [_, right, merged] = halves()?;
    Ok(fade_spelled(&right, &merged))
}

/// The sum of the merge, in TeX.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn sum_of_merge_spelled() -> Result<String, Error> {
    Ok(merge_spelled(&halves()?, Partial::sum))
}

/// The first number of the merged output, in TeX.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn output_of_merge_spelled() -> Result<String, Error> {
    Ok(merge_spelled(&halves()?, |part| part.output()[THING]))
}

fn merge_spelled(parts: &[Partial<f64>; 3], number: impl Fn(&Partial<f64>) -> f64) -> String {
    let fade = |part: &Partial<f64>| number_tex((part.largest() - parts[2].largest()).exp(), 2);
    let shown = |part: &Partial<f64>| number_tex(number(part), 2);
    let [left, right, merged] = parts;
    format!(
        r"{} \cdot {} + {} \cdot {} \approx {}",
        shown(left),
        fade(left),
        shown(right),
        fade(right),
        shown(merged)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    /// −1.44/√3 = −0.8314 and 1.8/√3 = 1.0392 are 1.8706 apart, and e^−1.8706 is
    /// 0.1540; 0.4/√3 = 0.2309 is 0.8083 below, and e^−0.8083 is 0.4456.
    #[test]
    fn the_first_steps_are_those_worked_by_hand() {
        let first = array![
            [-0.8314, -0.8314, 0.0, 1.0, 1.0],
            [1.0392, 1.0392, 0.1540, 1.0, 1.1540],
            [0.2309, 1.0392, 1.0, 0.4456, 1.5996],
        ];
        assert_abs_diff_eq!(steps().unwrap().slice(s![..3, ..]).to_owned(), first, epsilon = 1e-4);
    }

    /// 0.2, then 0.2·0.1540 + 2; 0.9, then 0.9·0.1540.
    #[test]
    fn the_first_outputs_are_those_worked_by_hand() {
        let first = array![[0.2, 0.0, 0.9], [2.0308, 0.0, 0.1386]];
        assert_abs_diff_eq!(
            outputs().unwrap().slice(s![..2, ..]).to_owned(),
            first,
            epsilon = 1e-4
        );
    }

    #[test]
    fn the_answer_after_each_key_is_attention_over_the_keys_so_far() {
        use attention::recipe::{mix, softmax};
        let trace = example().unwrap().trace;
        for key in 0..TOKENS.len() {
            let weights = softmax(&trace.masked.slice(s![THE..=THE, ..=key]));
            let output = mix(&weights, &trace.v.slice(s![..=key, ..])).unwrap();
            assert_abs_diff_eq!(answers().unwrap().row(key), output.row(0), epsilon = 1e-12);
        }
    }

    /// The right part's largest is sat's 0.2309, so it fades by 0.4456.
    #[test]
    fn the_parts_are_those_worked_by_hand() {
        let parts = parts().unwrap();
        assert_abs_diff_eq!(
            parts.row(0).slice(s![..3]),
            array![1.0392, 1.0, 1.154],
            epsilon = 1e-4
        );
        assert_abs_diff_eq!(parts[[1, 1]], 0.4456, epsilon = 1e-4);
        assert_abs_diff_eq!(parts[[2, 2]], 1.154 + 0.4456 * parts[[1, 2]], epsilon = 1e-4);
    }

    #[test]
    fn what_is_spelled_adds_up() {
        assert_eq!(fade_at_cat_spelled().unwrap(), r"e^{-0.83 - 1.04} = e^{-1.87} \approx 0.15");
        assert_eq!(sum_at_cat_spelled().unwrap(), r"1.00 \cdot 0.15 + 1.00 \approx 1.15");
        assert_eq!(sum_at_sat_spelled().unwrap(), r"1.15 \cdot 1.00 + 0.45 \approx 1.60");
    }

    #[test]
    fn a_partial_result_of_values_of_128_is_130_numbers() {
        assert_eq!(numbers_kept(), Ok(130));
    }
}
