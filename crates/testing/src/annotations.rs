//! Annotations: lines of a rule's fixture that name the findings on the line above them.
//!
//! ```yaml
//! spec:
//!   featureGates:
//!     objectGraph: true
//! #~  ^^^^^^^^^^^ dropped by the API server
//! #~ error: unknown field `spec.featureGates.objectGraph`
//! ```
//!
//! A line that starts with [`MARKER`] is an annotation, in every file type. Readers of a fixture skip these lines:
//! [`strip`], [`read`], [`copy`]. Locations are those of the text without them.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The prefix of an annotation, in the first column.
pub const MARKER: &str = "#~";

/// The file with expected findings that a fixture's files can't hold.
pub const ELSEWHERE: &str = "findings.txt";

/// A fixture's manifest, and the facts about its cluster.
const MANIFEST: &str = "hyperconverged.yaml";
const INVENTORY: &str = "inventory.yaml";
const NODES: &str = "nodes.yaml";

/// Prefix of a manifest's first line that names a shared inventory.
const SHARED: &str = "#~ inventory: ";

/// The shared inventory of a manifest without this line.
const PLAIN: &str = "plain-1.18";

/// A position in a text, 1-based, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A message about a part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// The first character.
    pub start: Position,
    /// One past the last character.
    pub end: Position,
    /// The text after the carets.
    pub label: String,
    /// The lines below the carets.
    pub below: Vec<String>,
}

/// A text without its annotations.
pub fn strip(text: &str) -> String {
    let lines = text.split('\n').filter(|line| !line.starts_with(MARKER));
    lines.collect::<Vec<_>>().join("\n")
}

/// A text with annotations, each below the line on which it starts, in the given order.
///
/// The text has lines that look like annotations, or a position is after its end, so that [`strip`] wouldn't restore
/// it.
pub fn annotate(text: &str, annotations: &[Annotation]) -> String {
    assert_eq!(strip(text), text, "a line begins with {MARKER}");
    let lines: Vec<&str> = text.split('\n').collect();
    let mut out = Vec::new();
    for (number, line) in (1..).zip(&lines) {
        out.push((*line).to_owned());
        for annotation in annotations.iter().filter(|a| a.start.line == number) {
            out.push(carets(line, annotation));
            out.extend(annotation.below.iter().map(|l| format!("{MARKER} {l}")));
        }
    }
    let last = annotations.iter().map(|a| a.start.line).max();
    assert!(last <= Some(lines.len()), "line {last:?} of {}", lines.len());
    out.join("\n")
}

/// The line with the carets below the annotated characters. Hidden columns (below the marker or on other lines) are
/// named in brackets.
fn carets(line: &str, annotation: &Annotation) -> String {
    let Annotation { start, end, .. } = annotation;
    let lines_below = end.line - start.line;
    let end_column = match lines_below {
        0 => end.column,
        _ => line.chars().count() + 1,
    };
    let end_column = end_column.max(start.column + 1);
    // Tabs stay tabs, so that the carets align at every tab width. A tab next to the marker starts where the marker
    // ends.
    let blank = |c: char| if c == '\t' { '\t' } else { ' ' };
    let before: Vec<char> = line.chars().take(start.column - 1).map(blank).collect();
    let tab = before.iter().take(MARKER.len()).position(|c| *c == '\t');
    let is_covered = start.column <= MARKER.len() && tab.is_none();
    let first = if is_covered { MARKER.len() + 1 } else { start.column };
    let indent: String = before.iter().skip(tab.unwrap_or(MARKER.len())).collect();
    let carets = "^".repeat(end_column.saturating_sub(first));
    let mut out = format!("{MARKER}{indent}{carets}");
    if is_covered {
        out += &format!(" (columns {} to {})", start.column, end_column - 1);
    }
    if lines_below > 0 {
        let lines = if lines_below == 1 { "line" } else { "lines" };
        let column = end.column;
        out += &format!(" (ends {lines_below} {lines} below, before column {column})");
    }
    format!("{out} {}", annotation.label).trim_end().to_owned()
}

/// The files below a directory, with their bytes without annotations, sorted by path, except [`ELSEWHERE`]. A fixture
/// `bad…` or `good…` without an inventory gets one of `testdata/inventories`, a recorded case without nodes those next
/// to all `cases`.
///
/// # Errors
/// A file or directory can't be read.
pub fn read(directory: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut out = Vec::new();
    for path in files(directory)? {
        let bytes = fs::read(directory.join(&path))?;
        if path.ends_with(MANIFEST) {
            let shared = shared(&directory.join(&path), &bytes)?.into_iter();
            out.extend(shared.map(|(name, bytes)| (path.with_file_name(name), bytes)));
        }
        out.push((path, stripped(bytes)));
    }
    out.sort();
    Ok(out)
}

/// The text of one of the files of [`read`]; empty if missing.
pub fn text(directory: &Path, name: &str) -> String {
    let files = read(directory).unwrap_or_default().into_iter();
    let bytes = files.filter(|(path, _)| path == Path::new(name)).map(|(_, bytes)| bytes).next();
    String::from_utf8(bytes.unwrap_or_default()).expect("UTF-8")
}

