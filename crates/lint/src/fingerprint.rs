//! What tells a finding from another one, wherever it moves to.

use std::collections::BTreeMap;
use std::fmt::Write;

use hcoplan_diagnostics::finding::Finding;
use sha2::{Digest, Sha256};

/// How much of the text that a finding points at counts.
const MOST: usize = 200;

/// A fingerprint for each finding: the same as long as rule, file, object, cluster and the text
/// that is pointed at stay, whatever line they are on. No two are equal.
pub fn fingerprints(findings: &[Finding]) -> Vec<String> {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    findings
        .iter()
        .map(|finding| {
            let first = fingerprint(finding, 0);
            let times = seen.entry(first.clone()).or_default();
            *times += 1;
            match *times {
                1 => first,
                again => fingerprint(finding, again),
            }
        })
        .collect()
}

fn fingerprint(finding: &Finding, occurrence: u64) -> String {
    let place = finding.location.as_ref();
    let text = place.map_or("", |l| l.text());
    let text = text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end]);
    let parts = [
        finding.rule.name,
        place.map_or("", |l| l.file.path().as_str()),
        finding.object.as_deref().unwrap_or(""),
        // Another cluster more doesn't make it another finding.
        if finding.also.is_empty() { finding.cluster.as_deref().unwrap_or("") } else { "" },
        text,
    ];
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.update(occurrence.to_le_bytes());
    let mut out = String::new();
    for byte in hash.finalize() {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::{Location, SourceFile, Span};

    use super::*;
    use crate::find;

    fn finding(text: &str, at: usize) -> Finding {
        let file = SourceFile::new("a.yaml", text);
        let rule = find("jsonpatch-present").unwrap().rule;
        Finding::new(rule, "m").at(Location::new(&file, Span::new(at, at + 1)))
    }

    #[test]
    fn lines_do_not_count_and_none_are_equal() {
        let here = fingerprints(&[finding("x: 1", 0), finding("x: 1", 0)]);
        let moved = fingerprints(&[finding("\n\nx: 1", 2)]);
        assert_eq!(here[0], moved[0]);
        assert_ne!(here[0], here[1]);
        assert_ne!(here[0], fingerprints(&[finding("y: 1", 0)])[0]);
        assert_eq!(here[0].len(), 64);
    }
}
