//! Checks as rows: `schemas/kubevirt/checks.json`, interpreted in one place.

use super::cdi::{checksum_problem, is_fetched, is_url, registry_url_problem, scheme};
use super::checker::{
    Checker, at, dangling, each, is_on, is_placeholder, label_problems, list, milli, number, printed, quantity, whole,
};
use super::disks::{is_pci_address, path_problem};
use super::network::{is_port_name, mac_problem};
use crate::cause::{Cause, CauseKind};
use crate::prelude::*;
use hcoplan_kubernetes::label::{key_problems, subdomain_problems, value_problems};
use hcoplan_kubernetes::quantity::Quantity;
use hcoplan_kubernetes::{cron, duration};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A check: each field that fails it is rejected with the server's message.
///
/// A path is below the element. `/path` is a path of the whole, the first one where it has `[]`; `key>list:path` is one
/// in the last element of a list with the name that the element has at `key`, by default `name`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Check {
    /// Path of the elements that it looks at, `[]` for each one of a list; without it the whole.
    #[serde(default)]
    each: String,
    /// What must hold for a rejection: `<path> <test> [<values>]`; a number may be `=<path>`.
    #[serde(default)]
    when: Vec<Test>,
    /// Only this one of the elements for which that holds, from 1.
    nth: Option<usize>,
    /// The rejected field.
    #[serde(default)]
    at: String,
    /// Why.
    reason: Why,
    /// The server's message: `{at}` and `{each}` are the shown paths of the field and of the element, `{other}` that of
    /// the element with the same value, `{index}` the element's index, `{value}` the field's value, `{values}` its
    /// items, `{list}` its list, `{pod}` its path below the pod's affinity; `{=path}`, `{#path}` and `{$path}` are a
    /// text, a number and a quantity, `{~path}` the shown path of a field, `{@path}` a shown path of the whole.
    message: String,
    /// The behaviour that KubeVirt has to have.
    since: Option<String>,
    /// The behaviour that KubeVirt must not have.
    until: Option<String>,
    /// The gate that has to be on.
    gate: Option<String>,
    /// Whether later rows of the group skip an element that this one rejects: all of them, if it is the whole.
    #[serde(default)]
    last: bool,
}

/// The reason of a row.
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
    /// A path.
    Needs(String),
    /// A path.
    Contradicts(String),
    /// The fields in which no two elements may be equal.
    Duplicate(Vec<String>),
    /// The list that lacks an element of this name. Those that the own list doesn't name are offered.
    Dangling(String),
    /// A gate that is off.
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
    /// Whether all paths are below the element: most are.
    is_plain: bool,
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
    Zero,
    /// Less than 0, by a fraction, too.
    Negative,
    /// More than another quantity, by a fraction, too.
    Exceeds,
    /// More than a whole number, by less than one.
    Fractional,
    /// Not a multiple.
    Unaligned,
    /// Not a power of 2.
    Uneven,
    /// A list or an object with more, or fewer, entries.
    Longer,
    Shorter,
    /// A text, or a list of texts with blanks between, with more bytes.
    Wider,
    /// A text that differs from another.
    Differs,
    /// The same text as another.
    Same,
    StartsWith,
    Quantity,
    /// How many of the paths are set.
    Count,
    CountAbove,
    /// How many of the paths have a text.
    FilledAbove,
    FilledNone,
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
        Ok(Self { paths, how, values, is_plain: !text.contains(['/', '>']) })
    }
}

/// The rows by group.
static CHECKS: Table<BTreeMap<String, Vec<Check>>> = Table::of(hcoplan_schemas::KUBEVIRT_CHECKS);

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
        "mac" => mac_problem(text).map(str::to_owned).into_iter().collect(),
        "unicast" => wrong(!text.get(1..2).is_some_and(|digit| "13579bdfBDF".contains(digit))),
        "ip" => wrong(text.parse::<IpAddr>().is_ok()),
        "schedule" => wrong(cron::check(text).is_ok()),
        "url" => wrong(is_url(text)),
        "source-url" => wrong(is_url(text) && (text.starts_with('/') || !scheme(text).is_empty())),
        "fetched-url" => wrong(is_fetched(text)),
        "registry-url" => registry_url_problem(text).into_iter().collect(),
        "checksum" => checksum_problem(text).into_iter().collect(),
        "ipv4" => wrong(text.parse::<Ipv4Addr>().is_ok()),
        "ipv4-range" => wrong(is_range::<Ipv4Addr>(text, 30)),
        "ipv6-range" => wrong(is_range::<Ipv6Addr>(text, 126)),
        "duration" => duration::parse(text).err().map(|error| error.to_string()).into_iter().collect(),
        "quantity" => wrong(Quantity::parse(text).is_ok()),
        "percentage" => percentage_problem(text).into_iter().collect(),
        "base64" => wrong(is_base64(text)),
        // The longest data of cloud-init.
        "small" => wrong(text.len() <= 2048),
        "small-base64" => wrong(decoded_len(text).is_none_or(|len| len <= 2048)),
        "filter" => wrong(!text.trim_start_matches('!').trim_end_matches('*').contains(['!', '*']) && text != "!"),
        "json" => wrong(serde_json::from_str::<Value>(text).is_ok()),
        "restore-patch" => restore_patch_problems(text),
        "label-key" => key_problems(text),
        "label-value" => value_problems(text),
        "port-name" => wrong(is_port_name(text)),
        "interface" => wrong(!text.is_empty() && plain(b"-_")),
        _ => Vec::new(),
    }
}

