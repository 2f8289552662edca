//! Ctrl-C and its relatives: noted while there is something to clean up, so that work ends between two clusters and
//! cleans up. Before that the signal ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From here on an interruption is noted instead of ending the process. A second one ends it.
pub fn watch() {
    INTERRUPTED.get_or_init(|| {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // Where no handler can be set the system's own stays, which is as good as it gets. The
            // one that ends the process comes first: it examines what the other one notes.
            let _ = flag::register_conditional_default(signal, Arc::clone(&interrupted));
            let _ = flag::register(signal, Arc::clone(&interrupted));
        }
        interrupted
    });
}

/// Whether a signal asked us to stop.
pub fn interrupted() -> bool {
    let noted = INTERRUPTED.get();
    noted.is_some_and(|noted| noted.load(Ordering::Relaxed))
}
