//! A field of the HyperConverged, in any API version.

use super::Context;
use super::prelude::*;
use hcoplan_planner::hyperconverged::moved;
use hcoplan_yaml::{Key, Value};

/// The sections of v1's spec; v1beta1 has no fields with these names.
static V1_SECTIONS: Rows<&str> = Rows::of("sectionsOfV1");

/// A field of the HyperConverged as written.
#[derive(Debug)]
pub struct Field<'a> {
    document: &'a Document,
    /// The path in the document's version; `None` if that has no such field.
    path: Option<Path>,
    key: Option<&'a Key>,
    node: Option<&'a Node>,
}

impl<'a> Context<'a> {
    /// A field by its dotted path below `spec` in either version: `workloads.nodePlacement.nodeSelector` and
    /// `deployment.nodePlacements.workload.nodeSelector` find the same field in a document of either version.
    pub fn field(&self, path: &str) -> Field<'a> {
        let document = self.document();
        let path = in_version(path, self.version()).map(|path| Path::dotted("spec").below(&path));
        let key = path.as_ref().and_then(|path| document.root.key_at(path));
        let node = path.as_ref().and_then(|path| document.root.at(path));
        Field { document, path, key, node }
    }
}

/// The keys of a path, if it has no index.
fn keys_of(path: &Path) -> Option<Vec<&str>> {
    let keys = path.0.iter().map(|step| match step {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    keys.collect()
}

/// The dotted path below `spec`, if the path has keys only.
pub(super) fn dotted_below_spec(path: &Path) -> Option<String> {
    match keys_of(path)?.as_slice() {
        ["spec", rest @ ..] => Some(rest.join(".")).filter(|rest| !rest.is_empty()),
        _ => None,
    }
}

impl<'a> Field<'a> {
    /// Whether it has a value (`null` isn't one).
    pub fn is_set(&self) -> bool {
        self.node.is_some_and(|n| !matches!(n.value, Value::Null))
    }

    /// The value as written.
    pub fn node(&self) -> Option<&'a Node> {
        self.node
    }

    /// The value, if it is a string.
    pub fn text(&self) -> Option<&'a str> {
        self.node?.as_str()
    }

    /// The value, if it is a boolean.
    pub fn flag(&self) -> Option<bool> {
        match self.node?.value {
            Value::Bool(on) => Some(on),
            _ => None,
        }
    }

    /// The path from the root in the document's version, even if it isn't set; `None` if that version has no such
    /// field.
    pub fn path(&self) -> Option<Path> {
        self.path.clone()
    }

    /// The location of the value; if it isn't set, of the nearest existing parent key.
    pub fn value_place(&self) -> Location {
        match self.node {
            Some(node) => self.document.location(node.span),
            None => {
                let path = self.path().unwrap_or_else(|| Path::dotted("spec"));
                self.document.locate(&path)
            }
        }
    }

    /// The location of the key; if it isn't set, of the nearest existing parent key.
    pub fn key_place(&self) -> Location {
        match self.key {
            Some(key) => self.document.location(key.span),
            None => self.value_place(),
        }
    }
}

/// The dotted path in `version`; `None` if that has no such field.
pub(crate) fn in_version<'p>(path: &'p str, version: &str) -> Option<Cow<'p, str>> {
    let section = first_part(path, '.');
    let written_for = if V1_SECTIONS.contains(&section) { "v1" } else { "v1beta1" };
    if section == "featureGates" || written_for == version {
        return Some(Cow::Borrowed(path));
    }
    let (place, rest) = moved(version, path)?;
    Some(if rest.is_empty() { Cow::Borrowed(place) } else { Cow::Owned(format!("{place}{rest}")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hcoplan_planner::hyperconverged::MOVES;

    #[test]
    fn paths_are_translated_both_ways() {
        let v1beta1 = "workloads.nodePlacement.nodeSelector";
        let v1 = "deployment.nodePlacements.workload.nodeSelector";
        assert_eq!(in_version(v1beta1, "v1").as_deref(), Some(v1));
        assert_eq!(in_version(v1, "v1beta1").as_deref(), Some(v1beta1));
        assert_eq!(in_version(v1, "v1").as_deref(), Some(v1));
        assert_eq!(in_version(v1beta1, "v1beta1").as_deref(), Some(v1beta1));
    }

    #[test]
    fn a_childs_move_wins_over_its_parents() {
        assert_eq!(
            in_version("deployment.applicationAwareConfig.enable", "v1beta1").as_deref(),
            Some("enableApplicationAwareQuota")
        );
        assert_eq!(
            in_version("applicationAwareConfig.namespaceSelector", "v1").as_deref(),
            Some("deployment.applicationAwareConfig.namespaceSelector")
        );
    }

    #[test]
    fn every_move_is_found() {
        for (v1beta1, v1) in MOVES.iter() {
            let there = in_version(v1beta1, "v1");
            let back = in_version(v1, "v1beta1");
            let leads = |from: &str, to: &str| MOVES.contains(&(from, to));
            assert!(there.is_some_and(|v1| leads(v1beta1, &v1)), "{v1beta1}");
            assert!(back.is_some_and(|v1beta1| leads(&v1beta1, v1)), "{v1}");
        }
    }

    #[test]
    fn fields_that_a_version_lacks_have_no_path() {
        assert_eq!(in_version("vddkInitImage", "v1"), None);
        assert_eq!(in_version("workloadSources.enableMultiArchBootImageImport", "v1beta1"), None);
        assert_eq!(in_version("featureGates", "v1").as_deref(), Some("featureGates"));
    }
}
