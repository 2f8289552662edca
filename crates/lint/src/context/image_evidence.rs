//! Evidence about images from files, without asking a registry; `image_output.rs` lists the formats.
//!
//! The files are read once, when a rule first needs them. An image is also looked up under its mirrors' names
//! (`image_mirrors.rs`), because the mirror's image is pulled.

use super::Context;
use super::build_output::{built, built_by};
use super::image_mirrors::Mirrors;
use super::image_output::{
    EvidenceOwner, Form, Platform, Record, called, collected, plain, platform_of, repository, saved, tag,
    without_transport,
};
use super::prelude::*;
use hcoplan_planner::boot::Architectures;

/// The evidence about an image.
#[derive(Debug, Clone)]
pub struct ImageEvidence {
    /// Its form.
    pub form: Form,
    /// Its platforms without variants, sorted.
    pub platforms: Vec<Platform>,
    /// The architectures of its Linux images, sorted.
    pub architectures: Vec<String>,
    place: Location,
}

impl ImageEvidence {
    /// The location of the evidence.
    pub fn place(&self) -> Location {
        self.place.clone()
    }

    /// Whether missing platforms are known, too. A plain `skopeo inspect` or `docker inspect` shows one image of a
    /// possible list.
    pub fn is_complete(&self) -> bool {
        match self.form {
            Form::List | Form::Declared | Form::Built | Form::Legacy => true,
            Form::Single => !self.platforms.is_empty(),
            Form::One => false,
        }
    }

    /// Whether the image was inspected or its architectures declared; several builds may publish one image.
    pub fn is_certain(&self) -> bool {
        self.form != Form::Built
    }

    /// Whether it has one architecture, which isn't known.
    pub fn is_one_unknown(&self) -> bool {
        self.form == Form::Single && self.platforms.is_empty()
    }

    /// Its architectures, if these are all, or all that a guest may get.
    pub fn known_for(&self, guest: &Architectures) -> Architectures {
        let own: BTreeSet<String> = self.architectures.iter().cloned().collect();
        let has_all = matches!(guest, Architectures::Known(names) if !names.is_empty() && names.is_subset(&own));
        match self.form {
            _ if has_all || self.is_complete() && self.is_certain() => Architectures::Known(own),
            Form::Built => Architectures::Built(own),
            _ => Architectures::Unknown,
        }
    }

    /// Whether it is known to lack an architecture of Linux.
    pub fn lacks(&self, architecture: &str) -> bool {
        self.lacks_platform("linux", architecture)
    }

    /// Whether it is known to lack a platform.
    pub fn lacks_platform(&self, os: &str, architecture: &str) -> bool {
        self.is_complete() && !self.platforms.iter().any(|p| p.os == os && p.architecture == architecture)
    }
}

/// The evidence about all images in a cluster's directory.
#[derive(Debug, Default)]
pub(super) struct EvidenceIndex {
    records: Vec<Record>,
    mirrors: Mirrors,
}

