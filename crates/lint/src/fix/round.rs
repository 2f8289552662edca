//! One round: as many fixes as go together.

use hcoplan_yaml::edit::{Reason, apply_and_read, apply_and_verify};
use hcoplan_yaml::parse;

use super::trees::{are_apart, changes, merged_items};
use crate::grouped::identity;
use crate::prelude::*;
use hcoplan_yaml::Style;

/// A finding, and the fix of it that is to be applied.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'f> {
    /// The finding.
    pub finding: &'f Finding,
    /// One of its fixes.
    pub fix: &'f Fix,
}

impl Choice<'_> {
    /// The fix, as applied.
    pub fn applied(&self) -> AppliedFix {
        AppliedFix {
            rule: self.finding.rule.name,
            title: self.fix.title.clone(),
            location: self.finding.location.clone(),
            build_edits: self.finding.build_edits(self.fix).cloned().collect(),
        }
    }

    /// The alias that the finding points at, where it does.
    fn alias(&self) -> Option<Span> {
        let place = self.finding.location.as_ref()?;
        place.text().starts_with('*').then_some(place.span)
    }
}

/// A fix that was applied.
#[derive(Debug)]
pub struct AppliedFix {
    /// The rule's name.
    pub rule: &'static str,
    /// What was done.
    pub title: String,
    /// Where the finding was, in the text before the round.
    pub location: Option<Location>,
    /// What it is to do to builds.
    pub build_edits: Vec<Edit>,
}

impl AppliedFix {
    /// Whether it is a finding's.
    pub fn is_of(&self, finding: &Finding) -> bool {
        let place = self.location.as_ref().map(|at| (at.file.path(), at.span));
        self.rule == finding.rule.name && place == finding.place()
    }
}

/// A fix that was not applied.
#[derive(Debug)]
pub struct DroppedFix {
    /// What it would have done.
    pub fix: AppliedFix,
    /// What is wrong with the result.
    pub why: Reason,
}

/// A file before and after a round.
#[derive(Debug)]
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
    pub applied: Vec<AppliedFix>,
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
        let place = finding.place().map(|(file, span)| (file.to_owned(), span.start));
        (!finding.is_error(), place, finding.rule.name)
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

/// A file with the fixes that were accepted for it.
struct FileEdits {
    before: Rc<EditableFile>,
    edits: Vec<Edit>,
    after: Rc<EditableFile>,
}

impl FileEdits {
    fn new(file: &Arc<SourceFile>) -> Self {
        let before = Rc::new(EditableFile::of(file));
        Self { after: Rc::clone(&before), before, edits: Vec::new() }
    }

    /// The file after fixes alone, if they change the tree only inside of what each of them touches, and at aliases of
    /// it that the same is found at. Several are judged at once where none of them is around another one.
    fn alone(&self, fixes: &[Vec<Edit>], aliases: &[Span]) -> Result<EditableFile, Reason> {
        let edits = fixes.concat();
        if edits.iter().any(|e| e.file.text() != self.before.file().text()) {
            return Err(Reason::Overlap);
        }
        let mut touched: Vec<Path> = fixes.iter().map(|edits| self.touched(edits)).collect();
        touched.sort_unstable();
        // Sorted, what is inside of a path follows it.
        if touched.windows(2).any(|pair| pair[1].starts_with(&pair[0])) {
            return Err(Reason::Overlap);
        }
        let after = apply_and_read(&self.before, &edits)?;
        let (length, text) = (self.before.documents().len(), self.before.file().text());
        // What is inserted at the end may be another document.
        let appends =
            after.documents().len() > length && edits.iter().all(|edit| edit.span.start as usize == text.len());
        if after.documents().len() != length && !appends {
            return Err(Reason::Layout);
        }
        let is_touched = |path: &Path| {
            let nearest = touched.partition_point(|at| at <= path).checked_sub(1);
            nearest.is_some_and(|nearest| path.starts_with(&touched[nearest]))
        };
        let is_added = |path: &Path| matches!(path.0.first(), Some(Segment::Index(index)) if *index >= length);
        let is_meant = |path: &Path| is_touched(path) || is_added(path) || self.is_alias(path, aliases);
        match changes(self.before.documents(), after.documents()).iter().find(|change| !is_meant(change.path())) {
            Some(stray) => Err(Reason::Differs(stray.path().to_pointer())),
            None => Ok(after),
        }
    }

    /// The file with further fixes; `None` where they don't go together with those accepted.
    fn with(&self, fixes: &[Vec<Edit>], aliases: &[Span]) -> Result<Option<Self>, Reason> {
        let after = self.alone(fixes, aliases)?;
        let more = fixes.concat();
        let edits = [&self.edits[..], &more].concat();
        let after = if self.edits.is_empty() {
            Some(after)
        } else if are_apart(&self.edits, &more) {
            let meant = merged_items(self.before.documents(), self.after.documents(), after.documents());
            meant.and_then(|meant| apply_and_verify(&self.before, &edits, &meant).ok())
        } else {
            None
        };
        Ok(after.map(|after| Self { before: Rc::clone(&self.before), edits, after: Rc::new(after) }))
    }

