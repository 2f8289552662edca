//! What a run may use: time and memory, watched from a thread of their own, and findings.
//!
//! What goes beyond ends the run between two clusters, as Ctrl-C does, so that nothing is left
//! half-written; work that doesn't get there in a moment is ended where it is. Files are put in place
//! whole, so that this leaves nothing half-written, either.

use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::source::remove_scratch;

/// What a run may use; `None`: as much as there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Bytes of memory that it occupies (its resident set). Linux only.
    pub memory: Option<u64>,
}

/// What was used up, in words.
static EXCEEDED: OnceLock<String> = OnceLock::new();

/// How often is looked, and how long work may take to come to its end.
const INTERVAL: Duration = Duration::from_millis(10);
const GRACE_OF_TIME: Duration = Duration::from_secs(1);
const GRACE_OF_MEMORY: Duration = Duration::from_millis(50);

impl Budget {
    /// Watches it from here on.
    ///
    /// # Errors
    /// When this system doesn't say how much memory a process occupies.
    pub fn watch(self) -> Result<(), &'static str> {
        if self.memory.is_some() && occupied().is_none() {
            return Err("this system doesn't say how much memory a program occupies");
        }
        if self != Self::default() {
            thread::spawn(move || self.look_again_and_again());
        }
        Ok(())
    }

    fn look_again_and_again(self) {
        let began = Instant::now();
        let grace = loop {
            thread::sleep(INTERVAL);
            if let Some(time) = self.time.filter(|time| began.elapsed() >= *time) {
                let seconds = time.as_secs_f64();
                exceed(format!("the run took longer than {seconds} s, which --max-time allows"));
                break GRACE_OF_TIME;
            }
            let memory = self.memory.filter(|most| occupied().is_some_and(|now| now > *most));
            if let Some(most) = memory {
                let most = most >> 20;
                exceed(format!("the run took more than {most} MiB, which --max-memory allows"));
                break GRACE_OF_MEMORY;
            }
        };
        thread::sleep(grace);
        if let Some(message) = exceeded().filter(|_| is_first_to_report()) {
            let _ = writeln!(std::io::stderr(), "error: {message}");
        }
        // No other thread can be made to return.
        let _nothing_left = remove_scratch();
        std::process::exit(2);
    }
}

/// Notes that a budget is used up, in words; the first word counts. [`super::interrupted`] is true
/// from here on.
pub fn exceed(message: String) {
    let _ = EXCEEDED.set(message);
}

/// What was used up, if anything.
pub fn exceeded() -> Option<&'static str> {
    EXCEEDED.get().map(String::as_str)
}

/// Whether the caller is the one to say so: whoever asks first.
pub fn is_first_to_report() -> bool {
    static SAID: AtomicBool = AtomicBool::new(false);
    !SAID.swap(true, Ordering::Relaxed)
}

/// The bytes that this process occupies.
fn occupied() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_occupied_is_known() {
        assert!(occupied().is_some_and(|bytes| bytes > 1 << 20));
    }
}
