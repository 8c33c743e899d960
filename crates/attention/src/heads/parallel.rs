//! The one place that knows about threads: with the feature `rayon` jobs run
//! on its current pool, without it they run here, one after another.

/// Runs every job, begun in the order given, each with a scratch that no other
/// job is using. Stops at an error, and returns it.
#[cfg(feature = "rayon")]
pub(super) fn for_each<Job: Send, Scratch, Error: Clone + Send>(
    jobs: Vec<Job>,
    new_scratch: impl Fn() -> Result<Scratch, Error> + Sync + Send,
    run: impl Fn(&mut Scratch, Job) -> Result<(), Error> + Sync + Send,
) -> Result<(), Error> {
    use rayon::iter::{ParallelBridge, ParallelIterator};

    // A bridge hands out jobs one by one, in order; a parallel iterator over
    // the vector would split it, and begin in its middle.
    jobs.into_iter().par_bridge().try_for_each_init(new_scratch, |scratch, job| match scratch {
        Ok(scratch) => run(scratch, job),
        Err(error) => Err(error.clone()),
    })
}

/// Runs every job in the order given, all with one scratch. Stops at an error,
/// and returns it.
#[cfg(not(feature = "rayon"))]
pub(super) fn for_each<Job, Scratch, Error>(
    jobs: Vec<Job>,
    new_scratch: impl Fn() -> Result<Scratch, Error>,
    run: impl Fn(&mut Scratch, Job) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut scratch = new_scratch()?;
    jobs.into_iter().try_for_each(|job| run(&mut scratch, job))
}
