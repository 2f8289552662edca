//! Finds changes that would change a value: fields that the release's table has as its sources, switches, gates,
//! annotations and nodes. Each is tried by planning; if none suffices alone, pairs of them are.

use super::sufficient_change::{Edit, SufficientChange};
use crate::docs::FieldDoc;
use crate::prelude::*;
use crate::why::plan_input::PlanInput;
use crate::why::target::{FoundValue, Target};
use hcoplan_planner::boot_images::ARCHITECTURES_ANNOTATION;
use hcoplan_planner::inventory::{ARCHITECTURE_LABEL, ROLE_LABEL};
use hcoplan_planner::plan::plan;
use hcoplan_planner::release::HyperConvergedField;
use serde_json::Map;

/// The architectures of golden images.
const ARCHITECTURES: [&str; 3] = ["amd64", "arm64", "s390x"];

/// Roles that another node may have.
const ROLES: [&str; 2] = ["worker", "control-plane"];

/// The sufficient changes, the smallest first. `default`: a field whose default determines the value.
pub(super) fn changes(
    plan_input: &PlanInput<'_>,
    target: &Target,
    base: &FoundValue,
    default: Option<&Path>,
) -> Vec<SufficientChange> {
    let schema = plan_input.release.hyperconverged_schema(version_of(plan_input.object));
    let Some(schema) = schema else {
        return Vec::new();
    };
    let trial = Trial { plan_input, target, base, schema, stored: plan_input.stored().unwrap_or_default() };
    let sources = trial.sources(default);
    let switches = trial.switches();
    let mut out: Vec<SufficientChange> = Vec::new();
    if base.is_missing() || default.is_none() {
        out.extend(trial.nodes().iter().filter_map(|edit| trial.suffices(&[edit], "")));
    }
    for (how, edits) in &sources {
        out.extend(edits.iter().find_map(|edit| trial.suffices(&[edit], how)));
    }
    for edit in &switches {
        let is_known = out.iter().any(|f| f.edits.iter().any(|e| e.what() == edit.what()));
        if !is_known {
            out.extend(trial.suffices(&[edit], ""));
        }
    }
    if out.is_empty() {
        out.extend(trial.pair(&sources, &switches));
    }
    // Removing the object isn't an answer if another change gives another value.
    if !target.is_object() && out.iter().any(|f| f.gives != FoundValue::NoObject) {
        out.retain(|f| f.gives != FoundValue::NoObject);
    }
    // A section isn't an answer if one of its fields is.
    let paths: Vec<String> = out.iter().flat_map(|f| f.edits.iter().map(Edit::what)).collect();
    let contains_another =
        |f: &SufficientChange| f.edits.iter().any(|e| paths.iter().any(|p| p.starts_with(&format!("{}.", e.what()))));
    out.retain(|f| !contains_another(f));
    // One change of nodes per architecture.
    let mut architectures = BTreeSet::new();
    out.retain(|f| match f.edits.as_slice() {
        [Edit::Node(_, node)] => architectures.insert(node.architecture.clone()),
        _ => true,
    });
    out
}

/// Whether a target of a table's row is the asked one, contains it or is inside it.
pub(super) fn feeds_it(kind: &str, path: &str, target: &Target) -> bool {
    let (kind, name) = kind.split_once('/').map_or((kind, None), |(kind, name)| (kind, Some(name)));
    if kind != target.kind {
        return false;
    }
    if name.is_some_and(|n| n != "*" && target.name.as_deref().is_some_and(|t| t != n)) {
        return false;
    }
    if target.is_object() {
        return path.is_empty();
    }
    let asked = generic(&target.path);
    overlap(&asked, path)
}

/// A path in the table's form: `spec.list[].name`.
pub(super) fn generic(path: &Path) -> String {
    let mut out = String::new();
    for segment in &path.0 {
        match segment {
            Segment::Key(key) if key.contains('/') => out.push_str(&format!("[{key}]")),
            Segment::Key(key) if out.is_empty() => out.push_str(key),
            Segment::Key(key) => out.push_str(&format!(".{key}")),
            Segment::Index(_) => out.push_str("[]"),
        }
    }
    out
}

struct Trial<'a> {
    plan_input: &'a PlanInput<'a>,
    target: &'a Target,
    base: &'a FoundValue,
    schema: &'a Schema,
    stored: Value,
}

