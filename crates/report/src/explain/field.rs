//! `hcoplan explain KubeVirt.spec.configuration.migrations`: fields of operands and of the HyperConverged, from the
//! releases' data.

use crate::prelude::*;
use crate::text::{cut, left};
use crate::wrap_lines;
use hcoplan_analysis::{Failure, of_nothing};
use hcoplan_diagnostics::finding::nearest;
use hcoplan_explain::diff::semantic::{Lists, differences};
use hcoplan_explain::docs::{FieldDoc, Term, TermKind, plain, resolve, steps};
use hcoplan_kubernetes::schema::Schema;
use hcoplan_kubernetes::tree::{elements, members};
use hcoplan_planner::admission::KIND;
use hcoplan_planner::plan::Plan;
use hcoplan_yaml::{Path, Segment, emit};
use std::fmt::Write;

/// Maximum lines of a value.
const MAX_LINES: usize = 24;

/// Maximum listed connections between a field and the HyperConverged's fields.
const MAX_FEEDS: usize = 24;

/// Maximum fields of operands listed as added or removed.
const MAX_CHANGED_FEEDS: usize = 6;

/// A field in one release and one API version.
struct FieldVersion {
    release: Arc<Release>,
    api_version: String,
    path: Path,
    doc: FieldDoc,
    /// The value where the HyperConverged sets none.
    unset: Option<Value>,
}

/// Whether a text looks like a field: `Kind.spec…`.
pub(super) fn is_field(text: &str) -> bool {
    let kind = text.split('.').next().unwrap_or(text);
    let kind = full_name(kind);
    let is_path = !text.contains('/') || text.contains(".spec.");
    is_path && (text.contains('.') || kinds().iter().any(|k| k.eq_ignore_ascii_case(kind)))
}

/// The kind for kubectl's short name or plural, else the text itself.
fn full_name(kind: &str) -> &str {
    let term = Term::named(&kind.to_lowercase()).filter(|term| term.kind == TermKind::Kind);
    term.map_or(kind, |term| &term.name)
}

/// The kinds of all releases.
pub fn kinds() -> Vec<String> {
    let mut out = Vec::new();
    for release in releases(None) {
        out.extend(schemas_of(&release).map(|schema| schema.kind().to_owned()));
    }
    out.sort();
    out.dedup();
    out
}

/// The releases of the distribution of `of`; by default upstream's.
pub(super) fn releases(of: Option<&Arc<Release>>) -> Vec<Arc<Release>> {
    let upstream = || Release::known_names().filter_map(Release::known).collect();
    of.map_or_else(upstream, |release| release.releases_of_distribution())
}

/// The schemas of a release.
fn schemas_of(release: &Release) -> impl Iterator<Item = &Schema> {
    release.schema_names().filter_map(|name| release.schema(name))
}

