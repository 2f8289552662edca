//! A finding reports that its fix wasn't tried because many others were.

use hcoplan_diagnostics::finding::{Applicability, Finding};
use hcoplan_yaml::Path;
use hcoplan_yaml::edit::Change;

use super::load::Case;
use crate::sink::UNTRIED;
use crate::{Selection, Settings, run};

const HEAD: &str = "apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
";

fn of<'f>(findings: &'f [Finding], rule: &str) -> Vec<&'f Finding> {
    findings.iter().filter(|f| f.rule.name == rule).collect()
}

fn says(finding: &Finding) -> bool {
    finding.not_fixed.as_deref() == Some(UNTRIED)
}

#[test]
fn reports_unknown_fields_beyond_the_limit_as_untried() {
    let fields: String = (0..60).map(|i| format!("  noSuchField{i}: 1\n")).collect();
    // In a large file few are tried.
    let comment = "x".repeat(500_000);
    let case = Case::with(&format!("{HEAD}spec:\n{fields}# {comment}\n"), "", "1.18");
    let settings = Settings::default();
    let findings = case.lint(&settings);
    let found = of(&findings, "hco-unknown-field");
    assert_eq!(found.len(), 60);
    assert!(found.iter().all(|f| f.fixes.is_empty() == says(f)));
    assert_eq!(found.iter().filter(|f| says(f)).count(), 50);
    let without = Selection::of(&settings).without_fixes();
    let findings = run(&case.surroundings(&settings), &without).findings;
    assert!(findings.iter().all(|f| f.not_fixed.is_none()));
}

/// A cluster whose nodes have this many taints without toleration.
fn tainted(taints: usize) -> Case {
    let spec = "spec:
  workloads:
    nodePlacement:
      nodeSelector: {zone: z}
      tolerations:
        - {key: a, operator: Exists}
";
    let taints = (0..taints).map(|i| format!("{{key: k{i}, effect: NoSchedule}}"));
    let taints: Vec<String> = taints.collect();
    let inventory = format!(
        "apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {{name: one}}
spec:
  release: \"1.18\"
  nodes:
    - {{name: c, architecture: amd64, roles: [control-plane]}}
    - {{name: w, architecture: amd64, roles: [worker], labels: {{zone: z}}, taints: [{}]}}
",
        taints.join(", ")
    );
    Case::of(&format!("{HEAD}{spec}"), &inventory)
}

#[test]
fn reports_taints_beyond_the_limit_as_untried() {
    for (taints, untried) in [(64, false), (65, true)] {
        let findings = tainted(taints).lint(&Settings::default());
        let found = of(&findings, "placement-untolerated-taint");
        let reported: Vec<_> = found.iter().map(|f| (says(f), f.fixes.len())).collect();
        assert_eq!(reported, [(untried, usize::from(!untried))], "{taints}");
    }
}

#[test]
fn reports_a_file_beyond_the_limit_of_reads_as_untried() {
    let case = tainted(2);
    let settings = Settings::default();
    let cx = case.context(&settings, "");
    let lint = || {
        let findings = run(&cx, &Selection::of(&settings)).findings;
        let found = of(&findings, "placement-untolerated-taint");
        let reported: Vec<_> = found.iter().map(|f| (says(f), f.fixes.len())).collect();
        reported
    };
    assert_eq!(lint(), [(false, 1)]);
    let list = Path::dotted("spec.workloads.nodePlacement.tolerations");
    let change = Change::Append(list, serde_json::json!({"key": "b", "operator": "Exists"}));
    let changes = vec![change; 2];
    let try_out = || cx.fix("try it out", Applicability::Suggestion, &changes);
    let tried = (0..100_000).take_while(|_| try_out().is_some()).count();
    assert!((10..100_000).contains(&tried), "{tried}");
    assert_eq!(lint(), [(true, 0)]);
}

#[test]
fn reports_operations_beyond_the_limit_as_untried() {
    // The strategy also sets CDI: all operations together don't keep the cluster the same.
    let strategy = r#"{"op": "add", "path": "/spec/uninstallStrategy", "value": "RemoveWorkloads"}"#;
    let path = "/spec/infra/nodePlacement/nodeSelector";
    let label = |i| format!(r#"{{"op": "add", "path": "{path}/k{i}", "value": "v"}}"#);
    let operations: Vec<String> = (1..40).map(label).collect();
    let patch = format!("[{strategy}, {}]", operations.join(", "));
    let annotation = format!("  annotations: {{kubevirt.kubevirt.io/jsonpatch: '{patch}'}}\n");
    let text = format!("{HEAD}{annotation}spec: {{infra: {{nodePlacement: {{nodeSelector: {{a: b}}}}}}}}\n");
    let findings = Case::with(&text, "", "1.18").lint(&Settings::default());
    let moved = findings.iter().filter(|f| f.rule.name.starts_with("jsonpatch-"));
    let untried = moved.filter(|f| says(f)).count();
    assert_eq!(untried, 8, "{findings:#?}");
}