/// The file that a manifest's directory shares with others, if it has none.
fn shared(manifest: &Path, text: &[u8]) -> io::Result<Option<(&'static str, Vec<u8>)>> {
    let directory = manifest.parent().unwrap_or(Path::new("")).canonicalize()?;
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let (file, from) = if name.starts_with("bad") || name.starts_with("good") {
        let text = String::from_utf8_lossy(text);
        let named = shared_line(&text).map_or(PLAIN, |line| &line[SHARED.len()..]);
        (INVENTORY, crate::root().join(format!("testdata/inventories/{named}.yaml")))
    } else {
        let cases = directory.parent().filter(|cases| cases.ends_with("cases"));
        let set = cases.and_then(Path::parent).unwrap_or(Path::new(""));
        (NODES, set.join(NODES))
    };
    if directory.join(file).exists() || (file == NODES && !from.exists()) {
        return Ok(None);
    }
    let bytes = fs::read(&from).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", from.display())))?;
    Ok(Some((file, bytes)))
}

/// The line of a manifest that names a shared inventory.
pub fn shared_line(text: &str) -> Option<&str> {
    text.lines().next().filter(|line| line.starts_with(SHARED))
}

/// Copies the files of [`read`], with their modes.
///
/// # Errors
/// A file can't be read or written.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for (path, bytes) in read(from)? {
        let target = to.join(&path);
        target.parent().map_or(Ok(()), fs::create_dir_all)?;
        let source = from.join(&path);
        if source.exists() {
            fs::copy(source, &target)?;
        }
        fs::write(target, bytes)?;
    }
    Ok(())
}

/// Bytes without annotations; binary data is unchanged.
pub fn stripped(bytes: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(bytes) {
        Ok(text) => strip(&text).into_bytes(),
        Err(other) => other.into_bytes(),
    }
}

