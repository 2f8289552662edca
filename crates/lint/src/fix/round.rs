//! One round: as many fixes as go together.

use camino::Utf8PathBuf;
use hcoplan_yaml::edit::{EditableFile, Reason, apply_and_read, apply_and_verify};
use hcoplan_yaml::{Style, Value, parse};

use super::delta::{Delta, deltas, go_together, put_together};
use crate::grouped::identity;
use crate::prelude::*;

/// A finding, and the fix of it that is to be applied.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'f> {
    /// The finding.
    pub finding: &'f Finding,
    /// One of its fixes.
    pub fix: &'f Fix,
}

impl Choice<'_> {
    /// The alias that the finding points at, where it does.
    fn alias(&self) -> Option<Span> {
        let place = self.finding.location.as_ref()?;
        place.text().starts_with('*').then_some(place.span)
    }
}

/// A fix that was applied.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The rule's name.
    pub rule: &'static str,
    /// What was done.
    pub title: String,
    /// Where the finding was, in the text before the round.
    pub location: Option<Location>,
    /// What it is to do to builds.
    pub build_edits: Vec<Edit>,
}

impl Applied {
    /// Whether it is a finding's.
    pub fn is_of(&self, finding: &Finding) -> bool {
        let place = |at: &Option<Location>| at.as_ref().map(|at| (at.file.path().to_owned(), at.span));
        self.rule == finding.rule.name && place(&self.location) == place(&finding.location)
    }
}

/// A fix that was not applied.
#[derive(Debug, Clone)]
pub struct DroppedFix {
    /// What it would have done.
    pub fix: Applied,
    /// What is wrong with the result.
    pub why: Reason,
}

/// A file before and after a round.
#[derive(Debug, Clone)]
pub struct Rewritten {
    /// Before.
    pub before: Arc<SourceFile>,
    /// The text after.
    pub text: String,
}

/// The result of a round.
#[derive(Debug, Default)]
pub struct Round {
    /// The files that are not as they were, by path.
    pub files: BTreeMap<Utf8PathBuf, Rewritten>,
    /// What was applied.
    pub applied: Vec<Applied>,
    /// What can't be.
    pub dropped: Vec<DroppedFix>,
    /// Whether there were too many to try all of them.
    pub exhausted: bool,
}

/// The fixes to apply: of each finding the first that is safe, else, where those are wanted, the
/// first that is unsafe. The same edits are taken once, whoever asks for them.
pub fn choose(findings: &[Finding], also_unsafe: bool) -> Vec<Choice<'_>> {
    choose_with(findings, also_unsafe, |_| None)
}

/// The same, where `wanted` names one of a finding's fixes by its index: that one, however safe it is.
pub fn choose_with(
    findings: &[Finding],
    also_unsafe: bool,
    wanted: impl Fn(&Finding) -> Option<usize>,
) -> Vec<Choice<'_>> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    // In the order of the file, independent of the order of findings: an editor and the command line write the same.
    // Errors come first: what they move may be where another fix would write.
    let mut findings: Vec<&Finding> = findings.iter().collect();
    findings.sort_by_cached_key(|finding| {
        let place = finding.location.as_ref();
        let place = place.map(|at| (at.file.path().to_owned(), at.span.start));
        (finding.severity != Severity::Error, place, finding.rule.name)
    });
    for finding in findings {
        let of = |applicability| {
            let mut fixes = finding.fixes.iter();
            fixes.find(|f| f.applicability == applicability && !f.edits.is_empty())
        };
        let unsafe_one = || of(Applicability::Unsafe).filter(|_| also_unsafe);
        let named = wanted(finding).and_then(|index| finding.fixes.get(index));
        let named = named.filter(|fix| !fix.edits.is_empty());
        let Some(fix) = named.or_else(|| of(Applicability::Safe)).or_else(unsafe_one) else {
            continue;
        };
        if seen.insert(identity(fix)) {
            out.push(Choice { finding, fix });
        }
    }
    out
}

/// A file and what was accepted for it.
struct FileEdits {
    before: EditableFile,
    parsed: Vec<Document>,
    edits: Vec<Edit>,
    deltas: Vec<Delta>,
}

impl FileEdits {
    fn new(file: &Arc<SourceFile>) -> Self {
        Self { before: EditableFile::of(file), parsed: parse(file).documents, edits: Vec::new(), deltas: Vec::new() }
    }

