//! Whether the virtual machines of the cluster's directory boot; used by rules, matrix and plan.
//!
//! Collects the facts for [`hcoplan_planner::boot`], which decides.

use super::prelude::*;
use super::{Context, VirtualMachine};
use hcoplan_planner::boot::{
    Architectures, BootAnswer, BootCause, BootOutcome, CandidateNode, Machine, PulledImage, answer, imported,
    importer_architectures,
};
use hcoplan_planner::boot_images::cdi_stage::{Import, Imports};
use hcoplan_planner::cause::Stage;
use hcoplan_planner::lifecycle::Objects;
use hcoplan_planner::plan::{AdmissionMode, plan_with};
use hcoplan_planner::release::Distribution;

use super::virtual_machines::claim_name;
use super::{Candidate, Extent, GuestArchitecture, KnownSource, object_of};
use hcoplan_rule_pages::rules::RUNTIME_CLASS_MISSING;

/// Maximum number of volumes followed from one to the next.
const MAX_STEPS: usize = 8;

/// A virtual machine with its boot result.
#[derive(Debug)]
pub struct Boot<'c> {
    /// The virtual machine.
    pub vm: VirtualMachine<'c>,
    /// KubeVirt's verdict on it.
    pub verdict: &'c Verdict,
    /// The facts about its boot.
    pub facts: &'c BootFacts,
}

/// The facts about a virtual machine's boot, and the result.
#[derive(Debug)]
pub struct BootFacts {
    /// Its architecture in KubeVirt.
    pub guest: GuestArchitecture,
    /// Its boot source.
    pub source: BootSource,
    /// The images pulled by its pod.
    pub images: Vec<PulledImage>,
    /// Whether it boots.
    pub answer: BootAnswer,
}

impl std::ops::Deref for Boot<'_> {
    type Target = BootFacts;

    fn deref(&self) -> &BootFacts {
        self.facts
    }
}

/// The boot source of a virtual machine.
#[derive(Debug, Default)]
pub struct BootSource {
    /// Its kind.
    pub kind: SourceKind,
    /// The name of the DataSource, image or claim.
    pub name: String,
    /// The path of the name in the virtual machine.
    pub path: Path,
    /// The address of the imported image, if known.
    pub url: Option<String>,
    /// Its architectures.
    pub disk: Architectures,
    /// The architecture of the DataSource's label.
    label: Option<String>,
    /// Whether it is a common golden image that isn't imported.
    pub is_not_imported: bool,
}

/// The kinds of boot sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourceKind {
    /// A DataSource, cloned.
    DataSource,
    /// An image of a registry, imported by CDI.
    Registry,
    /// An image pulled by the pod.
    ContainerDisk,
    /// A claim or DataVolume that the machine doesn't own.
    Claim,
    /// Any other source: a URL, an upload, the network.
    #[default]
    Other,
}

hcoplan_kubernetes::names!(SourceKind {
    DataSource = "DataSource",
    Registry = "image",
    ContainerDisk = "container disk",
    Claim = "volume",
    Other = "source",
});

impl Boot<'_> {
    /// The location of the boot source's name.
    pub fn place(&self) -> Location {
        self.vm.document.locate(&self.source.path)
    }

    /// The location of its architecture with a label, else of its name with the reason why it is `name`.
    pub(crate) fn architecture_place(&self, name: &str, label: &str) -> (Location, String) {
        match self.vm.architecture() {
            Some(_) => (self.vm.place("architecture"), label.to_owned()),
            None => (self.vm.name_place(), format!("{name}, as {}", self.guest.reason())),
        }
    }
}

