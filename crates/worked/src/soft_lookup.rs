//! Chapter *Attention is a soft lookup*: a menu of drinks, looked up first by
//! name and then by likeness. One query, a handful of keys; no tokens yet.

use attention::Error;
use attention::recipe::{mix, scale, score, softmax};
use ledger::{Axis, Figure, Ledger, Plot, Point, Series};
use ndarray::{Array1, Array2, ArrayRef2, array};

use crate::{Claim, spell};

/// The drinks on the menu, one a row of [`keys`] and [`values`].
pub const DRINKS: [&str; 4] = ["juice", "cocoa", "coffee", "water"];
/// What the two numbers of a key or a query say.
pub const TASTES: [&str; 2] = ["sweet", "bitter"];
/// What the three numbers of a value say.
pub const FACTS: [&str; 3] = ["coins", "minutes", "spoons of sugar"];

const COCOA: usize = 1;
const COFFEE: usize = 2;
/// The temperatures of the table, from cold to hot.
const TEMPERATURES: [f64; 5] = [0.1, 0.25, 0.5, 1.0, 4.0];

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("lookup.keys", keys)
        .digits(1)
        .rows(&DRINKS)
        .columns(&TASTES)
        .symbol("K")
        .about("each drink's key: how it tastes");
    ledger
        .enter("lookup.values", values)
        .digits(0)
        .rows(&DRINKS)
        .columns(&FACTS)
        .symbol("V")
        .about("each drink's value: what one wants to know of it");
    ledger
        .enter("lookup.query", query)
        .digits(1)
        .columns(&TASTES)
        .symbol("q")
        .about("the query: the taste that is asked for");
    ledger
        .enter("lookup.map", map)
        .digits(1)
        .about("the keys and the query as arrows on the plane of tastes");
    enter_steps(ledger);
    enter_temperature(ledger);
    enter_exercises(ledger);
}

fn enter_steps(ledger: &mut Ledger) {
    ledger
        .enter("lookup.score.cocoa", cocoa_score_spelled)
        .about("the dot product of the query and cocoa's key, written out");
    ledger
        .enter("lookup.scores", scores)
        .columns(&DRINKS)
        .symbol("s")
        .about("how alike the query and each key are");
    ledger
        .enter("lookup.exponentials", exponentials)
        .columns(&DRINKS)
        .about("the exponential of each score");
    ledger.enter("lookup.sum", sum_of_exponentials).about("the sum of the exponentials");
    ledger
        .enter("lookup.weights", weights)
        .columns(&DRINKS)
        .symbol("a")
        .about("each drink's weight in the answer");
    ledger.enter("lookup.weight.cocoa", cocoa_weight).about("cocoa's weight in the answer");
    ledger
        .enter("lookup.answer", answer)
        .columns(&FACTS)
        .symbol("o")
        .about("the answer: the weighted average of the values");
    ledger
        .enter("lookup.answer.coins", answer_in_coins_spelled)
        .about("the first number of the answer, written out");
    ledger
        .enter("lookup.weights.are.shares", weights_are_shares)
        .about("every weight is positive and together they are 1");
    ledger
        .enter("lookup.weights.keep.order", weights_keep_order)
        .about("a higher score always gets a higher weight");
}

fn enter_temperature(ledger: &mut Ledger) {
    ledger
        .enter("lookup.by.temperature", weights_by_temperature)
        .rows(&TEMPERATURES.map(|temperature| format!("τ = {temperature}")))
        .columns(&DRINKS)
        .about("the weights at five temperatures");
    ledger
        .enter("lookup.temperature.curves", temperature_curves)
        .digits(3)
        .about("the weights against the temperature");
    ledger
        .enter("lookup.cold.is.exact", cold_is_exact)
        .about("close to temperature 0 the answer is the value of the best match alone");
    ledger
        .enter("lookup.hot.is.average", hot_is_average)
        .about("at a high temperature the answer is the plain average of the values");
}

fn enter_exercises(ledger: &mut Ledger) {
    ledger
        .enter("lookup.exercise.coffee", coffee_score_spelled)
        .about("the dot product of the query and coffee's key, written out");
    ledger
        .enter("lookup.exercise.average", plain_average)
        .columns(&FACTS)
        .about("the plain average of the values");
    ledger
        .enter("lookup.exercise.halving", halving_is_doubling)
        .about("halving the temperature does what doubling the query does");
    ledger
        .enter("lookup.exercise.finds.itself", unit_key_finds_itself)
        .about("a query equal to a key of length 1 scores highest at that key");
    ledger
        .enter("lookup.exercise.loud.key", loud_key_wins)
        .about("a key three times as long wins over the key that fits best");
}

