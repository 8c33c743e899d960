//! The small transformer: its sizes and its weights. `forward` lets tokens run
//! through it, `backward` gives the gradient; it learns by `training`.

mod backward;
mod forward;

pub use forward::{LayerPass, Pass};

use crate::Random;
use attention::Real;
use ndarray::{Array1, Array2, ArrayViewD, ArrayViewMutD};

/// How large a transformer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// How many words it knows.
    pub words: usize,
    /// How many tokens it can read at once, T at most.
    pub context: usize,
    /// How many numbers it keeps for each token, `d_model`.
    pub width: usize,
    /// How many layers it has.
    pub layers: usize,
    /// How many heads each layer has, H.
    pub heads: usize,
    /// How many numbers a query, key or value has, d.
    pub head_size: usize,
}

impl Sizes {
    /// How many weights a model of this size has.
    #[must_use]
    pub fn parameters(&self) -> usize {
        Model::<f32>::zeros(*self).tensors().iter().map(|(_, tensor)| tensor.len()).sum()
    }
}

/// A causal transformer of attention alone: no layer but of heads.
///
/// A token begins as the sum of its word's row and its position's row. Each layer
/// adds to it what its heads have found: `x ← x + concat(O₁ … O_H)·W_O`, where the
/// heads read the normalised `x`. At the end, `x`, normalised once more, times the
/// unembedding gives a score for each word that might come next.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<F> {
    /// A row for each word: `(words, d_model)`.
    pub embedding: Array2<F>,
    /// A row for each position: `(context, d_model)`.
    pub positions: Array2<F>,
    /// The layers, the first first.
    pub layers: Vec<Layer<F>>,
    /// The gain of the last normalisation: `(d_model)`.
    pub norm: Array1<F>,
    /// A column for each word: `(d_model, words)`.
    pub unembedding: Array2<F>,
    /// How many heads each layer has.
    pub heads: usize,
}

/// The weights of one layer. The heads stand side by side: head h has the columns
/// from h·d to (h+1)·d of `w_q`, `w_k` and `w_v`, and these rows of `w_o`.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer<F> {
    /// The gain of the normalisation: `(d_model)`.
    pub norm: Array1<F>,
    /// `W_Q` of all heads: `(d_model, H·d)`.
    pub w_q: Array2<F>,
    /// `W_K` of all heads: `(d_model, H·d)`.
    pub w_k: Array2<F>,
    /// `W_V` of all heads: `(d_model, H·d)`.
    pub w_v: Array2<F>,
    /// `W_O`, by which the outputs of the heads come back to the tokens: `(H·d, d_model)`.
    pub w_o: Array2<F>,
}

impl<F: Real> Model<F> {
    /// A model whose every weight is 0: the shape of a gradient.
    #[must_use]
    pub fn zeros(sizes: Sizes) -> Model<F> {
        let Sizes { words, context, width, layers, heads, head_size } = sizes;
        let inner = heads * head_size;
        let layer = || Layer {
            norm: Array1::zeros(width),
            w_q: Array2::zeros((width, inner)),
            w_k: Array2::zeros((width, inner)),
            w_v: Array2::zeros((width, inner)),
            w_o: Array2::zeros((inner, width)),
        };
        Model {
            embedding: Array2::zeros((words, width)),
            positions: Array2::zeros((context, width)),
            layers: std::iter::repeat_with(layer).take(layers).collect(),
            norm: Array1::zeros(width),
            unembedding: Array2::zeros((width, words)),
            heads,
        }
    }

