//! Converts findings to diagnostics.

use crate::prelude::*;
use std::str::FromStr;

use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, NumberOrString, Uri,
};

use super::places::{Encoding, Lines};
use crate::finding::{Finding, Severity};
use crate::secret::InputText;
use crate::source::Location;
use hcoplan_report::rule_page;

/// The client's display capabilities.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientCapabilities {
    pub(super) encoding: Encoding,
    pub(super) related: bool,
    pub(super) pages: bool,
    pub(super) unnecessary: bool,
    pub(super) deprecated: bool,
}

/// Rules about content without effect, which an editor shows dimmed.
const UNNECESSARY: [&str; 3] = ["ignored-field", "redundant-default", "suppression-unused"];

/// The source of diagnostics.
const SOURCE: &str = "hcoplan";

/// The findings with a location, by file.
pub(super) fn by_file(findings: &[Finding]) -> BTreeMap<Utf8PathBuf, Vec<&Finding>> {
    let mut out: BTreeMap<Utf8PathBuf, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        if let Some(place) = &finding.location {
            let path = place.file.path().to_owned();
            out.entry(path).or_default().push(finding);
        }
    }
    out
}

/// A finding as a diagnostic. `marked` tells whether a file starts with a byte order mark; `address` returns its URI.
pub(super) fn diagnostic(
    finding: &Finding,
    capabilities: ClientCapabilities,
    marked: &dyn Fn(&Utf8Path) -> bool,
    address: &dyn Fn(&Utf8Path) -> String,
) -> Option<Diagnostic> {
    let rule = finding.rule.name;
    let href = || Uri::from_str(&rule_page(rule)).ok();
    let page = href().filter(|_| capabilities.pages);
    let related = finding.related.iter().filter_map(|related| {
        let uri = Uri::from_str(&address(related.location.file.path())).ok()?;
        Some(DiagnosticRelatedInformation {
            location: lsp_types::Location::new(uri, range(&related.location, capabilities, marked)),
            message: InputText::new(&related.message).message().into_owned(),
        })
    });
    let related: Vec<_> = related.filter(|_| capabilities.related).collect();
    let mut tags = Vec::new();
    if capabilities.unnecessary && UNNECESSARY.contains(&rule) {
        tags.push(DiagnosticTag::UNNECESSARY);
    }
    if capabilities.deprecated && rule.contains("deprecated") {
        tags.push(DiagnosticTag::DEPRECATED);
    }
    Some(Diagnostic {
        range: range(finding.location.as_ref()?, capabilities, marked),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Info => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(rule.to_owned())),
        code_description: page.map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message: message(finding),
        related_information: Some(related).filter(|r| !r.is_empty()),
        tags: Some(tags).filter(|t| !t.is_empty()),
        data: None,
    })
}

/// A location as a range.
pub(super) fn range(place: &Location, capabilities: ClientCapabilities, marked: &dyn Fn(&Utf8Path) -> bool) -> Range {
    let lines = Lines::new(place.file.text(), capabilities.encoding);
    let lines = lines.behind_mark(marked(place.file.path()));
    lines.range(place.span)
}

/// The message, with the help below.
fn message(finding: &Finding) -> String {
    let help = finding.help.as_ref().map(|h| format!("\nhelp: {h}"));
    let text = format!("{}{}", finding.message_of_all(), help.unwrap_or_default());
    InputText::new(&text).message().into_owned()
}
