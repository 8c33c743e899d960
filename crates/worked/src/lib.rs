//! worked
