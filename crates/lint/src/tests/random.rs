//! Checks claims and fixes on random manifests: `PROPTEST_RNG_SEED` selects others, `RANDOM_CLUSTERS` their number.

use hcoplan_planner::release::Release;
use hcoplan_testing::generate::{self, Random};
use hcoplan_yaml::emit;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::claims::{ClaimTally, all_rules, check_claims};
use super::load::Case;

/// The default number.
const FEW: u64 = 60;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A random cluster: the HyperConverged and the inventory.
fn cluster(seed: u64) -> (String, String) {
    let mut random = Random(seed);
    let names: Vec<&str> = Release::known_names().collect();
    let name = names[random.below(names.len())];
    let release = Release::known(name).expect("known");
    let served: Vec<&str> = release.schema_names().filter(|n| n.starts_with("hyperconverged.")).collect();
    let schema = release.schema(served[random.below(served.len())]);
    let (inner, odd) = (random.below(usize::MAX) as u64, random.one_in(4));
    let mut object = generate::object(schema.expect("served"), inner, odd);
    object["metadata"]["namespace"] = "kubevirt-hyperconverged".into();
    let gates = "/spec/configuration/developerConfiguration/featureGates/-";
    let operations = [
        json!({"op": "add", "path": "/spec/imagePullPolicy", "value": "Always"}),
        json!({"op": "add", "path": gates, "value": "VideoConfig"}),
        json!({"op": "add", "path": gates, "value": "RebootPolicy"}),
        json!({"op": "add", "path": "/spec/configuration/migrations/allowPostCopy", "value": true}),
        json!({"op": "remove", "path": "/spec/configuration/network"}),
    ];
    if random.one_in(3) {
        let drawn = operations.iter().filter(|_| random.one_in(2));
        let patch = Value::from(drawn.cloned().collect::<Vec<_>>()).to_string();
        object["metadata"]["annotations"] = json!({"kubevirt.kubevirt.io/jsonpatch": patch});
    }
    let architectures = ["amd64", "arm64", "s390x"];
    let pools: Vec<Value> = (0..random.below(4))
        .map(|i| {
            let role = ["control-plane", "worker"][random.below(2)];
            let architecture = architectures[random.below(architectures.len())];
            json!({
                "name": format!("p{i}"), "count": 1 + random.below(3), "roles": [role],
                "architecture": architecture,
            })
        })
        .collect();
    let platform = ["OpenShift", "Kubernetes"][random.below(2)];
    let inventory = json!({
        "apiVersion": "hcoplan.dev/v1alpha1", "kind": "ClusterInventory",
        "metadata": {"name": "random"},
        "spec": {"release": name, "platform": platform, "nodePools": pools},
    });
    (emit(&object), emit(&inventory))
}

#[test]
fn claims_hold_on_random_manifests() {
    let seed = number("PROPTEST_RNG_SEED").unwrap_or(20_261_121);
    let count = number("RANDOM_CLUSTERS").unwrap_or(FEW);
    let settings = all_rules();
    let drawn: Vec<(ClaimTally, Vec<String>)> = (0..count)
        .into_par_iter()
        .map(|i| {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(i);
            let (hyperconverged, inventory) = cluster(seed);
            let case = Case::of(&hyperconverged, &inventory);
            let (mut all, mut wrong) = (ClaimTally::default(), Vec::new());
            for finding in case.lint(&settings) {
                all += check_claims(&case, &settings, &finding, &mut wrong);
            }
            let wrong = wrong.iter().map(|w| format!("cluster {seed}: {w}"));
            (all, wrong.collect())
        })
        .collect();
    let mut all = ClaimTally::default();
    drawn.iter().for_each(|(held, _)| all += *held);
    eprintln!("claims, PROPTEST_RNG_SEED={seed} RANDOM_CLUSTERS={count}: {all}");
    let wrong: Vec<&str> = drawn.iter().flat_map(|d| d.1.iter().map(String::as_str)).collect();
    assert!(wrong.is_empty(), "PROPTEST_RNG_SEED={seed}: {} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(all.proven > 0, "nothing is claimed of {count} clusters");
}