impl<'a> Context<'a> {
    /// The virtual machines with their boot results, except patches of virtual machines.
    pub fn boots(&self) -> Vec<Boot<'_>> {
        let machines = self.judged_machines();
        let answers =
            self.known.boots.get_or_init(|| machines.iter().map(|(vm, verdict)| self.boot(vm, verdict)).collect());
        let all = machines.into_iter().zip(answers);
        let whole = all.filter(|((vm, _), _)| self.extent(vm.document) != Extent::Patch);
        whole.map(|((vm, verdict), facts)| Boot { vm, verdict, facts }).collect()
    }

    fn boot(&self, vm: &VirtualMachine<'_>, verdict: &Verdict) -> BootFacts {
        let guest = self.guest_architecture(vm);
        let mut source = self.boot_source(vm, &guest.possible);
        // A DataSource of one architecture has no disk for another one.
        if let (Architectures::Unknown, Some(label)) = (&source.disk, &source.label)
            && guest.possible.lacks(label)
        {
            source.disk = Architectures::one(label);
        }
        // What is imported depends on the nodes, which are assumed.
        let is_assumed = |name: &String| self.topology().workload_architectures.contains(name);
        let is_imported = matches!(source.kind, SourceKind::DataSource | SourceKind::Registry);
        if !self.has_nodes() && is_imported && guest.name.as_ref().is_some_and(|name| !is_assumed(name)) {
            source.disk = Architectures::Unknown;
        }
        let candidates = self.candidates(vm, &verdict.launcher);
        let crosses = self.crosses_architectures();
        let site = |c: &Candidate<'a>| CandidateNode {
            architecture: if crosses { "" } else { &c.node.node.architecture },
            barrier: c.barrier,
        };
        let nodes: Vec<CandidateNode<'_>> = candidates.iter().map(site).collect();
        let is_native = |all: &[String]| guest.name.as_ref().is_some_and(|name| all.contains(name));
        let is_foreign = self.rejects_foreign(&guest).is_some_and(|all| !is_native(all));
        let cause = verdict.causes.iter().min_by_key(|cause| cause.stage);
        let failure = match cause.filter(|_| !is_foreign) {
            Some(cause) if cause.stage > Stage::Start => {
                Some((BootOutcome::DoesNotBoot, BootCause::NotStarted(cause.clause(""))))
            }
            None if !is_foreign => self.start_failure(vm),
            _ => Some((BootOutcome::DoesNotBoot, BootCause::Rejected)),
        };
        let images = self.pulled_images(vm, &guest.possible);
        let machine = Machine {
            guest: &guest.possible,
            disk: &source.disk,
            is_not_imported: source.is_not_imported,
            images: &images,
            nodes: &nodes,
            assumes_nodes: !self.has_nodes(),
            failure: failure.as_ref().map(|(outcome, cause)| (*outcome, cause)),
        };
        BootFacts { answer: answer(machine), guest, source, images }
    }

    /// What rules find that keeps a virtual machine, or the DataVolume of a disk, from starting.
    fn start_failure(&self, vm: &VirtualMachine<'_>) -> Option<(BootOutcome, BootCause)> {
        let failures = self.known.start_failures.get_or_init(|| crate::rules::start_failures(self));
        if failures.is_empty() {
            return None;
        }
        let claims = vm.volumes().filter_map(|(_, volume)| claim_name(volume));
        let volumes = claims.filter_map(|claim| self.named("DataVolume", Some(vm.namespace()), claim));
        let objects: Vec<_> = volumes.chain([vm.document]).map(object_of).collect();
        let is_ours = |f: &&Finding| {
            let of_all = f.rule.name == RUNTIME_CLASS_MISSING.name;
            of_all || objects.iter().any(|object| f.object.as_deref() == Some(object))
        };
        let worst = failures.iter().filter(is_ours).max_by_key(|f| f.is_error())?;
        let message = worst.message.clone();
        Some(if worst.is_error() {
            (BootOutcome::DoesNotBoot, BootCause::NotStarted(message))
        } else {
            (BootOutcome::Undetermined, BootCause::MayNotStart(message))
        })
    }

    /// Whether KubeVirt emulates guests on nodes of another architecture.
    pub fn crosses_architectures(&self) -> bool {
        const GATE: &str = "CrossArchitectureVirtualization";
        let is_known = self.release().kubevirt_gate(GATE).is_some();
        is_known && self.machine_cluster().is_some_and(|cluster| cluster.has_gate(GATE))
    }

    /// The container disks and the kernel of a virtual machine, and the sidecars of its network bindings.
    fn pulled_images(&self, vm: &VirtualMachine<'_>, guest: &Architectures) -> Vec<PulledImage> {
        let disks = vm.volumes().map(|(i, _)| vm.path("volumes").index(i).key("containerDisk").key("image"));
        let all = disks.chain([vm.path("domain.firmware.kernelBoot.container.image")]);
        let written = all.filter_map(|path| Some((vm.document.root.str_at(&path)?.to_owned(), path)));
        let bindings = self.rendered_kubevirt("configuration.network.binding");
        let sidecars = vm.bindings().filter_map(|(path, name)| {
            let image = bindings[name]["sidecarImage"].as_str()?;
            Some((image.to_owned(), path))
        });
        let pulled = |(image, path): (String, Path)| {
            let architectures = self.image_architectures(&image, guest);
            PulledImage { path, image, architectures }
        };
        written.chain(sidecars).map(pulled).collect()
    }

    /// The boot source of a virtual machine.
    fn boot_source(&self, vm: &VirtualMachine<'_>, guest: &Architectures) -> BootSource {
        let other = |path| BootSource { path, ..BootSource::default() };
        let Some((index, volume)) = vm.boot_volume() else {
            return other(vm.path("volumes"));
        };
        let path = vm.path("volumes").index(index);
        if let Some(image) = volume.text_at("containerDisk.image") {
            return BootSource {
                kind: SourceKind::ContainerDisk,
                name: image.to_owned(),
                url: Some(image.to_owned()),
                disk: self.image_architectures(image, guest),
                ..other(path.key("containerDisk").key("image"))
            };
        }
        let Some(claim) = claim_name(volume) else {
            return other(path);
        };
        if let Some(source) = vm.boot_source() {
            let known = self.followed_data_source(source.namespace, source.name).unwrap_or_else(|| KnownSource {
                image: self.nothing_made(source.namespace, source.name),
                ..KnownSource::default()
            });
            return BootSource {
                kind: SourceKind::DataSource,
                name: source.name.to_owned(),
                path: source.path.key("name"),
                url: known.url,
                label: known.label,
                is_not_imported: known.is_not_imported,
                disk: known.image,
            };
        }
        let Some(template) = vm.disk_template(claim) else {
            let disk = self.claim_disk(vm.namespace(), claim, MAX_STEPS);
            return BootSource { kind: SourceKind::Claim, name: claim.to_owned(), disk, ..other(path) };
        };
        let own = template.key("source");
        let spec = json_of(vm.document.root.at(&template));
        let disk = self.volume_disk(&spec, vm.namespace(), MAX_STEPS);
        let source = [("registry", "url"), ("pvc", "name"), ("snapshot", "name")]
            .into_iter()
            .find_map(|(kind, key)| Some((kind, own.key(kind), spec["source"][kind][key].as_str()?.to_owned())));
        match source {
            Some(("registry", path, name)) => {
                BootSource { kind: SourceKind::Registry, url: Some(name.clone()), name, disk, ..other(path) }
            }
            Some((_, path, name)) => BootSource { kind: SourceKind::Claim, name, disk, ..other(path.key("name")) },
            None => BootSource { disk, ..other(own) },
        }
    }

    /// The architectures behind a DataSource that nothing creates: none if its namespace is managed and the change
    /// doesn't keep it, else unknown.
    fn nothing_made(&self, namespace: &str, name: &str) -> Architectures {
        let dangles = self.known_source(namespace, name).is_some();
        let is_missing = self.plan().ssp.is_some() && self.ssp_rejection().is_none() && self.fills_namespace(namespace);
        if (dangles || is_missing) && !self.is_kept_source(namespace, name) {
            Architectures::none()
        } else {
            Architectures::Unknown
        }
    }

    /// Whether all DataSources of a namespace are known: it has golden images.
    pub fn fills_namespace(&self, namespace: &str) -> bool {
        let of_crons = self.import_crons().map(|c| &c.object.id);
        let rendered = self.data_sources().map(|d| &d.object.id).chain(of_crons);
        let mut namespaces = rendered.filter_map(|id| id.namespace.as_deref());
        let mut of_distributions = Distribution::all().iter().map(|d| d.golden_images_namespace.value.as_str());
        of_distributions.any(|n| n == namespace) || namespaces.any(|n| n == namespace)
    }

    /// Whether the change removes a DataSource's image and keeps the DataSource with its last disk.
    pub fn is_kept_source(&self, namespace: &str, name: &str) -> bool {
        let step = || {
            let Some(before) = self.before() else { return Imports::default() };
            let before = plan_with(self.release(), self.inventory(), before, AdmissionMode::Force);
            let (before, after) = (Objects::of(&before), Objects::of(self.plan()));
            Imports::of_step(&before.bodies(), &after.bodies())
        };
        self.known.imports.get_or_init(step).get(namespace, name).is_some_and(Import::is_kept)
    }

    /// The architecture of the disk imported by SSP's DataImportCron.
    pub fn cron_disk(&self, cron: &Rendered) -> Architectures {
        let template = cron.origin.template.as_ref();
        let stage = self.plan().golden_images.as_ref();
        let template = template.and_then(|t| stage?.templates.iter().find(|own| own.name() == t.name));
        let written = template.and_then(|t| t.declared_architectures());
        let declared = written.map_or(Architectures::Unknown, Architectures::listed);
        let source = &cron.object.body["spec"]["template"]["spec"]["source"];
        let namespace = cron.object.id.namespace.as_deref().unwrap_or_default();
        match &cron.origin.architecture {
            // Other sources than registries use the annotation.
            Some(own) if source["registry"].is_null() => Architectures::one(own),
            _ => self.import_of(source, namespace, &declared),
        }
    }

    /// The architecture of CDI's import from `source` into a namespace, given the image's declared architectures.
    pub fn import_of(&self, source: &Value, namespace: &str, declared: &Architectures) -> Architectures {
        let image = match (self.source_evidence(source, namespace), declared) {
            (Some(evidence), _) if evidence.is_complete() => evidence.known_for(declared),
            (Some(evidence), Architectures::Known(names)) if evidence.is_one_unknown() => {
                Architectures::one_of(names.clone())
            }
            _ => declared.clone(),
        };
        imported(source, &image, self.importers())
    }

    /// The architectures of nodes that can run CDI's importer pods.
    pub fn importers(&self) -> &BTreeSet<String> {
        self.known.importers.get_or_init(|| importer_architectures(self.plan(), self.inventory()))
    }

    /// The architectures of an image; those that were seen suffice, if a guest gets only these.
    fn image_architectures(&self, image: &str, guest: &Architectures) -> Architectures {
        let evidence = self.image_evidence(image);
        evidence.map_or(Architectures::Unknown, |evidence| evidence.known_for(guest))
    }

    /// The architecture of a DataSource's volume.
    pub(super) fn volume_behind(&self, source: &Value, own: &str) -> Architectures {
        self.volume_disk(&source["spec"], own, MAX_STEPS)
    }

    /// The architecture of a claim that is filled by a declared DataVolume, the disk template of a declared machine, or
    /// the claim's own data source.
    fn claim_disk(&self, namespace: &str, name: &str, steps: usize) -> Architectures {
        let spec_of = |kind| self.named(kind, Some(namespace), name)?.root.get("spec");
        let template = || self.disk_templates().get(&(namespace.to_owned(), name.to_owned())).cloned();
        let spec = spec_of("DataVolume").map(Node::to_json).or_else(template);
        let spec = spec.or_else(|| spec_of("PersistentVolumeClaim").map(Node::to_json));
        spec.map_or_else(|| self.golden_claim(namespace, name), |spec| self.volume_disk(&spec, namespace, steps))
    }

    /// The architecture of a claim that CDI imported for a DataSource, and named by this and 12 digits of the digest.
    ///
    /// Source: CDI `pkg/controller/dataimportcron-controller.go` (`createDvName`).
    fn golden_claim(&self, namespace: &str, name: &str) -> Architectures {
        let cron = |source| self.plan().ssp.as_deref()?.cron_of(namespace, source);
        match name.rsplit_once('-').filter(|(_, digest)| digest.len() == 12) {
            Some((source, _)) => cron(source).map_or(Architectures::Unknown, |cron| self.cron_disk(cron)),
            None if cron(name).is_some() && !self.has_claim(namespace, name) => Architectures::none(),
            None => Architectures::Unknown,
        }
    }

    /// The specs of machines' disk templates by namespace and name.
    pub(super) fn disk_templates(&self) -> &HashMap<(String, String), Value> {
        let templates = |vm: &Arc<Document>| {
            let named = |template: &Node| {
                let name = template.text_at("metadata.name")?.to_owned();
                Some(((namespace_of(vm).to_owned(), name), template.get("spec")?.to_json()))
            };
            vm.root.list_at("spec.dataVolumeTemplates").iter().filter_map(named).collect::<Vec<_>>()
        };
        let all = || self.of_kind("VirtualMachine").iter().flat_map(templates).collect();
        self.known.disk_templates.get_or_init(all)
    }

    /// The architecture of the disk requested by the `spec` of a DataVolume, a DataSource, a claim or a populator of
    /// CDI.
    fn volume_disk(&self, spec: &Value, own: &str, steps: usize) -> Architectures {
        let Some(steps) = steps.checked_sub(1) else {
            return Architectures::Unknown;
        };
        let source = &spec["source"];
        if source["registry"].is_object() {
            return self.import_of(source, own, &Architectures::Unknown);
        }
        if let Some(name) = spec["sourceRef"]["name"].as_str() {
            let namespace = spec["sourceRef"]["namespace"].as_str().unwrap_or(own);
            return self.followed_data_source(namespace, name).map_or(Architectures::Unknown, |known| known.image);
        }
        let of_claims = [spec, &spec["storage"], &spec["pvc"]].into_iter();
        let references = of_claims.flat_map(|claim| [&claim["dataSourceRef"], &claim["dataSource"]]);
        let references = references.chain([source]).map(|own| (text(&own["kind"]), own));
        let clones = [("PersistentVolumeClaim", &source["pvc"]), ("VolumeSnapshot", &source["snapshot"])];
        let mut all = clones.into_iter().chain(references);
        let Some((kind, name, origin)) = all.find_map(|(kind, own)| Some((kind, own["name"].as_str()?, own))) else {
            return Architectures::Unknown;
        };
        let namespace = origin["namespace"].as_str().unwrap_or(own);
        if kind == "PersistentVolumeClaim" {
            return self.claim_disk(namespace, name, steps);
        }
        let Some(object) = self.named(kind, Some(namespace), name) else {
            return self.golden_claim(namespace, name);
        };
        let spec = json_of(object.root.get("spec"));
        match spec["source"]["persistentVolumeClaimName"].as_str() {
            Some(claim) => self.claim_disk(namespace, claim, steps),
            None => self.volume_disk(&spec, namespace, steps),
        }
    }
}
