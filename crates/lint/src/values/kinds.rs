//! The form of each kind of value, as its reader checks it.

use serde::{Deserializer, Serialize};
use std::str::FromStr;

use hcoplan_kubernetes::label;
use hcoplan_kubernetes::label_selector::Requirement;
use hcoplan_kubernetes::nearest;
use hcoplan_kubernetes::quantity::Quantity;
use hcoplan_planner::boot::variant;
use hcoplan_planner::cause::Cause;
use hcoplan_planner::inventory::Architecture as Name;
use hcoplan_planner::machines::{placement_problems, row_problems};
use serde_json::json;

use super::forms::{
    is_extended_resource, is_hex, is_host, is_image, is_network_name, is_pci_selector, is_registry_url,
    is_type_identifier,
};
use super::problem::{Mistake, Problem};
use crate::Context;
use crate::context::{PREFERRED, REQUIRED_TERMS, last_key};
use crate::lists::entries;
use crate::prelude::*;
use crate::rows::Rows;

/// A kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// One of these words, which the schema doesn't list.
    OneOf(#[serde(deserialize_with = "words")] &'static [&'static str]),
    /// An integer of at least this value.
    AtLeast(i64),
    /// A DNS subdomain: the name of most objects.
    Subdomain,
    /// A DNS label: the name of a namespace.
    Label,
    /// A toleration (Kubernetes' ValidateTolerations).
    Toleration,
    /// A mapping of labels.
    Labels,
    /// A mapping with keys of annotations.
    Annotations,
    /// Annotations of a disk: one counts with any value.
    ImmediateBinding,
    /// A mapping whose keys are DNS subdomains.
    SubdomainKeys,
    /// A mapping of which only this key is read.
    OnlyKey(&'static str),
    /// What these rows of `checks.json` accept.
    Rows(&'static str),
    /// A quantity of 0 or more.
    Quantity,
    /// The type of a mediated device, for KubeVirt's configuration.
    MediatedDeviceType,
    /// An image reference.
    Image,
    /// The pod affinity and anti-affinity of an affinity, and the weights of its node affinity.
    PodAffinity,
    /// The architectures in a node affinity.
    Architectures,
    /// A requirement of a node selector, as the scheduler parses it.
    NodeRequirement,
    /// A `metav1.LabelSelector`.
    LabelSelector,
    /// The resources of CDI's pods.
    ImportResources,
    /// The resources of a container.
    Resources,
    /// A MAC address range of KubeMacPool.
    MacRange,
    /// `name` or `namespace/name` of a NetworkAttachmentDefinition.
    NetworkName,
    /// `vendor:product`, each of four hexadecimal digits.
    PciSelector,
    /// The number of a USB device's vendor or product.
    UsbIdentifier,
    /// The name of a mediated device's type, as opposed to its identifier.
    MediatedDeviceName,
    /// An extended resource's name.
    ResourceName,
    /// A host with an optional port.
    Host,
    /// The URL of an image in a registry.
    RegistryUrl,
    /// A UUID, as libvirt parses it.
    Uuid,
    /// A CPU model of libvirt.
    CpuModel,
    /// A CPU model that the node labeller doesn't hide.
    OfferedCpuModel,
    /// Go's name of an architecture.
    Architecture,
    /// A union: the key with the type, and the types, each of which allows one section.
    Union(&'static str, #[serde(deserialize_with = "words")] &'static [&'static str]),
}

/// The forms of kinds, in words.
static FORMS: Rows<[&str; 2]> = Rows::of("valueForms");

/// Whether a text has a form.
type Test = fn(&str) -> bool;

/// Words that are kept as long as the program runs.
fn words<'de: 'static, D: Deserializer<'de>>(input: D) -> Result<&'static [&'static str], D::Error> {
    Ok(Vec::<&'static str>::deserialize(input)?.leak())
}

impl Kind {
    /// The errors of a value of this kind. `null` is ignored.
    pub(crate) fn problems<'n>(self, node: &'n Node, cx: &Context<'_>) -> Vec<Problem<'n>> {
        if matches!(node.value, Value::Null) {
            return Vec::new();
        }
        let one = |problem: Option<Problem<'n>>| problem.into_iter().collect();
        if self != Self::OfferedCpuModel
            && let Some(problem) = blanks(node, self)
        {
            return vec![problem];
        }
        match self {
            Self::OneOf(words) => one(one_of(node, words)),
            Self::AtLeast(least) => one(at_least(node, least)),
            Self::Toleration => placement(node, cx, "tolerations[0]"),
            Self::Labels => labels(node),
            Self::Annotations => keys(node, |key| label::is_key(&key.to_ascii_lowercase()), self.form()),
            Self::ImmediateBinding => one(immediate_binding(node)),
            Self::SubdomainKeys => keys(node, label::is_subdomain, self.form()),
            Self::OnlyKey(only) => keys(node, |key| key == only, only),
            Self::Rows(group) => {
                let causes = row_problems(cx.release(), group, &node.to_json()).into_iter();
                causes.map(|cause| rejected(node, &Path::root(), &cause)).collect()
            }
            Self::Quantity => one(below_zero(node)),
            Self::PodAffinity => placement(node, cx, "affinity"),
            Self::Architectures => architectures(node),
            Self::LabelSelector => placement(node, cx, TERM_SELECTOR),
            Self::ImportResources => resources(node).into_iter().chain(beyond_defaults(node)).collect(),
            Self::NodeRequirement => {
                let is_parsed = Requirement::of(&node.to_json()).is_some();
                one((!is_parsed).then(|| Problem::new(node, Mistake::NotA(self.form()))))
            }
            Self::Resources => resources(node),
            Self::MacRange => one(mac_range(node)),
            Self::CpuModel => one(cpu_model(node)),
            Self::OfferedCpuModel => one(obsolete(node, cx)),
            Self::Architecture => one(architecture(node)),
            Self::Union(tag, types) => union(node, tag, types),
            _ => one(self.text(node)),
        }
    }

    /// The kinds whose values are texts. An empty text is none, except where devices are compared with it.
    fn text(self, node: &Node) -> Option<Problem<'_>> {
        let is_compared = matches!(self, Self::PciSelector | Self::UsbIdentifier | Self::MediatedDeviceName);
        let text = node.as_str().filter(|text| is_compared || !text.is_empty())?;
        let is_right = self.test()?;
        let correct = || self.corrected(text).filter(|correct| is_right(correct));
        (!is_right(text)).then(|| Problem::new(node, Mistake::NotA(self.form())).correct(correct()))
    }

    /// The form in words.
    fn form(self) -> &'static str {
        FORMS.row(&variant(&self).0)[1]
    }

    /// The form of its texts.
    fn test(self) -> Option<Test> {
        Some(match self {
            Self::Subdomain => label::is_subdomain,
            Self::Label => label::is_dns_label,
            Self::NetworkName => is_network_name,
            Self::PciSelector => is_pci_selector,
            Self::UsbIdentifier => |text| is_hex(text, 1..=4),
            Self::MediatedDeviceName => |text| !text.is_empty() && !text.contains('*') && !is_type_identifier(text),
            Self::MediatedDeviceType => |text| !text.contains([' ', '*']),
            Self::Image => is_image,
            Self::ResourceName => is_extended_resource,
            Self::Host => is_host,
            Self::RegistryUrl => is_registry_url,
            Self::Uuid => |text| is_hex(&text.replace('-', ""), 32..=32),
            _ => return None,
        })
    }

    /// What was probably meant.
    fn corrected(self, text: &str) -> Option<String> {
        Some(match self {
            Self::Host => {
                let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
                first_part(rest, '/').to_owned()
            }
            Self::PciSelector => text.to_ascii_lowercase().replace("0x", "").replace(['-', '.'], ":").to_uppercase(),
            Self::UsbIdentifier => text.to_ascii_lowercase().trim_start_matches("0x").to_owned(),
            Self::RegistryUrl => {
                let (scheme, rest) = text.split_once(':')?;
                format!("{scheme}://{}", rest.trim_start_matches('/'))
            }
            Self::MediatedDeviceType => text.replace(' ', "_"),
            Self::Image => text.split_once("://")?.1.to_owned(),
            _ => return None,
        })
    }
}

/// A label selector of a placement.
const TERM_SELECTOR: &str = "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector";

/// The keys of a mapping that don't have the form.
fn keys<'n>(node: &'n Node, is_right: impl Fn(&str) -> bool, form: &'static str) -> Vec<Problem<'n>> {
    let wrong = node.entries().iter().filter(|entry| !is_right(&entry.key.text));
    wrong.map(|entry| Problem::new(&entry.value, Mistake::NotAKey(form)).key(entry.key.text.clone())).collect()
}

/// A text with spaces at its ends. Only KubeVirt trims line breaks, in the name of a mediated device's type.
fn blanks(node: &Node, kind: Kind) -> Option<Problem<'_>> {
    let text = node.as_str()?;
    let trimmed = text.trim();
    let read = if kind == Kind::MediatedDeviceName { text.trim_matches(['\n', '\r', '\t']) } else { text };
    (!trimmed.is_empty() && read != trimmed)
        .then(|| Problem::new(node, Mistake::Blanks).correct(Some(trimmed.to_owned())))
}

fn below_zero(node: &Node) -> Option<Problem<'_>> {
    let is = Quantity::of(&node.to_json())?;
    is.to_string().starts_with('-').then(|| Problem::new(node, Mistake::Below(0)))
}

fn one_of<'n>(node: &'n Node, words: &'static [&'static str]) -> Option<Problem<'n>> {
    let text = node.as_str().filter(|text| !text.is_empty() && !words.contains(text))?;
    let meant = nearest(text, words.iter().copied()).map(ToOwned::to_owned);
    Some(Problem::new(node, Mistake::NotOneOf(words)).correct(meant))
}

