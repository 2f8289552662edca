//! What differs between HCO releases, as data.
//!
//! A release is what was imported (`schemas/releases/<x.y>/`) and what was written by reading its code
//! (`schemas/behaviour/<x.y>/`); the four that are modelled are compiled in, another one can be read from a
//! directory that holds both. All but the small tables is parsed when
//! it is first asked for: rules examine the releases before and after, and need little of them.

mod admission;
mod constants;
mod distribution;
mod embedded;
mod fields;
mod files;
mod kubevirt;
mod patch_release;
mod shipped;
mod ssp;
mod tables;
mod upgrade;
mod version;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use admission::{
    AdmissionRules, Check, CustomMissing, GateMessages, GateToField, GateWarning, GateWarningCondition, ListStyle,
    ListedGates, Mutation, OperationSteps, TlsRules, VersionRules, Warnings,
};
pub use constants::{Constants, FilledObjects, Placeholders};
pub use distribution::{
    CommonImage, Distribution, DistributionVersion, Fact, FactSource, ImageSource, Maturity, Phased, Runbooks,
    UPSTREAM, Variable,
};
pub use fields::{FieldTarget, HyperConvergedField, Transform};
pub use files::{Error, Files};
pub use kubevirt::KubeVirtFacts;
pub use patch_release::{PatchRelease, Patched};
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

use hcoplan_kubernetes::go::GoTypes;
use hcoplan_kubernetes::schema::Schema;

