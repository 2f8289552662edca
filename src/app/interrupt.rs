//! Ctrl-C and its relatives: noted, so that work ends between two clusters and cleans up.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From here on an interruption is noted instead of ending the process. A second one ends it.
pub fn watch() {
    // Where no handler can be set the system's own stays, which is as good as it gets.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::abort();
        }
    });
}

/// Whether somebody asked us to stop.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
