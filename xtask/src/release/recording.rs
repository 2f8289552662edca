//! Reads data that `conformance/record` wrote in addition to results.

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_kubernetes::go::GoTypes;

use super::ordered::Json;
use super::{ImportError, Imported, bundle, entries, read};

const GO_TYPES: &str = "go-types.json";

/// Imports the Go types from `types/<release>.json` of a recording.
pub(super) fn go_types(path: &Utf8Path, out: &mut Imported) -> Result<(), ImportError> {
    let text = read(path)?;
    GoTypes::from_json(&text).map_err(|e| ImportError::shape(path, e.to_string()))?;
    let json: Json = bundle::parse(path.as_str(), &text)?;
    out.files.insert(GO_TYPES.to_owned(), json.to_file());
    out.notes.push(format!("Go types of {path}"));
    Ok(())
}

/// The file of a part of a recording (`types/1.19.json`) for a release, or the only one.
pub(super) fn part(recording: &Utf8Path, part: &str, release: &str) -> Result<Utf8PathBuf, ImportError> {
    let directory = recording.join(part);
    let files = entries(&directory)?;
    Ok(match files.as_slice() {
        [only] => only.clone(),
        _ => directory.join(format!("{release}.json")),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use hcoplan_planner::release::Release;

    use super::*;

    fn empty(name: &str) -> Imported {
        Imported { name: name.to_owned(), version: format!("{name}.0"), files: BTreeMap::new(), notes: Vec::new() }
    }

    #[test]
    fn types_of_a_recording_give_the_committed_file() {
        let temporary = tempfile::tempdir().expect("a directory");
        let recording = Utf8Path::from_path(temporary.path()).expect("UTF-8");
        fs::create_dir(recording.join("types")).expect("made");
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let committed = release.file(GO_TYPES).expect("there");
            let file = recording.join(format!("types/{name}.json"));
            fs::write(&file, committed.replace('\n', " ")).expect("written");
            // Of several releases in a recording, each has its own.
            let found = part(recording, "types", name).expect("listed");
            assert_eq!(found, file);
            let mut out = empty(name);
            go_types(&found, &mut out).expect("read");
            assert!(out.files[GO_TYPES] == committed, "{name}");
        }
    }

    #[test]
    fn rejects_invalid_tables_of_types() {
        let temporary = tempfile::tempdir().expect("a directory");
        let recording = Utf8Path::from_path(temporary.path()).expect("UTF-8");
        assert!(part(recording, "types", "1.19").is_err());
        fs::create_dir(recording.join("types")).expect("made");
        let file = part(recording, "types", "1.19").expect("named");
        assert!(go_types(&file, &mut empty("1.19")).is_err());
        fs::write(&file, "{}").expect("written");
        let rejected = go_types(&file, &mut empty("1.19")).expect_err("no table");
        assert!(rejected.to_string().contains("1.19.json"), "{rejected}");
    }
}