    /// What the edits do to the tree, if that is something that they may do: inside of what they touch, and at aliases
    /// of it that the same is found at.
    fn alone(&self, edits: &[Edit], aliases: &[Span]) -> Result<Vec<Delta>, Reason> {
        if edits.iter().any(|e| e.file.text() != self.before.file().text()) {
            return Err(Reason::Overlap);
        }
        let after = apply_and_read(&self.before, edits)?.documents;
        let (length, text) = (self.before.documents().len(), self.before.file().text());
        // What is inserted at the end may be another document.
        let appends = after.len() > length && edits.iter().all(|edit| edit.span.start as usize == text.len());
        if after.len() != length && !appends {
            return Err(Reason::Layout);
        }
        let deltas = deltas(self.before.documents(), &after);
        let touched = self.touched(edits);
        let is_added = |path: &Path| matches!(path.0.first(), Some(Segment::Index(index)) if *index >= length);
        let is_meant = |path: &Path| path.starts_with(&touched) || is_added(path) || self.is_alias(path, aliases);
        match deltas.iter().find(|d| !is_meant(&d.path)) {
            Some(stray) => Err(Reason::Differs(stray.path.to_pointer())),
            None => Ok(deltas),
        }
    }

    /// Whether a path, the document's index first, leads through one of these aliases.
    fn is_alias(&self, path: &Path, aliases: &[Span]) -> bool {
        let Some((Segment::Index(index), steps)) = path.0.split_first() else {
            return false;
        };
        let root = self.parsed.get(*index).map(|d| &d.root);
        let mut ways = (1..=steps.len()).filter_map(|n| root?.at(&Path(steps[..n].to_vec())));
        ways.any(|node| node.style == Style::Alias && aliases.contains(&node.span))
    }

    /// The deepest value that all edits are in, the document's index first.
    fn touched(&self, edits: &[Edit]) -> Path {
        let start = edits.iter().map(|e| e.span.start).min().unwrap_or(0);
        let end = edits.iter().map(|e| e.span.end).max().unwrap_or(0);
        // What is inserted at the end of a value follows it.
        let around =
            |s: Span| if start == end { s.start < start && end < s.end } else { s.start <= start && end <= s.end };
        let document = |d: &Document| d.span.start <= start && end <= d.span.end;
        let mut documents = self.parsed.iter().enumerate();
        let Some((index, document)) = documents.find(|(_, d)| document(d)) else {
            return Path::root();
        };
        let mut path = Path::root().index(index);
        let mut node = &document.root;
        while let Some((step, inner)) = match &node.value {
            Value::Map(entries) => {
                let entry = entries.iter().find(|e| around(e.value.span));
                entry.map(|e| (path.key(&e.key.text), &e.value))
            }
            Value::Seq(items) => {
                let mut items = items.iter().enumerate();
                let item = items.find(|(_, item)| around(item.span));
                item.map(|(i, item)| (path.index(i), item))
            }
            _ => None,
        } {
            (path, node) = (step, inner);
        }
        path
    }

    /// The effects of several fixes on the tree, tried at once; `None` where they have to be tried one by one: one
    /// failed, or the changes can't be attributed.
    fn all_alone(&self, fixes: &[Vec<Edit>]) -> Option<Vec<Delta>> {
        let mut touched = BTreeSet::new();
        for edits in fixes {
            if !touched.insert(self.touched(edits)) {
                return None;
            }
        }
        let above = |path: &Path| {
            let lengths = 0..path.0.len();
            lengths.rev().map(|n| Path(path.0[..n].to_vec())).any(|p| touched.contains(&p))
        };
        if touched.iter().any(above) {
            return None;
        }
        let edits = fixes.concat();
        let same = |e: &Edit| e.file.text() == self.before.file().text();
        let after = apply_and_read(&self.before, &edits).ok().filter(|_| edits.iter().all(same))?;
        if after.documents.len() != self.before.documents().len() {
            return None;
        }
        let deltas = deltas(self.before.documents(), &after.documents);
        deltas.iter().all(|d| touched.contains(&d.path) || above(&d.path)).then_some(deltas)
    }

    /// Whether further edits go together with those accepted.
    fn takes(&self, edits: &[Edit], deltas: &[Delta]) -> bool {
        let apart = |a: &Edit, b: &Edit| a.span.end < b.span.start || b.span.end < a.span.start;
        let all_apart = edits.iter().all(|a| self.edits.iter().all(|b| apart(a, b)));
        all_apart && go_together(&self.deltas, deltas)
    }

