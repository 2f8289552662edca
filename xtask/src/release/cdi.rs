//! The CRDs in a checkout of CDI: raw strings in a generated Go file.

use camino::Utf8Path;
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_planner::release::Release;
use hcoplan_yaml as yaml;
use serde_json::Value;

use super::{ImportError, Imported, bundle, read};

const CRDS: &str = "pkg/operator/resources/crds_generated.go";
/// A backtick in a raw string, which Go has to concatenate.
const BACKTICK: &str = "` + \"`\" + `";

/// The kinds whose schemas only CDI's sources have.
pub(super) const SCHEMAS: [&str; 3] = ["dataimportcron.v1beta1", "datasource.v1beta1", "datavolume.v1beta1"];

/// Imports the schemas of golden images' objects.
pub(super) fn schemas(checkout: &Utf8Path, base: &Release, out: &mut Imported) -> Result<(), ImportError> {
    let path = checkout.join(CRDS);
    let text = read(&path)?;
    let documents: Vec<Value> = raw_strings(&text)
        .flat_map(|text| yaml::parse(&SourceFile::new(&*path, text)).documents)
        .map(|document| document.root.to_json())
        .filter(|crd| SCHEMAS.iter().any(|name| name.split('.').next() == kind(crd).as_deref()))
        .collect();
    let version = out.unchecked()?.tables().components.get("CDI_VERSION").cloned();
    let source = format!("cdi {} {CRDS}", version.unwrap_or_default());
    let found = bundle::schemas(base, &documents, Some(&source), out);
    if found != SCHEMAS {
        let message = format!("it has the schemas of {}, not of {}", found.join(", "), SCHEMAS.join(", "));
        return Err(ImportError::shape(&path, message));
    }
    out.notes.push(format!("schemas of {} of {path}", found.join(", ")));
    Ok(())
}

fn kind(crd: &Value) -> Option<String> {
    crd.pointer("/spec/names/kind")?.as_str().map(str::to_lowercase)
}

/// The texts between backticks.
fn raw_strings(go: &str) -> impl Iterator<Item = String> {
    const STANDS_IN: &str = "\u{1}";
    let text = go.replace(BACKTICK, STANDS_IN);
    let strings = text.split('`').skip(1).step_by(2);
    let strings: Vec<_> = strings.map(|string| string.replace(STANDS_IN, "`")).collect();
    strings.into_iter()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::imported;
    use super::*;

    #[test]
    fn strings_keep_their_backticks() {
        let go = "var a = map[string]string{\n\"x\": `kind: A # the ` + \"`\" + `b` + \"`\" + ` field\n`,\n\"y\": `kind: B\n`,\n}\n";
        let found: Vec<_> = raw_strings(go).collect();
        assert_eq!(found, ["kind: A # the `b` field\n", "kind: B\n"]);
    }

    #[test]
    fn takes_schemas_and_rejects_a_missing_one() {
        let temporary = tempfile::tempdir().expect("a directory");
        let checkout = Utf8Path::from_path(temporary.path()).expect("UTF-8");
        let file = checkout.join(CRDS);
        fs::create_dir_all(file.parent().expect("one")).expect("made");
        let crd = |kind: &str| {
            format!(
                "\"x\": `spec:\n  group: cdi.kubevirt.io\n  names: {{kind: {kind}}}\n  versions:\n  - name: v1beta1\n    \
                 served: true\n    schema: {{openAPIV3Schema: {{type: object, description: words}}}}\nkind: \
                 CustomResourceDefinition\n`,\n"
            )
        };
        let base = Release::known("1.19").expect("known");
        let all = ["DataImportCron", "DataSource", "DataVolume", "CDI"].map(crd);
        fs::write(&file, all.concat()).expect("written");
        let mut out = imported("1.19");
        schemas(checkout, &base, &mut out).expect("read");
        let text = &out.files["crds/datavolume.v1beta1.json"];
        assert!(text.contains("\"openAPIV3Schema\":{\"type\":\"object\"}"), "{text}");
        assert!(text.contains("\"source\":\"cdi v1."), "{text}");
        assert!(out.files["crds/cdi.v1beta1.json"] == imported("1.19").files["crds/cdi.v1beta1.json"]);
        fs::write(&file, all[1..].concat()).expect("written");
        let rejected = schemas(checkout, &base, &mut out).expect_err("one is missing");
        assert!(rejected.to_string().contains("not of dataimportcron"), "{rejected}");
    }
}
