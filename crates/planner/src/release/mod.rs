//! The differences between HCO releases, as data.
//!
//! A release is imported data (`schemas/releases/<x.y>/`) and data written from reading its code
//! (`schemas/behaviour/<x.y>/`). The four modelled releases are compiled in; others can be read from a directory with
//! both. All but the small tables is parsed at its first use: rules need little of the previous and next releases.

mod admission;
mod atlas;
mod constants;
mod distribution;
mod embedded;
mod fields;
mod files;
mod kubevirt;
mod kubevirt_gates;
mod moves;
mod patch_release;
mod shipped;
mod ssp;
mod tables;
mod upgrade;
mod version;

use crate::prelude::*;
use serde::de::DeserializeOwned;

pub use admission::{
    AdmissionRules, Check, CustomMissing, GateMessages, GateToField, GateWarning, GateWarningCondition, ListStyle,
    ListedGates, Mutation, OperationSteps, TlsRules, VersionRules, Warnings,
};
pub use atlas::{Atlas, Link};
pub use constants::{Constants, FilledObjects, Placeholders};
pub use distribution::{
    CommonImage, Distribution, DistributionVersion, Fact, FactSource, ImageSource, Maturity, Phased, Runbooks,
    UPSTREAM, Variable,
};
pub use fields::{FieldTarget, HyperConvergedField, Share, Transform};
pub use files::{Error, Files};
pub use kubevirt::KubeVirtFacts;
pub use kubevirt_gates::{GateSetter, KubeVirtGate};
pub use moves::{MOVES, moved, path_in};
pub use patch_release::{PatchRelease, Patched, merge_patch};
pub use shipped::{AssumedValue, ShippedBy};
pub use ssp::{SspBundle, SspOwner};
pub use tables::{
    Architecture, Behaviour, ConditionalGate, FeatureGate, GateCondition, HyperConvergedApi, KubeVirtConstants,
    KubeVirtFeatureGates, Phase, Platform, Profile, RateLimit, Tables, Tls, WorkOrder,
};
pub use upgrade::{
    KeptInAnnotation, RemovedObject, RemovedPatchOperation, RewrittenValue, Upgrade, UpgradePatch, VersionRange,
};
pub use version::{version_numbers, version_parts};

/// An HCO release line with all its data.
pub struct Release {
    name: String,
    files: Files,
    tables: OnceLock<Tables>,
    behaviour: OnceLock<Behaviour>,
    admission: OnceLock<AdmissionRules>,
    golden_images: OnceLock<Vec<Value>>,
    constants: OnceLock<Constants>,
    go_types: OnceLock<GoTypes>,
    ssp: OnceLock<SspBundle>,
    kubevirt: OnceLock<KubeVirtFacts>,
    upgrade: OnceLock<Upgrade>,
    atlas: OnceLock<Atlas>,
    fields: OnceLock<Vec<HyperConvergedField>>,
    schemas: BTreeMap<String, OnceLock<Schema>>,
    patch: Option<Patched>,
}

impl std::fmt::Debug for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Release({})", self.name)
    }
}

impl Release {
    /// Creates a release from its files. All but `release.json` are parsed later.
    ///
    /// # Errors
    /// `release.json` is missing or does not have the expected shape.
    pub fn from_files(files: Files) -> Result<Self, Error> {
        let tables: Tables = files.parse("release.json")?;
        let release = Self::named(&tables.name, files);
        Ok(Self { tables: OnceLock::from(tables), ..release })
    }

    /// A release with a known name; nothing is parsed yet.
    fn named(name: &str, files: Files) -> Self {
        let schemas = files
            .names()
            .filter_map(|n| n.strip_prefix("crds/")?.strip_suffix(".json"))
            .map(|n| (n.to_owned(), OnceLock::new()))
            .collect();
        Self {
            name: name.to_owned(),
            files,
            tables: OnceLock::new(),
            behaviour: OnceLock::new(),
            admission: OnceLock::new(),
            golden_images: OnceLock::new(),
            constants: OnceLock::new(),
            go_types: OnceLock::new(),
            ssp: OnceLock::new(),
            kubevirt: OnceLock::new(),
            upgrade: OnceLock::new(),
            atlas: OnceLock::new(),
            fields: OnceLock::new(),
            schemas,
            patch: None,
        }
    }

    /// The compiled-in release with this name (`1.17`).
    pub fn known(name: &str) -> Option<Arc<Self>> {
        embedded::release(name)
    }

