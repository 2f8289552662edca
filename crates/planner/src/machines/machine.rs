//! Admission of a machine by the API server and KubeVirt's webhooks.
//!
//! Source: `vms-admitter.go`, `vmpool-admitter.go`, `vmirs-admitter.go`, `vmi-create-admitter.go`,
//! `pkg/instancetype/webhooks/vm`, `pkg/storage/admitters/data-volume-template.go`.

use super::checker::{
    Checker, at, dangling, each, is_placeholder, list, number, object_metadata, printed, quantity, structure, whole,
};
use super::launcher::launcher;
use super::{Cluster, Machine, TypeKind, Verdict, defaults, template_of};
use crate::cause::{Cause, CauseKind, Stage};
use crate::names::NAMES;
use crate::prelude::*;
use hcoplan_kubernetes::label::{key_problems, value_problems};
use hcoplan_kubernetes::label_selector::Selector;
use std::collections::HashSet;

/// Annotations with their feature gate, and its name in the message.
const GATED_ANNOTATIONS: [(&str, &str, &str); 2] = [
    ("kubevirt.io/ignitiondata", "ExperimentalIgnitionSupport", "ExperimentalIgnitionSupport"),
    ("hooks.kubevirt.io/hookSidecars", "Sidecar", "sidecar"),
];

pub(super) fn admit(cluster: Cluster<'_>, machine: Machine<'_>) -> Verdict {
    let kind = text(&machine.object["kind"]);
    let Some(template) = template_of(kind) else {
        return Verdict::default();
    };
    let mut object = machine.object.clone();
    let causes = structure(cluster.release, &mut object);
    let rejected = |causes: Vec<Cause>| Verdict { causes, ..Verdict::default() };
    if !causes.is_empty() {
        return rejected(causes);
    }
    let below = |field: &str| if template.is_empty() { field.to_owned() } else { format!("{template}.{field}") };
    let spec_path = below("spec");
    let spec = at(&object, &spec_path);
    let checker = |spec, stage| Checker::new(cluster, spec, &spec_path, stage);
    let owner = (kind != "VirtualMachineInstance").then(|| template.strip_suffix(".template").unwrap_or_default());
    let machine_path = owner.filter(|_| kind != "VirtualMachineInstanceReplicaSet");

    // A pool's machines are validated when it creates them, without defaults before.
    let is_group = matches!(kind, "VirtualMachinePool" | "VirtualMachineInstanceReplicaSet");
    let mut complete = defaults::complete(cluster, machine, spec);
    if owner.is_none() {
        complete = defaults::with_disk_buses(&complete).unwrap_or(complete);
    }
    let creation = creation(cluster, machine, &object, &complete, [&spec_path, machine_path.unwrap_or_default()]);
    if !is_group && !creation.is_empty() {
        return rejected(creation);
    }
    let validated = if is_group { spec } else { &complete };
    let mut validating = checker(validated, Stage::Validating);
    validating.instance();
    let mut causes = validating.causes();
    if kind != "VirtualMachineInstanceReplicaSet" {
        causes.extend(metadata(cluster, &object, &below("metadata")));
    }
    if let Some(path) = machine_path {
        let mut whole = Checker::new(cluster, at(&object, path), path, Stage::Validating);
        whole.machine(text(at(&object, "metadata.namespace")));
        causes.extend(whole.causes());
        let mut live = checker(validated, Stage::Validating);
        live.live_memory();
        causes.extend(live.causes());
    }
    if is_group {
        let mut group = Checker::new(cluster, &object["spec"], "spec", Stage::Validating);
        group.group(kind);
        causes.extend(group.causes());
        if causes.is_empty() {
            causes.extend(creation.into_iter().map(|cause| Cause { stage: Stage::Start, ..cause }));
        }
    }
    if causes.is_empty() || owner.is_none() {
        // These checks of a machine only run when it starts.
        let stage = if owner.is_some() { Stage::Start } else { Stage::Validating };
        let started = defaults::with_disk_buses(&complete);
        let mut start = checker(started.as_ref().unwrap_or(&complete), stage);
        if started.is_some() {
            start.instance();
        }
        start.start(machine, at(&object, machine_path.unwrap_or_default()));
        let messages: HashSet<String> = causes.iter().map(|cause| cause.message.clone()).collect();
        causes.extend(start.causes().into_iter().filter(|cause| !messages.contains(&cause.message)));
    }
    if causes.is_empty() && owner.is_some() {
        causes.extend(created_metadata(&object, &below("metadata"), Stage::Start));
    }
    if causes.is_empty() {
        let disks = machine_path.map(|path| each(&object, &format!("{path}.dataVolumeTemplates[].metadata")));
        let disks = disks.into_iter().flatten();
        causes.extend(disks.flat_map(|(path, _)| created_metadata(&object, &path, Stage::Disk)));
        let mut pod = Checker::new(cluster, validated, &spec_path, Stage::Pod);
        pod.pod();
        causes.extend(pod.causes());
        let mut domain = Checker::new(cluster, &complete, &spec_path, Stage::Domain);
        domain.rows("domain");
        // The content of a missing preference is unknown.
        if at(&object, machine_path.unwrap_or_default())["preference"].is_null() || machine.preference.is_some() {
            domain.rows("domain-of-preference");
        }
        causes.extend(domain.causes());
    }
    let launcher = launcher(cluster, &complete, machine.namespace);
    Verdict { causes, spec: complete, launcher }
}

