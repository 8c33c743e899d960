//! Who takes part: each prepares its own random inputs, of the same sizes, and
//! then runs once whenever it is told to. Here are those in Rust; the ones in
//! Python and candle have files of their own.

#[cfg(feature = "candle")]
pub(crate) mod candle;
pub(crate) mod python;

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use attention::{Element, Options, heads};
use half::bf16;
use ndarray::Array3;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand_distr::{Distribution as _, StandardNormal};

use crate::cases::Case;

/// One way to compute attention.
pub(crate) trait Contestant {
    /// The name in tables and in the record: `PyTorch`.
    fn name(&self) -> &'static str;

    /// The version of what it is.
    fn version(&self) -> String;

    /// Whether it takes part in a case: not where one run would take minutes, or
    /// where it has no gradient.
    fn takes_part(&self, case: Case) -> bool;

    /// Makes the inputs of a case.
    fn prepare(&mut self, case: Case) -> Result<()>;

    /// Computes the case once and says how long that took.
    fn run(&mut self) -> Result<Duration>;
}

/// `Q`, `K` and `V` of a case, with normally distributed entries, the same ones
/// every time.
pub(crate) fn inputs(case: Case) -> [Array3<f32>; 3] {
    let mut generator = StdRng::seed_from_u64(11);
    [case.queries, case.keys, case.keys].map(|tokens| {
        Array3::from_shape_simple_fn((case.heads, tokens, case.dim), || {
            StandardNormal.sample(&mut generator)
        })
    })
}

/// The options of a case.
fn options(case: Case) -> Options<f32> {
    if case.causal { Options::causal() } else { Options::full() }
}

/// A function of `attention` with the inputs of a case.
#[derive(Default)]
struct Prepared<E>(Option<(Case, [Array3<E>; 3])>);

impl<E: Element<Real = f32>> Prepared<E> {
    fn prepare(&mut self, case: Case) {
        self.0 = Some((case, inputs(case).map(|array| array.mapv(E::narrow))));
    }

    fn case(&self) -> Option<Case> {
        self.0.as_ref().map(|&(case, _)| case)
    }

    fn time(
        &self,
        attend: impl Fn(
            &Array3<E>,
            &Array3<E>,
            &Array3<E>,
            Options<f32>,
        ) -> Result<Array3<E>, attention::Error>,
    ) -> Result<Duration> {
        let (case, [q, k, v]) =
            self.0.as_ref().ok_or_else(|| anyhow::anyhow!("no case is prepared"))?;
        let start = Instant::now();
        let output = attend(q, k, v, options(*case))?;
        let took = start.elapsed();
        black_box(output);
        Ok(took)
    }
}

/// This book's crate: [`heads::attend`], or [`heads::Forward`] and its gradient where
/// that is asked for.
#[derive(Default)]
pub(crate) struct Tiles(Prepared<f32>);

impl Contestant for Tiles {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn prepare(&mut self, case: Case) -> Result<()> {
        self.0.prepare(case);
        Ok(())
    }

    fn takes_part(&self, case: Case) -> bool {
        !case.bf16
    }

    fn run(&mut self) -> Result<Duration> {
        let gradient = self.0.case().is_some_and(|case| case.gradient);
        self.0.time(|q, k, v, options| {
            if !gradient {
                return heads::attend(q, k, v, options);
            }
            let forward = heads::Forward::new(q, k, v, options)?;
            // The loss is the sum of the output, so that its gradient is ones.
            black_box(forward.gradient(&Array3::ones(forward.output.dim()))?);
            Ok(forward.output)
        })
    }
}

/// This book's crate on numbers of 16 bits: [`heads::attend`].
#[derive(Default)]
pub(crate) struct Short(Prepared<bf16>);

impl Contestant for Short {
    fn name(&self) -> &'static str {
        Tiles::default().name()
    }

    fn version(&self) -> String {
        Tiles::default().version()
    }

    fn takes_part(&self, case: Case) -> bool {
        case.bf16
    }

    fn prepare(&mut self, case: Case) -> Result<()> {
        self.0.prepare(case);
        Ok(())
    }

    fn run(&mut self) -> Result<Duration> {
        self.0.time(|q, k, v, options| heads::attend(q, k, v, options))
    }
}

/// The plain recipe of this book's crate, head by head: [`heads::reference`].
#[derive(Default)]
pub(crate) struct Plain(Prepared<f32>);

impl Contestant for Plain {
    fn name(&self) -> &'static str {
        "recipe"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn takes_part(&self, case: Case) -> bool {
        case.operations() < 5e9 && !case.gradient && !case.bf16
    }

    fn prepare(&mut self, case: Case) -> Result<()> {
        self.0.prepare(case);
        Ok(())
    }

    fn run(&mut self) -> Result<Duration> {
        self.0.time(|q, k, v, options| heads::reference(q, k, v, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Case =
        Case { heads: 2, queries: 5, keys: 7, dim: 3, causal: true, gradient: false, bf16: false };

    #[test]
    fn inputs_have_the_sizes_of_the_case_and_are_the_same_each_time() {
        let [q, k, v] = inputs(SMALL);
        assert_eq!((q.dim(), k.dim(), v.dim()), ((2, 5, 3), (2, 7, 3), (2, 7, 3)));
        assert_eq!(inputs(SMALL), [q, k, v]);
    }

    #[test]
    fn a_contestant_runs_what_it_prepared_and_nothing_else() {
        let contestants: [&mut dyn Contestant; 3] =
            [&mut Tiles::default(), &mut Plain::default(), &mut Short::default()];
        for contestant in contestants {
            assert!(contestant.run().is_err());
            contestant.prepare(SMALL).unwrap();
            assert!(contestant.run().unwrap() > Duration::ZERO);
            let learning = Case { gradient: true, ..SMALL };
            if contestant.takes_part(learning) {
                contestant.prepare(learning).unwrap();
                assert!(contestant.run().unwrap() > Duration::ZERO);
            }
        }
    }
}
