//! Mirrors from which a cluster pulls images.
//!
//! Source: OpenShift's `ImageDigestMirrorSet`, `ImageTagMirrorSet` and `ImageContentSourcePolicy`,
//! which become `registries.conf`: mirrors are tried in order, the source last; the longest source
//! that fits counts; digest mirrors are for references by digest, tag mirrors for those by tag. What oc-mirror fills a
//! mirror with is `additionalImages` of its `ImageSetConfiguration`, in addition to releases and operators.

use super::image_output::{plain, repository, tag};
use super::prelude::*;

/// The kinds, the paths of their lists, and whether they apply to references by digest.
static KINDS: Rows<(&str, &str, bool)> = Rows::of("mirrorKinds");

/// Every mirror of a cluster.
#[derive(Debug, Default)]
pub(super) struct Mirrors {
    all: Vec<Mirrored>,
    /// The images copied by oc-mirror, and the location of the first list.
    copied: Option<(Vec<String>, Location)>,
}

#[derive(Debug)]
struct Mirrored {
    source: String,
    mirrors: Vec<String>,
    by_digest: bool,
    /// The location of the setting that the source is never contacted.
    sealed: Option<Location>,
}

impl Mirrors {
    pub(super) fn of(other_objects: &OtherObjects) -> Self {
        let mut out = Vec::new();
        for &(kind, list, by_digest) in KINDS.iter() {
            for document in other_objects.of_kind(kind) {
                let entries = document.root.below(list);
                for entry in items(entries) {
                    let Some(source) = entry.text_at("source") else {
                        continue;
                    };
                    let mirrors = entry.list_at("mirrors");
                    out.push(Mirrored {
                        source: source.to_owned(),
                        mirrors: strings(mirrors).map(str::to_owned).collect(),
                        by_digest,
                        sealed: entry
                            .get("mirrorSourcePolicy")
                            .filter(|policy| policy.as_str() == Some("NeverContactSource"))
                            .map(|policy| document.location(policy.span)),
                    });
                }
            }
        }
        Self { all: out, copied: copied(other_objects) }
    }

    /// The location of the setting that nodes pull an image only from a mirror.
    pub(super) fn sealed(&self, image: &str) -> Option<&Location> {
        let fitting = self.all.iter().filter(|m| below(image, &m.source).is_some());
        fitting.max_by_key(|m| m.source.len())?.sealed.as_ref()
    }

    /// The location of oc-mirror's list of images, for an image that is pulled only from a mirror and isn't listed.
    pub(super) fn not_copied(&self, image: &str) -> Option<&Location> {
        let (copied, place) = self.copied.as_ref()?;
        let from_mirror = self.all.iter().flat_map(|m| m.mirrors.iter().map(move |mirror| (m, mirror)));
        let mut origins = from_mirror.filter_map(|(m, mirror)| Some(format!("{}{}", m.source, below(image, mirror)?)));
        let origin = origins.next().or_else(|| self.sealed(image).map(|_| image.to_owned()))?;
        let is_copied = copied.iter().any(|copy| is_same(copy, &origin));
        (!is_copied).then_some(place)
    }

    /// The references tried for an image, in order; its own is the last.
    pub(super) fn references(&self, image: &str) -> Vec<String> {
        let by_digest = image.contains('@');
        let fitting = self.all.iter().filter(|m| m.by_digest == by_digest);
        let fitting = fitting.filter_map(|m| Some((m, below(image, &m.source)?)));
        let longest = fitting.max_by_key(|(m, _)| m.source.len());
        let mirrors = longest.into_iter().flat_map(|(mirrored, rest)| {
            let mirrors = mirrored.mirrors.iter();
            mirrors.map(move |m| format!("{m}{rest}"))
        });
        mirrors.chain([image.to_owned()]).collect()
    }
}

/// The images of all lists of oc-mirror.
fn copied(other_objects: &OtherObjects) -> Option<(Vec<String>, Location)> {
    let sets = other_objects.of_kind("ImageSetConfiguration").iter();
    let ours: Vec<_> = sets.filter(|d| d.text("apiVersion").starts_with("mirror.openshift.io/")).collect();
    let place = ours.first()?.locate_key(&Path::dotted("mirror.additionalImages"));
    let lists = ours.iter().filter_map(|d| d.root.below("mirror.additionalImages"));
    let names = lists.flat_map(Node::items).filter_map(|entry| entry.text_at("name"));
    Some((names.map(str::to_owned).collect(), place))
}

/// Whether two references mean one image; a digest may be any image of its repository.
fn is_same(a: &str, b: &str) -> bool {
    let repositories = [a, b].map(|r| plain(repository(r)));
    let is_pinned = a.contains('@') || b.contains('@');
    repositories[0] == repositories[1] && (is_pinned || tag(a) == tag(b))
}

/// The rest of a reference below a source: a registry, a namespace or a repository.
fn below<'i>(image: &'i str, source: &str) -> Option<&'i str> {
    let rest = image.strip_prefix(source)?;
    // The port of a registry isn't a tag.
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
        let all = vec![
            one("quay.io", &["m/all"], true),
            one("quay.io/kubevirt", &["m/kv", "n/kv"], true),
            one("quay.io/kubevirt/virt-api", &["m/api"], false),
        ];
        Mirrors { all, copied: None }
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
