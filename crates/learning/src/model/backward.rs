//! The loss of a prediction and its gradient: the way through the transformer
//! backwards. Through each head goes `attention`'s own backward pass.

use super::forward::{apart, portable, together};
use super::{Layer, LayerPass, Model, Pass};
use crate::Error;
use crate::product::product;
use attention::heads::gradient_on;
use attention::{Options, Real, recipe};
use ndarray::{Array2, ArrayRef2, Axis};

impl<F: Real> Pass<F> {
    /// The probability of each word to come next: `(T, words)`.
    #[must_use]
    pub fn probabilities(&self) -> Array2<F> {
        recipe::softmax(&self.scores)
    }

    /// At each token, how wrong its prediction was: `−ln p(target)`.
    ///
    /// # Shapes
    ///
    /// As many `targets` as tokens, words of the model. A missing one counts nothing.
    pub fn losses(&self, targets: &[usize]) -> impl Iterator<Item = f64> {
        self.scores.outer_iter().zip(targets).filter_map(|(scores, &target)| {
            let largest = scores.fold(F::neg_infinity(), |largest, &score| largest.max(score));
            let score = *scores.get(target)?;
            let sum = scores.fold(0.0, |sum, &score| sum + libm::exp((score - largest).into()));
            Some(libm::log(sum) - (score - largest).into())
        })
    }
}

impl<F: Real> Model<F> {
    /// Adds the gradient of a text's loss to `gradient`, and gives the loss: the
    /// mean over the tokens of `−ln p(target)`.
    ///
    /// # Shapes
    ///
    /// As many `targets` as `tokens`; `gradient` of the sizes of the model.
    ///
    /// # Errors
    ///
    /// Those of [`Model::pass`]; [`Error::Targets`] if there are not as many targets
    /// as tokens, or one of them is no word.
    pub fn add_gradient(
        &self,
        tokens: &[usize],
        targets: &[usize],
        gradient: &mut Model<F>,
    ) -> Result<f64, Error> {
        let words = self.embedding.nrows();
        if targets.len() != tokens.len() || targets.iter().any(|&target| target >= words) {
            return Err(Error::Targets { tokens: tokens.len(), targets: targets.len() });
        }
        let pass = self.pass(tokens, &[])?;
        let loss = pass.losses(targets).sum::<f64>() / tokens.len() as f64;
        let d_scores = of_scores(pass.probabilities(), targets);
        gradient.unembedding += &product(&pass.norm.output.t(), &d_scores);
        let d_output = product(&d_scores, &self.unembedding.t());
        let (mut d_x, d_norm) = pass.norm.gradient(&self.norm, &d_output);
        gradient.norm += &d_norm;
        let layers = self.layers.iter().zip(&pass.layers).zip(&mut gradient.layers);
        for ((layer, pass), gradient) in layers.rev() {
            d_x += &layer.gradient(pass, &d_x, gradient)?;
        }
        for (place, (&token, d_row)) in tokens.iter().zip(d_x.outer_iter()).enumerate() {
            let mut row = gradient.embedding.index_axis_mut(Axis(0), token);
            row += &d_row;
            let mut row = gradient.positions.index_axis_mut(Axis(0), place);
            row += &d_row;
        }
        Ok(loss)
    }
}

/// The gradient of the mean loss with respect to the scores: each word's
/// probability, less 1 for the word that came, over the number of tokens.
fn of_scores<F: Real>(mut probabilities: Array2<F>, targets: &[usize]) -> Array2<F> {
    let tokens = F::from_count(targets.len());
    for (mut row, &target) in probabilities.outer_iter_mut().zip(targets) {
        row[target] -= F::one();
        row.mapv_inplace(|entry| entry / tokens);
    }
    probabilities
}

