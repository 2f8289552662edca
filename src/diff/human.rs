//! The changes for people: one line an object, the lines that differ below it.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::compare::{Change, ClusterChanges, Kind, Totals};
use super::hunks::hunks;

/// Where a list of kinds is broken.
const WIDTH: usize = 88;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// Writes a cluster's changes; nothing where there are none. With colour: whoever gives the
/// writer strips it where nobody wants it.
///
/// # Errors
/// What the writer says.
pub fn write_cluster(out: &mut dyn Write, cluster: &ClusterChanges) -> io::Result<()> {
    if cluster.changes.is_empty() {
        return Ok(());
    }
    let note = match cluster.whole {
        Some(Kind::Add) => ", a new cluster",
        Some(Kind::Remove) => ", no longer there",
        _ => "",
    };
    writeln!(out, "{BOLD}{}{BOLD:#}{DIM}{note}{DIM:#}", cluster.cluster)?;
    if let Some(kind) = cluster.whole {
        write_counts(out, kind, &cluster.changes)?;
        return writeln!(out);
    }
    for change in &cluster.changes {
        let (style, sign) = (style(change.kind), change.kind.sign());
        writeln!(out, "  {style}{sign}{style:#} {}", change.id)?;
        if let (Some(before), Some(after)) = (&change.before, &change.after) {
            write_hunks(out, before, after)?;
        }
    }
    writeln!(out)
}

const fn style(kind: Kind) -> Style {
    match kind {
        Kind::Add => GREEN,
        Kind::Change => YELLOW,
        Kind::Remove => RED,
    }
}

/// A cluster that comes or goes as a whole, by the number of its objects of each kind: their
/// names say nothing that the tree would not.
fn write_counts(out: &mut dyn Write, kind: Kind, changes: &[Change]) -> io::Result<()> {
    let mut counts = Vec::<(&str, usize)>::new();
    for change in changes {
        let name = change.id.kind.as_str();
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let (style, sign) = (style(kind), kind.sign());
    let mut line = format!("{} objects:", changes.len());
    let mut margin = format!("  {style}{sign}{style:#} ");
    for (i, (name, count)) in counts.iter().enumerate() {
        let word = match count {
            1 => (*name).to_owned(),
            n => format!("{n} {name}"),
        };
        let end = if i + 1 == counts.len() { "" } else { "," };
        if line.len() + word.len() > WIDTH {
            writeln!(out, "{margin}{line}")?;
            (margin, line) = ("    ".to_owned(), format!("{word}{end}"));
        } else {
            line.push_str(&format!(" {word}{end}"));
        }
    }
    writeln!(out, "{margin}{line}")
}

fn write_hunks(out: &mut dyn Write, before: &str, after: &str) -> io::Result<()> {
    for hunk in hunks(before, after) {
        if !hunk.path.is_empty() {
            writeln!(out, "      {CYAN}{}{CYAN:#}", hunk.path)?;
        }
        for (sign, line) in &hunk.lines {
            let style = match sign {
                '+' => GREEN,
                '-' => RED,
                _ => Style::new(),
            };
            writeln!(out, "    {style}{sign} {line}{style:#}")?;
        }
    }
    Ok(())
}

/// Writes `3 to add, 1 to change, 0 to remove in 1 of 3 clusters`, without a line break.
///
/// # Errors
/// What the writer says.
pub fn write_totals(out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
    let Totals {
        add,
        change,
        remove,
        changed_clusters,
        clusters,
    } = totals;
    let noun = if *clusters == 1 {
        "cluster"
    } else {
        "clusters"
    };
    write!(
        out,
        "{BOLD}{add} to add, {change} to change, {remove} to remove{BOLD:#} \
         in {changed_clusters} of {clusters} {noun}"
    )
}