/// Whether a text is a range of addresses with a prefix of at most this length: `10.0.2.0/24`.
fn is_range<Address: FromStr>(text: &str, longest: u8) -> bool {
    let is_prefix = |length: &str| is_digits(length) && length.parse().is_ok_and(|length: u8| length <= longest);
    text.split_once('/').is_some_and(|(address, length)| address.parse::<Address>().is_ok() && is_prefix(length))
}

/// KubeVirt's problem with a pool's percentage.
fn percentage_problem(text: &str) -> Option<String> {
    let Some(number) = text.strip_suffix('%') else {
        return Some("maxUnavailable percentage must end with %".to_owned());
    };
    match number.parse::<i64>() {
        Ok(1..=100) => None,
        Ok(n) => Some(format!("maxUnavailable percentage value {n} must be between 1 and 100")),
        Err(_) => Some(format!(
            "maxUnavailable percentage value \"{number}\" is invalid: strconv.Atoi: parsing \"{number}\": invalid syntax"
        )),
    }
}

/// KubeVirt's problems with a patch of a restored machine, which it takes apart as text.
fn restore_patch_problems(patch: &str) -> Vec<String> {
    const PATCHED: [&str; 3] = ["\"/spec/", "\"/metadata/labels/", "\"/metadata/annotations/"];
    let parts = patch.trim_matches(['{', '}']).split(',');
    let problem = |part: &str| match part.split(':').map(str::trim).collect::<Vec<_>>()[..] {
        ["\"path\"", path] if !PATCHED.iter().any(|start| path.starts_with(start)) => {
            Some(format!("patching is valid only for elements under /spec/ only: {part}"))
        }
        [_, _] => None,
        _ => Some(format!("patch format is not valid - one \":\" expected in a single key-value json patch: {part}")),
    };
    parts.filter_map(problem).collect()
}

/// Whether Go decodes a text as base64.
pub fn is_base64(text: &str) -> bool {
    decoded_len(text).is_some()
}

/// The decoded length of a base64 text in bytes; `None` if it is invalid. Go skips line breaks.
fn decoded_len(text: &str) -> Option<usize> {
    let bytes: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    let padding = bytes.iter().rev().take_while(|b| **b == b'=').count();
    let data = bytes.get(..bytes.len() - padding)?;
    let is_base64 = bytes.len().is_multiple_of(4)
        && padding <= 2
        && data.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'));
    is_base64.then(|| bytes.len() / 4 * 3 - padding)
}

/// A path of a field in an element.
fn join(element: &str, field: &str) -> String {
    match (element, field) {
        ("", field) => field.to_owned(),
        (element, "") => element.to_owned(),
        (element, field) => format!("{element}.{field}"),
    }
}

