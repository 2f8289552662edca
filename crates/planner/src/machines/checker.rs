//! The shared base of all checks: a value, its location, and the causes found so far.

use super::Cluster;
use super::structure::{self, Layer};
use crate::cause::{Cause, CauseKind, Stage};
use crate::prelude::*;
use crate::release::Release;
use hcoplan_kubernetes::quantity::Quantity;
use hcoplan_kubernetes::schema::{Violation, ViolationKind, Violations};
use hcoplan_kubernetes::text::token;
use hcoplan_kubernetes::{label, metadata};
use std::collections::HashSet;

/// Checks one value, such as an instance's spec.
pub(super) struct Checker<'j> {
    pub(super) cluster: Cluster<'j>,
    pub(super) spec: &'j Value,
    pub(super) stage: Stage,
    /// The path of `spec` in the object.
    base: Path,
    /// The path in the server's messages: starting creates another object.
    shown: Path,
    /// Whether it also rejects placeholders.
    pub(super) judges_placeholders: bool,
    pub(super) found: Vec<Cause>,
}

impl<'j> Checker<'j> {
    pub(super) fn new(cluster: Cluster<'j>, spec: &'j Value, base: &str, stage: Stage) -> Self {
        let shown = Path::dotted(if stage >= Stage::Start { "spec" } else { base });
        Self { cluster, spec, stage, base: Path::dotted(base), shown, judges_placeholders: false, found: Vec::new() }
    }

    /// A check of a value below the own one.
    pub(super) fn below(&self, path: &str, spec: &'j Value) -> Self {
        let shown = self.shown.below(path.strip_prefix("affinity.").unwrap_or(path));
        let judges_placeholders = self.judges_placeholders;
        Self {
            spec,
            base: self.path(path),
            shown,
            judges_placeholders,
            ..Self::new(self.cluster, spec, "", self.stage)
        }
    }

    pub(super) fn with_placeholders(self) -> Self {
        Self { judges_placeholders: true, ..self }
    }

    /// The value at a dotted path; null if absent.
    pub(super) fn get(&self, path: &str) -> &'j Value {
        at(self.spec, path)
    }

    pub(super) fn text(&self, path: &str) -> &'j str {
        text(self.get(path))
    }

    pub(super) fn list(&self, path: &str) -> &'j [Value] {
        list(self.get(path))
    }

    /// A path as the server prints it.
    pub(super) fn name(&self, path: &str) -> String {
        self.shown.below(path).to_string()
    }

    pub(super) fn path(&self, path: &str) -> Path {
        self.base.below(path)
    }

    /// The values at a path with `[]` for each element, without nulls.
    pub(super) fn each(&self, pattern: &str) -> Vec<(String, &'j Value)> {
        each(self.spec, pattern)
    }

    /// Adds a cause, unless the value is a placeholder, whose final value is unknown.
    pub(super) fn reject(&mut self, path: &str, kind: CauseKind, message: impl Into<String>) {
        if !self.judges_placeholders && self.get(path).as_str().is_some_and(is_placeholder) {
            return;
        }
        self.found.push(Cause::new(self.stage, self.path(path), kind, message));
    }

    /// What was found, each once.
    pub(super) fn causes(self) -> Vec<Cause> {
        let mut seen = HashSet::new();
        self.found.into_iter().filter(|cause| seen.insert(cause.clone())).collect()
    }
}

/// That a name is missing among others, of which some are offered.
pub(super) fn dangling<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> CauseKind {
    const MAX_FOUND: usize = 50;
    CauseKind::Dangling(name.to_owned(), known.into_iter().take(MAX_FOUND).map(str::to_owned).collect())
}

/// The rejections of the structure of an object of a kind of KubeVirt or CDI, and of any object's metadata; prunes and
/// defaults the object.
pub fn structure(release: &Release, object: &mut Value) -> Vec<Cause> {
    let (kind, version) = (&*text(&object["kind"]).to_owned(), &release.kubevirt().version);
    let Some(schema) = structure::schema_in(release, kind) else {
        return object_metadata(object);
    };
    let is_of_cdi = text(&object["apiVersion"]).starts_with("cdi.");
    let unknown = schema.prepare(object).into_iter().map(|field| unknown_field(field, !is_of_cdi));
    let mut causes: Vec<Cause> = unknown.collect();
    let object = &*object;
    let found = schema.validate(object);
    // KubeVirt's webhooks see some kinds before the API server validates them, others afterwards.
    let is_defaulted = matches!(kind, "VirtualMachine" | "VirtualMachineInstance");
    let by_kubevirt = || match kind {
        "VirtualMachine" | "VirtualMachineInstance" => own_structure(kind, version, object, &found, Stage::Mutating),
        "VirtualMachineInstanceReplicaSet" => own_structure(kind, version, object, &found, Stage::Validating),
        _ => Vec::new(),
    };
    let by_server = || -> Vec<Cause> {
        // The webhook's answer fills in required fields.
        let is_filled = |v: &Violation| is_defaulted && v.kind == ViolationKind::Required;
        let violations =
            found.iter().filter(|v| !has_placeholder(v, object) && !is_filled(v) && !is_of_unknown(v, &causes));
        violations.map(|v| Cause::of(v, Stage::Schema, v.message.clone())).collect()
    };
    let steps: [&dyn Fn() -> Vec<Cause>; 2] =
        if is_defaulted { [&by_kubevirt, &by_server] } else { [&by_server, &by_kubevirt] };
    let found = steps.iter().map(|step| step()).find(|found| !found.is_empty()).unwrap_or_default();
    causes.extend(found);
    causes.extend(object_metadata(object));
    causes
}

