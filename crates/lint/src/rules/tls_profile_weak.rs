//! A TLS profile that security scanners report as weak.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let profile = cx.field("tlsSecurityProfile");
    let node = profile.node()?;
    let (at, what) = weakness(node)?;
    Some(
        cx.finding(format!("the TLS profile allows {what}"))
            .at(cx.location(at.span))
            .label("for the servers of every operand")
            .help("use the profile Intermediate, or leave the field out to follow the cluster's own"),
    )
}

/// The weak setting of a profile, with its node.
fn weakness(profile: &Node) -> Option<(&Node, String)> {
    let kind = profile.get("type")?;
    match kind.as_str()? {
        "Old" => {
            return Some((kind, "TLS 1.0 and ciphers without forward secrecy".to_owned()));
        }
        "Custom" => {}
        _ => return None,
    }
    let custom = profile.get("custom")?;
    if let Some(least) = custom.get("minTLSVersion")
        && let Some("VersionTLS10" | "VersionTLS11") = least.as_str()
    {
        let version = least.as_str().unwrap_or_default().trim_start_matches("VersionTLS");
        return Some((least, format!("TLS 1.{}", &version[1..])));
    }
    let ciphers = custom.list_at("ciphers");
    let weak = ciphers.iter().find(|c| {
        let name = c.as_str().unwrap_or_default();
        let by_rsa = name.starts_with("AES") || name.starts_with("TLS_RSA_");
        name.contains("3DES") || name.contains("DES-CBC3") || name.contains("RC4") || by_rsa
    })?;
    Some((weak, format!("the cipher {}", weak.as_str()?)))
}
