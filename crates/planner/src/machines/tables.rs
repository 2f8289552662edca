//! Checks as rows: `schemas/kubevirt/checks.json`, interpreted in one place.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hcoplan_kubernetes::label::subdomain_problems;
use serde::Deserialize;
use serde_json::Value;

use super::Reason;
use super::checker::{Checker, at, is_on, label_problems, list, number, text};
use super::disks::{is_pci_address, path_problem};

/// A check: the first field that fails it is rejected with the server's message.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Check {
    /// Path of the elements that it looks at, `[]` for each one of a list; without it the whole.
    #[serde(default)]
    each: String,
    /// What must hold below the element for a rejection: `<path> <test> [<values>]`.
    #[serde(default)]
    when: Vec<Test>,
    /// The rejected field below the element.
    #[serde(default)]
    at: String,
    /// Why.
    reason: Why,
    /// The server's message: `{at}` and `{each}` are the shown paths of the field and of the element, `{value}` is the
    /// field's value, `{list}` its list, `{=path}` a value below the element, `{@path}` the shown path below it.
    message: String,
    /// The behaviour that KubeVirt has to have.
    #[serde(default)]
    since: Option<String>,
}

/// The reason of a row; a path is absolute.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Why {
    Missing,
    Malformed,
    OutOfRange,
    NotExactlyOne,
    Removed,
    /// The allowed values; without a condition, any other one is rejected.
    OneOf(Vec<String>),
    /// A path below the element.
    Needs(String),
    /// A path below the element.
    Contradicts(String),
    /// An absolute path.
    ContradictsOther(String),
    /// An absolute path.
    NeedsOther(String),
    /// A gate that has to be off.
    Gate(String),
    Architecture(String),
}

/// A condition.
#[derive(Debug)]
struct Test {
    /// Several for `count`.
    paths: Vec<String>,
    how: How,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum How {
    Set,
    Unset,
    Filled,
    Empty,
    True,
    NotTrue,
    False,
    NotFalse,
    On,
    Off,
    In,
    NotIn,
    Below,
    Above,
    /// How many of the paths are set.
    Count,
    CountAbove,
    /// A text that isn't of a form.
    Not,
}

impl<'de> Deserialize<'de> for Test {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut words = text.split(' ');
        let paths = words.next().unwrap_or_default().split(',').map(str::to_owned).collect();
        let how = Value::from(words.next().unwrap_or_default());
        let how = serde_json::from_value(how).map_err(serde::de::Error::custom)?;
        let values = words.next().unwrap_or_default().split('|').map(str::to_owned).collect();
        Ok(Self { paths, how, values })
    }
}

/// The rows by group.
static CHECKS: LazyLock<BTreeMap<String, Vec<Check>>> =
    LazyLock::new(|| serde_json::from_str(hcoplan_schemas::KUBEVIRT_CHECKS).expect("schemas/kubevirt/checks.json"));

/// The problems of a text that has to be of a form; empty if it is.
fn form_problems(form: &str, text: &str) -> Vec<String> {
    let plain = |allowed: &[u8]| text.bytes().all(|b| b.is_ascii_alphanumeric() || allowed.contains(&b));
    let wrong = |is_right: bool| if is_right { Vec::new() } else { vec![String::new()] };
    match form {
        "label" => label_problems(text),
        "subdomain" => subdomain_problems(text),
        "path" => path_problem(text).map(str::to_owned).into_iter().collect(),
        "pci-address" => wrong(is_pci_address(text)),
        "serial" => wrong(plain(b"_.+-")),
        "short" => wrong(text.chars().count() <= 256),
        "interface" => wrong(!text.is_empty() && plain(b"-_")),
        _ => Vec::new(),
    }
}

impl Test {
    fn holds(&self, element: &Value) -> bool {
        let value = at(element, &self.paths[0]);
        let first = || self.values[0].parse::<i64>().unwrap_or_default();
        let count =
            || i64::try_from(self.paths.iter().filter(|p| !at(element, p).is_null()).count()).unwrap_or(i64::MAX);
        match self.how {
            How::Set => !value.is_null(),
            How::Unset => value.is_null(),
            How::Filled => !text(value).is_empty() || !list(value).is_empty(),
            How::Empty => text(value).is_empty() && list(value).is_empty(),
            How::True => *value == true,
            How::NotTrue => *value != true,
            How::False => *value == false,
            How::NotFalse => *value != false,
            How::On => is_on(value),
            How::Off => !is_on(value),
            How::In => self.values.iter().any(|v| v == text(value)),
            How::NotIn => self.values.iter().all(|v| v != text(value)),
            How::Below => number(value) < first(),
            How::Above => number(value) > first(),
            How::Count => count() == first(),
            How::CountAbove => count() > first(),
            How::Not => !form_problems(&self.values[0], text(value)).is_empty(),
        }
    }

