//! Finds the releases of a chart in a repository, and their values.
//!
//! Argo CD's Applications and ApplicationSets and Flux's HelmReleases name them; a chart that none names is one release
//! with its own values.

use super::super::error::Located;
use super::super::fields;
use super::super::gitops::{Applied, Controller, GitOps, Kind, Source, Template, distinct_name, is_absent, pattern_of};
use super::super::kustomization::{Field, Kustomization, is_kustomization};
use super::super::wrappers::embedded::relocate;
use crate::prelude::*;
use crate::repo::nodes::{entry, fields_at, filled, is_on, parsed};
use crate::repo::paths::{file_in, in_root};
use crate::repo::variables::{plain_value, unquoted};

/// A release of a chart.
#[derive(Debug, Clone, Default)]
pub(super) struct Release {
    pub(super) name: String,
    /// What tells it from other releases of the chart, where its name doesn't.
    pub(super) output: Option<String>,
    /// What names it.
    pub(super) by: Option<Arc<Document>>,
    pub(super) namespace: Option<String>,
    /// Values in addition to the chart's own; later ones win.
    pub(super) values: Vec<Values>,
    /// Helm's options: single values, `name=value`, which win over all others, and what it takes the cluster for.
    pub(super) options: Vec<(&'static str, String)>,
    /// The single values with their places, those of the lowest precedence first.
    pub(super) parameters: Vec<Document>,
    /// Files that options name, relative to the root.
    pub(super) option_files: Vec<Utf8PathBuf>,
    /// Values that can't be read: of a Secret, a file outside the root.
    pub(super) lacks: Vec<String>,
    /// Values files, and keys of ConfigMaps, that don't exist, so that the controller renders nothing.
    pub(super) missing: Vec<Located<String>>,
}

/// A source of a release's values.
#[derive(Debug, Clone)]
pub(super) enum Values {
    /// A file, relative to the root.
    File(Utf8PathBuf),
    /// YAML in the object that names the release, or in one that it names; and the values with their places there.
    Inline(String, Document),
}

impl Values {
    /// The file's path or the text, and whether it is a text.
    fn said(&self) -> (&str, bool) {
        match self {
            Self::File(path) => (path.as_str(), false),
            Self::Inline(text, _) => (text, true),
        }
    }

    /// Those of a map in an object.
    fn map(document: &Document, node: &Node) -> Self {
        Self::inline(yaml::emit(&node.to_json()), document, node)
    }

    /// The values of a node; of a text, each is at the text's place.
    fn inline(text: String, document: &Document, node: &Node) -> Self {
        let root = match &node.value {
            Value::String(_) => {
                let parsed = parsed(&text);
                let mut root =
                    parsed.documents.into_iter().next().map_or_else(|| node.clone(), |document| document.root);
                relocate(&mut root, &|_| node.span);
                root
            }
            _ => node.clone(),
        };
        Self::Inline(text, Document { root, ..document.clone() })
    }
}

impl Release {
    /// Whether Helm renders the same of another one.
    fn renders_as(&self, other: &Self) -> bool {
        let missing = |release: &Self| release.missing.iter().map(|file| file.value.clone()).collect::<Vec<_>>();
        (&self.name, &self.namespace, &self.options, &self.lacks)
            == (&other.name, &other.namespace, &other.options, &other.lacks)
            && self.values.iter().map(Values::said).eq(other.values.iter().map(Values::said))
            && missing(self) == missing(other)
    }

