//! Moves fields with their comments and notation.

use hcoplan_diagnostics::finding::{Edit, Fix};
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_yaml::edit::{apply, line_edits};
use hcoplan_yaml::{Comment, Document, Node, Path, parse};

/// A fix that moves fields with their comments, each above or after the same entry as before. `None` if a comment
/// would be lost.
pub(crate) fn with_comments(document: &Document, fix: Fix, moves: &[(Path, Path)]) -> Option<Fix> {
    let old = document.file.text();
    let fix = as_written(document, &fix, moves).unwrap_or(fix);
    let lost = |c: &&Comment| {
        let is_within = |e: &Edit| e.span.start <= c.span.start && c.span.end <= e.span.end;
        fix.edits.iter().any(is_within) && !fix.edits.iter().any(|e| e.text.contains(&old[c.span.range()]))
    };
    let lost: Vec<&Comment> = document.comments.iter().filter(lost).collect();
    if lost.is_empty() {
        return Some(fix);
    }
    let mut places = Vec::new();
    for (from, to) in moves {
        places.push((start(&document.root, from)?, to.clone()));
        descend(document.root.at(from)?, to, &mut places);
    }
    places.sort_by_key(|(start, _)| *start);

    let text = apply(old, &fix.edits).ok()?;
    let after = parse(&SourceFile::new(document.file.path(), text.clone()));
    let after = after.documents.get(document.index)?;
    let root = &after.root;
    let mut insertions = Vec::new();
    for comment in lost {
        let begins = comment.span.start;
        let next = places.iter().find(|(start, _)| *start > begins);
        let before = places.iter().rev().find(|(start, _)| *start <= begins);
        let beside =
            before.filter(|(start, _)| !comment.own_line && !old[*start as usize..begins as usize].contains('\n'));
        let (_, to) = beside.or(next).or(before)?;
        let at = written(root, to)? as usize;
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let comment_text = &old[comment.span.range()];
        let mut known = after.comments.iter();
        let commented = known.any(|c| (line..end).contains(&(c.span.start as usize)))
            || insertions.iter().any(|(at, _)| *at == end);
        insertions.push(if beside.is_none() || commented {
            let indented = text[line..at].chars().take_while(|c| *c == ' ').count();
            (line, format!("{}{comment_text}\n", " ".repeat(indented)))
        } else {
            (end, format!(" {comment_text}"))
        });
    }
    // From the end, so that offsets stay valid; at the same offset in order.
    insertions.sort_by_key(|(at, _)| *at);
    let mut new = text.clone();
    for (at, comment) in insertions.iter().rev() {
        new.insert_str(*at, comment);
    }
    let read = parse(&SourceFile::new(document.file.path(), new.clone()));
    let read = read.documents.get(document.index)?;
    let same = read.root.to_json() == root.to_json();
    let all = read.comments.len() == after.comments.len() + insertions.len();
    (same && all).then(|| Fix { edits: line_edits(&document.file, &new), ..fix })
}

/// The fix with the moved values' notation: quotes, order, comments and `{}`.
fn as_written(document: &Document, fix: &Fix, moves: &[(Path, Path)]) -> Option<Fix> {
    let old = document.file.text();
    let mut text = apply(old, &fix.edits).ok()?;
    let read = |text: &str| {
        let read = parse(&SourceFile::new(document.file.path(), text.to_owned()));
        let is_sound = !read.problems.iter().any(|problem| problem.kind.is_fatal());
        is_sound.then_some(read.documents)
    };
    for (from, to) in moves {
        let documents = read(&text)?;
        let after = documents.get(document.index)?;
        let (node, new) = (document.root.at(from)?, after.root.at(to)?);
        let (Some(key), Some(new_key)) = (document.root.key_at(from), after.root.key_at(to)) else {
            continue;
        };
        if node.to_json() != new.to_json() {
            continue;
        }
        let column = |text: &str, at: u32| at as usize - text[..at as usize].rfind('\n').map_or(0, |end| end + 1);
        let (own, wanted) = (column(old, key.span.start), column(&text, new_key.span.start));
        // A block's text ends with a line break.
        let value = old.get(key.span.end as usize..node.span.end as usize)?.trim_end_matches(['\n', '\r']);
        let mut lines = value.split('\n');
        let mut moved = lines.next()?.to_owned();
        for line in lines {
            let bare = line.trim_start_matches(' ');
            let blanks = (line.len() - bare.len() + wanted).saturating_sub(own);
            moved.push('\n');
            moved.push_str(&" ".repeat(if bare.trim().is_empty() { 0 } else { blanks }));
            moved.push_str(bare);
        }
        let mut tried = text.clone();
        let written = &text[..new.span.end as usize];
        tried.replace_range(new_key.span.end as usize..written.trim_end_matches(['\n', '\r']).len(), &moved);
        let is_meant = |tried: &[Document]| {
            let same = tried.iter().map(|d| d.root.to_json()).eq(documents.iter().map(|d| d.root.to_json()));
            same && tried.iter().zip(&documents).all(|(tried, known)| tried.comments.len() >= known.comments.len())
        };
        if read(&tried).is_some_and(|tried| is_meant(&tried)) {
            text = tried;
        }
    }
    Some(Fix { edits: line_edits(&document.file, &text), ..fix.clone() })
}

