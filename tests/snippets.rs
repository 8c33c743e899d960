//! Every `rust` fence of the chapters as a test of its own, written by skeptic
//! while this package is built. A test's name holds the chapter's path and the
//! fence's line. Snippets are compiled as Rust 2021, the newest that skeptic
//! knows.

include!(concat!(env!("OUT_DIR"), "/skeptic-tests.rs"));