    /// Its values files.
    pub(super) fn files(&self) -> impl DoubleEndedIterator<Item = &Utf8PathBuf> {
        self.values.iter().filter_map(|values| match values {
            Values::File(path) => Some(path),
            Values::Inline(..) => None,
        })
    }
}

/// The releases of a chart, sorted by name: the named ones, else one for each additional values file in the chart, else
/// one.
pub(super) fn releases(tree: &dyn Tree, gitops: &GitOps, chart: &Utf8Path, files: &[Utf8PathBuf]) -> Vec<Release> {
    let named = named_releases(tree, gitops, chart, files);
    if !named.is_empty() {
        return named;
    }
    let name = chart.file_name().unwrap_or("chart");
    let of_values = files.iter().filter_map(|file| {
        let own = file.strip_prefix(chart).ok().filter(|own| matches!(own.extension(), Some("yaml" | "yml")))?;
        let stem = own.file_stem()?;
        let directory = own.parent().map(Utf8Path::as_str);
        let suffix = match directory? {
            "" => stem.strip_prefix("values").or_else(|| stem.strip_suffix("values"))?,
            "values" | "environments" | "envs" => stem,
            _ => return None,
        };
        let suffix = suffix.trim_matches(['-', '_', '.']);
        (!suffix.is_empty()).then(|| Release {
            name: release_name(&format!("{name}-{suffix}")),
            values: vec![Values::File(file.clone())],
            ..Release::default()
        })
    });
    let mut out: Vec<Release> = of_values.collect();
    if out.is_empty() {
        out.push(Release { name: release_name(name), ..Release::default() });
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

/// The releases of a chart that an object names, sorted by name.
pub(super) fn named_releases(
    tree: &dyn Tree,
    gitops: &GitOps,
    chart: &Utf8Path,
    files: &[Utf8PathBuf],
) -> Vec<Release> {
    let mut out = of_kustomizations(tree, chart, files);
    let renders = |applied: &&Applied| matches!(applied.kind.controller(), Controller::ArgoCd | Controller::Flux);
    for applied in gitops.applied.iter().filter(renders) {
        for source in applied.here() {
            for template in bound(source, chart, files) {
                out.push(match applied.kind {
                    Kind::HelmRelease => helm_release(applied, source, gitops, files),
                    _ => application(applied, source, &template, chart, files),
                });
            }
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out.dedup_by(|a, b| a.renders_as(b));
    let file = |release: &Release| release.by.as_ref().map(|by| by.file.path().to_owned());
    let outputs = out.iter().map(|release| {
        let all: Vec<_> = out.iter().filter(|other| other.name == release.name).filter_map(file).collect();
        let all: Vec<&Utf8Path> = all.iter().map(Utf8PathBuf::as_path).collect();
        let own = file(release)?;
        (all.len() > 1).then(|| distinct_name(&release.name, &own, &all))
    });
    let outputs: Vec<Option<String>> = outputs.collect();
    out.iter_mut().zip(outputs).for_each(|(release, output)| release.output = output);
    out
}

/// The values files of a chart's named releases, and the objects that name them.
pub(crate) fn named_value_files(
    tree: &dyn Tree,
    gitops: &GitOps,
    chart: &Utf8Path,
    files: &[Utf8PathBuf],
) -> Vec<Utf8PathBuf> {
    let releases = named_releases(tree, gitops, chart, files);
    let values = releases.iter().flat_map(Release::files).cloned();
    let is_of_chart = |applied: &&Applied| applied.here().any(|source| source.is_at(chart));
    let objects = gitops.applied.iter().filter(is_of_chart).map(|applied| &applied.document);
    let objects = objects.chain(releases.iter().filter_map(|release| release.by.as_ref()));
    values.chain(objects.map(|document| document.file.path().to_owned())).collect()
}

/// The values of the templates that a source leaves unfilled, for each release of a chart: empty ones where none is
/// left; none if the source is another chart's. What depends on more than the repository is bound by the names of
/// existing files.
fn bound(source: &Source, chart: &Utf8Path, files: &[Utf8PathBuf]) -> Vec<Template> {
    let Some(path) = source.path.as_deref() else { return Vec::new() };
    let of_path = match source.directory() {
        Some(directory) if directory == chart => vec![Template::default()],
        Some(_) => return Vec::new(),
        None => matching(path.trim_start_matches("./"), &[chart.to_owned()]),
    };
    let names = strings(source.node.list_at("helm.valueFiles"));
    let bind = |template: Template| {
        let Some(name) = names.clone().find(|name| template.fill(name).is_none()) else { return vec![template] };
        let found = matching(&template.fill_known(&root_path(name, chart)), files);
        // What has no file here may be anything.
        if found.is_empty() { vec![template] } else { found.iter().map(|found| found.with(&template)).collect() }
    };
    of_path.into_iter().flat_map(bind).collect()
}

/// The values of a path's `{{ … }}` in each path that matches.
fn matching(pattern: &str, paths: &[Utf8PathBuf]) -> Vec<Template> {
    let mut names = Vec::new();
    let expression = pattern_of(pattern, |name| {
        let name = name.trim().trim_start_matches('.');
        names.push(name.to_owned());
        // A directory's path may have several parts.
        if matches!(name, "path" | "path.path") { "(.+)" } else { "([^/]+)" }
    });
    let Ok(expression) = Regex::new(&format!("^{expression}$")) else { return Vec::new() };
    let fits = paths.iter().filter_map(|path| expression.captures(path.as_str()));
    let template = |found: regex_lite::Captures<'_>| {
        let values = (names.iter().zip(1..))
            .filter_map(|(name, i)| Some((name.clone(), found.get(i)?.as_str().to_owned())))
            .collect();
        Template { values }
    };
    fits.map(template).collect()
}

/// The path of a values file relative to the root, which `$ref/` of another source and a leading slash both mean.
pub(super) fn root_path(file: &str, chart: &Utf8Path) -> String {
    match file.strip_prefix('$') {
        Some(remainder) => remainder.split_once('/').map_or("", |(_, path)| path).to_owned(),
        None => match file.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None => file_in(chart, file).map_or_else(|| file.to_owned(), Utf8PathBuf::into_string),
        },
    }
}

/// The fields of an object that may change the output and that hcoplan doesn't read.
fn unread(entries: &[Entry], is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let keys = entries.iter().map(|entry| entry.key.text.as_str());
    keys.filter(|key| !is_known(key)).map(|key| format!("`{key}`")).collect()
}

fn application(
    applied: &Applied,
    source: &Source,
    template: &Template,
    chart: &Utf8Path,
    files: &[Utf8PathBuf],
) -> Release {
    let node = &source.node;
    let mut lacks = Vec::new();
    let fill = |text: &str, what: &str, lacks: &mut Vec<String>| {
        let filled = template.fill(text);
        if filled.is_none() {
            lacks.push(format!("{what} `{text}`"));
        }
        filled
    };
    let own = filled(node, "helm.releaseName").unwrap_or(&applied.name);
    let name = fill(own, "the name", &mut lacks).unwrap_or_else(|| "release".to_owned());
    let namespace = applied.namespace.as_deref().and_then(|own| fill(own, "the namespace", &mut lacks));
    lacks.extend(unread(fields_at(node, "helm"), |key| {
        key != "namespace" && fields::has("Application.source.helm", key)
    }));
    let skips = is_on(node, "helm.ignoreMissingValueFiles");
    let (mut values, mut missing) = (Vec::new(), Vec::new());
    for named in node.list_at("helm.valueFiles") {
        let filled = |file| if skips { template.fill(file) } else { fill(file, "the values of", &mut lacks) };
        let file = named.as_str().and_then(filled);
        let Some(file) = file else { continue };
        // Or it is a pattern.
        let is_elsewhere = file.contains("://") || file.contains('*');
        match in_root(&root_path(&file, chart)).filter(|_| !is_elsewhere) {
            Some(path) if !applied.is_of_this_repository(&file) => lacks.push(format!("the values of `{path}`")),
            Some(path) if files.contains(&path) => values.push(Values::File(path)),
            _ if skips && !is_elsewhere => {}
            None => lacks.push(format!("the values of `{file}`")),
            Some(_) => {
                let place = source.document_of(applied, "helm.valueFiles").location(named.span);
                missing.push(Located { value: format!("values file `{file}`"), place });
            }
        }
    }
    // An object wins over a text.
    let inline = ["helm.valuesObject", "helm.values"].into_iter().find_map(|key| Some((key, node.below(key)?)));
    if let Some((key, inline)) = inline {
        let text = inline.as_str().map_or_else(|| yaml::emit(&inline.to_json()), ToOwned::to_owned);
        match template.fill(&text) {
            Some(text) => values.push(Values::inline(text, source.document_of(applied, key), inline)),
            None => lacks.push("values with a template in them".to_owned()),
        }
    }
    let (mut options, mut option_files, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
    for parameter in node.list_at("helm.parameters") {
        let is_text = is_on(parameter, "forceString");
        let own = parameter.get("value").unwrap_or(parameter);
        match template.fill(parameter.text("value")) {
            Some(value) => {
                let typed = if is_text { Value::String(value.clone()) } else { unquoted(&value) };
                let nest = |value, key: &str| Node { value: Value::Map(vec![entry(key, value)]), ..own.clone() };
                let root = parameter.text("name").rsplit('.').fold(Node { value: typed, ..own.clone() }, nest);
                let document = source.document_of(applied, "helm.parameters");
                parameters.push(Document { root, ..Document::clone(document) });
                let option = if is_text { "--set-string" } else { "--set" };
                options.push((option, format!("{}={}", parameter.text("name"), value.replace(',', "\\,"))));
            }
            None => lacks.push(format!("the parameter `{}`", parameter.text("name"))),
        }
    }
    for parameter in node.list_at("helm.fileParameters") {
        let (name, file) = (parameter.text("name"), parameter.text("path"));
        match in_root(&root_path(file, chart)).filter(|path| files.contains(path)) {
            Some(path) => {
                options.push(("--set-file", format!("{name}=./{path}")));
                option_files.push(path);
            }
            None => lacks.push(format!("the parameter `{name}` of the file `{file}`")),
        }
    }
    let versions = strings(node.list_at("helm.apiVersions"));
    options.extend(versions.map(|version| ("--api-versions", version.to_owned())));
    options.extend(filled(node, "helm.kubeVersion").map(|version| ("--kube-version", version.to_owned())));
    let by = Some(Arc::clone(&applied.document));
    let name = release_name(&name);
    Release { name, output: None, by, namespace, values, options, parameters, option_files, lacks, missing }
}

/// The releases of a chart that kustomizations inflate. What else they do to its objects isn't done here.
///
/// Source: kustomize's `HelmChartInflationGenerator`, which takes the chart from `chartHome`.
fn of_kustomizations(tree: &dyn Tree, chart: &Utf8Path, files: &[Utf8PathBuf]) -> Vec<Release> {
    let mut out = Vec::new();
    for path in files.iter().filter(|path| is_kustomization(path)) {
        let Ok(file) = tree.source(path) else { continue };
        if !file.text().contains("helmCharts") {
            continue;
        }
        let read = Kustomization::read(&file);
        let Some(document) = &read.document else { continue };
        let own = read.local_charts().filter(|(_, path)| path == chart);
        out.extend(own.map(|(own, _)| of_kustomization(&read, document, own, files)));
    }
    out
}

/// The values files that an object names relative to a directory, and those that don't exist.
fn values_files<'n>(
    directory: &Utf8Path,
    named: impl Iterator<Item = &'n Node>,
    document: &Document,
    existing: &[Utf8PathBuf],
) -> (Vec<Values>, Vec<Located<String>>) {
    let (mut values, mut missing) = (Vec::new(), Vec::new());
    for file in named {
        let path = file.as_str().unwrap_or_default();
        match file_in(directory, path).filter(|path| existing.contains(path)) {
            Some(path) => values.push(Values::File(path)),
            None => missing.push(Located::new(format!("values file `{path}`"), document, file)),
        }
    }
    (values, missing)
}

fn of_kustomization(read: &Kustomization, document: &Arc<Document>, own: &Node, files: &[Utf8PathBuf]) -> Release {
    let named = own.get("valuesFile").into_iter().chain(own.list_at("additionalValuesFiles"));
    let (mut values, missing) = values_files(read.directory(), named, document, files);
    values.extend(own.get("valuesInline").map(|own| Values::map(document, own)));
    let done = [Field::Plain, Field::Resources, Field::Charts, Field::Namespace];
    let others = read.entries.iter().find(|entry| !done.contains(&entry.what));
    Release {
        name: release_name(filled(own, "releaseName").unwrap_or(own.text("name"))),
        by: Some(Arc::clone(document)),
        namespace: filled(&document.root, "namespace").or(filled(own, "namespace")).map(ToOwned::to_owned),
        values,
        missing,
        lacks: others.map(|_| format!("the rest of {}", read.path)).into_iter().collect(),
        ..Release::default()
    }
}

fn helm_release(applied: &Applied, source: &Source, gitops: &GitOps, existing: &[Utf8PathBuf]) -> Release {
    let (spec, document) = (&source.node, &applied.document);
    let name = match (spec.text("releaseName"), spec.text("targetNamespace")) {
        ("", "") => applied.name.clone(),
        ("", namespace) => format!("{namespace}-{}", applied.name),
        (name, _) => name.to_owned(),
    };
    let mut lacks = Vec::new();
    let named = spec.list_at("chart.spec.valuesFiles").iter();
    let (mut values, mut missing) = values_files(Utf8Path::new(""), named, document, existing);
    if is_on(spec, "chart.spec.ignoreMissingValuesFiles") {
        missing.clear();
    }
    for from in spec.list_at("valuesFrom") {
        let config_map = gitops.named.config_map(document, from);
        let key = filled(from, "valuesKey").unwrap_or("values.yaml");
        match config_map.map(|config_map| (config_map, config_map.root.get("data").and_then(|data| data.get(key)))) {
            Some((_, None)) if is_on(from, "optional") => {}
            Some((_, None)) => {
                let value = format!("key `{key}` in the ConfigMap `{}`", from.text("name"));
                missing.push(Located::new(value, document, from));
            }
            None if is_absent(from) => {}
            Some((config_map, Some(node))) if let Some(inline) = referenced(config_map, from, node) => {
                values.push(inline);
            }
            _ => lacks.push(format!("the values of the {} `{}`", from.text("kind"), from.text("name"))),
        }
    }
    values.extend(spec.get("values").map(|own| Values::map(document, own)));
    // Its post-renderers are applied, or reported elsewhere.
    let is_known = |key: &str| ["commonMetadata", "postRenderers"].contains(&key);
    lacks.extend(unread(spec.entries(), |key| is_known(key) || fields::has("HelmRelease", key)));
    let namespace = applied.namespace.clone();
    let by = Some(Arc::clone(document));
    Release { name: release_name(&name), by, namespace, values, lacks, missing, ..Release::default() }
}

/// The values of a ConfigMap's key that a HelmRelease names, as YAML.
fn referenced(document: &Document, from: &Node, node: &Node) -> Option<Values> {
    let own = node.as_str()?;
    let inline = |text: String| Values::inline(text, document, node);
    let path = from.text("targetPath");
    if path.is_empty() {
        return Some(inline(own.to_owned()));
    }
    let value = plain_value(own).map(|value| value.to_json());
    let value = value.filter(|value| !value.is_object() && !value.is_array()).unwrap_or_else(|| Json::from(own));
    let nested = path.rsplit('.').fold(value, |value, step| json!({ step: value }));
    (!path.contains(['[', '\\'])).then(|| inline(yaml::emit(&nested)))
}

/// A name that Helm accepts for a release.
fn release_name(name: &str) -> String {
    let valid = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' }
    };
    let name: String = name.chars().map(valid).take(53).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "release".to_owned() } else { name.to_owned() }
}
#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::Memory;

