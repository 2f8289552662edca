//! The patterns of CRD schemas, which are Go's regular expressions.

use crate::prelude::*;
use regex_lite::Regex;

/// A pattern, compiled at its first use: most fields are in no manifest.
///
/// regex-lite reads RE2's syntax and, as Go does without flags, takes `\d` as ASCII and `$` as the end of the text.
#[derive(Debug)]
pub(super) struct Pattern {
    text: Box<str>,
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.into(), regex: OnceLock::new() }
    }

    /// As the schema has it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it can be compiled. One that can't matches everything.
    pub(super) fn is_regular(&self) -> bool {
        self.regex().is_some()
    }

    /// Whether a text matches, anywhere if there is no anchor.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex().is_none_or(|regex| regex.is_match(text))
    }

    fn regex(&self) -> Option<&Regex> {
        let compile = || Regex::new(&self.text).ok();
        self.regex.get_or_init(compile).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        let quantity = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";
        let share = r"^(0(?:\.\d{1,3})?|1)$";
        for (pattern, yes, no) in [
            (
                quantity,
                &["0", "64Mi", "+1.5G", "-.5m", "5.", "1E-3", "1e.5"][..],
                &["", "64 MiB", "Mi", ".", "1e", "1ki", "1Mi\n", "1e5Mi"][..],
            ),
            (share, &["0", "1", "0.1", "0.055"], &["1.5", "0.", "0.0555", "00", "0.1 ", "0.\u{661}"]),
            ("kubevirt-hyperconverged", &["my-kubevirt-hyperconverged-2"], &["my-hco", ""]),
        ] {
            let pattern = Pattern::new(pattern);
            assert!(pattern.is_regular());
            for text in yes {
                assert!(pattern.matches(text), "{text:?}");
            }
            for text in no {
                assert!(!pattern.matches(text), "{text:?}");
            }
        }
    }

    #[test]
    fn invalid_patterns_reject_nothing() {
        let pattern = Pattern::new("(?=a)");
        assert!(!pattern.is_regular());
        assert!(pattern.matches("b"));
    }
}
