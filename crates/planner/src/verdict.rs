//! The verdict on a cluster's HyperConverged, which every command, format and exit code uses.

use crate::admission::{Admission, Reason as AdmissionReason};
use crate::boot::sentence;
use crate::cause::{Cause, Stage};
use crate::lifecycle::{Purpose, Step};
use crate::plan::Plan;
use crate::prelude::*;

/// The verdict on a cluster's HyperConverged, based on the stored object.
#[derive(Debug, Clone, Default)]
pub enum Verdict {
    /// It is stored, and the operator reconciles it.
    #[default]
    Accepted,
    /// The API server, a policy or a webhook rejects it. Never empty; the server reports the first reason.
    Rejected(Vec<VerdictReason>),
    /// It is stored, and the operator fails or ignores it. Never empty.
    Breaks(Vec<VerdictReason>),
    /// hcoplan can't plan the cluster.
    NotPlanned(Box<NotPlanned>),
    /// Only the side before the change has the cluster.
    Removed,
}

/// Why a HyperConverged is rejected, or why the operator fails.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VerdictReason {
    /// The component that rejects or fails.
    pub by: Actor,
    /// The cluster's message.
    pub text: String,
}

/// The component that rejects or fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Actor {
    /// The API server: kind, metadata, schema and rules of the CRD.
    ApiServer,
    /// The policy that binds the HyperConverged to the operator's namespace.
    NamespacePolicy,
    /// HCO's mutating webhook.
    MutatingWebhook,
    /// HCO's validating webhook.
    ValidatingWebhook,
    /// HCO's operator, which ignores other names.
    OtherName,
    /// HCO's reconcile, at an operand of this kind.
    Reconcile(&'static str),
    /// SSP's webhook, which rejects the SSP that HCO renders.
    SspWebhook,
    /// A webhook that rejects the operator's own update of the HyperConverged.
    OperatorUpdate,
    /// A webhook that rejects the operator's first update of an upgrade.
    UpgradePatches,
}

/// What each does, before the reason's text.
static SENTENCES: Table<Value> = Table::of(include_str!("verdict.json"));

/// Why a cluster isn't planned.
#[derive(Debug, Clone)]
pub struct NotPlanned {
    /// The kind of problem.
    pub kind: NotPlannedKind,
    /// The problem.
    pub text: String,
    /// The location, if it is in a file.
    pub location: Option<Location>,
    /// What to do, if known.
    pub help: Option<String>,
}

/// Why a cluster can't be planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotPlannedKind {
    /// A file can't be read or parsed, or a build fails.
    Unreadable,
    /// Its inventory or release is unknown or invalid.
    Unusable,
    /// hcoplan has a bug.
    Bug,
}

/// A verdict without its reasons: for tables, JSON, grouping and exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VerdictKind {
    /// See [`Verdict::Rejected`].
    Rejected,
    /// See [`Verdict::Breaks`].
    Breaks,
    /// See [`Verdict::NotPlanned`].
    NotPlanned,
    /// See [`Verdict::Removed`].
    Removed,
    /// See [`Verdict::Accepted`].
    Accepted,
}

hcoplan_kubernetes::names!(VerdictKind {
    Rejected = "rejected",
    Breaks = "breaks",
    NotPlanned = "not-planned",
    Removed = "removed",
    Accepted = "accepted",
});

impl VerdictKind {
    /// Whether a run with this verdict exits with 1.
    pub const fn fails(self) -> bool {
        matches!(self, Self::Rejected | Self::Breaks | Self::NotPlanned)
    }
}

