//! Writes an object as the text of its file.

use hcoplan_yaml as yaml;
use serde_json::Value;

/// The first line of every file, always the same, so that an upgrade of hcoplan doesn't change files of unchanged
/// objects.
pub const HEADER: &str = "# Rendered by hcoplan for review. The operators own this object: don't apply it.\n";

/// The text of an object's file: the header, then YAML as kubectl prints it.
pub(super) fn text(body: &Value) -> String {
    let mut out = HEADER.to_owned();
    yaml::emit_to(body, &mut out);
    out
}
