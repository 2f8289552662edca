//! The matrix as a section of a page; a page of its own has no other.

use maud::{Markup, html};

use super::{MatrixPage, PAIRS, about, external, machine_word, machine_words, name, plain_word, reasons, totals, word};
use crate::boot::{self, Outcome};
use crate::matrix::{Cell, ClusterMatrix, Group, Image, MachineRow, State, counts, groups};
use crate::report::page::{self, PageHeader, Section, SeverityColour, folded};
use crate::report::text::printable;
use crate::report::{plural, sarif};

/// Names of clusters that are shown of a group.
const NAMES: usize = 6;

pub(super) fn page(page: &MatrixPage<'_>) -> String {
    let counted = counts(page.clusters);
    let wanted = counted.wanted();
    let lead = PageHeader {
        source: html! {},
        tone: match counted {
            c if c.missing > 0 || c.obstructed > 0 => SeverityColour::Bad,
            c if c.wrong + c.undetermined + c.unknown + c.dangling > 0 => SeverityColour::Warn,
            _ => SeverityColour::Good,
        },
        verdict: if counted.covered == wanted && counted.with_problems == 0 {
            "Every golden image is there".to_owned()
        } else {
            format!("{} of {wanted} {PAIRS} covered", counted.covered)
        },
        sentence: match counted.with_problems {
            0 => format!("in {}.", plural(counted.clusters, "cluster")),
            n => format!("{n} of {} with problems.", plural(counted.clusters, "cluster")),
        },
        figures: Vec::new(),
        content: maud::html! {},
    };
    let sections = [Section { anchor: "matrix", name: "Golden images", count: None, content: section(page) }];
    page::page("hcoplan matrix", &lead, &sections)
}

/// The section of a page that shows the matrix.
pub(in crate::report) fn section(page: &MatrixPage<'_>) -> Markup {
    let mut groups = groups(page.clusters);
    groups.retain(|g| page.shows(g.first));
    // What is wrong comes first; else the order stays.
    groups.sort_by_key(|g| !g.first.is_problem());
    html! {
        p.totals { (totals(page.clusters)) }
        @for group in &groups { (one(page, group)) }
    }
}

fn one(page: &MatrixPage<'_>, group: &Group<'_>) -> Markup {
    let first = group.first;
    let rows = page.rows(first);
    let machines = page.machines(first);
    let by_hand = external(first);
    html! {
        article {
            header { h3 { (title(group)) } p { (about(group)) } }
            (more_names(group))
            @if let Some(obstacle) = &first.obstacle {
                p.(if obstacle.is_problem() { "bad" } else { "soft" }) {
                    (printable(&obstacle.sentence()))
                }
            } @else {
                @if !machines.is_empty() { (machine_table(first, &machines)) }
                @if !rows.is_empty() { (table(first, &rows)) }
                (whys(first, &rows))
            }
            @if !by_hand.is_empty() && !page.problems {
                details.more {
                    summary { (plural(by_hand.len(), "DataSource")) " without an import, to be filled by hand" }
                    p { (printable(&by_hand.join(", "))) }
                }
            }
        }
    }
}

fn title(group: &Group<'_>) -> String {
    match &group.clusters[..] {
        [only] => printable(&only.cluster).into_owned(),
        all => format!("{} alike", plural(all.len(), "cluster")),
    }
}

fn more_names(group: &Group<'_>) -> Markup {
    if group.clusters.len() < 2 {
        return html! {};
    }
    let names = group.clusters.iter().map(|c| printable(&c.cluster));
    let names: Vec<Markup> = names.map(|n| html! { (n) }).collect();
    folded(&names, NAMES, "clusters")
}

fn table(cluster: &ClusterMatrix, rows: &[&Image]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="golden images by architecture" {
            table.matrix {
                thead { tr {
                    th scope="col" { "golden image" }
                    @for architecture in &cluster.architectures {
                        th scope="col" { (printable(&architecture.name)) }
                    }
                    th scope="col" { "plain name leads to" }
                } }
                tbody { @for image in rows {
                    tr {
                        th scope="row" { (printable(&name(cluster, image))) }
                        @for cell in &image.cells { td { (state(cell, &word(cell), "word")) } }
                        td { (state(&image.plain, &plain_word(&image.plain), "name")) }
                    }
                } }
            }
        }
    }
}

fn machine_table(cluster: &ClusterMatrix, machines: &[&MachineRow]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="virtual machines by architecture" {
            table.matrix {
                thead { tr {
                    th scope="col" { "virtual machine" }
                    @for architecture in &cluster.architectures {
                        th scope="col" { (printable(&architecture.name)) }
                    }
                    th scope="col" { "boots from" }
                } }
                tbody { @for machine in machines {
                    tr {
                        th scope="row" { (printable(&machine.name)) }
                        @for cell in &machine.cells { td { (machine_state(cell.as_ref())) } }
                        td { (printable(&machine.source)) }
                    }
                } }
            }
        }
        ul.places { @for machine in machines.iter().filter(|m| m.cause.is_some()) {
            li { (printable(&machine.name)) ": " (printable(&machine_words(machine))) br; small { (printable(&machine.place)) } }
        } }
    }
}

fn machine_state(cell: Option<&boot::Cell>) -> Markup {
    let (class, sign) = match cell.map(|cell| cell.outcome) {
        Some(Outcome::Boots) => ("good", "✓"),
        Some(Outcome::DoesNotBoot) => ("bad", "✕"),
        Some(_) => ("warn", "?"),
        None => ("none", "·"),
    };
    html! { span.state.(class) { span aria-hidden="true" { (sign) } " " span.word { (machine_word(cell)) } } }
}

/// A sign and a word; a phone shows the sign alone where all is well.
fn state(cell: &Cell, word: &str, class_of_word: &str) -> Markup {
    let (class, sign) = match cell.state {
        State::Covered => ("good", "✓"),
        State::Wrong => ("warn", "▲"),
        State::Undetermined | State::Unknown => ("warn", "?"),
        State::Missing => ("bad", "✕"),
        State::Off | State::External | State::Unneeded => ("none", "·"),
    };
    html! {
        span.state.(class) title=(printable(&cell.reason.sentence())) {
            span aria-hidden="true" { (sign) } " " span.(class_of_word) { (printable(word)) }
        }
    }
}

fn whys(cluster: &ClusterMatrix, rows: &[&Image]) -> Markup {
    let reasons = reasons(cluster, rows);
    html! {
        @if !reasons.is_empty() {
            ul.places { @for why in &reasons {
                li {
                    b.(tone(why.cell.state)) { (printable(&why.what())) }
                    ": " (printable(&why.sentence()))
                    @if let Some(rule) = why.cell.reason.rule() {
                        " (" a href=(sarif::page(rule)) rel="noreferrer" { (rule) } ")"
                    }
                    br;
                    small { (printable(&why.images(rows.len()))) }
                }
            } }
        }
    }
}

fn tone(state: State) -> &'static str {
    match state {
        State::Missing => "bad",
        State::Wrong | State::Undetermined | State::Unknown => "warn",
        _ => "soft",
    }
}
