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
use crate::lists::items;

/// The form of the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A manifest list with all platforms.
    List,
    /// The manifest of a single image. A raw one doesn't contain the platform.
    Single,
    /// A declaration.
    Declared,
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
#[derive(Debug, Clone)]
pub(super) enum EvidenceOwner {
    /// The image in the file's name: its path without extension.
    File(String),
    /// A repository, with digest and tags; or the image in the file's name, which may be a mirror's name of the same
    /// image.
    Repository { file: String, name: String, digest: Option<String>, tags: Vec<String> },
    /// These references.
    References(Vec<String>),
}

/// The content of one output.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) of: EvidenceOwner,
    pub(super) form: Form,
    pub(super) platforms: Vec<Platform>,
    pub(super) place: Location,
}

/// Parses hcoplan's own list.
pub(super) fn declared(document: &Arc<Document>, out: &mut Vec<Record>) {
    let images = document.root.get("images");
    for entry in items(images) {
        let (Some(image), Some(architectures)) = (entry.get("image"), entry.get("architectures")) else {
            continue;
        };
        let Some(reference) = image.as_str() else {
            continue;
        };
        let names = architectures.items().iter().filter_map(Node::as_str);
        out.push(Record {
            of: EvidenceOwner::References(vec![reference.trim_start_matches("docker://").to_owned()]),
            form: Form::Declared,
            platforms: names.map(|a| platform_of("linux", a)).collect(),
            place: document.location(image.span),
        });
    }
}

/// Parses a list of outputs: `images.yaml`, by reference or as `images: [{image, ...}]`.
pub(super) fn collected(document: &Arc<Document>, out: &mut Vec<Record>) {
    let root = &document.root;
    let items = root.list_at("images").iter();
    let listed = items.filter_map(|item| {
        let of = item.text_at("image").or_else(|| item.text_at("name"))?;
        Some((of, ["manifest", "inspect", "raw"].iter().find_map(|key| item.get(key)).unwrap_or(item), item.span))
    });
    let named = root.entries().iter().filter(|entry| entry.key.text.contains('/'));
    let named = named.map(|entry| (entry.key.text.as_str(), &entry.value, entry.key.span));
    for (reference, output, span) in listed.chain(named) {
        let names =
            |key: &str| output.get(key).map(Node::items).map(|all| all.iter().filter_map(Node::as_str).collect());
        let declared: Option<Vec<&str>> = names("architectures").or_else(|| names("platforms"));
        let declared = declared.or_else(|| {
            let plain: Vec<&str> = output.items().iter().filter_map(Node::as_str).collect();
            (!plain.is_empty()).then_some(plain)
        });
        let (form, platforms) = if let Some(manifests) = output.get("manifests") {
            (Form::List, manifests.items().iter().filter_map(platform).collect())
        } else if let Some(names) = declared {
            let name = |n: &&str| platform_of("linux", n.trim_start_matches("linux/").split('/').next().unwrap_or(n));
            (Form::Declared, names.iter().map(name).collect())
        } else if let Some(architecture) = output.text_at("Architecture").or_else(|| output.text_at("architecture")) {
            (Form::One, vec![platform_of("linux", architecture)])
        } else if output.get("layers").is_some() {
            (Form::Single, Vec::new())
        } else {
            continue;
        };
        let of = EvidenceOwner::References(vec![reference.trim_start_matches("docker://").to_owned()]);
        out.push(Record { of, form, platforms, place: document.location(span) });
    }
}

/// Parses a document without a kind, if it is one of those outputs.
pub(super) fn saved(document: &Arc<Document>, out: &mut Vec<Record>) {
    let root = &document.root;
    let file = || called(document.file.path().with_extension("").as_str());
    let of_file = || EvidenceOwner::File(file());
    let mut add = |of: EvidenceOwner, form: Form, platforms: Vec<Platform>, node: &Node| {
        // The first key, since an excerpt of the whole document doesn't help.
        let place = node.entries().first().map_or(node.span, |e| e.key.span);
        out.push(Record { of, form, platforms, place: document.location(place) });
    };
    if let Some(manifests) = root.get("manifests") {
        let platforms = manifests.items().iter().filter_map(platform).collect();
        return add(of_file(), Form::List, platforms, root);
    }
    if root.get("layers").is_some() && root.get("config").is_some() {
        return add(of_file(), Form::Single, Vec::new(), root);
    }
    if let (Some(name), Some(architecture)) = (root.text_at("Name"), root.text_at("Architecture")) {
        let tags = root.list_at("RepoTags");
        let of = EvidenceOwner::Repository {
            file: file(),
            name: name.to_owned(),
            digest: root.text_at("Digest").map(str::to_owned),
            tags: tags.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
        };
        let os = root.text_at("Os").unwrap_or("linux");
        return add(of, Form::One, vec![platform_of(os, architecture)], root);
    }
    if let Some(reference) = root.text_at("Ref") {
        let platforms = root.get("Descriptor").and_then(platform);
        let of = EvidenceOwner::References(vec![undigested(reference)]);
        return add(of, Form::Single, platforms.into_iter().collect(), root);
    }
    let items = root.items();
    if items.iter().any(|i| i.get("Ref").is_some()) {
        let references = items.iter().filter_map(|i| i.text_at("Ref")).map(undigested);
        let platforms = items.iter().filter_map(|i| platform(i.get("Descriptor")?));
        let of = EvidenceOwner::References(references.collect());
        return add(of, Form::List, platforms.collect(), root);
    }
    for item in items {
        let names = ["RepoTags", "RepoDigests"].into_iter();
        let names = names.filter_map(|k| item.get(k)).flat_map(Node::items);
        let names: Vec<String> = names.filter_map(Node::as_str).map(str::to_owned).collect();
        let Some(architecture) = item.text_at("Architecture").filter(|_| !names.is_empty()) else {
            continue;
        };
        let os = item.text_at("Os").unwrap_or("linux");
        let platforms = vec![platform_of(os, architecture)];
        add(EvidenceOwner::References(names), Form::One, platforms, item);
    }
}

fn platform_of(os: &str, architecture: &str) -> Platform {
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

/// A reference without its digest.
fn undigested(image: &str) -> String {
    image.split('@').next().unwrap_or(image).to_owned()
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
    let image = image.split('@').next().unwrap_or(image);
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => image,
    }
}
