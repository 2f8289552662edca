//! Creates a release's data: from the operators' sources, or from a vendor's OLM bundle.
//!
//! Imported data is never edited by hand, so that it can be imported again. Data that no source has (behaviour,
//! admission rules, operands' fields) comes from a separate directory or a base.

mod behaviour;
mod bundle;
mod cdi;
mod constants;
mod fields;
mod gates;
mod kubevirt;
mod ordered;
mod recording;
mod sources;
mod template;
mod upgrade_patches;

use camino::Utf8DirEntry;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

pub(crate) use bundle::from_bundle;
pub(crate) use sources::{Sources, from_sources};

use hcoplan_planner::plan;
use hcoplan_planner::release::{self, Files, PatchRelease, Release, version_parts};

use self::ordered::Json;

/// Files imported from bundles, in addition to schemas.
const MADE: [&str; 3] = ["fields.json", "golden-images.json", "release.json"];

/// The schemas of a release by file name: of kinds that are accepted, rendered, or written by SSP.
const SCHEMAS: [&str; 12] = [
    "aaq.v1alpha1",
    "cdi.v1beta1",
    "dataimportcron.v1beta1",
    "datasource.v1beta1",
    "datavolume.v1beta1",
    "filerestoreoperator.v1alpha1",
    "hyperconverged.v1",
    "hyperconverged.v1beta1",
    "kubevirt.v1",
    "migcontroller.v1alpha1",
    "networkaddonsconfig.v1",
    "ssp.v1beta3",
];

/// Why a release can't be imported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportError {
    /// A file can't be read or written.
    #[error("{0}: {1}")]
    Io(Utf8PathBuf, io::Error),
    /// A file has an unexpected structure.
    #[error("{file}: {message}")]
    Shape {
        /// The file.
        file: Utf8PathBuf,
        /// The error.
        message: String,
    },
    /// The base lacks a file.
    #[error(transparent)]
    Base(#[from] release::Error),
    /// There is no base for the remaining data.
    #[error("{0} isn't a known release: name one to carry over what no source says (--base)")]
    NoBase(String),
    /// The bundle lacks something.
    #[error("{0}: {1}")]
    Bundle(Utf8PathBuf, String),
}

impl ImportError {
    fn shape(file: &Utf8Path, message: impl Into<String>) -> Self {
        Self::Shape { file: file.to_owned(), message: message.into() }
    }
}

/// An imported release.
#[derive(Debug)]
pub(crate) struct Imported {
    /// Its release line, `1.17`.
    pub(crate) name: String,
    /// Its patch level, `1.17.4`, or the vendor's version.
    pub(crate) version: String,
    /// Its files by name (`release.json`, `crds/kubevirt.v1.json`).
    pub(crate) files: BTreeMap<String, String>,
    /// The sources, one sentence each.
    pub(crate) notes: Vec<String>,
}

impl Imported {
    /// Loads and checks the release.
    ///
    /// # Errors
    /// The first invalid file.
    pub(crate) fn release(&self) -> Result<Arc<Release>, release::Error> {
        let release = self.unchecked()?;
        release.check()?;
        plan::check(&release)?;
        Ok(Arc::new(release))
    }

    fn unchecked(&self) -> Result<Release, release::Error> {
        let mut files = Files::new();
        for (name, text) in &self.files {
            files.insert(name.clone(), text.clone());
        }
        Release::from_files(files)
    }

    /// Its differences from the release line, for `schemas/patch-releases`; the address of the sources is empty.
    ///
    /// # Errors
    /// If no release line has its name.
    pub(crate) fn changes(&self) -> Result<PatchRelease, ImportError> {
        let line = Release::known(&self.name);
        let line = line.ok_or_else(|| ImportError::NoBase(self.name.clone()))?;
        Ok(PatchRelease::between(&line, &self.files, String::new())?)
    }

    /// Writes the files below a directory, creating it if necessary.
    ///
    /// # Errors
    /// The first file that can't be written.
    pub(crate) fn write(&self, out: &Utf8Path) -> Result<(), ImportError> {
        write_files(&self.files, out)
    }

    /// Names it by the line of its version, `1.19` if the base was 1.18.
    ///
    /// # Errors
    /// If `release.json` has an unexpected structure.
    pub(crate) fn call_by_line(&mut self) -> Result<(), ImportError> {
        const TABLES: &str = "release.json";
        let Some((line, _)) = version_parts(&self.version) else {
            return Ok(());
        };
        let text = self.files.get(TABLES).map(String::as_str);
        let mut tables: Json = bundle::parse(TABLES, text.unwrap_or_default())?;
        tables.set("name", Json::text(&line));
        self.files.insert(TABLES.to_owned(), tables.to_file());
        self.name = line;
        Ok(())
    }

    /// Copies the base's behaviour.
    fn carry(&mut self, base: &Release) -> Result<(), ImportError> {
        let made = |name: &str| MADE.contains(&name) || name.starts_with("crds/");
        for name in base.file_names().filter(|n| !made(n)) {
            let text = base.file(name)?.to_owned();
            self.files.insert(name.to_owned(), text);
        }
        Ok(())
    }
}

fn write_files(files: &BTreeMap<String, String>, out: &Utf8Path) -> Result<(), ImportError> {
    files.iter().try_for_each(|(name, text)| write_file(&out.join(name), text))
}

/// Writes a file, creating its directory if necessary.
///
/// # Errors
/// If it can't be written.
pub(crate) fn write_file(path: &Utf8Path, text: &str) -> Result<(), ImportError> {
    let parent = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(parent).and_then(|()| fs::write(path, text));
    written.map_err(|e| ImportError::Io(path.to_owned(), e))
}

/// The entries of a directory, sorted by name.
fn entries(directory: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ImportError> {
    let failed = |e| ImportError::Io(directory.to_owned(), e);
    let entries = directory.read_dir_utf8().map_err(failed)?;
    let paths = entries.map(|entry| entry.map(Utf8DirEntry::into_path));
    let mut out: Vec<_> = paths.collect::<Result<_, _>>().map_err(failed)?;
    out.sort();
    Ok(out)
}

/// Sets keys of a copied file, computed from its content; null removes a key. Unchanged content keeps its layout.
fn replace_keys(
    out: &mut Imported,
    name: &str,
    values: impl FnOnce(&Value) -> Vec<(&'static str, Value)>,
) -> Result<(), ImportError> {
    let old = out.files.get(name).map(String::as_str).unwrap_or_default();
    let known: Value = serde_json::from_str(old).map_err(|e| ImportError::shape(name.into(), e.to_string()))?;
    let mut json: Json = bundle::parse(name, old)?;
    let mut changed = false;
    for (key, value) in values(&known) {
        if known[key] != value {
            match value {
                Value::Null => json.remove(key),
                value => json.set(key, Json::from(value)),
            }
            changed = true;
        }
    }
    if changed {
        out.files.insert(name.to_owned(), json.to_file());
    }
    Ok(())
}

fn read(path: &Utf8Path) -> Result<String, ImportError> {
    fs::read_to_string(path).map_err(|e| ImportError::Io(path.to_owned(), e))
}

/// A known release as if it was just imported.
#[cfg(test)]
fn imported(name: &str) -> Imported {
    let release = Release::known(name).expect("known");
    let files = release.file_names().map(|file| {
        let text = release.file(file).expect("there").to_owned();
        (file.to_owned(), text)
    });
    Imported { name: name.to_owned(), version: release.version().to_owned(), files: files.collect(), notes: Vec::new() }
}
