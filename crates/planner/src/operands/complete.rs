//! Checks that a release's data is complete for its operands.

use super::OPERANDS;
use crate::prelude::*;
use crate::release::Error;
use crate::release::{Platform, Release};
use serde::Deserialize;

/// The data that an operand requires: objects of `objects.json`, and the API version and kind of its CR in
/// `go-types.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Needs {
    operand: String,
    #[serde(default)]
    objects: Vec<String>,
    #[serde(default)]
    kind: Option<(String, String)>,
}

static NEEDS: LazyLock<Vec<Needs>> =
    LazyLock::new(|| serde_json::from_str(hcoplan_schemas::NEEDS).expect("valid rows"));

/// Checks a release read from a directory, so that it fails early instead of when a cluster is planned.
///
/// # Errors
/// The first unknown operand, or missing object or Go type.
pub fn check(release: &Release) -> Result<(), Error> {
    for platform in [Platform::OpenShift, Platform::Kubernetes] {
        for name in release.work_order().operands_of(platform) {
            if !OPERANDS.iter().any(|o| o.name == name) {
                let message = format!("unknown operand {name}");
                return Err(Error::shape("behaviour.json", &message));
            }
            for needs in NEEDS.iter().filter(|n| n.operand == name) {
                needs.check(release)?;
            }
        }
    }
    Ok(())
}

impl Needs {
    fn check(&self, release: &Release) -> Result<(), Error> {
        let operand = &self.operand;
        let constants = release.constants();
        if let Some(object) = self.objects.iter().find(|o| !constants.has(o)) {
            let message = format!("{object} of the operand {operand} is missing");
            return Err(Error::shape("objects.json", &message));
        }
        let unknown = |(api_version, kind): &&(String, String)| {
            let types = release.go_types();
            types.of_kind(api_version, kind).is_none()
        };
        match self.kind.as_ref().filter(unknown) {
            Some((_, kind)) => {
                let message = format!("the kind {kind} of the operand {operand} is missing");
                Err(Error::shape("go-types.json", &message))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Files;

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
            if path.ends_with("complete.rs") {
                continue;
            }
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
    fn names_missing_values() {
        for name in Release::known_names() {
            let base = Release::known(name).expect("known");
            check(&base).expect("complete");
        }
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