    /// What is wrong with the form of the field.
    fn problems(&self, element: &Value) -> Option<Vec<String>> {
        let value = text(at(element, &self.paths[0]));
        matches!(self.how, How::Not).then(|| form_problems(&self.values[0], value))
    }
}

impl Checker<'_> {
    /// Applies the rows of a group.
    pub(super) fn rows(&mut self, group: &str) {
        let checks = CHECKS.get(group).map_or(&[][..], Vec::as_slice);
        for check in checks {
            if check.since.as_ref().is_none_or(|behaviour| self.cluster.admits(behaviour)) {
                self.row(check);
            }
        }
    }

    fn row(&mut self, check: &'static Check) {
        let elements = if check.each.is_empty() { vec![(String::new(), self.spec)] } else { self.each(&check.each) };
        for (path, element) in elements {
            if !check.when.iter().all(|test| test.holds(element)) {
                continue;
            }
            let below = |field: &str| match (path.as_str(), field) {
                ("", field) => field.to_owned(),
                (path, "") => path.to_owned(),
                (path, field) => format!("{path}.{field}"),
            };
            let field = below(&check.at);
            let reason = match &check.reason {
                Why::Missing => Reason::Missing,
                Why::Malformed => Reason::Malformed,
                Why::OutOfRange => Reason::OutOfRange,
                Why::NotExactlyOne => Reason::NotExactlyOne,
                Why::Removed => Reason::Removed,
                Why::Needs(other) => Reason::Needs(self.path(&below(other))),
                Why::Contradicts(other) => Reason::Contradicts(self.path(&below(other))),
                Why::NeedsOther(other) => Reason::Needs(self.path(other)),
                Why::ContradictsOther(other) => Reason::Contradicts(self.path(other)),
                Why::Architecture(name) => Reason::Architecture(name.clone()),
                Why::Gate(gate) if self.cluster.has_gate(gate) => continue,
                Why::Gate(gate) => Reason::GateOff(gate),
                Why::OneOf(allowed) => {
                    let value = at(element, &check.at).as_str();
                    if check.when.is_empty() && value.is_none_or(|value| allowed.iter().any(|a| a == value)) {
                        continue;
                    }
                    Reason::Unsupported(allowed.iter().filter(|a| !a.is_empty()).cloned().collect())
                }
            };
            let problems = check.when.iter().find_map(|test| test.problems(element));
            let template = self.fill(&check.message, &field, &path, element);
            match problems {
                Some(problems) if template.contains("{problems") => {
                    let all = [("{problems, }", ", "), ("{problems; }", "; ")];
                    let message = all.iter().fold(template, |m, (mark, by)| m.replace(mark, &problems.join(by)));
                    self.reject(&field, reason, message);
                }
                Some(problems) if template.contains("{problem}") => {
                    for problem in problems {
                        self.reject(&field, reason.clone(), template.replace("{problem}", &problem));
                    }
                }
                _ => self.reject(&field, reason, template),
            }
        }
    }

    /// A message with the values of its marks.
    fn fill(&self, message: &str, field: &str, path: &str, element: &Value) -> String {
        let list = field.rsplit_once('[').map_or("", |(list, _)| list);
        let value = at(self.spec, field);
        let mut out = String::new();
        let mut rest = message;
        while let Some((before, marked)) = rest.split_once('{') {
            let (mark, after) = marked.split_once('}').unwrap_or((marked, ""));
            out.push_str(before);
            let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match (mark, mark.split_at(mark.len().min(1))) {
                ("at", _) => out.push_str(&self.name(field)),
                ("each", _) => out.push_str(&self.name(path)),
                ("list", _) => out.push_str(&self.name(list)),
                ("value", _) => out.push_str(&shown(value)),
                (_, ("=", below)) => out.push_str(at(element, below).as_str().unwrap_or_default()),
                (_, ("#", below)) => out.push_str(&number(at(element, below)).to_string()),
                (_, ("@", below)) => out.push_str(&self.name(below)),
                (_, ("~", below)) => out.push_str(&self.name(&format!("{path}.{below}"))),
                _ => {
                    out.push('{');
                    out.push_str(mark);
                    out.push('}');
                }
            }
            rest = after;
        }
        out + rest
    }
}

/// The reason with the allowed values.
pub(super) fn unsupported(allowed: &[&str]) -> Reason {
    Reason::Unsupported(allowed.iter().filter(|a| !a.is_empty()).map(|a| (*a).to_owned()).collect())
}

/// The number of an object's fields that are set.
pub(super) fn count(value: &Value, fields: &[&str]) -> usize {
    fields.iter().filter(|f| !value[**f].is_null()).count()
}
