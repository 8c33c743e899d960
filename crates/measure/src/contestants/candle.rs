//! candle-nn's attention for the CPU, which never stores the scores either.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use candle_core::{Device, Tensor};
use candle_nn::attention::{AttnMask, flash_attn};
use ndarray::Array3;

use super::{Contestant, inputs};
use crate::cases::Case;

/// candle-nn: `attention::flash_attn`.
#[derive(Default)]
pub(crate) struct Candle(Option<(Case, [Tensor; 3])>);

impl Contestant for Candle {
    fn name(&self) -> &'static str {
        "candle-nn"
    }

    fn version(&self) -> String {
        "0.11".to_owned()
    }

    fn takes_part(&self, case: Case) -> bool {
        !case.gradient && !case.bf16
    }

    fn prepare(&mut self, case: Case) -> Result<()> {
        let [q, k, v] = inputs(case);
        self.0 = Some((case, [tensor(q)?, tensor(k)?, tensor(v)?]));
        Ok(())
    }

    fn run(&mut self) -> Result<Duration> {
        let (case, [q, k, v]) = self.0.as_ref().context("no case is prepared")?;
        let mask = if case.causal { AttnMask::causal() } else { AttnMask::None };
        let scale = (case.dim as f32).sqrt().recip();
        let start = Instant::now();
        let output = flash_attn::<f32>(q, k, v, scale, mask, None, None)?;
        let took = start.elapsed();
        std::hint::black_box(output);
        Ok(took)
    }
}

/// candle wants a batch first, and the tokens before the heads.
fn tensor(array: Array3<f32>) -> Result<Tensor> {
    let (heads, tokens, dim) = array.dim();
    let tensor =
        Tensor::from_vec(array.into_raw_vec_and_offset().0, (1, heads, tokens, dim), &Device::Cpu)?;
    Ok(tensor.transpose(1, 2)?.contiguous()?)
}
