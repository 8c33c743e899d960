//! Weaves a book: chapters in Markdown and a ledger of computed values go in,
//! checked pages come out. Knows nothing of what the book is about; another
//! book, on any subject, can use it with a ledger of its own.

mod cargo;
mod chapter;
mod checked;
mod directive;
mod lint;
pub mod api;
pub mod assets;
pub mod chapter;
pub mod excerpt;
pub mod figure;
pub mod math;
pub mod pages;
mod preprocess;
pub mod problem;
mod project;
mod render;
mod site;
mod verify;
mod weaver;
pub mod project;
pub mod scaffold;
pub mod serve;
pub mod snippet;

pub use chapter::{Chapter, Fence, markdown_options};
pub use preprocess::{preprocess, supports};
pub use problem::{Problem, Problems};
pub use project::{Project, Settings, find_root};
pub use site::{BuildOptions, Built, build};
pub use verify::{Blessed, Tested, bless, test, unblessed};
pub use weaver::{Quote, Quotes, Woven, WovenChapter, weave};