fn at_least(node: &Node, least: i64) -> Option<Problem<'_>> {
    let number = node.to_json().as_i64().filter(|number| *number < least);
    number.map(|_| Problem::new(node, Mistake::Below(least)))
}

/// Kubernetes' problems with a part of a placement, at this path of it. `placement-affinity-invalid` reports the terms of node affinities.
fn placement<'n>(node: &'n Node, cx: &Context<'_>, base: &str) -> Vec<Problem<'n>> {
    let base = Path::dotted(base);
    let whole = base.0.iter().rev().fold(node.to_json(), |below, step| match step {
        Segment::Key(key) => json!({ key: below }),
        Segment::Index(_) => json!([below]),
    });
    let mut causes = placement_problems(cx.release(), &whole);
    let is_weight = |path: &Path| last_key(path) == Some("weight") || !path.to_string().contains(".nodeAffinity.");
    causes.retain(|cause| cause.path.starts_with(&base) && is_weight(&cause.path));
    // What is wrong with the form of a missing value is the same cause.
    causes.dedup_by_key(|cause| cause.path.clone());
    causes.iter().map(|cause| rejected(node, &base, cause)).collect()
}

/// What is wrong with a part of a node, whose path in the cause is below this one.
fn rejected<'n>(node: &'n Node, base: &Path, cause: &Cause) -> Problem<'n> {
    static WORDS: Rows<&str> = Rows::of("placementWords");
    let path = Path(cause.path.0[base.0.len()..].to_vec());
    let written = node.at(&path);
    let text = written.and_then(Node::as_str);
    let meant = text.and_then(|text| nearest(text, WORDS.iter().copied())).filter(|meant| text != Some(meant));
    // After the path and the value.
    let message = &*cause.message;
    let words = message.split_once("\": ").or_else(|| message.split_once(": ")).map_or(message, |(_, words)| words);
    let at = written.or_else(|| node.at(&path.parent())).unwrap_or(node);
    let problem = Problem::new(at, Mistake::Rejected(words.to_owned())).correct(meant.map(str::to_owned));
    match last_key(&cause.path) {
        Some(key) => problem.key(key),
        None => problem,
    }
}

