//! The backward pass told cell by cell, where it is more than a dot product: the
//! loss, the error it begins with, the scores' way back, and what the embeddings
//! get on three ways.

use super::line::{Line, Square};
use super::{Account, WAYS, dot, ways};
use crate::cell::{Name, Place};
use crate::head::Computed;
use crate::written::{Num, Rounding};

/// Digits of 1/√d.
const FACTOR_DIGITS: u8 = 4;

/// The number of a cell as the derivation of `derived` shows it.
fn number(head: &Computed, place: Place, derived: Name) -> Num {
    let Place(name, row, column) = place;
    Num::of(place, head.numbers(name)[[row, column]], head.close_digits(name, derived))
}

/// The account of the loss: half of the sum of squared misses.
pub(super) fn loss(head: &Computed, result: Num) -> Account {
    let digits = head.closeness(Name::Loss);
    let mut rounding = Rounding::default();
    let last = head.length() - 1;
    let term = |(column, label): (usize, &String)| {
        let left = number(head, Place(Name::Output, last, column), Name::Loss);
        let right = number(head, Place(Name::Target, 0, column), Name::Loss);
        let difference = Num::new(left.value - right.value, digits);
        let square = Num::new(difference.value * difference.value, digits);
        rounding.difference(&left, &right, &difference);
        rounding.product(&difference, &difference, &square);
        Square { label: label.clone(), left, right, difference, square }
    };
    let terms: Vec<Square> = head.state.messages.iter().enumerate().map(term).collect();
    // What is halved gives back exactly what it was when it is doubled.
    let sum = Num::new(2.0 * result.value, digits);
    rounding.sum(terms.iter().map(|term| &term.square), &sum);
    let half = Num::new(0.5, 1);
    rounding.product(&half, &sum, &result);
    let spelled: Vec<String> = terms
        .iter()
        .map(|Square { left, right, difference, square, .. }| {
            let [left, right] = [&left.shown, &right.shown];
            format!("{left} minus {right} is {}, squared {}", difference.shown, square.shown)
        })
        .collect();
    let spoken = format!(
        "{}. The squares add up to {}, and half of that is {}.",
        spelled.join("; "),
        sum.shown,
        result.shown
    );
    let labels = ["half", "sum of squares", "loss"];
    let half = Line::Times { labels, left: half, right: sum.clone(), result };
    Account::new(vec![Line::Squares { terms, sum }, half], spoken).rounded(&rounding)
}

/// The account of the output's gradient: how far the last row misses the target.
pub(super) fn output(head: &Computed, row: usize, column: usize, result: Num) -> Account {
    let tokens = &head.state.tokens;
    if row + 1 < head.length() {
        let sentence = format!(
            "The loss looks only at the output of the last token, “{}”. The output of “{}” makes \
             no difference to it.",
            tokens[head.length() - 1],
            tokens[row]
        );
        let spoken = format!("{sentence} The gradient is {}.", result.shown);
        return Account::new(vec![Line::Zero { result, sentence }], spoken);
    }
    let left = number(head, Place(Name::Output, row, column), Name::DOutput);
    let right = number(head, Place(Name::Target, 0, column), Name::DOutput);
    let mut rounding = Rounding::default();
    rounding.difference(&left, &right, &result);
    let spoken = format!(
        "The output, {}, minus the target, {}, is {}.",
        left.shown, right.shown, result.shown
    );
    let labels = ["output", "target", "gradient"];
    Account::new(vec![Line::Minus { labels, left, right, result }], spoken).rounded(&rounding)
}

/// The account of softmax backwards: the row's average by its own weights, how
/// far this entry is from it, and that times its weight. See
/// `attention::gradient::softmax`, with which this agrees to the bit.
pub(super) fn softmax(head: &Computed, row: usize, column: usize, result: Num) -> Account {
    let digits = head.closeness(Name::DMasked);
    let mut rounding = Rounding::default();
    let at = |name, key| number(head, Place(name, row, key), Name::DMasked);
    let pairs: Vec<(String, [Num; 2])> = (0..head.length())
        .zip(&head.state.tokens)
        .map(|(key, label)| (label.clone(), [at(Name::Weights, key), at(Name::DWeights, key)]))
        .collect();
    let average =
        pairs.iter().fold(0.0, |sum, (_, [weight, d_weight])| sum + weight.value * d_weight.value);
    let average = Num::new(average, digits);
    let (averaged, how) = dot::line(Some("average"), pairs, digits, average.clone(), &mut rounding);

    let [weight, d_weight] = [at(Name::Weights, column), at(Name::DWeights, column)];
    let above = Num::new(d_weight.value - average.value, digits);
    rounding.difference(&d_weight, &average, &above);
    rounding.product(&weight, &above, &result);
    let mut spoken = format!(
        "The average of the row’s gradients, by its own weights: {how} The gradient of this \
         weight, {}, minus the average is {}. Times the weight, {}, that is {}.",
        d_weight.shown, above.shown, weight.shown, result.shown
    );
    let mut lines = vec![
        averaged,
        Line::Minus {
            labels: ["gradient of the weight", "average", "above average"],
            left: d_weight,
            right: average,
            result: above.clone(),
        },
        Line::Times {
            labels: ["weight", "above average", "gradient"],
            left: weight,
            right: above,
            result,
        },
    ];
    if column >= head.open_keys(row) {
        let sentence = format!(
            "The mask has closed “{}”: its weight is 0, and 0 times anything is 0.",
            head.state.tokens[column]
        );
        spoken = format!("{sentence} {spoken}");
        lines.insert(0, Line::Sentence { sentence, rounding: None });
    }
    Account::new(lines, spoken).rounded(&rounding)
}