/// The fields that match a path without a kind, each with its kind: by the whole path, with or without `spec`, else by
/// the last segments. The HyperConverged's fields come first, then newer releases.
pub(super) fn qualified(text: &str) -> Vec<String> {
    let kind = full_name(text.split(['.', '[']).next().unwrap_or(text));
    let is_kind = kinds().iter().any(|k| k.eq_ignore_ascii_case(kind));
    let Some(steps) = steps(text).filter(|s| !is_kind && !s.is_empty()) else {
        return Vec::new();
    };
    let releases = releases(None);
    let schemas = releases.iter().flat_map(|release| schemas_of(release));
    let mut schemas: Vec<&Schema> = schemas.collect();
    schemas.reverse();
    let (own, others): (Vec<&Schema>, Vec<&Schema>) = schemas.into_iter().partition(|s| s.kind() == KIND);
    let wholes = [text.to_owned(), format!("spec.{text}")];
    for (schemas, whole) in [&own, &others].into_iter().flat_map(|schemas| wholes.iter().map(move |w| (schemas, w))) {
        if let Some(schema) = schemas.iter().find(|s| resolve(s, whole).is_ok_and(|path| !path.0.is_empty())) {
            return vec![format!("{}.{whole}", schema.kind())];
        }
    }
    let wanted: Vec<&String> = steps.iter().filter(|step| !step.starts_with('[')).collect();
    let ends = |path: &Path, same: fn(&str, &str) -> bool| {
        let keys = path.to_string().replace("[0]", "");
        let keys: Vec<&str> = keys.split('.').collect();
        let last = keys.len().checked_sub(wanted.len()).and_then(|at| keys.get(at..));
        keys.first() == Some(&"spec") && last.is_some_and(|last| last.iter().zip(&wanted).all(|(a, b)| same(a, b)))
    };
    let sames: [fn(&str, &str) -> bool; 2] = [|a, b| a == b, |a, b| plain(a) == plain(b)];
    for (same, schemas) in sames.into_iter().flat_map(|same| [(same, &own), (same, &others)]) {
        for schema in schemas {
            let all = schema.all_fields().into_iter().filter(|path| ends(path, same));
            let found: Vec<String> = all.map(|path| format!("{}.{path}", schema.kind()).replace("[0]", "")).collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

/// The page of the fields that match a path without a kind; `None` if no field does.
pub(super) fn page_of_named(text: &str, release: Option<&Arc<Release>>) -> Option<Result<String, Failure>> {
    match qualified(text).as_slice() {
        [] => None,
        [only] => Some(page(only, release)),
        several => {
            let mut out = format!("{} fields have this name (`hcoplan explain FIELD`):\n\n", several.len());
            several.iter().for_each(|field| out.push_str(&format!("  {field}\n")));
            Some(Ok(out))
        }
    }
}

/// For a path that starts as the HyperConverged's fields do but names none: the path, and the most similar field.
fn lost_in_hyperconverged(text: &str) -> Option<(String, String)> {
    text.strip_prefix("spec.")?;
    let message = format!("{KIND} has no field {text}");
    let help = match meant_in_hyperconverged(text) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("`hcoplan explain {KIND}` lists what there is"),
    };
    Some((message, help))
}

/// The HyperConverged's field with the path most similar to this one.
pub(super) fn meant_in_hyperconverged(text: &str) -> Option<String> {
    let (parent, _) = text.rsplit_once('.')?;
    let releases = releases(None);
    let schemas = releases.iter().rev().flat_map(|release| schemas_of(release)).filter(|s| s.kind() == KIND);
    // Prefer versions that have the parent field.
    let (near, far): (Vec<&Schema>, Vec<&Schema>) = schemas.partition(|schema| resolve(schema, parent).is_ok());
    let asked = if near.is_empty() { far } else { near };
    asked.into_iter().find_map(|s| resolve(s, text).err()?)
}

/// The page of a field in all releases of the distribution of `of`; by default upstream's.
pub(super) fn page(text: &str, of: Option<&Arc<Release>>) -> Result<String, Failure> {
    let (kind, dotted) = text.split_once('.').unwrap_or((text, ""));
    let known = kinds();
    let kind = full_name(kind);
    let Some(kind) = known.iter().find(|k| k.eq_ignore_ascii_case(kind)) else {
        if let Some((lost, help)) = lost_in_hyperconverged(text) {
            return Err(Failure::usage(lost, help));
        }
        let help = match nearest(kind, known.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("there are {}", known.join(", ")),
        };
        return Err(Failure::usage(format!("there is no kind {kind:?}"), help));
    };
    let mut releases = releases(of);
    // Two vendor versions may be built from one release.
    releases.dedup_by(|a, b| a.name() == b.name() && a.patched().is_none());
    let has = |release: &Release| schemas_of(release).any(|s| s.kind() == kind && resolve(s, dotted).is_ok());
    let there = releases.iter().filter(|r| has(r)).map(|r| r.label().to_owned());
    let there: Vec<String> = there.collect();
    // Omit releases later than the requested one.
    if let Some(at) = of.and_then(|of| releases.iter().position(|r| r.label() == of.label())) {
        releases.truncate(at + 1);
    }
    let plans: Vec<Plan> = releases.iter().map(|r| of_nothing(r, "v1beta1").plan).collect();
    let mut versions: BTreeMap<String, Vec<FieldVersion>> = BTreeMap::new();
    let mut lost = None;
    for (release, plan) in releases.iter().zip(&plans) {
        for schema in schemas_of(release).filter(|s| s.kind() == kind) {
            match resolve(schema, dotted) {
                Ok(path) => {
                    let seen = see(release, schema, plan, path);
                    seen.into_iter().for_each(|s| versions.entry(s.api_version.clone()).or_default().push(s));
                }
                Err(meant) => lost = meant.map(|m| format!("did you mean {m}?")).or(lost),
            }
        }
    }
    if let Some(of) = of {
        versions.retain(|_, seen| seen.last().is_some_and(|s| s.release.label() == of.label()));
    }
    if versions.is_empty() {
        if of.is_some() && !there.is_empty() {
            lost = Some(format!("it is there in {}", there.join(", ")));
        }
        let help = lost.unwrap_or_else(|| format!("`hcoplan explain {kind}` lists what there is"));
        return Err(Failure::usage(
            match of {
                Some(of) => format!("{kind} of {} has no field {dotted}", of.label()),
                None => format!("{kind} has no field {dotted}"),
            },
            help,
        ));
    }
    let mut out = String::new();
    for (version, seen) in &versions {
        if !out.is_empty() {
            out.push('\n');
        }
        let path = seen.last().map(|s| s.path.to_string().replace("[0]", "")).unwrap_or_default();
        let field = if path.is_empty() { kind.clone() } else { format!("{kind}.{path}") };
        let _ = writeln!(out, "{field} ({version})");
        version_page(&mut out, kind, seen, &releases);
    }
    let last = versions.values().flatten().find_map(|seen| match seen.path.0.last() {
        Some(Segment::Key(key)) if key.chars().any(char::is_uppercase) => Some(key.as_str()),
        _ => None,
    });
    out.push_str(&last.map(read_on).unwrap_or_default());
    Ok(out)
}

fn see(release: &Arc<Release>, schema: &Schema, plan: &Plan, path: Path) -> Option<FieldVersion> {
    let of_nothing = |version: &str| of_nothing(release, version).plan.admission.stored;
    let unset = if schema.kind() == KIND {
        of_nothing(schema.version()).and_then(|stored| path.get(&stored).cloned())
    } else {
        let object = plan.objects().find(|o| o.id.kind == schema.kind());
        object.and_then(|o| path.get(&o.body).cloned())
    };
    let doc = FieldDoc::of(release, schema, &path)?;
    Some(FieldVersion { release: Arc::clone(release), api_version: schema.api_version(), path, doc, unset })
}

fn plain_value(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) if !text.is_empty() => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn version_page(out: &mut String, kind: &str, all: &[FieldVersion], releases: &[Arc<Release>]) {
    let Some(newest) = all.last() else {
        return;
    };
    paragraph(out, "  ", &newest.doc.facts);
    let absent: Vec<&str> =
        releases.iter().map(|r| r.label()).filter(|label| !all.iter().any(|s| s.release.label() == *label)).collect();
    if !absent.is_empty() {
        paragraph(out, "  ", &format!("not in {}", absent.join(", ")));
    }
    for line in newest.doc.lines() {
        paragraph(out, "  ", &line);
    }
    if !newest.doc.inner.is_empty() {
        out.push_str("\n  Fields:\n");
        paragraph(out, "    ", &newest.doc.inner.join(", "));
    }
    let newest_name = newest.release.label();
    let is_operand = kind != KIND;
    out.push_str(&match (newest.doc.feeds.is_empty(), is_operand) {
        (false, true) => format!("\n  Fields of the HyperConverged that set it in {newest_name}:\n"),
        (false, false) => format!("\n  What it feeds in {newest_name}:\n"),
        (true, true) => format!("\n  No field of the HyperConverged's spec feeds it in {newest_name}.\n"),
        (true, false) => String::new(),
    });
    for feeds in newest.doc.feeds.iter().take(MAX_FEEDS) {
        paragraph(out, "    ", feeds);
    }
    if let Some(more) = left(&newest.doc.feeds, MAX_FEEDS) {
        let _ = writeln!(out, "    and {more} more: ask for a field in it");
    }
    out.push_str(if is_operand {
        "\n  Value that HCO writes for an empty HyperConverged (OpenShift, amd64):\n"
    } else {
        "\n  Default:\n"
    });
    for run in all.chunk_by(|a, b| a.unset == b.unset) {
        value(out, &span_of(run), run.first().and_then(|s| s.unset.as_ref()));
    }
    let changed: Vec<String> = all.windows(2).flat_map(changes).collect();
    if !changed.is_empty() {
        out.push_str("\n  Changes between releases:\n");
        for line in changed {
            paragraph(out, "    ", &line);
        }
    }
}

/// `1.16 to 1.18`.
fn span_of(run: &[FieldVersion]) -> String {
    match run {
        [] => String::new(),
        [one] => one.release.label().to_owned(),
        [first, .., last] => format!("{} to {}", first.release.label(), last.release.label()),
    }
}

fn value(out: &mut String, releases: &str, value: Option<&Value>) {
    let Some(block) = value.filter(|v| members(*v).next().is_some() || elements(*v).next().is_some()) else {
        let _ = writeln!(out, "    {releases}: {}", plain_value(value));
        return;
    };
    let _ = writeln!(out, "    {releases}:");
    let text = emit(block);
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(MAX_LINES) {
        let _ = writeln!(out, "      {line}");
    }
    if let Some(more) = left(&lines, MAX_LINES) {
        let _ = writeln!(out, "      # and {more} more lines");
    }
}

/// The changes from one release to the next.
fn changes(pair: &[FieldVersion]) -> Vec<String> {
    let [before, after] = pair else {
        return Vec::new();
    };
    let name = after.release.label();
    let mut out = Vec::new();
    if before.doc.facts != after.doc.facts {
        out.push(format!("{name}: {} ({} before)", after.doc.facts, before.doc.facts));
    }
    let new = |a: &[String], b: &[String]| {
        let new = a.iter().filter(|f| !b.contains(f)).cloned();
        new.collect::<Vec<_>>()
    };
    let fields =
        [("new", new(&after.doc.inner, &before.doc.inner)), ("gone", new(&before.doc.inner, &after.doc.inner))];
    for (word, names) in fields.into_iter().filter(|(_, names)| !names.is_empty()) {
        out.push(format!("{name}: {word}: {}", names.join(", ")));
    }
    let [was, is] = [before, after].map(|side| side.unset.clone().unwrap_or_default());
    for field in differences(&was, &is, &Lists::default()) {
        let show = |value: Option<&Value>| cut(&plain_value(value.filter(|value| !value.is_null())), 60);
        let at = if field.label.is_empty() { "default" } else { &field.label };
        out.push(format!("{name}: {at}: {} ({} before)", show(field.after.get(&is)), show(field.before.get(&was))));
    }
    // A new version of the HyperConverged repeats the connections of the existing one.
    let versions = |s: &FieldVersion| {
        let all = s.release.fields().iter().map(|f| f.api_version.clone());
        all.collect::<BTreeSet<_>>()
    };
    let (old, both) = (versions(before), versions(after));
    let is_new = |line: &&String| !both.iter().any(|v| !old.contains(v) && line.contains(&format!(" ({v})")));
    let feeds =
        [("now", new(&after.doc.feeds, &before.doc.feeds)), ("no longer", new(&before.doc.feeds, &after.doc.feeds))];
    for (word, lines) in feeds {
        let lines: Vec<&String> = lines.iter().filter(is_new).collect();
        let shown = lines.iter().take(MAX_CHANGED_FEEDS);
        out.extend(shown.map(|line| format!("{name}: {word}: {line}")));
        if let Some(more) = left(&lines, MAX_CHANGED_FEEDS) {
            out.push(format!("{name}: {word}: {more} more"));
        }
    }
    out
}

fn paragraph(out: &mut String, indent: &str, text: &str) {
    for (number, line) in wrap_lines(text, 96 - indent.len()).into_iter().enumerate() {
        let more = if number == 0 { "" } else { "  " };
        let _ = writeln!(out, "{indent}{more}{line}");
    }
}

/// The rules whose pages mention a field or gate most often.
pub(super) fn read_on(name: &str) -> String {
    const MAX_SHOWN: usize = 5;
    let is_part = |c: char| c.is_alphanumeric();
    let named = |rule: &'static Rule| {
        let words = lint::sections(rule).split(|c| !is_part(c)).filter(|word| *word == name);
        Some((words.count(), rule.name)).filter(|(count, _)| *count > 1)
    };
    let mut rules: Vec<(usize, &str)> = lint::rules().iter().filter_map(|r| named(r.rule)).collect();
    rules.sort_by_key(|(count, rule)| (std::cmp::Reverse(*count), *rule));
    rules.truncate(MAX_SHOWN);
    let rules: Vec<String> = rules.into_iter().map(|(_, rule)| format!("`hcoplan explain {rule}`")).collect();
    if rules.is_empty() { String::new() } else { format!("\nRead on: {}\n", rules.join(", ")) }
}