    /// The names of the compiled-in releases, oldest first.
    pub fn known_names() -> impl Iterator<Item = &'static str> {
        embedded::names()
    }

    /// The index of the compiled-in release with this name, oldest first.
    pub fn place(name: &str) -> Option<usize> {
        Self::known_names().position(|known| known == name)
    }

    /// The release line, `1.17`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The patch level that is modelled, `1.17.4`.
    pub fn version(&self) -> &str {
        &self.tables().version
    }

    /// The distribution that ships it; upstream by default.
    pub fn distribution(&self) -> &'static Distribution {
        let shipped_by = self.tables().shipped_by.as_ref();
        let distribution = shipped_by.and_then(|by| Distribution::named(&by.distribution));
        distribution.unwrap_or(&Distribution::all()[0])
    }

    /// Its short name for users: `4.20` or `4.20.3` of a distribution, `1.17.3`, else the release line.
    pub fn label(&self) -> &str {
        if let Some(patch) = &self.patch {
            return patch.name;
        }
        let shipped = self.tables().shipped_by.as_ref();
        shipped.map_or(&self.name, |by| &by.version)
    }

    /// The patch release that it is; `None` for a line's newest state.
    pub fn patched(&self) -> Option<&Patched> {
        self.patch.as_ref()
    }

    /// The full title: `OpenShift Virtualization 4.20 (HCO 1.16)`, `HCO 1.16`.
    pub fn title(&self) -> String {
        match &self.tables().shipped_by {
            Some(by) => format!("{} {} (HCO {})", self.distribution().title, by.version, self.name),
            None => self.display_name(),
        }
    }

    /// The name for sentences: `HCO 1.16`, `HCO 1.17.3`, `OpenShift Virtualization 4.20`.
    pub fn display_name(&self) -> String {
        match &self.tables().shipped_by {
            Some(by) => format!("{} {}", self.distribution().title, by.version),
            None if self.patch.as_ref().is_some_and(|p| p.moving) => {
                format!("HCO {} (in development)", self.label())
            }
            None => format!("HCO {}", self.label()),
        }
    }

    /// A gate's maturity: `alpha`, `deprecated`, `a Technology Preview of OpenShift Virtualization`; `None` for a
    /// stable gate.
    fn maturity(&self, gate: &str) -> Option<String> {
        let gates = &self.tables().feature_gates;
        let phase = gates.iter().find(|g| g.name == gate)?.phase;
        let distribution = self.distribution();
        let mut previews = distribution.technology_previews.iter();
        match phase {
            Phase::Alpha | Phase::Deprecated if previews.any(|p| p.value == gate) => {
                Some(format!("a Technology Preview of {}", distribution.title))
            }
            Phase::Alpha => Some("alpha".to_owned()),
            Phase::Deprecated => Some("deprecated".to_owned()),
            Phase::Beta | Phase::Ga | Phase::Discontinued => None,
        }
    }

    /// The phase of a gate of HCO; `None` if the release has no such gate.
    pub fn gate_phase(&self, gate: &str) -> Option<Phase> {
        self.tables().feature_gates.iter().find(|g| g.name == gate).map(|g| g.phase)
    }

    /// A gate's maturity and its next change in a later release: `alpha`, `alpha; deprecated in 1.19`. `None`
    /// for stable gates.
    pub fn gate_maturity(&self, gate: &str) -> Option<String> {
        let now = self.gate_phase(gate)?;
        let changes = self.later_of_distribution().into_iter().find_map(|release| {
            let what = match release.gate_phase(gate) {
                Some(later) if later == now => return None,
                Some(Phase::Deprecated) => "deprecated in",
                Some(Phase::Discontinued) => "ignored from",
                None => "removed in",
                Some(_) => return None,
            };
            Some(format!("{what} {}", release.label()))
        });
        let known: Vec<String> = self.maturity(gate).into_iter().chain(changes).collect();
        (!known.is_empty()).then(|| known.join("; "))
    }

    /// Assumed values that only the vendor's bundle has.
    pub fn assumed(&self) -> &[AssumedValue] {
        &self.tables().assumed
    }

    /// The small tables: environment, feature gates, TLS profiles, constants.
    pub fn tables(&self) -> &Tables {
        self.parsed(&self.tables, "release.json")
    }

    /// Whether the release has a capability.
    pub fn has(&self, capability: &str) -> bool {
        self.behaviour().capabilities.contains(capability)
    }

    /// The IANA names of the default ciphers for pods that get ciphers by number, used if a profile has none.
    pub fn default_ciphers(&self) -> impl Iterator<Item = &str> {
        self.behaviour().default_ciphers.iter().map(String::as_str)
    }

    /// The webhooks' checks and mutations, with order and messages.
    pub fn admission(&self) -> &AdmissionRules {
        self.parsed(&self.admission, "admission.json")
    }

    /// The gates that are fields in this release's v1.
    pub fn gates_to_fields(&self) -> &[GateToField] {
        self.admission().version("v1").map_or(&[], |rules| &rules.gates_to_fields)
    }

    /// The operands' order of work.
    pub fn work_order(&self) -> &WorkOrder {
        &self.behaviour().work_order
    }

    /// What the operator changes when it is upgraded to this release.
    pub fn upgrade(&self) -> &Upgrade {
        self.parsed(&self.upgrade, "upgrade.json")
    }

    fn behaviour(&self) -> &Behaviour {
        self.parsed(&self.behaviour, "behaviour.json")
    }

    /// Parses a file that is compiled in, or whose import validated it.
    fn parsed<'r, T: DeserializeOwned>(&self, cell: &'r OnceLock<T>, file: &str) -> &'r T {
        cell.get_or_init(|| self.read(file, |text| serde_json::from_str(text)))
    }

    fn read<T, E: std::fmt::Display>(&self, file: &str, parse: impl FnOnce(&str) -> Result<T, E>) -> T {
        let text = self.files.text(file).unwrap_or_else(|e| panic!("{e}"));
        parse(text).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    /// An environment variable of the operator; `None` if absent or blank.
    pub fn env(&self, platform: Platform, name: &str) -> Option<&str> {
        let env = self.tables().env.get(platform.as_str())?;
        env.get(name).map(String::as_str).filter(|v| !v.trim().is_empty())
    }

    /// The common golden images (DataImportCronTemplates) as the operator holds them after loading its files.
    pub fn golden_images(&self) -> &[Value] {
        self.parsed::<Vec<_>>(&self.golden_images, "golden-images.json")
    }

    /// The objects that are (nearly) the same in every cluster of the release.
    pub fn constants(&self) -> &Constants {
        let parse = |text: &str| serde_json::from_str(text).map(Constants::new);
        self.constants.get_or_init(|| self.read("objects.json", parse))
    }

    /// The Go types of the operators' APIs.
    pub fn go_types(&self) -> &GoTypes {
        let file = "go-types.json";
        self.go_types.get_or_init(|| self.read(file, GoTypes::from_json))
    }

    /// SSP's template bundle and its constant objects.
    pub fn ssp(&self) -> &SspBundle {
        self.ssp.get_or_init(|| self.read("ssp.json", SspBundle::from_json))
    }

    /// Facts about the release's KubeVirt.
    pub fn kubevirt(&self) -> &KubeVirtFacts {
        self.parsed(&self.kubevirt, "kubevirt.json")
    }

    /// The fields of the HyperConverged, of every served version.
    pub fn fields(&self) -> &[HyperConvergedField] {
        self.fields.get_or_init(|| self.atlas().fields(self))
    }

    /// What is known of the HyperConverged's fields, by use.
    pub fn atlas(&self) -> &Atlas {
        self.atlas.get_or_init(|| Atlas::new(self.read("fields.json", HyperConvergedField::read)))
    }

    /// The structural schema of a CRD version, by the file's name: `hyperconverged.v1beta1`.
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        let cell = self.schemas.get(name)?;
        Some(cell.get_or_init(|| self.read(&format!("crds/{name}.json"), Schema::from_json)))
    }

    /// The API version in which HyperConvergeds are stored.
    pub fn storage_version(&self) -> &str {
        &self.tables().hyperconverged.storage_version
    }

    /// The API versions of the HyperConverged that it serves.
    pub fn served_versions(&self) -> &[String] {
        &self.tables().hyperconverged.served_versions
    }

    /// Whether it serves an API version of the HyperConverged.
    pub fn serves(&self, version: &str) -> bool {
        self.served_versions().iter().any(|served| served == version)
    }

    /// The structural schema of a version of the HyperConverged; `None` if the release hasn't this version.
    pub fn hyperconverged_schema(&self, version: &str) -> Option<&Schema> {
        self.schema(&format!("hyperconverged.{version}"))
    }

    /// The Go type of a version of the HyperConverged; `None` if the release hasn't this version.
    pub fn hyperconverged_type(&self, version: &str) -> Option<&GoType> {
        self.go_types().of_kind(&format!("hco.kubevirt.io/{version}"), "HyperConverged")
    }

    /// The structural schema of an `apiVersion` and `kind`; `None` if the release has none.
    pub fn schema_of(&self, api_version: &str, kind: &str) -> Option<&Schema> {
        let version = api_version.rsplit('/').next()?;
        let length = kind.len() + ".".len() + version.len();
        let is_it = |name: &&String| {
            if name.len() != length {
                return false;
            }
            let parts = name.split_at_checked(kind.len());
            parts.is_some_and(|(of, v)| v.strip_prefix('.') == Some(version) && of.eq_ignore_ascii_case(kind))
        };
        self.schema(self.schemas.keys().find(is_it)?)
    }

    /// The names of all schemas.
    pub fn schema_names(&self) -> impl Iterator<Item = &str> {
        self.schemas.keys().map(String::as_str)
    }

    /// The names of all files of the release, sorted.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.files.names()
    }

    /// The text of a file of the release, for other crates' tables.
    ///
    /// # Errors
    /// The release lacks the file.
    pub fn file(&self, name: &str) -> Result<&str, Error> {
        self.files.text(name)
    }
}
