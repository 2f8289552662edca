//! KubeVirt `kubevirt.io/v1`. Source of every rule: HCO `controllers/handlers/kubevirt.go`.

use super::cr::Rendering;
use super::{Context, Error, kubevirt_gates};
use crate::prelude::*;
use hcoplan_kubernetes::go::syntax_error;
use hcoplan_kubernetes::quantity::Quantity;
use hcoplan_kubernetes::tree::{copy, object, set};

const KIND: &str = "KubeVirt";

const TUNING: &str = "virtualization.tuningPolicy";

/// Set on the KubeVirt while the gate `alignCPUs` is on.
const EVEN_PARITY: &str = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity";

/// Rendered always.
pub(super) fn render(cx: &Context<'_>) -> Rendering {
    check_bandwidth(cx)?;
    let tuning = tuning(cx)?;
    let tls = tls_configuration(cx)?;
    if cx.only_needs_errors(KIND) {
        return Ok(None);
    }
    let align_cpus = cx.hc.gates.is_enabled("alignCPUs", false);
    let annotations: &[&str] = if align_cpus { &[EVEN_PARITY] } else { &[] };
    cx.finish(KIND, annotations, spec(cx, tuning, tls))
}

fn spec(cx: &Context<'_>, tuning: Option<Value>, tls: Value) -> Value {
    let mut spec = cx.base(KIND);
    if let Some(version) = cx.version {
        set(&mut spec, "productVersion", version.into());
    }
    set(&mut spec, "serviceMonitorNamespace", cx.inventory.namespace.as_str().into());
    set(&mut spec, "uninstallStrategy", uninstall_strategy(cx).into());
    configuration(cx, tuning, tls, &mut spec);
    if let Some(infra) = infra(cx) {
        set(&mut spec, "infra", infra);
    }
    spec
}

