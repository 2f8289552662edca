//! Finds the releases of a chart in a repository, and their values.
//!
//! Argo CD's Applications and ApplicationSets and Flux's HelmReleases name them; a chart that none names is one release
//! with its own values.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{SourceFile, Tree, normalize_path};
use hcoplan_yaml::{self as yaml, Node};
use regex_lite::Regex;

use super::super::{listed, wrapper_fields as fields};

/// The values with which a generator replaces `{{ … }}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Template {
    values: BTreeMap<String, String>,
}

impl Template {
    /// Replaces all `{{ … }}` of a text; `None` if a value is unknown.
    fn fill(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, remainder)) = rest.split_once("{{") {
            let (name, after) = remainder.split_once("}}")?;
            out.push_str(before);
            out.push_str(self.values.get(name.trim().trim_start_matches('.'))?);
            rest = after;
        }
        Some(out + rest)
    }
}

/// A release of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Release {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    /// Values files in addition to the chart's own, relative to the root, in order.
    pub(super) values: Vec<Utf8PathBuf>,
    /// Values in the object that names the release, as YAML.
    pub(super) inline: Vec<String>,
    /// Single values, `name=value`.
    pub(super) set: Vec<String>,
    /// Values that can't be read: `valuesFrom`, a file outside the root.
    pub(super) lacks: Vec<String>,
}

/// The releases of a chart, sorted by name: the named ones, else one for each additional values file in the chart, else
/// one.
pub(super) fn releases(tree: &dyn Tree, chart: &Utf8Path, files: &[Utf8PathBuf]) -> Vec<Release> {
    let named = named_releases(tree, chart, files);
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
        let values = vec![file.clone()];
        (!suffix.is_empty()).then(|| Release {
            name: release_name(&format!("{name}-{suffix}")),
            values,
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
pub(super) fn named_releases(tree: &dyn Tree, chart: &Utf8Path, files: &[Utf8PathBuf]) -> Vec<Release> {
    let mut out = Vec::new();
    for path in files.iter().filter(|p| matches!(p.extension(), Some("yaml" | "yml"))) {
        let Ok(bytes) = tree.read(path) else {
            continue;
        };
        let has = |word: &str| memchr::memmem::find(&bytes, word.as_bytes()).is_some();
        if !has("argoproj.io") && !has("helm.toolkit.fluxcd.io") {
            continue;
        }
        let parsed = yaml::parse(&SourceFile::from_bytes(path, bytes));
        for document in &parsed.documents {
            for object in listed::objects(&document.root) {
                of_object(object.node, chart, files, &mut out);
            }
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out.dedup();
    out
}

fn text<'n>(node: &'n Node, path: &str) -> &'n str {
    node.below(path).and_then(Node::as_str).unwrap_or_default()
}

fn list<'n>(node: &'n Node, path: &str) -> &'n [Node] {
    node.below(path).map_or(&[], Node::items)
}

fn of_object(root: &Node, chart: &Utf8Path, files: &[Utf8PathBuf], out: &mut Vec<Release>) {
    let group = text(root, "apiVersion").split('/').next().unwrap_or_default();
    match (group, text(root, "kind")) {
        ("argoproj.io", "Application") => {
            let Some(spec) = root.get("spec") else { return };
            application(spec, text(root, "metadata.name"), &Template::default(), chart, files, out);
        }
        ("argoproj.io", "ApplicationSet") => {
            let Some(spec) = root.below("spec.template.spec") else {
                return;
            };
            let name = text(root, "spec.template.metadata.name");
            for template in templates(spec, chart, files) {
                application(spec, name, &template, chart, files, out);
            }
        }
        ("helm.toolkit.fluxcd.io", "HelmRelease") => out.extend(helm_release(root, chart)),
        _ => {}
    }
}

/// The templates' values for the releases of an ApplicationSet, from the names of existing values files.
fn templates(spec: &Node, chart: &Utf8Path, files: &[Utf8PathBuf]) -> Vec<Template> {
    let mut patterns = sources(spec).flat_map(|source| {
        let files = list(source, "helm.valueFiles").iter().filter_map(Node::as_str);
        files.map(|file| root_path(file, chart)).collect::<Vec<_>>()
    });
    let Some(pattern) = patterns.find(|p| p.contains("{{")) else {
        return vec![Template::default()];
    };
    matching(&pattern, files)
}

/// The values of a path's `{{ … }}` in each file that matches.
fn matching(pattern: &str, files: &[Utf8PathBuf]) -> Vec<Template> {
    let (mut expression, mut names, mut rest) = ("^".to_owned(), Vec::new(), pattern);
    while let Some((before, remainder)) = rest.split_once("{{") {
        let Some((name, after)) = remainder.split_once("}}") else {
            return Vec::new();
        };
        expression.push_str(&regex_lite::escape(before));
        expression.push_str("([^/]+)");
        names.push(name.trim().trim_start_matches('.').to_owned());
        rest = after;
    }
    expression.push_str(&regex_lite::escape(rest));
    expression.push('$');
    let Ok(expression) = Regex::new(&expression) else {
        return Vec::new();
    };
    let fits = files.iter().filter_map(|f| expression.captures(f.as_str()));
    let template = |found: regex_lite::Captures<'_>| Template {
        values: (names.iter().zip(1..))
            .filter_map(|(name, i)| Some((name.clone(), found.get(i)?.as_str().to_owned())))
            .collect(),
    };
    fits.map(template).collect()
}

