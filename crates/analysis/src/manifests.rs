//! Passes on the manifests of an Argo CD application as they are written.

use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use hcoplan_diagnostics::source::{Tree as _, Unreadable};
use hcoplan_diagnostics::words::plural;
use hcoplan_repository::repo::{FileRole, Rendered, is_candidate, is_kustomization};
use hcoplan_yaml::{self as yaml, Chunk, Node};
use ignore::WalkBuilder;

/// Help for a kustomization that isn't built.
pub const BUILD_ELSEWHERE: &str = "build it elsewhere: `kustomize build . | hcoplan cmp generate -`";

/// Rules that find objects owned by the operators.
const OWNED: [&str; 2] = ["operand-managed-in-git", "rendered-golden-image-in-git"];

/// The text of the build, or else of the files, without objects owned by the operators.
///
/// # Errors
/// A manifest that can't be passed on.
pub fn passed_on(
    repo: &Repo,
    below: &Utf8Path,
    build: Option<&SourceFile>,
    findings: &[Finding],
    notices: &dyn Notices,
) -> Result<String, Failure> {
    let owned = findings.iter().filter(|f| OWNED.contains(&f.rule.name));
    let mut left_out: BTreeMap<Utf8PathBuf, Vec<u32>> = BTreeMap::new();
    for place in owned.filter_map(|f| f.generated.as_ref().or(f.location.as_ref())) {
        left_out.entry(place.file.path().to_owned()).or_default().push(place.span.start);
    }
    match build {
        Some(file) => manifests_of(file, left_out.get(file.path()).map_or(&[][..], Vec::as_slice)),
        None => manifests(repo, below, &left_out, notices),
    }
}

/// All Kubernetes objects below the current directory, sorted by path. Omits objects of hcoplan and kustomize, nodes,
/// files of rendered trees (reported), and documents at the given locations.
///
/// Includes files ignored by the configuration or `.gitignore`: they are in Argo CD's checkout, so git tracks them, and
/// any other tool would apply them. Anything else that can't be passed on is an error, because Argo CD would delete the
/// missing object from the cluster.
fn manifests(
    repo: &Repo,
    below: &Utf8Path,
    left_out: &BTreeMap<Utf8PathBuf, Vec<u32>>,
    notices: &dyn Notices,
) -> Result<String, Failure> {
    let tree = Directory::open(".", max_bytes()).map_err(repo::Error::from)?;
    // A link may lead to another directory of the checkout.
    let root: Utf8PathBuf = std::iter::once(".").chain(below.components().map(|_| "..")).collect();
    let checkout = Directory::open(&root, max_bytes()).map_err(repo::Error::from)?;
    // The repository's paths are from its root.
    let uses = repo.files().iter().filter_map(|f| Some((f.path.strip_prefix(below).ok()?, &f.what)));
    let uses: HashMap<&Utf8Path, &FileRole> = uses.collect();
    let files = files()?;
    let rendered = Rendered::find(&tree, &files);
    let mut rendered_files = 0;
    let mut out = String::new();
    for path in files.into_iter().filter(|p| is_candidate(p)) {
        if let Some(FileRole::Patch { of }) = uses.get(&*path) {
            return Err(Failure::usage(
                format!("{path}: {of} names it as a patch, and kustomize isn't run here"),
                BUILD_ELSEWHERE,
            ));
        }
        // Other files of this name are rejected earlier.
        if path == CONFIG_FILE {
            continue;
        }
        let bytes = checkout.read(&below.join(&path));
        let bytes = bytes.map_err(|why| repo::Error::File(path.clone(), why))?;
        let file = SourceFile::from_bytes(path.clone(), bytes);
        // A file of a tree that has a HyperConverged isn't hcoplan's output, even if the tree lists it.
        if rendered.has(&path) && !matches!(uses.get(&*path), Some(FileRole::Read(_))) {
            rendered_files += 1;
            continue;
        }
        let places = left_out.get(&below.join(&path)).map_or(&[][..], Vec::as_slice);
        out.push_str(&manifests_of(&file, places)?);
    }
    if rendered_files > 0 {
        let (files, tops) = (plural(rendered_files, "file"), rendered.top_directories());
        notices.note(format_args!("{files} that hcoplan rendered, left out: {tops}"));
    }
    Ok(out)
}

