//! A safe fix keeps the user's intention and comments: an ignored setting that differs from the effective one isn't
//! removed without a question.

use hcoplan_diagnostics::finding::Applicability;

use super::load::Case;
use crate::Settings;

/// The applicability of a rule's fixes for a HyperConverged.
fn fixes(release: &str, platform: &str, document: &str, rule: &str) -> Vec<Applicability> {
    let inventory = format!(
        "apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {{name: c}}
spec:
  release: \"{release}\"
  platform: {platform}
  nodePools: [{{name: a, count: 3, architecture: amd64, roles: [control-plane, worker]}}]
"
    );
    let case = Case::of(document, &inventory);
    let findings = case.lint(&Settings::default());
    let ours = findings.iter().filter(|f| f.rule.name == rule);
    let fixes = ours.flat_map(|f| &f.fixes);
    fixes.map(|fix| fix.applicability).collect()
}

/// A HyperConverged with a `spec`.
fn of_spec(version: &str, spec: &str) -> String {
    format!(
        "apiVersion: hco.kubevirt.io/{version}
kind: HyperConverged
metadata: {{name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}}
spec:
{spec}
"
    )
}

#[test]
fn removes_ignored_fields_safely_only_if_they_equal_the_effective_value() {
    use Applicability::{Safe, Suggestion, Unsafe};
    let gate = |name: &str, on: &str| format!("  featureGates: {{{name}: {on}}}");
    let listed = |gates: &str| format!("  featureGates: [{gates}]");
    let image = "  featureGates: {enableMultiArchBootImageImport: true}
  dataImportCronTemplates:
  - metadata: {name: mine, annotations: {ssp.kubevirt.io/dict.architectures: amd64}}
    spec:
      managedDataSource: mine
      schedule: \"0 */12 * * *\"
      template: {spec: {source: {registry: {url: \"docker://quay.io/x/y:1\", platform: {architecture: ARCH}}}}}";
    let cases = [
        ("v1beta1", "1.18", "ignored-field", gate("nonRoot", "true"), Safe),
        ("v1beta1", "1.18", "ignored-field", gate("nonRoot", "false"), Unsafe),
        ("v1beta1", "1.18", "ignored-field", gate("enableManagedTenantQuota", "false"), Safe),
        ("v1beta1", "1.18", "ignored-field", gate("deployKubevirtIpamController", "true"), Safe),
        ("v1beta1", "1.18", "ignored-field", gate("deployKubevirtIpamController", "false"), Unsafe),
        ("v1beta1", "1.18", "ignored-field", gate("withHostPassthroughCPU", "false"), Safe),
        ("v1beta1", "1.18", "ignored-field", gate("withHostPassthroughCPU", "true"), Unsafe),
        ("v1beta1", "1.18", "ignored-field", gate("enableManagedTenantQuota", "true"), Unsafe),
        ("v1beta1", "1.18", "ignored-field", gate("deployVmConsoleProxy", "false"), Safe),
        ("v1beta1", "1.18", "ignored-field", gate("deployVmConsoleProxy", "true"), Unsafe),
        ("v1beta1", "1.18", "ignored-field", "  vddkInitImage: quay.io/x/vddk:1".to_owned(), Unsafe),
        ("v1beta1", "1.18", "ignored-field", "  localStorageClassName: local".to_owned(), Unsafe),
        ("v1", "1.19", "tuning-policy-high-burst", "  virtualization: {tuningPolicy: highBurst}".to_owned(), Unsafe),
        ("v1", "1.18", "feature-gate-unknown-or-duplicate", listed("{name: alignCPUs}, {name: AlignCPUs}"), Safe),
        (
            "v1",
            "1.18",
            "feature-gate-unknown-or-duplicate",
            listed("{name: alignCPUs}, {name: AlignCPUs, state: Disabled}"),
            Suggestion,
        ),
        ("v1beta1", "1.18", "dict-platform-architecture-overwritten", image.replace("ARCH", "amd64"), Safe),
        ("v1beta1", "1.18", "dict-platform-architecture-overwritten", image.replace("ARCH", "arm64"), Unsafe),
    ];
    for (version, release, rule, spec, expected) in cases {
        let document = of_spec(version, &spec);
        let found = fixes(release, "OpenShift", &document, rule);
        assert_eq!(found, [expected], "{rule} of {release}:\n{document}");
    }
}

#[test]
fn removes_a_patch_safely_only_without_effect() {
    use Applicability::{Safe, Unsafe};
    let annotated = |name: &str, patch: &str| {
        let spec = of_spec("v1beta1", "  defaultCPUModel: Haswell");
        let annotation = format!(", annotations: {{{name}/jsonpatch: '{patch}'}}}}");
        spec.replacen("}", &annotation, 1)
    };
    let gate = |name: &str| {
        let list = "/spec/configuration/developerConfiguration/featureGates/-";
        let patch = format!(r#"[{{"op": "add", "path": "{list}", "value": "{name}"}}]"#);
        annotated("kubevirt.kubevirt.io", &patch)
    };
    let ssp = r#"[{"op": "replace", "path": "/spec/templateValidator/replicas", "value": 1}]"#;
    let cases = [
        ("jsonpatch-feature-gate-inert", "OpenShift", gate("VolumeMigration"), Safe),
        ("jsonpatch-feature-gate-inert", "OpenShift", gate("Macvtap"), Unsafe),
        ("jsonpatch-feature-gate-inert", "OpenShift", gate("MultiArchitecture"), Unsafe),
        ("jsonpatch-ssp-without-openshift", "Kubernetes", annotated("ssp.kubevirt.io", ssp), Unsafe),
    ];
    for (rule, platform, document, expected) in cases {
        let found = fixes("1.18", platform, &document, rule);
        assert_eq!(found, [expected], "{rule}:\n{document}");
    }
}

#[test]
fn a_patch_that_contradicts_a_field_has_no_safe_fix() {
    use Applicability::{Safe, Unsafe};
    let patch = r#"[{"op": "add", "path": "/spec/configuration/migrations/progressTimeout", "value": 300},
        {"op": "add", "path": "/spec/configuration/migrations/completionTimeoutPerGiB", "value": 300}]"#;
    let spec = of_spec("v1beta1", "  liveMigrationConfig: {progressTimeout: 150}");
    let annotation = format!(", annotations: {{kubevirt.kubevirt.io/jsonpatch: '{patch}'}}}}");
    let document = spec.replacen('}', &annotation, 1);
    let of = |rule: &str| fixes("1.18", "OpenShift", &document, rule);
    assert_eq!(of("jsonpatch-contradicts-cr"), [Unsafe, Unsafe]);
    assert_eq!(of("jsonpatch-duplicates-field"), [Safe]);
}

#[test]
fn a_fix_that_removes_a_comment_is_unsafe() {
    use Applicability::{Safe, Unsafe};
    let gate = |above: &str, behind: &str| {
        let spec = format!("  featureGates:\n{above}    nonRoot: true{behind}\n    alignCPUs: true");
        of_spec("v1beta1", &spec)
    };
    let section = "  # What the auditors asked for.\n  featureGates: {nonRoot: true}\n  defaultCPUModel: Haswell";
    let cases = [
        (gate("", ""), Safe),
        (gate("    # The auditors want it.\n", ""), Unsafe),
        (gate("", " # The auditors want it."), Unsafe),
        (of_spec("v1beta1", section), Unsafe),
    ];
    for (document, expected) in cases {
        let found = fixes("1.18", "OpenShift", &document, "ignored-field");
        assert_eq!(found, [expected], "{document}");
    }
}
