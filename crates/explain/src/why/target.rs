//! The target of a question: an object, or a field of it.

use crate::docs::{Term, TermKind};
use crate::prelude::*;
use crate::why::input::Input;
use crate::why::plan_input::PlanInput;
use hcoplan_diagnostics::finding::nearest;
use hcoplan_diagnostics::words::list;
use hcoplan_kubernetes::go::TypeStep;
use hcoplan_kubernetes::tree::get;
use hcoplan_kubernetes::tree::members;

/// The keys that identify an element of a list when others are added or removed.
const IDENTITIES: [&str; 5] = ["name", "metadata.name", "resourceName", "key", "path"];

/// The object or field of a question.
#[derive(Debug)]
pub struct Target {
    /// The kind as in the object.
    pub kind: String,
    /// The object's name; `None` for the only one of its kind.
    pub name: Option<String>,
    /// The field in the object; the root for the object itself.
    pub path: Path,
    steps: Vec<TargetStep>,
}

#[derive(Debug, Clone)]
enum TargetStep {
    Key(String),
    /// The element with this value at a dotted path, or that is this scalar; if none has it and the list's length is
    /// unchanged, the one at the same index.
    Named(Option<&'static str>, Value, Option<(usize, usize)>),
    Index(usize),
}

/// The value of a target.
#[derive(Debug, Clone, PartialEq)]
pub enum FoundValue {
    /// The object doesn't exist.
    NoObject,
    /// The object has no such field.
    Absent,
    /// The object exists (for a question about the object).
    Exists,
    /// The field's value.
    Value(Value),
}

impl FoundValue {
    /// Whether there is nothing.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::NoObject | Self::Absent)
    }

    /// Whether it is a value without parts.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self, Self::Value(v) if !v.is_object() && !v.is_array())
    }
}

/// A question about something that doesn't exist.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Problem {
    fn new(message: String, help: String) -> Self {
        Self { message, help }
    }
}

impl Target {
    /// Resolves a kind, name and field as typed.
    ///
    /// # Errors
    /// The kind, name or field that doesn't exist, with existing ones.
    pub fn find(
        plan_input: &PlanInput<'_>,
        plan: &Plan,
        kind: &str,
        name: Option<&str>,
        field: &str,
    ) -> Result<Self, Problem> {
        let kind = known_kind(plan_input, plan, kind)?;
        let of_kind: Vec<&Object> = plan.objects().filter(|o| o.id.kind == kind).collect();
        let object = match (name, of_kind.as_slice()) {
            (_, []) => None,
            (None, [only]) => Some(*only),
            (None, several) => {
                let ids = several.iter().map(|o| &*o.id);
                return Err(Problem::new(
                    format!("there are {} objects of the kind {kind}", several.len()),
                    format!("name one of them: {}", listed(ids)),
                ));
            }
            (Some(name), several) => several.iter().find(|o| o.id.name == name).copied(),
        };
        let found = object.map(|o| o.id.name.as_str());
        let mut target =
            Self { kind, name: found.or(name).map(ToOwned::to_owned), path: Path::root(), steps: Vec::new() };
        target.walk(field, object)?;
        if let Some(object) = object {
            check(plan_input, object, &target)?;
        }
        Ok(target)
    }

    /// Whether the target is the object as a whole.
    pub fn is_object(&self) -> bool {
        self.steps.is_empty()
    }