impl Context<'_> {
    /// The evidence about an image, given with or without `docker://`: saved data, else the platforms published by builds
    /// and copies in the repository. `None` if there is none, or it is contradictory.
    pub fn image_evidence(&self, image: &str) -> Option<ImageEvidence> {
        let own = without_transport(image).strip_prefix("image-registry.openshift-image-registry.svc:5000/");
        let of_stream =
            own.and_then(|own| own.split_once('/')).and_then(|(namespace, name)| self.stream_evidence(namespace, name));
        of_stream.or_else(|| self.images_index().find(image))
    }

    /// The evidence about those of some images whose missing platforms are known.
    pub(super) fn complete_evidence<'i, I>(
        &self,
        images: impl IntoIterator<Item = (I, &'i str)>,
    ) -> Vec<(I, ImageEvidence)> {
        let known = images.into_iter().filter_map(|(of, image)| Some((of, self.image_evidence(image)?)));
        known.filter(|(_, evidence)| evidence.is_complete()).collect()
    }

    /// The evidence about the image of a `source` of a DataVolume or DataImportCron in a namespace.
    pub fn source_evidence(&self, source: &Value, namespace: &str) -> Option<ImageEvidence> {
        let registry = &source["registry"];
        match registry["url"].as_str() {
            Some(url) => self.image_evidence(url),
            None => self.stream_evidence(namespace, registry["imageStream"].as_str()?),
        }
    }

    /// The evidence about a tag of a declared image stream, given as `name` or `name:tag`.
    ///
    /// Source: openshift/api `image/v1/types.go`: with `importMode: Legacy`, the default, the tag keeps one image of a
    /// manifest list, the control plane's if the list has it. CDI `pkg/controller/dataimportcron-controller.go`
    /// (`getImageStreamDigest`): without a tag, the stream's first.
    fn stream_evidence(&self, namespace: &str, image: &str) -> Option<ImageEvidence> {
        let (name, tag) = image.split_once(':').map_or((image, None), |(name, tag)| (name, Some(tag)));
        let stream = self.named("ImageStream", Some(namespace), name)?;
        let named = |name: Option<&str>| {
            stream.root.list_at("spec.tags").iter().find(move |item| name.is_none() || item.text_at("name") == name)
        };
        let tag = named(tag)?;
        // A tag that follows another one of its stream has the same image.
        let is_other = tag.text_at("from.kind") == Some("ImageStreamTag");
        let tag = if is_other { named(tag.text_at("from.name"))? } else { tag };
        let from = tag.text_at("from.name")?;
        let is_image = tag.text_at("from.kind") == Some("DockerImage");
        let of_list = is_image.then(|| self.images_index().find(from))?;
        let mode = tag.below("importPolicy.importMode");
        if mode.and_then(Node::as_str) == Some("PreserveOriginal") {
            return of_list;
        }
        if of_list.as_ref().is_some_and(|list| list.is_complete() && list.platforms.len() < 2) {
            return of_list;
        }
        let [own] = self.topology().control_plane_architectures.as_slice() else {
            return None;
        };
        let is_in_list = of_list.is_none_or(|list| !list.lacks(own));
        is_in_list.then(|| ImageEvidence {
            form: Form::Legacy,
            platforms: vec![platform_of("linux", own)],
            architectures: vec![own.clone()],
            place: stream.location(mode.unwrap_or(tag).span),
        })
    }

    /// Whether there is evidence about any image.
    pub fn has_image_evidence(&self) -> bool {
        self.images_index().records.iter().any(|record| record.form != Form::Built)
    }

    /// The location of the mirror setting that prevents pulling an image from its own registry.
    pub fn sealed_source(&self, image: &str) -> Option<Location> {
        let image = without_transport(image);
        self.images_index().mirrors.sealed(image).cloned()
    }

    /// The location of oc-mirror's list of images, for an image that is pulled only from a mirror and isn't listed.
    pub fn not_mirrored(&self, image: &str) -> Option<Location> {
        let image = without_transport(image);
        self.images_index().mirrors.not_copied(image).cloned()
    }

    fn images_index(&self) -> &EvidenceIndex {
        let index = || EvidenceIndex::of(self.other_objects(), self.texts());
        self.known.evidence.get_or_init(index)
    }
}

impl EvidenceIndex {
    fn of(other_objects: &OtherObjects, texts: &[Arc<SourceFile>]) -> Self {
        let mut records = Vec::new();
        for kind in ["ImageArchitectures", "PipelineRun", "Pipeline", ""] {
            for document in other_objects.of_kind(kind) {
                if kind.is_empty() {
                    saved(document, &mut records);
                }
                collected(document, &mut records);
                built_by(document, &mut records);
            }
        }
        for file in texts {
            built(file, &mut records);
        }
        Self { records, mirrors: Mirrors::of(other_objects) }
    }

    fn find(&self, image: &str) -> Option<ImageEvidence> {
        let image = without_transport(image);
        let references = self.mirrors.references(image);
        references.iter().find_map(|r| self.about(r))
    }

