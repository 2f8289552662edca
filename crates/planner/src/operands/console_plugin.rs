//! The console plugin with its proxy. Source: HCO `controllers/handlers/kubevirtConsolePlugin.go`.

use super::{Context, Error, pods};
use crate::prelude::*;
use hcoplan_kubernetes::tree::set;

/// Rendered on OpenShift, if the operator's environment has both images.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if cx.env("KV_CONSOLE_PLUGIN_IMAGE").is_none() || cx.env("KV_CONSOLE_PROXY_IMAGE").is_none() {
        return Ok(Vec::new());
    }
    let mut objects = cx.constants(&[
        "Service/kubevirt-console-plugin-service",
        "Service/kubevirt-apiserver-proxy-service",
        "ServiceAccount/kubevirt-console-plugin",
        "ServiceAccount/kubevirt-apiserver-proxy",
        "ConsolePlugin/kubevirt-plugin",
        "ConfigMap/kubevirt-user-settings",
        "Role/kubevirt-ui-config-reader",
        "RoleBinding/kubevirt-ui-config-reader-rolebinding",
        "NetworkPolicy/kubevirt-console-plugin-np",
        "NetworkPolicy/kubevirt-apiserver-proxy-np",
    ]);
    objects.push(pods::deployment(cx, "Deployment/kubevirt-console-plugin", &[]));
    objects.push(pods::deployment(cx, "Deployment/kubevirt-apiserver-proxy", &proxy_args(cx)));
    objects.push(nginx(cx));
    objects.push(features(cx));
    Ok(objects)
}

/// Ciphers and version as Go's numbers, from 1.18 on.
fn proxy_args(cx: &Context<'_>) -> Vec<String> {
    if !cx.release.has("tls-arguments") {
        return Vec::new();
    }
    let (tls, tables) = (&cx.tls, &cx.release.tables().tls);
    let mut args = Vec::new();
    let mut names = tls.iana_ciphers(tables);
    if names.is_empty() {
        names.extend(cx.release.default_ciphers());
    }
    let ids = names.iter().filter_map(|c| tables.go_cipher_ids.get(*c));
    let ids = joined(ids.map(u32::to_string), ",");
    if !tls.is_tls13() {
        args.push(format!("--tls-cipher-suites={ids}"));
    }
    if let Some(id) = tables.go_version_ids.get(tls.known_min_version()) {
        args.push(format!("--tls-min-version={id}"));
    }
    args
}

/// The configuration of the plugin's web server: protocols from the minimum up, OpenSSL's cipher names.
fn nginx(cx: &Context<'_>) -> Object {
    let tls = &cx.tls;
    let protocols = match tls.known_min_version() {
        "VersionTLS10" => "TLSv1 TLSv1.1 TLSv1.2 TLSv1.3",
        "VersionTLS11" => "TLSv1.1 TLSv1.2 TLSv1.3",
        "VersionTLS13" => "TLSv1.3",
        _ => "TLSv1.2 TLSv1.3",
    };
    let mut directives = format!("    ssl_protocols {protocols};\n");
    if !tls.is_tls13() && !tls.openssl_ciphers().is_empty() {
        let ciphers = tls.openssl_ciphers().join(":");
        directives.push_str(&format!("    ssl_ciphers {ciphers};\n"));
    }
    cx.changed("ConfigMap/nginx-conf", |body| {
        if let Some(Value::String(text)) = body.pointer_mut("/data/nginx.conf") {
            *text = with_directives(text, &directives);
        }
    })
}

/// Replaces the TLS directives of a configuration; the template has those of some profile.
fn with_directives(text: &str, directives: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        match line.trim_start() {
            line if line.starts_with("ssl_protocols ") => out.push_str(directives),
            line if line.starts_with("ssl_ciphers ") => {}
            _ => out.push_str(line),
        }
    }
    out
}

/// The console's features; from 1.18 on also the cluster's IP stack.
fn features(cx: &Context<'_>) -> Object {
    const NAME: &str = "ConfigMap/kubevirt-ui-features";
    if !cx.release.has("ip-stack-type") {
        return cx.constant(NAME);
    }
    let families = &cx.inventory.ip_families;
    let has = |family: &str| families.iter().any(|f| f == family);
    let stack = match (has("IPv4"), has("IPv6")) {
        (true, true) => "DualStack",
        (false, true) => "IPv6SingleStack",
        _ => "IPv4SingleStack",
    };
    cx.changed(NAME, |body| set(body, "data.ipStackType", json!(stack)))
}
