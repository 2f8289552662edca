//! A patch that allows an operand weaker TLS than the HyperConverged requires.

use hcoplan_planner::release::Tls;

use super::prelude::*;

const KUBEVIRT: &str = "/spec/configuration/tlsConfiguration";

/// The lowest version that isn't an error.
const TLS12: u32 = 0x0303;
const TLS13: u32 = 0x0304;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let tables = &cx.release().tables().tls;
    for (patch, before, after) in cx.patched_operands() {
        let pointer = match patch.target.kind {
            "KubeVirt" => KUBEVIRT,
            "CDI" => "/spec/config/tlsSecurityProfile",
            _ => "/spec/tlsSecurityProfile",
        };
        let [before, after] = [before, after].map(|o| o.pointer(pointer));
        if before == after {
            continue;
        }
        let [before, after] = [before, after].map(|settings| Strength::of(tables, settings));
        let versions = (after.version < before.version).then(|| {
            let severe = after.version < TLS12;
            let (was, is) = (named(before.version), named(after.version));
            let message = format!("the patch lets {} speak {is}; without it, the minimum is {was}", patch.target.kind);
            (severe, message, format!("{pointer}/minTLSVersion"))
        });
        // A named profile and a list of ciphers are alternatives.
        let own_ciphers = patch.target.kind == "KubeVirt" || versions.is_none();
        let ciphers = after.new_and_weak(&before).filter(|_| own_ciphers);
        let weak = ciphers.map(|(_, cipher)| cipher);
        let ciphers = ciphers.map(|(severe, cipher)| {
            let message = format!("the patch lets {} use {cipher}, which the profile leaves out", patch.target.kind);
            (severe, message, format!("{pointer}/ciphers"))
        });
        for (severe, message, leaf) in versions.into_iter().chain(ciphers) {
            let Some(applied) = cx.changed_by(patch, &leaf).or_else(|| cx.changed_by(patch, pointer)) else {
                continue;
            };
            let cipher = weak.filter(|_| leaf.ends_with("/ciphers"));
            let named = ["/custom/minTLSVersion", "/type"].map(|key| format!("{pointer}{key}"));
            let span = match cipher {
                Some(cipher) => applied.text_span(&written_as(tables, &applied, cipher)),
                None => named.iter().find_map(|p| applied.written_span(p)),
            };
            let place = match span {
                Some(span) => patch.place(span),
                None => applied.written_location(&leaf),
            };
            out.report(
                cx.finding(message)
                    .severity(error_if(severe))
                    .at(place)
                    .label("weaker than what HCO renders")
                    .help(advice(cx))
                    .fixes(cx.drop_operation(&applied)),
            );
        }
    }
}

/// A cipher's name as written in the operation: IANA's or OpenSSL's.
fn written_as(tables: &Tls, applied: &Applied<'_, '_>, iana: &str) -> String {
    let known = tables.openssl_to_iana.iter();
    let mut names = known.filter(|(_, i)| *i == iana).map(|(openssl, _)| openssl.as_str());
    let found = names.find(|name| applied.text_span(name).is_some());
    found.unwrap_or(iana).to_owned()
}

fn advice(cx: &Context<'_>) -> String {
    let own = cx.field("tlsSecurityProfile").is_set();
    let known = own || !cx.is_openshift() || cx.inventory().tls_security_profile.is_some();
    let assumed = if known {
        ""
    } else {
        ". Neither it nor the inventory's tlsSecurityProfile is set, so this compares with Intermediate"
    };
    format!("remove the operation; spec.tlsSecurityProfile sets the profile of all operands{assumed}")
}

fn named(version: u32) -> String {
    format!("TLS 1.{}", version.saturating_sub(0x0301))
}

/// The versions and ciphers that TLS settings allow.
struct Strength {
    version: u32,
    /// IANA's names; empty means Go's default.
    ciphers: BTreeSet<String>,
}

impl Strength {
    /// Of KubeVirt's settings or a profile. The default is `Intermediate`.
    fn of(tables: &Tls, settings: Option<&Json>) -> Self {
        let text = |v: &Json, key: &str| v.get(key).and_then(Json::as_str).map(str::to_owned);
        let kind = settings.and_then(|s| text(s, "type"));
        let custom = settings.and_then(|s| s.get("custom"));
        let is_profile = kind.is_some() || custom.is_some();
        let named = kind.filter(|k| k != "Custom");
        let (version, ciphers) = match (named, custom.or(settings)) {
            (None, Some(own)) if custom.is_some() || !is_profile => {
                (text(own, "minTLSVersion"), texts(&own["ciphers"]).map(str::to_owned).collect())
            }
            (kind, _) => {
                let kind = kind.as_deref().unwrap_or("Intermediate");
                match tables.profiles.get(kind) {
                    Some(p) => (Some(p.min_tls_version.clone()), p.ciphers.clone()),
                    None => (None, Vec::new()),
                }
            }
        };
        let version = version.and_then(|v| tables.go_version_ids.get(&v).copied());
        let iana = |name: String| tables.openssl_to_iana.get(&name).cloned().unwrap_or(name);
        Self { version: version.unwrap_or(TLS12), ciphers: ciphers.into_iter().map(iana).collect() }
    }

    /// The weakest cipher that the other settings don't allow, and whether it is an error.
    fn new_and_weak<'s>(&'s self, before: &Self) -> Option<(bool, &'s str)> {
        if self.version >= TLS13 {
            return None;
        }
        let new = self.ciphers.iter().filter(|c| !before.ciphers.contains(*c));
        let new = new.map(String::as_str);
        let weak = new.filter_map(|c| {
            let severe = c.contains("3DES") || c.contains("RC4") || c.starts_with("TLS_RSA_");
            (severe || c.contains("_CBC_")).then_some((severe, c))
        });
        weak.max_by_key(|(severe, c)| (*severe, c.contains("3DES")))
    }
}
