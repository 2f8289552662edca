//! What is in a file: looked for in its bytes first, and parsed only where it can matter.

use std::sync::{Arc, LazyLock};

use camino::{Utf8Path, Utf8PathBuf};
use memchr::memmem::Finder;

use super::statements::StatementKind;
use crate::inventory::SourceKind;
use crate::source::{SourceFile, Span, Tree, Unreadable};
use crate::yaml::edit::Before;
use crate::yaml::{self, Comment, Document, Node, Problem, ProblemKind};

/// The operator's API group; a file that mentions it must be readable.
pub(super) const HCO: &str = "hco.kubevirt.io";
/// Our own API group; a file that mentions it must be readable.
const OURS: &str = "hcoplan.dev";

/// The groups as they are in a file's bytes; the latter two in UTF-16, which byte ever comes first.
const MARKS: [&str; 4] = [
    HCO,
    OURS,
    "h\0c\0o\0.\0k\0u\0b\0e\0v\0i\0r\0t\0.\0i\0o",
    "h\0c\0o\0p\0l\0a\0n\0.\0d\0e\0v",
];

/// What the names of HCO's packages have in common.
const PACKAGE: &str = "kubevirt-hyperconverged";

/// A file's documents, shared by everybody who looks at them.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) documents: Vec<Arc<Document>>,
    pub(super) problems: Vec<Problem>,
    pub(super) comments: Vec<Comment>,
    pub(super) file: Arc<SourceFile>,
}

impl Content {
    pub(super) fn parse(file: Arc<SourceFile>) -> Self {
        let parsed = yaml::parse(&file);
        Self {
            documents: parsed.documents.into_iter().map(Arc::new).collect(),
            problems: parsed.problems,
            comments: parsed.comments,
            file,
        }
    }

    /// The objects in it that matter.
    pub(super) fn found(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for (index, document) in (0..).zip(&self.documents) {
            classify(index, &document.root, &mut found);
        }
        found
    }

    /// Whether it can't be read without being ours.
    pub(super) fn is_broken(&self) -> bool {
        self.problems.iter().any(|p| p.kind.is_fatal())
    }

    /// The file as it was read, for trying edits out on it.
    pub(super) fn before_edits(&self) -> Before {
        let documents = self.documents.clone();
        Before::read(&self.file, documents, &self.comments, &self.problems)
    }

    /// The object at a place: a document, or an item of a v1 List as if it stood alone.
    pub(super) fn object(&self, place: ObjectPlace) -> Option<Arc<Document>> {
        let document = self.documents.get(place.document as usize)?;
        let Some(item) = place.item else {
            return Some(Arc::clone(document));
        };
        let root = document.root.get("items")?.items().get(item as usize)?;
        let inside = |at: u32| root.span.start <= at && at < root.span.end;
        let comments = document.comments.iter().copied();
        Some(Arc::new(Document {
            file: Arc::clone(&document.file),
            index: document.index,
            span: root.span,
            root: root.clone(),
            comments: comments.filter(|c| inside(c.span.start)).collect(),
        }))
    }
}

/// Where an object is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectPlace {
    /// 0-based place among the file's documents.
    pub document: u32,
    /// 0-based place among the items of a v1 List; `None` for the document itself.
    pub item: Option<u32>,
}

/// An object that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) place: ObjectPlace,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A document of the operator's API group.
    HyperConverged,
    /// Something about a cluster.
    Inventory(SourceKind),
    /// Something else that says what a cluster is like.
    Statement(StatementKind),
}

/// What looking at a file gave.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// What matters in it.
    pub(super) found: Vec<Found>,
    /// Files that it names as patches; it is a kustomization.
    pub(super) patches: Vec<Utf8PathBuf>,
    /// Its content, where it was parsed.
    pub(super) content: Option<Content>,
    /// Why it has no bytes.
    pub(super) unreadable: Option<Unreadable>,
    /// Whether it mentions the operator's API group or ours.
    pub(super) marked: bool,
}

/// Whether a file can hold manifests, by its name.
pub(super) fn is_candidate(path: &Utf8Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    let known = ["yaml", "yml", "json"];
    known.iter().any(|k| extension.eq_ignore_ascii_case(k)) || is_kustomization(path)
}

