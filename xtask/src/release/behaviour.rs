//! The hand-written data of a release, in its own directory (`schemas/behaviour/1.19`): it overrides the base when a
//! release is imported, and is kept separate when the release is written.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::ordered::Json;
use super::{ImportError, Imported, bundle, entries, read};

/// Files without imported parts.
const WHOLE: [&str; 2] = ["admission.json", "behaviour.json"];

/// The hand-written files of a release by name. For files with imported parts, only some keys.
pub(super) struct Written(BTreeMap<String, File>);

struct File {
    text: String,
    json: Json,
}

impl Written {
    /// Reads the files of a directory.
    pub(super) fn read(directory: &Utf8Path) -> Result<Self, ImportError> {
        let mut files = BTreeMap::new();
        for path in entries(directory)? {
            let text = read(&path)?;
            let json = bundle::parse(path.as_str(), &text)?;
            let name = path.file_name().unwrap_or_default();
            files.insert(name.to_owned(), File { text, json });
        }
        if files.is_empty() { Err(ImportError::shape(directory, "there is no file in it")) } else { Ok(Self(files)) }
    }

    /// Overrides the base's data.
    pub(super) fn put_into(&self, out: &mut Imported) -> Result<(), ImportError> {
        for (name, File { text, json }) in &self.0 {
            let text = match (out.files.get(name), json) {
                (Some(known), Json::Map(keys)) if !WHOLE.contains(&name.as_str()) => {
                    let mut known: Json = bundle::parse(name, known)?;
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
            let (own, mut rest) = match bundle::parse(name, text)? {
                Json::Map(all) => {
                    let is_written = |(key, _): &(String, Json)| file.json.get(key).is_some();
                    let (own, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(is_written);
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
    pub(crate) fn write_apart(&self, out: &Utf8Path, behaviour: &Utf8Path) -> Result<(), ImportError> {
        let [imported, written] = Written::read(behaviour)?.apart(&self.files)?;
        super::write_files(&imported, out)?;
        super::write_files(&written, behaviour)
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;
    use hcoplan_planner::release::Release;

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
    fn an_empty_directory_is_no_behaviour() {
        let temporary = tempfile::tempdir().expect("a directory");
        let directory = Utf8Path::from_path(temporary.path()).expect("UTF-8");
        assert!(Written::read(directory).is_err());
    }
}
