//! A directory of the workspace: its last analysis and published diagnostics.

use crate::prelude::*;
use std::collections::BTreeSet;
use std::io;

use lsp_types::Diagnostic;

use super::address;
use super::analysis::{Analysis, Job};
use super::client::Client;
use super::diagnostics::{by_file, diagnostic};
use super::documents::{Documents, Open};
use crate::source::normalize_path;

/// A directory of the workspace.
#[derive(Debug)]
pub(super) struct Root {
    /// The path as the editor gives it.
    pub(super) path: Utf8PathBuf,
    /// The path without symbolic links.
    real: Utf8PathBuf,
    /// Whether to read only its own files.
    shallow: bool,
    /// Whether it changed since the last analysis.
    pub(super) changed: bool,
    /// Whether an analysis is running.
    pub(super) running: bool,
    /// What was seen last.
    pub(super) seen: Option<Analysis>,
    /// The number of the state.
    state: u64,
    /// The published diagnostics by URI.
    published: BTreeMap<String, Vec<Diagnostic>>,
}

impl Root {
    /// An existing directory.
    pub(super) fn new(path: &Utf8Path, shallow: bool) -> io::Result<Self> {
        let real = path.canonicalize_utf8()?;
        if !real.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self {
            path: path.to_owned(),
            real,
            shallow,
            changed: false,
            running: false,
            seen: None,
            state: 0,
            published: BTreeMap::new(),
        })
    }

    /// A file's path relative to the directory; `None` if it is elsewhere.
    pub(super) fn relative(&self, file: &Utf8Path) -> Option<Utf8PathBuf> {
        let below = |path: &Utf8Path, root: &Utf8Path| {
            let below = normalize_path(path.strip_prefix(root).ok()?)?;
            let own = below.components().count() == 1;
            (own || !self.shallow).then_some(below)
        };
        below(file, &self.path).or_else(|| {
            let directory = file.parent()?.canonicalize_utf8().ok()?;
            below(&directory.join(file.file_name()?), &self.real)
        })
    }

    /// Starts an analysis of the present state.
    pub(super) fn job(&mut self, documents: &Documents) -> Job {
        self.changed = false;
        self.running = true;
        self.state += 1;
        self.job_of(documents)
    }

    /// The input of an analysis of the present state.
    pub(super) fn job_of(&self, documents: &Documents) -> Job {
        let open = documents.all();
        let open: Vec<(Utf8PathBuf, &Open)> =
            open.filter_map(|(path, open)| Some((self.relative(path)?, open))).collect();
        let text = |(path, open): &(Utf8PathBuf, &Open)| {
            let bytes = open.text.as_bytes();
            (path.clone(), bytes.to_vec())
        };
        Job {
            root: self.real.clone(),
            shallow: self.shallow,
            texts: open.iter().map(text).collect(),
            versions: open.iter().map(|(path, open)| (path.clone(), open.version)).collect(),
            state: self.state,
        }
    }

    /// Whether an analysis is of the present state.
    pub(super) fn is_of(&self, analysis: &Analysis) -> bool {
        self.running && self.real == analysis.job.root && self.state == analysis.job.state
    }

    /// Stores an analysis; returns the messages for the editor. `foreign` files belong to another root.
    pub(super) fn take(
        &mut self,
        mut analysis: Analysis,
        foreign: &[Utf8PathBuf],
        documents: &Documents,
        client: &Client,
    ) -> Vec<Value> {
        self.running = false;
        // With a wrong configuration, keep the known clusters.
        if analysis.open.is_none() {
            analysis.open = self.seen.take().and_then(|s| s.open);
        }
        let mut now: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
        let mut stale = BTreeSet::new();
        let mut versions = BTreeMap::new();
        for (path, findings) in by_file(&analysis.findings) {
            if foreign.contains(&path) {
                continue;
            }
            let marked = |path: &Utf8Path| self.document(documents, path).is_some_and(Open::is_marked);
            let address = |path: &Utf8Path| self.address(documents, path);
            let mut diagnostics: Vec<Diagnostic> = Vec::new();
            for finding in findings {
                let made = diagnostic(finding, client.capabilities, &marked, &address);
                // Several clusters of one file may have the same diagnostics.
                let new = made.filter(|d| !diagnostics.contains(d));
                diagnostics.extend(new);
            }
            now.insert(address(&path), diagnostics);
        }
        for (path, open) in documents.all() {
            if let Some(relative) = self.relative(path) {
                let seen = analysis.job.versions.get(&relative);
                if seen != Some(&open.version) {
                    // The document changed since the analysis, so that locations don't match.
                    stale.insert(open.address.clone());
                }
                versions.insert(open.address.clone(), open.version);
            }
        }
        let gone = self.published.keys().filter(|a| !now.contains_key(*a));
        let gone: Vec<String> = gone.cloned().collect();
        let all = gone.into_iter().map(|a| (a, Vec::new())).chain(now);
        let mut out = Vec::new();
        for (address, diagnostics) in all {
            let before = self.published.get(&address);
            let same = before.map_or(diagnostics.is_empty(), |b| *b == diagnostics);
            if stale.contains(&address) || same {
                continue;
            }
            let mut params = json!({"uri": address, "diagnostics": diagnostics});
            if let Some(version) = versions.get(&address) {
                params["version"] = json!(version);
            }
            out.push(params);
            if diagnostics.is_empty() {
                self.published.remove(&address)
            } else {
                self.published.insert(address, diagnostics)
            };
        }
        self.seen = Some(analysis);
        out
    }

    /// Messages that remove all diagnostics.
    pub(super) fn clear_diagnostics(self) -> impl Iterator<Item = Value> {
        let addresses = self.published.into_keys();
        addresses.map(|address| json!({"uri": address, "diagnostics": []}))
    }

    /// A file's URI, as the editor writes it.
    pub(super) fn address(&self, documents: &Documents, path: &Utf8Path) -> String {
        match self.document(documents, path) {
            Some(open) => open.address.clone(),
            None => address::of_path(&self.path.join(path)),
        }
    }

    /// The open document of a path.
    pub(super) fn document<'d>(&self, documents: &'d Documents, path: &Utf8Path) -> Option<&'d Open> {
        let direct = documents.at(&self.path.join(path));
        let linked = || {
            let mut all = documents.all();
            all.find(|(p, _)| self.relative(p).as_deref() == Some(path))
        };
        direct.or_else(|| linked().map(|(_, open)| open))
    }
}
