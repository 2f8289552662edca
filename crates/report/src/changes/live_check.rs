//! Prints what a running cluster has and hcoplan doesn't expect.

use super::{shown_pair, value_on_a_line};
use crate::changes::Changes;
use crate::document::{Block, Entry, Level, Text};
use crate::plural;
use crate::prelude::*;
use crate::words::word;
use hcoplan_explain::diff::LiveCheck;
use hcoplan_explain::diff::semantic::{ObjectChange, Step};

/// Maximum number of differences without `--verbose`.
const MAX_DIFFERENCES: usize = 10;

/// The differences of a cluster from what is expected in it, and where to send them.
pub(super) fn blocks(changes: &Changes<'_>) -> Vec<Block> {
    let mut out = Vec::new();
    for check in changes.clusters.iter().filter_map(|cluster| cluster.live_check.as_ref()) {
        if let Some(why) = &check.incomparable {
            let text = format!("the cluster's {} are not compared with the expected ones: {why}", objects(check));
            out.push(Block::soft(text));
            continue;
        }
        let rows: Vec<Entry> = check.differences.iter().flat_map(rows).collect();
        if rows.is_empty() {
            let text = format!("the cluster's {} are as hcoplan expects for {}", objects(check), check.release);
            out.push(Block::soft(text));
            continue;
        }
        let all = rows.len();
        let shown = if changes.terminal.verbose { all } else { MAX_DIFFERENCES };
        out.push(Block::Heading(1, "Not as expected before the change".into()));
        out.extend(Block::story(rows.into_iter().take(shown).collect()));
        if all > shown {
            let more = plural(all - shown, "more difference");
            out.push(Block::soft(format!("{more}; `--verbose` shows all")));
        }
        let text = word("live check", "report").replace("{command}", &changes.typed.command);
        out.push(Block::Paragraph(text.into()));
    }
    out
}

fn objects(check: &LiveCheck) -> String {
    plural(check.objects, "object")
}

fn rows(change: &ObjectChange) -> Vec<Entry> {
    let row = |label: String, text: String| Entry::new(Level::Warn, Text::new().plain(label), text);
    match change.kind {
        Kind::Add => vec![row(change.id.to_string(), "hcoplan expected this object, the cluster has none".to_owned())],
        Kind::Remove => {
            vec![row(change.id.to_string(), "hcoplan expected no such object, the cluster has one".to_owned())]
        }
        Kind::Change => {
            let field = |step: &Step| {
                let (cluster, expected) = shown_pair(&step.label, step.before.as_ref(), step.after.as_ref());
                let shown = |value: Option<Value>| value.map_or_else(|| "nothing".to_owned(), |v| value_on_a_line(&v));
                let text = format!("hcoplan expected {}, the cluster has {}", shown(expected), shown(cluster));
                row(format!("{} {}", change.id, step.label), text)
            };
            change.fields.iter().map(|change| field(&change.step)).collect()
        }
    }
}

/// A comparison as JSON: all that maintainers need.
pub(super) fn document(check: &LiveCheck) -> Value {
    let field = |step: &Step| {
        let (cluster, expected) = shown_pair(&step.label, step.before.as_ref(), step.after.as_ref());
        json!({"path": step.label, "pointer": step.path.to_pointer(), "expected": expected, "cluster": cluster})
    };
    let whole = |value: Option<&Value>| value.map(|value| secret::masked_value("", value));
    let difference = |change: &ObjectChange| {
        let is_change = change.kind == Kind::Change;
        json!({
            "apiVersion": change.id.api_version,
            "kind": change.id.kind,
            "namespace": change.id.namespace,
            "name": change.id.name,
            "fields": change.fields.iter().map(|change| field(&change.step)).collect::<Vec<_>>(),
            "expected": whole(change.after.as_deref().filter(|_| !is_change)),
            "cluster": whole(change.before.as_deref().filter(|_| !is_change)),
        })
    };
    json!({
        "release": check.release,
        "hyperconverged": secret::masked_value("", &check.hyperconverged),
        "objects": check.objects,
        "notCompared": check.incomparable.as_ref().map(ToString::to_string),
        "differences": check.differences.iter().map(difference).collect::<Vec<_>>(),
    })
}
