//! Reports controllers' changes to what they apply: patches, components, annotations of Argo CD's Applications and
//! Flux's Kustomizations and HelmReleases, patches of a PolicyGenerator. hcoplan doesn't apply them.
//!
//! So do charts that they fetch, where these may have a HyperConverged.
//!
//! The [fields](super::fields) that don't change a HyperConverged are listed; any other one may change it.

use hcoplan_planner::NAMES;

use super::build::whole;
use super::fields;
use super::gitops::{
    KINDS, Kind, PathPattern, argo_sources, is_expression, is_own_plugin, is_same_repository, setting, sources_of,
    templates,
};
use super::kustomization::is_kustomization;
use super::listed;
use super::mentions;
use super::nodes::{all_nodes, entry, fields_at, parsed};
use super::paths::{file_in, parent};
use crate::prelude::*;
use crate::repo::unplanned;

const KIND: &str = "HyperConverged";

/// Whether a build takes in a controller's field, as its path in the object or in its source.
pub(super) fn is_planned(field: &str) -> bool {
    let last = |key: &str| field.split('.').any(|part| part == key);
    match field.split_once("kustomize.") {
        Some((_, own)) => fields::of("kustomize.of-argo").iter().any(|key| own.starts_with(key)),
        None => field.starts_with("spec.") && is_of_flux(last) || last("postBuild"),
    }
}

fn is_of_flux(is_it: impl Fn(&str) -> bool) -> bool {
    fields::of("kustomize.of-flux").iter().chain(&["commonMetadata", "postRenderers"]).any(|key| is_it(key))
}

/// Fleet's settings of a directory.
pub(super) const FLEET_FILE: &str = "fleet.yaml";

/// The group of K3s' charts.
const K3S: &str = "helm.cattle.io/";

/// A field of a controller's object that changes what it applies.
#[derive(Debug)]
pub(super) struct WrapperChange {
    /// The object: `the Application virt in argo/virt.yaml`.
    by: String,
    /// The field: `kustomize.patches`.
    field: String,
    span: Span,
    /// The applied paths; empty if no file of this repository has them.
    path: Option<PathPattern>,
    /// Whether it mentions a HyperConverged, so that it may turn another object into one.
    names_hco: bool,
    /// Whether the field is a chart that isn't in the repository.
    is_fetched: bool,
    /// The directories of components that it adds.
    components: Vec<Utf8PathBuf>,
}

impl WrapperChange {
    /// The finding about it, if it changes or may create a HyperConverged. Creating one from an object of this
    /// repository is an error, since no plan has it.
    fn finding(
        &self,
        document: &Document,
        clusters: &BTreeSet<&Utf8Path>,
        mentions: &dyn Fn(&Utf8Path) -> bool,
        tree: &dyn Tree,
    ) -> Option<Finding> {
        if self.is_fetched {
            let severity = if self.names_hco { Severity::Error } else { Severity::Warning };
            return Some(fetched(&self.by, &self.field, document.location(self.span)).severity(severity));
        }
        let is_reached =
            self.path.as_ref().is_some_and(|path| path.covers_any(clusters) || path.real(tree).covers_any(clusters));
        let names_hco = self.names_hco || !is_reached && self.components.iter().any(|directory| mentions(directory));
        if !is_reached && !names_hco {
            return None;
        }
        let message = format!("`{}` of {} changes what it applies; this is not in the plan", self.field, self.by);
        let finding = unplanned(message, document.location(self.span))
            .label("not applied here")
            .help("put the change into the HyperConverged itself or into a kustomization, which is built");
        Some(if is_reached || self.path.is_none() { finding } else { finding.error() })
    }
}

/// The finding about a chart that isn't in the repository.
pub(super) fn fetched(by: &str, chart: &str, place: Location) -> Finding {
    let message =
        format!("{by} takes the chart `{chart}` from elsewhere; it may have a HyperConverged, which is not planned");
    let help =
        "put the HyperConverged into a file of its own, or check what is rendered: `helm template … | hcoplan lint -`";
    unplanned(message, place).label("not examined").help(help)
}

