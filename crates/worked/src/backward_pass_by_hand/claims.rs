//! What the chapter says about the gradients of the toy head, each sentence a
//! check. A check takes any backward pass, so that tests can show that it fails.

use ledger::Ledger;

use super::{Backward, backward};
use crate::Claim;
use crate::queries_keys_values::{CAT, MEANINGS, THE, TOKENS};

/// Enters the claims of the chapter.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("back.rows.sum.to.zero", rows_sum_to_zero)
        .about("each row of the gradient of the masked scores adds up to 0");
    ledger
        .enter("back.mask.changes.nothing", mask_changes_nothing)
        .about("the gradient of a closed score is 0 before the mask is asked");
    ledger
        .enter("back.the.alone.looks", the_alone_looks)
        .about("no score but those of the last “the” has a gradient");
    ledger
        .enter("back.cat.should.rise", cat_should_rise)
        .about("of the scores of “the”, cat's alone should rise; all others should fall");
    ledger
        .enter("back.w-q.what.the.is", weights_of_what_the_is)
        .about("W_Q has a gradient only in the rows of what “the” is");
    ledger
        .enter("back.everyone.hears", everyone_hears)
        .about("the embedding of every token has a gradient");
}

fn toy() -> Result<Backward, String> {
    backward().map_err(|error| error.to_string())
}

/// [`softmax_takes_what_it_gives`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn rows_sum_to_zero() -> Claim {
    softmax_takes_what_it_gives(&toy()?)
}

/// [`closed_scores_are_silent`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn mask_changes_nothing() -> Claim {
    closed_scores_are_silent(&toy()?)
}

/// [`only_the_last_row`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn the_alone_looks() -> Claim {
    only_the_last_row(&toy()?)
}

/// [`cat_rises_others_fall`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn cat_should_rise() -> Claim {
    cat_rises_others_fall(&toy()?)
}

/// [`only_what_the_is`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn weights_of_what_the_is() -> Claim {
    only_what_the_is(&toy()?)
}

/// [`every_token_has_a_gradient`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn everyone_hears() -> Claim {
    every_token_has_a_gradient(&toy()?)
}

/// Each row of the gradient of the masked scores adds up to 0.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn softmax_takes_what_it_gives(backward: &Backward) -> Claim {
    for (token, row) in TOKENS.iter().zip(backward.gradient.through.masked.outer_iter()) {
        if row.sum().abs() > 1e-14 {
            return Err(format!("the row of “{token}” adds up to {}", row.sum()));
        }
    }
    Ok(())
}

/// The mask has nothing left to do: a closed score has no weight, and so no gradient.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn closed_scores_are_silent(backward: &Backward) -> Claim {
    let through = &backward.gradient.through;
    if through.masked == through.scaled {
        Ok(())
    } else {
        Err(format!("before the mask {}, after it {}", through.masked, through.scaled))
    }
}

/// No score but those of the last “the” has a gradient.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn only_the_last_row(backward: &Backward) -> Claim {
    for (token, row) in TOKENS.iter().zip(backward.gradient.through.scores.outer_iter()).take(THE) {
        if row.iter().any(|&entry| entry != 0.0) {
            return Err(format!("the row of “{token}” is {row}"));
        }
    }
    Ok(())
}

/// The loss falls if the score of “the” with “cat” rises, and rises with any
/// other score of “the”.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn cat_rises_others_fall(backward: &Backward) -> Claim {
    let row = backward.gradient.through.scores.row(THE);
    for (key, (token, &entry)) in TOKENS.iter().zip(&row).enumerate() {
        if (entry < 0.0) != (key == CAT) || entry == 0.0 {
            return Err(format!("the gradient of the score with “{token}” is {entry}"));
        }
    }
    Ok(())
}

/// `W_Q` has a gradient only in the rows of what “the” is.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn only_what_the_is(backward: &Backward) -> Claim {
    let the = backward.example.x.row(THE);
    let rows = backward.gradient.w_q.outer_iter();
    for ((meaning, row), &amount) in MEANINGS.iter().zip(rows).zip(the) {
        let silent = row.iter().all(|&entry| entry == 0.0);
        if silent != (amount == 0.0) {
            return Err(format!("“the” is {amount} of {meaning}, whose row is {row}"));
        }
    }
    Ok(())
}

/// The embedding of every token has a gradient.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn every_token_has_a_gradient(backward: &Backward) -> Claim {
    for (token, row) in TOKENS.iter().zip(backward.gradient.x.outer_iter()) {
        if row.iter().all(|&entry| entry == 0.0) {
            return Err(format!("that of “{token}” has none"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backward_pass_by_hand::{Numbers, W_K, W_V, X};

    /// A backward pass with something changed before it.
    fn with(change: impl Fn(&mut Numbers)) -> Backward {
        let mut numbers = Numbers::toy();
        change(&mut numbers);
        Backward::new(numbers.example().unwrap()).unwrap()
    }

    #[test]
    fn a_softmax_that_keeps_something_is_told() {
        let mut backward = backward().unwrap();
        backward.gradient.through.masked[[THE, CAT]] += 0.1;
        assert!(softmax_takes_what_it_gives(&backward).unwrap_err().contains("“the”"));
        assert!(closed_scores_are_silent(&backward).is_err());
    }

    #[test]
    fn a_loss_that_looks_elsewhere_gives_other_scores_a_gradient() {
        let example = Numbers::toy().example().unwrap();
        let backward = Backward::from_output(&example.trace.output.clone(), example).unwrap();
        assert!(only_the_last_row(&backward).unwrap_err().contains("“cat”"));
        assert!(only_what_the_is(&backward).is_err());
    }

    #[test]
    fn a_verb_that_says_thing_should_be_seen_more_as_well() {
        let backward = with(|numbers| numbers.matrices[W_V].row_mut(1)[0] = 3.0);
        assert!(cat_rises_others_fall(&backward).unwrap_err().contains("“sat”"));
    }

    #[test]
    fn a_token_that_means_nothing_and_cannot_be_sent_anything_has_no_gradient() {
        // A head whose keys and values are blind to all has nothing to say to a token before.
        let backward = with(|numbers| {
            numbers.matrices[W_K].fill(0.0);
            numbers.matrices[W_V].fill(0.0);
            numbers.matrices[X].row_mut(0).fill(0.0);
        });
        assert!(every_token_has_a_gradient(&backward).unwrap_err().contains("“The”"));
    }
}
