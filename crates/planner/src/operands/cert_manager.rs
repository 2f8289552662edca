//! The injector's certificate where no service CA makes one (1.19, not OpenShift). Source: HCO
//! `controllers/handlers/certmanager_issuer.go`, `netresinjector/certificate.go`.

use hcoplan_kubernetes::Object;

use super::{Context, Error};

/// Always, with or without the injector.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    Ok(cx.constants(&["Issuer/selfsigned", "Certificate/virt-network-resources-injector-cert"]))
}
