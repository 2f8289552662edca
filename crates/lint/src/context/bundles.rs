//! Operators' bundles: ClusterServiceVersions and other objects that create pods.
//!
//! Source: OLM's documentation on operators for several architectures, and the multiarch validator of
//! operator-framework/api (`pkg/validation/internal/multiarch.go`). The rules of this group are its offline equivalent;
//! `testdata/bundles/table.txt` compares the two verdicts.

use super::pod_templates::{POD_KINDS, POD_TEMPLATE, PodTemplate};
use super::prelude::*;
use super::{Context, ImageEvidence};

/// Annotation of a bundle with its package.
const PACKAGE: &str = "operators.operatorframework.io.bundle.package.v1";

/// Path of a CSV's deployments.
const DEPLOYMENTS: &str = "spec.install.spec.deployments";

/// Prefix of an operator's environment variables with images of operands.
const RELATED_IMAGE: &str = "RELATED_IMAGE_";

/// The bundles and workloads of a cluster's directory.
#[derive(Debug, Default)]
pub(super) struct Bundles {
    csvs: Vec<Csv>,
    pods: Vec<PodTemplate>,
}

/// A ClusterServiceVersion.
#[derive(Debug)]
pub struct Csv {
    /// The document.
    pub document: Arc<Document>,
    /// The package declared by its bundle.
    package: Option<String>,
    /// Its deployments.
    pub deployments: Vec<PodTemplate>,
}

/// What a CSV's label claims to support, and its location; without labels it is the default without location.
type Claim<'n> = (&'n str, Option<Location>);

/// An image in a CSV.
#[derive(Debug, Clone)]
pub struct ImageUse<'n> {
    /// The reference.
    pub image: &'n str,
    /// The path of the reference.
    pub path: Path,
    /// Whether a deployment's container runs it; else it is in `spec.relatedImages` or in the operator's environment.
    pub is_run: bool,
}

impl Context<'_> {
    /// The repository's ClusterServiceVersions.
    pub fn csvs(&self) -> &[Csv] {
        &self.bundles().csvs
    }

    /// All pod templates: deployments of CSVs, then workloads of every kind.
    pub fn pod_templates(&self) -> impl Iterator<Item = &PodTemplate> {
        let bundles = self.bundles();
        let deployments = bundles.csvs.iter().flat_map(|c| &c.deployments);
        deployments.chain(&bundles.pods)
    }

    /// The repository's OLM Subscriptions, of any operator.
    pub fn all_subscriptions(&self) -> impl Iterator<Item = &Arc<Document>> {
        subscriptions(self.other_objects())
    }

    fn bundles(&self) -> &Bundles {
        self.known.bundles.get_or_init(|| Bundles::of(self.other_objects()))
    }
}

fn subscriptions(other_objects: &OtherObjects) -> impl Iterator<Item = &Arc<Document>> {
    let all = other_objects.of_kind("Subscription").iter();
    all.filter(|d| d.text("apiVersion").starts_with("operators.coreos.com/"))
}

impl Bundles {
    fn of(other_objects: &OtherObjects) -> Self {
        let csvs = other_objects.of_kind("ClusterServiceVersion").iter();
        let csvs = csvs.map(|document| Csv::of(document, other_objects));
        let workloads = other_objects.kinds().flat_map(|kind| {
            let spec = POD_KINDS.iter().find(|(own, _)| *own == kind).map_or(POD_TEMPLATE, |(_, spec)| *spec);
            let documents = other_objects.of_kind(kind).iter();
            let ours = documents.filter(move |d| {
                let containers = d.root.below(spec).and_then(|spec| spec.get("containers"));
                containers.is_some_and(|list| !list.items().is_empty())
            });
            ours.map(move |document| PodTemplate {
                document: Arc::clone(document),
                spec: Path::dotted(spec),
                called: format!("{kind} {}", name_of(document)),
                in_bundle: false,
                overridden: None,
            })
        });
        Self { csvs: csvs.collect(), pods: workloads.collect() }
    }
}

impl Csv {
    fn of(document: &Arc<Document>, other_objects: &OtherObjects) -> Self {
        let mut out =
            Self { document: Arc::clone(document), package: package(document, other_objects), deployments: Vec::new() };
        let mut subscriptions = subscriptions(other_objects);
        let installs = subscriptions.find(|s| out.is_installed_by(s));
        let config = installs.and_then(|s| s.root.below("spec.config"));
        let config = config.map(Node::to_json);
        let path = Path::dotted(DEPLOYMENTS);
        let items = items(document.root.at(&path));
        for (index, item) in items.iter().enumerate() {
            let name = item.text_at("name").unwrap_or_default();
            out.deployments.push(PodTemplate {
                document: Arc::clone(document),
                spec: path.index(index).key("spec").key("template").key("spec"),
                called: format!("the deployment {name} of the operator {}", out.name()),
                in_bundle: true,
                overridden: config.clone(),
            });
        }
        out
    }

    /// `metadata.name`: `example.v1.0.0`
    pub fn name(&self) -> &str {
        name_of(&self.document)
    }

