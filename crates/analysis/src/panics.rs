//! Catches a panic in one cluster's work, with its message and location.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// The last panic on this thread; `None` outside of [`catch_panic`].
    static SEEN: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; returns a panic as an error with message and location.
pub fn catch_panic<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let ours = SEEN.with_borrow_mut(|seen| {
                let Some(seen) = seen else { return false };
                let message = info.payload_as_str().unwrap_or("no message");
                *seen = match info.location() {
                    Some(at) => format!("{message} ({}:{})", at.file(), at.line()),
                    None => message.to_owned(),
                };
                true
            });
            if !ours {
                others(info);
            }
        }));
    });
    let outer = SEEN.replace(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    let seen = SEEN.replace(outer);
    result.map_err(|_| seen.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_a_panic_into_an_error_with_its_location() {
        assert_eq!(catch_panic(|| 1), Ok(1));
        let error = catch_panic(|| panic!("the {} is broken", "assumption")).expect_err("a panic");
        assert!(error.starts_with("the assumption is broken ("), "{error}");
        assert!(error.contains("panics.rs:"), "{error}");
    }
}
