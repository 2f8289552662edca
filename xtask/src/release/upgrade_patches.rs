//! Imports `upgradePatches.json` of HCO: changes of the HyperConverged and deletions during an upgrade.

use hcoplan_planner::release::{Release, version_numbers};
use serde::Deserialize;
use serde_json::{Value, json};

use super::published::Published;
use super::{ImportError, Imported, replace_keys};

const FILE: &str = "upgradePatches.json";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Assets {
    #[serde(rename = "hcoCRPatchList")]
    patches: Vec<Patch>,
    #[serde(rename = "objectsToBeRemoved")]
    removed: Vec<Removed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Patch {
    semver_range: String,
    json_patch: Value,
    #[serde(default)]
    json_patch_apply_options: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Removed {
    semver_range: String,
    group_version_kind: GroupVersionKind,
    object_key: ObjectKey,
}

#[derive(Deserialize)]
struct GroupVersionKind {
    group: String,
    kind: String,
}

#[derive(Deserialize)]
struct ObjectKey {
    name: String,
    #[serde(default)]
    namespace: String,
}

/// Imports patches and removed objects into `upgrade.json`, except those for upgrades from releases older than all
/// modelled ones.
pub(super) fn upgrade_patches(published: &Published, out: &mut Imported) -> Result<(), ImportError> {
    let Some(found) = published.named(FILE) else {
        out.notes.push(format!("not read: upgrade patches and removed objects, as there is no {FILE}"));
        return Ok(());
    };
    let path = &found.file;
    let wrong = |message: String| ImportError::shape(path, message);
    let assets = Assets::deserialize(&found.body).map_err(|e| wrong(e.to_string()))?;
    let all = assets.patches.len() + assets.removed.len();
    let (mut patches, mut removed) = (Vec::new(), Vec::new());
    for patch in assets.patches {
        let Some(from) = range(&patch.semver_range).map_err(wrong)? else {
            continue;
        };
        if patch.json_patch_apply_options.is_some() {
            return Err(wrong("jsonPatchApplyOptions aren't modelled".to_owned()));
        }
        patches.push(json!({"from": from, "operations": patch.json_patch}));
    }
    for object in assets.removed {
        let Some(from) = range(&object.semver_range).map_err(wrong)? else {
            continue;
        };
        let (kind, key) = (object.group_version_kind, object.object_key);
        let mut entry = json!({"from": from, "group": kind.group, "kind": kind.kind, "name": key.name});
        if !key.namespace.is_empty() {
            entry["namespace"] = key.namespace.into();
        }
        removed.push(entry);
    }
    let kept = patches.len() + removed.len();
    out.notes
        .push(format!("{kept} upgrade patches and removed objects of {path}; {} are for older releases", all - kept));
    replace_keys(out, "upgrade.json", vec![("removedObjects", removed.into()), ("patches", patches.into())])
}

/// Converts `>=1.16.0 <1.19.0`; `None` if it ends before the oldest modelled release.
fn range(text: &str) -> Result<Option<Value>, String> {
    let oldest = Release::known_names().next().map(version_numbers);
    let mut from = json!({});
    for bound in text.split_whitespace() {
        if let Some(least) = bound.strip_prefix(">=") {
            from["atLeast"] = least.into();
        } else if let Some(last) = bound.strip_prefix("<=") {
            if oldest.as_ref() <= Some(&version_numbers(last)) {
                return Err(format!("a range up to and with a version isn't modelled: {text}"));
            }
            return Ok(None);
        } else if let Some(below) = bound.strip_prefix('<') {
            from["below"] = below.into();
            if Some(version_numbers(below)) <= oldest {
                return Ok(None);
            }
        } else {
            return Err(format!("a range of another form isn't modelled: {text}"));
        }
    }
    Ok(Some(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_versions_that_are_modelled_are_kept() {
        let both = json!({"atLeast": "1.16.0", "below": "1.19.0"});
        for (text, wanted) in [
            (">=1.16.0 <1.19.0", Ok(Some(both))),
            ("<1.17.0", Ok(Some(json!({"below": "1.17.0"})))),
            (">=1.13.0", Ok(Some(json!({"atLeast": "1.13.0"})))),
            ("<1.15.0", Ok(None)),
            ("<=1.14.0", Ok(None)),
        ] {
            assert_eq!(range(text), wanted, "{text}");
        }
        assert!(range("<=1.17.0").is_err());
        assert!(range("~1.17").is_err());
    }
}
