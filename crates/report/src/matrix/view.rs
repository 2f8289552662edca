//! The matrix as a document: equal clusters share a table, with the reasons below it.

use super::{MatrixPage, PAIRS, about, external, machine_words, name, plain_word, reasons, totals, word};
use crate::document::{Block, Document, Entry, Level, Text};
use crate::document::{Cell as TableCell, Table};
use crate::plural;
use crate::prelude::*;
use crate::sarif;
use hcoplan_analysis::matrix::{Cell, ClusterMatrix, Group, Image, MachineRow, State, counts, groups};
use hcoplan_planner::boot::{self, BootOutcome};

/// The screen of a terminal, with the totals at the end.
pub(super) fn screen(page: &MatrixPage<'_>) -> Document {
    let last = Some((level(page), totals(page.clusters).into()));
    Document { blocks: blocks(page, true), last, ..Document::default() }
}

/// An HTML page.
pub(super) fn page(page: &MatrixPage<'_>) -> Document {
    let counted = counts(page.clusters);
    let wanted = counted.wanted();
    let verdict = if counted.covered == wanted && counted.with_problems == 0 {
        format!("Every golden image is there in {}", plural(counted.clusters, "cluster"))
    } else {
        format!("{} of {wanted} {PAIRS} covered", counted.covered)
    };
    let mut content = vec![Block::Heading(1, "Matrix".into())];
    content.extend(blocks(page, false));
    Document {
        title: "hcoplan matrix".to_owned(),
        verdict: Some((level(page), verdict.into())),
        blocks: content,
        last: None,
    }
}

fn level(page: &MatrixPage<'_>) -> Level {
    let mut machines = page.clusters.iter().flat_map(|c| &c.machines);
    let fails = machines.any(|m| m.outcome == BootOutcome::DoesNotBoot);
    match counts(page.clusters) {
        c if c.missing > 0 || c.obstructed > 0 || fails => Level::Bad,
        c if c.wrong + c.undetermined + c.unknown + c.dangling + c.with_problems > 0 => Level::Warn,
        c if c.wanted() == 0 => Level::Calm,
        _ => Level::Good,
    }
}

/// The groups, problems first; `short`: with one character per cell, and a legend.
pub(crate) fn blocks(page: &MatrixPage<'_>, short: bool) -> Vec<Block> {
    let mut groups = groups(page.clusters);
    groups.retain(|g| page.shows(g.first));
    groups.sort_by_key(|g| !g.first.is_problem());
    groups.iter().flat_map(|group| one(page, group, short)).collect()
}

fn one(page: &MatrixPage<'_>, group: &Group<'_>, short: bool) -> Vec<Block> {
    let first = group.first;
    let names: Vec<&str> = group.clusters.iter().map(|c| &*c.cluster).collect();
    let mut out = vec![Block::Heading(2, clusters(&names).into())];
    let about = about(group);
    if !about.is_empty() {
        out.push(Block::soft(about));
    }
    if let Some(obstacle) = &first.obstacle {
        // A table would repeat it in each cell.
        let level = if obstacle.is_problem() { Level::Bad } else { Level::Calm };
        out.push(Block::Paragraph(Text::new().level(level, obstacle.sentence())));
    }
    let machines = page.machines(first);
    let rows = if first.obstacle.is_some() { Vec::new() } else { page.rows(first) };
    let mut legend = Legend(short.then(BTreeMap::new));
    if !machines.is_empty() {
        out.push(Block::Table(machine_table(first, &machines, &mut legend)));
        let whys =
            machines.iter().filter(|m| m.cause.is_some()).map(|m| machine_entry(m, if short { &rows } else { &[] }));
        out.extend(Block::story(whys.collect()));
    }
    if !rows.is_empty() {
        out.push(Block::Table(table(first, &rows, &mut legend)));
    }
    out.extend(legend.line().map(|line| Block::List(vec![line])));
    let whys = reasons(first, &rows);
    let whys = whys.iter().map(|why| {
        let level = level_of(why.cell.state).unwrap_or(Level::Calm);
        let mut entry = Entry::new(level, Text::new().level(level, why.what(short)), why.sentence());
        entry.note("images", why.images(rows.len()));
        if let Some(rule) = why.cell.reason.rule() {
            entry.note("rule", Text::new().link(rule, sarif::page(rule)));
        }
        entry
    });
    out.extend(Block::story(whys.collect()));
    let by_hand = external(first);
    if first.obstacle.is_none() && !by_hand.is_empty() && !page.problems {
        let what = plural(by_hand.len(), "DataSource");
        let text = format!("{what} without an import, to be filled by hand: {}", by_hand.join(", "));
        out.push(Block::soft(text));
    }
    out
}

