//! What the chapter says about the toy head, each sentence a check. A check
//! takes any example, so that tests can show that it fails where it should.

use attention::{Mask, Options};
use ledger::Ledger;
use ndarray::{ArrayRef1, s};

use super::{CAT, Example, MEANINGS, SMALL_WORD, THE, THING, TOKENS, example, parts};
use crate::Claim;

/// Enters the claims of the chapter.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("qkv.the.is.small-word", the_is_mostly_small_word)
        .about("the embedding of the last “the” is mostly small word");
    ledger
        .enter("qkv.small-word.looks.for.thing", small_word_looks_for_a_thing)
        .about("W_Q sends small word to the first query number and to no other");
    ledger
        .enter("qkv.thing.is.found.first", thing_is_found_in_the_same_place)
        .about("W_K sends thing to the first key number and to no other");
    ledger
        .enter("qkv.cat.key.largest", cat_has_the_largest_first_key_number)
        .about("of all keys, cat's has the largest first number");
    ledger
        .enter("qkv.the.scores.cat.highest", the_scores_cat_highest)
        .about("the score of the→cat is the largest of its row");
    ledger
        .enter("qkv.the.half.to.cat", the_gives_half_to_cat)
        .about("“the” gives cat about half of its attention: from 0.45 to 0.55");
    ledger
        .enter("qkv.the.output.mostly.cat", output_is_mostly_cats_value)
        .about("more than half of the output of “the” comes from cat's value");
    ledger
        .enter("qkv.the.output.says.thing", output_says_thing)
        .about("the largest number in the output of “the” is the one that says “thing”");
    ledger
        .enter("qkv.cat.shares.evenly", cat_shares_evenly)
        .about("“cat” finds no action before it, and gives “The” and itself a half each");
    ledger
        .enter("qkv.rows.sum.to.one", rows_sum_to_one)
        .about("the weights are not negative, and each row adds up to 1");
    ledger
        .enter("qkv.future.is.hidden", future_is_hidden)
        .about("changing a token changes no output above its row");
}

/// [`mostly_small_word`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn the_is_mostly_small_word() -> Claim {
    mostly_small_word(&toy()?)
}

/// [`small_word_to_first_query_number`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn small_word_looks_for_a_thing() -> Claim {
    small_word_to_first_query_number(&toy()?)
}

/// [`thing_to_first_key_number`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn thing_is_found_in_the_same_place() -> Claim {
    thing_to_first_key_number(&toy()?)
}

/// [`cat_largest_first_key_number`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn cat_has_the_largest_first_key_number() -> Claim {
    cat_largest_first_key_number(&toy()?)
}

/// [`cat_scores_highest`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn the_scores_cat_highest() -> Claim {
    cat_scores_highest(&toy()?)
}

/// [`half_to_cat`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn the_gives_half_to_cat() -> Claim {
    half_to_cat(&toy()?)
}

/// [`mostly_cats_value`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn output_is_mostly_cats_value() -> Claim {
    mostly_cats_value(&toy()?)
}

/// [`says_thing`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn output_says_thing() -> Claim {
    says_thing(&toy()?)
}

/// [`halves_for_cat`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn cat_shares_evenly() -> Claim {
    halves_for_cat(&toy()?)
}

/// [`weights_are_shares`], of the toy head.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn rows_sum_to_one() -> Claim {
    weights_are_shares(&toy()?)
}

/// [`rows_above_stay`], of the toy head with the causal mask.
///
/// # Errors
///
/// Why it does not hold, in numbers.
pub fn future_is_hidden() -> Claim {
    rows_above_stay(&toy()?, Mask::Causal)
}

fn toy() -> Result<Example, String> {
    example().map_err(|error| error.to_string())
}

/// *Small word* is more than half of the embedding of the last “the”.
///
/// # Errors
///
/// The embedding, where it is not.
pub fn mostly_small_word(example: &Example) -> Claim {
    let embedding = example.x.row(THE);
    let total: f64 = embedding.iter().map(|number| number.abs()).sum();
    if embedding[SMALL_WORD] > total / 2.0 {
        Ok(())
    } else {
        Err(format!("{} is {} of {embedding}", MEANINGS[SMALL_WORD], embedding[SMALL_WORD]))
    }
}

/// The row of `W_Q` for *small word* is positive in the first column, 0 elsewhere.
///
/// # Errors
///
/// The row, where it is not.
pub fn small_word_to_first_query_number(example: &Example) -> Claim {
    to_first_number_alone("W_Q", SMALL_WORD, &example.head.w_q().row(SMALL_WORD))
}

/// The row of `W_K` for *thing* is positive in the first column, 0 elsewhere.
///
/// # Errors
///
/// The row, where it is not.
pub fn thing_to_first_key_number(example: &Example) -> Claim {
    to_first_number_alone("W_K", THING, &example.head.w_k().row(THING))
}

