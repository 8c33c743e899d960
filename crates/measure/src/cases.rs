//! The cases that are timed: the sizes of the table in the book. What a case
//! counts as work is said here, for all contestants alike.

use half::bf16;
use serde::{Deserialize, Serialize};

/// One size of attention. There are as many queries as keys, but for
/// decoding, where one query meets all keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Case {
    /// Heads, `H`.
    pub(crate) heads: usize,
    /// Queries, `T_q`.
    pub(crate) queries: usize,
    /// Keys and values, `T_k`.
    pub(crate) keys: usize,
    /// Numbers in a query, key or value: `d`.
    pub(crate) dim: usize,
    /// Whether a query sees the keys up to itself alone.
    pub(crate) causal: bool,
    /// Whether the gradients of queries, keys and values are computed too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) gradient: bool,
    /// Whether the numbers are stored in 16 bits, as `bf16`, and not as `f32`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) bf16: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Case {
    /// A name that says it all: `H8 T4096 d64 causal`.
    pub(crate) fn name(self) -> String {
        let Case { heads, keys, dim, .. } = self;
        let kind = match (self.is_decoding(), self.causal) {
            (true, _) => "decode",
            (false, true) => "causal",
            (false, false) => "full",
        };
        let gradient = if self.gradient { " with gradient" } else { "" };
        let dtype = if self.bf16 { " bf16" } else { "" };
        format!("H{heads} T{keys} d{dim} {kind}{gradient}{dtype}")
    }

    pub(crate) fn is_decoding(self) -> bool {
        self.queries == 1
    }

    /// The useful floating-point operations: a multiplication and an addition
    /// for each number of each open score, and as many to mix the values. A
    /// causal mask leaves half of the scores to do. Backwards there are five
    /// products for the two forwards, as Dao (2023), section 4.1, counts them.
    pub(crate) fn operations(self) -> f64 {
        let products = if self.gradient { 2.0 + 5.0 } else { 2.0 };
        let all =
            2.0 * products * (self.heads * self.queries) as f64 * (self.keys * self.dim) as f64;
        if self.causal && !self.is_decoding() { all / 2.0 } else { all }
    }

    /// The bytes of the keys and values, each of which must be read once.
    pub(crate) fn bytes_read(self) -> f64 {
        let size = if self.bf16 { size_of::<bf16>() } else { size_of::<f32>() };
        2.0 * (self.heads * self.keys) as f64 * (self.dim * size) as f64
    }
}

/// Every case, in the order in which the book shows them.
pub(crate) fn table() -> Vec<Case> {
    let decoding = Case { queries: 1, ..square(32, 16_384, 128, false) };
    vec![
        square(1, 1024, 64, true),
        square(1, 4096, 64, true),
        square(1, 4096, 64, false),
        square(8, 1024, 64, true),
        square(8, 4096, 64, true),
        square(8, 4096, 64, false),
        square(8, 4096, 128, true),
        square(8, 4096, 128, false),
        square(1, 16_384, 64, true),
        decoding,
    ]
}

/// The cases in which gradients are computed too.
pub(crate) fn with_gradient() -> Vec<Case> {
    let forward = [
        square(1, 1024, 64, true),
        square(1, 4096, 64, true),
        square(8, 1024, 64, true),
        square(8, 2048, 64, true),
        square(8, 2048, 64, false),
        square(8, 2048, 128, true),
    ];
    forward.map(|case| Case { gradient: true, ..case }).to_vec()
}

/// Every case once more, with numbers of 16 bits.
pub(crate) fn in_bf16() -> Vec<Case> {
    table().into_iter().map(|case| Case { bf16: true, ..case }).collect()
}

/// As many queries as keys, forward alone, in `f32`.
pub(crate) fn square(heads: usize, tokens: usize, dim: usize, causal: bool) -> Case {
    Case { heads, queries: tokens, keys: tokens, dim, causal, gradient: false, bf16: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_bytes_are_counted_as_the_book_counts_them() {
        // By hand: 4 · 8 · 1024² · 64, half of it causal; 2 · 32 · 16384 · 128 · 4 bytes.
        let causal = table()[3];
        assert_eq!(causal.name(), "H8 T1024 d64 causal");
        assert_eq!(causal.operations(), 1_073_741_824.0);
        let decode = table()[9];
        assert_eq!(decode.name(), "H32 T16384 d128 decode");
        assert_eq!(decode.bytes_read(), 536_870_912.0);
        assert_eq!(decode.operations(), 268_435_456.0);
        // By hand: (2 + 5) · 2 · 8 · 1024² · 64, half of it causal.
        let learning = with_gradient()[2];
        assert_eq!(learning.name(), "H8 T1024 d64 causal with gradient");
        assert_eq!(learning.operations(), 3_758_096_384.0);
        // Half the bytes in bf16.
        let short = in_bf16()[9];
        assert_eq!(short.name(), "H32 T16384 d128 decode bf16");
        assert_eq!(short.bytes_read(), 268_435_456.0);
        assert_eq!(short.operations(), decode.operations());
    }
}
