//! For every row of the table, a wrong value is reported and a correct one isn't.

use serde_json::{Value as Json, json};

use super::kinds::Kind;
use super::{ROWS, Row};
use crate::Settings;
use crate::context::in_version;
use std::collections::BTreeSet;

use crate::tests::load::Case;

const INVENTORY: &str = "\
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: c}
spec:
  release: \"1.18\"
  platform: OpenShift
  baseDomain: example.com
  nodes:
    - {name: cp, architecture: amd64, roles: [control-plane]}
    - {name: w1, architecture: amd64, roles: [worker]}
    - {name: w2, architecture: arm64, roles: [worker]}
";

/// Correct and wrong values of a group of rows.
fn rows(group: &str) -> (Vec<Json>, Vec<Json>) {
    let kept = |n: i64, how: &str| json!({"importsToKeep": n, "garbageCollect": how});
    let disk = |content: &str, modes: &[&str]| json!({"contentType": content, "storage": {"volumeMode": "Block", "accessModes": modes}});
    match group {
        "usb-device" => (
            vec![
                json!({"resourceName": "a.com/b", "selectors": [{"vendor": "46f4", "product": "1"}]}),
                json!({"resourceName": "a.com/b", "externalResourceProvider": true}),
            ],
            vec![json!({"resourceName": "a.com/b"}), json!({"resourceName": "a.com/b", "selectors": []})],
        ),
        "most-memory" => (vec![json!("8Gi"), json!("2Mi")], vec![json!("3000M"), json!("-4Gi"), json!(0)]),
        "imports-kept" => (
            vec![kept(1, "Outdated"), kept(0, "Never"), json!({})],
            vec![kept(0, "Outdated"), json!({"importsToKeep": 0})],
        ),
        "made-claim" => (
            vec![disk("kubevirt", &["ReadWriteOncePod"]), disk("kubevirt", &["ReadWriteOnce", "ReadWriteMany"])],
            vec![disk("kubevirt", &["ReadWriteOnce", "ReadWriteOncePod"]), disk("archive", &[])],
        ),
        "one-binding" => (
            vec![json!({"name": "a", "bridge": {}}), json!({"name": "a"})],
            vec![json!({"bridge": {}, "sriov": {}}), json!({"masquerade": {}, "passtBinding": {}})],
        ),
        other => panic!("{other} has no samples"),
    }
}

