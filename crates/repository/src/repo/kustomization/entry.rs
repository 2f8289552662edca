//! The fields of a kustomization and their entries.
//!
//! Source: `Kustomization` of kustomize 5.7, with the fields of older releases.

use super::{fold_case, value, values};
use crate::prelude::*;
use crate::repo::nodes::parsed;

/// What a field of a kustomization holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub(crate) enum Field {
    /// Nothing that changes an object: `kind`, `metadata`, `sortOptions`.
    Plain,
    /// Files and directories with objects.
    Resources,
    /// Directories with components.
    Components,
    /// Patches: files, or inline ones.
    MergePatches,
    /// Patches with `path` or `patch`, and a `target`.
    Patches,
    /// JSON 6902 patches with `path` or `patch`, and a `target`.
    JsonPatches,
    // What is set in every object.
    Namespace,
    NamePrefix,
    NameSuffix,
    CommonLabels,
    Labels,
    CommonAnnotations,
    Images,
    Replicas,
    /// Replacements, each inline or in a file.
    Replacements,
    /// Generators of ConfigMaps and Secrets, by the kind.
    Generators(&'static str),
    /// Files with the configuration of transformers.
    Configurations,
    /// A mapping with the name of a file as `path`.
    OpenApi,
    /// Values that other fields take.
    Variables,
    /// Plugins: files, directories or inline ones.
    Plugins,
    /// Helm charts, which helm would fetch.
    Charts,
    /// Annotations about the build.
    BuildMetadata,
}

/// The keys of a kustomization; of several for one field the first is the newest.
static FIELDS: Table<Vec<(&str, Field)>> = Table::of(include_str!("fields.json"));

/// What kustomize does with each kind of field, in its order; resources, components and generators come before.
pub(crate) static TRANSFORMERS: Table<Vec<Field>> = Table::of(include_str!("transformers.json"));

/// Whether a field has files as `patches`, as in older releases: they are merge patches.
///
/// Source: `useLegacyPatch` in kustomize's `api/types/fix.go`; tried with kustomize 4.5.
pub(super) fn are_patch_files(key: &str, value: &Node) -> bool {
    let items = value.items();
    key == "patches" && !items.is_empty() && items.iter().all(|item| item.as_str().is_some())
}

impl Field {
    /// That of a key, in any case.
    pub(crate) fn of(key: &str) -> Option<Self> {
        let key = fold_case(key);
        FIELDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&key)).map(|(_, field)| *field)
    }

    /// That of an entry.
    pub(super) fn of_entry(entry: &yaml::Entry) -> Option<Self> {
        let key = &entry.key.text;
        if are_patch_files(key, &entry.value) { Some(Self::MergePatches) } else { Self::of(key) }
    }

    /// Whether it has patches.
    pub(crate) fn is_patch(self) -> bool {
        matches!(self, Self::MergePatches | Self::Patches | Self::JsonPatches)
    }

    /// Whether it is set in every object.
    pub(crate) fn is_metadata(self) -> bool {
        TRANSFORMERS.contains(&self) && !self.is_patch()
    }

    /// Its key.
    pub(crate) fn key(self) -> &'static str {
        FIELDS.iter().find(|(_, field)| *field == self).map_or("", |(key, _)| key)
    }
}

/// An entry of a kustomization, or one that a controller adds to it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The document with it.
    pub(crate) document: Arc<Document>,
    /// Its value: an item of a list, or the whole value of what is set in every object.
    pub(crate) node: Node,
    /// The field that it is an item of.
    pub(crate) what: Field,
}

impl Entry {
    /// Its location.
    pub(crate) fn place(&self) -> Location {
        self.document.location(self.node.span)
    }

    /// The text of a patch or a plugin: the name of a file, or the content.
    pub(crate) fn source(&self) -> Option<PatchSource<'_>> {
        match self.what {
            Field::Resources | Field::Components => Some(PatchSource::File(&self.node)),
            Field::MergePatches | Field::Plugins => Some(match self.node.as_str()? {
                text if is_inline(text) => PatchSource::Inline(&self.node),
                _ => PatchSource::File(&self.node),
            }),
            Field::Patches | Field::JsonPatches => {
                let of =
                    |key: &str| values(&self.node, key).filter(|n| n.as_str().is_some_and(|t| !t.is_empty())).last();
                let inline = of("patch").or_else(|| of("jsonop"));
                inline.map(PatchSource::Inline).or_else(|| of("path").map(PatchSource::File))
            }
            _ => None,
        }
    }

    /// The selector of a patch.
    pub(crate) fn target(&self) -> Option<&Node> {
        value(&self.node, "target")
    }

    /// The names of the files that kustomize reads for it; a resource may be a directory, too.
    pub(crate) fn files(&self) -> Vec<&str> {
        match self.what {
            Field::Configurations => self.node.as_str().into_iter().collect(),
            Field::OpenApi | Field::Replacements => values(&self.node, "path").filter_map(Node::as_str).collect(),
            Field::Generators(_) => generated_from(&self.node).map(|(_, name)| name).collect(),
            _ => match self.source() {
                Some(PatchSource::File(name)) => name.as_str().into_iter().collect(),
                _ => Vec::new(),
            },
        }
    }
}

/// Where a patch's text is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PatchSource<'n> {
    /// In a file with this name.
    File(&'n Node),
    /// In this scalar.
    Inline(&'n Node),
}

/// The files of a ConfigMap's or Secret's generator, with the node that names each. `key=file` names the file's key.
pub(crate) fn generated_from(entry: &Node) -> impl Iterator<Item = (&Node, &str)> {
    let lists = ["files", "envs"].into_iter().flat_map(|key| values(entry, key)).flat_map(Node::items);
    let files = lists.chain(values(entry, "env")).filter_map(|node| Some((node, node.as_str()?)));
    files.map(|(node, file)| (node, file.split_once('=').map_or(file, |(_, file)| file)))
}

/// Whether a text holds objects, so that it isn't the name of a file.
pub(crate) fn is_inline(text: &str) -> bool {
    let parsed = parsed(text);
    let is_object = |d: &Document| d.root.text_at("kind").is_some() && d.root.text_at("metadata.name").is_some();
    !parsed.is_broken() && !parsed.documents.is_empty() && parsed.documents.iter().all(is_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_inline_only_where_it_is_an_object() {
        assert!(is_inline("apiVersion: v1\nkind: X\nmetadata: {name: x}\n"));
        for text in ["patch.yaml", "https://example.com/a: b", "a:\n  b: c\n", ""] {
            assert!(!is_inline(text), "{text}");
        }
    }
}
