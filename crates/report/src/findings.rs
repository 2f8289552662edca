//! Findings as a document, each with its excerpt and help; equal findings are printed once.

use super::same_findings::{Alike, group_alike};
use super::sarif;
use crate::Report;
use crate::document::Mark;
use crate::document::{Block, Document, Entry, Layout, Level, Text};
use crate::prelude::*;
use crate::text::left;
use hcoplan_analysis::{is_assumption, review};

/// Maximum related locations drawn per finding.
const MAX_RELATED: usize = 32;

/// Maximum locations listed for the same finding of other clusters.
const MAX_SIMILAR: usize = 10;

/// Maximum lines about what is assumed.
const MAX_ASSUMPTIONS: usize = 3;

/// The screen of a terminal, with the totals at the end.
pub(super) fn screen(report: &Report<'_>) -> Document {
    let is_shown = |f: &Finding| !report.is_folded(f) && (report.terminal.verbose || !is_assumption(f));
    let mut blocks = blocks(report, is_shown, |file| report.path(file));
    blocks.extend(assumptions(report));
    blocks.extend(report.folded().map(|text| Block::Paragraph(text.into())));
    let last = Text::new().strong(report.totals()).plain(fixable(report));
    Document { blocks, last: Some((level(report), last)), ..Document::default() }
}

/// What is assumed, a line for each fact; `--verbose` shows it like other findings.
fn assumptions(report: &Report<'_>) -> Vec<Block> {
    let shown = report.findings.iter().filter(|f| !report.is_folded(f) && is_assumption(f));
    let shown: Vec<Finding> = shown.filter(|_| !report.terminal.verbose).cloned().collect();
    let mut lines: Vec<Text> = group_alike(&shown, false).iter().map(|group| assumption(report, group)).collect();
    let more = left(&lines, MAX_ASSUMPTIONS).map(|more| format!("{more} more; ")).unwrap_or_default();
    lines.truncate(MAX_ASSUMPTIONS);
    if !lines.is_empty() {
        let text =
            format!("{more}state this in hcoplan.yaml, which `hcoplan init` writes; `-v` prints the consequences");
        lines.push(Text::new().soft(text));
    }
    lines.into_iter().map(Block::Paragraph).collect()
}

fn assumption(report: &Report<'_>, group: &Alike<'_>) -> Text {
    let finding = group.first;
    let line = label(finding, finding.severity.into()).plain(": ").plain(finding.message.as_str());
    match group.clusters().as_slice() {
        clusters if report.summary.clusters < 2 || clusters.is_empty() => line,
        clusters => line.plain(format!(" ({})", self::clusters(clusters))),
    }
}

/// A comment, with the totals at the start.
pub(super) fn comment(report: &Report<'_>) -> Document {
    let mut blocks = blocks(report, |f| !report.is_folded(f), |file| report.path_in_repository(file));
    blocks.extend(report.folded().map(|text| Block::Paragraph(text.into())));
    let verdict = Some((level(report), report.totals().into()));
    Document { title: "hcoplan".to_owned(), verdict, blocks, last: None }
}

/// The shown entries as a block.
pub(super) fn blocks(
    report: &Report<'_>,
    is_shown: impl Fn(&Finding) -> bool,
    path: impl Fn(&SourceFile) -> Utf8PathBuf,
) -> Vec<Block> {
    let groups = group_alike(report.findings, true);
    let mut anchors = BTreeSet::new();
    let entries: Vec<Entry> = groups
        .iter()
        .filter(|group| !group.all(|f| !is_shown(f)))
        .map(|group| {
            let anchor = anchor(group.first);
            Entry { anchor: anchors.insert(anchor.clone()).then_some(anchor), ..entry(report, group, &path) }
        })
        .collect();
    if entries.is_empty() { Vec::new() } else { vec![Block::Entries(Layout::Full, entries)] }
}

/// The anchor of the first finding of a rule and severity.
pub(super) fn anchor(finding: &Finding) -> String {
    format!("finding-{}-{}", finding.severity.as_str(), finding.rule.name)
}

/// The worst level of what isn't from before.
pub(super) fn level(report: &Report<'_>) -> Level {
    let of = |finding: &Finding| match finding.severity {
        // One from before is no verdict on the change.
        Severity::Error if report.is_folded(finding) => Some(Level::Warn),
        severity => (!report.is_folded(finding)).then(|| severity.into()),
    };
    report.findings.iter().filter_map(of).min().unwrap_or(Level::Good)
}

