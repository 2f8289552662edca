//! Tests of finding charts and rendering them with a script instead of helm.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use hcoplan_diagnostics::source::Memory;

use super::*;
use crate::repo::{Builds, Options, Repo};

const TEMPLATE: &str = "{{- if .Values.virt }}\napiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata:\n  name: \
                        kubevirt-hyperconverged\n  namespace: {{ .Release.Namespace }}\nspec:\n  defaultCPUModel: {{ \
                        .Values.cpu }}\n{{- end }}\n";

const APPLICATIONS: &str = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec:\n  generators: \
                            [{git: {}}]\n  template:\n    metadata: {name: 'virt-{{ .cluster }}'}\n    spec:\n      source: {path: \
                            charts/virt, helm: {valueFiles: ['../../envs/{{ .cluster }}/values.yaml'], parameters: [{name: virt, value: 'true'}]}}\n";

fn files() -> Vec<(&'static str, &'static str)> {
    vec![
        ("charts/virt/Chart.yaml", "name: virt\n"),
        ("charts/virt/values.yaml", "virt: true\n"),
        ("charts/virt/templates/hc.yaml", TEMPLATE),
        ("charts/virt/templates/other.yaml", "kind: {{ .Values.other }}\n"),
        ("charts/other/Chart.yaml", "name: other\n"),
        ("charts/other/templates/a.yaml", "kind: {{ .Values.other }}\n"),
        ("apps/set.yaml", APPLICATIONS),
        ("envs/east/values.yaml", "cpu: Haswell\n"),
        ("envs/west/values.yaml", "cpu: EPYC\n"),
    ]
}

fn tree() -> Memory {
    files().into_iter().collect()
}

#[test]
fn names_the_releases_of_a_chart_that_is_not_rendered() {
    let repo = Repo::from_tree(Arc::new(tree()), &Options::default()).expect("a repository");
    assert!(repo.clusters().is_empty());
    let found: Vec<&Finding> = repo.unplanned(None).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].message, "the chart `charts/virt` has a HyperConverged and is not rendered");
    let place = found[0].location.as_ref().expect("a place");
    assert_eq!((place.file.path().as_str(), place.start().line), ("charts/virt/templates/hc.yaml", 3));
    let help = found[0].help.as_deref().unwrap_or_default();
    let releases = "`virt-east` with envs/east/values.yaml; `virt-west` with envs/west/values.yaml";
    assert_eq!(help, format!("render it with --helm, or with `helm: true` in hcoplan.yaml: {releases}"));
    // The chart's templates aren't reported separately, the other chart's not at all.
    let skipped = repo.problems().iter().filter_map(|p| p.finding.location.as_ref());
    let skipped: Vec<&str> = skipped.map(|l| l.file.path().as_str()).collect();
    assert!(!skipped.contains(&"charts/virt/templates/hc.yaml"), "{skipped:?}");
}

/// A script that prints helm's output for the chart, and its arguments.
fn helm(directory: &std::path::Path, fails: bool) -> std::path::PathBuf {
    // Helm 4 reads its registries' configuration at every start; an empty file ends it.
    let script = "#!/bin/sh\n[ ! -e \"$HELM_REGISTRY_CONFIG\" ] || exit 1\necho '---'\necho '# Source: virt/templates/hc.yaml'\necho 'apiVersion: \
                  hco.kubevirt.io/v1beta1'\necho 'kind: HyperConverged'\necho 'metadata:'\necho \"  name: \
                  kubevirt-hyperconverged\"\necho \"  namespace: $5\"\necho 'spec:'\nprintf '  defaultCPUModel: \
                  '\nsed 's/cpu: //' \"$7\"\necho \"# $2 $3 $6 $8 $9 $(ls charts)\"\n";
    let script = if fails { "#!/bin/sh\necho 'Error: no' >&2; exit 1\n" } else { script };
    let path = directory.join("helm");
    fs::write(&path, script).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("made a program");
    path
}

