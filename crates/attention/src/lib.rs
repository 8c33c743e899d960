//! The attention mechanism, told step by step and computed in parallel.
//!
//! Attention is a soft lookup: each *query* is compared with every *key*, and
//! takes the average of the *values*, weighted by how well their keys fit.
//!
//! `O = softmax(Q·Kᵀ/√d)·V`
//!
//! - [`recipe`] is that formula in six steps, each a function to read.
//! - [`head`] is one head with its weight matrices; its [`Trace`] keeps every
//!   intermediate result.
//! - [`gradient`] is the recipe backwards: how a loss changes with each matrix.
//! - [`online`] is the softmax of one query a key at a time, and [`tiles`] one
//!   head a tile at a time: how attention does without the scores, to be read.
//! - [`cost`] counts what a head and a whole model cost.
//! - [`heads`] computes many heads at once, in parallel, in memory that grows
//!   with the length of the sequence and not with its square, and their gradients.
//! - [`ladder`] is one head in six versions, each faster than the one before:
//!   the way from plain loops to [`heads`].
//!
//! The recipe is the reference: it stays simple, and what is fast is tested
//! against it. Everything works in `f32` and in `f64` ([`Real`]), and many heads take
//! numbers of 16 bits too ([`Element`]).
//!
//! # A small head
//!
//! ```
//! use attention::{Head, Options, ndarray::array};
//!
//! // Two tokens, d_model = 3. The head looks for tokens like itself (d = 1) ...
//! let x = array![[1.0, 0.0, 2.0], [0.0, 1.0, 4.0]];
//! let w_q = array![[1.0], [2.0], [0.0]];
//! let w_k = w_q.clone();
//! // ... and passes on their last number, and its double (d_v = 2).
//! let w_v = array![[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]];
//!
//! let head = Head::new(w_q, w_k, w_v)?;
//! let trace = head.trace(&x, Options::causal())?;
//! assert_eq!(trace.scores, array![[1.0, 2.0], [2.0, 4.0]]);
//! assert_eq!(trace.weights.row(0), array![1.0, 0.0], "the first token sees itself alone");
//!
//! // The second weighs scores of 2 and 4: exp(4) is exp(2) = 7.39 times exp(2).
//! let odds = trace.weights[[1, 1]] / trace.weights[[1, 0]];
//! assert!((odds - 2.0_f64.exp()).abs() < 1e-12);
//! assert_eq!(trace.output.row(0), array![2.0, 4.0]);
//! # Ok::<(), attention::Error>(())
//! ```
//!
//! # Notation
//!
//! | Here | In Rust | Meaning | Shape |
//! |---|---|---|---|
//! | `T` | | tokens; `T_q` queries and `T_k` keys where they differ | |
//! | `d_model` | | numbers for each token | |
//! | `d`, `d_v` | `d`, `d_v` | head size: numbers in a query or key, and in a value | |
//! | `H` | | heads | |
//! | `X` | `x` | the tokens | `(T, d_model)` |
//! | `W_Q`, `W_K` | `w_q`, `w_k` | what makes queries and keys of tokens | `(d_model, d)` |
//! | `W_V` | `w_v` | what makes values of tokens | `(d_model, d_v)` |
//! | `Q` | `q` | queries, what each token looks for | `(T_q, d)` |
//! | `K` | `k` | keys, what each token is found by | `(T_k, d)` |
//! | `V` | `v` | values, what each token passes on | `(T_k, d_v)` |
//! | `S` | `scores` | how well keys fit queries | `(T_q, T_k)` |
//! | `M` | `mask` | which keys are open to a query | `(T_q, T_k)` |
//! | `A` | `weights` | how much each query takes from each value | `(T_q, T_k)` |
//! | `O` | `output` | the weighted averages of the values | `(T_q, d_v)` |
//!
//! With many heads `q`, `k`, `v` and `output` have a first axis `H` more.
//!
//! # Semantics
//!
//! The same for the recipe and for many heads:
//!
//! - **Scale.** `1/√d` unless another is given, which must be finite. It is
//!   applied to the scores once they are summed. A head of size 0 has empty dot
//!   products: every score is 0, and each query weighs its open keys equally.
//! - **Mask.** [`Mask::Causal`] aligns bottom-right, so that the last query
//!   sees every key; [`Mask::CausalFromStart`] aligns top-left. A closed key
//!   never leaks, even if the key or its value is NaN or infinite.
//! - **Nothing to attend to** gives zeros, never NaN: no keys at all, all keys
//!   closed, or every open score −∞.
//! - **A score of −∞** gives the weight 0, as if the key were closed.
//! - **Scores of +∞** share the query's weight equally, and leave nothing to
//!   the others: what softmax tends to as they grow together.
//! - **A NaN score**, where open, makes the output of that query NaN, and of no
//!   other.
//! - **A weight of exactly 0**, also one too small for the type, takes nothing
//!   from its value, not even NaN or ∞. Otherwise such a value reaches the
//!   output as arithmetic has it.
//! - **Subnormal numbers** are kept, not flushed to 0; but for numbers of 16 bits that
//!   a processor multiplies in pairs, which counts them as 0.
//! - **Empty arrays** are fine: no heads, no queries, no keys, no head size;
//!   the output has the shape that the formula gives it.
//! - **Layout** does not matter: transposed, strided and reversed views count
//!   like the arrays they show.
//! - **Finite numbers that overflow** when summed are infinite from then on; as
//!   the recipe and many heads sum in another order, they may differ there.
//!
//! Wrong shapes and scales give an [`Error`] that names the argument. Nothing
//! panics on what a caller can send, with one limit: the steps that return an
//! array and no `Result` allocate one as large as the scores they were given,
//! and abort, as Rust does, where memory does not suffice for a second one.
//!
//! # Features
//!
//! - `bf16` (default): [`heads::attend`] takes and gives `half::bf16` too.
//! - `rayon` (default): [`heads::attend`] uses the current thread pool of
//!   rayon. Without it the crate depends on no threads, as WebAssembly needs,
//!   and gives the same bits.

pub mod cost;
mod element;
mod error;
pub mod gradient;
pub mod head;
pub mod heads;
pub mod ladder;
mod mask;
pub mod online;
mod options;
mod real;
pub mod recipe;
mod shape;
pub mod tiles;

pub use element::Element;
pub use error::Error;
pub use head::{Head, Trace};
pub use mask::Mask;
pub use ndarray;
pub use options::Options;
pub use real::Real;
