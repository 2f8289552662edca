//! The facts that a dump has about a cluster in addition to its nodes, and the inventory's fields that it contradicts.

use hcoplan_diagnostics::secret::InputText;
use hcoplan_yaml::edit;
use serde_json::Value;

use crate::prelude::*;
use crate::repo::{Dump, Fact, FactOrigin, Identity};

/// The fields of `spec` that a dump has, without the nodes.
pub(super) fn all_facts(identity: &Identity, others: Vec<Fact>) -> Vec<Fact> {
    let Identity { release, platform, namespace, .. } = identity;
    let own = [
        release.as_ref().map(|release| (release.by, "release", release.value.as_str(), "the release")),
        Some((platform.by, "platform", platform.value.as_str(), "the platform")),
        Some((namespace.by, "namespace", &namespace.value, "the namespace")),
    ];
    // From the cluster itself, not from a guess or the repository.
    let is_of_dump = |origin| matches!(origin, FactOrigin::CommandLine | FactOrigin::Statement(_));
    let own = own.into_iter().flatten().filter(|(origin, ..)| is_of_dump(*origin));
    own.map(|(_, field, value, by)| Fact { field, value: value.into(), by }).chain(others).collect()
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
    let Identity { release, platform, namespace, .. } = identity;
    let name = edit::inline(&namespace.value.as_str().into());
    let rows = [
        release.as_ref().map(|release| ("release", format!("{:?}", release.value), release.source())),
        (!platform.is_assumed()).then(|| ("platform", platform.value.to_string(), platform.source())),
        (!namespace.is_assumed()).then(|| ("namespace", name, namespace.source())),
    ];
    let rows = rows.into_iter().flatten();
    rows.map(|(field, value, source)| format!("  {field}: {value}  # {}\n", comment(&source))).collect()
}

/// A text as a comment on one line.
pub(super) fn comment(text: &str) -> String {
    InputText::new(text).line().into_owned()
}
