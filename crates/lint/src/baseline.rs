//! Baselines: recorded findings, which don't fail a run.

use std::fmt;

use serde::Serialize;

use super::{Date, Finished, fingerprints};
use crate::prelude::*;

/// Recorded findings by fingerprint, with their dates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Baseline {
    schema_version: u32,
    findings: BTreeMap<String, Known>,
}

/// A recorded finding. Only the date is used; the rest is for readers of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Known {
    rule: String,
    file: String,
    /// The cluster's id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    cluster: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    message: String,
    since: String,
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.rule)?;
        if !matches!(&*self.cluster, "" | ClusterName::ROOT) {
            write!(f, " in {}", self.cluster)?;
        }
        match self.message.as_str() {
            "" => Ok(()),
            message => write!(f, ": {message}"),
        }
    }
}

/// The changes of a baseline's update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update {
    /// New entries.
    pub added: usize,
    /// Removed entries, which match no finding.
    pub pruned: usize,
    /// Unchanged entries.
    pub kept: usize,
}

/// Whether a baseline may hide a finding: not one of those that make the exit code by themselves.
fn may_hide(finding: &Finding) -> bool {
    !finding.rejection && !finding.stops
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// If the content is invalid, with line and column.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Records findings except rejections and what stops a plan, which are always reported. Entries of `before` keep their
    /// date; those of clusters that weren't judged stay.
    pub fn record(findings: &[Finding], before: Option<&Self>, unjudged: &BTreeSet<String>, today: Date) -> Self {
        let known = findings.iter().zip(fingerprints(findings));
        let known = known.filter(|(finding, _)| may_hide(finding));
        let findings = known.map(|(finding, print)| {
            let since = before.and_then(|b| b.findings.get(&print));
            let since = since.map_or_else(|| today.to_string(), |k| k.since.clone());
            let known = Known {
                rule: finding.rule.name.to_owned(),
                file: finding.file().map(ToString::to_string).unwrap_or_default(),
                cluster: finding.cluster.as_ref().map_or("", ClusterName::id).to_owned(),
                message: finding.message.clone(),
                since,
            };
            (print, known)
        });
        let kept = before.iter().flat_map(|before| &before.findings);
        let kept = kept.filter(|(_, known)| unjudged.contains(&known.cluster));
        let kept = kept.map(|(print, known)| (print.clone(), known.clone()));
        Self { schema_version: 1, findings: kept.chain(findings).collect() }
    }

    /// The clusters of its entries.
    pub fn clusters(&self) -> BTreeSet<&str> {
        let named = self.findings.values().map(|known| known.cluster.as_str());
        named.filter(|cluster| !cluster.is_empty()).collect()
    }

    /// The changes from an earlier baseline.
    pub fn since(&self, before: Option<&Self>) -> Update {
        let before = before.map(|b| &b.findings);
        let kept = self.findings.keys().filter(|print| before.is_some_and(|b| b.contains_key(*print))).count();
        Update { added: self.findings.len() - kept, pruned: before.map_or(0, BTreeMap::len) - kept, kept }
    }

    /// The baseline as sorted JSON for git, one value per line.
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("strings are JSON");
        text + "\n"
    }

    /// Removes known findings. Needs all findings of a run at once, because equal ones are distinguished by their
    /// order. Never removes a rejection or what stops a plan. Entries of clusters that weren't judged aren't stale.
    pub fn leave_out(&self, findings: Vec<Finding>, unjudged: &BTreeSet<String>) -> Finished {
        let mut out = Finished::default();
        let prints = fingerprints(&findings);
        let mut stale = self.findings.clone();
        for (finding, print) in findings.into_iter().zip(prints) {
            stale.remove(&print);
            match self.findings.get(&print).filter(|_| may_hide(&finding)) {
                None => out.findings.push(finding),
                Some(known) => {
                    out.baselined += 1;
                    let since = Date::parse(&known.since);
                    out.oldest = [out.oldest, since].into_iter().flatten().min();
                }
            }
        }
        stale.retain(|_, known| !unjudged.contains(&known.cluster));
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
        let first = Baseline::record(&[finding("a")], None, &BTreeSet::new(), day("2026-10-01"));
        let both = [finding("a"), finding("b")];
        let second = Baseline::record(&both, Some(&first), &BTreeSet::new(), day("2026-11-01"));
        assert_eq!(Baseline::parse(&second.to_text()).unwrap(), second);
        let left = second.leave_out(vec![finding("a"), finding("b"), finding("c")], &BTreeSet::new());
        assert_eq!((left.findings.len(), left.baselined), (1, 2));
        assert_eq!(left.oldest, Some(day("2026-10-01")));
        // A second equal finding is new.
        let left = first.leave_out(vec![finding("a"), finding("a")], &BTreeSet::new());
        assert_eq!((left.findings.len(), left.baselined), (1, 1));
        assert!(left.stale.is_empty());
        // A stale entry is described, and the next update removes it.
        let left = second.leave_out(vec![finding("a")], &BTreeSet::new());
        assert_eq!(left.stale, ["a.yaml: jsonpatch-present: m"]);
        let third = Baseline::record(&[finding("a"), finding("c")], Some(&second), &BTreeSet::new(), day("2026-12-01"));
        let expected = Update { added: 1, pruned: 1, kept: 1 };
        assert_eq!(third.since(Some(&second)), expected);
        // An entry without a description.
        let old = r#"{"schemaVersion": 1, "findings": {"x": {"rule": "r", "file": "f", "since": "2026-10-01"}}}"#;
        assert_eq!(Baseline::parse(old).unwrap().leave_out(Vec::new(), &BTreeSet::new()).stale, ["f: r"]);
    }

    #[test]
    fn never_hides_what_makes_the_exit_code() {
        let rejections = [Finding { rejection: true, ..finding("a") }, Finding { stops: true, ..finding("a") }];
        let day = Date::parse("2026-10-01").unwrap();
        let baseline = Baseline::record(&[finding("a")], None, &BTreeSet::new(), day);
        for rejection in rejections {
            assert_eq!(baseline.leave_out(vec![rejection], &BTreeSet::new()).baselined, 0);
        }
    }
}
