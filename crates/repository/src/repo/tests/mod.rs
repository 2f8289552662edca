use hcoplan_diagnostics::source::Memory;

use super::{Error, Options, Pairing, Repo};
use crate::prelude::*;

const HC: &str = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: hc}\n";
const INVENTORY: &str = "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nspec:\n  \
                         release: \"1.17\"\n  nodes:\n  - {name: a, architecture: amd64, roles: \
                         [worker]}\n";
const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: dumped}\nstatus: {nodeInfo: \
                    {architecture: arm64}}\n";

fn try_open(files: &[(&str, &str)], options: &Options) -> Result<Repo, Error> {
    let tree: Memory = files.iter().copied().collect();
    Repo::from_tree(Arc::new(tree), options)
}

fn open(files: &[(&str, &str)]) -> Repo {
    try_open(files, &Options::default()).expect("a repository")
}

fn show(finding: &Finding) -> String {
    let place = finding.location.as_ref().expect("a place");
    let start = place.start();
    let (rule, path) = (finding.rule.name, place.file.path());
    format!("{path}:{}:{} {rule}: {}", start.line, start.column, finding.message)
}

/// `name: HyperConverged's file <- inventory's files`
fn clusters(repo: &Repo) -> Vec<String> {
    let line = |c: &super::ClusterRef| {
        let files: Vec<&str> = c.inventory_files().iter().map(|p| p.as_str()).collect();
        format!("{}: {} <- {}", c.name().id(), c.path(), files.join(" "))
    };
    repo.clusters().iter().map(line).collect()
}

fn files(repo: &Repo) -> Vec<String> {
    let files = repo.files().iter();
    files.map(|f| format!("{}: {}", f.path, f.what)).collect()
}

fn problems(repo: &Repo) -> Vec<String> {
    let line = |p: &super::Problem| {
        let fatal = if p.fatal { "fatal " } else { "" };
        format!("{fatal}{} {}", p.finding.severity.as_str(), show(&p.finding))
    };
    repo.problems().iter().map(line).collect()
}

#[test]
fn directories_of_tests_are_skipped() {
    let paths = [
        ("golden/hc.yaml", true),
        ("snapshots/hc.yaml", true),
        ("latest/golden/hc.yaml", true),
        ("a/golden/tests/hc.yaml", true),
        ("tests/golden/hc.yaml", false),
        ("internal/render/goldens/hc.yaml", false),
        ("chart/__snapshots__/hc.yaml", false),
        ("fixtures/hc.yaml", false),
        ("a/testdata/golden/hc.yaml", false),
    ];
    for (path, is_read) in paths {
        assert_eq!(!clusters(&open(&[(path, HC)])).is_empty(), is_read, "{path}");
    }
}

#[test]
fn clusters_are_named_and_paired() {
    let repo = open(&[
        ("hyperconverged.yaml", HC),
        ("east/hc.yaml", HC),
        ("east/inventory.yaml", INVENTORY),
        ("east/nodes.yaml", NODE),
        ("prod/inventory.yaml", INVENTORY),
        ("prod/west/hc.yml", HC),
        ("prod/west/deep/hc.json", r#"{"apiVersion":"hco.kubevirt.io/v1","kind":"HyperConverged"}"#),
        ("lab/hc.yaml", HC),
        ("readme.md", HC),
    ]);
    assert_eq!(
        clusters(&repo),
        [
            ".: hyperconverged.yaml <- ",
            "east: east/hc.yaml <- east/inventory.yaml east/nodes.yaml",
            "lab: lab/hc.yaml <- ",
            "prod/west: prod/west/hc.yml <- prod/inventory.yaml",
            "prod/west/deep: prod/west/deep/hc.json <- prod/inventory.yaml",
        ]
    );
    assert_eq!(*repo.clusters()[1].pairing(), Pairing::Adjacent);
    assert_eq!(*repo.clusters()[2].pairing(), Pairing::None);
    assert_eq!(*repo.clusters()[3].pairing(), Pairing::Above("prod".into()));
    assert!(repo.problems().is_empty() && repo.findings().is_empty());
}

#[test]
fn a_cluster_is_loaded_with_its_places() {
    let text = format!("# first\na: 1\n---\n{HC}");
    let repo = open(&[("east/hc.yaml", &text), ("east/i.yaml", INVENTORY)]);
    let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
    assert_eq!(&*loaded.name, "east");
    assert_eq!(loaded.document.index, 1);
    assert_eq!(loaded.json["metadata"]["name"], "hc");
    assert_eq!(loaded.release.as_ref().expect("a release").name(), "1.17");
    let inventory = &loaded.inventory;
    assert_eq!(inventory.locations.nodes[0].name.start().line, 6);
    let files: Vec<_> = loaded.files().iter().map(|f| f.path().to_string()).collect();
    assert_eq!(files, ["east/hc.yaml", "east/i.yaml"]);
    let rules: Vec<&str> = loaded.findings.iter().map(|f| f.rule.name).collect();
    assert_eq!(rules, ["platform-assumed"]);
}

#[test]
fn an_item_of_a_list_is_a_cluster() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- apiVersion: \
                hco.kubevirt.io/v1\n  kind: HyperConverged\n  metadata: {name: x}\n";
    let repo = open(&[("a/list.yaml", text)]);
    let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
    assert_eq!(loaded.json["metadata"]["name"], "x");
    assert_eq!(loaded.document.location(loaded.document.root.span).start().line, 5);
}