impl Trial<'_> {
    fn apply(&self, edits: &[&Edit]) -> (Value, Inventory) {
        let (mut object, mut inventory) = (self.plan_input.object.clone(), self.plan_input.inventory().clone());
        edits.iter().for_each(|edit| edit.apply(&mut object, &mut inventory.nodes));
        (object, inventory)
    }

    /// The change, if it answers the question: the value differs, exists if it was missing before, and nothing is
    /// rejected or makes the operators fail.
    fn suffices(&self, edits: &[&Edit], how: &str) -> Option<SufficientChange> {
        let (object, inventory) = self.apply(edits);
        let after = self.plan_input.planned(&inventory, &object);
        let gives = self.target.read(&after);
        let is_wanted = gives != *self.base && !(self.base.is_missing() && gives.is_missing());
        if !is_wanted || self.plan_input.stops_operators(&after) {
            return None;
        }
        let accepted =
            |inventory: &Inventory, object: &Value| plan(self.plan_input.release, inventory, object).admission.accepted;
        let is_rejected =
            !accepted(&inventory, &object) && accepted(self.plan_input.inventory(), self.plan_input.object);
        let edits = || edits.iter().map(|edit| (*edit).clone()).collect();
        (!is_rejected).then(|| SufficientChange { edits: edits(), how: how.to_owned(), gives })
    }

    fn rows(&self) -> impl Iterator<Item = &HyperConvergedField> {
        let rows = self.plan_input.release.fields().iter();
        rows.filter(|f| f.api_version == self.schema.version() && !f.ignored && f.path.starts_with("spec."))
    }

    /// The fields that the table has as sources of the target, each with its transformation and values to try.
    fn sources(&self, default: Option<&Path>) -> Vec<(String, Vec<Edit>)> {
        let mut paths: Vec<(Path, String)> = default.map(|path| (path.clone(), String::new())).into_iter().collect();
        for row in self.rows() {
            let how = row.operands.iter().find(|o| feeds_it(&o.kind, &o.path, self.target));
            let Some(how) = how.filter(|_| row.deprecated_in.is_none()) else {
                continue;
            };
            let list = row.path.split("[]").next().unwrap_or_default();
            let whole = (!list.contains('[')).then(|| Path::dotted(list));
            // What is copied as a whole has the asked field at the same place inside.
            let copied = Path::dotted(&how.path).0.len();
            let inside =
                self.target.path.0.get(copied..).filter(|inside| !inside.is_empty() && !how.path.contains('['));
            let part = whole.as_ref().zip(inside).map(|(whole, inside)| Path([&whole.0, inside].concat()));
            for path in whole.into_iter().chain(self.paths_in_entries(&row.path)).chain(part) {
                if !paths.iter().any(|(p, _)| *p == path) {
                    paths.push((path, how.description().to_owned()));
                }
            }
        }
        let own = paths.iter().find(|(path, _)| path.to_string().ends_with("dataImportCronTemplates"));
        let own = own.and_then(|(path, how)| Some((how.clone(), vec![self.customised(path)?])));
        let edits = |path: &Path| self.values(path).into_iter().map(|value| Edit::Write(path.clone(), value)).collect();
        let annotations = self.template_annotations().into_iter().map(|edit| (String::new(), vec![edit]));
        paths.into_iter().map(|(path, how)| (how, edits(&path))).chain(own).chain(annotations).collect()
    }

    /// The paths of a row's field in the written entries.
    fn paths_in_entries(&self, path: &str) -> Vec<Path> {
        let mut out = vec![Path::default()];
        let lists = path.matches("[]").count();
        for (number, keys) in path.split("[]").enumerate() {
            for at in &mut out {
                at.0.extend(Path::dotted(keys.trim_start_matches('.')).0);
            }
            if number < lists {
                let entries = |at: &Path| elements(at.get(self.plan_input.object)).len();
                out = out.iter().flat_map(|at| (0..entries(at)).map(|index| at.index(index))).collect();
            }
        }
        out.retain(|path| path.0.iter().any(|step| matches!(step, Segment::Index(_))));
        out
    }

    /// Edits of the other fields in a field's section.
    fn section_edits(&self, edit: &Edit) -> Vec<Edit> {
        let Edit::Write(path, _) = edit else {
            return Vec::new();
        };
        let Some((_, section)) = path.0.split_last().filter(|(_, section)| section.len() > 1) else {
            return Vec::new();
        };
        let section = Path(section.to_vec());
        let names = self.schema.known_fields(&section).into_iter().map(|name| section.key(name));
        let others = names.filter(|other| other != path && other.get(self.plan_input.object).is_none());
        others.filter_map(|other| Some(Edit::Write(other.clone(), self.example(&other)?))).collect()
    }

    /// An entry for the common golden image of the question, with another value of the field.
    fn customised(&self, list: &Path) -> Option<Edit> {
        let asked = self.target.name.as_deref()?;
        let images = self.plan_input.release.golden_images().iter();
        let is_asked = |image: &&Value| {
            let name = image.pointer("/metadata/name").and_then(Value::as_str);
            name.is_some_and(|n| asked == n || ARCHITECTURES.iter().any(|a| asked == format!("{n}-{a}")))
        };
        let image = images.clone().find(is_asked)?;
        let mut image = json!({"metadata": {"name": image.pointer("/metadata/name")?}, "spec": image.get("spec")?});
        let (_, field) = self.target.path.0.split_first()?;
        let at = Path([&list.index(0).key("spec").0, field].concat());
        let own = Path([&[Segment::Key("spec".to_owned())], field].concat());
        let value = self.values(&at).into_iter().find(|v| Some(v) != own.get(&image))?;
        Edit::Write(own, value).apply(&mut image, &mut Vec::new());
        let mut items = elements(list.get(self.plan_input.object)).as_slice().to_vec();
        items.push(image);
        Some(Edit::Write(list.clone(), items.into()))
    }

    /// Values other than the written one.
    fn values(&self, path: &Path) -> Vec<Value> {
        let Some(field) = self.schema.field(path) else {
            return Vec::new();
        };
        let now = path.get(self.plan_input.object).or_else(|| path.get(&self.stored));
        let number = now.and_then(Value::as_i64).or_else(|| field.default.and_then(Value::as_i64));
        let doc = FieldDoc::of(self.plan_input.release, self.schema, path);
        let mut out: Vec<Value> = match field.kind {
            "boolean" => vec![true.into(), false.into()],
            "integer" => vec![number.map_or(7, |n| n.saturating_add(1)).into(), 1.into()],
            _ if field.allowed.is_empty() => {
                doc.iter().flat_map(|d| &d.values).map(|(v, _)| v.as_str().into()).collect()
            }
            _ => field.allowed.to_vec(),
        };
        match (self.example(path), now) {
            (Some(Value::Array(more)), Some(Value::Array(items))) => {
                out.push(items.iter().chain(more.iter().filter(|m| !items.contains(m))).cloned().collect());
            }
            (example, _) => out.extend(example),
        }
        out.retain(|value| Some(value) != path.get(self.plan_input.object));
        out
    }

    /// A possible value of a field: an example, else one that is composed of its parts' examples.
    fn example(&self, path: &Path) -> Option<Value> {
        let doc = FieldDoc::of(self.plan_input.release, self.schema, path)?;
        if let Some(example) = doc.example.filter(|_| !matches!(path.0.last(), Some(Segment::Index(_)))) {
            return Some(example);
        }
        let field = self.schema.field(path)?;
        let first = field.allowed.iter().find(|v| v.as_str() != Some("")).cloned();
        first.or_else(|| match field.kind {
            "array" => Some(vec![self.example(&path.index(0))?].into()),
            "object" => {
                // Switches of an entry, such as `disabled`, stay unset.
                let names = self.schema.known_fields(path);
                let is_deprecated =
                    |path: Path| self.rows().any(|row| row.deprecated_in.is_some() && row.path == generic(&path));
                let parts = names
                    .into_iter()
                    .filter(|n| self.schema.field(&path.key(n)).is_some_and(|f| f.required || f.kind != "boolean"))
                    .filter(|n| !is_deprecated(path.key(n)));
                let parts = parts.filter_map(|n| Some((n.to_owned(), self.example(&path.key(n))?)));
                Some(parts.collect::<Map<_, _>>()).filter(|m| !m.is_empty()).map(Value::Object)
            }
            "integer" => Some(7.into()),
            "string" if field.pattern.is_none() => Some("example".into()),
            // Mostly a number or a quantity; one that isn't allowed is rejected.
            _ => Some("1".into()),
        })
    }

    /// Edits that toggle switches, gates and annotations.
    fn switches(&self) -> Vec<Edit> {
        let mut out = Vec::new();
        let paths = self.rows().filter(|row| !row.path.contains("[]")).map(|row| Path::dotted(&row.path));
        let is_switch = |path: &Path| self.schema.field(path).is_some_and(|field| field.kind == "boolean");
        for path in paths.filter(is_switch) {
            let is_on = path.get(&self.stored) == Some(&true.into());
            out.push(Edit::Write(path, (!is_on).into()));
        }
        if self.schema.version() != "v1beta1" {
            let gates = self.plan_input.release.tables().feature_gates.iter();
            let switchable = gates.filter(|g| matches!(g.phase, Phase::Alpha | Phase::Beta));
            out.extend(switchable.flat_map(|g| ["Enabled", "Disabled"].map(|state| Edit::Gate(g.name.clone(), state))));
        }
        let annotations = Path::dotted("metadata.annotations");
        let write = |path: Path, value: &str| Edit::Write(path, value.into());
        let own = NAMES["annotationsOfHyperConverged"].iter();
        out.extend(own.map(|name| write(annotations.key(name), "true")));
        out
    }

    /// Edits of the annotations of golden images' templates, which decide about what SSP makes of these.
    fn template_annotations(&self) -> Vec<Edit> {
        let lists = ["spec.dataImportCronTemplates", "spec.workloadSources.dataImportCronTemplates"].map(Path::dotted);
        let architectures = joined(ARCHITECTURES.into_iter().filter(|a| self.is_relevant(a)), ",");
        let templates = lists.iter().flat_map(|list| {
            let count = elements(list.get(self.plan_input.object)).len();
            (0..count).map(|index| list.index(index).key("metadata").key("annotations"))
        });
        let edits = templates.flat_map(|annotations| {
            NAMES["annotationsOfTemplates"].iter().map(move |name| (annotations.key(name), *name))
        });
        let edits = edits.map(|(path, name)| {
            let value = if name == ARCHITECTURES_ANNOTATION { architectures.as_str() } else { "true" };
            Edit::Write(path, value.into())
        });
        edits.collect()
    }

    /// Whether an architecture is one of the nodes' or in the name of the question.
    fn is_relevant(&self, architecture: &str) -> bool {
        let named = self.target.name.as_deref().is_some_and(|name| name.ends_with(architecture));
        named || self.plan_input.inventory().nodes.iter().any(|n| n.architecture == architecture)
    }

    /// One more node of each role and architecture: of any that may create what is missing, else of the nodes' own.
    fn nodes(&self) -> Vec<Edit> {
        let present = &self.plan_input.inventory().nodes;
        let one = |role: &str, architecture: &str| {
            let alike = present.iter().find(|node| node.roles().eq([role]));
            let mut node = alike.cloned().unwrap_or_default();
            node.name = "one-more".to_owned();
            node.architecture = architecture.to_owned();
            let labels = [(format!("{ROLE_LABEL}{role}"), ""), (ARCHITECTURE_LABEL.to_owned(), architecture)];
            node.labels.extend(labels.map(|(label, value)| (label, value.to_owned())));
            Edit::Node(role.to_owned(), Box::new(node))
        };
        let is_own = |architecture: &&str| present.iter().any(|node| node.architecture == *architecture);
        let architectures = || ARCHITECTURES.into_iter().filter(|name| self.base.is_missing() || is_own(name));
        ROLES.iter().flat_map(|role| architectures().map(move |architecture| one(role, architecture))).collect()
    }

    /// Two edits that suffice together: a source of the target with a switch, or with another field of its section.
    fn pair(&self, sources: &[(String, Vec<Edit>)], switches: &[Edit]) -> Option<SufficientChange> {
        let source_edits = || sources.iter().flat_map(|(_, edits)| edits);
        let pairs = source_edits().flat_map(|one| switches.iter().map(move |other| [other, one]));
        let found = pairs.filter(|[a, b]| a.what() != b.what()).find_map(|pair| self.suffices(&pair, ""));
        let with_section =
            |one: &Edit| self.section_edits(one).iter().find_map(|other| self.suffices(&[other, one], ""));
        found.or_else(|| source_edits().find_map(with_section))
    }
}

