//! What a dump says of a cluster beside its nodes, and which fields of an inventory it contradicts.

use hcoplan_diagnostics::secret::InputText;
use hcoplan_diagnostics::source::Location;
use hcoplan_planner::release::version_parts;
use hcoplan_yaml::{Document, Path, edit};
use serde_json::Value;

use crate::repo::{Dump, Fact, FactOrigin, Identity};

/// Every field of `spec` that a dump says, but the nodes.
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

/// What a dump says otherwise than an inventory does, but for nodes.
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
    /// What it says.
    pub declared: Value,
    /// What the dump says.
    pub fact: Fact,
}

/// Whether the cluster itself says so, and not what is guessed or written in the repository anyway.
pub(super) fn is_of_dump(by: FactOrigin) -> bool {
    matches!(by, FactOrigin::CommandLine | FactOrigin::Statement(_))
}

/// Whether a field says the same: `4.20` is the line of `4.20.3`.
pub(super) fn is_same(field: &str, now: &Value, value: &Value) -> bool {
    let line = |v: &Value| v.as_str().and_then(version_parts).map(|(line, _)| line);
    now == value || (field == "release" && line(now).is_some() && line(now) == line(value))
}

/// The fields of an inventory's `spec` that other manifests say, each with what said it.
pub(super) fn facts(identity: &Identity) -> String {
    let mut out = String::new();
    if let Some(release) = &identity.release {
        out.push_str(&format!("  release: {:?}  # {}\n", release.value, comment(&release.source())));
    }
    let platform = &identity.platform;
    if platform.by != FactOrigin::Nothing {
        out.push_str(&format!("  platform: {}  # {}\n", platform.value.as_str(), comment(&platform.source())));
    }
    let namespace = &identity.namespace;
    if namespace.by != FactOrigin::Nothing {
        let value = edit::inline(&namespace.value.as_str().into());
        out.push_str(&format!("  namespace: {value}  # {}\n", comment(&namespace.source())));
    }
    out
}

/// What is in a comment, on its line.
pub(super) fn comment(text: &str) -> String {
    InputText::new(text).line().into_owned()
}
