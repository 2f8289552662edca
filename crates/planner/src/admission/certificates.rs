//! Checks the durations of certificates. Source: HCO `validateCertConfig`.

use hcoplan_kubernetes::duration;
use hcoplan_yaml::Path;
use serde_json::Value;

use super::shape::{Shape, at, text};
use super::{Reason, Rejection};

/// The minimum of each duration: ten minutes.
const MINIMUM: duration::Duration = duration::Duration(10 * 60 * 1_000_000_000);

/// Rejects a duration under ten minutes, a certificate renewed after it expires, and a CA that expires before the
/// server's certificate. The operator checks the minimum in random order; this names the first in a fixed order.
pub(super) fn check(object: &Value, shape: &Shape, prefix: &str) -> Result<(), Rejection> {
    let certificates = at(object, shape.certificates).unwrap_or(&Value::Null);
    let parts = ["ca.duration", "ca.renewBefore", "server.duration", "server.renewBefore"];
    let durations = parts.map(|part| {
        let parsed = duration::parse(text(certificates, part));
        parsed.unwrap_or(duration::Duration(0))
    });
    let reject = |reason, part: &str, message: String| {
        Err(Rejection::new(reason, message).at(Path::dotted(&format!("{}{part}", shape.certificates))))
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
