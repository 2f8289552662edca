//! Operators' bundles: their ClusterServiceVersions, and everything else that becomes pods.
//!
//! Source: OLM's documentation on operators for several architectures, and the multiarch validator of
//! operator-framework/api (`pkg/validation/internal/multiarch.go`). The rules of this group are its offline equivalent;
//! `testdata/bundles/table.txt` compares the two verdicts.

use std::collections::BTreeSet;
use std::sync::Arc;

use hcoplan_diagnostics::source::Location;
use hcoplan_repository::repo::OtherObjects;
use hcoplan_yaml::{Document, Node, Path};

use super::pod_templates::{POD_KINDS, PodTemplate};
use super::{Context, ImageEvidence};

/// What a CSV's labels begin with that say which architectures the operator supports.
const ARCHITECTURE_LABEL: &str = "operatorframework.io/arch.";
/// The same for operating systems.
const OS_LABEL: &str = "operatorframework.io/os.";

/// Where a bundle says which package it is of.
const PACKAGE: &str = "operators.operatorframework.io.bundle.package.v1";

/// Where the deployments of a CSV are.
const DEPLOYMENTS: &str = "spec.install.spec.deployments";

/// What begins like this is the reference of an operand's image in an operator's environment.
const RELATED_IMAGE: &str = "RELATED_IMAGE_";

/// The bundles and workloads of a cluster's directory.
#[derive(Debug, Default)]
pub(super) struct Bundles {
    csvs: Vec<Csv>,
    pods: Vec<PodTemplate>,
}

/// A ClusterServiceVersion.
#[derive(Debug, Clone)]
pub struct Csv {
    /// The document.
    pub document: Arc<Document>,
    /// The package that its bundle declares.
    package: Option<String>,
    /// Its deployments.
    pub deployments: Vec<PodTemplate>,
}

/// The platforms that a CSV's labels claim to support.
#[derive(Debug, Clone)]
pub struct SupportedPlatforms<'n> {
    /// Architectures with their labels' keys; without labels it is `amd64`, and no key.
    pub architectures: Vec<(&'n str, Option<Location>)>,
    /// The same of operating systems: `linux` without labels.
    pub systems: Vec<(&'n str, Option<Location>)>,
}

/// What an image is in a CSV for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsedAs {
    /// A container of a deployment runs it: its index.
    Container(usize),
    /// It is listed in `spec.relatedImages`, or named in the operator's environment.
    Related,
}

/// An image that a CSV names.
#[derive(Debug, Clone)]
pub struct ImageUse<'n> {
    /// The reference.
    pub image: &'n str,
    /// Where it is named.
    pub path: Path,
    /// What for.
    pub used: UsedAs,
}

