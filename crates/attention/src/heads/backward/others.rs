//! What the parts of a head but the first give to the gradients of its queries.
//! Each has a place of its own; in the end they are added up, in their order.

use super::WAIT;
use super::sweep::first_query_to_see;
use crate::heads::parallel;
use crate::heads::problem::Problem;
use crate::shape::collected;
use crate::{Error, Real};
use std::ops::Range;

/// How many rows one job adds up.
const ROWS: usize = 256;

/// What all parts of a head but the first are about; it is the same for every head.
pub(super) struct Others {
    /// The first query that each of them is about.
    first_queries: Vec<usize>,
}

impl Others {
    /// The parts with these keys.
    pub(super) fn new<F: Real>(
        attention: &Problem<F>,
        ranges: &[Range<usize>],
    ) -> Result<Self, Error> {
        let firsts = ranges.iter().skip(1).map(|keys| first_query_to_see(attention, keys.start));
        Ok(Self { first_queries: collected("the list of parts", &[ranges.len()], firsts)? })
    }

    /// The shape of their terms: for each head and each part the rows from its first
    /// query on.
    pub(super) fn shape<F: Real>(&self, attention: &Problem<F>) -> [usize; 3] {
        let rows = self.first_queries.iter().map(|first| attention.queries() - first);
        [attention.heads(), rows.fold(0, usize::saturating_add), attention.d()]
    }

    /// Adds their terms to what the first parts gave, `(H, T_q, d)`.
    pub(super) fn add<F: Real>(
        &self,
        attention: &Problem<F>,
        terms: &[F],
        sums: &mut [F],
    ) -> Result<(), Error> {
        if terms.is_empty() {
            return Ok(());
        }
        let (heads, queries, d) = (attention.heads(), attention.queries(), attention.d());
        let of_heads = sums.chunks_exact_mut(queries * d).zip(terms.chunks(terms.len() / heads));
        let jobs = of_heads.flat_map(|(sums, terms)| {
            let sums = sums.chunks_mut(ROWS * d).enumerate();
            sums.map(move |(index, sums)| (index * ROWS, terms, sums))
        });
        parallel::for_each(
            collected("the list of sums", &[heads, queries.div_ceil(ROWS)], jobs)?,
            terms.len().saturating_mul(WAIT),
            || Ok(()),
            |(), (first_query, terms, sums)| self.add_rows(first_query, queries, d, terms, sums),
        )
    }

    /// Adds the terms of one head to the rows of some queries.
    fn add_rows<F: Real>(
        &self,
        first_query: usize,
        queries: usize,
        d: usize,
        terms: &[F],
        sums: &mut [F],
    ) {
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
