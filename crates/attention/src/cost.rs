//! What attention costs, counted: multiplications, operations and the numbers
//! that move, for one head and for a whole model. Nothing is computed here but
//! counts; how long it takes on a machine is a matter for [`Roofline`].
//!
//! Every count is checked: it is `None` where it would not fit in a `u64`.

/// The sizes of one head: `T` tokens that attend to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Head {
    /// `T`, the number of tokens.
    pub tokens: u64,
    /// `d_model`, the numbers that describe a token.
    pub d_model: u64,
    /// `d`, the numbers in a query or a key.
    pub d: u64,
    /// `d_v`, the numbers in a value.
    pub d_v: u64,
}

/// A step of the recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Queries, keys and values from tokens.
    Project,
    /// Every query with every key.
    Score,
    /// Times `1/√d`.
    Scale,
    /// The closed scores become −∞.
    Mask,
    /// Each row becomes shares.
    Softmax,
    /// The averages of the values.
    Mix,
}

impl Step {
    /// The six steps, in order.
    pub const ALL: [Step; 6] =
        [Step::Project, Step::Score, Step::Scale, Step::Mask, Step::Softmax, Step::Mix];
}

/// What a computation costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Work {
    /// Multiplications of matrix products, and those of scaling.
    pub multiplications: u64,
    /// Operations on floating-point numbers: a multiplication in a product
    /// brings an addition along, and counts as two. An exponential counts as
    /// one, although it takes longer.
    pub operations: u64,
    /// Numbers read, each matrix once.
    pub read: u64,
    /// Numbers written.
    pub written: u64,
}

impl Work {
    /// The bytes read and written, with so many bytes a number.
    #[must_use]
    pub fn bytes(self, bytes_per_number: u64) -> Option<u64> {
        self.read.checked_add(self.written)?.checked_mul(bytes_per_number)
    }

    /// The *arithmetic intensity*: operations for each byte that moves. None if
    /// no byte does.
    #[must_use]
    pub fn intensity(self, bytes_per_number: u64) -> Option<f64> {
        let bytes = self.bytes(bytes_per_number)?;
        (bytes > 0).then(|| self.operations as f64 / bytes as f64)
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Option<Self> {
        Some(Self {
            multiplications: self.multiplications.checked_add(other.multiplications)?,
            operations: self.operations.checked_add(other.operations)?,
            read: self.read.checked_add(other.read)?,
            written: self.written.checked_add(other.written)?,
        })
    }
}

/// The product of an `(m, n)` and an `(n, p)` matrix: `m·n·p` multiplications.
///
/// ```
/// // (5, 4)·(4, 3): 15 entries, each a dot product of 4 terms.
/// let product = attention::cost::product(5, 4, 3).unwrap();
/// assert_eq!(product.multiplications, 60);
/// assert_eq!((product.read, product.written), (20 + 12, 15));
/// ```
#[must_use]
pub fn product(m: u64, n: u64, p: u64) -> Option<Work> {
    let multiplications = times(&[m, n, p])?;
    Some(Work {
        multiplications,
        operations: multiplications.checked_mul(2)?,
        read: m.checked_mul(n)?.checked_add(n.checked_mul(p)?)?,
        written: m.checked_mul(p)?,
    })
}

/// What a step of the recipe costs for one head, if it reads its matrices from
/// memory and writes its result there, each number once. Nothing is saved for
/// the scores that a mask closes.
///
/// | Step | Multiplications | Other operations |
/// |---|---|---|
/// | project | `T·d_model·(2d + d_v)` | |
/// | score | `T²·d` | |
/// | scale | `T²` | |
/// | mask | 0 | |
/// | softmax | 0 | `4·T²`: subtract, exponential, add, divide |
/// | mix | `T²·d_v` | |
#[must_use]
pub fn step(step: Step, head: Head) -> Option<Work> {
    let Head { tokens, d_model, d, d_v } = head;
    let scores = tokens.checked_mul(tokens)?;
    let each_score = |multiplications, operations| {
        Some(Work {
            multiplications: scores.checked_mul(multiplications)?,
            operations: scores.checked_mul(operations)?,
            read: scores,
            written: scores,
        })
    };
    match step {
        Step::Project => {
            let queries = product(tokens, d_model, d)?;
            queries.and(queries)?.and(product(tokens, d_model, d_v)?)
        }
        Step::Score => product(tokens, d, tokens),
        Step::Scale => each_score(1, 1),
        Step::Mask => each_score(0, 0),
        Step::Softmax => each_score(0, 4),
        Step::Mix => product(tokens, tokens, d_v),
    }
}

/// Steps 2 to 6 in tiles: the operations of the recipe, but the scores never
/// move. Each block of `block` queries reads all keys and values anew. None for
/// a block of nothing.
///
/// Read: `T·d + ⌈T/block⌉·T·(d + d_v)`; written: `T·d_v`.
#[must_use]
pub fn tiled(head: Head, block: u64) -> Option<Work> {
    let Head { tokens, d, d_v, .. } = head;
    if block == 0 {
        return None;
    }
    let mut work = Work::default();
    for each in [Step::Score, Step::Scale, Step::Mask, Step::Softmax, Step::Mix] {
        work = work.and(step(each, head)?)?;
    }
    let keys_and_values = times(&[tokens.div_ceil(block), tokens, d.checked_add(d_v)?])?;
    work.read = tokens.checked_mul(d)?.checked_add(keys_and_values)?;
    work.written = tokens.checked_mul(d_v)?;
    Some(work)
}

/// One new query against `keys` keys and values that are there already, as when
/// a model writes: a product with `Kᵀ`, a softmax, a product with `V`. The
/// scores stay in the cache; keys and values are read once.
///
/// With `sharing` queries (of as many heads) that share their keys and values,
/// these are read once for all.
#[must_use]
pub fn decoding(sharing: u64, keys: u64, d: u64, d_v: u64) -> Option<Work> {
    let products = product(sharing, d, keys)?.and(product(sharing, keys, d_v)?)?;
    let scores = sharing.checked_mul(keys)?;
    Some(Work {
        operations: products.operations.checked_add(scores.checked_mul(5)?)?,
        multiplications: products.multiplications.checked_add(scores)?,
        read: sharing.checked_mul(d)?.checked_add(keys.checked_mul(d.checked_add(d_v)?)?)?,
        written: sharing.checked_mul(d_v)?,
    })
}

/// The sizes of a whole model: layers of attention and feed-forward networks
/// between an embedding and a vocabulary.
///
/// What is small beside the rest is left out: biases, norms, positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    /// Layers, one after the other.
    pub layers: u64,
    /// `d_model`, the numbers that describe a token.
    pub d_model: u64,
    /// `H`, heads of queries in each layer.
    pub heads: u64,
    /// Heads of keys and values in each layer; fewer than `heads` if queries
    /// share them.
    pub key_value_heads: u64,
    /// `d`, the numbers in a query, a key or a value.
    pub d: u64,
    /// The width of the feed-forward network.
    pub feed_forward: u64,
    /// The matrices in the feed-forward network: 2, or 3 with a gate.
    pub feed_forward_matrices: u64,
    /// Tokens that there are.
    pub vocabulary: u64,
    /// Whether one matrix serves as embedding and, transposed, as output.
    pub tied: bool,
}