    /// The combined evidence of the records for one reference.
    fn about(&self, image: &str) -> Option<ImageEvidence> {
        let spellings = spellings(image);
        let all: Vec<&Record> = self.records.iter().filter(|r| r.is_of(image, &spellings)).collect();
        let first = |form: Form| all.iter().find(|r| r.form == form).copied();
        let of_all = |form: Form| {
            let alike = all.iter().filter(|r| r.form == form);
            alike.flat_map(|r| r.platforms.clone()).collect::<Vec<_>>()
        };
        let record = [Form::List, Form::Single, Form::Declared, Form::Built, Form::One].into_iter().find_map(first)?;
        let platforms = distinct(match record.form {
            // Each adds platforms.
            Form::One | Form::Built => of_all(record.form),
            // Use the platform of the declaration, the plain output or the build, if it is unique.
            Form::Single if record.platforms.is_empty() => {
                let mut said = [Form::Declared, Form::One, Form::Built].map(of_all).into_iter();
                let mut said = said.find(|said| !said.is_empty()).unwrap_or_default();
                said.dedup();
                if said.len() == 1 { said } else { Vec::new() }
            }
            _ => record.platforms.clone(),
        });
        let linux = platforms.iter().filter(|p| p.os == "linux");
        Some(ImageEvidence {
            form: record.form,
            architectures: linux.map(|p| p.architecture.clone()).collect(),
            platforms,
            place: record.place.clone(),
        })
    }
}

impl Record {
    fn is_of(&self, image: &str, spellings: &[String]) -> bool {
        let asked_for = |file: &str| spellings.iter().any(|image| is_called(file, image));
        match &self.of {
            EvidenceOwner::File(file) => asked_for(file),
            EvidenceOwner::Repository { file, name, digest, tags } => {
                let named = plain(name) == plain(repository(image));
                match image.split_once('@') {
                    Some((_, wanted)) => (asked_for(file) || named) && digest.as_deref() == Some(wanted),
                    None if asked_for(file) => true,
                    None => named && (tags.is_empty() || tags.iter().any(|t| t == tag(image))),
                }
            }
            EvidenceOwner::References(all) => {
                let digest = image.split_once('@').map(|(_, digest)| digest);
                let mut names = all.iter().map(|reference| plain(reference));
                names.any(|name| Some(name) == digest || spellings.iter().any(|own| own == name))
            }
        }
    }
}

/// Whether a path, as written by [`called`], ends in an image's reference.
fn is_called(path: &str, image: &str) -> bool {
    match path.strip_suffix(&called(image)) {
        Some(before) => before.is_empty() || before.ends_with('_'),
        None => false,
    }
}

/// The ways to write a reference, as docker prints it: a tag before a digest is ignored, a missing one is `latest`.
fn spellings(image: &str) -> [String; 2] {
    let name = repository(image);
    let other = match image.split_once('@') {
        Some((_, digest)) => format!("{name}@{digest}"),
        None if image == name => format!("{name}:latest"),
        None => image.strip_suffix(":latest").unwrap_or(image).to_owned(),
    };
    [image, &other].map(|image| plain(image).to_owned())
}

#[cfg(test)]
mod tests {
    use hcoplan_yaml as yaml;

    use super::*;

    /// The index of some files.
    fn index(files: &[(&str, &str)]) -> EvidenceIndex {
        let read = |(path, text): &(&str, &str)| {
            let parsed = yaml::parse(&SourceFile::new(*path, *text));
            parsed.documents.into_iter().map(Arc::new)
        };
        EvidenceIndex::of(&files.iter().flat_map(read).collect(), &[])
    }

    fn show(files: &[(&str, &str)], image: &str) -> String {
        match index(files).find(image) {
            None => "-".to_owned(),
            Some(found) => format!("{:?} {}", found.form, found.architectures.join(" ")).trim_end().to_owned(),
        }
    }