    /// The sizes of this model.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        let inner = self.layers.first().map_or(0, |layer| layer.w_q.ncols());
        Sizes {
            words: self.embedding.nrows(),
            context: self.positions.nrows(),
            width: self.norm.len(),
            layers: self.layers.len(),
            heads: self.heads,
            head_size: inner / self.heads.max(1),
        }
    }

    /// All weights, by name, always in the same order.
    #[must_use]
    pub fn tensors(&self) -> Vec<(String, ArrayViewD<'_, F>)> {
        let mut tensors = vec![
            ("embedding".to_owned(), self.embedding.view().into_dyn()),
            ("positions".to_owned(), self.positions.view().into_dyn()),
        ];
        for (number, layer) in self.layers.iter().enumerate() {
            let mut add = |name, tensor| tensors.push((format!("layers.{number}.{name}"), tensor));
            add("norm", layer.norm.view().into_dyn());
            add("w_q", layer.w_q.view().into_dyn());
            add("w_k", layer.w_k.view().into_dyn());
            add("w_v", layer.w_v.view().into_dyn());
            add("w_o", layer.w_o.view().into_dyn());
        }
        tensors.push(("norm".to_owned(), self.norm.view().into_dyn()));
        tensors.push(("unembedding".to_owned(), self.unembedding.view().into_dyn()));
        tensors
    }

    /// All weights, to be changed, in the order of [`Model::tensors`].
    #[must_use]
    pub fn tensors_mut(&mut self) -> Vec<ArrayViewMutD<'_, F>> {
        let mut tensors =
            vec![self.embedding.view_mut().into_dyn(), self.positions.view_mut().into_dyn()];
        for layer in &mut self.layers {
            tensors.push(layer.norm.view_mut().into_dyn());
            for matrix in [&mut layer.w_q, &mut layer.w_k, &mut layer.w_v, &mut layer.w_o] {
                tensors.push(matrix.view_mut().into_dyn());
            }
        }
        tensors.push(self.norm.view_mut().into_dyn());
        tensors.push(self.unembedding.view_mut().into_dyn());
        tensors
    }

    /// Adds another model of the same sizes, weight for weight.
    pub fn add(&mut self, other: &Model<F>) {
        for (mut sum, (_, tensor)) in self.tensors_mut().into_iter().zip(other.tensors()) {
            sum += &tensor;
        }
    }
}

impl Model<f32> {
    /// A model that has learned nothing: each gain 1, each other weight by chance.
    ///
    /// The weights begin so small that nearly all that they become is learned. With
    /// larger ones the heads of the first layer share a task instead of each taking
    /// one, for every random head is then a little good at everything.
    #[must_use]
    pub fn random(sizes: Sizes, random: &mut Random) -> Model<f32> {
        let mut model = Model::zeros(sizes);
        for mut tensor in model.tensors_mut() {
            if tensor.ndim() == 1 {
                tensor.fill(1.0);
            } else {
                tensor.mapv_inplace(|_| (random.standard() * SMALL) as f32);
            }
        }
        model
    }
}

/// How large the weights are at the beginning.
const SMALL: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes =
        Sizes { words: 11, context: 7, width: 6, layers: 2, heads: 3, head_size: 4 };

    #[test]
    fn sizes_come_back_and_weights_are_counted() {
        let model = Model::<f64>::zeros(SIZES);
        assert_eq!(model.sizes(), SIZES);
        // 11·6 + 7·6 + 2·(6 + 4·6·12) + 6 + 6·11
        assert_eq!(SIZES.parameters(), 66 + 42 + 2 * (6 + 288) + 6 + 66);
        assert_eq!(model.clone().tensors_mut().len(), model.tensors().len());
    }

    #[test]
    fn weights_by_chance_are_as_large_as_they_should_be() {
        let sizes = Sizes { words: 44, context: 32, width: 64, layers: 2, heads: 4, head_size: 16 };
        let model = Model::random(sizes, &mut Random::seeded(1));
        assert!(model.norm.iter().all(|&gain| gain == 1.0));
        for weights in [&model.positions, &model.layers[1].w_k] {
            assert!((weights.var(0.0).sqrt() / 0.02 - 1.0).abs() < 0.1);
        }
        assert_ne!(model.layers[0].w_q, model.layers[1].w_q);
    }
}