/// `RemoveWorkloads` only if the CR has exactly that value; also used for CDI.
pub(super) fn uninstall_strategy(cx: &Context<'_>) -> &'static str {
    match cx.hc.text("deployment.uninstallStrategy") {
        Some("RemoveWorkloads") => "RemoveWorkloads",
        _ => "BlockUninstallIfWorkloadsExist",
    }
}

/// `spec.infra`: one replica if the control plane is too small for two.
fn infra(cx: &Context<'_>) -> Option<Value> {
    let placement = cx.hc.infra_placement();
    let topology = cx.topology;
    let has_two_replicas = if cx.release.has("infra-replicas-by-node-count") {
        topology.control_plane_nodes >= 2
    } else {
        topology.control_plane_highly_available(cx.release.has("counts-arbiter-nodes"))
    };
    let mut infra = Map::new();
    if let Some(placement) = placement {
        infra.insert("nodePlacement".into(), placement.clone());
    }
    if topology.control_plane_nodes == 0 && placement.is_none() {
        // Hosted control plane: virt's infra pods run anywhere.
        infra.insert("nodePlacement".into(), json!({}));
        if !topology.infrastructure_highly_available() {
            infra.insert("replicas".into(), json!(1));
        }
    } else if !has_two_replicas {
        infra.insert("replicas".into(), json!(1));
    }
    (!infra.is_empty()).then_some(Value::Object(infra))
}

fn configuration(cx: &Context<'_>, tuning: Option<Value>, tls: Value, spec: &mut Value) {
    developer_configuration(cx, spec);
    network_bindings(cx, spec);
    obsolete_cpu_models(cx, spec);
    set(spec, "configuration.tlsConfiguration", tls);
    for (path, value) in [
        ("configuration.mediatedDevicesConfiguration", mediated_devices(cx)),
        ("configuration.permittedHostDevices", permitted_host_devices(cx)),
        ("configuration.architectureConfiguration", architecture_configuration(cx)),
        ("configuration.smbios", smbios(cx)),
    ] {
        if let Some(value) = value {
            set(spec, path, value);
        }
    }
    if cx.release.has("min-cpu-model") {
        copy(spec, "configuration.minCPUModel", cx.hc.get("virtualization.minCPUModel"));
    }
    if let Some(enabled) = persistent_reservation(cx) {
        set(spec, "configuration.persistentReservationConfiguration.enabled", json!(enabled));
    }
    if let Some(tuning) = tuning {
        for client in [
            "configuration.apiConfiguration",
            "configuration.webhookConfiguration",
            "configuration.controllerConfiguration",
            "configuration.handlerConfiguration",
        ] {
            set(spec, client, tuning.clone());
        }
    }
}

fn developer_configuration(cx: &Context<'_>, spec: &mut Value) {
    let gates = kubevirt_gates::enabled(cx);
    if let Some(disabled) = kubevirt_gates::disabled(cx, &gates) {
        set(spec, "configuration.developerConfiguration.disabledFeatureGates", disabled.into());
    }
    set(spec, "configuration.developerConfiguration.featureGates", gates.into());
    if kubevirt_gates::emulation(cx) {
        set(spec, "configuration.developerConfiguration.useEmulation", json!(true));
    }
}

/// The CR's bindings; HCO's override those of the same name.
fn network_bindings(cx: &Context<'_>, spec: &mut Value) {
    let constants = &cx.release.tables().kubevirt;
    let passt = constants.passt_network_binding.as_ref();
    let passt = passt.filter(|_| cx.hc.annotation_is("hco.kubevirt.io/deployPasstNetworkBinding", "true"));
    let mut bindings = match cx.hc.get("networking.networkBinding") {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    let own = [Some(&constants.network_binding), passt].into_iter();
    let own = own.flatten().filter_map(Value::as_object).flatten();
    for (name, binding) in own {
        let mut binding = binding.clone();
        if let Some(image) = binding.get_mut("sidecarImage") {
            *image = json!(cx.env("PASST_SIDECAR_IMAGE"));
        }
        bindings.insert(name.clone(), binding);
    }
    set(spec, "configuration.network.binding", bindings.into());
}

fn obsolete_cpu_models(cx: &Context<'_>, spec: &mut Value) {
    let own = &cx.release.tables().kubevirt.obsolete_cpu_models;
    let listed = cx.hc.list("virtualization.obsoleteCPUModels").iter();
    let all = own.iter().map(String::as_str);
    let all = all.chain(listed.filter_map(Value::as_str));
    let models: Map<_, _> = all.map(|m| (m.to_owned(), json!(true))).collect();
    set(spec, "configuration.obsoleteCPUModels", models.into());
}

/// No ciphers if the profile has a `modern` member: TLS 1.3 has none to choose.
fn tls_configuration(cx: &Context<'_>) -> Result<Value, Error> {
    let tables = &cx.release.tables().tls;
    let tls = cx.tls.for_kubevirt(tables)?;
    let value = &tls.value;
    let custom = value.get("custom").is_some_and(Value::is_object);
    let modern = value.get("modern").is_some_and(Value::is_object);
    let mut out = object([("minTLSVersion", tls.known_min_version().into())]);
    if custom || !modern {
        set(&mut out, "ciphers", tls.iana_ciphers(tables).into());
    }
    Ok(out)
}

/// Before v1 the types also had a misspelt field, used if the correct one is empty. From 1.18 on the gate
/// `disableMDevConfiguration` (1.19: or a field) disables the handling.
fn mediated_devices(cx: &Context<'_>) -> Option<Value> {
    let configured = cx.hc.get("virtualization.mediatedDevicesConfiguration");
    let mut out = configured.map(|own| {
        let nodes = own.get("nodeMediatedDeviceTypes").and_then(Value::as_array);
        let nodes = nodes.map(|list| {
            let node =
                |n: &Value| json!({"nodeSelector": n.get("nodeSelector"), "mediatedDeviceTypes": device_types(n)});
            list.iter().map(node).collect::<Vec<_>>()
        });
        json!({
            "mediatedDeviceTypes": device_types(own),
            "nodeMediatedDeviceTypes": nodes,
            "enabled": own.get("enabled"),
        })
    });
    let unset = configured.and_then(|c| c.get("enabled")).is_none_or(Value::is_null);
    if cx.release.has("mdev-switch-is-a-field") && unset && cx.hc.gates.is_enabled("disableMDevConfiguration", false) {
        set(out.get_or_insert_with(|| json!({})), "enabled", json!(false));
    }
    out
}

fn device_types(own: &Value) -> Option<&Value> {
    let filled = |name: &str| own.get(name).filter(|v| v.as_array().is_some_and(|a| !a.is_empty()));
    filled("mediatedDeviceTypes").or_else(|| filled("mediatedDevicesTypes"))
}

/// Devices that are not `disabled`, with KubeVirt's names for two fields.
fn permitted_host_devices(cx: &Context<'_>) -> Option<Value> {
    let own = cx.hc.get("virtualization.permittedHostDevices")?;
    let devices = |name: &str, rename: Option<(&str, &str)>| {
        let list = own.get(name).and_then(Value::as_array)?;
        let enabled = list.iter().filter(|d| d.get("disabled") != Some(&Value::Bool(true)));
        let devices = enabled.map(|device| {
            let mut device = device.clone();
            if let (Some((from, to)), Some(map)) = (rename, device.as_object_mut())
                && let Some(value) = map.remove(from)
            {
                map.insert(to.to_owned(), value);
            }
            device
        });
        Some(devices.collect::<Vec<_>>())
    };
    Some(json!({
        "pciHostDevices": devices("pciHostDevices", Some(("pciDeviceSelector", "pciVendorSelector"))),
        "mediatedDevices": devices("mediatedDevices", None),
        "usb": devices("usbHostDevices", None),
    }))
}

/// Per architecture, if the operator's environment has a machine type.
fn architecture_configuration(cx: &Context<'_>) -> Option<Value> {
    let mut out = Map::new();
    for (architecture, constants) in &cx.release.tables().kubevirt.architectures {
        let mut variables = constants.machine_type_env.iter();
        if let Some(machine_type) = variables.find_map(|v| cx.env(v)) {
            let config = json!({
                "machineType": machine_type.trim(),
                "ovmfPath": constants.ovmf_path,
                "emulatedMachines": constants.emulated_machines,
            });
            out.insert(architecture.clone(), config);
        }
    }
    if let Some(architecture) = &cx.topology.default_architecture
        && cx.release.has("default-architecture")
    {
        out.insert("defaultArchitecture".into(), json!(architecture));
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

/// The environment's `SMBIOS`, lines of `Key: value`; keys differ only in the case of their first letter.
fn smbios(cx: &Context<'_>) -> Option<Value> {
    let text = cx.env("SMBIOS")?;
    let mut out = Map::new();
    for line in text.lines() {
        if let Some((key, value)) = line.split_once(':') {
            out.insert(key.trim().to_ascii_lowercase(), json!(value.trim()));
        }
    }
    Some(Value::Object(out))
}

/// The field (v1 of 1.19), else the gate that it replaces.
fn persistent_reservation(cx: &Context<'_>) -> Option<bool> {
    if !cx.release.has("persistent-reservation-is-a-field") {
        return None;
    }
    let field = cx.hc.flag("storage.persistentReservationConfiguration.enabled");
    field.or_else(|| {
        let gate = cx.hc.gates.is_enabled("persistentReservation", false);
        gate.then_some(true)
    })
}

/// The schema's pattern rejects invalid texts, but an older stored one may exist.
fn check_bandwidth(cx: &Context<'_>) -> Result<(), Error> {
    const FIELD: &str = "virtualization.liveMigrationConfig.bandwidthPerMigration";
    let written = cx.hc.get(FIELD).and_then(Value::as_str);
    let Some(Err(error)) = written.map(Quantity::parse) else {
        return Ok(());
    };
    let message = format!("failed to parse the LiveMigrationConfig.bandwidthPerMigration field; {error}");
    Err(Error::of_field(KIND, FIELD, message))
}

/// The client rate limits of `tuningPolicy`, from the annotation or the old `highBurst`.
fn tuning(cx: &Context<'_>) -> Result<Option<Value>, Error> {
    const ANNOTATION: &str = "hco.kubevirt.io/tuningPolicy";
    let annotation = cx.hc.annotations.get(ANNOTATION);
    let high_burst = cx.release.tables().kubevirt.high_burst;
    let limits = match (cx.hc.text(TUNING), high_burst) {
        (Some("annotation"), _) => annotated_limits(annotation)?,
        (Some("highBurst"), Some(limit)) => {
            if annotation.is_some() {
                let message = format!("highBurst profile is enabled and the annotation {ANNOTATION} is present");
                return Err(Error::of_field(KIND, TUNING, message));
            }
            json!({"qps": limit.qps, "burst": limit.burst})
        }
        _ => return Ok(None),
    };
    Ok(Some(json!({"restClient": {"rateLimiter": {"tokenBucketRateLimiter": limits}}})))
}

/// The type of the annotation's limits in Go.
const RATE_LIMITS: &str = "handlers.rateLimits";

static RATE_LIMIT_TYPES: LazyLock<GoTypes> = LazyLock::new(|| {
    let table = json!({"structs": {RATE_LIMITS: {"qps": "float32", "burst": "int"}}, "names": {}, "roots": {}});
    GoTypes::from_json(&table.to_string()).expect("a table of one struct")
});

/// Decodes `{"qps": float32, "burst": int}` like Go; both must be above zero.
fn annotated_limits(annotation: Option<&String>) -> Result<Value, Error> {
    let error = |message: &str| Error::of_field(KIND, TUNING, message);
    let text = annotation.ok_or_else(|| error("tuning policy set but annotation not present or wrong"))?;
    let limits: Value =
        serde_json::from_str(text).map_err(|e| error(&syntax_error(text).unwrap_or_else(|| e.to_string())))?;
    let ty = RATE_LIMIT_TYPES.named(RATE_LIMITS).expect("the only struct");
    let limits = RATE_LIMIT_TYPES.merge(&Value::Null, &limits, ty).map_err(|e| error(&e.message))?;
    for name in ["qps", "burst"] {
        if !limits[name].as_f64().is_some_and(|n| n > 0.0) {
            return Err(error(&format!("{name} parameter not found in annotation")));
        }
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::inventory::{Inventory, Node};
    use crate::plan::plan;
    use crate::release::Release;

    #[test]
    fn without_control_plane_nodes_infra_pods_go_anywhere_or_where_the_manifest_says() {
        let worker = Node {
            architecture: "amd64".to_owned(),
            labels: [("node-role.kubernetes.io/worker".to_owned(), String::new())].into(),
            ..Node::default()
        };
        let inventory = Inventory { nodes: vec![worker], ..Inventory::default() };
        let release = Release::known("1.18").expect("known");
        let infra = |spec: Value| {
            let manifest = json!({"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged",
                "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"}, "spec": spec});
            let plan = plan(&release, &inventory, &manifest);
            let object = plan.objects().find(|o| o.id.kind == "KubeVirt").expect("rendered");
            object.body["spec"]["infra"].clone()
        };
        assert_eq!(infra(json!({})), json!({"nodePlacement": {}, "replicas": 1}));
        let placement = json!({"nodeSelector": {"a": "b"}});
        let placed = infra(json!({"infra": {"nodePlacement": placement}}));
        assert_eq!(placed, json!({"nodePlacement": placement, "replicas": 1}));
    }
}
