//! The validating webhook: its checks in the release's order, with the release's bugs.

use super::gates::Warning;
use super::render::DryRun;
use super::shape::{Shape, at, list, text};
use super::{Operation, OperatorBug, OperatorBugKind, Reason, Rejection, affinity, gates, render, tls};
use crate::admission::Admission;
use crate::hyperconverged::version_of;
use crate::prelude::*;
use crate::release::{Check, VersionRules, Warnings};
use hcoplan_kubernetes::duration;

/// The webhook and its input.
pub(super) struct Webhook<'a> {
    pub(super) rules: &'a VersionRules,
    pub(super) shape: Shape<'a>,
    pub(super) object: &'a Value,
    pub(super) operation: Operation<'a>,
    pub(super) dry_run: DryRun<'a>,
}

impl Webhook<'_> {
    /// Runs the checks. Adds warnings and operator bugs to the admission.
    pub(super) fn run(&self, admission: &mut Admission) -> Result<(), Rejection> {
        match self.rules.warnings {
            Warnings::EndValidation => self.check_until_warning(admission),
            Warnings::Collected => self.check_all(admission),
        }
    }

    fn checks(&self) -> &[Check] {
        match self.operation {
            Operation::Create => &self.rules.validate.create,
            Operation::Update { .. } => &self.rules.validate.update,
        }
    }

    /// The first warning ends validation and accepts the object. Later checks run all the same, to report what they
    /// would have rejected.
    fn check_until_warning(&self, admission: &mut Admission) -> Result<(), Rejection> {
        let mut ending_warning: Option<(Warning, Vec<Check>)> = None;
        for (check, next) in self.checks().iter().zip(1..) {
            if *check == Check::Unchanged && self.is_unchanged() {
                break;
            }
            let warnings = self.warnings(*check);
            if ending_warning.is_none() && !warnings.is_empty() {
                let unchecked = self.checks()[next..].to_vec();
                ending_warning = warnings.first().cloned().map(|w| (w, unchecked));
                admission.warnings.extend(warnings.into_iter().map(|(_, message)| message));
                continue;
            }
            if let Err(rejection) = self.reject(*check) {
                return match ending_warning {
                    Some(warning) => {
                        admission.holes.push(warning_bug(warning, Some(rejection)));
                        Ok(())
                    }
                    None => {
                        admission.holes.extend(panic_bug(&rejection));
                        Err(rejection)
                    }
                };
            }
        }
        admission.holes.extend(ending_warning.map(|w| warning_bug(w, None)));
        Ok(())
    }

    /// A rejection includes the warnings about gates; a panic has no warnings.
    fn check_all(&self, admission: &mut Admission) -> Result<(), Rejection> {
        let before = admission.warnings.len();
        let verdict = self.collect_all(admission);
        if verdict.as_ref().is_err_and(|rejection| rejection.panics) {
            admission.warnings.truncate(before);
        }
        verdict
    }

    fn collect_all(&self, admission: &mut Admission) -> Result<(), Rejection> {
        let mut rejected = None;
        for check in self.checks() {
            match check {
                Check::GateWarnings => {
                    admission.warnings.extend(self.warnings(*check).into_iter().map(|(_, message)| message));
                    if let Some(rejection) = rejected {
                        return Err(rejection);
                    }
                }
                _ if rejected.is_some() => {}
                Check::Unchanged if self.is_unchanged() => return Ok(()),
                _ => {
                    admission.warnings.extend(self.warnings(*check).into_iter().map(|(_, message)| message));
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

    /// All rejections, each checked independently of the earlier ones. A panic is the last.
    pub(super) fn rejections(&self) -> Vec<Rejection> {
        let mut out = Vec::new();
        for check in self.checks() {
            if *check == Check::Render {
                out.extend(render::rejections(self.object, self.shape, self.operation, &self.dry_run, false));
            } else if let Err(rejection) = self.reject(*check) {
                let is_panic = rejection.panics;
                out.push(rejection);
                if is_panic {
                    break;
                }
            }
        }
        out
    }

    fn reject(&self, check: Check) -> Result<(), Rejection> {
        let (object, shape, rules) = (self.object, self.shape, self.rules);
        match check {
            Check::Certificates => check_certificates(object, shape, &rules.certificate_prefix),
            Check::Templates => check_templates(object, shape),
            Check::Tls => tls::check(object, shape, rules.tls),
            Check::MediatedDevices => self.mediated_devices(),
            Check::Affinity => affinity::check(object, shape, rules.prints_lists_as),
            Check::GateWarnings | Check::TuningWarning | Check::Unchanged => Ok(()),
            Check::Render => {
                render::rejections(object, shape, self.operation, &self.dry_run, true).pop().map_or(Ok(()), Err)
            }
        }
    }

    /// Rejects different lists under the old and the new name. Source: HCO `validateMediatedDeviceTypes`.
    fn mediated_devices(&self) -> Result<(), Rejection> {
        let Some(devices) = at(self.object, self.shape.path("mediatedDevices")) else {
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
        let path = Path::dotted(self.shape.path("mediatedDevices"));
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

    /// Whether neither spec nor annotations changed, compared as Go compares the decoded values. The webhook then
    /// checks nothing.
    fn is_unchanged(&self) -> bool {
        let Operation::Update { old, .. } = self.operation else {
            return false;
        };
        let annotations = "metadata.annotations";
        if at(old, annotations) != at(self.object, annotations) {
            return false;
        }
        let release = self.dry_run.release;
        let is_equal = |ty| {
            release.go_types().deep_equal(&json!({"spec": old["spec"]}), &json!({"spec": self.object["spec"]}), ty)
        };
        at(old, "spec") == at(self.object, "spec")
            || release.hyperconverged_type(version_of(self.object)).is_some_and(is_equal)
    }
}

/// The bug that a warning skips all later checks; `hidden` is the rejection that it skipped.
fn warning_bug(((path, message), unchecked): (Warning, Vec<Check>), hidden: Option<Rejection>) -> OperatorBug {
    OperatorBug { kind: OperatorBugKind::WarningEndsValidation, path, message, hidden, unchecked }
}

/// The bug that rendering panics on a value that the earlier checks accepted.
fn panic_bug(rejection: &Rejection) -> Option<OperatorBug> {
    let is_panic = rejection.reason == Reason::TlsProfileUnknown;
    is_panic.then(|| OperatorBug {
        kind: OperatorBugKind::Panic,
        path: rejection.causes.first().map(|c| c.path.clone()).unwrap_or_default(),
        message: rejection.message.clone(),
        hidden: None,
        unchecked: Vec::new(),
    })
}

/// The annotation that switches a template on or off.
const ENABLE: &str = "dataimportcrontemplate.kubevirt.io/enable";

/// Rejects an enable annotation other than `true` or `false` (in any case), and an enabled template without a spec.
fn check_templates(object: &Value, shape: Shape<'_>) -> Result<(), Rejection> {
    for (i, template) in list(object, shape.path("templates")).iter().enumerate() {
        let path = Path::dotted(shape.path("templates")).index(i);
        let annotation = template["metadata"]["annotations"].get(ENABLE);
        let enable = annotation.map(|v| v.as_str().unwrap_or_default().to_lowercase());
        if !matches!(enable.as_deref(), None | Some("true" | "false")) {
            let message =
                format!("the {ENABLE} annotation of a dataImportCronTemplate must be either \"true\" or \"false\"");
            let annotation = path.key("metadata").key("annotations").key(ENABLE);
            return Err(Rejection::new(Reason::TemplateEnableAnnotation, message).at(annotation));
        }
        let enabled = enable.as_deref() != Some("false");
        if enabled && template.get("spec").is_none_or(Value::is_null) {
            let message = "dataImportCronTemplate spec is empty for an enabled DataImportCronTemplate";
            return Err(Rejection::new(Reason::TemplateWithoutSpec, message).at(path));
        }
    }
    Ok(())
}

/// The minimum of each duration: ten minutes.
const MINIMUM: duration::Duration = duration::Duration(10 * 60 * 1_000_000_000);

/// Rejects a duration under ten minutes, a certificate renewed after it expires, and a CA that expires before the
/// server's certificate. The operator checks the minimum in random order; this names the first in a fixed order.
fn check_certificates(object: &Value, shape: Shape<'_>, prefix: &str) -> Result<(), Rejection> {
    let certificates = at(object, shape.path("certificates")).unwrap_or(&Value::Null);
    let parts = ["ca.duration", "ca.renewBefore", "server.duration", "server.renewBefore"];
    let durations = parts.map(|part| {
        let parsed = duration::parse(text(certificates, part));
        parsed.unwrap_or(duration::Duration(0))
    });
    let reject = |reason, part: &str, message: String| {
        Err(Rejection::new(reason, message).at(Path::dotted(&format!("{}{part}", shape.path("certificates")))))
    };
    for (part, duration) in parts.iter().zip(&durations) {
        if *duration < MINIMUM {
            let message = format!("{prefix}.{part}: value is too small");
            return reject(Reason::CertificateTooShort, &format!(".{part}"), message);
        }
    }
    let [ca, ca_renewed, server, server_renewed] = durations;
    for (part, duration, renewed) in [("ca", ca, ca_renewed), ("server", server, server_renewed)] {
        if duration < renewed {
            let message = format!("{prefix}.{part}: duration is smaller than renewBefore");
            return reject(Reason::CertificateOrder, &format!(".{part}"), message);
        }
    }
    if ca < server {
        let message = format!("{prefix}: ca.duration is smaller than server.duration");
        return reject(Reason::CertificateOrder, "", message);
    }
    Ok(())
}
