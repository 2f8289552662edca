//! The TLS profile of all operands, and its translations.
//!
//! Source: HCO `pkg/tlssecprofile` (1.18, 1.19), `pkg/util` before; OpenShift's `config/v1`.

use super::error::Error;
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::prelude::*;
use crate::release::Tls;
use crate::release::{Platform, Release};
use hcoplan_kubernetes::tree;

/// The effective profile: the CR's, else the APIServer's (OpenShift), else Intermediate.
#[derive(Debug, Clone)]
pub struct TlsProfile {
    /// The profile in OpenShift's shape, as in the operand CRs.
    pub value: Value,
    ciphers: Vec<String>,
    min_version: String,
}

impl TlsProfile {
    /// The effective profile of a cluster.
    pub fn effective(release: &Release, inventory: &Inventory, hc: &HyperConverged) -> Self {
        let tables = &release.tables().tls;
        let own = hc.get(HyperConverged::TLS_PROFILE).cloned();
        let default = || json!({"type": "Intermediate", "intermediate": {}});
        let mut value = own.or_else(|| Self::of_cluster(release, inventory)).unwrap_or_else(default);
        let lacks_custom = value.get("custom").is_none_or(Value::is_null);
        if type_of(&value) == "Custom" && lacks_custom && release.has("completes-tls-profile") {
            value["custom"] = intermediate(tables);
        }
        let custom = (type_of(&value) == "Custom").then(|| value["custom"].clone());
        Self::new(tables, value, custom.as_ref())
    }

    /// The path and value that the operator adds to the HyperConverged's profile when it reads it, and stores with its
    /// update.
    pub fn completed(release: &Release, hc: &HyperConverged) -> Option<(String, Value)> {
        let own = hc.get(HyperConverged::TLS_PROFILE)?;
        let lacks_custom = type_of(own) == "Custom" && own.get("custom").is_none_or(Value::is_null);
        let is_completed = lacks_custom && release.has("completes-tls-profile");
        is_completed.then(|| (format!("{}.custom", HyperConverged::TLS_PROFILE), intermediate(&release.tables().tls)))
    }

    /// The APIServer's profile as the operator reads it (OpenShift).
    pub fn of_cluster(release: &Release, inventory: &Inventory) -> Option<Value> {
        let profile = inventory.tls_security_profile.as_ref()?;
        let tables = &release.tables().tls;
        (inventory.platform == Platform::OpenShift).then(|| sanitise(tables, profile))
    }

    /// `Old`, `Intermediate`, `Modern` or `Custom`.
    pub fn kind(&self) -> &str {
        type_of(&self.value)
    }

    /// The profile for KubeVirt, which uses a custom object with any `type`.
    ///
    /// # Errors
    /// There is neither a custom object nor a profile named `type`: rendering panics.
    pub fn for_kubevirt(&self, tables: &Tls) -> Result<Cow<'_, Self>, Error> {
        let custom = self.value.get("custom").filter(|c| c.is_object());
        match custom {
            None if !tables.profiles.contains_key(self.kind()) => Err(Error::panic("KubeVirt")),
            None => Ok(Cow::Borrowed(self)),
            Some(custom) => Ok(Cow::Owned(Self::new(tables, self.value.clone(), Some(custom)))),
        }
    }

    /// Checks the profile's type, which the operator looks up for its own pods in releases that give them a profile.
    ///
    /// No profile has that name: the operator panics.
    pub(super) fn check_in_pods(&self, release: &Release) -> Result<(), Error> {
        let named = |kind| release.tables().tls.profiles.contains_key(kind);
        match self.kind() {
            kind if kind == "Custom" || named(kind) || !release.has("tls-arguments") => Ok(()),
            _ => Err(Error::panic("Deployment")),
        }
    }

    /// Whether a stored HyperConverged has a profile without a type. Go prints `type: ""`.
    pub fn lacks_type(stored: &Value) -> bool {
        let spec = &stored["spec"];
        let profile = spec.get("tlsSecurityProfile");
        let profile = profile.or_else(|| tree::get(spec, HyperConverged::TLS_PROFILE));
        profile.is_some_and(|p| p.is_object() && type_of(p).is_empty())
    }

    fn new(tables: &Tls, value: Value, custom: Option<&Value>) -> Self {
        let named = tables.profiles.get(type_of(&value));
        let (ciphers, min_version) = match custom {
            Some(custom) => {
                let names = texts(custom.get("ciphers"));
                let version = custom.get("minTLSVersion").and_then(Value::as_str);
                (names.map(str::to_owned).collect(), version.unwrap_or_default().to_owned())
            }
            None => named.map(|p| (p.ciphers.clone(), p.min_tls_version.clone())).unwrap_or_default(),
        };
        Self { value, ciphers, min_version }
    }

    /// The ciphers' OpenSSL names, including unknown ones.
    pub fn openssl_ciphers(&self) -> &[String] {
        &self.ciphers
    }

    /// The ciphers' IANA names, without unknown ones.
    pub fn iana_ciphers<'t>(&self, tables: &'t Tls) -> Vec<&'t str> {
        let known = self.ciphers.iter().filter_map(|c| tables.openssl_to_iana.get(c));
        known.map(String::as_str).collect()
    }

    /// The minimum version as written: `VersionTLS10` … `VersionTLS13`.
    pub fn min_version(&self) -> &str {
        &self.min_version
    }

    /// The minimum version; unknown ones count as TLS 1.2.
    pub fn known_min_version(&self) -> &str {
        match self.min_version.as_str() {
            known @ ("VersionTLS10" | "VersionTLS11" | "VersionTLS13") => known,
            _ => "VersionTLS12",
        }
    }

    /// Whether only TLS 1.3 is allowed, which has no configurable ciphers.
    pub fn is_tls13(&self) -> bool {
        self.min_version == "VersionTLS13"
    }
}

fn type_of(profile: &Value) -> &str {
    text(profile.get("type"))
}

fn intermediate(tables: &Tls) -> Value {
    let profile = &tables.profiles["Intermediate"];
    json!({"ciphers": profile.ciphers, "minTLSVersion": profile.min_tls_version})
}

/// Reduces the APIServer's profile as the operator does: a custom profile keeps only known ciphers.
fn sanitise(tables: &Tls, profile: &Value) -> Value {
    let mut out = profile.clone();
    if type_of(profile) != "Custom" {
        return out;
    }
    match out.get_mut("custom").filter(|c| c.is_object()) {
        None => out["custom"] = intermediate(tables),
        Some(custom) => {
            if let Some(ciphers) = custom.get_mut("ciphers").and_then(Value::as_array_mut) {
                ciphers.retain(|c| {
                    let name = text(c);
                    tables.valid_cipher_names.iter().any(|v| v == name)
                });
                // The operator's list is nil until the first cipher.
                if ciphers.is_empty() {
                    custom["ciphers"] = Value::Null;
                }
            }
        }
    }
    out
}