    use super::super::super::gitops;
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let tree: Memory = files.iter().copied().collect();
        let paths: Vec<Utf8PathBuf> = files.iter().map(|(p, _)| (*p).into()).collect();
        let releases = releases(&tree, &gitops::read(&tree, &paths), "charts/hco".into(), &paths);
        let show = |r: Release| {
            let files: Vec<&str> = r.files().map(|v| v.as_str()).collect();
            let is_text = |values: &Values| match values {
                Values::Inline(text, _) => Some(text.clone()),
                Values::File(_) => None,
            };
            let texts: Vec<String> = r.values.iter().filter_map(is_text).collect();
            let namespace = r.namespace.clone().unwrap_or_default();
            let missing: Vec<&str> = r.missing.iter().map(|missing| missing.value.as_str()).collect();
            let missing = if missing.is_empty() { String::new() } else { format!("{missing:?}") };
            format!("{} {namespace} {} {texts:?}{:?}{:?}{missing}", r.name, files.join(","), r.options, r.lacks)
        };
        releases.into_iter().map(show).collect()
    }

    #[test]
    fn releases_of_a_chart_give_its_values() {
        assert_eq!(found(&[]), ["hco   [][][]"]);
        let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: virt}\nspec:\n  \
                           destination: {namespace: openshift-cnv}\n  source:\n    path: ./charts/hco\n    \
                           helm:\n      valueFiles: [../../envs/a.yaml, gone.yaml]\n      valuesObject: {x: \
                           1}\n      parameters: [{name: cpu, value: 'a,b'}]\n";
        assert_eq!(
            found(&[("app.yaml", application), ("envs/a.yaml", "")]),
            [r#"virt openshift-cnv envs/a.yaml ["x: 1\n"][("--set", "cpu=a\\,b")][]["values file `gone.yaml`"]"#]
        );
        let flux = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: v, namespace: \
                    cnv}\nspec:\n  chart: {spec: {chart: ./charts/hco, valuesFiles: [envs/a.yaml]}}\n  \
                    valuesFrom: [{kind: Secret, name: s}]\n";
        assert_eq!(
            found(&[("flux.yaml", flux), ("envs/a.yaml", "")]),
            ["v cnv envs/a.yaml [][][\"the values of the Secret `s`\"]"]
        );
    }

    #[test]
    fn variables_of_flux_are_filled_in_below_its_path() {
        let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: 'v-${SITE}'}\nspec:\n  \
                       chart: {spec: {chart: ./charts/hco}}\n  values: {count: '${COUNT}'}\n";
        let outer = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  \
                     path: ./sites\n  postBuild: {substitute: {SITE: oslo}}\n";
        let inner = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: b}\nspec:\n  path: \
                     './apps/${SITE}'\n  postBuild: {substitute: {COUNT: '8', SITE: '${SITE}'}}\n";
        let files = [("flux/a.yaml", outer), ("sites/b.yaml", inner), ("apps/oslo/v.yaml", release)];
        assert_eq!(found(&files), ["v-oslo   [\"count: 8\\n\"][][]"]);
    }

    #[test]
    fn releases_of_one_name_differ_by_their_values() {
        let application = |name: &str, strategy: &str| {
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec:\n  source: {{path: \
                 charts/hco, helm: {{releaseName: virt, valuesObject: {{strategy: {strategy}}}}}}}\n"
            )
        };
        let (east, west, same) = (application("east", "a"), application("west", "b"), application("same", "b"));
        let releases = found(&[("a.yaml", &east), ("b.yaml", &west), ("c.yaml", &same)]);
        assert_eq!(releases, [r#"virt   ["strategy: a\n"][][]"#, r#"virt   ["strategy: b\n"][][]"#]);
    }

    #[test]
    fn an_application_set_is_a_release_for_each_cluster() {
        let set = |generators: &str, value: &str| {
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: s}}\nspec:\n  \
                 generators: {generators}\n  template:\n    metadata: {{name: 'virt-{{{{ \
                 .{value} }}}}'}}\n    spec:\n      destination: {{namespace: cnv}}\n      sources:\n      - {{path: \
                 charts/hco, helm: {{valueFiles: ['$values/envs/{{{{ .{value} }}}}/values.yaml']}}}}\n      - \
                 {{ref: values}}\n"
            )
        };
        let expected = ["virt-east cnv envs/east/values.yaml [][][]", "virt-west cnv envs/west/values.yaml [][][]"];
        for (generators, value) in [("[{git: {}}]", "cluster"), ("[{clusters: {}}]", "values.x")] {
            let set = set(generators, value);
            let files = [("set.yaml", set.as_str()), ("envs/east/values.yaml", ""), ("envs/west/values.yaml", "")];
            assert_eq!(found(&files), expected, "{generators}");
        }
        // What another repository or no file says isn't known.
        let elsewhere = "[{git: {repoURL: 'https://x/other.git', files: [{path: 'envs/*/values.yaml'}]}}]";
        let set = |generators: &str| {
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: s}}\nspec:\n  \
                 generators: {generators}\n  template:\n    metadata: {{name: virt}}\n    spec:\n      source: {{repoURL: \
                 'https://x/own.git', path: charts/hco, helm: {{valueFiles: ['a-{{{{ .x }}}}.yaml']}}}}\n"
            )
        };
        for generators in ["[{clusters: {}}]", elsewhere] {
            let set = set(generators);
            let files = [("set.yaml", set.as_str()), ("envs/a/values.yaml", "x: y\n")];
            assert_eq!(found(&files), ["virt   [][][\"the values of `a-{{ .x }}.yaml`\"]"], "{generators}");
        }
    }
}
