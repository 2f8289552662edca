//! Ctrl-C and its relatives: noted while there is something to clean up, so that work ends between
//! two clusters and does so. Before that the signal ends the process, whatever it waits for.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static WATCHED: Once = Once::new();

/// From here on an interruption is noted instead of ending the process. A second one ends it.
pub fn watch() {
    // Where no handler can be set the system's own stays, which is as good as it gets.
    WATCHED.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::abort();
            }
        });
    });
}

/// Whether somebody asked us to stop.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
