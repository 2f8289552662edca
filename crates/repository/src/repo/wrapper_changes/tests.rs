//! Which fields of controllers' objects are reported.

use hcoplan_diagnostics::source::Memory;

use super::*;

fn named(text: &str, cluster: &str) -> Vec<String> {
    let parsed = yaml::parse(&SourceFile::new("apps/a.yaml", text));
    let found = findings(
        &parsed.documents[0],
        &[Utf8Path::new(cluster)].into(),
        &|_| false,
        &Memory::from_iter::<[(&str, &str); 0]>([]),
        None,
        false,
    );
    found.into_iter().map(|f| f.message.split('`').nth(1).unwrap_or_default().to_owned()).collect()
}

#[test]
fn names_each_field_that_may_change_a_hyperconverged() {
    let argo = |source: &str| {
        let source = format!("{{repoURL: a, path: virt, {source}}}");
        let spec = format!("spec: {{source: {source}}}\n");
        named(&format!("apiVersion: argoproj.io/v1alpha1\nkind: Application\n{spec}"), "virt/hc.yaml")
    };
    for harmless in [
        "targetRevision: b",
        "kustomize: {images: [a], commonLabels: {a.kubevirt.io/b: c}, commonAnnotations: {a: b}, patches: []}",
        "kustomize: {patches: [{target: {kind: Deployment}, patch: a}]}",
        "kustomize: {patches: [{patch: 'kind: Deployment'}]}",
    ] {
        assert_eq!(argo(harmless), [""; 0], "{harmless}");
    }
    for (source, field) in [
        ("kustomize: {patches: [{target: {kind: 'H.*'}, patch: a}]}", "kustomize.patches"),
        ("kustomize: {patches: [{target: {name: a}, patch: '[]'}]}", "kustomize.patches"),
        ("kustomize: {components: [../c]}", "kustomize.components"),
        ("kustomize: {commonAnnotations: {kubevirt.kubevirt.io/jsonpatch: '[]'}}", "kustomize.commonAnnotations"),
        ("kustomize: {commonAnnotations: {deployOVS: 'true'}}", "kustomize.commonAnnotations"),
        ("kustomize: {fieldOfTomorrow: a}", "kustomize.fieldOfTomorrow"),
        ("directory: {fieldOfTomorrow: a}", "directory.fieldOfTomorrow"),
        ("helm: {values: a, fieldOfTomorrow: a}", "helm.fieldOfTomorrow"),
        ("fieldOfTomorrow: a", "fieldOfTomorrow"),
        ("plugin: {name: a}", "plugin"),
    ] {
        assert_eq!(argo(source), [field], "{source}");
    }
    let flux = |spec: &str, cluster: &str| {
        let spec = format!("spec: {{path: ./virt, {spec}}}\n");
        named(&format!("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n{spec}"), cluster)
    };
    assert_eq!(flux("prune: true, postBuild: {substitute: {a: b}}", "virt/hc.yaml"), [""; 0]);
    assert_eq!(flux("targetNamespace: a", "virt/a/hc.yaml"), ["targetNamespace"]);
    assert_eq!(flux("targetNamespace: a", "virtual/hc.yaml"), [""; 0]);
    // A patch that turns another object into a HyperConverged.
    let other = "patches: [{target: {kind: ConfigMap}, patch: 'kind: HyperConverged'}]";
    assert_eq!(flux(other, "elsewhere/hc.yaml"), ["patches"]);
}

