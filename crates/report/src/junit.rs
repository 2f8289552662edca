//! JUnit XML: a case per cluster, and one for findings of the repository. A case fails if its findings fail the run, so
//! that the report agrees with the exit code.

use crate::Report;
use crate::prelude::*;

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    // The repository's case comes first: `None` sorts before all names.
    let mut cases: BTreeMap<Option<&str>, Vec<&Finding>> = BTreeMap::new();
    for name in &report.summary.names {
        cases.entry(Some(name)).or_default();
    }
    for finding in report.annotated() {
        let clusters = finding.clusters().map(Some);
        let none = finding.cluster.is_none().then_some(None);
        for cluster in clusters.chain(none) {
            cases.entry(cluster).or_default().push(finding);
        }
    }
    if cases.is_empty() {
        cases.entry(None).or_default();
    }
    let tests = cases.len();
    let failures = cases.values().filter(|findings| findings.iter().any(|f| fails(report, f))).count();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<testsuites name="hcoplan" tests="{tests}" failures="{failures}" errors="0">"#)?;
    writeln!(out, r#"  <testsuite name="hcoplan" tests="{tests}" failures="{failures}" errors="0">"#)?;
    for (cluster, findings) in &cases {
        case(report, *cluster, findings, out)?;
    }
    writeln!(out, "  </testsuite>")?;
    writeln!(out, "</testsuites>")
}

/// Whether a finding fails the run.
fn fails(report: &Report<'_>, finding: &Finding) -> bool {
    let from = report.summary.fail_on;
    finding.rejection || from.is_some_and(|from| finding.severity >= from)
}

fn case(report: &Report<'_>, cluster: Option<&str>, findings: &[&Finding], out: &mut dyn Write) -> io::Result<()> {
    let (name, class) = match cluster {
        Some(name) => (escape(name), "hcoplan.cluster"),
        None => ("repository".to_owned(), "hcoplan"),
    };
    let (failing, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(|f| fails(report, f));
    if findings.is_empty() {
        return writeln!(out, r#"    <testcase name="{name}" classname="{class}"/>"#);
    }
    writeln!(out, r#"    <testcase name="{name}" classname="{class}">"#)?;
    if let Some(worst) = failing.iter().max_by_key(|f| (f.severity, std::cmp::Reverse(f.rule.name))) {
        writeln!(
            out,
            r#"      <failure type="{}" message="{}">{}</failure>"#,
            worst.severity.as_str(),
            escape(&worst.message),
            escape(&texts(report, &failing)),
        )?;
    }
    if !others.is_empty() {
        let text = escape(&texts(report, &others));
        writeln!(out, "      <system-out>{text}</system-out>")?;
    }
    writeln!(out, "    </testcase>")
}

/// All findings with their locations, since JUnit has no attribute for locations.
fn texts(report: &Report<'_>, findings: &[&Finding]) -> String {
    let text = |finding: &&Finding| {
        let place = finding.location.as_ref().map(|l| format!("{}:{}: ", report.path(&l.file), l.start()));
        let (severity, rule) = (finding.severity.as_str(), finding.rule.name);
        let place = place.unwrap_or_default();
        let advice: String = finding.advice().iter().map(|line| format!("\n  {line}")).collect();
        format!("{place}{severity}[{rule}] {}{advice}", finding.message)
    };
    joined(findings.iter().map(text), "\n")
}

fn escape(text: &str) -> String {
    InputText::new(text).xml()
}