/// One HCO release line with everything that is known about it.
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
    /// A release from its files. All but `release.json` are read later: see [`Self::check`].
    ///
    /// # Errors
    /// `release.json` is missing or does not have the expected shape.
    pub fn from_files(files: Files) -> Result<Self, Error> {
        let tables: Tables = files.parse("release.json")?;
        let release = Self::named(&tables.name, files);
        Ok(Self { tables: OnceLock::from(tables), ..release })
    }

    /// A release whose name is known, of which nothing is read yet.
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

    /// Where the compiled-in release with this name comes in their order, counted from zero, oldest first.
    pub fn place(name: &str) -> Option<usize> {
        Self::known_names().position(|known| known == name)
    }

    /// `1.17`
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The patch level that is modelled, `1.17.4`.
    pub fn version(&self) -> &str {
        &self.tables().version
    }

    /// The distribution that ships it: upstream's, unless it says otherwise.
    pub fn distribution(&self) -> &'static Distribution {
        let named = self.tables().shipped_by.as_ref();
        let named = named.and_then(|by| Distribution::named(&by.distribution));
        named.unwrap_or(&Distribution::all()[0])
    }

    /// What its users call it: `4.20` or `4.20.3` of a distribution, `1.17.3`, else the release line.
    pub fn label(&self) -> &str {
        if let Some(patch) = &self.patch {
            return patch.name;
        }
        let shipped = self.tables().shipped_by.as_ref();
        shipped.map_or(&self.name, |by| &by.version)
    }

    /// Which patch release it is; `None` for a line's newest state.
    pub fn patched(&self) -> Option<&Patched> {
        self.patch.as_ref()
    }

    /// The same in full: `OpenShift Virtualization 4.20 (HCO 1.16)`, `HCO 1.16`.
    pub fn title(&self) -> String {
        match &self.tables().shipped_by {
            Some(by) => format!("{} {} (HCO {})", self.distribution().title, by.version, self.name),
            None => self.display_name(),
        }
    }

    /// The same for a sentence: `HCO 1.16`, `HCO 1.17.3`, `OpenShift Virtualization 4.20`.
    pub fn display_name(&self) -> String {
        match &self.tables().shipped_by {
            Some(by) => format!("{} {}", self.distribution().title, by.version),
            None if self.patch.as_ref().is_some_and(|p| p.moving) => {
                format!("HCO {}, which still moves", self.label())
            }
            None => format!("HCO {}", self.label()),
        }
    }

    /// `alpha`, `deprecated`, `a Technology Preview of OpenShift Virtualization`; `None` for a finished gate.
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

    /// What is to be known of one of HCO's feature gates before it is switched on, with what becomes of it in a
    /// later release: `alpha`, `alpha and deprecated from 1.19 on`. `None` where there is nothing to know.
    pub fn gate_maturity(&self, gate: &str) -> Option<String> {
        let phase = |release: &Self| {
            let mut gates = release.tables().feature_gates.iter();
            gates.find(|g| g.name == gate).map(|g| g.phase)
        };
        let now = phase(self)?;
        let later = Self::known_names().skip_while(|name| *name != self.name()).skip(1);
        let mut fates = later.filter_map(|name| {
            let what = match phase(&*Self::known(name)?) {
                Some(then) if then == now => return None,
                Some(Phase::Deprecated) => "deprecated",
                Some(Phase::Discontinued) => "accepted and ignored",
                None => "removed",
                Some(_) => return None,
            };
            Some(format!("{what} from {name} on"))
        });
        let known: Vec<String> = self.maturity(gate).into_iter().chain(fates.next()).collect();
        (!known.is_empty()).then(|| known.join(" and "))
    }

    /// Values that only the vendor's bundle says, with what is taken for them.
    pub fn assumed(&self) -> &[AssumedValue] {
        &self.tables().assumed
    }

    /// The small tables: environment, feature gates, TLS profiles, constants.
    pub fn tables(&self) -> &Tables {
        self.parsed(&self.tables, "release.json")
    }

    /// Whether a behaviour that only some releases have is in this one.
    pub fn has(&self, capability: &str) -> bool {
        self.behaviour().capabilities.contains(capability)
    }

    /// The IANA names of the ciphers of pods that get them by number, where a profile has none.
    pub fn default_ciphers(&self) -> impl Iterator<Item = &str> {
        self.behaviour().default_ciphers.iter().map(String::as_str)
    }

    /// What the webhooks do, in which order and in which words.
    pub fn admission(&self) -> &AdmissionRules {
        self.parsed(&self.admission, "admission.json")
    }

    /// The operands' order of work.
    pub fn work_order(&self) -> &WorkOrder {
        &self.behaviour().work_order
    }

    /// What the operator does by itself when it is upgraded to this release.
    pub fn upgrade(&self) -> &Upgrade {
        self.parsed(&self.upgrade, "upgrade.json")
    }

    fn behaviour(&self) -> &Behaviour {
        self.parsed(&self.behaviour, "behaviour.json")
    }

    /// A file that [`Self::check`] has found good, or that is compiled in.
    fn parsed<'r, T: DeserializeOwned>(&self, cell: &'r OnceLock<T>, file: &str) -> &'r T {
        let parse = || self.files.parse(file);
        cell.get_or_init(|| parse().unwrap_or_else(|e| panic!("{e}")))
    }

    /// A variable of the operator's environment; `None` when absent or blank.
    pub fn env(&self, platform: Platform, name: &str) -> Option<&str> {
        let env = self.tables().env.get(platform.as_str())?;
        env.get(name).map(String::as_str).filter(|v| !v.trim().is_empty())
    }

    /// The common golden images (DataImportCronTemplates) as the operator holds them after it
    /// has loaded its files.
    pub fn golden_images(&self) -> &[Value] {
        self.parsed::<Vec<_>>(&self.golden_images, "golden-images.json")
    }

    /// The objects that are the same in every cluster of the release, or nearly so.
    pub fn constants(&self) -> &Constants {
        self.constants.get_or_init(|| {
            let templates = self.files.parse("objects.json");
            Constants::new(templates.unwrap_or_else(|e| panic!("{e}")))
        })
    }

    /// The Go types of the operators' APIs.
    pub fn go_types(&self) -> &GoTypes {
        self.go_types.get_or_init(|| {
            let types = self.files.go_types();
            types.unwrap_or_else(|e| panic!("{e}"))
        })
    }

    /// What SSP brings along: its template bundle and its constant objects.
    pub fn ssp(&self) -> &SspBundle {
        self.ssp.get_or_init(|| {
            let text = self.files.text("ssp.json").unwrap_or_else(|e| panic!("{e}"));
            SspBundle::from_json(text).unwrap_or_else(|e| panic!("ssp.json: {e}"))
        })
    }

    /// What the release's KubeVirt knows.
    pub fn kubevirt(&self) -> &KubeVirtFacts {
        self.parsed(&self.kubevirt, "kubevirt.json")
    }

    /// The fields of the HyperConverged, of every served version.
    pub fn fields(&self) -> &[HyperConvergedField] {
        self.parsed::<Vec<_>>(&self.fields, "fields.json")
    }

    /// The structural schema of a CRD version, named as the file is: `hyperconverged.v1beta1`.
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        let cell = self.schemas.get(name)?;
        Some(cell.get_or_init(|| {
            let schema = self.files.schema(name);
            schema.unwrap_or_else(|e| panic!("{e}"))
        }))
    }

    /// The structural schema of an object's kind, by its `apiVersion` and `kind`; `None` where the
    /// release has none.
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

    /// The names of the schemas there are.
    pub fn schema_names(&self) -> impl Iterator<Item = &str> {
        self.schemas.keys().map(String::as_str)
    }

    /// The names of all files of the release, sorted.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.files.names()
    }

    /// A file of the release, for rooms that keep tables of their own in it.
    ///
    /// # Errors
    /// When the release has no such file.
    pub fn file(&self, name: &str) -> Result<&str, Error> {
        self.files.text(name)
    }

    /// Checks that every file of the release can be read, so that a release from a directory
    /// fails with a message and not later.
    ///
    /// # Errors
    /// The first file that is missing or malformed.
    pub fn check(&self) -> Result<(), Error> {
        self.files.parse::<Behaviour>("behaviour.json")?;
        self.files.parse::<AdmissionRules>("admission.json")?;
        self.files.parse::<Vec<Value>>("golden-images.json")?;
        self.files.parse::<BTreeMap<String, Value>>("objects.json")?;
        self.files.go_types()?;
        SspBundle::from_json(self.files.text("ssp.json")?).map_err(|e| Error::shape("ssp.json", &e.to_string()))?;
        self.files.parse::<KubeVirtFacts>("kubevirt.json")?;
        self.files.parse::<Upgrade>("upgrade.json")?;
        self.files.parse::<Vec<HyperConvergedField>>("fields.json")?;
        for name in self.schemas.keys() {
            self.files.schema(name)?;
        }
        Ok(())
    }
}
