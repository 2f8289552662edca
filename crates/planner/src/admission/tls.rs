//! Checks TLS profiles. Source: HCO `validateTLSSecurityProfiles`.

use super::shape::{Shape, at, list, text};
use super::{Reason, Rejection};
use crate::names::NAMES;
use crate::prelude::*;
use crate::release::{CustomMissing, TlsRules};
use hcoplan_kubernetes::schema::go_quote;

/// Rejects a custom profile with an unknown version, without a cipher that HTTP/2 requires, or with ciphers for TLS
/// 1.3.
pub(super) fn check(object: &Value, shape: Shape<'_>, rules: TlsRules) -> Result<(), Rejection> {
    if at(object, shape.path("tls")).is_none() {
        return Ok(());
    }
    let path = Path::dotted(shape.path("tls"));
    let custom = format!("{}.custom", shape.path("tls"));
    if at(object, &custom).is_none() {
        let is_custom = text(object, &format!("{}.type", shape.path("tls"))) == "Custom";
        if !(is_custom && matches!(rules.custom_missing, CustomMissing::Rejected)) {
            return Ok(());
        }
        let message = "missing required field spec.tlsSecurityProfile.custom when type is Custom";
        return Err(Rejection::new(Reason::TlsCustomMissing, message).at(path.key("type")));
    }
    let version = text(object, &format!("{custom}.minTLSVersion"));
    let ciphers = list(object, &format!("{custom}.ciphers"));
    let custom = path.key("custom");
    match version {
        "VersionTLS13" if ciphers.is_empty() => Ok(()),
        "VersionTLS13" => {
            let message = "custom ciphers cannot be selected when minTLSVersion is VersionTLS13";
            Err(Rejection::new(Reason::TlsCiphersWithTls13, message).at(custom.key("ciphers")))
        }
        "VersionTLS10" | "VersionTLS11" | "VersionTLS12" => {
            if ciphers.iter().any(|c| c.as_str().is_some_and(|c| NAMES["ciphersOfHttp2"].contains(&c))) {
                return Ok(());
            }
            let message = "http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher (need at least one of ECDHE-RSA-AES128-GCM-SHA256 or ECDHE-ECDSA-AES128-GCM-SHA256)";
            Err(Rejection::new(Reason::TlsHttp2Cipher, message).at(custom.key("ciphers")))
        }
        other => {
            let mut message = "invalid value for spec.tlsSecurityProfile.custom.minTLSVersion".to_owned();
            if rules.quotes_min_version {
                message.push_str(&format!(": {}", go_quote(other)));
            }
            Err(Rejection::new(Reason::TlsMinVersion, message).at(custom.key("minTLSVersion")))
        }
    }
}
