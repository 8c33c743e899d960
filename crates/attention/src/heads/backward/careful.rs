//! A second look at heads in which something is NaN or infinite. The sweep knows
//! only finite numbers; here the recipe says what the others mean.

use super::Loss;
use crate::heads::problem::finite;
use crate::{Error, Options, Real, Trace};
use ndarray::{ArrayView2, ArrayViewMut2, s};

/// Computes the gradients of each head again that has some that are not finite.
pub(super) fn look_again<F: Real>(
    loss: &Loss<F>,
    d_q: &mut [F],
    d_k: &mut [F],
    d_v: &mut [F],
) -> Result<(), Error> {
    let attention = &loss.attention;
    let (queries, keys) = (attention.queries(), attention.keys());
    for head in 0..attention.heads() {
        let d_q = of_head(d_q, head, queries * attention.d());
        let d_k = of_head(d_k, head, keys * attention.d());
        let d_v = of_head(d_v, head, keys * attention.d_v());
        if !(finite(d_q) && finite(d_k) && finite(d_v)) {
            by_the_recipe(loss, head, d_q, d_k, d_v)?;
        }
    }
    Ok(())
}

/// The elements of one head.
fn of_head<F>(elements: &mut [F], head: usize, length: usize) -> &mut [F] {
    &mut elements[head * length..(head + 1) * length]
}

/// The gradients of one head, a row at a time so that no square is ever held.
fn by_the_recipe<F: Real>(
    loss: &Loss<F>,
    head: usize,
    d_q: &mut [F],
    d_k: &mut [F],
    d_v: &mut [F],
) -> Result<(), Error> {
    let attention = &loss.attention;
    let (d, d_v_columns) = (attention.d(), attention.d_v());
    d_k.fill(F::zero());
    d_v.fill(F::zero());
    let options = Options::full().with_scale(attention.scale);
    for query in 0..attention.queries() {
        let open = attention.open_keys(query);
        let q = attention.q.slice(s![head, query..=query, ..]).to_owned();
        let k = attention.k.slice(s![head, ..open, ..]).to_owned();
        let v = attention.v.slice(s![head, ..open, ..]).to_owned();
        let d_output = loss.d_output.slice(s![head, query..=query, ..]);
        let gradient = Trace::new(q, k, v, options)?.gradient(&d_output, options)?;
        d_q[query * d..(query + 1) * d].copy_from_slice(&gradient.q.into_raw_vec_and_offset().0);
        add(&mut d_k[..open * d], &gradient.k.view());
        add(&mut d_v[..open * d_v_columns], &gradient.v.view());
    }
    Ok(())
}

/// Adds a matrix to the elements of one of its shape.
fn add<F: Real>(sums: &mut [F], terms: &ArrayView2<F>) {
    if let Ok(mut sums) = ArrayViewMut2::from_shape(terms.raw_dim(), sums) {
        sums += terms;
    }
}
