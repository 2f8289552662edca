//! The namespace, platform and release of a cluster, with sources and contradictions.

use crate::inventory::LoadedInventory;

use super::error::Located;
use super::problem::related;
use super::statements::{Statement, StatementKind};
use crate::prelude::*;

/// The annotation with an object's own options of Argo CD.
pub const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

/// The source of a fact about a cluster, by precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum FactOrigin {
    /// The command line.
    #[error("the command line")]
    CommandLine,
    /// The cluster's entry in `hcoplan.yaml`.
    #[error("hcoplan.yaml")]
    Configuration,
    /// Its ClusterInventory.
    #[error("the inventory")]
    Inventory,
    /// The HyperConverged itself.
    #[error("the HyperConverged")]
    HyperConverged,
    /// Another manifest.
    #[error("the {0:?}")]
    Statement(StatementKind),
    /// Another object, with its kind: that of a controller that applies it, or one that shows the platform.
    #[error("the {0}")]
    Object(&'static str),
    /// The default of `hcoplan.yaml` for clusters without their own.
    #[error("hcoplan.yaml")]
    Configured,
    /// Labels of the nodes.
    #[error("the nodes' labels")]
    Nodes,
    /// No source: the default of the release's distribution.
    #[error("the default")]
    Nothing,
}

/// A fact about a cluster with its source.
#[derive(Debug, Clone)]
pub struct WithSource<T> {
    /// The fact.
    pub value: T,
    /// Its source.
    pub by: FactOrigin,
    /// The source's location.
    pub place: Option<Location>,
}

impl<T> WithSource<T> {
    /// One of `hcoplan.yaml`.
    pub(super) fn configured(fact: &Located<T>, by: FactOrigin) -> Self
    where
        T: Clone,
    {
        Self { value: fact.value.clone(), by, place: Some(fact.place.clone()) }
    }

    /// One of the command line.
    pub(super) fn given(value: T) -> Self {
        Self { value, by: FactOrigin::CommandLine, place: None }
    }

    /// One without a source.
    pub const fn assumed(value: T) -> Self {
        Self { value, by: FactOrigin::Nothing, place: None }
    }

    /// Whether it has no source.
    pub fn is_assumed(&self) -> bool {
        self.by == FactOrigin::Nothing
    }

    /// Whether `hcoplan.yaml` has it.
    pub fn is_configured(&self) -> bool {
        matches!(self.by, FactOrigin::Configuration | FactOrigin::Configured)
    }

    /// The source as text: `the Subscription in operator/subscription.yaml`.
    pub fn source(&self) -> String {
        match (self.by, &self.place) {
            (FactOrigin::Statement(_) | FactOrigin::Object(_), Some(place)) => {
                let place = place.origin().unwrap_or_else(|| place.clone());
                format!("{} in {}", self.by, place.file.path())
            }
            _ => self.by.to_string(),
        }
    }
}

impl<T: fmt::Display> fmt::Display for WithSource<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.value, self.source())
    }
}

/// A cluster's identity, each fact from the first source that has it.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The operator's namespace.
    pub namespace: WithSource<String>,
    /// OpenShift or Kubernetes.
    pub platform: WithSource<Platform>,
    /// The release's name as written; `None` where no source has it.
    pub release: Option<WithSource<String>>,
    /// How an existing HyperConverged is updated.
    pub update: WithSource<UpdateMethod>,
}

impl Identity {
    /// Takes facts without a source from another identity.
    #[must_use]
    pub fn with_fallback(self, other: Self) -> Self {
        Self {
            namespace: known(self.namespace, other.namespace),
            platform: known(self.platform, other.platform),
            release: self.release.or(other.release),
            update: known(self.update, other.update),
        }
    }
}

fn known<T>(first: WithSource<T>, second: WithSource<T>) -> WithSource<T> {
    if first.is_assumed() { second } else { first }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "namespace {}, platform {}", self.namespace, self.platform)?;
        match &self.release {
            Some(release) => write!(f, ", release {release}")?,
            None => f.write_str(", release unknown")?,
        }
        if self.update.is_assumed() {
            return Ok(());
        }
        write!(f, ", apply {}", self.update)
    }
}

/// Whether the value of [`SYNC_OPTIONS`] has an option, such as `Prune=false`.
pub fn has_sync_option(options: &str, wanted: &str) -> bool {
    options.split(',').any(|option| option.trim() == wanted)
}

/// The update method that Argo CD's sync options select, such as `ServerSideApply=true`.
pub(super) fn sync_method<'o>(options: impl Iterator<Item = &'o str> + Clone) -> Option<UpdateMethod> {
    let has = |option: &str| options.clone().any(|o| o.trim() == option);
    // `Replace` takes precedence.
    let methods = [
        ("Replace=true", UpdateMethod::Replace),
        ("ServerSideApply=true", UpdateMethod::ServerSide),
        ("ServerSideApply=false", UpdateMethod::Apply),
    ];
    methods.into_iter().find(|(option, _)| has(option)).map(|(_, method)| method)
}

