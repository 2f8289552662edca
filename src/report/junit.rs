//! JUnit XML: a suite per file, a case per finding; a clean run has one passing case.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::Report;
use crate::finding::{Finding, Severity};
use crate::secret::InputText;

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut suites: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    for finding in report.findings {
        let file = finding.location.as_ref().map(|l| report.path(&l.file));
        let name = file.map(String::from).or_else(|| finding.cluster.clone());
        suites
            .entry(name.unwrap_or_default())
            .or_default()
            .push(finding);
    }
    let tests = report.findings.len().max(1);
    let failures = report.findings.iter().filter(|f| fails(f)).count();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuites name="hcoplan" tests="{tests}" failures="{failures}" errors="0">"#
    )?;
    if suites.is_empty() {
        writeln!(
            out,
            r#"  <testsuite name="hcoplan" tests="1" failures="0" errors="0">"#
        )?;
        let name = escape(&report.totals());
        writeln!(out, r#"    <testcase name="{name}" classname="hcoplan"/>"#)?;
        writeln!(out, "  </testsuite>")?;
    }
    for (file, findings) in &suites {
        let failures = findings.iter().filter(|f| fails(f)).count();
        writeln!(
            out,
            r#"  <testsuite name="{}" package="hcoplan" tests="{}" failures="{failures}" errors="0">"#,
            escape(file),
            findings.len(),
        )?;
        for finding in findings {
            case(report, file, finding, out)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

/// Notes pass: they are worth knowing, not mending.
fn fails(finding: &Finding) -> bool {
    finding.severity > Severity::Info
}

fn case(report: &Report<'_>, file: &str, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    // The place is in the text: readers know no attribute for it.
    let place = finding.location.as_ref().map(|l| {
        let start = l.start();
        let path = report.path(&l.file);
        format!("{path}:{}:{}: ", start.line, start.column)
    });
    write!(
        out,
        r#"    <testcase name="{}" classname="{}""#,
        escape(finding.rule.name),
        escape(file)
    )?;
    let place = place.unwrap_or_default();
    let help = finding.help.as_deref().map(|h| format!("\n{h}"));
    let text = format!("{place}{}{}", finding.message, help.unwrap_or_default());
    if fails(finding) {
        writeln!(out, ">")?;
        writeln!(
            out,
            r#"      <failure type="{}" message="{}">{}</failure>"#,
            finding.severity.as_str(),
            escape(&finding.message),
            escape(&text),
        )?;
    } else {
        writeln!(out, ">")?;
        writeln!(out, "      <system-out>{}</system-out>", escape(&text))?;
    }
    writeln!(out, "    </testcase>")
}

fn escape(text: &str) -> String {
    InputText::new(text).xml()
}
