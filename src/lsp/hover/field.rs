//! A field of the HyperConverged: what it is, what it feeds, and what this line does in this
//! cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::cluster::Cluster;
use super::words::{MOST_PLACES, change, list, markdown, path as as_path, value};
use crate::hyperconverged::version_of;
use crate::jsonpatch::{Change, changes};
use crate::kube::ObjectId;
use crate::plan::{Plan, plan};
use crate::release::HyperConvergedField;
use crate::why::{Input, PlanInput};
use crate::yaml::{Document, Node, Path, Segment};

const GATES: &str = "featureGates";

/// What there is to say about a field; `None` outside of `spec`. What it does is said of all clusters, what it is of
/// the first one; `more` are built of the layer.
pub(super) fn described(clusters: &[Cluster], more: usize, object: &Document, path: &Path) -> Option<String> {
    let cluster = clusters.first()?;
    let Some(Segment::Key(first)) = path.0.first() else {
        return None;
    };
    if first != "spec" {
        return None;
    }
    let version = version_of(&cluster.object);
    let release = &cluster.release;
    let schema = release.schema(&format!("hyperconverged.{version}"))?;
    let runs = cluster.runs();
    if schema.field(path).is_none() {
        let message = "the API server drops it";
        return Some(format!(
            "**{}**\n\n{runs} has no such field in {version}: {message}\n",
            markdown(&path.to_string()),
        ));
    }
    let mut out = format!("**{}** · {}\n", markdown(&path.to_string()), schema.in_words(path));
    for line in notes(cluster, path, version) {
        out.push_str(&format!("\n{line}\n"));
    }
    // Of a gate of v1 there is no default: its phase says what it is.
    if !matches!(path.0.as_slice(), [_, Segment::Key(list), Segment::Index(_), ..] if list == GATES) {
        let unset = when_unset(cluster, version);
        out.push_str(&match unset.as_ref().and_then(|stored| path.get(stored)) {
            Some(unset) => format!("\nDefault of {runs}: {}\n", value(Some(unset))),
            None => format!("\nNo default in {runs}\n"),
        });
    }
    let feeds = feeds(cluster, path, version);
    if !feeds.is_empty() {
        out.push_str("\nIt sets:\n\n");
        list(&mut out, &feeds);
    }
    let mut effects: Vec<(Effect, Vec<String>)> = Vec::new();
    for cluster in clusters {
        let effect = Effect::of(cluster, object, path);
        let name = markdown(cluster.display_name());
        match effects.iter_mut().find(|(known, _)| *known == effect) {
            Some((_, names)) => names.push(name),
            None => effects.push((effect, vec![name])),
        }
    }
    for (effect, names) in &effects {
        effect.write(&names.join(", "), &mut out);
    }
    if more > 0 {
        out.push_str(&format!("\n{more} more clusters are built of it\n"));
    }
    Some(out)
}

/// What a field of a layer does in a cluster.
#[derive(PartialEq, Eq)]
enum Effect {
    /// Another layer has the last word.
    Overridden,
    /// What would be otherwise without it, a line each; none where nothing would.
    Does(Vec<String>),
}

impl Effect {
    fn of(cluster: &Cluster, object: &Document, path: &Path) -> Self {
        let own = object.root.at(path).map(Node::to_json);
        let differs = |own: serde_json::Value| !own.is_object() && path.get(&cluster.object) != Some(&own);
        if cluster.is_layer && own.is_some_and(differs) {
            Self::Overridden
        } else {
            Self::Does(done(cluster, object, path))
        }
    }

    fn write(&self, names: &str, out: &mut String) {
        match self {
            Self::Overridden => {
                out.push_str(&format!("\nIn {names} another layer has the last word\n"));
            }
            Self::Does(lines) if lines.is_empty() => {
                out.push_str(&format!("\nIn {names} every object would be the same without it\n"));
            }
            Self::Does(lines) => {
                out.push_str(&format!("\nBecause of it, in {names}:\n\n"));
                list(out, lines);
            }
        }
    }
}

/// A path as the field map writes it, without the brackets behind lists.
fn plain(path: &Path) -> String {
    let mut out = String::new();
    for step in &path.0 {
        if let Segment::Key(key) = step {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(key);
        }
    }
    out
}

fn is_below(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|r| r.is_empty() || r.starts_with('.'))
}

/// The gate that a path is about, in either version.
fn gate(cluster: &Cluster, path: &Path) -> Option<String> {
    match path.0.as_slice() {
        [_, Segment::Key(gates), Segment::Key(name)] if gates == GATES => Some(name.clone()),
        [spec, Segment::Key(gates), index @ Segment::Index(_), ..] if gates == GATES => {
            let entry = Path(vec![spec.clone(), Segment::Key(gates.clone()), index.clone()]);
            let name = entry.key("name").get(&cluster.object)?.as_str()?;
            Some(name.to_owned())
        }
        _ => None,
    }
}

