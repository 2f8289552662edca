//! The manifests below the current directory, as they are written.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use ignore::WalkBuilder;

use super::failure::Failure;
use crate::repo::{self, CONFIG_FILE, MANIFEST, Repo, Use};
use crate::source::{Directory, SourceFile, Tree as _, max_bytes};
use crate::yaml::{self, Chunk, Node};

/// Every Kubernetes object, in the order of the files' paths, except those of hcoplan and kustomize,
/// nodes, patches, rendered trees, and documents that hold one of the given places.
///
/// What the configuration ignores is passed on, too, and so is what `.gitignore` names: it is in
/// Argo CD's checkout, so git tracks it, and any other tool would apply it.
pub(super) fn manifests(
    repo: &Repo,
    left_out: &BTreeMap<Utf8PathBuf, Vec<u32>>,
) -> Result<String, Failure> {
    let tree = Directory::open(".", max_bytes()).map_err(repo::Error::from)?;
    let mut out = String::new();
    for path in files()? {
        let is_patch = |f: &repo::FileUse| *f.path == *path && matches!(f.what, Use::Patch { .. });
        if repo.files().iter().any(is_patch) {
            continue;
        }
        let bytes = tree.read(&path);
        let bytes = bytes.map_err(|why| repo::Error::File(path.clone(), why))?;
        let file = SourceFile::from_bytes(path.clone(), bytes);
        let places = left_out.get(&path).map_or(&[][..], Vec::as_slice);
        for chunk in yaml::split(file.text()) {
            let span = match chunk {
                Chunk::Text(span) => span,
                Chunk::BadSeparator(span) => return Err(no_manifest(&file, span.start)),
            };
            let piece = file.text().get(span.range()).unwrap_or_default();
            match places
                .iter()
                .find(|at| (span.start..span.end).contains(*at))
            {
                None => append(piece, &file, span.start, &mut out)?,
                Some(at) => alone(piece, &file, *at)?,
            }
        }
    }
    Ok(out)
}

/// Files that can hold manifests, sorted.
fn files() -> Result<Vec<Utf8PathBuf>, Failure> {
    let walk = WalkBuilder::new(".")
        .standard_filters(false)
        .filter_entry(|e| e.file_name() != ".git" && !e.path().join(MANIFEST).exists())
        .build();
    let mut out = Vec::new();
    for entry in walk {
        let failed = |e| Failure::Read("the application's path".to_owned(), e);
        let entry = entry.map_err(|e| failed(std::io::Error::other(e)))?;
        let Some(path) = Utf8Path::from_path(entry.path()) else {
            continue;
        };
        let path = path.strip_prefix("./").unwrap_or(path);
        let extension = path.extension().unwrap_or_default();
        let known = ["yaml", "yml", "json"];
        let manifest = known.iter().any(|k| extension.eq_ignore_ascii_case(k));
        let ours = path == CONFIG_FILE || path.file_stem() == Some("kustomization");
        if manifest && !ours && entry.path().is_file() {
            out.push(path.to_owned());
        }
    }
    out.sort_unstable();
    Ok(out)
}

/// An object that is left out must not take others along.
fn alone(piece: &str, file: &SourceFile, at: u32) -> Result<(), Failure> {
    let parsed = yaml::parse(&SourceFile::new(file.path(), piece));
    if parsed
        .documents
        .iter()
        .all(|d| d.root.get("items").is_none())
    {
        return Ok(());
    }
    let (path, place) = (file.path(), file.position(at));
    let at = format!("{path}:{}:{}", place.line, place.column);
    Err(Failure::usage(
        format!("{at}: a list holds an object that the operators own"),
        "take it out of the list, or out of the repository",
    ))
}

fn append(piece: &str, file: &SourceFile, offset: u32, out: &mut String) -> Result<(), Failure> {
    let parsed = yaml::parse(&SourceFile::new(file.path(), piece));
    if let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) {
        return Err(no_manifest(file, offset + problem.span.start));
    }
    if !parsed.documents.iter().any(|d| passes(&d.root)) {
        return Ok(());
    }
    if !piece.starts_with("---") {
        out.push_str("---\n");
    }
    out.push_str(piece);
    if !piece.ends_with('\n') {
        out.push('\n');
    }
    Ok(())
}

/// Whether it is an object to apply.
fn passes(root: &Node) -> bool {
    let text = |key: &str| root.get(key).and_then(Node::as_str);
    let (Some(version), Some(kind)) = (text("apiVersion"), text("kind")) else {
        return false;
    };
    let group = version.split_once('/').map_or("", |(group, _)| group);
    match (group, kind) {
        ("hcoplan.dev" | "kustomize.config.k8s.io", _) | ("", "Node" | "NodeList") => false,
        ("", "List") => root
            .get("items")
            .is_some_and(|i| i.items().iter().any(passes)),
        _ => true,
    }
}

fn no_manifest(file: &SourceFile, at: u32) -> Failure {
    let place = file.position(at);
    let at = format!("{}:{}:{}", file.path(), place.line, place.column);
    Failure::Unreadable(format!(
        "{at}: this is no YAML, and left out it would be deleted from the cluster"
    ))
}