/// What a kustomization's file is called.
pub(super) const KUSTOMIZATIONS: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether a file is a kustomization, by its name.
pub fn is_kustomization(path: &Utf8Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|n| KUSTOMIZATIONS.contains(&n))
}

/// Looks at a file.
pub(super) fn scan(tree: &dyn Tree, path: &Utf8Path) -> Scanned {
    let bytes = match tree.read(path) {
        Ok(bytes) => bytes,
        Err(unreadable) => {
            let large = matches!(unreadable, Unreadable::TooBig(_));
            return Scanned {
                marked: large && tree.mentions(path, &MARKS),
                unreadable: Some(unreadable),
                ..Scanned::default()
            };
        }
    };
    let kustomization = is_kustomization(path);
    match interest(&bytes, kustomization) {
        Interest::None => Scanned::default(),
        interest => {
            let mut content = Content::parse(SourceFile::from_bytes(path, bytes));
            if interest == Interest::Garbled && !content.is_broken() {
                content.problems.push(garbled(&content.file));
            }
            let mut scanned = Scanned {
                marked: matches!(interest, Interest::Marked | Interest::Garbled),
                ..Scanned::default()
            };
            for document in &content.documents {
                let patches = patches(&document.root, path).filter(|_| kustomization);
                scanned.patches.extend(patches);
            }
            scanned.found = content.found();
            scanned.content = Some(content);
            scanned
        }
    }
}

/// Why a file is parsed.
#[derive(Debug, PartialEq, Eq)]
enum Interest {
    None,
    /// It mentions one of the API groups.
    Marked,
    /// Its bytes mention one, but its text doesn't.
    Garbled,
    /// It may hold nodes or machines, or name patches.
    Some,
}

fn interest(bytes: &[u8], kustomization: bool) -> Interest {
    // Seldom, and then exactly: UTF-16, or bytes that are no text.
    let Ok(text) = std::str::from_utf8(bytes) else {
        let decoded = crate::source::decode(bytes.to_vec()).text;
        return match of_text(&decoded, kustomization) {
            Interest::Marked => Interest::Marked,
            _ if marked(&String::from_utf8_lossy(bytes)) => Interest::Garbled,
            other => other,
        };
    };
    match memchr::memchr(0, bytes).is_some() && marked(text) {
        true => Interest::Garbled,
        false => of_text(text, kustomization),
    }
}

fn marked(text: &str) -> bool {
    MARKS.iter().any(|mark| text.contains(mark))
}

fn of_text(text: &str, kustomization: bool) -> Interest {
    let words = &*WORDS;
    let mentions = |word: &Finder<'_>| word.find(text.as_bytes()).is_some();
    if mentions(&words.hco) || mentions(&words.ours) {
        return Interest::Marked;
    }
    let nodes = mentions(&words.node) && has_kind(text, "Node");
    let machines = || mentions(&words.machine) && has_kind(text, "Machine");
    let subscription = || mentions(&words.subscription) && mentions(&words.package);
    let statement = || words.statements.iter().any(mentions);
    let others = || machines() || subscription() || statement();
    match nodes || others() || (kustomization && mentions(&words.patch)) {
        true => Interest::Some,
        false => Interest::None,
    }
}

/// What is looked for in every file, made ready once.
struct Words {
    hco: Finder<'static>,
    ours: Finder<'static>,
    node: Finder<'static>,
    machine: Finder<'static>,
    subscription: Finder<'static>,
    package: Finder<'static>,
    patch: Finder<'static>,
    statements: [Finder<'static>; 2],
}

static WORDS: LazyLock<Words> = LazyLock::new(|| Words {
    hco: Finder::new(HCO),
    ours: Finder::new(OURS),
    node: Finder::new("Node"),
    machine: Finder::new("Machine"),
    subscription: Finder::new("Subscription"),
    package: Finder::new(PACKAGE),
    patch: Finder::new("patch"),
    // A CSV of HCO mentions its API group.
    statements: [Finder::new("OperatorGroup"), Finder::new("ClusterVersion")],
});

/// What is wrong with a file whose text is not what its bytes are.
fn garbled(file: &SourceFile) -> Problem {
    let first = file.text().chars().next().map_or(0, char::len_utf8);
    let message = "the file's first bytes say that it is UTF-16, but what follows is not";
    Problem::new(ProblemKind::Syntax, Span::new(0, first), message)
}

/// Whether `kind:` with a value that begins so is somewhere, in YAML or JSON.
fn has_kind(text: &str, beginning: &str) -> bool {
    text.match_indices("kind").any(|(at, key)| {
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'']);
        let value = rest.trim_start().strip_prefix(':');
        value.is_some_and(|v| {
            v.trim_start()
                .trim_start_matches(['"', '\''])
                .starts_with(beginning)
        })
    })
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}

