//! CDI's webhooks for DataImportCrons and DataVolumes.
//!
//! Source: CDI `pkg/apiserver/webhooks` at v1.63.1, v1.64.0, v1.65.0 and v1.66.0. Differences between them are in
//! `admission` of `schemas/behaviour/<x.y>/kubevirt.json`. The length of an object's own name isn't checked.

use std::sync::LazyLock;

use hcoplan_kubernetes::cron;
use hcoplan_kubernetes::quantity::Quantity;
use serde_json::Value;

/// Why CDI rejects a DataImportCron or a DataVolume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CdiRejection {
    /// The webhook's message.
    pub message: String,
    /// What is wrong.
    pub fault: CdiFault,
    /// The rejected field: a dotted path below the object's `spec`.
    pub path: String,
    /// A more precise message than the webhook's, if there is one.
    pub detail: Option<String>,
}

/// What is wrong with the field that CDI's webhook rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CdiFault {
    /// Neither `storage` nor `pvc` is set.
    NoClaim,
    /// Both are set.
    TwoClaims,
    /// The claim requests no size.
    NoSize,
    /// The claim's size is invalid.
    WrongSize,
    /// Anything else about the field.
    Other,
}

/// The webhook's rejection of a DataImportCron with this `spec`; `None` if it accepts it. `admission` lists the
/// release's behaviours.
pub fn rejection(spec: &Value, admission: &[String]) -> Option<CdiRejection> {
    let volume = &spec["template"]["spec"];
    let volume_check = || check_volume(volume, "Template", admission);
    let of_volume = missing_source(volume).or_else(|| unsettable(volume)).or_else(volume_check);
    let in_template = |rejection: CdiRejection| {
        let path = format!("template.spec.{}", rejection.path);
        CdiRejection { path: path.trim_end_matches('.').to_owned(), ..rejection }
    };
    of_volume.map(in_template).or_else(|| cron_fields(spec))
}

/// The webhook's rejection of an object of one of CDI's kinds with this `spec`; `None` if it accepts it. `admission`
/// lists the release's behaviours.
pub fn disk_rejection(kind: &str, spec: &Value, admission: &[String]) -> Option<CdiRejection> {
    match kind {
        "DataVolume" => check_volume(spec, "spec", admission),
        "DataImportCron" => rejection(spec, admission),
        _ => None,
    }
}

/// Checks a DataVolume's spec; `shown` is the webhook's name for it.
fn check_volume(volume: &Value, shown: &str, admission: &[String]) -> Option<CdiRejection> {
    let admits = |behaviour: &str| admission.iter().any(|b| b == behaviour);
    if let Some(rejection) = claim(volume) {
        return Some(rejection);
    }
    if let Some(external) = externally_populated(volume) {
        return external;
    }
    let (source, reference) = (&volume["source"], &volume["sourceRef"]);
    if source.is_null() == reference.is_null() {
        let message = "Data volume should have either Source or SourceRef, or be externally populated";
        return Some(reject(message, "source"));
    }
    if !reference.is_null() {
        return source_ref(reference);
    }
    number_of_sources(source)
        .or_else(|| content_type(volume))
        .or_else(|| urls(source, shown))
        .or_else(|| registry(&source["registry"]))
        .or_else(|| if admits("cdi-checks-checksums") { checksum(&source["http"]["checksum"]) } else { None })
        .or_else(|| incomplete_sources(source, shown))
        .or_else(|| certificates(&source["imageio"], shown, admits("cdi-skips-verification")))
}

fn reject(message: impl Into<String>, path: impl Into<String>) -> CdiRejection {
    CdiRejection { message: message.into(), fault: CdiFault::Other, path: path.into(), detail: None }
}

fn missing_source(volume: &Value) -> Option<CdiRejection> {
    let source = &volume["source"];
    let missing = source["registry"].is_null() && source["pvc"].is_null();
    missing.then(|| reject("Missing source", "source"))
}

fn unsettable(volume: &Value) -> Option<CdiRejection> {
    const MESSAGE: &str = "Unsettable fields: SourceRef, ContentType, Checkpoints, FinalCheckpoint";
    let path = if !volume["sourceRef"].is_null() {
        "sourceRef"
    } else if !text(&volume["contentType"]).is_empty() {
        "contentType"
    } else if volume["checkpoints"].as_array().is_some_and(|c| !c.is_empty()) {
        "checkpoints"
    } else if volume["finalCheckpoint"] == true {
        "finalCheckpoint"
    } else {
        return None;
    };
    Some(reject(MESSAGE, path))
}

