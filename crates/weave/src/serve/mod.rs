//! Serves a book to the person who writes it: builds, watches, rebuilds, and
//! tells the open pages, which then reload or show what is wrong. Listens on
//! this machine only. How the book is built is the [`Builder`]'s business.

mod compile;
mod http;
mod status;
mod watch;

use std::any::Any;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::net::TcpListener;

use crate::problem::{Problem, Problems};
pub use compile::compile;
use status::{Board, Stage};
pub use watch::Watched;
use watch::{Change, Changes};

/// What is served, where, and which changes matter.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port on 127.0.0.1; 0 takes any that is free.
    pub port: u16,
    /// The folder that the builder puts the site into.
    pub site: PathBuf,
    /// The files and folders that the site is made of.
    pub watched: Watched,
}

/// What the server has done for it. Each method may take its time and reports to
/// the terminal itself; what it returns is also shown on the pages.
pub trait Builder: Send + Sync + 'static {
    /// Weaves the pages: at the start and after a change to text.
    ///
    /// # Errors
    ///
    /// What is wrong with the book. The site from before is served on.
    fn weave(&self) -> Result<(), Problems>;

    /// Called once, when the pages can be looked at.
    fn served(&self, address: SocketAddr);

    /// Makes what readers can wait for, in the background: after the start and
    /// after a change to code.
    ///
    /// # Errors
    ///
    /// What is wrong with it. The pages are served on.
    fn finish(&self) -> Result<(), Problems>;

    /// Compiles after a change to code.
    ///
    /// # Errors
    ///
    /// What the compiler found wrong.
    fn compile(&self) -> Result<Compiled, Problems>;

    /// Starts the newly compiled program in place of this one, on the same
    /// address. Returns only if that fails.
    fn restart(&self, address: SocketAddr) -> io::Error;
}

/// What compiling has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiled {
    /// Nothing in this program.
    Same,
    /// This program, which must be started anew.
    Changed,
}

/// Why a book could not be served at all.
#[derive(Debug)]
pub enum ServeError {
    /// Another program listens on the port.
    Taken(u16),
    /// The port cannot be listened on for another reason.
    Listen(u16, io::Error),
    /// The system's file watching does not work.
    Watch(String),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Taken(port) => write!(
                f,
                "port {port} is taken by another program; choose another one, such as --port {}",
                if *port < u16::MAX { port + 1 } else { 3000 }
            ),
            ServeError::Listen(port, error) => {
                write!(f, "cannot listen on port {port}: {error}; choose another one with --port")
            }
            ServeError::Watch(reason) => write!(f, "cannot watch the book's files: {reason}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serves until it is interrupted with Ctrl-C.
///
/// # Errors
///
/// The port is taken, or the files cannot be watched. What is wrong with the
/// book is no error here: it is shown, and the server waits for it to be mended.
pub fn run(options: Options, builder: Arc<dyn Builder>) -> Result<(), ServeError> {
    let Options { port, site, watched } = options;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| ServeError::Listen(port, error))?;
    let result = runtime.block_on(async {
        let listener = listen(port).await?;
        let address = listener.local_addr().map_err(|error| ServeError::Listen(port, error))?;
        let board = Arc::new(Board::default());
        // Watching begins before building, so that no change is missed.
        let changes = watched.watch().map_err(ServeError::Watch)?;
        let worker =
            Worker { builder, board: Arc::clone(&board), address, finishing: Arc::default() };
        thread::spawn(move || worker.work(&changes));
        let pages = http::router(site, board);
        tokio::select! {
            served = async { axum::serve(listener, pages).await } => {
                served.map_err(|error| ServeError::Listen(port, error))
            }
            () = interrupted() => Ok(()),
        }
    });
    // Open event streams never end by themselves.
    runtime.shutdown_background();
    result
}

async fn listen(port: u16) -> Result<TcpListener, ServeError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ServeError::Taken(port),
        _ => ServeError::Listen(port, error),
    })
}

async fn interrupted() {
    let ctrl_c = async {
        // Without the handler the signal ends the program as it always does.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = ctrl_c => {}
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}

/// The thread that has things built, one after the other.
struct Worker {
    builder: Arc<dyn Builder>,
    board: Arc<Board>,
    address: SocketAddr,
    /// Held while the background work runs.
    finishing: Arc<Mutex<()>>,
}

impl Worker {
    fn work(&self, changes: &Changes) {
        self.weave();
        self.builder.served(self.address);
        self.finish();
        while let Some(change) = changes.next() {
            match change {
                Change::Text => self.weave(),
                Change::Code => self.compile(changes),
            }
        }
    }

    fn weave(&self) {
        self.board.begin("Weaving the pages");
        self.board.woven(shielded(|| self.builder.weave()));
    }

    fn finish(&self) {
        let (builder, board) = (Arc::clone(&self.builder), Arc::clone(&self.board));
        let finishing = Arc::clone(&self.finishing);
        thread::spawn(move || {
            let _one_at_a_time = finishing.lock().unwrap_or_else(PoisonError::into_inner);
            board.done(Stage::Rest, shielded(|| builder.finish()));
        });
    }

    fn compile(&self, changes: &Changes) {
        self.board.begin("Compiling");
        let mut compiled = shielded(|| self.builder.compile());
        // A restart forgets the changes that came in the meantime.
        while compiled == Ok(Compiled::Changed) && changes.waiting() == Some(Change::Code) {
            compiled = match shielded(|| self.builder.compile()) {
                Ok(_) => Ok(Compiled::Changed),
                Err(problems) => Err(problems),
            };
        }
        match compiled {
            Err(problems) => self.board.done(Stage::Code, Err(problems)),
            Ok(Compiled::Changed) => self.restart(),
            Ok(Compiled::Same) => {
                self.board.done(Stage::Code, Ok(()));
                self.weave();
                self.finish();
            }
        }
    }

    fn restart(&self) {
        let _finished = self.finishing.lock().unwrap_or_else(PoisonError::into_inner);
        let error = self.builder.restart(self.address);
        let problem = Problem::in_file(
            "Cargo.toml",
            format!("the program has changed but cannot be started anew: {error}"),
        )
        .hint("stop it with Ctrl-C and start it again");
        self.board.done(Stage::Code, Err(problem.into()));
    }
}

/// Runs a piece of the building; should it panic, that is a problem to show, and
/// the server lives on.
fn shielded<T>(work: impl FnOnce() -> Result<T, Problems>) -> Result<T, Problems> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = format!("the weaver itself failed: {}", panic_message(panic.as_ref()));
        Err(Problem::in_file("book.toml", message)
            .hint("this is a fault in the program, not in the book; please report it")
            .into())
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests;
