//! A patch of versions, images or the removal of an operand, which HCO then doesn't control.

use super::prelude::*;

/// A path of an operand and the consequence of patching it.
struct Part {
    kind: &'static str,
    pointer: &'static str,
    severity: Severity,
    means: &'static str,
    instead: Instead,
}

const fn part(kind: &'static str, pointer: &'static str, what: &Consequence) -> Part {
    Part { kind, pointer, severity: what.severity, means: what.means, instead: what.instead }
}

/// The alternative to the operation.
#[derive(Clone, Copy)]
enum Instead {
    /// A field of the HyperConverged, by its path below `spec`.
    Field(&'static str),
    /// Why HCO or the release decides.
    Reason(&'static str),
}

struct Consequence {
    severity: Severity,
    means: &'static str,
    instead: Instead,
}

const IMAGES: Consequence = Consequence {
    severity: Severity::Error,
    means: "KubeVirt then reports another version than HCO waits for, and upgrades never finish",
    instead: Instead::Reason("images come with the operator's release, and from a mirror by an ImageDigestMirrorSet"),
};

const REMOVAL: Consequence = Consequence {
    severity: Severity::Warning,
    means: "what becomes of the workloads when it is removed no longer shows in the HyperConverged",
    instead: Instead::Field("uninstallStrategy"),
};

const UPDATES: Consequence = Consequence {
    severity: Severity::Warning,
    means: "how running virtual machines are updated no longer shows in the HyperConverged",
    instead: Instead::Field("workloadUpdateStrategy"),
};

const CERTIFICATES: Consequence = Consequence {
    severity: Severity::Warning,
    means: "its certificates are rotated otherwise than those of the other operands",
    instead: Instead::Field("certConfig"),
};

const MONITORING: Consequence = Consequence {
    severity: Severity::Warning,
    means: "Prometheus looks for KubeVirt's metrics where HCO's rules don't expect them",
    instead: Instead::Reason("HCO chooses it"),
};

const PARTS: [Part; 13] = [
    part("KubeVirt", "/spec/imageTag", &IMAGES),
    part("KubeVirt", "/spec/imageRegistry", &IMAGES),
    part("KubeVirt", "/spec/productVersion", &IMAGES),
    part("KubeVirt", "/spec/productName", &IMAGES),
    part("KubeVirt", "/spec/uninstallStrategy", &REMOVAL),
    part("KubeVirt", "/spec/workloadUpdateStrategy", &UPDATES),
    part("KubeVirt", "/spec/certificateRotateStrategy", &CERTIFICATES),
    part("KubeVirt", "/spec/monitorNamespace", &MONITORING),
    part("KubeVirt", "/spec/serviceMonitorNamespace", &MONITORING),
    part("KubeVirt", "/spec/monitorAccount", &MONITORING),
    part("CDI", "/spec/uninstallStrategy", &REMOVAL),
    part("CDI", "/spec/certConfig", &CERTIFICATES),
    part("NetworkAddonsConfig", "/spec/selfSignConfiguration", &CERTIFICATES),
];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let of_kind = PARTS.iter().filter(|p| p.kind == applied.kind());
        for part in of_kind {
            let Some(pointer) = applied.changed_below(part.pointer) else {
                continue;
            };
            let message = format!("the patch sets {pointer} of {}: {}", part.kind, part.means);
            let instead = match part.instead {
                Instead::Reason(reason) => reason.to_owned(),
                Instead::Field(field) => match cx.field(field).path() {
                    Some(path) => format!("use {path}"),
                    None => part.means.to_owned(),
                },
            };
            let fix = cx.drop_operation(&applied).map(|fix| Fix { title: format!("{}: {instead}", fix.title), ..fix });
            out.report(
                Finding::new(&JSONPATCH_OVERRIDES_LIFECYCLE, message)
                    .severity(part.severity)
                    .at(applied.named_location(pointer))
                    .label("HCO no longer controls it")
                    .remedy(format!("remove it: {instead}"), fix),
            );
        }
    }
}
