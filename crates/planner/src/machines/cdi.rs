//! CDI's webhooks for DataImportCrons and DataVolumes.
//!
//! Source: CDI `pkg/apiserver/webhooks` at v1.63.1, v1.64.0, v1.65.0 and v1.66.0. Differences between them are in
//! `admission` of `schemas/behaviour/<x.y>/kubevirt.json`. The length of an object's own name
//! isn't checked here.

use super::Cluster;
use super::checker::{Checker, count};
use crate::cause::{Cause, CauseKind, Stage};
use crate::prelude::*;
use crate::release::Release;

/// Whether a DataVolume without a claim is why: it has neither `storage` nor `pvc`.
pub fn lacks_claim(cause: &Cause) -> bool {
    cause.kind == CauseKind::Missing && cause.path.keys().last().is_none_or(|key| key == "spec")
}

/// The webhook's rejection of a DataImportCron with this `spec`, at a path below `spec`; `None` if it accepts it.
pub fn rejection(release: &Release, spec: &Value) -> Option<Cause> {
    let volume = &spec["template"]["spec"];
    let of_volume =
        first(release, volume, "Template", "cron-template").or_else(|| check_volume(release, volume, "Template"));
    let in_template = |cause: Cause| Cause { path: Path::dotted("template.spec").joined(&cause.path), ..cause };
    of_volume.map(in_template).or_else(|| first(release, spec, "spec", "import-cron"))
}

/// The webhook's rejection of an object of one of CDI's kinds with this `spec`, at a path below `spec`; `None` if it
/// accepts it.
pub fn disk_rejection(release: &Release, kind: &str, spec: &Value) -> Option<Cause> {
    match kind {
        "DataVolume" => check_volume(release, spec, "spec"),
        "DataImportCron" => rejection(release, spec),
        "VolumeImportSource" => {
            first(release, spec, "spec", "import-source").or_else(|| first(release, spec, "spec", "data-volume"))
        }
        "VolumeUploadSource" => first(release, spec, "spec", "upload-source"),
        _ => None,
    }
}

/// Checks a DataVolume's spec; `shown` is the webhook's name for it.
fn check_volume(release: &Release, volume: &Value, shown: &str) -> Option<Cause> {
    // Something other than CDI fills the claim then.
    let is_external =
        ["pvc", "storage"].iter().any(|claim| count(&volume[*claim], &["dataSource", "dataSourceRef"]) > 0);
    let group = if is_external { "external-population" } else { "data-volume" };
    first(release, volume, shown, "claim").or_else(|| first(release, volume, shown, group))
}

/// The rejection by the first row of a group that fails.
fn first(release: &Release, spec: &Value, shown: &str, group: &str) -> Option<Cause> {
    let cluster = Cluster { release, kubevirt: &Value::Null };
    let cause = Checker::new(cluster, spec, shown, Stage::Validating).with_placeholders().first(group)?;
    let path = Path(cause.path.0.get(1..).unwrap_or_default().to_vec());
    Some(Cause { path, ..cause })
}

/// Why Go can't decode a checksum of a fetched source: an algorithm and as many hexadecimal digits as it has.
pub(super) fn checksum_problem(written: &str) -> Option<String> {
    const LENGTHS: [(&str, usize); 4] = [("md5", 32), ("sha1", 40), ("sha256", 64), ("sha512", 128)];
    let (algorithm, hash) = written.split_once(':').unwrap_or((written, ""));
    let [algorithm, hash] = [algorithm, hash].map(|part| part.trim().to_ascii_lowercase());
    Some(match LENGTHS.iter().find(|(name, _)| *name == algorithm) {
        _ if !written.contains(':') => format!("invalid checksum format: expected 'algorithm:hash', got '{written}'"),
        _ if hash.is_empty() => "checksum hash value cannot be empty".to_owned(),
        None => {
            format!("unsupported hash algorithm '{algorithm}': supported algorithms are: md5, sha1, sha256, sha512")
        }
        Some((_, length)) if hash.len() != *length => {
            format!("invalid {algorithm} hash length: expected {length} hex characters, got {}", hash.len())
        }
        Some(_) => {
            let invalid = hash.chars().find(|c| !c.is_ascii_hexdigit())?;
            let code = u32::from(invalid);
            format!("checksum hash is not valid hexadecimal: encoding/hex: invalid byte: U+{code:04X} '{invalid}'")
        }
    })
}

/// An image's URL with its scheme in lower case, unless CDI imports from such URLs.
pub(super) fn registry_url_problem(url: &str) -> Option<String> {
    let scheme = scheme(url);
    let lower = scheme.to_ascii_lowercase();
    let is_known = ["docker", "oci-archive"].contains(&lower.as_str());
    (!is_known).then(|| lower + url.get(scheme.len()..).unwrap_or_default())
}

