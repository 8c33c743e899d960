//! Weaves a book: chapters in Markdown and a ledger of computed values go in,
//! checked pages come out. Knows nothing of what the book is about; another
//! book, on any subject, can use it with a ledger of its own.

pub mod api;
pub mod assets;
mod cargo;
mod chapter;
mod checked;
mod directive;
pub mod engine;
pub mod excerpt;
pub mod figure;
mod lint;
pub mod math;
pub mod pages;
mod preprocess;
pub mod problem;
mod project;
mod render;
pub mod scaffold;
pub mod serve;
mod site;
pub mod snippet;
mod verify;
mod weaver;

pub use chapter::{Chapter, Fence, markdown_options};
pub use preprocess::{preprocess, supports};
pub use problem::{Problem, Problems};
pub use project::{Engine, Preview, Project, Settings, find_root};
pub use site::{BuildOptions, Built, build};
pub use verify::{Blessed, Tested, bless, test, unblessed};
pub use weaver::{Quote, Quotes, Woven, WovenChapter, weave};
