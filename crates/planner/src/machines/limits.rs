//! Whether a namespace's LimitRanges and ResourceQuotas let a launcher in.
//!
//! Source: Kubernetes `plugin/pkg/admission/limitranger`, `pkg/apis/core/v1/defaults.go` (`SetDefaults_LimitRangeItem`),
//! `pkg/quota/v1/evaluator/core/pods.go`, and the validation of a container's resources.

use crate::prelude::*;
use hcoplan_kubernetes::quantity::Quantity;

use super::checker::{at, list, milli, quantity};
use super::cpu::vcpus;
use super::launcher::Launcher;

/// Why a launcher isn't created.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The resource: `memory`, `requests.memory`.
    pub resource: String,
    /// What the launcher asks for, in thousandths.
    pub asked: i64,
    /// What is allowed, in thousandths.
    pub allowed: i64,
    /// How they compare.
    pub how: RefusalKind,
    /// The field below the `spec` of the LimitRange or ResourceQuota.
    pub path: String,
}

/// How a launcher and what a namespace allows compare.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// It asks for more.
    Above,
    /// It asks for less.
    Below,
    /// It requests more than the limit that the LimitRange gives it.
    AboveDefault,
    /// Its limit is too many times its request. What is allowed is a limit.
    AboveRatio,
    /// It has no limit, which a ratio requires. What is allowed is a limit.
    NoLimit,
}

/// Thousandths of bytes by which a launcher may request more memory than estimated.
const MARGIN: i64 = 512 * 1024 * 1024 * 1000;

/// Why a LimitRange's `spec` doesn't let a launcher in.
pub fn limit_range_refusal(launcher: &Launcher, spec: &Value) -> Option<Refusal> {
    list(&spec["limits"]).iter().enumerate().find_map(|(i, item)| {
        let of_container = item["type"] == "Container";
        let of_claim = item["type"] == "PersistentVolumeClaim";
        if !of_container && !of_claim && item["type"] != "Pod" {
            return None;
        }
        let refusal = |field: &str, resource: &str, asked, allowed, how| {
            let (resource, path) = (resource.to_owned(), format!("limits[{i}].{field}"));
            Some(Refusal { resource, asked, allowed, how, path })
        };
        let amount = |field: &str, resource: &str| {
            let value = &item[field][resource];
            quantity(value).map(|_| milli(value))
        };
        let resources: &[&str] = if of_claim { &["storage"] } else { &["cpu", "memory", "ephemeral-storage"] };
        resources.iter().find_map(|resource| {
            let resource = *resource;
            let request = launcher.requests.get(resource).copied();
            let limit = launcher.limits.get(resource).copied();
            if let Some(maximum) = amount("max", resource)
                && let Some(asked) = [request, limit].into_iter().flatten().find(|asked| *asked > maximum)
            {
                return refusal("max", resource, asked, maximum, RefusalKind::Above);
            }
            if resource == "cpu" && launcher.may_limit_cpu {
                return None;
            }
            let given = ["default", "max"].into_iter().find_map(|f| Some((f, amount(f, resource)?)));
            if let (true, Some(asked), None, Some((field, given))) = (of_container, request, limit, given)
                && asked > given
            {
                return refusal(field, resource, asked, given, RefusalKind::AboveDefault);
            }
            if !of_container && !of_claim {
                return None;
            }
            let margin = match resource {
                "memory" => MARGIN,
                // CDI may add the overhead of a file system.
                "storage" => request? / 16,
                _ => 0,
            };
            let most = request?.saturating_add(margin);
            let minimum = amount("min", resource).unwrap_or_default();
            if most < minimum {
                return refusal("min", resource, request?, minimum, RefusalKind::Below);
            }
            let ratio = amount("maxLimitRequestRatio", resource)?;
            let allowed = i64::try_from(i128::from(most) * i128::from(ratio) / 1000).unwrap_or(i64::MAX);
            let Some(limit) = limit.or(given.map(|(_, given)| given)) else {
                let refused = refusal("maxLimitRequestRatio", resource, request?, allowed, RefusalKind::NoLimit);
                return refused.filter(|_| of_container);
            };
            let limit = (limit > allowed).then_some(limit)?;
            refusal("maxLimitRequestRatio", resource, limit, allowed, RefusalKind::AboveRatio)
        })
    })
}

