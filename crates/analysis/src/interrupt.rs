//! Handles Ctrl-C and similar signals while there is something to clean up: the run then stops between two clusters.
//! Before that the signal ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on the first interrupt only sets a flag; the second ends the process.
pub fn watch() {
    INTERRUPTED.get_or_init(|| {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // If a handler can't be set, the default remains. The conditional default is registered first, because it
            // reads the flag that the other sets.
            let _ = flag::register_conditional_default(signal, Arc::clone(&interrupted));
            let _ = flag::register(signal, Arc::clone(&interrupted));
        }
        interrupted
    });
}

/// Whether a signal requested a stop.
pub fn interrupted() -> bool {
    let noted = INTERRUPTED.get();
    noted.is_some_and(|noted| noted.load(Ordering::Relaxed))
}
