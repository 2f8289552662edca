//! Helm's charts.

use camino::Utf8Path;
use hcoplan_diagnostics::source::Tree;

/// What a chart's description is called.
pub(super) const CHART: &str = "Chart.yaml";

/// The chart that a file is a template of: its directory.
pub(super) fn chart_of<'p>(tree: &dyn Tree, path: &'p Utf8Path) -> Option<&'p Utf8Path> {
    let above = path.ancestors().skip(1);
    let mut templates = above.filter(|d| d.file_name() == Some("templates"));
    let chart = |templates: &'p Utf8Path| templates.parent();
    templates.find_map(|t| chart(t).filter(|c| tree.check(&c.join(CHART)).is_ok()))
}

/// Whether a file is a template of a chart.
pub(super) fn is_in_chart(tree: &dyn Tree, path: &Utf8Path) -> bool {
    chart_of(tree, path).is_some()
}