impl<F: Real> Layer<F> {
    /// From the gradient of what the layer added to the tokens: adds those of its
    /// weights to `gradient`, and gives that of the tokens through its heads.
    fn gradient(
        &self,
        pass: &LayerPass<F>,
        d_added: &ArrayRef2<F>,
        gradient: &mut Layer<F>,
    ) -> Result<Array2<F>, Error> {
        gradient.w_o += &product(&together(&pass.output).t(), d_added);
        let heads = pass.q.len_of(Axis(0));
        let d_output = apart(&product(d_added, &self.w_o.t()), heads);
        let LayerPass { q, k, v, output, .. } = pass;
        let through = gradient_on(portable(), q, k, v, output, &d_output, Options::causal())?;
        let [d_q, d_k, d_v] = [&through.q, &through.k, &through.v].map(together);
        let read = pass.norm.output.t();
        gradient.w_q += &product(&read, &d_q);
        gradient.w_k += &product(&read, &d_k);
        gradient.w_v += &product(&read, &d_v);
        let d_read = product(&d_q, &self.w_q.t())
            + product(&d_k, &self.w_k.t())
            + product(&d_v, &self.w_v.t());
        let (d_x, d_norm) = pass.norm.gradient(&self.norm, &d_read);
        gradient.norm += &d_norm;
        Ok(d_x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::model::Sizes;
    use approx::assert_relative_eq;

    /// Sizes that all differ, so that a forgotten transpose cannot hide.
    const SIZES: Sizes =
        Sizes { words: 9, context: 7, width: 6, layers: 2, heads: 3, head_size: 4 };
    const TOKENS: [usize; 5] = [3, 0, 8, 3, 5];
    const TARGETS: [usize; 5] = [0, 8, 3, 5, 1];

    /// A model of f64 whose weights, gains too, are all different.
    fn model() -> Model<f64> {
        let mut random = Random::seeded(11);
        let mut model = Model::zeros(SIZES);
        for mut tensor in model.tensors_mut() {
            tensor.mapv_inplace(|_| 0.6 * random.standard() + 0.1);
        }
        model
    }

    fn loss(model: &Model<f64>) -> f64 {
        let pass = model.pass(&TOKENS, &[]).unwrap();
        pass.losses(&TARGETS).sum::<f64>() / TOKENS.len() as f64
    }

    /// The loss with one weight moved.
    fn moved(model: &Model<f64>, tensor: usize, entry: usize, by: f64) -> f64 {
        let mut model = model.clone();
        let mut tensors = model.tensors_mut();
        *tensors[tensor].iter_mut().nth(entry).unwrap() += by;
        drop(tensors);
        loss(&model)
    }

    /// The slope over four neighbours, whose error shrinks with the step's fourth power.
    fn difference(model: &Model<f64>, tensor: usize, entry: usize) -> f64 {
        let step = 1e-3;
        let across = |steps: f64| {
            moved(model, tensor, entry, steps * step) - moved(model, tensor, entry, -steps * step)
        };
        (8.0 * across(1.0) - across(2.0)) / (12.0 * step)
    }

    #[test]
    fn every_weight_has_the_gradient_of_finite_differences() {
        let model = model();
        let mut gradient = Model::zeros(SIZES);
        let given = model.add_gradient(&TOKENS, &TARGETS, &mut gradient).unwrap();
        assert_relative_eq!(given, loss(&model), max_relative = 1e-14);
        for (number, (name, tensor)) in gradient.tensors().iter().enumerate() {
            let differences: Vec<f64> =
                (0..tensor.len()).map(|entry| difference(&model, number, entry)).collect();
            let largest = tensor.iter().fold(0.0_f64, |largest, d| largest.max(d.abs()));
            assert!(largest > 1e-4, "{name} has a gradient");
            for (entry, (&gradient, difference)) in tensor.iter().zip(differences).enumerate() {
                let apart = (gradient - difference).abs() / largest;
                assert!(apart < 1e-6, "{name} {entry}: {gradient} {difference}");
            }
        }
    }

    #[test]
    fn gradients_of_texts_add_up() {
        let model = model();
        let (mut once, mut twice) = (Model::zeros(SIZES), Model::zeros(SIZES));
        model.add_gradient(&TOKENS, &TARGETS, &mut once).unwrap();
        for _ in 0..2 {
            model.add_gradient(&TOKENS, &TARGETS, &mut twice).unwrap();
        }
        once.add(&once.clone());
        for ((name, once), (_, twice)) in once.tensors().iter().zip(twice.tensors()) {
            assert!(once.iter().zip(&twice).all(|(a, b)| (a - b).abs() < 1e-14), "{name}");
        }
    }

    #[test]
    fn a_model_of_zeros_finds_all_words_equally_likely() {
        let model = Model::<f64>::zeros(SIZES);
        assert_relative_eq!(loss(&model), 9_f64.ln(), max_relative = 1e-14);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let model = model();
        let pass = |tokens: &[usize], off| model.pass(tokens, off).unwrap_err();
        assert_eq!(pass(&[], &[]), Error::Empty);
        assert_eq!(pass(&[0; 8], &[]), Error::TooLong { tokens: 8, context: 7 });
        assert_eq!(pass(&[9], &[]), Error::NoSuchWord { word: 9, words: 9 });
        assert_eq!(pass(&[1], &[(1, 3)]), Error::NoSuchHead { layer: 1, head: 3 });
        let targets = model.add_gradient(&[1, 2], &[1], &mut Model::zeros(SIZES));
        assert_eq!(targets, Err(Error::Targets { tokens: 2, targets: 1 }));
    }

    #[test]
    fn a_head_switched_off_adds_nothing_and_the_others_are_as_before() {
        let model = model();
        let (on, off) =
            (model.pass(&TOKENS, &[]).unwrap(), model.pass(&TOKENS, &[(0, 1)]).unwrap());
        let output =
            |pass: &Pass<f64>, head| pass.layers[0].output.index_axis(Axis(0), head).to_owned();
        assert_eq!(output(&off, 1), Array2::<f64>::zeros((5, 4)));
        assert_eq!(output(&off, 2), output(&on, 2));
        assert_eq!(on.weights(0, 1), off.weights(0, 1), "it still looks");
        assert_ne!(on.weights(1, 0), off.weights(1, 0));
        // Without a head's rows of W_O its output comes to nothing, too.
        let mut without = model.clone();
        without.layers[0].w_o.slice_mut(ndarray::s![4..8, ..]).fill(0.0);
        let without = without.pass(&TOKENS, &[]).unwrap();
        assert!((without.scores - off.scores).iter().all(|apart| apart.abs() < 1e-12));
    }

    #[test]
    fn kernel_and_recipe_say_the_same() {
        let model = model();
        let (kernel, recipe) =
            (model.pass(&TOKENS, &[(1, 1)]), model.pass_by_recipe(&TOKENS, &[(1, 1)]));
        let apart = kernel.unwrap().scores - recipe.unwrap().scores;
        assert!(apart.iter().all(|apart| apart.abs() < 1e-12), "{apart}");
    }

    #[test]
    fn no_token_hears_from_a_later_one() {
        let model = model();
        let [one, other] = [[3, 0, 8, 3, 5], [3, 0, 8, 1, 2]];
        let [one, other] = [one, other].map(|tokens| model.pass(&tokens, &[]).unwrap().scores);
        let before = ndarray::s![..3, ..];
        assert_eq!(one.slice(before), other.slice(before));
    }
}
