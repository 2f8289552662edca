//! The TLS profile that every operand gets, and its translations.
//!
//! Source: HCO `pkg/tlssecprofile` (1.18, 1.19), `pkg/util` before; OpenShift's `config/v1`.

use std::borrow::Cow;

use hcoplan_kubernetes::tree;
use serde_json::{Value, json};

use super::error::Error;
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::release::{Platform, Release, Tls};

/// The effective profile: the CR's, else the APIServer's (OpenShift), else Intermediate.
#[derive(Debug, Clone, PartialEq)]
pub struct TlsProfile {
    /// The profile in OpenShift's shape, as the operand CRs carry it.
    pub value: Value,
    ciphers: Vec<String>,
    min_version: String,
}

impl TlsProfile {
    /// The profile of a cluster.
    pub fn effective(release: &Release, inventory: &Inventory, hc: &HyperConverged) -> Self {
        let tables = &release.tables().tls;
        let own = hc.get("security.tlsSecurityProfile").cloned();
        let cluster = || Self::of_cluster(release, inventory);
        let default = || json!({"type": "Intermediate", "intermediate": {}});
        let mut value = own.or_else(cluster).unwrap_or_else(default);
        let lacks_custom = value.get("custom").is_none_or(Value::is_null);
        if type_of(&value) == "Custom" && lacks_custom && release.has("completes-tls-profile") {
            value["custom"] = intermediate(tables);
        }
        let custom = (type_of(&value) == "Custom").then(|| value["custom"].clone());
        Self::new(tables, value, custom.as_ref())
    }

    /// What the operator adds to the HyperConverged's own profile when it reads it, and stores with its own update.
    pub fn completed(release: &Release, hc: &HyperConverged) -> Option<(String, Value)> {
        let own = hc.get("security.tlsSecurityProfile")?;
        let lacks_custom = type_of(own) == "Custom" && own.get("custom").is_none_or(Value::is_null);
        let completes = lacks_custom && release.has("completes-tls-profile");
        completes.then(|| ("security.tlsSecurityProfile.custom".to_owned(), intermediate(&release.tables().tls)))
    }

    /// The APIServer's profile as the operator takes it (OpenShift).
    pub fn of_cluster(release: &Release, inventory: &Inventory) -> Option<Value> {
        let profile = inventory.tls_security_profile.as_ref()?;
        let tables = &release.tables().tls;
        (inventory.platform == Platform::OpenShift).then(|| sanitise(tables, profile))
    }

    /// `Old`, `Intermediate`, `Modern` or `Custom`.
    pub fn kind(&self) -> &str {
        type_of(&self.value)
    }

    /// The profile as KubeVirt gets it: KubeVirt uses a custom object with every `type`.
    ///
    /// # Errors
    /// There is no custom object, and no profile has the name in `type`: rendering panics.
    pub fn for_kubevirt(&self, tables: &Tls) -> Result<Cow<'_, Self>, Error> {
        let custom = self.value.get("custom").filter(|c| c.is_object());
        match custom {
            None if !tables.profiles.contains_key(self.kind()) => Err(Error::panic("KubeVirt")),
            None => Ok(Cow::Borrowed(self)),
            Some(custom) => Ok(Cow::Owned(Self::new(tables, self.value.clone(), Some(custom)))),
        }
    }

    /// The operator looks up what its own pods get by the type, where a release gives them a profile.
    ///
    /// # Errors
    /// There is no profile of that name: the operator panics.
    pub(super) fn check_in_pods(&self, release: &Release) -> Result<(), Error> {
        let named = |kind| release.tables().tls.profiles.contains_key(kind);
        match self.kind() {
            kind if kind == "Custom" || named(kind) || !release.has("tls-arguments") => Ok(()),
            _ => Err(Error::panic("Deployment")),
        }
    }

    /// Whether a HyperConverged as it is stored has a profile without a type. Go prints `type: ""`.
    pub fn lacks_type(stored: &Value) -> bool {
        let spec = &stored["spec"];
        let profile = spec.get("tlsSecurityProfile");
        let profile = profile.or_else(|| tree::get(spec, "security.tlsSecurityProfile"));
        profile.is_some_and(|p| p.is_object() && type_of(p).is_empty())
    }

    fn new(tables: &Tls, value: Value, custom: Option<&Value>) -> Self {
        let named = tables.profiles.get(type_of(&value));
        let (ciphers, min_version) = match custom {
            Some(custom) => {
                let ciphers = custom.get("ciphers").and_then(Value::as_array);
                let names = ciphers.into_iter().flatten().filter_map(Value::as_str);
                let version = custom.get("minTLSVersion").and_then(Value::as_str);
                (names.map(str::to_owned).collect(), version.unwrap_or_default().to_owned())
            }
            None => named.map(|p| (p.ciphers.clone(), p.min_tls_version.clone())).unwrap_or_default(),
        };
        Self { value, ciphers, min_version }
    }

    /// The ciphers' OpenSSL names as they are, unknown ones kept.
    pub fn openssl_ciphers(&self) -> &[String] {
        &self.ciphers
    }

    /// The ciphers' IANA names; unknown ones are dropped.
    pub fn iana_ciphers<'t>(&self, tables: &'t Tls) -> Vec<&'t str> {
        let known = self.ciphers.iter().filter_map(|c| tables.openssl_to_iana.get(c));
        known.map(String::as_str).collect()
    }

    /// `VersionTLS10` … `VersionTLS13` as it is.
    pub fn min_version(&self) -> &str {
        &self.min_version
    }

    /// The minimum version, with anything unknown read as TLS 1.2.
    pub fn known_min_version(&self) -> &str {
        match self.min_version.as_str() {
            known @ ("VersionTLS10" | "VersionTLS11" | "VersionTLS13") => known,
            _ => "VersionTLS12",
        }
    }

    /// Whether only TLS 1.3 is spoken, which has no configurable ciphers.
    pub fn is_tls13(&self) -> bool {
        self.min_version == "VersionTLS13"
    }
}

fn type_of(profile: &Value) -> &str {
    profile.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn intermediate(tables: &Tls) -> Value {
    let profile = &tables.profiles["Intermediate"];
    json!({"ciphers": profile.ciphers, "minTLSVersion": profile.min_tls_version})
}

/// What the operator takes from the APIServer: of a custom profile only ciphers it knows.
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
                    let name = c.as_str().unwrap_or_default();
                    tables.valid_cipher_names.iter().any(|v| v == name)
                });
                // It collects them in a list that isn't there before the first.
                if ciphers.is_empty() {
                    custom["ciphers"] = Value::Null;
                }
            }
        }
    }
    out
}
