//! What controllers change in what they apply: patches, components, annotations of Argo CD's Applications and Flux's
//! Kustomizations and HelmReleases, patches of a PolicyGenerator. Nothing of that is applied here, so it is named.
//!
//! The fields that leave a HyperConverged as it is written are listed; any other one may change it. Sources: the CRDs
//! of Argo CD 3.1 and of Flux 2.7; the generator plugin of Open Cluster Management.

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{SourceFile, Span, normalize_path};
use hcoplan_yaml::{self as yaml, Document, Node, Value};
use regex_lite::Regex;

use super::unrecognized::{HCO, HINTS};
use super::wrappers::HCO_NOT_PLANNED;

const KIND: &str = "HyperConverged";

/// Fields of an Application's source, of its `kustomize`, of a Flux Kustomization and of a PolicyGenerator's manifest
/// that leave a HyperConverged as it is. Helm's are read where charts are rendered.
const ARGO_SOURCE: [&str; 8] = ["repoURL", "path", "targetRevision", "ref", "chart", "name", "directory", "helm"];
const ARGO_KUSTOMIZE: [&str; 11] = [
    "apiVersions",
    "commonAnnotationsEnvsubst",
    "commonLabels",
    "forceCommonAnnotations",
    "forceCommonLabels",
    "ignoreMissingComponents",
    "images",
    "kubeVersion",
    "labelIncludeTemplates",
    "labelWithoutSelector",
    "version",
];
const FLUX_SPEC: [&str; 20] = [
    "decryption",
    "deletionPolicy",
    "dependsOn",
    "force",
    "healthCheckExprs",
    "healthChecks",
    "ignoreMissingComponents",
    "images",
    "interval",
    "kubeConfig",
    "path",
    "prune",
    "retryInterval",
    "serviceAccountName",
    "sourceRef",
    "suspend",
    "timeout",
    "validation",
    "wait",
    // What it fills in is unknown wherever it stands, `${NAME}`.
    "postBuild",
];
const POLICY_MANIFEST: [&str; 17] = [
    "customMessage",
    "evaluationInterval",
    "extraDependencies",
    "gatekeeperEnforcementAction",
    "hubTemplateOptions",
    "ignorePending",
    "informGatekeeperPolicies",
    "metadataComplianceType",
    "name",
    "namespaceSelector",
    "objectSelector",
    "openapi",
    "path",
    "pruneObjectBehavior",
    "recordDiff",
    "recreateOption",
    "remediationAction",
];

/// A field of a controller's object that changes what it applies.
#[derive(Debug)]
pub(super) struct WrapperChange {
    /// What has it: `the Application virt in argo/virt.yaml`.
    by: String,
    /// The field: `kustomize.patches`.
    field: String,
    span: Span,
    /// What it applies; nothing where no file of this repository says that.
    path: Option<PathPattern>,
    /// Whether it speaks of a HyperConverged, so that it may make one of something else.
    names_one: bool,
}

/// A path from the root, in which a generator may fill in parts.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    expression: Regex,
    /// The path up to its first template expression.
    start: Utf8PathBuf,
}

impl PathPattern {
    fn new(path: &str) -> Option<Self> {
        let mut expression = "^".to_owned();
        let mut rest = path.to_owned();
        if !path.contains("{{") {
            rest = normalize_path(Utf8Path::new(path.trim_start_matches('/')))?.into_string();
        }
        let start = rest.split("{{").next().unwrap_or_default().trim_start_matches("./").into();
        while let Some((before, behind)) = rest.split_once("{{") {
            expression.push_str(&regex_lite::escape(before.trim_start_matches("./")));
            expression.push_str(".*");
            rest = behind.split_once("}}").map_or_else(String::new, |(_, after)| after.to_owned());
        }
        expression.push_str(&regex_lite::escape(&rest));
        expression.push_str(if rest.is_empty() && !path.contains("{{") { "" } else { "(/|$)" });
        Regex::new(&expression).ok().map(|expression| Self { expression, start })
    }

    /// Whether a file lies at the path or below it.
    pub(super) fn covers(&self, file: &Utf8Path) -> bool {
        self.expression.is_match(file.as_str())
    }

    /// Whether the path lies in a directory, or is above it.
    pub(super) fn meets(&self, directory: &Utf8Path) -> bool {
        self.start.starts_with(directory) || self.covers(&directory.join("a.yaml"))
    }
}

impl WrapperChange {
    /// Whether something is applied with it that lies in one of these files.
    fn reaches(&self, mut files: impl Iterator<Item = Utf8PathBuf>) -> bool {
        self.names_one || self.path.as_ref().is_some_and(|path| files.any(|file| path.covers(&file)))
    }

    /// The finding about it.
    fn finding(&self, document: &Document) -> Finding {
        let message = format!("`{}` of {} changes what it applies; this is not in the plan", self.field, self.by);
        Finding::new(&HCO_NOT_PLANNED, message)
            .at(document.location(self.span))
            .label("not applied here")
            .help("put the change into the HyperConverged itself or into a kustomization, which is built")
    }
}

