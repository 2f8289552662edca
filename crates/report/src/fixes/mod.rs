//! Output of `hcoplan fix`: for people, and as JSON.

mod json;

use crate::findings::choice;
use crate::plural;
use crate::prelude::*;
use crate::{Typed, in_repository, shown_path};
use anstyle::{AnsiColor, Style};
use hcoplan_analysis::{FixResult, MAX_ROUNDS};
use hcoplan_diagnostics::secret::masked_file_text;
use hcoplan_lint::fix::{self, AppliedFix, Line, NewError, Rewritten};
use similar::TextDiff;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;

pub use json::document;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// How to show the result of `fix`.
#[derive(Debug, Clone, Copy)]
pub struct FixView<'a> {
    /// The base of the files' paths.
    pub root: &'a Utf8Path,
    /// The typed command.
    pub typed: &'a Typed,
    /// Number of files written; `None` without `--write`, or if an error prevents it.
    pub written: Option<usize>,
    /// Whether an error prevents `--write`.
    pub is_stopped: bool,
    /// Whether an API version was migrated.
    pub is_migration: bool,
    /// Whether clusters are built from other files, so that the diff doesn't show which clusters change.
    pub is_built: bool,
}

/// The result for people: the diff or the applied fixes, then the remaining findings, then the summary.
///
/// # Errors
/// Never: the text is written to memory.
pub fn text(fixed: &FixResult, view: &FixView<'_>) -> io::Result<Vec<u8>> {
    let root = view.root;
    let mut out = Vec::new();
    if view.written.is_none() {
        let from_top = root_from_top(fixed, root);
        for file in fixed.files.values() {
            write_diff(&mut out, &diff_of(root, from_top.as_deref(), file))?;
        }
    }
    let says_more = view.is_built && !view.is_migration && !fixed.applied.is_empty();
    if view.written.is_none() && says_more {
        writeln!(out)?;
    }
    if view.written.is_some() || says_more {
        for AppliedFix { rule, title, location, .. } in &fixed.applied {
            writeln!(out, "{BOLD}{}{BOLD:#}{rule}: {}", place(root, location.as_ref()), line(title))?;
        }
    }
    write_remaining(&mut out, view, &fixed.remaining)?;
    if !out.is_empty() {
        writeln!(out)?;
    }
    writeln!(out, "{}", summary(fixed, view))?;
    Ok(out)
}

/// The skipped fixes with their reasons, a line each, for standard error.
pub fn warnings(fixed: &FixResult, root: &Utf8Path) -> Vec<String> {
    let dropped = fixed.dropped.iter().map(|dropped| {
        let AppliedFix { rule, title, location, .. } = &dropped.fix;
        format!("{}{rule}: can't {title}: {}", place(root, location.as_ref()), dropped.why)
    });
    let at = |finding: &Finding| format!("{}{}", place(root, finding.location.as_ref()), finding.rule.name);
    let not_in_sources = fixed.not_in_sources.iter().map(|(finding, why)| format!("{}: {}", at(finding), line(why)));
    let harmful = fixed.harmful.iter().map(|(finding, fix, NewError { cluster, message })| {
        let (title, message) = (line(&fix.title), line(message));
        format!("{}: didn't {title}: {cluster} would have the error: {message}", at(finding))
    });
    let exhausted = fixed.exhausted.then(|| format!("stopped after {MAX_ROUNDS} rounds with fixes left: run it again"));
    dropped.chain(not_in_sources).chain(harmful).chain(exhausted).collect()
}

fn summary(fixed: &FixResult, view: &FixView<'_>) -> String {
    let fixes = |n: usize| format!("{n} {}", if n == 1 { "fix" } else { "fixes" });
    let (what, verb, done) = if view.is_migration {
        (plural(fixed.applied.len(), "HyperConverged"), "migrate", "migrated")
    } else {
        (fixes(fixed.applied.len()), if fixed.files.is_empty() { "fix" } else { "apply" }, "applied")
    };
    let mut parts = vec![match view.written {
        _ if fixed.files.is_empty() => format!("nothing to {verb}"),
        Some(changed) => format!("{what} {done} in {}", plural(changed, "file")),
        None => {
            let hint =
                if view.is_stopped { "nothing written: correct the errors first" } else { "run it with --write" };
            format!("{what} to {verb} in {} ({hint})", plural(fixed.files.len(), "file"))
        }
    }];
    let count = |wanted| fixed.remaining.iter().filter(|f| f.fixability() == Some(wanted)).count();
    match count(Applicability::Unsafe) {
        0 => {}
        n => parts.push(format!("{} with --unsafe", fixes(n))),
    }
    match count(Applicability::Suggestion) {
        0 => {}
        n => parts.push(format!("{} with a fix to choose (--choose)", plural(n, "finding"))),
    }
    parts.join("; ")
}

