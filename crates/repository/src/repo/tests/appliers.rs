//! Tests of which controllers apply directories of the repository.

use hcoplan_diagnostics::source::Memory;

use crate::prelude::*;
use crate::repo::{Options, Repo};

#[test]
fn applied_directories_are_known() {
    let argo = "apiVersion: argoproj.io/v1alpha1\n";
    let application = |name: &str, source: &str| {
        format!("{argo}kind: Application\nmetadata: {{name: {name}}}\nspec: {{source: {source}}}\n")
    };
    let files = [
        ("apps/east.yaml", application("east", "{path: clusters/east}")),
        ("apps/built.yaml", application("built", "{path: overlays/prod}")),
        ("apps/chart.yaml", application("chart", "{path: chart}")),
        (
            "apps/deep.yaml",
            application("deep", "{path: deep, directory: {recurse: true, exclude: '{rendered/*,*.json}'}}"),
        ),
        ("apps/few.yaml", application("few", "{path: few, directory: {recurse: true, include: 'hco*.yaml'}}")),
        ("apps/checked.yaml", application("checked", "{path: checked, plugin: {name: hcoplan}}")),
        (
            "apps/all.yaml",
            format!(
                "{argo}kind: ApplicationSet\nmetadata: {{name: all}}\nspec:\n  generators:\n  \
                 - git: {{directories: [{{path: sites/*}}, {{path: sites/rendered, exclude: true}}]}}\n  \
                 - matrix:\n      generators:\n      - git: {{files: [{{path: 'fleet/**/*.json'}}, \
                 {{path: fleet/left/*, exclude: true}}]}}\n      - list: {{elements: [{{a: b}}]}}\n  \
                 template: {{spec: {{source: {{path: '{{{{path}}}}'}}}}}}\n"
            ),
        ),
        (
            "apps/own.yaml",
            format!(
                "{argo}kind: ApplicationSet\nmetadata: {{name: own}}\nspec: {{generators: [{{clusters: {{}}}}], \
                 template: {{spec: {{source: {{path: 'own/{{{{name}}}}'}}}}}}}}\n"
            ),
        ),
        (
            "flux/sync.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
             metadata: {name: infra}\nspec: {path: ./infra/prod}\n---\n\
             apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
             metadata: {name: artifact}\nspec: {path: ./, sourceRef: {kind: OCIRepository}}\n"
                .to_owned(),
        ),
        (
            "acm/subscription.yaml",
            "apiVersion: apps.open-cluster-management.io/v1\nkind: Subscription\nmetadata:\n  \
             name: s\n  annotations: {apps.open-cluster-management.io/git-path: hub}\nspec: {channel: a/b}\n"
                .to_owned(),
        ),
        (
            "acm/policies.yaml",
            "apiVersion: policy.open-cluster-management.io/v1\nkind: PolicyGenerator\n\
             metadata: {name: p}\npolicies: [{manifests: [{path: hco}]}]\n"
                .to_owned(),
        ),
        (
            "fleet.yaml",
            "apiVersion: fleet.cattle.io/v1alpha1\nkind: GitRepo\nmetadata: {name: g}\n\
             spec: {paths: [ranch]}\n"
                .to_owned(),
        ),
        ("infra/prod/built/kustomization.yaml", "resources: []\n".to_owned()),
        ("overlays/prod/kustomization.yaml", "resources: []\n".to_owned()),
        ("chart/Chart.yaml", "name: c\n".to_owned()),
    ];
    let tree: Memory = files.into_iter().collect();
    let repo = Repo::from_tree(Arc::new(tree), &Options::default()).expect("readable");
    let appliers = repo.appliers(None);
    let why = |path: &str| {
        let by = appliers.of(Utf8Path::new(path));
        by.map(|by| by.to_string()).unwrap_or_default()
    };
    for (path, by) in [
        ("clusters/east", "the Application east in apps/east.yaml applies it"),
        ("sites/oslo", "the ApplicationSet all in apps/all.yaml applies it"),
        ("own/oslo", "the ApplicationSet own in apps/own.yaml applies it"),
        ("infra/prod/hco", "the Kustomization infra in flux/sync.yaml applies it"),
        ("hub/any", "the Subscription s in acm/subscription.yaml applies it"),
        ("acm/hco", "the PolicyGenerator p in acm/policies.yaml applies it"),
        ("ranch", "the GitRepo g in fleet.yaml applies it"),
        ("deep/other", "the Application deep in apps/deep.yaml applies it"),
        ("chart/templates", "the Helm chart in chart renders it"),
        ("roles/hco/templates", "it belongs to the Ansible role roles/hco"),
    ] {
        assert_eq!(why(path), by, "{path}");
    }
    for free in [
        "clusters/east/deep",
        "clusters",
        "sites",
        "overlays/prod",
        "infra/prod/built",
        "checked",
        ".hcoplan",
        "chart",
        "sites/rendered",
        "deep/rendered/east",
        "few/rendered",
        "",
    ] {
        assert_eq!(why(free), "", "{free}");
    }
    let reader = |file: &str| appliers.reader_of(Utf8Path::new(file));
    let all = Some("the ApplicationSet all in apps/all.yaml");
    assert_eq!(reader("fleet/out/east/hcoplan-cluster.json").as_deref(), all);
    assert_eq!(reader("fleet/out/east/a.yaml"), None);
    assert_eq!(reader("fleet/left/hcoplan-cluster.json"), None);
}

