//! What other tools know by name, `schemas/controller-fields.json`.
//!
//! - By kind of object, the fields that don't change a HyperConverged: any other one may change it. An Application's
//!   `sources` say what is applied; what their `helm` has is read when charts are rendered, or concerns values, which an
//!   unrendered chart ignores. Labels change nothing: HCO derives the operands' labels only from the HyperConverged's
//!   name. Sources: the CRDs of Argo CD 3.2, Flux 2.7, Advanced Cluster Management 2.14 and Fleet 0.13; the generator
//!   plugin of Open Cluster Management.
//! - kustomize: what of it is a field of Flux, of its post-renderers, and of Argo CD; its plugins that only read files;
//!   the kinds of Kubernetes that have no namespace, as it knows them; lists that patches merge, with the key of an item,
//!   and replace; the fields of a kustomization by type, in lower case (`*` is an item of a list, or a value of a
//!   mapping).
//! - Ansible: modules by their full names and those before collections, lists of tasks, directories of a role.
//! - `mutators`: kinds of policies that change objects at admission, or delete them; `mutators.groups`: words of files with
//!   one, or with Argo CD's own configuration. `commands`: how scripts apply, the names of HCO's CRD,
//!   the verbs of kubectl and oc that change an object, and fields whose texts are one command.
//! - `argocd.metadata`, `flux.metadata` and `helm.metadata`: annotations of an object, for Flux also labels, with which the
//!   controller doesn't apply it, or deletes it again: with this value (`*` is any), or after `!` with any but this one. Sources:
//!   Argo CD's resource hooks, those of Helm among them, and kustomize-controller's `reconcile` and `ssa`
//!   (`AnyInMetadata`); kustomize, with which Flux builds every directory, drops local configuration from its output.
//! - By kind, `destination`: what names the cluster that an object applies to; `namespace`: what gives its objects one.
//! - `operands`: the kinds that the operands' operators read; `machines`: the groups of machines and their disks.
//! - `kustomize.functions`: annotations that turn an object into a plugin that runs a program or image.
//! - `argocd.own-cluster`: its names of the cluster in which it runs. `argocd.environment`: the variables of a build, and
//!   where a source or an Application has their values; `.in`: where of a source they are filled in.
//! - `controllers`: the API groups of the known controllers; a file without any of them isn't parsed.
//! - `helm.served`: what every cluster with HCO serves, of which charts ask whether it does. `helm.questions`: what a
//!   template asks that only the cluster can answer: it is rendered as an installation into an empty one.
//! - `kustomize.templates`, `.selectors`: the pods' template of a kind, and the selector that has its labels;
//!   `.replicated`: kinds with replicas; `.kept-names`: those whose names no prefix or suffix changes. Sources: the field
//!   specs in kustomize's `builtinpluginconsts` and its filters.
//! - `tests`: directories with what tests expect or read, without an `s` at the end; `tests.inside`: those that have it
//!   below one of `tests.around`. `samples`: those with examples, which aren't applied.
//! - `variables`: files, directories and objects that hold values. `documents`: suffixes that say nothing to a tool.
//!   `templates`: those of a manifest's templates, by language. `scripts`: those of the shell's, and whole names.
//!   `unread`: those of languages that print manifests and aren't read. `not-manifests`: those after `.yaml` that make no
//!   template. `examples`: kinds with descriptions. `next-to-it`: kinds that are a cluster's only next to its
//!   HyperConverged, as a repository has them for others, and in old bundles.
//! - `wrappers`: kinds with other objects, and where. `flux.ignores`: what Flux leaves out of an archive without a list of
//!   its source (`ExcludeCI` and `ExcludeExtra` of its `sourceignore`), of the names that manifests may have.
//! - `clusters`: directories that have one for each cluster; `clusters.shared`: those in them that are of all. `appliers`:
//!   kinds of controllers that aren't modelled and name a path.
//! - `clusterGroup.application`: where an Application has the fields of one of a cluster group of Validated Patterns.
//! - `argocd.harmless-options`: sync options that change no object. `flux.kubeconfigs`: kinds of objects that have a
//!   cluster's address, or make one that has, and where a Kustomization names it.
//! - `placing`: kinds that name what they place; `.named`: those that others name; `.keys`: keys that imply a kind;
//!   `.clusters`: kinds that declare a cluster, and where its labels are; `.selectors`: by kind, the keys of what selects
//!   clusters by labels; `.labels`: labels that a name elsewhere selects.
//! - `remote.hosts`: hosts of repositories and archives, which kustomize fetches from.
//! - `dump`: the kinds that are read of a cluster's dump, each with its group. `environment`: what a build has, so that it
//!   fetches nothing where no namespace blocks the network (nothing listens on port 9); `inherited`: what it has of
//!   hcoplan's own; `inherited-to-fetch`: what one that fetches inherits, too: how to find git, the user's keys and
//!   configuration, and proxies.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::prelude::*;

/// The fields by kind, or by kind and field.
static FIELDS: Table<BTreeMap<&str, Vec<&str>>> = Table::of(hcoplan_schemas::CONTROLLER_FIELDS);

/// A search for all words of a list in one pass, of the lists that every file is searched for: a search for each word
/// took a third of a walk.
static SEARCHES: LazyLock<BTreeMap<&str, AhoCorasick>> = LazyLock::new(|| {
    let search = |list| (list, AhoCorasick::new(of(list)).expect("a few words"));
    ["controllers", "mutators.groups", "statements"].map(search).into()
});

/// Whether a text has one of the words of a list.
pub(super) fn are_in(text: &str, list: &str) -> bool {
    SEARCHES[list].is_match(text)
}

/// The pairs of a list of `name=value`.
pub(super) fn pairs_of(list: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    of(list).iter().filter_map(|pair| pair.split_once('='))
}

/// Those of a kind, or of a kind's field.
pub(super) fn of(kind: &str) -> &'static [&'static str] {
    &FIELDS[kind]
}

/// Whether a list has a name.
pub(super) fn has(list: &str, name: &str) -> bool {
    of(list).contains(&name)
}
