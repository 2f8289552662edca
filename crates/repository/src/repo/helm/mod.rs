//! Renders Helm charts with helm, if `--helm` or `helm: true` enables it.
//!
//! A release's output replaces the chart's templates: it is an additional file, [`RENDERED`], which isn't on disk. helm
//! gets a copy of the chart and of the values that the repository names for it, and nothing else; it fetches nothing,
//! runs no plugin and connects to no cluster.

mod releases;

pub(super) use releases::named_value_files;
mod trace;

use std::io::Read as _;

use hcoplan_diagnostics::secret::masked_message;
use hcoplan_diagnostics::source::{Memory, program};

use self::releases::{Release, Values, named_releases, releases, root_path};
use super::build::{BuildError, BuildTarget, Built, post_render, run_program};
use super::build_failed::{FailedBuild, name_of};
use super::candidate::is_candidate;
use super::charts::{CHART, files_with_dependencies, is_chart, is_rendered, local_dependencies};
use super::escapes::unescaped;
use super::fields;
use super::gitops::{self, GitOps};
use super::kustomization::is_kustomization;
use super::mentions::{HCO, contains_encoded_group, has, hints};
use super::paths::{first_document, in_root, parent, shown_path, start_of};
use super::scan::{FoundKind, scan};
use super::unplanned;
use super::wrappers::embedded::first_kind;
use super::wrappers::not_planned::contains_manifest;
use crate::prelude::*;

/// The name of a release's output, in its directory.
pub const RENDERED: &str = "helm-template.yaml";

/// A chart that has a HyperConverged.
struct Chart {
    directory: Utf8PathBuf,
    /// The location of the HyperConverged in a template.
    place: Location,
    /// Its files and those of its dependencies, by the path where Helm looks for them.
    files: BTreeMap<Utf8PathBuf, Utf8PathBuf>,
}