fn labels(node: &Node) -> Vec<Problem<'_>> {
    let entries = node.entries().iter().filter(|entry| label::is_key(&entry.key.text));
    let wrong = entries.filter(|entry| entry.value.as_str().is_some_and(|text| !label::is_value(text)));
    let wrong = wrong.map(|entry| Problem::new(&entry.value, Mistake::NotA("a label's value")).key(&*entry.key.text));
    keys(node, label::is_key, "a label's key").into_iter().chain(wrong).collect()
}

/// Architectures that no node has. The rules about placements report a single required one.
fn architectures(node: &Node) -> Vec<Problem<'_>> {
    let mut out = Vec::new();
    let terms = node.list_at(REQUIRED_TERMS).iter().map(|term| (term, true));
    let preferred = node.list_at(PREFERRED).iter().filter_map(|term| Some((term.get("preference")?, false)));
    for (term, is_required) in terms.chain(preferred) {
        for requirement in term.list_at("matchExpressions") {
            let key = requirement.text_at("key");
            let values = requirement.list_at("values");
            let is_in = requirement.text_at("operator") == Some("In");
            let leaves_no_node = is_required && is_in && values.len() == 1;
            if !leaves_no_node && matches!(key, Some("kubernetes.io/arch" | "beta.kubernetes.io/arch")) {
                let wrong = values.iter().filter_map(|v| blanks(v, Kind::Architecture).or_else(|| architecture(v)));
                out.extend(wrong.map(|problem| problem.key("kubernetes.io/arch")));
            }
        }
    }
    out
}