impl Test {
    fn holds(&self, checker: &Checker<'_>, element: &Value) -> bool {
        let find = |path: &str| if self.is_plain { at(element, path) } else { checker.find("", element, path).1 };
        let value = find(&self.paths[0]);
        let bound = || match self.values[0].strip_prefix('=') {
            Some(path) => whole(find(path)),
            None => self.values[0].parse().unwrap_or_default(),
        };
        let as_number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let count =
            |is_counted: fn(&Value) -> bool| as_number(self.paths.iter().filter(|p| is_counted(find(p))).count());
        let [set, filled]: [fn(&Value) -> bool; 2] = [|value| !value.is_null(), |value| !text(value).is_empty()];
        let len = || {
            let entries = value.as_object().map_or(0, |all| all.values().filter(|v| !v.is_null()).count());
            as_number(entries.max(list(value).len()))
        };
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
            How::Below => whole(value) < bound(),
            How::Above => whole(value) > bound(),
            How::Zero => whole(value) == 0,
            How::Negative => milli(value) < 0,
            How::Exceeds => milli(value) > milli(find(&self.values[0])),
            How::Fractional => whole(value) > 0 && whole(value) * 1000 != milli(value),
            How::Unaligned => bound() != 0 && whole(value) % bound() != 0,
            How::Uneven => whole(value) & (whole(value) - 1) != 0,
            How::Longer => len() > bound(),
            How::Shorter => len() < bound(),
            How::Wider => as_number(joined(elements(value).map(text), " ").len().max(text(value).len())) > bound(),
            How::Differs => text(value) != text(find(&self.values[0])),
            How::Same => text(value) == text(find(&self.values[0])),
            How::StartsWith => text(value).starts_with(&self.values[0]),
            How::Quantity => quantity(value).is_some(),
            How::Count => count(set) == bound(),
            How::CountAbove => count(set) > bound(),
            How::FilledAbove => count(filled) > bound(),
            How::FilledNone => count(filled) == 0,
            How::Not => !form_problems(&self.values[0], text(value)).is_empty(),
        }
    }

    /// What is wrong with the form of the field.
    fn problems(&self, element: &Value) -> Option<Vec<String>> {
        let value = text(at(element, &self.paths[0]));
        matches!(self.how, How::Not).then(|| form_problems(&self.values[0], value))
    }
}

impl<'j> Checker<'j> {
    /// Applies the rows of a group. Returns the elements that a last row rejects.
    pub(super) fn rows(&mut self, group: &str) -> HashSet<String> {
        let (mut known, mut ended) = (BTreeMap::new(), HashSet::new());
        for check in self.checks(group) {
            // Many rows look at the same elements.
            let elements = known.entry(&check.each).or_insert_with(|| self.elements(check));
            if !ended.contains("") {
                let rejected = self.row(check, elements, &ended);
                ended.extend(rejected.into_iter().filter(|_| check.last));
            }
        }
        ended
    }

    /// Applies the rows of a group to a value below the own one.
    pub(super) fn rows_below(&mut self, path: &str, value: &'j Value, group: &str) {
        let mut own = self.below(path, value);
        own.rows(group);
        self.found.append(&mut own.found);
    }

    /// The first rejection by the rows of a group.
    pub(super) fn first(&mut self, group: &str) -> Option<Cause> {
        self.checks(group).find_map(|check| {
            self.row(check, &self.elements(check), &HashSet::new());
            self.found.first().cloned()
        })
    }

    /// The elements that a row looks at.
    fn elements(&self, check: &Check) -> Vec<(String, &'j Value)> {
        if check.each.is_empty() { vec![(String::new(), self.spec)] } else { self.each(&check.each) }
    }

    /// The rows of a group for the cluster's release.
    fn checks(&self, group: &str) -> impl Iterator<Item = &'static Check> + use<'j> {
        let cluster = self.cluster;
        let admits = move |behaviour: &String| cluster.admits(behaviour);
        CHECKS.get(group).into_iter().flatten().filter(move |check| {
            check.since.as_ref().is_none_or(admits)
                && !check.until.as_ref().is_some_and(admits)
                && check.gate.as_ref().is_none_or(|gate| cluster.has_gate(gate))
        })
    }

    /// The path and the value of a field in an element; null if absent.
    pub(super) fn find(&self, path: &str, element: &'j Value, field: &str) -> (String, &'j Value) {
        if let Some(field) = field.strip_prefix('/') {
            return each(self.spec, field).into_iter().next().unwrap_or((field.to_owned(), &Value::Null));
        }
        let Some((key, (list, field))) =
            field.split_once('>').and_then(|(key, rest)| Some((key, rest.split_once(':')?)))
        else {
            return (join(path, field), at(element, field));
        };
        let name = text(&element[if key.is_empty() { "name" } else { key }]);
        let found = self.list(list).iter().enumerate().rfind(|(_, other)| text(&other["name"]) == name);
        found.map_or((list.to_owned(), &Value::Null), |(i, other)| {
            (join(&format!("{list}[{i}]"), field), at(other, field))
        })
    }

