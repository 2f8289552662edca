//! Imports KubeVirt's feature gates and deployed preferences from a checkout.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use super::bundle::{documents, text};
use super::{ImportError, Imported, entries, read, replace_keys};

const KUBEVIRT: &str = "kubevirt.json";
const GATES: &str = "pkg/virt-config/featuregate";
const PREFERENCES: &str = "pkg/virt-operator/resource/generate/components/data";
const PREFERENCES_FILE: &str = "common-clusterpreferences-bundle.yaml";
const PREFERENCE_TYPES: &str = "staging/src/kubevirt.io/api/instancetype/v1beta1/types.go";
/// The call that registers a gate.
const REGISTERS: &str = "RegisterFeatureGate(FeatureGate{";

/// Imports registered gates and preferred architectures. The webhook's checks, gates without effect and ciphers are the
/// base's.
pub(super) fn kubevirt(checkout: &Utf8Path, out: &mut Imported) -> Result<(), ImportError> {
    let version = deployed(out)?;
    let gates = gates(&checkout.join(GATES))?;
    let has_preferred = read(&checkout.join(PREFERENCE_TYPES))?.contains("preferredArchitecture");
    let preferred = if has_preferred { Some(preferred_architectures(&checkout.join(PREFERENCES))?) } else { None };
    out.notes.push(format!("{} feature gates of {checkout}", gates.len()));
    replace_keys(out, KUBEVIRT, |_| {
        vec![("version", version), ("featureGates", json!(gates)), ("preferredArchitectures", json!(preferred))]
    })
}

/// The KubeVirt version deployed by HCO.
fn deployed(out: &Imported) -> Result<Value, ImportError> {
    let release = out.unchecked()?;
    let version = release.tables().components.get("KUBEVIRT_VERSION");
    Ok(json!(version.map(String::as_str).unwrap_or_default()))
}

/// All gates registered by the Go files of a directory, with their phases.
fn gates(directory: &Utf8Path) -> Result<BTreeMap<String, String>, ImportError> {
    let mut sources = String::new();
    for path in entries(directory)? {
        if path.extension() == Some("go") && !path.as_str().ends_with("_test.go") {
            sources.push_str(&read(&path)?);
        }
    }
    let found = registered(&sources).map_err(|message| ImportError::shape(directory, message))?;
    if found.is_empty() { Err(ImportError::shape(directory, "no feature gate is registered in it")) } else { Ok(found) }
}

fn registered(sources: &str) -> Result<BTreeMap<String, String>, String> {
    let code = sources.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = code.collect::<Vec<_>>().join("\n");
    let constants: BTreeMap<&str, &str> = code.lines().filter_map(constant).collect();
    let mut out = BTreeMap::new();
    for call in code.split(REGISTERS).skip(1) {
        let body = call.split("})").next().unwrap_or_default();
        let field = |name: &str| {
            let value = body.split_once(&format!("{name}:"))?.1;
            value.split([',', '\n']).next().map(str::trim)
        };
        let (Some(name), Some(state)) = (field("Name"), field("State")) else {
            return Err(format!("a gate without Name or State: {body}"));
        };
        let gate = match name.strip_prefix('"') {
            Some(text) => text.trim_end_matches('"'),
            None => constants.get(name).ok_or_else(|| format!("there is no constant {name}"))?,
        };
        let phase = match state {
            "GA" => "GA".to_owned(),
            "Alpha" | "Beta" | "Deprecated" | "Discontinued" => state.to_lowercase(),
            _ => return Err(format!("{gate} is {state}, which isn't known")),
        };
        out.insert(gate.to_owned(), phase);
    }
    Ok(out)
}

/// `Name = "Value"`, `const Name string = "Value"`
fn constant(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim().trim_start_matches("const ");
    let name = name.split_whitespace().next()?;
    Some((name, value.trim().strip_prefix('"')?.strip_suffix('"')?))
}

/// The preferences with a preferred architecture.
fn preferred_architectures(directory: &Utf8Path) -> Result<BTreeMap<String, String>, ImportError> {
    let mut places = vec![directory.to_owned()];
    places.extend(entries(directory)?.into_iter().filter(|path| path.is_dir()));
    let mut files = places.iter().map(|d| d.join(PREFERENCES_FILE));
    let file: Option<Utf8PathBuf> = files.find(|path| path.is_file());
    let none = || ImportError::shape(directory, format!("there is no {PREFERENCES_FILE}"));
    let all = documents(&file.ok_or_else(none)?)?;
    let preferred = all.iter().filter_map(|preference| {
        let architecture = preference["spec"]["preferredArchitecture"].as_str()?;
        Some((text(&preference["metadata"], "name").to_owned(), architecture.to_owned()))
    });
    Ok(preferred.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read_where_they_are_registered() {
        let sources = "const (\n\t// Owner: x\n\tOneGate = \"One\" // the first\n\tTwo string = \"Two\"\n)\n\
                       const Three = \"Three\"\nfunc init() {\n\
                       \tRegisterFeatureGate(FeatureGate{Name: OneGate, State: GA})\n\
                       \t// RegisterFeatureGate(FeatureGate{Name: Four, State: Beta})\n\
                       \tRegisterFeatureGate(FeatureGate{\n\t\tName:  Two,\n\t\tState: Discontinued,\n\t\tMessage: m,\n\t})\n\
                       \tRegisterFeatureGate(FeatureGate{Name: Three, State: Alpha})\n}\n";
        let found = registered(sources).expect("read");
        let wanted = [("One", "GA"), ("Three", "alpha"), ("Two", "discontinued")];
        let found: Vec<_> = found.iter().map(|(name, phase)| (name.as_str(), phase.as_str())).collect();
        assert_eq!(found, wanted);
        for wrong in ["{Name: Four, State: GA})", "{Name: \"x\", State: Gamma})", "{Name: \"x\"})"] {
            let call = format!("RegisterFeatureGate(FeatureGate{wrong}");
            assert!(registered(&call).is_err(), "{wrong}");
        }
    }
}