/// The heading: the rows' name, the architectures, and the last column.
fn header(cluster: &ClusterMatrix, rows: &str, last: &str) -> Vec<Text> {
    let architectures = cluster.architectures.iter().map(|a| Text::from(a.name.as_str()));
    std::iter::once(rows.into()).chain(architectures).chain([last.into()]).collect()
}

fn machine_table(cluster: &ClusterMatrix, machines: &[&MachineRow], legend: &mut Legend) -> Table {
    let mut row = |machine: &&MachineRow| {
        let cells = machine.cells.iter().map(|cell| TableCell {
            text: {
                let outcome = cell.as_ref().map(|cell| cell.outcome.as_str());
                legend
                    .cell(outcome.map_or(".", |name| crate::words::word("machines", name)), outcome.unwrap_or("-"))
                    .into()
            },
            level: cell.as_ref().and_then(|cell| machine_level(cell.outcome)),
            reason: cell.as_ref().and_then(|cell| cell.cause.as_ref()).map(boot::BootCause::sentence),
        });
        std::iter::once(machine.name.as_str().into()).chain(cells).chain([machine.source.as_str().into()]).collect()
    };
    Table {
        caption: "virtual machines by architecture".to_owned(),
        header: header(cluster, "virtual machine", "boots from"),
        rows: machines.iter().map(&mut row).collect(),
        sortable: true,
    }
}

/// Why a machine doesn't boot for certain; where its golden image has the same problem, its row says why.
fn machine_entry(machine: &MachineRow, rows: &[&Image]) -> Entry {
    let level = machine_level(machine.outcome).unwrap_or(Level::Calm);
    let is_source = |image: &&&Image| {
        let mut names = image.cells.iter().chain([&image.plain]).filter_map(|cell| cell.data_source.as_deref());
        machine.data_source.as_ref().is_some_and(|(namespace, name)| {
            image.namespace == *namespace && (image.name == *name || names.any(|own| own == name))
        })
    };
    let words = match rows.iter().find(|image| is_source(image) && image.is_problem()) {
        Some(image) => format!("has the problem of the golden image {}", image.name),
        None => machine_words(machine),
    };
    let mut entry = Entry::new(level, Text::new().level(level, machine.name.as_str()), words);
    entry.place = Text::new().code(machine.place.as_str());
    entry
}

fn machine_level(outcome: BootOutcome) -> Option<Level> {
    match outcome {
        BootOutcome::Boots => Some(Level::Good),
        BootOutcome::DoesNotBoot => Some(Level::Bad),
        BootOutcome::BootsOnSome | BootOutcome::Undetermined => Some(Level::Warn),
        BootOutcome::Unknown => None,
    }
}

fn table(cluster: &ClusterMatrix, rows: &[&Image], legend: &mut Legend) -> Table {
    let mut row = |image: &&Image| {
        let cells: Vec<TableCell> =
            image.cells.iter().map(|c| cell(c, legend.cell(c.state.words().0, &word(c)))).collect();
        let is_word = matches!(image.plain.state, State::Covered | State::Missing);
        let plain = plain_word(&image.plain);
        let plain = if is_word { plain } else { legend.cell(image.plain.state.words().0, &plain) };
        let plain = cell(&image.plain, plain);
        std::iter::once(name(cluster, image).into()).chain(cells).chain([plain]).collect()
    };
    Table {
        caption: "golden images by architecture".to_owned(),
        header: header(cluster, "golden image", "plain name"),
        rows: rows.iter().map(&mut row).collect(),
        sortable: false,
    }
}

fn cell(cell: &Cell, word: String) -> TableCell {
    let level = level_of(cell.state);
    TableCell { text: word.into(), level, reason: level.filter(|l| *l < Level::Calm).map(|_| cell.reason.sentence()) }
}

fn level_of(state: State) -> Option<Level> {
    match state {
        State::Covered => Some(Level::Good),
        State::Wrong | State::Undetermined | State::Unknown => Some(Level::Warn),
        State::Missing => Some(Level::Bad),
        State::Undeclared | State::Off | State::External | State::Unneeded => None,
    }
}

/// The signs used in a cluster's tables, with their words; `None` where cells have the words.
struct Legend(Option<BTreeMap<&'static str, String>>);

impl Legend {
    /// A cell's content.
    fn cell(&mut self, sign: &'static str, word: &str) -> String {
        match &mut self.0 {
            Some(signs) => {
                // The architecture that a cell gets differs.
                let word = match word {
                    "-" => "not there",
                    _ if sign == "x" => "another architecture",
                    _ => word,
                };
                signs.entry(sign).or_insert_with(|| word.to_owned());
                sign.to_string()
            }
            None => word.to_owned(),
        }
    }

    fn line(self) -> Option<Text> {
        let signs = self.0.filter(|signs| !signs.is_empty())?;
        let one = |(sign, word): (&str, String)| Text::new().strong(sign).soft(format!(" {word}"));
        Some(Text::join(signs.into_iter().map(one), "   "))
    }
}
