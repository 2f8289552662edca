//! Clusters with golden images missing for different reasons.

use serde_json::{Value, json};

use super::{ClusterMatrix, MatrixInput, Obstacle, Reason, State, counts, groups, matrix};
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_lint::{self, Context, Input, Settings};
use hcoplan_planner::boot::variant;
use hcoplan_planner::inventory::{Inventory, Node};
use hcoplan_planner::plan::{AdmissionMode, plan_with};
use hcoplan_planner::release::{Platform, Release};
use hcoplan_repository::inventory::LoadedInventory;
use hcoplan_yaml as yaml;

/// Nodes as `architecture role`.
fn inventory(nodes: &[&str]) -> Inventory {
    let node = |(i, text): (usize, &&str)| {
        let (architecture, role) = text.split_once(' ').expect("two words");
        let label = format!("node-role.kubernetes.io/{role}");
        Node {
            name: format!("n{i}"),
            architecture: architecture.to_owned(),
            labels: [(label, String::new())].into(),
            ..Node::default()
        }
    };
    Inventory { nodes: nodes.iter().enumerate().map(node).collect(), ..Inventory::default() }
}

fn template(name: &str, data_source: &str, annotations: Value, registry: Value) -> Value {
    let mut source = json!({"url": "docker://registry.example.com/x"});
    for (key, value) in registry.as_object().into_iter().flatten() {
        source[key] = value.clone();
    }
    json!({
        "metadata": {"name": name, "annotations": annotations},
        "spec": {
            "schedule": "0 0 * * *",
            "managedDataSource": data_source,
            "template": {"spec": {
                "source": {"registry": source},
                "storage": {"resources": {"requests": {"storage": "5Gi"}}},
            }},
        },
    })
}

fn made(release: &str, inventory: &Inventory, multi_arch: bool, spec: Value) -> ClusterMatrix {
    made_with(release, inventory, true, multi_arch, spec)
}

fn made_with(release: &str, inventory: &Inventory, states_nodes: bool, multi_arch: bool, spec: Value) -> ClusterMatrix {
    let release = Release::known(release).expect("known");
    let mut spec = spec;
    spec["featureGates"] = json!({"enableMultiArchBootImageImport": multi_arch});
    let hc = json!({
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
        "spec": spec,
    });
    let plan = plan_with(&release, inventory, &hc, AdmissionMode::Force);
    let rejected = plan.admission.stage().map(|_| plan.admission.message.as_str());
    let file = SourceFile::new("hyperconverged.yaml", hc.to_string());
    let document = yaml::parse(&file).documents.into_iter().next().expect("a document");
    let inventory = LoadedInventory { inventory: inventory.clone(), states_nodes, ..LoadedInventory::default() };
    let input = Input {
        cluster: &"c".into(),
        release: &release,
        document: &document,
        object: &hc,
        inventory: &inventory,
        plan: &plan,
    };
    let settings = Settings::default();
    let context = Context::new(input, &settings);
    matrix(&MatrixInput { context: &context, rejected })
}

/// `arm64 missing not-declared` for each cell of an image, then for the plain name.
fn cells_of(matrix: &ClusterMatrix, image: &str) -> Vec<String> {
    let found = matrix.images.iter().find(|i| i.name == image);
    let image = found.unwrap_or_else(|| panic!("no {image}: {matrix:#?}"));
    let columns = matrix.architectures.iter().map(|a| a.name.as_str());
    let cells = columns.zip(&image.cells).chain([("plain", &image.plain)]);
    cells
        .map(|(column, cell)| {
            let is = match cell.architecture.names() {
                names if names.is_empty() => "-".to_owned(),
                names => names.join("|"),
            };
            format!("{column} {} {} {is}", variant(&cell.state).0, cell.reason.name())
        })
        .collect()
}

const MIXED: [&str; 4] = ["amd64 control-plane", "amd64 worker", "arm64 worker", "s390x worker"];

