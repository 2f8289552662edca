//! The files of a release by name, compiled in or from a directory.

use crate::prelude::*;
use serde::de::DeserializeOwned;

/// A release's data that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A required file is missing.
    #[error("release data: {0} is missing")]
    Missing(String),
    /// A file has another shape than expected.
    #[error("release data: {file}: {message}")]
    Shape {
        /// The file, relative to the release's directory.
        file: String,
        /// The problem, with line and column if known.
        message: String,
    },
}

impl Error {
    /// An error about a file's content.
    pub fn shape(file: &str, message: &str) -> Self {
        Self::Shape { file: file.to_owned(), message: message.to_owned() }
    }
}

/// File name (relative, `/` as separator) to text.
#[derive(Debug, Default)]
pub struct Files(BTreeMap<String, Cow<'static, str>>);

impl Files {
    /// Creates an empty set of files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    pub fn insert(&mut self, name: impl Into<String>, text: impl Into<Cow<'static, str>>) {
        self.0.insert(name.into(), text.into());
    }

    /// Adds the files of another release.
    pub(super) fn share(&mut self, others: &Self) {
        let files = others.0.iter();
        self.0.extend(files.map(|(name, file)| (name.clone(), file.clone())));
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A file's text.
    ///
    /// # Errors
    /// The file is missing.
    pub fn text(&self, name: &str) -> Result<&str, Error> {
        let text = self.0.get(name).map(|text| &**text);
        text.ok_or_else(|| Error::Missing(name.to_owned()))
    }

    /// Parses a file as JSON.
    ///
    /// # Errors
    /// The file is missing or isn't a valid `T`.
    pub fn parse<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        serde_json::from_str(self.text(name)?).map_err(|e| Error::shape(name, &e.to_string()))
    }
}
