//! Changes of objects that their operators reject, or that change nothing.

use hcoplan_kubernetes::quantity::Quantity;
use hcoplan_yaml::Node;
use serde_json::Value;

use super::prelude::*;
use crate::Extent;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    rejected(cx, out);
    without_effect(cx, out);
}

/// A field that can't be changed.
struct Fixed {
    kind: &'static str,
    group: &'static str,
    field: &'static str,
    /// Fields below it that can.
    except: &'static [&'static str],
    /// The server's message.
    message: &'static str,
}

/// Source: CDI `datavolume-validate.go`, `dataimportcron-validate.go`; KubeVirt `vmi-update-admitter.go`; Kubernetes
/// `ValidatePersistentVolumeClaimUpdate`, `ValidateStorageClassUpdate`.
const FIXED: [Fixed; 5] = [
    Fixed {
        kind: "DataVolume",
        group: "cdi.kubevirt.io/",
        field: "spec",
        except: &["checkpoints", "finalCheckpoint"],
        message: "Cannot update DataVolume Spec",
    },
    Fixed {
        kind: "DataImportCron",
        group: "cdi.kubevirt.io/",
        field: "spec",
        except: &[],
        message: "Cannot update DataImportCron Spec",
    },
    Fixed {
        kind: "VirtualMachineInstance",
        group: "kubevirt.io/",
        field: "spec",
        except: &[],
        message: "update of VMI object is restricted",
    },
    Fixed {
        kind: "PersistentVolumeClaim",
        group: "v1",
        field: "spec",
        except: &["resources", "volumeAttributesClassName"],
        message: "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
    },
    Fixed {
        kind: "StorageClass",
        group: "storage.k8s.io/",
        field: "parameters",
        except: &[],
        message: "updates to parameters are forbidden.",
    },
];

/// Instance types and preferences, of which a machine keeps the revision it started with.
const REVISED: [&str; 4] = [
    "VirtualMachineInstancetype",
    "VirtualMachineClusterInstancetype",
    "VirtualMachinePreference",
    "VirtualMachineClusterPreference",
];

fn rejected(cx: &Context<'_>, out: &mut Sink) {
    for row in &FIXED {
        for (document, before) in changed_objects(cx, row.kind, row.group) {
            let path = Path::dotted(row.field);
            let [old, new] = [before, document].map(|d| value_at(d, &path, row.except));
            let Some(below) = difference(&old, &new) else {
                continue;
            };
            let name = format!("the {} {}", row.kind, document.text("metadata.name"));
            let message = format!("the change of {name} is rejected: {}", row.message);
            let finding = Finding::new(&CHANGE_NOT_APPLIED, message)
                .at(document.locate_key(&Path(path.0.into_iter().chain(below.0).collect())))
                .object(object_of(document))
                .label("can't be changed in an existing object");
            out.report(finding.help("give the object another name, or delete it first"));
        }
    }
}

fn without_effect(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let list = vm.owner_path("dataVolumeTemplates");
        let kind = vm.document.text("kind");
        let Some(before) = cx.object_before(kind, vm.namespace(), vm.name()).filter(|_| kind == "VirtualMachine")
        else {
            continue;
        };
        let templates = |document: &Document| document.root.at(&list).map(Node::to_json).unwrap_or_default();
        let (old, new) = (templates(before), templates(vm.document));
        for (i, template) in new.as_array().into_iter().flatten().enumerate() {
            let name = &template["metadata"]["name"];
            let mut same = old.as_array().into_iter().flatten().filter(|t| t["metadata"]["name"] == *name);
            let below = same.next().and_then(|old| difference(&old["spec"], &template["spec"]));
            let Some((below, name)) = below.zip(name.as_str()) else {
                continue;
            };
            let path = list.index(i).key("spec");
            let message = format!("the disk {name} of {} exists: its template's change is ignored", vm.display_name());
            let finding = Finding::new(&CHANGE_NOT_APPLIED, message)
                .severity(Severity::Warning)
                .at(vm.document.locate_key(&Path(path.0.into_iter().chain(below.0).collect())))
                .object(object_of(vm.document))
                .label("KubeVirt creates the disk once");
            out.report(finding.help("change the disk itself, or give the template another name"));
        }
    }
    for kind in REVISED {
        for (document, before) in changed_objects(cx, kind, "instancetype.kubevirt.io/") {
            let spec = Path::dotted("spec");
            let [old, new] = [before, document].map(|d| value_at(d, &spec, &[]));
            let Some(below) = difference(&old, &new) else {
                continue;
            };
            let name = document.text("metadata.name");
            let message = format!("existing virtual machines keep the revision of the {kind} {name} that they have");
            let finding = Finding::new(&CHANGE_NOT_APPLIED, message)
                .severity(Severity::Info)
                .at(document.locate_key(&Path(spec.0.into_iter().chain(below.0).collect())))
                .object(object_of(document))
                .label("for new virtual machines");
            out.report(finding.help("remove revisionName of a machine's matcher, so that it takes the new revision"));
        }
    }
}

/// The objects of a kind that the repository had before, each with its earlier state.
fn changed_objects<'c>(
    cx: &'c Context<'_>,
    kind: &'c str,
    group: &'c str,
) -> impl Iterator<Item = (&'c Document, &'c Document)> {
    let all = cx.other_objects().of_kind(kind).iter().map(|d| &**d);
    let whole =
        all.filter(move |d| d.text("apiVersion").starts_with(group) && cx.extent(d.file.path()) == Extent::Whole);
    whole.filter_map(move |d| Some((d, cx.object_before(kind, namespace_of(d), d.text("metadata.name"))?)))
}

/// The value at a path, without some of its fields.
fn value_at(document: &Document, path: &Path, except: &[&str]) -> Value {
    let mut value = document.root.at(path).map(Node::to_json).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|key, _| !except.contains(&key.as_str()));
    }
    value
}

/// The path of the first difference. Null is like an absent field, and quantities compare by amount.
fn difference(old: &Value, new: &Value) -> Option<Path> {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => b.keys().chain(a.keys()).find_map(|key| {
            let below = difference(&old[key], &new[key])?;
            Some(Path(Path::root().key(key).0.into_iter().chain(below.0).collect()))
        }),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(i, (a, b))| {
                let below = difference(a, b)?;
                Some(Path(Path::root().index(i).0.into_iter().chain(below.0).collect()))
            })
        }
        _ if old == new || is_same_amount(old, new) => None,
        _ => Some(Path::root()),
    }
}

fn is_same_amount(old: &Value, new: &Value) -> bool {
    let amount = |value: &Value| match value {
        Value::String(text) => Quantity::parse(text).ok(),
        Value::Number(number) => Quantity::parse(&number.to_string()).ok(),
        _ => None,
    };
    amount(old).is_some_and(|old| amount(new).is_some_and(|new| new == old))
}
