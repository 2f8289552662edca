//! The hand-written data of a release, in its own directory (`schemas/behaviour/1.19`): it overrides the base when a
//! release is imported, and is kept separate when the release is written.

use std::collections::BTreeMap;

use camino::Utf8Path;
use hcoplan_planner::release::Release;
use serde_json::Value;

use super::ordered::Json;
use super::{ImportError, Imported, entries, parse, read};

/// Files without imported parts.
const WHOLE: [&str; 2] = ["admission.json", "behaviour.json"];

/// The hand-written files of a release by name. For files with imported parts, only some keys.
pub(super) struct Written(BTreeMap<String, File>);

struct File {
    text: String,
    json: Json,
}

impl File {
    /// Applies the part of a merge patch that people wrote.
    fn change(&mut self, name: &str, mut patch: Value) {
        if let Value::Object(keys) = &mut patch
            && !WHOLE.contains(&name)
        {
            keys.retain(|key, _| self.json.get(key).is_some());
        }
        let mut json = self.json.clone();
        json.merge(patch);
        if json != self.json {
            *self = Self { text: json.to_file(), json };
        }
    }
}

impl Written {
    /// The files of a directory. One that doesn't exist begins with those of the base's line, next to it, and the base's
    /// changes.
    pub(super) fn of(directory: &Utf8Path, base: Option<&Release>) -> Result<Self, ImportError> {
        let Some(base) = base.filter(|_| !directory.exists()) else {
            return Self::read(directory);
        };
        let mut line = Self::read(&directory.with_file_name(base.name()))?;
        for (name, change) in base.patched().iter().flat_map(|patched| &patched.changes) {
            if let Some(file) = line.0.get_mut(name) {
                file.change(name, change.clone());
            }
        }
        Ok(line)
    }

    /// Reads the files of a directory.
    fn read(directory: &Utf8Path) -> Result<Self, ImportError> {
        let mut files = BTreeMap::new();
        for path in entries(directory)? {
            let text = read(&path)?;
            let json = parse(path.as_str(), &text)?;
            let name = path.file_name().unwrap_or_default();
            files.insert(name.to_owned(), File { text, json });
        }
        if files.is_empty() { Err(ImportError::shape(directory, "it has no files")) } else { Ok(Self(files)) }
    }

    /// Overrides the base's data.
    pub(super) fn put_into(&self, out: &mut Imported) -> Result<(), ImportError> {
        for (name, File { text, json }) in &self.0 {
            let text = match (out.files.get(name), json) {
                (Some(known), Json::Map(keys)) if !WHOLE.contains(&name.as_str()) => {
                    let mut known: Json = parse(name, known)?;
                    for (key, value) in keys {
                        known.set(key, value.clone());
                    }
                    known.to_file()
                }
                _ => text.clone(),
            };
            out.files.insert(name.clone(), text);
        }
        Ok(())
    }

