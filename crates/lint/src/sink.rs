//! The sink to which a rule reports its findings.

use std::cell::Cell;

use super::context::Context;
use crate::prelude::*;

/// A failure that is reported once: by the rule that knows the cause with [`Sink::explain`], else by a general rule.
#[derive(Debug, Clone, Copy)]
pub enum Incident {
    /// The API server or a webhook rejects the HyperConverged; the general rule is `admission-rejected`.
    Rejection,
    /// HCO's reconcile fails; the general rule is `reconcile-fails`.
    ReconcileError,
    /// SSP's webhook rejects HCO's SSP; the general rule is `ssp-rejected`.
    SspRejection,
}

impl Incident {
    const ALL: [Self; 3] = [Self::Rejection, Self::ReconcileError, Self::SspRejection];
}

/// The reason for a missing fix.
pub(super) const UNTRIED: &str = "this fix was not tried: hcoplan has tried its maximum number of fixes; \
    fix other findings first, then run it again";

/// Collects the findings of a rule.
#[derive(Debug, Default)]
pub struct Sink {
    /// Whether a fix of the next finding wasn't tried, because many others were.
    pub(super) untried: Rc<Cell<bool>>,
    pub(super) findings: Vec<Finding>,
    /// Rules that didn't run.
    pub(super) skipped: BTreeSet<&'static str>,
    explained: [bool; Incident::ALL.len()],
}

impl Sink {
    pub(super) fn of(cx: &Context<'_>) -> Self {
        Self { untried: cx.untried(), ..Self::default() }
    }

    /// Reports a finding.
    pub fn report(&mut self, mut finding: Finding) {
        self.say_untried(&mut finding);
        self.findings.push(finding);
    }

    /// Reports several findings.
    pub fn report_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.report(finding));
    }

    /// Reports a finding; with an incident, as its explanation.
    pub fn report_as(&mut self, incident: Option<Incident>, finding: Finding) {
        match incident {
            Some(incident) => self.explain(incident, finding),
            None => self.report(finding),
        }
    }

    /// Reports the finding that explains an incident. Only the first explanation counts, in the order of the rules'
    /// names. A rejection is an error that can't be suppressed.
    pub fn explain(&mut self, incident: Incident, mut finding: Finding) {
        self.say_untried(&mut finding);
        if self.is_explained(incident) {
            return;
        }
        self.explained[incident as usize] = true;
        self.findings.push(match incident {
            Incident::Rejection => Finding { rejection: true, ..finding.error() },
            Incident::ReconcileError | Incident::SspRejection => finding,
        });
    }

    /// Reports the finding that explains the rejection.
    pub fn reject(&mut self, finding: Finding) {
        self.explain(Incident::Rejection, finding);
    }

    /// Removes findings reported since `before` unless they explain the rejection.
    pub(super) fn keep_rejection_from(&mut self, before: usize) {
        let found = self.findings.split_off(before).into_iter().filter(|f| f.rejection);
        // These rules are disabled, so their fixes aren't offered.
        self.findings.extend(found.map(|finding| Finding { fixes: Vec::new(), not_fixed: None, ..finding }));
    }

    /// Reports a fix that wasn't tried.
    fn say_untried(&self, finding: &mut Finding) {
        if self.untried.take() {
            finding.not_fixed.get_or_insert(UNTRIED.into());
        }
    }

    /// Whether a rule explained the incident.
    pub fn is_explained(&self, incident: Incident) -> bool {
        self.explained[incident as usize]
    }
}