impl Context<'_> {
    /// The repository's ClusterServiceVersions.
    pub fn csvs(&self) -> &[Csv] {
        &self.bundles().csvs
    }

    /// Everything that becomes pods: the deployments of CSVs, then workloads of every kind.
    pub fn pod_templates(&self) -> impl Iterator<Item = &PodTemplate> {
        let bundles = self.bundles();
        let deployments = bundles.csvs.iter().flat_map(|c| &c.deployments);
        deployments.chain(&bundles.pods)
    }

    /// The repository's OLM Subscriptions, of any operator.
    pub fn all_subscriptions(&self) -> impl Iterator<Item = &Arc<Document>> {
        subscriptions(self.other_objects())
    }

    /// The CSV that a Subscription installs, as far as it is here.
    pub fn csv_of(&self, subscription: &Document) -> Option<&Csv> {
        self.csvs().iter().find(|c| c.is_installed_by(subscription))
    }

    fn bundles(&self) -> &Bundles {
        self.bundles.get_or_init(|| Bundles::of(self.other_objects()))
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
        let workloads = POD_KINDS.into_iter().flat_map(|(kind, groups, spec)| {
            let documents = other_objects.of_kind(kind).iter();
            let ours = documents.filter(|d| {
                let version = d.text("apiVersion");
                groups.iter().any(|g| version.starts_with(g))
            });
            ours.map(move |document| PodTemplate {
                document: Arc::clone(document),
                spec: Path::dotted(spec),
                called: format!("{kind} {}", document.text("metadata.name")),
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
        let items = document.root.at(&path).map(Node::items).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            let name = item.get("name").and_then(Node::as_str).unwrap_or_default();
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
        self.document.text("metadata.name")
    }

    /// Whether a Subscription installs it: it names it, or the package that its bundle or its own
    /// name says.
    fn is_installed_by(&self, subscription: &Document) -> bool {
        let (starting, wanted) = (subscription.text("spec.startingCSV"), subscription.text("spec.name"));
        let own = self.name().split_once(".v").map(|(name, _)| name);
        (!starting.is_empty() && starting == self.name())
            || match &self.package {
                Some(package) => package == wanted,
                None => own.is_some_and(|own| own == wanted),
            }
    }

    /// The platforms that its labels claim.
    ///
    /// Source: OLM: without a label of either sort it counts as `amd64` and `linux`; a label with another value than
    /// `supported` is ignored.
    pub fn claimed(&self) -> SupportedPlatforms<'_> {
        let labels = self.document.root.below("metadata.labels");
        let entries = labels.map(Node::entries).unwrap_or_default();
        let of = |prefix: &str, default: &'static str| {
            let all = entries.iter().filter(|e| e.value.as_str() == Some("supported"));
            let named = all.filter_map(|e| {
                let name = e.key.text.strip_prefix(prefix)?;
                Some((name, Some(self.document.location(e.key.span))))
            });
            let named: Vec<_> = named.collect();
            if named.is_empty() { vec![(default, None)] } else { named }
        };
        SupportedPlatforms { architectures: of(ARCHITECTURE_LABEL, "amd64"), systems: of(OS_LABEL, "linux") }
    }

    /// The path of the label for an architecture.
    pub fn architecture_label(architecture: &str) -> Path {
        let labels = Path::dotted("metadata.labels");
        labels.key(&format!("{ARCHITECTURE_LABEL}{architecture}"))
    }

    /// The path of the label for an operating system.
    pub fn os_label(os: &str) -> Path {
        Path::dotted("metadata.labels").key(&format!("{OS_LABEL}{os}"))
    }

    /// Every image that it names, each once: those that deployments run first.
    pub fn images(&self) -> Vec<ImageUse<'_>> {
        let mut seen = BTreeSet::new();
        let run = self.deployments.iter().enumerate().flat_map(|(index, pod)| {
            let images = pod.images().into_iter();
            images.map(move |(path, image)| ImageUse { image, path, used: UsedAs::Container(index) })
        });
        let all = run.chain(self.related()).chain(self.environment());
        all.filter(|u| seen.insert(u.image)).collect()
    }

    fn related(&self) -> impl Iterator<Item = ImageUse<'_>> {
        let path = Path::dotted("spec.relatedImages");
        let items = self.document.root.at(&path).map(Node::items);
        let items = items.unwrap_or_default().iter().enumerate();
        items.filter_map(move |(index, item)| {
            let image = item.get("image")?.as_str().filter(|i| !i.is_empty())?;
            Some(ImageUse { image, path: path.index(index).key("image"), used: UsedAs::Related })
        })
    }

    /// The images in the operator's environment variables.
    fn environment(&self) -> impl Iterator<Item = ImageUse<'_>> {
        let containers = self.deployments.iter().flat_map(|pod| {
            let items = pod.get("containers").map(Node::items).unwrap_or_default();
            let path = pod.path("containers");
            items.iter().enumerate().map(move |(i, c)| (path.index(i).key("env"), c))
        });
        containers.flat_map(|(path, container)| {
            let variables = container.get("env").map(Node::items).unwrap_or_default();
            variables.iter().enumerate().filter_map(move |(i, v)| {
                let text = |key: &str| v.get(key).and_then(Node::as_str);
                let image = text("value").filter(|v| !v.is_empty())?;
                text("name")?.starts_with(RELATED_IMAGE).then(|| ImageUse {
                    image,
                    path: path.index(i).key("value"),
                    used: UsedAs::Related,
                })
            })
        })
    }

    /// What is known of each image that its deployments run, as far as it is known what they lack.
    pub fn run_images(&self, cx: &Context<'_>) -> Vec<(ImageUse<'_>, ImageEvidence)> {
        let run = self.images().into_iter().filter(|u| u.used != UsedAs::Related);
        let known = run.filter_map(|u| {
            let evidence = cx.image_evidence(u.image)?;
            evidence.is_complete().then_some((u, evidence))
        });
        known.collect()
    }

    /// Whether it is known what each image that its deployments run lacks.
    pub fn is_known(&self, cx: &Context<'_>) -> bool {
        let images = self.images();
        let mut run = images.iter().filter(|u| u.used != UsedAs::Related).peekable();
        let known = |u: &ImageUse<'_>| cx.image_evidence(u.image).is_some_and(|e| e.is_complete());
        run.peek().is_some() && run.all(known)
    }

    /// The claimed architectures that none of the images that its deployments run is there for,
    /// where everything is known about them: a label is wrong, not an image.
    pub fn overclaimed(&self, cx: &Context<'_>) -> Vec<(&str, Option<Location>)> {
        if !self.is_known(cx) {
            return Vec::new();
        }
        let claimed = self.claimed();
        let known = self.run_images(cx);
        let nowhere = |a: &str| {
            known.iter().all(|(_, e)| {
                let mut systems = claimed.systems.iter();
                systems.all(|(os, _)| e.lacks_platform(os, a))
            })
        };
        let all = claimed.architectures.iter();
        all.filter(|(a, _)| nowhere(a)).cloned().collect()
    }
}

/// The package that the bundle of a CSV is of, by the `metadata/annotations.yaml` beside its
/// directory.
fn package(document: &Document, other_objects: &OtherObjects) -> Option<String> {
    let bundle = document.file.path().parent()?.parent()?;
    let file = bundle.join("metadata/annotations.yaml");
    let mut others = other_objects.of_kind("").iter();
    let annotations = others.find(|d| d.file.path() == file)?;
    let path = Path::root().key("annotations").key(PACKAGE);
    Some(annotations.root.at(&path)?.as_str()?.to_owned())
}