#[test]
fn patches_and_our_own_output_are_no_sources() {
    let kustomization = "resources: [../base]\npatches:\n- path: patch.yaml\n";
    let repo = open(&[("base/hc.yaml", HC), ("overlay/kustomization.yaml", kustomization), ("overlay/patch.yaml", HC)]);
    assert_eq!(clusters(&repo), ["base: base/hc.yaml <- "]);
    assert_eq!(
        files(&repo),
        [
            "base/hc.yaml: HyperConverged",
            "overlay/kustomization.yaml: read, no HyperConverged or inventory in it",
            "overlay/patch.yaml: skipped: overlay/kustomization.yaml names it as a patch",
        ]
    );
}

#[test]
fn two_clusters_of_one_name_are_a_finding() {
    let repo = open(&[("a/one.yaml", HC), ("a/two.yaml", &format!("{HC}---\n{HC}"))]);
    assert_eq!(clusters(&repo), ["a: a/two.yaml <- "]);
    let findings: Vec<String> = repo.findings().iter().map(show).collect();
    let taken = "cluster-name-taken: two HyperConvergeds have the cluster name `a`: the last one overwrites the other, and is planned";
    let expected = [format!("a/one.yaml:3:18 {taken}"), format!("a/two.yaml:3:18 {taken}")];
    assert_eq!(findings, expected);
    let related = &repo.findings()[0].related[0].location;
    assert_eq!(related.file.path(), "a/two.yaml");
}

#[test]
fn broken_files_are_fatal_only_when_they_could_be_ours() {
    let repo = open(&[
        ("a/hc.yaml", HC),
        ("a/broken.yaml", "apiVersion: hco.kubevirt.io/v1\nspec: [\n"),
        ("b/nodes.yaml", "kind: Node\nmetadata: [\n"),
        ("b/other.yaml", "spec: [\n"),
        ("charts/hc.yaml", "apiVersion: hco.kubevirt.io/v1\nname: {{ .Release.Name }}\n"),
    ]);
    let found = problems(&repo);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("fatal error a/broken.yaml:3:1 yaml-syntax: "), "{found:?}");
    assert_eq!(
        found[1],
        "warning charts/hc.yaml:2:8 file-not-read: this file is not read: it is a template, \
         not YAML yet"
    );
    assert_eq!(clusters(&repo), ["a: a/hc.yaml <- "]);
}

#[test]
fn reports_parser_warnings_of_used_documents_only() {
    let text = format!("a: 1\na: 2\n---\n{HC}spec:\n  infra: {{}}\n  infra: {{}}\n");
    let repo = open(&[("a.yaml", &text), ("inventory.yaml", INVENTORY)]);
    let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
    let found: Vec<String> = loaded.findings.iter().map(show).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("a.yaml:9:3 yaml-duplicate-key: "), "{found:?}");
    assert_eq!(loaded.findings[0].cluster.as_deref(), Some("stdin"));
}

