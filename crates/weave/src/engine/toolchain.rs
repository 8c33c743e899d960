//! The compilers that can make WebAssembly: a rustup toolchain with the target
//! installed, or Debian's compiler for the web together with a linker from
//! rustup's. Nothing is downloaded here.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::problem::Problem;

/// The target that engines are built for: WebAssembly without a system below.
pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// Where Debian's packages put their programs and the library's sources.
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_SOURCES: &str = "/usr/lib/rustlib/src/rust/library/Cargo.lock";

/// What stands between flags in cargo's variable for them.
const SEPARATOR: &str = "\u{1f}";

/// Flags that are not stable yet, and that a compiler which builds the libraries
/// may be given: a panic stops at once and says nothing. A page could not show
/// what it says, and the text is a tenth of the engine.
const SMALLER: [&str; 3] =
    ["-Cpanic=immediate-abort", "-Zunstable-options", "-Zlocation-detail=none"];

/// A compiler for WebAssembly.
pub(super) enum Toolchain {
    /// The toolchain in use has the target's libraries.
    Rustup,
    /// Debian's compiler, which builds the libraries from their sources, and a
    /// linker that rustup brought.
    Debian {
        /// LLVM's linker.
        linker: PathBuf,
    },
}

impl Toolchain {
    /// The first of the two that is installed.
    pub(super) fn find() -> Result<Toolchain, Problem> {
        let libraries = printed("rustc", &["--print", "target-libdir", "--target", TARGET]);
        if libraries.is_some_and(|folder| Path::new(&folder).is_dir()) {
            return Ok(Toolchain::Rustup);
        }
        let debian = [DEBIAN_CARGO, DEBIAN_RUSTC, DEBIAN_SOURCES];
        match linker() {
            Some(linker) if debian.iter().all(|file| Path::new(file).is_file()) => {
                Ok(Toolchain::Debian { linker })
            }
            _ => Err(Problem::in_file("book.toml", "no compiler for WebAssembly is installed")
                .hint(format!(
                    "run `rustup target add {TARGET}`, or on Debian install the packages \
                     rustc-web, cargo-web and rust-web-src"
                ))),
        }
    }

    /// Cargo of this toolchain, in `root`, building into `target`; the paths of
    /// this machine are kept out of what it builds.
    pub(super) fn command(&self, root: &Path, target: &Path) -> Command {
        let mut command = match self {
            Toolchain::Rustup => cargo::command(root, target),
            Toolchain::Debian { linker } => {
                let mut command = Command::new(DEBIAN_CARGO);
                command
                    .current_dir(root)
                    .env("CARGO_TARGET_DIR", target)
                    .env("RUSTC", DEBIAN_RUSTC)
                    // Building the libraries is not stable yet.
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                    .env_remove("RUSTUP_TOOLCHAIN")
                    .arg("-Zbuild-std=std,panic_abort");
                command
            }
        };
        let mut flags = vec![format!("--remap-path-prefix={}=.", root.display())];
        if let Some(home) = cargo_home() {
            flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
        }
        if let Toolchain::Debian { .. } = self {
            flags.extend(SMALLER.map(str::to_owned));
        }
        command.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", flags.join(SEPARATOR));
        command
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Toolchain::Rustup => f.write_str("the toolchain in use"),
            Toolchain::Debian { .. } => f.write_str("Debian's compiler for the web"),
        }
    }
}

/// LLVM's linker, which each rustup toolchain carries for its own platform.
fn linker() -> Option<PathBuf> {
    let sysroot = printed("rustc", &["--print", "sysroot"])?;
    let host = printed("rustc", &["--print", "host-tuple"])?;
    let linker = Path::new(&sysroot).join("lib/rustlib").join(host).join("bin/rust-lld");
    linker.is_file().then_some(linker)
}

/// Where cargo keeps the sources of the crates it fetched.
fn cargo_home() -> Option<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    set.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

/// What a program prints, if it can be run and succeeds.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
