//! How a gradient becomes a step: Adam with decoupled weight decay. It knows
//! weights and gradients, and not where they come from.

use crate::model::{Model, Sizes};

/// What the average of the gradients keeps at each step, and that of their squares.
const KEEP: f32 = 0.9;
const KEEP_SQUARES: f32 = 0.98;
/// Keeps a weight that has had no gradient yet from a division by 0.
const EPSILON: f32 = 1e-8;
/// A longer gradient is shortened to this length.
const LONGEST: f64 = 1.0;

/// Adam's memory of the gradients: a running average of each weight's gradient
/// and of its square.
///
/// `m ← β₁m + (1−β₁)g`, `v ← β₂v + (1−β₂)g²`, and with `m̂ = m/(1−β₁ᵗ)`,
/// `v̂ = v/(1−β₂ᵗ)`: `w ← w − rate·(m̂/(√v̂+ε) + decay·w)`. So each weight moves
/// at its own pace, by about `rate` a step as long as its gradient keeps its sign.
///
/// # Reference
///
/// Kingma and Ba, *Adam* (2015), algorithm 1, <https://arxiv.org/abs/1412.6980>;
/// Loshchilov and Hutter, *Decoupled Weight Decay Regularization* (2019),
/// algorithm 2, <https://arxiv.org/abs/1711.05101>.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    average: Model<f32>,
    squares: Model<f32>,
    /// β₁ᵗ and β₂ᵗ.
    forgotten: (f32, f32),
    decay: f32,
}

impl Adam {
    /// No memory yet. Each step takes `rate·decay` of each weight away, but of no gain.
    #[must_use]
    pub fn new(sizes: Sizes, decay: f32) -> Adam {
        let (average, squares) = (Model::zeros(sizes), Model::zeros(sizes));
        Adam { average, squares, forgotten: (1.0, 1.0), decay }
    }

    /// Moves the weights against the gradient.
    pub fn step(&mut self, model: &mut Model<f32>, gradient: &Model<f32>, rate: f32) {
        self.forgotten = (self.forgotten.0 * KEEP, self.forgotten.1 * KEEP_SQUARES);
        let (in_average, in_squares) = (1.0 - self.forgotten.0, 1.0 - self.forgotten.1);
        let shortened = shortening(gradient);
        let memory = self.average.tensors_mut().into_iter().zip(self.squares.tensors_mut());
        let tensors = model.tensors_mut().into_iter().zip(gradient.tensors());
        for ((mut weights, (_, gradients)), (mut averages, mut squares)) in tensors.zip(memory) {
            let decay = if weights.ndim() > 1 { self.decay } else { 0.0 };
            let memory = averages.iter_mut().zip(&mut squares);
            for ((weight, &gradient), (average, square)) in
                weights.iter_mut().zip(&gradients).zip(memory)
            {
                let gradient = gradient * shortened;
                *average = KEEP * *average + (1.0 - KEEP) * gradient;
                *square = KEEP_SQUARES * *square + (1.0 - KEEP_SQUARES) * gradient * gradient;
                let direction = (*average / in_average) / ((*square / in_squares).sqrt() + EPSILON);
                *weight -= rate * (direction + decay * *weight);
            }
        }
    }
}

/// What the gradient is multiplied by, so that it is no longer than [`LONGEST`].
fn shortening(gradient: &Model<f32>) -> f32 {
    let tensors = gradient.tensors();
    let entries = tensors.iter().flat_map(|(_, tensor)| tensor);
    let squares: f64 = entries.map(|&entry| f64::from(entry) * f64::from(entry)).sum();
    (LONGEST / squares.sqrt().max(LONGEST)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes =
        Sizes { words: 3, context: 2, width: 4, layers: 1, heads: 1, head_size: 5 };

    /// A model whose only weights that are not 0 are one of the embedding and one gain.
    fn model(weight: f32, gain: f32) -> Model<f32> {
        let mut model = Model::zeros(SIZES);
        (model.embedding[[1, 2]], model.norm[3]) = (weight, gain);
        model
    }

    /// The first step has the length of the rate whatever the gradient's, for then
    /// m̂ = g and v̂ = g²; a weight decays besides, and a gain does not.
    #[test]
    fn the_first_step_is_as_long_as_the_rate() {
        let mut weights = model(2.0, 1.0);
        Adam::new(SIZES, 0.5).step(&mut weights, &model(-0.3, 0.004), 0.1);
        assert!((weights.embedding[[1, 2]] - (2.0 + 0.1 - 0.1 * 0.5 * 2.0)).abs() < 1e-5);
        assert!((weights.norm[3] - 0.9).abs() < 1e-5);
        assert_eq!(weights.embedding[[0, 0]], 0.0);
    }

    /// By hand: g = 0.5 and then −0.5, so m = 0.045 − 0.05 = −0.005 and
    /// v = (0.98·0.02 + 0.02)·0.25; m̂ = −0.005/0.19, v̂ = 0.25.
    #[test]
    fn the_second_step_remembers_the_first() {
        let mut weights = model(0.0, 0.0);
        let mut adam = Adam::new(SIZES, 0.0);
        adam.step(&mut weights, &model(0.5, 0.0), 1.0);
        adam.step(&mut weights, &model(-0.5, 0.0), 1.0);
        assert!((weights.embedding[[1, 2]] - (-1.0 + 0.005 / 0.19 / 0.5)).abs() < 1e-4);
    }

    #[test]
    fn a_long_gradient_is_shortened() {
        assert_eq!(shortening(&model(0.3, 0.4)), 1.0);
        assert_eq!(shortening(&model(30.0, 40.0)), 0.02);
    }
}