fn to_first_number_alone(matrix: &str, meaning: usize, row: &ArrayRef1<f64>) -> Claim {
    if row[0] > 0.0 && row.iter().skip(1).all(|&number| number == 0.0) {
        Ok(())
    } else {
        Err(format!("the row of {matrix} for {} is {row}", MEANINGS[meaning]))
    }
}

/// The first number of cat's key is larger than that of any other key.
///
/// # Errors
///
/// The token whose first key number is as large.
pub fn cat_largest_first_key_number(example: &Example) -> Claim {
    largest(&example.trace.k.column(0), CAT, &TOKENS)
}

/// The score of the→cat is larger than any other in its row.
///
/// # Errors
///
/// The token that scores as high.
pub fn cat_scores_highest(example: &Example) -> Claim {
    largest(&example.trace.scores.row(THE), CAT, &TOKENS)
}

/// After scale, mask and softmax, the→cat is from 0.45 to 0.55.
///
/// # Errors
///
/// The weight, where it is not.
pub fn half_to_cat(example: &Example) -> Claim {
    let weight = example.trace.weights[[THE, CAT]];
    if (0.45..=0.55).contains(&weight) {
        Ok(())
    } else {
        Err(format!("“the” gives {weight} of its attention to “cat”"))
    }
}

/// Cat's weighted value is more than half of all that makes up the output of “the”.
///
/// # Errors
///
/// The shares, where it is not.
pub fn mostly_cats_value(example: &Example) -> Claim {
    let sizes = parts(&example.trace, THE).mapv(f64::abs).sum_axis(ndarray::Axis(1));
    if sizes[CAT] > sizes.sum() / 2.0 {
        Ok(())
    } else {
        Err(format!("cat's part is {} of {sizes}", sizes[CAT]))
    }
}

/// The output of “the” is largest where it says “thing”.
///
/// # Errors
///
/// What it says at least as loudly.
pub fn says_thing(example: &Example) -> Claim {
    largest(&example.trace.output.row(THE), THING, &super::MESSAGES)
}

fn largest(numbers: &ArrayRef1<f64>, expected: usize, names: &[&str]) -> Claim {
    let rival = (0..numbers.len()).find(|&i| i != expected && numbers[i] >= numbers[expected]);
    match rival {
        None => Ok(()),
        Some(rival) => Err(format!(
            "{} has {}, not less than the {} of {}",
            names[rival], numbers[rival], numbers[expected], names[expected]
        )),
    }
}

/// The query of “cat” gives half of its attention to “The”, and half to itself.
///
/// # Errors
///
/// The weights, where it does not.
pub fn halves_for_cat(example: &Example) -> Claim {
    let weights = example.trace.weights.row(CAT);
    if weights == ndarray::array![0.5, 0.5, 0.0, 0.0, 0.0] {
        Ok(())
    } else {
        Err(format!("the weights of “cat” are {weights}"))
    }
}

/// No weight is negative, and each row of weights adds up to 1.
///
/// # Errors
///
/// The row that does not.
pub fn weights_are_shares(example: &Example) -> Claim {
    for (token, row) in TOKENS.iter().zip(example.trace.weights.outer_iter()) {
        let total = row.sum();
        if row.iter().any(|&weight| weight < 0.0) || (total - 1.0).abs() > 1e-12 {
            return Err(format!("the weights of “{token}” are {row}, which add up to {total}"));
        }
    }
    Ok(())
}