/// The outermost charts of a listing that may render a HyperConverged. A `file://` dependency belongs to its
/// dependents, unless a release names it. A template without an action is also a manifest, and is read as such if
/// charts aren't rendered.
fn charts(tree: &dyn Tree, files: &[Utf8PathBuf], gitops: &GitOps, rendered: bool) -> Vec<Chart> {
    let mut with_hyperconverged: BTreeMap<Utf8PathBuf, Location> = BTreeMap::new();
    let directories: BTreeSet<&Utf8Path> =
        files.iter().filter(|f| f.file_name() == Some(CHART)).filter_map(|f| f.parent()).collect();
    if directories.is_empty() {
        return Vec::new();
    }
    let inner =
        |path: &Utf8Path| path.ancestors().skip(1).find(|d| directories.contains(*d)).map(Utf8Path::to_path_buf);
    // These charts may include any file in a template.
    let includes_files: BTreeSet<Utf8PathBuf> = files
        .iter()
        .filter(|path| path.components().any(|c| c.as_str() == "templates"))
        .filter(|path| tree.read(path).is_ok_and(|bytes| has(bytes, ".Files")))
        .filter_map(|path| inner(path))
        .collect();
    let mut budget = MAX_UNPACKED;
    let (mut open, mut naming) = (BTreeSet::new(), BTreeMap::new());
    let names_it = |text: &str| text.contains("HyperConverged") && text.contains(HCO);
    for path in files {
        let Some(inner) = &inner(path) else {
            continue;
        };
        let own = path.strip_prefix(inner).unwrap_or(path);
        let is_included = includes_files.contains(inner);
        let is_template = is_rendered(own) || is_included;
        let is_archive = own.parent() == Some(Utf8Path::new("charts")) && matches!(own.extension(), Some("tgz" | "gz"));
        let is_values = own.as_str().contains("values") && matches!(own.extension(), Some("yaml" | "yml" | "json"));
        if is_archive {
            let text = tree.read(path).ok().and_then(|bytes| unpacked(&bytes, &mut budget));
            // An unreadable archive may have one.
            if text.is_none_or(|text| may_render_hyperconverged(&text)) {
                let directory = outermost(tree, inner).to_owned();
                with_hyperconverged.entry(directory).or_insert_with(|| start_of(path));
            }
            continue;
        }
        if !is_template && !is_values {
            continue;
        }
        let file = SourceFile::from_bytes(path, tree.read(path).unwrap_or_default());
        let text = file.text();
        let directory = outermost(tree, inner);
        let kind = || Location::new(&file, first_kind(text));
        // A file with a manifest's name and without an action is read as it is.
        let is_read = is_values || rendered || is_included || text.contains("{{") || !is_candidate(path);
        if is_read && may_render_hyperconverged(text) {
            with_hyperconverged.entry(directory.to_owned()).or_insert_with(kind);
        }
        if is_values && names_it(text) {
            naming.entry(directory.to_owned()).or_insert_with(kind);
        } else if is_template && makes_any(text) {
            open.insert(directory.to_owned());
        }
    }
    // Values may be the kind of a template.
    for (directory, place) in naming.into_iter().filter(|(directory, _)| open.contains(directory)) {
        with_hyperconverged.entry(directory).or_insert(place);
    }
    // So may values elsewhere.
    for (by, source) in gitops.applied.iter().flat_map(|by| by.here().map(move |source| (by, source))) {
        let Some(own) = source.directory().filter(|own| directories.contains(&**own)) else { continue };
        let lists = ["helm.valueFiles", "chart.spec.valuesFiles"].map(|list| source.node.list_at(list));
        let named = strings(lists[0]).map(|name| root_path(name, &own)).chain(strings(lists[1]).map(ToOwned::to_owned));
        let mut named = named.filter_map(|name| tree.source(&in_root(&name)?).ok());
        let file = named.find(|file| names_it(file.text())).map(|file| Location::new(&file, first_kind(file.text())));
        let inline = || {
            let values = ["helm.valuesObject", "helm.values", "values"].iter().filter_map(|key| source.node.below(key));
            let mut values = values.filter(|_| names_it(by.document.file.text()));
            values.find(|own| names_it(&own.to_json().to_string())).map(|own| by.document.location(own.span))
        };
        if let Some(place) = file.or_else(inline) {
            with_hyperconverged.entry(outermost(tree, &own).to_owned()).or_insert(place);
        }
    }
    let dependencies = local_dependencies(tree, files);
    let depended: BTreeSet<&Utf8PathBuf> = dependencies.values().flatten().map(|(_, target)| target).collect();
    let mut out = Vec::new();
    for directory in directories.iter().filter(|d| outermost(tree, d) == **d) {
        let own = files_with_dependencies(directory, files, &dependencies);
        let inside = with_hyperconverged.iter().find(|(holder, _)| {
            *holder == directory || own.values().any(|file| file.parent() == Some(holder) && file.ends_with(CHART))
        });
        let Some((_, place)) = inside else { continue };
        if depended.contains(&directory.to_path_buf()) && named_releases(tree, gitops, directory, files).is_empty() {
            continue;
        }
        out.push(Chart { directory: directory.to_path_buf(), place: place.clone(), files: own });
    }
    out
}

/// Whether a packed chart may render a HyperConverged, or can't be unpacked.
pub(super) fn packed_may_render_hyperconverged(tree: &dyn Tree, path: &Utf8Path) -> bool {
    let Ok(bytes) = tree.read(path) else { return false };
    unpacked(&bytes, &mut MAX_UNPACKED.clone()).is_none_or(|text| may_render_hyperconverged(&text))
}

/// The largest total size of unpacked archives of all charts, in bytes.
const MAX_UNPACKED: u64 = 64 << 20;

/// The contents of a subchart's archive as one text; `None` if it isn't an archive or exceeds the budget.
fn unpacked(bytes: &[u8], budget: &mut u64) -> Option<String> {
    let mut out = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(bytes).take(*budget + 1).read_to_end(&mut out);
    let size = out.len() as u64;
    let is_whole = read.is_ok() && size <= *budget;
    *budget = budget.saturating_sub(size);
    is_whole.then(|| String::from_utf8_lossy(&out).into_owned())
}

/// Whether a template may render a HyperConverged: an action in its kind or its API version may be anything.
fn may_render_hyperconverged(text: &str) -> bool {
    let may = |text: &str| {
        let has_kind = values(text, "kind").any(hints);
        let has_version = values(text, "apiVersion").any(|value| value.contains(HCO));
        let is_made = || text.contains("{{") && text.contains("dict ") && text.contains("HyperConverged\"");
        has_kind && (has_version || values(text, "apiVersion").any(is_action))
            || has_version && values(text, "kind").any(is_action)
            || contains_manifest(text)
            || contains_encoded_group(text)
            || text.contains(HCO) && is_made()
            || makes_any(text) && text.contains("yper")
    };
    may(text) || unescaped(text).is_some_and(|text| may(&text))
}

