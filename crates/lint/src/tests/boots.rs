//! The boot results of a table of combinations.

use std::fs;

use hcoplan_testing::root;
use serde_json::{Value, json};

use super::load::Case;
use crate::Settings;

const IMAGE: &str = "registry.example.com/kiosk:1";

#[test]
fn each_combination_boots_as_the_operators_have_it() {
    let text = fs::read_to_string(root().join("testdata/boots/table.txt")).expect("the table");
    let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows {
        let fields: Vec<&str> = row.split('|').map(str::trim).collect();
        let [release, nodes, cluster, machine, expected, source] = fields[..] else {
            panic!("no row: {row}");
        };
        assert!(!source.is_empty(), "{row}");
        let found = answer(release, nodes, cluster, machine);
        if found != expected {
            wrong.push(format!("{row}\n    found: {found}"));
        }
        count += 1;
    }
    assert!(count >= 60, "{count} combinations");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn answer(release: &str, nodes: &str, cluster: &str, machine: &str) -> String {
    let case = Case::of(&hyperconverged(cluster), &inventory(release, nodes));
    let others = others(machine);
    let settings = Settings::default();
    let context = case.context(&settings, &others);
    let boots = context.boots();
    let [boot] = &boots[..] else {
        panic!("one machine: {machine}");
    };
    let cause = boot.answer.cause.as_ref().map(|cause| format!(": {}", cause.sentence()));
    format!("{}{}", boot.answer.outcome.as_str(), cause.unwrap_or_default())
}

fn inventory(release: &str, nodes: &str) -> String {
    let node = |(i, text): (usize, &str)| {
        let (text, taint) = text.split_once('+').unwrap_or((text, ""));
        let (role, architecture) = text.split_once(':').expect("role:architecture");
        let roles = match role {
            "cp" => json!(["control-plane"]),
            "worker" => json!(["worker"]),
            _ => json!(["control-plane", "worker"]),
        };
        let mut node = json!({"name": format!("n{i}"), "architecture": architecture, "roles": roles});
        if !taint.is_empty() {
            node["taints"] = json!([{"key": taint, "effect": "NoSchedule"}]);
        }
        node
    };
    let mut spec = json!({"release": release, "platform": "OpenShift"});
    if nodes != "assumed" {
        spec["nodes"] = nodes.split(' ').enumerate().map(node).collect();
    }
    json!({"apiVersion": "hcoplan.dev/v1alpha1", "kind": "ClusterInventory", "metadata": {"name": "c"}, "spec": spec})
        .to_string()
}

fn registry(pin: &str) -> Value {
    let mut registry = json!({"url": format!("docker://{IMAGE}")});
    if !pin.is_empty() {
        registry["platform"] = json!({"architecture": pin});
    }
    json!({"registry": registry})
}

fn cron(name: &str, pin: &str) -> Value {
    json!({
        "schedule": "0 0 * * *", "managedDataSource": name, "retentionPolicy": "All", "importsToKeep": 2,
        "template": {"spec": {
            "source": registry(pin), "storage": {"resources": {"requests": {"storage": "10Gi"}}},
        }},
    })
}

fn tolerations(key: &str) -> Value {
    json!([{"key": key, "operator": "Exists"}])
}

fn hyperconverged(words: &str) -> String {
    let mut spec = json!({});
    for word in words.split(' ') {
        let (word, value) = word.split_once('=').unwrap_or((word, ""));
        match word {
            "on" | "off" => spec["featureGates"] = json!({"enableMultiArchBootImageImport": word == "on"}),
            "place" => spec["workloads"] = json!({"nodePlacement": {"nodeSelector": {"kubernetes.io/arch": value}}}),
            "tolerate" => spec["workloads"] = json!({"nodePlacement": {"tolerations": tolerations(value)}}),
            "runtime" => spec["defaultRuntimeClass"] = "kata".into(),
            "state" => spec["vmStateStorageClass"] = value.into(),
            "common-ns" => spec["commonBootImageNamespace"] = value.into(),
            "template" => {
                let (name, what) = value.split_once(':').expect("name:what");
                let pin = what.strip_prefix("pin=").unwrap_or_default();
                let mut metadata = json!({"name": name});
                if let Some(has) = what.strip_prefix("has=") {
                    metadata["annotations"] = json!({"ssp.kubevirt.io/dict.architectures": has});
                }
                spec["dataImportCronTemplates"] = json!([{"metadata": metadata, "spec": cron(name, pin)}]);
            }
            _ => panic!("{word}"),
        }
    }
    let metadata = json!({"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"});
    json!({"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged", "metadata": metadata, "spec": spec})
        .to_string()
}

/// The virtual machine and the objects it refers to.
fn others(words: &str) -> String {
    let mut spec = json!({"domain": {"devices": {}, "memory": {"guest": "4Gi"}}});
    let mut owner = json!({"runStrategy": "Always"});
    let mut others = Vec::new();
    let template = |mut of: Value| {
        of["storage"] = json!({"resources": {"requests": {"storage": "10Gi"}}});
        json!([{"metadata": {"name": "root"}, "spec": of}])
    };
    let mut volume = json!({"dataVolume": {"name": "root"}});
    for word in words.split(' ') {
        let (word, value) = word.split_once('=').unwrap_or((word, ""));
        match word {
            "arch" => spec["architecture"] = value.into(),
            "select" => spec["nodeSelector"] = json!({"kubernetes.io/arch": value}),
            "tolerate" => spec["tolerations"] = tolerations(value),
            "from" => {
                let (namespace, name) = value.split_once('/').unwrap_or(("kubevirt-os-images", value));
                let source = json!({"kind": "DataSource", "name": name, "namespace": namespace});
                owner["dataVolumeTemplates"] = template(json!({"sourceRef": source}));
            }
            "registry" => owner["dataVolumeTemplates"] = template(json!({"source": registry(value)})),
            "url" => {
                let source = json!({"source": {"http": {"url": "https://example.com/disk.qcow2"}}});
                owner["dataVolumeTemplates"] = template(source);
            }
            "pvc" | "snapshot" => {
                let (namespace, name) = value.split_once('/').expect("namespace/name");
                owner["dataVolumeTemplates"] =
                    template(json!({"source": {word: {"name": name, "namespace": namespace}}}));
            }
            // The class of a volume of its own, whose volumes are on one architecture's nodes.
            "class" => {
                let mut class = object("storage.k8s.io/v1", "StorageClass", json!({"name": "fast"}), Value::Null);
                class["provisioner"] = "csi.example.com".into();
                let labels = json!([{"key": "kubernetes.io/arch", "values": [value]}]);
                class["allowedTopologies"] = json!([{"matchLabelExpressions": labels}]);
                others.push(class);
                let metadata = json!({"name": "root", "namespace": "shop"});
                let spec = json!({"storageClassName": "fast", "accessModes": ["ReadWriteMany"]});
                others.push(object("v1", "PersistentVolumeClaim", metadata, spec));
            }
            "runtime" => {
                let mut class = object("node.k8s.io/v1", "RuntimeClass", json!({"name": "kata"}), Value::Null);
                let (architecture, taint) = value.split_once('+').unwrap_or((value, "none"));
                let selector = json!({"kubernetes.io/arch": architecture});
                class["scheduling"] = json!({"nodeSelector": selector, "tolerations": tolerations(taint)});
                others.push(class);
            }
            // A TPM that lasts, and a declared class for its state.
            "tpm" => {
                spec["domain"]["devices"]["tpm"] = json!({"persistent": true});
                let mut class = object("storage.k8s.io/v1", "StorageClass", json!({"name": value}), Value::Null);
                class["provisioner"] = "csi.example.com".into();
                others.push(class);
            }
            "claim" => volume = json!({"persistentVolumeClaim": {"claimName": "elsewhere"}}),
            "volume" => {
                let metadata = json!({"name": "root", "namespace": "shop"});
                others.push(object(
                    "cdi.kubevirt.io/v1beta1",
                    "DataVolume",
                    metadata,
                    json!({"source": registry(value), "storage": {"resources": {"requests": {"storage": "30Gi"}}}}),
                ));
            }
            "image" => {
                volume = json!({"containerDisk": {"image": IMAGE}});
                if let Some(names) = value.strip_prefix("list:") {
                    let names: Vec<&str> = names.split(',').collect();
                    others.push(json!({"apiVersion": "hcoplan.dev/v1alpha1", "kind": "ImageArchitectures",
                        "images": [{"image": IMAGE, "architectures": names}]}));
                } else if let Some(seen) = value.strip_prefix("seen:") {
                    others.push(json!([{"RepoTags": [IMAGE], "Architecture": seen, "Os": "linux"}]));
                }
            }
            "preference" => {
                let (name, prefers) = value.split_once(':').unwrap_or((value, ""));
                owner["preference"] = json!({"name": name});
                if !prefers.is_empty() {
                    let spec = json!({"preferredArchitecture": prefers});
                    let kind = "VirtualMachineClusterPreference";
                    others.push(object("instancetype.kubevirt.io/v1beta1", kind, json!({"name": name}), spec));
                }
            }
            "cron" => {
                let (name, pin) = value.split_once(':').expect("name:pin");
                let metadata = json!({"name": name, "namespace": "own"});
                others.push(object("cdi.kubevirt.io/v1beta1", "DataImportCron", metadata, cron(name, pin)));
            }
            _ => panic!("{word}"),
        }
    }
    volume["name"] = "root".into();
    spec["volumes"] = json!([volume]);
    owner["template"] = json!({"spec": spec});
    others.push(object("kubevirt.io/v1", "VirtualMachine", json!({"name": "till", "namespace": "shop"}), owner));
    others.iter().map(|o| format!("---\n{o}\n")).collect()
}

fn object(version: &str, kind: &str, metadata: Value, spec: Value) -> Value {
    json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})
}