/// The command that applies the fixes.
fn fixable(report: &Report<'_>) -> String {
    let of = |applicability| report.findings.iter().filter(|f| f.fixability() == Some(applicability)).count();
    let more = |n| if n > 0 { format!(", {n} more with `--unsafe`") } else { String::new() };
    let fix = report.typed.about_same("fix", None);
    match (of(Applicability::Safe), of(Applicability::Unsafe)) {
        (0, 0) => String::new(),
        (0, n) => format!("; {n} fixable with `{fix} --write --unsafe`"),
        (n, others) => format!("; {n} fixable with `{fix} --write`{}", more(others)),
    }
}

/// The options that apply a fix of several.
pub(super) fn choice(finding: &Finding, index: usize) -> String {
    format!("--choose {}={} --write", finding.rule.name, index + 1)
}

/// `error[hco-unknown-field]`, linked to the rule's page.
pub(super) fn label(finding: &Finding, level: Level) -> Text {
    let rule = finding.rule.name;
    Text::new().level(level, finding.severity.as_str()).plain("[").link(rule, sarif::page(rule)).plain("]")
}

fn entry(report: &Report<'_>, group: &Alike<'_>, path: impl Fn(&SourceFile) -> Utf8PathBuf) -> Entry {
    let finding = group.first;
    let level = finding.severity.into();
    let mut entry = Entry::new(level, label(finding, level), finding.message.as_str());
    let mark = |place: &Location, label: &str, primary| Mark {
        path: path(&place.file).into(),
        place: place.clone(),
        label: label.to_owned(),
        primary,
    };
    let own = finding.location.iter().map(|place| mark(place, finding.label.as_deref().unwrap_or_default(), true));
    let related = finding.related.iter().take(MAX_RELATED).map(|r| mark(&r.location, &r.message, false));
    entry.marks = own.chain(related).collect();
    let at = |f: &Finding| {
        let place = f.location.as_ref()?;
        Some(format!("{}:{}", path(&place.file), place.start()))
    };
    let cluster = finding.cluster.as_deref().filter(|_| report.summary.clusters > 1 || finding.location.is_none());
    match group.clusters().as_slice() {
        [] | [_] => entry.note("cluster", cluster.unwrap_or_default()),
        several if report.terminal.verbose => entry.note("", review::cluster_names(several)),
        several => entry.note("", clusters(several)),
    }
    entry.place = at(finding).map_or_else(Text::new, |place| Text::new().code(place));
    if let Some(more) = left(&finding.related, MAX_RELATED) {
        entry.note("places", format!("{more} further, which `--format json` names"));
    }
    // Several clusters may share one file.
    let mut known: BTreeSet<String> = at(finding).into_iter().collect();
    let named = |f: &Finding| {
        let name = f.object_name().filter(|_| f.object != finding.object);
        Some(format!("{}{}", at(f)?, name.map(|name| format!(" ({name})")).unwrap_or_default()))
    };
    let others = group.others.iter().filter_map(|f| named(f));
    let places: Vec<String> = others.filter(|p| known.insert(p.clone())).collect();
    entry.note("also at", review::list(&places, MAX_SIMILAR));
    if let Some((name, runbook)) = finding.alert() {
        entry.note("alert", Text::new().address(name, runbook));
    }
    if let Some(revision) = &report.summary.compared_with
        && group.all(|f| f.is_existing)
    {
        entry.note("before", format!("{revision} has it, too"));
    }
    entry.note("consequence", finding.consequence().unwrap_or_default());
    // Skip help that the fixes' titles repeat.
    let titles = joined(finding.fixes.iter().map(|fix| &*fix.title), " or ");
    let is_said =
        |help: &str| titles == help || finding.fixes.iter().any(|fix| fix.title.get(..help.len()) == Some(help));
    entry.note("help", finding.help.as_deref().filter(|help| !is_said(help)).unwrap_or_default());
    let is_one = |_: &&str| report.summary.clusters > 1 && group.clusters().len() < 2;
    for (index, fix) in finding.fixes.iter().enumerate() {
        let (options, cluster) = match fix.applicability {
            Applicability::Safe if index == 0 => ("--write".to_owned(), None),
            Applicability::Unsafe if index == 0 => ("--write --unsafe".to_owned(), None),
            _ => (choice(finding, index), finding.cluster.as_deref().filter(is_one)),
        };
        let command = format!("{} {options}", report.typed.about_same("fix", cluster));
        entry.note("fix", Text::from(fix.title.as_str()).plain(" (").code(command).plain(")"));
    }
    entry.note("no fix", finding.not_fixed.as_deref().unwrap_or_default());
    entry
}