/// The facts of all sources, each list by precedence.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) namespaces: Vec<WithSource<String>>,
    pub(super) platforms: Vec<WithSource<Platform>>,
    pub(super) releases: Vec<WithSource<String>>,
    /// How the HyperConverged is updated.
    pub(super) updates: Vec<WithSource<UpdateMethod>>,
    /// Lower bounds of the release.
    pub(super) at_least: Vec<WithSource<String>>,
    /// The distribution whose package a Subscription installs.
    pub(super) package: Option<&'static Distribution>,
    /// The distribution whose registry the HyperConverged names.
    pub(super) images: Option<&'static Distribution>,
}

impl Candidates {
    /// Adds the inventory's facts.
    pub(super) fn inventory(&mut self, loaded: &LoadedInventory) {
        let inventory = &loaded.inventory;
        let release = inventory.release.clone();
        self.namespaces.extend(declared(loaded, "namespace", inventory.namespace.clone()));
        self.platforms.extend(declared(loaded, "platform", inventory.platform));
        self.releases.extend(release.and_then(|release| declared(loaded, "release", release)));
        self.updates.extend(declared(loaded, "apply", inventory.update));
    }

    /// Adds the HyperConverged's facts.
    pub(super) fn hyperconverged(&mut self, document: &Document) {
        let by = FactOrigin::HyperConverged;
        let written = |path: &Path| {
            let node = document.root.at(path)?;
            Some((node.as_str()?, Some(document.location(node.span))))
        };
        let namespace = written(&Path::dotted("metadata.namespace")).filter(|(name, _)| !name.is_empty());
        self.namespaces.extend(namespace.map(|(name, place)| WithSource { value: name.to_owned(), by, place }));
        let options = written(&Path::annotation(SYNC_OPTIONS));
        let method = options.and_then(|(options, place)| Some((sync_method(options.split(','))?, place)));
        self.updates.extend(method.map(|(value, place)| WithSource { value, by, place }));
        let text = document.file.text().get(document.root.span.range()).unwrap_or_default();
        let of_vendor = |d: &&Distribution| d.registries().any(|host| text.contains(&format!("{host}/")));
        self.images = self.images.or_else(|| Distribution::all().iter().find(of_vendor));
    }

    /// Adds another manifest's facts.
    pub(super) fn statement(&mut self, statement: &Statement) {
        self.namespaces.extend(stated(statement, &statement.namespace));
        self.platforms.extend(stated(statement, &statement.platform));
        self.at_least.extend(stated(statement, &statement.at_least));
        self.package = self.package.or(statement.distribution);
        // A platform's version is only that of its own distribution.
        let other_product = statement.kind == StatementKind::ClusterVersion
            && statement.distribution.is_some_and(Distribution::is_upstream);
        self.releases.extend(stated(statement, &statement.release).filter(|_| !other_product));
    }

    /// Puts the operator's namespace, which what installs it says, before the HyperConverged's own: a HyperConverged
    /// elsewhere is rejected.
    pub(super) fn operators_namespace_first(&mut self) {
        let installs = |fact: &WithSource<String>| {
            let FactOrigin::Statement(kind) = fact.by else { return false };
            matches!(kind, StatementKind::Subscription | StatementKind::OperatorPolicy | StatementKind::Deployment)
        };
        let own = self.namespaces.iter().position(|fact| fact.by == FactOrigin::HyperConverged);
        let of_operator = self.namespaces.iter().position(installs);
        if let (Some(own), Some(at)) = (own, of_operator)
            && own < at
        {
            let fact = self.namespaces.remove(at);
            self.namespaces.insert(own, fact);
        }
    }

    /// Findings about sources that contradict the one with precedence.
    pub(super) fn contradictions(&self) -> Vec<Finding> {
        let mut out = Vec::new();
        out.extend(contradictions("namespace", &self.namespaces, |first, other| {
            // The operator's policy rejects that, which another rule reports.
            let is_operators = matches!(first.by, FactOrigin::Inventory | FactOrigin::Statement(_));
            let rejected = is_operators && other.by == FactOrigin::HyperConverged;
            first.value != other.value && !rejected
        }));
        out.extend(contradictions("platform", &self.platforms, |a, b| a.value != b.value));
        out.extend(contradictions("release", &self.releases, |a, b| {
            lines(&a.value, &b.value).is_some_and(|(a, b)| a != b)
        }));
        if let Some(first) = self.releases.first() {
            let later = self.at_least.iter().filter(|b| lines(&first.value, &b.value).is_some_and(|(a, b)| a < b));
            out.extend(later.map(|other| contradiction("release", first, other, "at least ")));
        }
        out
    }

