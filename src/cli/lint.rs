//! `hcoplan lint`: what the rules find.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;

use super::arguments::Sources;
use super::format::{self, Target};
use super::output::Output;
use super::previous_state;
use super::settings::Rules;
use crate::finding::{Finding, FixKind, Group, Rule, Severity};
use crate::lint;
use hcoplan_analysis::{ClusterTask, Exit, Failure};
use hcoplan_report::{Format, Report, Summary};

/// Check the manifests with the rules
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan lint                                 the present repository
  hcoplan lint clusters/prod --release 4.20    one directory, on that release
  hcoplan lint --against origin/main           as an update of the main branch
  hcoplan lint --select golden-images --format json")]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    previous: previous_state::Arguments,

    #[command(flatten)]
    rules: Rules,

    /// How to print the findings, as often as needed: human, concise, json, json-lines, sarif,
    /// github, gitlab, junit, markdown
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,

    /// Print the list of rules instead
    #[arg(long, help_heading = "Rules", conflicts_with = "statistics")]
    list: bool,

    /// Print how often each rule fires instead of the findings
    #[arg(long, help_heading = "Rules")]
    statistics: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    if arguments.list {
        let formats = [Format::Human, Format::Json];
        let targets = format::resolve(&arguments.format, "lint --list", &formats)?;
        return list(&targets, output);
    }
    let targets = if arguments.statistics {
        let formats = [Format::Human, Format::Json];
        format::resolve(&arguments.format, "lint --statistics", &formats)?
    } else {
        format::resolve(&arguments.format, "lint", &Format::ALL)?
    };
    let sources = hcoplan_analysis::Sources { bundles: true, ..arguments.sources.of_analysis() };
    let found = hcoplan_analysis::find(&arguments.previous.sources(sources)?, arguments.previous.files(), output)?;
    let mut settings = arguments.rules.settings(&found)?;
    if found.is_bundle && settings.select.is_empty() {
        settings.select.push(lint::Selector::Group(Group::Bundle));
    }
    let base = arguments.previous.base(&found, output)?;
    let shows_fixes = !arguments.statistics && targets.iter().any(|t| t.format.shows_fixes());
    let selection = lint::Selection::of(&settings);
    let work = ClusterTask {
        lint: Some(if shows_fixes { selection } else { selection.without_fixes() }),
        ..ClusterTask::default()
    };
    let question = arguments.rules.question(&found, &settings, &base, arguments.sources.reading.jobs, work)?;
    let Some(analysis) = question.analyse(output, |_, _| {})? else {
        return Ok(found.verdict);
    };
    let findings = &analysis.findings;
    for target in &targets {
        if target.format == Format::Human && findings.is_empty() {
            continue;
        }
        if arguments.statistics {
            let text = statistics(findings.findings(), findings.summary(), target.format);
            target.write(text.as_bytes(), output)?;
            continue;
        }
        let text = Report::of(findings, target.terminal(output)).text(target.format);
        target.write(&text, output)?;
    }
    Ok(analysis.verdict)
}

/// Every rule, one a line.
fn list(targets: &[Target], output: &mut Output) -> Result<Exit, Failure> {
    for target in targets {
        let text: String = match target.format {
            Format::Human => human(),
            _ => {
                let rules = lint::rules().iter().map(|r| r.rule);
                let list: serde_json::Value = rules
                    .map(|r| {
                        json!({
                            "name": r.name, "group": r.group.as_str(),
                            "severity": r.severity.as_str(),
                            "confidence": r.confidence.as_str(),
                            "releases": r.releases, "pedantic": r.pedantic,
                            "fix": r.fix.as_str(), "summary": r.summary,
                        })
                    })
                    .collect();
                format!("{list}\n")
            }
        };
        target.write(text.as_bytes(), output)?;
    }
    Ok(Exit::default())
}

/// Every rule, by group.
fn human() -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let rules = lint::rules().iter().map(|r| r.rule);
        let mut of_group: Vec<&Rule> = rules.filter(|r| r.group == group).collect();
        of_group.sort_by_key(|r| r.name);
        if !of_group.is_empty() {
            text.push_str(&table(group, &of_group));
        }
    }
    text.push_str("! fixed by hcoplan fix --write, ~ with --unsafe, ? with --choose\n");
    text
}

/// The rules of a group: severity, name, fix, what it finds.
fn table(group: Group, rules: &[&Rule]) -> String {
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

/// How often each rule fires with which severity, the most frequent first, and what that adds up to.
fn statistics(findings: &[Finding], summary: &Summary, format: Format) -> String {
    let mut counts: BTreeMap<(&str, Severity), usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry((finding.rule.name, finding.severity)).or_default() += 1;
    }
    let mut rows: Vec<((&str, Severity), usize)> = counts.into_iter().collect();
    rows.sort_by_key(|((rule, severity), n)| (Reverse(*n), *rule, Reverse(*severity)));
    let (total, clusters) = (findings.len(), summary.clusters);
    let (suppressed, baselined) = (summary.suppressed, summary.baselined);
    if format == Format::Json {
        let rows: Vec<_> = rows
            .iter()
            .map(|((rule, severity), n)| json!({"rule": rule, "count": n, "severity": severity.as_str()}))
            .collect();
        let document = json!({
            "schemaVersion": "1", "statistics": rows, "total": total, "clusters": clusters,
            "suppressed": suppressed, "baselined": baselined,
        });
        return format!("{document}\n");
    }
    let mut text: String =
        rows.iter().map(|((rule, severity), n)| format!("{n:>6}  {:<7}  {rule}\n", severity.as_str())).collect();
    text.push_str(&format!("{total:>6}  in all, in {clusters} clusters"));
    for (count, what) in [(suppressed, "suppressed"), (baselined, "hidden by the baseline")] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_rule_once() {
        let text = human();
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
        let findings = [
            Finding::new(rule("status-in-git"), "m").severity(Severity::Warning),
            Finding::new(rule("null-section"), "m").severity(Severity::Warning),
            Finding::new(rule("null-section"), "m").severity(Severity::Error),
            Finding::new(rule("hco-name-invalid"), "m").severity(Severity::Info),
        ];
        let summary = Summary { clusters: 2, suppressed: 5, ..Summary::default() };
        let text = statistics(&findings, &summary, Format::Human);
        let expected = "     1  info     hco-name-invalid
     1  error    null-section
     1  warning  null-section
     1  warning  status-in-git
     4  in all, in 2 clusters, 5 suppressed
";
        assert_eq!(text, expected);
    }
}
