//! What is known about images without asking a registry: saved output of skopeo and docker, and
//! lists that somebody wrote.
//!
//! - a document `kind: ImageArchitectures` of `hcoplan.dev`: `images: [{image, architectures}]`
//! - `skopeo inspect --raw` and `docker manifest inspect`: a manifest list, which doesn't say what
//!   image it is of. The file does: its path ends in the reference, with `/`, `:` and `@` as they
//!   are or as `_` (`quay.io/containerdisks/fedora/latest.json`,
//!   `quay.io_containerdisks_fedora_latest.json`).
//! - `skopeo inspect` (`Name` and `Architecture`), `docker manifest inspect -v` (`Ref`) and
//!   `docker inspect` (`RepoTags`, `RepoDigests`), which name the image

use std::sync::Arc;

use super::Context;
use crate::source::Location;
use crate::yaml::{Document, Node, Path};

/// What was found out about an image.
#[derive(Debug, Clone)]
pub struct ImageEvidence<'n> {
    /// The document that says it.
    pub document: &'n Document,
    /// What in it.
    node: &'n Node,
    /// The architectures that the image is there for, sorted.
    pub architectures: Vec<String>,
}

impl ImageEvidence<'_> {
    /// Where it says so.
    pub fn place(&self) -> Location {
        match self.node.entries().first() {
            Some(first) => self.document.location(first.key.span),
            None => self.document.location(self.node.span),
        }
    }
}

impl Context<'_> {
    /// What is known about an image: its reference, with or without `docker://`. `None` where
    /// nothing is, and where what is saved doesn't tell.
    pub fn image_evidence(&self, image: &str) -> Option<ImageEvidence<'_>> {
        let image = image.strip_prefix("docker://").unwrap_or(image);
        let lists = self.neighbours().of_kind("ImageArchitectures").iter();
        let declared = lists.filter_map(|d| declared(d, image));
        let saved = self.neighbours().of_kind("").iter();
        let mut found = declared.chain(saved.filter_map(|d| saved_output(d, image)));
        let mut evidence = found.next()?;
        evidence.architectures.sort();
        evidence.architectures.dedup();
        Some(evidence)
    }
}

fn declared<'n>(document: &'n Arc<Document>, image: &str) -> Option<ImageEvidence<'n>> {
    let images = document.root.at(&Path::dotted("images"))?.items();
    let entry = images.iter().find(|i| string(i, "image") == Some(image))?;
    let architectures = entry.get("architectures")?.items().iter();
    let names = architectures.filter_map(Node::as_str).map(str::to_owned);
    Some(ImageEvidence {
        document,
        node: entry.get("image").unwrap_or(entry),
        architectures: names.collect(),
    })
}

fn saved_output<'n>(document: &'n Arc<Document>, image: &str) -> Option<ImageEvidence<'n>> {
    let root = &document.root;
    let evidence = |node: &'n Node, architectures: Vec<String>| {
        (!architectures.is_empty()).then_some(ImageEvidence {
            document,
            node,
            architectures,
        })
    };
    if let Some(manifests) = root.get("manifests").map(Node::items) {
        if !is_saved_as(document, image) {
            return None;
        }
        return evidence(root, manifests.iter().filter_map(platform).collect());
    }
    if let (Some(name), Some(architecture)) = (string(root, "Name"), string(root, "Architecture")) {
        let same = repository(name) == repository(image) && same_version(root, image);
        return evidence(root, vec![architecture.to_owned()]).filter(|_| same);
    }
    let items = root.items();
    let of_manifests = items.iter().filter(|i| {
        let named = string(i, "Ref").map(|r| r.split('@').next().unwrap_or(r));
        named.is_some_and(|r| plain(r) == plain(image))
    });
    let listed: Vec<String> = of_manifests
        .filter_map(|i| platform(i.get("Descriptor")?))
        .collect();
    if !listed.is_empty() {
        return evidence(root, listed);
    }
    let is_it = |i: &&Node| {
        let names = ["RepoTags", "RepoDigests"].into_iter();
        let mut names = names.filter_map(|k| i.get(k)).flat_map(Node::items);
        names.any(|n| n.as_str().is_some_and(|n| plain(n) == plain(image)))
    };
    let inspected = items.iter().find(is_it)?;
    evidence(
        inspected,
        vec![string(inspected, "Architecture")?.to_owned()],
    )
}

