//! For a comment on a pull request.
//!
//! The first line is a hidden marker, by which a comment is found again and updated in place.
//! Blocks are taken whole or not at all: a budget never cuts inside a fence or a tag, the worst is
//! always there, and what was left out is always said.

use super::{Changes, LEAST_BUDGET, brief, places, shown_pair, shown_yaml};
use crate::diff::semantic::EffectTime;
use crate::diff::{Kind, unified};
use crate::report::markdown::{code, escape};
use crate::review::{Entry, FindingLine, Group, InputDifference, Level, ObjectLine, Review, clusters, list};
use crate::secret::InputText;

/// By this a comment is found again.
const MARKER: &str = "<!-- hcoplan:diff -->";

/// What is said at the end when something was left out; the numbers come before it.
const CUT: &str = "not shown for want of room; `hcoplan diff` prints everything.\n";

/// Room kept for the line that says what was left out.
const RESERVE: usize = 140;

/// Characters of the worst that follows, where there is room for nothing else.
const WORST: usize = 120;

/// Names that a line lists; the rest is counted.
const MOST_NAMES: usize = 6;

pub(super) fn text(changes: &Changes<'_>) -> String {
    let review = changes.review();
    let mut blocks = parts(changes, &review);
    blocks.extend(blocks_of_objects(changes, &review));
    within(changes, head(&review, ""), &blocks)
}

/// An upgrade: the checklist, then the change that comes before it.
pub(super) fn upgrade(changes: &Changes<'_>, upgrade: &Changes<'_>, review: &Review<'_>, title: &str) -> String {
    let mut blocks = Vec::new();
    for (title, entries) in review.checklist() {
        let mut title = Some(format!("\n**{title}**\n\n"));
        for entry in entries {
            blocks.push(block(&mut title, one_entry(upgrade, review, entry)));
        }
    }
    blocks.extend(findings(upgrade, review));
    let before = changes.review();
    if before.counts.differing > 0 || !before.standing.is_empty() {
        let (sign, verdict) = (sign(before.level), before.verdict());
        blocks.push(Block::new(format!("\n### {sign} The change before it: {verdict}\n")));
        blocks.extend(parts(changes, &before));
        blocks.extend(blocks_of_objects(changes, &before));
    }
    within(changes, head(review, &format!("{title}: ")), &blocks)
}

/// As many blocks as the budget takes.
fn within(changes: &Changes<'_>, head: String, blocks: &[Block]) -> String {
    let budget = changes.budget.map(|b| b.max(LEAST_BUDGET));
    let mut out = head;
    let mut left_out = 0;
    for block in blocks {
        let room = budget.map(|b| b.saturating_sub(RESERVE + out.len()));
        let fits = |text: &str| room.is_none_or(|room| text.len() <= room);
        match (fits(&block.long), &block.short) {
            (true, _) => out.push_str(&block.long),
            (false, Some(short)) if fits(short) => {
                out.push_str(short);
                left_out += 1;
            }
            _ => left_out += 1,
        }
    }
    if left_out > 0 {
        let parts = if left_out == 1 { "part was" } else { "parts were" };
        out.push_str(&format!("\n**{left_out} {parts}** {CUT}"));
    }
    out
}

/// Marker, verdict, counts: less than [`LEAST_BUDGET`] together with what may follow.
fn head(review: &Review<'_>, title: &str) -> String {
    let sign = sign(review.level);
    let verdict = review.verdict();
    let totals = review.totals();
    format!("{MARKER}\n### {sign} hcoplan: {title}{verdict}\n\n{totals}.\n")
}

fn sign(level: Level) -> &'static str {
    match level {
        Level::Bad => "🔴",
        Level::Warn => "🟡",
        Level::Calm => "🔵",
        Level::Good => "✅",
    }
}

/// A part that is shown whole, or in its short form, or not at all.
struct Block {
    long: String,
    short: Option<String>,
}

impl Block {
    fn new(long: String) -> Self {
        Self { long, short: None }
    }
}

