//! Shapes, layouts, masks, scales and numbers at random, NaN and infinities
//! among them: every set of instructions must give what the recipe gives.
//!
//! `PROPTEST_CASES=10000 cargo test -p attention --test fuzz` tries more.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use attention::heads::{self, Instructions};
use attention::{Mask, Options, Real};
use ndarray::{Array3, ArrayRef3, ArrayView3, Axis, Slice};
use proptest::prelude::*;

/// How an array lies in memory: which axis is where, how many elements each step
/// skips, and which axes run backwards.
#[derive(Clone, Copy, Debug)]
struct Layout {
    axes: [usize; 3],
    steps: [isize; 3],
}

fn layout() -> impl Strategy<Value = Layout> {
    let axes = prop::sample::select(vec![
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ]);
    let step = || prop_oneof![6 => Just(1), 1 => Just(-1), 1 => Just(2), 1 => Just(-3)];
    (axes, [step(), step(), step()]).prop_map(|(axes, steps)| Layout { axes, steps })
}

impl Layout {
    /// Storage in which [`Self::view`] finds the array; the rest of it is NaN.
    fn store<F: Real>(self, array: &ArrayRef3<F>) -> Array3<F> {
        let shape = array.shape();
        let lengths = self.axes.map(|axis| shape[axis] * self.steps[axis].unsigned_abs());
        let mut storage = Array3::from_elem(lengths, F::nan());
        let mut view = storage.view_mut().permuted_axes(self.inverse());
        for axis in 0..3 {
            view.slice_axis_inplace(Axis(axis), Slice::new(0, None, self.steps[axis]));
        }
        view.assign(array);
        storage
    }

    fn view<F>(self, storage: &Array3<F>) -> ArrayView3<'_, F> {
        let mut view = storage.view().permuted_axes(self.inverse());
        for axis in 0..3 {
            view.slice_axis_inplace(Axis(axis), Slice::new(0, None, self.steps[axis]));
        }
        view
    }

    /// Where each axis of the array is in storage.
    fn inverse(self) -> [usize; 3] {
        let mut inverse = [0; 3];
        for (place, axis) in self.axes.into_iter().enumerate() {
            inverse[axis] = place;
        }
        inverse
    }
}

/// One problem: H, `T_q`, `T_k`, d, `d_v`, and what it is filled with.
#[derive(Clone, Debug)]
struct Case {
    sizes: [usize; 5],
    layouts: [Layout; 3],
    mask: Mask,
    scale: Option<f64>,
    seed: u64,
    /// Numbers that are not finite, and where they go: array and position.
    poison: Vec<(usize, usize, f64)>,
}

/// Small sizes most of the time, and now and then one beyond a tile.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0..12_usize, 4 => 12..70_usize, 1 => 120..150_usize]
}

fn case() -> impl Strategy<Value = Case> {
    let few = || prop_oneof![1 => Just(0), 9 => 1..4_usize];
    let keys = prop_oneof![12 => length(), 1 => 1020..1030_usize];
    let size = || prop_oneof![6 => 0..20_usize, 2 => 20..70_usize];
    let sizes = (few(), length(), keys, size(), size())
        .prop_map(|(heads, queries, keys, d, d_v)| [heads, queries, keys, d, d_v]);
    let mask = prop::sample::select(vec![Mask::Full, Mask::Causal, Mask::CausalFromStart]);
    let scale = prop_oneof![
        3 => Just(None),
        2 => (-2.0..2.0).prop_map(Some),
        1 => prop::sample::select(vec![Some(0.0), Some(-0.0), Some(40.0), Some(1e-30)]),
    ];
    let number = prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    let one = (0..3_usize, any::<usize>(), number);
    let poison = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(one, 1..4)];
    (sizes, [layout(), layout(), layout()], mask, scale, any::<u64>(), poison).prop_map(
        |(sizes, layouts, mask, scale, seed, poison)| Case {
            sizes,
            layouts,
            mask,
            scale,
            seed,
            poison,
        },
    )
}

impl Case {
    /// Queries, keys and values.
    fn arrays<F: Real>(&self) -> [Array3<F>; 3] {
        let mut state = self.seed;
        let mut next = || {
            // Knuth's MMIX generator; numbers between −2 and 2.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            F::from((state >> 40) as f64 / f64::from(1 << 22) - 2.0).unwrap()
        };
        let [heads, queries, keys, d, d_v] = self.sizes;
        let mut arrays = [(queries, d), (keys, d), (keys, d_v)]
            .map(|(rows, columns)| Array3::from_shape_simple_fn((heads, rows, columns), &mut next));
        for &(array, position, number) in &self.poison {
            let length = arrays[array].len().max(1);
            if let Some(element) = arrays[array].iter_mut().nth(position % length) {
                *element = F::from(number).unwrap();
            }
        }
        arrays
    }

    /// Compares every set of instructions with the recipe, on arrays laid out
    /// as the case says. Differences may be as large as `rounding` says.
    fn check<F: Real>(&self, rounding: f64) -> Result<(), TestCaseError> {
        let [q, k, v] = self.arrays::<F>();
        let options = Options { mask: self.mask, scale: self.scale.and_then(F::from) };
        let truth = if self.poison.is_empty() {
            // In f64, whatever the type: the recipe rounds too.
            let [q, k, v] = [&q, &k, &v].map(|array| array.mapv(Into::<f64>::into));
            let scale = options.scale_for(self.sizes[3]).unwrap().into();
            heads::reference(&q, &k, &v, Options::masked(self.mask).with_scale(scale)).unwrap()
        } else {
            // In the same type: a weight that is too small for it takes no NaN.
            heads::reference(&q, &k, &v, options).unwrap().mapv(Into::into)
        };
        let stored: Vec<_> = [&q, &k, &v]
            .iter()
            .zip(self.layouts)
            .map(|(array, layout)| layout.store(array))
            .collect();
        let views: Vec<_> =
            stored.iter().zip(self.layouts).map(|(stored, layout)| layout.view(stored)).collect();
        // A score is a sum of d products below 4, and errs by some roundings of
        // it; by as much of itself errs its weight. Values are below 2.
        let scale: f64 = options.scale_for(self.sizes[3]).unwrap().into();
        let largest = (4.0 * self.sizes[3] as f64 * scale).abs();
        let bound = 2.0 * rounding * (4.0 + 4.0 * largest);
        for instructions in Instructions::available() {
            let output = heads::attend_on(instructions, &views[0], &views[1], &views[2], options);
            let output = output.unwrap();
            prop_assert_eq!(output.dim(), truth.dim());
            for (place, &truth) in truth.indexed_iter() {
                let number: f64 = output[place].into();
                let same = number == truth || number.is_nan() && truth.is_nan();
                prop_assert!(
                    same || (number - truth).abs() <= bound,
                    "{}: {} but {} at {:?}",
                    instructions,
                    number,
                    truth,
                    place
                );
            }
            // The same bits as for arrays in order.
            let in_order = heads::attend_on(instructions, &q, &k, &v, options).unwrap();
            prop_assert!(
                output.iter().zip(&in_order).all(|(a, b)| a == b || a.is_nan() && b.is_nan())
            );
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn every_kernel_gives_what_the_recipe_gives_in_f64(case in case()) {
        case.check::<f64>(f64::EPSILON)?;
    }

    #[test]
    fn every_kernel_gives_what_the_recipe_gives_in_f32(case in case()) {
        case.check::<f32>(f64::from(f32::EPSILON))?;
    }
}
