//! How a page calls the engine: one buffer, written by the page before it asks
//! and read by it afterwards. It keeps no request once it is answered; it keeps
//! weights, which the page hands over once.

use std::cell::RefCell;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The longest request, in bytes. A head of the largest sizes takes a tenth of it,
/// a file of weights two thirds.
const LIMIT: usize = 1 << 18;

/// Makes room for a request of `length` bytes and returns where to write it;
/// null for a request too long to be one.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "the name the page calls"))]
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
#[must_use]
pub extern "C" fn prepare(length: usize) -> *mut u8 {
    if length > LIMIT {
        return std::ptr::null_mut();
    }
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.resize(length, 0);
        buffer.as_mut_ptr()
    })
}

/// Replaces the request by its answer, and returns where that begins.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "the name the page calls"))]
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
#[must_use]
pub extern "C" fn answer() -> *const u8 {
    BUFFER.with_borrow_mut(|buffer| {
        *buffer = crate::answer(&String::from_utf8_lossy(buffer)).into_bytes();
        buffer.as_ptr()
    })
}

/// How many bytes the answer has.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "the name the page calls"))]
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
#[must_use]
pub extern "C" fn length() -> usize {
    BUFFER.with_borrow(Vec::len)
}

/// Takes what was written as a file of weights and not as a request, keeps it,
/// and replaces it by an answer all the same.
#[cfg(feature = "reader")]
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "the name the page calls"))]
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
#[must_use]
pub extern "C" fn weights() -> *const u8 {
    BUFFER.with_borrow_mut(|buffer| {
        *buffer = crate::keep_weights(buffer).into_bytes();
        buffer.as_ptr()
    })
}
