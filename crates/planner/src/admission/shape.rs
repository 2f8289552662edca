//! Paths of the fields that the webhooks check, by API version.

use crate::hyperconverged::MOVES;
use crate::prelude::*;
use crate::release::Release;

/// The paths of the fields that the webhooks examine, in one version.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) release: &'a Release,
    pub(super) version: &'a str,
}

impl<'a> Shape<'a> {
    /// The path of the field with a role of `fields.json`.
    pub(super) fn path(self, role: &str) -> &'a str {
        self.release.atlas().path_of(role, self.version)
    }
}

/// The path of the feature gates in every version.
pub(super) const GATES: &str = "spec.featureGates";

/// The value at a dotted path; null counts as absent, like a nil pointer in Go.
pub(super) use hcoplan_kubernetes::tree::get as at;

/// The string at a dotted path, empty when absent.
pub(super) fn text<'v>(object: &'v Value, path: &str) -> &'v str {
    hcoplan_kubernetes::tree::text(at(object, path))
}

/// The list at a dotted path, empty when absent.
pub(super) fn list<'v>(object: &'v Value, path: &str) -> &'v [Value] {
    elements(at(object, path)).as_slice()
}

/// Parses a path from a Go decoder or a message, such as `spec.a[0].b`. Keys may contain dots, so the longest existing
/// key wins.
pub(super) fn parse_path(object: &Value, text: &str) -> Path {
    let mut path = Path::root();
    let mut current = Some(object);
    let mut rest = text;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some((index, tail)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
            let index = index.parse().unwrap_or_default();
            path = path.index(index);
            current = current.and_then(|v| v.get(index));
            rest = tail;
            continue;
        }
        let keys = members(current);
        let existing = keys
            .map(|(k, _)| k.as_str())
            .filter(|k| rest.strip_prefix(k).is_some_and(ends_a_key))
            .max_by_key(|k| k.len());
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let key = existing.filter(|k| !k.is_empty()).unwrap_or(&rest[..end]);
        if key.is_empty() {
            break;
        }
        path = path.key(key);
        rest = &rest[key.len()..];
        current = current.and_then(|v| v.get(key));
    }
    path
}

/// Converts a path of a v1beta1 document to the path in its v1 original.
pub(super) fn path_in_v1(object: &Value, path: &Path) -> Path {
    if let [Segment::Key(spec), Segment::Key(gates), Segment::Key(gate)] = &path.0[..]
        && spec == "spec"
        && gates == "featureGates"
    {
        let listed = list(object, GATES).iter().position(|g| g["name"] == **gate);
        let list = Path::dotted(GATES);
        return listed.map_or(list.clone(), |i| list.index(i).key("name"));
    }
    let moved = MOVES.iter().rev().find_map(|(from, to)| {
        let from = Path::dotted(&format!("spec.{from}"));
        path.starts_with(&from).then(|| {
            let mut moved = Path::dotted(&format!("spec.{to}"));
            moved.0.extend_from_slice(&path.0[from.0.len()..]);
            moved
        })
    });
    moved.unwrap_or_else(|| path.clone())
}

fn ends_a_key(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '['])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn finds_converted_paths() {
        let object = json!({"spec": {"featureGates": [{"name": "a"}, {"name": "b"}]}});
        for (old, new) in [
            ("spec.certConfig.ca", "spec.security.certConfig.ca"),
            ("spec.dataImportCronTemplates[1].spec", "spec.workloadSources.dataImportCronTemplates[1].spec"),
            ("spec.featureGates.b", "spec.featureGates[1].name"),
            ("metadata.name", "metadata.name"),
        ] {
            let found = path_in_v1(&object, &Path::dotted(old));
            assert_eq!(found, Path::dotted(new));
        }
    }

    #[test]
    fn finds_keys_with_dots() {
        let object = json!({"metadata": {"labels": {"a.b/c": true, "a": 1}}, "l": [{"x": 1}]});
        let labels = Path::dotted("metadata.labels");
        assert_eq!(parse_path(&object, "metadata.labels.a.b/c"), labels.key("a.b/c"));
        assert_eq!(parse_path(&object, "metadata.labels.a"), labels.key("a"));
        assert_eq!(parse_path(&object, "l[0].x"), Path::dotted("l[0].x"));
        assert_eq!(parse_path(&object, "l[0].y.z"), Path::dotted("l[0].y.z"));
        assert_eq!(parse_path(&object, ""), Path::root());
    }
}
