//! Known defects of operator versions that affect a cluster's workload.
//!
//! Source: the pull requests listed in `schemas/defects.json`, and the tags that contain them.

use super::checker::{at, each};
use super::migration::ALLOW_BRIDGE;
use crate::prelude::*;
use crate::release::Release;
use crate::release::version_numbers;
use std::cell::LazyCell;

/// A defect of KubeVirt.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Defect {
    /// The defect's name: `kubevirt-17527`.
    pub name: String,
    /// The first affected version.
    since: String,
    /// The first fixed version per minor version; later minor versions are fixed.
    fixed: Vec<String>,
    /// Conditions on an affected virtual machine: all of one list hold.
    #[serde(default)]
    machines: Vec<Vec<Test>>,
    /// Conditions on an affected KubeVirt object: all of one list hold.
    #[serde(default)]
    kubevirt: Vec<Vec<Test>>,
    /// The consequence, as a sentence without a full stop.
    pub consequence: String,
    /// The public URL.
    pub reference: String,
}

/// A condition on a value; without a further member: it exists.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    /// A dotted path; `[]` is any element.
    path: String,
    /// Whether the path has to be absent.
    #[serde(default)]
    is_absent: bool,
    #[serde(default)]
    is: Option<Value>,
    #[serde(default)]
    is_not: Option<Value>,
    #[serde(default)]
    longer_than: Option<usize>,
}

/// All known defects.
fn all() -> &'static [Defect] {
    static ALL: Table<Vec<Defect>> = Table::of(hcoplan_schemas::DEFECTS);
    &ALL
}

/// The version of KubeVirt that a release deploys: `v1.7.4`. Empty if the release's data lack it.
pub fn deployed_kubevirt(release: &Release) -> &str {
    release.tables().components.get("KUBEVIRT_VERSION").map_or("", String::as_str)
}

fn version_of(release: &Release) -> Vec<u64> {
    version_numbers(deployed_kubevirt(release).trim_start_matches('v'))
}

/// The known defects of a release.
pub fn defects(release: &Release) -> impl Iterator<Item = &'static Defect> {
    let version = version_of(release);
    all().iter().filter(move |defect| defect.is_in(&version))
}

/// Whether a release has the defect with this name.
pub fn has_defect(release: &Release, name: &str) -> bool {
    all().iter().any(|defect| defect.name == name && defect.is_in(&version_of(release)))
}

/// The values of a virtual machine that conditions examine: the spec completed by KubeVirt, and the manifest.
pub struct MachineView<'m> {
    spec: &'m Value,
    /// Read on demand: few conditions examine it.
    manifest: LazyCell<Value, Box<dyn FnOnce() -> Value + 'm>>,
}

impl<'m> MachineView<'m> {
    /// Creates the view from the spec completed by KubeVirt, the path of the instance's template in the manifest, and the
    /// manifest.
    pub fn new(spec: &'m Value, template: &'m str, manifest: impl FnOnce() -> Value + 'm) -> Self {
        let read = move || {
            let object = manifest();
            let instance = at(&object, template);
            json!({
                "name": object["metadata"]["name"],
                "owner": object["spec"],
                "written": instance["spec"],
                "migratesBridge": instance["metadata"]["annotations"][ALLOW_BRIDGE],
            })
        };
        Self { spec, manifest: LazyCell::new(Box::new(read)) }
    }
}

impl Defect {
    fn is_in(&self, version: &[u64]) -> bool {
        let minor = |version: &[u64]| version.get(..2).map(<[u64]>::to_vec);
        let fixed: Vec<Vec<u64>> = self.fixed.iter().map(|v| version_numbers(v)).collect();
        let own = fixed.iter().find(|f| minor(f) == minor(version));
        let is_fixed = match own {
            Some(own) => version >= own.as_slice(),
            None => fixed.iter().all(|f| f.as_slice() <= version),
        };
        version >= version_numbers(&self.since).as_slice() && !is_fixed
    }

    /// Whether it affects a virtual machine.
    pub fn affects_machine(&self, machine: &MachineView<'_>) -> bool {
        is_met(&self.machines, |path| match path.strip_prefix("spec.") {
            Some(below) => each(machine.spec, below),
            None => each(&machine.manifest, path),
        })
    }