impl Verdict {
    /// The verdict on a plan.
    pub fn of(plan: &Plan) -> Self {
        let rejected = Self::of_admission(&plan.admission);
        if !rejected.is_empty() {
            return Self::Rejected(rejected);
        }
        let mut out = Vec::new();
        let mut add = |by, text: &str| out.push(VerdictReason { by, text: text.to_owned() });
        if plan.ignored {
            let name = plan.hyperconverged.as_ref().map_or("", |hc| &hc.name);
            add(Actor::OtherName, name);
        }
        if let Some(error) = &plan.reconcile_error {
            add(Actor::Reconcile(error.operand), &error.message);
        }
        if let Some(ssp) = plan.ssp.as_ref().filter(|ssp| !ssp.admission.accepted) {
            add(Actor::SspWebhook, &ssp.admission.message);
        }
        if let Some(rejected) = &plan.rejected_update {
            add(Actor::OperatorUpdate, &rejected.message);
        }
        if out.is_empty() { Self::Accepted } else { Self::Breaks(out) }
    }

    /// The verdict on a step from one state to the next.
    pub fn of_step(step: &Step) -> Self {
        let mut reasons = match Self::of(&step.plan) {
            Self::Breaks(reasons) => reasons,
            Self::Accepted => Vec::new(),
            verdict => return verdict,
        };
        let rejected = step.operator_updates.iter().filter(|update| !update.admission.accepted);
        let own = rejected.map(|update| VerdictReason {
            by: match update.purpose {
                Purpose::UpgradePatches => Actor::UpgradePatches,
                Purpose::Reconcile => Actor::OperatorUpdate,
            },
            text: update.admission.message.clone(),
        });
        for reason in own {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        if reasons.is_empty() { Self::Accepted } else { Self::Breaks(reasons) }
    }

    fn of_admission(admission: &Admission) -> Vec<VerdictReason> {
        let reason = |reason: AdmissionReason, causes: &[Cause], text: &str| VerdictReason {
            by: match (reason, causes.first().map(|cause| cause.stage)) {
                (AdmissionReason::Namespace, _) => Actor::NamespacePolicy,
                (_, Some(Stage::Mutating)) => Actor::MutatingWebhook,
                (_, Some(Stage::Validating)) => Actor::ValidatingWebhook,
                _ => Actor::ApiServer,
            },
            text: text.to_owned(),
        };
        let first = admission.reason.map(|first| reason(first, &admission.causes, &admission.message));
        let further = admission.further.iter().map(|next| reason(next.reason, &next.causes, &next.message));
        first.into_iter().chain(further).collect()
    }

    /// The verdict without its reasons.
    pub const fn kind(&self) -> VerdictKind {
        match self {
            Self::Accepted => VerdictKind::Accepted,
            Self::Rejected(_) => VerdictKind::Rejected,
            Self::Breaks(_) => VerdictKind::Breaks,
            Self::NotPlanned(_) => VerdictKind::NotPlanned,
            Self::Removed => VerdictKind::Removed,
        }
    }

    /// Whether a checking command exits with 1.
    pub const fn fails(&self) -> bool {
        self.kind().fails()
    }

    /// Replaces the texts of its reasons, which may quote secrets.
    pub fn replace_texts(&mut self, with: impl Fn(&str) -> String) {
        match self {
            Self::Rejected(reasons) | Self::Breaks(reasons) => {
                reasons.iter_mut().for_each(|reason| reason.text = with(&reason.text));
            }
            Self::NotPlanned(why) => why.text = with(&why.text),
            Self::Accepted | Self::Removed => {}
        }
    }

    /// The reasons, a sentence each; the first one is the server's.
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Self::Rejected(reasons) | Self::Breaks(reasons) => reasons.iter().map(ToString::to_string).collect(),
            Self::NotPlanned(why) => vec![why.to_string()],
            Self::Accepted | Self::Removed => Vec::new(),
        }
    }
}

impl std::fmt::Display for VerdictReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let does = sentence(&SENTENCES, &self.by);
        match self.by {
            Actor::OtherName => write!(f, "{does}, {:?}", self.text),
            _ => write!(f, "{does}: {}", self.text),
        }
    }
}

impl std::fmt::Display for NotPlanned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.location {
            Some(place) => {
                write!(f, "{}:{}: {}", place.file.path(), place.start(), self.text)
            }
            None => f.write_str(&self.text),
        }
    }
}
