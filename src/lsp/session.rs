//! The session with an editor: its state, and the effect of each message.
//!
//! It uses no threads and no streams. The caller passes messages in and out and runs [`Job`]s one at a time: however
//! fast the user types, at most one runs and one is queued.

use crate::prelude::*;
use std::time::{Duration, Instant};

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::{
    CodeAction, CodeActionParams, CompletionParams, DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, HoverParams, TextDocumentPositionParams,
};
use serde::de::DeserializeOwned;

use super::address;
use super::analysis::{Analysis, Job};
use super::client::Client;
use super::documents::{Documents, Open};
use super::root::Root;
use super::transport::{Incoming, Malformed, Outgoing};
use super::{actions, completion, hover};
use crate::repo::Repo;
use hcoplan_analysis::catch_panic;

/// An analysis starts after this pause of typing.
const PAUSE: Duration = Duration::from_millis(80);

/// Maximum delay of an analysis during uninterrupted typing.
const PATIENCE: Duration = Duration::from_millis(400);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    /// Before `initialize`.
    #[default]
    New,
    Running,
    /// After `shutdown`.
    Down,
    /// After `exit`, with the exit code.
    Over(u8),
}

/// A parsed request.
#[derive(Debug)]
enum BuildRequest {
    Hover(HoverParams),
    Completion(CompletionParams),
    Actions(CodeActionParams),
    Resolve(Box<CodeAction>),
}

/// A session with an editor.
#[derive(Debug, Default)]
pub struct Session {
    phase: Phase,
    client: Client,
    roots: Vec<Root>,
    documents: Documents,
    /// Requests that wait for a job.
    waiting: Vec<(RequestId, BuildRequest)>,
    out: Vec<Outgoing>,
    /// The times of the first and the last change since the last analysis.
    changed: Option<(Instant, Instant)>,
}

