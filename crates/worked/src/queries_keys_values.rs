//! Chapter *Queries, keys and values, step by step*: one attention head with
//! weights small enough to read, followed through every step of the recipe.
//! Its claims, its costs, what goes wrong and the exercises have files of their own.

pub mod claims;
pub mod cost;
pub mod exercises;
pub mod practice;

use attention::{Error, Head, Mask, Options, Trace, recipe};
use ledger::Ledger;
use ndarray::{Array1, Array2, array};

use crate::spell;

/// The sentence: `T = 5` tokens.
pub const TOKENS: [&str; 5] = ["The", "cat", "sat", "on", "the"];
/// What the `d_model = 4` numbers of an embedding mean.
pub const MEANINGS: [&str; 4] = ["thing", "action", "small word", "first token"];
/// What the `d = 3` numbers of a query or a key are about.
pub const MATCHES: [&str; 3] = ["a thing", "an action", "the start"];
/// What the three numbers of a value say.
pub const MESSAGES: [&str; 3] = ["“thing”", "“action”", "“small word”"];

/// The rows of the tokens the chapter follows.
pub const CAT: usize = 1;
/// The row of “sat”.
pub const SAT: usize = 2;
/// The row of the last “the”.
pub const THE: usize = 4;
/// The place of *thing* among the meanings, and of “thing” among the messages.
pub const THING: usize = 0;
/// The place of *small word* among the meanings.
pub const SMALL_WORD: usize = 2;

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    enter_inputs(ledger);
    enter_projections(ledger);
    enter_scores(ledger);
    enter_softmax(ledger);
    enter_output(ledger);
    claims::enter(ledger);
    cost::enter(ledger);
    practice::enter(ledger);
    exercises::enter(ledger);
}

fn enter_inputs(ledger: &mut Ledger) {
    ledger
        .enter("qkv.x", embeddings)
        .digits(1)
        .rows(&TOKENS)
        .columns(&MEANINGS)
        .symbol("X")
        .about("each token's embedding");
    ledger
        .enter("qkv.w-q", query_weights)
        .digits(0)
        .rows(&MEANINGS)
        .columns(&MATCHES)
        .symbol("W_Q")
        .about("what each meaning makes a token look for");
    ledger
        .enter("qkv.w-k", key_weights)
        .digits(0)
        .rows(&MEANINGS)
        .columns(&MATCHES)
        .symbol("W_K")
        .about("what each meaning lets a token be found as");
    ledger
        .enter("qkv.w-v", value_weights)
        .digits(0)
        .rows(&MEANINGS)
        .columns(&MESSAGES)
        .symbol("W_V")
        .about("what each meaning makes a token pass on");
}

fn enter_projections(ledger: &mut Ledger) {
    ledger
        .enter("qkv.q", queries)
        .digits(1)
        .rows(&TOKENS)
        .columns(&MATCHES)
        .symbol("Q")
        .about("each token's query");
    ledger
        .enter("qkv.the.q", query_spelled)
        .about("the first number of the query of “the”, written out");
    ledger
        .enter("qkv.k", keys)
        .digits(1)
        .rows(&TOKENS)
        .columns(&MATCHES)
        .symbol("K")
        .about("each token's key");
    ledger
        .enter("qkv.v", values)
        .digits(1)
        .rows(&TOKENS)
        .columns(&MESSAGES)
        .symbol("V")
        .about("each token's value");
}

fn enter_scores(ledger: &mut Ledger) {
    ledger
        .enter("qkv.scores", scores)
        .rows(&TOKENS)
        .columns(&TOKENS)
        .symbol("S")
        .about("the score of each query (row) with each key (column)");
    ledger
        .enter("qkv.the.scores.cat", score_spelled)
        .about("the score of the query of “the” with the key of “cat”, written out");
    ledger.enter("qkv.root", root_of_head_size).about("√d, for d = 3");
    ledger
        .enter("qkv.scaled", scaled_scores)
        .rows(&TOKENS)
        .columns(&TOKENS)
        .about("the scores divided by √d");
    ledger
        .enter("qkv.mask", mask_matrix)
        .digits(0)
        .rows(&TOKENS)
        .columns(&TOKENS)
        .symbol("M")
        .about("the mask: 0 where looking is allowed, −∞ where it is not");
    ledger
        .enter("qkv.masked", masked_scores)
        .rows(&TOKENS)
        .columns(&TOKENS)
        .about("the scaled scores, −∞ where the key is later than the query");
    ledger.enter("qkv.mask.open", open_scores).about("how many scores the mask leaves open");
    ledger.enter("qkv.mask.closed", closed_scores).about("how many scores the mask closes");
}

