//! Imports a release from published files: what they say replaces the base's data, all else is carried over.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8Path;
use hcoplan_planner::release::{AssumedValue, Distribution, Release, ShippedBy, version_parts};
use hcoplan_repository::repo::{known_release, release_name};
use serde_json::{Value, json};

use super::behaviour::Written;
use super::ordered::Json;
use super::published::Published;
use super::{GOLDEN_IMAGES, ImportError, Imported, TABLES, parse, replace_keys, text};
use super::{fields, gates, schemas, ssp, upgrade_patches};

/// A container's variables.
type Environment = BTreeMap<String, String>;

/// Data that no published file has, with the sources to read. A line's own behaviour (`--behaviour`) has the first part,
/// the rest is carried over from the base.
const CARRIED: [(&str, &str); 9] = [
    ("admission.json", "HCO: pkg/webhooks/, and the rules of the HyperConverged's CRD"),
    ("behaviour.json, and in upgrade.json what becomes of annotations", "HCO: controllers/ and cmd/"),
    ("in fields.json the operands' fields and the names in the other version", "HCO: api/ and controllers/handlers/"),
    (
        "in release.json the gates of KubeVirt and CDI, CPU models, machines and TLS tables",
        "HCO: controllers/handlers/ and pkg/util/; OpenShift: config/v1",
    ),
    (
        "in kubevirt.json betaGatesAreOn, gatesWithoutEffect, updateChecks and cipherNames",
        "KubeVirt: pkg/virt-config/featuregate/, pkg/virt-operator/webhooks/ and pkg/util/tls/",
    ),
    (
        "in kubevirt.json featureGates and preferredArchitectures",
        "KubeVirt: pkg/virt-config/featuregate/ and pkg/virt-operator/resource/generate/components/data/",
    ),
    ("go-types.json", "HCO: api/; the operands: the structs of their API modules, in HCO's vendor/"),
    ("objects.json", "HCO: controllers/handlers/ and controllers/hyperconverged/"),
    ("in ssp.json the namespace, architectures and objects", "SSP: internal/"),
];

/// A release that has what published files in a directory say, or one file: a ClusterServiceVersion is enough, as
/// `oc get csv -o yaml` prints it. It behaves as is written for it in `behaviour`, else as `base` does; without a base as
/// the release of the operator's version. What the files state is not assumed any more.
///
/// # Errors
/// A file that can't be read, or files without an operator.
pub(crate) fn from_files(
    base: Option<Arc<Release>>,
    files: &Utf8Path,
    behaviour: Option<&Utf8Path>,
) -> Result<Imported, ImportError> {
    let published = Published::read(files)?;
    let csv = published.csv()?;
    let openshift = csv.map(|(_, container)| environment(container));
    let kubernetes = published.operator().map(environment);
    let Some(env) = openshift.as_ref().or(kubernetes.as_ref()) else {
        let message = "there is no ClusterServiceVersion and no Deployment of HCO's operator".to_owned();
        return Err(ImportError::Files(files.to_owned(), message));
    };
    let stated = env.get("HCO_KV_IO_VERSION").map(String::as_str);
    let stated = stated.or_else(|| csv?.0.pointer("/spec/version").and_then(Value::as_str));
    let base = base.map_or_else(|| base_of(files, stated.unwrap_or_default()), Ok)?;

    let version = stated.unwrap_or(base.version()).to_owned();
    let mut out = Imported::carried(&base, version)?;
    let name = csv.map_or("deploy/operator.yaml", |(csv, _)| text(&csv["metadata"], "name"));
    out.notes.push(format!("{} variables of {name}", env.len()));
    let mut behaves_as =
        if base.distribution().is_upstream() { format!("HCO {}", base.version()) } else { base.title() };
    if let Some(behaviour) = behaviour {
        Written::of(behaviour, Some(&base))?.put_into(&mut out)?;
        behaves_as = behaviour.to_string();
    }
    out.notes.push(format!("behaviour of {behaves_as}"));

    let images = golden_images(&published, &mut out)?;
    let mut tables = out.json(TABLES)?;
    tables.set("version", Json::text(&out.version));
    set_environments(&mut tables, openshift.as_ref(), kubernetes.as_ref());
    if let Some(components) = components(&published)? {
        tables.set("components", texts(&components));
    }
    set_shipped(&mut tables, &base, &out.version, env, images);
    out.files.insert(TABLES.to_owned(), tables.to_file());
    if let Some(version) = out.json(TABLES)?.at("components.KUBEVIRT_VERSION").filter(|_| published.versions.is_some())
    {
        replace_keys(&mut out, "kubevirt.json", vec![("version", version.to_value())])?;
    }
    let read = schemas::schemas(&base, &published, behaviour.is_some(), &mut out);
    gates::versions(&mut out)?;
    gates::gates(&published, &mut out)?;
    fields::fields(&mut out)?;
    upgrade_patches::upgrade_patches(&published, &mut out)?;
    ssp::ssp(&published, &mut out)?;

    let known: Json = parse(TABLES, base.file(TABLES)?)?;
    let is_known =
        |name: &str| known.get("env").is_some_and(|env| env.entries().iter().any(|(_, e)| e.get(name).is_some()));
    let new: Vec<_> = env.keys().filter(|name| !is_known(name)).map(String::as_str).collect();
    if !new.is_empty() {
        out.notes.push(format!("variables that the base doesn't have, of a new object perhaps: {}", new.join(", ")));
    }
    schemas::note_untyped(&base, &read, &mut out)?;
    let what =
        behaviour.map_or_else(|| "carried over".to_owned(), |directory| format!("of {directory} or carried over"));
    out.notes.push(format!("{what}, to be compared with the sources:"));
    out.notes.extend(CARRIED.map(|(what, place)| format!("{what}: {place}")));
    out.release()?;
    Ok(out)
}

