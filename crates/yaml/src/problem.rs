//! What is wrong with a file as YAML, before its content is read.

use super::Limits;
use crate::source::{Span, above_limit};

/// The kind of a [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// It isn't YAML.
    Syntax,
    /// It isn't JSON, and starts like it.
    JsonSyntax,
    /// `--- text`: kubectl stops reading the file here.
    Separator,
    /// `{{ … }}` or `{% … %}`: a template, not YAML yet.
    Template,
    /// A key that no JSON object can have: `~:`, `[a]:`.
    BadKey,
    /// `.inf` or `.nan`.
    NotJson,
    /// A tag that its value doesn't fit: `!!int x`, `!!binary` that isn't base64.
    BadTag,
    /// `<<:` with something that isn't a mapping.
    BadMerge,
    /// `*name` without `&name`, or inside it.
    BadAlias,
    /// Aliases that multiply without end.
    TooManyAliases,
    /// Nested deeper than [`super::Limits::max_depth`].
    TooDeep,
    /// More bytes than [`super::Limits::max_bytes`], more values than
    /// [`super::Limits::max_nodes`].
    TooBig,
    /// More documents than [`super::Limits::max_documents`].
    TooManyDocuments,
    /// The same key twice: the last one wins, a strict server rejects.
    DuplicateKey,
    /// kubectl and kustomize read this scalar differently.
    ReadsDifferently,
    /// A merge key that takes a value away from a key above it.
    MergeOverrides,
    /// A document that isn't a mapping.
    NotAMapping,
    /// Text after the document's end (`...`), which kubectl ignores.
    Ignored,
    /// Bytes that aren't text: kubectl replaces them with U+FFFD.
    Undecodable,
}

impl ProblemKind {
    /// Whether kubectl rejects the document, so that there is none to examine.
    pub fn is_fatal(self) -> bool {
        !matches!(
            self,
            Self::DuplicateKey
                | Self::ReadsDifferently
                | Self::MergeOverrides
                | Self::NotAMapping
                | Self::Ignored
                | Self::Undecodable
        )
    }
}

/// Something wrong with a file as YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// The bytes that are meant; may be empty, and may be the end of the file.
    pub span: Span,
    /// One sentence; kubectl's own words where it has some.
    pub message: String,
    /// Where it began, and what began there: the quote that is never closed, the first of two keys.
    pub context: Option<(Span, String)>,
}

impl Problem {
    /// A problem without context.
    pub fn new(kind: ProblemKind, span: Span, message: impl Into<String>) -> Self {
        Self { kind, span, message: message.into(), context: None }
    }

    /// More keys and values in a file than the limit.
    pub(super) fn too_big(limits: &Limits, span: Span) -> Self {
        Self::new(ProblemKind::TooBig, span, above_limit(limits.max_nodes, "keys and values"))
    }

    /// Nested deeper than the limit.
    pub(super) fn too_deep(max_depth: usize, span: Span) -> Self {
        Self::new(ProblemKind::TooDeep, span, above_limit(max_depth, "levels of nesting"))
    }

    /// Adds where it began.
    #[must_use]
    pub fn with_start(mut self, span: Span, what: impl Into<String>) -> Self {
        self.context = Some((span, what.into()));
        self
    }
}

/// The problems of one document or stream, in the order of reading, limited in number.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

/// Maximum number of problems reported for one document.
const MAX_PROBLEMS: usize = 1000;

impl Problems {
    /// Adds a problem. When there are too many it is dropped, unless it is the first that stops
    /// the document from being read.
    pub(super) fn push(&mut self, problem: Problem) {
        if self.0.len() >= MAX_PROBLEMS {
            if !problem.kind.is_fatal() || self.any_fatal() {
                return;
            }
            self.0.pop();
        }
        self.0.push(problem);
    }

    pub(super) fn any_fatal(&self) -> bool {
        self.0.iter().any(|p| p.kind.is_fatal())
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Problem) -> bool) {
        self.0.retain(keep);
    }

    pub(super) fn take(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.0)
    }
}