#[test]
fn each_release_is_a_cluster_with_locations_in_the_template() {
    let directory = tempfile::tempdir().expect("a directory");
    let helm = helm(directory.path(), false);
    let tree = Arc::new(tree());
    let built = render(&*tree, "root".into(), Some(&helm), 1 << 20, &|| false).expect("rendered");
    assert!(built.failed.is_empty(), "{:?}", built.failed);
    let text = String::from_utf8_lossy(&built.files[Utf8Path::new("envs/east/helm-template.yaml")]);
    assert!(text.contains("defaultCPUModel: Haswell"), "{text}");
    // Only the chart and its values are copied.
    assert!(text.contains("# virt-east ./charts/virt --values --set virt=true virt\n"), "{text}");
    let options = Options {
        builds: Builds { helm: true, ..Builds::default() },
        built: Some(Arc::new(built)),
        ..Options::default()
    };
    let repo = Repo::from_tree(tree, &options).expect("a repository");
    let names: Vec<&str> = repo.clusters().iter().map(|c| &**c.name()).collect();
    assert_eq!(names, ["envs/east", "envs/west"]);
    let users = |path: &str| repo.users_of(path.into()).iter().map(|c| c.name().to_string()).collect::<Vec<_>>();
    assert_eq!(users("envs/east/values.yaml"), ["envs/east"]);
    assert_eq!(users("charts/virt/templates/hc.yaml"), ["envs/east", "envs/west"]);
    assert_eq!(repo.unplanned(None).count(), 0);
    let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
    assert_eq!(loaded.json["metadata"]["namespace"], "kubevirt-hyperconverged");
    let place = loaded.document.locate(&Path::dotted("spec.defaultCPUModel"));
    let origin = place.origin().expect("an origin");
    assert_eq!((origin.file.path().as_str(), origin.text()), ("envs/east/values.yaml", "Haswell"));
    let key = loaded.document.locate_key(&Path::dotted("spec.defaultCPUModel")).origin().expect("an origin");
    assert_eq!(key.file.path(), "charts/virt/templates/hc.yaml");
    assert_eq!(key.text(), "defaultCPUModel: {{ .Values.cpu }}");
}

#[test]
fn fails_when_rendering_fails() {
    let directory = tempfile::tempdir().expect("a directory");
    let helm = helm(directory.path(), true);
    let built = render(&tree(), "root".into(), Some(&helm), 1 << 20, &|| false).expect("looked at");
    assert_eq!(built.failed.len(), 2);
    assert!(built.failed[0].finding.message.ends_with("failed: no"), "{:?}", built.failed[0]);
}

/// A repository whose release a script renders instead of helm.
fn printing(files: &[(&'static str, &'static str)], printed: &str) -> Repo {
    let directory = tempfile::tempdir().expect("a directory");
    let output = directory.path().join("printed.yaml");
    fs::write(&output, printed).expect("written");
    let helm = directory.path().join("helm");
    fs::write(&helm, format!("#!/bin/sh\ncat {}\n", output.display())).expect("written");
    fs::set_permissions(&helm, fs::Permissions::from_mode(0o755)).expect("made a program");
    let tree: Arc<Memory> = Arc::new(files.iter().copied().collect());
    let built = render(&*tree, "root".into(), Some(&helm), 1 << 20, &|| false).expect("rendered");
    assert!(built.failed.is_empty(), "{:?}", built.failed);
    let options = Options { built: Some(Arc::new(built)), ..Options::default() };
    Repo::from_tree(tree, &options).expect("a repository")
}

#[test]
fn locates_written_out_values_in_the_values_file() {
    let files = [
        ("c/Chart.yaml", "name: c\n"),
        (
            "c/templates/hc.yaml",
            "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata:\n  name: kubevirt-hyperconverged\n\
             spec:\n  {{- toYaml .Values.virt.spec | nindent 2 }}\n",
        ),
        ("c/values.yaml", "virt:\n  spec:\n    evictionStrategy: None\n    liveMigrationConfig: {a: 1, b: 2}\n"),
        (
            "east/values.yaml",
            "virt:\n  spec:\n    liveMigrationConfig:\n      b: 3\n    devices: [one, two]\n    name: y\n",
        ),
        (
            "app.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: east}\nspec: {source: {path: c, \
             helm: {valueFiles: [../east/values.yaml]}}}\n",
        ),
    ];
    let repo = printing(
        &files,
        "---\n# Source: c/templates/hc.yaml\napiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata:\n  \
         name: kubevirt-hyperconverged\nspec:\n  devices:\n  - one\n  - two\n  evictionStrategy: None\n  \
         liveMigrationConfig:\n    a: 1\n    b: 3\n  name: y\n  set: 1\n",
    );
    let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
    let place = |path: &str| {
        let place = loaded.document.locate(&Path::dotted(path));
        let origin = place.origin().expect("an origin");
        let line = origin.start().line;
        format!("{}:{line}: {}", origin.file.path(), origin.text())
    };
    let template = "c/templates/hc.yaml";
    let name = format!("{template}:4: name: kubevirt-hyperconverged");
    assert_eq!(place("metadata.name"), name);
    // A line above `kind`.
    let version = format!("{template}:1: apiVersion: hco.kubevirt.io/v1beta1");
    assert_eq!(place("apiVersion"), version);
    assert_eq!(place("spec.evictionStrategy"), "c/values.yaml:3: None");
    assert_eq!(place("spec.liveMigrationConfig.a"), "c/values.yaml:4: 1");
    assert_eq!(place("spec.liveMigrationConfig.b"), "east/values.yaml:4: 3");
    assert_eq!(place("spec.devices[1]"), "east/values.yaml:5: two");
    assert_eq!(place("spec.name"), "east/values.yaml:6: y");
    // A value without a file.
    assert_eq!(place("spec.set"), format!("{template}:5: spec:"));
}