    /// The target's object in a plan.
    pub fn object<'p>(&self, plan: &'p Plan) -> Option<&'p Object> {
        self.object_among(plan.objects())
    }

    /// The target's object among these.
    pub fn object_among<'o>(&self, objects: impl IntoIterator<Item = &'o Object>) -> Option<&'o Object> {
        let mut objects = objects.into_iter().filter(|o| o.id.kind == self.kind);
        objects.find(|o| self.name.as_ref().is_none_or(|n| *n == o.id.name))
    }

    /// The target's value in a plan.
    pub fn read(&self, plan: &Plan) -> FoundValue {
        self.read_among(plan.objects())
    }

    /// The target's value among these objects.
    pub fn read_among<'o>(&self, objects: impl IntoIterator<Item = &'o Object>) -> FoundValue {
        let Some(object) = self.object_among(objects) else {
            return FoundValue::NoObject;
        };
        if self.is_object() {
            return FoundValue::Exists;
        }
        let found = self.steps.iter().try_fold(&*object.body, |value, step| match step {
            TargetStep::Key(key) => value.get(key),
            TargetStep::Index(index) => value.get(*index),
            TargetStep::Named(path, wanted, place) => {
                let items = value.as_array()?;
                let index = place.filter(|(_, length)| *length == items.len());
                let own = |item: &&Value| path.map_or(Some(*item), |path| get(item, path)) == Some(wanted);
                let found = items.iter().find(own);
                found.or_else(|| items.get(index?.0))
            }
        });
        found.cloned().map_or(FoundValue::Absent, FoundValue::Value)
    }

    /// Follows a typed field as far as the object has it; the rest is taken as written.
    fn walk(&mut self, field: &str, object: Option<&Object>) -> Result<(), Problem> {
        let mut value = object.map(|o| &*o.body);
        let mut rest = field.trim();
        if let Some(pointer) = rest.strip_prefix('/') {
            for segment in pointer.split('/') {
                let key = pointer::unescape(segment);
                value = self.step(&key, value);
            }
            return Ok(());
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        while !rest.is_empty() {
            let (key, remainder) = next(rest, value).ok_or_else(|| {
                Problem::new(
                    format!("{field:?} isn't a field"),
                    "write spec.a.b[0].c, spec.list[name] or [\"a.key/with.dots\"]".to_owned(),
                )
            })?;
            value = self.step(&key, value);
            rest = remainder.strip_prefix('.').unwrap_or(remainder);
        }
        Ok(())
    }

    /// Adds a step; returns the value there.
    fn step<'v>(&mut self, key: &str, value: Option<&'v Value>) -> Option<&'v Value> {
        let Some(Value::Array(items)) = value else {
            let missing = value.is_none().then(|| key.parse().ok()).flatten();
            if let Some(index) = missing {
                self.path = self.path.index(index);
                self.steps.push(TargetStep::Index(index));
                return None;
            }
            self.path = self.path.key(key);
            self.steps.push(TargetStep::Key(key.to_owned()));
            return value.and_then(|v| v.get(key));
        };
        // As hcoplan prints an item.
        let key = key.strip_prefix("name=").unwrap_or(key);
        let text = Value::from(key);
        let named = |item: &Value| {
            let mut names = IDENTITIES.iter().map(|p| get(item, p) == Some(&text));
            *item == text || names.any(|n| n)
        };
        let index = key.parse().ok();
        let found = items.iter().position(named).or(index);
        let Some(index) = found else {
            self.path = self.path.key(key);
            let first = items.first();
            let mut named = IDENTITIES.into_iter();
            let named = named.find(|p| first.is_some_and(|f| get(f, p).is_some()));
            self.steps.push(TargetStep::Named(named, text, None));
            return None;
        };
        let item = items.get(index);
        self.path = self.path.index(index);
        let step = item.and_then(|item| identity(item, index, items));
        self.steps.push(step.unwrap_or(TargetStep::Index(index)));
        item
    }
}

/// How to identify an element of a list: by itself, or by a name that no other has.
fn identity(item: &Value, index: usize, items: &[Value]) -> Option<TargetStep> {
    match item {
        Value::Object(_) => IDENTITIES.into_iter().find_map(|path| {
            let name = get(item, path).filter(|n| n.is_string())?;
            let same = items.iter().filter(|i| get(i, path) == Some(name));
            let place = Some((index, items.len()));
            (same.count() == 1).then(|| TargetStep::Named(Some(path), name.clone(), place))
        }),
        Value::Array(_) => None,
        _ => {
            let same = items.iter().filter(|i| *i == item).count();
            (same == 1).then(|| TargetStep::Named(None, item.clone(), Some((index, items.len()))))
        }
    }
}