/// Whether CDI fetches from URLs of this scheme.
pub(super) fn is_fetched(url: &str) -> bool {
    ["http", "https", "gs"].contains(&scheme(url).to_ascii_lowercase().as_str())
}

/// The scheme as Go's `net/url` parses it; empty if there is none.
pub(super) fn scheme(url: &str) -> &str {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    let mut bytes = scheme.bytes();
    let starts_with_letter = bytes.next().is_some_and(|b| b.is_ascii_alphabetic());
    let rest_is_valid = bytes.all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if starts_with_letter && rest_is_valid { scheme } else { "" }
}

/// Whether Go's `net/url` parses it: no control characters, a valid host and port.
pub(super) fn is_url(url: &str) -> bool {
    if url.starts_with(':') || url.chars().any(|c| c.is_ascii_control()) {
        return false;
    }
    let authority = url.split_once("://").map(|(_, rest)| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        rest.get(..end).unwrap_or(rest)
    });
    let Some(authority) = authority else {
        return true;
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, h)| h);
    let port = host.rsplit_once(':').filter(|_| !host.ends_with(']')).map_or("", |(_, port)| port);
    !host.contains([' ', '"', '<', '>', '^', '`', '{', '|', '}', '\\']) && is_digits(port)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec() -> Value {
        json!({
            "schedule": "0 */12 * * *",
            "managedDataSource": "mine",
            "template": {"spec": {
                "source": {"registry": {"url": "docker://quay.io/acme/mine:1"}},
                "storage": {"resources": {"requests": {"storage": "5Gi"}}},
            }},
        })
    }

    /// The spec with another value at a pointer; null removes it.
    fn with(pointer: &str, value: Value) -> Value {
        let mut spec = spec();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let parent = spec.pointer_mut(parent).and_then(Value::as_object_mut);
        parent.expect("an object").insert(key.to_owned(), value);
        spec
    }

    #[test]
    fn accepts_good_cases() {
        let release = Release::known("1.16").expect("known");
        assert_eq!(rejection(&release, &spec()), None);
        for (pointer, value) in [
            ("/schedule", json!("")),
            ("/importsToKeep", json!(0)),
            ("/garbageCollect", json!("Never")),
            ("/template/spec/source", json!({"pvc": {"name": "a", "namespace": "b"}})),
            ("/template/spec/source", json!({"registry": {"imageStream": "is", "pullMethod": "node"}})),
            ("/template/spec/source", json!({"registry": {"url": "OCI-archive:x", "pullMethod": "pod"}})),
            ("/template/spec/storage/accessModes", json!(["ReadWriteMany", "ReadWriteOnce"])),
            ("/template/spec/storage/resources/requests/storage", json!(1048576)),
        ] {
            assert_eq!(rejection(&release, &with(pointer, value.clone())), None, "{pointer} {value}");
        }
        let mut cloned = with("/template/spec/source", json!({"pvc": {"name": "a", "namespace": "b"}}));
        cloned["template"]["spec"]["storage"] = json!({});
        assert_eq!(rejection(&release, &cloned), None);
    }

    #[test]
    fn defects_depend_on_the_version() {
        let volume =
            |source: Value| json!({"source": source, "storage": {"resources": {"requests": {"storage": "1Gi"}}}});
        let http = |sum: &str| volume(json!({"http": {"url": "https://x", "checksum": sum}}));
        let imageio = |more: Value| {
            let mut imageio = json!({"url": "https://x", "secretRef": "s", "diskId": "1"});
            imageio.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
            volume(json!({"imageio": imageio}))
        };
        let [old, skips, checks] = ["1.16", "1.17", "1.18"].map(|name| Release::known(name).expect("known"));
        let unverified = || imageio(json!({"insecureSkipVerify": true}));
        for (spec, release, message) in [
            (http("md5:1"), &old, ""),
            (http(&format!("SHA256: {}", "A".repeat(64))), &checks, ""),
            (
                http("md5:1"),
                &checks,
                "Invalid checksum format: invalid md5 hash length: expected 32 hex characters, got 1",
            ),
            (
                http("sha3:1"),
                &checks,
                "Invalid checksum format: unsupported hash algorithm 'sha3': supported algorithms are: \
             md5, sha1, sha256, sha512",
            ),
            (
                http("1"),
                &checks,
                "Invalid checksum format: invalid checksum format: expected 'algorithm:hash', got '1'",
            ),
            (imageio(json!({"certConfigMap": "c"})), &old, ""),
            (unverified(), &old, "spec.source.Imageio source Imageio is not valid"),
            (unverified(), &skips, ""),
            (
                imageio(json!({})),
                &skips,
                "spec.source.Imageio source Imageio requires CertConfigMap or InsecureSkipVerify",
            ),
        ] {
            let found = check_volume(release, &spec, "spec").map(|r| r.message);
            assert_eq!(found.unwrap_or_default(), message, "{spec}");
        }
    }

    #[test]
    fn rejects_bad_cases() {
        let release = Release::known("1.16").expect("known");
        let pvc = |modes: Value| {
            let mut spec = with("/template/spec/storage", Value::Null);
            spec["template"]["spec"]["pvc"] =
                json!({"accessModes": modes, "resources": {"requests": {"storage": "5Gi"}}});
            spec
        };
        let source = |source: Value| with("/template/spec/source", source);
        let registry = |url: &str| source(json!({"registry": {"url": url}}));
        let size = |size: &str| with("/template/spec/storage/resources/requests/storage", json!(size));
        for (spec, message, path) in [
            (source(json!({})), "Missing source", "template.spec.source"),
            (source(json!({"http": {"url": "http://x"}})), "Missing source", "template.spec.source"),
            (
                with("/template/spec/contentType", json!("kubevirt")),
                "Unsettable fields: SourceRef, ContentType, Checkpoints, FinalCheckpoint",
                "template.spec.contentType",
            ),
            (with("/template/spec/storage", Value::Null), "Missing Data volume PVC", "template.spec"),
            (
                with("/template/spec/pvc", json!({})),
                "Duplicate storage definition, both target storage and target pvc defined",
                "template.spec.pvc",
            ),
            (with("/template/spec/storage", json!({})), "Storage size is missing", "template.spec.storage"),
            (size("0"), "Storage size can't be equal or less than zero", "template.spec.storage"),
            (size("1M"), "Storage size should be at least 1MiB", "template.spec.storage"),
            (pvc(json!([])), "Required value: at least 1 access mode is required", "template.spec.pvc"),
            (
                pvc(json!(["ReadWriteOnce", "ReadWriteMany"])),
                "PVC multiple accessModes",
                "template.spec.pvc.accessModes",
            ),
            (
                pvc(json!(["RWX"])),
                "Unsupported value: \"RWX\": supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
                "template.spec.pvc.accessModes",
            ),
            (
                with("/template/spec/storage/dataSource", json!({"kind": "PersistentVolumeClaim", "name": "x"})),
                "External population is incompatible with Source and SourceRef",
                "template.spec.storage.dataSource",
            ),
            (
                source(json!({"registry": {"url": "docker://x"}, "blank": {}})),
                "Multiple Data volume sources",
                "template.spec.source",
            ),
            (
                source(json!({"registry": {}})),
                "Source registry should have either URL or ImageStream",
                "template.spec.source.registry",
            ),
            (
                source(json!({"registry": {"imageStream": "is"}})),
                "Source registry ImageStream is supported only with node pull import method",
                "template.spec.source.registry.imageStream",
            ),
            (
                registry("quay.io/acme/mine:1"),
                "Illegal registry source URL scheme quay.io/acme/mine:1",
                "template.spec.source.registry.url",
            ),
            (
                registry("quay.io:443/acme/mine"),
                "Illegal registry source URL scheme quay.io:443/acme/mine",
                "template.spec.source.registry.url",
            ),
            (
                registry("docker://quay.io:port/acme"),
                "Illegal registry source URL docker://quay.io:port/acme",
                "template.spec.source.registry.url",
            ),
            (
                source(json!({"registry": {"url": "docker://x", "pullMethod": "Node"}})),
                "ImportMethod Node is neither pod, node or \"\"",
                "template.spec.source.registry.pullMethod",
            ),
            (
                source(json!({"pvc": {"name": "", "namespace": "x"}})),
                "Template.source.PVC source PVC is not valid",
                "template.spec.source.pvc",
            ),
            (with("/schedule", json!("daily")), "Illegal cron schedule", "schedule"),
            (with("/importsToKeep", json!(-1)), "Illegal ImportsToKeep value", "importsToKeep"),
            (with("/garbageCollect", json!("Always")), "Illegal GarbageCollect value", "garbageCollect"),
            (with("/managedDataSource", json!("")), "Illegal ManagedDataSource value", "managedDataSource"),
        ] {
            let found = rejection(&release, &spec).unwrap_or_else(|| panic!("accepted, want {message}"));
            assert_eq!((found.message.as_str(), found.path.to_string().as_str()), (message, path));
        }
    }
}