fn classify(document: u32, root: &Node, out: &mut Vec<Found>) {
    let (api_version, kind) = (text(root, "apiVersion"), text(root, "kind"));
    let mut add = |item: Option<u32>, what: What| {
        let place = ObjectPlace { document, item };
        out.push(Found { place, what });
    };
    if let Some(what) = what(api_version, kind) {
        return add(None, what);
    }
    if let Some(kind) = StatementKind::of(root) {
        return add(None, What::Statement(kind));
    }
    if (api_version, kind) != ("v1", "List") {
        return;
    }
    let (mut nodes, mut machines) = (false, false);
    for (index, item) in (0..).zip(root.get("items").map_or(&[][..], Node::items)) {
        match what(text(item, "apiVersion"), text(item, "kind")) {
            // Read from the list as a whole: there may be thousands.
            Some(What::Inventory(SourceKind::Nodes)) => nodes = true,
            Some(What::Inventory(SourceKind::Machines)) => machines = true,
            Some(what) => add(Some(index), what),
            None => {
                if let Some(kind) = StatementKind::of(item) {
                    add(Some(index), What::Statement(kind));
                }
            }
        }
    }
    if nodes {
        add(None, What::Inventory(SourceKind::Nodes));
    }
    if machines {
        add(None, What::Inventory(SourceKind::Machines));
    }
}

fn what(api_version: &str, kind: &str) -> Option<What> {
    match api_version.split_once('/') {
        Some((HCO, _)) => Some(What::HyperConverged),
        _ => SourceKind::of(api_version, kind).map(What::Inventory),
    }
}

