//! Compares with recorded answers of virt-api to small changes of valid objects, in the clusters of three
//! HyperConvergeds.

use crate::prelude::*;
use std::fmt::Write;
use std::path::PathBuf;

use super::cdi::disk_rejection;
use super::checker::{at, each};
use super::*;
use crate::cause::{CauseKind, Stage};
use crate::inventory::Inventory;
use crate::plan::plan;
use crate::topology::assumed_nodes;

/// Minimum shares of a release's cases that agree, in percent: verdicts, messages, and defaults.
const ALL: [f64; 3] = [99.0, 95.0, 99.0];
const SELECTED: [f64; 3] = [100.0; 3];

/// The defaults that are compared: fields that KubeVirt fills in until the instance is created.
const FILLED: [&str; 17] = [
    "architecture",
    "evictionStrategy",
    "networks[].name",
    "domain.machine.type",
    "domain.cpu.model",
    "domain.cpu.cores",
    "domain.cpu.sockets",
    "domain.cpu.threads",
    "domain.memory.guest",
    "domain.resources.requests.cpu",
    "domain.devices.disks[].name",
    "domain.devices.disks[].disk.bus",
    "domain.devices.disks[].lun.bus",
    "domain.devices.disks[].cdrom.bus",
    "domain.devices.interfaces[].name",
    "domain.devices.interfaces[].model",
    "domain.devices.tpm.persistent",
];

/// The directory of all recordings; without it tests compare with a selection.
fn full_recordings() -> Option<PathBuf> {
    std::env::var_os("HCOPLAN_MACHINES").map(PathBuf::from)
}

fn directory() -> PathBuf {
    full_recordings().unwrap_or_else(|| hcoplan_testing::root().join("testdata/machines"))
}

fn read(name: &str) -> String {
    let path = directory().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The messages when the object is created, and when its instance starts.
type Messages = [Vec<String>; 2];

/// The rendered KubeVirt of each HyperConverged, by name.
fn kubevirts(release: &Release) -> BTreeMap<String, Value> {
    let objects: Map<String, Value> = serde_json::from_str(&read("clusters.json")).expect("JSON");
    let inventory = Inventory { nodes: assumed_nodes(), ..Inventory::default() };
    let render = |(name, object): (String, Value)| {
        let plan = plan(release, &inventory, &object);
        (name, plan.operand("KubeVirt").expect("accepted").clone())
    };
    objects.into_iter().map(render).collect()
}

/// An object with values set at pointers; an index past the end, or `-`, appends to a list.
fn changed(base: &Value, sets: &[Value]) -> Value {
    let mut object = base.clone();
    for set in sets {
        let pointer = set[0].as_array().expect("a pointer");
        let mut node = &mut object;
        let (last, parents) = pointer.split_last().expect("not empty");
        for (i, key) in parents.iter().enumerate() {
            let child = enter(node, key);
            let is_list = pointer[i + 1].is_number() || pointer[i + 1] == "-";
            if !child.is_object() && !child.is_array() {
                *child = if is_list { json!([]) } else { json!({}) };
            }
            node = child;
        }
        if !set[1].is_null() {
            *enter(node, last) = set[1].clone();
        } else if node.is_array() {
            enter(node, last);
        } else if let Some(map) = node.as_object_mut() {
            map.remove(text(last));
        }
    }
    object
}

fn enter<'v>(node: &'v mut Value, key: &Value) -> &'v mut Value {
    match node {
        Value::Array(items) => {
            let index = key.as_u64().map_or(usize::MAX, |n| usize::try_from(n).expect("small"));
            if index >= items.len() {
                items.push(json!({}));
            }
            let last = items.len() - 1;
            &mut items[index.min(last)]
        }
        _ => &mut node[text(key)],
    }
}

fn recorded(line: &Value) -> Messages {
    let verdict = &line["verdict"];
    let texts = |v: &Value| -> Vec<String> {
        let mut all: Vec<String> = elements(v).map(|m| text(m).to_owned()).collect();
        all.sort_unstable();
        // An instance's network is checked twice.
        all.dedup();
        all
    };
    [texts(&verdict["causes"]), texts(&verdict["start"])]
}

/// The instance's defaults, by path below its spec.
fn filled(cluster: Cluster<'_>, object: &Value, complete: &Value) -> Value {
    let mut complete = defaults::with_disk_buses(complete).unwrap_or_else(|| complete.clone());
    for [parent, key] in [["machine", "type"], ["cpu", "model"]] {
        let value = effective(cluster, &complete, &format!("domain.{parent}.{key}")).to_owned();
        complete["domain"][parent][key] = value.into();
    }
    let written = at(object, "spec.template.spec");
    let all = FILLED.iter().flat_map(|pattern| each(&complete, pattern));
    all.filter(|(path, value)| at(written, path) != *value).map(|(path, value)| (path, value.clone())).collect()
}

