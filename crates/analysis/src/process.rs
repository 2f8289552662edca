//! What the process learns from its system: signals and the date; nothing else in the analysis reads a clock.
//!
//! Handles Ctrl-C and similar signals while there is something to clean up: the run then stops between two clusters.
//! Before that the signal ends the process at once.

use crate::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

use hcoplan_lint::Date;
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

/// Today in UTC: suppressions and baseline entries may expire.
pub fn today() -> Date {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Date::of_unix_seconds(since_1970.map_or(0, |d| d.as_secs()))
}