/// The architecture of an entry of a manifest list; attestations have none.
fn platform(entry: &Node) -> Option<String> {
    let platform = entry.get("platform")?;
    let os = string(platform, "os").unwrap_or("linux");
    let architecture = string(platform, "architecture")?;
    (os == "linux" && architecture != "unknown").then(|| architecture.to_owned())
}

/// Whether a file is called like an image.
fn is_saved_as(document: &Document, image: &str) -> bool {
    let plain = |text: &str| text.replace(['/', ':', '@'], "_");
    let path = document.file.path();
    let path = path.with_extension("");
    let (path, image) = (plain(path.as_str()), plain(image));
    match path.strip_suffix(&image) {
        Some(before) => before.is_empty() || before.ends_with('_'),
        None => false,
    }
}

/// Whether `skopeo inspect`, which prints no tag, was about this tag or digest as far as it says.
fn same_version(root: &Node, image: &str) -> bool {
    if let Some((_, digest)) = image.split_once('@') {
        return string(root, "Digest") == Some(digest);
    }
    let tags = root.get("RepoTags").map(Node::items).unwrap_or_default();
    let tag = image.get(repository(image).len() + 1..).unwrap_or("latest");
    tags.is_empty() || tags.iter().any(|t| t.as_str() == Some(tag))
}

/// A reference without its tag and digest.
fn repository(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => image,
    }
}

/// A reference as docker prints it for images of its own registry.
fn plain(image: &str) -> &str {
    let image = image.strip_prefix("docker.io/").unwrap_or(image);
    image.strip_prefix("library/").unwrap_or(image)
}

fn string<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceFile;
    use crate::yaml;

    fn architectures(path: &str, text: &str, image: &str) -> String {
        let parsed = yaml::parse(&SourceFile::new(path, text));
        let document = Arc::new(parsed.documents.into_iter().next().expect("a document"));
        let found = declared(&document, image).or_else(|| saved_output(&document, image));
        found.map_or("-".to_owned(), |e| e.architectures.join(" "))
    }

    const LIST: &str = r#"{"schemaVersion": 2, "manifests": [
        {"platform": {"architecture": "amd64", "os": "linux"}},
        {"platform": {"architecture": "arm64", "os": "linux", "variant": "v8"}},
        {"platform": {"architecture": "unknown", "os": "unknown"}}]}"#;

    #[test]
    fn a_manifest_list_is_of_the_image_that_its_file_is_called_after() {
        for (path, image, expected) in [
            ("quay.io_a_b_1.json", "quay.io/a/b:1", "amd64 arm64"),
            ("images/quay.io/a/b:1.json", "quay.io/a/b:1", "amd64 arm64"),
            ("images/quay.io/a/b/1.json", "quay.io/a/b:1", "amd64 arm64"),
            ("images/xquay.io/a/b/1.json", "quay.io/a/b:1", "-"),
            ("images/quay.io/a/b/2.json", "quay.io/a/b:1", "-"),
        ] {
            assert_eq!(architectures(path, LIST, image), expected, "{path}");
        }
    }

    #[test]
    fn other_output_names_its_image() {
        let skopeo = r#"{"Name": "quay.io/a/b", "Digest": "sha256:1", "RepoTags": ["1", "2"],
            "Architecture": "s390x"}"#;
        let docker = r#"[{"RepoTags": ["a/b:1"], "Architecture": "arm64"}]"#;
        let verbose = r#"[{"Ref": "docker.io/a/b:1@sha256:1",
            "Descriptor": {"platform": {"architecture": "amd64", "os": "linux"}}}]"#;
        let list = "kind: ImageArchitectures\nimages:\n- {image: 'x/y:1', architectures: [arm64]}";
        for (text, image, expected) in [
            (skopeo, "quay.io/a/b:2", "s390x"),
            (skopeo, "quay.io/a/b:3", "-"),
            (skopeo, "quay.io/a/b@sha256:1", "s390x"),
            (skopeo, "quay.io/a/b@sha256:2", "-"),
            (skopeo, "localhost:5000/a/b", "-"),
            (docker, "docker.io/a/b:1", "arm64"),
            (docker, "docker.io/a/b:2", "-"),
            (verbose, "a/b:1", "amd64"),
            (list, "x/y:1", "arm64"),
            (list, "x/y:2", "-"),
        ] {
            assert_eq!(architectures("a.json", text, image), expected, "{image}");
        }
    }
}
