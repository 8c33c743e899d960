//! Chapter *Every core, every lane*: what was measured of the six versions and
//! of the peers, how the work is shared out, and what the compiler made of the
//! innermost loop. It reads measurements; `cargo book bench` makes them.

pub mod assembly;
pub mod balance;
pub mod exercises;
pub mod gap;
pub mod measured;
pub mod peers;
pub mod variants;
pub mod versions;

use attention::{Error, Options, heads};
use ledger::Ledger;
use ndarray::{Array2, Array3, Axis};
use rayon::ThreadPoolBuilder;

use crate::Claim;
use crate::queries_keys_values::{MESSAGES, TOKENS, example};

/// Enters every value of the chapter.
pub fn enter(ledger: &mut Ledger) {
    versions::enter(ledger);
    balance::enter(ledger);
    assembly::enter(ledger);
    peers::enter(ledger);
    variants::enter(ledger);
    gap::enter(ledger);
    exercises::enter(ledger);
    ledger
        .enter("lanes.toy", toy_output)
        .rows(&TOKENS)
        .columns(&MESSAGES)
        .symbol("O")
        .about("the output of the toy head, by the kernel");
    ledger
        .enter("lanes.same.bits", any_number_of_threads_gives_the_same_bits)
        .about("one, two, three and seven threads give the same bits");
}

/// The output of the toy head, by the kernel: `(T, d_v)`.
///
/// # Errors
///
/// None that can happen: the shapes fit.
pub fn toy_output() -> Result<Array2<f64>, Error> {
    let head = example()?.trace;
    let [q, k, v] = [head.q, head.k, head.v].map(|array| array.insert_axis(Axis(0)));
    Ok(heads::attend(&q, &k, &v, Options::causal())?.index_axis_move(Axis(0), 0))
}

/// The kernel gives the same bits on any number of threads.
///
/// # Errors
///
/// The number of threads for which it does not.
pub fn any_number_of_threads_gives_the_same_bits() -> Claim {
    // Enough work for the kernel to use its threads at all.
    let array = |turn: usize| {
        Array3::from_shape_fn((2, 500, 20), |(head, token, c)| {
            ((head * 71 + token * 37 + c * 11 + token * c * 5 + turn) % 101) as f32 / 50.0 - 1.0
        })
    };
    let (q, k, v) = (array(1), array(2), array(3));
    let on = |threads: usize| -> Result<Vec<u32>, String> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| format!("{threads} threads cannot be started: {error}"))?;
        let output = pool.install(|| heads::attend(&q, &k, &v, Options::causal()));
        let output = output.map_err(|error| error.to_string())?;
        Ok(output.iter().map(|number| number.to_bits()).collect())
    };
    let alone = on(1)?;
    for threads in [2, 3, 7] {
        if on(threads)? != alone {
            return Err(format!("{threads} threads give other bits than one"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn the_kernel_gives_what_the_recipe_gives() {
        let output = toy_output().unwrap();
        assert_abs_diff_eq!(output, example().unwrap().trace.output, epsilon = 1e-12);
    }
}
