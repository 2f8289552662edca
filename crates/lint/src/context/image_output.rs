//! Parses saved data about images: output of skopeo and docker, and lists written by hand.
//!
//! - a document `kind: ImageArchitectures` of `hcoplan.dev`: `images: [{image, architectures}]`
//! - `skopeo inspect --raw` and `docker manifest inspect`: a manifest list, or the manifest of a single image. Neither
//!   names its image, but the file does: its path ends in the reference, with `/`, `:` and `@` as they are or as `_`
//!   (`quay.io/containerdisks/fedora/latest.json`, `quay.io_containerdisks_fedora_latest.json`).
//! - an `images.yaml` of such outputs (also of `crane manifest`) by reference: `quay.io/a/b:1: {manifests: [...]}`,
//!   `quay.io/a/b:1: [amd64, arm64]`, or `images: [{image, manifest: {...}}]`
//! - `docker manifest inspect -v` (`Ref`), which names the image, and is a list of entries where the image is one
//! - `skopeo inspect` (`Name` and `Architecture`) and `docker inspect` (`RepoTags`, `RepoDigests`), which name the
//!   image, and show only the requested one of perhaps several architectures

use super::prelude::*;

/// The form of the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A manifest list with all platforms.
    List,
    /// The manifest of a single image. A raw one doesn't contain the platform.
    Single,
    /// A declaration.
    Declared,
    /// An image stream keeps one image of a list.
    Legacy,
    /// A build or copy in the repository publishes these.
    Built,
    /// The output describes one image; others may exist.
    One,
}

/// A platform of an image.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Platform {
    /// `linux`
    pub os: String,
    /// As in Go: `amd64`.
    pub architecture: String,
}

/// The image of the evidence.
#[derive(Debug)]
pub(super) enum EvidenceOwner {
    /// The image in the file's name: its path without extension.
    File(String),
    /// A repository, with digest and tags; or the image in the file's name, which may be a mirror's name of the same
    /// image.
    Repository { file: String, name: String, digest: Option<String>, tags: Vec<String> },
    /// These references; a digest alone is what has it, by any name.
    References(Vec<String>),
}

/// The content of one output.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) of: EvidenceOwner,
    pub(super) form: Form,
    pub(super) platforms: Vec<Platform>,
    pub(super) place: Location,
}

/// The form and the platforms of an output, by its keys; `None` for anything else.
fn output(node: &Node) -> Option<(Form, Vec<Platform>)> {
    let names = ["architectures", "platforms"].iter().find_map(|key| node.get(key)).unwrap_or(node);
    let names: Vec<&str> = strings(names.items()).collect();
    let mut verbose = node.items().iter().filter(|item| item.get("Ref").is_some()).peekable();
    Some(if let Some(manifests) = node.get("manifests") {
        (Form::List, manifests.items().iter().filter_map(platform).collect())
    } else if verbose.peek().is_some() {
        (Form::List, verbose.filter_map(|item| platform(item.get("Descriptor")?)).collect())
    } else if node.get("Ref").is_some() {
        (Form::Single, node.get("Descriptor").and_then(platform).into_iter().collect())
    } else if node.get("architectures").is_some() || !names.is_empty() {
        let name = |n: &str| platform_of("linux", first_part(n.trim_start_matches("linux/"), '/'));
        (Form::Declared, names.into_iter().map(name).collect())
    } else if let Some(architecture) = either(node, ["Architecture", "architecture"]) {
        (Form::One, vec![platform_of(either(node, ["Os", "os"]).unwrap_or("linux"), architecture)])
    } else if node.get("layers").is_some() {
        (Form::Single, Vec::new())
    } else {
        return None;
    })
}

/// The images of a manifest list, by their digests.
fn listed(node: &Node, document: &Arc<Document>, out: &mut Vec<Record>) {
    for item in node.list_at("manifests").iter().chain(node.items()) {
        let item = item.get("Descriptor").unwrap_or(item);
        if let (Some(digest), Some(platform)) = (item.get("digest"), platform(item)) {
            let of = EvidenceOwner::References(digest.as_str().map(str::to_owned).into_iter().collect());
            let place = document.location(digest.span);
            out.push(Record { of, form: Form::Single, platforms: vec![platform], place });
        }
    }
}