/// What stands behind a key, line by line; an action may precede it or be around it.
fn values<'t>(text: &'t str, key: &'static str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
        let mut keys = line.match_indices(key).filter(|(at, _)| !line[..*at].ends_with(is_word));
        keys.find_map(|(at, _)| {
            let rest = line[at + key.len()..].trim_start_matches(['"', '\'', '`']).trim_start();
            rest.strip_prefix("}}").unwrap_or(rest).trim_start().strip_prefix(':')
        })
    })
}

/// Whether actions make an object's kind and API version.
fn makes_any(text: &str) -> bool {
    ["kind", "apiVersion"].into_iter().all(|key| values(text, key).any(is_action))
}

fn is_action(value: &str) -> bool {
    first_part(value, ',').contains("{{")
}

/// The outermost chart that has a chart in its `charts`, or the chart itself.
fn outermost<'p>(tree: &dyn Tree, chart: &'p Utf8Path) -> &'p Utf8Path {
    let mut out = chart;
    while let Some(parent) = out.parent().filter(|p| p.file_name() == Some("charts")) {
        match parent.parent().filter(|c| is_chart(tree, c)) {
            Some(outer) => out = outer,
            None => break,
        }
    }
    out
}

/// Charts that aren't rendered.
#[derive(Debug, Default)]
pub(super) struct Unrendered {
    /// The findings about them.
    pub(super) findings: Vec<Finding>,
    /// The directories that their clusters would have.
    pub(super) clusters: BTreeSet<Utf8PathBuf>,
}

/// The charts that aren't rendered.
pub(super) fn not_rendered(tree: &dyn Tree, files: &[Utf8PathBuf]) -> Unrendered {
    let mut out = Unrendered::default();
    let gitops = LazyCell::new(|| gitops::read(tree, files));
    for chart in charts(tree, files, &gitops, false) {
        let planned = planned(&chart, &releases(tree, &gitops, &chart.directory, files));
        let shown = joined(planned.iter().map(|(_, release)| describe(release)), "; ");
        let message = format!("the chart `{}` has a HyperConverged and is not rendered", shown_path(&chart.directory));
        out.clusters.extend(planned.into_iter().map(|(directory, _)| directory));
        let finding = Finding::new(&HELM_CHART_NOT_RENDERED, message)
            .at(chart.place.clone())
            .label("a template, not YAML yet")
            .help(format!("render it with --helm, or with `helm: true` in hcoplan.yaml: {shown}"));
        out.findings.push(finding);
    }
    out
}

fn describe(release: &Release) -> String {
    let files: Vec<&str> = release.files().map(|v| v.as_str()).collect();
    let values = if files.is_empty() { "the chart's own values".to_owned() } else { files.join(", ") };
    format!("`{}` with {values}", release.name)
}

/// Each release with the directory that names its cluster: that of the kustomization that names it, or of its last values
/// file, if that is outside the chart and no other release's; else the chart's, or one below it if there are several.
fn planned(chart: &Chart, releases: &[Release]) -> Vec<(Utf8PathBuf, Release)> {
    let outside = |release: &Release| {
        let by = release.by.as_ref().map(|by| by.file.path()).filter(|by| is_kustomization(by));
        let directory = parent(by.or_else(|| release.files().next_back().map(|last| &**last))?);
        (!directory.starts_with(&chart.directory)).then(|| directory.to_owned())
    };
    let of_values: Vec<_> = releases.iter().map(outside).collect();
    let directory = |(release, own): (&Release, &Option<Utf8PathBuf>)| {
        let is_own = own.is_some() && of_values.iter().filter(|other| *other == own).count() == 1;
        let directory = match own {
            Some(directory) if is_own => directory.clone(),
            _ if releases.len() == 1 => chart.directory.clone(),
            _ => chart.directory.join(release.output.as_ref().unwrap_or(&release.name)),
        };
        (directory, release.clone())
    };
    releases.iter().zip(&of_values).map(directory).collect()
}

