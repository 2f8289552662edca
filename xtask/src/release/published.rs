//! The published files of a release, as a maintainer downloaded them into a directory: what they are shows in what they
//! hold, not in where they lie.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{Directory, SourceFile, Tree, Walk, max_bytes};
use hcoplan_planner::release::version_numbers;
use hcoplan_yaml as yaml;
use serde_json::Value;

use super::{ImportError, text};

/// The file that lists versions, `hack/config` of HCO.
const VERSIONS: &str = "config";
/// The Deployment of the operator in a ClusterServiceVersion.
const OPERATOR_OF_CSV: &str = "hco-operator";
/// The Deployment of the operator in `deploy/operator.yaml`.
const OPERATOR: &str = "hyperconverged-cluster-operator";

/// Published files.
pub(super) struct Published {
    /// The directory, or the file.
    pub(super) path: Utf8PathBuf,
    documents: Vec<Document>,
    /// The text of the file that lists versions.
    pub(super) versions: Option<String>,
}

/// A document of a YAML or JSON file.
pub(super) struct Document {
    /// The path below the directory.
    pub(super) file: Utf8PathBuf,
    pub(super) body: Value,
}

impl Published {
    /// Reads all YAML and JSON files below a directory, or one file; items of a v1 List are separate documents.
    ///
    /// # Errors
    /// A file that can't be read or parsed.
    pub(super) fn read(path: &Utf8Path) -> Result<Self, ImportError> {
        let (directory, only) =
            if path.is_file() { (path.parent().unwrap_or(Utf8Path::new("")), path.file_name()) } else { (path, None) };
        let directory = if directory.as_str().is_empty() { Utf8Path::new(".") } else { directory };
        let failed = |path: Utf8PathBuf, message: String| ImportError::Files(path, message);
        let tree = Directory::open(directory, max_bytes());
        let tree = tree.map_err(|e| failed(directory.to_owned(), e.to_string()))?;
        let listing = tree.list(&Walk { depth: only.is_some().then_some(1), ..Walk::default() });
        let listing = listing.map_err(|e| failed(directory.to_owned(), e.to_string()))?;
        let mut out = Self { path: path.to_owned(), documents: Vec::new(), versions: None };
        for file in listing.files {
            let is_document = match only {
                Some(only) => file == only,
                None => matches!(file.extension(), Some("yaml" | "yml" | "json")),
            };
            let has_versions = only.is_none() && file.file_name() == Some(VERSIONS);
            if !is_document && !has_versions {
                continue;
            }
            let full = directory.join(&file);
            let bytes = tree.read(&file).map_err(|e| failed(full.clone(), e.to_string()))?;
            let source = SourceFile::from_bytes(&full, bytes);
            if has_versions {
                out.versions = Some(source.text().to_owned());
                continue;
            }
            out.add(&file, &source)?;
        }
        Ok(out)
    }

    fn add(&mut self, file: &Utf8Path, source: &Arc<SourceFile>) -> Result<(), ImportError> {
        let parsed = yaml::parse(source);
        if let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) {
            let line = source.position(problem.span.start).line;
            return Err(ImportError::shape(file, format!("line {line}: {}", problem.message)));
        }
        for document in &parsed.documents {
            let body = document.root.to_json();
            let items = match body.get("items") {
                Some(Value::Array(items)) if text(&body, "kind").ends_with("List") => items.clone(),
                _ => vec![body],
            };
            let documents = items.into_iter().map(|body| Document { file: file.to_owned(), body });
            self.documents.extend(documents);
        }
        Ok(())
    }

    /// The documents of a kind.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Document> {
        self.documents.iter().filter(move |document| text(&document.body, "kind") == kind)
    }

    /// The ClusterServiceVersion of HCO, with the operator's container.
    ///
    /// # Errors
    /// If there are several.
    pub(super) fn csv(&self) -> Result<Option<(&Value, &Value)>, ImportError> {
        let found = self.of_kind("ClusterServiceVersion").filter_map(|csv| Some((&csv.body, operator(&csv.body)?)));
        let found: Vec<_> = found.collect();
        match *found {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            _ => {
                Err(ImportError::Files(self.path.clone(), "there are several ClusterServiceVersions of HCO".to_owned()))
            }
        }
    }

    /// The operator's container in `deploy/operator.yaml`.
    pub(super) fn operator(&self) -> Option<&Value> {
        let mut deployments = self.of_kind("Deployment").map(|document| &document.body);
        let operator = deployments.find(|d| text(&d["metadata"], "name") == OPERATOR)?;
        operator.pointer("/spec/template/spec/containers/0")
    }

    /// The DataImportCronTemplates in the operator's order: by file, each with one template or a list.
    pub(super) fn golden_images(&self) -> Vec<Value> {
        let is_template = |value: &Value| value.get("kind").is_none() && value["spec"]["managedDataSource"].is_string();
        let lists = self.documents.iter().map(|document| match &document.body {
            Value::Array(items) => items.clone(),
            other => vec![other.clone()],
        });
        lists.flatten().filter(is_template).collect()
    }

    /// The first document of a file with this name.
    pub(super) fn named(&self, name: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.file.file_name() == Some(name))
    }

    /// The newest common templates of each architecture, from files such as `common-templates-arm64-v0.35.0.yaml`.
    pub(super) fn common_templates(&self) -> Vec<(&str, &Value)> {
        let mut newest: BTreeMap<&str, (Vec<u64>, Vec<&Value>)> = BTreeMap::new();
        for document in &self.documents {
            let name = document.file.file_stem().and_then(|name| name.strip_prefix("common-templates-"));
            let Some((architecture, version)) = name.and_then(|name| name.rsplit_once("-v")) else {
                continue;
            };
            let version = version_numbers(version);
            let (known, templates) = newest.entry(architecture).or_default();
            if *known < version {
                *known = version.clone();
                templates.clear();
            }
            if *known == version {
                templates.push(&document.body);
            }
        }
        let all = newest.into_iter();
        all.flat_map(|(architecture, (_, found))| found.into_iter().map(move |t| (architecture, t))).collect()
    }
}

/// The operator's container in a ClusterServiceVersion.
fn operator(csv: &Value) -> Option<&Value> {
    let deployments = csv.pointer("/spec/install/spec/deployments")?.as_array()?;
    let deployment = deployments.iter().find(|d| text(d, "name") == OPERATOR_OF_CSV)?;
    deployment.pointer("/spec/template/spec/containers/0")
}
