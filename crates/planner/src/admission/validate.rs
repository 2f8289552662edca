//! The validating webhook: its checks in the release's order, with the release's gaps.

use hcoplan_yaml::Path;
use serde_json::{Value, json};

use super::gates::{self, Warning};
use super::render::{self, DryRun};
use super::shape::{Shape, at, list, text};
use super::{Admission, KIND, Operation, OperatorBug, OperatorBugKind, Reason, Rejection};
use super::{affinity, certificates, templates, tls};
use crate::release::{Check, VersionRules, Warnings};

/// The webhook with what it examines.
pub(super) struct Webhook<'a> {
    pub(super) rules: &'a VersionRules,
    pub(super) shape: &'a Shape,
    pub(super) object: &'a Value,
    pub(super) operation: Operation<'a>,
    pub(super) dry_run: DryRun<'a>,
}

impl Webhook<'_> {
    /// Runs the checks; warnings and holes are added to the admission.
    pub(super) fn run(&self, admission: &mut Admission) -> Result<(), Rejection> {
        match self.rules.warnings {
            Warnings::EndValidation => self.until_a_warning(admission),
            Warnings::Collected => self.all(admission),
        }
    }

    fn checks(&self) -> &[Check] {
        match self.operation {
            Operation::Create => &self.rules.validate.create,
            Operation::Update { .. } => &self.rules.validate.update,
        }
    }

    /// The first warning ends validation and accepts the object. The checks behind it run nevertheless, to report what
    /// they would have rejected.
    fn until_a_warning(&self, admission: &mut Admission) -> Result<(), Rejection> {
        let mut ended: Option<(Warning, Vec<Check>)> = None;
        for (check, next) in self.checks().iter().zip(1..) {
            if *check == Check::Unchanged && self.is_unchanged() {
                break;
            }
            let warnings = self.warnings(*check);
            if ended.is_none() && !warnings.is_empty() {
                let unchecked = self.checks()[next..].to_vec();
                ended = warnings.first().cloned().map(|w| (w, unchecked));
                admission.warnings.extend(warnings.into_iter().map(|(_, said)| said));
                continue;
            }
            if let Err(rejection) = self.reject(*check) {
                return match ended {
                    Some(warning) => {
                        admission.holes.push(ends(warning, Some(rejection)));
                        Ok(())
                    }
                    None => {
                        admission.holes.extend(panics(&rejection));
                        Err(rejection)
                    }
                };
            }
        }
        admission.holes.extend(ended.map(|w| ends(w, None)));
        Ok(())
    }

    /// Warnings about gates are given with a rejection, too. A panic leaves none.
    fn all(&self, admission: &mut Admission) -> Result<(), Rejection> {
        let before = admission.warnings.len();
        let verdict = self.all_collected(admission);
        if verdict.as_ref().is_err_and(|rejection| rejection.panics) {
            admission.warnings.truncate(before);
        }
        verdict
    }

    fn all_collected(&self, admission: &mut Admission) -> Result<(), Rejection> {
        let mut rejected = None;
        for check in self.checks() {
            match check {
                Check::GateWarnings => {
                    let said = self.warnings(*check).into_iter().map(|(_, said)| said);
                    admission.warnings.extend(said);
                    if let Some(rejection) = rejected {
                        return Err(rejection);
                    }
                }
                _ if rejected.is_some() => {}
                Check::Unchanged if self.is_unchanged() => return Ok(()),
                _ => {
                    let said = self.warnings(*check).into_iter().map(|(_, said)| said);
                    admission.warnings.extend(said);
                    rejected = self.reject(*check).err();
                }
            }
        }
        rejected.map_or(Ok(()), Err)
    }

    fn warnings(&self, check: Check) -> Vec<Warning> {
        match check {
            Check::GateWarnings => gates::warnings(self.object, self.operation, self.rules),
            Check::TuningWarning => {
                let warning = gates::tuning_warning(self.object, self.shape, self.rules);
                warning.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Everything that it would reject, each as if nothing before had been. A panic ends it.
    pub(super) fn rejections(&self) -> Vec<Rejection> {
        let mut out = Vec::new();
        for check in self.checks() {
            if *check == Check::Render {
                out.extend(render::rejections(self.object, self.shape, self.operation, &self.dry_run));
            } else if let Err(rejection) = self.reject(*check) {
                let ends = rejection.panics;
                out.push(rejection);
                if ends {
                    break;
                }
            }
        }
        out
    }

    fn reject(&self, check: Check) -> Result<(), Rejection> {
        let (object, shape, rules) = (self.object, self.shape, self.rules);
        match check {
            Check::Certificates => certificates::check(object, shape, &rules.certificate_prefix),
            Check::Templates => templates::check(object, shape),
            Check::Tls => tls::check(object, shape, rules.tls),
            Check::MediatedDevices => self.mediated_devices(),
            Check::Affinity => affinity::check(object, shape, rules.prints_lists_as),
            Check::GateWarnings | Check::TuningWarning | Check::Unchanged => Ok(()),
            Check::Render => render::check(object, shape, self.operation, &self.dry_run).map_or(Ok(()), Err),
        }
    }

    /// Both names with different lists; HCO `validateMediatedDeviceTypes`.
    fn mediated_devices(&self) -> Result<(), Rejection> {
        let Some(devices) = at(self.object, self.shape.mediated_devices) else {
            return Ok(());
        };
        let differ = |of: &Value| {
            let old = list(of, "mediatedDevicesTypes");
            let new = list(of, "mediatedDeviceTypes");
            !old.is_empty() && !new.is_empty() && old != new
        };
        let reject = |path: Path| {
            let message = "mediatedDevicesTypes is deprecated, please use mediatedDeviceTypes instead";
            let rejection = Rejection::new(Reason::MediatedDevicesBothNames, message);
            Err(rejection.at_key(path.key("mediatedDevicesTypes")))
        };
        let path = Path::dotted(self.shape.mediated_devices);
        if differ(devices) {
            return reject(path);
        }
        for (i, node) in list(devices, "nodeMediatedDeviceTypes").iter().enumerate() {
            if differ(node) {
                return reject(path.key("nodeMediatedDeviceTypes").index(i));
            }
        }
        Ok(())
    }

    /// Whether neither spec nor annotations changed, as Go compares what it decoded: then there is
    /// nothing to examine.
    fn is_unchanged(&self) -> bool {
        let Operation::Update { old, .. } = self.operation else {
            return false;
        };
        let annotations = "metadata.annotations";
        if at(old, annotations) != at(self.object, annotations) {
            return false;
        }
        let types = self.dry_run.release.go_types();
        let is_equal = |ty| types.deep_equal(&json!({"spec": old["spec"]}), &json!({"spec": self.object["spec"]}), ty);
        at(old, "spec") == at(self.object, "spec")
            || types.of_kind(text(self.object, "apiVersion"), KIND).is_some_and(is_equal)
    }
}

/// A warning skips all later checks, one of which may have rejected the object.
fn ends(((path, message), unchecked): (Warning, Vec<Check>), hidden: Option<Rejection>) -> OperatorBug {
    OperatorBug { kind: OperatorBugKind::WarningEndsValidation, path, message, hidden, unchecked }
}

/// Rendering panics on what the checks before it let pass.
fn panics(rejection: &Rejection) -> Option<OperatorBug> {
    let panicked = rejection.reason == Reason::TlsProfileUnknown;
    panicked.then(|| OperatorBug {
        kind: OperatorBugKind::Panic,
        path: rejection.causes.first().map(|c| c.path.clone()).unwrap_or_default(),
        message: rejection.message.clone(),
        hidden: None,
        unchecked: Vec::new(),
    })
}
