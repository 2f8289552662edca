//! Rejections and failures, for rules that explain them.

use super::Context;
use super::prelude::*;
use hcoplan_planner::admission::{Admission, Reason};
use hcoplan_planner::boot_images::ssp_stage::SspReason;
use hcoplan_planner::cause::{Cause, Stage};

use crate::Incident;

/// What the server's message doesn't say of the cause: its message, its path, or both.
fn unsaid(admission: &Admission, cause: &Cause) -> Option<String> {
    let path = cause.path.to_string();
    if !admission.message.contains(&cause.message) {
        let is_named = cause.message.contains(&path);
        return Some(if is_named { cause.message.clone() } else { format!("{path}: {}", cause.message) });
    }
    let pointer = cause.path.to_pointer();
    let (parent, last) = pointer.rsplit_once('/')?;
    let is_named = parent.is_empty() || admission.patch.is_some() || admission.message.contains(last);
    (!is_named).then_some(path)
}

impl<'a> Context<'a> {
    /// The finding of a rule that explains the rejection, if `explains` accepts its reason: the server's message at the
    /// location of the cause. `None` otherwise.
    pub fn rejected(&self, explains: impl Fn(Reason) -> bool) -> Option<Finding> {
        let admission = self.admission();
        admission.reason.filter(|r| explains(*r))?;
        let mut causes = admission.causes.iter();
        let cause = admission.causes.first().and_then(|cause| unsaid(admission, cause));
        let mut finding = self.finding(self.rejection(cause.as_deref())?);
        finding = match causes.next() {
            None => finding.at(self.whole_location()).label("rejected"),
            Some(cause) => {
                let label =
                    if cause.message == admission.message { "rejected".to_owned() } else { cause.message.clone() };
                finding.at(self.cause_place(cause)).label(label)
            }
        };
        for cause in causes {
            finding = finding.related(self.cause_place(cause), cause.message.clone());
        }
        Some(finding)
    }

    /// A sentence with the rejecting component, its message, and the cause if the message doesn't have it. `None` if it
    /// isn't rejected.
    pub fn rejection(&self, cause: Option<&str>) -> Option<String> {
        let admission = self.admission();
        let who = match (admission.stage()?, admission.reason?) {
            (_, Reason::Namespace) => "the namespace policy",
            (Stage::Mutating, _) => "HCO's mutating webhook",
            (Stage::Validating, _) => "HCO's validating webhook",
            _ => "the API server",
        };
        let cause = cause.map_or(String::new(), |cause| format!(": {cause}"));
        let does = if self.is_further { "would next reject" } else { "rejects" };
        Some(format!("{who} {does} the HyperConverged: {}{cause}", admission.message))
    }

    /// Whether the HyperConverged is rejected for this reason, with the first cause at or below this path.
    pub fn is_rejected_at(&self, reason: Reason, path: &Path) -> bool {
        let admission = self.admission();
        let first = admission.causes.first();
        admission.reason == Some(reason) && first.is_some_and(|c| c.path.starts_with(path))
    }

    /// The incident if rendering SSP's golden images fails with this message.
    pub fn rendering_fails_with(&self, words: &str) -> Option<Incident> {
        let admission = self.admission();
        if admission.reason == Some(Reason::Render) && admission.message == words {
            return Some(Incident::Rejection);
        }
        let error = self.plan().reconcile_error.as_ref();
        error.is_some_and(|e| e.message == words).then_some(Incident::ReconcileError)
    }

    /// The location of a rejection's cause.
    pub fn cause_place(&self, cause: &Cause) -> Location {
        if let Some(patch) = &self.admission().patch {
            return self.patch_place(patch.0, &patch.1);
        }
        if cause.in_key && self.root().key_at(&cause.path).is_some() {
            self.document().locate_key(&cause.path)
        } else {
            self.locate(&cause.path)
        }
    }

    /// The reason why SSP's webhook rejects HCO's SSP.
    pub fn ssp_reason(&self) -> Option<SspReason> {
        self.plan().ssp.as_ref()?.admission.reason
    }

    /// The message with which SSP's webhook rejects HCO's SSP; `None` if it doesn't.
    pub fn ssp_rejection(&self) -> Option<&'a str> {
        self.plan().ssp.as_ref()?.admission.rejection()
    }
}
