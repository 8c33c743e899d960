//! Weaves a book: chapters in Markdown and a ledger of computed values go in,
//! checked pages come out. Knows nothing of what the book is about; another
//! book, on any subject, can use it with a ledger of its own.

pub mod chapter;
mod directive;
mod lint;
pub mod problem;
pub mod project;

pub use chapter::{Chapter, Fence};
pub use problem::{Problem, Problems};
pub use project::{Project, Settings, find_root};
