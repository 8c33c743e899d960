//! What a trained head has found: which words and positions fit each other, and
//! what the words say. Read off the weights, without any sentence.

use std::ops::Range;

use attention::{Head, recipe};
use learning::single_head::{D, Training, WORDS};
use ledger::Ledger;
use ndarray::{Array1, Array2, Axis, concatenate, s};

use super::runs::{Error, Lesson, Noun, Previous, text};
use super::{POSITIONS, words};
use crate::Claim;

/// Where the nouns stand among the words, and the words at which they are asked for.
const NOUNS: Range<usize> = 4..8;
const ASKING: Range<usize> = 8..12;
/// The words whose values are shown: a determiner and the nouns.
const SAYING: [&str; 5] = [WORDS[0], WORDS[4], WORDS[5], WORDS[6], WORDS[7]];

/// Enters the values of the section.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("learn.noun.fits", noun_fits)
        .rows(&WORDS[ASKING])
        .columns(&WORDS)
        .about("how well each word's key fits the query of the words that ask for the noun");
    ledger
        .enter("learn.noun.fits.nouns", nouns_fit_best)
        .about("in each row every noun fits better than every other word");
    ledger
        .enter("learn.noun.fits.positions", positions_fit)
        .columns(&POSITIONS)
        .about("how well each position's key fits these queries, on average");
    ledger
        .enter("learn.noun.never.first", first_position_fits_worst)
        .about("the first position fits worse than the three where nouns stand");
    ledger
        .enter("learn.noun.says", words_say)
        .rows(&SAYING)
        .columns(&WORDS)
        .about("what the value of a determiner and of each noun says");
    ledger
        .enter("learn.noun.says.itself", nouns_say_themselves)
        .about("each noun says itself louder than any other word");
    ledger
        .enter("learn.previous.fits", positions_fit_positions)
        .digits(1)
        .rows(&POSITIONS)
        .columns(&POSITIONS)
        .about("how well each position's key fits each position's query");
    ledger
        .enter("learn.previous.fits.before", the_one_before_fits_best)
        .about("of the positions that may be seen, the one before fits best");
}

/// How well every key fits every query, words and positions by themselves:
/// `W_Q·W_Kᵀ/√d`, of shape `(d_model, d_model)`.
fn fits(head: &Head<f64>) -> Result<Array2<f64>, Error> {
    let scores = recipe::score(head.w_q(), head.w_k()).map_err(text)?;
    Ok(recipe::scale(&scores, recipe::default_scale(D)))
}

/// How well each word's key fits the queries of the words that ask for the noun.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn noun_fits() -> Result<Array2<f64>, Error> {
    noun_fits_of(&Noun::run()?.end)
}

/// The same of any training.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn noun_fits_of(training: &Training) -> Result<Array2<f64>, Error> {
    Ok(fits(training.head())?.slice(s![ASKING, ..words()]).to_owned())
}

/// [`nouns_win`], after the training of the text.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn nouns_fit_best() -> Claim {
    nouns_win(&noun_fits()?)
}

/// In each row every noun fits better than every other word.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn nouns_win(fits: &Array2<f64>) -> Claim {
    for (row, asking) in fits.outer_iter().zip(&WORDS[ASKING]) {
        for (noun, word) in NOUNS.flat_map(|noun| (0..words()).map(move |word| (noun, word))) {
            if !NOUNS.contains(&word) && row[noun] <= row[word] {
                let [noun_is, word_is] = [row[noun], row[word]];
                return Err(format!(
                    "“{asking}”: “{}” fits by {noun_is}, “{}” by {word_is}",
                    WORDS[noun], WORDS[word]
                ));
            }
        }
    }
    Ok(())
}

/// How well each position's key fits the same queries, averaged over them.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn positions_fit() -> Result<Array1<f64>, Error> {
    let fits = fits(Noun::run()?.end.head())?;
    fits.slice(s![ASKING, words()..]).mean_axis(Axis(0)).ok_or_else(|| "no rows".to_owned())
}

/// [`first_is_worst`], after the training of the text.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn first_position_fits_worst() -> Claim {
    first_is_worst(&positions_fit()?)
}

/// The first position fits worse than the second, third and fourth.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn first_is_worst(positions: &Array1<f64>) -> Claim {
    if (1..4).all(|position| positions[0] < positions[position]) {
        Ok(())
    } else {
        Err(format!("they fit by {positions}"))
    }
}

/// The values of a determiner and of the nouns, without their positions.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn words_say() -> Result<Array2<f64>, Error> {
    let w_v = Noun::run()?.end.head().w_v();
    concatenate(Axis(0), &[w_v.slice(s![..1, ..]), w_v.slice(s![NOUNS, ..])]).map_err(text)
}

/// [`say_themselves`], after the training of the text.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn nouns_say_themselves() -> Claim {
    say_themselves(&words_say()?)
}

/// In every row but the first, the noun's own column has the largest number.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn say_themselves(said: &Array2<f64>) -> Claim {
    for (row, noun) in said.outer_iter().skip(1).zip(NOUNS) {
        if (0..words()).any(|word| word != noun && row[word] >= row[noun]) {
            return Err(format!("“{}” says {row}", WORDS[noun]));
        }
    }
    Ok(())
}

/// How well each position's key fits each position's query, once the head copies
/// the word before.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn positions_fit_positions() -> Result<Array2<f64>, Error> {
    Ok(fits(Previous::run()?.end.head())?.slice(s![words().., words()..]).to_owned())
}

/// [`one_before_wins`], after the training of the text.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn the_one_before_fits_best() -> Claim {
    one_before_wins(&positions_fit_positions()?)
}

/// In each row but the first, of the positions up to its own the one before fits best.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn one_before_wins(fits: &Array2<f64>) -> Claim {
    for (at, row) in fits.outer_iter().enumerate().skip(1) {
        if (0..=at).any(|seen| seen != at - 1 && row[seen] >= row[at - 1]) {
            return Err(format!("to the {} position they fit by {row}", POSITIONS[at]));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_weights_have_found_nothing() {
        let start = &Noun::run().unwrap().start;
        assert!(nouns_win(&noun_fits_of(start).unwrap()).unwrap_err().contains("fits by"));
        let random = fits(start.head()).unwrap();
        let positions = random.slice(s![words().., words()..]).to_owned();
        assert!(one_before_wins(&positions).unwrap_err().contains("position"));
        let said = start.head().w_v().slice(s![3..8, ..]).to_owned();
        assert!(say_themselves(&said).is_err());
    }

    #[test]
    fn a_first_position_that_fits_is_told() {
        let mut positions = positions_fit().unwrap();
        positions[0] = 2.0;
        assert!(first_is_worst(&positions).is_err());
    }
}