impl Session {
    /// Handles a message.
    pub fn receive(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Malformed(malformed) => self.out.push(Outgoing::Complaint(malformed)),
            Incoming::Message(Message::Request(request)) => {
                let id = request.id.clone();
                if let Err(said) = catch_panic(|| self.request(request)) {
                    self.reject(id, ErrorCode::InternalError, format!("hcoplan has a bug: {said}"));
                }
            }
            Incoming::Message(Message::Notification(notification)) => {
                if let Err(said) = catch_panic(|| self.notification(notification)) {
                    self.say(&format!("hcoplan has a bug: {said}"));
                }
            }
            // Our only request registers for changed files; a rejection needs no reaction.
            Incoming::Message(Message::Response(_)) => {}
        }
    }

    /// Takes the messages to send.
    pub fn take(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.out)
    }

    /// The exit code after the end.
    pub fn exit(&self) -> Option<u8> {
        match self.phase {
            Phase::Over(code) => Some(code),
            _ => None,
        }
    }

    /// Handles the end of input: the exit code depends on whether the editor sent `shutdown`.
    pub fn end_of_input(&mut self) {
        if !matches!(self.phase, Phase::Over(_)) {
            self.phase = Phase::Over(u8::from(self.phase != Phase::Down));
        }
    }

    /// Cancels a waiting request.
    pub fn cancel(&mut self, id: &RequestId) {
        let waiting = self.waiting.iter().position(|(i, _)| i == id);
        if let Some(at) = waiting {
            self.waiting.remove(at);
            self.cancelled(id.clone());
        }
    }

    /// Rejects a request that was cancelled before it was handled.
    pub fn cancelled(&mut self, id: RequestId) {
        self.reject(id, ErrorCode::RequestCanceled, "cancelled".to_owned());
    }

    /// When the next job is due; `None` without changes or during a job.
    pub fn due(&self) -> Option<Instant> {
        let (first, last) = self.changed?;
        if self.roots.iter().any(|r| r.running) {
            return None;
        }
        if self.waiting.is_empty() { Some((last + PAUSE).min(first + PATIENCE)) } else { Some(first) }
    }

    /// The next job, unless one is running or nothing changed.
    pub fn job(&mut self) -> Option<Job> {
        if self.roots.iter().any(|r| r.running) {
            return None;
        }
        let next = self.roots.iter_mut().find(|r| r.changed);
        let Some(root) = next else {
            self.changed = None;
            return None;
        };
        Some(root.job(&self.documents))
    }

    /// Stores a job's result.
    pub fn analysed(&mut self, analysis: Analysis) {
        let at = self.roots.iter().position(|r| r.is_of(&analysis));
        if let Some(at) = at {
            for said in &analysis.said {
                self.say(said);
            }
            let foreign = self.foreign(at, &analysis);
            let root = self.roots.get_mut(at);
            let told = root.map(|r| r.take(analysis, &foreign, &self.documents, &self.client));
            for params in told.into_iter().flatten() {
                self.notify("textDocument/publishDiagnostics", params);
            }
        }
        if self.roots.iter().all(|r| !r.changed) {
            self.changed = None;
        }
        for (id, asked) in std::mem::take(&mut self.waiting) {
            self.answer(id, asked);
        }
    }

    /// Runs all due jobs on this thread.
    pub fn run_all_jobs(&mut self) {
        while let Some(job) = self.job() {
            self.analysed(job.run());
        }
    }

    /// The findings of all roots.
    #[cfg(test)]
    pub(super) fn findings(&self) -> Vec<crate::finding::Finding> {
        let seen = self.roots.iter().filter_map(|r| r.seen.as_ref());
        seen.flat_map(|s| s.findings.clone()).collect()
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let code = match (self.phase, method.as_str()) {
            (Phase::New, "initialize") => return self.initialize(id, params),
            (Phase::New, _) => ErrorCode::ServerNotInitialized,
            (Phase::Running, "initialize") | (Phase::Down | Phase::Over(_), _) => ErrorCode::InvalidRequest,
            (Phase::Running, "shutdown") => {
                self.phase = Phase::Down;
                return self.out.push(Response::new_ok(id, Value::Null).into());
            }
            (Phase::Running, "textDocument/hover") => {
                return self.ask(id, params, BuildRequest::Hover);
            }
            (Phase::Running, "textDocument/completion") => {
                return self.ask(id, params, BuildRequest::Completion);
            }
            (Phase::Running, "textDocument/codeAction") => {
                return self.ask(id, params, BuildRequest::Actions);
            }
            (Phase::Running, "codeAction/resolve") => {
                return self.ask(id, params, |action| BuildRequest::Resolve(Box::new(action)));
            }
            (Phase::Running, _) => ErrorCode::MethodNotFound,
        };
        let message = match code {
            ErrorCode::ServerNotInitialized => format!("{method} before initialize"),
            ErrorCode::MethodNotFound => format!("hcoplan knows no {method}"),
            _ => format!("{method} is not expected here"),
        };
        self.reject(id, code, message);
    }

    fn initialize(&mut self, id: RequestId, params: Value) {
        let (client, folders) = match Client::of(params) {
            Ok(read) => read,
            Err(error) => return self.reject(id, ErrorCode::InvalidParams, error.to_string()),
        };
        self.client = client;
        for folder in folders {
            self.add_root(&folder);
        }
        self.phase = Phase::Running;
        let result = self.client.server_capabilities();
        self.out.push(Response::new_ok(id, result).into());
    }

    /// Answers a request, at once or after the analysis of its file.
    fn ask<P: DeserializeOwned>(&mut self, id: RequestId, params: Value, asked: impl FnOnce(P) -> BuildRequest) {
        match serde_json::from_value(params) {
            Ok(params) => self.answer(id, asked(params)),
            Err(error) => self.reject(id, ErrorCode::InvalidParams, error.to_string()),
        }
    }

    fn answer(&mut self, id: RequestId, asked: BuildRequest) {
        if !self.can_answer(&asked) {
            return self.waiting.push((id, asked));
        }
        let answered = catch_panic(|| match asked {
            BuildRequest::Hover(params) => self.hover(&params),
            BuildRequest::Completion(params) => self.completion(&params),
            BuildRequest::Actions(params) => self.actions(&params),
            BuildRequest::Resolve(action) => self.resolve(*action),
        });
        match answered {
            Ok(result) => self.out.push(Response::new_ok(id, result).into()),
            Err(said) => {
                let message = format!("hcoplan has a bug: {said}");
                self.reject(id, ErrorCode::InternalError, message);
            }
        }
    }

    /// Edits need an analysis of the present text; other requests only need other files.
    fn can_answer(&self, asked: &BuildRequest) -> bool {
        let knows_files = |position: &TextDocumentPositionParams| {
            let root = address::to_path(position.text_document.uri.as_str());
            let root = root.and_then(|p| self.roots.get(self.root_of(&p)?));
            root.is_none_or(|r| r.seen.is_some())
        };
        match asked {
            BuildRequest::Hover(params) => knows_files(&params.text_document_position_params),
            BuildRequest::Completion(params) => knows_files(&params.text_document_position),
            BuildRequest::Actions(_) | BuildRequest::Resolve(_) => !self.roots.iter().any(|r| r.changed || r.running),
        }
    }

    /// The repository, path and text for a position.
    fn at(&self, position: &TextDocumentPositionParams) -> Option<(Option<&Repo>, Utf8PathBuf, &Open)> {
        let path = address::to_path(position.text_document.uri.as_str())?;
        let open = self.documents.at(&path)?;
        let root = self.roots.get(self.root_of(&path)?)?;
        let repo = root.seen.as_ref().and_then(Analysis::repo);
        Some((repo, root.relative(&path)?, open))
    }

    fn completion(&self, params: &CompletionParams) -> Value {
        let position = &params.text_document_position;
        let items = self.at(position).map(|(repo, path, open)| {
            let encoding = self.client.capabilities.encoding;
            completion::items(repo, &path, open, position.position, encoding)
        });
        items.unwrap_or_default().into()
    }

    fn hover(&self, params: &HoverParams) -> Value {
        let position = &params.text_document_position_params;
        let found = self.at(position).and_then(|(repo, path, open)| {
            let encoding = self.client.capabilities.encoding;
            hover::hover(repo, &path, open, position.position, encoding)
        });
        match found {
            Some(hover) => json!({
                "contents": {"kind": "markdown", "value": hover.text},
                "range": hover.range,
            }),
            None => Value::Null,
        }
    }

    fn actions(&self, params: &CodeActionParams) -> Value {
        let uri = params.text_document.uri.as_str();
        let found = self.action_inputs(uri).map(|action_inputs| {
            let only = params.context.only.as_deref();
            actions::actions(&action_inputs, params.range, only)
        });
        found.unwrap_or_default().into()
    }

    fn resolve(&self, action: CodeAction) -> Value {
        let data = action.data.as_ref().and_then(Value::as_str);
        // Without an edit if the fixes would cause an error in a cluster.
        let edit = data.and_then(|uri| actions::fix_all_edit(&self.action_inputs(uri)?));
        let mut action = json!(action);
        if let Some(edit) = edit {
            action["edit"] = edit;
        }
        action
    }

    fn action_inputs(&self, uri: &str) -> Option<actions::ActionInputs<'_>> {
        let path = address::to_path(uri)?;
        let root = self.roots.get(self.root_of(&path)?)?;
        Some(actions::ActionInputs {
            path: root.relative(&path)?,
            root,
            analysis: root.seen.as_ref()?,
            documents: &self.documents,
            client: &self.client,
        })
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match (self.phase, method.as_str()) {
            (Phase::Over(_), _) => {}
            (phase, "exit") => self.phase = Phase::Over(u8::from(phase != Phase::Down)),
            (Phase::New | Phase::Down, _) => {}
            (Phase::Running, "initialized") => self.out.extend(self.client.registration()),
            (Phase::Running, "$/cancelRequest") => {
                let id = params.get("id").cloned();
                if let Some(id) = id.and_then(|id| serde_json::from_value(id).ok()) {
                    self.cancel(&id);
                }
            }
            (Phase::Running, "textDocument/didSave" | "workspace/didChangeWatchedFiles") => {
                for at in 0..self.roots.len() {
                    self.touch(at);
                }
            }
            (Phase::Running, "textDocument/didOpen") => self.on_notification(&method, params, Self::opened),
            (Phase::Running, "textDocument/didChange") => {
                self.on_notification(&method, params, Self::edited);
            }
            (Phase::Running, "textDocument/didClose") => self.on_notification(&method, params, Self::closed),
            (Phase::Running, "workspace/didChangeWorkspaceFolders") => {
                self.on_notification(&method, params, Self::moved);
            }
            // Unknown notifications need no answer.
            (Phase::Running, _) => {}
        }
    }

    fn on_notification<P: DeserializeOwned>(&mut self, method: &str, params: Value, take: impl FnOnce(&mut Self, P)) {
        match serde_json::from_value(params) {
            Ok(params) => take(self, params),
            Err(error) => self.say(&format!("{method}: {error}")),
        }
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let path = self.documents.open(Open {
            address: document.uri.as_str().to_owned(),
            version: document.version,
            text: document.text,
        });
        let Some(path) = path else { return };
        if !self.client.has_folders && self.root_of(&path).is_none() {
            self.add_shallow_root(&path);
        }
        self.changed_at(&path);
    }

    fn edited(&mut self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        let address = document.uri.as_str();
        let (changes, encoding) = (params.content_changes, self.client.capabilities.encoding);
        let changed = self.documents.change(address, document.version, changes, encoding);
        match changed {
            Some(path) => self.changed_at(&path),
            None => self.say(&format!("{address} changed without having been opened")),
        }
    }

    fn closed(&mut self, params: DidCloseTextDocumentParams) {
        if let Some(path) = self.documents.close(params.text_document.uri.as_str()) {
            self.changed_at(&path);
        }
    }

    fn moved(&mut self, params: DidChangeWorkspaceFoldersParams) {
        for folder in params.event.removed {
            let path = address::to_path(folder.uri.as_str());
            let gone = self.roots.iter().position(|r| Some(&r.path) == path.as_ref());
            if let Some(gone) = gone {
                for params in self.roots.remove(gone).clear_diagnostics() {
                    self.notify("textDocument/publishDiagnostics", params);
                }
            }
        }
        for folder in params.event.added {
            if let Some(path) = address::to_path(folder.uri.as_str()) {
                self.add_root(&path);
            }
        }
        for at in 0..self.roots.len() {
            self.touch(at);
        }
    }

    fn add_root(&mut self, path: &Utf8Path) {
        if self.roots.iter().any(|r| r.path == path) {
            return;
        }
        match Root::new(path, false) {
            Ok(root) => {
                self.roots.push(root);
                self.touch(self.roots.len() - 1);
            }
            Err(error) => self.say(&format!("{path}: {error}")),
        }
    }

    /// For a file opened without a workspace, examines only its directory.
    fn add_shallow_root(&mut self, file: &Utf8Path) {
        if let Some(parent) = file.parent()
            && let Ok(root) = Root::new(parent, true)
        {
            self.roots.push(root);
        }
    }

    /// The innermost root of a file.
    fn root_of(&self, path: &Utf8Path) -> Option<usize> {
        let all = self.roots.iter().enumerate();
        let with = all.filter(|(_, r)| r.relative(path).is_some());
        let deepest = with.max_by_key(|(_, r)| r.path.components().count());
        deepest.map(|(at, _)| at)
    }

    /// Files with findings that belong to a nested root.
    fn foreign(&self, at: usize, analysis: &Analysis) -> Vec<Utf8PathBuf> {
        let Some(root) = self.roots.get(at) else {
            return Vec::new();
        };
        let places = analysis.findings.iter().filter_map(|f| f.location.as_ref());
        let paths = places.map(|l| l.file.path());
        let others = paths.filter(|p| self.root_of(&root.path.join(p)) != Some(at));
        others.map(Utf8Path::to_owned).collect()
    }

    fn changed_at(&mut self, path: &Utf8Path) {
        if let Some(at) = self.root_of(path) {
            self.touch(at);
        }
    }

    fn touch(&mut self, at: usize) {
        if let Some(root) = self.roots.get_mut(at) {
            root.changed = true;
            let now = Instant::now();
            let first = self.changed.map_or(now, |(first, _)| first);
            self.changed = Some((first, now));
        }
    }

    fn reject(&mut self, id: RequestId, code: ErrorCode, message: String) {
        let id = Some(id);
        let complaint = Malformed { id, code, message };
        self.out.push(Outgoing::Complaint(complaint));
    }

    fn notify(&mut self, method: &str, params: Value) {
        let notification = Notification { method: method.to_owned(), params };
        self.out.push(Outgoing::Message(notification.into()));
    }

    /// Writes to the editor's log.
    fn say(&mut self, message: &str) {
        const WARNING: u8 = 2;
        let params = json!({"type": WARNING, "message": message});
        self.notify("window/logMessage", params);
    }
}