/// Renders all releases of a tree's charts that have a HyperConverged. `root` prefixes reported paths; `stop` returns
/// whether to stop a running helm.
///
/// helm isn't installed, or was interrupted.
pub fn render_charts(
    tree: &dyn Tree,
    root: &Utf8Path,
    most_bytes: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Built, BuildError> {
    render(tree, root, program("helm").as_deref(), most_bytes, stop)
}

/// Like [`render_charts`], with a given helm, which nothing needs without a chart.
fn render(
    tree: &dyn Tree,
    root: &Utf8Path,
    helm: Option<&std::path::Path>,
    most_bytes: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Built, BuildError> {
    let files = tree.list(&Walk::default())?.files;
    let gitops = gitops::read(tree, &files);
    let charts = charts(tree, &files, &gitops, true);
    let mut built = Built::default();
    for chart in &charts {
        let helm = helm.ok_or(BuildError::NoHelm)?;
        built.reached.extend(chart.files.values().cloned());
        built.findings.extend(asks_cluster(tree, chart));
        let (mut is_on, mut without) = (false, Vec::new());
        for (directory, release) in planned(chart, &releases(tree, &gitops, &chart.directory, &files)) {
            let run = ReleaseToRender { tree, root, chart, release: &release, helm };
            let rendered = match release.missing.first() {
                Some(missing) => Err((format!("there is no {}", missing.value), missing.place.clone())),
                None => match run.run(most_bytes, stop) {
                    Err(BuildError::Interrupted) => return Err(BuildError::Interrupted),
                    rendered => rendered.map_err(|error| (run.masked(&error.to_string()), chart.place.clone())),
                },
            };
            let added = rendered.and_then(|(typed, bytes)| run.add(&mut built, &directory, &typed, bytes));
            match added {
                Ok(true) => {
                    is_on = true;
                    built.reached.extend(release.files().cloned());
                }
                Ok(false) => without.push(describe(&release)),
                Err((message, place)) => {
                    let finding = Finding::new(&HELM_TEMPLATE_FAILED, message);
                    let finding = finding.at(place).label("this release is not planned");
                    let finding = Finding { cluster: Some(name_of(tree, &directory)), ..finding };
                    built.unbuilt.insert(directory.clone(), run.files());
                    built.failed.push(FailedBuild { directory, finding });
                }
            }
        }
        // Where another release has one, values switch it off.
        if !is_on && !without.is_empty() {
            let message = format!("no HyperConverged is rendered by {}", list(&without, 3));
            let finding = unplanned(message, chart.place.clone());
            built.findings.push(finding.label("not with these values"));
        }
    }
    Ok(built)
}

/// The finding about a chart whose output depends on the cluster.
fn asks_cluster(tree: &dyn Tree, chart: &Chart) -> Option<Finding> {
    let mut templates = chart.files.values().filter(|path| is_rendered(path));
    let found = templates.find_map(|path| {
        let file = tree.source(path).ok()?;
        let question = fields::of("helm.questions").iter().find(|question| file.text().contains(**question))?;
        let start = file.text().find(question)?;
        Some((question.trim(), Location::new(&file, Span::new(start, start + question.trim().len()))))
    });
    let (question, place) = found?;
    let message = format!("the chart asks the cluster: `{question}`; it is planned as a first installation");
    let finding = unplanned(message, place).info();
    Some(finding.label("unknown here").help("compare `helm template --is-upgrade …` by hand"))
}

/// A release to render.
struct ReleaseToRender<'r> {
    tree: &'r dyn Tree,
    root: &'r Utf8Path,
    chart: &'r Chart,
    release: &'r Release,
    helm: &'r std::path::Path,
}

impl ReleaseToRender<'_> {
    /// A message of helm's, which may quote values, without their secrets.
    fn masked(&self, message: &str) -> String {
        let is_manifest = |path: &&Utf8PathBuf| is_candidate(path);
        let files = self.chart.files.values().chain(self.release.files()).filter(is_manifest);
        let files = files.filter_map(|path| self.tree.source(path).ok());
        let set = self.release.options.iter().map(|(_, value)| value.replacen('=', ": ", 1));
        let inline = self.release.values.iter().filter_map(|values| match values {
            Values::Inline(text, _) => Some(text.clone()),
            Values::File(_) => None,
        });
        let texts = inline.chain(set);
        let texts = texts.map(|text| SourceFile::new(Utf8Path::new("values.yaml"), text));
        files.chain(texts).fold(message.to_owned(), |text, file| masked_message(&file, Span::default(), &text))
    }

    fn run(&self, most: usize, stop: &dyn Fn() -> bool) -> Result<(String, Vec<u8>), BuildError> {
        let (chart, release) = (&self.chart.directory, self.release);
        let mut inputs: BTreeSet<Utf8PathBuf> = self.chart.files.keys().cloned().collect();
        inputs.extend(release.files().chain(&release.option_files).cloned());
        let mut more = BTreeMap::new();
        for (to, from) in self.chart.files.iter().filter(|(to, from)| to != from) {
            more.insert(to.clone(), self.tree.read(from).unwrap_or_default());
        }
        let mut arguments = vec!["template".to_owned(), release.name.clone(), format!("./{chart}")];
        let namespace = release.namespace.as_deref().unwrap_or(super::mentions::HCO_NAME);
        arguments.extend(["--namespace".to_owned(), namespace.to_owned()]);
        for (number, values) in release.values.iter().enumerate() {
            let path = match values {
                Values::File(path) => path.clone(),
                Values::Inline(text, _) => {
                    let path = Utf8PathBuf::from(format!(".hcoplan-values-{number}.yaml"));
                    inputs.insert(path.clone());
                    more.insert(path.clone(), text.clone().into_bytes());
                    path
                }
            };
            arguments.extend(["--values".to_owned(), format!("./{path}")]);
        }
        let asks = |path: &Utf8PathBuf| self.tree.read(path).is_ok_and(|bytes| has(bytes, ".Capabilities.APIVersions"));
        // kustomize, unlike controllers, knows no cluster.
        if release.by.as_ref().is_none_or(|by| !is_kustomization(by.file.path())) && self.chart.files.values().any(asks)
        {
            arguments.extend(["--api-versions".to_owned(), fields::of("helm.served").join(",")]);
        }
        for (option, value) in &release.options {
            arguments.extend([(*option).to_owned(), value.clone()]);
        }
        let tree = EditedTree::new(self.tree, more);
        let place = BuildTarget {
            tree: &tree,
            root: self.root,
            directory: Utf8Path::new(""),
            inputs: &inputs,
            links: &BTreeMap::new(),
            network: false,
        };
        let typed = format!("helm {}", arguments.join(" "));
        let bytes = run_program(&place, &typed, self.helm, &arguments, most, stop)?;
        Ok((typed, bytes))
    }

    /// The files of the chart and of the values.
    fn files(&self) -> BTreeSet<Utf8PathBuf> {
        let values = self.release.files().chain(&self.release.option_files);
        self.chart.files.values().chain(values).cloned().collect()
    }

    /// The values with their places, those of the highest precedence first.
    fn values(&self) -> Vec<Document> {
        let own = Values::File(self.chart.directory.join("values.yaml"));
        let read = |values: &Values| match values {
            Values::Inline(_, placed) => Some(placed.clone()),
            Values::File(path) => first_document(self.tree, path),
        };
        let files = self.release.values.iter().rev().chain([&own]).filter_map(read);
        self.release.parameters.iter().rev().cloned().chain(files).collect()
    }

    /// Adds what helm printed. Whether it has a HyperConverged.
    ///
    /// # Errors
    /// Why its post-renderers fail, and where.
    fn add(
        &self,
        built: &mut Built,
        directory: &Utf8Path,
        typed: &str,
        bytes: Vec<u8>,
    ) -> Result<bool, (String, Location)> {
        let path = directory.join(RENDERED);
        let file = SourceFile::from_bytes(&path, bytes.clone());
        let parsed = yaml::parse(&file);
        let (chart, whole) = (&self.chart.directory, &self.chart.place);
        let values = self.values();
        let origins = trace::origins(self.tree, chart, &self.chart.files, &file, &parsed.documents, &values, whole);
        let release = self.release.by.as_ref().filter(|by| by.text("kind") == "HelmRelease");
        let (bytes, origins) = match release {
            None => (bytes, origins),
            Some(by) => post_render(self.tree, &path, (bytes, origins), by, whole)
                .map_err(|(why, place)| (format!("the post-renderer fails: {why}"), place))?,
        };
        let alone = Memory::from_iter([(path.clone(), bytes.clone())]);
        let has_hyperconverged = scan(&alone, &path).has(FoundKind::HyperConverged);
        for lacks in &self.release.lacks {
            let message = format!("`{}` is rendered without {lacks}", self.release.name);
            let finding = unplanned(message, whole.clone());
            built.findings.push(finding.label("what it changes is not planned"));
        }
        built.notes.push(format!("{path} is what `{typed}` prints"));
        built.origins.insert(path.clone(), Arc::new(origins));
        built.appliers.extend(self.release.by.clone().map(|by| (path.clone(), by)));
        built.inputs.insert(path.clone(), self.files());
        built.files.insert(path, bytes);
        Ok(has_hyperconverged)
    }
}

#[cfg(all(test, unix))]
mod tests;
