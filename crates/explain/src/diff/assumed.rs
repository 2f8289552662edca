//! Assumed values, which only the vendor's bundle has: a difference in one is not a change.

use crate::diff::Kind;
use crate::diff::semantic::{NoiseKind, ObjectChange};
use crate::prelude::*;
use hcoplan_planner::release::Platform;

/// The origin of a side's values.
#[derive(Debug, Clone, Copy)]
pub enum SideOrigin<'a> {
    /// Rendered for this release.
    Rendered(&'a Release),
    /// Read from a cluster, or from an earlier run's output.
    Found,
}

/// Marks differences that only exist because one side's value is assumed while the other has a build's value. A patched
/// value that replaces an assumed one stays a change.
pub fn mark_assumed(before: SideOrigin<'_>, after: SideOrigin<'_>, changes: &mut [ObjectChange]) {
    let any = |side: SideOrigin<'_>| matches!(side, SideOrigin::Rendered(r) if !r.assumed().is_empty());
    if !any(before) && !any(after) {
        return;
    }
    for change in changes.iter_mut().filter(|c| c.kind == Kind::Change) {
        for field in &mut change.fields {
            let step = &mut field.step;
            let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
            let (Some(old), Some(new), None) = (text(&step.before), text(&step.after), step.noise) else {
                continue;
            };
            let at = |side, text: &str| assumes(side, &change.id, &step.label, text);
            let (was, is) = (at(before, &old), at(after, &new));
            if (was && (is || is_of_build(after, &new))) || (is && is_of_build(before, &old)) {
                step.noise = Some(NoiseKind::Assumed);
            }
        }
    }
}

/// Whether a side's value at a location is assumed.
fn assumes(side: SideOrigin<'_>, id: &ObjectId, label: &str, text: &str) -> bool {
    let SideOrigin::Rendered(release) = side else {
        return false;
    };
    release.assumed().iter().any(|assumed| {
        let key = assumed.keys.is_empty()
            || assumed.keys.iter().any(|key| {
                let before = label.strip_suffix(key.as_str());
                before.is_some_and(|b| b.is_empty() || b.ends_with(['.', '"', '[', '/']))
                    || label.contains(&format!("{key:?}"))
            });
        let within = id.name.starts_with(&assumed.within) || label.contains(&assumed.within);
        assumed.value == text && key && within
    })
}

/// Whether a build may have a value: a found one may be of any build; for a release, its environment and golden images
/// are searched.
fn is_of_build(side: SideOrigin<'_>, text: &str) -> bool {
    let SideOrigin::Rendered(release) = side else {
        return true;
    };
    let env = release.tables().env.get(Platform::OpenShift.as_str());
    let mut values = env.into_iter().flat_map(|env| env.values());
    values.any(|v| v == text) || release.golden_images().iter().any(|image| has_text(image, text))
}

fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own == text,
        Value::Array(items) => items.iter().any(|v| has_text(v, text)),
        Value::Object(map) => map.values().any(|v| has_text(v, text)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_kubernetes::Object;
    use hcoplan_planner::release::Distribution;
    use serde_json::json;

    use super::*;
    use crate::diff::compare_objects;

    fn shipped(line: &str) -> Arc<Release> {
        let distribution = Distribution::of_line(line).expect("known");
        Release::shipped(distribution, line, None).expect("modelled")
    }

    fn config_map(image: &str) -> [Object; 1] {
        [Object::new(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "virtio-win", "namespace": "openshift-cnv"},
            "data": {"virtio-win-image": image},
        }))]
    }

    #[test]
    fn ignores_only_values_of_the_build() {
        let release = shipped("4.20");
        let assumed = "registry.redhat.io/container-native-virtualization/virtio-win";
        let digest = format!("{assumed}-rhel9@sha256:1");
        let rendered = SideOrigin::Rendered(&release);
        let cases = [
            (SideOrigin::Found, digest.as_str(), rendered, assumed, true),
            (rendered, assumed, rendered, "quay.io/mine/patched:1", false),
            (rendered, "quay.io/mine/patched:1", rendered, assumed, false),
            (SideOrigin::Found, assumed, rendered, "quay.io/mine/patched:1", false),
        ];
        for (before, old, after, new, is_noise) in cases {
            let (old, new) = (config_map(old), config_map(new));
            let mut changes = Arc::unwrap_or_clone(compare_objects(&release, &old, &new).objects);
            mark_assumed(before, after, &mut changes);
            assert_eq!(changes[0].is_noise(), is_noise, "{before:?} {after:?}");
        }
    }
}