fn enter_softmax(ledger: &mut Ledger) {
    ledger
        .enter("qkv.the.exponentials", exponentials)
        .columns(&TOKENS)
        .about("the exponential of each masked score in the row of “the”");
    ledger.enter("qkv.the.sum", sum_of_exponentials).about("the sum of those exponentials");
    ledger
        .enter("qkv.the.softmax.cat", weight_spelled)
        .about("the weight that “the” gives to “cat”, written out");
    ledger
        .enter("qkv.weights", weights)
        .rows(&TOKENS)
        .columns(&TOKENS)
        .symbol("A")
        .about("how much of its attention each query (row) gives to each key (column)");
    ledger
        .enter("qkv.the.attends.cat", weight_of_cat)
        .about("how much of its attention “the” gives to “cat”");
}

fn enter_output(ledger: &mut Ledger) {
    ledger
        .enter("qkv.the.parts", parts_of_output)
        .rows(&TOKENS)
        .columns(&MESSAGES)
        .about("what each token contributes to the output of “the”: its weight times its value");
    ledger
        .enter("qkv.output", output)
        .rows(&TOKENS)
        .columns(&MESSAGES)
        .symbol("O")
        .about("each token's output: the weighted average of the values");
}

/// The tokens, the head and everything the head computes from them.
#[derive(Clone, Debug)]
pub struct Example {
    /// `X`, the embeddings: `(T, d_model)`.
    pub x: Array2<f64>,
    /// The weights.
    pub head: Head<f64>,
    /// Every intermediate on the way to the output.
    pub trace: Trace<f64>,
}

impl Example {
    /// Sends the tokens through the head, with the causal mask and `1/√d`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the embeddings have another width than the head.
    pub fn new(x: Array2<f64>, head: Head<f64>) -> Result<Example, Error> {
        let trace = head.trace(&x, Options::causal())?;
        Ok(Example { x, head, trace })
    }
}

/// The example of the chapter: the sentence and the toy head.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn example() -> Result<Example, Error> {
    Example::new(embeddings(), toy_head()?)
}

/// The head of the chapter, its weights picked by hand.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn toy_head() -> Result<Head<f64>, Error> {
    Head::new(query_weights(), key_weights(), value_weights())
}

/// `X`: one token a row, one meaning a column, `(T, d_model) = (5, 4)`.
///
/// “The” and “the” are the same word, so they differ in *first token* alone.
#[must_use]
pub fn embeddings() -> Array2<f64> {
    array![
        [0.1, 0.0, 0.9, 1.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.3, 0.8, 0.0],
        [0.1, 0.0, 0.9, 0.0],
    ]
}

