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