/// The root relative to the top of the git work tree, if the diff's paths have to start there: a file is outside of the
/// current directory, where `patch` doesn't reach.
pub fn root_from_top(fixed: &FixResult, root: &Utf8Path) -> Option<Utf8PathBuf> {
    let is_outside = |f: &Rewritten| {
        let path = shown_path(root, &f.before);
        path.is_absolute() || path.starts_with("..")
    };
    let outside = fixed.files.values().any(is_outside);
    in_repository(root).filter(|_| outside)
}

/// A file's change as a unified diff with secrets masked; `from_top` is the root if paths start at the top of the work
/// tree.
pub fn diff_of(root: &Utf8Path, from_top: Option<&Utf8Path>, file: &Rewritten) -> String {
    let path = match from_top {
        Some(root) => root.join(file.before.path()),
        None => shown_path(root, &file.before),
    };
    // git and `patch -p1` expect these prefixes on relative paths.
    let (a, b) = if path.is_absolute() {
        (path.to_string(), path.to_string())
    } else {
        (format!("a/{path}"), format!("b/{path}"))
    };
    let after = SourceFile::new(file.before.path(), file.text.as_str());
    let (a, b) = (line(&a), line(&b));
    let (before, after) = (masked_file_text(&file.before), masked_file_text(&after));
    TextDiff::from_lines(&*before, &*after).unified_diff().context_radius(3).header(&a, &b).to_string()
}

/// User input on a line of our output.
fn line(text: &str) -> Cow<'_, str> {
    InputText::new(text).line()
}

fn place(root: &Utf8Path, location: Option<&Location>) -> String {
    location.map_or_else(String::new, |at| {
        let path = shown_path(root, &at.file);
        format!("{}:{}: ", line(path.as_str()), at.start())
    })
}

fn write_diff(out: &mut Vec<u8>, diff: &str) -> io::Result<()> {
    for full in diff.split_inclusive('\n') {
        let style = match full.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', b' ', ..] => BOLD,
            [b'+', ..] => GREEN,
            [b'-', ..] => RED,
            [b'@', ..] => CYAN,
            _ => Style::new(),
        };
        let (text, end) = match full.strip_suffix('\n') {
            Some(text) => (text, "\n"),
            None => (full, ""),
        };
        write!(out, "{style}{}{style:#}{end}", line(text))?;
    }
    Ok(())
}

/// The findings that weren't fixed, each with its fixes.
fn write_remaining(out: &mut Vec<u8>, FixView { root, typed, .. }: &FixView<'_>, left: &[Finding]) -> io::Result<()> {
    let mut allowance = HashMap::new();
    let mut untold = 0;
    for finding in left {
        if !out.is_empty() {
            writeln!(out)?;
        }
        let place = place(root, finding.location.as_ref());
        let (rule, message) = (finding.rule.name, line(&finding.message));
        writeln!(out, "{BOLD}{place}{BOLD:#}{rule}: {message}")?;
        let several = finding.fixes.len() > 1;
        for (index, fix) in finding.fixes.iter().enumerate() {
            let mark = if several { format!("{}.", index + 1) } else { "*".to_owned() };
            let word = match fix.applicability {
                Applicability::Safe => String::new(),
                Applicability::Unsafe if index == 0 => " (--unsafe)".to_owned(),
                _ => format!(" ({} {})", typed.about_same("fix", None), choice(finding, index)),
            };
            writeln!(out, "  {CYAN}{mark}{CYAN:#} {}{word}", line(&fix.title))?;
            if !may_preview(fix, &mut allowance) {
                untold += 1;
                continue;
            }
            for part in fix::preview(fix) {
                match part {
                    Line::At(path, number) => {
                        let path = root.join(&*path);
                        let path = path.strip_prefix(".").unwrap_or(&path);
                        let path = line(path.as_str());
                        writeln!(out, "      {DIM}{path}:{number}{DIM:#}")?;
                    }
                    Line::Gone(text) => writeln!(out, "      {RED}-{}{RED:#}", line(&text))?,
                    Line::New(text) => writeln!(out, "      {GREEN}+{}{GREEN:#}", line(&text))?,
                }
            }
        }
    }
    if untold > 0 {
        let fixes = plural(untold, "fix").replace("fixs", "fixes");
        let text = format!("{fixes} are listed without their lines: there are too many in one file");
        writeln!(out, "\n{DIM}{text}{DIM:#}")?;
    }
    Ok(())
}

/// Whether a fix's lines may be previewed: each preview reads the file, so that many in a large file would take
/// quadratic time.
fn may_preview(fix: &Fix, allowance: &mut HashMap<Utf8PathBuf, usize>) -> bool {
    const SMALL: usize = 2 << 20;
    const OFTEN: usize = 20;
    fix.edits.iter().all(|edit| {
        let size = edit.file.text().len();
        let left = allowance.entry(edit.file.path().to_owned());
        let left = left.or_insert(SMALL + OFTEN * size);
        let enough = *left >= size;
        *left = left.saturating_sub(size);
        enough
    })
}