/// The paths of the files below a directory, sorted.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        if path.is_dir() {
            out.extend(files(&path)?.into_iter().map(|p| name.join(p)));
        } else if name == Path::new(ELSEWHERE) {
        } else {
            out.push(name);
        }
    }
    out.sort();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An annotation of the part of a text between `«»`, and the text without these.
    fn marked(text: &str, label: &str, below: &[&str]) -> (String, Annotation) {
        let (before, rest) = text.split_once('«').expect("a begin");
        let (inner, after) = rest.split_once('»').expect("an end");
        let position = |text: &str| {
            let line = text.rsplit('\n').next().unwrap_or_default();
            Position { line: text.matches('\n').count() + 1, column: line.chars().count() + 1 }
        };
        let annotation = Annotation {
            start: position(before),
            end: position(&format!("{before}{inner}")),
            label: label.to_owned(),
            below: below.iter().map(|l| (*l).to_owned()).collect(),
        };
        (format!("{before}{inner}{after}"), annotation)
    }

    /// Checks the annotated text, and that stripping restores the original.
    fn assert_annotated(text: &str, expected: &str) {
        let (text, annotation) = marked(text, "label", &["error: what", "help: do"]);
        let annotated = annotate(&text, &[annotation]);
        assert_eq!(annotated, expected);
        assert_eq!(strip(&annotated), text);
    }

    #[test]
    fn labels_are_below_their_line() {
        assert_annotated(
            "spec:\n  gates:\n    «graph: true»\n  more: 1\n",
            "\
spec:
  gates:
    graph: true
#~  ^^^^^^^^^^^ label
#~ error: what
#~ help: do
  more: 1
",
        );
        // In the third column there is no space after the marker.
        assert_annotated("a:\n  «b»: 1\n", "a:\n  b: 1\n#~^ label\n#~ error: what\n#~ help: do\n");
    }

    #[test]
    fn names_columns_where_the_marker_hides_characters() {
        let below = "#~ error: what\n#~ help: do\n";
        let cases = [
            ("«metadata»:\n", "metadata:\n#~^^^^^^ (columns 1 to 8) label\n"),
            (" «ab»:\n", " ab:\n#~^ (columns 2 to 3) label\n"),
            ("«{»}\n", "{}\n#~ (columns 1 to 1) label\n"),
            ("«»{}\n", "{}\n#~ (columns 1 to 1) label\n"),
        ];
        for (text, expected) in cases {
            assert_annotated(text, &format!("{expected}{below}"));
        }
    }

    #[test]
    fn annotates_several_lines_below_the_first() {
        assert_annotated(
            "a:\n  «b:\n    c: 1\n  d»: 2\n",
            "\
a:
  b:
#~^^ (ends 2 lines below, before column 4) label
#~ error: what
#~ help: do
    c: 1
  d: 2
",
        );
    }

    #[test]
    fn keeps_the_end_of_a_file() {
        // Without a final line break the annotation has none, either.
        assert_annotated("a:\n  b: «1»", "a:\n  b: 1\n#~   ^ label\n#~ error: what\n#~ help: do");
        assert_annotated("a: «1»\n", "a: 1\n#~ ^ label\n#~ error: what\n#~ help: do\n");
        // After the last line break, and in an empty text.
        let annotation = "#~ (columns 1 to 1) label\n#~ error: what\n#~ help: do";
        assert_annotated("a\n«»", &format!("a\n\n{annotation}"));
        assert_annotated("«»", &format!("\n{annotation}"));
        assert_eq!(strip("#~ a\n#~ b\n"), "");
        assert_eq!(strip("a\n\n#~ b\n\n"), "a\n\n\n");
    }

    #[test]
    fn keeps_tabs_and_counts_wide_characters_as_one_column() {
        let below = "\n#~ error: what\n#~ help: do\n";
        let cases = [
            ("\t«go» build\n", "\tgo build\n#~\t^^ label"),
            ("\tgo\t«build»\n", "\tgo\tbuild\n#~\t  \t^^^^^ label"),
            (" \t«go»\n", " \tgo\n#~\t^^ label"),
            ("a: ü€😀 «x»\n", "a: ü€😀 x\n#~     ^ label"),
            ("a: «ü€😀»\n", "a: ü€😀\n#~ ^^^ label"),
        ];
        for (text, expected) in cases {
            assert_annotated(text, &format!("{expected}{below}"));
        }
    }

    #[test]
    fn reports_all_findings_of_a_line() {
        let (text, first) = marked("a: «x» y\n", "", &["error 1: x"]);
        let (_, second) = marked("a: x «y»\n", "note 1: too", &[]);
        let annotated = annotate(&text, &[first, second]);
        let expected = "a: x y\n#~ ^\n#~ error 1: x\n#~   ^ note 1: too\n";
        assert_eq!(annotated, expected);
        assert_eq!(strip(&annotated), text);
    }

    #[test]
    fn only_lines_that_begin_with_the_marker_are_annotations() {
        for text in [" #~ a\n", "# ~\n", "a #~ b\n", "a\r\n\r\nb", ""] {
            assert_eq!(strip(text), text);
        }
        // In every file type and at every position.
        let json = "{\n#~ (columns 1 to 1)\n  \"a\": [\n#~ x\n  ]\n}";
        assert_eq!(strip(json), "{\n  \"a\": [\n  ]\n}");
        assert_eq!(strip("a: |\n  b\n#~^\n  c\r\n#~ d\n"), "a: |\n  b\n  c\r\n");
    }

    #[test]
    #[should_panic(expected = "a line begins with #~")]
    fn does_not_annotate_stripped_lines() {
        annotate("a\n#~ b\n", &[]);
    }

    #[test]
    #[should_panic(expected = "line Some(2) of 1")]
    fn rejects_a_position_after_the_end() {
        let (_, annotation) = marked("a\n«b»", "", &[]);
        annotate("a", &[annotation]);
    }

    #[test]
    fn reads_shared_files_for_directories_without_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        };
        let release = |fixture: &str| {
            let text = text(&directory.path().join(fixture), INVENTORY);
            text.lines().find_map(|l| l.trim().strip_prefix("release: ").map(str::to_owned))
        };
        write("bad/hyperconverged.yaml", "a: 1\n");
        write("good-named/hyperconverged.yaml", "#~ inventory: plain-1.17\na: 1\n");
        write("bad-own/hyperconverged.yaml", "a: 1\n");
        write("bad-own/inventory.yaml", "release: own\n");
        write("fixed/hyperconverged.yaml", "a: 1\n");
        let releases = ["bad", "good-named", "bad-own", "fixed"].map(release);
        assert_eq!(releases, [Some("\"1.18\""), Some("\"1.17\""), Some("own"), None].map(|r| r.map(str::to_owned)));
        assert_eq!(text(&directory.path().join("good-named"), MANIFEST), "a: 1\n");

        write("cases/one/hyperconverged.yaml", "a: 1\n");
        write("nodes.yaml", "shared\n");
        assert_eq!(text(&directory.path().join("cases/one"), NODES), "shared\n");
        write("cases/one/nodes.yaml", "own\n");
        assert_eq!(text(&directory.path().join("cases/one"), NODES), "own\n");
    }

    #[test]
    fn copies_without_annotations() {
        let from = std::env::temp_dir().join(format!("annotations-{}", std::process::id()));
        let (bad, to) = (from.join("bad/in"), from.join("to"));
        fs::create_dir_all(&bad).expect("made");
        fs::write(bad.join("a.yaml"), "a: 1\n#~ ^\n").expect("written");
        fs::write(bad.join("b"), b"\xff\n#~ no text\n").expect("written");
        fs::write(bad.join(ELSEWHERE), "error: what\n").expect("written");
        copy(&from.join("bad"), &to).expect("copied");
        let files = read(&to).expect("read");
        let expected = [("in/a.yaml", b"a: 1\n".to_vec()), ("in/b", b"\xff\n#~ no text\n".to_vec())];
        assert_eq!(files, expected.map(|(path, bytes)| (path.into(), bytes)));
        assert!(!to.join("in").join(ELSEWHERE).exists());
        fs::remove_dir_all(from).expect("removed");
    }
}