/// Whether the value differs in a cluster whose nodes have another architecture, and the operators don't fail there.
pub(super) fn architecture_matters(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> bool {
    let mut nodes = plan_input.inventory().nodes.clone();
    let other = if nodes.iter().any(|node| node.architecture == "amd64") { "arm64" } else { "amd64" };
    for node in &mut nodes {
        node.architecture = other.to_owned();
        node.labels.insert(ARCHITECTURE_LABEL.to_owned(), other.to_owned());
    }
    let plan = plan_input.with([Delta::Nodes(nodes)]);
    !plan_input.stops_operators(&plan) && target.read(&plan) != *base
}

/// Whether the value differs in a cluster with two more workers.
pub(super) fn number_matters(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> bool {
    let mut nodes = plan_input.inventory().nodes.clone();
    let more = nodes.first().cloned().map(|mut node| {
        node.labels.insert(format!("{ROLE_LABEL}worker"), String::new());
        node
    });
    nodes.extend(more.iter().chain(&more).cloned());
    target.read(&plan_input.with([Delta::Nodes(nodes)])) != *base
}

/// Whether HCO draws the target at random: it depends on the schedule of golden images, which the inventory doesn't
/// declare.
pub(super) fn is_random(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> bool {
    const SCHEDULE: &str = "59 23 * * *";
    let mut inventory = plan_input.inventory().clone();
    if inventory.data_import_schedule.is_some() || !base.is_scalar() {
        return false;
    }
    inventory.data_import_schedule = Some(SCHEDULE.to_owned());
    target.read(&plan_input.planned(&inventory, plan_input.object)) != *base
}