/// Checks that only run on creation; later ones depend on them. `paths` are those of the instance's spec and of the
/// machine's; empty where there is none.
fn creation(
    cluster: Cluster<'_>,
    machine: Machine<'_>,
    object: &Value,
    complete: &Value,
    paths: [&str; 2],
) -> Vec<Cause> {
    let [spec_path, path] = paths;
    if !path.is_empty() {
        let mut matchers = Checker::new(cluster, at(object, path), path, Stage::Mutating);
        matchers.rows("matchers");
        if !matchers.found.is_empty() {
            return matchers.causes();
        }
        let mut applied = Checker::new(cluster, at(object, spec_path), spec_path, Stage::Mutating);
        if let Some(instancetype) = machine.instancetype {
            if let Some(message) = defaults::spread_problem(instancetype, machine.preference) {
                let path = Path::dotted(path).key("preference").key("name");
                return vec![Cause::new(Stage::Mutating, path, CauseKind::Preference, message)];
            }
            let metadata = spec_path.strip_suffix("spec").unwrap_or_default().to_owned() + "metadata";
            applied.instancetype_conflicts(instancetype, &metadata, at(object, &metadata));
        }
        if !applied.found.is_empty() {
            return applied.causes();
        }
    }
    let mut creation = Checker::new(cluster, complete, spec_path, Stage::Validating);
    if let Some(preference) = machine.preference.filter(|_| !path.is_empty()) {
        creation.requirements(machine, preference, path);
    }
    if creation.found.is_empty() {
        creation.rows("creation");
    }
    creation.causes()
}

/// The webhooks' rejections of an instance's metadata.
fn metadata(cluster: Cluster<'_>, object: &Value, path: &str) -> Vec<Cause> {
    let metadata = at(object, path);
    let mut checker = Checker::new(cluster, metadata, path, Stage::Validating);
    let labels = members(&metadata["labels"]);
    for (label, _) in labels.filter(|(label, _)| NAMES["labelsReservedByKubeVirt"].contains(&label.as_str())) {
        let message = "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited";
        checker.reject("labels", CauseKind::Removed, message);
        checker.found.last_mut().into_iter().for_each(|cause| cause.path = cause.path.key(label));
    }
    for (annotation, gate, shown) in GATED_ANNOTATIONS {
        if !text(&metadata["annotations"][annotation]).is_empty() && !cluster.has_gate(gate) {
            let message = format!(
                "{shown} feature gate is not enabled in kubevirt-config, invalid entry {path}.annotations.{annotation}"
            );
            let path = Path::dotted(path).key("annotations").key(annotation);
            checker.found.push(Cause::new(Stage::Validating, path, CauseKind::GateOff(gate), message));
        }
    }
    checker.found
}

/// The API server's rejections of an object that gets its metadata from a template.
fn created_metadata(object: &Value, path: &str, stage: Stage) -> Vec<Cause> {
    let created = serde_json::json!({"metadata": at(object, path)});
    let named = |cause: &Cause| cause.kind != CauseKind::Missing;
    let base = Path::dotted(path).parent();
    let below = |cause: Cause| {
        let path = Path(base.0.iter().cloned().chain(cause.path.0).collect());
        Cause { stage, path, ..cause }
    };
    object_metadata(&created).into_iter().filter(named).map(below).collect()
}

/// The claims that a machine's volumes name.
struct Claims<'m> {
    used: HashSet<&'m str>,
    /// Those that none of its templates creates, in their order.
    free: Vec<&'m str>,
    has_placeholder: bool,
}

