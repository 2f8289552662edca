//! For people: the verdict, what follows, what changes, which findings come; the worst first.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::super::plural;
use super::super::text::{printable, wrap_lines};
use super::{Changes, brief_both, places, shown_pair};
use crate::diff::Kind;
use crate::diff::semantic::{EffectTime, Impact};
use crate::finding::{Finding, Severity};
use crate::review::{Entry, FieldLine, FindingLine, Group, InputDifference, Level, ObjectLine, Review, clusters, list};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// From this width on, the values before and after stand side by side.
const WIDE: usize = 120;

/// Fields of one object that are shown; the rest is counted.
const MOST_FIELDS: usize = 40;

/// Names that a line lists; the rest is counted.
const MOST_NAMES: usize = 4;

pub(super) fn write(changes: &Changes<'_>, out: &mut dyn Write) -> io::Result<()> {
    let review = changes.review();
    let printer = Printer { changes, review: &review };
    printer.verdict(out)?;
    printer.entries(out)?;
    for group in &review.groups {
        printer.group(group, out)?;
    }
    printer.findings(out)?;
    printer.rest(out)?;
    writeln!(out, "\n{BOLD}{}{BOLD:#}", review.totals())
}

/// An upgrade: a checklist, and what is known of the rest.
pub(super) fn write_upgrade(
    changes: &Changes<'_>,
    review: &Review<'_>,
    title: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let printer = Printer { changes, review };
    writeln!(out, "{BOLD}{title}{BOLD:#}")?;
    printer.verdict(out)?;
    if review.is_alike()
        && review.compared > 1
        && let Some(first) = review.entries.first()
    {
        printer.line(out, 2, &clusters(&first.clusters))?;
    }
    for (title, entries) in review.checklist() {
        if entries.is_empty() {
            continue;
        }
        writeln!(out, "\n{BOLD}{title}{BOLD:#}")?;
        for entry in entries {
            printer.entry(entry, out)?;
        }
    }
    printer.findings(out)?;
    writeln!(out, "\n{DIM}{}{DIM:#}", review.totals())
}

struct Printer<'a> {
    changes: &'a Changes<'a>,
    review: &'a Review<'a>,
}

