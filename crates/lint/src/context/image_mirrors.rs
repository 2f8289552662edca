//! Where a cluster pulls an image from instead: its mirror configurations.
//!
//! Source: OpenShift's `ImageDigestMirrorSet`, `ImageTagMirrorSet` and `ImageContentSourcePolicy`,
//! which become `registries.conf`: mirrors are tried in order, the source last; the longest source
//! that fits counts; digest mirrors are for references by digest, tag mirrors for those by tag.

use hcoplan_diagnostics::source::Location;
use hcoplan_repository::repo::OtherObjects;
use hcoplan_yaml::Node;

/// The kinds, where each has its list, and whether it is for references by digest.
const KINDS: [(&str, &str, bool); 3] = [
    ("ImageDigestMirrorSet", "spec.imageDigestMirrors", true),
    ("ImageTagMirrorSet", "spec.imageTagMirrors", false),
    ("ImageContentSourcePolicy", "spec.repositoryDigestMirrors", true),
];

/// Every mirror of a cluster.
#[derive(Debug, Default)]
pub(super) struct Mirrors(Vec<Mirrored>);

#[derive(Debug)]
struct Mirrored {
    source: String,
    mirrors: Vec<String>,
    by_digest: bool,
    /// Where it says that the source is never contacted.
    sealed: Option<Location>,
}

impl Mirrors {
    pub(super) fn of(other_objects: &OtherObjects) -> Self {
        let mut out = Vec::new();
        for (kind, list, by_digest) in KINDS {
            for document in other_objects.of_kind(kind) {
                let entries = document.root.below(list);
                for entry in entries.map(Node::items).unwrap_or_default() {
                    let Some(source) = entry.get("source").and_then(Node::as_str) else {
                        continue;
                    };
                    let mirrors = entry.get("mirrors").map(Node::items).unwrap_or_default();
                    out.push(Mirrored {
                        source: source.to_owned(),
                        mirrors: mirrors.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
                        by_digest,
                        sealed: entry
                            .get("mirrorSourcePolicy")
                            .filter(|policy| policy.as_str() == Some("NeverContactSource"))
                            .map(|policy| document.location(policy.span)),
                    });
                }
            }
        }
        Self(out)
    }

    /// Location of the setting by which nodes pull an image from a mirror only.
    pub(super) fn sealed(&self, image: &str) -> Option<&Location> {
        let fitting = self.0.iter().filter(|m| below(image, &m.source).is_some());
        fitting.max_by_key(|m| m.source.len())?.sealed.as_ref()
    }

    /// The references that an image is pulled by, in the order in which they are tried: the last
    /// is its own.
    pub(super) fn references(&self, image: &str) -> Vec<String> {
        let by_digest = image.contains('@');
        let fitting = self.0.iter().filter(|m| m.by_digest == by_digest);
        let fitting = fitting.filter_map(|m| Some((m, below(image, &m.source)?)));
        let longest = fitting.max_by_key(|(m, _)| m.source.len());
        let mirrors = longest.into_iter().flat_map(|(mirrored, rest)| {
            let mirrors = mirrored.mirrors.iter();
            mirrors.map(move |m| format!("{m}{rest}"))
        });
        mirrors.chain([image.to_owned()]).collect()
    }
}

/// What of a reference follows a source: a registry, a namespace or a repository.
fn below<'i>(image: &'i str, source: &str) -> Option<&'i str> {
    let rest = image.strip_prefix(source)?;
    // A port isn't a tag: a registry's name ends before it.
    let ends = match rest.chars().next() {
        Some('/' | '@') => true,
        Some(':') => source.contains('/'),
        _ => false,
    };
    ends.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirrors() -> Mirrors {
        let one = |source: &str, mirrors: &[&str], by_digest| Mirrored {
            source: source.to_owned(),
            mirrors: mirrors.iter().map(|m| (*m).to_owned()).collect(),
            by_digest,
            sealed: None,
        };
        Mirrors(vec![
            one("quay.io", &["m/all"], true),
            one("quay.io/kubevirt", &["m/kv", "n/kv"], true),
            one("quay.io/kubevirt/virt-api", &["m/api"], false),
        ])
    }

    #[test]
    fn mirrors_are_tried_first() {
        for (image, expected) in [
            ("quay.io/x/y@sha256:1", "m/all/x/y@sha256:1 quay.io/x/y@sha256:1"),
            ("quay.io/kubevirt/a@sha256:1", "m/kv/a@sha256:1 n/kv/a@sha256:1 quay.io/kubevirt/a@sha256:1"),
            ("quay.io/kubevirt/a:1", "quay.io/kubevirt/a:1"),
            ("quay.io/kubevirt/virt-api:1", "m/api:1 quay.io/kubevirt/virt-api:1"),
            ("quay.io/kubevirt/virt-api2:1", "quay.io/kubevirt/virt-api2:1"),
            ("quay.io:5000/x@sha256:1", "quay.io:5000/x@sha256:1"),
        ] {
            assert_eq!(mirrors().references(image).join(" "), expected, "{image}");
        }
    }
}