/// The findings about an object's changes; `clusters` are the source files of HyperConvergeds, `mentions` returns whether
/// a directory's files mention one.
///
/// `origin` is the name of the repository, if it is known. What is built with its additions changes nothing else.
pub(super) fn findings(
    document: &Document,
    clusters: &BTreeSet<&Utf8Path>,
    mentions: &dyn Fn(&Utf8Path) -> bool,
    tree: &dyn Tree,
    origin: Option<&str>,
    is_built: bool,
) -> Vec<Finding> {
    let changes = changes(document, Some(tree), origin, is_built);
    changes.iter().filter_map(|change| change.finding(document, clusters, mentions, tree)).collect()
}

/// Whether an object changes what it applies.
pub(super) fn changes_others(document: &Document) -> bool {
    !changes(document, None, None, false).is_empty()
}

/// Without a tree, files count as if they had some change.
fn changes(document: &Document, tree: Option<&dyn Tree>, origin: Option<&str>, is_built: bool) -> Vec<WrapperChange> {
    let file = document.file.path();
    let mut found = Changes { by: file.to_string(), out: Vec::new(), tree, origin, is_built };
    if file.file_name() == Some(FLEET_FILE) && document.root.get("kind").is_none() {
        let path = PathPattern::new(parent(file).as_str());
        found.fields(&document.root, "", "fleet.yaml", path.as_ref());
    }
    if is_kustomization(file) {
        found.by = format!("the kustomization {file}");
        found.kustomization(&document.root, file);
    }
    for object in listed::objects(&document.root) {
        let name = object.node.text_at("metadata.name").unwrap_or_default();
        found.by = format!("the {} {name} in {file}", object.kind());
        found.object(object.api_version(), &object.kind(), object.node, file);
    }
    found.out
}

struct Changes<'r> {
    by: String,
    out: Vec<WrapperChange>,
    tree: Option<&'r dyn Tree>,
    origin: Option<&'r str>,
    /// Whether what the object applies is built with what it adds.
    is_built: bool,
}