/// The PVC that the image is imported to: exactly one of `pvc` and `storage`, with a size.
fn claim(volume: &Value) -> Option<CdiRejection> {
    let (pvc, storage) = (&volume["pvc"], &volume["storage"]);
    let (claim, kind, path) = match (pvc.is_null(), storage.is_null()) {
        (true, true) => {
            return Some(CdiRejection { fault: CdiFault::NoClaim, ..reject("Missing Data volume PVC", "") });
        }
        (false, false) => {
            const MESSAGE: &str = "Duplicate storage definition, both target storage and target pvc defined";
            return Some(CdiRejection { fault: CdiFault::TwoClaims, ..reject(MESSAGE, "pvc") });
        }
        (false, true) => (pvc, "PVC", "pvc"),
        (true, false) => (storage, "Storage", "storage"),
    };
    let source = &volume["source"];
    let clones = !volume["sourceRef"].is_null() || !source["pvc"].is_null() || !source["snapshot"].is_null();
    if let Some((fault, message)) = size(&claim["resources"]["requests"]["storage"], kind, clones) {
        return Some(CdiRejection { fault, ..reject(message, path) });
    }
    if text(&claim["storageClassName"]).len() > 253 {
        let message = "Name cannot be longer than 253 characters";
        return Some(reject(message, path));
    }
    let modes = claim["accessModes"].as_array();
    let modes: Vec<&str> = modes.into_iter().flatten().map(text).collect();
    let message = match modes.as_slice() {
        [] if kind == "PVC" => "Required value: at least 1 access mode is required".to_owned(),
        [_, _, ..] if kind == "PVC" => "PVC multiple accessModes".to_owned(),
        modes => {
            let known = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
            modes.iter().find(|m| !known.contains(m))?;
            // The first one, whichever is wrong.
            let unknown = modes.first()?;
            let known = known.map(|k| format!("\"{k}\"")).join(", ");
            format!("Unsupported value: \"{unknown}\": supported values: {known}")
        }
    };
    Some(reject(message, if modes.is_empty() { path.to_owned() } else { format!("{path}.accessModes") }))
}

fn size(requested: &Value, kind: &str, clones: bool) -> Option<(CdiFault, String)> {
    static LIMITS: LazyLock<[Quantity; 2]> =
        LazyLock::new(|| ["0", "1Mi"].map(|text| Quantity::parse(text).expect("a quantity")));
    let text = match requested {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ if kind == "Storage" && clones => return None,
        _ => return Some((CdiFault::NoSize, format!("{kind} size is missing"))),
    };
    let size = Quantity::parse(&text).ok()?;
    let [zero, least] = &*LIMITS;
    if size <= *zero {
        return Some((CdiFault::WrongSize, format!("{kind} size can't be equal or less than zero")));
    }
    (size < *least).then(|| (CdiFault::WrongSize, format!("{kind} size should be at least 1MiB")))
}

/// A claim that something other than CDI fills; `None` where CDI fills it.
fn externally_populated(volume: &Value) -> Option<Option<CdiRejection>> {
    const MESSAGE: &str = "External population is incompatible with Source and SourceRef";
    let paths = ["pvc", "storage"].into_iter().flat_map(|claim| [(claim, "dataSource"), (claim, "dataSourceRef")]);
    let found: Vec<_> = paths.filter(|(claim, field)| !volume[*claim][*field].is_null()).collect();
    let (claim, first) = *found.first()?;
    if !volume["source"].is_null() || !volume["sourceRef"].is_null() {
        return Some(Some(reject(MESSAGE, format!("{claim}.{first}"))));
    }
    let problem = found.iter().find_map(|(claim, field)| {
        let (reference, title) =
            (&volume[*claim][*field], if *field == "dataSource" { "DataSource" } else { "DataSourceRef" });
        let message = if *field == "dataSourceRef" && !text(&reference["namespace"]).is_empty() {
            "Invalid value: DataSourceRef namespace not supported".to_owned()
        } else if text(&reference["apiGroup"]).is_empty() && text(&reference["kind"]) != "PersistentVolumeClaim" {
            format!("Required value: {title} apiGroup when kind is not 'PersistentVolumeClaim'")
        } else {
            return None;
        };
        Some(reject(message, format!("{claim}.{field}")))
    });
    Some(problem)
}

