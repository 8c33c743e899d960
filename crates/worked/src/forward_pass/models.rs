//! Published models, by their sizes: how many weights, what a token costs, how
//! much memory its keys and values take.

use attention::cost::Model;
use ledger::{Axis, Figure, Ledger, Plot, Series};
use ndarray::Array2;

use super::known;
use super::machine::roofline;
use crate::Claim;

/// The names of the models of the tables.
pub const NAMES: [&str; 4] = ["GPT-2 small", "GPT-3 175B", "Llama 2 7B", "Llama 3 8B"];
/// The longest text that each was made for, in tokens.
pub const CONTEXTS: [u64; 4] = [1024, 2048, 4096, 8192];
/// The bytes of a number in half precision, in which such models are run.
pub const BYTES: u64 = 2;

/// GPT-2 small. Radford et al. (2019), table 2, section 2.3; the heads are in
/// the program that was published with it.
pub const GPT_2: Model = Model {
    layers: 12,
    d_model: 768,
    heads: 12,
    key_value_heads: 12,
    d: 64,
    feed_forward: 3072,
    feed_forward_matrices: 2,
    vocabulary: 50_257,
    tied: true,
};

/// GPT-3 175B. Brown et al. (2020), table 2.1 and section 2.1; the vocabulary
/// is that of GPT-2.
pub const GPT_3: Model = Model {
    layers: 96,
    d_model: 12_288,
    heads: 96,
    key_value_heads: 96,
    d: 128,
    feed_forward: 49_152,
    feed_forward_matrices: 2,
    vocabulary: 50_257,
    tied: true,
};

/// Llama 2 7B. Touvron et al., *`LLaMA`* (2023), table 2, and *Llama 2* (2023),
/// table 1 and section 2.2; the feed-forward width is that of the published weights.
pub const LLAMA_2: Model = Model {
    layers: 32,
    d_model: 4096,
    heads: 32,
    key_value_heads: 32,
    d: 128,
    feed_forward: 11_008,
    feed_forward_matrices: 3,
    vocabulary: 32_000,
    tied: false,
};

/// Llama 3 8B. Grattafiori et al. (2024), table 3; the published weights have
/// 256 rows more in the vocabulary than the table's 128 000.
pub const LLAMA_3: Model = Model {
    layers: 32,
    d_model: 4096,
    heads: 32,
    key_value_heads: 8,
    d: 128,
    feed_forward: 14_336,
    feed_forward_matrices: 3,
    vocabulary: 128_256,
    tied: false,
};

/// The models of the tables, in the order of their names.
pub const MODELS: [Model; 4] = [GPT_2, GPT_3, LLAMA_2, LLAMA_3];

/// Enters the tables of models.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("cost.models.sizes", sizes)
        .digits(0)
        .rows(&["layers", "d_model", "heads", "key heads", "d", "width", "vocabulary", "context"])
        .columns(&NAMES)
        .about("the published sizes of four models");
    ledger
        .enter("cost.models.token", cost_of_a_token)
        .rows(&NAMES)
        .columns(&["weights", "by weights", "by keys"])
        .about(
            "weights, and multiplications for a token at the end of a full context, in billions",
        );
    ledger
        .enter("cost.models.crossover", crossover)
        .digits(0)
        .rows(&NAMES)
        .columns(&["context", "as much at"])
        .about("the context, and the keys for which a token costs as much as for the weights");
    ledger
        .enter("cost.models.below", contexts_stay_below)
        .about("in no context of the four models do the keys come to cost as much as the weights");
    ledger
        .enter("cost.models.cache", cache)
        .rows(&NAMES)
        .columns(&["KiB a token", "GiB for a context", "GiB of weights"])
        .about("the memory of keys and values in half precision, and of the weights");
    ledger
        .enter("cost.models.share", share_of_keys)
        .digits(3)
        .about("the share of multiplications that is by keys and values, against the length");
    ledger
        .enter("cost.models.known", weights_are_the_published_ones)
        .about("the weights add up to 124 million, 175, 6.7 and 8.0 billion, to 1 %");
    ledger
        .enter("cost.models.quarter", sharing_keeps_a_quarter)
        .about("Llama 3 8B keeps a quarter of what Llama 2 7B keeps for a token");
    ledger
        .enter("cost.decode.weights", milliseconds_for_weights)
        .digits(0)
        .about("the milliseconds in which this machine reads the weights of Llama 3 8B");
    ledger
        .enter("cost.decode.cache", milliseconds_for_cache)
        .digits(0)
        .about("the milliseconds in which it reads the keys and values of 8192 tokens");
    ledger
        .enter("cost.decode.batch", texts_at_the_ridge)
        .digits(0)
        .about("the texts at once for which reading a weight and using it take as long");
}

