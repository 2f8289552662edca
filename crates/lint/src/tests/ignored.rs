//! Checks by planning which fields and names the operator ignores, for each release.

use hcoplan_diagnostics::finding::Severity;
use hcoplan_planner::release::Release;
use hcoplan_yaml::Path;
use hcoplan_yaml::edit::Change;
use serde_json::{Value, json};

use super::claims::seen;
use super::load::Case;
use crate::Settings;

/// Fields with a condition, in each version: they are effective only if it is enabled. The last one is specific to a
/// release.
const CONDITIONS: [(&str, &str, &str); 2] = [
    (
        "v1beta1",
        r#"{"enableApplicationAwareQuota": true, "kubeMacPoolConfiguration": MACS}"#,
        r#"{"deployKubeSecondaryDNS": true}"#,
    ),
    (
        "v1",
        r#"{"deployment": {"applicationAwareConfig": {"enable": true}}, "networking": {"kubeMacPoolConfiguration": MACS}}"#,
        r#"[{"name": "deployKubeSecondaryDNS"}, {"name": "deployObservabilityController"}]"#,
    ),
];

/// Values of a type; at least one is accepted and isn't the default.
fn values(kind: &str) -> Vec<Value> {
    match kind {
        "boolean" => vec![json!(true), json!(false)],
        "array" => vec![json!(["10.0.0.0"]), json!(["probe"])],
        "integer" => vec![json!(7), json!(150)],
        "integer,string" => vec![json!(7)],
        "string" => [
            "probe",
            "annotation",
            "expand",
            "RemoveWorkloads",
            "02:00:00:00:00:00",
            "02:FF:FF:FF:FF:FF",
            "Haswell",
            "30h0m0s",
            "15h0m0s",
            "0.3",
            "1Gi",
            "1",
            "10.0.0.1",
            "02:00:00:00:00:01",
            "Enable",
            "Enabled",
            "None",
            "External",
            "Post",
            "highBurst",
            "VirtualResources",
            "AggregateToDefault",
            "Manual",
        ]
        .map(Value::from)
        .to_vec(),
        _ => Vec::new(),
    }
}

fn inventory(release: &str) -> String {
    format!(
        "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nmetadata: {{name: c}}\nspec:\n  release: \"{release}\"\n  \
         platform: OpenShift\n  nodePools: [{{name: a, count: 3, architecture: amd64, roles: [control-plane, worker]}}]\n"
    )
}

#[test]
fn a_field_is_ignored_where_none_of_its_values_changes_the_plan() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for name in Release::known_names() {
        let release = Release::known(name).expect("known");
        let inventory = inventory(name);
        for (version, spec, gates) in CONDITIONS {
            let macs = r#"{"rangeStart": "02:00:00:00:00:01", "rangeEnd": "02:FF:FF:FF:FF:FE"}"#;
            let mut spec: Value = serde_json::from_str(&spec.replace("MACS", macs)).expect("JSON");
            let mut gates: Value = serde_json::from_str(gates).expect("JSON");
            let known = release.admission().version(version).and_then(|v| v.listed_gates.as_ref());
            if let (Some(known), Some(listed)) = (known, gates.as_array_mut()) {
                listed.retain(|g| known.known.iter().any(|k| g["name"] == k.as_str()));
            }
            spec["featureGates"] = gates;
            let tuning = json!({"hco.kubevirt.io/tuningPolicy": r#"{"qps": 7, "burst": 8}"#});
            let base = json!({
                "apiVersion": format!("hco.kubevirt.io/{version}"),
                "kind": "HyperConverged",
                "metadata": {
                    "name": "kubevirt-hyperconverged",
                    "namespace": "kubevirt-hyperconverged",
                    "annotations": tuning,
                },
                "spec": spec,
            });
            let before = seen(&Case::of(&base.to_string(), &inventory).plan);
            let fields = release.fields().iter().filter(|f| f.api_version == version && !f.path.contains("[]"));
            for field in fields {
                let (mut changes, mut reported, mut accepted) = (false, false, false);
                let schema = release.hyperconverged_schema(version).expect("served");
                let kind = schema.field(&Path::dotted(&field.path)).expect("a field").kind;
                for value in values(kind) {
                    let mut object = base.clone();
                    if Change::Set(Path::dotted(&field.path), value).apply(&mut object).is_err() {
                        continue;
                    }
                    let case = Case::of(&object.to_string(), &inventory);
                    if !case.plan.admission.accepted {
                        continue;
                    }
                    changes |= seen(&case.plan) != before;
                    if !accepted {
                        accepted = true;
                        reported = case.lint(&Settings::default()).iter().any(|f| f.rule.name == "ignored-field");
                    }
                    if changes {
                        break;
                    }
                }
                tried += usize::from(accepted);
                if accepted && (changes == reported || field.ignored != reported) || !accepted && kind == "string" {
                    wrong.push(format!(
                        "{name} {version} {}: accepted {accepted}, changes {changes}, reported {reported}, ignored {}",
                        field.path, field.ignored
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 300, "{tried} fields are few");
}

#[test]
fn another_name_is_reported_alone() {
    for release in Release::known_names() {
        for (name, expected) in [
            ("kubevirt-hyperconverged", &[][..]),
            ("hco", &["hco-name-invalid"]),
            ("my-kubevirt-hyperconverged", &["hco-name-invalid"]),
            ("kubevirt-hyperconverged-2", &["hco-name-invalid"]),
        ] {
            let metadata = json!({"name": name, "namespace": "kubevirt-hyperconverged"});
            let object =
                json!({"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged", "metadata": metadata});
            let case = Case::of(&object.to_string(), &inventory(release));
            assert_eq!(case.plan.succeeds(), expected.is_empty(), "{release}: {name}");
            let findings = case.lint(&Settings::default());
            let errors = findings.iter().filter(|f| f.severity == Severity::Error);
            let found: Vec<_> = errors.map(|f| f.rule.name).collect();
            assert_eq!(found, expected, "{release}: {name}");
        }
    }
}