fn architecture(node: &Node) -> Option<Problem<'_>> {
    match Name::of(node.as_str().filter(|text| !text.is_empty())?) {
        Name::Alias(name) => Some(Problem::new(node, Mistake::Alias(name)).correct(Some(name.to_owned()))),
        Name::Known | Name::Unknown => None,
    }
}

/// What contradicts CDI's defaults, which it takes for what isn't written. Source: CDI
/// `reconcileDefaultPodResourceRequirements`.
fn beyond_defaults(node: &Node) -> impl Iterator<Item = Problem<'_>> {
    static DEFAULTS: Rows<[&str; 4]> = Rows::of("importDefaults");
    DEFAULTS.iter().filter_map(|&[name, limit, request, least]| {
        let written = |section: &str| node.get(section)?.get(name);
        let (value, section, mistake) = match (written("limits"), written("requests")) {
            (None, Some(value)) => (value, "requests", Mistake::AboveLimit(format!("{limit} by default"))),
            (Some(value), None) => (value, "limits", Mistake::NotA(least)),
            _ => return None,
        };
        let is = Quantity::of(&value.to_json())?;
        let default = Quantity::of(&if section == "limits" { request } else { limit }.into())?;
        let is_beyond = if section == "limits" { is < default } else { is > default };
        is_beyond.then(|| Problem::new(value, mistake).key(format!("{section}.{name}")))
    })
}

/// Kubernetes' ValidateResourceRequirements.
fn resources(node: &Node) -> Vec<Problem<'_>> {
    let mut out = Vec::new();
    let limits = node.get("limits");
    let claims = node.list_at("claims").iter().filter_map(|claim| claim.get("name"));
    let other = "pods that have no resource claims";
    out.extend(claims.map(|name| Problem::new(name, Mistake::NotWith(other.into())).key("claims")));
    for section in ["limits", "requests"] {
        for entry in entries(node.get(section)) {
            let name = &*entry.key.text;
            let is_standard = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
            if !is_standard && !is_extended_resource(name) {
                let form = "a resource of containers: cpu, memory, or a name with a domain";
                out.push(Problem::new(&entry.value, Mistake::NotAKey(form)).key(name));
                continue;
            }
            let Some(is) = Quantity::of(&entry.value.to_json()) else {
                continue;
            };
            if let Some(problem) = below_zero(&entry.value) {
                out.push(problem.key(format!("{section}.{name}")));
            }
            if !is_standard && is.scaled(0).checked_mul(1000) != Some(is.scaled(-3)) {
                out.push(Problem::new(&entry.value, Mistake::NotA("a whole number")).key(name));
            }
            if section == "limits" {
                continue;
            }
            let may_exceed = matches!(name, "cpu" | "memory" | "ephemeral-storage");
            match limits.and_then(|limits| limits.get(name)).map(|limit| Quantity::of(&limit.to_json())) {
                Some(Some(limit)) if is > limit || !may_exceed && is != limit => {
                    out.push(Problem::new(&entry.value, Mistake::AboveLimit(limit.to_string())).key(name));
                }
                None if !may_exceed => out.push(Problem::new(&entry.value, Mistake::NoLimit).key(name)),
                _ => {}
            }
        }
    }
    out
}

