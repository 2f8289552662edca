//! Output of `hcoplan lint --list`.

use crate::prelude::*;
use crate::words::word;
use hcoplan_diagnostics::finding::Group;

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
        let fix = word("fix", rule.fix.as_str());
        let pedantic = if rule.pedantic { " (pedantic)" } else { "" };
        let (severity, name, summary) = (rule.severity.as_str(), rule.name, rule.summary);
        out.push_str(&format!("  {severity:<7} {name:<width$} {fix} {summary}{pedantic}\n"));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
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
}
