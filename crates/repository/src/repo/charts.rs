//! Finds Helm charts, and their dependencies in the repository.

use super::paths::{file_in, first_document, matches_any, parent, reached};
use crate::prelude::*;

/// The name of a chart's description.
pub(super) const CHART: &str = "Chart.yaml";

/// Whether a directory is a chart.
pub(super) fn is_chart(tree: &dyn Tree, directory: &Utf8Path) -> bool {
    tree.check(&directory.join(CHART)).is_ok()
}

/// The directory of the chart that has a file as a template.
pub(super) fn chart_of<'p>(tree: &dyn Tree, path: &'p Utf8Path) -> Option<&'p Utf8Path> {
    let templates = path.ancestors().skip(1).filter(|d| d.file_name() == Some("templates"));
    templates.filter_map(Utf8Path::parent).find(|c| is_chart(tree, c))
}

/// Whether a file is a template of a chart.
pub(super) fn is_in_chart(tree: &dyn Tree, path: &Utf8Path) -> bool {
    chart_of(tree, path).is_some()
}

/// Whether Helm renders a file of a chart's `templates`: all but `NOTES.txt`, with any extension. Files whose names
/// begin with `_` are included by others.
pub(super) fn is_rendered(path: &Utf8Path) -> bool {
    path.file_name() != Some("NOTES.txt") && path.components().any(|c| c.as_str() == "templates")
}

/// The chart that renders a template by itself: no `.helmignore` names it, its name doesn't begin with `_`, and the chart is
/// no library.
pub(super) fn rendered_by<'p>(tree: &dyn Tree, file: &'p Utf8Path) -> Option<&'p Utf8Path> {
    let is_included = file.file_name().is_some_and(|name| name.starts_with('_'));
    let chart = chart_of(tree, file).filter(|_| is_rendered(file) && !is_included)?;
    let is_ignored = tree
        .read(&chart.join(".helmignore"))
        .is_ok_and(|bytes| matches_any(&String::from_utf8_lossy(&bytes), file.strip_prefix(chart).unwrap_or(file)));
    let is_library = || first_document(tree, &chart.join(CHART)).is_some_and(|own| own.text("type") == "library");
    (!is_ignored && !is_library()).then_some(chart)
}

/// The charts that each chart depends on by `file://`, with their names.
pub(super) fn local_dependencies(
    tree: &dyn Tree,
    files: &[Utf8PathBuf],
) -> BTreeMap<Utf8PathBuf, Vec<(String, Utf8PathBuf)>> {
    let mut out = BTreeMap::new();
    for path in files.iter().filter(|f| f.file_name() == Some(CHART)) {
        let Some(chart) = first_document(tree, path) else { continue };
        let directory = parent(path);
        let dependency = |node: &Node| {
            let target = file_in(directory, node.text_at("repository")?.strip_prefix("file://")?)?;
            Some((node.text_at("name")?.to_owned(), target))
        };
        let list = chart.root.list_at("dependencies");
        let found: Vec<_> = list.iter().filter_map(dependency).filter(|(name, _)| !name.contains('/')).collect();
        if !found.is_empty() {
            out.insert(directory.to_owned(), found);
        }
    }
    out
}

/// The charts that depend on a chart, also by way of others.
pub(super) fn dependents(tree: &dyn Tree, files: &[Utf8PathBuf], chart: &Utf8Path) -> BTreeSet<Utf8PathBuf> {
    let dependencies = local_dependencies(tree, files);
    let outer = |inner: &Utf8PathBuf| {
        let on_it = dependencies.iter().filter(|(_, targets)| targets.iter().any(|(_, target)| target == inner));
        on_it.map(|(outer, _)| outer.clone()).collect::<Vec<_>>()
    };
    let mut out = reached([chart.to_owned()], outer);
    out.remove(chart);
    out
}

/// The files of a chart and its `file://` dependencies, by the path where Helm looks for them; `files` are all files.
pub(super) fn files_with_dependencies(
    chart: &Utf8Path,
    files: &[Utf8PathBuf],
    dependencies: &BTreeMap<Utf8PathBuf, Vec<(String, Utf8PathBuf)>>,
) -> BTreeMap<Utf8PathBuf, Utf8PathBuf> {
    let mut out = BTreeMap::new();
    let mut visited = BTreeSet::new();
    let mut pending = vec![(chart.to_owned(), chart.to_owned())];
    while let Some((at, from)) = pending.pop() {
        // Stops at cycles and at deeply nested charts.
        if !visited.insert(at.clone()) || at.components().count() > 64 {
            continue;
        }
        for file in files.iter().filter(|f| f.starts_with(&from)) {
            let to = at.join(file.strip_prefix(&from).unwrap_or(file));
            out.entry(to).or_insert_with(|| file.clone());
        }
        for (name, target) in dependencies.get(&from).into_iter().flatten() {
            let to = at.join("charts").join(name);
            if !out.contains_key(&to.join(CHART)) && *target != from {
                pending.push((to, target.clone()));
            }
        }
    }
    out
}
