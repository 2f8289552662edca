//! A HyperConverged in a wrapper has the same plan and findings as a plain one: tried with every recorded case of the
//! selection and some random others, in every wrapper.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use hcoplan_testing::{annotations, recordings};
use rayon::prelude::*;

use super::{ClusterTask, Progress, entries, run};
use hcoplan_diagnostics::source::Memory;
use hcoplan_lint::{Selection, Settings};
use hcoplan_planner::release::Release;
use hcoplan_planner::verdict::{NotPlannedKind, Verdict};
use hcoplan_repository::repo::{Options, Repo};

/// Of the recorded cases outside of this repository, one in this many is tried.
const ONE_OF: usize = 20;

fn cases() -> Vec<PathBuf> {
    let below = |cases: PathBuf| {
        let entries = fs::read_dir(cases).expect("cases");
        let mut all: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
        all.sort();
        all
    };
    let mut all = below(hcoplan_testing::root().join("testdata/golden/cases"));
    if let Some(shared) = recordings() {
        let seed = std::env::var("PROPTEST_RNG_SEED").unwrap_or_default();
        let seed: usize = seed.parse().unwrap_or_default();
        let random = below(shared.join("golden/random/cases")).into_iter();
        all.extend(random.skip(seed % ONE_OF).step_by(ONE_OF));
    }
    all
}

fn indented(text: &str, by: usize) -> String {
    let line = |line: &str| if line.trim().is_empty() { line.to_owned() } else { " ".repeat(by) + line };
    text.split_inclusive('\n').map(line).collect()
}

/// Wrappers: name, file, text before the HyperConverged, and its indentation.
const CARRIERS: &[(&str, &str, &str, usize)] = &[
    (
        "ConfigurationPolicy",
        "hc.yaml",
        "apiVersion: policy.open-cluster-management.io/v1\nkind: ConfigurationPolicy\nmetadata: {name: \
         p}\nspec:\n  object-templates:\n  - complianceType: musthave\n    objectDefinition:\n",
        6,
    ),
    (
        "Policy",
        "hc.yaml",
        "apiVersion: policy.open-cluster-management.io/v1\nkind: Policy\nmetadata: {name: \
         p}\nspec:\n  policy-templates:\n  - objectDefinition:\n      apiVersion: \
         policy.open-cluster-management.io/v1\n      kind: ConfigurationPolicy\n      spec:\n        \
         object-templates:\n        - complianceType: mustonlyhave\n          objectDefinition:\n",
        12,
    ),
    (
        "ManifestWork",
        "hc.yaml",
        "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nspec:\n  workload:\n    \
         manifests:\n    -\n",
        6,
    ),
    (
        "ManifestWorkReplicaSet",
        "hc.yaml",
        "apiVersion: work.open-cluster-management.io/v1alpha1\nkind: ManifestWorkReplicaSet\nspec:\n  \
         manifestWorkTemplate:\n    workload:\n      manifests:\n      -\n",
        8,
    ),
    (
        "Crossplane's Object",
        "hc.yaml",
        "apiVersion: kubernetes.crossplane.io/v1alpha2\nkind: Object\nspec:\n  forProvider:\n    manifest:\n",
        6,
    ),
    (
        "Template",
        "hc.yaml",
        "apiVersion: template.openshift.io/v1\nkind: Template\nparameters: [{name: A, value: \
         b}]\nobjects:\n-\n",
        2,
    ),
    (
        "HostedCluster",
        "hc.yaml",
        "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedCluster\nspec:\n  configuration:\n    items:\n    -\n",
        6,
    ),
    (
        "AddOnTemplate",
        "hc.yaml",
        "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\nspec:\n  agentSpec:\n    \
         workload:\n      manifests:\n      -\n",
        8,
    ),
    (
        "a policy with a hub template elsewhere, beside what it removes",
        "hc.yaml",
        "apiVersion: policy.open-cluster-management.io/v1\nkind: ConfigurationPolicy\nmetadata: {name: \
         p}\nspec:\n  namespaceSelector: {include: ['{{hub .ManagedClusterName hub}}']}\n  object-templates:\n  - \
         complianceType: mustnothave\n    objectDefinition: {apiVersion: v1, kind: Pod, metadata: {name: a}}\n  - \
         complianceType: mustonlyhave\n    objectDefinition:\n",
        6,
    ),
    ("List", "hc.yaml", "apiVersion: v1\nkind: List\nitems:\n-\n", 2),
    ("SyncSet", "hc.yaml", "apiVersion: hive.openshift.io/v1\nkind: SyncSet\nspec:\n  resources:\n  -\n", 4),
    ("Ansible's definition", "hc.yaml", "- hosts: all\n  tasks:\n  - kubernetes.core.k8s:\n      definition:\n", 8),
    ("Ansible's text", "hc.yaml", "- kubernetes.core.k8s:\n    definition: |\n", 6),
    (
        "a policy's raw template",
        "hc.yaml",
        "apiVersion: policy.open-cluster-management.io/v1\nkind: ConfigurationPolicy\nspec:\n  \
         object-templates-raw: |\n    - complianceType: musthave\n      objectDefinition:\n",
        8,
    ),
    ("a heredoc", "hc.sh", "#!/bin/sh\noc apply -f - <<'EOF'\n", 0),
    ("a Makefile's heredoc", "Makefile", "install:\n\tkubectl apply -f - <<'EOF'\n", 0),
    (
        "a pipeline's script",
        "hc.yaml",
        "kind: Task\nspec:\n  steps:\n  - script: |\n      kubectl apply -f - <<'EOF'\n",
        6,
    ),
    ("Jinja", "hc.yaml.j2", "{# a template #}\n", 0),
    ("Go", "hc.yaml.tmpl", "{{/* a template */}}\n", 0),
];