impl Model {
    /// The attention weights of one layer: `W_Q`, `W_K`, `W_V` of all heads,
    /// and the matrix that brings the heads' outputs together.
    ///
    /// `d_model·d·(2·heads + 2·key_value_heads)`
    #[must_use]
    pub fn attention_weights(self) -> Option<u64> {
        let heads = self.heads.checked_add(self.key_value_heads)?.checked_mul(2)?;
        times(&[self.d_model, self.d, heads])
    }

    /// The feed-forward weights of one layer.
    #[must_use]
    pub fn feed_forward_weights(self) -> Option<u64> {
        times(&[self.feed_forward_matrices, self.d_model, self.feed_forward])
    }

    /// The weights of the embedding, and of the output: a row for each token
    /// of the vocabulary.
    #[must_use]
    pub fn embedding_weights(self) -> Option<u64> {
        times(&[self.vocabulary, self.d_model])
    }

    /// All weights.
    #[must_use]
    pub fn weights(self) -> Option<u64> {
        let ends = if self.tied { 1 } else { 2 };
        let layers = self.layer_weights()?.checked_mul(self.layers)?;
        layers.checked_add(self.embedding_weights()?.checked_mul(ends)?)
    }

    fn layer_weights(self) -> Option<u64> {
        self.attention_weights()?.checked_add(self.feed_forward_weights()?)
    }

    /// Multiplications by weights for one token: each weight once, but for the
    /// embedding, which is looked up and not multiplied.
    #[must_use]
    pub fn multiplications_by_weights(self) -> Option<u64> {
        let layers = self.layer_weights()?.checked_mul(self.layers)?;
        layers.checked_add(self.embedding_weights()?)
    }

    /// Multiplications of queries with keys and of weights with values, for one
    /// token that sees `keys` keys: `2·layers·heads·d·keys`.
    #[must_use]
    pub fn multiplications_by_keys(self, keys: u64) -> Option<u64> {
        times(&[2, self.layers, self.heads, self.d, keys])
    }