impl<'m> Claims<'m> {
    fn of(machine: &'m Value) -> Self {
        let volumes = list(at(machine, "template.spec.volumes")).iter();
        let names = volumes.flat_map(|v| [&v["dataVolume"]["name"], &v["persistentVolumeClaim"]["claimName"]]);
        let names: Vec<&str> = names.filter_map(Value::as_str).collect();
        let templates = list(&machine["dataVolumeTemplates"]).iter();
        let templates: HashSet<&str> = templates.map(|t| text(at(t, "metadata.name"))).collect();
        Self {
            used: names.iter().copied().collect(),
            free: names.iter().copied().filter(|name| !templates.contains(name)).collect(),
            has_placeholder: names.iter().any(|name| is_placeholder(name)),
        }
    }
}

impl Checker<'_> {
    /// Checks an instance's spec.
    fn instance(&mut self) {
        self.rows("instance");
        self.rows("block-size");
        self.memory();
        self.machine_type();
        self.cpu();
        self.placement();
        self.networks();
        self.rows("resource-claims");
        self.boot_order();
        self.rows("volumes");
        self.rows("dns");
        self.rows("launch-security");
        self.rows(&format!("launch-security-{}", self.text("architecture")));
    }

    /// Checks that run when an instance is created.
    fn start(&mut self, machine: Machine<'_>, owner: &Value) {
        self.rows("start");
        self.rows(&format!("on-{}", self.text("architecture")));
        // The content of a missing instance type is unknown.
        let is_unknown = !owner[TypeKind::Instancetype.field()].is_null() && machine.instancetype.is_none();
        if !is_unknown {
            self.rows("size");
        }
    }

    /// Checks the requirements of a preference.
    fn requirements(&mut self, machine: Machine<'_>, preference: &Value, owner: &str) {
        let requirements = &preference["requirements"];
        let cpu = number(at(requirements, "cpu.guest"));
        let reference = |field: &str| Path::dotted(owner).key(field).key("name");
        let mut reject = |path: Path, message: String| {
            // The server stops at the first problem.
            if self.found.is_empty() {
                let message = format!("failure checking preference requirements: {message}");
                let cause = Cause::new(Stage::Validating, path, CauseKind::Preference, message);
                self.found.push(cause);
            }
        };
        let provider = if machine.instancetype.is_some() { "instance type" } else { "VirtualMachine" };
        let own_field = |field: &str| Path::dotted(&format!("{owner}.template.spec.domain.{field}"));
        let (provided, of, path) = match machine.instancetype {
            Some(instancetype) => (number(at(instancetype, "cpu.guest")), String::new(), reference("instancetype")),
            // A missing instance type may be sufficient.
            None if !at(machine.object, owner)["instancetype"].is_null() => return,
            None => {
                let (fields, shown) = counted_fields(preference);
                let cores = at(self.spec, "domain.cpu");
                let provided = fields.iter().map(|f| number(&cores[*f])).product();
                (provided, format!(" provided as {shown}"), own_field(&format!("cpu.{}", fields[0])))
            }
        };
        let is_known = |field: &str| !is_placeholder(&at(self.spec, field).to_string());
        if provided < cpu && is_known("domain.cpu") {
            let message = format!(
                "insufficient CPU resources of {provided} vCPU provided by {provider}, preference requires {cpu} vCPU{of}"
            );
            reject(path, message);
        }
        let required = at(requirements, "memory.guest");
        let memory = at(self.spec, "domain.memory.guest");
        if quantity(required).is_some() && is_known("domain.memory") && whole(memory) < whole(required) {
            let (own, required) = (printed(memory), printed(required));
            let message = format!(
                "insufficient Memory resources of {own} provided by {provider}, preference requires {required}"
            );
            let path = match machine.instancetype {
                Some(_) => reference("instancetype"),
                None => own_field("memory.guest"),
            };
            reject(path, message);
        }
        let (required, own) = (text(&requirements["architecture"]), text(&self.spec["architecture"]));
        if !required.is_empty() && !own.is_empty() && required != own {
            let message = format!("preference requires architecture {required} but {own} is being requested");
            let path = format!("{owner}.template.spec.architecture");
            reject(Path::dotted(&path), message);
        }
    }

    /// Checks the fields of a VirtualMachine.
    fn machine(&mut self, namespace: &str) {
        self.rows("machine");
        let rejected = self.rows("disk-template");
        let claims = Claims::of(self.spec);
        for (path, template) in self.each("dataVolumeTemplates[]") {
            if !rejected.contains(&path) {
                self.disk_template(&path, template, &claims);
            }
            let own = text(at(template, "metadata.namespace"));
            if !own.is_empty() && !namespace.is_empty() && own != namespace {
                let message = format!("Embedded DataVolume namespace {own} differs from VM namespace {namespace}");
                let with = Path::dotted("metadata.namespace");
                self.reject(&format!("{path}.metadata.namespace"), CauseKind::Contradicts(with), message);
            }
        }
    }

    /// Checks that a volume uses a data volume template of the machine.
    fn disk_template(&mut self, path: &str, template: &Value, claims: &Claims<'_>) {
        let name = text(at(template, "metadata.name"));
        if claims.used.contains(name) || claims.has_placeholder {
            return;
        }
        let shown = self.name(path).replace("dataVolumeTemplates", "dataVolumeTemplate");
        let message =
            format!("DataVolumeTemplate entry {shown} must be referenced in the VMI template's 'volumes' list");
        self.reject(&format!("{path}.metadata.name"), dangling(name, claims.free.iter().copied()), message);
    }

    /// Checks the fields of a pool or replica set.
    fn group(&mut self, kind: &str) {
        if !self.rows("decoded").is_empty() {
            return;
        }
        let template = if kind == "VirtualMachinePool" { "virtualMachineTemplate" } else { "template" };
        let labels = self.get(&format!("{template}.metadata.labels")).as_object();
        let labels = labels.into_iter().flatten().map(|(k, v)| (k.clone(), text(v).to_owned())).collect();
        if let Some(message) = selector_problem(self.get("selector")) {
            self.reject("selector", CauseKind::Malformed, message);
        } else if !Selector::of(self.get("selector")).is_some_and(|s| s.matches(&labels)) {
            let with = self.path(&format!("{template}.metadata.labels"));
            self.reject("selector", CauseKind::Contradicts(with), "selector does not match labels.");
        }
        self.rows("strategies");
    }
}

