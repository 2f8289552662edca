//! The objects that `kubectl get` prints.

use crate::failure::Failure;
use crate::prelude::*;
use hcoplan_diagnostics::source::{Tree as _, Walk};
use hcoplan_yaml as yaml;

/// The objects of an export: a file of `kubectl get -o yaml|json`, or a directory of such files (a must-gather). Splits
/// lists; skips files that aren't manifests.
pub(super) fn export(path: &Utf8Path) -> Result<Vec<Object>, Failure> {
    let failed = |why: String| Failure::Read(path.to_string(), std::io::Error::other(why));
    let mut values = Vec::new();
    let mut read = |file: &Utf8Path, bytes: Vec<u8>| {
        let parsed = yaml::parse(&SourceFile::from_bytes(file, bytes));
        if let Some(problem) = parsed.problems.first() {
            return Err(problem.message.clone());
        }
        parsed.documents.iter().for_each(|document| take_apart(document.root.to_json(), &mut values));
        Ok(())
    };
    if path.is_file() {
        read(path, repo::read_named(Utf8Path::new("."), path, &Trust::Files)?).map_err(failed)?;
    } else {
        let tree = Directory::open(path, max_bytes()).map_err(|e| failed(e.to_string()))?;
        let listing = tree.list(&Walk::default());
        for file in listing.map_err(|e| failed(e.to_string()))?.files {
            if matches!(file.extension(), Some("yaml" | "yml" | "json"))
                && let Ok(bytes) = tree.read(&file)
            {
                // An invalid file isn't a manifest.
                let _ = read(&file, bytes);
            }
        }
    }
    let mut out: Vec<Object> = values.into_iter().map(Object::new).collect();
    if out.is_empty() {
        return Err(failed("there is no object in it".to_owned()));
    }
    out.sort_by(|a, b| a.id.cmp(&b.id));
    out.dedup_by(|a, b| a.id == b.id);
    Ok(out)
}

/// Adds the objects of a document; splits lists.
pub(super) fn take_apart(value: Value, out: &mut Vec<Value>) {
    let kind = text(&value["kind"]);
    if let (Some(item_kind), Some(items)) = (kind.strip_suffix("List"), value["items"].as_array()) {
        for item in items {
            let mut item = item.clone();
            // Items of a typed list may omit these two.
            if item["kind"].is_null() && item.is_object() && !item_kind.is_empty() {
                item["kind"] = item_kind.into();
                item["apiVersion"] = value["apiVersion"].clone();
            }
            take_apart(item, out);
        }
    } else if !kind.is_empty() && value["metadata"]["name"].is_string() {
        out.push(value);
    }
}