/// Whichever token is changed, the outputs of those before it stay, to the bit.
///
/// # Errors
///
/// The token whose change is seen by one before it.
pub fn rows_above_stay(example: &Example, mask: Mask) -> Claim {
    let output =
        |x: &_| example.head.attend(x, Options::masked(mask)).map_err(|error| error.to_string());
    let before = output(&example.x)?;
    for (changed, token) in TOKENS.iter().enumerate() {
        let mut x = example.x.clone();
        x.row_mut(changed).mapv_inplace(|number| 1.0 - 3.0 * number);
        let after = output(&x)?;
        if before.slice(s![..changed, ..]) != after.slice(s![..changed, ..]) {
            return Err(format!("changing “{token}” changes the output of a token before it"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::Head;
    use ndarray::{Array2, array};

    type Check = fn(&Example) -> Claim;

    const CHECKS: [(&str, Check); 11] = [
        ("mostly_small_word", mostly_small_word),
        ("small_word_to_first_query_number", small_word_to_first_query_number),
        ("thing_to_first_key_number", thing_to_first_key_number),
        ("cat_largest_first_key_number", cat_largest_first_key_number),
        ("cat_scores_highest", cat_scores_highest),
        ("half_to_cat", half_to_cat),
        ("mostly_cats_value", mostly_cats_value),
        ("says_thing", says_thing),
        ("halves_for_cat", halves_for_cat),
        ("weights_are_shares", weights_are_shares),
        ("future_is_hidden", |example| rows_above_stay(example, Mask::Causal)),
    ];

    /// The checks that fail for an example, by name.
    fn failing(example: &Example) -> Vec<&'static str> {
        let fails = CHECKS.iter().filter(|(_, check)| check(example).is_err());
        fails.map(|&(name, _)| name).collect()
    }

    struct Parts {
        x: Array2<f64>,
        w_q: Array2<f64>,
        w_k: Array2<f64>,
        w_v: Array2<f64>,
    }

    /// The toy example after a change of its embeddings or weights.
    fn changed(change: impl Fn(&mut Parts)) -> Example {
        let mut parts = Parts {
            x: super::super::embeddings(),
            w_q: super::super::query_weights(),
            w_k: super::super::key_weights(),
            w_v: super::super::value_weights(),
        };
        change(&mut parts);
        Example::new(parts.x, Head::new(parts.w_q, parts.w_k, parts.w_v).unwrap()).unwrap()
    }

    #[test]
    fn every_claim_holds_of_the_toy_head() {
        assert_eq!(failing(&example().unwrap()), [""; 0]);
    }

    #[test]
    fn a_the_that_is_also_the_first_token_is_not_mostly_small_word() {
        let example = changed(|parts| parts.x[[THE, 3]] = 1.0);
        assert_eq!(failing(&example), ["mostly_small_word"]);
    }

    #[test]
    fn a_small_word_that_also_looks_for_the_start_breaks_its_claim() {
        let example = changed(|parts| parts.w_q[[SMALL_WORD, 2]] = 0.1);
        assert_eq!(failing(&example), ["small_word_to_first_query_number"]);
    }

    #[test]
    fn a_thing_that_is_found_elsewhere_too_breaks_its_claim() {
        let example = changed(|parts| parts.w_k[[THING, 2]] = 0.1);
        assert_eq!(failing(&example), ["thing_to_first_key_number"]);
    }

    /// An action that is found as a thing, but put off by everything else that
    /// “the” looks for, so that its score stays small.
    #[test]
    fn a_verb_found_as_a_thing_takes_the_largest_first_key_number() {
        let example = changed(|parts| parts.w_k.row_mut(1).assign(&array![1.1, -8.0, 0.0]));
        assert_eq!(failing(&example), ["cat_largest_first_key_number"]);
    }

    /// “the” looks for an action a little more than for a thing, and passes over
    /// small words; what the verb says is too quiet to matter.
    #[test]
    fn a_verb_that_fits_a_little_better_scores_highest() {
        let example = changed(|parts| {
            parts.w_k.row_mut(1).assign(&array![0.9, 1.0, 0.0]);
            parts.w_k[[SMALL_WORD, 0]] = -5.0;
            parts.w_v[[1, 1]] = 0.1;
        });
        assert_eq!(failing(&example), ["cat_scores_highest"]);
    }

    #[test]
    fn a_small_word_that_looks_twice_as_hard_gives_cat_more_than_half() {
        let example = changed(|parts| parts.w_q[[SMALL_WORD, 0]] = 4.0);
        assert_eq!(failing(&example), ["half_to_cat"]);
    }

    #[test]
    fn an_action_that_shouts_drowns_cats_value() {
        // Louder in the message “thing”, so that the output still says it.
        let example = changed(|parts| parts.w_v[[1, 0]] = 6.0);
        assert_eq!(failing(&example), ["mostly_cats_value"]);
    }

    #[test]
    fn a_thing_that_says_action_leaves_the_output_saying_so() {
        let example = changed(|parts| parts.w_v.row_mut(THING).assign(&array![0.0, 2.0, 0.0]));
        assert_eq!(failing(&example), ["says_thing"]);
    }

    #[test]
    fn a_thing_that_can_be_found_as_the_start_draws_cat_to_itself() {
        let example = changed(|parts| parts.w_q[[THING, 2]] = 1.0);
        assert_eq!(failing(&example), ["halves_for_cat"]);
    }

    #[test]
    fn weights_that_are_no_shares_are_told() {
        let mut example = example().unwrap();
        example.trace.weights[[3, 0]] += 0.01;
        assert_eq!(failing(&example), ["weights_are_shares"]);
    }

    #[test]
    fn without_the_mask_the_future_is_seen() {
        let error = rows_above_stay(&example().unwrap(), Mask::Full).unwrap_err();
        assert!(error.contains("“cat”"), "{error}");
    }

    #[test]
    fn a_claim_that_fails_says_why_in_numbers() {
        let example = changed(|parts| parts.w_q[[SMALL_WORD, 0]] = 4.0);
        let reason = half_to_cat(&example).unwrap_err();
        assert!(reason.starts_with("“the” gives 0.8"), "{reason}");
    }
}
