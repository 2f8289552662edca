//! The exit code of a run.

use std::process::ExitCode;

/// The outcomes of a run; several may apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exit {
    /// A panic: a bug of hcoplan.
    pub bug: bool,
    /// Wrong usage, configuration or environment.
    pub unusable: bool,
    /// Unreadable or invalid input.
    pub unreadable: bool,
    /// No HyperConverged found.
    pub nothing_found: bool,
    /// No HyperConverged can be planned; findings report why.
    pub nothing_planned: bool,
    /// Findings at or above `--fail-on`, a rejection, a stale tree with `--check`, differences with
    /// `--exit-code`.
    pub failed: bool,
    /// The user pressed Ctrl-C.
    pub interrupted: bool,
}

impl Exit {
    /// Whether the input is incomplete, so that nothing may be written.
    pub const fn stops(self) -> bool {
        self.unusable || self.unreadable || self.nothing_found || self.nothing_planned || self.interrupted
    }

    /// The exit code of the most severe outcome.
    pub const fn code(self) -> u8 {
        match self {
            Self { bug: true, .. } => 70,
            // A shell reports this code for a process ended by SIGINT.
            Self { interrupted: true, .. } => 130,
            Self { unusable: true, .. } => 2,
            Self { unreadable: true, .. } => 4,
            Self { nothing_found: true, .. } => 3,
            Self { failed: true, .. } | Self { nothing_planned: true, .. } => 1,
            _ => 0,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(verdict: Exit) -> Self {
        Self::from(verdict.code())
    }
}

/// Help text.
pub const TABLE: &str = include_str!("exit_codes.txt");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The exit codes at the start of a table's rows.
    fn codes(table: &str, is_row: impl Fn(&str) -> Option<&str>) -> Vec<u8> {
        let rows = table.lines().filter_map(is_row);
        let first = rows.filter_map(|row| row.split_whitespace().next());
        first.filter_map(|code| code.parse().ok()).collect()
    }

    #[test]
    fn every_code_is_documented_and_no_other() {
        let field: [fn(&mut Exit); 7] = [
            |v| v.bug = true,
            |v| v.unusable = true,
            |v| v.unreadable = true,
            |v| v.nothing_found = true,
            |v| v.nothing_planned = true,
            |v| v.failed = true,
            |v| v.interrupted = true,
        ];
        let of = |set: &fn(&mut Exit)| {
            let mut verdict = Exit::default();
            set(&mut verdict);
            verdict.code()
        };
        let codes_of_runs: BTreeSet<u8> = field.iter().map(of).chain([0]).collect();
        let codes_of_runs: Vec<u8> = codes_of_runs.into_iter().collect();
        let page = include_str!("../../../docs/output.md");
        assert_eq!(codes(page, |l| l.strip_prefix("| ")), codes_of_runs);
        assert_eq!(codes(TABLE, |l| l.strip_prefix("  ")), codes_of_runs);
    }

    #[test]
    fn returns_the_worst_exit_code() {
        let mut verdict = Exit::default();
        assert_eq!(verdict.code(), 0);
        verdict.failed = true;
        assert_eq!(verdict.code(), 1);
        verdict.nothing_found = true;
        assert_eq!(verdict.code(), 3);
        verdict.unreadable = true;
        assert_eq!(verdict.code(), 4);
        verdict.unusable = true;
        assert_eq!(verdict.code(), 2);
        verdict.bug = true;
        assert_eq!(verdict.code(), 70);
    }
}