/// The files that a kustomization names as patches.
fn patches<'n>(root: &'n Node, path: &'n Utf8Path) -> impl Iterator<Item = Utf8PathBuf> + 'n {
    let directory = path.parent().unwrap_or(Utf8Path::new(""));
    let lists = ["patches", "patchesStrategicMerge", "patchesJson6902"];
    let entries = lists
        .into_iter()
        .filter_map(|l| root.get(l))
        .flat_map(Node::items);
    let named = entries.filter_map(|e| e.as_str().or_else(|| e.get("path")?.as_str()));
    // A strategic merge patch may stand inline.
    let paths = named.filter(|p| !p.contains('\n') && !p.contains(": "));
    paths.filter_map(move |p| crate::source::normal(&directory.join(p)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Memory;

    fn scan_text(path: &str, text: &str) -> Scanned {
        let tree: Memory = [(path, text)].into_iter().collect();
        scan(&tree, path.into())
    }

    fn found(text: &str) -> String {
        let scanned = scan_text("a.yaml", text);
        let line = |f: &Found| {
            let item = f.place.item.map(|i| format!("[{i}]")).unwrap_or_default();
            let what = match f.what {
                What::HyperConverged => "HyperConverged".to_owned(),
                What::Inventory(kind) => format!("{kind:?}"),
                What::Statement(kind) => kind.as_str().to_owned(),
            };
            format!("{}{item} {what}", f.place.document)
        };
        scanned
            .found
            .iter()
            .map(line)
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn what_matters_is_found() {
        let cases = [
            (
                "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\n",
                "0 HyperConverged",
            ),
            (
                "apiVersion: hco.kubevirt.io/v9\nkind: Other\n",
                "0 HyperConverged",
            ),
            (
                r#"{"kind":"HyperConverged","apiVersion":"hco.kubevirt.io/v1"}"#,
                "0 HyperConverged",
            ),
            (
                "a: 1\n---\napiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\n",
                "1 Declared",
            ),
            ("apiVersion: hcoplan.dev/v1alpha1\nkind: Lint\n", ""),
            ("apiVersion: v1\nkind: Node\n", "0 Nodes"),
            (r#"{ "kind" : "NodeList", "apiVersion": "v1"}"#, "0 Nodes"),
            (
                "apiVersion: machine.openshift.io/v1beta1\nkind: 'MachineSet'\n",
                "0 Machines",
            ),
            ("apiVersion: example.com/v1\nkind: MachineSet\n", ""),
            (
                "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- {apiVersion: \
                 hco.kubevirt.io/v1, kind: HyperConverged}\n- {apiVersion: v1, kind: Node}\n",
                "0[1] HyperConverged, 0 Nodes",
            ),
            (
                "kind: CustomResourceDefinition\nspec: {group: hco.kubevirt.io}\n",
                "",
            ),
            (
                "apiVersion: v1\nkind: Service\nspec: {type: NodePort}\n",
                "",
            ),
            (
                "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nspec: {name: \
                 kubevirt-hyperconverged}\n",
                "0 Subscription",
            ),
            (
                "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nspec: {name: \
                 other, source: kubevirt-hyperconverged}\n",
                "",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_matter_is_not_parsed() {
        for text in [
            "a: [",
            "kind: Service\nspec: {type: NodePort, nodeSelector: {}}",
            "{{ x }}",
        ] {
            assert!(scan_text("a.yaml", text).content.is_none(), "{text}");
        }
        let utf16: Vec<u8> = [0xFF, 0xFE]
            .into_iter()
            .chain(
                "apiVersion: hco.kubevirt.io/v1"
                    .encode_utf16()
                    .flat_map(u16::to_le_bytes),
            )
            .collect();
        let tree: Memory = [("a.yaml", utf16)].into_iter().collect();
        let scanned = scan(&tree, "a.yaml".into());
        assert_eq!(scanned.found.len(), 1);
        assert!(scanned.marked);
    }

    #[test]
    fn bytes_that_mention_us_and_cannot_be_read_are_noticed() {
        let text = "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\n";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let behind = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        let ascii = text.as_bytes();
        for (bytes, what) in [
            (le.clone(), "no mark"),
            (be.clone(), "no mark"),
            (behind(b"\xFF\xFE", &be), "the other order"),
            (behind(b"\xFE\xFF", &le), "the other order"),
            (behind(b"\xFF\xFE", ascii), "no UTF-16"),
            (behind(b"\xFE\xFF", ascii), "no UTF-16"),
            (behind(b"\xFE\xFF\xFF\xFF", ascii), "no UTF-16"),
            (behind(b"\0", ascii), "no text"),
        ] {
            let tree: Memory = [("a.yaml", bytes.clone())].into_iter().collect();
            let scanned = scan(&tree, "a.yaml".into());
            let broken = scanned.content.is_some_and(|c| c.is_broken());
            assert!(scanned.marked && broken, "{what}: {bytes:?}");
        }
        let other: Vec<u8> = "a: 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let tree: Memory = [("a.yaml", other)].into_iter().collect();
        assert!(!scan(&tree, "a.yaml".into()).marked);
    }

    #[test]
    fn patches_of_a_kustomization_are_named() {
        let text = "patches:\n- path: patch.yaml\n- patch: |-\n    a: 1\n- {path: ../../out.yaml}\n\
                    patchesStrategicMerge:\n- ./b/p.yaml\n- |-\n  a: 1\npatchesJson6902:\n- {path: \
                    ../c.json}\n";
        let scanned = scan_text("overlays/kustomization.yaml", text);
        assert_eq!(
            scanned.patches,
            ["overlays/patch.yaml", "overlays/b/p.yaml", "c.json"]
        );
        assert!(scan_text("overlays/other.yaml", text).patches.is_empty());
    }

    #[test]
    fn an_item_of_a_list_is_a_document_of_its_own() {
        let text = "apiVersion: v1\nkind: List\nitems:\n# first\n- {a: 1} # one\n- apiVersion: \
                    hco.kubevirt.io/v1 # two\n  kind: HyperConverged\n";
        let scanned = scan_text("a.yaml", text);
        let content = scanned.content.expect("parsed");
        let document = content.object(scanned.found[0].place).expect("there");
        assert_eq!(
            document.root.get("kind").and_then(Node::as_str),
            Some("HyperConverged")
        );
        let comments: Vec<_> = document
            .comments
            .iter()
            .map(|c| &text[c.span.range()])
            .collect();
        assert_eq!(comments, ["# two"]);
    }
}
