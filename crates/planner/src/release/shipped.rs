//! A release as shipped by a distribution: the upstream release with known values of the vendor's build.
//!
//! Values that only the vendor's bundle has (digests, a z-stream's versions) stay upstream's or a known one, and are
//! listed as assumed.

use super::distribution::{CommonImage, Distribution, Fact, ImageSource, Maturity};
use super::{Files, Mutation};
use crate::prelude::*;
use crate::release::Release;
use hcoplan_diagnostics::source::locked;
use std::sync::Mutex;

/// The distribution and version of a release.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShippedBy {
    /// See [`Distribution::name`].
    pub distribution: String,
    /// `4.20`, or `4.20.3` if the patch level is known.
    pub version: String,
}

/// An assumed value that the vendor's bundle decides.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AssumedValue {
    /// Its name: an environment variable of the operator, or a golden image's field.
    pub name: String,
    /// The assumed value.
    pub value: String,
    /// The keys under which objects have it; any if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Prefix of the name of the object or list entry that has it; any if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub within: String,
}

impl AssumedValue {
    /// Whether a text is the assumed value, given its key and the name of the object or list entry.
    pub fn is_at(&self, within: &str, key: &str, text: &str) -> bool {
        self.value == text
            && (self.keys.is_empty() || self.keys.iter().any(|k| k == key))
            && within.starts_with(&self.within)
    }
}

/// Suffixes of variables whose values differ between builds.
const BUILD_SUFFIXES: [&str; 4] = ["_IMAGE", "_CONTAINER", "_VERSION", "_MACHINETYPE"];

/// The variable with the operator's version, which labels every object.
const OWN_VERSION: &str = "HCO_KV_IO_VERSION";

impl Release {
    /// The release of a distribution's version, `4.20` or `4.20.3`; `None` if its upstream release isn't modelled.
    /// Upstream's distribution has no such releases.
    pub fn shipped(distribution: &Distribution, line: &str, patch: Option<&str>) -> Option<Arc<Self>> {
        // Clusters of one version share its parsed data, as with upstream's releases: 100 clusters of one version
        // take 0.3 s and 45 MB, of 100 versions 1.1 s and 590 MB if all are kept, 1.5 s and 108 MB with sixteen.
        const MAX_CACHED: usize = 16;
        static KNOWN: OnceLock<Mutex<BTreeMap<String, Arc<Release>>>> = OnceLock::new();
        let base = Self::known(&distribution.versions.get(line)?.release.value)?;
        let version = match patch {
            Some(patch) => format!("{line}.{patch}"),
            None => line.to_owned(),
        };
        let known = KNOWN.get_or_init(Mutex::default);
        let mut known = locked(known);
        if known.len() >= MAX_CACHED && !known.contains_key(&version) {
            known.pop_first();
        }
        let build = || Arc::new(build(distribution, line, &version, patch.is_some(), &base));
        Some(Arc::clone(known.entry(version.clone()).or_insert_with(build)))
    }

    /// The next release in this one's naming: for a distribution, the version built from a later release. `None` if
    /// none is modelled.
    pub fn next(&self) -> Option<Arc<Self>> {
        self.adjacent().1
    }

    /// The previous release, like [`Release::next`].
    pub fn previous(&self) -> Option<Arc<Self>> {
        self.adjacent().0
    }

    /// The later releases of its distribution, oldest first.
    pub fn later_of_distribution(&self) -> Vec<Arc<Self>> {
        let later = self.releases_of_distribution().into_iter().skip_while(|r| r.label() != self.label());
        later.filter(|r| r.name() != self.name()).collect()
    }

    /// The modelled releases of its distribution, oldest first. Several versions may be built from one release. A patch
    /// release replaces its line; a development release follows its line.
    pub fn releases_of_distribution(&self) -> Vec<Arc<Self>> {
        let mut all = Self::all_of(self.distribution());
        let own = self.patched().and_then(|p| Some((p.moving, Self::patch(p.name)?)));
        match own {
            Some((true, own)) => all.push(own),
            Some((false, own)) => {
                let line = all.iter_mut().find(|line| line.name() == self.name());
                line.into_iter().for_each(|line| line.clone_from(&own));
            }
            None => {}
        }
        all
    }

    fn all_of(distribution: &Distribution) -> Vec<Arc<Self>> {
        distribution.lines().into_iter().filter_map(|line| Self::of_line(distribution, line)).collect()
    }

    /// The modelled releases of a distribution that are published, oldest first.
    pub fn published(distribution: &Distribution) -> Vec<Arc<Self>> {
        let is_published = |line: &&str| distribution.versions[*line].phase.value == Maturity::Released;
        let lines = distribution.lines().into_iter().filter(is_published);
        lines.filter_map(|line| Self::of_line(distribution, line)).collect()
    }