impl Changes<'_> {
    /// Takes in what a kustomization puts into controllers' objects, any of which may have that name, so that all they
    /// apply counts, unless they are read as it builds them; and the charts that it inflates.
    fn kustomization(&mut self, root: &Node, file: &Utf8Path) {
        const PATCHES: [&str; 3] = ["patches", "patchesJson6902", "patchesStrategicMerge"];
        for entry in PATCHES.iter().filter(|_| !self.is_built).flat_map(|key| root.list_at(key)).collect::<Vec<_>>() {
            self.patch(entry, file);
        }
        for replacement in root.list_at("replacements") {
            for target in replacement.list_at("targets") {
                let kinds = controllers(target.below("select.kind"));
                for field in strings(target.list_at("fieldPaths")) {
                    let filled = Node { value: Value::String(String::from("replaced")), ..replacement.clone() };
                    let object = at_pointer(&format!("/{}", field.replace('.', "/")), &filled);
                    self.objects(&kinds, &object, file, target.span);
                }
            }
        }
        for chart in ["helmCharts", "helmChartInflationGenerator"].iter().flat_map(|key| root.list_at(key)) {
            let name = chart.get("name").or(chart.get("chartName"));
            let names = [name, chart.get("repo"), chart.get("chartRepo")];
            self.chart(name, &names, &[chart.get("valuesInline"), chart.get("values")]);
        }
    }

    /// Takes in a kustomization's patch: operations on the controllers' objects that it targets, or such an object.
    fn patch(&mut self, entry: &Node, file: &Utf8Path) {
        let named = entry.get("path").or(Some(entry)).and_then(Node::as_str).filter(|path| !path.contains(['\n', ':']));
        let patch = entry.get("patch").or(Some(entry)).and_then(Node::as_str).map(ToOwned::to_owned);
        let of_file = |name: &str| {
            let Some(tree) = self.tree else { return Some("[{path: /spec/source/plugin, value: any}]".to_owned()) };
            let path = file_in(parent(file), name)?;
            Some(tree.source(&path).ok()?.text().to_owned())
        };
        let Some(patch) = named.map_or(patch, of_file) else { return };
        let targeted = entry.get("target").map(|target| controllers(target.get("kind")));
        for document in parsed(&patch).documents {
            let root = &document.root;
            for operation in root.items() {
                if let Some(value) = operation.get("value").or(operation.get("from")) {
                    let object = at_pointer(operation.text("path"), value);
                    self.objects(targeted.as_deref().unwrap_or_default(), &object, file, entry.span);
                }
            }
            // One in a file that has its own kind is an object.
            let is_other = targeted.is_some() || named.is_none();
            if root.items().is_empty() && is_other {
                let kinds = targeted.clone().unwrap_or_else(|| controllers(root.get("kind")));
                self.objects(&kinds, root, file, entry.span);
            }
        }
    }

    fn objects(&mut self, kinds: &[(&str, &str)], object: &Node, file: &Utf8Path, span: Span) {
        let known = self.out.len();
        kinds.iter().for_each(|(group, kind)| self.object(group, kind, object, file));
        self.out.iter_mut().skip(known).for_each(|change| change.span = span);
    }

    /// Takes in a chart that isn't in the repository, where its name or its values say that it may have one.
    fn chart(&mut self, at: Option<&Node>, names: &[Option<&Node>], values: &[Option<&Node>]) {
        let Some(at) = at else { return };
        let has =
            |nodes: &[Option<&Node>], says: &dyn Fn(&str) -> bool| nodes.iter().flatten().any(|n| any_text(n, says));
        let is_kind =
            |text: &str| text.contains(KIND) || text.contains(mentions::HCO) || mentions::contains_encoded_group(text);
        let names_hco = has(names, &mentions::names_hyperconverged) || has(values, &is_kind);
        if names_hco || has(values, &mentions::names_hyperconverged) {
            self.add(at.as_str().unwrap_or("one"), at.span, None, names_hco).is_fetched = true;
        }
    }

    /// Takes in what a controller's object changes, or a part of one that a kustomization puts into it.
    fn object(&mut self, api_version: &str, kind: &str, root: &Node, file: &Utf8Path) {
        let spec = root.get("spec");
        // Of K3s.
        if let ("HelmChart", Some(spec)) = (kind, spec.filter(|_| api_version.starts_with(K3S))) {
            let chart = spec.get("chart");
            self.chart(chart, &[chart, spec.get("repo")], &[spec.get("valuesContent")]);
        }
        let Some(kind) = Kind::of(api_version, kind) else { return };
        match (kind, spec) {
            (Kind::Application, Some(spec)) => self.application(spec, spec),
            (Kind::ApplicationSet, Some(spec)) => self.application_set(spec),
            (Kind::Application | Kind::ApplicationSet, None) => {}
            (Kind::PolicyGenerator, _) => self.policy_generator(root, file),
            _ => {
                for source in sources_of(kind, root, file) {
                    let path = source.pattern().filter(|_| source.is_here);
                    self.fields(&source.node, "", kind.name(), path.as_ref());
                }
            }
        }
        if let (Kind::HelmRelease, Some(spec)) = (kind, spec) {
            let chart = spec.below("chart.spec.chart");
            let source = spec.text_at("chart.spec.sourceRef.kind");
            let fetched = chart.filter(|_| matches!(source, Some("HelmRepository" | "OCIRepository")));
            let fetched = fetched.or_else(|| spec.below("chartRef.name"));
            self.chart(fetched, &[fetched, spec.below("chart.spec.sourceRef.name")], &[spec.get("values")]);
        }
    }

    /// Adds the changes of an Application; `template` has the paths that its sources lack.
    fn application(&mut self, spec: &Node, template: &Node) {
        let own = argo_sources(template).next().and_then(|source| source.text_at("path"));
        for source in argo_sources(spec) {
            // A source without a path patches another Application, whose path is unknown.
            let is_partial = source.get("chart").or(source.get("ref")).is_none();
            let path = source.text_at("path").or(own).or(Some("").filter(|_| is_partial));
            let is_here = source.text_at("repoURL").zip(self.origin).is_none_or(|(a, b)| is_same_repository(a, b));
            let path = path.and_then(PathPattern::new).filter(|_| is_here);
            self.fields(spec, "", "Application", path.as_ref());
            self.fields(source, "", "Application.source", path.as_ref());
            let chart = source.get("chart");
            let values = ["values", "valuesObject", "parameters"].map(|key| source.get("helm")?.get(key));
            self.chart(chart, &[chart, source.get("repoURL")], &values);
            for key in ["directory", "helm", "kustomize"] {
                if let Some(inner) = source.get(key) {
                    self.fields(inner, &format!("{key}."), &format!("Application.source.{key}"), path.as_ref());
                }
            }
        }
    }

    fn application_set(&mut self, set: &Node) {
        let Some(template) = set.below("template.spec") else { return };
        self.application(template, template);
        // A generator's template overrides the set's, and the patch both: they may have other paths.
        let mut specs = Vec::new();
        set.get("generators").iter().for_each(|generators| templates(generators, &mut specs));
        let specs = specs.into_iter().filter_map(|template| template.get("spec"));
        specs.for_each(|spec| self.application(spec, template));
        let path = argo_sources(template).next().map(|source| source.text("path")).unwrap_or_default();
        let path = PathPattern::new(path);
        self.fields(set, "", "ApplicationSet", path.as_ref());
        if let Some(patch) = set.get("templatePatch").filter(|patch| patch.as_str().is_none_or(patches_sources)) {
            self.add("templatePatch", patch.span, path.as_ref(), mentions_hyperconverged(patch));
        }
    }

    fn policy_generator(&mut self, root: &Node, file: &Utf8Path) {
        let sources = sources_of(Kind::PolicyGenerator, root, file);
        for source in &sources {
            self.fields(&source.node, "", "PolicyGenerator.manifest", source.pattern().as_ref());
        }
        let is_unwanted = |one: &&Node| one.as_str().is_some_and(|one| one.eq_ignore_ascii_case("mustnothave"));
        for manifest in sources.iter().map(|source| &source.node) {
            if let Some(one) = setting(root, manifest, "complianceType").filter(is_unwanted) {
                let path = PathPattern::new(parent(file).join(manifest.text("path")).as_str());
                self.add("complianceType", one.span, path.as_ref(), false);
            }
        }
    }

    fn add(&mut self, field: &str, span: Span, path: Option<&PathPattern>, names_hco: bool) -> &mut WrapperChange {
        let (by, field, path) = (self.by.clone(), field.to_owned(), path.cloned());
        let change = WrapperChange { by, field, span, path, names_hco, is_fetched: false, components: Vec::new() };
        self.out.push(change);
        self.out.last_mut().expect("it was added")
    }

    /// Adds the fields that may change something: others than those of a row.
    fn fields(&mut self, node: &Node, prefix: &str, row: &str, path: Option<&PathPattern>) {
        let harmless = fields::of(row);
        for entry in node.entries() {
            let key = entry.key.text.as_str();
            let value = &entry.value;
            let is_planned = self.is_built
                && (is_of_flux(|own| own == key) || prefix == "kustomize." && fields::has("kustomize.of-argo", key));
            let changes = match key {
                key if harmless.contains(&key) || is_planned => false,
                "plugin" if is_own_plugin(value) => false,
                "patches" | "patchesJson6902" | "patchesStrategicMerge" => {
                    value.items().is_empty() && !value.is_empty() || value.items().iter().any(may_be_meant)
                }
                "commonAnnotations" => has_own_annotation(value),
                "commonMetadata" => value.entries().iter().any(|entry| match entry.key.text.as_str() {
                    "annotations" => has_own_annotation(&entry.value),
                    other => other != "labels",
                }),
                _ => !value.is_empty(),
            };
            if changes {
                let names_hco =
                    (key.starts_with("patches") || key == "postRenderers") && mentions_hyperconverged(value);
                let change = self.add(&format!("{prefix}{key}"), entry.key.span, path, names_hco);
                let names = strings(value.items()).filter(|_| key == "components");
                change.components = names.filter_map(|name| file_in(&path?.start, name)).collect();
            }
        }
    }
}