/// The release of the operator's version.
fn base_of(files: &Utf8Path, version: &str) -> Result<Arc<Release>, ImportError> {
    let name = release_name(version).unwrap_or_else(|| version.to_owned());
    known_release(&name).map_err(|unknown| {
        let message = format!("the operator is of version `{version}`; name a base (--base): {}", unknown.help);
        ImportError::Files(files.to_owned(), message)
    })
}

/// A container's environment, without values known only at run time.
fn environment(container: &Value) -> Environment {
    let list = container.get("env").and_then(Value::as_array);
    let known = list.into_iter().flatten().filter(|e| e.get("valueFrom").is_none());
    known.map(|e| (text(e, "name").to_owned(), text(e, "value").to_owned())).collect()
}

/// Replaces the base's environments: completely where the files have one for the platform, else only variables that the
/// base sets. Component versions follow.
fn set_environments(tables: &mut Json, openshift: Option<&Environment>, kubernetes: Option<&Environment>) {
    let either = openshift.or(kubernetes);
    let known = |known: Option<&Json>| {
        let entry = |(name, old): &(String, Json)| {
            let new = either.and_then(|env| env.get(name)).filter(|_| !old.is_nothing());
            (name.clone(), new.map_or_else(|| old.clone(), |value| Json::text(value)))
        };
        Json::Map(known.map_or(&[][..], Json::entries).iter().map(entry).collect())
    };
    let of = |platform: &str, env: Option<&Environment>| {
        let env = env.map_or_else(|| known(tables.at(&format!("env.{platform}"))), texts);
        (platform.to_owned(), env)
    };
    let both = [of("OpenShift", openshift), of("Kubernetes", kubernetes)];
    let components = known(tables.get("components"));
    tables.set("env", Json::Map(both.into()));
    tables.set("components", components);
}

/// The versions that a file lists in lines such as `CDI_VERSION="v1.65.0"`.
fn components(published: &Published) -> Result<Option<Environment>, ImportError> {
    let Some(text) = &published.versions else {
        return Ok(None);
    };
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    // The result of a command isn't a component's version.
    let versions = pairs.filter(|(name, value)| name.ends_with("_VERSION") && !value.contains('$'));
    let plain = |value: &str| value.trim().trim_matches('"').to_owned();
    let out: Environment = versions.map(|(name, value)| (name.to_owned(), plain(value))).collect();
    if out.is_empty() {
        return Err(ImportError::shape(&published.path.join("config"), "there is no version in it"));
    }
    Ok(Some(out))
}

fn texts(map: &Environment) -> Json {
    Json::Map(map.iter().map(|(k, v)| (k.clone(), Json::text(v))).collect())
}

/// Sets the distribution's version, and removes assumed values that the files have.
fn set_shipped(tables: &mut Json, base: &Release, version: &str, env: &Environment, images: bool) {
    let line = version_parts(version).map(|(line, _)| line);
    let distribution = line.and_then(|line| Distribution::of_line(&line));
    if let Some(distribution) = distribution.filter(|d| !d.is_upstream()) {
        let shipped = ShippedBy { distribution: distribution.name.clone(), version: version.to_owned() };
        tables.set("shippedBy", Json::from(json!(shipped)));
    }
    let of_an_image = |value: &AssumedValue| !value.within.is_empty();
    let left = base.assumed().iter();
    let left: Vec<_> =
        left.filter(|value| if of_an_image(value) { !images } else { !env.contains_key(&value.name) }).collect();
    if tables.get("assumed").is_some() || !left.is_empty() {
        tables.set("assumed", Json::from(json!(left)));
    }
}

