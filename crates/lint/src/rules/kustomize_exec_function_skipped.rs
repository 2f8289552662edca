//! A kustomization has hcoplan as an exec function, which most builds pass over.

use camino::Utf8Path;
use hcoplan_diagnostics::source::{SourceFile, normalize_path};
use hcoplan_repository::repo::is_kustomization;
use hcoplan_yaml::{self as yaml, Node};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "kustomize-exec-function-skipped",
    group: Group::Gitops,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the build ends well although nothing was checked"),
    needs: Needs::Document,
    summary: "a kustomization names hcoplan as an exec function, which kubectl passes over",
    ..Rule::BASE
};

/// Where a kustomization names functions.
const FIELDS: [&str; 3] = ["generators", "transformers", "validators"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let neighbours = cx.neighbours();
    let kinds = ["Lint", "Render"].into_iter();
    let functions: Vec<_> = kinds.flat_map(|kind| neighbours.of_kind(kind)).filter(|d| is_exec(&d.root)).collect();
    // A kustomization needn't say its kind.
    let kustomizations = ["", "Kustomization"].into_iter();
    let kustomizations =
        kustomizations.flat_map(|kind| neighbours.of_kind(kind)).filter(|d| is_kustomization(d.file.path()));
    for kustomization in kustomizations {
        let directory = kustomization.file.path().parent();
        let directory = directory.unwrap_or(Utf8Path::new(""));
        for field in FIELDS {
            let entries = kustomization.root.get(field).map_or(&[][..], Node::items);
            for entry in entries {
                let Some(text) = entry.as_str() else {
                    continue;
                };
                let named = normalize_path(&directory.join(text));
                // A directory may be named, too.
                let function = functions.iter().find(|d| {
                    let path = named.as_deref().filter(|p| !p.as_str().is_empty());
                    path.is_some_and(|p| d.file.path().starts_with(p))
                });
                let place = kustomization.location(entry.span);
                match function {
                    Some(document) => {
                        let path = Path::root().key("metadata").key("annotations");
                        let at = document.locate_key(&path.key(ANNOTATION));
                        out.report(finding(field, place).related(at, "the function"));
                    }
                    None if inline(text) => out.report(finding(field, place)),
                    None => {}
                }
            }
        }
    }
}

/// Says how a configuration's function is run.
const ANNOTATION: &str = "config.kubernetes.io/function";

/// Whether it is a configuration of ours, of an exec function.
fn is_exec(root: &Node) -> bool {
    let version = root.get("apiVersion").and_then(Node::as_str);
    let annotations = root.get("metadata").and_then(|m| m.get("annotations"));
    let text = annotations.and_then(|a| a.get(ANNOTATION)).and_then(Node::as_str);
    let parsed = yaml::parse(&SourceFile::new("", text.unwrap_or_default()));
    let function = parsed.documents.first();
    version.is_some_and(|v| v.starts_with("hcoplan.dev/")) && function.is_some_and(|f| f.root.get("exec").is_some())
}

/// Whether an entry is such a configuration itself, not the name of a file.
fn inline(text: &str) -> bool {
    let ours = text.contains('\n') && text.contains("hcoplan.dev/");
    let parsed = ours.then(|| yaml::parse(&SourceFile::new("", text)));
    let documents = parsed.iter().flat_map(|p| &p.documents);
    documents.into_iter().any(|d| is_exec(&d.root))
}

fn finding(field: &str, place: Location) -> Finding {
    let pipe = "check what the build prints: kubectl kustomize . | hcoplan lint -";
    match field {
        "validators" => Finding::new(&RULE, "a build fails over the exec function under validators, whatever it says")
            .at(place)
            .label("kustomize finds the resources changed, by itself")
            .help(format!(
                "name it under transformers, where `kustomize build --enable-alpha-plugins \
             --enable-exec` runs it; or {pipe}"
            )),
        _ => {
            Finding::new(&RULE, format!("kubectl passes over the exec function under {field}, and nothing is checked"))
                .at(place)
                .label("runs with --enable-exec only")
                .help(format!(
                    "build with `kustomize build --enable-alpha-plugins --enable-exec` everywhere, or {pipe}"
                ))
        }
    }
}