/// Whether an unknown field, which the server reports first, is the cause of a violation: it is below what should be a
/// scalar, or beside a missing field that it is meant for.
fn is_of_unknown(violation: &Violation, unknown: &[Cause]) -> bool {
    unknown.iter().any(|cause| match violation.kind {
        ViolationKind::WrongType => cause.path.starts_with(&violation.path),
        ViolationKind::Required => cause.path.parent() == violation.path.parent(),
        _ => false,
    })
}

/// The API server's rejections of an object's metadata.
pub(super) fn object_metadata(object: &Value) -> Vec<Cause> {
    let mut found = metadata::not_texts(object);
    found.extend(metadata::violations(object));
    let is_known = |v: &&Violation| {
        let key = matches!(v.path.0.last(), Some(Segment::Key(key)) if is_placeholder(key));
        !key && !has_placeholder(v, object)
    };
    found.iter().filter(is_known).map(|v| Cause::of(v, Stage::Schema, v.message.clone())).collect()
}

fn unknown_field(field: PrunedField, is_kept: bool) -> Cause {
    let is_metadata = is_kept && field.path.0.iter().any(|s| matches!(s, Segment::Key(k) if k == "metadata"));
    // The API server keeps unknown fields in a template's metadata, and KubeVirt's webhooks reject them.
    let message = if is_metadata {
        format!("{} in body is a forbidden property", field.path)
    } else {
        format!("unknown field \"{}\"", field.path)
    };
    Cause::new(Stage::Schema, field.path, CauseKind::UnknownField, message)
}

/// Whether a template engine will replace the value.
fn has_placeholder(violation: &Violation, object: &Value) -> bool {
    violation.path.get(object).and_then(Value::as_str).is_some_and(is_placeholder)
}

/// The rejections by KubeVirt's webhooks: first by its OpenAPI document, then what Go can't decode.
fn own_structure(kind: &str, version: &str, object: &Value, by_server: &Violations, stage: Stage) -> Vec<Cause> {
    const QUANTITY: &str =
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    let schema = structure::schema_of(kind, version, Layer::KubeVirt);
    let found = schema.map(|s| s.validate(object).schema).unwrap_or_default();
    let (unsigned, wrong): (Vec<&Violation>, Vec<&Violation>) =
        found.iter().filter(|v| !has_placeholder(v, object)).partition(|v| v.kind == ViolationKind::Invalid);
    if !wrong.is_empty() {
        // The server's validator reports an amount twice, KubeVirt's once.
        let mut seen = BTreeSet::new();
        let wrong = wrong.into_iter().filter(|v| seen.insert(v.path.clone()));
        return wrong.map(|v| Cause::of(v, stage, own_words(v))).collect();
    }
    if let Some(first) = unsigned.first() {
        let location = without_indexes(&first.path);
        let number = first.path.get(object).unwrap_or(&Value::Null);
        let size = if location.ends_with("bootOrder") || location.contains("blockSize") { "uint" } else { "uint32" };
        let kind = if kind == "VirtualMachine" { "VirtualMachineInstanceTemplateSpec" } else { kind };
        let message =
            format!("json: cannot unmarshal number {number} into Go struct field {kind}.{location} of type {size}");
        return vec![Cause::of(first, stage, message)];
    }
    let unread = by_server.schema.iter().find(|v| {
        let is_text = v.path.get(object).is_some_and(Value::is_string);
        v.kind == ViolationKind::Invalid && is_text && !has_placeholder(v, object)
    });
    unread.into_iter().map(|v| Cause::of(v, stage, QUANTITY.to_owned())).collect()
}

fn without_indexes(path: &Path) -> String {
    Path(path.0.iter().filter(|s| matches!(s, Segment::Key(_))).cloned().collect()).to_string()
}