/// The objects of a file, without those of hcoplan and kustomize, nodes, and documents at the given locations.
fn manifests_of(file: &SourceFile, left_out: &[u32]) -> Result<String, Failure> {
    let mut out = String::new();
    for chunk in yaml::split(file.text()) {
        let span = match chunk {
            Chunk::Text(span) => span,
            Chunk::BadSeparator(span) => return Err(no_manifest(file, span.start)),
        };
        let piece = file.text().get(span.range()).unwrap_or_default();
        let mut places = left_out.iter();
        match places.find(|at| (span.start..span.end).contains(*at)) {
            None => append(piece, file, span.start, &mut out)?,
            Some(at) => alone(piece, file, *at)?,
        }
    }
    Ok(out)
}

/// All files below the current directory, sorted. A file named like a manifest that can't be read is an error.
fn files() -> Result<Vec<Utf8PathBuf>, Failure> {
    let walk = WalkBuilder::new(".").standard_filters(false).filter_entry(|e| e.file_name() != ".git").build();
    let mut out = Vec::new();
    for entry in walk {
        let failed = |e| Failure::Read("the application's path".to_owned(), e);
        let entry = entry.map_err(|e| failed(std::io::Error::other(e)))?;
        if entry.file_type().is_some_and(|t| t.is_dir()) {
            continue;
        }
        let shown = entry.path().to_string_lossy();
        let name = Utf8Path::new(shown.strip_prefix("./").unwrap_or(&shown));
        let reject = |why| Err(repo::Error::File(name.to_owned(), why).into());
        match Utf8Path::from_path(entry.path()) {
            Some(_) if entry.path().is_file() => out.push(name.to_owned()),
            _ if !is_candidate(name) => {}
            None => return reject(Unreadable::Name),
            Some(_) if entry.path().is_dir() => return reject(Unreadable::Directory),
            Some(_) if !entry.path().exists() => return reject(Unreadable::BrokenLink),
            Some(_) => return reject(Unreadable::NotAFile("a socket, a pipe or a device")),
        }
    }
    out.sort_unstable();
    Ok(out)
}

/// Fails if omitting an object would also omit others.
fn alone(piece: &str, file: &SourceFile, at: u32) -> Result<(), Failure> {
    let parsed = yaml::parse(&SourceFile::new(file.path(), piece));
    if parsed.documents.iter().all(|d| d.root.get("items").is_none()) {
        return Ok(());
    }
    Err(Failure::usage(
        format!("{}:{}: a list holds an object that the operators own", file.path(), file.position(at)),
        "take it out of the list, or out of the repository",
    ))
}

fn append(piece: &str, file: &SourceFile, offset: u32, out: &mut String) -> Result<(), Failure> {
    let parsed = yaml::parse(&SourceFile::new(file.path(), piece));
    if let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) {
        return Err(no_manifest(file, offset + problem.span.start));
    }
    let mut passed = false;
    for document in &parsed.documents {
        let root = &document.root;
        let passes =
            if is_kustomization(file.path()) && root.get("apiVersion").is_none() { Some(false) } else { passes(root) };
        let Some(passes) = passes else {
            return Err(Failure::Unreadable(format!(
                "{}:{}: this has no apiVersion or no kind that is text, and left out it would be \
                 deleted from the cluster",
                file.path(),
                file.position(offset + root.span.start)
            )));
        };
        passed |= passes;
    }
    if !passed {
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

/// Whether a document is an object to apply; `None` if it looks like one but isn't. A file with another name is data of
/// another program, such as Helm's values.
fn passes(root: &Node) -> Option<bool> {
    let (version, kind) = match (root.get("apiVersion"), root.get("kind")) {
        // A document with a name and a spec is meant to be an object.
        (None, None) => {
            let named = root.below("metadata.name").is_some() && root.get("spec").is_some();
            return (!named).then_some(false);
        }
        (version, kind) => (version?.as_str()?, kind?.as_str()?),
    };
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let items = root.get("items").map(Node::items);
    match (group, kind) {
        ("hcoplan.dev" | "kustomize.config.k8s.io", _) | ("", "Node" | "NodeList") => Some(false),
        // Items of a typed list may omit their kind.
        ("", "List") => {
            let passes: Option<Vec<bool>> = items?.iter().map(passes).collect();
            Some(passes?.contains(&true))
        }
        _ => Some(true),
    }
}

fn no_manifest(file: &SourceFile, at: u32) -> Failure {
    let (path, at) = (file.path(), file.position(at));
    Failure::Unreadable(format!("{path}:{at}: this isn't YAML, and left out it would be deleted from the cluster"))
}
