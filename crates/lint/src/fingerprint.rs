//! Identifies a finding independent of its line.

use crate::prelude::*;
use std::fmt::Write;

use hcoplan_diagnostics::finding::FindingKey;
use sha2::{Digest, Sha256};

/// The fingerprints of findings, from key and cluster. Needs all findings of a run at once, to make them unique.
pub fn fingerprints(findings: &[Finding]) -> Vec<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let keys = FindingKey::of_all(findings).into_iter().zip(findings);
    keys.map(|((_, key), finding)| {
        let print = fingerprint(finding, &FindingKey { ordinal: 0, ..key.clone() });
        let times = seen.entry(print.clone()).or_default();
        *times += 1;
        match *times {
            1 => print,
            again => fingerprint(finding, &FindingKey { ordinal: again, ..key }),
        }
    })
    .collect()
}

fn fingerprint(finding: &Finding, key: &FindingKey) -> String {
    let FindingKey { rule, object, path, arguments, ordinal } = key;
    // Adding a cluster to a shared finding doesn't change it.
    let cluster = finding.cluster.as_ref().filter(|_| finding.also.is_empty()).map(ClusterName::id);
    let file = finding.file().filter(|_| finding.cluster.is_none()).map(Utf8Path::as_str);
    let fixed = [Some(*rule), object.as_deref(), path.as_deref(), cluster, file];
    let mut hash = Sha256::new();
    for part in fixed.into_iter().map(Option::unwrap_or_default).chain(arguments.iter().map(String::as_str)) {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.update(ordinal.to_le_bytes());
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
    fn fingerprints_ignore_lines_and_are_unique() {
        let here = fingerprints(&[finding("x: 1", 0), finding("x: 1", 0)]);
        let moved = fingerprints(&[finding("\n\nx: 1", 2)]);
        assert_eq!(here[0], moved[0]);
        assert_ne!(here[0], here[1]);
        assert_ne!(here[0], fingerprints(&[finding("y: 1", 0)])[0]);
        assert_eq!(here[0].len(), 64);
    }
}
