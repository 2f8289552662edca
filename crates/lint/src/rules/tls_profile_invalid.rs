//! TLS profiles that HCO or KubeVirt rejects.

use super::prelude::*;
use hcoplan_planner::NAMES;

/// A cipher for HTTP/2 that every release supports.
const HTTP2_CIPHER: &str = "ECDHE-RSA-AES128-GCM-SHA256";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    match cx.rejected(|reason| !REJECTIONS.row(&variant(&reason).0)[0].is_empty()) {
        Some(finding) => {
            out.reject(rejection(cx, finding));
            if cx.admission().reason == Some(Reason::TlsHttp2Cipher) {
                // If IANA's names cause the rejection, it is explained by them.
                unknown_ciphers(cx, named_by_iana(cx).is_none(), out);
            }
        }
        None if cx.hyperconverged().is_some() => {
            modern_with_ciphers(cx, out);
            unknown_ciphers(cx, true, out);
        }
        None => {}
    }
}

/// The label and the help of each reason.
static REJECTIONS: Rows<[&str; 3]> = Rows::of("tlsRejections");

fn rejection(cx: &Context<'_>, finding: Finding) -> Finding {
    let [ciphers, version] =
        ["ciphers", "minTLSVersion"].map(|key| cx.field(&format!("tlsSecurityProfile.custom.{key}")));
    let reason = cx.admission().reason;
    let [_, label, help] = REJECTIONS.row(&variant(&reason).0);
    let finding = finding.label(label).help(help);
    match reason {
        Some(Reason::TlsHttp2Cipher) => {
            if let Some((place, fix)) = named_by_iana(cx) {
                return finding
                    .at(place)
                    .label("IANA's name; HCO takes OpenSSL's, and finds none that HTTP/2 needs")
                    .help(format!("write OpenSSL's names: {HTTP2_CIPHER} is one that HTTP/2 takes"))
                    .fixes(fix);
            }
            let add = |list| cx.suggest(format!("add {HTTP2_CIPHER}"), &[Change::Append(list, HTTP2_CIPHER.into())]);
            finding.fixes(ciphers.path().and_then(add))
        }
        Some(Reason::TlsCiphersWithTls13) => {
            let empty = |list| cx.change(Applicability::Suggestion, &[Change::Set(list, json!([]))]);
            finding
                .related(version.value_place(), "nothing below TLS 1.3 is allowed")
                .fixes(ciphers.path().and_then(empty))
        }
        Some(Reason::TlsMinVersion) if version.is_set() => finding.label("no such version"),
        Some(Reason::TlsProfileUnknown) if !cx.field("tlsSecurityProfile.type").is_set() => {
            without_type(cx, finding).fixes(with_type(cx, Applicability::Safe))
        }
        _ => finding,
    }
}

/// A finding about a profile without a type, in the HyperConverged or the cluster.
pub(super) fn without_type(cx: &Context<'_>, finding: Finding) -> Finding {
    let profile = cx.field("tlsSecurityProfile");
    if profile.is_set() {
        let finding = finding.at(profile.key_place()).label("`type` is missing");
        finding.help("set type to Old, Intermediate, Modern or Custom")
    } else {
        let finding = finding.at(cx.whole_location()).label("it gets the cluster's profile, which has no `type`");
        finding.help(
            "write `type` in the cluster's APIServer and in the inventory's \
             `tlsSecurityProfile`, or a `tlsSecurityProfile` here",
        )
    }
}

/// Sets the type of a profile by its section.
pub(super) fn with_type(cx: &Context<'_>, applicability: Applicability) -> Option<Fix> {
    let profile = cx.field("tlsSecurityProfile");
    let node = profile.node()?;
    let is_there = |kind: &&str| matches!(node.get(&kind.to_lowercase()).map(|n| &n.value), Some(Value::Map(_)));
    let mut named = ["Custom", "Modern", "Intermediate", "Old"].into_iter().filter(is_there);
    let (Some(kind), None) = (named.next(), named.next()) else {
        return None;
    };
    if node.get("type").is_some() {
        return None;
    }
    let set = Change::Set(profile.path()?.key("type"), kind.into());
    cx.fix(format!("write `type: {kind}`"), applicability, &[set])
}

/// The location of an HTTP/2 cipher with IANA's name, and the fix that writes OpenSSL's names for all: only the name is
/// wrong.
fn named_by_iana(cx: &Context<'_>) -> Option<(Location, Option<Fix>)> {
    let ciphers = cx.field("tlsSecurityProfile.custom.ciphers");
    let (path, node) = (ciphers.path()?, ciphers.node()?);
    let known = &cx.release().tables().tls.openssl_to_iana;
    let mut changes = Vec::new();
    let mut place = None;
    for (index, cipher) in node.items().iter().enumerate() {
        let Some(name) = cipher.as_str().filter(|n| !known.contains_key(*n)) else {
            continue;
        };
        let Some((openssl, _)) = known.iter().find(|(_, iana)| *iana == name) else {
            continue;
        };
        changes.push(Change::Set(path.index(index), openssl.as_str().into()));
        if NAMES["ciphersOfHttp2"].contains(&openssl.as_str()) && place.is_none() {
            place = Some(cx.location(cipher.span));
        }
    }
    let fix = cx.change(Applicability::Safe, &changes);
    Some((place?, fix))
}

/// KubeVirt's webhook rejects ciphers together with TLS 1.3.
fn modern_with_ciphers(cx: &Context<'_>, out: &mut Sink) {
    let profile = cx.field("tlsSecurityProfile.type");
    let tls = cx.rendered_kubevirt("configuration.tlsConfiguration");
    let ciphers = elements(&tls["ciphers"]).len();
    if profile.text() != Some("Modern") || ciphers == 0 || tls["minTLSVersion"] != "VersionTLS13" {
        return;
    }
    let finding = cx
        .finding(format!(
            "`type: Modern` without `modern: {{}}` gives KubeVirt TLS 1.3 with {ciphers} ciphers, \
             which KubeVirt's webhook rejects: You cannot specify ciphers when \
             spec.configuration.tlsConfiguration.minTLSVersion is empty or VersionTLS13"
        ))
        .at(profile.value_place())
        .label("`modern` is missing next to it")
        .help("write `modern: {}` next to the type");
    let modern = cx.field("tlsSecurityProfile.modern").path();
    let add = modern.map(|p| [Change::Set(p, json!({}))]);
    out.report(finding.fixes(add.and_then(|add| cx.fix("add `modern: {}`", Applicability::Safe, &add))));
}

fn unknown_ciphers(cx: &Context<'_>, also_by_iana: bool, out: &mut Sink) {
    let ciphers = cx.field("tlsSecurityProfile.custom.ciphers");
    let known = &cx.release().tables().tls.openssl_to_iana;
    for cipher in items(ciphers.node()) {
        let Some(name) = cipher.as_str() else {
            continue;
        };
        if known.contains_key(name) {
            continue;
        }
        let by_iana = known.iter().find(|(_, iana)| *iana == name);
        if by_iana.is_some() && !also_by_iana {
            continue;
        }
        let meant = by_iana.map(|(openssl, _)| openssl.as_str());
        let meant = meant.or_else(|| nearest(name, known.keys().map(String::as_str)));
        let message = format!("HCO doesn't know the cipher `{name}` and doesn't pass it on to KubeVirt");
        let finding = cx.finding(message).at(cx.location(cipher.span)).warning().label(match by_iana {
            Some(_) => "IANA's name; HCO takes OpenSSL's",
            None => "unknown",
        });
        out.report(did_you_mean(finding, "write", meant, "remove it"));
    }
}