/// The keys: how sweet and how bitter each drink is, `(4, 2)`.
///
/// All but water's have length 1, so that a score measures direction alone.
#[must_use]
pub fn keys() -> Array2<f64> {
    array![[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.0, 0.0]]
}

/// The values: price, waiting time and sugar of each drink, `(4, 3)`.
#[must_use]
pub fn values() -> Array2<f64> {
    array![[3.0, 1.0, 2.0], [4.0, 6.0, 3.0], [2.0, 4.0, 0.0], [1.0, 0.0, 0.0]]
}

/// The query: sweet, and nearly as bitter. No drink's key is equal to it.
#[must_use]
pub fn query() -> Array1<f64> {
    array![1.0, 0.8]
}

/// The keys and the query on the plane of tastes.
#[must_use]
pub fn map() -> Figure {
    let point = |label: &str, x, y| Point { label: label.to_owned(), x, y };
    let (keys, query) = (keys(), query());
    let drinks =
        DRINKS.iter().zip(keys.outer_iter()).map(|(drink, key)| point(drink, key[0], key[1]));
    Figure {
        description: "A plane of tastes, sweet to the right and bitter upwards. Juice points \
                      right, coffee up, cocoa between the two; water stays at the origin. The \
                      query points between juice and coffee, closest to cocoa."
            .to_owned(),
        plot: Plot::Plane {
            x: Axis::linear("sweet"),
            y: Axis::linear("bitter"),
            groups: vec![
                ("query".to_owned(), vec![point("asked for", query[0], query[1])]),
                ("keys".to_owned(), drinks.collect()),
            ],
        },
    }
}

/// A soft lookup: the average of the values, weighted by how alike query and key are.
///
/// `softmax(q·Kᵀ / τ)·V`, for one query or several.
///
/// # Shapes
///
/// `queries (T_q, d)`, `keys (T_k, d)`, `values (T_k, d_v)` → `(T_q, d_v)`.
///
/// # Errors
///
/// [`Error::Shape`] if the shapes do not fit.
pub fn look_up(
    queries: &ArrayRef2<f64>,
    keys: &ArrayRef2<f64>,
    values: &ArrayRef2<f64>,
    temperature: f64,
) -> Result<Array2<f64>, Error> {
    let scores = score(queries, keys)?;
    let weights = softmax(&scale(&scores, 1.0 / temperature));
    mix(&weights, values)
}

/// How alike the query and each key are: `(4)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn scores() -> Result<Array1<f64>, Error> {
    scores_of(query())
}

fn scores_of(query: Array1<f64>) -> Result<Array1<f64>, Error> {
    Ok(only_row(&score(&one_row(query), &keys())?))
}

/// The dot product of the query and cocoa's key, written out in TeX.
#[must_use]
pub fn cocoa_score_spelled() -> String {
    spell::dot_product(&query(), &keys().row(COCOA), 1, 2)
}

/// The exponential of each score: `(4)`.
///
/// # Errors
///
/// Those of [`scores`].
pub fn exponentials() -> Result<Array1<f64>, Error> {
    Ok(scores()?.exp())
}

/// The sum of the exponentials.
///
/// # Errors
///
/// Those of [`scores`].
pub fn sum_of_exponentials() -> Result<f64, Error> {
    Ok(exponentials()?.sum())
}

/// The weights of the drinks in the answer, at temperature 1: `(4)`.
///
/// # Errors
///
/// Those of [`scores`].
pub fn weights() -> Result<Array1<f64>, Error> {
    weights_at(query(), 1.0)
}

fn weights_at(query: Array1<f64>, temperature: f64) -> Result<Array1<f64>, Error> {
    let scaled = scale(&one_row(scores_of(query)?), 1.0 / temperature);
    Ok(only_row(&softmax(&scaled)))
}

/// Cocoa's weight in the answer.
///
/// # Errors
///
/// Those of [`scores`].
pub fn cocoa_weight() -> Result<f64, Error> {
    Ok(weights()?[COCOA])
}