/// The offset of the entry or item at a path.
fn start(root: &Node, path: &Path) -> Option<u32> {
    let key = root.key_at(path).map(|key| key.span);
    Some(key.or_else(|| Some(root.at(path)?.span))?.start)
}

/// The same for its nearest existing parent.
fn written(root: &Node, path: &Path) -> Option<u32> {
    let (_, depth) = root.nearest(path);
    start(root, &Path(path.0[..depth].to_vec()))
}

/// The offsets of entries and items in a value, with their new paths.
fn descend(node: &Node, to: &Path, places: &mut Vec<(u32, Path)>) {
    for entry in node.entries() {
        let to = to.key(&entry.key.text);
        places.push((entry.key.span.start, to.clone()));
        descend(&entry.value, &to, places);
    }
    for (index, item) in node.items().iter().enumerate() {
        let to = to.index(index);
        places.push((item.span.start, to.clone()));
        descend(item, &to, places);
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_yaml::edit::apply;

    use crate::Settings;
    use crate::tests::load::Case;

    const INVENTORY: &str = "apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: c}
spec:
  release: \"1.18\"
  nodePools: [{name: a, count: 3, architecture: amd64, roles: [control-plane, worker]}]
";

    /// A `spec` after a fix.
    fn fixed(version: &str, spec: &str, title: &str) -> String {
        let head = format!("apiVersion: hco.kubevirt.io/{version}\nkind: HyperConverged\nspec:\n");
        let metadata = "metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\n";
        let text = format!("{head}{spec}{metadata}");
        let case = Case::of(&text, INVENTORY);
        let findings = case.lint(&Settings::default());
        let mut fixes = findings.iter().flat_map(|f| &f.fixes);
        let fix = fixes.find(|f| f.title.starts_with(title)).expect("the fix");
        let after = apply(&text, &fix.edits).expect("applies");
        let spec = after.strip_prefix(&head).expect("the same head");
        spec.strip_suffix(metadata).expect("the same").to_owned()
    }

    #[test]
    fn moves_values_of_ignored_gates_with_their_comments() {
        let spec = "  # All gates.
  featureGates:
    # Team a
    # wants it.
    enableApplicationAwareQuota: true   # yes
  defaultCPUModel: Haswell
";
        let expected = "  defaultCPUModel: Haswell
  # All gates.
  # Team a
  # wants it.
  enableApplicationAwareQuota: true # yes
";
        let title = "set `spec.enableApplicationAwareQuota: true` instead of the gate";
        assert_eq!(fixed("v1beta1", spec, title), expected);

        let spec = "  featureGates:
    # No images
    - name: enableCommonBootImageImport # for now
      # (in the lab)
      state: Disabled # off
    - name: alignCPUs # stays
";
        let expected = "  featureGates:
    - name: alignCPUs # stays
  workloadSources:
    # No images
    # (in the lab)
    # off
    enableCommonBootImageImport: false # for now
";
        let title = "set `spec.workloadSources.enableCommonBootImageImport: false` instead of the gate";
        assert_eq!(fixed("v1", spec, title), expected);
    }

    #[test]
    fn fields_and_sections_move_with_their_comments() {
        let spec = "  # The first
  allowAutoConverge: true # of all
  defaultCPUModel: Haswell # stays
";
        let expected = "  liveMigrationConfig:
    # The first
    allowAutoConverge: true # of all
  defaultCPUModel: Haswell # stays
";
        let title = "move it to spec.liveMigrationConfig.allowAutoConverge";
        assert_eq!(fixed("v1beta1", spec, title), expected);

        let spec = "  workloads:
    nodeSelector: # where
      # New
      type: b
      # Old
      zone: a # machines
";
        let expected = "  workloads:
    nodePlacement:
      nodeSelector: # where
        # New
        type: b
        # Old
        zone: a # machines
";
        let title = "move it to spec.workloads.nodePlacement.nodeSelector";
        assert_eq!(fixed("v1beta1", spec, title), expected);
    }
}
