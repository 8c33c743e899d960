//! One case: everyone runs in turn, again and again, and the median counts.

use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::cases::Case;
use crate::contestants::Contestant;
use crate::record::{Figures, Timed};

/// Nobody is given longer than this for one case; the slow run less often.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long everybody rests before a run. Some libraries let their threads wait
/// for more work in a busy loop, for up to a fifth of a second, and would take the
/// cores away from whoever runs next.
const REST: Duration = Duration::from_millis(250);

/// Runs shorter than this come twice, and the second counts: after the rest it can
/// take some milliseconds until all cores are awake.
const SHORT: Duration = Duration::from_millis(100);

/// Lets all that take part run the case, alternating.
pub(crate) fn run(
    case: Case,
    contestants: &mut [Box<dyn Contestant + '_>],
    runs: u32,
) -> Result<Timed> {
    let mut racing: Vec<_> = contestants
        .iter_mut()
        .filter(|one| one.takes_part(case))
        .map(|one| (one, Vec::new()))
        .collect();
    for (contestant, _) in &mut racing {
        contestant.prepare(case).with_context(|| format!("preparing {}", contestant.name()))?;
        // The first run pays for memory that the others find ready.
        contestant.run().with_context(|| format!("running {}", contestant.name()))?;
    }
    for round in 0..runs {
        for (contestant, times) in &mut racing {
            if round == 0 || times.iter().sum::<Duration>() < PATIENCE {
                thread::sleep(REST);
                let first = contestant.run()?;
                times.push(if first < SHORT { contestant.run()? } else { first });
            }
        }
    }
    let figures = racing.into_iter().map(|(contestant, times)| {
        let figures = Figures::of(contestant.name(), case, times);
        eprintln!("  {figures}");
        figures
    });
    Ok(Timed { case, name: case.name(), figures: figures.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::square;
    use std::cell::Cell;
    use std::rc::Rc;

    /// Says that each run takes as long as it is told to, and counts them.
    struct Pretender {
        took: Duration,
        runs: Rc<Cell<u32>>,
    }

    impl Contestant for Pretender {
        fn name(&self) -> &'static str {
            "pretender"
        }

        fn version(&self) -> String {
            String::new()
        }

        fn takes_part(&self, _: Case) -> bool {
            true
        }

        fn prepare(&mut self, _: Case) -> Result<()> {
            Ok(())
        }

        fn run(&mut self) -> Result<Duration> {
            self.runs.set(self.runs.get() + 1);
            Ok(self.took)
        }
    }

    #[test]
    fn short_runs_come_twice_and_one_of_the_two_counts() {
        for (took, each) in [(SHORT / 2, 2), (SHORT, 1)] {
            let runs = Rc::new(Cell::new(0));
            let pretender = Pretender { took, runs: Rc::clone(&runs) };
            let timed = run(square(1, 9, 3, true), &mut [Box::new(pretender)], 3).unwrap();
            assert_eq!(timed.figures[0].runs, 3);
            assert_eq!(runs.get(), 1 + 3 * each, "one to begin with, then {each} a round");
        }
    }
}
