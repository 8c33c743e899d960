//! The backward pass told cell by cell, where it is more than a dot product and
//! other than the way forward: the loss, the error it begins with, softmax, and
//! what the embeddings get on three ways.

use super::line::{Line, Square};
use super::{Account, WAYS, dot, terms, way};
use crate::cell::{Name, Place};
use crate::head::Computed;
use crate::written::{Num, Rounding};

/// The account of the loss: half of the sum of squared misses.
pub(super) fn loss(head: &Computed, place: Place, result: Num) -> Account {
    let digits = head.closeness(Name::Loss);
    let mut rounding = Rounding::default();
    let (mut squares, mut spoken) = (Vec::new(), String::new());
    for (label, places) in terms(head, place) {
        let [left, right] = places.map(|place| head.number(place, Name::Loss));
        let difference = Num::new(left.value - right.value, digits);
        let square = Num::new(difference.value * difference.value, digits);
        rounding.difference(&left, &right, &difference);
        rounding.product(&difference, &difference, &square);
        spoken += &format!(
            "{} minus {} is {}, squared {}; ",
            left.shown, right.shown, difference.shown, square.shown
        );
        squares.push(Square { label, left, right, difference, square });
    }
    // What was halved is exactly what it was when it is doubled.
    let sum = Num::new(2.0 * result.value, digits);
    rounding.sum(squares.iter().map(|term| &term.square), &sum);
    let half = Num::new(0.5, 1);
    rounding.product(&half, &sum, &result);
    spoken +=
        &format!("the squares add up to {}, and half of that is {}.", sum.shown, result.shown);
    let labels = ["half", "sum of squares", "loss"];
    let half = Line::Times { labels, left: half, right: sum.clone(), result };
    Account::new(vec![Line::Squares { terms: squares, sum }, half], spoken).rounded(&rounding)
}

/// The account of the output's gradient: how far the last row misses the target.
pub(super) fn output(head: &Computed, place: Place, result: Num) -> Account {
    let [(_, places)] = &terms(head, place)[..] else {
        let tokens = &head.state.tokens;
        let sentence = format!(
            "The loss looks only at the output of the last token, “{}”. The output of “{}” makes \
             no difference to it.",
            tokens[head.length() - 1],
            tokens[place.1]
        );
        let spoken = format!("{sentence} The gradient is {}.", result.shown);
        return Account::new(vec![Line::Zero { result, sentence }], spoken);
    };
    let [left, right] = places.map(|place| head.number(place, Name::DOutput));
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
pub(super) fn softmax(head: &Computed, place: Place, result: Num) -> Account {
    let Place(name, row, column) = place;
    let digits = head.closeness(name);
    let mut rounding = Rounding::default();
    let terms = terms(head, place);
    let [weight, d_weight] = terms[column].1.map(|place| head.number(place, name));
    let (average, averaged, how) = dot::named(head, name, "average", terms, &mut rounding);

    let above = Num::new(d_weight.value - average.value, digits);
    rounding.difference(&d_weight, &average, &above);
    rounding.product(&weight, &above, &result);
    let mut spoken = format!(
        "The average of the row’s gradients, by its own weights: {how} The gradient of this \
         weight, {}, minus the average is {}. Times the weight, {}, that is {}.",
        d_weight.shown, above.shown, weight.shown, result.shown
    );
    let labels = ["gradient of the weight", "average", "above average"];
    let minus = Line::Minus { labels, left: d_weight, right: average, result: above.clone() };
    let labels = ["weight", "above average", "gradient"];
    let times = Line::Times { labels, left: weight, right: above, result };
    let mut lines = vec![averaged, minus, times];
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

/// The account of an embedding's gradient: what comes back on three ways, added.
pub(super) fn x(head: &Computed, place: Place, result: Num) -> Account {
    let mut rounding = Rounding::default();
    let (mut lines, mut spoken) = (Vec::new(), String::new());
    let (mut labels, mut sums) = (Vec::new(), Vec::new());
    for (label, name, matrices) in WAYS {
        let terms = way(head, matrices, place);
        let (sum, line, how) = dot::named(head, Name::DX, name, terms, &mut rounding);
        spoken += &format!("Back {name}: {how} ");
        lines.push(line);
        labels.push(label.to_owned());
        sums.push(sum);
    }
    rounding.sum(&sums, &result);
    spoken += &format!("Together that is {}.", result.shown);
    lines.push(Line::Sum { name: Some("added up"), labels, terms: sums, sum: result });
    Account::new(lines, spoken).rounded(&rounding)
}