    /// Whether a path, the document's index first, leads through one of these aliases.
    fn is_alias(&self, path: &Path, aliases: &[Span]) -> bool {
        let Some((Segment::Index(index), steps)) = path.0.split_first() else {
            return false;
        };
        let root = self.before.document(*index).map(|d| &d.root);
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
        let mut documents = (0..self.before.documents().len()).filter_map(|index| self.before.document(index));
        let Some(document) = documents.find(|d| d.span.start <= start && end <= d.span.end) else {
            return Path::root();
        };
        let mut path = Path::root().index(document.index);
        path.0.extend(document.root.path_of_smallest(around, false).0);
        path
    }
}

/// How often a round tries fixes out on their files. What is left waits for the next one.
const MAX_TRIES: usize = 256;

/// Applies as many of the fixes as go together; the others are for a next round, whose findings
/// know the files as they are then.
pub fn round(choices: &[Choice<'_>]) -> Round {
    // Where the same is found at an anchor and at its aliases, the anchor is edited.
    let (at_aliases, choices): (Vec<Choice<'_>>, Vec<Choice<'_>>) = choices.iter().partition(|choice| {
        let other = choices.iter().filter(|other| other.finding.rule.name == choice.finding.rule.name);
        let mut other = other.filter(|other| other.finding.file() == choice.finding.file());
        choice.alias().is_some() && other.any(|other| other.alias().is_none())
    });
    let aliases = at_aliases.iter().filter_map(|c| Some((c.finding.rule.name, c.alias()?)));
    let mut open =
        OpenRound { aliases: aliases.collect(), files: BTreeMap::new(), left: MAX_TRIES, out: Round::default() };
    open.accept_all(&choices);
    let OpenRound { files, left, mut out, .. } = open;
    out.exhausted = left == 0;
    for (path, file) in files.into_iter().filter(|(_, file)| !file.edits.is_empty()) {
        let before = Arc::clone(file.before.file());
        let text = with_line_breaks_of(&before, file.after.file().text().to_owned());
        out.files.insert(path, Rewritten { before, text });
    }
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

/// A round under way.
struct OpenRound {
    /// The aliases where a rule finds the same as at the anchor.
    aliases: Vec<(&'static str, Span)>,
    files: BTreeMap<Utf8PathBuf, FileEdits>,
    /// How often fixes may still be tried out.
    left: usize,
    out: Round,
}

impl OpenRound {
    /// Takes in as many fixes as go together: all at once where they do, else half by half. To read a file again
    /// for each of them would take the square of their number.
    fn accept_all(&mut self, choices: &[Choice<'_>]) {
        if choices.is_empty() || self.left == 0 {
            return;
        }
        self.left -= 1;
        match (self.accept(choices), choices) {
            (Ok(true), _) => self.out.applied.extend(choices.iter().map(Choice::applied)),
            (Ok(false), [_]) => {}
            (Err(why), [choice]) => self.out.dropped.push(DroppedFix { fix: choice.applied(), why }),
            _ => {
                let (first, second) = choices.split_at(choices.len() / 2);
                self.accept_all(first);
                self.accept_all(second);
            }
        }
    }

    /// Takes fixes in where they go together, and with those before; `false`: not in this round.
    fn accept(&mut self, choices: &[Choice<'_>]) -> Result<bool, Reason> {
        let mut fixes: BTreeMap<Utf8PathBuf, Vec<Vec<Edit>>> = BTreeMap::new();
        for (path, edits) in choices.iter().flat_map(|choice| by_file(&choice.fix.edits)) {
            fixes.entry(path).or_default().push(edits);
        }
        let alike = self.aliases.iter().filter(|(rule, _)| choices.iter().any(|c| c.finding.rule.name == *rule));
        let alike: Vec<Span> = alike.map(|(_, span)| *span).collect();
        let mut accepted = Vec::new();
        for (path, fixes) in fixes {
            let file = self.files.entry(path.clone()).or_insert_with(|| FileEdits::new(&fixes[0][0].file));
            match file.with(&fixes, &alike)? {
                Some(file) => accepted.push((path, file)),
                None => return Ok(false),
            }
        }
        self.files.extend(accepted);
        Ok(true)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_that_adds_a_document_is_no_fix() {
        let file = SourceFile::new("a.yaml", "a: 1\n");
        let edit =
            |text: &str| Edit { file: Arc::clone(&file), span: Span { start: 3, end: 4 }, text: text.to_owned() };
        let file_edits = FileEdits::new(&file);
        assert!(file_edits.alone(&[vec![edit("2")]], &[]).is_ok());
        let added = file_edits.alone(&[vec![edit("1\n---\nb: 1")]], &[]);
        assert!(matches!(added, Err(Reason::Layout)), "{added:?}");
    }
}
