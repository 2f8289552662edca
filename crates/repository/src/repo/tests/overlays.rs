//! Which HyperConvergeds are clusters as they are written, and which only kustomize makes ones.

use super::{HC, INVENTORY, clusters, open, try_open};
use crate::repo::{Options, Repo};

/// Clusters that would have to be built, with their bases.
fn overlays(repo: &Repo) -> Vec<String> {
    let line = |o: &crate::repo::Overlay| {
        let bases: Vec<&str> = o.bases.iter().map(|b| b.as_str()).collect();
        format!("{}: {}", o.name(), bases.join(" "))
    };
    repo.overlays().iter().map(line).collect()
}

#[test]
fn a_base_is_no_cluster() {
    let patch = "patches: [{path: p.yaml}]\n";
    let base = ("base/kustomization.yaml", "resources: [hc.yaml]\n");
    let over = |text: &'static str| {
        let mut files =
            vec![("base/hc.yaml", HC), base, ("prod/kustomization.yaml", text), ("prod/inventory.yaml", INVENTORY)];
        if text.contains("p.yaml") {
            files.push(("prod/p.yaml", HC));
        }
        files
    };
    for text in [
        "resources: [../base]\n",
        "RESOURCES: [../base]\n",
        "bases: [../base]\npatchesStrategicMerge: [p.yaml]\n",
        "resources: [../base/hc.yaml]\npatches: [{path: p.yaml}]\n",
        "resources: [../base]\npatches:\n- target: {kind: Hyper.*}\n  patch: '[]'\n",
    ] {
        let repo = open(&over(text));
        assert_eq!(overlays(&repo), ["prod: base/hc.yaml"], "{text}");
        assert!(clusters(&repo).is_empty(), "{text}: {:?}", clusters(&repo));
        assert!(repo.problems()[0].fatal);
    }
    // In one directory, patched.
    let repo =
        open(&[("hc.yaml", HC), ("kustomization.yaml", &format!("resources: [hc.yaml]\n{patch}")), ("p.yaml", HC)]);
    assert_eq!(overlays(&repo), [".: hc.yaml"]);
    // What is built on isn't here, and is patched as a HyperConverged.
    let repo =
        open(&[("prod/kustomization.yaml", "resources: [../far]\npatches: [{path: p.yaml}]\n"), ("prod/p.yaml", HC)]);
    assert_eq!(overlays(&repo), ["prod: "]);
}

#[test]
fn what_nothing_changes_is_a_cluster() {
    let sub = "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {name: s}\n";
    let named = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: hc, namespace: virt}\n";
    for (hc, text, built) in [
        (HC, "resources: [hc.yaml]\n", false),
        (HC, "resources: [hc.yaml, sub.yaml]\ncommonLabels: {a: b}\nimages: [{name: a}]\n", false),
        (HC, "resources: [hc.yaml]\npatches:\n- target: {kind: Subscription}\n  patch: '[]'\n", false),
        (HC, "resources: [hc.yaml, sub.yaml]\npatches: [{path: sub.yaml}]\n", false),
        (HC, "resources: [hc.yaml]\npatches:\n- patch: |-\n    kind: Subscription\n", false),
        (HC, "resources: [hc.yaml]\ncomponents: []\nnamePrefix: ''\n", false),
        (named, "resources: [hc.yaml]\nnamespace: virt\n", false),
        (HC, "resources: [hc.yaml]\nnamespace: virt\n", true),
        (named, "resources: [hc.yaml]\nnamespace: other\n", true),
        (HC, "resources: [hc.yaml]\ncommonAnnotations: {a: b}\n", true),
        (HC, "resources: [hc.yaml]\ntransformers: [sub.yaml]\n", true),
        (HC, "resources: [hc.yaml]\ncomponents: [../c]\n", true),
        (HC, "resources: [hc.yaml]\nfieldOfTheFuture: 1\n", true),
    ] {
        let repo = open(&[("a/hc.yaml", hc), ("a/sub.yaml", sub), ("a/kustomization.yaml", text)]);
        assert_eq!(overlays(&repo).is_empty(), !built, "{text}");
        assert_eq!(clusters(&repo).is_empty(), built, "{text}");
    }
    // A list of clusters changes none.
    let repo = open(&[
        ("all/kustomization.yaml", "resources: [east, west]\n"),
        ("all/east/kustomization.yaml", "resources: [hc.yaml]\n"),
        ("all/east/hc.yaml", HC),
        ("all/west/kustomization.yaml", "resources: [hc.yaml]\nnamePrefix: a\n"),
        ("all/west/hc.yaml", HC),
    ]);
    assert_eq!(clusters(&repo), ["all/east: all/east/hc.yaml <- "]);
    assert_eq!(overlays(&repo), ["all: all/west/hc.yaml"]);
}

#[test]
fn the_configuration_and_the_directory_that_is_meant_count() {
    let files = [
        ("base/hc.yaml", HC),
        ("base/kustomization.yaml", "resources: [hc.yaml]\n"),
        ("lab/kustomization.yaml", "resources: [../base]\n"),
        ("prod/kustomization.yaml", "resources: [../base]\n"),
        ("prod/inventory.yaml", INVENTORY),
        ("hcoplan.yaml", "clusters: [{name: prod, path: base/hc.yaml, inventory: prod/inventory.yaml}]\n"),
    ];
    let repo = open(&files);
    assert_eq!(clusters(&repo), ["prod: base/hc.yaml <- prod/inventory.yaml"]);
    assert!(repo.overlays().is_empty() && repo.problems().is_empty());
    for (within, expected) in [
        ("lab", Some("the cluster lab is not planned")),
        ("base", Some("2 clusters are not planned")),
        ("base/hc.yaml", Some("2 clusters are not planned")),
        ("elsewhere", None),
    ] {
        let options = Options { within: Some(within.into()), ..Options::default() };
        let repo = try_open(&files[..5], &options).expect("a repository");
        let message = repo.problems().first().map(|p| p.finding.message.as_str());
        let is_it = match expected {
            Some(text) => message.is_some_and(|m| m.starts_with(text)),
            None => message.is_none(),
        };
        assert!(is_it, "{within}: {message:?}");
        assert!(clusters(&repo).is_empty());
    }
    // Of overlays that the configuration describes, too, it is only said that they aren't built.
    let named = ("hcoplan.yaml", "clusters: [{name: x, path: prod}]\n");
    let files: Vec<_> = files[..5].iter().copied().chain([named]).collect();
    assert_eq!(overlays(&open(&files)).len(), 2);
}
