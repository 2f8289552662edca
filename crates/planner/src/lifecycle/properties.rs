//! Properties of every create that the CRD's schema allows, on any cluster.

use crate::prelude::*;
use hcoplan_testing::generate;
use proptest::prelude::*;

use super::State;
use crate::inventory::{Inventory, Node};
use crate::plan::properties::VERSIONS;
use crate::plan::{Plan, plan};
use crate::release::{Platform, Release};

/// Profiles as an APIServer or a HyperConverged has them, good and bad.
fn profile() -> impl Strategy<Value = Option<Value>> {
    let ciphers = json!(["ECDHE-RSA-AES128-GCM-SHA256"]);
    prop::sample::select(vec![
        None,
        Some(json!({"type": "Old", "old": {}})),
        Some(json!({"type": "Intermediate", "intermediate": {}})),
        Some(json!({"type": "Modern", "modern": {}})),
        Some(json!({"type": "Custom", "custom": {"minTLSVersion": "VersionTLS12", "ciphers": ciphers}})),
        Some(json!({"type": "Custom", "custom": {"minTLSVersion": "VersionTLS13", "ciphers": []}})),
        Some(json!({"type": "Custom", "custom": null})),
        Some(json!({"custom": {"minTLSVersion": "VersionTLS12", "ciphers": ciphers}})),
        Some(json!({"modern": {}})),
        Some(json!({})),
    ])
}

/// Up to five nodes, some labelled like HCO does on a hosted control plane.
fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let architecture = prop::sample::select(vec!["amd64", "arm64", "s390x", ""]);
    let roles = prop::sample::subsequence(vec!["control-plane", "master", "worker", "arbiter"], 0..3);
    let node = (architecture, roles, any::<bool>()).prop_map(|(architecture, roles, is_set)| {
        let value = if is_set { "set-to-allow-kubevirt-deployment" } else { "" };
        Node {
            name: format!("{architecture}-{}", roles.join("-")),
            architecture: architecture.to_owned(),
            labels: roles.iter().map(|role| (format!("node-role.kubernetes.io/{role}"), value.to_owned())).collect(),
            ..Node::default()
        }
    });
    prop::collection::vec(node, 0..5)
}

fn inventory() -> impl Strategy<Value = Inventory> {
    (nodes(), profile(), any::<bool>(), prop::bool::weighted(0.8)).prop_map(
        |(nodes, tls_security_profile, hosted_control_plane, openshift)| Inventory {
            nodes,
            tls_security_profile,
            hosted_control_plane,
            platform: if openshift { Platform::OpenShift } else { Platform::Kubernetes },
            data_import_schedule: Some("7 1/12 * * *".to_owned()),
            ..Inventory::default()
        },
    )
}

/// Metadata of handwritten manifests and of copies from a cluster.
fn metadata() -> impl Strategy<Value = Value> {
    let finalizers = prop_oneof![
        6 => Just(json!([])),
        6 => Just(json!(["kubevirt.io/hyperconverged"])),
        3 => Just(json!(["example.com/other"])),
        1 => Just(json!(["no finalizer"])),
    ];
    let labels = prop_oneof![
        6 => Just(json!({})),
        6 => Just(json!({"app": "kubevirt-hyperconverged"})),
        3 => Just(json!({"app": ""})),
        1 => Just(json!({"a b": "x"})),
    ];
    let patches = prop::sample::select(vec![
        json!({}),
        json!({"containerizeddataimporter.kubevirt.io/jsonpatch":
            r#"[{"op": "replace", "path": "/spec/certConfig", "value": {"ca": {"duration": "99h"}}}]"#}),
        json!({"networkaddonsconfigs.kubevirt.io/jsonpatch":
            r#"[{"op": "remove", "path": "/spec/no/such/path"}]"#}),
        json!({"kubevirt.kubevirt.io/jsonpatch":
            r#"[{"op": "test", "path": "/spec/configuration/evictionStrategy", "value": "LiveMigrate"}]"#}),
        json!({"ssp.kubevirt.io/jsonpatch":
            r#"[{"op": "remove", "path": "/spec/cluster"}]"#}),
    ]);
    (finalizers, labels, patches).prop_map(|(finalizers, labels, annotations)| {
        json!({
            "name": "kubevirt-hyperconverged",
            "namespace": "kubevirt-hyperconverged",
            "finalizers": finalizers,
            "labels": labels,
            "annotations": annotations,
        })
    })
}

fn objects(plan: &Plan) -> Vec<Value> {
    let mut all: Vec<_> = plan.objects().map(|o| Value::clone(&o.body)).collect();
    all.sort_by_key(|o| o["metadata"]["name"].to_string() + &o["kind"].to_string());
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A plan only checks the operator's own update where it may be rejected; here it is always checked.
    #[test]
    fn create_renders_the_planned_objects(
        (seed, choice) in any::<(u64, usize)>(),
        odd in prop::bool::weighted(0.1),
        inventory in inventory(),
        metadata in metadata(),
        own in profile(),
        warned in any::<bool>(),
    ) {
        let (name, version) = VERSIONS[choice % VERSIONS.len()];
        let release = Release::known(name).expect("known");
        let schema = release.hyperconverged_schema(version);
        let mut object = generate::object(schema.expect("served"), seed, odd);
        if !object["spec"].is_object() {
            object["spec"] = json!({});
        }
        object["metadata"] = metadata;
        if let Some(own) = own {
            match version {
                "v1" => object["spec"]["security"] = json!({"tlsSecurityProfile": own}),
                _ => object["spec"]["tlsSecurityProfile"] = own,
            }
        }
        if warned && version == "v1beta1" {
            object["spec"]["featureGates"] = json!({"deployVmConsoleProxy": true});
        }
        let planned = plan(&release, &inventory, &object);
        let created = State::new(Arc::clone(&release), Arc::new(inventory)).create(&object).plan;
        prop_assert_eq!(planned.admission.accepted, created.admission.accepted);
        prop_assert_eq!(&planned.reconcile_error, &created.reconcile_error);
        prop_assert_eq!(&planned.metrics, &created.metrics);
        // The form of an empty one depends on the submitted version.
        let node_info = |plan: &Plan| plan.status.node_info.clone().unwrap_or_default();
        prop_assert_eq!(node_info(&planned), node_info(&created));
        prop_assert_eq!(&planned.status.conditions, &created.status.conditions);
        prop_assert_eq!(objects(&planned), objects(&created));
    }
}
