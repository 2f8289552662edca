//! Changes of objects that their operators reject, or that change nothing.

use hcoplan_kubernetes::quantity::Quantity;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    rejected(cx, out);
    without_effect(cx, out);
}

/// A field that can't be changed.
#[derive(Deserialize)]
struct Fixed {
    kind: &'static str,
    group: &'static str,
    field: &'static str,
    /// Fields below it that can.
    except: Vec<&'static str>,
    /// The value that a missing field has.
    #[serde(default)]
    default: Option<&'static str>,
    /// A field that has to be set before; the field can be changed if it isn't.
    #[serde(default)]
    given: Option<&'static str>,
    /// A field with whose change it can be changed.
    #[serde(default)]
    unless: Option<&'static str>,
    /// Whether the server fills it in if it is missing, and keeps it.
    #[serde(default)]
    is_allocated: bool,
    /// Whether its amount may grow.
    #[serde(default)]
    may_grow: bool,
    /// The server's message; empty if it accepts the change, and machines keep the object that they have.
    #[serde(default)]
    message: &'static str,
    /// What to do instead.
    help: &'static str,
}

/// Source: CDI `datavolume-validate.go`, `dataimportcron-validate.go`; KubeVirt `vmi-update-admitter.go`; Kubernetes
/// `ValidatePersistentVolumeClaimUpdate`, `ValidateStorageClassUpdate`, `ValidateRuntimeClassUpdate`; KubeVirt
/// `vmpool-admitter.go`, `vmsnapshot.go`, `vmrestore.go`, `vmexport.go`, `migration-update-admitter.go`,
/// `pkg/instancetype/webhooks/vm/mutator.go`; CDI `populators-validate.go`; the same of Kubernetes for RoleBinding,
/// Secret, ConfigMap, Service, ResourceQuota and PriorityClass.
static FIXED: Rows<Fixed> = Rows::of("fixedFields");

fn rejected(cx: &Context<'_>, out: &mut Sink) {
    for row in &*FIXED {
        for (document, before) in changed_objects(cx, row.kind, row.group) {
            let path = Path::dotted(row.field);
            let both = |path: &Path, except: &[&str]| [before, document].map(|d| value_at(d, path, except));
            let [old, new] = both(&path, &row.except).map(|value| match (value, row.default) {
                (Json::Null, Some(default)) => default.into(),
                (value, _) => value,
            });
            let is_set = |field| !matches!(&both(&Path::dotted(field), &[])[0], Json::Null | Json::Bool(false));
            let differs = |field| {
                let [old, new] = both(&Path::dotted(field), &[]);
                old != new
            };
            let is_kept = new.is_null() || old.is_null() && new != "None";
            if row.given.is_some_and(|field| !is_set(field))
                || row.unless.is_some_and(differs)
                || row.is_allocated && is_kept
                || row.may_grow && Quantity::of(&old).zip(Quantity::of(&new)).is_none_or(|(old, new)| new >= old)
            {
                continue;
            }
            let Some(below) = difference(&old, &new) else {
                continue;
            };
            let name = format!("the {} {}", row.kind, name_of(document));
            let (message, label) = if row.message.is_empty() {
                let message = format!("existing virtual machines keep the revision of {name} that they have");
                (message, "for new virtual machines")
            } else {
                let message = format!("the change of {name} is rejected: {}", row.message);
                (message, "can't be changed in an existing object")
            };
            let place = document.locate_key(&path.joined(&below));
            let finding = cx.finding_about(document, message).at(place).label(label).help(row.help);
            out.report(if row.message.is_empty() { finding.info() } else { finding });
        }
    }
}

fn without_effect(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let list = vm.owner_path("dataVolumeTemplates");
        let kind = vm.document.text("kind");
        let Some(before) = cx.object_before(vm.document).filter(|_| kind == "VirtualMachine") else {
            continue;
        };
        let templates = |document: &Document| json_of(document.root.at(&list));
        let (old, new) = (templates(before), templates(vm.document));
        for (i, template) in elements(&new).enumerate() {
            let name = &template["metadata"]["name"];
            let mut same = elements(&old).filter(|t| t["metadata"]["name"] == *name);
            let below = same.next().and_then(|old| difference(&old["spec"], &template["spec"]));
            let Some((below, name)) = below.zip(name.as_str()) else {
                continue;
            };
            let path = list.index(i).key("spec");
            let message = format!("the disk {name} of {vm} exists: its template's change is ignored");
            let finding = vm
                .finding(cx, message)
                .warning()
                .at(vm.document.locate_key(&path.joined(&below)))
                .label("KubeVirt creates the disk once");
            out.report(finding.help("change the disk itself, or give the template another name"));
        }
    }
}

/// The objects of a kind that the repository had before, each with its earlier state.
fn changed_objects<'c>(
    cx: &'c Context<'_>,
    kind: &'c str,
    group: &'c str,
) -> impl Iterator<Item = (&'c Document, &'c Document)> {
    let all = cx.of_kind(kind).iter().map(|d| &**d);
    let whole = all.filter(move |d| d.text("apiVersion").starts_with(group) && cx.is_whole(d));
    whole.filter_map(move |d| Some((d, cx.object_before(d)?)))
}

/// The value at a path, without some of its fields.
fn value_at(document: &Document, path: &Path, except: &[&str]) -> Json {
    let mut value = json_of(document.root.at(path));
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|key, _| !except.contains(&key.as_str()));
    }
    // A list of names is a set.
    if let Some(names) = value.as_array_mut().filter(|all| all.iter().all(Json::is_string)) {
        names.sort_by_key(Json::to_string);
    }
    value
}

/// The path of the first difference. Null is like an absent field, and quantities compare by amount.
fn difference(old: &Json, new: &Json) -> Option<Path> {
    match (old, new) {
        (Json::Object(a), Json::Object(b)) => b.keys().chain(a.keys()).find_map(|key| {
            let below = difference(&old[key], &new[key])?;
            Some(Path::root().key(key).joined(&below))
        }),
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(i, (a, b))| {
                let below = difference(a, b)?;
                Some(Path::root().index(i).joined(&below))
            })
        }
        _ if old == new || Quantity::of(old).is_some_and(|old| Quantity::of(new) == Some(old)) => None,
        _ => Some(Path::root()),
    }
}