/// The exit code, rendered objects and findings of a case.
fn seen(path: &str, hyperconverged: &str, case: &Path, name: &str) -> (String, Vec<String>) {
    let mut files = vec![(path.to_owned(), hyperconverged.to_owned())];
    for name in ["inventory.yaml", "nodes.yaml"] {
        files.push((name.to_owned(), annotations::text(case, name)));
    }
    let tree: Memory = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let options = Options { release: Release::known("1.18"), ..Options::default() };
    let repo = Repo::from_tree(std::sync::Arc::new(tree), &options).expect("a repository");
    let settings = Settings::default();
    let work = ClusterTask { lint: Some(Selection::of(&settings)), yaml: true, ..ClusterTask::default() };
    let clusters = entries(&repo, |_| true);
    assert_eq!(clusters.len(), 1, "{files:?}");
    let (mut printed, mut found) = (String::new(), Vec::new());
    run(&repo, &clusters, &work, None, &Progress::of(1, true), |outcome| {
        if let Verdict::NotPlanned(why) = &outcome.verdict {
            assert_ne!(why.kind, NotPlannedKind::Bug, "{}: {why}", outcome.cluster);
        }
        assert_eq!(&*outcome.cluster, name, "{hyperconverged}");
        let said = outcome.printed.replace(&format!("# cluster: {name}\n"), "");
        printed = format!("{}\n{said}", outcome.verdict.kind().as_str());
        let finding = |f: &hcoplan_diagnostics::finding::Finding| {
            let place = f.location.as_ref();
            let at = place.map_or("", |place| place.text().lines().next().unwrap_or_default());
            format!("{} {} at {at:?}", f.rule.name, f.message)
        };
        found.extend(outcome.found.findings.iter().map(finding));
        ControlFlow::Continue(())
    });
    found.sort();
    (printed, found)
}

#[test]
fn plans_embedded_hyperconvergeds_as_standalone_ones() {
    let count: usize = cases()
        .par_iter()
        .map(|case| {
            let text = fs::read_to_string(case.join("hyperconverged.yaml")).expect("a case");
            let expected = seen("hc.yaml", &text, case, "stdin");
            let mut count = 0;
            for (name, path, head, indent) in CARRIERS {
                if ["{{", "{%", "${", "---"].iter().any(|mark| text.contains(mark)) {
                    continue;
                }
                // A List is applied as it is; otherwise the file names the cluster.
                let file = path.split('.').next().unwrap_or_default();
                let cluster = if *name == "List" { "stdin" } else { file };
                let mut embedded = format!("{head}{}", indented(&text, *indent));
                if head.contains("<<") {
                    embedded.push_str(&indented("EOF\n", *indent));
                }
                let actual = seen(path, &embedded, case, cluster);
                assert_eq!(actual, expected, "{}: {name}", case.display());
                count += 1;
            }
            count
        })
        .sum();
    assert!(count > 1000, "{count}");
}