/// The rejections of an object, and the defaults of a virtual machine that starts.
fn predicted(release: &Release, kubevirt: &Value, object: &Value) -> (Messages, Value) {
    let mut filled_in = Value::Null;
    let cluster = Cluster { release, kubevirt };
    let version = &release.kubevirt().version;
    let mut causes = match text(&object["kind"]) {
        kind if kind == "MigrationPolicy" || kind.ends_with("type") || kind.ends_with("Preference") => {
            admit_other(cluster, kind, object.clone())
        }
        kind @ ("DataVolume" | "DataImportCron" | "DataSource") => {
            let mut object = object.clone();
            let mut causes = structure(release, &mut object);
            if causes.is_empty() {
                let found = disk_rejection(release, kind, &object["spec"]);
                causes.extend(found);
            }
            causes
        }
        kind => {
            let [instancetype, preference] = [TypeKind::Instancetype, TypeKind::Preference]
                .map(|k| common_type(k, text(&object["spec"][k.field()]["name"]), version));
            let spec = template_of(kind).map(|t| at(object, t)["spec"]["architecture"].clone()).unwrap_or_default();
            let preferred = preference.map_or("", |p| text(&p["preferredArchitecture"]));
            let own = text(&spec);
            let architecture = [own, preferred, "amd64"].into_iter().find(|a| !a.is_empty());
            let Verdict { mut causes, spec: complete, .. } = admit(
                cluster,
                Machine { object, architecture, instancetype, preference, namespace: &Namespace::default() },
            );
            // Only the recorder knows that virt-api runs on amd64: `vm-architecture-needs-multiarch-gate` asks the
            // nodes.
            if !cluster.has_gate("MultiArchitecture") && !matches!(text(&complete["architecture"]), "" | "amd64") {
                causes.retain(|cause| cause.stage != Stage::Start);
                let path = Path::dotted(template_of(kind).unwrap_or_default()).key("spec").key("architecture");
                let message =
                    format!("MultiArchitecture feature gate is not enabled in kubevirt-config, invalid entry {path}");
                causes.push(Cause::new(Stage::Validating, path, CauseKind::Removed, message));
            }
            if causes.iter().all(|c| c.stage >= Stage::Pod) && kind == "VirtualMachine" {
                filled_in = filled(cluster, object, &complete);
            }
            causes
        }
    };
    // The controller and the API server report these, not virt-api.
    causes.retain(|c| c.kind != CauseKind::GateOff("ContainerPathVolumes") && c.stage < Stage::Pod);
    // Decoding rejects unknown fields before all other checks.
    let is_unknown = |c: &&Cause| matches!(c.kind, CauseKind::UnknownField) && c.stage == Stage::Schema;
    let unknown = causes.iter().any(|c| is_unknown(&c));
    let message = |is_start: bool| {
        let causes = causes.iter().filter(|c| (c.stage == Stage::Start) == is_start && (!unknown || is_unknown(c)));
        let mut message: Vec<String> = causes.map(|c| c.message.clone()).collect();
        message.sort_unstable();
        message.dedup();
        message
    };
    // The instances of other kinds aren't recorded.
    let is_machine = object["kind"] == "VirtualMachine";
    ([message(false), if is_machine { message(true) } else { Vec::new() }], filled_in)
}

#[test]
fn agrees_with_recorded_verdicts_messages_and_defaults() {
    let bases: Map<String, Value> = serde_json::from_str(&read("bases.json")).expect("JSON");
    let minimum = if full_recordings().is_some() { ALL } else { SELECTED };
    let mut report = String::new();
    let mut is_short = false;
    for name in Release::known_names() {
        let release = Release::known(name).expect("known");
        if !directory().join(format!("{name}.jsonl")).exists() {
            continue;
        }
        let kubevirts = kubevirts(&release);
        let (mut totals, mut equal) = ([0; 3], [0; 3]);
        let lines = read(&format!("{name}.jsonl"));
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let base_of = |line: &Value| (line["base"].to_string(), line["cluster"].to_string());
        let sound = lines.iter().filter(|line| text(&line["case"]).starts_with("sound"));
        let sound: BTreeMap<_, &Value> = sound.map(|line| (base_of(line), &line["filled"])).collect();
        for line in &lines {
            let sets = line["set"].as_array().expect("changes");
            let object = changed(&bases[text(&line["base"])], sets);
            let (have, filled_in) = predicted(&release, &kubevirts[text(&line["cluster"])], &object);
            let want = recorded(line);
            let is_same = want.iter().zip(&have).all(|(w, h)| w.is_empty() == h.is_empty());
            // Without one of its own a case is filled like what it changes.
            let own = line.get("filled").or_else(|| sound.get(&base_of(line)).copied());
            let own = own.filter(|own| want == have && own.is_object() && filled_in.is_object());
            totals = [totals[0] + 1, totals[1] + 1, totals[2] + usize::from(own.is_some())];
            equal[2] += usize::from(own.is_some_and(|own| *own == filled_in));
            if let Some(own) = own.filter(|own| **own != filled_in) {
                writeln!(
                    report,
                    "{name} {} FILLED {} {}\n  want {own}\n  have {filled_in}",
                    line["case"], line["cluster"], line["set"]
                )
                .expect("a string");
            }
            equal[0] += usize::from(is_same);
            equal[1] += usize::from(want == have);
            if want != have {
                let case = text(&line["case"]);
                let set = serde_json::to_string(sets).expect("JSON");
                let mark = if is_same { "message" } else { "VERDICT" };
                writeln!(report, "{name} {case} {mark} {} {set}\n  want {want:?}\n  have {have:?}", line["cluster"])
                    .expect("a string");
            }
        }
        let shares: Vec<f64> = equal.iter().zip(totals).map(|(n, all)| 100.0 * *n as f64 / all as f64).collect();
        println!("{name}: of {totals:?} cases {equal:?} verdicts, messages and defaults are equal: {shares:.2?} %");
        is_short |= shares.iter().zip(minimum).any(|(share, minimum)| *share < minimum);
    }
    if let Some(path) = std::env::var_os("HCOPLAN_MACHINES_REPORT") {
        std::fs::write(path, &report).expect("writable");
    }
    assert!(!is_short, "{report}");
}