/// Whether annotations change HCO's behaviour, or their names are unknown.
fn has_own_annotation(annotations: &Node) -> bool {
    let is_read = |key: &str| NAMES["annotationsOfHyperConverged"].contains(&key);
    let is_own = |key: &str| key.contains("kubevirt.io") || is_read(key) || is_expression(key);
    annotations.entries().iter().any(|entry| is_own(&entry.key.text))
}

/// Whether a patch of an ApplicationSet's template may change its sources. A template expression is treated as a value;
/// alone on a line it isn't YAML and may be anything.
fn patches_sources(patch: &str) -> bool {
    let control = Regex::new(r"\{\{-?\s*(?:(?:if|else|end|with|range)\b[^}]*|/\*[^}]*)\}\}");
    let action = Regex::new(r"\{\{[^}]*\}\}");
    let (Ok(control), Ok(action)) = (control, action) else { return true };
    let plain = action.replace_all(&control.replace_all(patch, ""), "filled-in").into_owned();
    let parsed = parsed(&plain);
    let is_harmless = |key: &str| fields::has("Application", key) && !fields::has("Application.sources", key);
    parsed.is_broken()
        || parsed.documents.iter().any(|document| {
            let entries = document.root.entries();
            let of_spec = fields_at(&document.root, "spec");
            entries.is_empty()
                || entries.iter().any(|entry| match entry.key.text.as_str() {
                    "spec" => entry.value.entries().is_empty() && !entry.value.is_empty(),
                    key => key != "metadata",
                })
                || of_spec.iter().any(|entry| !is_harmless(&entry.key.text))
        })
}

