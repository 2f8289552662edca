//! Objects that contain manifests: Open Cluster Management's policies and works, OpenShift's Templates, Hive's
//! SyncSets, Crossplane's Objects, Ansible's tasks.
//!
//! A wrapped object is part of the wrapper's tree, so it keeps its locations. Values that only the wrapper's tool can
//! set are [unknown]: they are removed and reported.

pub(super) mod ansible;
pub(super) mod commands;
pub(super) mod embedded;
pub(super) mod files;
mod inline;
pub(super) mod mask;
pub(super) mod mutations;
pub(super) mod not_planned;
pub(super) mod policy;
mod template;
pub(super) mod unknown;

pub(super) use inline::{value_behind, without_blanks};
pub(super) use not_planned::NotPlannedObject;
pub(super) use unknown::Unknown;

use super::fields;
use super::mentions::HCO;
use super::variables::with_texts;
use crate::prelude::*;

/// The documents of a template of Go, with `{{}}` for its actions and with its conditional parts.
pub(super) fn masked_template(file: &Arc<SourceFile>) -> Vec<Document> {
    static ACTION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(&format!("{}x*", mask::MARK)).expect("a masked action"));
    let masked = mask::mask(file.text(), mask::Language::Go, &mask::Parts::All).text;
    let documents = yaml::parse(&SourceFile::new(file.path(), masked)).documents;
    let unmasked =
        |text: &str| text.contains(mask::MARK).then(|| Value::String(ACTION.replace_all(text, "{{}}").into_owned()));
    let document = |document: Document| {
        let root = with_texts(&document.root, &unmasked);
        Document { file: Arc::clone(file), root, ..document }
    };
    documents.into_iter().map(document).collect()
}

/// An object that contains other objects.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrapper<'n> {
    pub(super) node: &'n Node,
    /// Whether it is an OpenShift Template, whose parameters are in the object.
    pub(super) is_template: bool,
}

/// The objects inside an object, in the order of the text; `None` if it isn't a wrapper.
pub(super) fn wrapped_nodes(node: &Node) -> Option<Vec<(&Node, Wrapper<'_>)>> {
    if !node.items().is_empty() {
        return ansible::objects(node);
    }
    let kind = format!("{}/{}", group(node), node.text("kind"));
    let wrapper = |path: &str| Wrapper { node, is_template: path == "objects" };
    match fields::pairs_of("wrappers").find(|(known, _)| *known == kind)?.1 {
        "" => Some(policy::objects(node)),
        path => {
            let inner = node.below(path).filter(|inner| !matches!(inner.value, Value::Seq(_)));
            Some(inner.into_iter().chain(node.list_at(path)).map(|n| (n, wrapper(path))).collect())
        }
    }
}

/// Whether a value has HCO's kind and group.
fn is_of_hco(node: &Node) -> bool {
    group(node) == HCO && node.text("kind") == "HyperConverged"
}

/// An object's API group.
pub(super) fn group(node: &Node) -> &str {
    let version = node.text("apiVersion");
    version.split_once('/').map_or("", |(group, _)| group)
}