/// What is told before the objects, the most important first.
fn parts(changes: &Changes<'_>, review: &Review<'_>) -> Vec<Block> {
    let mut out = Vec::new();
    if let Some(cause) = review.only_cause() {
        out.push(Block::new(format!("\nBecause of {}.\n", because_of(changes, cause))));
    }
    for (title, entries) in review.parts() {
        let mut title = Some(format!("\n**{title}**\n\n"));
        for entry in entries {
            out.push(block(&mut title, one_entry(changes, review, entry)));
        }
    }
    out.extend(findings(changes, review));
    out
}

fn blocks_of_objects(changes: &Changes<'_>, review: &Review<'_>) -> Vec<Block> {
    review.groups.iter().flat_map(|group| objects(changes, group)).collect()
}

fn findings(changes: &Changes<'_>, review: &Review<'_>) -> Vec<Block> {
    let mut out = Vec::new();
    let mut title = Some("\n**Findings**\n\n".to_owned());
    for standing in review.shown_again() {
        let line = FindingLine { finding: standing, clusters: Vec::new() };
        out.push(block(&mut title, Block::new(finding(changes, "", &line))));
    }
    let added = review.added.iter().map(|f| ("new", f));
    let removed = review.removed.iter().map(|f| ("gone", f));
    for (word, line) in added.chain(removed) {
        out.push(block(&mut title, Block::new(finding(changes, word, line))));
    }
    out
}

/// A block, behind a title that the first one of its kind has.
fn block(title: &mut Option<String>, mut block: Block) -> Block {
    if let Some(title) = title.take() {
        block.long.insert_str(0, &title);
        block.short = block.short.map(|s| format!("{title}{s}"));
    }
    block
}

fn one_entry(changes: &Changes<'_>, review: &Review<'_>, entry: &Entry<'_>) -> Block {
    let effect = &entry.effect;
    let sign = sign(Level::of(effect));
    let sentence = entry.sentence(MOST_NAMES);
    let mut long = format!("- {sign} **{}**: {}\n", effect.impact.title(), escape(&sentence));
    let mut more = Vec::new();
    if !entry.releases.is_empty() {
        more.push(format!("with {}", entry.releases.join(", ")));
    }
    if review.compared > 1 {
        more.push(escape(&clusters(&entry.clusters)));
    }
    if effect.when != EffectTime::Now {
        more.push(effect.when.as_str().to_owned());
    }
    if let Some(action) = &effect.action {
        more.push(format!("**do:** {}", escape(action)));
    }
    match (entry.because.as_slice(), &effect.place) {
        ([], Some(place)) => more.push(code(&changes.place(place))),
        _ if review.only_cause().is_some() => {}
        (because, _) => {
            let told = because.iter().take(3);
            more.extend(told.map(|b| format!("because of {}", because_of(changes, b))));
            if let Some(rest) = because.len().checked_sub(3).filter(|n| *n > 0) {
                more.push(format!("and {rest} more"));
            }
        }
    }
    if !more.is_empty() {
        long.push_str(&format!("  {}\n", more.join(" · ")));
    }
    let short: String = sentence.chars().take(WORST).collect();
    let cut = if short.len() < sentence.len() { "…" } else { "" };
    let short = format!("- {sign} **{}**: {}{cut}\n", effect.impact.title(), escape(&short));
    Block { long, short: Some(short) }
}

fn because_of(changes: &Changes<'_>, because: &InputDifference<'_>) -> String {
    let place = places(changes, because).map(|p| format!(" {}", code(&p)));
    format!("{}{}", code(because.what), place.unwrap_or_default())
}

fn finding(changes: &Changes<'_>, word: &str, line: &FindingLine<'_>) -> String {
    let finding = line.finding;
    let place = finding.location.as_ref().filter(|_| word != "gone");
    let place = place.map(|p| match line.clusters.len() {
        0 | 1 => format!(" ({})", code(&changes.place(p))),
        n => format!(" ({} and {} more)", code(&changes.place(p)), n - 1),
    });
    format!(
        "- {} {}: {}{}\n",
        format!("{word} {}", finding.severity.as_str()).trim_start(),
        code(finding.rule.name),
        escape(&finding.message),
        place.unwrap_or_default()
    )
}

