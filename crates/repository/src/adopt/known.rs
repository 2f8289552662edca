//! What is known of the clusters, as a table.

use camino::Utf8Path;

use super::facts::comment;
use crate::repo::{ClusterRef, FactOrigin, Loaded, Repo, known_release};
use hcoplan_planner::release::Platform;

/// What a person has to say.
const UNKNOWN: &str = "?";

/// The release and the platform that hcoplan assumes of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Assumed {
    pub(super) release: Option<String>,
    pub(super) platform: Option<Platform>,
}

impl Assumed {
    pub(super) fn of(loaded: &Loaded) -> Self {
        let release = loaded.release.as_ref().ok().filter(|_| loaded.identity.release.is_none());
        let platform = &loaded.identity.platform;
        Self {
            release: release.map(|release| release.label().to_owned()),
            platform: (platform.by == FactOrigin::Nothing).then_some(platform.value),
        }
    }
}

/// The facts about clusters, a line each, or a line for each fact where they need more than `columns`; `written` is the
/// inventory that the only one gets.
pub fn table(
    repo: &Repo,
    clusters: &[(&ClusterRef, Loaded)],
    written: Option<&Utf8Path>,
    columns: Option<usize>,
) -> String {
    let header = ["cluster", "release", "platform", "nodes", "applied by"].map(ToOwned::to_owned);
    let row = |(cluster, loaded): &(&ClusterRef, Loaded)| {
        let applied = repo.applier_of(cluster).unwrap_or_else(|| "-".to_owned());
        let files = cluster.inventory_files().iter().map(|file| &**file).filter(|_| loaded.inventory.states_nodes);
        let files: Vec<&str> = match written {
            Some(written) => vec![written.as_str()],
            None => files.map(Utf8Path::as_str).collect(),
        };
        let nodes = if files.is_empty() { UNKNOWN.to_owned() } else { files.join(", ") };
        [cluster.name().to_string(), release(loaded), platform(loaded), nodes, applied].map(|cell| comment(&cell))
    };
    let rows: Vec<_> = std::iter::once(header).chain(clusters.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [0, 1, 2, 3].map(width);
    if columns.is_some_and(|columns| widths.iter().map(|width| width + 2).sum::<usize>() + width(4) > columns) {
        let [header, rows @ ..] = rows.as_slice() else { return String::new() };
        let facts = |row: &[String; 5]| {
            header.iter().zip(row).skip(1).map(|(name, cell)| format!("  {name}: {cell}\n")).collect::<String>()
        };
        return rows.iter().map(|row| format!("{}\n{}", row[0], facts(row))).collect();
    }
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
        cells.collect::<String>() + &row[4] + "\n"
    };
    rows.iter().map(line).collect()
}

fn release(loaded: &Loaded) -> String {
    let Some(name) = &loaded.identity.release else { return UNKNOWN.to_owned() };
    let planned = match &loaded.release {
        Ok(release) if known_release(&name.value).is_err() => format!(", planned as {}", release.label()),
        Ok(_) => String::new(),
        Err(_) => ", not modelled".to_owned(),
    };
    format!("{} ({}){planned}", name.value, name.by)
}

fn platform(loaded: &Loaded) -> String {
    let platform = &loaded.identity.platform;
    if platform.by == FactOrigin::Nothing {
        return UNKNOWN.to_owned();
    }
    format!("{} ({})", platform.value, platform.by)
}
