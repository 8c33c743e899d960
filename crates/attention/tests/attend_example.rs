//! The example `attend` as its user meets it: run as a program of its own, on
//! files, with its exit code and what it prints. The mathematics is tested
//! elsewhere; here it only has to arrive.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use approx::assert_abs_diff_eq;
use attention::{Options, heads};
use ndarray::{Array2, Array3, ShapeBuilder};
use ndarray_npy::{NpzReader, NpzWriter, ReadableElement, WritableElement};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The program, which cargo builds for `cargo test`, next to the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = format!("attend{}", std::env::consts::EXE_SUFFIX);
    let program = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(program.is_file(), "run all of `cargo test -p attention`, which builds the example");
    program
}

fn attend<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    Command::new(program()).args(arguments).output().unwrap()
}

/// Runs the program on two files of a folder.
fn attend_in(folder: &TempDir, options: &[&str]) -> Output {
    let files = ["in.npz", "out.npz"].map(|name| folder.path().join(name).into_os_string());
    attend(files.into_iter().chain(options.iter().map(Into::into)))
}

/// Runs the program in vain, and returns the one line it prints.
fn complaint(folder: &TempDir, options: &[&str]) -> String {
    let output = attend_in(folder, options);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(line.starts_with("attend: ") && line.ends_with('\n'), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(output.stdout.is_empty());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()).collect();
    assert!(
        left.iter().all(|entry| entry.file_name() == "in.npz" || entry.path().is_dir()),
        "something was left behind: {left:?}"
    );
    line.replace(&folder.path().display().to_string(), "FOLDER").trim_end().to_owned()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn read<F: ReadableElement>(path: &Path, name: &str) -> Array3<F> {
    NpzReader::new(File::open(path).unwrap()).unwrap().by_name(name).unwrap()
}

/// A folder whose in.npz holds the arrays named.
fn folder_with<F: WritableElement>(arrays: &[(&str, Array3<F>)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut file = NpzWriter::new(File::create(folder.path().join("in.npz")).unwrap());
    for (name, array) in arrays {
        file.add_array(*name, array).unwrap();
    }
    file.finish().unwrap();
    folder
}

/// H = 2, `T_q` = 3, `T_k` = 4, d = 5, `d_v` = 6.
fn good() -> [(&'static str, Array3<f64>); 3] {
    let array = |shape: (usize, usize, usize)| {
        Array3::from_shape_fn(shape, |(h, i, j)| ((h * 7 + i * 5 + j * 3) % 11) as f64 / 4.0)
    };
    [("q", array((2, 3, 5))), ("k", array((2, 4, 5))), ("v", array((2, 4, 6)))]
}

#[test]
fn numpy_files_in_fortran_order_give_numpys_answers() {
    // The fixtures' k and v are in Fortran order, and compressed.
    let cases: [(&str, &[&str]); 3] =
        [("full", &[]), ("causal", &["--causal"]), ("scaled", &["--scale", "0.25", "--causal"])];
    for (answer, options) in cases {
        for (file, is_f64) in [("heads_f64.npz", true), ("heads_f32.npz", false)] {
            let folder = TempDir::new().unwrap();
            fs::copy(fixture(file), folder.path().join("in.npz")).unwrap();
            let output = attend_in(&folder, options);
            assert!(output.status.success(), "{output:?}");
            assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
            let known = read::<f64>(&fixture(file), answer);
            let out = folder.path().join("out.npz");
            if is_f64 {
                assert_abs_diff_eq!(read::<f64>(&out, "o"), known, epsilon = 1e-14);
            } else {
                let o = read::<f32>(&out, "o").mapv(f64::from);
                assert_abs_diff_eq!(o, known, epsilon = 2e-6);
            }
        }
    }
}

#[test]
fn fortran_order_written_here_is_fortran_order() {
    let arrays = good().map(|(name, array)| {
        let mut fortran = Array3::zeros(array.dim().f());
        fortran.assign(&array);
        (name, fortran)
    });
    let folder = folder_with(&arrays);
    let bytes = fs::read(folder.path().join("in.npz")).unwrap();
    let header = b"'fortran_order': True";
    let found = bytes.windows(header.len()).filter(|window| window == header).count();
    assert_eq!(found, 3, "the test's own files");
    assert!(attend_in(&folder, &[]).status.success());
    let [(_, q), (_, k), (_, v)] = good();
    let known = heads::reference(&q, &k, &v, Options::full()).unwrap();
    assert_abs_diff_eq!(read::<f64>(&folder.path().join("out.npz"), "o"), known, epsilon = 1e-14);
}

#[test]
fn an_existing_output_is_replaced_even_the_input_itself() {
    let folder = folder_with(&good());
    let path = folder.path().join("in.npz");
    assert!(attend([&path, &path]).status.success());
    assert_eq!(read::<f64>(&path, "o").dim(), (2, 3, 6));
}

#[test]
fn a_negative_scale_is_a_number_and_no_option() {
    let folder = folder_with(&good());
    assert!(attend_in(&folder, &["--scale", "-0.5"]).status.success());
    let [(_, q), (_, k), (_, v)] = good();
    let known = heads::reference(&q, &k, &v, Options::full().with_scale(-0.5)).unwrap();
    assert_abs_diff_eq!(read::<f64>(&folder.path().join("out.npz"), "o"), known, epsilon = 1e-14);
}

#[test]
fn a_missing_file_is_named() {
    let line = complaint(&TempDir::new().unwrap(), &[]);
    assert!(line.starts_with("attend: cannot open FOLDER/in.npz: "), "{line}");
}

#[test]
fn what_is_no_npz_is_named() {
    let folder = TempDir::new().unwrap();
    for bytes in ["", "not an archive", "PK\x03\x04 cut off"] {
        fs::write(folder.path().join("in.npz"), bytes).unwrap();
        let line = complaint(&folder, &[]);
        assert!(line.starts_with("attend: FOLDER/in.npz is not a whole .npz file: "), "{line}");
    }
}

#[test]
fn a_file_cut_short_is_refused() {
    let folder = folder_with(&good());
    let path = folder.path().join("in.npz");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let line = complaint(&folder, &[]);
    assert!(line.starts_with("attend: FOLDER/in.npz is not a whole .npz file: "), "{line}");
}

#[test]
fn a_missing_array_is_named() {
    for missing in 0..3 {
        let mut arrays = good().to_vec();
        let (name, _) = arrays.remove(missing);
        let line = complaint(&folder_with(&arrays), &[]);
        let others = arrays.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        assert_eq!(line, format!("attend: FOLDER/in.npz has no array {name}; it has: {others}"));
    }
}

#[test]
fn another_element_type_is_named() {
    let whole = [("q", Array3::<i64>::zeros((2, 3, 5)))];
    assert_eq!(
        complaint(&folder_with(&whole), &[]),
        "attend: q in FOLDER/in.npz has elements of type '<i8', \
         but q, k and v must be all float32 or all float64"
    );
    // float64 queries, float32 keys.
    let folder = folder_with(&good()[..1]);
    let path = folder.path().join("in.npz");
    let mut file = NpzWriter::new(File::create(&path).unwrap());
    file.add_array("q", &good()[0].1).unwrap();
    file.add_array("k", &good()[1].1.mapv(|element| element as f32)).unwrap();
    file.finish().unwrap();
    assert_eq!(
        complaint(&folder, &[]),
        "attend: k in FOLDER/in.npz has elements of type '<f4', \
         but q, k and v must be all float32 or all float64"
    );
}

#[test]
fn another_number_of_axes_is_named() {
    let folder = TempDir::new().unwrap();
    let mut file = NpzWriter::new(File::create(folder.path().join("in.npz")).unwrap());
    file.add_array("q", &Array2::<f32>::zeros((3, 5))).unwrap();
    file.finish().unwrap();
    assert_eq!(
        complaint(&folder, &[]),
        "attend: q in FOLDER/in.npz has 2 axes, but must have 3: (H, T, d)"
    );
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let mut arrays = good();
    arrays[1].1 = Array3::zeros((2, 4, 6));
    assert_eq!(
        complaint(&folder_with(&arrays), &[]),
        "attend: k has shape (2, 4, 6) but q has shape (2, 3, 5): \
         their last axes (head size d) must be equal"
    );
}

#[test]
fn a_scale_that_is_not_finite_is_refused() {
    let folder = folder_with(&good());
    for scale in ["nan", "inf", "-inf"] {
        let line = complaint(&folder, &[&format!("--scale={scale}")]);
        assert!(line.starts_with("attend: the scale is "), "{line}");
    }
    // Finite as it is typed, but infinite in float32.
    let single = good().map(|(name, array)| (name, array.mapv(|element| element as f32)));
    let line = complaint(&folder_with(&single), &["--scale", "1e39"]);
    assert!(line.starts_with("attend: the scale is inf, "), "{line}");
}

#[test]
fn a_header_that_promises_too_much_is_refused() {
    let folder = folder_with(&good()[..1]);
    let path = folder.path().join("in.npz");
    let mut bytes = fs::read(&path).unwrap();
    let shape = b"(2, 3, 5)";
    let at = bytes.windows(shape.len()).position(|window| window == shape).unwrap();
    // The header is padded with spaces: there is room for larger numbers.
    let larger = b"(1048576, 1048576, 1048576), }";
    bytes[at..at + larger.len()].copy_from_slice(larger);
    fs::write(&path, bytes).unwrap();
    let line = complaint(&folder, &[]);
    assert!(line.starts_with("attend: cannot read q in FOLDER/in.npz: "), "{line}");
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let folder = folder_with(&good());
    let input = folder.path().join("in.npz");
    fs::create_dir(folder.path().join("out.npz")).unwrap();
    let line = complaint(&folder, &[]);
    assert_eq!(line, "attend: cannot write FOLDER/out.npz: it exists and is not a regular file");
    let nowhere = folder.path().join("no such folder").join("out.npz");
    let output = attend([&input, &nowhere]);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(line.starts_with(&format!("attend: cannot write {}: ", nowhere.display())), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
}

#[test]
fn wrong_usage_has_exit_code_2() {
    for arguments in [&["in.npz"][..], &["a", "b", "c"], &["a", "b", "--scale", "much"]] {
        let output = attend(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(!output.stderr.is_empty());
    }
    assert_eq!(attend(["--help"]).status.code(), Some(0));
}
