//! Describes a field of the HyperConverged: its documentation, the operand fields it sets, and its effect in this
//! cluster.

use super::cluster::Cluster;
use super::words::{MAX_PLACES, change, list, markdown, path as as_path, value};
use crate::docs::{FieldDoc, gate_effect, gate_in};
use crate::hyperconverged::version_of;
use crate::jsonpatch::{ChangedPlace, changes};
use crate::kube::ObjectId;
use crate::plan::{Plan, plan};
use crate::prelude::*;
use crate::why::{Input, PlanInput};
use crate::yaml::{Document, Node, Path, Segment};

const GATES: &str = "featureGates";

/// The description of a field; `None` outside of `spec`. It has the effect in all clusters and the value in the first.
/// `more` is the number of other clusters of the layer.
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
    let schema = release.hyperconverged_schema(version)?;
    let runs = cluster.runs();
    if schema.field(path).is_none() {
        let message = "the API server drops it";
        return Some(format!(
            "**{}**\n\n{runs} has no such field in {version}: {message}\n",
            markdown(&path.to_string()),
        ));
    }
    let doc = FieldDoc::of(release, schema, path)?;
    let mut out = format!("**{}** · {}\n", markdown(&path.to_string()), doc.facts);
    for line in gate(cluster, path).into_iter().flatten().chain(doc.lines()) {
        out.push_str(&format!("\n{}\n", markdown(&line)));
    }
    // A v1 gate has no default: its phase decides.
    if !matches!(path.0.as_slice(), [_, Segment::Key(list), Segment::Index(_), ..] if list == GATES) {
        let unset = when_unset(cluster, version);
        out.push_str(&match unset.as_ref().and_then(|stored| path.get(stored)) {
            Some(unset) => format!("\nDefault of {runs}: {}\n", value(Some(unset))),
            None => format!("\nNo default in {runs}\n"),
        });
    }
    if !doc.feeds.is_empty() {
        out.push_str("\nIt sets:\n\n");
        list(&mut out, &doc.feeds.iter().map(|line| markdown(line)).collect::<Vec<_>>());
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

/// The effect of a layer's field in a cluster.
#[derive(PartialEq, Eq)]
enum Effect {
    /// Another layer overrides it.
    Overridden,
    /// The changes without it, a line each; empty if it has no effect.
    Does(Vec<String>),
}

impl Effect {
    fn of(cluster: &Cluster, object: &Document, path: &Path) -> Self {
        let own = object.root.at(path).map(Node::to_json);
        if cluster.is_layer && own.is_some_and(|own| !own.is_object() && path.get(&cluster.object) != Some(&own)) {
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

/// The documentation of the gate in an entry of v1's list.
fn gate(cluster: &Cluster, path: &Path) -> Option<Vec<String>> {
    let [spec, Segment::Key(gates), index @ Segment::Index(_), ..] = path.0.as_slice() else {
        return None;
    };
    let entry = Path(vec![spec.clone(), Segment::Key(gates.clone()), index.clone()]);
    let name = entry.key("name").get(&cluster.object).filter(|_| gates == GATES)?.as_str()?;
    let state = match gate_in(&cluster.release, name) {
        Some((_, state)) => format!("the gate is {state}"),
        None => format!("{} has no gate of this name", cluster.runs()),
    };
    Some(gate_effect(name).map(str::to_owned).into_iter().chain([state]).collect())
}

/// The stored object of an empty HyperConverged.
fn when_unset(cluster: &Cluster, version: &str) -> Option<Value> {
    let inventory = &cluster.inventory.inventory;
    let object = json!({
        "apiVersion": format!("hco.kubevirt.io/{version}"),
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": inventory.namespace},
        "spec": {},
    });
    plan(&cluster.release, inventory, &object).admission.stored
}

/// The effect of a field, computed by removing it.
fn done(cluster: &Cluster, object: &Document, path: &Path) -> Vec<String> {
    let plan_input = PlanInput::new(&cluster.release, object, &cluster.object, &cluster.inventory);
    // Remove the whole entry of a gate.
    let unit = match path.0.as_slice() {
        [spec, gates @ Segment::Key(list), index @ Segment::Index(_), ..] if list == GATES => {
            Path(vec![spec.clone(), gates.clone(), index.clone()])
        }
        _ => path.clone(),
    };
    let with = plan_input.without(&[]);
    let without = plan_input.without(&[&Input::Written(unit)]);
    let by_id = |plan: &Plan| -> BTreeMap<Arc<ObjectId>, Arc<Value>> {
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
        let mut moved: Vec<ChangedPlace> = changes(other, body);
        // Fields nearer to the root are more informative.
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

/// Operands with a single object.
const OPERANDS: [&str; 5] = ["KubeVirt", "CDI", "NetworkAddonsConfig", "SSP", "AAQ"];

/// Added or removed objects, a line per kind.
fn by_kind<'i>(ids: impl Iterator<Item = &'i ObjectId>, what: &str) -> Vec<String> {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in ids {
        kinds.entry(&id.kind).or_default().push(&id.name);
    }
    let line = |(kind, names): (&str, Vec<&str>)| {
        let shown: Vec<String> = names.iter().take(MAX_PLACES).map(|n| as_path(n)).collect();
        let more = match names.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{kind} {}{more} {what}", shown.join(", "))
    };
    kinds.into_iter().map(line).collect()
}
