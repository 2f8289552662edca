//! Creates a release's data from files that the projects publish.
//!
//! Imported data is never edited by hand, so that it can be imported again. Data that no published file has (behaviour,
//! admission rules, operands' fields, Go's types, constant objects) comes from a separate directory or a base.

mod behaviour;
mod complete;
mod fields;
mod gates;
mod import;
mod ordered;
mod published;
mod schemas;
mod ssp;
mod upgrade_patches;

use camino::Utf8DirEntry;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

pub(crate) use import::from_files;

use hcoplan_planner::release::{self, Files, PatchRelease, Release, version_parts};

use self::ordered::Json;

/// Tables of a release.
const TABLES: &str = "release.json";
/// The golden images of a release.
const GOLDEN_IMAGES: &str = "golden-images.json";

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
    /// No release line has the name.
    #[error("{0} isn't a known release line")]
    NoLine(String),
    /// The published files lack something.
    #[error("{0}: {1}")]
    Files(Utf8PathBuf, String),
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
        complete::check(&release)?;
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
        let line = line.ok_or_else(|| ImportError::NoLine(self.name.clone()))?;
        Ok(PatchRelease::between(&line, &self.files, String::new())?)
    }

    /// Writes the files below a directory, creating it if necessary.
    ///
    /// # Errors
    /// The first file that can't be written.
    pub(crate) fn write(&self, out: &Utf8Path) -> Result<(), ImportError> {
        write_files(&self.files, out)
    }

    /// Names it by the line of its version, `1.19` if the base was 1.18. A distribution's version has another major number:
    /// it keeps the base's name.
    ///
    /// # Errors
    /// If `release.json` has an unexpected structure.
    pub(crate) fn call_by_line(&mut self) -> Result<(), ImportError> {
        let major = |name: &str| name.split('.').next().map(ToOwned::to_owned);
        let line = version_parts(&self.version).map(|(line, _)| line);
        let Some(line) = line.filter(|line| major(line) == major(&self.name)) else {
            return Ok(());
        };
        let mut tables = self.json(TABLES)?;
        tables.set("name", Json::text(&line));
        self.files.insert(TABLES.to_owned(), tables.to_file());
        self.name = line;
        Ok(())
    }

    /// The base's data under another version.
    fn carried(base: &Release, version: String) -> Result<Self, ImportError> {
        let mut files = BTreeMap::new();
        for name in base.file_names() {
            files.insert(name.to_owned(), base.file(name)?.to_owned());
        }
        Ok(Self { name: base.name().to_owned(), version, files, notes: Vec::new() })
    }

    /// A file as JSON.
    fn json(&self, name: &str) -> Result<Json, ImportError> {
        parse(name, self.files.get(name).map(String::as_str).unwrap_or_default())
    }
}

fn parse(name: &str, text: &str) -> Result<Json, ImportError> {
    serde_json::from_str(text).map_err(|e| ImportError::shape(Utf8Path::new(name), e.to_string()))
}

/// The text at a key.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
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

/// Sets keys of a copied file. Unchanged content keeps its layout.
fn replace_keys(out: &mut Imported, name: &str, values: Vec<(&str, Value)>) -> Result<(), ImportError> {
    let old = out.json(name)?;
    let mut json = old.clone();
    for (key, value) in values {
        let value = Json::from(value);
        // Keys of another order are the same value.
        if json.get(key).map(Json::to_value).as_ref() != Some(&value.to_value()) {
            json.set(key, value);
        }
    }
    if json != old {
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
