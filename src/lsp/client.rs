//! The capabilities of client and server.

use crate::prelude::*;
use lsp_server::Request;
use lsp_types::{DiagnosticTag, InitializeParams};

use super::address;
use super::diagnostics::ClientCapabilities;
use super::places::Encoding;
use super::transport::Outgoing;
use crate::kube::Table;

/// What asks for notifications about changed files.
static REGISTRATION: Table<Value> = Table::of(include_str!("registration.json"));

/// What the server can do; changes of documents are incremental.
static CAPABILITIES: Table<Value> = Table::of(include_str!("capabilities.json"));

/// The kind of an action for one finding.
pub(super) const QUICK_FIX: &str = "quickfix";

/// The kind of an action for a whole file.
pub(super) const FIX_ALL: &str = "source.fixAll.hcoplan";

/// The client's relevant capabilities.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// The display of diagnostics.
    pub(super) capabilities: ClientCapabilities,
    /// Whether a workspace is open.
    pub(super) has_folders: bool,
    /// Whether it requests an action's edit on use.
    pub(super) resolves: bool,
    /// Whether edits can name a document's version.
    pub(super) versioned_edits: bool,
    /// Whether it can report changes of files on disk.
    pub(super) watches: bool,
}

impl Client {
    /// Parses `initialize`; also returns the workspace's folders.
    pub(super) fn of(params: Value) -> Result<(Self, Vec<Utf8PathBuf>), serde_json::Error> {
        let params: InitializeParams = serde_json::from_value(params)?;
        let folders = folders(&params);
        let general = params.capabilities.general.unwrap_or_default();
        let document = params.capabilities.text_document.unwrap_or_default();
        let workspace = params.capabilities.workspace.unwrap_or_default();
        let diagnostics = document.publish_diagnostics.unwrap_or_default();
        let tags = diagnostics.tag_support.map(|t| t.value_set);
        let shows_tag = |tag| tags.as_ref().is_some_and(|t| t.contains(&tag));
        let action = document.code_action.unwrap_or_default();
        let client = Self {
            capabilities: ClientCapabilities {
                encoding: Encoding::of(general.position_encodings.as_deref()),
                related: diagnostics.related_information == Some(true),
                pages: diagnostics.code_description_support == Some(true),
                unnecessary: shows_tag(DiagnosticTag::UNNECESSARY),
                deprecated: shows_tag(DiagnosticTag::DEPRECATED),
            },
            has_folders: !folders.is_empty(),
            resolves: action.data_support == Some(true)
                && action.resolve_support.is_some_and(|r| r.properties.iter().any(|p| p == "edit")),
            versioned_edits: workspace.workspace_edit.is_some_and(|e| e.document_changes == Some(true)),
            watches: workspace.did_change_watched_files.is_some_and(|w| w.dynamic_registration == Some(true)),
        };
        Ok((client, folders))
    }

    /// The result of `initialize`.
    pub(super) fn server_capabilities(&self) -> Value {
        let mut result = CAPABILITIES.clone();
        let capabilities = &mut result["capabilities"];
        capabilities["positionEncoding"] = json!(self.capabilities.encoding.kind());
        capabilities["codeActionProvider"]["codeActionKinds"] = json!([QUICK_FIX, FIX_ALL]);
        result["serverInfo"]["version"] = env!("CARGO_PKG_VERSION").into();
        result
    }

    /// The request for notifications about changed files.
    pub(super) fn registration(&self) -> Option<Outgoing> {
        let request = Request {
            id: RequestId::from("hcoplan-files".to_owned()),
            method: "client/registerCapability".to_owned(),
            params: REGISTRATION.clone(),
        };
        let request = Outgoing::Message(request.into());
        self.watches.then_some(request)
    }
}

/// The workspace's folders; older clients have only one.
fn folders(params: &InitializeParams) -> Vec<Utf8PathBuf> {
    if let Some(folders) = &params.workspace_folders {
        let paths = folders.iter().map(|f| address::to_path(f.uri.as_str()));
        return paths.flatten().collect();
    }
    #[expect(deprecated, reason = "what clients say that know no folders")]
    let root = params.root_uri.as_ref().map(|uri| uri.as_str());
    root.and_then(address::to_path).into_iter().collect()
}
