//! The objects' YAML as a unified diff against the output tree: `patch -p1` applies it there.

use std::io::{self, Write};

use serde_json::Value;

use super::{Changes, shown, shown_yaml};
use crate::diff::unified;
use crate::emit::{HEADER, cluster_directory, file_names};

pub(super) fn write(changes: &Changes<'_>, out: &mut dyn Write) -> io::Result<()> {
    for cluster in changes.clusters {
        let directory = cluster_directory(&cluster.cluster).unwrap_or_default();
        let objects: Vec<_> = shown(cluster).collect();
        let ids: Vec<_> = objects.iter().map(|c| &*c.id).collect();
        for (change, name) in objects.iter().zip(file_names(&ids)) {
            let text = |body: &Value| format!("{HEADER}{}", shown_yaml(body));
            let after = change.after.as_deref().map(text);
            // What takes the place of another object is two files: one goes, one comes.
            let before = match &change.instead_of {
                Some(_) => None,
                None => change.before.as_deref().map(text),
            };
            let file = directory.join(name);
            write_file(out, before.as_deref(), after.as_deref(), file.as_str())?;
            if let Some(old) = &change.instead_of {
                let gone = change.before.as_deref().map(text);
                let file = directory.join(file_names(&[old]).remove(0));
                write_file(out, gone.as_deref(), None, file.as_str())?;
            }
        }
    }
    Ok(())
}

fn write_file(out: &mut dyn Write, before: Option<&str>, after: Option<&str>, file: &str) -> io::Result<()> {
    let (a, b) = (format!("a/{file}"), format!("b/{file}"));
    let null = "/dev/null";
    let diff = unified(
        before.unwrap_or_default(),
        after.unwrap_or_default(),
        before.map_or(null, |_| &a),
        after.map_or(null, |_| &b),
    );
    out.write_all(diff.as_bytes())
}
