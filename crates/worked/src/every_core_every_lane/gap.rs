//! How far the kernel stays below the machine's peak, and where the rest goes:
//! counted in instructions and in scores.

use ledger::Ledger;

use super::assembly::LANES;
use super::measured::peers;
use super::peers::eight_full_heads;
use crate::forward_pass::machine::gflops as peak;

/// The vector instructions of the softmax for each register of scores, as the
/// code has them: 1 for the largest, 2 to subtract and scale, 1 for the lowest,
/// 3 to split off the integer, 6 for the polynomial, 1 to shift the integer
/// into place, 2 to multiply, 1 for the sum.
const SOFTMAX: usize = 1 + 2 + 1 + 3 + 6 + 1 + 2 + 1;
/// The queries of a block.
const BLOCK: usize = 64;

/// Enters the gap.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("lanes.gap.peak", share_of_peak)
        .digits(0)
        .about("the percentage of the machine's peak that 8 full heads of 4096 tokens reach");
    ledger
        .enter("lanes.gap.product", share_of_product)
        .digits(0)
        .about("the percentage of the speed of PyTorch's large matrix product that they reach");
    ledger
        .enter("lanes.gap.product.speed", product)
        .digits(0)
        .about("GFLOP/s of PyTorch's product of two matrices of 4096 rows");
    ledger
        .enter("lanes.gap.steps", softmax_steps)
        .about("the vector instructions of the softmax for 16 scores");
    ledger
        .enter("lanes.gap.softmax.small", softmax_share::<64>)
        .digits(0)
        .about("the percentage of the vector instructions that is the softmax's, for d = 64");
    ledger
        .enter("lanes.gap.softmax.large", softmax_share::<128>)
        .digits(0)
        .about("the percentage of the vector instructions that is the softmax's, for d = 128");
    ledger
        .enter("lanes.gap.diagonal.short", closed_but_computed::<1024>)
        .digits(1)
        .about("how many percent more scores are computed than are open, for 1024 tokens");
    ledger
        .enter("lanes.gap.diagonal.long", closed_but_computed::<16_384>)
        .digits(1)
        .about("how many percent more scores are computed than are open, for 16 384 tokens");
}

/// The percentage of the machine's peak that eight full heads reach.
///
/// # Errors
///
/// A measurement cannot be read.
pub fn share_of_peak() -> Result<f64, String> {
    Ok(100.0 * eight_full_heads()? / peak()?)
}

/// The percentage of the speed of the large product that they reach.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn share_of_product() -> Result<f64, String> {
    Ok(100.0 * eight_full_heads()? / product()?)
}

/// GFLOP/s of PyTorch's product of two matrices of 4096 rows.
///
/// # Errors
///
/// The measurement cannot be read.
pub fn product() -> Result<f64, String> {
    peers()?.product()
}

/// The vector instructions of the softmax for a register of scores.
#[must_use]
pub fn softmax_steps() -> usize {
    SOFTMAX
}

/// The percentage of the vector instructions that is the softmax's: beside it,
/// each score takes `d` multiplications with addition to make, and `d` to use.
#[must_use]
pub fn softmax_share<const D: usize>() -> f64 {
    100.0 * SOFTMAX as f64 / (SOFTMAX + 2 * D) as f64
}

/// How many percent more scores a causal head computes than are open: every
/// block computes the square on the diagonal in full.
#[must_use]
pub fn closed_but_computed<const T: usize>() -> f64 {
    let open = T * (T + 1) / 2;
    let blocks = T / BLOCK;
    let computed = BLOCK * BLOCK * blocks * (blocks + 1) / 2;
    100.0 * (computed - open) as f64 / open as f64
}

/// The vector multiplications with addition for a tile of 128 keys and 64
/// queries, `d = 64`: its scores alone.
pub(super) fn multiplications_of_a_tile() -> usize {
    128 * 64 * 64 / LANES
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 17 of 17 + 128; and two blocks of 2 × 2 scores and one between them are
    /// 12, where 10 are open.
    #[test]
    fn shares_are_those_worked_by_hand() {
        assert_eq!(softmax_steps(), 17);
        assert!((softmax_share::<64>() - 1700.0 / 145.0).abs() < 1e-12);
        // 128 tokens: 3 squares of 4096 computed, 128 · 129 / 2 = 8256 open.
        let by_hand = 100.0 * (12_288.0 - 8_256.0) / 8_256.0;
        assert!((closed_but_computed::<128>() - by_hand).abs() < 1e-12);
    }
}