/// Why a ResourceQuota's `spec` doesn't let launchers in. A launcher has requests and no deadline; a quota with other
/// scopes may not count it.
pub fn quota_refusal(launcher: &Launcher, spec: &Value) -> Option<Refusal> {
    let counts = |scope: &Value| scope == "NotTerminating" || scope == "NotBestEffort";
    if !list(&spec["scopes"]).iter().all(counts) || !spec["scopeSelector"].is_null() {
        return None;
    }
    let hard = spec["hard"].as_object()?;
    hard.iter().find_map(|(name, value)| {
        let (amounts, resource) = match name.split_once('.') {
            Some(("requests", resource)) => (&launcher.requests, resource),
            Some(("limits", resource)) => (&launcher.limits, resource),
            _ => (&launcher.requests, name.as_str()),
        };
        let allowed = quantity(value).map(|_| milli(value))?;
        let asked = *amounts.get(resource.trim_start_matches("count/"))?;
        let path = format!("hard[{name}]");
        let how = RefusalKind::Above;
        (asked > allowed).then(|| Refusal { resource: name.clone(), asked, allowed, how, path })
    })
}

/// An amount of a resource in thousandths, for messages.
pub fn amount_text(resource: &str, thousandths: i64) -> String {
    const MEBIBYTE: i64 = 1024 * 1024;
    let is_bytes = ["memory", "storage", "Mi", "Gi"].iter().any(|kind| resource.ends_with(kind));
    let written = match (is_bytes, thousandths / 1000) {
        (true, bytes) if bytes >= MEBIBYTE => format!("{}Mi", bytes / MEBIBYTE),
        (true, bytes) => bytes.to_string(),
        (false, whole) if thousandths % 1000 == 0 => whole.to_string(),
        _ => format!("{thousandths}m"),
    };
    Quantity::parse(&written).map_or(written, |q| q.to_string())
}

impl Launcher {
    /// What a claim asks for, as a launcher.
    pub fn of_claim(size: Option<&str>, class: Option<&str>) -> Self {
        let size = size.and_then(|size| Some(Quantity::parse(size).ok()?.scaled(-3)));
        let amounts = [("persistentvolumeclaims", Some(1000)), ("requests.storage", size)];
        let mut own = Self::default();
        for (resource, amount) in amounts.into_iter().filter_map(|(resource, amount)| Some((resource, amount?))) {
            own.requests.insert(resource.trim_start_matches("requests.").to_owned(), amount);
            let of_class = class.map(|class| format!("{class}.storageclass.storage.k8s.io/{resource}"));
            own.requests.extend(of_class.map(|resource| (resource, amount)));
        }
        own
    }

    /// What ApplicationAwareQuota counts of an instance with this complete spec, by the name of its calculator; nothing
    /// where that is unknown.
    ///
    /// Source: AAQ `pkg/aaq-controller/built-in-usage-calculators`.
    pub fn counted_by(&self, calculator: &str, spec: &Value) -> Self {
        let (names, is_limited) = match calculator {
            "DedicatedVirtualResources" => (["cpu/vmi", "memory/vmi", "instances/vmi"], false),
            "VirtualResources" => (["cpu", "memory", "pods"], true),
            "GuestEffectiveResources" => return Self::default(),
            _ => return self.clone(),
        };
        let amounts = [vcpus(at(spec, "domain.cpu")) * 1000, milli(at(spec, "domain.memory.guest")), 1000];
        let requests: BTreeMap<_, _> = names.map(str::to_owned).into_iter().zip(amounts).collect();
        Self { limits: if is_limited { requests.clone() } else { BTreeMap::new() }, requests, ..self.clone() }
    }

    /// Adds what as many launchers as `times` ask for.
    pub fn add(&mut self, other: &Self, times: i64) {
        for (own, added) in [(&mut self.requests, &other.requests), (&mut self.limits, &other.limits)] {
            for (resource, amount) in added {
                let sum = own.entry(resource.clone()).or_default();
                *sum = sum.saturating_add(amount.saturating_mul(times));
            }
        }
    }
}
