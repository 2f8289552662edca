//! `hcoplan explain KubeVirt.spec.configuration.migrations`: a field of an operand or of the
//! HyperConverged, from the releases' own data.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::explain_words::{self, Described};
use super::failure::Failure;
use super::release::wrap_lines;
use crate::finding::nearest;
use crate::inventory::{Inventory, Node};
use crate::plan::{Plan, plan};
use crate::release::Release;
use crate::schema::Schema;
use crate::yaml::{Path, emit};

/// Lines of a value that are shown.
const MOST_LINES: usize = 24;

/// Fields of operands that are listed as new or gone.
const MOST_FEEDS: usize = 6;

const HYPERCONVERGED: &str = "HyperConverged";

/// A field in a release: one place of one version of a kind.
struct Seen {
    release: Arc<Release>,
    api_version: String,
    /// Where it is, `[0]` behind the name of a list on the way.
    path: Path,
    /// Its type and limits, in words.
    facts: String,
    /// What it is for, and what its values mean.
    described: Vec<String>,
    /// The names of what is in it.
    inner: Vec<String>,
    /// What feeds it, or what it feeds.
    feeds: Vec<String>,
    /// What stands there when a HyperConverged says nothing.
    unset: Option<Value>,
    notes: Vec<String>,
}

/// Whether a text is meant as a field: `Kind.spec…`.
pub(super) fn is_field(text: &str) -> bool {
    let kind = text.split('.').next().unwrap_or(text);
    let kind = full_name(kind);
    text.contains('.') || kinds().iter().any(|k| k.eq_ignore_ascii_case(kind))
}

/// The kind that kubectl takes a short name or a plural for, else the text itself.
fn full_name(kind: &str) -> &str {
    const SHORT: [(&str, &[&str]); 6] = [
        ("HyperConverged", &["hco", "hcos", "hyperconvergeds"]),
        ("KubeVirt", &["kv", "kvs", "kubevirts"]),
        ("CDI", &["cdis"]),
        ("SSP", &["ssps"]),
        ("NetworkAddonsConfig", &["cnao", "networkaddonsconfigs"]),
        ("AAQ", &["aaqs"]),
    ];
    let of = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(kind));
    let found = SHORT.iter().find(|(_, names)| of(names));
    found.map_or(kind, |(full, _)| full)
}

