//! Golden images as written, as passed on by HCO, and as deployed by SSP.

use super::Context;
use super::prelude::*;
use std::fmt::{self, Display, Formatter};

use hcoplan_diagnostics::finding::nearest;
use hcoplan_planner::boot_images::{Template, TemplateSource, is_enabled};
use hcoplan_yaml::{Key, Value};

use super::Annotation;

/// A DataImportCronTemplate of the HyperConverged as written.
#[derive(Debug, Clone, Copy)]
pub struct WrittenTemplate<'a> {
    /// Its index in `dataImportCronTemplates`.
    pub index: usize,
    /// Its tree.
    pub node: &'a Node,
    document: &'a Document,
}

/// A DataImportCronTemplate after HCO's processing, with the written one.
#[derive(Debug, Clone, Copy)]
pub struct GoldenImage<'a> {
    /// The template passed to SSP.
    pub template: &'a Template,
    /// The HyperConverged's own template; `None` for a common one without customisation.
    pub written: Option<WrittenTemplate<'a>>,
}

impl<'a> Context<'a> {
    /// The DataImportCronTemplates of the HyperConverged, including disabled ones.
    pub fn written_templates(&self) -> impl Iterator<Item = WrittenTemplate<'a>> + use<'a> {
        let field = self.field("dataImportCronTemplates");
        let document = self.document();
        let items = items(field.node());
        items.iter().enumerate().map(move |(index, node)| WrittenTemplate { index, node, document })
    }

    /// The golden images that HCO reports and passes to SSP, sorted by name; empty if HCO reports none (plain
    /// Kubernetes, an error, a rejection).
    pub fn golden_images(&self) -> &[GoldenImage<'a>] {
        self.known.images.get_or_init(|| {
            let plan = self.plan();
            let reported = plan.status.data_import_cron_templates.as_ref();
            let Some(stage) = plan.golden_images.as_ref().filter(|_| reported.is_some()) else {
                return Vec::new();
            };
            let written: Vec<_> = self.written_templates().collect();
            let image = |template: &'a Template| GoldenImage {
                template,
                written: match template.source {
                    TemplateSource::Common => None,
                    TemplateSource::Customised { index } | TemplateSource::Custom { index } => {
                        written.get(index).copied()
                    }
                },
            };
            stage.templates.iter().map(image).collect()
        })
    }

    /// The location of a golden image; for an unchanged common one, of the switch of multi-arch golden images.
    pub fn image_place(&self, image: &GoldenImage<'_>) -> Location {
        match image.written {
            Some(written) => written.name_place(),
            None => self.multi_arch_switch(),
        }
    }
}

/// Its name in messages: `golden image fedora`.
impl Display for WrittenTemplate<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.name() {
            "" => write!(out, "golden image {} of the list, which has no name,", self.index + 1),
            name => write!(out, "golden image {name}"),
        }
    }
}

impl<'a> WrittenTemplate<'a> {
    /// `metadata.name`; empty if missing.
    pub fn name(&self) -> &'a str {
        self.node.text("metadata.name")
    }

    /// The location of its name, else of the whole template.
    pub fn name_place(&self) -> Location {
        self.place(self.get("metadata.name").unwrap_or(self.node))
    }

    /// One of its annotations.
    pub fn annotation(&self, name: &str) -> Option<Annotation<'a>> {
        Annotation::of_object(self.document, self.node, name)
    }

    /// The key of an annotation with a similar name; `disable` is the opposite of `enable`.
    pub fn misspelt(&self, name: &str) -> Option<&'a Key> {
        let keys = self.get("metadata.annotations")?.entries().iter().map(|entry| &entry.key);
        let mut keys = keys.filter(|key| key.text != name && !key.text.contains("disable"));
        keys.find(|key| nearest(&key.text, [name]).is_some())
    }

    /// The value at a dotted path below it.
    pub fn get(&self, path: &str) -> Option<&'a Node> {
        self.node.below(path)
    }

    /// The location of a node in it.
    pub fn place(&self, node: &Node) -> Location {
        self.document.location(node.span)
    }

    /// The location of the value at a dotted path, or of its key for a map or list; if it is missing, of the nearest
    /// existing parent key, or the template's name.
    pub fn locate(&self, path: &str) -> Location {
        let below = Path::root().key(self.name()).below(path);
        let path = Path::dotted(path);
        let (node, depth) = self.node.nearest(&path);
        let collection = matches!(node.value, Value::Map(_) | Value::Seq(_));
        let is_there = depth == path.0.len();
        let place = match depth {
            0 => self.name_place(),
            _ if is_there && !collection => return self.place(node),
            _ => self
                .node
                .key_at(&Path(path.0[..depth].to_vec()))
                .map_or_else(|| self.place(node), |k| self.key_place(k)),
        };
        if is_there { place } else { place.lacking(below) }
    }

    /// The location of the key at a dotted path; if it is missing, see [`WrittenTemplate::locate`].
    pub fn locate_key(&self, path: &str) -> Location {
        let key = self.node.key_at(&Path::dotted(path));
        key.map_or_else(|| self.locate(path), |k| self.key_place(k))
    }

    /// Whether it is enabled, as HCO reads its annotation.
    pub fn is_enabled(&self) -> bool {
        is_enabled(&self.node.to_json())
    }

    /// Keys next to `metadata` that belong into it: `name`, `annotations` and others.
    pub fn misplaced_metadata(&self) -> impl Iterator<Item = &'a Entry> + use<'a> {
        const OF_METADATA: [&str; 4] = ["annotations", "labels", "name", "namespace"];
        let entries = self.node.entries().iter();
        entries.filter(|e| OF_METADATA.contains(&e.key.text.as_str()))
    }

    /// The location of one of its keys.
    pub fn key_place(&self, key: &Key) -> Location {
        self.document.location(key.span)
    }

    /// Its path in the document.
    pub fn path(&self, cx: &Context<'_>) -> Path {
        let list = cx.field("dataImportCronTemplates").path();
        list.unwrap_or_default().index(self.index)
    }
}