/// The findings about what an object changes; `clusters` are the files that HyperConvergeds are from.
pub(super) fn findings(document: &Document, clusters: &[&Utf8Path]) -> Vec<Finding> {
    let reached = changes(document).into_iter().filter(|c| c.reaches(clusters.iter().map(|c| c.to_path_buf())));
    reached.map(|change| change.finding(document)).collect()
}

/// What a controller applies from the repository.
#[derive(Debug)]
pub(super) struct AppliedPath {
    pub(super) path: PathPattern,
    /// Whether Argo CD skips the dry run of kinds that the cluster doesn't know yet; `None` of Flux.
    pub(super) skips_dry_run: Option<bool>,
}

/// What an Application, an ApplicationSet or a Flux Kustomization applies.
pub(super) fn applied_paths(document: &Document) -> Vec<AppliedPath> {
    let root = &document.root;
    let group = text(root, "apiVersion").split('/').next().unwrap_or_default();
    let spec = match (group, text(root, "kind")) {
        ("argoproj.io", "Application") | ("kustomize.toolkit.fluxcd.io", "Kustomization") => root.get("spec"),
        ("argoproj.io", "ApplicationSet") => root.below("spec.template.spec"),
        _ => None,
    };
    let Some(spec) = spec else { return Vec::new() };
    let options = spec.below("syncPolicy.syncOptions").map_or(&[][..], Node::items);
    let skips = || options.iter().any(|o| o.as_str() == Some("SkipDryRunOnMissingResource=true"));
    let skips_dry_run = (group == "argoproj.io").then(skips);
    let sources = list(spec, "sources").iter().chain(spec.get("source")).chain([spec]);
    let paths = sources.filter_map(|source| PathPattern::new(source.get("path")?.as_str()?));
    paths.map(|path| AppliedPath { path, skips_dry_run }).collect()
}

/// Whether an object changes what it applies.
pub(super) fn changes_others(document: &Document) -> bool {
    !changes(document).is_empty()
}

fn changes(document: &Document) -> Vec<WrapperChange> {
    let root = &document.root;
    let (kind, file) = (text(root, "kind"), document.file.path());
    let group = text(root, "apiVersion").split('/').next().unwrap_or_default();
    let name = root.below("metadata.name").and_then(Node::as_str).unwrap_or_default();
    let mut found = Changes { by: format!("the {kind} {name} in {file}"), out: Vec::new() };
    match (group, kind) {
        ("argoproj.io", "Application" | "ApplicationSet") => {
            let spec = if kind == "Application" { root.get("spec") } else { root.below("spec.template.spec") };
            let mut specs: Vec<&Node> = spec.into_iter().collect();
            if kind == "ApplicationSet" {
                // A generator's template is laid over the set's, and the patch over both: their paths may be those.
                root.below("spec.generators").iter().for_each(|generators| templates(generators, &mut specs));
            }
            let own = spec.and_then(|spec| sources(spec).next()?.get("path")?.as_str());
            for source in specs.into_iter().flat_map(sources) {
                let path = source.get("path").and_then(Node::as_str).or(own).and_then(PathPattern::new);
                found.fields(source, "", &[&ARGO_SOURCE[..], &["kustomize"]].concat(), path.as_ref());
                if let Some(kustomize) = source.get("kustomize") {
                    found.fields(kustomize, "kustomize.", &ARGO_KUSTOMIZE, path.as_ref());
                }
            }
            if let Some(patch) =
                root.below("spec.templatePatch").filter(|p| p.as_str().is_some_and(|p| p.contains("source")))
            {
                found.add(
                    "templatePatch",
                    patch.span,
                    PathPattern::new(own.unwrap_or("")).as_ref(),
                    speaks_of_one(patch),
                );
            }
        }
        ("helm.toolkit.fluxcd.io", "HelmRelease") => {
            let Some(spec) = root.get("spec") else { return Vec::new() };
            let path = spec.below("chart.spec.chart").and_then(Node::as_str).and_then(PathPattern::new);
            let keys = spec.entries().iter().map(|entry| entry.key.text.as_str());
            let harmless: Vec<&str> = keys.filter(|key| !["commonMetadata", "postRenderers"].contains(key)).collect();
            found.fields(spec, "", &harmless, path.as_ref());
        }
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => {
            let Some(spec) = root.get("spec") else { return Vec::new() };
            // The path of an artifact is none of the repository; without one Flux takes all of it.
            let is_here = spec.below("sourceRef.kind").is_none_or(|kind| kind.as_str() == Some("GitRepository"));
            let path = PathPattern::new(text(spec, "path")).filter(|_| is_here);
            found.fields(spec, "", &FLUX_SPEC, path.as_ref());
        }
        ("policy.open-cluster-management.io", "PolicyGenerator") => {
            let directory = file.parent().unwrap_or(Utf8Path::new(""));
            let defaults = root.get("policyDefaults");
            for policy in list(root, "policies") {
                for manifest in list(policy, "manifests") {
                    let path = PathPattern::new(directory.join(text(manifest, "path")).as_str());
                    found.fields(manifest, "", &[&POLICY_MANIFEST[..], &["complianceType"]].concat(), path.as_ref());
                    // An inner one counts before an outer one.
                    let all = [Some(manifest), Some(policy), defaults].into_iter().flatten();
                    let compliance = all.filter_map(|n| n.get("complianceType")).next();
                    if let Some(one) = compliance
                        && one.as_str().is_some_and(|c| c.eq_ignore_ascii_case("mustnothave"))
                    {
                        found.add("complianceType", one.span, path.as_ref(), false);
                    }
                }
            }
        }
        _ => {}
    }
    found.out
}