/// Apimachinery's first problem with a selector that it can't parse.
fn selector_problem(selector: &Value) -> Option<String> {
    let empty = Vec::new();
    let labels = members(&selector["matchLabels"]);
    let labels = labels.map(|(k, v)| (k.as_str(), "In", std::slice::from_ref(v)));
    let expressions = selector["matchExpressions"].as_array().unwrap_or(&empty).iter();
    let expressions = expressions.map(|e| (text(&e["key"]), text(&e["operator"]), list(&e["values"])));
    labels.chain(expressions).find_map(|(key, operator, values)| {
        let is_set = matches!(operator, "In" | "NotIn");
        if !is_set && !matches!(operator, "Exists" | "DoesNotExist") {
            return Some(format!("\"{operator}\" is not a valid label selector operator"));
        }
        let shown = || joined(values.iter().map(Value::to_string), ",");
        let mut problems = Vec::new();
        let keys = key_problems(key);
        if !keys.is_empty() {
            problems.push(format!("key: Invalid value: \"{key}\": {}", keys.join("; ")));
        }
        if is_set && values.is_empty() {
            problems
                .push("values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty".to_owned());
        } else if !is_set && !values.is_empty() {
            let shown = shown();
            problems.push(format!(
                "values: Invalid value: [{shown}]: values set must be empty for exists and does not exist"
            ));
        }
        for (i, value) in values.iter().enumerate() {
            let wrong = value_problems(text(value));
            if !wrong.is_empty() {
                problems.push(format!("values[{i}][{key}]: Invalid value: {value}: {}", wrong.join("; ")));
            }
        }
        match &problems[..] {
            [] => None,
            [one] => Some(one.clone()),
            several => Some(format!("[{}]", several.join(", "))),
        }
    })
}

/// The fields that a preference's topology counts, and their name in the server's message.
fn counted_fields(preference: &Value) -> (&'static [&'static str], &'static str) {
    match defaults::topology(Some(preference)) {
        "cores" | "preferCores" => (&["cores"], "cores"),
        "threads" | "preferThreads" => (&["threads"], "threads"),
        "any" | "preferAny" => (&["cores", "sockets", "threads"], "cores, sockets and threads"),
        "spread" | "preferSpread" => match defaults::spread(Some(preference)).1 {
            "CoresThreads" => (&["cores", "threads"], "CoresThreads"),
            "SocketsCoresThreads" => (&["sockets", "cores", "threads"], "SocketsCoresThreads"),
            _ => (&["sockets", "cores"], "SocketsCores"),
        },
        _ => (&["sockets"], "sockets"),
    }
}
