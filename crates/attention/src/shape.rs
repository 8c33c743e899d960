//! Checks of shapes and allocation of results, so that a caller's mistake
//! becomes an [`Error`] and never a panic or an abort. No mathematics but `A·B`.

use crate::{Error, Real};
use ndarray::{Array, Array2, ArrayRef, ArrayRef2, Dimension, IntoDimension};

/// One axis of a named argument, to be compared with another.
#[derive(Clone, Copy)]
pub(crate) struct Axis<'a> {
    argument: &'static str,
    shape: &'a [usize],
    axis: usize,
}

/// Names an axis of an argument.
pub(crate) fn axis<'a, F, D: Dimension>(
    argument: &'static str,
    array: &'a ArrayRef<F, D>,
    axis: usize,
) -> Axis<'a> {
    Axis { argument, shape: array.shape(), axis }
}

/// Demands that two axes have the same length; `rule` says which they are.
pub(crate) fn must_match(left: Axis, right: Axis, rule: &'static str) -> Result<(), Error> {
    if left.shape[left.axis] == right.shape[right.axis] {
        return Ok(());
    }
    Err(Error::Shape {
        argument: left.argument,
        shape: left.shape.to_vec(),
        other: right.argument,
        other_shape: right.shape.to_vec(),
        rule,
    })
}

/// An array of zeros, or an error where ndarray's own `zeros` would panic or
/// abort. `array` says what it is for.
pub(crate) fn zeros<F: Real, Sh: IntoDimension>(
    array: &'static str,
    shape: Sh,
) -> Result<Array<F, Sh::Dim>, Error> {
    let shape = shape.into_dimension();
    let elements = zeroed(array, shape.slice())?;
    from_elements(array, shape, elements)
}

/// The elements of an array of zeros, in memory order.
pub(crate) fn zeroed<T: Clone + Default>(
    array: &'static str,
    shape: &[usize],
) -> Result<Vec<T>, Error> {
    let too_large = || Error::TooLarge { array, shape: shape.to_vec() };
    let length = shape
        .iter()
        .try_fold(1_usize, |product, &length| product.checked_mul(length))
        .ok_or_else(too_large)?;
    let mut elements = Vec::new();
    elements.try_reserve_exact(length).map_err(|_| too_large())?;
    elements.resize(length, T::default());
    Ok(elements)
}

/// A list with as many items as a shape has elements.
pub(crate) fn collected<T>(
    list: &'static str,
    shape: &[usize],
    items: impl Iterator<Item = T>,
) -> Result<Vec<T>, Error> {
    let mut collected = Vec::new();
    collected
        .try_reserve_exact(shape.iter().product())
        .map_err(|_| Error::TooLarge { array: list, shape: shape.to_vec() })?;
    collected.extend(items);
    Ok(collected)
}

/// Gives elements from [`zeroed`] their shape.
pub(crate) fn from_elements<T, D: Dimension>(
    array: &'static str,
    shape: D,
    elements: Vec<T>,
) -> Result<Array<T, D>, Error> {
    // Some shapes without elements are too large even for ndarray's arithmetic.
    let too_large = Error::TooLarge { array, shape: shape.slice().to_vec() };
    Array::from_shape_vec(shape, elements).map_err(|_| too_large)
}

/// The matrix product A·B, of `(m, n)`·`(n, p)` → `(m, p)`, already known to fit.
///
/// Each entry is summed from left to right. A faster product would sum in an
/// order that depends on the processor; this one gives the same bits on each.
pub(crate) fn product<F: Real>(
    array: &'static str,
    a: &ArrayRef2<F>,
    b: &ArrayRef2<F>,
) -> Result<Array2<F>, Error> {
    let mut result = zeros(array, (a.nrows(), b.ncols()))?;
    for (row, mut result_row) in a.outer_iter().zip(result.outer_iter_mut()) {
        for (column, entry) in b.columns().into_iter().zip(&mut result_row) {
            *entry = row.iter().zip(column).fold(F::zero(), |sum, (&x, &y)| sum + x * y);
        }
    }
    Ok(result)
}
