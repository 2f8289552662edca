//! Which HCO release is meant.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::finding::nearest;
use crate::release::Release;

/// A name that is no release's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no HCO release that hcoplan knows")]
pub struct UnknownRelease {
    /// What was given.
    pub name: String,
    /// What was probably meant, and what there is.
    pub help: String,
}

/// The compiled-in release of this name.
///
/// # Errors
/// When there is none; the help says what a vendor's version is built from.
pub fn known_release(name: &str) -> Result<Arc<Release>, UnknownRelease> {
    Release::known(name).ok_or_else(|| UnknownRelease {
        name: name.to_owned(),
        help: hint(name),
    })
}

/// Whether a release is given as a directory and not by name.
pub(super) fn is_directory(name: &str) -> bool {
    name.contains('/') || name == "." || name == ".."
}

/// `1.16, 1.17, 1.18 and 1.19`
pub(super) fn known_names() -> String {
    let names: Vec<&str> = Release::known_names().collect();
    match names.split_last() {
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn hint(name: &str) -> String {
    let known = known_names();
    let line = line_of(name);
    if Release::known_names().any(|n| n == line) {
        return format!("write the release line, {line}; its patch level is not chosen");
    }
    if let Some((vendor, release)) = vendor(&line) {
        let built = format!("{line} is a version of {vendor}, which is built from HCO {release}");
        return match Release::known(release) {
            Some(_) => format!(
                "{built}: write {release}, or make a release of your own from the vendor's \
                 bundle with `hcoplan release import --base {release}`"
            ),
            None => format!("{built}; known are {known}"),
        };
    }
    match nearest(&line, Release::known_names()) {
        Some(meant) if !name.contains('.') => format!("did you mean {meant}? Known are {known}"),
        _ => format!("known are {known}"),
    }
}

/// `v1.17.4` → `1.17`
fn line_of(name: &str) -> String {
    let plain = name.trim().trim_start_matches(['v', 'V']);
    let parts: Vec<&str> = plain.split('.').take(2).collect();
    parts.join(".")
}

/// The product that has this version, with the HCO release that it is built from.
///
/// Source: the base image that each of HCO's release branches names for its functional tests, and
/// for 1.19 HCO's own fixes for 4.23 and 5.0.
fn vendor(line: &str) -> Option<(&'static str, &'static str)> {
    type Products = BTreeMap<String, BTreeMap<String, String>>;
    static PRODUCTS: OnceLock<Products> = OnceLock::new();
    let products = PRODUCTS.get_or_init(|| {
        serde_json::from_str(include_str!("../../schemas/releases/vendor-versions.json"))
            .expect("vendor-versions.json fits")
    });
    products.iter().find_map(|(product, versions)| {
        let release = versions.get(line)?;
        Some((product.as_str(), release.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_and_not_a_guess() {
        let cases = [
            ("1.17.4", "write the release line, 1.17;"),
            ("v1.18", "write the release line, 1.18;"),
            (
                "4.20",
                "4.20 is a version of OpenShift Virtualization, which is built from HCO 1.16: write 1.16,",
            ),
            (
                "v4.22.1",
                "4.22 is a version of OpenShift Virtualization, which is built from HCO 1.18:",
            ),
            (
                "4.19",
                "4.19 is a version of OpenShift Virtualization, which is built from HCO 1.15; known are",
            ),
            ("1.15", "known are 1.16, 1.17, 1.18 and 1.19"),
            ("117", "did you mean 1.17?"),
            ("latest", "known are 1.16, 1.17, 1.18 and 1.19"),
        ];
        for (name, expected) in cases {
            let unknown = known_release(name).expect_err(name);
            assert!(
                unknown.help.starts_with(expected),
                "{name}: {}",
                unknown.help
            );
        }
        assert_eq!(known_release("1.16").expect("known").name(), "1.16");
    }
}