/// The first key of a typed field, and the rest. A key of the object may contain dots.
fn next<'t>(text: &'t str, value: Option<&Value>) -> Option<(String, &'t str)> {
    if let Some(inner) = text.strip_prefix('[') {
        for quote in ['"', '\''] {
            if let Some(quoted) = inner.strip_prefix(quote) {
                let (key, remainder) = quoted.split_once(quote)?;
                return Some((key.to_owned(), remainder.strip_prefix(']')?));
            }
        }
        let (key, remainder) = inner.split_once(']')?;
        return (!key.is_empty()).then(|| (key.to_owned(), remainder));
    }
    let keys = members(value);
    let fits = |key: &&String| is_within(text, key);
    let longest = keys.map(|(k, _)| k).filter(fits).max_by_key(|k| k.len());
    if let Some(key) = longest {
        return Some((key.clone(), text.get(key.len()..)?));
    }
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (key, remainder) = text.split_at_checked(end)?;
    (!key.is_empty()).then(|| (key.to_owned(), remainder))
}

/// The kind in its own spelling; the typed one matches in any case.
fn known_kind(plan_input: &PlanInput<'_>, plan: &Plan, typed: &str) -> Result<String, Problem> {
    let mut kinds: Vec<String> = plan.objects().map(|o| o.id.kind.clone()).collect();
    // Short names: `kv`, `dic`.
    let meant = Term::like(typed).filter(|term| term.kind == TermKind::Kind).map(|term| term.name.as_str());
    let find = |kinds: &[String]| {
        let mut same = kinds.iter().filter(|k| k.eq_ignore_ascii_case(typed) || Some(k.as_str()) == meant);
        same.next().cloned()
    };
    if let Some(kind) = find(&kinds) {
        return Ok(kind);
    }
    // A manifest that fails renders less.
    let defaults =
        ["metadata.annotations", "spec"].map(|path| Delta::Change(Change::Set(Path::dotted(path), json!({}))));
    kinds.extend(plan_input.with(defaults).objects().map(|o| o.id.kind.clone()));
    let rendered = kinds.len();
    let platform = Input::Fact(super::Fact::Platform);
    let elsewhere = plan_input.without(&[&platform]);
    kinds.extend(elsewhere.objects().map(|o| o.id.kind.clone()));
    let feeds = plan_input.release.fields().iter().flat_map(|f| &f.operands);
    let fed = feeds.filter_map(|f| f.kind.split('/').next());
    kinds.extend(fed.map(ToOwned::to_owned));
    if let Some(kind) = find(&kinds) {
        return Ok(kind);
    }
    let help = match nearest(typed, kinds.iter().map(String::as_str)) {
        Some(kind) => format!("did you mean {kind}?"),
        None => {
            kinds.truncate(rendered);
            kinds.sort_unstable();
            kinds.dedup();
            format!("HCO and SSP render {}", kinds.join(", "))
        }
    };
    let message = format!("HCO and SSP render no object of the kind {typed:?}");
    Err(Problem::new(message, help))
}