fn sources(spec: &Node) -> impl Iterator<Item = &Node> {
    spec.get("source").into_iter().chain(list(spec, "sources"))
}

/// The path of a values file relative to the root, which `$ref/` of another source and a leading slash both mean.
fn root_path(file: &str, chart: &Utf8Path) -> String {
    match file.strip_prefix('$') {
        Some(remainder) => remainder.split_once('/').map_or("", |(_, path)| path).to_owned(),
        None => match file.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None => normalize_path(&chart.join(file)).map_or_else(|| file.to_owned(), Utf8PathBuf::into_string),
        },
    }
}

/// The fields of an object that may change the output and that hcoplan doesn't read.
fn unread(node: Option<&Node>, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let keys = node.map_or(&[][..], Node::entries).iter().map(|entry| entry.key.text.as_str());
    keys.filter(|key| !is_known(key)).map(|key| format!("`{key}`")).collect()
}

/// Whether a field of an Application's `helm` is read or doesn't change the output.
fn is_read_of_helm(key: &str) -> bool {
    fields::SOURCE_HELM.contains(&key) && !["apiVersions", "fileParameters", "kubeVersion", "namespace"].contains(&key)
}

/// The same for a HelmRelease's spec; its post-renderers are reported elsewhere.
fn is_read_of_release(key: &str) -> bool {
    fields::HELM_RELEASE.contains(&key) || ["commonMetadata", "postRenderers"].contains(&key)
}