/// The answer at temperature 1, the weighted average of the values: `(3)`.
///
/// # Errors
///
/// Those of [`scores`].
pub fn answer() -> Result<Array1<f64>, Error> {
    answer_at(1.0)
}

fn answer_at(temperature: f64) -> Result<Array1<f64>, Error> {
    Ok(only_row(&look_up(&one_row(query()), &keys(), &values(), temperature)?))
}

/// The first number of the answer, written out in TeX.
///
/// # Errors
///
/// Those of [`scores`].
pub fn answer_in_coins_spelled() -> Result<String, Error> {
    let prices = values().column(0).to_owned();
    let terms: Vec<String> = weights()?
        .iter()
        .zip(&prices)
        .map(|(&weight, &price)| {
            format!(r"{} \cdot {}", ledger::number_tex(weight, 2), ledger::number_tex(price, 0))
        })
        .collect();
    Ok(format!(r"{} \approx {}", terms.join(" + "), ledger::number_tex(answer()?[0], 2)))
}

/// Every weight is positive, and together they are 1.
///
/// # Errors
///
/// The weights, where it is not so.
pub fn weights_are_shares() -> Claim {
    let weights = weights().map_err(|error| error.to_string())?;
    let total = weights.sum();
    if weights.iter().all(|&weight| weight > 0.0) && (total - 1.0).abs() < 1e-12 {
        Ok(())
    } else {
        Err(format!("the weights {weights} add up to {total}"))
    }
}

/// A drink with a higher score has a higher weight.
///
/// # Errors
///
/// Two drinks of which that is not so.
pub fn weights_keep_order() -> Claim {
    let scores = scores().map_err(|error| error.to_string())?;
    let weights = weights().map_err(|error| error.to_string())?;
    for (a, &score_a) in scores.iter().enumerate() {
        for (b, &score_b) in scores.iter().enumerate() {
            if score_a > score_b && weights[a] <= weights[b] {
                return Err(format!(
                    "{} scores {score_a} and {} {score_b}, but their weights are {} and {}",
                    DRINKS[a], DRINKS[b], weights[a], weights[b]
                ));
            }
        }
    }
    Ok(())
}

/// The weights at five temperatures, one a row: `(5, 4)`.
///
/// # Errors
///
/// Those of [`scores`].
pub fn weights_by_temperature() -> Result<Array2<f64>, Error> {
    let mut table = Array2::zeros((TEMPERATURES.len(), DRINKS.len()));
    for (mut row, temperature) in table.outer_iter_mut().zip(TEMPERATURES) {
        row.assign(&weights_at(query(), temperature)?);
    }
    Ok(table)
}

/// Each drink's weight against the temperature, from 1/20 to 20.
///
/// # Errors
///
/// Those of [`scores`].
pub fn temperature_curves() -> Result<Figure, Error> {
    const STEPS: i32 = 24;
    let temperatures: Vec<f64> =
        (-STEPS..=STEPS).map(|step| 20_f64.powf(f64::from(step) / f64::from(STEPS))).collect();
    let mut curves = DRINKS.map(|drink| Series { name: drink.to_owned(), points: Vec::new() });
    for &temperature in &temperatures {
        for (curve, &weight) in curves.iter_mut().zip(&weights_at(query(), temperature)?) {
            curve.points.push((temperature, weight));
        }
    }
    Ok(Figure {
        description: "Four curves. At low temperature cocoa has nearly all of the weight. As the \
                      temperature rises, cocoa falls and the others rise in the order of their \
                      scores, juice first and water last, until all four come together at a \
                      quarter each."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::logarithmic("temperature τ"),
            y: Axis::linear("weight"),
            series: curves.to_vec(),
        },
    })
}

/// Near temperature 0 the answer is cocoa's value, as in an exact lookup.
///
/// # Errors
///
/// The answer, where it is another.
pub fn cold_is_exact() -> Claim {
    let best = values().row(COCOA).to_owned();
    is_nearly("the answer at a low temperature", &answer_at(0.01), &best)
}

/// At a high temperature the answer is the plain average of the values.
///
/// # Errors
///
/// The answer, where it is another.
pub fn hot_is_average() -> Claim {
    is_nearly("the answer at a high temperature", &answer_at(10_000.0), &plain_average())
}

/// The plain average of the values: `(3)`.
#[must_use]
pub fn plain_average() -> Array1<f64> {
    values().sum_axis(ndarray::Axis(0)) / DRINKS.len() as f64
}