/// Checks that the object could have the field: by its Go type, else by its other fields.
fn check(plan_input: &PlanInput<'_>, object: &Object, target: &Target) -> Result<(), Problem> {
    let path = &target.path;
    if path.get(&object.body).is_some() {
        return Ok(());
    }
    let types = plan_input.release.go_types();
    let mut ty = types.of_kind(&object.id.api_version, &object.id.kind);
    let mut value = Some(&*object.body);
    let mut at = Path::root();
    for segment in &path.0 {
        let text = match segment {
            Segment::Key(key) => key.clone(),
            Segment::Index(index) => index.to_string(),
        };
        // Every object has them, even if the operand's Go type lacks them.
        let common = at.0.is_empty() && matches!(text.as_str(), "apiVersion" | "kind" | "metadata");
        let below = match ty {
            Some(ty) => match types.step(ty, &text) {
                TypeStep::Field(name, inner) if name == text => Ok(Some(inner)),
                TypeStep::Field(name, _) => Err(vec![name.to_owned()]),
                TypeStep::Inside(inner) => Ok(Some(inner)),
                TypeStep::Free => Ok(None),
                TypeStep::Nowhere if common => Ok(None),
                TypeStep::Nowhere => {
                    let names = types.field_names(ty.target());
                    Err(names.into_iter().map(ToOwned::to_owned).collect())
                }
            },
            None => {
                let keys: Vec<String> = members(value).map(|(k, _)| k.clone()).collect();
                let known = keys.contains(&text) || nearest(&text, keys.iter().map(String::as_str)).is_none();
                if known || value.is_none() { Ok(None) } else { Err(keys) }
            }
        };
        match below {
            Ok(inner) => ty = inner,
            Err(names) => return Err(unknown(plan_input, object, &at, &text, &names)),
        }
        at.0.push(segment.clone());
        value = at.get(&object.body);
    }
    Ok(())
}

fn unknown(plan_input: &PlanInput<'_>, object: &Object, at: &Path, key: &str, names: &[String]) -> Problem {
    let kind = &object.id.kind;
    let whole = at.key(key);
    let message = format!("{kind} has no field {whole}");
    let near = nearest(key, names.iter().map(String::as_str));
    let near = near.map(|n| at.key(n).to_string());
    // The path may lack its first steps.
    let near = near.or_else(|| {
        let mut found = Vec::new();
        collect_paths(&object.body, key, &Path::root(), &mut found);
        let schema = plan_input.release.schema_of(&object.id.api_version, kind);
        let all = schema.map(Schema::all_fields).unwrap_or_default();
        let same = |p: &Path| matches!(p.0.last(), Some(Segment::Key(last)) if last.eq_ignore_ascii_case(key));
        let shortest = |paths: Vec<Path>| paths.into_iter().min_by_key(|p| p.0.len());
        let found = shortest(found).or_else(|| shortest(all.into_iter().filter(same).collect()));
        found.map(|p| p.to_string())
    });
    let help = match near {
        Some(near) => format!("did you mean {near}?"),
        None if names.is_empty() => "`hcoplan render --only KIND` shows its fields".to_owned(),
        None => {
            let place = if at.0.is_empty() { "it".to_owned() } else { at.to_string() };
            format!("{place} has {}", joined(names.iter().take(30).map(String::as_str), ", "))
        }
    };
    Problem::new(message, help)
}

/// All paths in an object that end in a key.
fn collect_paths(value: &Value, key: &str, at: &Path, found: &mut Vec<Path>) {
    if let Value::Object(entries) = value {
        for (name, inner) in entries {
            let path = at.key(name);
            if name.eq_ignore_ascii_case(key) {
                found.push(path.clone());
            }
            collect_paths(inner, key, &path, found);
        }
    }
}

fn listed<'i>(ids: impl Iterator<Item = &'i ObjectId>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<String> = ids.map(|id| format!("{}/{}", id.kind, id.name)).collect();
    list(&names, SHOWN)
}

impl Target {
    /// The problem that no object has this name, and that no change would create it.
    pub(super) fn no_such_name(&self, plan: &Plan, name: &str) -> Problem {
        let kind = &self.kind;
        let ids: Vec<&ObjectId> = plan.objects().map(|o| &*o.id).collect();
        let ids = ids.into_iter().filter(|id| id.kind == *kind);
        let help = match nearest(name, ids.clone().map(|id| id.name.as_str())) {
            Some(near) => format!("did you mean {kind}/{near}?"),
            None => format!("existing ones: {}", listed(ids)),
        };
        let message = format!("no {kind} is named {name:?}, and no input suppresses one of this name");
        Problem::new(message, help)
    }
}
