//! Weaves a book: chapters in Markdown and a ledger of computed values go in,
//! checked pages come out. Knows nothing of what the book is about; another
//! book, on any subject, can use it with a ledger of its own.

pub mod chapter;
pub mod figure;
pub mod math;
pub mod pages;
pub mod problem;

pub use chapter::{Chapter, Fence};
pub use problem::{Problem, Problems};