/// The kinds of all releases.
pub(super) fn kinds() -> Vec<String> {
    let mut out = Vec::new();
    for release in releases() {
        for name in release.schema_names() {
            if let Some(schema) = release.schema(name) {
                out.push(schema.kind().to_owned());
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

fn releases() -> Vec<Arc<Release>> {
    Release::known_names().filter_map(Release::known).collect()
}

/// A field of the HyperConverged that was named without its kind, `evictionStrategy` or
/// `spec.virtualization.evictionStrategy`, with it; `None` where it is none.
pub(super) fn of_hyperconverged_alone(text: &str) -> Option<String> {
    let kind = full_name(text.split('.').next().unwrap_or(text));
    if kinds().iter().any(|k| k.eq_ignore_ascii_case(kind)) {
        return None;
    }
    let below_spec = text.strip_prefix("spec.").unwrap_or(text);
    let dotted = format!("spec.{below_spec}");
    let releases = releases();
    let schemas = releases.iter().flat_map(|release| {
        let names = release.schema_names().filter(|n| n.starts_with("hyperconverged."));
        names.filter_map(|name| release.schema(name))
    });
    let schemas: Vec<&Schema> = schemas.collect();
    if schemas.iter().any(|s| resolve(s, &dotted).is_ok()) {
        return Some(format!("{HYPERCONVERGED}.{dotted}"));
    }
    // By its own name, where one field has it; the versions may have it in different places.
    let alone = |schema: &&Schema| -> Option<String> {
        let named = |p: &Path| p.to_pointer().ends_with(&format!("/{text}"));
        let mut all = schema.all_fields();
        all.retain(|p| p.to_pointer().starts_with("/spec/") && named(p));
        match all.as_slice() {
            [only] => Some(format!("{HYPERCONVERGED}.{}", only.to_string().replace("[0]", ""))),
            _ => None,
        }
    };
    schemas.iter().rev().find_map(alone)
}

/// What isn't a field of the HyperConverged, and which one is meant: of a text that begins as its fields do.
pub(super) fn lost_in_hyperconverged(text: &str) -> Option<(String, String)> {
    text.strip_prefix("spec.")?;
    let (parent, _) = text.rsplit_once('.')?;
    let releases = releases();
    let message = format!("{HYPERCONVERGED} has no field {text}");
    let newest = releases.last()?;
    let all = newest.schema_names().filter_map(|name| newest.schema(name));
    let others = all.filter(|s| s.kind() != HYPERCONVERGED && resolve(s, text).is_ok());
    let kinds = others.map(Schema::kind);
    if let Some(kind) = kinds.max_by_key(|kind| *kind == "KubeVirt") {
        let help = format!("{kind} has one: `hcoplan explain {kind}.{text}`");
        return Some((message, help));
    }
    let schemas = releases.iter().rev().flat_map(|release| {
        let names = release.schema_names();
        let own = names.filter(|name| name.starts_with("hyperconverged."));
        own.filter_map(|name| release.schema(name))
    });
    // A version that has what is around it knows best.
    let (near, far): (Vec<&Schema>, Vec<&Schema>) = schemas.partition(|schema| resolve(schema, parent).is_ok());
    let asked = if near.is_empty() { far } else { near };
    let mut meant = asked.into_iter().filter_map(|s| resolve(s, text).err()?);
    let help = meant.next();
    let help = help.unwrap_or_else(|| format!("`hcoplan explain {HYPERCONVERGED}` lists what there is"));
    Some((message, help))
}

/// A question for the field of the HyperConverged that a word is most like.
pub(super) fn nearest_field(word: &str) -> Option<String> {
    let (_, help) = lost_in_hyperconverged(&format!("spec.{word}"))?;
    help.starts_with("did you mean").then_some(help)
}

/// The page of a field, in all releases of the distribution that one is of; upstream's by default.
pub(super) fn page(text: &str, of: Option<&Arc<Release>>) -> Result<String, Failure> {
    let qualified = of_hyperconverged_alone(text);
    let text = qualified.as_deref().unwrap_or(text);
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
    let mut releases = of.map_or_else(releases, |release| release.releases_of_distribution());
    // Two versions of a vendor's may be built from one release.
    releases.dedup_by(|a, b| a.name() == b.name() && a.patched().is_none());
    let has = |release: &Release| {
        let schemas = release.schema_names().filter_map(|n| release.schema(n));
        let mut schemas = schemas.filter(|s| s.kind() == kind);
        schemas.any(|s| resolve(s, dotted).is_ok())
    };
    let there: Vec<&Arc<Release>> = releases.iter().filter(|r| has(r)).collect();
    let there: Vec<String> = there.iter().map(|r| r.label().to_owned()).collect();
    // As the named release has it: what came later isn't told.
    if let Some(at) = of.and_then(|of| releases.iter().position(|r| r.label() == of.label())) {
        releases.truncate(at + 1);
    }
    let plans: Vec<Plan> = releases.iter().map(|r| of_nothing(r, "v1beta1")).collect();
    let mut versions: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
    let mut lost = None;
    for (release, plan) in releases.iter().zip(&plans) {
        for name in release.schema_names() {
            let Some(schema) = release.schema(name).filter(|s| s.kind() == kind) else {
                continue;
            };
            match resolve(schema, dotted) {
                Ok(path) => {
                    let seen = see(release, schema, plan, path, dotted);
                    let all = versions.entry(seen.api_version.clone()).or_default();
                    all.push(seen);
                }
                Err(help) => lost = help.or(lost),
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
        let field = match dotted {
            "" => kind.clone(),
            dotted => format!("{kind}.{dotted}"),
        };
        let _ = writeln!(out, "{field} ({version})");
        version_page(&mut out, kind, seen, &releases);
    }
    Ok(out)
}

/// The path of a dotted text, lists stepped into; else what was perhaps meant.
fn resolve(schema: &Schema, dotted: &str) -> Result<Path, Option<String>> {
    let mut path = Path::root();
    let mut written = schema.kind().to_owned();
    for step in dotted.split('.').filter(|s| !s.is_empty()) {
        let step = step.trim_end_matches("[]");
        if schema.list_kind(&path).is_some() {
            path = path.index(0);
        }
        let next = path.key(step);
        if schema.field(&next).is_none() {
            let known = schema.known_fields(&path);
            if let Some(meant) = nearest(step, known) {
                return Err(Some(format!("did you mean {written}.{meant}?")));
            }
            let mut all = schema.all_fields();
            all.retain(|p| p.to_pointer().ends_with(&format!("/{step}")));
            all.sort_by_key(|p| p.0.len());
            let meant = all.first().map(|p| format!("did you mean {}.{p}?", schema.kind()));
            return Err(meant);
        }
        written = format!("{written}.{step}");
        path = next;
    }
    Ok(path)
}

/// What a release makes of a HyperConverged that says nothing, on a plain OpenShift cluster.
fn of_nothing(release: &Release, version: &str) -> Plan {
    let node = |name: &str, role: &str| Node {
        name: name.to_owned(),
        architecture: "amd64".to_owned(),
        labels: [(format!("node-role.kubernetes.io/{role}"), String::new())].into(),
        ..Node::default()
    };
    let masters = ["a", "b", "c"].map(|n| node(n, "control-plane"));
    let workers = ["d", "e"].map(|n| node(n, "worker"));
    let inventory = Inventory { nodes: masters.into_iter().chain(workers).collect(), ..Inventory::default() };
    let object = json!({
        "apiVersion": format!("hco.kubevirt.io/{version}"),
        "kind": HYPERCONVERGED,
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": inventory.namespace},
        "spec": {},
    });
    plan(release, &inventory, &object)
}

fn see(release: &Arc<Release>, schema: &Schema, plan: &Plan, path: Path, dotted: &str) -> Seen {
    let mut seen = Seen {
        release: Arc::clone(release),
        api_version: schema.api_version(),
        facts: schema.in_words(&path),
        described: Vec::new(),
        inner: Vec::new(),
        feeds: Vec::new(),
        unset: None,
        notes: Vec::new(),
        path,
    };
    let inside = match schema.list_kind(&seen.path) {
        Some(_) => seen.path.index(0),
        None => seen.path.clone(),
    };
    let inner = schema.known_fields(&inside);
    seen.inner = inner.into_iter().map(ToOwned::to_owned).collect();
    if schema.kind() == HYPERCONVERGED {
        let stored = of_nothing(release, schema.version()).admission.stored;
        seen.unset = stored.and_then(|s| seen.path.get(&s).cloned());
        of_hyperconverged(&mut seen, schema.version(), dotted);
    } else {
        let object = plan.objects().find(|o| o.id.kind == schema.kind());
        seen.unset = object.and_then(|o| seen.path.get(&o.body).cloned());
        of_operand(&mut seen, schema.kind(), dotted);
    }
    seen
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        other => other.to_string(),
    }
}

/// Whether one dotted path is at or below another; `[]` behind a list's name doesn't count.
fn is_below(path: &str, above: &str) -> bool {
    let path = path.replace("[]", "");
    let rest = path.strip_prefix(above);
    rest.is_some_and(|r| r.is_empty() || r.starts_with('.') || above.is_empty())
}

fn of_operand(seen: &mut Seen, kind: &str, dotted: &str) {
    for field in seen.release.fields() {
        for feeds in field.operands.iter().filter(|f| f.kind == kind) {
            // Whether the operand is there is asked of the whole.
            let of_the_whole = feeds.path.is_empty() && !dotted.is_empty();
            let at = feeds.path.replace("[]", "");
            if !of_the_whole && (is_below(&feeds.path, dotted) || is_below(dotted, &at)) {
                let (from, version) = (&field.path, &field.api_version);
                let to = match feeds.path.as_str() {
                    at if at.is_empty() || at == dotted => String::new(),
                    at => format!(" -> {at}"),
                };
                let how = feeds.in_words();
                seen.feeds.push(format!("{from} ({version}){to}: {how}"));
            }
        }
    }
}

fn of_hyperconverged(seen: &mut Seen, version: &str, dotted: &str) {
    if version == "v1beta1" {
        seen.described = described(dotted, version, None);
    }
    for field in seen.release.fields().iter().filter(|f| f.api_version == version) {
        let above = field.path.replace("[]", "");
        if !is_below(&field.path, dotted) && !is_below(dotted, &above) {
            continue;
        }
        let path = &field.path;
        for feeds in &field.operands {
            let (to, how) = (feeds.place(), feeds.in_words());
            seen.feeds.push(format!("{path} -> {to}: {how}"));
        }
        if path.replace("[]", "") == dotted {
            seen.described = described(path, version, field.other_version_path.as_deref());
            let other = field.other_version_path.iter();
            seen.notes.extend(other.map(|p| format!("in the other version: {p}")));
            let since = field.deprecated_in.iter();
            seen.notes.extend(since.map(|r| format!("deprecated in {}", r.replace("<=", "or before "))));
            seen.notes.extend(field.note.clone());
        }
        if field.ignored {
            seen.notes.push(format!("{path} is ignored"));
        }
    }
}

/// What a field is for, and its values with what they mean; nothing of one that isn't described.
fn described(path: &str, version: &str, other: Option<&str>) -> Vec<String> {
    let old = match version {
        "v1beta1" => Some(path),
        _ => other,
    };
    let gate = path.strip_prefix("spec.featureGates.");
    if let Some(what) = gate.and_then(explain_words::of_gate) {
        return vec![what.to_owned()];
    }
    let found = old.and_then(explain_words::of);
    let Some(Described(_, text, values)) = found.or_else(|| explain_words::of(path)) else {
        return Vec::new();
    };
    let mut out = vec![(*text).to_owned()];
    out.extend(values.iter().map(|(value, means)| format!("{value}: {means}")));
    out
}

fn version_page(out: &mut String, kind: &str, all: &[Seen], releases: &[Arc<Release>]) {
    let Some(newest) = all.last() else {
        return;
    };
    paragraph(out, "  ", &newest.facts);
    let absent: Vec<&str> =
        releases.iter().map(|r| r.label()).filter(|label| !all.iter().any(|s| s.release.label() == *label)).collect();
    if !absent.is_empty() {
        paragraph(out, "  ", &format!("not in {}", absent.join(", ")));
    }
    for line in newest.described.iter().chain(&newest.notes) {
        paragraph(out, "  ", line);
    }
    if !newest.inner.is_empty() {
        out.push_str("\n  Fields:\n");
        paragraph(out, "    ", &newest.inner.join(", "));
    }
    let newest_name = newest.release.label();
    let is_operand = kind != HYPERCONVERGED;
    match (newest.feeds.is_empty(), is_operand) {
        (false, true) => {
            let _ = writeln!(out, "\n  What of the HyperConverged feeds it in {newest_name}:");
        }
        (false, false) => {
            let _ = writeln!(out, "\n  What it feeds in {newest_name}:");
        }
        (true, true) => {
            let _ = writeln!(out, "\n  No field of the HyperConverged's spec feeds it in {newest_name}.");
        }
        (true, false) => {}
    }
    for feeds in &newest.feeds {
        paragraph(out, "    ", feeds);
    }
    out.push_str(if is_operand {
        "\n  What HCO writes for a HyperConverged that says nothing (OpenShift, amd64):\n"
    } else {
        "\n  What is stored when nothing is said:\n"
    });
    for run in all.chunk_by(|a, b| a.unset == b.unset) {
        value(out, &span_of(run), run.first().and_then(|s| s.unset.as_ref()));
    }
    let changed: Vec<String> = all.windows(2).flat_map(changes).collect();
    if !changed.is_empty() {
        out.push_str("\n  What changed:\n");
        for line in changed {
            paragraph(out, "    ", &line);
        }
    }
}

/// `1.16 to 1.18`.
fn span_of(run: &[Seen]) -> String {
    match run {
        [] => String::new(),
        [one] => one.release.label().to_owned(),
        [first, .., last] => format!("{} to {}", first.release.label(), last.release.label()),
    }
}

fn value(out: &mut String, releases: &str, value: Option<&Value>) {
    match value {
        None => {
            let _ = writeln!(out, "    {releases}: nothing");
        }
        Some(Value::Object(entries)) if !entries.is_empty() => block(out, releases, value),
        Some(Value::Array(items)) if !items.is_empty() => block(out, releases, value),
        Some(scalar) => {
            let _ = writeln!(out, "    {releases}: {}", plain(scalar));
        }
    }
}

fn block(out: &mut String, releases: &str, value: Option<&Value>) {
    let _ = writeln!(out, "    {releases}:");
    let text = value.map(emit).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(MOST_LINES) {
        let _ = writeln!(out, "      {line}");
    }
    if let Some(more) = lines.len().checked_sub(MOST_LINES).filter(|n| *n > 0) {
        let _ = writeln!(out, "      # and {more} more lines");
    }
}

/// What a release changed.
fn changes(pair: &[Seen]) -> Vec<String> {
    let [before, after] = pair else {
        return Vec::new();
    };
    let name = after.release.label();
    let mut out = Vec::new();
    if before.facts != after.facts {
        out.push(format!("{name}: {}, before {}", after.facts, before.facts));
    }
    let new = |a: &[String], b: &[String]| {
        let new = a.iter().filter(|f| !b.contains(f)).cloned();
        new.collect::<Vec<_>>()
    };
    let fields = [("new", new(&after.inner, &before.inner)), ("gone", new(&before.inner, &after.inner))];
    for (word, names) in fields.into_iter().filter(|(_, names)| !names.is_empty()) {
        out.push(format!("{name}: {word}: {}", names.join(", ")));
    }
    leaves(before.unset.as_ref(), after.unset.as_ref(), "", name, &mut out);
    // A version of the HyperConverged that the release adds feeds all that the other one does.
    let versions = |s: &Seen| {
        let all = s.release.fields().iter().map(|f| f.api_version.clone());
        all.collect::<std::collections::BTreeSet<_>>()
    };
    let (old, both) = (versions(before), versions(after));
    let is_new = |line: &&String| !both.iter().any(|v| !old.contains(v) && line.contains(&format!(" ({v})")));
    let feeds = [("now", new(&after.feeds, &before.feeds)), ("no longer", new(&before.feeds, &after.feeds))];
    for (word, lines) in feeds {
        let lines: Vec<&String> = lines.iter().filter(is_new).collect();
        let shown = lines.iter().take(MOST_FEEDS);
        out.extend(shown.map(|line| format!("{name}: {word}: {line}")));
        if let Some(more) = lines.len().checked_sub(MOST_FEEDS).filter(|n| *n > 0) {
            out.push(format!("{name}: {word}: {more} more"));
        }
    }
    out
}

/// Values that are others when nothing is said.
fn leaves(a: Option<&Value>, b: Option<&Value>, at: &str, name: &str, out: &mut Vec<String>) {
    match (a, b) {
        _ if a == b => {}
        (Some(Value::Object(x)), Some(Value::Object(y))) => {
            for key in x.keys().chain(y.keys().filter(|k| !x.contains_key(*k))) {
                let at = match at {
                    "" => key.clone(),
                    at => format!("{at}.{key}"),
                };
                leaves(x.get(key), y.get(key), &at, name, out);
            }
        }
        (a, b) => {
            let show = |v: Option<&Value>| {
                let text = v.map_or("nothing".to_owned(), plain);
                if text.chars().count() > 60 {
                    format!("{}…", text.chars().take(60).collect::<String>())
                } else {
                    text
                }
            };
            let at = if at.is_empty() { "value" } else { at };
            out.push(format!("{name}: {at}: {}, before {}", show(b), show(a)));
        }
    }
}

fn paragraph(out: &mut String, indent: &str, text: &str) {
    for (number, line) in wrap_lines(text, 96 - indent.len()).into_iter().enumerate() {
        let more = if number == 0 { "" } else { "  " };
        let _ = writeln!(out, "{indent}{more}{line}");
    }
}
