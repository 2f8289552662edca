//! Prints the matrix of golden images: one file per format.

mod json;
#[cfg(test)]
mod tests;
mod view;

use std::io::{self, Write};

use crate::Named;
use crate::terminal::Terminal;
use crate::{html, terminal};

use super::plural;
use hcoplan_analysis::matrix::{Cell, ClusterMatrix, Group, Image, MachineRow, Reason, State, counts};
use hcoplan_planner::boot::BootOutcome;

pub use json::document;
pub(super) use view::blocks;

/// An output format for the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables, for people.
    Human,
    /// JSON.
    Json,
    /// HTML.
    Html,
}

impl Named for Format {
    const NAMES: &'static [(Self, &'static str)] =
        &[(Self::Human, "human"), (Self::Json, "json"), (Self::Html, "html")];
}

/// The matrix, and how to print it.
#[derive(Debug, Clone, Copy)]
pub struct MatrixPage<'a> {
    /// The clusters, sorted.
    pub clusters: &'a [ClusterMatrix],
    /// Whether only problems are shown.
    pub problems: bool,
    /// How the terminal is, for [`Format::Human`].
    pub terminal: Terminal,
}

/// Prints the matrix.
///
/// # Errors
/// If the writer fails.
pub fn write(format: Format, page: &MatrixPage<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Human => out.write_all(terminal::print(&view::screen(page), page.terminal).as_bytes()),
        Format::Json => out.write_all(crate::visible_json::text(&document(page)).as_bytes()),
        Format::Html => out.write_all(html::print(&view::page(page)).as_bytes()),
    }
}

impl<'a> MatrixPage<'a> {
    /// Whether a cluster is shown.
    fn shows(&self, cluster: &ClusterMatrix) -> bool {
        !self.problems || cluster.is_problem()
    }

    /// The virtual machines shown.
    fn machines(&self, cluster: &'a ClusterMatrix) -> Vec<&'a MachineRow> {
        cluster.machines.iter().filter(|m| !self.problems || m.is_problem()).collect()
    }

    /// The images shown as rows; the others are listed by name.
    fn rows(&self, cluster: &'a ClusterMatrix) -> Vec<&'a Image> {
        let all = cluster.images.iter().filter(|i| !i.is_external());
        all.filter(|i| !self.problems || i.is_problem()).collect()
    }
}

/// Whether a virtual machine boots, and why not, in a line.
fn machine_words(machine: &MachineRow) -> String {
    let why = machine.cause.as_ref().map(|cause| format!(": {}", cause.sentence()));
    format!("{}{}", machine.outcome.as_str(), why.unwrap_or_default())
}

/// The names of the images that no DataImportCron imports.
fn external(cluster: &ClusterMatrix) -> Vec<String> {
    let all = cluster.images.iter().filter(|i| i.is_external());
    all.map(|i| name(cluster, i)).collect()
}

/// An image's name, with its namespace where the cluster has images in several.
fn name(cluster: &ClusterMatrix, image: &Image) -> String {
    let mut others = cluster.images.iter();
    if others.any(|o| o.name == image.name && o.namespace != image.namespace) {
        format!("{}/{}", image.namespace, image.name)
    } else {
        image.name.clone()
    }
}

/// A cell's content, in a word or two.
fn word(cell: &Cell) -> String {
    match (cell.state, cell.architecture.only()) {
        (State::Wrong, Some(is)) => format!("gets {is}"),
        (state, _) => state.words().1.to_owned(),
    }
}

/// The target of the plain name, in a word or two.
fn plain_word(cell: &Cell) -> String {
    match (cell.state, cell.architecture.only()) {
        (State::Covered, Some(is)) => is.to_owned(),
        (State::Covered, None) => "one image".to_owned(),
        (State::Missing, _) => "nothing".to_owned(),
        _ => word(cell),
    }
}

/// A reason for the state of cells, with the images that it concerns.
struct Why<'a> {
    /// The columns; none for the plain name.
    architectures: Vec<&'a str>,
    cell: &'a Cell,
    images: Vec<String>,
}

/// The reasons for the problems of a cluster's rows, in the order of the columns.
fn reasons<'a>(cluster: &'a ClusterMatrix, rows: &[&'a Image]) -> Vec<Why<'a>> {
    let mut out: Vec<Why<'a>> = Vec::new();
    let columns = cluster.architectures.iter().enumerate();
    for (index, architecture) in columns {
        for image in rows {
            let cell = image.cells.get(index);
            if let Some(cell) = cell
                .filter(|c| c.state.is_problem() || matches!(c.state, State::Undeclared | State::Off | State::Unknown))
            {
                add(&mut out, Some(&architecture.name), cell, cluster, image);
            }
        }
    }
    for image in rows {
        let covered = image.cells.iter().any(|c| c.state == State::Covered);
        if image.plain.state.is_problem() && covered {
            add(&mut out, None, &image.plain, cluster, image);
        }
    }
    let mut merged: Vec<Why<'a>> = Vec::new();
    for why in out {
        match merged.iter_mut().find(|other| other.is_alike(&why)) {
            Some(other) => other.architectures.extend(why.architectures),
            None => merged.push(why),
        }
    }
    merged
}

fn add<'a>(
    out: &mut Vec<Why<'a>>,
    architecture: Option<&'a str>,
    cell: &'a Cell,
    cluster: &ClusterMatrix,
    image: &Image,
) {
    let name = match &cell.reason {
        Reason::Dangling(target) => format!("{} → {target}", name(cluster, image)),
        _ => name(cluster, image),
    };
    let same = |w: &&mut Why<'_>| {
        let dangle = [&w.cell.reason, &cell.reason].map(|r| matches!(r, Reason::Dangling(_)));
        w.architectures == architecture.as_slice()
            && w.cell.state == cell.state
            && (w.cell.reason == cell.reason || dangle == [true, true])
    };
    match out.iter_mut().find(same) {
        Some(why) => why.images.push(name),
        None => out.push(Why { architectures: architecture.into_iter().collect(), cell, images: vec![name] }),
    }
}

