//! Tests of unrecognised HyperConvergeds.

use super::*;

#[test]
fn finds_unrecognised_hyperconvergeds_next_to_others() {
    let almost = HC.replace("hco.kubevirt.io", "hco.kubevirt.com");
    let none = HC.replace("apiVersion: hco.kubevirt.io/v1beta1\n", "");
    let repo = open(&[
        ("east/hc.yaml", HC),
        ("east/inventory.yaml", INVENTORY),
        ("west/hc.yaml", &almost),
        ("west/inventory.yaml", INVENTORY),
        ("north/hc.yaml", &format!("a: 1\n---\n{none}")),
    ]);
    let found: Vec<String> = repo.findings().iter().map(show).collect();
    assert_eq!(
        found,
        [
            "north/hc.yaml:3:7 hco-not-recognized: the HyperConverged lacks `apiVersion`",
            "west/hc.yaml:1:13 hco-not-recognized: the HyperConverged is of the API group \
             `hco.kubevirt.com`, and HCO's is hco.kubevirt.io",
            "west/inventory.yaml:2:7 inventory-without-cluster: this inventory belongs to no HyperConverged",
        ]
    );
    assert_eq!(clusters(&repo), ["east: east/hc.yaml <- east/inventory.yaml"]);
    assert_eq!(repo.unplanned(Some("west".into())).count(), 1);
}

#[test]
fn mentions_of_a_hyperconverged_are_no_finding() {
    let text = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules:\n- \
                {apiGroups: [hco.kubevirt.io], resources: [hyperconvergeds]}\n---\napiVersion: \
                operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: \
                other.v1\n  annotations:\n    alm-examples: '[{\"kind\": \"HyperConverged\"}]'\nspec:\n  \
                customresourcedefinitions: {owned: [{kind: HyperConverged, name: \
                hyperconvergeds.hco.kubevirt.io}]}\n---\napiVersion: \
                apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: \
                hyperconvergeds.hco.kubevirt.io}\nspec: {group: hco.kubevirt.io, names: {kind: \
                HyperConverged}}\n";
    let repo = open(&[("a/hc.yaml", HC), ("b/other.yaml", text)]);
    assert!(repo.findings().is_empty(), "{:?}", repo.findings());
}

#[test]
fn assigns_files_elsewhere_to_a_cluster() {
    let vm = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\n";
    let config = "clusters:\n- {path: clusters/east, also: [vms/east, images]}\n";
    let files =
        [("hcoplan.yaml", config), ("clusters/east/hc.yaml", HC), ("vms/east/vm.yaml", vm), ("vms/west/vm.yaml", vm)];
    let wrong = open(&files).findings().iter().map(show).collect::<Vec<_>>();
    assert!(wrong.iter().any(|found| found.contains("no manifest in `images`")), "{wrong:?}");
    let config = config.replace("images", "vms/all");
    let files = [("hcoplan.yaml", config.as_str()), files[1], files[2], files[3], ("vms/all/vm.yaml", vm)];
    let repo = try_open(&files, &Options::default()).expect("a repository");
    let cluster = &repo.clusters()[0];
    let loaded = repo.load(cluster).expect("loaded");
    let other_objects = repo.other_objects(cluster, &loaded);
    let found = other_objects.of_kind("VirtualMachine");
    let paths: Vec<&str> = found.iter().map(|d| d.file.path().as_str()).collect();
    assert_eq!(paths, ["vms/all/vm.yaml", "vms/east/vm.yaml"]);
}

#[test]
fn rejects_more_bytes_in_all_than_the_limit() {
    let files = [("east/hc.yaml", HC), ("east/i.yaml", INVENTORY)];
    let whole = (HC.len() + INVENTORY.len()) as u64;
    let error = |max_total| {
        try_open(&files, &Options { max_total: Some(max_total), ..Options::default() }).err().map(|e| e.to_string())
    };
    assert_eq!(error(whole), None);
    let expected = "the files about HCO and its nodes exceed 100 bytes in total, the limit (exclude files with `ignore` in \
                    hcoplan.yaml)";
    assert_eq!(error(100).as_deref(), Some(expected));
}
