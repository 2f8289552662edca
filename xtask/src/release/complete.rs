//! Checks that a release's data is complete, so that an import fails early instead of when a cluster is planned.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::LazyLock;

use hcoplan_kubernetes::go::GoTypes;
use hcoplan_kubernetes::schema::Schema;
use hcoplan_planner::operands::{Cr, ROWS, known};
use hcoplan_planner::release::{
    AdmissionRules, Behaviour, Error, HyperConvergedField, KubeVirtFacts, Platform, Release, SspBundle, Upgrade,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The objects of `objects.json` that an operand requires.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Needs {
    operand: String,
    objects: Vec<String>,
}

static NEEDS: LazyLock<Vec<Needs>> =
    LazyLock::new(|| serde_json::from_str(include_str!("needs.json")).expect("valid rows"));

/// Checks that a release has all data for planning.
///
/// # Errors
/// The first missing part.
pub(super) fn check(release: &Release) -> Result<(), Error> {
    check_files(release)?;
    check_versions(release)?;
    check_operands(release)
}

/// Checks that every file can be parsed.
fn check_files(release: &Release) -> Result<(), Error> {
    parse(release, "behaviour.json", json::<Behaviour>)?;
    parse(release, "admission.json", json::<AdmissionRules>)?;
    parse(release, "golden-images.json", json::<Vec<Value>>)?;
    parse(release, "objects.json", json::<BTreeMap<String, Value>>)?;
    parse(release, "go-types.json", GoTypes::from_json)?;
    parse(release, "ssp.json", SspBundle::from_json)?;
    parse(release, "kubevirt.json", json::<KubeVirtFacts>)?;
    parse(release, "upgrade.json", json::<Upgrade>)?;
    parse(release, "fields.json", HyperConvergedField::read)?;
    for name in release.schema_names() {
        parse(release, &format!("crds/{name}.json"), Schema::from_json)?;
    }
    Ok(())
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text)
}

fn parse<T, E: Display>(release: &Release, file: &str, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<(), Error> {
    parse(release.file(file)?).map(drop).map_err(|e| Error::shape(file, &e.to_string()))
}

/// Checks that a release has schemas and admission rules for each served version.
fn check_versions(release: &Release) -> Result<(), Error> {
    let api = &release.tables().hyperconverged;
    let types = release.go_types();
    let missing = |file: &str, what: &str| Err(Error::shape(file, what));
    if types.named("v1.ObjectMeta").is_none() {
        return missing("go-types.json", "v1.ObjectMeta is missing");
    }
    if !api.served_versions.contains(&api.storage_version) {
        return missing("release.json", "the version that is stored is not served");
    }
    for version in &api.served_versions {
        let what = format!("the HyperConverged's version {version} is missing");
        if release.admission().version(version).is_none() {
            return missing("admission.json", &what);
        }
        let schema = format!("hyperconverged.{version}");
        if release.schema(&schema).is_none() {
            return Err(Error::Missing(format!("crds/{schema}.json")));
        }
        if release.hyperconverged_type(version).is_none() {
            return missing("go-types.json", &what);
        }
    }
    Ok(())
}

/// Checks that a release has the operands of its work order, with their objects and Go types.
fn check_operands(release: &Release) -> Result<(), Error> {
    for platform in [Platform::OpenShift, Platform::Kubernetes] {
        for name in release.work_order().operands_of(platform) {
            if known(name).is_none() {
                let message = format!("unknown operand {name}");
                return Err(Error::shape("behaviour.json", &message));
            }
            let mut needed = NEEDS.iter().filter(|n| n.operand == name).flat_map(|n| &n.objects);
            if let Some(object) = needed.find(|o| !release.constants().has(o)) {
                let message = format!("{object} of the operand {name} is missing");
                return Err(Error::shape("objects.json", &message));
            }
            let has_type = |cr: &Cr| release.go_types().of_kind(cr.api_version, cr.kind).is_some();
            if let Some(cr) = ROWS.crs.iter().find(|cr| cr.operand == name && !has_type(cr)) {
                let message = format!("the kind {} of the operand {name} is missing", cr.kind);
                return Err(Error::shape("go-types.json", &message));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hcoplan_planner::release::{Distribution, Files};

    fn changed(base: &Release, file: &str, from: &str, to: &str) -> Result<(), Error> {
        let mut files = Files::new();
        for name in base.file_names() {
            let text = base.file(name).expect("listed");
            files.insert(
                name,
                if name == file {
                    assert!(text.contains(from), "{from}");
                    text.replace(from, to)
                } else {
                    text.to_owned()
                },
            );
        }
        check(&Release::from_files(files)?)
    }

    /// The required objects that an operand's source uses by name.
    fn required_objects(source: &str) -> impl Iterator<Item = &str> {
        let calls = ["cx.constant(", "cx.changed(", "cx.template("];
        let arguments = calls.into_iter().flat_map(|c| source.split(c).skip(1));
        arguments.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next())
    }

    #[test]
    fn needs_lists_every_required_object() {
        let directory = hcoplan_testing::root().join("crates/planner/src/operands");
        let mut count = 0;
        for file in std::fs::read_dir(directory).expect("operands") {
            let path = file.expect("a file").path();
            let source = std::fs::read_to_string(&path).expect("text");
            for object in required_objects(&source) {
                let is_needed = NEEDS.iter().any(|n| n.objects.iter().any(|own| own == object));
                assert!(is_needed, "{}: NEEDS lacks {object}", path.display());
                count += 1;
            }
        }
        assert!(count > 5, "{count}");
    }

    #[test]
    fn every_known_release_is_complete() {
        for release in Release::known_names().filter_map(Release::known) {
            check(&release).unwrap_or_else(|e| panic!("{}: {e}", release.label()));
        }
        for release in Release::patch_names().filter_map(Release::patch) {
            check(&release).unwrap_or_else(|e| panic!("{}: {e}", release.label()));
        }
        for distribution in Distribution::all() {
            for release in distribution.lines().iter().filter_map(|line| Release::shipped(distribution, line, None)) {
                check(&release).unwrap_or_else(|e| panic!("{}: {e}", release.label()));
            }
        }
    }

    #[test]
    fn names_missing_values() {
        let base = Release::known("1.19").expect("known");
        let error = changed(&base, "behaviour.json", "\"aaq\"", "\"aqa\"").expect_err("unknown");
        assert_eq!(error.to_string(), "release data: behaviour.json: unknown operand aqa");
        for needs in NEEDS.iter().filter(|n| n.operand != "passt-network") {
            for object in &needs.objects {
                let quoted = format!("\"{object}\":");
                changed(&base, "objects.json", &quoted, "\"x\":").expect_err("missing");
            }
        }
    }
}