fn application(
    spec: &Node,
    name: &str,
    template: &Template,
    chart: &Utf8Path,
    files: &[Utf8PathBuf],
    out: &mut Vec<Release>,
) {
    for source in sources(spec) {
        let path = template.fill(text(source, "path"));
        let path = path.and_then(|p| normalize_path(Utf8Path::new(&p)));
        if path.as_deref() != Some(chart) || text(source, "path").is_empty() {
            continue;
        }
        let mut release = Release::default();
        let fill = |text: &str, what: &str, lacks: &mut Vec<String>| {
            let filled = template.fill(text);
            if filled.is_none() {
                lacks.push(format!("{what} `{text}`"));
            }
            filled
        };
        let lacks = &mut release.lacks;
        let own = match text(source, "helm.releaseName") {
            "" => name,
            own => own,
        };
        let own = fill(own, "the name", lacks).unwrap_or_else(|| "release".to_owned());
        let namespace = text(spec, "destination.namespace");
        let namespace = fill(namespace, "the namespace", lacks).filter(|n| !n.is_empty());
        release.lacks.extend(unread(source.get("helm"), is_read_of_helm));
        let lacks = &mut release.lacks;
        let skips =
            matches!(source.below("helm.ignoreMissingValueFiles").map(|n| &n.value), Some(yaml::Value::Bool(true)));
        let mut values = Vec::new();
        for file in list(source, "helm.valueFiles").iter().filter_map(Node::as_str) {
            let Some(file) = fill(file, "the values of", lacks) else {
                continue;
            };
            let path = normalize_path(Utf8Path::new(&root_path(&file, chart)));
            match path.filter(|path| files.contains(path)) {
                Some(path) => values.push(path),
                None if skips => {}
                None => lacks.push(format!("the values of `{file}`")),
            }
        }
        let helm = source.get("helm");
        let inline = helm.and_then(|h| h.get("values")).and_then(Node::as_str);
        let object = helm.and_then(|h| h.get("valuesObject"));
        let object = object.map(|o| yaml::emit(&o.to_json()));
        for text in inline.map(ToOwned::to_owned).into_iter().chain(object) {
            match template.fill(&text) {
                Some(text) => release.inline.push(text),
                None => release.lacks.push("values with a template in them".to_owned()),
            }
        }
        for parameter in list(source, "helm.parameters") {
            let value = template.fill(text(parameter, "value"));
            match value {
                Some(value) => {
                    let value = value.replace(',', "\\,");
                    release.set.push(format!("{}={value}", text(parameter, "name")));
                }
                None => release.lacks.push(format!("the parameter `{}`", text(parameter, "name"))),
            }
        }
        (release.name, release.namespace, release.values) = (release_name(&own), namespace, values);
        out.push(release);
    }
}

fn helm_release(root: &Node, chart: &Utf8Path) -> Option<Release> {
    let path = text(root, "spec.chart.spec.chart");
    if path.is_empty() || normalize_path(Utf8Path::new(path)).as_deref() != Some(chart) {
        return None;
    }
    let name = match text(root, "spec.releaseName") {
        "" => text(root, "metadata.name"),
        name => name,
    };
    let namespaces = ["spec.targetNamespace", "metadata.namespace"].map(|path| text(root, path));
    let namespace = namespaces.into_iter().find(|n| !n.is_empty());
    let files = list(root, "spec.chart.spec.valuesFiles").iter().filter_map(Node::as_str);
    let files = files.filter_map(|file| normalize_path(Utf8Path::new(file)));
    let values = root.below("spec.values");
    let from = list(root, "spec.valuesFrom").iter();
    let from = from.map(|f| format!("the values of the {} `{}`", text(f, "kind"), text(f, "name")));
    Some(Release {
        name: release_name(name),
        namespace: namespace.map(ToOwned::to_owned),
        values: files.collect(),
        inline: values.map(|v| yaml::emit(&v.to_json())).into_iter().collect(),
        set: Vec::new(),
        lacks: from.chain(unread(root.get("spec"), is_read_of_release)).collect(),
    })
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

    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let tree: Memory = files.iter().copied().collect();
        let paths: Vec<Utf8PathBuf> = files.iter().map(|(p, _)| (*p).into()).collect();
        let releases = releases(&tree, "charts/hco".into(), &paths);
        let show = |r: Release| {
            let files: Vec<&str> = r.values.iter().map(|v| v.as_str()).collect();
            let namespace = r.namespace.unwrap_or_default();
            format!("{} {namespace} {} {:?}{:?}{:?}", r.name, files.join(","), r.inline, r.set, r.lacks)
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
            [r#"virt openshift-cnv envs/a.yaml ["x: 1\n"]["cpu=a\\,b"]["the values of `gone.yaml`"]"#]
        );
        let flux = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: v, namespace: \
                    cnv}\nspec:\n  chart: {spec: {chart: ./charts/hco, valuesFiles: [envs/a.yaml]}}\n  \
                    valuesFrom: [{kind: Secret, name: s}]\n";
        assert_eq!(found(&[("flux.yaml", flux)]), ["v cnv envs/a.yaml [][][\"the values of the Secret `s`\"]"]);
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
    }
}