#[test]
fn prefers_command_line_then_configuration_then_inventory() {
    let release_of = |repo: &Repo| {
        let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
        loaded.release.map(|r| r.name().to_owned()).map_err(|f| show(&f))
    };
    let files = [("a/hc.yaml", HC), ("a/i.yaml", INVENTORY)];
    assert_eq!(release_of(&open(&files)), Ok("1.17".to_owned()));
    let config = "release: '1.16'\n";
    let with = |config| [("a/hc.yaml", HC), ("a/i.yaml", INVENTORY), ("hcoplan.yaml", config)];
    assert_eq!(release_of(&open(&with(config))), Ok("1.17".to_owned()));
    let config = "clusters: [{path: a, release: '1.18'}]\n";
    assert_eq!(release_of(&open(&with(config))), Ok("1.18".to_owned()));
    let options = Options { release: Release::known("1.19"), ..Options::default() };
    let repo = try_open(&with(config), &options).expect("a repository");
    assert_eq!(release_of(&repo), Ok("1.19".to_owned()));
    let alone = [("a/hc.yaml", HC), ("hcoplan.yaml", "release: '1.16'\n")];
    assert_eq!(release_of(&open(&alone)), Ok("1.16".to_owned()));
    assert_eq!(release_of(&open(&alone[..1])), Ok("1.18".to_owned()));
    let vendor = INVENTORY.replace("1.17", "4.19");
    let repo = open(&[("a/hc.yaml", HC), ("a/i.yaml", &vendor)]);
    assert_eq!(
        release_of(&repo),
        Err("a/i.yaml:4:12 release-unknown: `4.19` is not a release that hcoplan models".to_owned())
    );
    let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
    let help = loaded.release.expect_err("unknown").help.expect("help");
    assert!(help.contains("built from HCO 1.15"), "{help}");
}

#[test]
fn one_hyperconverged_can_be_several_clusters() {
    let config = "clusters:\n- {name: east, path: base, inventory: inventories/east.yaml}\n- {name: \
                  west, path: base/hc.yaml, inventory: [inventories/west.yaml], release: '1.19'}\n";
    let east = INVENTORY.replace("name: a", "name: e");
    let repo = open(&[
        ("hcoplan.yaml", config),
        ("base/hc.yaml", HC),
        ("base/inventory.yaml", INVENTORY),
        ("inventories/east.yaml", &east),
        ("inventories/west.yaml", INVENTORY),
        ("other/hc.yaml", HC),
    ]);
    assert_eq!(
        clusters(&repo),
        [
            "east: base/hc.yaml <- inventories/east.yaml",
            "other: other/hc.yaml <- ",
            "west: base/hc.yaml <- inventories/west.yaml"
        ]
    );
    let nodes = |i: usize| {
        let loaded = repo.load(&repo.clusters()[i]).expect("loaded");
        loaded.inventory.inventory.nodes[0].name.clone()
    };
    assert_eq!((nodes(0), nodes(2)), ("e".to_owned(), "a".to_owned()));
}

#[test]
fn the_configuration_can_replace_inventories() {
    let config = "inventory: all/\n";
    let repo = open(&[
        ("hcoplan.yaml", config),
        ("a/hc.yaml", HC),
        ("all/inventory.yaml", INVENTORY),
        ("b/hc.yaml", HC),
        ("b/nodes.yaml", NODE),
    ]);
    assert_eq!(clusters(&repo), ["a: a/hc.yaml <- all/inventory.yaml", "b: b/hc.yaml <- b/nodes.yaml"]);
}

