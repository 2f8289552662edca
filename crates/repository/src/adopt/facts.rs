//! The facts that a dump has about a cluster in addition to its nodes, and the inventory's fields that it contradicts.

use hcoplan_diagnostics::secret::InputText;
use hcoplan_planner::release::version_parts;
use hcoplan_yaml::edit;
use serde_json::Value;

use crate::prelude::*;
use crate::repo::{Dump, Fact, FactOrigin, Identity};

/// The fields of `spec` that a dump has, without the nodes.
pub(super) fn all_facts(identity: &Identity, others: Vec<Fact>) -> Vec<Fact> {
    let fact = |field, value: &str, by| Fact { field, value: value.into(), by };
    let mut out = Vec::new();
    if let Some(release) = identity.release.as_ref().filter(|r| is_of_dump(r.by)) {
        out.push(fact("release", &release.value, "the release"));
    }
    if is_of_dump(identity.platform.by) {
        out.push(fact("platform", identity.platform.value.as_str(), "the platform"));
    }
    if is_of_dump(identity.namespace.by) {
        out.push(fact("namespace", &identity.namespace.value, "the namespace"));
    }
    out.extend(others);
    out
}

/// The inventory's fields that a dump contradicts, without the nodes.
pub fn contradictions(dump: &Dump, document: &Document) -> Vec<Contradiction> {
    let found = all_facts(&dump.identity(), dump.facts()).into_iter().filter_map(|fact| {
        let node = document.root.at(&Path::dotted("spec").key(fact.field))?;
        let declared = node.to_json();
        (!is_same(fact.field, &declared, &fact.value)).then(|| Contradiction {
            place: Location::new(&document.file, node.span),
            declared,
            fact,
        })
    });
    found.collect()
}

/// A field of an inventory that a dump contradicts.
#[derive(Debug)]
pub struct Contradiction {
    /// Its location in the inventory.
    pub place: Location,
    /// The declared value.
    pub declared: Value,
    /// The dump's value.
    pub fact: Fact,
}

/// Whether the fact comes from the cluster itself, not from a guess or the repository.
fn is_of_dump(by: FactOrigin) -> bool {
    matches!(by, FactOrigin::CommandLine | FactOrigin::Statement(_))
}

/// Whether two values of a field are equivalent.
pub(super) fn is_same(field: &str, declared: &Value, value: &Value) -> bool {
    let texts = || Some((declared.as_str()?, value.as_str()?));
    declared == value || field == "release" && texts().is_some_and(|(own, other)| is_same_release(own, other))
}

/// Whether two names are of one line of releases: `4.20` is the line of `4.20.3`.
pub(super) fn is_same_release(first: &str, second: &str) -> bool {
    let line = |name: &str| version_parts(name).map(|(line, _)| line);
    first == second || line(first).is_some() && line(first) == line(second)
}

/// The fields of an inventory's `spec` from manifests, each with its source as a comment.
pub(super) fn facts(identity: &Identity) -> String {
    let mut out = String::new();
    if let Some(release) = &identity.release {
        out.push_str(&format!("  release: {:?}  # {}\n", release.value, comment(&release.source())));
    }
    let platform = &identity.platform;
    if !platform.is_assumed() {
        out.push_str(&format!("  platform: {}  # {}\n", platform.value.as_str(), comment(&platform.source())));
    }
    let namespace = &identity.namespace;
    if !namespace.is_assumed() {
        let value = edit::inline(&namespace.value.as_str().into());
        out.push_str(&format!("  namespace: {value}  # {}\n", comment(&namespace.source())));
    }
    out
}

/// A text as a comment on one line.
pub(super) fn comment(text: &str) -> String {
    InputText::new(text).line().into_owned()
}