    fn of_line(distribution: &Distribution, line: &str) -> Option<Arc<Self>> {
        if distribution.is_upstream() { Self::known(line) } else { Self::shipped(distribution, line, None) }
    }

    /// The same release in a distribution's naming, the first of several versions. Returns itself if it already is, if
    /// the distribution lacks it, or if it was read from a directory.
    #[must_use]
    pub fn of_distribution(self: &Arc<Self>, distribution: &Distribution) -> Arc<Self> {
        let is_own = self.distribution().name == distribution.name;
        let is_built_in = self.releases_of_distribution().iter().any(|known| Arc::ptr_eq(known, self));
        let mut others = Self::all_of(distribution).into_iter();
        let other = others.find(|other| other.name() == self.name());
        match other.filter(|_| is_built_in && !is_own) {
            Some(other) => other,
            None => Arc::clone(self),
        }
    }

    fn adjacent(&self) -> (Option<Arc<Self>>, Option<Arc<Self>>) {
        // A development release has no successor.
        if self.patched().is_some_and(|patch| patch.moving) {
            return (Self::known(self.name()), None);
        }
        let all = self.releases_of_distribution();
        let is_same = |other: &&Arc<Self>| other.name() == self.name();
        let own = all.iter().position(|other| is_same(&other));
        let Some(own) = own else {
            return (None, None);
        };
        let later = all[own..].iter().find(|other| !is_same(other));
        let earlier = all[..own].last();
        (earlier.cloned(), later.cloned())
    }

    /// Fills in the defaults that the operator adds to templates from its files, which are those that the webhook adds
    /// to users' templates.
    pub fn load_templates(&self, templates: &mut [Value]) {
        let rules = self.admission().version("v1beta1");
        let defaults = [
            (Mutation::RetentionPolicy, "retentionPolicy", json!("None")),
            (Mutation::ImportsToKeep, "importsToKeep", json!(1)),
        ];
        let fills = |mutation| rules.is_some_and(|r| r.mutate.create.contains(mutation));
        for (_, key, value) in defaults.iter().filter(|(mutation, ..)| fills(mutation)) {
            let specs = templates.iter_mut().filter_map(|template| template.get_mut("spec")?.as_object_mut());
            specs.for_each(|spec| _ = spec.entry(*key).or_insert_with(|| value.clone()));
        }
    }
}

fn build(distribution: &Distribution, line: &str, version: &str, exact: bool, base: &Release) -> Release {
    let parsed = |name: &str| base.read(name, |text| serde_json::from_str::<Value>(text));
    let mut assumed = Vec::new();
    let mut tables = parsed("release.json");
    tables["version"] = version.into();
    tables["commonTemplatesNamespace"] = distribution.common_templates_namespace.value.as_str().into();
    if let Some(env) = tables["env"]["OpenShift"].as_object_mut() {
        environment(distribution, line, version, exact, env, &mut assumed);
    }
    let mut images: Vec<Value> = distribution.golden_images.iter().map(template).collect();
    base.load_templates(&mut images);
    assumed.extend(distribution.golden_images.iter().flat_map(assumed_of));
    tables["shippedBy"] = json!(ShippedBy { distribution: distribution.name.clone(), version: version.to_owned() });
    let streams: Vec<Value> =
        distribution.golden_images.iter().filter_map(|image| image_stream(distribution, image)).collect();
    let names: Vec<&Value> = streams.iter().map(|s| &s["metadata"]["name"]).collect();
    tables["imageStreams"] = json!(names);
    tables["assumed"] = json!(assumed);
    let (mut objects, mut behaviour) = (parsed("objects.json"), parsed("behaviour.json"));
    for stream in &streams {
        let name = text(&stream["metadata"]["name"]);
        objects[format!("ImageStream/{name}")] = stream.clone();
    }
    if let Some(order) = behaviour["workOrder"]["OpenShift"].as_array_mut() {
        order.push("image-streams".into());
    }

    let mut ssp = parsed("ssp.json");
    ssp["goldenImagesNamespace"] = distribution.golden_images_namespace.value.as_str().into();
    if let Some(sources) = ssp["dataSources"].as_object_mut() {
        let is_listed = |name: &String| distribution.template_data_sources.iter().any(|s| s.value == *name);
        sources.retain(|name, _| is_listed(name));
    }
    let changed = [
        ("release.json", tables),
        ("ssp.json", ssp),
        ("objects.json", objects),
        ("behaviour.json", behaviour),
        ("golden-images.json", Value::Array(images)),
    ];
    let mut files = Files::new();
    files.share(&base.files);
    for (name, value) in changed {
        files.insert(name, value.to_string());
    }
    Release::named(base.name(), files)
}