fn is_nearly(what: &str, found: &Result<Array1<f64>, Error>, expected: &Array1<f64>) -> Claim {
    let found = found.as_ref().map_err(ToString::to_string)?;
    let apart = (found - expected).iter().fold(0.0, |apart: f64, gap| apart.max(gap.abs()));
    if apart < 1e-3 {
        Ok(())
    } else {
        Err(format!("{what} is {found}, which is {apart} away from {expected}"))
    }
}

/// The dot product of the query and coffee's key, written out in TeX.
#[must_use]
pub fn coffee_score_spelled() -> String {
    spell::dot_product(&query(), &keys().row(COFFEE), 1, 2)
}

/// Halving the temperature changes the weights as doubling the query does.
///
/// # Errors
///
/// The two rows of weights, where they differ.
pub fn halving_is_doubling() -> Claim {
    let doubled = weights_at(query() * 2.0, 1.0).map_err(|error| error.to_string())?;
    is_nearly("the row of weights at half the temperature", &weights_at(query(), 0.5), &doubled)
}

/// A query equal to a key of length 1 scores highest at that key.
///
/// # Errors
///
/// The drink that is beaten at its own key.
pub fn unit_key_finds_itself() -> Claim {
    let of_length_one = 0..3;
    for drink in of_length_one {
        let scores = scores_of(keys().row(drink).to_owned()).map_err(|error| error.to_string())?;
        if let Some(rival) = (0..DRINKS.len()).find(|&i| i != drink && scores[i] >= scores[drink]) {
            return Err(format!(
                "asked for {}'s own key, {} scores {}, not less than {}",
                DRINKS[drink], DRINKS[rival], scores[rival], scores[drink]
            ));
        }
    }
    Ok(())
}

/// A key three times as long wins, although another points closer to the query.
///
/// # Errors
///
/// The two scores, where it does not win.
pub fn loud_key_wins() -> Claim {
    let mut keys = keys();
    keys.row_mut(COFFEE).mapv_inplace(|number| number * 3.0);
    let scores = score(&one_row(query()), &keys).map_err(|error| error.to_string())?;
    let (loud, fitting) = (scores[[0, COFFEE]], scores[[0, COCOA]]);
    if loud > fitting { Ok(()) } else { Err(format!("it scores {loud}, cocoa {fitting}")) }
}

/// A vector as a matrix of one row: the recipe takes queries by the row.
fn one_row(vector: Array1<f64>) -> Array2<f64> {
    vector.insert_axis(ndarray::Axis(0))
}

fn only_row(matrix: &Array2<f64>) -> Array1<f64> {
    matrix.row(0).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// Worked by hand: 1·1, 1·0.8 + 0.8·0.6, 0.8·1, 0.
    #[test]
    fn scores_are_those_worked_by_hand() {
        assert_abs_diff_eq!(scores().unwrap(), array![1.0, 1.28, 0.8, 0.0], epsilon = 1e-12);
    }

    /// e¹ = e, e^1.28 = 3.59664, e^0.8 = 2.22554, e⁰ = 1, from a table; the sum is 9.54046.
    #[test]
    fn weights_are_the_exponentials_over_their_sum() {
        let exponentials = array![std::f64::consts::E, 3.59664, 2.22554, 1.0];
        assert_abs_diff_eq!(super::exponentials().unwrap(), exponentials, epsilon = 1e-5);
        assert_abs_diff_eq!(weights().unwrap(), exponentials / 9.54046, epsilon = 1e-5);
    }

    /// (3·2.71828 + 4·3.59664 + 2·2.22554 + 1) / 9.54046 coins, and so on.
    #[test]
    fn the_answer_averages_the_values() {
        assert_abs_diff_eq!(answer().unwrap(), array![2.9341, 3.4799, 1.7008], epsilon = 1e-4);
    }

    #[test]
    fn a_lookup_that_is_not_close_is_told_with_its_distance() {
        let error = is_nearly("it", &Ok(array![1.0, 2.0]), &array![1.0, 2.5]).unwrap_err();
        assert!(error.contains("0.5 away"), "{error}");
        assert!(is_nearly("it", &answer_at(1.0), &plain_average()).is_err());
    }

    #[test]
    fn keys_but_waters_have_length_one() {
        for key in keys().outer_iter().take(3) {
            assert_abs_diff_eq!(key.dot(&key), 1.0, epsilon = 1e-12);
        }
    }
}