    /// Whether a Subscription installs it: by name, or by the package in its bundle or name.
    pub fn is_installed_by(&self, subscription: &Document) -> bool {
        let (starting, wanted) = (subscription.text("spec.startingCSV"), subscription.text("spec.name"));
        let own = self.name().split_once(".v").map(|(name, _)| name);
        (!starting.is_empty() && starting == self.name())
            || match &self.package {
                Some(package) => package == wanted,
                None => own.is_some_and(|own| own == wanted),
            }
    }

    /// The architectures that its labels claim.
    pub fn architectures(&self) -> Vec<Claim<'_>> {
        self.claimed("arch", "amd64")
    }

    /// The operating systems that its labels claim.
    pub fn systems(&self) -> Vec<Claim<'_>> {
        self.claimed("os", "linux")
    }

    /// Source: OLM: without a label of either sort it counts as `amd64` and `linux`; a label with another value than
    /// `supported` is ignored.
    fn claimed(&self, sort: &str, default: &'static str) -> Vec<Claim<'_>> {
        let prefix = platform_label(sort, "");
        let labels = entries(self.document.root.below("metadata.labels")).iter();
        let all = labels.filter(|e| e.value.as_str() == Some("supported"));
        let named = all.filter_map(|e| {
            let name = e.key.text.strip_prefix(&prefix)?;
            Some((name, Some(self.document.location(e.key.span))))
        });
        let named: Vec<_> = named.collect();
        if named.is_empty() { vec![(default, None)] } else { named }
    }

    /// The path of the label for an architecture (`arch`) or an operating system (`os`).
    pub fn label(sort: &str, name: &str) -> Path {
        Path::dotted("metadata.labels").key(&platform_label(sort, name))
    }

    /// The images that it names, once each; those run by deployments first.
    pub fn images(&self) -> Vec<ImageUse<'_>> {
        let mut seen = BTreeSet::new();
        let run = self.deployments.iter().flat_map(PodTemplate::images);
        let run = run.map(|(path, image)| ImageUse { image, path, is_run: true });
        let all = run.chain(self.related()).chain(self.environment());
        all.filter(|u| seen.insert(u.image)).collect()
    }

    fn related(&self) -> impl Iterator<Item = ImageUse<'_>> {
        let path = Path::dotted("spec.relatedImages");
        let items = items(self.document.root.at(&path)).iter().enumerate();
        items.filter_map(move |(index, item)| {
            let image = item.text_at("image").filter(|i| !i.is_empty())?;
            Some(ImageUse { image, path: path.index(index).key("image"), is_run: false })
        })
    }

    /// The images in the operator's environment variables.
    fn environment(&self) -> impl Iterator<Item = ImageUse<'_>> {
        let containers = self.deployments.iter().flat_map(|pod| {
            let items = pod.list("containers");
            let path = pod.path("containers");
            items.iter().enumerate().map(move |(i, c)| (path.index(i).key("env"), c))
        });
        containers.flat_map(|(path, container)| {
            let variables = container.list_at("env");
            variables.iter().enumerate().filter_map(move |(i, v)| {
                let text = |key: &str| v.text_at(key);
                let image = text("value").filter(|v| !v.is_empty())?;
                text("name")?.starts_with(RELATED_IMAGE).then(|| ImageUse {
                    image,
                    path: path.index(i).key("value"),
                    is_run: false,
                })
            })
        })
    }

    /// Its images whose missing platforms are known, with the evidence.
    pub fn known_images(&self, cx: &Context<'_>) -> Vec<(ImageUse<'_>, ImageEvidence)> {
        cx.complete_evidence(self.images().into_iter().map(|used| (used.clone(), used.image)))
    }

    /// The images run by its deployments, with the evidence; none unless the missing platforms of each are known.
    pub fn run_images(&self, cx: &Context<'_>) -> Vec<(ImageUse<'_>, ImageEvidence)> {
        let count = self.images().iter().filter(|used| used.is_run).count();
        let known = self.known_images(cx).into_iter().filter(|(used, _)| used.is_run);
        let known: Vec<_> = known.collect();
        if known.len() == count { known } else { Vec::new() }
    }

    /// The claimed architectures that none of its deployments' images supports, if all evidence is complete: then the
    /// label is wrong.
    pub fn overclaimed(&self, cx: &Context<'_>) -> Vec<Claim<'_>> {
        let (mut architectures, systems) = (self.architectures(), self.systems());
        let known = self.run_images(cx);
        let lacks = |e: &ImageEvidence, a: &str| systems.iter().all(|(os, _)| e.lacks_platform(os, a));
        architectures.retain(|(a, _)| !known.is_empty() && known.iter().all(|(_, e)| lacks(e, a)));
        architectures
    }
}

/// A CSV's label for a supported platform.
fn platform_label(sort: &str, name: &str) -> String {
    format!("operatorframework.io/{sort}.{name}")
}

/// The package of a CSV's bundle, from `metadata/annotations.yaml` next to its directory.
fn package(document: &Document, other_objects: &OtherObjects) -> Option<String> {
    let bundle = document.file.path().parent()?.parent()?;
    let file = bundle.join("metadata/annotations.yaml");
    let mut others = other_objects.of_kind("").iter();
    let annotations = others.find(|d| d.file.path() == file)?;
    let path = Path::root().key("annotations").key(PACKAGE);
    Some(annotations.root.at(&path)?.as_str()?.to_owned())
}
