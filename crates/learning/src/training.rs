//! How the small transformer learns: batch after batch of fresh texts, all of
//! them from a seed. It neither writes files nor tells of its progress.

use crate::adam::Adam;
use crate::grammar::{Pairs, repeats, sentences};
use crate::model::{Model, Sizes};
use crate::vocabulary::WORDS;
use crate::{Error, Random, parallel};

/// The sizes of the transformer that the book is about.
pub const SIZES: Sizes =
    Sizes { words: WORDS.len(), context: 32, width: 64, layers: 2, heads: 4, head_size: 16 };

/// How many texts each step learns from.
pub const BATCH: usize = 64;
/// How many texts one thread takes at a time. Their gradients are added up before
/// they meet those of others, so this decides about the last bits; threads do not.
const SHARE: usize = 8;

/// What a training is to be like; the same plan gives the same weights, to the bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Where all chance comes from: the first weights and the texts.
    pub seed: u32,
    /// How many steps there are.
    pub steps: usize,
    /// The learning rate at its highest. It rises to it over [`Plan::warm_up`]
    /// steps, and then falls in a straight line, to 0 at the end.
    pub rate: f32,
    /// How many steps the rate rises.
    pub warm_up: usize,
    /// The weight decay.
    pub decay: f32,
}

impl Plan {
    /// The plan that made the kept weights, with a seed and a number of steps.
    #[must_use]
    pub fn new(seed: u32, steps: usize) -> Plan {
        Plan { seed, steps, rate: 3e-3, warm_up: steps.min(100), decay: 0.01 }
    }

    /// The learning rate of a step, counted from 1.
    #[must_use]
    pub fn rate_of(&self, step: usize) -> f32 {
        let rising = step as f32 / self.warm_up.max(1) as f32;
        let left = (self.steps + 1).saturating_sub(step) as f32;
        let falling = left / (self.steps + 1).saturating_sub(self.warm_up).max(1) as f32;
        self.rate * rising.min(falling).min(1.0)
    }
}

/// Streams of random numbers that have nothing to do with each other, for a seed
/// has 32 bits: those that training draws from, and those for other uses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    Weights,
    Training,
    Unseen,
}

/// The random numbers of a seed for a use.
pub(crate) fn random(seed: u32, purpose: Use) -> Random {
    Random::seeded(u64::from(seed) | (purpose as u64) << 32)
}

/// A training that is under way.
#[derive(Clone, Debug)]
pub struct Training {
    model: Model<f32>,
    adam: Adam,
    random: Random,
    plan: Plan,
    step: usize,
}

impl Training {
    /// A training before its first step.
    #[must_use]
    pub fn new(plan: Plan) -> Training {
        Training {
            model: Model::random(SIZES, &mut random(plan.seed, Use::Weights)),
            adam: Adam::new(SIZES, plan.decay),
            random: random(plan.seed, Use::Training),
            plan,
            step: 0,
        }
    }

    /// The model as it is now.
    #[must_use]
    pub fn model(&self) -> &Model<f32> {
        &self.model
    }

    /// How many steps have been made.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.step
    }

    /// Learns from one batch; gives the mean loss on it, before the step.
    ///
    /// # Errors
    ///
    /// [`Error::Diverged`] if the loss is no number; the weights are then of no use.
    pub fn step(&mut self) -> Result<f64, Error> {
        self.step += 1;
        let batch = batch(&mut self.random);
        let shares: Vec<&[Vec<usize>]> = batch.chunks(SHARE).collect();
        let (mut gradient, mut loss) = (Model::zeros(SIZES), 0.0);
        for share in parallel::map(&shares, |share| gradient_of(&self.model, share)) {
            let (gradient_of_share, loss_of_share) = share?;
            gradient.add(&gradient_of_share);
            loss += loss_of_share;
        }
        if !loss.is_finite() {
            return Err(Error::Diverged { step: self.step });
        }
        for mut tensor in gradient.tensors_mut() {
            tensor.mapv_inplace(|sum| sum / BATCH as f32);
        }
        self.adam.step(&mut self.model, &gradient, self.plan.rate_of(self.step));
        Ok(loss / BATCH as f64)
    }
}

/// The texts of one step: sentences and repeats by turns, each one word longer
/// than the context, for the last word is only predicted.
fn batch(random: &mut Random) -> Vec<Vec<usize>> {
    let length = SIZES.context + 1;
    let text = |number| match number % 2 {
        0 => sentences(random, Pairs::Trained, length).words,
        _ => repeats(random, length),
    };
    (0..BATCH).map(text).collect()
}

/// The gradients of a few texts, and their losses, added up in order.
fn gradient_of(model: &Model<f32>, texts: &[Vec<usize>]) -> Result<(Model<f32>, f64), Error> {
    let (mut gradient, mut loss) = (Model::zeros(model.sizes()), 0.0);
    for text in texts {
        let last = text.len().saturating_sub(1);
        loss += model.add_gradient(&text[..last], &text[1..], &mut gradient)?;
    }
    Ok((gradient, loss))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_and_falls() {
        let plan = Plan { seed: 0, steps: 20, rate: 1.0, warm_up: 5, decay: 0.0 };
        assert_eq!(plan.rate_of(1), 0.2);
        assert_eq!(plan.rate_of(5), 1.0);
        assert_eq!(plan.rate_of(13), 0.5);
        assert_eq!(plan.rate_of(20), 1.0 / 16.0);
        assert!(Plan::new(1, 0).rate_of(1).is_finite());
    }

    #[test]
    fn a_few_steps_lower_the_loss_from_that_of_knowing_nothing() {
        let mut training = Training::new(Plan::new(1, 30));
        let first = training.step().unwrap();
        assert!((first - 44_f64.ln()).abs() < 0.5, "{first}");
        let losses: Vec<f64> = (1..30).map(|_| training.step().unwrap()).collect();
        assert!(losses[28] < first - 0.3, "{losses:?}");
    }

    #[test]
    fn a_rate_far_too_high_is_found_out() {
        let plan = Plan { rate: f32::INFINITY, ..Plan::new(1, 10) };
        let mut training = Training::new(plan);
        let error = (0..10).find_map(|_| training.step().err()).unwrap();
        assert!(matches!(error, Error::Diverged { step: 2 }), "{error}");
    }
}
