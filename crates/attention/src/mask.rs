//! Which keys a query may see. A mask is a rule here, not a matrix, so that a
//! long sequence needs no T×T memory for it.

/// Which keys each query may attend to; the others are closed to it.
///
/// In every rule the keys open to a query are the first so many, no fewer for a
/// later query; and so a mask is described by a count: [`Mask::open_keys`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mask {
    /// Every query sees every key.
    #[default]
    Full,
    /// A query sees no key after itself, the *last* query sees every key:
    /// `key ≤ query + T_k − T_q`.
    ///
    /// This is what generating text needs: the queries are the newest tokens,
    /// the keys are all the tokens so far. With more queries than keys, the
    /// first `T_q − T_k` queries see nothing.
    Causal,
    /// A query sees no key after itself, the *first* query sees the first key
    /// alone: `key ≤ query`, whatever the lengths.
    CausalFromStart,
}

impl Mask {
    /// How many keys are open to a query: exactly the keys `0..open_keys`.
    ///
    /// `query` counts from 0; `queries` and `keys` are the lengths `T_q` and `T_k`.
    ///
    /// ```
    /// use attention::Mask;
    ///
    /// // Two new tokens, after three that are known already.
    /// assert_eq!(Mask::Causal.open_keys(0, 2, 5), 4);
    /// assert_eq!(Mask::Causal.open_keys(1, 2, 5), 5);
    /// assert_eq!(Mask::CausalFromStart.open_keys(0, 2, 5), 1);
    /// ```
    #[must_use]
    pub fn open_keys(self, query: usize, queries: usize, keys: usize) -> usize {
        let up_to_itself = query.saturating_add(1);
        match self {
            Mask::Full => keys,
            Mask::Causal => up_to_itself.saturating_add(keys).saturating_sub(queries).min(keys),
            Mask::CausalFromStart => up_to_itself.min(keys),
        }
    }

    /// Whether a query may attend to a key, both counted from 0, among
    /// `queries` = `T_q` queries and `keys` = `T_k` keys.
    ///
    /// ```
    /// use attention::Mask;
    ///
    /// assert!(Mask::Causal.allows(2, 1, 5, 5));
    /// assert!(!Mask::Causal.allows(1, 2, 5, 5));
    /// ```
    #[must_use]
    pub fn allows(self, query: usize, key: usize, queries: usize, keys: usize) -> bool {
        key < self.open_keys(query, queries, keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mask drawn as rows of queries: `x` open, `.` closed.
    fn drawn(mask: Mask, queries: usize, keys: usize) -> Vec<String> {
        let mark = |query, key| if mask.allows(query, key, queries, keys) { 'x' } else { '.' };
        (0..queries).map(|query| (0..keys).map(|key| mark(query, key)).collect()).collect()
    }

    #[test]
    fn full_opens_every_key() {
        assert_eq!(drawn(Mask::Full, 2, 3), ["xxx", "xxx"]);
    }

    #[test]
    fn causal_is_a_triangle_when_lengths_agree() {
        let triangle = ["x..", "xx.", "xxx"];
        assert_eq!(drawn(Mask::Causal, 3, 3), triangle);
        assert_eq!(drawn(Mask::CausalFromStart, 3, 3), triangle);
    }

    #[test]
    fn causal_with_fewer_queries_lets_the_last_see_every_key() {
        assert_eq!(drawn(Mask::Causal, 2, 5), ["xxxx.", "xxxxx"]);
        assert_eq!(drawn(Mask::CausalFromStart, 2, 5), ["x....", "xx..."]);
    }

    #[test]
    fn causal_with_more_queries_leaves_the_first_with_nothing() {
        assert_eq!(drawn(Mask::Causal, 4, 2), ["..", "..", "x.", "xx"]);
        assert_eq!(drawn(Mask::CausalFromStart, 4, 2), ["x.", "xx", "xx", "xx"]);
    }

    #[test]
    fn positions_at_the_end_of_usize_do_not_overflow() {
        assert!(!Mask::Causal.allows(usize::MAX, usize::MAX, 1, 3));
        assert_eq!(Mask::CausalFromStart.open_keys(usize::MAX, 1, 3), 3);
        assert_eq!(Mask::Full.open_keys(usize::MAX, 1, 3), 3);
    }
}