fn source_ref(reference: &Value) -> Option<CdiRejection> {
    let kind = text(&reference["kind"]);
    match kind {
        "" => Some(reject("Missing sourceRef kind", "sourceRef")),
        "DataSource" if text(&reference["name"]).is_empty() => Some(reject("Missing sourceRef name", "sourceRef")),
        "DataSource" => None,
        _ => {
            let message = format!("Unsupported sourceRef kind {kind}, currently only DataSource is supported");
            Some(reject(message, "sourceRef.kind"))
        }
    }
}

fn number_of_sources(source: &Value) -> Option<CdiRejection> {
    let sources = source.as_object()?;
    match sources.values().filter(|s| !s.is_null()).count() {
        0 => Some(reject("Missing Data volume source", "source")),
        1 => None,
        _ => Some(reject("Multiple Data volume sources", "source")),
    }
}

fn content_type(volume: &Value) -> Option<CdiRejection> {
    let (kind, source) = (text(&volume["contentType"]), &volume["source"]);
    let message = match kind {
        "archive" if !source["blank"].is_null() => "SourceType cannot be blank and the contentType be archive",
        "archive" if !source["registry"].is_null() => "ContentType must be kubevirt when Source is Registry",
        "" | "kubevirt" | "archive" => return None,
        _ => "ContentType not one of: kubevirt, archive",
    };
    Some(reject(message, "contentType"))
}

/// Checks the URL of fetched sources: http, https or gs.
fn urls(source: &Value, shown: &str) -> Option<CdiRejection> {
    ["http", "s3", "gcs", "imageio", "vddk"].into_iter().filter(|k| !source[*k].is_null()).find_map(|kind| {
        let url = text(&source[kind]["url"]);
        let problem = if url.is_empty() {
            "source URL is empty".to_owned()
        } else if !is_url(url) || !url.starts_with('/') && scheme(url).is_empty() {
            format!("Invalid source URL: {url}")
        } else if !["http", "https", "gs"].contains(&scheme(url).to_ascii_lowercase().as_str()) {
            format!("Invalid source URL scheme: {url}")
        } else {
            return None;
        };
        Some(reject(format!("{shown}.source {problem}"), format!("source.{kind}.url")))
    })
}

fn registry(registry: &Value) -> Option<CdiRejection> {
    const REGISTRY: &str = "source.registry";
    if registry.is_null() {
        return None;
    }
    let url = registry.get("url").and_then(Value::as_str);
    let stream = registry.get("imageStream").and_then(Value::as_str);
    let method = registry.get("pullMethod").and_then(Value::as_str);
    if url.is_some() == stream.is_some() {
        let message = "Source registry should have either URL or ImageStream";
        return Some(reject(message, REGISTRY));
    }
    if let Some(url) = url {
        const PATH: &str = "source.registry.url";
        if !is_url(url) {
            let message = format!("Illegal registry source URL {url}");
            return Some(reject(message, PATH));
        }
        if !["docker", "oci-archive"].contains(&scheme(url).to_ascii_lowercase().as_str()) {
            let scheme = scheme(url);
            let rest = url.get(scheme.len()..).unwrap_or_default();
            let message = format!("Illegal registry source URL scheme {}{rest}", scheme.to_ascii_lowercase());
            return Some(reject(message, PATH));
        }
    }
    if let Some(method) = method.filter(|m| !["pod", "node"].contains(m)) {
        let message = format!("ImportMethod {method} is neither pod, node or \"\"");
        return Some(reject(message, "source.registry.pullMethod"));
    }
    const STREAM: &str = "source.registry.imageStream";
    match stream {
        Some("") => Some(reject("Source registry ImageStream is not valid", STREAM)),
        Some(_) if method != Some("node") => {
            let message = "Source registry ImageStream is supported only with node pull import method";
            Some(reject(message, STREAM))
        }
        _ => None,
    }
}

/// Checks the checksum of a fetched source: an algorithm and as many hexadecimal digits as it has.
fn checksum(checksum: &Value) -> Option<CdiRejection> {
    const LENGTHS: [(&str, usize); 4] = [("md5", 32), ("sha1", 40), ("sha256", 64), ("sha512", 128)];
    let written = checksum.as_str().filter(|c| !c.is_empty())?;
    let (algorithm, hash) = written.split_once(':').unwrap_or((written, ""));
    let [algorithm, hash] = [algorithm, hash].map(|part| part.trim().to_ascii_lowercase());
    let problem = match LENGTHS.iter().find(|(name, _)| *name == algorithm) {
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
    };
    Some(reject(format!("Invalid checksum format: {problem}"), "source.http.checksum"))
}

