//! The way of a text through the transformer, with everything kept that the way
//! back needs, or that a reader may want to see.

use super::{Layer, Model};
use crate::Error;
use crate::norm::{Normalised, normalise};
use crate::product::product;
use attention::heads::{Instructions, attend_on, reference};
use attention::{Mask, Options, Real, recipe};
use ndarray::{Array2, Array3, Axis, s};

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
    /// The queries of each head: `(H, T, d)`.
    pub q: Array3<F>,
    /// The keys of each head: `(H, T, d)`.
    pub k: Array3<F>,
    /// The values of each head: `(H, T, d)`.
    pub v: Array3<F>,
    /// The output of each head, zeros for those switched off: `(H, T, d)`.
    pub output: Array3<F>,
}

impl<F: Real> Pass<F> {
    /// Where a head looked: its weights A, `(T, T)`. The kernel never holds them,
    /// so the recipe makes them again.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchHead`] if the model has no such head.
    pub fn weights(&self, layer: usize, head: usize) -> Result<Array2<F>, Error> {
        let pass = self.layers.get(layer).filter(|pass| head < pass.q.len_of(Axis(0)));
        let pass = pass.ok_or(Error::NoSuchHead { layer, head })?;
        let [q, k] = [&pass.q, &pass.k].map(|all| all.index_axis(Axis(0), head));
        let scores = recipe::scale(&recipe::score(&q, &k)?, recipe::default_scale(q.ncols()));
        Ok(recipe::softmax(&recipe::mask(&scores, Mask::Causal)))
    }
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
        self.pass_by(by_kernel, tokens, off)
    }

    /// The same by the recipe, one head after the other: slower, and a tenth of the
    /// code, for an engine that is downloaded to read one sentence at a time.
    ///
    /// # Errors
    ///
    /// Those of [`Model::pass`].
    pub fn pass_by_recipe(
        &self,
        tokens: &[usize],
        off: &[(usize, usize)],
    ) -> Result<Pass<F>, Error> {
        self.pass_by(by_recipe, tokens, off)
    }

    /// The way through the model, whichever way attention is computed.
    fn pass_by(
        &self,
        attend: Attend<F>,
        tokens: &[usize],
        off: &[(usize, usize)],
    ) -> Result<Pass<F>, Error> {
        self.check(tokens, off)?;
        let mut x = self.embedding.select(Axis(0), tokens);
        x += &self.positions.slice(s![..tokens.len(), ..]);
        let mut layers = Vec::with_capacity(self.layers.len());
        for (number, layer) in self.layers.iter().enumerate() {
            let off = |head| off.contains(&(number, head));
            let pass = layer.pass(attend, &x, self.heads, off)?;
            x += &product(&together(&pass.output), &layer.w_o);
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
        attend: Attend<F>,
        x: &Array2<F>,
        heads: usize,
        off: impl Fn(usize) -> bool,
    ) -> Result<LayerPass<F>, Error> {
        let norm = normalise(x, &self.norm);
        let [q, k, v] = [&self.w_q, &self.w_k, &self.w_v]
            .map(|weights| apart(&product(&norm.output, weights), heads));
        let mut output = attend(&q, &k, &v)?;
        for (head, mut output) in output.outer_iter_mut().enumerate() {
            if off(head) {
                output.fill(F::zero());
            }
        }
        Ok(LayerPass { norm, q, k, v, output })
    }
}

/// Causal attention of many heads: from queries, keys and values to outputs.
type Attend<F> = fn(&Array3<F>, &Array3<F>, &Array3<F>) -> Result<Array3<F>, Error>;

fn by_kernel<F: Real>(q: &Array3<F>, k: &Array3<F>, v: &Array3<F>) -> Result<Array3<F>, Error> {
    Ok(attend_on(portable(), q, k, v, Options::causal())?)
}

fn by_recipe<F: Real>(q: &Array3<F>, k: &Array3<F>, v: &Array3<F>) -> Result<Array3<F>, Error> {
    Ok(reference(q, k, v, Options::causal())?)
}

/// The instructions that every processor has, the last of all: the faster ones
/// round otherwise, and what is learned must not depend on who learned it.
pub(super) fn portable() -> Instructions {
    Instructions::available().last().unwrap_or_else(Instructions::best)
}

/// What stands side by side, `(T, H·d)`, head by head: `(H, T, d)`.
pub(super) fn apart<F: Real>(all: &Array2<F>, heads: usize) -> Array3<F> {
    let size = all.ncols() / heads.max(1);
    let mut apart = Array3::zeros((heads, all.nrows(), size));
    for (mut of_head, columns) in apart.outer_iter_mut().zip(all.axis_chunks_iter(Axis(1), size)) {
        of_head.assign(&columns);
    }
    apart
}

/// What stands head by head, `(H, T, d)`, side by side: `(T, H·d)`.
pub(super) fn together<F: Real>(apart: &Array3<F>) -> Array2<F> {
    let (heads, tokens, size) = apart.dim();
    let mut all = Array2::zeros((tokens, heads * size));
    for (of_head, mut columns) in apart.outer_iter().zip(all.axis_chunks_iter_mut(Axis(1), size)) {
        columns.assign(&of_head);
    }
    all
}
