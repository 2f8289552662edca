//! CDI's stage: which disks it imports, keeps and deletes when SSP's DataImportCrons change, and which DataSources lead
//! to them.
//!
//! Sources: CDI `pkg/apiserver/webhooks/dataimportcron-validate.go` rejects a change of a spec, so that SSP deletes the
//! cron and creates it again (`internal/common/resource.go`, `createOrUpdateWithImmutableSpec`). CDI
//! `pkg/controller/dataimportcron-controller.go`: `cleanup` deletes what has the deleted cron's name and the label that
//! `setDataImportCronResourceLabels` sets for `retentionPolicy: None`; `getDataSource` leaves a DataSource alone that has
//! another cron's name; `createImportDataVolume` takes a disk that exists, named after its DataSource and the image's
//! digest, and that is the same for each architecture of a list. SSP writes its DataSources before it deletes crons
//! (`data-sources/reconcile.go`). The same at CDI v1.63.1, v1.64.0, v1.65.0 and v1.66.0, and at SSP v0.24.1, v0.25.0 and
//! v0.26.0.

use super::ssp_stage::CRON_LABEL;
use crate::prelude::*;

/// A DataImportCron before and after a step: at least one of them exists.
#[derive(Debug, Clone, Copy)]
pub struct CronStep<'o> {
    /// Before; perhaps under another name, for the same DataSource.
    pub before: Option<&'o Value>,
    /// After.
    pub after: Option<&'o Value>,
}

/// The changes of the DataImportCrons among two sets of objects. A new one follows a removed one that filled the same
/// DataSource.
pub fn cron_steps<'o>(before: &[&'o Value], after: &[&'o Value]) -> Vec<CronStep<'o>> {
    let crons = |objects: &[&'o Value]| objects.iter().copied().filter(|o| o["kind"] == "DataImportCron").collect();
    let (mut old, new): (Vec<&Value>, Vec<&Value>) = (crons(before), crons(after));
    let mut out: Vec<CronStep<'_>> = new.iter().map(|cron| CronStep { before: None, after: Some(cron) }).collect();
    for key in [name_of, target_of] {
        for step in out.iter_mut().filter(|step| step.before.is_none()) {
            let found = old.iter().position(|cron| step.after.map(key) == Some(key(cron)));
            step.before = found.map(|index| old.remove(index));
        }
    }
    out.extend(old.into_iter().map(|cron| CronStep { before: Some(cron), after: None }));
    out
}

impl CronStep<'_> {
    fn is_same<T: PartialEq>(self, part: impl Fn(&Value) -> T) -> bool {
        self.before.map(&part) == self.after.map(part)
    }

    /// Whether a cron is removed under its name.
    pub fn is_removed(self) -> bool {
        self.before.is_some() && !self.is_same(|cron| cron["metadata"]["name"].clone())
    }

    /// Whether SSP deletes the cron and creates it again.
    pub fn is_recreated(self) -> bool {
        self.before.is_some() && !self.is_removed() && !self.is_same(|cron| cron["spec"].clone())
    }

    /// Whether CDI deletes what the cron imported.
    pub fn deletes_disks(self) -> bool {
        (self.is_removed() || self.is_recreated()) && self.before.is_some_and(deletes_with_it)
    }

    /// Whether a disk is imported.
    pub fn imports(self) -> bool {
        let names = |cron: &Value| (cron["spec"]["managedDataSource"].clone(), url(cron).cloned());
        self.after.is_some() && (self.deletes_disks() || !self.is_same(names))
    }
}

/// Whether CDI deletes what a cron imported together with the cron.
fn deletes_with_it(cron: &Value) -> bool {
    cron["spec"]["retentionPolicy"] == "None"
}

fn url(cron: &Value) -> Option<&Value> {
    cron.pointer("/spec/template/spec/source/registry/url")
}

/// Namespace and name.
type Name = (String, String);

fn named(object: &Value, name: &Value) -> Name {
    let [namespace, name] = [&object["metadata"]["namespace"], name].map(|v| text(v).to_owned());
    (namespace, name)
}

fn name_of(object: &Value) -> Name {
    named(object, &object["metadata"]["name"])
}

fn target_of(cron: &Value) -> Name {
    named(cron, &cron["spec"]["managedDataSource"])
}

/// The DataSources that DataImportCrons have filled.
#[derive(Debug, Clone, Default)]
pub struct Imports(BTreeMap<Name, Import>);

/// A filled DataSource.
#[derive(Debug, Clone)]
pub struct Import {
    /// The cron whose name it has.
    pub cron: String,
    /// Whether CDI deletes it together with that cron.
    is_deleted_with_cron: bool,
    /// The cron that is to fill it now.
    manager: Option<String>,
}

impl Import {
    /// Whether the DataSource keeps its last disk although no cron updates it any more.
    pub fn is_kept(&self) -> bool {
        self.manager.is_none()
    }

    /// Whether the DataSource keeps its last disk because it has the name of a removed cron, not of the one that should
    /// fill it.
    pub fn is_stale(&self) -> bool {
        self.manager.as_ref().is_some_and(|manager| *manager != self.cron)
    }
}

impl Imports {
    /// What a step from objects to others keeps, if all crons of the first have imported.
    pub fn of_step(before: &[&Value], after: &[&Value]) -> Self {
        Self::default().after(&[], before).after(before, after)
    }

    /// The DataSources after a step from objects to others, once everything is imported.
    #[must_use]
    pub fn after(&self, before: &[&Value], after: &[&Value]) -> Self {
        let mut out = self.0.clone();
        let sources = |objects: &[&Value]| -> BTreeMap<Name, Option<String>> {
            let label = |source: &Value| source["metadata"]["labels"][CRON_LABEL].as_str().map(str::to_owned);
            let sources = objects.iter().filter(|object| object["kind"] == "DataSource");
            sources.map(|source| (name_of(source), label(source))).collect()
        };
        // SSP deletes its own DataSources that it no longer lists, and takes those that lead elsewhere from CDI.
        let (own, written) = (sources(before), sources(after));
        out.retain(|name, import| match written.get(name) {
            Some(Some(cron)) => {
                import.cron.clone_from(cron);
                true
            }
            Some(None) => false,
            None => !own.contains_key(name),
        });
        let steps = cron_steps(before, after);
        let deleted = steps.iter().filter(|step| step.is_removed() || step.is_recreated());
        let deleted: BTreeSet<Name> = deleted.filter_map(|step| step.before.map(name_of)).collect();
        out.retain(|(namespace, _), import| {
            import.manager = None;
            !import.is_deleted_with_cron || !deleted.contains(&(namespace.clone(), import.cron.clone()))
        });
        for cron in steps.iter().filter_map(|step| step.after) {
            let (_, name) = name_of(cron);
            let new = || Import { cron: name.clone(), is_deleted_with_cron: false, manager: None };
            let import = out.entry(target_of(cron)).or_insert_with(new);
            let is_own = import.cron == name;
            import.is_deleted_with_cron |= is_own && deletes_with_it(cron);
            if is_own || import.manager.as_ref() != Some(&import.cron) {
                import.manager = Some(name);
            }
        }
        Self(out)
    }

    /// What CDI knows of a DataSource.
    pub fn get(&self, namespace: &str, source: &str) -> Option<&Import> {
        self.0.get(&(namespace.to_owned(), source.to_owned()))
    }
}
