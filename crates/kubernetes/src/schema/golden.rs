//! Compares with the recorded schemas and objects of the real operators, where the recordings exist.

use crate::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

use hcoplan_testing::{go_types, recordings};

use super::Schema;

/// Every available schema with its name, `1.18/hyperconverged.v1`; the committed one alone where the recordings don't
/// exist.
pub(crate) fn schemas(shared: Option<&Path>) -> &'static [(String, Schema)] {
    static ALL: OnceLock<Vec<(String, Schema)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let texts = schema_texts(shared).into_iter();
        let read = texts.map(|(name, text)| {
            let schema = Schema::from_json(&text).expect("a good schema");
            (name, schema)
        });
        read.collect()
    })
}

/// The files of [`schemas`], in the same order.
pub(crate) fn schema_texts(shared: Option<&Path>) -> Vec<(String, String)> {
    let Some(shared) = shared else {
        let text = include_str!("../../../../testdata/schema/sample.json");
        return vec![("sample".to_owned(), text.to_owned())];
    };
    let mut found = Vec::new();
    for (release, _) in go_types() {
        let folder = shared.join("facts").join(release).join("schemas");
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).expect("the schemas").map(|e| e.expect("an entry").path()).collect();
        files.sort();
        for file in files {
            let name = file.file_stem().and_then(|s| s.to_str()).expect("a name");
            let text = fs::read_to_string(&file).expect("readable");
            found.push((format!("{release}/{name}"), text));
        }
    }
    found
}

fn named<'a>(all: &'a [(String, Schema)], name: &str) -> &'a Schema {
    let found = all.iter().find(|(n, _)| n == name);
    &found.unwrap_or_else(|| panic!("no schema {name}")).1
}

fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let parsed = text.lines().map(|l| serde_json::from_str(l).expect("JSON"));
    parsed.collect()
}

#[test]
fn supports_every_keyword_of_the_releases_schemas() {
    let Some(shared) = recordings() else {
        return;
    };
    let all = schemas(Some(&shared));
    assert!(all.len() > 60, "only {} schemas", all.len());
    for (name, schema) in all {
        assert_eq!(schema.unsupported(), [""; 0], "{name}");
    }
}

#[test]
fn stored_objects_are_admitted_again_unchanged() {
    let Some(shared) = recordings() else {
        return;
    };
    let all = schemas(Some(&shared));
    let mut seen = 0;
    for set in ["curated", "random"] {
        for (release, _) in go_types() {
            let file = shared.join(format!("golden/{set}/expected/{release}.jsonl"));
            for case in lines(&file) {
                let stored = &case["hyperconverged"];
                if !stored.is_object() {
                    continue;
                }
                seen += 1;
                let version = stored["apiVersion"].as_str().expect("a version");
                let version = version.trim_start_matches("hco.kubevirt.io/");
                let schema = named(all, &format!("{release}/hyperconverged.{version}"));
                let mut again = stored.clone();
                assert_eq!(schema.prepare(&mut again), Vec::new(), "{}", case["case"]);
                assert_eq!(&again, stored, "{release} {}", case["case"]);
                let rejected = schema.validate(&again);
                assert!(rejected.is_empty(), "{release} {}: {rejected:?}", case["case"]);
            }
        }
    }
    assert!(seen > 2900, "only {seen} stored objects");
}

#[test]
fn rendered_operands_are_valid() {
    let Some(shared) = recordings() else {
        return;
    };
    let all = schemas(Some(&shared));
    let mut by_kind: BTreeMap<(String, String), Vec<&(String, Schema)>> = BTreeMap::new();
    for entry in all {
        let key = (entry.1.api_version(), entry.1.kind().to_owned());
        by_kind.entry(key).or_default().push(entry);
    }
    let mut seen = 0;
    let mut rejected = Vec::new();
    for set in ["curated", "random"] {
        let folder = shared.join(format!("golden/{set}/objects"));
        for entry in fs::read_dir(folder).expect("objects") {
            for line in lines(&entry.expect("an entry").path()) {
                let object = &line["object"];
                let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
                let Some(of_kind) = by_kind.get(&(text("apiVersion"), text("kind"))) else {
                    continue;
                };
                seen += 1;
                // The digest does not say which releases it was recorded for: one is enough.
                let answers = of_kind.iter().map(|(_, s)| s.validate(object));
                let answers: Vec<_> = answers.collect();
                if !answers.iter().any(super::Violations::is_empty) {
                    rejected.extend(answers[0].iter().map(|v| v.message.clone()));
                }
            }
        }
    }
    assert!(seen > 1000, "only {seen} objects");
    // The recording's cluster had no operand CRDs and took a cipher that they reject.
    rejected.retain(|message| !message.contains("ciphers[1]: Unsupported value: \"NOPE\""));
    assert_eq!(rejected, [""; 0]);
}