/// Whether a patch may apply to a HyperConverged, by its target and kind.
fn may_be_meant(entry: &Node) -> bool {
    if entry.below("options.allowKindChange").is_some() {
        return true;
    }
    if let Some(kind) = entry.text_at("target.kind") {
        return whole(kind).is_some_and(|kind| kind.is_match(KIND)) || mentions_hyperconverged(entry);
    }
    let own = entry.get("patch").unwrap_or(entry);
    let parsed = own.as_str().map(parsed);
    let documents = parsed.map(|p| p.documents).unwrap_or_default();
    let is_other = |root: &Node| root.text_at("kind").is_some_and(|kind| kind != KIND);
    let has_others_only =
        is_other(own) || !documents.is_empty() && documents.iter().all(|document| is_other(&document.root));
    entry.get("target").is_some() || !has_others_only || mentions_hyperconverged(entry)
}

/// Whether a text in a value contains HCO's kind or group.
fn mentions_hyperconverged(node: &Node) -> bool {
    let says = |text: &str| mentions::mentions_hyperconverged(text) || text == "allowKindChange" || sets_kind(text);
    any_text(node, &says)
}

/// Whether `says` accepts a text or a key in a value.
fn any_text(node: &Node, says: &dyn Fn(&str) -> bool) -> bool {
    let has = |node: &Node| node.as_str().is_some_and(says) || node.entries().iter().any(|e| says(&e.key.text));
    all_nodes(node).any(has)
}

/// The controllers' kinds that a pattern of kustomize matches.
fn controllers(kind: Option<&Node>) -> Vec<(&'static str, &'static str)> {
    let pattern = kind.and_then(Node::as_str).and_then(whole);
    let kinds = KINDS.iter().map(|(_, group, kind, _)| (*group, *kind));
    kinds.filter(|(_, kind)| pattern.as_ref().is_some_and(|p| p.is_match(kind))).collect()
}

/// An object that has nothing but a value, at a JSON pointer.
fn at_pointer(pointer: &str, value: &Node) -> Node {
    let mut steps: Vec<&str> = pointer.split('/').skip(1).collect();
    // No field of a controller that matters is deeper.
    steps.truncate(16);
    steps.into_iter().rfold(value.clone(), |value, step| {
        let (span, style) = (value.span, value.style);
        let is_index = step == "-" || !step.is_empty() && is_digits(step);
        let value =
            if is_index { Value::Seq(vec![value]) } else { Value::Map(vec![entry(&pointer::unescape(step), value)]) };
        Node { span, style, value }
    })
}

/// Whether a patch has a pointer to an object's own kind.
fn sets_kind(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || "\"',}:".contains(c));
    text.match_indices("/kind")
        .any(|(at, key)| ends(text[..at].chars().next_back()) && ends(text[at + key.len()..].chars().next()))
}

#[cfg(test)]
mod tests;
