//! Checks of the whole book.
