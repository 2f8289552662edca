//! Follows the runbooks of golden images from the findings alone: diagnosis, each mitigation, and the result.
//!
//! Source: the runbooks of HCOMultiArchGoldenImagesDisabled and HCOGoldenImageWithNoArchitectureAnnotation.

use hcoplan_diagnostics::finding::{Finding, Fix};
use hcoplan_planner::boot::BootOutcome;

use super::load::Case;
use crate::Settings;

const INVENTORY: &str = "apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: c}
spec:
  release: \"1.18\"
  platform: OpenShift
  nodePools:
  - {name: masters, count: 3, architecture: amd64, roles: [control-plane]}
  - {name: amds, count: 2, architecture: amd64, roles: [worker]}
  - {name: arms, count: 2, architecture: arm64, roles: [worker]}
";

const MANIFEST: &str = "apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
spec:
  dataImportCronTemplates:
  - metadata:
      name: kiosk
    spec:
      schedule: 0 0 * * *
      managedDataSource: kiosk
      retentionPolicy: All
      template:
        spec:
          source: {registry: {url: \"docker://registry.example.com/kiosk:1\"}}
          storage: {resources: {requests: {storage: 10Gi}}}
";

/// A virtual machine of an architecture that clones an image.
const MACHINES: &str = "apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: NAME, namespace: shop}
spec:
  runStrategy: Always
  dataVolumeTemplates:
  - metadata: {name: root}
    spec:
      sourceRef: {kind: DataSource, name: SOURCE, namespace: kubevirt-os-images}
      storage: {resources: {requests: {storage: 10Gi}}}
  template:
    spec:
      architecture: ARCHITECTURE
      domain: {memory: {guest: 1Gi}, devices: {}}
      volumes: [{name: root, dataVolume: {name: root}}]
";

const DISABLED: &str = "HCOMultiArchGoldenImagesDisabled";
const UNANNOTATED: &str = "HCOGoldenImageWithNoArchitectureAnnotation";

fn machine(architecture: &str, source: &str) -> String {
    let text = MACHINES.replace("NAME", architecture).replace("SOURCE", source);
    text.replace("ARCHITECTURE", architecture)
}

/// The boot result of each machine.
fn outcomes(case: &Case, machines: &str) -> Vec<BootOutcome> {
    let settings = Settings::default();
    let context = case.context(&settings, machines);
    context.boots().iter().map(|boot| boot.answer.outcome).collect()
}

/// The finding of a rule.
fn finding(case: &Case, rule: &str) -> Finding {
    let found = case.lint(&Settings::default());
    let names: Vec<&str> = found.iter().map(|f| f.rule.name).collect();
    found.iter().find(|f| f.rule.name == rule).unwrap_or_else(|| panic!("no {rule}: {names:?}")).clone()
}

/// The manifest after the only fix whose title contains a word.
fn fixed(text: &str, finding: &Finding, word: &str) -> String {
    let titles: Vec<&str> = finding.fixes.iter().map(|f| f.title.as_str()).collect();
    let fix: &Fix =
        finding.fixes.iter().find(|f| f.title.contains(word)).unwrap_or_else(|| panic!("{word}: {titles:?}"));
    let mut text = text.to_owned();
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|e| std::cmp::Reverse(e.span.start));
    for edit in edits {
        text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    }
    text
}

#[test]
fn a_mixed_cluster_without_multi_arch_is_diagnosed() {
    let case = Case::of(MANIFEST, INVENTORY);
    assert_eq!(case.plan.alerts(), [DISABLED]);
    assert_eq!(case.plan.topology.workload_architectures, ["amd64", "arm64"]);
    let found = finding(&case, "multi-arch-boot-images-disabled");
    assert!(found.message.contains("amd64 and arm64"), "{}", found.message);
    // Each machine may get the disk of the other architecture.
    let both = format!("{}---\n{}", machine("amd64", "fedora"), machine("arm64", "fedora"));
    assert_eq!(outcomes(&case, &both), [BootOutcome::Undetermined, BootOutcome::Undetermined]);
}

#[test]
fn the_first_mitigation_ends_with_an_image_for_each() {
    let found = finding(&Case::of(MANIFEST, INVENTORY), "multi-arch-boot-images-disabled");
    let enabled = fixed(MANIFEST, &found, "enableMultiArchBootImageImport");
    let case = Case::of(&enabled, INVENTORY);
    // The runbook's next step: custom images have to declare their architectures.
    assert_eq!(case.plan.alerts(), [UNANNOTATED]);
    assert_eq!(outcomes(&case, &machine("arm64", "kiosk")), [BootOutcome::Undetermined]);
    let found = finding(&case, "dict-missing-architectures-annotation");
    let annotated = fixed(&enabled, &found, "amd64,arm64");
    let case = Case::of(&annotated, INVENTORY);
    assert_eq!(case.plan.alerts(), [""; 0]);
    for source in ["fedora", "kiosk"] {
        let [amd64, arm64] = ["amd64", "arm64"].map(|a| machine(a, &format!("{source}-{a}")));
        assert_eq!(outcomes(&case, &format!("{amd64}---\n{arm64}")), [BootOutcome::Boots, BootOutcome::Boots]);
        // The plain name refers to the control plane's architecture.
        assert_eq!(outcomes(&case, &machine("arm64", source)), [BootOutcome::DoesNotBoot]);
    }
}

#[test]
fn the_second_mitigation_leaves_one_architecture() {
    let found = finding(&Case::of(MANIFEST, INVENTORY), "multi-arch-boot-images-disabled");
    let placed = fixed(MANIFEST, &found, "keep workloads on");
    let case = Case::of(&placed, INVENTORY);
    assert_eq!(case.plan.alerts(), [""; 0]);
    assert_eq!(case.plan.topology.workload_architectures, ["amd64"]);
    for source in ["fedora", "kiosk"] {
        let both = format!("{}---\n{}", machine("amd64", source), machine("arm64", source));
        assert_eq!(outcomes(&case, &both), [BootOutcome::Boots, BootOutcome::DoesNotBoot]);
    }
}
