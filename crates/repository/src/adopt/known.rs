//! What is known of the clusters, as a table.

use super::facts::comment;
use crate::prelude::*;
use crate::repo::{ClusterRef, Loaded, ReleaseBasis, Repo};

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
        let release = loaded.release.as_ref().ok().filter(|_| loaded.release_basis() == ReleaseBasis::Assumed);
        let platform = &loaded.identity.platform;
        Self {
            release: release.map(|release| release.label().to_owned()),
            platform: platform.is_assumed().then_some(platform.value),
        }
    }
}

/// The headings of [`rows`].
pub const HEADINGS: [&str; 5] = ["cluster", "release", "platform", "nodes", "applied by"];

/// The facts about clusters; `written` is the inventory that the only one gets.
pub fn rows(repo: &Repo, clusters: &[(&ClusterRef, Loaded)], written: Option<&Utf8Path>) -> Vec<[String; 5]> {
    let row = |(cluster, loaded): &(&ClusterRef, Loaded)| {
        let applied = repo.applier_of(cluster).or_else(|| repo.applying_wrapper(cluster));
        let files = cluster.inventory_files().iter().filter(|_| loaded.inventory.states_nodes);
        let files: Vec<&str> = files.map(|file| file.as_str()).collect();
        let nodes = written.map_or_else(|| files.join(", "), ToString::to_string);
        let applied = applied.unwrap_or_else(|| "-".to_owned());
        let cells = [cluster.name().to_string(), release(loaded), platform(loaded), nodes, applied];
        cells.map(|cell| if cell.is_empty() { UNKNOWN.to_owned() } else { comment(&cell) })
    };
    clusters.iter().map(row).collect()
}

fn release(loaded: &Loaded) -> String {
    let Some(name) = &loaded.identity.release else { return String::new() };
    let planned = match &loaded.release {
        Ok(_) if loaded.release_basis() == ReleaseBasis::Stated => String::new(),
        Ok(release) => format!(", planned as {}", release.label()),
        Err(_) => ", not modelled".to_owned(),
    };
    format!("{} ({}){planned}", name.value, name.by)
}

fn platform(loaded: &Loaded) -> String {
    let platform = &loaded.identity.platform;
    if platform.is_assumed() {
        return String::new();
    }
    format!("{} ({})", platform.value, platform.by)
}