    /// Applies a row. Returns the elements that it rejects.
    fn row(&mut self, check: &'static Check, elements: &[(String, &'j Value)], ended: &HashSet<String>) -> Vec<String> {
        let fails = |(path, element): &&(String, &'j Value)| {
            !ended.contains(path) && check.when.iter().all(|test| test.holds(self, element))
        };
        let (skipped, most) = check.nth.map_or((0, usize::MAX), |nth| (nth - 1, 1));
        let failing: Vec<&(String, &Value)> = elements.iter().filter(fails).skip(skipped).take(most).collect();
        let mut first = HashMap::new();
        let mut rejected = Vec::new();
        for (path, element) in failing {
            let (field, value) = self.find(path, element, &check.at);
            if !self.judges_placeholders && value.as_str().is_some_and(is_placeholder) {
                continue;
            }
            let path_of = |other: &str| self.path(&self.find(path, element, other).0);
            let mut equal = String::new();
            let kind = match &check.reason {
                Why::Missing => CauseKind::Missing,
                Why::Malformed => CauseKind::Malformed,
                Why::OutOfRange => CauseKind::OutOfRange,
                Why::NotExactlyOne => CauseKind::NotExactlyOne,
                Why::Removed => CauseKind::Removed,
                Why::Needs(other) => CauseKind::Needs(path_of(other)),
                Why::Contradicts(other) => CauseKind::Contradicts(path_of(other)),
                Why::Duplicate(fields) => {
                    let given = |field| Some(&element[field]).filter(|value| !value.is_null() && *value != "");
                    let key: Vec<Option<&Value>> = fields.iter().map(given).collect();
                    let other = first.entry(key).or_insert_with(|| path.clone());
                    if other == path {
                        continue;
                    }
                    equal.clone_from(other);
                    CauseKind::Duplicate(self.path(other))
                }
                Why::Dangling(list) => {
                    let names = |list: &str| self.list(list).iter().map(|e| text(&e["name"]));
                    let own = check.each.trim_end_matches("[]");
                    dangling(text(value), names(list).filter(|name| names(own).all(|other| other != *name)))
                }
                Why::Architecture(name) => CauseKind::Architecture(name.clone()),
                Why::Gate(gate) if self.cluster.has_gate(gate) => continue,
                Why::Gate(gate) => CauseKind::GateOff(gate),
                Why::OneOf(allowed) => {
                    let value = value.as_str();
                    if check.when.is_empty() && value.is_none_or(|value| allowed.iter().any(|a| a == value)) {
                        continue;
                    }
                    CauseKind::Unsupported(allowed.iter().filter(|a| !a.is_empty()).cloned().collect())
                }
            };
            let template = self.fill(&check.message, &field, path, element).replace("{other}", &self.name(&equal));
            rejected.push(path.clone());
            let problems = check.when.iter().find_map(|test| test.problems(element));
            match problems {
                Some(problems) if template.contains("{problems") => {
                    let all = [("{problems, }", ", "), ("{problems; }", "; ")];
                    let message = all.iter().fold(template, |m, (mark, by)| m.replace(mark, &problems.join(by)));
                    self.reject(&field, kind, message);
                }
                Some(problems) if template.contains("{problem}") => {
                    for problem in problems {
                        self.reject(&field, kind.clone(), template.replace("{problem}", &problem));
                    }
                }
                _ => self.reject(&field, kind, template),
            }
        }
        rejected
    }

    /// A message with the values of its marks.
    fn fill(&self, message: &str, field: &str, path: &str, element: &'j Value) -> String {
        let (list, index) = field.rsplit_once('[').unwrap_or_default();
        let value = at(self.spec, field);
        let find = |field: &str| self.find(path, element, field);
        let mut out = String::new();
        let mut rest = message;
        while let Some((before, marked)) = rest.split_once('{') {
            let (mark, after) = marked.split_once('}').unwrap_or((marked, ""));
            out.push_str(before);
            let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            out.push_str(&match (mark, mark.split_at(mark.len().min(1))) {
                ("at", _) => self.name(field),
                ("each", _) => self.name(path),
                ("list", _) => self.name(list),
                ("index", _) => index.split(']').next().unwrap_or_default().to_owned(),
                ("pod", _) => self.name(field.trim_start_matches("affinity.")),
                ("value", _) => shown(value),
                ("values", _) => joined(elements(value).map(text), " "),
                (_, ("=", below)) => text(find(below).1).to_owned(),
                (_, ("#", below)) => number(find(below).1).to_string(),
                (_, ("$", below)) => printed(find(below).1),
                (_, ("@", below)) => self.name(below),
                (_, ("~", below)) => self.name(&find(below).0),
                _ => format!("{{{mark}}}"),
            });
            rest = after;
        }
        out + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_known() {
        let wrong = [":", " ", "/", "!", "03", &" ".repeat(300), &"a".repeat(4000)];
        for test in CHECKS.values().flatten().flat_map(|check| &check.when).filter(|test| matches!(test.how, How::Not))
        {
            let form = &test.values[0];
            assert!(wrong.iter().any(|text| !form_problems(form, text).is_empty()), "{form}");
        }
    }
}
