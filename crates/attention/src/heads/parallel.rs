//! The one place that knows about threads: with the feature `rayon` jobs run
//! on its current pool, without it they run here, one after another.

/// How many multiplications are worth waking other threads for: some tens of
/// microseconds of work, about what it takes to wake them.
#[cfg(feature = "rayon")]
const WORTH_A_THREAD: usize = 1 << 23;

/// Runs every job, begun in the order given, each with a scratch that no other
/// job is using. `multiplications` says about how many there are in all jobs
/// together. Stops if there is no scratch to be had, and returns the error.
pub(super) fn for_each<Job: Send, Scratch, Error: Clone + Send>(
    jobs: Vec<Job>,
    multiplications: usize,
    new_scratch: impl Fn() -> Result<Scratch, Error> + Sync + Send,
    run: impl Fn(&mut Scratch, Job) + Sync + Send,
) -> Result<(), Error> {
    #[cfg(feature = "rayon")]
    if jobs.len() > 1 && multiplications > WORTH_A_THREAD {
        return for_each_on_threads(jobs, new_scratch, run);
    }
    let _ = multiplications;
    let mut scratch = new_scratch()?;
    jobs.into_iter().for_each(|job| run(&mut scratch, job));
    Ok(())
}

#[cfg(feature = "rayon")]
fn for_each_on_threads<Job: Send, Scratch, Error: Clone + Send>(
    jobs: Vec<Job>,
    new_scratch: impl Fn() -> Result<Scratch, Error> + Sync + Send,
    run: impl Fn(&mut Scratch, Job) + Sync + Send,
) -> Result<(), Error> {
    use rayon::iter::{ParallelBridge, ParallelIterator};

    // A bridge hands out jobs one by one, in order; a parallel iterator over
    // the vector would split it, and begin in its middle.
    jobs.into_iter().par_bridge().try_for_each_init(new_scratch, |scratch, job| match scratch {
        Ok(scratch) => {
            run(scratch, job);
            Ok(())
        }
        Err(error) => Err(error.clone()),
    })
}
