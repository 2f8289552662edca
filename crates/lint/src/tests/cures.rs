//! Fixes for common mistakes: nothing written is lost, and unclear cases are choices.

use hcoplan_diagnostics::finding::Applicability::{Safe, Suggestion, Unsafe};
use hcoplan_diagnostics::finding::{Applicability, Finding};
use hcoplan_yaml::edit::apply;

use super::load::Case;
use crate::Settings;

const HEAD: &str =
    "kind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\n";

/// The fixes of an error of a manifest: applicability, and the resulting text below the head.
fn fixes(version: &str, release: &str, text: &str) -> Vec<(Applicability, String)> {
    let head = format!("apiVersion: hco.kubevirt.io/{version}\n{HEAD}");
    let text = format!("{head}{text}");
    let findings = Case::with(&text, "", release).lint(&Settings::default());
    let found: Vec<&Finding> = findings.iter().filter(|f| f.rule.name.starts_with("hco-")).collect();
    let fixes = found.iter().filter(|f| f.rule.name != "hco-api-v1beta1").flat_map(|f| &f.fixes);
    let after = |edits| apply(&text, edits).expect("applies").strip_prefix(&head).expect("the same head").to_owned();
    fixes.map(|fix| (fix.applicability, after(&fix.edits))).collect()
}

#[test]
fn moves_values_as_they_are_written() {
    for (text, fixed) in [
        // Outside of `spec`, and in another case on another level.
        (
            "permittedHostDevices:\n  pciHostDevices:\n    - {pciDeviceSelector: '10DE:1EB8', resourceName: a.com/b} # T4\nspec:\n  infra: {}\n",
            "spec:\n  infra: {}\n  permittedHostDevices:\n    pciHostDevices:\n      - {pciDeviceSelector: '10DE:1EB8', resourceName: a.com/b} # T4\n",
        ),
        (
            "spec:\n  workloads:\n    # GPUs\n    permittedHostDevices:\n      pciHostDevices:\n      - pciDeviceSelector: \"10DE:1EB8\" # T4\n        resourceName: a.com/b\n",
            "spec:\n  # GPUs\n  permittedHostDevices:\n    pciHostDevices:\n    - pciDeviceSelector: \"10DE:1EB8\" # T4\n      resourceName: a.com/b\n",
        ),
        // Two nested wrappers.
        ("spec:\n  hyperconverged:\n    spec:\n      defaultCPUModel: 'EPYC'\n", "spec:\n  defaultCPUModel: 'EPYC'\n"),
        // The same, with fields between them: comments and order stay.
        (
            "spec:\n  # ours\n  spec:\n    # fast\n    defaultCPUModel: EPYC\n    spec:\n      evictionStrategy: None # drains\n      featureGates: {alignCPUs: true}\n",
            "spec:\n  # ours\n  # fast\n  defaultCPUModel: EPYC\n  evictionStrategy: None # drains\n  featureGates: {alignCPUs: true}\n",
        ),
        // A selector never becomes one that matches everything.
        (
            "spec:\n  resourceRequirements:\n    autoCPULimitNamespaceLabelSelector:\n      limit: true\n",
            "spec:\n  resourceRequirements:\n    autoCPULimitNamespaceLabelSelector:\n      matchLabels:\n        limit: \"true\"\n",
        ),
        (
            "spec:\n  workloads:\n    nodePlacement:\n      nodeSelector:\n        matchLabels:\n          zone: a\n",
            "spec:\n  workloads:\n    nodePlacement:\n      nodeSelector:\n        zone: a\n",
        ),
        // An existing section gets the missing fields.
        (
            "spec:\n  LiveMigrationConfig: {network: 'mig'}\n  liveMigrationConfig:\n    allowPostCopy: true\n",
            "spec:\n  liveMigrationConfig:\n    allowPostCopy: true\n    network: mig\n",
        ),
        ("spec:\n  featureGates:\n  - alignCPUs\n", "spec:\n  featureGates:\n    alignCPUs: true\n"),
        // That a section is there may be a setting.
        (
            "spec:\n  permittedHostDevices:\n    evictionStrategy: None\n",
            "spec:\n  evictionStrategy: None\n  permittedHostDevices: {}\n",
        ),
        // A switch by the opposite name.
        (
            "spec:\n  virtualMachineOptions: {enableSerialConsoleLog: true}\n",
            "spec:\n  virtualMachineOptions:\n    disableSerialConsoleLog: false\n",
        ),
        // Names instead of a list.
        (
            "spec:\n  permittedHostDevices: {pciHostDevices: {card: {pciDeviceSelector: 'ABCD:1234', resourceName: a.com/b}}}\n",
            "spec:\n  permittedHostDevices: {pciHostDevices: [{pciDeviceSelector: \"ABCD:1234\", resourceName: a.com/b}]}\n",
        ),
        // The name of a list in the singular.
        ("spec:\n  obsoleteCPUs: {cpuModel: a}\n", "spec:\n  obsoleteCPUs:\n    cpuModels:\n    - a\n"),
        (
            "spec:\n  workloadUpdateStrategy:\n    workloadUpdateMethod: Evict\n",
            "spec:\n  workloadUpdateStrategy:\n    workloadUpdateMethods:\n    - Evict\n",
        ),
        // A value without its section's key, or without its list.
        ("spec:\n  obsoleteCPUs: [a]\n", "spec:\n  obsoleteCPUs: {cpuModels: [a]}\n"),
        (
            "spec:\n  mediatedDevicesConfiguration: [a]\n",
            "spec:\n  mediatedDevicesConfiguration: {mediatedDeviceTypes: [a]}\n",
        ),
        (
            "spec:\n  higherWorkloadDensity: 150\n",
            "spec:\n  higherWorkloadDensity:\n    memoryOvercommitPercentage: 150\n",
        ),
        (
            "spec:\n  CommonInstancetypesDeployment: false\n",
            "spec:\n  CommonInstancetypesDeployment:\n    enabled: false\n",
        ),
        (
            "spec:\n  storageImport: {insecureRegistries: a.example.com}\n",
            "spec:\n  storageImport: {insecureRegistries: [a.example.com]}\n",
        ),
    ] {
        let fixes = fixes("v1beta1", "1.17", text);
        assert!(
            matches!(&fixes[..], [(Safe | Unsafe, after)] if after == fixed),
            "{text}\n{fixed}\n{}",
            fixes.iter().map(|(how, after)| format!("{how:?}:\n{after}")).collect::<String>()
        );
    }
    let gates = "spec:\n  featureGates:\n  - alignCPUs: Enabled\n";
    let named = "spec:\n  featureGates:\n  - name: alignCPUs\n    state: Enabled\n";
    assert_eq!(fixes("v1", "1.18", gates), [(Unsafe, named.to_owned())]);
    let gates = "spec:\n  featureGates:\n    alignCPUs: {enabled: true}\n";
    assert_eq!(fixes("v1beta1", "1.17", gates), [(Safe, "spec:\n  featureGates:\n    alignCPUs: true\n".to_owned())]);
}

