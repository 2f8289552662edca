//! The linter: rules about the files of a repository and their plan.
//!
//! A rule is a file in `lint/rules/`: its metadata and a check that examines a [`Context`] and reports to a [`Sink`].
//! [`run`] runs the selected rules on a cluster. Rules don't read files and don't plan; their findings are data,
//! printed by `report`.

mod baseline;
mod configured;
mod context;
mod date;
mod engine;
mod fingerprint;
mod finish;
mod finished;
pub mod fix;
mod grouped;
mod lists;
mod page;
mod paths;
mod prelude;
mod registered_rule;
mod registry;
mod rows;
mod rules;
mod selector;
mod settings;
mod sink;
mod suggestion;
mod suppress;
mod suppression;
mod suppression_rules;
mod values;
mod words;

mod failing_fixes;
#[cfg(test)]
pub(crate) mod tests;

pub use baseline::{Baseline, Update};
pub(crate) use context::similar;
pub use context::{
    Annotation, Context, Descheduler, Destination, DestinationKind, Field, Gate, GoldenImage, Input, Mistyped, NodeRef,
    OperandField, OtherShape, OwnField, OwnFields, PatchAnnotation, PatchFailure, Placement, Pods, Shape, Site,
    Unmatched, WrittenTemplate, flag, meant_flag,
};
pub use context::{Applied, CDI_GATES, KUBEVIRT_GATES, PatchedGates};
pub use context::{
    ArchitectureReason, Boot, BootFacts, BootSource, Candidate, Extent, GUEST_ARCHITECTURES, GuestArchitecture,
    ImageEvidence, KnownSource, MachineType, SourceKind, SourceRef, VirtualMachine, claim_ref_of, network_resource,
    source_ref_of,
};
pub use context::{
    ArchitectureScope, ArchitectureSupport, Csv, Form, ImageCoverage, ImageUse, POD_KINDS, Platform, PodTemplate,
    with_subscription,
};
pub use context::{gate_when_unset, schema_path};
pub use date::Date;
pub use engine::{Run, Selection, run};

pub use fingerprint::fingerprints;
pub use finish::{Finishing, finish};
pub use finished::Finished;
pub use grouped::{FileUsers, changed_clusters, grouped};
pub use page::{consequence, page, sections};
pub use registered_rule::{RegisteredRule, RunPhase};
pub use registry::{find, rules, selector};
pub use selector::Selector;
pub use settings::Settings;
pub use sink::{Incident, Sink};
pub use suppress::{Suppressed, SuppressionResult, apply_suppressions};
pub use suppression::{Scope, Suppression, may_hold_suppression};