/// CNAO's validateKubeMacPool: both ends, in order, unicast.
fn mac_range(node: &Node) -> Option<Problem<'_>> {
    let end = |key| node.get(key).filter(|node| node.as_str().is_some_and(|text| !text.is_empty()));
    match (end("rangeStart"), end("rangeEnd")) {
        (Some(start), Some(end)) => {
            let [first, last] = [start, end].map(|node| mac(node.as_str().unwrap_or_default()));
            let (first, last) = (first?, last?);
            for (node, address, key) in [(start, first, "rangeStart"), (end, last, "rangeEnd")] {
                if address[0] & 1 == 1 {
                    let wrong = Mistake::NotA("a unicast address: the first byte has to be even");
                    return Some(Problem::new(node, wrong).key(key));
                }
            }
            let wrong = Mistake::NotA("at or above rangeStart");
            (first > last).then(|| Problem::new(end, wrong).key("rangeEnd"))
        }
        (start, end) => {
            let missing = if start.is_some() { "rangeEnd" } else { "rangeStart" };
            Some(Problem::new(start.or(end)?, Mistake::Missing(missing)).key("the range"))
        }
    }
}

fn mac(text: &str) -> Option<[u8; 6]> {
    let bytes: Option<Vec<u8>> = text.split([':', '-']).map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    bytes?.try_into().ok()
}

/// Sections of a union that don't belong to its type.
fn union<'n>(node: &'n Node, tag: &'static str, types: &'static [&'static str]) -> Vec<Problem<'n>> {
    let Some(chosen) = node.text_at(tag).filter(|chosen| types.contains(chosen)) else {
        return Vec::new();
    };
    let others = types.iter().filter(|name| **name != chosen).map(|name| name.to_ascii_lowercase());
    let written = others.filter_map(|name| {
        let section = node.get(&name).filter(|section| !matches!(section.value, Value::Null))?;
        Some(Problem::new(section, Mistake::NotWith(format!("{tag} {chosen}"))).key(name))
    });
    written.collect()
}

/// An annotation that asks for immediate binding even where its value is `false`.
fn immediate_binding(node: &Node) -> Option<Problem<'_>> {
    const ANNOTATION: &str = "cdi.kubevirt.io/storage.bind.immediate.requested";
    let value = node.get(ANNOTATION).filter(|value| value.as_str() == Some("false"))?;
    Some(Problem::new(value, Mistake::NotA("\"true\", or the annotation absent")).key(ANNOTATION))
}

/// A CPU model in another spelling than libvirt's. An unknown name may be a newer model.
fn cpu_model(node: &Node) -> Option<Problem<'_>> {
    let text = node.as_str().filter(|text| !text.is_empty())?;
    let base = text.split_once("-v").filter(|(_, v)| u8::from_str(v).is_ok()).map_or(text, |(base, _)| base);
    let known = hcoplan_schemas::CPU_MODELS.lines();
    if known.clone().any(|model| model == base) {
        return None;
    }
    if base.contains(['*', '?', ' ', ',']) {
        return Some(Problem::new(node, Mistake::NotA("the name of one CPU model")));
    }
    let same = known.clone().find(|model| model.eq_ignore_ascii_case(base));
    // A name that differs in its number only may be a newer model.
    let family = |name: &str| name.trim_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
    let others = known.filter(|model| family(model) != family(base));
    let meant = same.or_else(|| nearest(base, others))?;
    Some(Problem::new(node, Mistake::Spelling).correct(Some(text.replacen(base, meant, 1))))
}

/// A default CPU model that the rendered KubeVirt hides as obsolete.
fn obsolete<'n>(node: &'n Node, cx: &Context<'_>) -> Option<Problem<'n>> {
    let hidden = cx.rendered_kubevirt("configuration.obsoleteCPUModels");
    (hidden[node.as_str()?] == true).then(|| Problem::new(node, Mistake::Obsolete))
}
