//! What the parts of a head but the first give to the gradients of its queries.
//! Each has a place of its own; in the end they are added up, in their order.

use super::sweep::first_query_to_see;
use crate::heads::parallel;
use crate::heads::problem::Problem;
use crate::shape::{collected, zeroed};
use crate::{Error, Real};
use std::ops::Range;

/// How many rows one job adds up.
const ROWS: usize = 256;

/// As many multiplications take about as long as one addition here, which waits for
/// memory.
const ADDITION: usize = 8;

/// The places of all parts of every head but the first.
pub(super) struct Others<F> {
    /// The first query that each of a head's parts is about.
    first_queries: Vec<usize>,
    /// For each head and each part the rows `(queries, d)` from that query on.
    pub(super) d_q: Vec<F>,
}

impl<F: Real> Others<F> {
    /// Room for the parts with these keys.
    pub(super) fn new(attention: &Problem<F>, ranges: &[Range<usize>]) -> Result<Self, Error> {
        let firsts = ranges.iter().skip(1).map(|keys| first_query_to_see(attention, keys.start));
        let first_queries = collected("the list of parts", &[ranges.len()], firsts)?;
        let rows = first_queries.iter().map(|first| attention.queries() - first).sum();
        let shape = [attention.heads(), rows, attention.d()];
        let d_q = zeroed("the parts of the gradient of q", &shape)?;
        Ok(Self { first_queries, d_q })
    }

    /// Adds all to what the first parts gave, `(H, T_q, d)`.
    pub(super) fn add_to(&self, attention: &Problem<F>, d_q: &mut [F]) -> Result<(), Error> {
        if self.d_q.is_empty() {
            return Ok(());
        }
        let (heads, queries, d) = (attention.heads(), attention.queries(), attention.d());
        let of_heads = d_q.chunks_exact_mut(queries * d);
        let jobs = of_heads.zip(self.d_q.chunks_exact(self.d_q.len() / heads));
        let jobs = jobs.flat_map(|(sums, terms)| {
            let sums = sums.chunks_mut(ROWS * d).enumerate();
            sums.map(move |(index, sums)| (index * ROWS, sums, terms))
        });
        parallel::for_each(
            collected("the list of sums", &[heads, queries.div_ceil(ROWS)], jobs)?,
            self.d_q.len().saturating_mul(ADDITION),
            || Ok(()),
            |(), (first_query, sums, terms)| self.add(first_query, queries, d, terms, sums),
        )
    }

    /// Adds the terms of one head to the rows of its queries from one of them on.
    fn add(&self, first_query: usize, queries: usize, d: usize, terms: &[F], sums: &mut [F]) {
        let mut later = terms;
        for &first in &self.first_queries {
            let (terms, rest) = later.split_at((queries - first) * d);
            let sums = sums.get_mut(first.saturating_sub(first_query) * d..).unwrap_or_default();
            let terms = &terms[first_query.saturating_sub(first).min(queries - first) * d..];
            for (sum, &term) in sums.iter_mut().zip(terms) {
                *sum += term;
            }
            later = rest;
        }
    }
}