fn either<'n>(node: &'n Node, keys: [&str; 2]) -> Option<&'n str> {
    keys.iter().find_map(|key| node.text_at(key))
}

/// Parses a list of outputs: hcoplan's own `ImageArchitectures`, or an `images.yaml` by reference.
pub(super) fn collected(document: &Arc<Document>, out: &mut Vec<Record>) {
    let root = &document.root;
    let items = root.list_at("images").iter();
    let listed = items.filter_map(|item| {
        let of = ["image", "name"].iter().find_map(|key| item.get(key))?;
        let output = ["manifest", "inspect", "raw"].iter().find_map(|key| item.get(key));
        Some((of.as_str()?, output.unwrap_or(item), of.span))
    });
    let named = root.entries().iter().filter(|entry| entry.key.text.contains('/'));
    let named = named.map(|entry| (entry.key.text.as_str(), &entry.value, entry.key.span));
    for (reference, node, span) in listed.chain(named) {
        let of = EvidenceOwner::References(vec![reference.trim_start_matches("docker://").to_owned()]);
        let record = |(form, platforms)| Record { of, form, platforms, place: document.location(span) };
        out.extend(output(node).map(record));
        self::listed(node, document, out);
    }
}

/// Parses a document without a kind, if it is one of those outputs.
pub(super) fn saved(document: &Arc<Document>, out: &mut Vec<Record>) {
    let root = &document.root;
    listed(root, document, out);
    let texts = |node: &Node, key: &str| -> Vec<String> { strings(node.list_at(key)).map(str::to_owned).collect() };
    let mut add = |of: EvidenceOwner, (form, platforms): (Form, Vec<Platform>), node: &Node| {
        // The first key, since an excerpt of the whole document doesn't help.
        let place = node.entries().first().map_or(node.span, |e| e.key.span);
        out.push(Record { of, form, platforms, place: document.location(place) });
    };
    if let Some(found) = output(root).filter(|(form, _)| *form != Form::Declared) {
        let file = called(document.file.path().with_extension("").as_str());
        let references = root.items().iter().chain([root]).filter_map(|item| item.text_at("Ref"));
        // Without digests.
        let references: Vec<String> = references.map(|image| first_part(image, '@').to_owned()).collect();
        let of = match root.text_at("Name") {
            _ if !references.is_empty() => EvidenceOwner::References(references),
            Some(name) => EvidenceOwner::Repository {
                file,
                name: name.to_owned(),
                digest: root.text_at("Digest").map(str::to_owned),
                tags: texts(root, "RepoTags"),
            },
            None => EvidenceOwner::File(file),
        };
        return add(of, found, root);
    }
    for item in root.items() {
        let names = ["RepoTags", "RepoDigests"].map(|key| texts(item, key)).concat();
        if let Some(found) = output(item).filter(|_| !names.is_empty()) {
            add(EvidenceOwner::References(names), found, item);
        }
    }
}

pub(super) fn platform_of(os: &str, architecture: &str) -> Platform {
    let architecture = Architecture::name(architecture).unwrap_or(architecture);
    Platform { os: os.to_owned(), architecture: architecture.to_owned() }
}

/// The platform of an entry of a manifest list; `None` for attestations.
fn platform(entry: &Node) -> Option<Platform> {
    let platform = entry.get("platform")?;
    let os = platform.text_at("os").unwrap_or("linux");
    let architecture = platform.text_at("architecture")?;
    let known = !matches!(architecture, "unknown" | "") && os != "unknown";
    known.then(|| platform_of(os, architecture))
}

/// A path or reference without characters that file names can't have.
pub(super) fn called(text: &str) -> String {
    text.replace(['/', ':', '@'], "_")
}

/// A reference without the transport that skopeo and oc-mirror write before it.
pub(crate) fn without_transport(image: &str) -> &str {
    image.strip_prefix("docker://").unwrap_or(image)
}

pub(super) fn tag(image: &str) -> &str {
    image.get(repository(image).len() + 1..).unwrap_or("latest")
}

/// A reference as docker prints it for images of Docker Hub.
pub(super) fn plain(image: &str) -> &str {
    let image = image.strip_prefix("docker.io/").unwrap_or(image);
    image.strip_prefix("library/").unwrap_or(image)
}

/// A reference without its tag and digest.
pub(super) fn repository(image: &str) -> &str {
    let image = first_part(image, '@');
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => image,
    }
}
