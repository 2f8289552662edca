//! For people: what is wrong, the lines that it is about, what will happen and what to do.
//!
//! The excerpts are miette's; the words around them are ours, so that the rule's name stands in
//! the first line and a finding of several files reads as one.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Ansi};
use camino::Utf8Path;
use miette::{GraphicalReportHandler, GraphicalTheme, ThemeCharacters};

use super::excerpt::{Excerpt, SpanLabel, by_file};
use super::same_findings::{Alike, group_alike};
use super::text::{printable, wrap_lines};
use super::{Report, join, sarif};
use crate::finding::{Applicability, Finding, Severity};
use crate::review;

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Whether colours are shown.
    pub color: bool,
    /// Whether characters beyond ASCII are shown.
    pub unicode: bool,
    /// Whether links (OSC 8) are shown.
    pub links: bool,
    /// Columns.
    pub width: usize,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { color: false, unicode: true, links: false, width: 100 }
    }
}

/// Of a finding's further places, so many are drawn: who has more has read enough.
const MOST_RELATED: usize = 32;

/// Of the places where other clusters have the same finding, so many are named.
const MOST_ALIKE: usize = 3;

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let printer = Printer { report, style: report.terminal };
    for group in &group_alike(report.findings) {
        if !group.all(|f| report.is_folded(f)) {
            printer.finding(group, out)?;
            writeln!(out)?;
        }
    }
    if let Some(folded) = report.folded() {
        for line in wrap_lines(&printable(&folded), report.terminal.width.max(40)) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", report.totals())
}

struct Printer<'a> {
    report: &'a Report<'a>,
    style: Terminal,
}

