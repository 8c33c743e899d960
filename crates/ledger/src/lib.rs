//! What a value of the book is: its name, its kind, how many digits of it are
//! shown, and the function that made it. Also how it is printed, and the lock
//! file that remembers what was last printed. Nothing here knows of Markdown,
//! HTML or attention.
//!
//! A value is *entered* under a name, by handing over the function that
//! computes it, so that its origin cannot be misreported:
//!
//! ```
//! use ledger::Ledger;
//!
//! /// The chance that two fair dice show the same face.
//! fn doubles() -> f64 {
//!     6.0 / 36.0
//! }
//!
//! let mut ledger = Ledger::new();
//! ledger.enter("dice.doubles", doubles).digits(3).about("chance of a double");
//!
//! let entry = ledger.get("dice.doubles").unwrap();
//! assert_eq!(entry.shown(), "0.167");
//! assert!(entry.maker().ends_with("doubles"));
//! assert!(ledger.faults().is_empty());
//! ```

mod entry;
mod figure;
#[cfg(feature = "lock")]
mod lock;
mod number;
mod value;
mod widget;

pub use entry::{Entry, Fault, Ledger, Origin};
pub use figure::{Axis, Figure, Plot, Point, Series};
#[cfg(feature = "lock")]
pub use lock::{Difference, Lock, LockError, Locked, replace_file};
pub use number::{number, number_tex};
pub use value::{Precision, Quotable, Value};
pub use widget::Widget;
