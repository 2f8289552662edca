//! The files of one release, by name, wherever they come from.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::kube::outline::Outline;

/// A release's data that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that has to be there is not.
    #[error("release data: {0} is missing")]
    Missing(String),
    /// A file has another shape than expected.
    #[error("release data: {file}: {message}")]
    Shape {
        /// The file, relative to the release's directory.
        file: String,
        /// What is wrong, with line and column where the reader knows them.
        message: String,
    },
}

impl Error {
    /// A file with a wrong shape.
    pub fn shape(file: &str, message: &str) -> Self {
        Self::Shape {
            file: file.to_owned(),
            message: message.to_owned(),
        }
    }
}

/// File name (relative, `/` as separator) to text.
#[derive(Debug, Default)]
pub struct Files(BTreeMap<String, File>);

#[derive(Debug)]
enum File {
    Text(Cow<'static, str>),
    /// With the ends of its objects and lists.
    CompiledIn(&'static str, &'static [(u32, u32)]),
}

impl Files {
    /// No file yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    pub fn insert(&mut self, name: impl Into<String>, text: impl Into<Cow<'static, str>>) {
        self.0.insert(name.into(), File::Text(text.into()));
    }

    /// Adds a file that is compiled in, with the ends of its objects and lists.
    pub(super) fn compiled_in(
        &mut self,
        name: &str,
        text: &'static str,
        containers: &'static [(u32, u32)],
    ) {
        let file = File::CompiledIn(text, containers);
        self.0.insert(name.to_owned(), file);
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A file's text.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn text(&self, name: &str) -> Result<&str, Error> {
        Ok(match self.get(name)? {
            File::Text(text) => text,
            File::CompiledIn(text, _) => text,
        })
    }

    /// A file that is read in parts; what is compiled in is neither copied nor looked through.
    ///
    /// # Errors
    /// When there is no such file, or brackets or quotes of it don't match.
    pub(crate) fn outline(&self, name: &str) -> Result<Outline, Error> {
        match self.get(name)? {
            File::Text(text) => {
                let outline = Outline::of(text.clone());
                outline.ok_or_else(|| Error::shape(name, "it is not JSON"))
            }
            File::CompiledIn(text, containers) => Ok(Outline::made(text, containers)),
        }
    }

    fn get(&self, name: &str) -> Result<&File, Error> {
        let file = self.0.get(name);
        file.ok_or_else(|| Error::Missing(name.to_owned()))
    }

    /// A file read as JSON.
    ///
    /// # Errors
    /// When it is missing or does not fit `T`.
    pub fn parse<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        serde_json::from_str(self.text(name)?).map_err(|e| Error::shape(name, &e.to_string()))
    }
}
