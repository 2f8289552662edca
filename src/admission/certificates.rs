//! How long certificates live. Source: HCO `validateCertConfig`.

use serde_json::Value;

use super::shape::{Shape, text};
use super::{Reason, Refusal};
use crate::kube::duration;
use crate::yaml::Path;

/// Nothing may be shorter.
const MINIMUM: duration::Duration = duration::Duration(10 * 60 * 1_000_000_000);

/// Each duration at least ten minutes, each certificate renewed before it ends, and the CA
/// outliving the server's certificate. The operator looks for a short one in a random order;
/// here the first in this order is named.
pub(super) fn check(object: &Value, shape: &Shape, prefix: &str) -> Result<(), Refusal> {
    let duration = |part: &str| {
        let text = text(object, &format!("{}.{part}", shape.certificates));
        duration::parse(text).unwrap_or(duration::Duration(0))
    };
    let refuse = |reason, part: &str, message: String| {
        Err(Refusal::new(reason, message)
            .at(Path::dotted(&format!("{}{part}", shape.certificates))))
    };
    for part in [
        "ca.duration",
        "ca.renewBefore",
        "server.duration",
        "server.renewBefore",
    ] {
        if duration(part) < MINIMUM {
            let message = format!("{prefix}.{part}: value is too small");
            return refuse(Reason::CertificateTooShort, &format!(".{part}"), message);
        }
    }
    for part in ["ca", "server"] {
        if duration(&format!("{part}.duration")) < duration(&format!("{part}.renewBefore")) {
            let message = format!("{prefix}.{part}: duration is smaller than renewBefore");
            return refuse(Reason::CertificateOrder, &format!(".{part}"), message);
        }
    }
    if duration("ca.duration") < duration("server.duration") {
        let message = format!("{prefix}: ca.duration is smaller than server.duration");
        return refuse(Reason::CertificateOrder, "", message);
    }
    Ok(())
}
