//! `hcoplan lint`: what the rules find.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;

use super::arguments::Sources;
use super::exit::Verdict;
use super::failure::Failure;
use super::format::{self, Target};
use super::output::Output;
use super::settings::Rules;
use super::{clusters, held, tree};
use crate::app::Work;
use crate::finding::{Finding, FixKind, Group, Rule, Severity};
use crate::lint;
use crate::report::Format;

/// Check the manifests against what the cluster would make of them
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    held: held::Arguments,

    #[command(flatten)]
    rules: Rules,

    /// How to print the findings, as often as needed: human, concise, json, json-lines, sarif,
    /// github, gitlab, junit, rdjson, markdown
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,

    /// Print the rules there are instead
    #[arg(long, help_heading = "Rules", conflicts_with = "statistics")]
    list: bool,

    /// Print how often each rule fires instead of the findings
    #[arg(long, help_heading = "Rules")]
    statistics: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    if arguments.list {
        let formats = [Format::Human, Format::Json];
        let targets = format::resolve(&arguments.format, "lint --list", &formats)?;
        return list(&targets, output);
    }
    let targets = match arguments.statistics {
        true => {
            let formats = [Format::Human, Format::Json];
            format::resolve(&arguments.format, "lint --statistics", &formats)?
        }
        false => format::resolve(&arguments.format, "lint", &Format::ALL)?,
    };
    let found = clusters::find(&arguments.sources, arguments.held.files(), output)?;
    let settings = arguments.rules.settings(&found)?;
    let held = arguments.held.open(&found, output)?;
    let work = Work {
        held: held.as_ref(),
        update: arguments.held.update(),
        lint: Some(&settings),
        ..Work::default()
    };
    let mut verdict = found.verdict;
    let findings = found.each(
        &work,
        arguments.sources.jobs,
        output,
        |outcome, progress| {
            progress.aside(|| tree::say(outcome, &mut verdict, output));
        },
    );
    let settled = findings.settle(arguments.rules.baseline(), &settings, &found.root, output)?;
    verdict.failed |= settled.fail(arguments.rules.fail_on(found.repo.config()));
    for target in &targets {
        if target.format == Format::Human && settled.is_empty() {
            continue;
        }
        if arguments.statistics {
            let text = statistics(settled.findings(), target.format);
            target.write(text.as_bytes(), output)?;
            continue;
        }
        let text = settled.text(target.format, target.terminal(output));
        target.write(&text, output)?;
    }
    Ok(verdict)
}

/// Every rule, one a line.
fn list(targets: &[Target], output: &mut Output) -> Result<Verdict, Failure> {
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
    Ok(Verdict::default())
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
    text.push_str("! hcoplan fix --write mends it, ~ with --unsafe, ? shows ways to choose from\n");
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
        out.push_str(&format!(
            "  {severity:<7} {name:<width$} {fix} {summary}{pedantic}\n"
        ));
    }
    out.push('\n');
    out
}

/// How often each rule fires, the most frequent first.
fn statistics(findings: &[Finding], format: Format) -> String {
    let mut counts: BTreeMap<&str, (usize, Severity)> = BTreeMap::new();
    for finding in findings {
        let entry = counts.entry(finding.rule.name);
        let (count, worst) = entry.or_insert((0, finding.severity));
        *count += 1;
        *worst = finding.severity.max(*worst);
    }
    let mut rows: Vec<(&str, usize, Severity)> = counts
        .into_iter()
        .map(|(rule, (n, worst))| (rule, n, worst))
        .collect();
    rows.sort_by_key(|(rule, n, _)| (std::cmp::Reverse(*n), *rule));
    if format == Format::Json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(rule, n, worst)| json!({"rule": rule, "count": n, "severity": worst.as_str()}))
            .collect();
        return format!("{}\n", json!({"schemaVersion": "1", "statistics": rows}));
    }
    let rows = rows.iter();
    rows.map(|(rule, n, worst)| format!("{n:>6}  {:<7}  {rule}\n", worst.as_str()))
        .collect()
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
        assert!(
            text.contains("warning multi-arch-boot-images-disabled"),
            "{text}"
        );
    }

    #[test]
    fn statistics_begin_with_the_most_frequent() {
        let rule = |name| lint::find(name).expect("a rule").rule;
        let findings = [
            Finding::new(rule("status-in-git"), "m"),
            Finding::new(rule("null-section"), "m"),
            Finding::new(rule("null-section"), "m").severity(Severity::Error),
            Finding::new(rule("hco-name-invalid"), "m").severity(Severity::Info),
        ];
        let text = statistics(&findings, Format::Human);
        let expected = "     2  error    null-section\n     1  info     hco-name-invalid\n";
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(statistics(&[], Format::Human), "");
    }
}
