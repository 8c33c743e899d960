//! Attention from the command line, to use the crate from NumPy: reads q, k and
//! v from one `.npz` file, writes o to another. It only reads, calls and writes.

use anyhow::{Context, Result, anyhow, bail, ensure};
use attention::ndarray::{Array3, Ix3, OwnedRepr};
use attention::{Options, Real, heads};
use clap::Parser;
use ndarray_npy::{
    NpzReader, NpzWriter, ReadDataError, ReadNpyError, ReadNpzError, ReadableElement,
    WritableElement,
};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const INPUT_HELP: &str = "The file that holds q (H, T_q, d), k (H, T_k, d) and v (H, T_k, d_v), \
                          all float32 or all float64";
const OUTPUT_HELP: &str = "The file to write, with o (H, T_q, d_v) in the same type";

/// Computes attention for many heads: o = softmax(mask(scale(q·kᵀ)))·v.
#[derive(Parser)]
#[command(name = "attend")]
struct Arguments {
    #[arg(value_name = "IN.npz", help = INPUT_HELP)]
    input: PathBuf,
    #[arg(value_name = "OUT.npz", help = OUTPUT_HELP)]
    output: PathBuf,
    /// Let each query see the keys up to itself, and the last query every key.
    #[arg(long)]
    causal: bool,
    /// What the scores are multiplied by; 1/√d if not given.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    scale: Option<f64>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let line = format!("{error:#}").replace('\n', " ");
            eprintln!("attend: {line}");
            ExitCode::from(2)
        }
    }
}

/// Finds out which type the file is in, and computes in that.
fn run(arguments: &Arguments) -> Result<()> {
    let mut input = Input::open(&arguments.input)?;
    match input.read_array::<f64>("q") {
        Err(ReadNpzError::Npy(ReadNpyError::WrongDescriptor(_))) => {
            let q = input.read::<f32>("q")?;
            attend(arguments, input, &q)
        }
        q => {
            let q = q.map_err(|error| input.explain("q", error))?;
            attend(arguments, input, &q)
        }
    }
}

/// Reads keys and values, attends, and writes the output.
fn attend<F: Real + ReadableElement + WritableElement>(
    arguments: &Arguments,
    mut input: Input,
    q: &Array3<F>,
) -> Result<()> {
    let k = input.read("k")?;
    let v = input.read("v")?;
    let mut options = if arguments.causal { Options::causal() } else { Options::full() };
    // Out of range for f32 becomes infinite here, and is refused below.
    options.scale = arguments.scale.and_then(F::from);
    let o = heads::attend(q, &k, &v, options)?;
    write_whole(&arguments.output, &o)
        .with_context(|| format!("cannot write {}", arguments.output.display()))
}

/// An opened `.npz` file.
struct Input {
    path: String,
    arrays: NpzReader<File>,
}

impl Input {
    fn open(path: &Path) -> Result<Self> {
        let path_shown = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot open {path_shown}"))?;
        let arrays = NpzReader::new(file)
            .with_context(|| format!("{path_shown} is not a whole .npz file"))?;
        Ok(Self { path: path_shown, arrays })
    }

    /// Reads an array of the three axes and the type that are needed.
    fn read<F: Real + ReadableElement>(&mut self, name: &str) -> Result<Array3<F>> {
        self.read_array(name).map_err(|error| self.explain(name, error))
    }

    fn read_array<F: Real + ReadableElement>(
        &mut self,
        name: &str,
    ) -> Result<Array3<F>, ReadNpzError> {
        let array = self.arrays.by_name::<OwnedRepr<Allocatable<F>>, Ix3>(name)?;
        Ok(array.mapv_into_any(|element| element.0))
    }

    /// Says what is wrong with an array in words of the caller.
    fn explain(&mut self, name: &str, error: ReadNpzError) -> anyhow::Error {
        let path = &self.path;
        let names = self.arrays.names().unwrap_or_default();
        if !names.iter().any(|present| present == name) {
            return anyhow!("{path} has no array {name}; it has: {}", names.join(", "));
        }
        match error {
            ReadNpzError::Npy(ReadNpyError::WrongDescriptor(found)) => anyhow!(
                "{name} in {path} has elements of type {found}, \
                 but q, k and v must be all float32 or all float64"
            ),
            ReadNpzError::Npy(ReadNpyError::WrongNdim(_, found)) => {
                anyhow!("{name} in {path} has {found} axes, but must have 3: (H, T, d)")
            }
            other => anyhow!(other).context(format!("cannot read {name} in {path}")),
        }
    }
}

/// An element of which so many are read only if there is memory for them: a
/// damaged header can promise more than any machine holds.
#[derive(Clone)]
struct Allocatable<F>(F);

impl<F: ReadableElement> ReadableElement for Allocatable<F> {
    fn read_to_end_exact_vec<R: Read>(
        reader: R,
        descriptor: &py_literal::Value,
        length: usize,
    ) -> Result<Vec<Self>, ReadDataError> {
        Vec::<F>::new()
            .try_reserve_exact(length)
            .map_err(|error| ReadDataError::ParseData(Box::new(error)))?;
        let elements = F::read_to_end_exact_vec(reader, descriptor, length)?;
        Ok(elements.into_iter().map(Self).collect())
    }
}

/// Writes the output whole or not at all: to a new file beside the one that
/// is wanted, which then takes its name.
fn write_whole<F: WritableElement>(path: &Path, o: &Array3<F>) -> Result<()> {
    // A link stays a link: what it points to is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    ensure!(target.is_file() || !target.exists(), "it exists and is not a regular file");
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) => Path::new("."),
        None => bail!("it names no file"),
    };
    let mut file = new_file(folder)?;
    let mut archive = NpzWriter::new(file.as_file_mut());
    archive.add_array("o", o)?;
    archive.finish()?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// A new file of a name nobody uses, readable as files usually are.
fn new_file(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".attend-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Narrowed by the user's umask; a temporary file is otherwise private.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
