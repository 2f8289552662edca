//! For a comment on a pull request.
//!
//! The first line is a hidden marker, by which a comment is found again and updated in place.
//! Blocks are taken whole or not at all: a budget never cuts inside a fence or a tag, and what
//! was left out is always said.

use super::{
    Changes, Counts, LEAST_BUDGET, brief, causes, consequences, shown, shown_values, shown_yaml,
};
use crate::diff::semantic::{Impact, ObjectChange};
use crate::diff::{ClusterDiff, Kind, unified};
use crate::report::markdown::{code, escape};
use crate::secret::InputText;

/// By this a comment is found again.
const MARKER: &str = "<!-- hcoplan:diff -->";

/// What is said at the end when something was left out; the numbers come before it.
const CUT: &str = "not shown for want of room; `hcoplan diff` prints everything.\n";

/// Room kept for the line that says what was left out.
const RESERVE: usize = 140;

pub(super) fn text(changes: &Changes<'_>) -> String {
    let budget = changes.budget.map(|b| b.max(LEAST_BUDGET));
    let mut out = head(changes);
    let blocks = blocks(changes);
    let mut left_out = 0;
    for block in &blocks {
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
        let parts = if left_out == 1 {
            "part was"
        } else {
            "parts were"
        };
        out.push_str(&format!("\n**{left_out} {parts}** {CUT}"));
    }
    out
}

/// Marker, verdict, counts: less than [`LEAST_BUDGET`] together with what may follow.
fn head(changes: &Changes<'_>) -> String {
    let Counts {
        findings_added,
        findings_removed,
        differing,
        ..
    } = changes.counts();
    let worst = worst(changes);
    let verdict = match (differing, worst) {
        (0, _) => "✅ no changes".to_owned(),
        (_, Some(worst)) => format!("{} {worst}", emoji(worst)),
        (_, None) => "🔵 changes without a known consequence".to_owned(),
    };
    let findings = match (findings_added, findings_removed) {
        (0, 0) => String::new(),
        (a, r) => format!(" Findings: {a} new, {r} gone."),
    };
    format!(
        "{MARKER}\n### hcoplan: {verdict}\n\n{}.{findings}\n",
        changes.totals()
    )
}

