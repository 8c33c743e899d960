//! The way of a text through the transformer, with everything kept that the way
//! back needs, or that a reader may want to see.

use super::{Layer, Model};
use crate::Error;
use crate::norm::{Normalised, normalise};
use crate::product::product;
use attention::{Options, Real, Trace};
use ndarray::{Array2, ArrayRef2, ArrayView2, ArrayViewMut2, Axis, s};

/// What happened to a text on its way through the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass<F> {
    /// What each layer did, the first first.
    pub layers: Vec<LayerPass<F>>,
    /// The tokens after the last layer, normalised: `(T, d_model)`.
    pub norm: Normalised<F>,
    /// At each token, a score for each word that might come next: `(T, words)`.
    pub scores: Array2<F>,
}

/// What happened in one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerPass<F> {
    /// The tokens that came in, normalised: what the heads read.
    pub norm: Normalised<F>,
    /// Each head, from its queries, keys and values to its output.
    pub heads: Vec<Trace<F>>,
    /// The outputs of the heads side by side, zeros for those switched off:
    /// `(T, H·d)`.
    pub mixed: Array2<F>,
}

impl<F: Real> Model<F> {
    /// Lets a text run through the model, with some heads switched off: layer and
    /// head, each counted from 0. Such a head attends, but its output counts as 0.
    ///
    /// # Shapes
    ///
    /// T `tokens` → a [`Pass`], whose scores are `(T, words)`.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`], [`Error::TooLong`] or [`Error::NoSuchWord`] for tokens that
    /// the model cannot read; [`Error::NoSuchHead`]; and what `attention` finds wrong.
    pub fn pass(&self, tokens: &[usize], off: &[(usize, usize)]) -> Result<Pass<F>, Error> {
        self.check(tokens, off)?;
        let mut x = self.embedding.select(Axis(0), tokens);
        x += &self.positions.slice(s![..tokens.len(), ..]);
        let mut layers = Vec::with_capacity(self.layers.len());
        for (number, layer) in self.layers.iter().enumerate() {
            let off = |head| off.contains(&(number, head));
            let pass = layer.pass(&x, self.heads, off)?;
            x += &product(&pass.mixed, &layer.w_o);
            layers.push(pass);
        }
        let norm = normalise(&x, &self.norm);
        let scores = product(&norm.output, &self.unembedding);
        Ok(Pass { layers, norm, scores })
    }

    /// Finds what cannot be read before it is read.
    fn check(&self, tokens: &[usize], off: &[(usize, usize)]) -> Result<(), Error> {
        let sizes = self.sizes();
        if tokens.is_empty() {
            return Err(Error::Empty);
        }
        if tokens.len() > sizes.context {
            return Err(Error::TooLong { tokens: tokens.len(), context: sizes.context });
        }
        if let Some(&word) = tokens.iter().find(|&&word| word >= sizes.words) {
            return Err(Error::NoSuchWord { word, words: sizes.words });
        }
        let there = |&&(layer, head): &&(usize, usize)| layer < sizes.layers && head < sizes.heads;
        match off.iter().find(|head| !there(head)) {
            Some(&(layer, head)) => Err(Error::NoSuchHead { layer, head }),
            None => Ok(()),
        }
    }
}

impl<F: Real> Layer<F> {
    /// Normalises the tokens and lets each head read them.
    fn pass(
        &self,
        x: &Array2<F>,
        heads: usize,
        off: impl Fn(usize) -> bool,
    ) -> Result<LayerPass<F>, Error> {
        let norm = normalise(x, &self.norm);
        let [q, k, v] =
            [&self.w_q, &self.w_k, &self.w_v].map(|weights| product(&norm.output, weights));
        let mut traces = Vec::with_capacity(heads);
        let mut mixed = Array2::zeros(v.dim());
        for head in 0..heads {
            let [q, k, v] = [&q, &k, &v].map(|all| of_head(all, head, heads).to_owned());
            let trace = Trace::new(q, k, v, Options::causal())?;
            if !off(head) {
                of_head_mut(&mut mixed, head, heads).assign(&trace.output);
            }
            traces.push(trace);
        }
        Ok(LayerPass { norm, heads: traces, mixed })
    }
}

/// The columns of one head, of a matrix in which all stand side by side.
pub(super) fn of_head<F>(all: &ArrayRef2<F>, head: usize, heads: usize) -> ArrayView2<'_, F> {
    let size = all.ncols() / heads.max(1);
    all.slice(s![.., head * size..(head + 1) * size])
}

/// The columns of one head, to be changed.
pub(super) fn of_head_mut<F>(
    all: &mut ArrayRef2<F>,
    head: usize,
    heads: usize,
) -> ArrayViewMut2<'_, F> {
    let size = all.ncols() / heads.max(1);
    all.slice_mut(s![.., head * size..(head + 1) * size])
}