#[test]
fn images_declare_their_architectures() {
    let key = "ssp.kubevirt.io/dict.architectures";
    let spec = json!({"dataImportCronTemplates": [
        template("partial", "mine", json!({key: "amd64,arm64"}), json!({})),
        template("spaced", "spaced", json!({key: "amd64, arm64"}), json!({})),
        template("silent", "silent", json!({}), json!({})),
        template("none", "none", json!({key: "ppc64le"}), json!({})),
        template("off", "off", json!({"dataimportcrontemplate.kubevirt.io/enable": "false"}), json!({})),
    ]});
    let matrix = made("1.18", &inventory(&MIXED), true, spec);
    assert_eq!(
        cells_of(&matrix, "fedora"),
        [
            "amd64 covered imported amd64",
            "arm64 covered imported arm64",
            "s390x covered imported s390x",
            "plain covered imported amd64",
        ]
    );
    assert_eq!(
        cells_of(&matrix, "mine"),
        [
            "amd64 covered imported amd64",
            "arm64 covered imported arm64",
            "s390x undeclared not-declared -",
            "plain covered imported amd64",
        ]
    );
    // HCO splits at commas without trimming.
    assert_eq!(cells_of(&matrix, "spaced")[1], "arm64 missing malformed -");
    assert_eq!(cells_of(&matrix, "spaced")[2], "s390x undeclared not-declared -");
    assert_eq!(
        cells_of(&matrix, "silent"),
        [
            "amd64 undetermined undeclared-importer amd64|arm64|s390x",
            "arm64 undetermined undeclared-importer amd64|arm64|s390x",
            "s390x undetermined undeclared-importer amd64|arm64|s390x",
            "plain undetermined undeclared-importer amd64|arm64|s390x",
        ]
    );
    assert_eq!(cells_of(&matrix, "none")[0], "amd64 missing none-declared -");
    assert_eq!(cells_of(&matrix, "off")[0], "amd64 disabled template-disabled -");
    assert_eq!(cells_of(&matrix, "win11")[0], "amd64 external external -");
}

#[test]
fn without_multi_arch_one_architecture_is_imported() {
    let pin = json!({"platform": {"architecture": "arm64"}});
    let spec = json!({"dataImportCronTemplates": [template("pinned", "pinned", json!({}), pin)]});
    let nodes = inventory(&["amd64 control-plane", "arm64 worker", "s390x worker"]);
    let matrix = made("1.17", &nodes, false, spec);
    assert_eq!(
        cells_of(&matrix, "fedora"),
        [
            "amd64 unneeded no-node arm64|s390x",
            "arm64 undetermined importer arm64|s390x",
            "s390x undetermined importer arm64|s390x",
            "plain undetermined importer arm64|s390x",
        ]
    );
    assert_eq!(cells_of(&matrix, "pinned")[1], "arm64 covered imported arm64");
    assert_eq!(cells_of(&matrix, "pinned")[2], "s390x undeclared pinned arm64");
}

#[test]
fn a_plain_name_without_an_import_is_dangling() {
    let nodes = inventory(&["amd64 control-plane", "arm64 worker", "s390x worker"]);
    let matrix = made("1.18", &nodes, true, json!({}));
    assert_eq!(
        cells_of(&matrix, "fedora"),
        [
            "amd64 unneeded no-node -",
            "arm64 covered imported arm64",
            "s390x covered imported s390x",
            "plain missing dangling -",
        ]
    );
    let fedora = matrix.images.iter().find(|i| i.name == "fedora");
    let plain = &fedora.expect("an image").plain;
    assert_eq!(plain.reason, Reason::Dangling("fedora-amd64".to_owned()));
    assert_eq!(counts(&[matrix]).dangling, 2, "fedora, centos-stream9");
}

#[test]
fn a_later_template_replaces_an_earlier_one() {
    let key = "ssp.kubevirt.io/dict.architectures";
    let all = json!({key: "amd64,arm64"});
    let spec = json!({"dataImportCronTemplates": [
        template("a", "same", all.clone(), json!({})),
        template("b", "same", json!({key: "amd64"}), json!({})),
    ]});
    let matrix = made("1.18", &inventory(&MIXED), true, spec);
    let same = matrix.images.iter().find(|i| i.name == "same").expect("it");
    assert_eq!(same.templates, ["a", "b"]);
    assert_eq!(same.cells[0].cron.as_deref(), Some("b-amd64"));
    assert_eq!(same.cells[1].cron.as_deref(), Some("a-arm64"));
    assert_eq!(same.cells[2].state, State::Undeclared);
}

