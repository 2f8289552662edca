//! Recognises files that contain manifests without being one: scripts and templates.

use super::mask::Language;
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::kustomization::is_kustomization;

/// How a file contains manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// It is a template of one.
    Template(Language),
    /// In heredocs.
    Script(Language),
    /// Unknown: an image contains them, or an unsupported language.
    Unread,
}

/// The files beside or above programs that write manifests.
pub(crate) const PROGRAM_MARKERS: [&str; 2] = ["Pulumi.yaml", "cdk8s.yaml"];

/// Whether a file is a program by its name, in a directory tree for which programs write manifests.
pub(crate) fn is_program(path: &Utf8Path, is_there: impl Fn(&Utf8Path) -> bool) -> bool {
    matches!(path.extension(), Some("ts" | "js" | "py" | "go" | "cs" | "java"))
        && path.ancestors().skip(1).any(|d| PROGRAM_MARKERS.iter().any(|name| is_there(&d.join(name))))
}

/// Whether a file may contain manifests without being one, by its name.
pub(crate) fn is_text(path: &Utf8Path) -> bool {
    of_name(path).is_some()
}

/// Whether a file has the variables of Ansible's roles, groups or hosts.
pub(super) fn has_variables(path: &Utf8Path) -> bool {
    let parts: Vec<&str> = path.components().map(|part| part.as_str()).collect();
    let is_of_role = parts.windows(2).any(|two| parts.contains(&"roles") && matches!(two[0], "defaults" | "vars"));
    is_of_role || parts.iter().rev().skip(1).any(|part| matches!(*part, "group_vars" | "host_vars" | "vars"))
}

/// Whether a file may be a script without a suffix, by its name. `LICENSE`, `OWNERS` and similar ones aren't opened.
pub(crate) fn may_be_script(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    !name.contains('.') && name.contains(|c: char| c.is_ascii_lowercase()) && !is_kustomization(path)
}

/// Whether a file is such a script.
pub(crate) fn is_script(path: &Utf8Path, bytes: &[u8]) -> bool {
    bytes.starts_with(b"#!") && may_be_script(path)
}

/// Whether a file has the name of one that builds an image.
pub(crate) fn builds_image(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_ascii_lowercase();
    let begins = ["dockerfile", "containerfile"]
        .iter()
        .any(|b| name.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_'])));
    begins || [".dockerfile", ".containerfile"].iter().any(|e| name.ends_with(e))
}

/// How a file with this text contains manifests.
pub(super) fn form(path: &Utf8Path, text: &str) -> Option<Form> {
    let script = || is_script(path, text.as_bytes()).then_some(Form::Script(Language::Shell));
    let ytt = || is_ytt(text).then_some(Form::Template(Language::Ytt));
    of_name(path).or_else(ytt).or_else(script).or_else(|| is_program(path, |_| true).then_some(Form::Unread))
}

/// Whether a manifest is a template of ytt, by its comments.
pub(crate) fn is_ytt(text: &str) -> bool {
    text.match_indices("#@").any(|(at, _)| text[..at].ends_with([' ', '\n']) || at == 0)
}

fn of_name(path: &Utf8Path) -> Option<Form> {
    let name = path.file_name()?.to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let languages =
        [("templates.jinja", Language::Jinja), ("templates.go", Language::Go), ("templates.any", Language::Any)];
    let language = languages.into_iter().find(|(key, _)| ends(fields::of(key)));
    if let Some((_, language)) = language {
        return Some(Form::Template(language));
    }
    let is_manifest = ends(&[".yaml", ".yml", ".json"]);
    let behind = [".yaml.", ".yml.", ".json."].iter().find_map(|suffix| Some(name.split_once(suffix)?.1));
    let behind = behind.filter(|_| !is_manifest);
    if ends(fields::of("unread")) || behind.is_some_and(|ending| !fields::has("not-manifests", ending)) {
        return Some(Form::Unread);
    }
    if ends(&[".tf"]) {
        return Some(Form::Script(Language::Terraform));
    }
    if builds_image(path) {
        return Some(Form::Unread);
    }
    let is_script = ends(fields::of("scripts")) || fields::has("scripts.names", &name);
    is_script.then_some(Form::Script(Language::Shell))
}