/// The published sizes, a model a column: `(8, 4)`.
#[must_use]
pub fn sizes() -> Array2<f64> {
    Array2::from_shape_fn((8, MODELS.len()), |(row, column)| {
        let m = MODELS[column];
        let numbers = [
            m.layers,
            m.d_model,
            m.heads,
            m.key_value_heads,
            m.d,
            m.feed_forward,
            m.vocabulary,
            CONTEXTS[column],
        ];
        numbers[row] as f64
    })
}

/// Weights, multiplications by weights and by keys and values, for a token at
/// the end of a full context, in billions: `(4, 3)`.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn cost_of_a_token() -> Result<Array2<f64>, String> {
    table(|model, context| {
        let counts = [
            known(model.weights())?,
            known(model.multiplications_by_weights())?,
            known(model.multiplications_by_keys(context))?,
        ];
        Ok(counts.map(|count| count as f64 / 1e9))
    })
}

/// The context, and the keys for which a token's multiplications by keys and
/// values are as many as those by weights: `(4, 2)`.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn crossover() -> Result<Array2<f64>, String> {
    table(|model, context| {
        let by_weights = known(model.multiplications_by_weights())?;
        let by_one_key = known(model.multiplications_by_keys(1))?;
        Ok([context as f64, (by_weights / by_one_key) as f64])
    })
}

/// No context is as long as the keys for which a token costs as much as for
/// the weights.
///
/// # Errors
///
/// The model whose context is.
pub fn contexts_stay_below() -> Claim {
    for (name, row) in NAMES.iter().zip(crossover()?.outer_iter()) {
        if row[0] >= row[1] {
            return Err(format!("{name} is made for {}, and meets at {}", row[0], row[1]));
        }
    }
    Ok(())
}

/// KiB a token, GiB for a full context, GiB of all weights: `(4, 3)`.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn cache() -> Result<Array2<f64>, String> {
    let gibibyte = f64::from(1 << 30);
    table(|model, context| {
        Ok([
            known(model.cache_bytes(1, BYTES))? as f64 / 1024.0,
            known(model.cache_bytes(context, BYTES))? as f64 / gibibyte,
            (known(model.weights())? * BYTES) as f64 / gibibyte,
        ])
    })
}

/// A row of numbers for each model.
fn table<const N: usize>(
    row: impl Fn(Model, u64) -> Result<[f64; N], String>,
) -> Result<Array2<f64>, String> {
    let mut table = Array2::zeros((MODELS.len(), N));
    for (mut entries, (model, context)) in
        table.outer_iter_mut().zip(MODELS.into_iter().zip(CONTEXTS))
    {
        for (entry, number) in entries.iter_mut().zip(row(model, context)?) {
            *entry = number;
        }
    }
    Ok(table)
}