impl Printer<'_> {
    fn finding(&self, group: &Alike<'_>, out: &mut dyn Write) -> io::Result<()> {
        let finding = group.first;
        let severity = finding.severity.as_str();
        let color = match finding.severity {
            Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::Cyan,
        };
        let name = finding.rule.name;
        let width = self.style.width.max(40);
        let message = printable(&finding.message);
        // The first line begins behind severity and rule, the others are indented.
        let (first, rest) = split(&message, width.saturating_sub(severity.len() + name.len() + 4));
        let link = self.linked(&sarif::page(name), name);
        let severity = self.painted(severity, Ansi::new().fg_color(Some(color.into())).bold());
        let bold = Ansi::new().bold();
        writeln!(out, "{severity}[{link}]: {}", self.painted(first, bold))?;
        for line in rest.map(|rest| wrap_lines(rest, width - 2)).into_iter().flatten() {
            writeln!(out, "  {}", self.painted(line, bold))?;
        }
        self.excerpts(finding, out)?;
        self.notes(group, out)
    }

    fn excerpts(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        let mut marks = Vec::new();
        if let Some(place) = &finding.location {
            marks.push(SpanLabel {
                place,
                label: finding.label.as_deref().unwrap_or_default().to_owned(),
                primary: true,
            });
        }
        marks.extend(finding.related.iter().take(MOST_RELATED).map(|r| SpanLabel {
            place: &r.location,
            label: r.message.clone(),
            primary: false,
        }));
        draw(marks, self.report.root, self.style, out)?;
        match finding.related.len().saturating_sub(MOST_RELATED) {
            0 => Ok(()),
            more => {
                let text = format!("{more} further, which `--format json` names");
                self.note("places", &text, out)
            }
        }
    }

    fn notes(&self, group: &Alike<'_>, out: &mut dyn Write) -> io::Result<()> {
        let finding = group.first;
        if let Some(names) = group.shared_by() {
            // What begins with their number needs no other name.
            let (count, names) = match names.split_once(" clusters: ") {
                Some((count, names)) => (format!("{count} clusters"), names),
                None => ("clusters".to_owned(), &*names),
            };
            self.note(&count, &printable(names), out)?;
        } else if let Some(cluster) = &finding.cluster
            && (self.report.summary.clusters > 1 || finding.location.is_none())
        {
            self.note("cluster", &printable(cluster), out)?;
        }
        let place = |f: &Finding| {
            let place = f.location.as_ref()?;
            let (path, start) = (join(self.report.root, place.file.path()), place.start());
            Some(format!("{path}:{}:{}", start.line, start.column))
        };
        // What several clusters are built of is one place.
        let mut known: BTreeSet<String> = place(finding).into_iter().collect();
        let others = group.others.iter().filter_map(|f| place(f));
        let places: Vec<String> = others.filter(|p| known.insert(p.clone())).collect();
        if !places.is_empty() {
            let shown = review::list(&places, MOST_ALIKE);
            self.note("also at", &printable(&shown), out)?;
        }
        if let Some((name, runbook)) = finding.alert() {
            let alert = if self.style.links { self.linked(runbook, name) } else { format!("{name} ({runbook})") };
            self.note("alert", &alert, out)?;
        }
        if let Some(revision) = &self.report.summary.compared_with
            && group.all(|f| f.is_existing)
        {
            self.note("before", &printable(&format!("{revision} has it, too")), out)?;
        }
        if let Some(what) = finding.consequence() {
            self.note("consequence", what, out)?;
        }
        if let Some(help) = &finding.help {
            self.note("help", &printable(help), out)?;
        }
        for fix in &finding.fixes {
            let how = match fix.applicability {
                Applicability::Safe => " (hcoplan fix --write)",
                Applicability::Unsafe => " (hcoplan fix --write --unsafe)",
                Applicability::Suggestion => "",
            };
            self.note("fix", &format!("{}{how}", printable(&fix.title)), out)?;
        }
        if let Some(why) = &finding.not_fixed {
            self.note("no fix", &printable(why), out)?;
        }
        Ok(())
    }

    fn note(&self, name: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let color = Ansi::new().fg_color(Some(AnsiColor::Cyan.into()));
        let indent = name.len() + 6;
        let width = self.style.width.saturating_sub(indent).max(40);
        for (i, line) in wrap_lines(text, width).iter().enumerate() {
            match i {
                0 => writeln!(out, "  = {}: {line}", self.painted(name, color))?,
                _ => writeln!(out, "{:indent$}{line}", "")?,
            }
        }
        Ok(())
    }

    fn painted(&self, text: impl Display, style: Ansi) -> String {
        if self.style.color { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    fn linked(&self, address: &str, text: &str) -> String {
        if self.style.links { format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\") } else { text.to_owned() }
    }
}

/// Draws the lines around places, file by file; `root` is what the files' paths count from.
pub(super) fn draw(marks: Vec<SpanLabel<'_>>, root: &Utf8Path, style: Terminal, out: &mut dyn Write) -> io::Result<()> {
    for group in by_file(marks) {
        let file = group.first().map(|m| &m.place.file);
        let name = file.map(|f| join(root, f.path())).unwrap_or_default();
        let room = style.width.saturating_sub(10);
        let Some(excerpt) = Excerpt::new(name.as_str(), &group, room) else {
            continue;
        };
        // Without miette's first line: that is the message, which stands above.
        let mut drawn = String::new();
        let drawing = handler(style).render_report(&mut drawn, &excerpt);
        drawing.map_err(|_| io::Error::other("an excerpt can't be drawn"))?;
        for line in drawn.lines().skip(1).filter(|l| !l.trim().is_empty()) {
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

fn handler(style: Terminal) -> GraphicalReportHandler {
    let mut theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    if !style.unicode {
        theme.characters = ThemeCharacters::ascii();
    }
    GraphicalReportHandler::new_themed(theme)
        .with_width(style.width.max(40))
        .with_context_lines(1)
        .with_links(false)
        .without_syntax_highlighting()
}

/// What fits into `width` characters, at least a word, and what is left.
fn split(text: &str, width: usize) -> (&str, Option<&str>) {
    if text.chars().count() <= width {
        return (text, None);
    }
    let blanks = text.char_indices().enumerate().filter(|(_, (_, c))| *c == ' ');
    let mut at = None;
    for (column, (offset, _)) in blanks {
        if column > width && at.is_some() {
            break;
        }
        at = Some(offset);
    }
    match at.and_then(|at| text.split_at_checked(at)) {
        Some((first, rest)) => (first, Some(rest)),
        None => (text, None),
    }
}