/// Correct and wrong values of a kind.
fn samples(kind: Kind) -> (Vec<Json>, Vec<Json>) {
    let texts = |texts: &[&str]| texts.iter().map(|text| json!(text)).collect::<Vec<_>>();
    let arch = |values: &[&str]| {
        json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": values}]}]}})
    };
    let anti = |term: Json| json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    let weighted = |weight: i64| {
        json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight,
            "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}]}})
    };
    match kind {
        Kind::OneOf(words) => (texts(words), texts(&["Other", &words[0].to_ascii_uppercase()])),
        Kind::AtLeast(least) => (vec![json!(least), json!(7)], vec![json!(least - 1)]),
        Kind::Subdomain => (texts(&["fast", "fast.ssd-1"]), texts(&["Fast SSD", "fast_ssd", "-fast"])),
        Kind::Label => (texts(&["images"]), texts(&["Images", "my.images", "images_1"])),
        Kind::Toleration => (
            vec![
                json!({"operator": "Exists"}),
                json!({"key": "a", "value": "b", "effect": "NoExecute", "tolerationSeconds": 5}),
            ],
            vec![
                json!({"key": "a", "operator": "exists"}),
                json!({"key": "a", "operator": "Exists", "value": "b"}),
                json!({"key": "a", "operator": "Exists", "effect": "NoSched"}),
                json!({"key": "a b", "operator": "Exists"}),
                json!({"value": "b"}),
                json!({"key": "a", "value": "b c"}),
                json!({"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5}),
            ],
        ),
        Kind::Labels => (vec![json!({"example.com/a": "b"})], vec![json!({"a b": "c"}), json!({"a": "b c"})]),
        Kind::Annotations => (vec![json!({"Example.com/a": "any text"})], vec![json!({"a b": "c"})]),
        Kind::ImmediateBinding => {
            let of = |value: &str| vec![json!({"cdi.kubevirt.io/storage.bind.immediate.requested": value})];
            (of("true"), of("false"))
        }
        Kind::SubdomainKeys => (vec![json!({"fast.ssd": "0.1"})], vec![json!({"Fast SSD": "0.1"})]),
        Kind::OnlyKey(only) => (vec![json!({only: {}}), json!({})], vec![json!({"limits": {}}), json!({"cpu": 1})]),
        Kind::Rows(group) => rows(group),
        Kind::Quantity => (texts(&["0", "64Mi", "1.5Gi"]), texts(&["-64Mi"])),
        Kind::MediatedDeviceType => (texts(&["nvidia-222", "GRID_T4-1Q"]), texts(&["GRID T4-1Q", "nvidia-*"])),
        Kind::Image => (
            texts(&[
                "quay.io/a/b",
                "localhost:5000/a_b@sha256:0123456789abcdef0123456789abcdef",
                "[fd00::1]:5000/a:V1",
            ]),
            texts(&["quay.io/A/b", "docker://quay.io/a:1", "quay.io/a b", "quay.io/a:"]),
        ),
        Kind::PodAffinity => (
            vec![anti(json!({"topologyKey": "kubernetes.io/hostname"})), weighted(1), weighted(100)],
            vec![
                anti(json!({"topologyKey": ""})),
                anti(json!({"topologyKey": "a", "labelSelector": {"matchLabels": {"a": "b c"}}})),
                anti(json!({"topologyKey": "a", "namespaces": ["A_b"]})),
                weighted(0),
                weighted(101),
            ],
        ),
        Kind::Architectures => (vec![arch(&["amd64", "arm64"])], vec![arch(&["amd64", "aarch64"])]),
        Kind::LabelSelector => (
            vec![json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}), json!({})],
            vec![
                json!({"matchExpressions": [{"key": "a", "operator": "in", "values": ["b"]}]}),
                json!({"matchExpressions": [{"key": "a", "operator": "In"}]}),
                json!({"matchLabels": {"a": "b c"}}),
            ],
        ),
        Kind::ImportResources => (
            vec![
                json!({"requests": {"cpu": "500m"}}),
                json!({"limits": {"cpu": 2, "memory": "1Gi"}, "requests": {"cpu": 1, "memory": "1Gi"}}),
            ],
            vec![json!({"requests": {"cpu": 1}}), json!({"limits": {"memory": "10Mi"}})],
        ),
        Kind::Uuid => (
            texts(&["5d307ca9-b3ef-428c-8861-06e72d69f223", "5D307CA9B3EF428C886106E72D69F223"]),
            texts(&["till-1", "5d307ca9-b3ef-428c-8861-06e72d69f22"]),
        ),
        Kind::NodeRequirement => {
            let of = |operator: &str, value: &str| json!({"key": "a", "operator": operator, "values": [value]});
            (vec![of("Gt", "5"), of("In", "b")], vec![of("Gt", "b"), of("In", "b c"), of("in", "b")])
        }
        Kind::Resources => (
            vec![json!({"limits": {"cpu": 1, "example.com/x": 1}, "requests": {"cpu": "500m", "example.com/x": 1}})],
            vec![
                json!({"limits": {"cpu": "100m"}, "requests": {"cpu": "200m"}}),
                json!({"limits": {"cpus": 1}}),
                json!({"requests": {"memory": "-1Gi"}}),
                json!({"requests": {"example.com/x": 1}}),
                json!({"limits": {"example.com/x": "500m"}}),
            ],
        ),
        Kind::MacRange => (
            vec![json!({"rangeStart": "02:00:00:00:00:00", "rangeEnd": "02:00:00:00:00:ff"})],
            vec![
                json!({"rangeStart": "02:00:00:00:00:01", "rangeEnd": "02:00:00:00:00:00"}),
                json!({"rangeStart": "03:00:00:00:00:00", "rangeEnd": "03:00:00:00:00:ff"}),
                json!({"rangeStart": "02:00:00:00:00:00"}),
            ],
        ),
        Kind::NetworkName => (texts(&["edge", "net/edge"]), texts(&["a/b/c", "Edge", "net/"])),
        Kind::PciSelector => {
            (texts(&["10de:1eb8", "10DE:1EB8"]), texts(&["10de-1eb8", "0x10de:0x1eb8", "0000:65:00.0"]))
        }
        Kind::UsbIdentifier => (texts(&["0a1b"]), texts(&["0x0a1b", "12345", "wxyz"])),
        Kind::MediatedDeviceName => (texts(&["GRID T4-2Q", "i915-GVTg_V5_4"]), texts(&["nvidia-226", "GRID*", ""])),
        Kind::ResourceName => (texts(&["vendor.com/card"]), texts(&["card", "kubernetes.io/card"])),
        Kind::Host => (
            texts(&["a.example.com:5000"]),
            texts(&["https://a.example.com", "a.example.com/b", "*.b", "a.example.com:http"]),
        ),
        Kind::RegistryUrl => (
            texts(&["docker://a.example.com:5000/b:1", &format!("docker://a.example.com:5000/b@sha256:{:064}", 1)]),
            texts(&[
                "docker:/a.example.com/b",
                "docker://",
                "docker://a.example.com/B c",
                &format!("docker://b:1@sha256:{:064}", 1),
            ]),
        ),
        Kind::CpuModel => (
            texts(&["Haswell", "EPYC-v2", "FutureLake", "host-model"]),
            texts(&["haswell", "EPYC-ROME", "Haswel", "Opteron*"]),
        ),
        Kind::OfferedCpuModel => (texts(&["EPYC"]), texts(&["486"])),
        Kind::Architecture => (texts(&["arm64", "s390x"]), texts(&["aarch64", "x86_64"])),
        Kind::Union(tag, types) => {
            let one = |section: &str| {
                let mut union = serde_json::Map::new();
                union.insert(tag.to_owned(), json!(types[0]));
                union.insert(section.to_ascii_lowercase(), json!({"minTLSVersion": "VersionTLS12"}));
                Json::Object(union)
            };
            (vec![json!({tag: types[0]})], vec![one(types[1])])
        }
    }
}

