//! The findings of an earlier day, which are known and don't fail a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hcoplan_diagnostics::finding::Finding;
use serde::{Deserialize, Serialize};

use super::{Date, fingerprints};

/// Findings by their fingerprint, each with the day on which it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Baseline {
    schema_version: u32,
    findings: BTreeMap<String, Known>,
}

/// A finding that is known. All but the day is for people who read the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Known {
    rule: String,
    file: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    cluster: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    message: String,
    since: String,
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.rule)?;
        if !self.cluster.is_empty() {
            write!(f, " in {}", self.cluster)?;
        }
        match self.message.as_str() {
            "" => Ok(()),
            message => write!(f, ": {message}"),
        }
    }
}

/// What an update of a baseline did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update {
    /// Entries that are new.
    pub added: usize,
    /// The number of entries that matched nothing any more and were removed.
    pub pruned: usize,
    /// Entries that stay.
    pub kept: usize,
}

/// A run's findings, split by a baseline.
#[derive(Debug, Default)]
pub struct Unknown {
    /// The findings that it doesn't know.
    pub findings: Vec<Finding>,
    /// How many it knows.
    pub hidden: usize,
    /// The day on which the oldest of those was recorded.
    pub oldest: Option<Date>,
    /// The entries that match no finding any more, in words.
    pub stale: Vec<String>,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// Invalid content, with line and column.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Today's findings without rejections, which are always reported. Entries of `before` keep their day.
    pub fn record(findings: &[Finding], before: Option<&Self>, today: Date) -> Self {
        let known = findings.iter().zip(fingerprints(findings));
        let known = known.filter(|(finding, _)| !finding.rejection);
        let findings = known.map(|(finding, print)| {
            let since = before.and_then(|b| b.findings.get(&print));
            let since = since.map_or_else(|| today.to_string(), |k| k.since.clone());
            let file = finding.location.as_ref().map(|l| l.file.path().to_string());
            let known = Known {
                rule: finding.rule.name.to_owned(),
                file: file.unwrap_or_default(),
                cluster: finding.cluster.as_deref().unwrap_or_default().to_owned(),
                message: finding.message.clone(),
                since,
            };
            (print, known)
        });
        Self { schema_version: 1, findings: findings.collect() }
    }

    /// The clusters whose findings it knows.
    pub fn clusters(&self) -> BTreeSet<&str> {
        let named = self.findings.values().map(|known| known.cluster.as_str());
        named.filter(|cluster| !cluster.is_empty()).collect()
    }

    /// The difference from an earlier baseline.
    pub fn since(&self, before: Option<&Self>) -> Update {
        let before = before.map(|b| &b.findings);
        let is_old = |print: &&String| before.is_some_and(|b| b.contains_key(*print));
        let kept = self.findings.keys().filter(is_old).count();
        Update { added: self.findings.len() - kept, pruned: before.map_or(0, BTreeMap::len) - kept, kept }
    }

    /// The baseline as it is kept in git: JSON, a line for each value, sorted.
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("strings are JSON");
        text + "\n"
    }

    /// Removes the findings of the baseline. Pass all of a run's findings at once: equal ones are distinguished by
    /// their order. A rejection always stays.
    pub fn leave_out(&self, findings: Vec<Finding>) -> Unknown {
        let mut out = Unknown::default();
        let prints = fingerprints(&findings);
        let mut stale = self.findings.clone();
        for (finding, print) in findings.into_iter().zip(prints) {
            stale.remove(&print);
            match self.findings.get(&print).filter(|_| !finding.rejection) {
                None => out.findings.push(finding),
                Some(known) => {
                    out.hidden += 1;
                    let since = Date::parse(&known.since);
                    out.oldest = [out.oldest, since].into_iter().flatten().min();
                }
            }
        }
        out.stale = stale.values().map(ToString::to_string).collect();
        out
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::{Location, SourceFile, Span};

    use super::*;
    use crate::find;

    fn finding(text: &str) -> Finding {
        let file = SourceFile::new("a.yaml", text);
        let rule = find("jsonpatch-present").unwrap().rule;
        Finding::new(rule, "m").at(Location::new(&file, Span::new(0, 1)))
    }

    #[test]
    fn hides_known_findings_and_keeps_their_day() {
        let day = |text| Date::parse(text).unwrap();
        let first = Baseline::record(&[finding("a")], None, day("2026-10-01"));
        let both = [finding("a"), finding("b")];
        let second = Baseline::record(&both, Some(&first), day("2026-11-01"));
        assert_eq!(Baseline::parse(&second.to_text()).unwrap(), second);
        let left = second.leave_out(vec![finding("a"), finding("b"), finding("c")]);
        assert_eq!((left.findings.len(), left.hidden), (1, 2));
        assert_eq!(left.oldest, Some(day("2026-10-01")));
        // Another of the same is new.
        let left = first.leave_out(vec![finding("a"), finding("a")]);
        assert_eq!((left.findings.len(), left.hidden), (1, 1));
        assert!(left.stale.is_empty());
        // A removed finding is reported in words, and the next update drops it.
        let left = second.leave_out(vec![finding("a")]);
        assert_eq!(left.stale, ["a.yaml: jsonpatch-present: m"]);
        let third = Baseline::record(&[finding("a"), finding("c")], Some(&second), day("2026-12-01"));
        let expected = Update { added: 1, pruned: 1, kept: 1 };
        assert_eq!(third.since(Some(&second)), expected);
        // As it was written before there were words.
        let old = r#"{"schemaVersion": 1, "findings": {"x": {"rule": "r", "file": "f", "since": "2026-10-01"}}}"#;
        assert_eq!(Baseline::parse(old).unwrap().leave_out(Vec::new()).stale, ["f: r"]);
    }

    #[test]
    fn never_hides_a_rejection() {
        let rejection = Finding { rejection: true, ..finding("a") };
        let day = Date::parse("2026-10-01").unwrap();
        let baseline = Baseline::record(&[finding("a")], None, day);
        assert_eq!(baseline.leave_out(vec![rejection]).hidden, 0);
    }
}