impl Why<'_> {
    /// The problem in a few words: `arm64 gets amd64`, or with its sign.
    fn what(&self, short: bool) -> String {
        if self.architectures.is_empty() {
            return "the plain name leads to nothing".to_owned();
        }
        let sign = self.cell.state.words().0.to_owned();
        format!("{} {}", self.architectures.join(", "), if short { sign } else { word(self.cell) })
    }

    /// Whether both report the same problem of the same images for other architectures.
    fn is_alike(&self, other: &Self) -> bool {
        let is_of_columns = |why: &Self| !why.architectures.is_empty();
        is_of_columns(self)
            && is_of_columns(other)
            && self.images == other.images
            && self.cell.reason == other.cell.reason
            && word(self.cell) == word(other.cell)
    }

    /// The reason, in a sentence that is true of all images.
    fn sentence(&self) -> String {
        match &self.cell.reason {
            Reason::Dangling(_) => "nothing is imported for the DataSource behind it".to_owned(),
            reason => reason.sentence(),
        }
    }

    /// The images concerned; `all 4` for all rows.
    fn images(&self, rows: usize) -> String {
        let dangles = matches!(self.cell.reason, Reason::Dangling(_));
        if self.images.len() == rows && rows > 1 && !dangles { format!("all {rows}") } else { self.images.join(", ") }
    }
}

/// The clusters, nodes and settings, in a line.
fn about(group: &Group<'_>) -> String {
    let first = group.first;
    let mut parts = Vec::new();
    let releases = group.releases();
    let several = releases.len() > 1;
    let of = |(release, of): (&String, &Vec<&str>)| {
        if several { format!("{release} ({})", of.join(", ")) } else { release.clone() }
    };
    if !releases.is_empty() {
        parts.push(format!("release {}", releases.iter().map(of).collect::<Vec<_>>().join(", ")));
    }
    if first.obstacle.is_none() {
        let switch = if first.multi_arch { "on" } else { "off" };
        parts.push(format!("multi-arch golden images {switch}"));
    }
    let names = |workload: bool| {
        let all = first.architectures.iter();
        let some = all.filter(|a| (a.workload_nodes > 0) == workload);
        some.map(|a| match (&group.clusters[..], workload) {
            ([_], true) => format!("{} × {}", a.workload_nodes, a.name),
            _ => a.name.clone(),
        })
        .collect::<Vec<_>>()
        .join(", ")
    };
    let (workload, control_plane) = (names(true), names(false));
    if !workload.is_empty() {
        let assumed = if first.states_nodes { "" } else { " (assumed)" };
        parts.push(format!("workload nodes: {workload}{assumed}"));
    }
    if !control_plane.is_empty() {
        parts.push(format!("control plane only: {control_plane}"));
    }
    parts.join("; ")
}

/// The unit of the counts: one for each image and each architecture of a workload node.
pub(super) const PAIRS: &str = "pairs of golden image and architecture";

/// `24 of 29 pairs of golden image and architecture covered, 5 of another architecture in 3 clusters`.
fn totals(clusters: &[ClusterMatrix]) -> String {
    let counts = counts(clusters);
    let wanted = counts.wanted();
    let mut parts = vec![match wanted {
        0 => "no golden image is wanted".to_owned(),
        wanted => format!("{} of {wanted} {PAIRS} covered", counts.covered),
    }];
    let mut add = |n: usize, what: &str| {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    };
    add(counts.wrong, "of another architecture");
    add(counts.missing, "missing");
    add(counts.undetermined, "undetermined");
    add(counts.unknown, "unknown");
    let is_one = counts.dangling == 1;
    add(counts.dangling, if is_one { "plain name leads to nothing" } else { "plain names lead to nothing" });
    let all = plural(counts.machines, "virtual machine");
    let machines = || clusters.iter().flat_map(|c| &c.machines);
    let unsure = [(BootOutcome::Undetermined, "undetermined"), (BootOutcome::Unknown, "unknown")];
    let unsure = unsure.map(|(outcome, what)| (machines().filter(|m| m.outcome == outcome).count(), what));
    if unsure.iter().map(|(n, _)| n).sum::<usize>() < counts.machines {
        let boot = if counts.machines == 1 { "boots" } else { "boot" };
        parts.push(format!("{} of {all} {boot}", counts.booting));
    }
    for (n, what) in unsure.into_iter().filter(|(n, _)| *n > 0) {
        parts.push(if n < counts.machines { format!("{n} {what}") } else { format!("{all} {what}") });
    }
    let mut text = format!("{} in {}", parts.join(", "), plural(counts.clusters, "cluster"));
    if counts.with_problems > 0 {
        text.push_str(&format!("; {} with problems", plural(counts.with_problems, "cluster")));
    }
    if counts.obstructed > 0 {
        text.push_str(&format!(", {} of them without any import", counts.obstructed));
    }
    text
}