/// What the release's tables say beside where it goes.
fn notes(cluster: &Cluster, path: &Path, version: &str) -> Vec<String> {
    let mut out = Vec::new();
    let own = plain(path);
    let rows = cluster.release.fields().iter();
    let rows = rows.filter(|f| f.api_version == version && f.path.replace("[]", "") == own);
    for row in rows {
        if row.ignored {
            out.push("It is read, and nothing comes of it".to_owned());
        }
        if let Some(since) = &row.deprecated_in {
            let since = since.replace("<=", "or before ");
            out.push(format!("Deprecated in {since}"));
        }
        if let Some(other) = &row.other_version_path {
            out.push(format!("In the other API version: {}", as_path(other)));
        }
        out.extend(row.note.clone());
    }
    if let Some(name) = gate(cluster, path) {
        let tables = cluster.release.tables();
        match tables.feature_gates.iter().find(|g| g.name == name) {
            Some(gate) => {
                let phase = gate.phase.as_str();
                let effect = tables.gate_effects.get(&name).map(|e| format!(": {e}"));
                out.push(format!("The gate is {phase}{}", effect.unwrap_or_default()));
            }
            None => out.push(format!("{} has no gate of this name", cluster.runs())),
        }
    }
    out
}

/// What would be stored of a HyperConverged that says nothing.
fn when_unset(cluster: &Cluster, version: &str) -> Option<serde_json::Value> {
    let inventory = &cluster.inventory.inventory;
    let object = json!({
        "apiVersion": format!("hco.kubevirt.io/{version}"),
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": inventory.namespace},
        "spec": {},
    });
    plan(&cluster.release, inventory, &object).admission.stored
}

/// The places of the operands that it feeds.
fn feeds(cluster: &Cluster, path: &Path, version: &str) -> Vec<String> {
    let own = plain(path);
    let mut out = Vec::new();
    let rows = cluster.release.fields().iter();
    for row in rows.filter(|f| f.api_version == version) {
        let at = row.path.replace("[]", "");
        if !is_below(&at, &own) && !is_below(&own, &at) {
            continue;
        }
        let inner = at.strip_prefix(&own).filter(|i| !i.is_empty());
        out.extend(row_feeds(row, inner.unwrap_or_default()));
    }
    out
}

fn row_feeds(row: &HyperConvergedField, inner: &str) -> Vec<String> {
    let mut out = Vec::new();
    for feeds in &row.operands {
        let from = match inner.trim_start_matches('.') {
            "" => String::new(),
            inner => format!("{}: ", as_path(inner)),
        };
        let at = match feeds.path.as_str() {
            "" => String::new(),
            path => format!(" {}", as_path(path)),
        };
        let how = feeds.words.as_ref();
        let how = how.map_or_else(String::new, |words| format!(": {}", markdown(words)));
        out.push(format!("{from}{}{at}{how}", feeds.kind));
    }
    out
}

/// What would be otherwise without the line: found out by taking it away.
fn done(cluster: &Cluster, object: &Document, path: &Path) -> Vec<String> {
    let plan_input = PlanInput::new(&cluster.release, object, &cluster.object, &cluster.inventory);
    // A gate's name alone can't be taken away.
    let unit = match path.0.as_slice() {
        [spec, gates @ Segment::Key(list), index @ Segment::Index(_), ..] if list == GATES => {
            Path(vec![spec.clone(), gates.clone(), index.clone()])
        }
        _ => path.clone(),
    };
    let with = plan_input.without(&[]);
    let without = plan_input.without(&[&Input::Written(unit)]);
    let by_id = |plan: &Plan| -> BTreeMap<Arc<ObjectId>, Arc<serde_json::Value>> {
        let objects = plan.objects();
        objects.map(|o| (Arc::clone(&o.id), Arc::clone(&o.body))).collect()
    };
    let (with, without) = (by_id(&with), by_id(&without));
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (id, body) in &with {
        let Some(other) = without.get(id).filter(|other| *other != body) else {
            continue;
        };
        let operand = OPERANDS.contains(&id.kind.as_str());
        let (named, to) =
            if operand { (id.kind.clone(), &mut own) } else { (format!("{} {}", id.kind, id.name), &mut others) };
        let mut moved: Vec<Change> = changes(other, body);
        // What is further up says more.
        moved.sort_by_key(|c| c.path.matches('/').count());
        to.extend(moved.iter().map(|c| format!("{named} {}", change(c))));
    }
    own.append(&mut others);
    let come = with.keys().filter(|id| !without.contains_key(*id));
    own.extend(by_kind(come.map(Arc::as_ref), "is there"));
    let gone = without.keys().filter(|id| !with.contains_key(*id));
    own.extend(by_kind(gone.map(Arc::as_ref), "is not there"));
    own
}

/// The operands that there is one of.
const OPERANDS: [&str; 5] = ["KubeVirt", "CDI", "NetworkAddonsConfig", "SSP", "AAQ"];

/// Objects that come or go, a line for each kind.
fn by_kind<'i>(ids: impl Iterator<Item = &'i ObjectId>, what: &str) -> Vec<String> {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in ids {
        kinds.entry(&id.kind).or_default().push(&id.name);
    }
    let line = |(kind, names): (&str, Vec<&str>)| {
        let shown: Vec<String> = names.iter().take(MOST_PLACES).map(|n| as_path(n)).collect();
        let more = match names.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{kind} {}{more} {what}", shown.join(", "))
    };
    kinds.into_iter().map(line).collect()
}