#[test]
fn an_object_that_reads_another_repository_applies_nothing_here() {
    let object = |version: &str, kind: &str, spec: &str| {
        format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n")
    };
    let cases = [
        (object("argoproj.io/v1alpha1", "Application", "{source: {repoURL: ADDRESS, path: .}}"), ""),
        (
            object(
                "argoproj.io/v1alpha1",
                "ApplicationSet",
                "{generators: [{git: {repoURL: ADDRESS, directories: [{path: sites/*}]}}], \
                 template: {spec: {source: {repoURL: ADDRESS, path: '{{path}}'}}}}",
            ),
            "sites/a",
        ),
        (object("fleet.cattle.io/v1alpha1", "GitRepo", "{repo: ADDRESS, paths: [ranch]}"), "ranch"),
    ];
    let flux = [
        object("source.toolkit.fluxcd.io/v1", "GitRepository", "{url: ADDRESS}"),
        object(
            "kustomize.toolkit.fluxcd.io/v1",
            "Kustomization",
            "{path: ./, sourceRef: {kind: GitRepository, name: a}}",
        ),
    ];
    let cases = cases.into_iter().chain([(flux.join("---\n"), "")]);
    for (text, directory) in cases {
        let applied = |address: &str, ours: Option<&str>| {
            let files = [("a.yaml", text.replace("ADDRESS", address))];
            let tree: Memory = files.into_iter().collect();
            let repo = Repo::from_tree(Arc::new(tree), &Options::default()).expect("readable");
            let appliers = repo.appliers(ours.map(ToOwned::to_owned));
            appliers.of(directory.into()).is_some()
        };
        let ours = "https://git.example.com/team/platform.git";
        assert!(applied(ours, None), "{text}");
        assert!(applied(ours, Some("platform")), "{text}");
        assert!(applied("'{{repo}}'", Some("platform")), "{text}");
        assert!(!applied(ours, Some("hcoplan")), "{text}");
    }
}

#[test]
fn facts_above_are_found_beside_what_is_not_listed() {
    let inventory = "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nnodes: [{name: a}]\n";
    let below = Utf8Path::new("sites [x]/{a,b}*/prod");
    for (file, text, found) in [
        ("sites [x]/inventory.yaml", inventory, true),
        ("sites [x]/{a,b}*/inventory.yaml", inventory, true),
        // Beside the way, and below the directory, where its own facts are.
        ("other/inventory.yaml", inventory, false),
        ("sites [x]/other/inventory.yaml", inventory, false),
        ("sites [x]/{a,b}*/prod/inventory.yaml", inventory, false),
    ] {
        let tree: Memory = [("sites [x]/{a,b}*/prod/hc.yaml", "a: b\n"), (file, text)].into_iter().collect();
        assert_eq!(crate::repo::has_facts_above(&tree, below), found, "{file}");
    }
}
