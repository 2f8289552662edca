//! Builds the document of a change: the verdict, then a story per cause, the worst first.

use super::super::{findings, sarif};
use super::{places, shown_pair, value_on_a_line};
use crate::changes::Changes;
use crate::document::{Block, Level, Text};
use crate::document::{DiffLine, Entry as Row, Sign};
use crate::plural;
use crate::prelude::*;
use crate::text::left;
use hcoplan_analysis::review::{
    Entry, FieldLine, FindingLine, InputDifference, ObjectLine, Story, cluster_names, list,
};
use hcoplan_explain::diff::semantic::Impact;
use hcoplan_planner::inventory::UpdateMethod;
use similar::{ChangeTag, TextDiff};

/// The rules that report what is assumed of a cluster, and what that is.
const ASSUMED: [(&str, &str); 4] = [
    ("release-assumed", "the release"),
    ("release-not-modelled", "the nearest modelled release"),
    ("platform-assumed", "the platform"),
    ("nodes-assumed", "the nodes"),
];

/// Maximum lines of a story's objects without `--verbose`.
const MAX_LINES: usize = 11;

/// Operands of which a cluster has one each: their kind names them.
const OPERANDS: [&str; 6] = ["KubeVirt", "CDI", "NetworkAddonsConfig", "SSP", "AAQ", "MigController"];

/// Maximum names or causes in a line; the rest is counted.
const MAX_NAMES: usize = 4;
const MAX_CAUSES: usize = 3;

/// Maximum length of a value printed in one line with its replacement, in characters.
const SHORT_VALUE: usize = 50;

/// Maximum length of a value without `--verbose`, in characters.
const MAX_VALUE_CHARS: usize = 600;

/// Builds the blocks of one comparison.
pub(crate) struct View<'a> {
    pub(super) changes: &'a Changes<'a>,
    pub(super) review: &'a Review<'a>,
}

impl<'a> View<'a> {
    pub(crate) fn new(changes: &'a Changes<'a>, review: &'a Review<'a>) -> Self {
        Self { changes, review }
    }

    /// Whether `--verbose` is given.
    pub(super) fn is_verbose(&self) -> bool {
        self.changes.terminal.verbose
    }

    /// The verdict at the top.
    pub(crate) fn verdict(&self) -> (Level, Text) {
        (self.review.level, self.review.verdict().into())
    }

    /// The cause of the verdict, where no other line can be read before it, else the verdict.
    pub(crate) fn headline(&self) -> (Level, Text) {
        let Some((sentence, in_clusters, is_certain)) = self.review.cause(1) else {
            return self.verdict();
        };
        // Its first clause; a colon in code doesn't end it.
        let mut ends = sentence.match_indices(": ").map(|(at, _)| sentence.split_at(at).0);
        let first = ends.find(|clause| clause.matches('`').count() % 2 == 0).unwrap_or(&sentence);
        let text = Text::from(if is_certain { "" } else { "possibly: " }).plain(first);
        let names = self.names(in_clusters);
        (self.review.level, if self.review.compared > 1 { text.plain(" (").then(names).plain(")") } else { text })
    }

    /// The verdict below a headline that is something else.
    pub(crate) fn counts(&self) -> Option<Block> {
        let verdict = self.review.verdict();
        let says_more = self.review.compared > 1 || verdict.contains(';');
        (self.review.cause(1).is_some() && says_more).then(|| Block::Paragraph(verdict.into()))
    }

    /// The last line: verdict, counts and next command.
    pub(crate) fn last(&self) -> (Level, Text) {
        let mut text = Text::new().strong(self.review.short_verdict()).plain(format!("; {}", self.review.totals()));
        if let Some(next) = self.next() {
            text = text.plain(format!("; next: `{next}`"));
        }
        (self.review.level, text)
    }

    /// The most useful next command.
    fn next(&self) -> Option<String> {
        let found = self.review.added.iter().map(|line| line.finding).chain(self.review.shown_again());
        let is_worth_a_look = found.into_iter().any(|f| f.severity >= Severity::Warning);
        if is_worth_a_look {
            return Some(self.changes.typed.about_same("lint", None));
        }
        self.is_cut().then(|| format!("{} --verbose", self.changes.typed.command))
    }

    /// Whether objects are counted instead of listed.
    fn is_cut(&self) -> bool {
        !self.is_verbose() && self.review.stories.iter().any(|story| self.lines_of(story).len() > MAX_LINES)
    }