#[test]
fn a_template_with_architectures_wins_over_one_without() {
    let key = "ssp.kubevirt.io/dict.architectures";
    let spec = json!({"dataImportCronTemplates": [
        template("a", "same", json!({}), json!({})),
        template("b", "same", json!({key: "amd64"}), json!({})),
    ]});
    let matrix = made("1.18", &inventory(&MIXED), true, spec);
    assert_eq!(
        cells_of(&matrix, "same"),
        [
            "amd64 covered imported amd64",
            "arm64 missing displaced -",
            "s390x missing displaced -",
            "plain covered imported amd64",
        ]
    );
}

#[test]
fn reports_an_obstacle_of_all_images_once() {
    let mixed = inventory(&MIXED);
    let rejected = made("1.18", &mixed, true, json!({"evictionStrategy": "Sometimes"}));
    assert!(matches!(rejected.obstacle, Some(Obstacle::Rejected(_))));
    let odd = inventory(&["ppc64le control-plane", "amd64 worker"]);
    let ssp = made("1.18", &odd, true, json!({}));
    assert!(matches!(&ssp.obstacle, Some(Obstacle::Rejected(_) | Obstacle::SspRejected(_))), "{ssp:?}");
    for matrix in [&rejected, &ssp] {
        let cells = matrix.images.iter().flat_map(|i| &i.cells);
        let wanted = cells.filter(|c| c.state != State::Unneeded).collect::<Vec<_>>();
        assert!(!wanted.is_empty());
        assert!(wanted.iter().all(|c| c.state == State::Missing));
    }
    let kubernetes = Inventory { platform: Platform::Kubernetes, ..mixed };
    let kubernetes = made("1.18", &kubernetes, true, json!({}));
    assert_eq!(kubernetes.obstacle, Some(Obstacle::NoSsp));
    assert!(!kubernetes.is_problem());
    let empty = made("1.18", &inventory(&["amd64 control-plane"]), true, json!({}));
    assert_eq!(empty.obstacle, Some(Obstacle::NoWorkloadNodes));
}

#[test]
fn shows_common_images_that_are_off() {
    let spec = json!({"enableCommonBootImageImport": false});
    let matrix = made("1.17", &inventory(&MIXED), true, spec);
    assert_eq!(cells_of(&matrix, "fedora")[0], "amd64 disabled common-images-disabled -");
    assert!(!matrix.is_problem());
}

#[test]
fn shows_same_clusters_together() {
    let mixed = inventory(&MIXED);
    let mut all: Vec<_> = (0..1000)
        .map(|i| ClusterMatrix { cluster: format!("c{i}"), ..made("1.18", &mixed, i % 500 == 7, json!({})) })
        .collect();
    all[3].architectures[0].workload_nodes += 5;
    let groups = groups(&all);
    let sizes: Vec<usize> = groups.iter().map(|g| g.clusters.len()).collect();
    assert_eq!(sizes, [998, 2]);
    assert_eq!(groups[1].first.cluster, "c7");
}

#[test]
fn what_rests_on_assumed_nodes_is_no_problem() {
    let declared = json!({"ssp.kubevirt.io/dict.architectures": "arm64"});
    let spec = json!({"dataImportCronTemplates": [template("gadget", "gadget", declared, json!({}))]});
    let nodes = inventory(&["amd64 control-plane", "amd64 worker"]);
    for (states_nodes, expected) in [(true, "amd64 missing none-declared -"), (false, "amd64 unknown none-declared -")]
    {
        let matrix = made_with("1.18", &nodes, states_nodes, true, spec.clone());
        assert_eq!(cells_of(&matrix, "gadget")[0], expected);
        assert_eq!(matrix.is_problem(), states_nodes);
    }
}

#[test]
fn every_reason_names_an_existing_rule() {
    let text = String::new;
    let all = [
        Reason::MultiArchOff(text()),
        Reason::Undeclared(None),
        Reason::NotDeclared(text()),
        Reason::NoneDeclared(text()),
        Reason::Malformed(text()),
        Reason::Pinned(text()),
        Reason::Displaced(text()),
        Reason::Dangling(text()),
        Reason::Obstacle("rejected".to_owned()),
        Reason::Obstacle("ssp-rejected".to_owned()),
        Reason::Obstacle("reconcile-fails".to_owned()),
    ];
    for reason in all {
        let rule = reason.rule().expect("a rule");
        assert!(hcoplan_lint::find(rule).is_some(), "{rule}");
    }
}
