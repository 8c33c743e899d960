//! `cargo book serve`: what the weaver's server has done when something
//! changes, and how this program becomes its own successor.

use std::env;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use weave::serve::{self, Builder, Compiled, Options, ServeError, Watched};
use weave::{BuildOptions, Problems, Project, api};

use crate::report::{self, Step, say};
use crate::{Failure, weave_pages};

/// Set for the successor: the port it takes over. Its pages are open already.
const SUCCEEDS: &str = "CARGO_BOOK_SUCCEEDS_ON_PORT";

pub(crate) fn serve(root: PathBuf, port: u16, open: bool) -> Result<(), Failure> {
    let project = Project::open(&root)?;
    let program = env::current_exe().map_err(|error| {
        Failure::Environment(format!("this program does not know where it lies: {error}"))
    })?;
    let inherited = env::var(SUCCEEDS).ok().and_then(|port| port.parse().ok());
    let options = Options {
        port: inherited.unwrap_or(port),
        site: project.output(),
        watched: watched(&project),
    };
    let book = Book {
        root,
        program,
        open: open && inherited.is_none(),
        site: Mutex::new(()),
        api_is_current: AtomicBool::new(false),
    };
    serve::run(options, Arc::new(book))
        .map_err(|error: ServeError| Failure::Environment(error.to_string()))?;
    say("stopped");
    Ok(())
}

/// What the book is made of, and what its builds write.
fn watched(project: &Project) -> Watched {
    let root = project.root().to_owned();
    let source = project.source();
    let mut text = vec![root.join("book.toml"), root.join("theme"), project.lock()];
    // The theme and the macros lie beside the chapters.
    match source.parent() {
        Some(folder) if folder != root => text.push(folder.to_owned()),
        _ => text.push(source.clone()),
    }
    let settings = project.settings();
    let crates = settings.crates.iter().chain(&settings.snippets).chain([&settings.worked]);
    let mut code: Vec<_> = crates.map(|folder| root.join(folder)).collect();
    code.extend(["crates", "Cargo.toml", "Cargo.lock"].map(|path| root.join(path)));
    Watched {
        text: text.into_iter().filter(|path| path.exists()).collect(),
        code: code.into_iter().filter(|path| path.exists()).collect(),
        ignored: vec![
            project.target().to_owned(),
            root.join("target"),
            project.output(),
            source.join("katex"),
        ],
        root,
    }
}

/// The book as the server has it built. `book.toml` is read anew each time, for
/// it may have changed.
struct Book {
    root: PathBuf,
    program: PathBuf,
    open: bool,
    /// Held while the site's folder is written to.
    site: Mutex<()>,
    /// Whether the API pages are those of the code as it is.
    api_is_current: AtomicBool,
}

impl Book {
    fn weave_site(&self) -> Result<(), Problems> {
        let _writing = self.site.lock().unwrap_or_else(PoisonError::into_inner);
        let project = Project::open(&self.root)?;
        let api = self.api_is_current.load(Ordering::Relaxed);
        weave_pages(&project, &BuildOptions { url: None, api })?;
        if !api {
            // Until they are made anew, the old ones serve.
            api::copy_into(&project, &project.output())?;
        }
        Ok(())
    }

    fn make_api(&self) -> Result<(), Problems> {
        let project = Project::open(&self.root)?;
        let step = Step::begin("making the API pages");
        api::build(&project)?;
        let _writing = self.site.lock().unwrap_or_else(PoisonError::into_inner);
        api::copy_into(&project, &project.output())?;
        self.api_is_current.store(true, Ordering::Relaxed);
        step.end("made the API pages");
        Ok(())
    }
}

impl Builder for Book {
    fn weave(&self) -> Result<(), Problems> {
        told(self.weave_site())
    }

    fn served(&self, address: SocketAddr) {
        let url = format!("http://{address}/");
        say(&format!("serving {url} (Ctrl-C stops)"));
        if self.open
            && let Err(error) = opener::open_browser(&url)
        {
            say(&format!("the browser cannot be opened: {error}"));
        }
    }

    fn finish(&self) -> Result<(), Problems> {
        told(self.make_api())
    }

    #[cfg(unix)]
    fn compile(&self) -> Result<Compiled, Problems> {
        self.api_is_current.store(false, Ordering::Relaxed);
        let step = Step::begin("compiling");
        let project = told(Project::open(&self.root))?;
        let compiled = serve::compile(&project, env!("CARGO_PKG_NAME"), &self.program);
        match &compiled {
            Ok(_) => step.end("compiled"),
            // The compiler has told the terminal already.
            Err(_) => say("the code does not compile; the pages stay as they were"),
        }
        compiled
    }

    /// A running program cannot be replaced here.
    #[cfg(not(unix))]
    fn compile(&self) -> Result<Compiled, Problems> {
        Ok(Compiled::Changed)
    }

    #[cfg(unix)]
    fn restart(&self, address: SocketAddr) -> io::Error {
        use std::os::unix::process::CommandExt as _;
        say("starting anew");
        Command::new(&self.program)
            .args(env::args_os().skip(1))
            .env(SUCCEEDS, address.port().to_string())
            .exec()
    }

    #[cfg(not(unix))]
    fn restart(&self, _: SocketAddr) -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, "this system needs it done by hand")
    }
}

/// The problems are told to the terminal as well.
fn told<T>(result: Result<T, Problems>) -> Result<T, Problems> {
    if let Err(problems) = &result {
        report::problems(problems);
    }
    result
}