/// A v1beta1 manifest with the value at the row's path.
fn manifest(row: &Row, value: &Json) -> Json {
    let mut value = value.clone();
    for step in row.below.split('.').rev().filter(|step| !step.is_empty()) {
        value = match step {
            "[]" => json!([value]),
            "*" => json!({"one": value}),
            key => json!({key: value}),
        };
    }
    for step in row.field.split('.').rev() {
        value = json!({step: value});
    }
    json!({
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
        "spec": value,
    })
}

/// The number of errors found by the row's kind.
fn found(row: &Row, value: &Json) -> usize {
    let text = serde_json::to_string_pretty(&manifest(row, value)).expect("JSON");
    let case = Case::of(&text, INVENTORY);
    let settings = Settings::default();
    let cx = case.context(&settings, "");
    let field = cx.field(row.field);
    let mut values = Vec::new();
    super::select(field.node().expect("the field is written"), row.below, &mut values);
    assert!(!values.is_empty(), "{} {} selects nothing in {text}", row.field, row.below);
    values.iter().map(|value| row.kind.problems(value, &cx).len()).sum()
}

#[test]
fn bad_values_are_found_and_good_ones_are_not() {
    let (mut bad_values, mut wrong) = (0, Vec::new());
    for row in ROWS.iter() {
        let (good, bad) = samples(row.kind);
        bad_values += bad.len();
        let spaced = good.iter().filter_map(Json::as_str).filter(|_| row.kind != Kind::OfferedCpuModel);
        let spaced: Vec<Json> =
            spaced.flat_map(|text| [json!(format!(" {text}")), json!(format!("{text} "))]).collect();
        bad_values += spaced.len();
        let bad = bad.iter().chain(&spaced);
        let silent = bad.filter(|value| found(row, value) == 0).map(|value| ("is silent on", value));
        let loud = good.iter().filter(|value| found(row, value) > 0).map(|value| ("rejects", value));
        wrong.extend(silent.chain(loud).map(|(what, value)| format!("{} {what} {value}", row.field)));
    }
    println!("values proven: {} fields, {bad_values} kinds of bad value", ROWS.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A row for a field that no release has would never be checked.
#[test]
fn every_row_names_an_existing_field() {
    let known = hcoplan_planner::release::Release::known_names().collect::<Vec<_>>();
    for row in ROWS.iter() {
        let exists = known.iter().any(|name| {
            let case = Case::with(&manifest(row, &json!({})).to_string(), INVENTORY, name);
            let settings = Settings::default();
            let cx = case.context(&settings, "");
            cx.schema().is_some_and(|schema| {
                let field = hcoplan_yaml::Path::dotted(&format!("spec.{}", row.field));
                schema.all_fields().iter().any(|path| path.starts_with(&field) || field.starts_with(path))
            })
        });
        assert!(exists, "no release has the field {}", row.field);
    }
}

/// The leaf fields of a schema below a path: `[]` is an item of a list, `*` a value of a mapping.
fn leaves(schema: &Json, path: String, out: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    if let Some(fields) = schema["properties"].as_object() {
        fields.iter().for_each(|(key, field)| leaves(field, below(key), out));
    } else if schema["items"].is_object() {
        leaves(&schema["items"], format!("{path}[]"), out);
    } else if schema["additionalProperties"].is_object() {
        leaves(&schema["additionalProperties"], below("*"), out);
    } else {
        out.push(path);
    }
}

/// Each leaf field of each HyperConverged's CRD is in `schemas/values.json`: as a row, as one that another check
/// compares, or as a gap.
#[test]
fn each_field_of_the_crds_is_in_the_table() {
    let in_version = |path: &str, version: &str| {
        let end = path.find(['[', '*']).map_or(path.len(), |at| path[..at].trim_end_matches('.').len());
        Some(format!("{}{}", in_version(&path[..end], version)?, &path[end..]))
    };
    let groups: Vec<Json> = serde_json::from_str(hcoplan_schemas::VALUES).expect("valid");
    let listed = groups.iter().filter_map(|group| group["leaves"].as_array()).flatten().filter_map(Json::as_str);
    let mut table: Vec<(String, bool)> = listed.map(|leaf| (leaf.to_owned(), true)).collect();
    table.extend(ROWS.iter().map(|row| {
        let below = format!(".{}", row.below).replace(".[]", "[]");
        let reads_all = matches!(
            row.kind,
            Kind::Toleration
                | Kind::Labels
                | Kind::Annotations
                | Kind::PodAffinity
                | Kind::LabelSelector
                | Kind::Resources
                | Kind::ImportResources
                | Kind::MacRange
                | Kind::SubdomainKeys
        );
        (format!("{}{}", row.field, below.trim_end_matches('.')), reads_all)
    }));
    let mut used = BTreeSet::new();
    for (release, files) in hcoplan_schemas::RELEASES {
        for version in ["v1beta1", "v1"] {
            let name = format!("crds/hyperconverged.{version}.json");
            let Some((_, crd)) = files.iter().find(|(file, _)| *file == name) else {
                continue;
            };
            let crd: Json = serde_json::from_str(crd).expect("valid");
            let mut all = Vec::new();
            leaves(&crd["openAPIV3Schema"]["properties"]["spec"], String::new(), &mut all);
            let here: Vec<(usize, String, bool)> = (table.iter().enumerate())
                .filter_map(|(index, (path, reads_all))| Some((index, in_version(path, version)?, *reads_all)))
                .collect();
            for leaf in all {
                let is_in = |(_, path, reads_all): &&(usize, String, bool)| {
                    let rest = leaf.strip_prefix(path.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || *reads_all && rest.starts_with(['.', '[']))
                };
                let found: Vec<usize> = here.iter().filter(is_in).map(|(index, ..)| *index).collect();
                assert!(!found.is_empty(), "{release} {version}: {leaf} is not in schemas/values.json");
                used.extend(found);
            }
        }
    }
    // The other rows are about whole values, which have no leaf.
    let unused = table.iter().enumerate().filter(|(index, (_, reads_all))| *reads_all && !used.contains(index));
    let unused: Vec<&String> = unused.map(|(_, (path, _))| path).collect();
    assert!(unused.is_empty(), "no CRD has {unused:?}");
}
