//! For people: what it does first, then the objects, field by field.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::super::text::{printable, wrapped};
use super::{Changes, brief_both, causes, consequence, consequences, shown, shown_values};
use crate::diff::semantic::{Impact, ObjectChange};
use crate::diff::{ClusterDiff, Kind, VerdictChange};
use crate::finding::Severity;

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

pub(super) fn write(changes: &Changes<'_>, out: &mut dyn Write) -> io::Result<()> {
    for cluster in changes.clusters.iter().filter(|c| !c.is_empty()) {
        Printer { changes, cluster }.write(out)?;
    }
    writeln!(out, "{BOLD}{}{BOLD:#}", changes.totals())
}

struct Printer<'a> {
    changes: &'a Changes<'a>,
    cluster: &'a ClusterDiff,
}

impl Printer<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let cluster = self.cluster;
        let note = match (cluster.whole, &cluster.moved_from) {
            (Some(Kind::Add), _) => ", a new cluster".to_owned(),
            (Some(Kind::Remove), _) => ", no longer there".to_owned(),
            (_, Some(from)) => format!(", before at {from}"),
            _ => String::new(),
        };
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}{DIM}{note}{DIM:#}",
            printable(&cluster.cluster)
        )?;
        if let [_] = cluster.comparison.causes.as_slice() {
            self.cause(0, 2, out)?;
        }
        if let Some(broken) = &cluster.broken {
            let side = if broken.left {
                self.changes.left
            } else {
                self.changes.right
            };
            self.wrapped(
                out,
                RED,
                "not comparable",
                &format!("in {side}, {}", broken.why),
            )?;
        }
        self.verdicts(out)?;
        self.impacts(out)?;
        for note in &cluster.notes {
            let place = note.place.as_ref().map(|p| self.changes.place(p));
            self.wrapped(out, CYAN, note.kind.as_str(), &note.text)?;
            if let Some(help) = &note.help {
                self.line(out, 6, &format!("help: {help}"))?;
            }
            if let Some(place) = place {
                writeln!(out, "      {DIM}at {place}{DIM:#}")?;
            }
        }
        match cluster.whole {
            Some(kind) => self.counted(kind, out)?,
            None => {
                for change in shown(cluster) {
                    self.object(change, out)?;
                }
            }
        }
        self.findings(out)?;
        writeln!(out)
    }

    fn verdicts(&self, out: &mut dyn Write) -> io::Result<()> {
        let comparison = &self.cluster.comparison;
        let told: [(&str, &str, &Option<VerdictChange>); 3] = [
            ("refused", "accepted", &comparison.verdict),
            (
                "reconcile stops",
                "reconcile goes through",
                &comparison.reconcile,
            ),
            ("SSP refused", "SSP accepted", &comparison.ssp),
        ];
        for (bad, good, change) in told {
            match change {
                Some(VerdictChange {
                    after: Some(why), ..
                }) => self.wrapped(out, RED, bad, why)?,
                Some(VerdictChange {
                    before: Some(why),
                    after: None,
                }) => {
                    self.wrapped(out, GREEN, good, &format!("before: {why}"))?;
                }
                _ => {}
            }
        }
        for alert in &comparison.alerts_added {
            writeln!(out, "  {RED}alert{RED:#} {alert} begins to fire")?;
        }
        for alert in &comparison.alerts_removed {
            writeln!(out, "  {GREEN}alert{GREEN:#} {alert} falls silent")?;
        }
        Ok(())
    }

    /// What it does, each consequence once, the worst first.
    fn impacts(&self, out: &mut dyn Write) -> io::Result<()> {
        for ((impact, text), objects) in consequences(self.cluster) {
            let style = match impact {
                Impact::DataLoss | Impact::BootFailure => RED,
                Impact::Disruption | Impact::Scheduling | Impact::Security => YELLOW,
                Impact::Images | Impact::Behaviour => CYAN,
            };
            let who = match objects.as_slice() {
                [one] => (*one).to_owned(),
                [first, rest @ ..] => format!("{first} and {} more", rest.len()),
                [] => String::new(),
            };
            self.wrapped(out, style, impact.title(), &format!("{text} ({who})"))?;
        }
        Ok(())
    }

    fn object(&self, change: &ObjectChange, out: &mut dyn Write) -> io::Result<()> {
        let (style, sign) = match change.kind {
            Kind::Add => (GREEN, '+'),
            Kind::Change => (YELLOW, '~'),
            Kind::Remove => (RED, '-'),
        };
        let instead = change.instead_of.as_ref();
        let instead = instead.map_or(String::new(), |id| format!(" in the place of {}", id.name));
        writeln!(
            out,
            "  {style}{sign}{style:#} {}{DIM}{instead}{DIM:#}",
            change.id
        )?;
        if change.kind != Kind::Change {
            return self.because(&change.causes, 6, out);
        }
        let fields = change.fields.iter().enumerate();
        let fields: Vec<_> = fields.filter(|(_, f)| f.step.noise.is_none()).collect();
        for (n, (index, field)) in fields.iter().take(MOST_FIELDS).enumerate() {
            self.field(change, *index, out)?;
            // A cause that the next field shares is told once, below the last.
            let next = fields.get(n + 1).filter(|_| n + 1 < MOST_FIELDS);
            if next.is_none_or(|(_, next)| next.causes != field.causes) {
                self.because(&field.causes, 8, out)?;
            }
        }
        if let Some(more) = fields.len().checked_sub(MOST_FIELDS).filter(|n| *n > 0) {
            writeln!(out, "      {DIM}… and {more} more fields{DIM:#}")?;
        }
        Ok(())
    }

    fn field(&self, change: &ObjectChange, index: usize, out: &mut dyn Write) -> io::Result<()> {
        let Some(field) = change.fields.get(index) else {
            return Ok(());
        };
        let step = &field.step;
        let label = printable(&step.label);
        let width = self.changes.terminal.width.max(60);
        let arrow = if self.changes.terminal.unicode {
            '→'
        } else {
            '>'
        };
        let mark = match consequence(change, index).map(|c| c.impact) {
            Some(Impact::DataLoss | Impact::BootFailure) => format!("{RED}!{RED:#}"),
            _ => " ".to_owned(),
        };
        let (before, after) = shown_values(step);
        if width >= WIDE {
            // Three columns: the place, before, after.
            let column = (width - 10) / 4;
            let (before, after) = brief_both(before.as_ref(), after.as_ref(), column - 2);
            let room = 2 * column;
            return writeln!(
                out,
                "    {mark} {label:<room$} {RED}{before:<column$}{RED:#} {GREEN}{after}{GREEN:#}"
            );
        }
        let room = width.saturating_sub(14) / 2;
        let (before, after) = brief_both(before.as_ref(), after.as_ref(), room);
        let line = match (&step.before, &step.after) {
            (None, _) => format!("{GREEN}+ {after}{GREEN:#}"),
            (_, None) => format!("{RED}- {before}{RED:#}"),
            _ => format!("{RED}{before}{RED:#} {arrow} {GREEN}{after}{GREEN:#}"),
        };
        let length = label.chars().count() + before.chars().count() + after.chars().count();
        match length + 14 <= width {
            true => writeln!(out, "    {mark} {label}: {line}"),
            false => writeln!(out, "    {mark} {label}:\n        {line}"),
        }
    }

    /// The lines that moved something, where there is more than one for the whole cluster.
    fn because(&self, indexes: &[usize], indent: usize, out: &mut dyn Write) -> io::Result<()> {
        if self.cluster.comparison.causes.len() < 2 {
            return Ok(());
        }
        indexes
            .iter()
            .try_for_each(|index| self.cause(*index, indent, out))
    }

    fn cause(&self, index: usize, indent: usize, out: &mut dyn Write) -> io::Result<()> {
        for cause in causes(self.cluster, &[index]) {
            let place = cause.place.as_ref().map(|p| self.changes.place(p));
            let was = if cause.gone { "was at" } else { "at" };
            let place = place.map_or(String::new(), |p| format!(" {was} {p}"));
            let what = printable(&cause.what);
            writeln!(out, "{:indent$}{DIM}because of {what}{place}{DIM:#}", "")?;
        }
        Ok(())
    }

    /// A cluster that comes or goes as a whole.
    fn counted(&self, kind: Kind, out: &mut dyn Write) -> io::Result<()> {
        let mut counts = BTreeMap::<&str, usize>::new();
        for change in shown(self.cluster) {
            *counts.entry(change.id.kind.as_str()).or_default() += 1;
        }
        let total: usize = counts.values().sum();
        let all: Vec<String> = counts
            .iter()
            .map(|(kind, count)| match count {
                1 => (*kind).to_owned(),
                n => format!("{n} {kind}"),
            })
            .collect();
        if total == 0 {
            return Ok(());
        }
        let (style, sign) = if kind == Kind::Remove {
            (RED, '-')
        } else {
            (GREEN, '+')
        };
        self.wrapped(
            out,
            style,
            &sign.to_string(),
            &format!("{total} objects: {}", all.join(", ")),
        )
    }

    fn findings(&self, out: &mut dyn Write) -> io::Result<()> {
        let added = self.cluster.findings_added.iter().map(|f| (true, f));
        let removed = self.cluster.findings_removed.iter().map(|f| (false, f));
        for (is_new, finding) in added.chain(removed) {
            let (style, word) = match (is_new, finding.severity) {
                (false, _) => (GREEN, "gone"),
                (true, Severity::Error) => (RED, "new"),
                (true, Severity::Warning) => (YELLOW, "new"),
                (true, Severity::Info) => (CYAN, "new"),
            };
            let place = finding.location.as_ref().filter(|_| is_new);
            let place = place.map_or(String::new(), |p| format!(" ({})", self.changes.place(p)));
            let (severity, rule) = (finding.severity.as_str(), finding.rule.name);
            let head = format!("{word} {severity}[{rule}]");
            self.wrapped(out, style, &head, &format!("{}{place}", finding.message))?;
        }
        Ok(())
    }

    /// A painted head and a text behind it, broken at the terminal's edge.
    fn wrapped(&self, out: &mut dyn Write, style: Style, head: &str, text: &str) -> io::Result<()> {
        let width = self.changes.terminal.width.max(40);
        let text = printable(text);
        let room = width.saturating_sub(4);
        let lines = wrapped(&format!("{head}: {text}"), room);
        for (i, line) in lines.iter().enumerate() {
            match line.strip_prefix(head).filter(|_| i == 0) {
                Some(rest) => writeln!(out, "  {style}{head}{style:#}{rest}")?,
                None => writeln!(out, "    {line}")?,
            }
        }
        Ok(())
    }

    fn line(&self, out: &mut dyn Write, indent: usize, text: &str) -> io::Result<()> {
        let width = self.changes.terminal.width.max(40).saturating_sub(indent);
        for line in wrapped(&printable(text), width) {
            writeln!(out, "{:indent$}{line}", "")?;
        }
        Ok(())
    }
}