#[test]
fn doesnt_guess_the_meaning_of_a_value() {
    for text in ["applicationAwareConfig: true", "liveMigrationConfig: 5", "infra: a", "permittedHostDevices: a"] {
        assert_eq!(fixes("v1beta1", "1.17", &format!("spec:\n  {text}\n")), [], "{text}");
    }
}

#[test]
fn lets_choose_between_two_values() {
    for (text, all) in [
        ("spec:\n  featureGates:\n    AlignCPUs: true\n    alignCpus: false\n", 2),
        (
            "spec:\n  defaultCPUModel: Haswell\n  spec:\n    defaultCPUModel: EPYC\n    evictionStrategy: LiveMigrate\n",
            2,
        ),
        ("spec:\n  liveMigrationConfig:\n    network: a\n    netwrok: b\n", 2),
    ] {
        let fixes = fixes("v1beta1", "1.17", text);
        assert!(fixes.len() == all && fixes.iter().all(|(how, _)| *how == Suggestion), "{text}: {fixes:?}");
    }
}

#[test]
fn a_fix_that_brings_an_error_names_the_cluster() {
    let text = format!(
        "apiVersion: hco.kubevirt.io/v1beta1\n{HEAD}spec:\n  infra:\n    nodePlacement:\n      NodeSelector: {{zone: z}}\n"
    );
    let inventory = "apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: c}
spec:
  release: \"1.17\"
  nodePools: [{name: a, count: 3, architecture: amd64, roles: [control-plane, worker]}]
";
    let findings = Case::of(&text, inventory).lint(&Settings::default());
    let fix = findings.iter().find_map(|f| f.fixes.first()).expect("a fix");
    assert_eq!(fix.applicability, Suggestion);
    assert!(
        fix.title.starts_with("rename it to nodeSelector; ") && fix.title.contains("then has the error"),
        "{}",
        fix.title
    );
}