struct Changes {
    by: String,
    out: Vec<WrapperChange>,
}

impl Changes {
    fn add(&mut self, field: &str, span: Span, path: Option<&PathPattern>, names_one: bool) {
        let path = path.cloned();
        self.out.push(WrapperChange { by: self.by.clone(), field: field.to_owned(), span, path, names_one });
    }

    /// Takes in the fields that may change something.
    fn fields(&mut self, node: &Node, prefix: &str, harmless: &[&str], path: Option<&PathPattern>) {
        for entry in node.entries() {
            let key = entry.key.text.as_str();
            let value = &entry.value;
            let changes = match key {
                key if harmless.contains(&key) => false,
                "patches" | "patchesJson6902" | "patchesStrategicMerge" => {
                    value.items().is_empty() && !is_empty(value) || value.items().iter().any(may_be_meant)
                }
                "commonAnnotations" => has_own_annotation(value),
                "commonMetadata" => value.get("annotations").is_some_and(has_own_annotation),
                _ => !is_empty(value),
            };
            if changes {
                let names_one = (key.starts_with("patches") || key == "postRenderers") && speaks_of_one(value);
                self.add(&format!("{prefix}{key}"), entry.key.span, path, names_one);
            }
        }
    }
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        Value::Seq(items) => items.is_empty(),
        _ => false,
    }
}

/// Whether annotations change what HCO does, or their names aren't known.
fn has_own_annotation(annotations: &Node) -> bool {
    let is_own = |key: &str| key.contains("kubevirt.io") || key.contains("{{") || key.contains("${");
    annotations.entries().iter().any(|entry| is_own(&entry.key.text))
}

/// The `spec` of each Application's template in an ApplicationSet's generators, however deep.
fn templates<'n>(node: &'n Node, out: &mut Vec<&'n Node>) {
    for entry in node.entries() {
        match (entry.key.text.as_str(), entry.value.get("spec")) {
            ("template", Some(spec)) => out.push(spec),
            _ => templates(&entry.value, out),
        }
    }
    node.items().iter().for_each(|item| templates(item, out));
}

/// The sources of an Application's spec.
fn sources(spec: &Node) -> impl Iterator<Item = &Node> {
    list(spec, "sources").iter().chain(spec.get("source"))
}

/// Whether a patch may be meant for a HyperConverged: its target and its own kind say that it isn't.
fn may_be_meant(entry: &Node) -> bool {
    if entry.below("options.allowKindChange").is_some() {
        return true;
    }
    if let Some(kind) = entry.below("target.kind").and_then(Node::as_str) {
        return Regex::new(&format!("^(?:{kind})$")).is_ok_and(|kind| kind.is_match(KIND)) || speaks_of_one(entry);
    }
    let own = entry.get("patch").unwrap_or(entry);
    let parsed = own.as_str().map(|text| yaml::parse_yaml(&SourceFile::new("patch", text)));
    let documents = parsed.map(|p| p.documents).unwrap_or_default();
    let is_other = |root: &Node| root.get("kind").and_then(Node::as_str).is_some_and(|kind| kind != KIND);
    let has_others_only =
        is_other(own) || !documents.is_empty() && documents.iter().all(|document| is_other(&document.root));
    entry.get("target").is_some() || !has_others_only || speaks_of_one(entry)
}

/// Whether a text in a value has HCO's kind or group in it.
fn speaks_of_one(node: &Node) -> bool {
    let says =
        |text: &str| text.contains(HCO) || text == "allowKindChange" || HINTS.iter().any(|hint| text.contains(hint));
    node.as_str().is_some_and(says)
        || node.items().iter().any(speaks_of_one)
        || node.entries().iter().any(|entry| says(&entry.key.text) || speaks_of_one(&entry.value))
}

fn list<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).map_or(&[], Node::items)
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, cluster: &str) -> Vec<String> {
        let parsed = yaml::parse(&SourceFile::new("apps/a.yaml", text));
        let found = findings(&parsed.documents[0], &[Utf8Path::new(cluster)]);
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
            "kustomize: {images: [a], commonLabels: {a: b}, commonAnnotations: {a: b}, patches: []}",
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
            ("kustomize: {fieldOfTomorrow: a}", "kustomize.fieldOfTomorrow"),
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
        // One that makes a HyperConverged of something else.
        let other = "patches: [{target: {kind: ConfigMap}, patch: 'kind: HyperConverged'}]";
        assert_eq!(flux(other, "elsewhere/hc.yaml"), ["patches"]);
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
}