/// An import from imageio needs a certificate, or `insecureSkipVerify` where CDI knows that.
fn certificates(imageio: &Value, shown: &str, may_skip: bool) -> Option<CdiRejection> {
    if imageio.is_null() || !text(&imageio["certConfigMap"]).is_empty() {
        return None;
    }
    if may_skip && imageio["insecureSkipVerify"] == true {
        return None;
    }
    let problem = if may_skip { "requires CertConfigMap or InsecureSkipVerify" } else { "is not valid" };
    let message = format!("{shown}.source.Imageio source Imageio {problem}");
    Some(reject(message, "source.imageio"))
}

/// Rejects sources without their required fields.
fn incomplete_sources(source: &Value, shown: &str) -> Option<CdiRejection> {
    const NEEDED: [(&str, &str, &[&str]); 4] = [
        ("pvc", "PVC source PVC", &["namespace", "name"]),
        ("snapshot", "Snapshot source snapshot", &["namespace", "name"]),
        ("imageio", "Imageio source Imageio", &["secretRef", "diskId"]),
        ("vddk", "VDDK source VDDK", &["secretRef", "uuid", "backingFile", "thumbprint"]),
    ];
    NEEDED.into_iter().find_map(|(kind, message, fields)| {
        let fields_of_source = &source[kind];
        let lacks = !fields_of_source.is_null() && fields.iter().any(|f| text(&fields_of_source[*f]).is_empty());
        lacks.then(|| reject(format!("{shown}.source.{message} is not valid"), format!("source.{kind}")))
    })
}

fn cron_fields(spec: &Value) -> Option<CdiRejection> {
    let schedule = text(&spec["schedule"]);
    if !schedule.is_empty()
        && let Err(error) = cron::check(schedule)
    {
        return Some(CdiRejection { detail: Some(error.to_string()), ..reject("Illegal cron schedule", "schedule") });
    }
    if spec["importsToKeep"].as_i64().is_some_and(|n| n < 0) {
        return Some(reject("Illegal ImportsToKeep value", "importsToKeep"));
    }
    let collect = spec.get("garbageCollect").and_then(Value::as_str);
    if collect.is_some_and(|c| !["Never", "Outdated"].contains(&c)) {
        return Some(reject("Illegal GarbageCollect value", "garbageCollect"));
    }
    let message = match text(&spec["managedDataSource"]).len() {
        0 => "Illegal ManagedDataSource value",
        1..=63 => return None,
        _ => "Name cannot be longer than 63 characters",
    };
    Some(reject(message, "managedDataSource"))
}

/// The scheme as Go's `net/url` parses it; empty if there is none.
fn scheme(url: &str) -> &str {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    let mut bytes = scheme.bytes();
    let starts_with_letter = bytes.next().is_some_and(|b| b.is_ascii_alphabetic());
    let rest_is_valid = bytes.all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if starts_with_letter && rest_is_valid { scheme } else { "" }
}

/// Whether Go's `net/url` parses it: no control characters, a valid host and port.
fn is_url(url: &str) -> bool {
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
    !host.contains([' ', '"', '<', '>', '^', '`', '{', '|', '}', '\\']) && port.bytes().all(|b| b.is_ascii_digit())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
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
        assert_eq!(rejection(&spec(), &[]), None);
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
            assert_eq!(rejection(&with(pointer, value.clone()), &[]), None, "{pointer} {value}");
        }
        let mut cloned = with("/template/spec/source", json!({"pvc": {"name": "a", "namespace": "b"}}));
        cloned["template"]["spec"]["storage"] = json!({});
        assert_eq!(rejection(&cloned, &[]), None);
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
        let (checks, skips) = (["cdi-checks-checksums".to_owned()], ["cdi-skips-verification".to_owned()]);
        let unverified = || imageio(json!({"insecureSkipVerify": true}));
        for (spec, admission, message) in [
            (http("md5:1"), &[][..], ""),
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
            (imageio(json!({"certConfigMap": "c"})), &[], ""),
            (unverified(), &[], "spec.source.Imageio source Imageio is not valid"),
            (unverified(), &skips, ""),
            (
                imageio(json!({})),
                &skips,
                "spec.source.Imageio source Imageio requires CertConfigMap or InsecureSkipVerify",
            ),
        ] {
            let found = check_volume(&spec, "spec", admission).map(|r| r.message);
            assert_eq!(found.unwrap_or_default(), message, "{spec}");
        }
    }

    #[test]
    fn rejects_bad_cases() {
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
            let found = rejection(&spec, &[]).unwrap_or_else(|| panic!("accepted, want {message}"));
            assert_eq!((found.message.as_str(), found.path.as_str()), (message, path));
        }
    }
}