/// Sets the known values of the vendor's build in the operator's environment.
fn environment(
    distribution: &Distribution,
    line: &str,
    version: &str,
    exact: bool,
    env: &mut Map<String, Value>,
    assumed: &mut Vec<AssumedValue>,
) {
    let mut known_names = vec![OWN_VERSION.to_owned()];
    env.insert(OWN_VERSION.to_owned(), version.into());
    if !exact {
        assumed.push(variable(OWN_VERSION, version));
    }
    for known in &distribution.environment {
        if !known.versions.is_empty() && !known.versions.iter().any(|v| v == line) {
            continue;
        }
        let value = known.value.replace("{version}", version);
        if known.assumed {
            assumed.push(variable(&known.name, &value));
        }
        env.insert(known.name.clone(), value.into());
        known_names.push(known.name.clone());
    }
    for (name, value) in env.iter() {
        let differs_by_build = BUILD_SUFFIXES.iter().any(|end| name.ends_with(end));
        let value = text(value);
        if differs_by_build && !value.trim().is_empty() && !known_names.contains(name) {
            assumed.push(variable(name, value));
        }
    }
}

fn variable(name: &str, value: &str) -> AssumedValue {
    let keys: &[&str] = match name {
        OWN_VERSION => &["app.kubernetes.io/version", "productVersion", "version"],
        _ if name.ends_with("_MACHINETYPE") => &["machineType"],
        // The text of an image is unique, as is a version that nothing renders.
        _ => &[],
    };
    AssumedValue {
        name: name.to_owned(),
        value: value.to_owned(),
        keys: keys.iter().map(|k| (*k).to_owned()).collect(),
        within: String::new(),
    }
}

/// A golden image's template as in the operator's files.
fn template(image: &CommonImage) -> Value {
    let registry = match &image.image {
        ImageSource::Url { url } => json!({"url": url.value}),
        ImageSource::Stream { image_stream, .. } => {
            json!({"imageStream": image_stream.value, "pullMethod": "node"})
        }
    };
    json!({
        "metadata": {
            "name": image.name,
            "annotations": {
                "cdi.kubevirt.io/storage.bind.immediate.requested": "true",
                "ssp.kubevirt.io/dict.architectures": image.architectures.value,
            },
        },
        "spec": {
            "garbageCollect": "Outdated",
            "managedDataSource": image.data_source.value,
            "schedule": "0 */12 * * *",
            "template": {"spec": {
                "source": {"registry": registry},
                "storage": {"resources": {"requests": {"storage": image.storage.value}}},
            }},
        },
    })
}

/// What all ImageStreams have.
static STREAM: Table<Value> = Table::of(include_str!("image_stream.json"));

/// The ImageStream that an image is pulled from, as the operator creates it from its files; `None` for an image from a
/// registry.
fn image_stream(distribution: &Distribution, image: &CommonImage) -> Option<Value> {
    let ImageSource::Stream { image_stream, from, tag, scheduled } = &image.image else {
        return None;
    };
    let mut stream = STREAM.clone();
    let [name, namespace] = [&image_stream.value, &distribution.golden_images_namespace.value];
    (stream["metadata"]["name"], stream["metadata"]["namespace"]) = (json!(name), json!(namespace));
    stream["spec"]["tags"] = json!([{
        "from": {"kind": "DockerImage", "name": from.value},
        "importPolicy": {"scheduled": scheduled.value == "true"},
        "name": tag.value,
    }]);
    Some(stream)
}