/// `W_Q`: what each meaning makes a token look for, `(d_model, d) = (4, 3)`.
///
/// A thing looks for an action, an action for a thing and the start, a small
/// word (strongly) for a thing, the first token for the start.
#[must_use]
pub fn query_weights() -> Array2<f64> {
    array![[0.0, 2.0, 0.0], [1.0, 0.0, 1.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
}

/// `W_K`: what each meaning lets a token be found as, `(d_model, d) = (4, 3)`.
///
/// A small word counts against being a thing.
#[must_use]
pub fn key_weights() -> Array2<f64> {
    array![[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
}

/// `W_V`: what each meaning makes a token pass on, `(d_model, d_v) = (4, 3)`.
///
/// Things speak up; being first in the sentence is not passed on at all.
#[must_use]
pub fn value_weights() -> Array2<f64> {
    array![[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
}

/// Step 1: `Q = X·W_Q`.
///
/// # Errors
///
/// Those of [`example`].
pub fn queries() -> Result<Array2<f64>, Error> {
    Ok(example()?.trace.q)
}

/// Step 1, one number of it: the embedding of “the” times the first column of `W_Q`, in TeX.
#[must_use]
pub fn query_spelled() -> String {
    spell::dot_product(&embeddings().row(THE), &query_weights().column(0), 1, 1)
}

/// Step 1: `K = X·W_K`.
///
/// # Errors
///
/// Those of [`example`].
pub fn keys() -> Result<Array2<f64>, Error> {
    Ok(example()?.trace.k)
}

/// Step 1: `V = X·W_V`.
///
/// # Errors
///
/// Those of [`example`].
pub fn values() -> Result<Array2<f64>, Error> {
    Ok(example()?.trace.v)
}

/// Step 2: `S = Q·Kᵀ`.
///
/// # Errors
///
/// Those of [`example`].
pub fn scores() -> Result<Array2<f64>, Error> {
    Ok(example()?.trace.scores)
}

/// Step 2, one number of it: query of “the” times key of “cat”, in TeX.
///
/// # Errors
///
/// Those of [`example`].
pub fn score_spelled() -> Result<String, Error> {
    let trace = example()?.trace;
    Ok(spell::dot_product(&trace.q.row(THE), &trace.k.row(CAT), 1, 2))
}

/// Step 3: what the scores are divided by, `√d`.
///
/// # Errors
///
/// Those of [`example`].
pub fn root_of_head_size() -> Result<f64, Error> {
    Ok(1.0 / recipe::default_scale::<f64>(toy_head()?.w_q().ncols()))
}

/// Step 3: `S/√d`.
///
/// # Errors
///
/// Those of [`example`].
pub fn scaled_scores() -> Result<Array2<f64>, Error> {
    Ok(example()?.trace.scaled)
}

/// Step 4: the mask as a matrix, which is what it makes of zeros.
#[must_use]
pub fn mask_matrix() -> Array2<f64> {
    recipe::mask(&Array2::zeros((TOKENS.len(), TOKENS.len())), Mask::Causal)
}

/// Step 4: the scaled scores after masking.
///
/// # Errors
///
/// Those of [`example`].
pub fn masked_scores() -> Result<Array2<f64>, Error> {
    Ok(example()?.trace.masked)
}

/// How many scores the mask leaves open.
#[must_use]
pub fn open_scores() -> usize {
    mask_matrix().iter().filter(|entry| entry.is_finite()).count()
}

/// How many scores the mask closes.
#[must_use]
pub fn closed_scores() -> usize {
    mask_matrix().len() - open_scores()
}

/// Step 5: the exponential of each masked score in the row of “the”.
///
/// # Errors
///
/// Those of [`example`].
pub fn exponentials() -> Result<Array1<f64>, Error> {
    Ok(example()?.trace.masked.row(THE).exp())
}

/// Step 5: the sum of the exponentials.
///
/// # Errors
///
/// Those of [`example`].
pub fn sum_of_exponentials() -> Result<f64, Error> {
    Ok(exponentials()?.sum())
}

/// Step 5, one number of it: the weight that “the” gives to “cat”, in TeX.
///
/// # Errors
///
/// Those of [`example`].
pub fn weight_spelled() -> Result<String, Error> {
    Ok(spell::softmax_weight(&example()?.trace.masked.row(THE), CAT, 2))
}

/// Step 5: `A`, the softmax of each row.
///
/// # Errors
///
/// Those of [`example`].
pub fn weights() -> Result<Array2<f64>, Error> {
    Ok(example()?.trace.weights)
}

/// The weight that “the” gives to “cat”.
///
/// # Errors
///
/// Those of [`example`].
pub fn weight_of_cat() -> Result<f64, Error> {
    Ok(weights()?[[THE, CAT]])
}

/// Step 6, before the sum: each token's weight times its value, for the row of “the”.
///
/// # Errors
///
/// Those of [`example`].
pub fn parts_of_output() -> Result<Array2<f64>, Error> {
    Ok(parts(&example()?.trace, THE))
}

/// What each token contributes to one row of the output: `(T, d_v)`.
fn parts(trace: &Trace<f64>, query: usize) -> Array2<f64> {
    let weights = trace.weights.row(query).to_owned().insert_axis(ndarray::Axis(1));
    &weights * &trace.v
}

/// Step 6: `O = A·V`.
///
/// # Errors
///
/// Those of [`example`].
pub fn output() -> Result<Array2<f64>, Error> {
    Ok(example()?.trace.output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn the_sizes_are_those_of_the_chapter() {
        assert_eq!(embeddings().dim(), (TOKENS.len(), MEANINGS.len()));
        assert_eq!(queries().unwrap().dim(), (TOKENS.len(), MATCHES.len()));
        assert_eq!(values().unwrap().dim(), (TOKENS.len(), MESSAGES.len()));
    }

    /// Each row is a sum of a few rows of `W_Q`, `W_K` or `W_V`: “on”, for
    /// example, is 0.3 of *action* and 0.8 of *small word*.
    #[test]
    fn projections_are_those_worked_by_hand() {
        let q = array![
            [1.8, 0.2, 1.0],
            [0.0, 2.0, 0.0],
            [1.0, 0.0, 1.0],
            [1.9, 0.0, 0.3],
            [1.8, 0.2, 0.0]
        ];
        let k = array![
            [-0.8, 0.0, 1.0],
            [1.0, 0.0, 0.0],
            [0.0, 2.0, 0.0],
            [-0.8, 0.6, 0.0],
            [-0.8, 0.0, 0.0]
        ];
        let v = array![
            [0.2, 0.0, 0.9],
            [2.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.3, 0.8],
            [0.2, 0.0, 0.9]
        ];
        assert_abs_diff_eq!(queries().unwrap(), q, epsilon = 1e-12);
        assert_abs_diff_eq!(keys().unwrap(), k, epsilon = 1e-12);
        assert_abs_diff_eq!(values().unwrap(), v, epsilon = 1e-12);
    }

    /// 1.8·(−0.8), 1.8·1, 0.2·2, 1.8·(−0.8) + 0.2·0.6, 1.8·(−0.8).
    #[test]
    fn the_scores_of_the_last_word_are_those_worked_by_hand() {
        let row = array![-1.44, 1.8, 0.4, -1.32, -1.44];
        assert_abs_diff_eq!(scores().unwrap().row(THE).to_owned(), row, epsilon = 1e-12);
    }

    /// Those scores over 1.7320508, their exponentials from a table, and their
    /// shares of the sum 5.42373.
    #[test]
    fn the_weights_of_the_last_word_are_those_worked_by_hand() {
        let exponentials = array![0.43543, 2.82717, 1.25976, 0.46667, 0.43543];
        assert_abs_diff_eq!(super::exponentials().unwrap(), exponentials, epsilon = 2e-4);
        let row = array![0.0803, 0.5212, 0.2322, 0.0860, 0.0803];
        assert_abs_diff_eq!(weights().unwrap().row(THE).to_owned(), row, epsilon = 1e-4);
    }

    /// 0.0803·0.2 + 0.5212·2 + 0.0803·0.2, and so on.
    #[test]
    fn the_output_of_the_last_word_is_the_one_worked_by_hand() {
        let row = array![1.0745, 0.2580, 0.2133];
        assert_abs_diff_eq!(output().unwrap().row(THE).to_owned(), row, epsilon = 2e-4);
    }

    #[test]
    fn the_parts_add_up_to_the_output() {
        let sum = parts_of_output().unwrap().sum_axis(ndarray::Axis(0));
        assert_abs_diff_eq!(sum, output().unwrap().row(THE).to_owned(), epsilon = 1e-12);
    }

    #[test]
    fn the_mask_closes_the_ten_places_above_the_diagonal() {
        assert_eq!((open_scores(), closed_scores()), (15, 10));
        assert_eq!(mask_matrix()[[0, 1]], f64::NEG_INFINITY);
        assert_eq!(mask_matrix()[[1, 0]], 0.0);
    }
}
