//! The identity of a finding: used to find new and existing ones, in the baseline, in grouping and in
//! fingerprints.

use super::{ClusterName, Finding, Severity};
use crate::prelude::*;
use hcoplan_yaml::Path;

/// The number of bytes of a value that count.
const MAX_VALUE_BYTES: usize = 200;

/// The identity of a finding, independent of line, file and wording.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingKey {
    /// The rule's name.
    pub rule: &'static str,
    /// The object, `Kind namespace/name`; of a HyperConverged only the kind.
    pub object: Option<Arc<str>>,
    /// The path of the field, as far as it is known; of findings of two revisions only its name: a list's item may have
    /// got another index, the field another place in the other API version or behind an alias.
    pub path: Option<String>,
    /// Its subject: what the rule names, else the value at its location.
    pub arguments: Vec<String>,
    /// Its number among the findings of a cluster that are equal in all of that.
    pub ordinal: u32,
}

impl FindingKey {
    /// The keys of findings, each with its cluster. It numbers equal findings, so pass all findings of a run at once,
    /// in their order.
    pub fn of_all(findings: &[Finding]) -> Vec<(Option<ClusterName>, Self)> {
        numbered(findings, |finding| finding.cluster.clone()).collect()
    }

    /// The key of one finding, as if no other were equal.
    pub fn of(finding: &Finding) -> Self {
        let lacks = finding.lacks();
        let arguments = match finding.arguments.as_slice() {
            [] if lacks.is_some() => Vec::new(),
            [] => {
                let text = finding.location.as_ref().map_or("", |place| place.text());
                let text = text.trim().trim_matches(['"', '\'']);
                let is_value = !text.is_empty() && text.len() <= MAX_VALUE_BYTES && !text.contains('\n');
                is_value.then(|| text.to_owned()).into_iter().collect()
            }
            arguments => arguments.to_vec(),
        };
        Self {
            rule: finding.rule.name,
            // The cluster's own HyperConverged is the same object under another name or in another namespace.
            object: match finding.kind_of_object() {
                Some(own @ "HyperConverged") => Some(own.into()),
                _ => finding.object.clone(),
            },
            path: finding.field().map(ToString::to_string),
            arguments,
            ordinal: 0,
        }
    }
}

impl Finding {
    /// The field that isn't written. Its place moves when others are written.
    fn lacks(&self) -> Option<&Path> {
        self.location.as_ref()?.lacks.as_deref()
    }

    fn field(&self) -> Option<&Path> {
        self.lacks().or(self.path.as_ref())
    }
}

/// Marks a cluster's findings that existed before with the same severity. A rejection isn't marked where the change
/// touches its cluster.
pub fn mark_existing(findings: &mut [Finding], before: &[Finding], is_touched: bool) {
    let severities = before.iter().map(|f| f.severity);
    let known: BTreeMap<FindingKey, Severity> = keys(before).zip(severities).collect();
    let own: Vec<FindingKey> = keys(findings).collect();
    for (finding, key) in findings.iter_mut().zip(own) {
        let is_known = known.get(&key).is_some_and(|severity| *severity >= finding.severity);
        finding.is_existing = is_known && !(finding.rejection && is_touched);
    }
}

/// A cluster's findings before the change that don't exist after it.
pub fn without_existing(before: &[Finding], after: &[Finding]) -> Vec<Finding> {
    let known: BTreeSet<FindingKey> = keys(after).collect();
    let gone = before.iter().zip(keys(before)).filter(|(_, key)| !known.contains(key));
    gone.map(|(finding, _)| finding.clone()).collect()
}

/// The keys of one cluster's findings, independent of the cluster's name.
fn keys(findings: &[Finding]) -> impl Iterator<Item = FindingKey> {
    numbered(findings, |_| ()).map(|(_, key)| key)
}

/// The keys of findings, equal ones of a group numbered in their order.
fn numbered<G: Ord + Clone>(
    findings: &[Finding],
    group: impl Fn(&Finding) -> G,
) -> impl Iterator<Item = (G, FindingKey)> {
    let mut seen: BTreeMap<(G, FindingKey), u32> = BTreeMap::new();
    findings.iter().map(move |finding| {
        let mut key = (group(finding), FindingKey::of(finding));
        key.1.path = finding.field().and_then(|path| path.keys().last()).map(ToOwned::to_owned);
        let times = seen.entry(key.clone()).or_default();
        key.1.ordinal = *times;
        *times += 1;
        key
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Rule;
    use crate::source::{Location, SourceFile, Span};

    static RULE: Rule = Rule { name: "some-rule", ..Rule::BASE };

    fn finding(text: &str, words: &str) -> Finding {
        let file = SourceFile::new("a.yaml", text);
        let at = text.find("no").expect("the value");
        Finding::new(&RULE, words).at(Location::new(&file, Span::new(at, at + 2)))
    }

    #[test]
    fn keys_ignore_line_file_cluster_and_wording() {
        let (here, there) = (finding("a: no\n", "no is no"), finding("# more\n\na: no\n", "another sentence"));
        let mut after = vec![Finding { cluster: Some("moved".into()), ..there }];
        mark_existing(&mut after, std::slice::from_ref(&here), true);
        assert!(after[0].is_existing);
        // A second equal finding is new.
        let mut two = vec![here.clone(), here.clone()];
        mark_existing(&mut two, std::slice::from_ref(&here), true);
        assert_eq!(two.iter().map(|f| f.is_existing).collect::<Vec<_>>(), [true, false]);
        assert_eq!(without_existing(&two, std::slice::from_ref(&here)).len(), 1);
        // So is another value.
        let mut other = vec![Finding { arguments: vec!["yes".to_owned()], ..here.clone() }];
        mark_existing(&mut other, &[here], true);
        assert!(!other[0].is_existing);
    }

    #[test]
    fn keys_of_absent_fields_ignore_other_fields() {
        let keys = ["spec: no\n", "spec:\n  gates:\n    no: 1\n"].map(|text| {
            let found = finding(text, "it is off");
            let place = found.location.clone().expect("a place").lacking(Path::dotted("spec.gates.x"));
            FindingKey::of(&found.at(place))
        });
        assert_eq!(keys[0], keys[1]);
        assert_eq!(keys[0].path.as_deref(), Some("spec.gates.x"));
    }

    #[test]
    fn keys_of_two_revisions_ignore_where_the_field_is() {
        let at = |path: &str, words: &str| Finding { path: Some(Path::dotted(path)), ..finding("a: no\n", words) };
        let before = [at("spec.infra.nodePlacement.tolerations[0].operator", "no is no")];
        let mut after = vec![at("spec.deployment.nodePlacements.infra.tolerations[1].operator", "no is none")];
        mark_existing(&mut after, &before, true);
        assert!(after[0].is_existing);
        let mut other = vec![at("spec.infra.nodePlacement.tolerations[0].effect", "no is no")];
        mark_existing(&mut other, &before, true);
        assert!(!other[0].is_existing, "another field");
    }

    #[test]
    fn a_rejection_of_a_changed_cluster_is_new() {
        let rejection = Finding { rejection: true, ..finding("a: no\n", "it is rejected") };
        for is_touched in [true, false] {
            let mut after = vec![rejection.clone()];
            mark_existing(&mut after, std::slice::from_ref(&rejection), is_touched);
            assert_eq!(after[0].is_existing, !is_touched);
        }
    }
}