    /// The distribution: by the package that OLM installs, the operator's namespace, its images, the release that it
    /// started with; else upstream.
    pub(super) fn distribution(&self) -> &'static Distribution {
        let namespace = self.namespaces.first();
        let by_namespace =
            || Distribution::all().iter().find(|d| namespace.is_some_and(|n| n.value == d.namespace.value));
        let by_version = || Distribution::of_line(&version_parts(&self.at_least.first()?.value)?.0);
        let shown = self.package.or_else(by_namespace).or(self.images).or_else(by_version);
        shown.unwrap_or(&Distribution::all()[0])
    }

    /// The published releases that the cluster may run if no source has one, oldest first; if all are older than the
    /// one that it started with, the first modelled one that isn't.
    pub(super) fn published(&self) -> Vec<Arc<Release>> {
        let distribution = self.distribution();
        let is_low = |release: &Arc<Release>| self.at_least.iter().any(|bound| is_older(release, &bound.value));
        let mut published = Release::published(distribution);
        let newest = published.last().cloned();
        published.retain(|release| !is_low(release));
        if published.is_empty() {
            let all = newest.as_ref().map_or_else(Vec::new, |r| r.releases_of_distribution());
            published.extend(all.into_iter().find(|r| !is_low(r)).or(newest));
        }
        published
    }
}

/// A fact of an inventory that has the field.
fn declared<T>(loaded: &LoadedInventory, field: &str, value: T) -> Option<WithSource<T>> {
    let place = loaded.locations.field(field)?.clone();
    Some(WithSource { value, by: FactOrigin::Inventory, place: Some(place) })
}

/// A fact of another manifest, by its path there.
fn stated<T: Clone>(statement: &Statement, fact: &Option<(T, Path)>) -> Option<WithSource<T>> {
    let (value, path) = fact.clone()?;
    Some(WithSource { value, by: FactOrigin::Statement(statement.kind), place: Some(statement.document.locate(&path)) })
}

/// Whether a release is older than a named one.
pub(super) fn is_older(release: &Release, name: &str) -> bool {
    lines(release.label(), name).is_some_and(|(own, other)| own < other)
}

/// The HCO releases of two names, for comparing: `1.16` and `4.20` are the same. Ignores patch levels. An unknown
/// version is only compared with one of the same major version.
fn lines(first: &str, other: &str) -> Option<(Vec<u64>, Vec<u64>)> {
    let line = |name: &str| Some(version_parts(name)?.0);
    let release = |line: &str| {
        let version = Distribution::of_line(line)?.versions.get(line);
        Some(version_numbers(version.map_or(line, |v| &v.release.value)))
    };
    let (first, other) = (line(first)?, line(other)?);
    if let (Some(first), Some(other)) = (release(&first), release(&other)) {
        return Some((first, other));
    }
    let (first, other) = (version_numbers(&first), version_numbers(&other));
    (first.first() == other.first()).then_some((first, other))
}

fn contradictions<T: fmt::Display>(
    what: &str,
    facts: &[WithSource<T>],
    differ: impl Fn(&WithSource<T>, &WithSource<T>) -> bool,
) -> Vec<Finding> {
    let Some((first, others)) = facts.split_first() else {
        return Vec::new();
    };
    // A configured default contradicts nothing.
    let others = others.iter().filter(|other| other.by != FactOrigin::Configured && differ(first, other));
    others.map(|other| contradiction(what, first, other, "")).collect()
}

fn contradiction<T: fmt::Display>(what: &str, first: &WithSource<T>, other: &WithSource<T>, bound: &str) -> Finding {
    let by = other.by.to_string();
    let by = if first.by == other.by { by.replacen("the ", "another ", 1) } else { by };
    let message =
        format!("{} says that the {what} is {}, and {by} that it is {bound}{}", first.by, first.value, other.value);
    let finding = Finding::new(&CLUSTER_FACTS_CONTRADICT, message)
        .label(format!("{} is used", first.value))
        .help("correct the wrong one");
    related(finding, other.place.clone(), first.place.clone(), "this one is used")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_the_first_source_with_a_fact() {
        let said = |value, by| WithSource { value, by, place: None };
        let nothing = || said("default", FactOrigin::Nothing);
        assert_eq!(known(nothing(), said("second", FactOrigin::Inventory)).value, "second");
        let both = known(said("first", FactOrigin::Inventory), said("second", FactOrigin::Inventory));
        assert_eq!(both.value, "first");
        assert_eq!(known(said("first", FactOrigin::Inventory), nothing()).value, "first");
    }
}