    /// The text with all edits, if it is what all of them mean.
    fn together(&self) -> Result<String, Reason> {
        let mut intended = self.before.documents().to_vec();
        put_together(&mut intended, &self.deltas).ok_or(Reason::Layout)?;
        apply_and_verify(&self.before, &self.edits, &intended)
    }
}

/// How often a round tries fixes out on their files. What is left waits for the next one.
const MAX_TRIES: usize = 256;

/// Applies as many of the fixes as go together; the others are for a next round, whose findings
/// know the files as they are then.
pub fn round(choices: &[Choice<'_>]) -> Round {
    let mut out = Round::default();
    let mut edits_by_file: BTreeMap<Utf8PathBuf, FileEdits> = BTreeMap::new();
    let mut accepted = Vec::new();
    let mut tries = MAX_TRIES;
    // Where the same is found at an anchor and at its aliases, the anchor is edited.
    let (at_aliases, choices): (Vec<Choice<'_>>, Vec<Choice<'_>>) = choices.iter().partition(|choice| {
        let other = choices.iter().filter(|other| other.finding.rule.name == choice.finding.rule.name);
        let file = |c: &Choice<'_>| c.finding.location.as_ref().map(|l| l.file.path().to_owned());
        let mut other = other.filter(|other| file(other) == file(choice));
        choice.alias().is_some() && other.any(|other| other.alias().is_none())
    });
    let aliases: Vec<(&str, Span)> =
        at_aliases.iter().filter_map(|c| Some((c.finding.rule.name, c.alias()?))).collect();
    let choices = &choices[..];
    accept_all(choices, &aliases, &mut edits_by_file, &mut tries, &mut accepted, &mut out.dropped);
    let edits_by_file = edits_by_file.into_iter().filter(|(_, g)| !g.edits.is_empty());
    for (path, file_edits) in edits_by_file {
        match file_edits.together() {
            Ok(text) => {
                let before = Arc::clone(file_edits.before.file());
                let text = with_line_breaks_of(&before, text);
                out.files.insert(path, Rewritten { before, text });
            }
            // Each was right alone; together they are not. One at a time, then.
            Err(_) if choices.len() > 1 => return one(choices),
            Err(why) => {
                let fix = accepted.into_iter().next();
                out.dropped.extend(fix.map(|fix| DroppedFix { fix, why }));
                return Round { dropped: out.dropped, ..Round::default() };
            }
        }
    }
    out.applied = accepted;
    out.exhausted = tries == 0;
    out
}

/// A text whose lines end as those of another one, where all of those end as Windows' do, and whose last line ends where
/// that one's does, unless a value ends with it.
fn with_line_breaks_of(other: &SourceFile, text: String) -> String {
    let breaks = other.text().matches('\n').count();
    let is_windows = breaks > 0 && other.text().matches("\r\n").count() == breaks;
    let text = if is_windows { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text };
    let unended = text.trim_end_matches(['\r', '\n']);
    let values = |text: &str| {
        let documents = parse(&SourceFile::new(other.path(), text)).documents;
        documents.iter().map(|d| d.root.to_json()).collect::<Vec<_>>()
    };
    if other.text().ends_with('\n') || values(unended) != values(&text) { text } else { unended.to_owned() }
}

/// Takes in as many fixes as go together: all at once where they do, else half by half. To read a file again
/// for each of them would take the square of their number.
fn accept_all(
    choices: &[Choice<'_>],
    aliases: &[(&str, Span)],
    edits_by_file: &mut BTreeMap<Utf8PathBuf, FileEdits>,
    tries: &mut usize,
    accepted: &mut Vec<Applied>,
    dropped: &mut Vec<DroppedFix>,
) {
    if choices.is_empty() || *tries == 0 {
        return;
    }
    *tries -= 1;
    let [choice] = choices else {
        if accept_at_once(choices, edits_by_file) {
            accepted.extend(choices.iter().map(applied));
            return;
        }
        let (first, second) = choices.split_at(choices.len() / 2);
        accept_all(first, aliases, edits_by_file, tries, accepted, dropped);
        accept_all(second, aliases, edits_by_file, tries, accepted, dropped);
        return;
    };
    match accept(choice, aliases, edits_by_file) {
        Ok(true) => accepted.push(applied(choice)),
        Ok(false) => {}
        Err(why) => dropped.push(DroppedFix { fix: applied(choice), why }),
    }
}

/// Takes several fixes in where all of them go together, and with those before.
fn accept_at_once(choices: &[Choice<'_>], edits_by_file: &mut BTreeMap<Utf8PathBuf, FileEdits>) -> bool {
    let mut files: BTreeMap<Utf8PathBuf, Vec<Vec<Edit>>> = BTreeMap::new();
    for choice in choices {
        for (path, edits) in by_file(&choice.fix.edits) {
            files.entry(path).or_default().push(edits);
        }
    }
    let mut meant = Vec::new();
    for (path, fixes) in files {
        let Some(edit) = fixes.first().and_then(|edits| edits.first()) else {
            continue;
        };
        let file_edits = edits_by_file.entry(path.clone());
        let file_edits = file_edits.or_insert_with(|| FileEdits::new(&edit.file));
        let deltas = file_edits.all_alone(&fixes);
        let edits = fixes.concat();
        match deltas.filter(|deltas| file_edits.takes(&edits, deltas)) {
            Some(deltas) => meant.push((path, edits, deltas)),
            None => return false,
        }
    }
    take(meant, edits_by_file);
    true
}

/// The first fix that can be applied, alone.
fn one(choices: &[Choice<'_>]) -> Round {
    let mut dropped = Vec::new();
    for choice in choices.iter().take(MAX_TRIES) {
        let mut alone = round(std::slice::from_ref(choice));
        dropped.append(&mut alone.dropped);
        if !alone.files.is_empty() {
            alone.dropped = dropped;
            return alone;
        }
    }
    Round { dropped, exhausted: choices.len() > MAX_TRIES, ..Round::default() }
}

/// Takes a fix in where it goes together with those before; `false`: not in this round.
fn accept(
    choice: &Choice<'_>,
    aliases: &[(&str, Span)],
    edits_by_file: &mut BTreeMap<Utf8PathBuf, FileEdits>,
) -> Result<bool, Reason> {
    let mut meant = Vec::new();
    let alike = aliases.iter().filter(|(rule, _)| *rule == choice.finding.rule.name).map(|(_, span)| *span);
    let alike: Vec<Span> = alike.collect();
    for (path, edits) in by_file(&choice.fix.edits) {
        let file = edits.first().map(|e| Arc::clone(&e.file));
        let file_edits = match file {
            Some(file) => edits_by_file.entry(path.clone()).or_insert_with(|| FileEdits::new(&file)),
            None => continue,
        };
        let deltas = file_edits.alone(&edits, &alike)?;
        if !file_edits.takes(&edits, &deltas) {
            return Ok(false);
        }
        meant.push((path, edits, deltas));
    }
    take(meant, edits_by_file);
    Ok(true)
}

/// A fix's edits by file.
pub(super) fn by_file(edits: &[Edit]) -> BTreeMap<Utf8PathBuf, Vec<Edit>> {
    let mut out: BTreeMap<Utf8PathBuf, Vec<Edit>> = BTreeMap::new();
    for edit in edits {
        let path = edit.file.path().to_owned();
        out.entry(path).or_default().push(edit.clone());
    }
    out
}

fn take(meant: Vec<(Utf8PathBuf, Vec<Edit>, Vec<Delta>)>, edits_by_file: &mut BTreeMap<Utf8PathBuf, FileEdits>) {
    for (path, edits, deltas) in meant {
        if let Some(file_edits) = edits_by_file.get_mut(&path) {
            file_edits.edits.extend(edits);
            file_edits.deltas.extend(deltas);
        }
    }
}

fn applied(choice: &Choice<'_>) -> Applied {
    Applied {
        rule: choice.finding.rule.name,
        title: choice.fix.title.clone(),
        location: choice.finding.location.clone(),
        build_edits: choice.finding.build_edits(choice.fix).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_that_adds_a_document_is_no_fix() {
        let file = SourceFile::new("a.yaml", "a: 1\n");
        let edit =
            |text: &str| Edit { file: Arc::clone(&file), span: Span { start: 3, end: 4 }, text: text.to_owned() };
        let file_edits = FileEdits::new(&file);
        assert!(file_edits.alone(&[edit("2")], &[]).is_ok());
        let added = file_edits.alone(&[edit("1\n---\nb: 1")], &[]);
        assert!(matches!(added, Err(Reason::Layout)), "{added:?}");
    }
}