/// Imports the golden images; whether there are any.
fn golden_images(published: &Published, out: &mut Imported) -> Result<bool, ImportError> {
    let mut images = published.golden_images();
    if images.is_empty() {
        out.notes.push("not read: the golden images, as there is no DataImportCronTemplate".to_owned());
        return Ok(false);
    }
    out.unchecked()?.load_templates(&mut images);
    out.notes.push(format!("{} golden images", images.len()));
    let images = Json::List(images.into_iter().map(Json::from).collect());
    out.files.insert(GOLDEN_IMAGES.to_owned(), images.to_file());
    Ok(true)
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;
    use hcoplan_planner::release::Platform;

    use super::*;

    fn fixture(name: &str) -> Utf8PathBuf {
        Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
    }

    #[test]
    fn files_bring_versions_images_and_schemas() {
        let base = Release::known("1.18").expect("known");
        let imported = from_files(Some(base.clone()), &fixture("vendor"), None).expect("imported");
        assert_eq!((imported.name.as_str(), imported.version.as_str()), ("1.18", "4.22.3"));
        assert_eq!(imported.notes[0], "6 variables of vendor-virtualization-operator.v4.22.3");
        assert_eq!(imported.notes[1], "behaviour of HCO 1.18.2");
        assert!(imported.notes.contains(&"schemas of migcontroller.v1alpha1".to_owned()), "{:?}", imported.notes);
        let new = "variables that the base doesn't have, of a new object perhaps: VENDOR_ONLY";
        assert!(imported.notes.contains(&new.to_owned()), "{:?}", imported.notes);
        let untyped = "fields without a Go type in go-types.json: migcontroller.v1alpha1.spec.description";
        assert!(imported.notes.iter().any(|note| note.starts_with(untyped)), "{:?}", imported.notes);

        let release = imported.release().expect("whole");
        let env = |platform, name| release.env(platform, name).map(str::to_owned);
        let kubevirt = Some("v1.8.4-77-vendor".to_owned());
        assert_eq!(env(Platform::OpenShift, "KUBEVIRT_VERSION"), kubevirt);
        assert_eq!(env(Platform::Kubernetes, "KUBEVIRT_VERSION"), kubevirt);
        assert_eq!(env(Platform::OpenShift, "VENDOR_ONLY").as_deref(), Some("yes"));
        // Undeployed components stay so, and values missing in the files are kept.
        assert_eq!(env(Platform::Kubernetes, "KV_CONSOLE_PLUGIN_IMAGE"), None);
        let smbios = base.env(Platform::Kubernetes, "SMBIOS").map(str::to_owned);
        assert_eq!(env(Platform::Kubernetes, "SMBIOS"), smbios);
        assert_eq!(release.tables().components["KUBEVIRT_VERSION"], "v1.8.4-77-vendor");
        assert_eq!(release.tables().components["CDI_VERSION"], "v1.65.0");

        let schema: Value = serde_json::from_str(&imported.files["crds/migcontroller.v1alpha1.json"]).expect("JSON");
        assert_eq!(
            schema["openAPIV3Schema"],
            json!({"type": "object", "properties": {"spec": {"type": "object",
                "properties": {"description": {"type": "string"},
                    "mode": {"type": "string", "default": {"description": "stays"}}}}}})
        );
        let kubevirt = base.file("crds/kubevirt.v1.json").expect("there");
        assert_eq!(imported.files["crds/kubevirt.v1.json"], kubevirt);

        let image = &release.golden_images()[0];
        assert_eq!(image["spec"]["managedDataSource"], "vendor-linux");
        assert_eq!(image["spec"]["retentionPolicy"], "All");
        assert_eq!(image["spec"]["importsToKeep"], 1);
    }

    #[test]
    fn reads_written_text_back() {
        let base = Release::known("1.16").expect("known");
        let mut imported = from_files(Some(base.clone()), &fixture("csv.yaml"), None).expect("imported");
        let release = imported.release().expect("a release");
        assert_eq!((release.name(), release.version()), ("1.16", "4.20.3"));
        assert_eq!(release.golden_images(), base.golden_images());
        imported.files.remove("ssp.json");
        let rejected = imported.release().expect_err("incomplete");
        assert!(rejected.to_string().ends_with("ssp.json is missing"), "{rejected}");
    }
}