    /// Splits the files into imported and hand-written parts, the latter updated by the CRDs.
    fn apart(&self, files: &BTreeMap<String, String>) -> Result<[BTreeMap<String, String>; 2], ImportError> {
        let (mut imported, mut written) = (BTreeMap::new(), BTreeMap::new());
        for (name, text) in files {
            let Some(file) = self.0.get(name) else {
                imported.insert(name.clone(), text.clone());
                continue;
            };
            let (own, mut rest) = match parse(name, text)? {
                Json::Map(all) => {
                    let is_written = |(key, _): &(String, Json)| file.json.get(key).is_some();
                    let (mut own, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(is_written);
                    let place = |(key, _): &(String, Json)| file.json.entries().iter().position(|(k, _)| k == key);
                    own.sort_by_key(place);
                    (Json::Map(own), rest)
                }
                list => (list, Vec::new()),
            };
            // Unchanged data keeps its layout.
            let text = if own == file.json { file.text.clone() } else { own.to_file() };
            written.insert(name.clone(), text);
            // The base's keys come first.
            rest.sort_by(|(one, _), (other, _)| one.cmp(other));
            if !rest.is_empty() {
                imported.insert(name.clone(), Json::Map(rest).to_file());
            }
        }
        Ok([imported, written])
    }
}

impl Imported {
    /// Writes imported data below `out`, and hand-written data to the files of `behaviour`.
    ///
    /// # Errors
    /// If a file can't be read or written.
    pub(crate) fn write_apart(
        &self,
        out: &Utf8Path,
        behaviour: &Utf8Path,
        base: Option<&Release>,
    ) -> Result<(), ImportError> {
        let [imported, written] = Written::of(behaviour, base)?.apart(&self.files)?;
        super::write_files(&imported, out)?;
        super::write_files(&written, behaviour)
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::super::imported;
    use super::*;

    fn schemas(directory: &str, release: &str) -> Utf8PathBuf {
        let root = Utf8Path::from_path(hcoplan_testing::root()).expect("UTF-8");
        root.join("schemas").join(directory).join(release)
    }

    /// The text of every file below a directory.
    fn texts(directory: &Utf8Path) -> BTreeMap<String, String> {
        let mut out = BTreeMap::new();
        for path in entries(directory).expect("a directory") {
            let name = path.file_name().expect("a name").to_owned();
            if path.is_dir() {
                out.extend(texts(&path).into_iter().map(|(n, t)| (format!("{name}/{n}"), t)));
            } else {
                drop(out.insert(name, read(&path).expect("readable")));
            }
        }
        out
    }

    #[test]
    fn splits_release_into_its_committed_parts() {
        for name in Release::known_names() {
            let directory = schemas("behaviour", name);
            let written = Written::read(&directory).expect("read");
            let [one, other] = written.apart(&imported(name).files).expect("apart");
            assert!(one == texts(&schemas("releases", name)), "{name}");
            assert!(other == texts(&directory), "{name}");
        }
    }

    #[test]
    fn written_behaviour_overrides_the_base() {
        let written = Written::read(&schemas("behaviour", "1.19")).expect("read");
        let mut out = imported("1.18");
        written.put_into(&mut out).expect("put");
        let newer = imported("1.19");
        assert!(out.files["admission.json"] == newer.files["admission.json"]);
        let release = out.unchecked().expect("a release");
        assert!(release.has("feature-gates-any-case"));
        assert!(release.kubevirt().beta_gates_are_on);
        assert_eq!(release.kubevirt().version, Release::known("1.18").expect("known").kubevirt().version);
    }

    #[test]
    fn a_new_directory_begins_with_the_base() {
        let directory = schemas("behaviour", "9.9");
        let line = Release::known("1.18").expect("known");
        let written = Written::of(&directory, Some(&line)).expect("read");
        assert!(
            written
                .0
                .iter()
                .all(|(name, file)| file.text == read(&schemas("behaviour", "1.18").join(name)).expect("text"))
        );
        let patched = Release::patch("1.18.0").expect("known");
        let mut out = imported("1.18");
        Written::of(&directory, Some(&patched)).expect("read").put_into(&mut out).expect("put");
        let key = |text: &str, key: &str| -> Value { serde_json::from_str::<Value>(text).expect("JSON")[key].clone() };
        let same =
            |file: &str, name: &str| key(&out.files[file], name) == key(patched.file(file).expect("there"), name);
        assert!(same("behaviour.json", "capabilities") && same("release.json", "kubevirtFeatureGates"));
        // Imported keys of the same file aren't taken.
        assert!(!same("release.json", "version") && !same("release.json", "env"));
    }

    #[test]
    fn an_empty_directory_is_no_behaviour() {
        let temporary = tempfile::tempdir().expect("a directory");
        let directory = Utf8Path::from_path(temporary.path()).expect("UTF-8");
        assert!(Written::read(directory).is_err());
    }
}
