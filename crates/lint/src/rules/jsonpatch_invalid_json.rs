//! A jsonpatch annotation that isn't JSON.

use hcoplan_yaml::parse;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let Some(failure) = patch.malformed().filter(|f| f.kind == FailureKind::NotJson) else {
            continue;
        };
        let (message, label) = if patch.text.trim().is_empty() {
            ("is empty", "no JSON at all; [] is an empty patch")
        } else {
            ("isn't JSON", "reading JSON stops here")
        };
        let name = patch.target.name;
        let finding = cx
            .finding(format!("the annotation {name} {message}"))
            .at(cx.patch_place(name, &failure))
            .label(label)
            .remedy(HELP, as_json(cx, patch));
        explain_patch(cx, out, patch, finding);
    }
}

const HELP: &str = "write a JSON list of operations: double quotes, no comma after the last element";

/// Converts a text that is valid YAML (single quotes, bare words, a trailing comma) to JSON.
fn as_json(cx: &Context<'_>, patch: &PatchAnnotation<'_>) -> Option<Fix> {
    let file = SourceFile::new(cx.document().file.path(), patch.text);
    let parsed = parse(&file);
    let text = match &parsed.documents[..] {
        [only] if !parsed.problems.iter().any(|p| p.kind.is_fatal()) => only.root.to_json(),
        _ => return None,
    }
    .to_string();
    jsonpatch::decode(&text).ok()?;
    let path = Path::annotation(patch.target.name);
    let title = format!("{HELP}: {text}");
    cx.suggest(title, &[Change::Set(path, text.into())])
}
