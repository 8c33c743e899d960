//! weave