fn assumed_of(image: &CommonImage) -> Vec<AssumedValue> {
    let (source, key) = match &image.image {
        ImageSource::Url { url } => (url, "url"),
        ImageSource::Stream { image_stream, .. } => (image_stream, "imageStream"),
    };
    let image_name = image.name.as_str();
    let mut fields: Vec<(&Fact, &str, &str)> = vec![
        (source, key, image_name),
        (&image.storage, "storage", image_name),
        (&image.architectures, "ssp.kubevirt.io/dict.architectures", image_name),
    ];
    if let ImageSource::Stream { tag, scheduled, .. } = &image.image {
        // These fields are in the ImageStream, at its tag.
        let stream = source.value.as_str();
        fields.extend([(tag, "name", stream), (scheduled, "scheduled", stream)]);
    }
    let assumed = fields.into_iter().filter(|(fact, ..)| fact.assumed);
    let value = |(fact, key, within): (&Fact, &str, &str)| AssumedValue {
        name: match key {
            "name" => format!("tag of {within}"),
            _ => format!("{key} of {within}"),
        },
        value: fact.value.clone(),
        keys: vec![key.to_owned()],
        within: within.to_owned(),
    };
    assumed.map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Platform;

    fn shipped(line: &str, patch: Option<&str>) -> Arc<Release> {
        let distribution = Distribution::of_line(line).expect("known");
        Release::shipped(distribution, line, patch).expect("modelled")
    }

    #[test]
    fn each_version_of_a_modelled_release_has_its_names() {
        for distribution in Distribution::all().iter().filter(|d| !d.is_upstream()) {
            for line in distribution.lines() {
                let release = distribution.versions[line].release.value.as_str();
                let shipped = Release::shipped(distribution, line, None);
                assert_eq!(shipped.is_some(), Release::known(release).is_some(), "{line}");
                let Some(shipped) = shipped else { continue };
                assert_eq!(shipped.name(), release);
                assert_eq!(shipped.label(), line);
            }
        }
    }

    #[test]
    fn previous_and_next_release_use_the_same_naming() {
        let labels = |release: &Release| [release.previous(), release.next()].map(|r| r.map(|r| r.label().to_owned()));
        let names = |a: &str, b: &str| [Some(a.to_owned()), Some(b.to_owned())];
        assert_eq!(labels(&shipped("4.22", Some("3"))), names("4.21", "4.23"));
        let upstream = Release::known("1.17").expect("modelled");
        assert_eq!(labels(&upstream), names("1.16", "1.18"));
        assert_eq!(labels(&Release::known("1.16").expect("modelled"))[0], None);
    }

    #[test]
    fn known_values_replace_upstreams() {
        let release = shipped("4.20", None);
        let env = |name| release.env(Platform::OpenShift, name);
        assert_eq!(env("AMD64_MACHINETYPE"), Some("pc-q35-rhel9.6.0"));
        assert!(env("SMBIOS").is_some_and(|s| s.contains("OpenShift Virtualization")));
        assert_eq!(release.ssp().golden_images_namespace, "openshift-virtualization-os-images");
        let sources = &release.ssp().data_sources;
        assert!(sources.contains_key("rhel9") && !sources.contains_key("ubuntu"));
        let names: Vec<_> = release.golden_images().iter().map(|i| &i["metadata"]["name"]).collect();
        assert_eq!(names.len(), 6);
        assert!(names.contains(&&json!("rhel10-image-cron")));
    }

    #[test]
    fn assumes_values_of_the_bundle() {
        let names = |release: &Release| -> Vec<String> {
            let assumed = release.assumed().iter();
            assumed.map(|a| a.name.clone()).collect()
        };
        let of_the_line = names(&shipped("4.20", None));
        assert!(of_the_line.contains(&OWN_VERSION.to_owned()));
        assert!(of_the_line.contains(&"KV_CONSOLE_PLUGIN_IMAGE".to_owned()));
        assert!(of_the_line.contains(&"storage of rhel9-image-cron".to_owned()));
        // Stated by public sources.
        assert!(!of_the_line.contains(&"AMD64_MACHINETYPE".to_owned()));
        assert!(!of_the_line.contains(&"SMBIOS".to_owned()));
        assert!(!names(&shipped("4.20", Some("3"))).contains(&OWN_VERSION.to_owned()));
        assert!(Release::known("1.16").expect("known").assumed().is_empty());
    }

    #[test]
    fn clusters_share_the_release_of_a_version() {
        assert!(Arc::ptr_eq(&shipped("4.21", Some("1")), &shipped("4.21", Some("1"))));
        assert_eq!(shipped("4.21", Some("1")).version(), "4.21.1");
    }

    #[test]
    fn names_a_release_by_its_distribution() {
        let vendor = Distribution::named("openshift-virtualization").expect("known");
        let upstream = &Distribution::all()[0];
        let upgrade_to = Release::known("1.18").expect("known");
        let vendors = upgrade_to.of_distribution(vendor);
        assert_eq!(vendors.label(), "4.22");
        assert_eq!(vendors.display_name(), "OpenShift Virtualization 4.22");
        assert_eq!(vendors.of_distribution(upstream).display_name(), "HCO 1.18");
        let patch = Release::shipped(vendor, "4.22", Some("3")).expect("known");
        assert_eq!(patch.of_distribution(vendor).label(), "4.22.3");
        // The first of the two versions built from it.
        let last = Release::known("1.19").expect("known");
        assert_eq!(last.of_distribution(vendor).label(), "4.23");
    }
}