#[test]
fn an_inventory_of_all_clusters_that_is_not_there_is_fatal() {
    match try_open(&[("hcoplan.yaml", "inventory: x\n"), ("a/hc.yaml", HC)], &Options::default()) {
        Err(Error::Configuration(found)) => {
            let expected = "hcoplan.yaml:1:12 configuration-invalid: there is no inventory in `x`";
            assert!(show(&found[0]).starts_with(expected), "{found:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_configuration_that_is_no_yaml_is_fatal() {
    match try_open(&[("hcoplan.yaml", "a: ["), ("a/hc.yaml", HC)], &Options::default()) {
        Err(Error::Configuration(found)) => {
            assert!(show(&found[0]).starts_with("hcoplan.yaml:1:5 configuration-invalid: did not find"), "{found:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn reports_entries_that_lead_nowhere_and_keeps_the_clusters() {
    let cases = [
        ("clusters: [{path: nowhere}]\n", "1:19", "there is no HyperConverged in `nowhere`"),
        ("clusters: [{path: b}]\n", "1:19", "there are 2 HyperConvergeds in `b`"),
        ("clusters: [{path: ../b}]\n", "1:19", "`../b` is outside the root"),
        ("clusters: [{path: a, inventory: x}]\n", "1:33", "there is no inventory in `x`"),
        ("clusters: [{path: a, also: images}]\n", "1:28", "there is no manifest in `images`"),
        ("clusters: [{path: a}, {path: a/hc.yaml}]\n", "1:30", "another entry is about this HyperConverged, too"),
    ];
    for (config, place, message) in cases {
        let repo = open(&[("hcoplan.yaml", config), ("a/hc.yaml", HC), ("b/1.yaml", HC), ("b/2.yaml", HC)]);
        let found: Vec<String> = repo.findings().iter().map(show).collect();
        let expected = format!("hcoplan.yaml:{place} configuration-invalid: {message}");
        assert!(found.iter().any(|found| found.starts_with(&expected)), "{config}: {found:?}");
        assert_eq!(repo.clusters()[0].name().to_string(), "a", "{config}");
    }
    // A file that can't be parsed says so itself.
    let config = "clusters: [{path: a/hc.yaml}]\n";
    let repo = open(&[("hcoplan.yaml", config), ("a/hc.yaml", &format!("{HC}a: [\n")), ("b/1.yaml", HC)]);
    assert!(repo.findings().iter().all(|f| f.rule.name != "configuration-invalid"), "{:?}", repo.findings());
    let problem = &repo.problems()[0];
    assert!(problem.fatal && problem.finding.file() == Some(Utf8Path::new("a/hc.yaml")), "{problem:?}");
}

#[test]
fn machine_sets_next_to_the_only_cluster_are_its_nodes() {
    let machines = "apiVersion: machine.openshift.io/v1beta1\nkind: MachineSet\nmetadata: {name: m}\nspec:\n  \
                    replicas: 1\n  template: {spec: {metadata: {labels: {kubernetes.io/arch: arm64, \
                    node-role.kubernetes.io/virt: ''}}}}\n";
    let files = [("hco/hc.yaml", HC), ("machines/m.yaml", machines)];
    let repo = open(&files);
    assert_eq!(clusters(&repo), ["hco: hco/hc.yaml <- machines/m.yaml"]);
    assert!(repo.load(&repo.clusters()[0]).expect("loaded").inventory.states_nodes);
    let infra = machines.replace("/virt", "/infra");
    let repo = open(&[files[0], ("machines/m.yaml", &infra)]);
    assert!(!repo.load(&repo.clusters()[0]).expect("loaded").inventory.states_nodes, "infrastructure alone");
    let repo = open(&[files[0], files[1], ("other/hc.yaml", HC)]);
    assert_eq!(clusters(&repo), ["hco: hco/hc.yaml <- ", "other: other/hc.yaml <- "]);
}

#[test]
fn storage_class_shows_the_platform() {
    let class = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s}\nprovisioner: ";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: openshift-storage}\n";
    for (object, other, platform) in [
        (format!("{class}rancher.io/local-path\n"), "", "Kubernetes (the StorageClass in a/s.yaml)"),
        (format!("{class}rancher.io/local-path\n"), namespace, "OpenShift (the object of OpenShift in a/o.yaml)"),
        (format!("{class}csi.example.com\n"), "", "OpenShift (the default)"),
    ] {
        let repo = open(&[("a/hc.yaml", HC), ("a/s.yaml", &object), ("a/o.yaml", other)]);
        assert_eq!(repo.load(&repo.clusters()[0]).expect("loaded").identity.platform.to_string(), platform);
    }
}

#[test]
fn finds_machine_sets_in_any_directory() {
    let machines = "apiVersion: machine.openshift.io/v1beta1\nkind: MachineSet\nmetadata: {name: \
                    m}\nspec:\n  replicas: 1\n  template: {spec: {metadata: {labels: \
                    {kubernetes.io/arch: arm64}}}}\n";
    let repo = open(&[
        ("a/hc.yaml", HC),
        ("a/infra/machines/m.yaml", machines),
        ("a/nested/hc.yaml", HC),
        ("a/nested/x/m.yaml", machines),
        ("b/hc.yaml", HC),
        ("b/nodes.yaml", NODE),
        ("b/m.yaml", machines),
        ("m.yaml", machines),
        ("c/hc.yaml", HC),
    ]);
    assert_eq!(
        clusters(&repo),
        [
            "a: a/hc.yaml <- a/infra/machines/m.yaml",
            "a/nested: a/nested/hc.yaml <- a/nested/x/m.yaml",
            "b: b/hc.yaml <- b/m.yaml b/nodes.yaml",
            "c: c/hc.yaml <- m.yaml",
        ]
    );
    assert_eq!(*repo.clusters()[0].pairing(), Pairing::Machines);
    let nodes = |i: usize| {
        let loaded = repo.load(&repo.clusters()[i]).expect("loaded");
        loaded.inventory.inventory.nodes[0].name.clone()
    };
    assert_eq!(nodes(0), "m-0");
    assert_eq!(nodes(2), "dumped");
}

#[test]
fn reads_and_reports_a_shared_inventory_once() {
    let alias = INVENTORY.replace("architecture: amd64", "architecture: x86_64");
    let repo = open(&[("inventory.yaml", &alias), ("a/hc.yaml", HC), ("b/hc.yaml", HC)]);
    let load = |i: usize| repo.load(&repo.clusters()[i]).expect("loaded");
    let (a, b) = (load(0), load(1));
    let of_inventory = |findings: &[Finding]| findings.iter().filter(|f| f.rule.name != "platform-assumed").count();
    assert_eq!((of_inventory(&a.findings), of_inventory(&b.findings)), (1, 0));
    let (a, b) = (a.inventory, b.inventory);
    assert!(Arc::ptr_eq(&a, &b));
}

#[test]
fn reads_a_repository_from_a_stream() {
    let text = format!("{HC}---\n{INVENTORY}");
    let repo = Repo::from_stream(text.into_bytes(), &Options::default()).expect("a repository");
    assert_eq!(clusters(&repo), [".: - <- -"]);
    let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
    assert_eq!(loaded.document.file.path(), "-");
}

#[test]
fn other_objects_are_those_of_the_own_directory() {
    let vm = |name: &str| format!("kind: VirtualMachine\nmetadata: {{name: {name}}}\n");
    let list = "apiVersion: v1\nkind: List\nitems:\n- {kind: VirtualMachine}\n- {kind: Pod}\n";
    let repo = open(&[
        ("a/hc.yaml", HC),
        ("a/vms/one.yaml", &vm("one")),
        ("a/vms/list.yaml", list),
        ("a/nested/hc.yaml", HC),
        ("a/nested/vm.yaml", &vm("two")),
        ("ab/vm.yaml", &vm("three")),
        ("a/broken-vm.yaml", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {\n"),
        ("a/broken-pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {\n"),
        ("a/make.sh", "echo 'apiVersion: kubevirt.io/v1\nkind: {'\n"),
    ]);
    let cluster = &repo.clusters()[0];
    let loaded = repo.load(cluster).expect("readable");
    let other_objects = repo.other_objects(cluster, &loaded);
    assert_eq!(other_objects.of_kind("VirtualMachine").len(), 2);
    let broken: Vec<_> = other_objects.problems.iter().filter_map(|f| f.location.as_ref()).collect();
    assert_eq!(broken.iter().map(|place| place.file.path().as_str()).collect::<Vec<_>>(), ["a/broken-vm.yaml"]);
    let kinds: Vec<&str> = other_objects.kinds().collect();
    assert_eq!(kinds, ["HyperConverged", "Pod", "VirtualMachine"]);
}

mod appliers;
mod on_disk;
/// Tests that need a real directory.
#[cfg(unix)]
mod unrecognized;
mod versions;

const SUBSCRIPTION: &str = "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {name: \
                            hco}\nspec: {name: community-kubevirt-hyperconverged}\n";

fn findings(files: &[(&str, &str)]) -> Vec<String> {
    open(files).findings().iter().map(show).collect()
}

#[test]
fn a_second_hyperconverged_of_a_cluster_is_found() {
    let upper = [("a/hc.yaml", HC), ("a/inventory.yaml", INVENTORY)];
    let with = |more: &[(&'static str, &'static str)]| findings(&[&upper, more].concat());
    assert_eq!(
        with(&[("a/virt/hc.yaml", HC)]),
        ["a/virt/hc.yaml:3:18 hco-multiple-crs: the cluster `a` has a second HyperConverged"]
    );
    let own = with(&[("a/virt/hc.yaml", HC), ("a/virt/nodes.yaml", NODE)]);
    assert!(own.is_empty(), "{own:?}");
    let named = "clusters:\n- {name: virt, path: a/virt/hc.yaml}\n";
    let named = with(&[("a/virt/hc.yaml", HC), ("hcoplan.yaml", named)]);
    assert!(named.is_empty(), "{named:?}");
    let shared = [("inventory.yaml", INVENTORY), ("a/hc.yaml", HC), ("b/hc.yaml", HC)];
    assert!(findings(&shared).is_empty());
}

#[test]
fn an_operator_without_a_hyperconverged_is_found() {
    let missing = "a/operator/hco.yaml:3:18 hco-cr-missing: HCO is installed, but no \
                   HyperConverged is declared";
    let operator = ("a/operator/hco.yaml", SUBSCRIPTION);
    assert_eq!(findings(&[operator]), [missing]);
    let inventory = ("a/inventory.yaml", INVENTORY);
    assert_eq!(
        findings(&[operator, inventory, ("b/hc.yaml", HC)]),
        [missing, "a/inventory.yaml:2:7 inventory-without-cluster: this inventory belongs to no HyperConverged"]
    );
    assert!(findings(&[operator, inventory, ("a/virt/hc.yaml", HC)]).is_empty());
    assert!(findings(&[operator, ("b/hc.yaml", HC)]).is_empty());
}

const VENDOR_SUBSCRIPTION: &str = "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: \
                            {name: hco, namespace: openshift-cnv}\nspec:\n  name: \
                            kubevirt-hyperconverged\n  sourceNamespace: openshift-marketplace\n  \
                            startingCSV: kubevirt-hyperconverged-operator.v4.20.3\n";

/// A cluster's identity with its sources; then the findings of loading it.
fn identity(repo: &Repo, name: &str) -> (String, Vec<String>) {
    let cluster = repo.clusters().iter().find(|c| c.name().id() == name);
    let loaded = repo.load(cluster.expect("a cluster")).expect("loaded");
    let findings = loaded.findings.iter().map(show).collect();
    (loaded.identity.to_string(), findings)
}

#[test]
fn does_not_ask_for_known_facts() {
    let repo = open(&[
        ("east/instance/hc.yaml", HC),
        ("east/operator/sub.yaml", VENDOR_SUBSCRIPTION),
        ("east/nodes.yaml", NODE),
        ("west/hc.yaml", HC),
        ("west/inventory.yaml", INVENTORY),
    ]);
    let (east, found) = identity(&repo, "east/instance");
    assert_eq!(
        east,
        "namespace openshift-cnv (the Subscription in east/operator/sub.yaml), platform OpenShift \
         (the Subscription in east/operator/sub.yaml), release unknown"
    );
    // OLM's first version determines the distribution and the lower bound.
    assert_eq!(
        found,
        [
            "east/instance/hc.yaml:3:18 release-assumed: the Subscription installs 4.20.3 first, and OLM updates it: assuming OpenShift \
          Virtualization 4.22 (HCO 1.18), the newest published one"
        ]
    );
    let possible = repo.load(&repo.clusters()[0]).expect("loaded").possible;
    assert_eq!(possible.first().expect("one").label(), "4.20");
    // Another cluster's Subscription has no effect.
    let (west, _) = identity(&repo, "west");
    assert_eq!(
        west,
        "namespace kubevirt-hyperconverged (the default), platform OpenShift (the default), release 1.17 \
         (the inventory)"
    );
    let east = &repo.clusters()[0];
    let inventory = repo.load(east).expect("loaded").inventory;
    assert_eq!(inventory.inventory.namespace, "openshift-cnv");
    // The command line takes precedence over an inventory.
    let options = Options { release: Release::known("1.18"), ..Options::default() };
    let files = [("west/hc.yaml", HC), ("west/inventory.yaml", INVENTORY)];
    let asked = try_open(&files, &options).expect("a repository");
    let (west, _) = identity(&asked, "west");
    assert!(west.ends_with("release 1.18 (the command line)"), "{west}");
}

#[test]
fn reads_the_update_method_from_the_gitops_controller() {
    let argo = |options: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec:\n  \
             source: {{path: a}}\n  syncPolicy: {{syncOptions: [{options}]}}\n"
        )
    };
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./a}\n";
    let method = |applier: &str, inventory: &str| {
        let repo = open(&[("a/hc.yaml", HC), ("a/inventory.yaml", inventory), ("apps/x.yaml", applier)]);
        let update = repo.load(&repo.clusters()[0]).expect("loaded").identity.update;
        format!("{} ({})", update.value, update.source())
    };
    assert_eq!(method("", INVENTORY), "client-side (the default)");
    assert_eq!(method(flux, INVENTORY), "server-side (the Kustomization in apps/x.yaml)");
    assert_eq!(method(&argo("ServerSideApply=true"), INVENTORY), "server-side (the Application in apps/x.yaml)");
    assert_eq!(
        method(&argo("ServerSideApply=true, Replace=true"), INVENTORY),
        "replace (the Application in apps/x.yaml)"
    );
    assert_eq!(method(&argo("Validate=false"), INVENTORY), "client-side (the Application in apps/x.yaml)");
    let declared = INVENTORY.replace("spec:", "spec:\n  apply: client-side");
    assert_eq!(method(flux, &declared), "client-side (the inventory)");
}

#[test]
fn a_shared_operator_belongs_to_every_cluster() {
    let repo = open(&[("base/sub.yaml", VENDOR_SUBSCRIPTION), ("clusters/a/hc.yaml", HC), ("clusters/b/hc.yaml", HC)]);
    for name in ["clusters/a", "clusters/b"] {
        let (is, _) = identity(&repo, name);
        assert!(is.starts_with("namespace openshift-cnv (the Subscription in base/sub.yaml), "), "{name}: {is}");
    }
}

#[test]
fn reports_contradictions() {
    let version = |version: &str| {
        format!(
            "apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nstatus:\n  desired: {{version: {version}}}\n"
        )
    };
    let csv = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: \
               kubevirt-hyperconverged-operator.v4.20.3, namespace: openshift-cnv}\n";
    let with = |text: &str, version: &str| {
        let repo = open(&[("a/hc.yaml", HC), ("a/nodes.yaml", NODE), ("a/s.yaml", text), ("a/v.yaml", version)]);
        identity(&repo, "a")
    };
    let (is, found) = with(csv, &version("4.21.2"));
    assert!(is.contains("release 4.20.3"), "{is}");
    assert_eq!(
        found,
        ["a/v.yaml:4:22 cluster-facts-contradict: the ClusterServiceVersion says that the release is \
          4.20.3, and the ClusterVersion that it is 4.21"]
    );
    // OLM's first version is the cluster's lower bound.
    let (is, found) = with(VENDOR_SUBSCRIPTION, &version("4.21.2"));
    assert!(is.contains("release 4.21 (the ClusterVersion in a/v.yaml)"), "{is}");
    assert!(found.is_empty(), "{found:?}");
    let (_, found) = with(VENDOR_SUBSCRIPTION, &version("4.19.5"));
    assert_eq!(
        found,
        [
            "a/s.yaml:7:16 cluster-facts-contradict: the ClusterVersion says that the release is 4.19, and the \
          Subscription that it is at least 4.20.3",
            "a/v.yaml:4:22 release-not-modelled: the ClusterVersion installs 4.19, which isn't modelled: planned as \
          OpenShift Virtualization 4.20 (HCO 1.16), the nearest release"
        ]
    );
    // A later upgrade isn't a contradiction, and 4.20 is built from 1.16.
    for (release, contradicts) in [("4.21", false), ("4.20", false), ("1.16", false), ("1.18", false), ("4.19", true)] {
        let inventory = INVENTORY.replace("1.17", release);
        let repo = open(&[("a/hc.yaml", HC), ("a/s.yaml", VENDOR_SUBSCRIPTION), ("a/i.yaml", &inventory)]);
        let (_, found) = identity(&repo, "a");
        let found = found.iter().any(|f| f.contains("cluster-facts-contradict"));
        assert_eq!(found, contradicts, "{release}");
    }
    // The first version may be older than all modelled ones.
    let old = VENDOR_SUBSCRIPTION.replace("4.20.3", "4.10.0");
    for release in ["4.22", "1.18", "5.0"] {
        let inventory = INVENTORY.replace("1.17", release);
        let repo = open(&[("a/hc.yaml", HC), ("a/s.yaml", &old), ("a/i.yaml", &inventory)]);
        assert_eq!(identity(&repo, "a").1, [""; 0], "{release}");
    }
}