/// An Application of the chart in `c`, with what its `helm` has.
fn application(helm: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec: {{source: {{path: c, helm: {helm}}}}}\n"
    )
}

const PRINTED: &str = "---\n# Source: c/templates/hc.yaml\napiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata:\n  \
                       name: kubevirt-hyperconverged\nspec:\n  defaultCPUModel: Haswell\n";

#[test]
fn locates_parameters_in_their_application() {
    let helm = "{parameters: [{name: virt.cpu, value: Haswell}]}";
    let application = application(helm);
    let template = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata:\n  name: kubevirt-hyperconverged\nspec:\n  \
                    defaultCPUModel: {{ .Values.virt.cpu }}\n";
    let files = [
        ("c/Chart.yaml", "name: c\n"),
        ("c/values.yaml", "virt: {cpu: other}\n"),
        ("c/templates/hc.yaml", template),
        ("app.yaml", &*application.leak()),
    ];
    let repo = printing(&files, PRINTED);
    let loaded = repo.load(&repo.clusters()[0]).expect("loaded");
    let place = loaded.document.locate(&Path::dotted("spec.defaultCPUModel")).origin().expect("an origin");
    assert_eq!((place.file.path().as_str(), place.text()), ("app.yaml", "Haswell"));
}

#[test]
fn renders_charts_that_print_objects_of_their_values() {
    let object =
        "{apiVersion: hco.kubevirt.io/v1beta1, kind: HyperConverged, metadata: {name: kubevirt-hyperconverged}}";
    let in_file = format!("objects: [{object}]\n");
    let chart = [
        ("c/Chart.yaml", "name: c\n"),
        ("c/templates/all.yaml", "{{- range .Values.objects }}\n---\n{{ toYaml . }}\n{{- end }}\n"),
    ];
    let named = application("{valueFiles: [../v.yaml]}");
    let inline = application(&format!("{{valuesObject: {{objects: [{object}]}}}}"));
    let cases = [[("app.yaml", named), ("v.yaml", in_file)], [("app.yaml", inline), ("other.yaml", String::new())]];
    for files in cases {
        let files = files.map(|(path, text)| (path, &*text.leak()));
        let files: Vec<_> = chart.into_iter().chain(files).collect();
        let tree: Memory = files.iter().copied().collect();
        let unrendered = Repo::from_tree(Arc::new(tree), &Options::default()).expect("a repository");
        let found: Vec<_> = unrendered.unplanned(None).map(|finding| finding.rule.name).collect();
        assert_eq!(found, [HELM_CHART_NOT_RENDERED.name]);
        let repo = printing(&files, PRINTED);
        assert_eq!((repo.clusters().len(), repo.unplanned(None).count()), (1, 0));
    }
}

#[test]
fn values_that_a_script_names_are_not_planned() {
    let tree = [
        ("c/Chart.yaml", "name: c\n"),
        ("c/templates/hc.yaml", TEMPLATE),
        ("deploy.sh", "helm upgrade virt ./c \\\n  -f env/a.yaml --set x=1\n"),
        ("env/a.yaml", "cpu: a\n"),
        ("env/b.yaml", "cpu: a\n"),
    ];
    let with = |path: &str, text: &'static str| {
        let mut files = tree.to_vec();
        files.iter_mut().filter(|(own, _)| *own == path).for_each(|file| file.1 = text);
        printing(&files, PRINTED)
    };
    let before = with("", "");
    let changes = |after: &Repo| {
        let found = crate::repo::changes_of_users(&before, after, &OnceLock::new(), &before.clusters()[0], &[]);
        found.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    let of_values = "`env/a.yaml` says something else of `c`, which is not planned";
    assert_eq!(changes(&with("env/a.yaml", "cpu: b\n")), [of_values]);
    assert_eq!(changes(&with("env/b.yaml", "cpu: b\n")), [""; 0]);
    let of_script = changes(&with("deploy.sh", "helm upgrade virt ./c \\\n  -f env/a.yaml --set x=2\n"));
    assert_eq!(of_script, ["`deploy.sh` says something else of `c`, which is not planned"]);
}