/// What changes in clusters that change alike.
fn objects(changes: &Changes<'_>, group: &Group<'_>) -> Vec<Block> {
    let Some(first) = group.clusters.first() else {
        return Vec::new();
    };
    let names: Vec<&str> = group.clusters.iter().map(|c| &*c.cluster).collect();
    let moved = first.moved_from.as_ref().filter(|_| names.len() == 1);
    if group.lines.is_empty() && moved.is_none() {
        return Vec::new();
    }
    let note = match (first.whole, moved) {
        (Some(Kind::Add), _) if first.refused_before.is_some() => " (as a new one)".to_owned(),
        (Some(Kind::Add), _) => " (new)".to_owned(),
        (Some(Kind::Remove), _) => " (gone)".to_owned(),
        (_, Some(from)) => format!(" (before {})", code(from)),
        _ => String::new(),
    };
    let title = format!("\n#### {}{note}\n", escape(&clusters(&names)));
    let all = match names.len() {
        0..=5 => String::new(),
        _ => format!("\n{}\n", escape(&names.join(", "))),
    };
    if first.whole.is_some() {
        let count: usize = group.lines.iter().map(|l| l.names.len()).sum();
        let each = if names.len() > 1 { " each" } else { "" };
        return vec![Block {
            long: format!("{title}{all}\n{count} objects{each}\n"),
            short: Some(format!("{title}\n{count} objects{each}\n")),
        }];
    }
    let mut out = vec![Block { long: format!("{title}{all}"), short: Some(title) }];
    out.extend(group.lines.iter().map(|line| object(changes, line)));
    out
}

/// Objects that change alike: the first one in full.
fn object(changes: &Changes<'_>, line: &ObjectLine<'_>) -> Block {
    let change = line.first;
    let (sign, word) = match line.kind {
        Kind::Add => ("🟢", "added"),
        Kind::Change => ("🟡", "changed"),
        Kind::Remove => ("🔴", "removed"),
    };
    let what = match line.names.as_slice() {
        [_] => html(&change.id.to_string()),
        names => format!("{} {} {}", names.len(), html(line.object_kind), html(&list(names, MOST_NAMES))),
    };
    let instead = match line.instead_of.as_slice() {
        [one] => format!(" in the place of {}", html(one)),
        _ => String::new(),
    };
    let text = |body: &serde_json::Value| {
        let text = shown_yaml(body);
        InputText::new(&text).message().into_owned()
    };
    let before = change.before.as_deref().map(text).unwrap_or_default();
    let after = change.after.as_deref().map(text).unwrap_or_default();
    let diff = unified(&before, &after, "before", "after");
    let fence = fence(&diff);
    let mut why: Vec<String> = Vec::new();
    let fields = line.fields.iter().flat_map(|f| &f.because);
    for because in line.because.iter().chain(fields) {
        let told = format!("- because of {}\n", because_of(changes, because));
        if !why.contains(&told) {
            why.push(told);
        }
    }
    if !why.is_empty() {
        why.push("\n".to_owned());
    }
    if line.names.len() > 1 {
        why.push("The first of them:\n\n".to_owned());
    }
    let why = why.concat();
    let title = format!("{sign} {what} {word}{instead}");
    let first: Vec<String> = match change.kind {
        Kind::Change => line
            .fields
            .iter()
            .filter(|f| f.before.is_some() || f.after.is_some())
            .take(3)
            .map(|f| {
                let (before, after) = shown_pair(f.path, f.before, f.after);
                let (b, a) = (brief(before.as_ref(), 40), brief(after.as_ref(), 40));
                format!("{} {} → {}", code(&f.label), code(&b), code(&a))
            })
            .collect(),
        _ => Vec::new(),
    };
    let short = if first.is_empty() { format!("- {title}\n") } else { format!("- {title}: {}\n", first.join(", ")) };
    Block {
        long: format!("\n<details><summary>{title}</summary>\n\n{why}{fence}diff\n{diff}{fence}\n\n</details>\n"),
        short: Some(short),
    }
}

/// A fence longer than any run of backticks in a text.
fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}

/// Text inside a tag.
fn html(text: &str) -> String {
    let text = crate::report::text::printable(text);
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('@', "@&#8203;")
        .replace("://", ":&#8203;//")
}