/// The worst that the changes can do, for people.
fn worst(changes: &Changes<'_>) -> Option<&'static str> {
    let mut impacts = Vec::new();
    for cluster in changes.clusters {
        let comparison = &cluster.comparison;
        let refused = [&comparison.verdict, &comparison.reconcile, &comparison.ssp];
        if refused
            .iter()
            .any(|v| v.as_ref().is_some_and(|v| v.after.is_some()))
        {
            return Some("refused by the cluster");
        }
        if cluster.broken.as_ref().is_some_and(|b| !b.left) {
            return Some("not comparable");
        }
        impacts.extend(comparison.consequences().first().map(|c| c.0.impact));
        impacts.extend(cluster.notes.first().map(|n| n.impact));
    }
    impacts.into_iter().min().map(Impact::title)
}

fn emoji(worst: &str) -> &'static str {
    match worst {
        "refused by the cluster" | "not comparable" | "data loss" | "boot failure" => "🔴",
        "disruption" | "scheduling and migration" | "security" => "🟡",
        _ => "🔵",
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

/// The parts, the most important first.
fn blocks(changes: &Changes<'_>) -> Vec<Block> {
    let mut out = Vec::new();
    let differing = || changes.clusters.iter().filter(|c| !c.is_empty());
    for cluster in differing() {
        out.extend(verdicts(changes, cluster));
    }
    for cluster in differing() {
        out.extend(impacts(cluster));
        out.extend(notes(changes, cluster));
        out.extend(findings(changes, cluster));
    }
    for cluster in differing() {
        let title = match (cluster.whole, &cluster.moved_from) {
            (Some(Kind::Add), _) => " (new)".to_owned(),
            (Some(Kind::Remove), _) => " (gone)".to_owned(),
            (_, Some(from)) => format!(" (before {})", code(from)),
            _ => String::new(),
        };
        let name = code(&cluster.cluster);
        match cluster.whole {
            Some(_) => {
                let count = shown(cluster).count();
                out.push(Block::new(format!(
                    "\n#### {name}{title}\n\n{count} objects\n"
                )));
            }
            None => {
                let mut title = Some(format!("\n#### {name}{title}\n"));
                for change in shown(cluster) {
                    let mut block = object(changes, cluster, change);
                    if let Some(title) = title.take() {
                        block.long.insert_str(0, &title);
                        block.short = block.short.map(|s| format!("{title}{s}"));
                    }
                    out.push(block);
                }
            }
        }
    }
    out
}

fn verdicts(changes: &Changes<'_>, cluster: &ClusterDiff) -> Vec<Block> {
    let mut out = Vec::new();
    let name = code(&cluster.cluster);
    let comparison = &cluster.comparison;
    if let Some(broken) = &cluster.broken {
        let side = if broken.left {
            changes.left
        } else {
            changes.right
        };
        let why = escape(&broken.why);
        out.push(format!(
            "- 🔴 {name}: can't be rendered in {}: {why}\n",
            escape(side)
        ));
    }
    let verdicts = [
        ("would be refused", &comparison.verdict),
        ("the operator's reconcile would stop", &comparison.reconcile),
        ("SSP would be refused", &comparison.ssp),
    ];
    for (what, verdict) in verdicts {
        if let Some(why) = verdict.as_ref().and_then(|v| v.after.as_ref()) {
            out.push(format!("- 🔴 {name}: {what}: {}\n", escape(why)));
        }
    }
    for alert in &comparison.alerts_added {
        out.push(format!("- 🔴 {name}: the alert {alert} begins to fire\n"));
    }
    for alert in &comparison.alerts_removed {
        out.push(format!("- 🟢 {name}: the alert {alert} falls silent\n"));
    }
    out.into_iter().map(Block::new).collect()
}

fn impacts(cluster: &ClusterDiff) -> Vec<Block> {
    let name = code(&cluster.cluster);
    let line = |((impact, text), objects): ((Impact, &str), Vec<&str>)| {
        let who = match objects.as_slice() {
            [one] => code(one),
            [first, rest @ ..] => format!("{} and {} more", code(first), rest.len()),
            [] => String::new(),
        };
        let sign = emoji(impact.title());
        let title = impact.title();
        Block::new(format!("- {sign} **{title}** {name}: {text} ({who})\n"))
    };
    consequences(cluster).into_iter().map(line).collect()
}

fn notes(changes: &Changes<'_>, cluster: &ClusterDiff) -> Vec<Block> {
    let line = |note: &crate::diff::Note| {
        let sign = emoji(note.impact.title());
        let place = note
            .place
            .as_ref()
            .map(|p| format!(" ({})", code(&changes.place(p))));
        let help = note.help.as_ref().map(|h| format!(": {}", escape(h)));
        Block::new(format!(
            "- {sign} {}: {}{}{}\n",
            code(&cluster.cluster),
            escape(&note.text),
            place.unwrap_or_default(),
            help.unwrap_or_default()
        ))
    };
    cluster.notes.iter().map(line).collect()
}

fn findings(changes: &Changes<'_>, cluster: &ClusterDiff) -> Vec<Block> {
    let added = cluster.findings_added.iter().map(|f| ("new", f));
    let removed = cluster.findings_removed.iter().map(|f| ("gone", f));
    let line = |(word, finding): (&str, &crate::finding::Finding)| {
        let place = finding.location.as_ref().filter(|_| word == "new");
        let place = place.map(|p| format!(" ({})", code(&changes.place(p))));
        Block::new(format!(
            "- {word} {} {}: {}{}\n",
            finding.severity.as_str(),
            code(finding.rule.name),
            escape(&finding.message),
            place.unwrap_or_default()
        ))
    };
    added.chain(removed).map(line).collect()
}

fn object(changes: &Changes<'_>, cluster: &ClusterDiff, change: &ObjectChange) -> Block {
    let (sign, word) = match change.kind {
        Kind::Add => ("🟢", "added"),
        Kind::Change => ("🟡", "changed"),
        Kind::Remove => ("🔴", "removed"),
    };
    let id = html(&change.id.to_string());
    let instead = change.instead_of.as_ref();
    let instead = instead.map_or(String::new(), |i| {
        format!(" in the place of {}", html(&i.name))
    });
    let text = |body: &serde_json::Value| {
        let text = shown_yaml(body);
        InputText::new(&text).message().into_owned()
    };
    let before = change.before.as_deref().map(text).unwrap_or_default();
    let after = change.after.as_deref().map(text).unwrap_or_default();
    let diff = unified(&before, &after, "before", "after");
    let fence = fence(&diff);
    let mut why = String::new();
    let mut seen = Vec::new();
    let all = change.fields.iter().flat_map(|f| &f.causes);
    for index in all.chain(&change.causes) {
        if seen.contains(index) {
            continue;
        }
        seen.push(*index);
        for cause in causes(cluster, &[*index]) {
            let place = cause
                .place
                .as_ref()
                .map(|p| format!(" {}", code(&changes.place(p))));
            let what = code(&cause.what);
            why.push_str(&format!(
                "- because of {what}{}\n",
                place.unwrap_or_default()
            ));
        }
    }
    if !why.is_empty() {
        why.push('\n');
    }
    let title = format!("{sign} {id} {word}{instead}");
    let fields = change.fields.iter().filter(|f| f.step.noise.is_none());
    let first: Vec<String> = match change.kind {
        Kind::Change => fields
            .take(3)
            .map(|f| {
                let (before, after) = shown_values(&f.step);
                let (b, a) = (brief(before.as_ref(), 40), brief(after.as_ref(), 40));
                format!("{} {} → {}", code(&f.step.label), code(&b), code(&a))
            })
            .collect(),
        _ => Vec::new(),
    };
    let short = match first.is_empty() {
        true => format!("- {title}\n"),
        false => format!("- {title}: {}\n", first.join(", ")),
    };
    Block {
        long: format!(
            "\n<details><summary>{title}</summary>\n\n{why}{fence}diff\n{diff}{fence}\n\n</details>\n"
        ),
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