    const LIST: &str = r#"{"schemaVersion": 2, "manifests": [
        {"platform": {"architecture": "amd64", "os": "linux"}},
        {"platform": {"architecture": "amd64", "os": "windows"}},
        {"platform": {"architecture": "arm64", "os": "linux", "variant": "v8"}},
        {"platform": {"architecture": "unknown", "os": "unknown"}}]}"#;

    const RAW: &str = r#"{"schemaVersion": 2, "config": {"digest": "sha256:1"}, "layers": []}"#;

    const SKOPEO: &str = r#"{"Name": "quay.io/a/b", "Digest": "sha256:1", "RepoTags": ["1", "2"],
        "Architecture": "s390x", "Os": "linux"}"#;

    #[test]
    fn a_manifest_list_is_of_the_image_that_its_file_is_called_after() {
        for (path, image, expected) in [
            ("quay.io_a_b_1.json", "quay.io/a/b:1", "List amd64 arm64"),
            ("images/quay.io/a/b:1.json", "quay.io/a/b:1", "List amd64 arm64"),
            ("images/quay.io/a/b/1.json", "quay.io/a/b:1", "List amd64 arm64"),
            ("images/xquay.io/a/b/1.json", "quay.io/a/b:1", "-"),
            ("images/quay.io/a/b/2.json", "quay.io/a/b:1", "-"),
            ("quay.io_a_b_sha256_1.json", "quay.io/a/b@sha256:1", "List amd64 arm64"),
            ("quay.io_a_b_sha256_1.json", "quay.io/a/b:9@sha256:1", "List amd64 arm64"),
            // A missing tag is `latest`, and Docker Hub may be left out.
            ("quay.io_a_b_latest.json", "quay.io/a/b", "List amd64 arm64"),
            ("quay.io_a_b.json", "quay.io/a/b:latest", "List amd64 arm64"),
            ("quay.io_a_b.json", "quay.io/a/b:1", "-"),
            ("docker.io_library_alpine_latest.json", "docker.io/alpine", "List amd64 arm64"),
        ] {
            assert_eq!(show(&[(path, LIST)], image), expected, "{path}");
        }
    }

    #[test]
    fn a_digest_of_a_list_is_one_of_its_images() {
        let list = r#"{"manifests": [
            {"digest": "sha256:a", "platform": {"architecture": "amd64", "os": "linux"}},
            {"digest": "sha256:b", "platform": {"architecture": "arm64", "os": "linux"}}]}"#;
        let verbose = r#"[{"Ref": "x/y:1",
            "Descriptor": {"digest": "sha256:a", "platform": {"architecture": "amd64", "os": "linux"}}}]"#;
        let named = format!("'q.io/x/y:1': {list}");
        for (path, text, image, expected) in [
            ("q.io_x_y_1.json", list, "q.io/x/y@sha256:a", "Single amd64"),
            ("q.io_x_y_1.json", list, "mirror.io/z:1@sha256:b", "Single arm64"),
            ("q.io_x_y_1.json", list, "q.io/x/y@sha256:c", "-"),
            ("a.json", verbose, "x/y@sha256:a", "Single amd64"),
            ("images.yaml", named.as_str(), "q.io/x/y@sha256:b", "Single arm64"),
        ] {
            assert_eq!(show(&[(path, text)], image), expected, "{image}");
        }
    }

    #[test]
    fn other_output_names_its_image() {
        let docker = r#"[{"RepoTags": ["a/b:1"], "Architecture": "arm64"}]"#;
        let verbose = r#"[{"Ref": "docker.io/a/b:1@sha256:1",
            "Descriptor": {"platform": {"architecture": "amd64", "os": "linux"}}}]"#;
        let verbose_single = r#"{"Ref": "docker.io/a/b:1",
            "Descriptor": {"platform": {"architecture": "amd64", "os": "linux"}}}"#;
        let list = "kind: ImageArchitectures\nimages:\n- {image: 'x/y:1', architectures: [arm64]}";
        for (text, image, expected) in [
            (SKOPEO, "quay.io/a/b:2", "One s390x"),
            (SKOPEO, "quay.io/a/b:3", "-"),
            (SKOPEO, "quay.io/a/b@sha256:1", "One s390x"),
            (SKOPEO, "quay.io/a/b@sha256:2", "-"),
            (SKOPEO, "localhost:5000/a/b", "-"),
            (docker, "docker.io/a/b:1", "One arm64"),
            (docker, "docker.io/a/b:2", "-"),
            (verbose, "a/b:1", "List amd64"),
            (verbose_single, "a/b:1", "Single amd64"),
            (list, "x/y:1", "Declared arm64"),
            (list, "docker://x/y:1", "Declared arm64"),
            (list, "x/y:2", "-"),
        ] {
            assert_eq!(show(&[("a.json", text)], image), expected, "{image}");
        }
    }

    #[test]
    fn plain_output_counts_under_the_name_that_was_asked_for() {
        // Through a mirror, skopeo prints the mirror's name and tags.
        for (path, image, expected) in [
            ("images/x.io_a_b_7.json", "x.io/a/b:7", "One s390x"),
            ("images/x.io/a/b:7.json", "x.io/a/b:7", "One s390x"),
            ("images/x.io_a_b_8.json", "x.io/a/b:7", "-"),
            ("x.io_a_b_sha256_1.json", "x.io/a/b@sha256:1", "One s390x"),
            ("x.io_a_b_sha256_2.json", "x.io/a/b@sha256:2", "-"),
        ] {
            assert_eq!(show(&[(path, SKOPEO)], image), expected, "{path}");
        }
    }

    #[test]
    fn a_single_file_proves_nothing_about_the_rest() {
        let one = index(&[("a.json", SKOPEO)]).find("quay.io/a/b:1").expect("there");
        assert!(!one.lacks("amd64"));
        let raw = index(&[("quay.io_a_b_1.json", RAW)]).find("quay.io/a/b:1").expect("there");
        assert!(!raw.lacks("amd64"));
        let list = index(&[("quay.io_a_b_1.json", LIST)]).find("quay.io/a/b:1").expect("there");
        assert!(list.lacks("s390x") && !list.lacks("arm64"));
        assert!(!list.lacks_platform("windows", "amd64"));
        assert!(list.lacks_platform("windows", "arm64"));
    }

    #[test]
    fn several_outputs_about_one_image_are_taken_together() {
        let raw = ("quay.io_a_b_1.json", RAW);
        let arm = SKOPEO.replace("s390x", "arm64");
        let both = [("a.json", SKOPEO), ("b.json", arm.as_str())];
        // A single image with its platform.
        assert_eq!(show(&[raw, ("a.json", SKOPEO)], "quay.io/a/b:1"), "Single s390x");
        assert_eq!(show(&[raw], "quay.io/a/b:1"), "Single");
        let build = "services: {b: {image: 'quay.io/a/b:1', build: {platforms: [linux/arm64]}}}";
        assert_eq!(show(&[raw, ("compose.yaml", build)], "quay.io/a/b:1"), "Single arm64");
        // Two outputs about the same image.
        assert_eq!(show(&both, "quay.io/a/b:1"), "One arm64 s390x");
        // The list is more complete than one of its images.
        let list = ("quay.io_a_b_1.json", LIST);
        assert_eq!(show(&[("a.json", SKOPEO), list], "quay.io/a/b:1"), "List amd64 arm64");
    }

    #[test]
    fn pulls_the_image_of_the_mirror() {
        let set = "kind: ImageTagMirrorSet\nspec:\n  imageTagMirrors:\n  - source: quay.io/a\n    mirrors: \
                   [mirror:5000/x]\n";
        let files = [("set.yaml", set), ("mirror_5000_x_b_1.json", LIST)];
        assert_eq!(show(&files, "quay.io/a/b:1"), "List amd64 arm64");
        assert_eq!(show(&files, "quay.io/aa/b:1"), "-");
    }

    #[test]
    fn builds_say_what_they_publish() {
        for (path, text, image, expected) in [
            (
                "a.sh",
                "docker buildx build --push \\\n  --platform linux/amd64,linux/arm64 -t q.io/a/b:1 .\n",
                "q.io/a/b:1",
                "amd64 arm64",
            ),
            ("a.sh", "# docker build --platform linux/amd64 -t q.io/a/b:1 .\n", "q.io/a/b:1", "-"),
            (
                "a.sh",
                "for a in amd64 s390x; do \\\n buildah bud --manifest q.io/a/b:1 --arch $a; \\\ndone\n\
                 buildah manifest push --all q.io/a/b:1 docker://q.io/a/b:1\n",
                "q.io/a/b:1",
                "amd64 s390x",
            ),
            (
                "a.sh",
                "podman build --platform linux/arm64 -t q.io/a/b:$TAG .\npodman push q.io/a/b:$TAG\n",
                "q.io/a/b:7",
                "arm64",
            ),
            ("a.sh", "podman build --platform linux/arm64 -t q.io/a/b:7 .\npodman run q.io/a/b:7\n", "q.io/a/b:7", "-"),
            ("a.sh", "docker buildx build --push --platform linux/arm64 -t $IMAGE .\n", "q.io/a/b:7", "-"),
            (
                "Makefile",
                "BASE = q.io/a\nVERSION ?= 1\nIMG ?= $(BASE)/b:v$(VERSION)\nexport PLATFORMS := linux/arm64,linux/amd64\n\
                 push:\n\t$(TOOL) buildx build --push --platform=$(PLATFORMS) --tag ${IMG} -f Dockerfile.cross .\n",
                "q.io/a/b:v1",
                "amd64 arm64",
            ),
            (
                "a.sh",
                "IMAGE=\"q.io/a/b:1\"\nARCHS=\"amd64 arm64\"\nfor a in $ARCHS; do\n\
                 buildah bud --manifest=\"$IMAGE\" --arch \"$a\" .\ndone\nbuildah manifest push --all \"$IMAGE\" \"docker://$IMAGE\"\n",
                "q.io/a/b:1",
                "amd64 arm64",
            ),
            // The caller may build for more.
            ("a.sh", "docker buildx build --push --platform linux/amd64,$MORE -t q.io/a/b:1 .\n", "q.io/a/b:1", "-"),
            (
                "a.sh",
                "skopeo --debug --override-arch arm64 copy docker://x.io/a docker://q.io/a/b:1\n",
                "q.io/a/b:1",
                "arm64",
            ),
            ("a.sh", "docker buildx build --push --platform linux/arm64 -t q.io/a/b .\n", "q.io/a/b:latest", "arm64"),
            ("a.sh", "skopeo copy --override-arch arm64 docker://x.io/a docker://q.io/a/b:1\n", "q.io/a/b:1", "arm64"),
            (
                "a.sh",
                "skopeo copy --all --override-arch arm64 docker://x.io/a docker://q.io/a/b:1\n",
                "q.io/a/b:1",
                "-",
            ),
            (
                "a.sh",
                "oc image mirror --filter-by-os='linux/(amd64|s390x)' x.io/a:1=q.io/a/b:1\n",
                "q.io/a/b:1",
                "amd64 s390x",
            ),
            ("a.sh", "crane copy --platform linux/arm64 x.io/a:1 q.io/a/b:1\n", "q.io/a/b:1", "arm64"),
            ("a.sh", "regctl image copy --platform linux/arm64 x.io/a:1 q.io/a/b:1\n", "q.io/a/b:1", "arm64"),
            (
                "a.sh",
                "skopeo sync --override-arch amd64 --src docker --dest docker x.io/z/b:1 q.io/a\n",
                "q.io/a/b:1",
                "amd64",
            ),
            (
                "a.sh",
                "docker pull --platform linux/s390x x.io/z:1\ndocker tag x.io/z:1 q.io/a/b:1\ndocker push q.io/a/b:1\n",
                "q.io/a/b:1",
                "s390x",
            ),
            ("a.sh", "docker pull x.io/z:1\ndocker tag x.io/z:1 q.io/a/b:1\n", "q.io/a/b:1", "-"),
            ("a.sh", "docker pull --platform linux/s390x x.io/z:1\n", "x.io/z:1", "-"),
            (
                "a.sh",
                "buildah build --platform linux/amd64 --manifest b . && buildah manifest push --all b docker://q.io/a/b:1\n",
                "q.io/a/b:1",
                "amd64",
            ),
            (
                "a.sh",
                "push:\n\tpodman push localhost/b q.io/a/b:1\nbuild:\n\tpodman build --arch arm64 -t b .\n",
                "q.io/a/b:1",
                "arm64",
            ),
            (
                "a.sh",
                "docker build --platform linux/amd64 -t q.io/a/b:1-amd .\n\
                 docker build --platform linux/arm64 -t q.io/a/b:1-arm .\n\
                 docker manifest create q.io/a/b:1 --amend q.io/a/b:1-amd --amend q.io/a/b:1-arm\n\
                 docker manifest push q.io/a/b:1\n",
                "q.io/a/b:1",
                "amd64 arm64",
            ),
            (
                "a.sh",
                "podman manifest add --arch arm64 q.io/a/b:1 q.io/a/b:1-arm\n\
                 podman manifest add --arch amd64 q.io/a/b:1 q.io/a/b:1-amd\n",
                "q.io/a/b:1",
                "amd64 arm64",
            ),
            (
                "a.sh",
                "oc adm catalog mirror x.io/z/b:1 q.io/a --index-filter-by-os=linux/arm64\n",
                "q.io/a/b:1",
                "arm64",
            ),
        ] {
            let index = EvidenceIndex::of(&OtherObjects::default(), &[SourceFile::new(path, text)]);
            let found = index.find(image).map_or_else(|| "-".to_owned(), |found| found.architectures.join(" "));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn pipelines_and_lists_say_what_they_publish() {
        for (text, expected) in [
            (
                "jobs: {a: {steps: [{uses: docker/build-push-action@v6, with: {push: '${{ env.PUSH }}', platforms: 'linux/amd64,linux/arm64', tags: 'q.io/a/b:1'}}]}}",
                "amd64 arm64",
            ),
            (
                "jobs: {a: {steps: [{uses: docker/build-push-action@v6, with: {push: false, platforms: linux/amd64, tags: 'q.io/a/b:1'}}]}}",
                "-",
            ),
            (
                "jobs: {a: {steps: [{uses: docker/build-push-action@v6, with: {load: true, platforms: linux/amd64, tags: 'q.io/a/b:1'}}]}}",
                "-",
            ),
            (
                "jobs: {a: {steps: [{uses: redhat-actions/buildah-build@v2, with: {image: q.io/a/b, tags: '1 2', archs: 'arm64'}}]}}",
                "arm64",
            ),
            (
                "kind: PipelineRun\nspec: {params: [{name: build-platforms, value: [linux/x86_64, linux/arm64]}, {name: output-image, value: 'q.io/a/b:1'}]}",
                "amd64 arm64",
            ),
            ("services: {a: {image: 'q.io/a/b:1', build: {platforms: [linux/s390x]}}}", "s390x"),
            ("q.io/a/b:1: {manifests: [{platform: {architecture: arm64, os: linux}}]}", "arm64"),
            ("q.io/a/b:1: [amd64, aarch64]", "amd64 arm64"),
            (
                "images: [{image: 'docker://q.io/a/b:1', manifest: {manifests: [{platform: {architecture: amd64}}]}}]",
                "amd64",
            ),
        ] {
            let found = index(&[("a.yaml", text)]).find("q.io/a/b:1");
            let found = found.map_or_else(|| "-".to_owned(), |found| found.architectures.join(" "));
            assert_eq!(found, expected, "{text}");
        }
    }
}
