//! Tables for a terminal: clusters that are alike share one; where it is too narrow for a table,
//! an image a line.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{MatrixPage, about, external, machine_word, machine_words, name, plain_word, reasons, totals, word};
use crate::boot::Outcome;
use crate::matrix::{Cell, ClusterMatrix, Group, Image, MachineRow, State, groups};
use crate::report::plural;
use crate::report::text::{printable, wrap_lines};

/// Names of clusters that are shown of a group.
const MOST_NAMES: usize = 6;

/// Blanks between columns.
const GAP: usize = 2;

const PLAIN: &str = "plain name";

pub(super) fn write(page: &MatrixPage<'_>, out: &mut dyn Write) -> io::Result<()> {
    let printer = Printer { page };
    for group in groups(page.clusters) {
        if page.shows(group.first) {
            printer.group(&group, out)?;
            writeln!(out)?;
        }
    }
    printer.lines(&totals(page.clusters), 0, Style::new(), out)
}

struct Printer<'a> {
    page: &'a MatrixPage<'a>,
}

/// A cell as it is printed.
type Field = (String, Option<Style>);

impl Printer<'_> {
    fn group(&self, group: &Group<'_>, out: &mut dyn Write) -> io::Result<()> {
        let first = group.first;
        self.lines(&title(group), 0, Style::new().bold(), out)?;
        let about = about(group);
        if !about.is_empty() {
            self.lines(&about, 2, Style::new().dimmed(), out)?;
        }
        if let Some(obstacle) = &first.obstacle {
            let style = if obstacle.is_problem() { color(AnsiColor::Red) } else { Style::new() };
            // A table would repeat it in each cell.
            return self.lines(&obstacle.sentence(), 2, style, out);
        }
        let machines = self.page.machines(first);
        if !machines.is_empty() {
            self.table(&machine_lines(first, &machines), out)?;
            for machine in machines.iter().filter(|m| m.cause.is_some()) {
                let text = format!("{} ({}): {}", machine.name, machine.place, machine_words(machine));
                self.lines(&text, 2, machine_style(machine.outcome), out)?;
            }
            writeln!(out)?;
        }
        let rows = self.page.rows(first);
        if !rows.is_empty() {
            self.table(&image_lines(first, &rows), out)?;
        }
        for why in reasons(first, &rows) {
            let what = printable(&why.what()).into_owned();
            let text = format!("{what}: {}", why.images(rows.len()));
            let room = self.page.terminal.width.max(40) - 4;
            for (index, line) in wrap_lines(&printable(&text), room).iter().enumerate() {
                let painted = line.strip_prefix(&what).filter(|_| index == 0);
                match painted {
                    Some(rest) => {
                        let what = self.painted(&what, style(why.cell.state));
                        writeln!(out, "  {what}{rest}")?;
                    }
                    None => writeln!(out, "    {line}")?,
                }
            }
            let rule = why.cell.reason.rule();
            let rule = rule.map(|r| format!(" [{r}]")).unwrap_or_default();
            let text = format!("{}{rule}", why.sentence());
            self.lines(&text, 4, Style::new(), out)?;
        }
        let by_hand = external(first);
        if !by_hand.is_empty() && !self.page.problems {
            let what = plural(by_hand.len(), "DataSource");
            let text = format!("{what} without an import, to be filled by hand: {}", by_hand.join(", "));
            self.lines(&text, 2, Style::new().dimmed(), out)?;
        }
        Ok(())
    }

    fn table(&self, lines: &[Vec<Field>], out: &mut dyn Write) -> io::Result<()> {
        let columns = lines.first().map_or(0, Vec::len);
        let widest = |column: usize| {
            let of = lines.iter().filter_map(|line| line.get(column));
            of.map(|(text, _)| text.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        let whole = widths.iter().sum::<usize>() + GAP * columns;
        if whole > self.page.terminal.width.max(40) {
            return self.stacked(lines, out);
        }
        for line in lines {
            let mut text = "  ".to_owned();
            for (index, ((cell, style), width)) in line.iter().zip(&widths).enumerate() {
                text.push_str(&self.painted(cell, style.unwrap_or_default()));
                if index + 1 < columns {
                    let fill = width.saturating_sub(cell.chars().count()) + GAP;
                    text.push_str(&" ".repeat(fill));
                }
            }
            writeln!(out, "{text}")?;
        }
        Ok(())
    }

    /// Without columns: `fedora` and below it what each column says.
    fn stacked(&self, lines: &[Vec<Field>], out: &mut dyn Write) -> io::Result<()> {
        let Some((header, rows)) = lines.split_first() else {
            return Ok(());
        };
        for row in rows {
            let mut cells = header.iter().zip(row);
            if let Some((_, (image, _))) = cells.next() {
                writeln!(out, "  {image}")?;
            }
            for ((column, _), (cell, style)) in cells {
                let cell = self.painted(cell, style.unwrap_or_default());
                writeln!(out, "    {column}: {cell}")?;
            }
        }
        Ok(())
    }

    fn lines(&self, text: &str, indent: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let width = self.page.terminal.width.max(40).saturating_sub(indent);
        for line in wrap_lines(&printable(text), width) {
            writeln!(out, "{:indent$}{}", "", self.painted(&line, style))?;
        }
        Ok(())
    }

    fn painted(&self, text: &str, style: Style) -> String {
        if self.page.terminal.color && style != Style::new() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// A table's header: what the rows are, the architectures, and what comes behind them.
fn header(cluster: &ClusterMatrix, rows: &str, last: &str) -> Vec<Field> {
    let names = cluster.architectures.iter().map(|a| printable(&a.name).replace('\u{fffd}', "?"));
    let all = [rows.to_owned()].into_iter().chain(names).chain([last.to_owned()]);
    all.map(|text| (text, Some(Style::new().dimmed()))).collect()
}

fn image_lines(cluster: &ClusterMatrix, rows: &[&Image]) -> Vec<Vec<Field>> {
    let mut lines = vec![header(cluster, "golden image", PLAIN)];
    lines.extend(rows.iter().map(|image| {
        let mut line = vec![(printable(&name(cluster, image)).into_owned(), None)];
        line.extend(image.cells.iter().map(field));
        line.push((plain_word(&image.plain), Some(style(image.plain.state))));
        line
    }));
    lines
}

fn machine_lines(cluster: &ClusterMatrix, machines: &[&MachineRow]) -> Vec<Vec<Field>> {
    let mut lines = vec![header(cluster, "virtual machine", "boots from")];
    lines.extend(machines.iter().map(|machine| {
        let mut line = vec![(printable(&machine.name).into_owned(), None)];
        line.extend(machine.cells.iter().map(|cell| {
            let style = cell.as_ref().map(|cell| machine_style(cell.outcome));
            (machine_word(cell.as_ref()).to_owned(), style)
        }));
        line.push((printable(&machine.source).into_owned(), None));
        line
    }));
    lines
}

fn machine_style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Boots => color(AnsiColor::Green),
        Outcome::DoesNotBoot => color(AnsiColor::Red).bold(),
        Outcome::BootsOnSome | Outcome::Undetermined => color(AnsiColor::Yellow).bold(),
        Outcome::Unknown => Style::new(),
    }
}

/// The clusters of a group: the first ones by name.
fn title(group: &Group<'_>) -> String {
    let names = group.clusters.iter().map(|c| c.cluster.as_str());
    let mut text = names.take(MOST_NAMES).collect::<Vec<_>>().join(", ");
    if let Some(more) = group.clusters.len().checked_sub(MOST_NAMES).filter(|n| *n > 0) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

fn field(cell: &Cell) -> Field {
    (printable(&word(cell)).into_owned(), Some(style(cell.state)))
}

fn color(color: AnsiColor) -> Style {
    color.on_default()
}

fn style(state: State) -> Style {
    match state {
        State::Covered => color(AnsiColor::Green),
        State::Missing => color(AnsiColor::Red).bold(),
        State::Wrong | State::Undetermined | State::Unknown => color(AnsiColor::Yellow).bold(),
        State::Off | State::External | State::Unneeded => Style::new().dimmed(),
    }
}