    /// Multiplications for a text of `tokens` tokens, if closed scores are
    /// never computed: the weights for each, and `tokens·(tokens + 1)/2` keys.
    #[must_use]
    pub fn multiplications_for_text(self, tokens: u64) -> Option<u64> {
        let weights = self.multiplications_by_weights()?.checked_mul(tokens)?;
        weights.checked_add(self.multiplications_by_keys(open_scores(tokens)?)?)
    }

    /// The bytes of the keys and values of `tokens` tokens, in all layers: the
    /// *KV cache*.
    ///
    /// `2·layers·key_value_heads·d·tokens·bytes_per_number`
    ///
    /// ```
    /// # use attention::cost::Model;
    /// let model = Model {
    ///     layers: 3, d_model: 20, heads: 5, key_value_heads: 1, d: 4,
    ///     feed_forward: 80, feed_forward_matrices: 2, vocabulary: 100, tied: true,
    /// };
    /// // A key and a value of 4 numbers in each of 3 layers, for 10 tokens.
    /// assert_eq!(model.cache_bytes(10, 2), Some(2 * 4 * 3 * 10 * 2));
    /// ```
    #[must_use]
    pub fn cache_bytes(self, tokens: u64, bytes_per_number: u64) -> Option<u64> {
        times(&[2, self.layers, self.key_value_heads, self.d, tokens, bytes_per_number])
    }
}

/// The scores that a causal mask leaves open: `T·(T + 1)/2`.
#[must_use]
pub fn open_scores(tokens: u64) -> Option<u64> {
    // One of two neighbours is even.
    let next = tokens.checked_add(1)?;
    if tokens.is_multiple_of(2) {
        (tokens / 2).checked_mul(next)
    } else {
        tokens.checked_mul(next / 2)
    }
}

/// The two ceilings of a machine, and what they allow.
///
/// # Reference
///
/// Williams, Waterman and Patterson, *Roofline: An Insightful Visual
/// Performance Model for Multicore Architectures* (2009).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    /// Operations a second, if nothing has to be fetched.
    pub operations_per_second: f64,
    /// Bytes a second from memory, if nothing has to be computed.
    pub bytes_per_second: f64,
}

impl Roofline {
    /// The intensity at which both ceilings meet, in operations for a byte.
    /// Below it memory is the limit, above it arithmetic.
    #[must_use]
    pub fn ridge(self) -> f64 {
        self.operations_per_second / self.bytes_per_second
    }

    /// The operations a second that an intensity allows at most.
    ///
    /// `min(operations_per_second, intensity·bytes_per_second)`
    #[must_use]
    pub fn ceiling(self, intensity: f64) -> f64 {
        self.operations_per_second.min(intensity * self.bytes_per_second)
    }

    /// The seconds that some work takes at least; None if its bytes are too many.
    #[must_use]
    pub fn seconds(self, work: Work, bytes_per_number: u64) -> Option<f64> {
        let computing = work.operations as f64 / self.operations_per_second;
        let moving = work.bytes(bytes_per_number)? as f64 / self.bytes_per_second;
        Some(computing.max(moving))
    }
}