/// The account of the mask backwards.
pub(super) fn mask(head: &Computed, row: usize, column: usize, result: Num) -> Account {
    let place = Place(Name::DMasked, row, column);
    let score = Num::of(place, head.numbers(Name::DMasked)[[row, column]], head.digits(place.0));
    let tokens = &head.state.tokens;
    let (query, key) = (&tokens[row], &tokens[column]);
    if !head.state.mask {
        let sentence = "The mask is switched off: the score went through as it was, and so does \
                        its gradient."
            .to_owned();
        let spoken = format!("{sentence} It is {}.", result.shown);
        return Account::new(vec![Line::Same { score, result, sentence }], spoken);
    }
    let open = column < head.open_keys(row);
    let sentence = if open {
        format!(
            "“{key}” is open to “{query}”: the score went through as it was, and so does its \
             gradient."
        )
    } else {
        format!(
            "“{key}” is closed to “{query}”: the score was replaced by −∞ and had no say, so its \
             gradient is 0."
        )
    };
    let spoken = format!("{sentence} It is {}.", result.shown);
    Account::new(vec![Line::Mask { open, score, result, sentence }], spoken)
}

/// The account of the scale backwards: what was made smaller by a factor moves
/// the loss by that factor less.
pub(super) fn scale(head: &Computed, row: usize, column: usize, result: Num) -> Account {
    let place = Place(Name::DScaled, row, column);
    if !head.state.scale {
        let score = head.numbers(Name::DScaled)[[row, column]];
        let score = Num::of(place, score, head.digits(Name::DScaled));
        let sentence = "Dividing by √d is switched off, so the gradient stays as it is.".to_owned();
        let spoken = format!("{sentence} It is {}.", result.shown);
        return Account::new(vec![Line::Same { score, result, sentence }], spoken);
    }
    let left = number(head, place, Name::DScores);
    let right = Num::new(head.factor(), FACTOR_DIGITS);
    let mut rounding = Rounding::default();
    rounding.product(&left, &right, &result);
    let spoken = format!(
        "{} times {}, which is 1 divided by the square root of {}, is {}.",
        left.shown,
        right.shown,
        head.state.matches.len(),
        result.shown
    );
    let labels = ["before the scale", "1 / √d", "gradient"];
    Account::new(vec![Line::Times { labels, left, right, result }], spoken).rounded(&rounding)
}

/// The account of an embedding's gradient: what comes back on three ways, added.
pub(super) fn x(head: &Computed, row: usize, column: usize, result: Num) -> Account {
    let digits = head.closeness(Name::DX);
    let mut rounding = Rounding::default();
    let (mut lines, mut spoken, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    let parts = head.backward().map_or(&[][..], |pass| &pass.ways);
    for ((way, part), name) in WAYS.into_iter().zip(parts).zip(WAY_NAMES) {
        let pairs = ways(head, way, row, column)
            .into_iter()
            .map(|(label, places)| (label, places.map(|place| number(head, place, Name::DX))));
        let sum = Num::new(part[[row, column]], digits);
        let (line, how) =
            dot::line(Some(name), pairs.collect(), digits, sum.clone(), &mut rounding);
        lines.push(line);
        spoken.push(format!("Back {name}: {how}"));
        sums.push(sum);
    }
    rounding.sum(&sums, &result);
    spoken.push(format!("Together that is {}.", result.shown));
    let labels = WAY_NAMES.map(str::to_owned).into();
    lines.push(Line::Sum { name: Some("added up"), labels, terms: sums, sum: result });
    Account::new(lines, spoken.join(" ")).rounded(&rounding)
}

/// The ways on which an embedding reaches the loss.
const WAY_NAMES: [&str; 3] = ["through the query", "through the key", "through the value"];
