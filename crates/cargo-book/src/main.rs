//! cargo book
fn main() {}