/// A violation in the words of KubeVirt's validator.
fn own_words(violation: &Violation) -> String {
    let location = without_indexes(&violation.path);
    let (_, tail) = violation.message.rsplit_once(" in body ").unwrap_or_default();
    let tail = match violation.kind {
        ViolationKind::Required => "is required".to_owned(),
        ViolationKind::Unsupported => {
            let (_, values) = violation.message.rsplit_once("supported values: ").unwrap_or_default();
            format!("should be one of [{}]", values.replace([',', '"'], ""))
        }
        _ => {
            let types = if location.ends_with(".port") { "string,number" } else { "string,integer,number" };
            tail.replace("integer,string", types).replace(": \"integer\"", ": \"number\"")
        }
    };
    format!("{location} in body {tail}")
}

impl Cause {
    fn of(violation: &Violation, stage: Stage, message: String) -> Self {
        let kind = match violation.kind {
            ViolationKind::Required => CauseKind::Missing,
            ViolationKind::Unsupported => CauseKind::Unsupported(Vec::new()),
            ViolationKind::WrongType => CauseKind::Malformed,
            _ => CauseKind::OutOfRange,
        };
        Self::new(stage, violation.path.clone(), kind, message)
    }
}

/// The values at a path with `[]` for each element or entry, without nulls.
pub fn each<'v>(value: &'v Value, pattern: &str) -> Vec<(String, &'v Value)> {
    let mut found = Vec::new();
    collect(value, pattern, &String::new, &mut found);
    found
}

/// Most checked fields are absent, so `path`, that of the value, is only formatted for the others.
fn collect<'v>(value: &'v Value, pattern: &str, path: &dyn Fn() -> String, found: &mut Vec<(String, &'v Value)>) {
    let (own, elements) = pattern.split_at(pattern.find('[').unwrap_or(pattern.len()));
    let value = at(value, own);
    match elements.strip_prefix("[]") {
        _ if value.is_null() => {}
        None => found.push((path() + own, value)),
        Some(below) => {
            for (key, item) in members(value) {
                collect(item, below, &|| format!("{}{own}.{key}", path()), found);
            }
            for (i, item) in list(value).iter().enumerate() {
                collect(item, below, &|| format!("{}{own}[{i}]", path()), found);
            }
        }
    }
}

/// The value at a dotted path, `domain.devices.disks[0].name`; null if absent.
pub(super) fn at<'v>(mut value: &'v Value, path: &str) -> &'v Value {
    let mut rest = path;
    while !rest.is_empty() && !value.is_null() {
        // Bytes: searching for a character is slower for short steps.
        let end = rest.bytes().position(|b| matches!(b, b'.' | b'[' | b']')).unwrap_or(rest.len());
        let (step, below) = rest.split_at(end);
        rest = below.get(1..).unwrap_or_default();
        value = match value {
            _ if step.is_empty() => continue,
            Value::Array(items) => step.parse().ok().and_then(|i: usize| items.get(i)).unwrap_or(&Value::Null),
            _ => &value[step],
        };
    }
    value
}

pub(super) fn list(value: &Value) -> &[Value] {
    elements(value).as_slice()
}

/// Whether a feature is present and not disabled: how Go reads a pointer to a bool that defaults to true.
pub(super) fn is_on(feature: &Value) -> bool {
    !feature.is_null() && feature["enabled"] != false
}

pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

pub(super) fn quantity(value: &Value) -> Option<Quantity> {
    Quantity::of(value)
}

/// A quantity as a whole number, rounded up; 0 if absent.
pub(super) fn whole(value: &Value) -> i64 {
    quantity(value).map_or(0, |q| q.scaled(0))
}

/// A quantity in thousandths; 0 if absent.
pub(super) fn milli(value: &Value) -> i64 {
    quantity(value).map_or(0, |q| q.scaled(-3))
}

/// A quantity as Go prints it; `0` if absent.
pub(super) fn printed(value: &Value) -> String {
    quantity(value).map_or_else(|| "0".to_owned(), |q| q.to_string())
}

/// Whether a text contains a placeholder of a template engine, or a word that a script or a person replaces.
pub fn is_placeholder(text: &str) -> bool {
    let has_mark = || ["${", "{{", "$("].iter().any(|mark| text.contains(mark));
    text.starts_with('$') || has_mark() || token(text).is_some()
}

/// Apimachinery's problems with a text as a DNS label; empty if it is one.
pub(super) fn label_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push("must be no more than 63 characters".to_owned());
    }
    if !label::is_dns_label(text.get(..63).unwrap_or(text)) {
        problems.push(if text.contains('.') {
            "must not contain dots".to_owned()
        } else {
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
                .to_owned()
        });
    }
    problems
}

/// The number of an object's fields that are set.
pub(super) fn count(value: &Value, fields: &[&str]) -> usize {
    fields.iter().filter(|f| !value[**f].is_null()).count()
}