    /// The two sides, and how the manifest is applied if not as `kubectl apply` does.
    pub(crate) fn sides(&self) -> Block {
        let mut text = format!("from {} to {}", self.changes.before, self.changes.after);
        // A cluster that is alone isn't named.
        let place = |word: &str, names: &[&str]| match self.changes.compared {
            1 => String::new(),
            _ => format!(" {word} {}", clusters(names)),
        };
        for method in UpdateMethod::ALL.into_iter().filter(|method| *method != UpdateMethod::default()) {
            let of = |diff: &'a ClusterDiff| {
                diff.update.as_ref().filter(|(m, _)| *m == method).map(|(_, by)| (&*diff.cluster, &**by))
            };
            let (names, mut sources): (Vec<_>, Vec<_>) =
                self.changes.clusters.iter().filter(|diff| diff.whole.is_none()).filter_map(of).unzip();
            if names.is_empty() {
                continue;
            }
            sources.dedup();
            let how = match method {
                UpdateMethod::Replace => "with replace",
                _ => method.as_str(),
            };
            text.push_str(&format!(", applied {how}{} ({})", place("in", &names), list(&sources, 1)));
        }
        for (names, facts) in self.assumed() {
            text.push_str(&format!(", assuming {}{}", list(&facts, ASSUMED.len()), place("of", &names)));
        }
        Block::soft(text)
    }

    /// What is assumed of the clusters that differ, by clusters, as the infos about it say.
    fn assumed(&self) -> BTreeMap<Vec<&'a str>, Vec<&'static str>> {
        let differ = |name: &&str| self.changes.clusters.iter().any(|diff| *diff.cluster == **name);
        let mut out: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (rule, fact) in ASSUMED {
            let found = self.changes.findings.iter().filter(|finding| finding.rule.name == rule);
            let mut names: Vec<&str> = found.flat_map(Finding::clusters).filter(differ).collect();
            names.sort_unstable();
            names.dedup();
            if !names.is_empty() {
                out.entry(names).or_default().push(fact);
            }
        }
        out
    }

    /// The stories. With `objects`, each with the objects that it changes; else these are together at the end, folded.
    pub(crate) fn stories(&self, objects: bool) -> Vec<Block> {
        let mut out = Vec::new();
        let (plain, telling): (Vec<_>, Vec<_>) = self.review.stories.iter().partition(|story| story.is_plain());
        for story in telling.into_iter().chain(plain.into_iter().filter(|_| objects)) {
            out.extend(self.heading(story));
            out.extend(Block::story(self.rows(story)));
            if objects {
                out.extend(self.objects_of(story));
            }
        }
        out.extend(self.existing());
        if !objects {
            out.extend(self.objects());
        }
        out
    }

    /// The cause with its location and values, and the clusters.
    fn heading(&self, story: &Story<'a>) -> Option<Block> {
        let causes = story.causes.iter().take(MAX_CAUSES).map(|cause| self.cause(cause));
        let mut text = Text::join(causes, " + ");
        if let Some(more) = left(&story.causes, MAX_CAUSES) {
            text = text.plain(format!(" + {}", plural(more, "more difference")));
        }
        let note = match (story.whole, story.moved_from) {
            (Some(Kind::Add), _) => " (new)".to_owned(),
            (Some(Kind::Remove), _) => " (no longer applied)".to_owned(),
            (_, Some(from)) => format!(" (before at {from})"),
            _ => String::new(),
        };
        let names = (self.review.compared > 1 || text.is_empty() || !note.is_empty())
            .then(|| self.names(&story.clusters).soft(note))
            .filter(|names| !names.is_empty());
        let heading = Text::join([text].into_iter().chain(names), " · ");
        let heading = if heading.is_empty() { Text::from("In the repository") } else { heading };
        Some(Block::Heading(2, heading))
    }

    /// `hyperconverged.yaml:7  ~ spec.evictionStrategy: LiveMigrate → None`.
    fn cause(&self, cause: &InputDifference<'_>) -> Text {
        let place = places(self.changes, cause);
        let sign = match (cause.gone, cause.is_new) {
            (true, _) => "-",
            (_, true) => "+",
            _ => "~",
        };
        let (before, after) = shown_pair(cause.what, cause.before, cause.after);
        let short = |value: Option<&Value>| {
            let text = value.map(value_on_a_line)?;
            (text.chars().count() <= SHORT_VALUE).then_some(text)
        };
        let values = match (short(before.as_ref()), short(after.as_ref())) {
            (Some(before), Some(after)) => format!(": {before} → {after}"),
            (None, Some(one)) | (Some(one), None) if before.is_none() || after.is_none() => format!(": {one}"),
            _ => String::new(),
        };
        let place = place.map_or_else(String::new, |place| format!("{place}: "));
        let annotation = cause.what.strip_prefix("metadata.annotations[\"").and_then(|rest| rest.strip_suffix("\"]"));
        let what = annotation.map_or_else(|| cause.what.to_owned(), |name| format!("annotation {name}"));
        format!("{place}{sign} {what}{values}").into()
    }

    pub(super) fn names(&self, names: &[&str]) -> Text {
        if self.is_verbose() { cluster_names(names).into() } else { clusters(names).into() }
    }

    /// The consequences and findings of a story.
    fn rows(&self, story: &Story<'a>) -> Vec<Row> {
        let with_place = |entry: &Entry<'a>| {
            let mut row = self.entry(entry);
            let mut places = entry.rules.iter().filter_map(|f| f.location.as_ref());
            if let Some(place) =
                places.find(|place| !is_at(&story.causes, place)).filter(|_| entry.effect.place.is_none())
            {
                row.place = row.place.plain(" ").then(self.changes.place(place));
            }
            self.in_clusters(row, &entry.clusters, story.clusters.len())
        };
        let mut out: Vec<Row> = story.effects.iter().map(with_place).collect();
        let of = story.clusters.len();
        let found = story.findings.iter().map(|line| (self.finding(line, &story.causes), &line.clusters));
        out.extend(found.map(|(row, clusters)| self.in_clusters(row, clusters, of)));
        for (line, more) in self.first_of_rules(&story.removed) {
            let text = Text::new().soft("no longer: ").plain(line.finding.message.as_str()).soft(more);
            let mut row = Row::new(Level::Good, "", text);
            row.place = rules(&[line.finding]);
            out.push(self.in_clusters(row, &line.clusters, of));
        }
        // An action that several rows share is printed below the last one.
        for at in 1..out.len() {
            if matches!(out[at - 1].notes.as_slice(), [one] if out[at].notes.first() == Some(one)) {
                out[at - 1].notes.clear();
            }
        }
        if self.changes.is_short {
            let all = out.len();
            out.retain(|row| row.level <= Level::Warn);
            let harmless = all - out.len();
            let text = format!("{} without harm", plural(harmless, "effect"));
            out.extend((harmless > 0).then(|| Row::new(Level::Calm, "", Text::new().soft(text))));
        }
        out
    }

    pub(super) fn entry(&self, entry: &Entry<'_>) -> Row {
        let effect = &entry.effect;
        let releases = Some(entry.releases.join(", ")).filter(|releases| !releases.is_empty());
        let label = joined(releases.as_deref().into_iter().chain((!effect.certain).then_some("possibly")), ": ");
        let most = if self.is_verbose() { usize::MAX - 1 } else { MAX_NAMES };
        let level = entry.level();
        let mut row = Row::new(level, Text::new().level(level, label), entry.sentence(most));
        row.place = rules(&entry.rules);
        row.anchor = entry.rules.first().map(|f| findings::anchor(f));
        // A refusal's finding knows better what to do; after an improvement nothing is left to do.
        let action = effect.action.as_deref();
        let own = action.filter(|_| !effect.is_refusal);
        let is_problem = |f: &&Finding| f.severity > Severity::Info && effect.impact != Impact::Better;
        let found: Vec<&Finding> = entry.rules.iter().copied().filter(is_problem).collect();
        let help = || entry.rules.first().filter(|_| effect.is_refusal)?.help.as_deref();
        let other = || help().or(action).map(Text::from);
        if let Some(action) = self.action(own, &found, &entry.clusters).or_else(other) {
            row.note("do", action);
        }
        if let Some(place) = &effect.place {
            row.note("at", self.changes.place(place));
        }
        row
    }

    /// What to do: as the effect says, else the command that fixes a finding.
    fn action(&self, action: Option<&str>, found: &[&Finding], clusters: &[&str]) -> Option<Text> {
        let command = |f: &&Finding| {
            let rule = f.rule.name;
            let fix = f.best_fix()?;
            let options = match fix.applicability {
                Applicability::Suggestion => format!("--choose {rule}=1 --write"),
                Applicability::Unsafe => format!("--select {rule} --unsafe --write"),
                Applicability::Safe => format!("--select {rule} --write"),
            };
            // It changes no other cluster.
            let one = clusters.first().copied().filter(|_| clusters.len() == 1 && self.changes.compared > 1);
            let command = Text::new().code(format!("{} {options}", self.changes.typed.about_same("fix", one)));
            let title = || Text::from(fix.title.as_str()).plain(" (").then(command.clone()).plain(")");
            Some(if self.is_verbose() { title() } else { command })
        };
        // An info's choice is explained by its help.
        let is_meant = |f: &&&Finding| f.severity > Severity::Info || f.fixability() == Some(Applicability::Safe);
        let fix = found.iter().filter(|f| !f.is_existing).filter(is_meant).find_map(command);
        action.map(Text::from).or(fix)
    }

    /// A finding that an upgrade brings, with its clusters.
    pub(super) fn upgrade_finding(&self, line: &FindingLine<'_>) -> Row {
        self.in_clusters(self.finding(line, &[]), &line.clusters, self.review.counts.differing)
    }

    /// A row with its clusters, unless these are all.
    pub(super) fn in_clusters(&self, mut row: Row, clusters: &[&str], all: usize) -> Row {
        if clusters.len() < all {
            let between = if row.place.is_empty() { "· " } else { " · " };
            row.place = row.place.plain(between).then(self.names(clusters));
        }
        row
    }

    fn finding(&self, line: &FindingLine<'_>, causes: &[InputDifference<'_>]) -> Row {
        let finding = line.finding;
        let mut row = Row::new(finding.severity.into(), "", finding.message.as_str());
        row.place = rules(&[finding]);
        let help = || Some(Text::from(finding.help.as_deref()?));
        if let Some(action) = self.action(None, &[finding], &line.clusters).or_else(help) {
            row.note("do", action);
        }
        if let Some(place) = finding.location.as_ref().filter(|place| !is_at(causes, place)) {
            row.note("at", self.changes.place(place));
        }
        row
    }

    /// Findings that are no problem of the change: of a rule only the first, with the number of the others.
    fn first_of_rules<'l, 'f>(&self, lines: &'l [FindingLine<'f>]) -> Vec<(&'l FindingLine<'f>, String)> {
        let mut out: Vec<(&FindingLine<'f>, usize)> = Vec::new();
        for line in lines {
            let same = |(first, _): &&mut (&FindingLine<'f>, usize)| first.finding.rule.name == line.finding.rule.name;
            match out.iter_mut().find(same).filter(|_| !self.is_verbose()) {
                Some((_, more)) => *more += 1,
                None => out.push((line, 0)),
            }
        }
        let more = |n| if n > 0 { format!(" (and {n} more like it)") } else { String::new() };
        out.into_iter().map(|(line, n)| (line, more(n))).collect()
    }

    /// Important findings that were there before, and the number of others.
    fn existing(&self) -> Vec<Block> {
        let lines = self.review.shown_again_as_lines();
        let mut out = Vec::new();
        if !lines.is_empty() {
            out.push(Block::Heading(2, "Errors from before".into()));
            let rows = self.first_of_rules(&lines).into_iter().map(|(line, more)| {
                // Not a problem of the change.
                let text = Text::new().plain(line.finding.message.as_str()).soft(more);
                let mut row = Row::new(Severity::Info.into(), "", text);
                row.place = rules(&[line.finding]);
                let place = line.finding.location.as_ref().map(|place| self.changes.place(place));
                let names = (line.clusters.len() > 1).then(|| self.names(&line.clusters));
                row.note("at", Text::join(place.into_iter().chain(names), " · "));
                row
            });
            out.extend(Block::story(rows.collect()));
        }
        out.extend(self.rest().filter(|_| !self.changes.is_short).map(Block::soft));
        out
    }

    /// The number of existing findings not shown.
    fn rest(&self) -> Option<String> {
        let shown = self.review.shown_again();
        let of = |severity| {
            let of = |findings: &[&Finding]| findings.iter().filter(|f| f.severity == severity).count();
            of(&self.review.standing) - of(&shown)
        };
        let counts = [Severity::Warning, Severity::Info].map(|severity| (of(severity), severity));
        let counts = counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, severity)| plural(n, severity.as_str()));
        let counts: Vec<String> = counts.collect();
        // Infos alone aren't worth a line.
        let is_shown = of(Severity::Warning) > 0 || self.is_verbose();
        (!counts.is_empty() && is_shown).then(|| {
            format!("{} from before, shown by `{}`", counts.join(" and "), self.changes.typed.about_same("lint", None))
        })
    }

    /// All changed objects, folded.
    pub(crate) fn objects(&self) -> Option<Block> {
        let mut blocks = Vec::new();
        if self.changes.is_short {
            let line = |story: &Story<'_>| {
                let line = self.counted(story.whole.unwrap_or(Kind::Change), story)?;
                Some(DiffLine { text: self.names(&story.clusters).plain(": ").then(line.text), ..line })
            };
            blocks.push(Block::Diff(self.review.stories.iter().filter_map(line).collect()));
        }
        for story in self.review.stories.iter().filter(|_| !self.changes.is_short) {
            let lines = self.objects_of(story);
            if !lines.is_empty() {
                blocks.extend(self.heading(story));
                blocks.extend(lines);
            }
        }
        (!blocks.is_empty()).then(|| Block::Folded(format!("Objects: {}", self.review.totals()).into(), blocks))
    }

    /// The objects that a story changes; many are counted without `--verbose`.
    fn objects_of(&self, story: &Story<'_>) -> Vec<Block> {
        let lines = self.lines_of(story);
        if lines.is_empty() {
            return Vec::new();
        }
        if lines.len() > MAX_LINES && !self.is_verbose() {
            // A value stays with the one that it replaces.
            let is_replaced = |last: &DiffLine| last.depth > 0 && last.sign == Sign::Remove;
            let parted = is_replaced(&lines[MAX_LINES - 1]) && lines[MAX_LINES].sign == Sign::Add;
            let mut shown: Vec<DiffLine> = lines.into_iter().take(MAX_LINES - usize::from(parted)).collect();
            let total: usize = story.objects.iter().map(|object| object.names.len()).sum();
            let text = format!("… {}; `--verbose` lists all", plural(total, "object"));
            shown.push(DiffLine::new(Sign::Note, 0, Text::new().soft(text)));
            return vec![Block::Diff(shown)];
        }
        vec![Block::Diff(lines)]
    }

    fn lines_of(&self, story: &Story<'_>) -> Vec<DiffLine> {
        match story.whole {
            Some(kind) => self.counted(kind, story).into_iter().collect(),
            None => story.objects.iter().flat_map(|line| self.object(line, story.clusters.len())).collect(),
        }
    }

    /// The objects of a story by kind, as of a cluster that is added or removed as a whole.
    fn counted(&self, kind: Kind, story: &Story<'_>) -> Option<DiffLine> {
        let mut counts = BTreeMap::<&str, usize>::new();
        for line in &story.objects {
            *counts.entry(line.object_kind).or_default() += line.names.len();
        }
        let total: usize = counts.values().sum();
        let kinds: Vec<String> =
            counts.iter().map(|(kind, n)| if *n == 1 { (*kind).to_owned() } else { format!("{n} {kind}") }).collect();
        let each = if story.clusters.len() > 1 { " each" } else { "" };
        let text = format!("{}{each}: {}", plural(total, "object"), kinds.join(", "));
        (total > 0).then(|| DiffLine::new(sign(kind), 0, text))
    }

    fn object(&self, object: &ObjectLine<'_>, all: usize) -> Vec<DiffLine> {
        let kind = object.object_kind;
        let title = match (object.names.as_slice(), object.namespace) {
            ([_], _) if OPERANDS.contains(&kind) => kind.to_owned(),
            ([one], None) => format!("{kind} {one}"),
            ([one], Some(namespace)) => format!("{kind} {namespace}/{one}"),
            (many, None) => format!("{} {kind}: {}", many.len(), list(many, MAX_NAMES)),
            (many, Some(namespace)) => format!("{} {kind} in {namespace}: {}", many.len(), list(many, MAX_NAMES)),
        };
        let instead = match object.instead_of.as_slice() {
            [] => String::new(),
            [one] => format!(" in the place of {one}"),
            others => {
                let is_longer = object.names.iter().any(|name| others.iter().any(|other| name.starts_with(&**other)));
                let with = if is_longer { "without" } else { "with" };
                format!(" each in the place of one {with} the architecture in its name")
            }
        };
        let some = object.clusters.len() < all;
        let place = if some { Text::new().soft(" · ").then(self.names(&object.clusters)) } else { Text::new() };
        let mut fields: Vec<DiffLine> = object.fields.iter().flat_map(|field| self.field(field)).collect();
        // One changed field is on the line of its object.
        if let ([one], Kind::Change) = (fields.as_mut_slice(), object.kind) {
            let text = Text::from(format!("{title} ")).then(one.text.clone()).then(place);
            return vec![DiffLine { depth: 0, text, ..one.clone() }];
        }
        let mut out = vec![DiffLine::new(sign(object.kind), 0, Text::from(format!("{title}{instead}")).then(place))];
        if object.kind == Kind::Change {
            out.append(&mut fields);
        }
        out
    }

    fn field(&self, field: &FieldLine<'_>) -> Vec<DiffLine> {
        let each = if field.varies { " (each its own)" } else { "" };
        let (before, after) = shown_pair(field.path, field.before, field.after);
        let lines = |text: Option<&Value>| text.and_then(Value::as_str).filter(|t| t.contains('\n')).map(str::to_owned);
        if let (Some(a), Some(b)) = (lines(before.as_ref()), lines(after.as_ref())) {
            return self.text(&format!("{}{each}", field.label), &a, &b);
        }
        let shown = |value: Option<&Value>| value.map(|v| self.cut(value_on_a_line(v)));
        let line = |sign, value: &str| DiffLine::new(sign, 1, format!("{}{value}", field.label));
        match (shown(before.as_ref()), shown(after.as_ref())) {
            (None, None) => vec![line(Sign::Change, each)],
            (Some(before), Some(after)) if before.len() + after.len() <= SHORT_VALUE => {
                vec![line(Sign::Change, &format!(": {before} → {after}{each}"))]
            }
            (Some(before), None) => vec![line(Sign::Remove, &format!(": {before}{each}"))],
            (before, after) => {
                let before = before.map(|before| line(Sign::Remove, &format!(": {before}")));
                before.into_iter().chain(after.map(|after| line(Sign::Add, &format!(": {after}{each}")))).collect()
            }
        }
    }

    /// The changed lines of a multi-line text.
    fn text(&self, label: &str, before: &str, after: &str) -> Vec<DiffLine> {
        let mut out = vec![DiffLine::new(Sign::Change, 1, format!("{label}:"))];
        for change in TextDiff::from_lines(before, after).iter_all_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => continue,
                ChangeTag::Delete => Sign::Remove,
                ChangeTag::Insert => Sign::Add,
            };
            out.push(DiffLine::new(sign, 2, change.value().trim_end()));
        }
        out
    }

    /// Cuts a long value unless `--verbose` is given.
    fn cut(&self, value: String) -> String {
        let count = value.chars().count();
        if self.is_verbose() || count <= MAX_VALUE_CHARS {
            return value;
        }
        let shown: String = value.chars().take(MAX_VALUE_CHARS).collect();
        format!("{shown} … {} more characters", count - MAX_VALUE_CHARS)
    }
}

/// Whether a place is on a line of a cause.
fn is_at(causes: &[InputDifference<'_>], place: &Location) -> bool {
    let same = |other: &&Location| {
        let lines = other.start().line..=other.end().line;
        other.file.path() == place.file.path() && lines.contains(&place.start().line)
    };
    causes.iter().flat_map(|cause| &cause.places).any(same)
}

/// The names of rules, linked to their pages: `[tls-profile-weak]`.
fn rules(findings: &[&Finding]) -> Text {
    let mut seen = BTreeSet::new();
    let mut names: Vec<&str> = findings.iter().map(|f| f.rule.name).collect();
    names.retain(|name| seen.insert(*name));
    let names = names.into_iter().map(|name| Text::new().link(name, sarif::page(name)));
    let names = Text::join(names, ", ");
    if names.is_empty() { names } else { Text::from("[").then(names).plain("]") }
}

fn sign(kind: Kind) -> Sign {
    match kind {
        Kind::Add => Sign::Add,
        Kind::Change => Sign::Change,
        Kind::Remove => Sign::Remove,
    }
}