impl Printer<'_> {
    fn verdict(&self, out: &mut dyn Write) -> io::Result<()> {
        let (style, sign) = match self.review.level {
            Level::Bad => (RED, '✗'),
            Level::Warn => (YELLOW, '!'),
            Level::Calm => (CYAN, '~'),
            Level::Good => (GREEN, '✓'),
        };
        let sign = match (self.changes.terminal.unicode, sign) {
            (false, '✗') => 'x',
            (false, '✓') => '=',
            (_, sign) => sign,
        };
        let verdict = self.review.verdict();
        writeln!(out, "{style}{sign}{style:#} {BOLD}{}{BOLD:#}", printable(&verdict))?;
        let (left, right) = (self.changes.left, self.changes.right);
        writeln!(out, "  {DIM}from {} to {}{DIM:#}", printable(left), printable(right))
    }

    /// What follows, the worst first. Where everything has one cause and happens in the same clusters,
    /// that is said once.
    fn entries(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(cause) = self.review.only_cause() {
            self.because(std::slice::from_ref(cause), 2, out)?;
        }
        if self.review.is_alike()
            && self.review.compared > 1
            && let Some(first) = self.review.entries.first()
        {
            self.line(out, 2, &clusters(&first.clusters))?;
        }
        for (title, entries) in self.review.parts() {
            if entries.is_empty() {
                continue;
            }
            writeln!(out, "\n{BOLD}{title}{BOLD:#}")?;
            for entry in entries {
                self.entry(entry, out)?;
            }
        }
        Ok(())
    }

    fn entry(&self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        let effect = &entry.effect;
        let style = match Level::of(effect) {
            Level::Bad => RED,
            Level::Warn => YELLOW,
            Level::Calm => CYAN,
            Level::Good => GREEN,
        };
        let head = match entry.releases.as_slice() {
            [] => effect.impact.title().to_owned(),
            releases => format!("{} {}", releases.join(", "), effect.impact.title()),
        };
        self.wrapped(out, style, &head, &entry.sentence(MOST_NAMES))?;
        if self.review.compared > 1 && !self.review.is_alike() {
            self.line(out, 4, &clusters(&entry.clusters))?;
        }
        if effect.when != EffectTime::Now {
            self.line(out, 4, &format!("when: {}", effect.when.as_str()))?;
        }
        if let Some(action) = &effect.action {
            self.line(out, 4, &format!("do: {action}"))?;
        }
        match (entry.because.as_slice(), &effect.place) {
            ([], Some(place)) => {
                writeln!(out, "    {DIM}at {}{DIM:#}", self.changes.place(place))
            }
            // Of a change of release the note's own line says more.
            ([_], Some(place)) if effect.impact == Impact::Stops => {
                writeln!(out, "    {DIM}at {}{DIM:#}", self.changes.place(place))
            }
            _ if self.review.only_cause().is_some() => Ok(()),
            (because, _) => self.because(because, 4, out),
        }
    }

    fn because(&self, because: &[InputDifference<'_>], indent: usize, out: &mut dyn Write) -> io::Result<()> {
        const MOST: usize = 3;
        for one in because.iter().take(MOST) {
            let was = if one.gone { "formerly at" } else { "at" };
            let place = places(self.changes, one);
            let place = place.map_or(String::new(), |p| format!(" {was} {p}"));
            let what = printable(one.what);
            writeln!(out, "{:indent$}{DIM}because of {what}{place}{DIM:#}", "")?;
        }
        match because.len().checked_sub(MOST).filter(|more| *more > 0) {
            Some(more) => writeln!(out, "{:indent$}{DIM}and of {}{DIM:#}", "", plural(more, "more difference")),
            None => Ok(()),
        }
    }

    fn group(&self, group: &Group<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Some(first) = group.clusters.first() else {
            return Ok(());
        };
        let moved = first.moved_from.as_ref().filter(|_| group.clusters.len() == 1);
        if group.lines.is_empty() && moved.is_none() {
            return Ok(());
        }
        let note = match (first.whole, moved) {
            (Some(Kind::Add), _) if first.refused_before.is_some() => " (as a new one)".to_owned(),
            (Some(Kind::Add), _) => " (new)".to_owned(),
            (Some(Kind::Remove), _) => " (no longer there)".to_owned(),
            (_, Some(from)) => format!(" (before at {from})"),
            _ => String::new(),
        };
        let names: Vec<&str> = group.clusters.iter().map(|c| &*c.cluster).collect();
        let title = match names.as_slice() {
            [one] => (*one).to_owned(),
            many => format!("{} clusters: {}", many.len(), many.join(", ")),
        };
        writeln!(out)?;
        for line in wrap_lines(&printable(&format!("{title}{note}")), self.width()) {
            writeln!(out, "{BOLD}{line}{BOLD:#}")?;
        }
        if let Some(kind) = first.whole {
            return self.counted(kind, group, out);
        }
        for line in &group.lines {
            self.object(line, out)?;
        }
        Ok(())
    }

    fn object(&self, line: &ObjectLine<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (style, sign) = match line.kind {
            Kind::Add => (GREEN, '+'),
            Kind::Change => (YELLOW, '~'),
            Kind::Remove => (RED, '-'),
        };
        let namespace = line.namespace.map_or(String::new(), |n| format!("{n}/"));
        let title = match line.names.as_slice() {
            [one] => format!("{} {namespace}{one}", line.object_kind),
            many => format!("{} {} {namespace}… {}", many.len(), line.object_kind, list(many, MOST_NAMES)),
        };
        let instead = match line.instead_of.as_slice() {
            [] => String::new(),
            [one] => format!(" in the place of {one}"),
            _ => " each in the place of one without the architecture in its name".to_owned(),
        };
        let text = format!("{title}{instead}");
        for (i, part) in wrap_lines(&printable(&text), self.width().saturating_sub(6)).iter().enumerate() {
            match i {
                0 => writeln!(out, "  {style}{sign}{style:#} {part}")?,
                _ => writeln!(out, "      {part}")?,
            }
        }
        if line.kind != Kind::Change {
            return self.because(&line.because, 6, out);
        }
        for (index, field) in line.fields.iter().take(MOST_FIELDS).enumerate() {
            self.field(field, out)?;
            // A cause that the next field shares is told once, below the last.
            let next = line.fields.get(index + 1).filter(|_| index + 1 < MOST_FIELDS);
            let what = |f: &FieldLine<'_>| f.because.iter().map(|b| b.what.to_owned()).collect::<Vec<_>>();
            if next.is_none_or(|next| what(next) != what(field)) {
                self.because(&field.because, 8, out)?;
            }
        }
        if let Some(more) = line.fields.len().checked_sub(MOST_FIELDS).filter(|n| *n > 0) {
            writeln!(out, "      {DIM}… and {more} more fields{DIM:#}")?;
        }
        Ok(())
    }

    fn field(&self, field: &FieldLine<'_>, out: &mut dyn Write) -> io::Result<()> {
        let label = printable(&field.label);
        let width = self.width().max(60);
        let arrow = if self.changes.terminal.unicode { '→' } else { '>' };
        let mark = if field.grave { format!("{RED}!{RED:#}") } else { " ".to_owned() };
        let each = if field.varies { " (each its own)" } else { "" };
        if field.before.is_none() && field.after.is_none() {
            return writeln!(out, "    {mark} {label}{each}");
        }
        let (before, after) = shown_pair(field.path, field.before, field.after);
        let (before, after) = (before.as_ref(), after.as_ref());
        if width >= WIDE {
            // Three columns: the place, before, after.
            let column = (width - 10) / 4;
            let (before, after) = brief_both(before, after, column - 2);
            let room = 2 * column;
            return writeln!(
                out,
                "    {mark} {label:<room$} {RED}{before:<column$}{RED:#} {GREEN}{after}{GREEN:#}{each}"
            );
        }
        let room = width.saturating_sub(14) / 2;
        let (before, after) = brief_both(before, after, room);
        let line = match (field.before, field.after) {
            (None, _) => format!("{GREEN}+ {after}{GREEN:#}{each}"),
            (_, None) => format!("{RED}- {before}{RED:#}{each}"),
            _ => format!("{RED}{before}{RED:#} {arrow} {GREEN}{after}{GREEN:#}{each}"),
        };
        let values = before.chars().count() + after.chars().count() + each.len();
        if label.chars().count() + values + 14 <= width {
            writeln!(out, "    {mark} {label}: {line}")
        } else {
            writeln!(out, "    {mark} {label}:\n        {line}")
        }
    }

    /// Clusters that come or go as a whole.
    fn counted(&self, kind: Kind, group: &Group<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut counts = BTreeMap::<&str, usize>::new();
        for line in &group.lines {
            *counts.entry(line.object_kind).or_default() += line.names.len();
        }
        let total: usize = counts.values().sum();
        let all: Vec<String> = counts
            .iter()
            .map(|(kind, count)| match count {
                1 => (*kind).to_owned(),
                n => format!("{n} {kind}"),
            })
            .collect();
        let (style, sign) = match kind {
            Kind::Remove => (RED, "-"),
            _ => (GREEN, "+"),
        };
        let each = if group.clusters.len() > 1 { " each" } else { "" };
        let text = format!("{total} objects{each}: {}", all.join(", "));
        for (i, line) in wrap_lines(&text, self.width().saturating_sub(6)).iter().enumerate() {
            match i {
                0 => writeln!(out, "  {style}{sign}{style:#} {line}")?,
                _ => writeln!(out, "    {line}")?,
            }
        }
        Ok(())
    }

    fn findings(&self, out: &mut dyn Write) -> io::Result<()> {
        let (added, removed) = (&self.review.added, &self.review.removed);
        let standing = self.review.shown_again();
        if added.is_empty() && removed.is_empty() && standing.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{BOLD}Findings{BOLD:#}")?;
        for finding in standing {
            let place = finding.location.as_ref().map(|p| self.changes.place(p));
            let place = place.map_or(String::new(), |p| format!(" ({p})"));
            let style = match finding.severity {
                Severity::Error => RED,
                Severity::Warning => YELLOW,
                Severity::Info => CYAN,
            };
            let head = format!("{}[{}]", finding.severity.as_str(), finding.rule.name);
            self.wrapped(out, style, &head, &format!("{}{place}", finding.message))?;
        }
        let added = added.iter().map(|line| (true, line));
        let removed = removed.iter().map(|line| (false, line));
        for (is_new, line) in added.chain(removed) {
            self.finding(is_new, line, out)?;
        }
        Ok(())
    }

    fn finding(&self, is_new: bool, line: &FindingLine<'_>, out: &mut dyn Write) -> io::Result<()> {
        let finding = line.finding;
        let (style, word) = match (is_new, finding.severity) {
            (false, _) => (GREEN, "gone"),
            (true, Severity::Error) => (RED, "new"),
            (true, Severity::Warning) => (YELLOW, "new"),
            (true, Severity::Info) => (CYAN, "new"),
        };
        let place = finding.location.as_ref().filter(|_| is_new);
        let others = line.clusters.len().saturating_sub(1);
        let place = match (place.map(|p| self.changes.place(p)), others) {
            (Some(place), 0) => format!(" ({place})"),
            (Some(place), n) => format!(" ({place} and {n} more)"),
            (None, 0) => String::new(),
            (None, _) => format!(" ({})", clusters(&line.clusters)),
        };
        let (severity, rule) = (finding.severity.as_str(), finding.rule.name);
        let head = format!("{word} {severity}[{rule}]");
        self.wrapped(out, style, &head, &format!("{}{place}", finding.message))
    }

    /// Findings that were there before, counted, but for those that stand above.
    fn rest(&self, out: &mut dyn Write) -> io::Result<()> {
        let shown = self.review.shown_again();
        let of = |severity| {
            let of = |findings: &[&Finding]| {
                let of = findings.iter().filter(|f| f.severity == severity);
                of.count()
            };
            of(&self.review.standing) - of(&shown)
        };
        let (warnings, infos) = (of(Severity::Warning), of(Severity::Info));
        if warnings + infos == 0 {
            return Ok(());
        }
        let count = |n: usize, name: &str| (n > 0).then(|| plural(n, name));
        // `info` has no plural.
        let infos = (infos > 0).then(|| format!("{infos} info"));
        let parts: Vec<String> = [count(warnings, "warning"), infos].into_iter().flatten().collect();
        let text = format!("besides {}, which `hcoplan lint` shows", parts.join(" and "));
        writeln!(out)?;
        self.line(out, 0, &text)
    }

    fn width(&self) -> usize {
        self.changes.terminal.width.max(40)
    }

    /// A painted head and a text behind it, broken at the terminal's edge.
    fn wrapped(&self, out: &mut dyn Write, style: Style, head: &str, text: &str) -> io::Result<()> {
        let text = printable(text);
        let room = self.width().saturating_sub(4);
        let lines = wrap_lines(&format!("{head}: {text}"), room);
        for (i, line) in lines.iter().enumerate() {
            match line.strip_prefix(head).filter(|_| i == 0) {
                Some(rest) => writeln!(out, "  {style}{head}{style:#}{rest}")?,
                None => writeln!(out, "    {line}")?,
            }
        }
        Ok(())
    }

    fn line(&self, out: &mut dyn Write, indent: usize, text: &str) -> io::Result<()> {
        for line in wrap_lines(&printable(text), self.width().saturating_sub(indent)) {
            writeln!(out, "{:indent$}{line}", "")?;
        }
        Ok(())
    }
}