/// The share of a whole text's multiplications that is by keys and values, from
/// 256 tokens to 1 048 576.
///
/// # Errors
///
/// None that can happen: the counts fit.
pub fn share_of_keys() -> Result<Figure, String> {
    let curve = |name: &str, model: Model| -> Result<Series, String> {
        let points = (8..=20)
            .map(|power| {
                let tokens = 1_u64 << power;
                let all = known(model.multiplications_for_text(tokens))?;
                let by_weights = known(model.multiplications_by_weights())? * tokens;
                Ok((tokens as f64, (all - by_weights) as f64 / all as f64))
            })
            .collect::<Result<_, String>>()?;
        Ok(Series { name: name.to_owned(), points })
    };
    Ok(Figure {
        description: "Three rising curves, each from nearly 0 to nearly 1. The share of keys and \
                      values passes one half first for GPT-2 small, then for Llama 3 8B and last \
                      for GPT-3: the wider the model, the later."
            .to_owned(),
        plot: Plot::Lines {
            x: Axis::logarithmic("tokens T"),
            y: Axis::linear("share of multiplications"),
            series: vec![
                curve(NAMES[0], GPT_2)?,
                curve(NAMES[3], LLAMA_3)?,
                curve(NAMES[1], GPT_3)?,
            ],
        },
    })
}

/// The weights add up to the number that each model is known by, to 1 %.
///
/// # Errors
///
/// The model whose weights do not.
pub fn weights_are_the_published_ones() -> Claim {
    for (name, (model, billions)) in
        NAMES.iter().zip(MODELS.into_iter().zip([0.124, 175.0, 6.74, 8.03]))
    {
        let weights = known(model.weights())? as f64 / 1e9;
        if (weights / billions - 1.0).abs() > 0.01 {
            return Err(format!("{name} has {weights} billion weights, not {billions}"));
        }
    }
    Ok(())
}

/// For each token, Llama 3 8B keeps a quarter of what Llama 2 7B keeps.
///
/// # Errors
///
/// Both numbers of bytes, where it is not so.
pub fn sharing_keeps_a_quarter() -> Claim {
    let (two, three) =
        (known(LLAMA_2.cache_bytes(1, BYTES))?, known(LLAMA_3.cache_bytes(1, BYTES))?);
    if two == 4 * three { Ok(()) } else { Err(format!("{three} bytes, and {two}")) }
}

/// The milliseconds in which this machine reads the weights of Llama 3 8B that
/// a token is multiplied by.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn milliseconds_for_weights() -> Result<f64, String> {
    let bytes = known(LLAMA_3.multiplications_by_weights())? * BYTES;
    Ok(bytes as f64 / roofline()?.bytes_per_second * 1e3)
}

/// The milliseconds in which it reads the keys and values of 8192 tokens.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn milliseconds_for_cache() -> Result<f64, String> {
    let bytes = known(LLAMA_3.cache_bytes(8192, BYTES))?;
    Ok(bytes as f64 / roofline()?.bytes_per_second * 1e3)
}

/// The texts at once for which a weight's two operations for each text take as
/// long as reading its two bytes: the ridge times 2/2.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn texts_at_the_ridge() -> Result<f64, String> {
    let operations_for_each_text = 2.0;
    Ok((roofline()?.ridge() * BYTES as f64 / operations_for_each_text).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 · 96 layers · 96 heads · 128 numbers · 2 bytes = 4608 KiB, 9 GiB for 2048.
    #[test]
    fn the_cache_of_gpt_3_is_that_worked_by_hand() {
        let row = cache().unwrap().row(1).to_owned();
        assert_eq!((row[0], row[1]), (4608.0, 9.0));
    }

    /// Table 2.1 names 175.0 billion parameters, table D.1 174 600 million.
    #[test]
    fn gpt_3_has_the_weights_of_its_paper() {
        let weights = GPT_3.weights().unwrap() as f64 / 1e6;
        assert!((weights - 174_600.0).abs() < 100.0, "{weights}");
    }

    #[test]
    fn four_times_the_model_width_is_the_width_of_the_feed_forward_network() {
        assert_eq!(GPT_2.feed_forward, 4 * GPT_2.d_model);
        assert_eq!(GPT_3.feed_forward, 4 * GPT_3.d_model);
        for model in MODELS {
            assert_eq!(model.heads * model.d, model.d_model);
        }
    }
}