fn times(factors: &[u64]) -> Option<u64> {
    factors.iter().try_fold(1_u64, |product, &factor| product.checked_mul(factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Head as Weights, Options, recipe};
    use ndarray::Array2;

    /// The toy head of the book: T = 5, `d_model` = 4, d = 3; values of 2.
    const SMALL: Head = Head { tokens: 5, d_model: 4, d: 3, d_v: 2 };

    #[test]
    fn each_step_costs_what_was_counted_by_hand() {
        let counted = Step::ALL.map(|each| {
            let work = step(each, SMALL).unwrap();
            (work.multiplications, work.operations, work.read, work.written)
        });
        assert_eq!(
            counted,
            [
                // Q and K are 15 entries of 4 terms, V is 10.
                (60 + 60 + 40, 320, 2 * (20 + 12) + 20 + 8, 15 + 15 + 10),
                (75, 150, 15 + 15, 25),
                (25, 25, 25, 25),
                (0, 0, 25, 25),
                (0, 100, 25, 25),
                (50, 100, 25 + 10, 10),
            ]
        );
    }

    #[test]
    fn what_is_written_is_what_the_recipe_makes() {
        let ones = |rows, columns| Array2::<f64>::ones((rows, columns));
        let head = Weights::new(ones(4, 3), ones(4, 3), ones(4, 2)).unwrap();
        let trace = head.trace(&ones(5, 4), Options::causal()).unwrap();
        let made = [
            trace.q.len() + trace.k.len() + trace.v.len(),
            trace.scores.len(),
            trace.scaled.len(),
            trace.masked.len(),
            trace.weights.len(),
            recipe::mix(&trace.weights, &trace.v).unwrap().len(),
        ];
        assert_eq!(
            Step::ALL.map(|each| step(each, SMALL).unwrap().written),
            made.map(|n| n as u64)
        );
    }

    #[test]
    fn tiles_do_the_same_work_and_move_less() {
        let tiles = tiled(SMALL, 2).unwrap();
        assert_eq!(tiles.operations, 150 + 25 + 100 + 100);
        // Queries once, and 3 times the 5 keys of 3 and the 5 values of 2.
        assert_eq!((tiles.read, tiles.written), (15 + 3 * 25, 10));
        assert_eq!(tiled(SMALL, 0), None);
    }

    #[test]
    fn a_new_token_reads_every_key_and_value_once() {
        let work = decoding(1, 10, 3, 2).unwrap();
        assert_eq!(work.multiplications, 30 + 20 + 10);
        assert_eq!(work.operations, 60 + 40 + 50);
        assert_eq!((work.read, work.written), (3 + 10 * 5, 2));
        // Four heads that share: four times the work, the same keys and values.
        assert_eq!(decoding(4, 10, 3, 2).unwrap().read, 12 + 50);
    }

    /// The published sizes, and the published numbers of parameters: 124 439 808
    /// for GPT-2 small with its 787 968 + 121 344 positions, biases and norms,
    /// 6.74 billion for Llama 2 7B.
    #[test]
    fn whole_models_have_the_weights_that_are_published() {
        let gpt2 = Model {
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
        // 1024·768 positions; 13·768 a layer of biases and norms, and the last norm.
        let left_out = 1024 * 768 + 12 * 13 * 768 + 2 * 768;
        assert_eq!(gpt2.weights(), Some(124_439_808 - left_out));
        let llama2 = Model {
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
        // 65 norms of 4096 numbers are left out of 6 738 415 616.
        assert_eq!(llama2.weights(), Some(6_738_415_616 - 65 * 4096));
        // 2 bytes: half a MiB a token.
        assert_eq!(llama2.cache_bytes(1, 2), Some(512 * 1024));
    }

    #[test]
    fn a_text_costs_what_its_tokens_cost_one_by_one() {
        let model = Model {
            layers: 2,
            d_model: 6,
            heads: 4,
            key_value_heads: 2,
            d: 3,
            feed_forward: 10,
            feed_forward_matrices: 3,
            vocabulary: 7,
            tied: false,
        };
        let one_by_one: u64 = (1..=9)
            .map(|keys| {
                model.multiplications_by_weights().unwrap()
                    + model.multiplications_by_keys(keys).unwrap()
            })
            .sum();
        assert_eq!(model.multiplications_for_text(9), Some(one_by_one));
        // By hand: (6·3·12 + 3·6·10)·2 + 7·6 by weights, 2·2·4·3·5 by 5 keys.
        assert_eq!(model.multiplications_by_weights(), Some(396 * 2 + 42));
        assert_eq!(model.multiplications_by_keys(5), Some(240));
    }

    #[test]
    fn counts_that_do_not_fit_are_none() {
        let huge = Head { tokens: 1 << 33, ..SMALL };
        assert_eq!(step(Step::Score, huge), None);
        assert_eq!(step(Step::Scale, huge), None);
        assert_eq!(tiled(huge, 64), None);
        assert_eq!(product(u64::MAX, 1, 2), None);
        assert_eq!(decoding(u64::MAX, 2, 2, 2), None);
        assert_eq!(open_scores(u64::MAX), None);
        assert_eq!(open_scores(6), Some(21));
        assert_eq!(open_scores(7), Some(28));
    }

    #[test]
    fn the_roof_is_the_lower_of_two_ceilings() {
        let machine = Roofline { operations_per_second: 100.0, bytes_per_second: 20.0 };
        assert_eq!(machine.ridge(), 5.0);
        assert_eq!(
            [1.0, 5.0, 50.0].map(|intensity| machine.ceiling(intensity)),
            [20.0, 100.0, 100.0]
        );
        let work = Work { operations: 300, read: 15, written: 5, ..Work::default() };
        assert_eq!(work.intensity(4), Some(3.75));
        // 300/100 seconds to compute, 80/20 to move.
        assert_eq!(machine.seconds(work, 4), Some(4.0));
        assert_eq!(machine.seconds(work, 1), Some(3.0));
        assert_eq!(Work::default().intensity(4), None);
    }
}
