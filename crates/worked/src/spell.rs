//! Calculations written out in TeX, with the numbers put in by code. What is
//! spelled is read from arrays; nothing is computed here but the last sum.

use ledger::number_tex;
use ndarray::ArrayRef1;

/// A dot product written out: `1.0 \cdot 2.0 + (-1.0) \cdot 3.0 = -1.00`.
///
/// The factors are shown with `digits` digits, the sum with `sum_digits`.
pub(crate) fn dot_product(
    left: &ArrayRef1<f64>,
    right: &ArrayRef1<f64>,
    digits: u8,
    sum_digits: u8,
) -> String {
    let terms: Vec<String> = left
        .iter()
        .zip(right)
        .map(|(&a, &b)| format!(r"{} \cdot {}", factor(a, digits), factor(b, digits)))
        .collect();
    format!("{} = {}", terms.join(" + "), number_tex(left.dot(right), sum_digits))
}

/// A sum written out: `(-0.25) + 1.00 = 0.75`.
pub(crate) fn sum(terms: &ArrayRef1<f64>, digits: u8) -> String {
    let spelled: Vec<String> = terms.iter().map(|&term| factor(term, digits)).collect();
    format!("{} = {}", spelled.join(" + "), number_tex(terms.sum(), digits))
}

/// One weight of a softmax written out: an exponential over the sum of all.
pub(crate) fn softmax_weight(scores: &ArrayRef1<f64>, index: usize, digits: u8) -> String {
    let power = |score: &f64| format!("e^{{{}}}", number_tex(*score, digits));
    let powers: Vec<String> = scores.iter().map(power).collect();
    let total: f64 = scores.iter().map(|score| score.exp()).sum();
    format!(
        r"\frac{{{}}}{{{}}} = \frac{{{}}}{{{}}}",
        powers[index],
        powers.join(" + "),
        number_tex(scores[index].exp(), digits),
        number_tex(total, digits),
    )
}

/// A factor of a product, or a term of a sum: a negative one stands in brackets.
fn factor(value: f64, digits: u8) -> String {
    let number = number_tex(value, digits);
    if number.starts_with('-') { format!("({number})") } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_dot_product_brackets_what_is_negative() {
        let spelled = dot_product(&array![1.0, -1.0], &array![2.0, 3.0], 1, 2);
        assert_eq!(spelled, r"1.0 \cdot 2.0 + (-1.0) \cdot 3.0 = -1.00");
    }

    #[test]
    fn a_sum_brackets_what_is_negative() {
        assert_eq!(sum(&array![-0.25, 1.0], 2), "(-0.25) + 1.00 = 0.75");
    }

    #[test]
    fn a_softmax_weight_is_a_share_of_the_sum() {
        let spelled = softmax_weight(&array![0.0, 1.0], 1, 1);
        assert_eq!(spelled, r"\frac{e^{1.0}}{e^{0.0} + e^{1.0}} = \frac{2.7}{3.7}");
    }
}