#[test]
fn reports_an_unknown_field_of_any_object() {
    const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1, kind: Application";
    const RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease";
    for (head, spec, expected) in [
        (APPLICATION, "source: {path: virt}, later: a", "later"),
        (APPLICATION, "sourceHydrator: {drySource: {path: virt, kustomize: {patches: [a]}}}", "kustomize.patches"),
        (
            "apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet",
            "template: {spec: {source: {path: virt}}}, later: a",
            "later",
        ),
        (RELEASE, "chart: {spec: {chart: virt}}, later: a", "later"),
        (RELEASE, "chart: {spec: {chart: virt}}, commonMetadata: {labels: {a: b}, later: a}", "commonMetadata"),
        ("apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization", "path: virt, later: a", "later"),
        ("apiVersion: fleet.cattle.io/v1alpha1, kind: GitRepo", "paths: [virt], targetNamespace: a", "targetNamespace"),
        (
            "apiVersion: apps.open-cluster-management.io/v1, kind: Subscription, \
             metadata: {annotations: {apps.open-cluster-management.io/git-path: virt}}",
            "packageOverrides: [a]",
            "packageOverrides",
        ),
    ] {
        let object = format!("{}\nspec: {{{spec}}}\n", head.replace(", ", "\n"));
        assert_eq!(named(&object, "virt/hc.yaml"), [expected], "{object}");
        let list = format!("kind: List\nitems: [{{kind: List, items: [{{{head}, spec: {{{spec}}}}}]}}]\n");
        assert_eq!(named(&list, "virt/hc.yaml"), [expected], "{list}");
    }
    let parsed = yaml::parse(&SourceFile::new("virt/fleet.yaml", "defaultNamespace: a\nyaml: {overlays: [b]}\n"));
    let tree = Memory::from_iter::<[(&str, &str); 0]>([]);
    assert_eq!(
        findings(&parsed.documents[0], &[Utf8Path::new("virt/hc.yaml")].into(), &|_| false, &tree, None, false).len(),
        1
    );
}

#[test]
fn a_json_patch_of_a_kustomization_changes_what_an_application_applies() {
    let patched = |kind: &str, operations: &str| {
        let text = format!("patches:\n- target: {{kind: {kind}}}\n  patch: |-\n    {operations}\n");
        let parsed = yaml::parse(&SourceFile::new("apps/kustomization.yaml", text));
        let found = findings(
            &parsed.documents[0],
            &[Utf8Path::new("virt/hc.yaml")].into(),
            &|_| false,
            &Memory::from_iter::<[(&str, &str); 0]>([]),
            None,
            false,
        );
        found.into_iter().map(|f| f.message.split('`').nth(1).unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    for (kind, operation, expected) in [
        ("Application", "[{op: add, path: /spec/source/kustomize/components, value: [../c]}]", "kustomize.components"),
        ("App.*", "[{op: add, path: /spec/sources/0/kustomize, value: {namespace: a}}]", "kustomize.namespace"),
        ("Kustomization", "[{op: add, path: /spec/components, value: [../c]}]", "components"),
    ] {
        assert_eq!(patched(kind, operation), [expected], "{operation}");
    }
    for (kind, operation) in [
        ("Application", "[{op: replace, path: /spec/source/path, value: virt}]"),
        ("Application", "[{op: replace, path: /spec/destination/server, value: a}]"),
        ("Deployment", "[{op: add, path: /spec/source/kustomize/components, value: [../c]}]"),
    ] {
        assert_eq!(patched(kind, operation), [""; 0], "{operation}");
    }
}

#[test]
fn a_patch_of_a_set_is_harmless_where_all_its_keys_are() {
    for (patch, expected) in [
        ("metadata: {labels: {a: b}}", false),
        ("spec:\n  syncPolicy:\n    {{- if .auto }}\n    automated: {prune: {{ .prune }}}\n    {{- end }}\n", false),
        ("spec:\n  syncPolicy:\n    {{- toYaml .sync | nindent 4 }}\n", false),
        ("spec: {source: {path: b}}", true),
        ("{\"spec\": {\"sou\\u0072ce\": {}}}", true),
        ("spec:\n  {{ .field }}: {path: b}\n", true),
        ("spec: {{ toJson .spec }}", true),
        ("{{ .patch }}", true),
        ("spec:\n  project: a\n  {{- .more | nindent 2 }}\n", true),
    ] {
        assert_eq!(patches_sources(patch), expected, "{patch}");
    }
}

#[test]
fn a_policy_generator_and_a_set_are_read() {
    let generator = "apiVersion: policy.open-cluster-management.io/v1\nkind: PolicyGenerator\npolicies:\n- manifests: \
                     [{path: hc.yaml, patches: [{spec: {}}]}]\n";
    assert_eq!(named(generator, "apps/hc.yaml"), ["patches"]);
    assert_eq!(named(generator, "hc.yaml"), [""; 0]);
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec: {template: {spec: {source: {path: \
               'sites/{{name}}', kustomize: {namespace: a}}}}}\n";
    assert_eq!(named(set, "sites/oslo/hc.yaml"), ["kustomize.namespace"]);
    assert_eq!(named(set, "other/hc.yaml"), [""; 0]);
}
