//! Output of `hcoplan lint --list` and `--statistics`: the rules, and the number of findings of each.

use crate::prelude::*;
use hcoplan_analysis::FinalFindings;
use hcoplan_diagnostics::finding::{FixKind, Group};
use std::cmp::Reverse;

/// All rules as JSON.
pub fn list() -> Value {
    let one = |r: &Rule| {
        json!({
            "name": r.name, "group": r.group.as_str(),
            "severity": r.severity.as_str(),
            "confidence": r.confidence.as_str(),
            "since": r.since, "until": r.until, "pedantic": r.pedantic,
            "fix": r.fix.as_str(), "summary": r.summary,
        })
    };
    lint::rules().iter().map(|r| one(r.rule)).collect()
}

/// All rules by group, for people.
pub fn table() -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let rules = lint::rules().iter().map(|r| r.rule);
        let mut of_group: Vec<&Rule> = rules.filter(|r| r.group == group).collect();
        of_group.sort_by_key(|r| r.name);
        if !of_group.is_empty() {
            text.push_str(&of_one(group, &of_group));
        }
    }
    text.push_str("! fixed by hcoplan fix --write, ~ with --unsafe, ? with --choose\n");
    text
}

/// The rules of a group: severity, name, fix, summary.
fn of_one(group: Group, rules: &[&Rule]) -> String {
    let mut out = format!("{}\n", group.as_str());
    let width = rules.iter().map(|r| r.name.len()).max().unwrap_or(0);
    for rule in rules {
        let fix = match rule.fix {
            FixKind::None => " ",
            FixKind::Suggested => "?",
            FixKind::Unsafe => "~",
            FixKind::Safe => "!",
        };
        let pedantic = if rule.pedantic { " (pedantic)" } else { "" };
        let (severity, name, summary) = (rule.severity.as_str(), rule.name, rule.summary);
        out.push_str(&format!("  {severity:<7} {name:<width$} {fix} {summary}{pedantic}\n"));
    }
    out.push('\n');
    out
}

/// The number of findings by rule and severity.
#[derive(Debug)]
pub struct Statistics<'a> {
    /// The most frequent first.
    rows: Vec<((&'a str, Severity), usize)>,
    findings: &'a FinalFindings,
}

impl<'a> Statistics<'a> {
    /// Counts findings.
    pub fn of(findings: &'a FinalFindings) -> Self {
        let mut counts: BTreeMap<(&str, Severity), usize> = BTreeMap::new();
        for finding in findings.findings() {
            *counts.entry((finding.rule.name, finding.severity)).or_default() += 1;
        }
        let mut rows: Vec<_> = counts.into_iter().collect();
        rows.sort_by_key(|((rule, severity), n)| (Reverse(*n), *rule, Reverse(*severity)));
        Self { rows, findings }
    }

    /// The document of `hcoplan schema statistics`.
    pub fn document(&self) -> Value {
        let row = |((rule, severity), n): &((&str, Severity), usize)| json!({"rule": rule, "count": n, "severity": severity.as_str()});
        let summary = self.findings.summary();
        json!({
            "schemaVersion": "1", "statistics": self.rows.iter().map(row).collect::<Vec<_>>(),
            "total": self.findings.findings().len(), "clusters": summary.clusters,
            "suppressed": summary.suppressed, "baselined": summary.baselined,
        })
    }

    /// The counts and the total, for people.
    pub fn text(&self) -> String {
        let row =
            |((rule, severity), n): &((&str, Severity), usize)| format!("{n:>6}  {:<7}  {rule}\n", severity.as_str());
        let summary = self.findings.summary();
        let mut text: String = self.rows.iter().map(row).collect();
        let total = self.findings.findings().len();
        text.push_str(&format!("{total:>6}  in all, in {} clusters", summary.clusters));
        for (count, what) in [(summary.suppressed, "suppressed"), (summary.baselined, "hidden by the baseline")] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use hcoplan_diagnostics::finding::Finding;

    use super::*;

    #[test]
    fn the_table_has_every_rule_once() {
        let text = table();
        for rule in lint::rules().iter().map(|r| r.rule) {
            let lines = text.lines().map(|l| l.split_whitespace().nth(1));
            let count = lines.filter(|name| *name == Some(rule.name)).count();
            assert_eq!(count, 1, "{}", rule.name);
        }
        assert!(text.starts_with("heterogeneous\n"), "{text}");
        assert!(text.contains("warning multi-arch-boot-images-disabled"), "{text}");
    }

    #[test]
    fn statistics_begin_with_the_most_frequent() {
        let rule = |name| lint::find(name).expect("a rule").rule;
        let findings = vec![
            Finding::new(rule("status-in-git"), "m").warning(),
            Finding::new(rule("null-section"), "m").warning(),
            Finding::new(rule("null-section"), "m").error(),
            Finding::new(rule("hco-name-invalid"), "m").info(),
        ];
        let findings = FinalFindings::new(findings, Utf8Path::new("."));
        let expected = "     1  info     hco-name-invalid
     1  error    null-section
     1  warning  null-section
     1  warning  status-in-git
     4  in all, in 0 clusters
";
        assert_eq!(Statistics::of(&findings).text(), expected);
    }
}
