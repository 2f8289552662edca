//! The sink to which a rule reports its findings.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use hcoplan_diagnostics::finding::{Finding, Severity};

use super::context::Context;

/// A failure that is one error, whichever rule explains it: the rule that
/// knows the cause reports it with [`Sink::explain`], else a general rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incident {
    /// The API server or a webhook rejects the HyperConverged; else `admission-rejected`.
    Rejection,
    /// HCO's reconcile ends with an error; else `reconcile-fails`.
    ReconcileError,
    /// SSP's webhook rejects the SSP that HCO makes; else `ssp-rejected`.
    SspRejection,
}

impl Incident {
    const ALL: [Self; 3] = [Self::Rejection, Self::ReconcileError, Self::SspRejection];
}

/// Why a finding has no fix, or one less, although its rule has one.
pub(super) const UNTRIED: &str = "this fix was not tried: hcoplan has tried its maximum number of fixes; \
    fix other findings first, then run it again";

/// Collects the findings of a rule.
#[derive(Debug, Default)]
pub struct Sink {
    /// Whether the rule gave up on a fix of what it reports next, as many others were tried.
    pub(super) untried: Rc<Cell<bool>>,
    pub(super) findings: Vec<Finding>,
    /// Rules that did not run.
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

    /// Reports each of some findings.
    pub fn report_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.report(finding));
    }

    /// Reports a finding, of an incident as its explanation.
    pub fn report_as(&mut self, incident: Option<Incident>, finding: Finding) {
        match incident {
            Some(incident) => self.explain(incident, finding),
            None => self.report(finding),
        }
    }

    /// Reports the finding that explains an incident. An incident is one finding: only the first
    /// explanation counts, and rules run in the order of their names. A rejection is an error that
    /// nothing can suppress.
    pub fn explain(&mut self, incident: Incident, mut finding: Finding) {
        self.say_untried(&mut finding);
        if self.is_explained(incident) {
            return;
        }
        self.explained[incident as usize] = true;
        self.findings.push(match incident {
            Incident::Rejection => Finding { rejection: true, ..finding.severity(Severity::Error) },
            Incident::ReconcileError | Incident::SspRejection => finding,
        });
    }

    /// Leaves of what was reported since then only what explains the rejection.
    pub(super) fn keep_rejection_from(&mut self, before: usize) {
        let found = self.findings.split_off(before).into_iter().filter(|f| f.rejection);
        // Nobody asked for these rules' fixes.
        self.findings.extend(found.map(|finding| Finding { fixes: Vec::new(), not_fixed: None, ..finding }));
    }

    /// Nothing is left out unsaid.
    fn say_untried(&self, finding: &mut Finding) {
        if self.untried.take() {
            finding.not_fixed.get_or_insert(UNTRIED.into());
        }
    }

    /// Whether a rule has explained the incident.
    pub fn is_explained(&self, incident: Incident) -> bool {
        self.explained[incident as usize]
    }
}