    /// Whether it affects the KubeVirt object, independent of the machines.
    pub fn affects_cluster(&self, kubevirt: &Value) -> bool {
        is_met(&self.kubevirt, |path| each(kubevirt, path))
    }

    /// The next release without the defect; `None` if no known one is fixed.
    pub fn fixed_after(&self, release: &Release) -> Option<String> {
        let is_fixed = |other: &Release| !self.is_in(&version_of(other));
        let own = version_numbers(release.version());
        let patches = Release::patch_names().filter_map(Release::patch);
        let all = patches.chain(Release::known_names().filter_map(Release::known));
        let later = all.filter(|other| version_numbers(other.version()) > own && is_fixed(other));
        later.min_by_key(|other| version_numbers(other.version())).map(|other| other.version().to_owned())
    }
}

fn is_met<'v>(alternatives: &[Vec<Test>], values: impl Fn(&str) -> Vec<(String, &'v Value)>) -> bool {
    alternatives.iter().any(|tests| tests.iter().all(|test| test.is_met(values(&test.path))))
}

impl Test {
    fn is_met(&self, found: Vec<(String, &Value)>) -> bool {
        if self.is_absent {
            return found.is_empty();
        }
        found.into_iter().any(|(_, found)| {
            self.is.as_ref().is_none_or(|is| is == found)
                && self.is_not.as_ref().is_none_or(|is| is != found)
                && self.longer_than.is_none_or(|most| found.as_str().is_some_and(|text| text.len() > most))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_defect_is_in_some_release_and_public() {
        let releases: Vec<_> = Release::patch_names()
            .filter_map(Release::patch)
            .chain(Release::known_names().filter_map(Release::known))
            .collect();
        assert!(all().len() >= 10);
        for defect in all() {
            let is_affected = |release: &&Arc<Release>| defects(release).any(|d| d.name == defect.name);
            assert!(releases.iter().any(|r| is_affected(&r)), "{}: no release has it", defect.name);
            assert!(!releases.iter().all(|r| is_affected(&r)), "{}: every release has it", defect.name);
            assert!(defect.reference.starts_with("https://"), "{}", defect.name);
            assert_ne!(defect.machines.is_empty(), defect.kubevirt.is_empty(), "{}", defect.name);
        }
    }

    #[test]
    fn compares_versions_by_minor_version() {
        let defect = &all()[0];
        for (version, is_affected) in
            [("1.5.9", false), ("1.6.5", true), ("1.6.6", false), ("1.7.3", true), ("1.8.2", true), ("1.9.0", false)]
        {
            assert_eq!(defect.is_in(&version_numbers(version)), is_affected, "{version}");
        }
        let unpatched = all().iter().find(|d| d.name == "kubevirt-17102").expect("known");
        assert!(unpatched.is_in(&[1, 7, 4]) && !unpatched.is_in(&[1, 9, 0]));
    }

    #[test]
    fn conditions_match_their_fields() {
        let named = |name: &str| all().iter().find(|d| d.name == name).expect("known");
        let machine = |spec: Value| {
            json!({"metadata": {"name": "a".repeat(40)}, "spec": {"template": {"metadata": {"annotations": {
                "kubevirt.io/allow-pod-bridge-network-live-migration": ""}}, "spec": spec}}})
        };
        for (name, spec, is_met) in [
            ("kubevirt-17527", json!({"domain": {"devices": {"gpus": [{"name": "g"}]}}}), true),
            ("kubevirt-17527", json!({"domain": {"devices": {"gpus": []}}}), false),
            ("kubevirt-16853", json!({"domain": {"devices": {"tpm": {"persistent": true}}}}), true),
            ("kubevirt-16853", json!({"domain": {"devices": {"tpm": {}}}}), false),
            (
                "kubevirt-16697",
                json!({"domain": {"devices": {"interfaces": [{"bridge": {}}]}}, "networks": [{"pod": {}}]}),
                true,
            ),
            (
                "kubevirt-16697",
                json!({"domain": {"devices": {"interfaces": [{"masquerade": {}}]}}, "networks": [{"pod": {}}]}),
                false,
            ),
            ("kubevirt-17029", json!({"architecture": "s390x", "domain": {"memory": {"guest": "1Gi"}}}), false),
        ] {
            let object = machine(spec.clone());
            let view = MachineView::new(&spec, "spec.template", || object.clone());
            assert_eq!(named(name).affects_machine(&view), is_met, "{name} {spec}");
        }
    }
}
