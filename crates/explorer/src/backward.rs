//! A head followed backwards, from a loss to every number it was made with. All
//! gradients come from `attention`; here is only the loss that they begin at.

use crate::cell::Name;
use crate::state::Input;
use attention::gradient::HeadGradient;
use attention::ndarray::Array2;
use attention::{Error, Head, Options, Trace};

/// A target, how far a head misses it, and the gradient of everything.
#[derive(Debug)]
pub(crate) struct Backward {
    target: Input,
    /// A single number; and the label above it.
    loss: (Array2<f64>, [String; 1]),
    gradient: HeadGradient<f64>,
}

impl Backward {
    /// Follows a head back from half the squared distance of its last output from
    /// the target.
    pub(crate) fn new(
        target: Input,
        x: &Array2<f64>,
        head: &Head<f64>,
        trace: &Trace<f64>,
        options: Options<f64>,
    ) -> Result<Backward, Error> {
        let last = trace.output.nrows() - 1;
        let mut d_output = Array2::zeros(trace.output.dim());
        let mut squares = 0.0;
        for (column, &wanted) in target.numbers.iter().enumerate() {
            let miss = trace.output[[last, column]] - wanted;
            d_output[[last, column]] = miss;
            squares += miss * miss;
        }
        let loss = 0.5 * squares;
        let gradient = head.gradient(x, trace, &d_output, options)?;
        let loss = (Array2::from_elem((1, 1), loss), ["loss".to_owned()]);
        Ok(Backward { target, loss, gradient })
    }

    /// The numbers of a matrix of the backward pass.
    pub(crate) fn numbers(&self, name: Name) -> Option<&Array2<f64>> {
        let HeadGradient { x, w_q, w_k, w_v, through } = &self.gradient;
        Some(match name {
            Name::Target => &self.target.numbers,
            Name::Loss => &self.loss.0,
            Name::DOutput => &through.output,
            Name::DWeights => &through.weights,
            Name::DValues => &through.v,
            Name::DMasked => &through.masked,
            Name::DScaled => &through.scaled,
            Name::DScores => &through.scores,
            Name::DQueries => &through.q,
            Name::DKeys => &through.k,
            Name::DQueryWeights => w_q,
            Name::DKeyWeights => w_k,
            Name::DValueWeights => w_v,
            Name::DX => x,
            _ => return None,
        })
    }

    /// How many digits after the point the target was typed with.
    pub(crate) fn decimals(&self) -> u8 {
        self.target.decimals
    }

    /// The label above the loss.
    pub(crate) fn loss_label(&self) -> &[String] {
        &self.loss.1
    }
}
