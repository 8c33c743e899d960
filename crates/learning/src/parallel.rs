//! Work on many things at once, where there are threads. The results come in the
//! order of the things, so that nothing depends on who was done first.

/// What a function makes of each item, in order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    #[cfg(feature = "rayon")]
    {
        use rayon::prelude::*;
        items.par_iter().map(&make).collect()
    }
    #[cfg(not(feature = "rayon"))]
    {
        items.iter().map(make).collect()
    }
}
