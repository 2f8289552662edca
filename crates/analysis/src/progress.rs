//! A progress bar on a terminal, for many clusters.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Fewer clusters finish before anybody could read the bar.
const FEW: usize = 30;

/// The number of finished clusters.
#[derive(Debug)]
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// A bar on standard error for `count` clusters; none with `quiet` or without a terminal.
    pub fn of(count: usize, quiet: bool) -> Self {
        if quiet || count < FEW || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let bar = ProgressBar::with_draw_target(u64::try_from(count).ok(), target);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} clusters {eta}");
        Self(Some(match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }))
    }

    /// Counts a cluster.
    pub fn step(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }

    /// Prints with the bar hidden.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
