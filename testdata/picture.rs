//! The README's picture: the comment that the Action writes into a pull request, drawn as its reader sees it first.

use std::fmt::Write as _;
use std::fs;

use super::{fleet_before_its_last_change, main_directory};

/// Characters of a line; what is longer is wrapped.
const WIDTH: usize = 104;
/// Before what goes on with the line above.
const INDENT: &str = "\u{a0}\u{a0}\u{a0}\u{a0}";

/// The example's last change, compared as `.github/action/run` does. `SNAPSHOTS=overwrite` draws it again.
#[test]
fn the_picture_is_the_comment_of_the_action() {
    let action = fs::read_to_string(main_directory().join(".github/action/run")).expect("readable");
    assert!(action.contains(r#"hcoplan diff --against "$BASE" --exit-code --format "markdown="#));
    let (scene, inventory, text) = fleet_before_its_last_change();
    scene.run("commit", &mut String::new());
    fs::write(&inventory, &text).expect("written");
    let done = scene
        .command(env!("CARGO_BIN_EXE_hcoplan"))
        .args(["diff", "--against", "main", "--format", "markdown"])
        .output()
        .expect("hcoplan runs");
    let comment = String::from_utf8(done.stdout).expect("UTF-8");
    let path = main_directory().join("docs/comment.svg");
    let picture = snapbox::Data::read_from(&path, Some(snapbox::data::DataFormat::Text));
    let assert = snapbox::Assert::new().action_env("SNAPSHOTS");
    assert.eq(drawn(&comment), picture.raw());
}

/// The lines of the comment as they are shown: what is folded stays so.
fn shown(comment: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut folded = false;
    for line in comment.lines().filter(|l| !l.is_empty()) {
        if let Some(summary) = line.strip_prefix("<details><summary>") {
            folded = true;
            out.push(format!("▸ {}", summary.trim_end_matches("</summary>")));
        } else if folded || line.starts_with("<!--") {
            folded &= line != "</details>";
        } else if let Some(more) = line.strip_prefix("  ") {
            out.push(format!("{INDENT}{more}"));
        } else {
            out.push(line.replacen("- ", "• ", usize::from(line.starts_with("- "))));
        }
    }
    out
}

fn drawn(comment: &str) -> String {
    let (mut text, mut y) = (String::new(), 62);
    for line in shown(comment) {
        let (class, line) = match line.trim_start_matches('#') {
            heading if heading.len() < line.len() => ("heading", heading.trim_start()),
            _ => ("text", line.as_str()),
        };
        y += if line.starts_with(['•', '\u{a0}']) { 0 } else { 8 };
        let (mut bold, mut code) = (false, false);
        for row in wrapped(line) {
            let _ = write!(text, "  <text class=\"{class}\" x=\"20\" y=\"{y}\">");
            for (at, part) in row.split('`').enumerate() {
                code ^= at > 0;
                for (at, part) in part.split("**").enumerate() {
                    bold ^= at > 0;
                    let class = [(bold, "bold"), (code, "code")];
                    let class = class.iter().find(|(is, _)| *is).map_or("", |(_, name)| name);
                    let part = part.replace('\\', "").replace('&', "&amp;");
                    let part = part.replace('<', "&lt;").replace('>', "&gt;");
                    if !part.is_empty() {
                        let _ = write!(text, "<tspan class=\"{class}\">{part}</tspan>");
                    }
                }
            }
            text.push_str("</text>\n");
            y += 22;
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"880\" height=\"{height}\">
  <style>
    text {{ font: 14px -apple-system, \"Segoe UI\", \"Noto Sans\", Helvetica, Arial, sans-serif; fill: #1f2328; white-space: pre }}
    .heading, .bold {{ font-weight: 600 }}
    .heading {{ font-size: 17px }}
    .code {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12px }}
  </style>
  <rect x=\"0.5\" y=\"0.5\" width=\"879\" height=\"{inner}\" rx=\"6\" fill=\"#ffffff\" stroke=\"#d1d9e0\" />
  <path d=\"M1 37V7q0-6 6-6h866q6 0 6 6v30z\" fill=\"#f6f8fa\" stroke=\"#d1d9e0\" />
  <text x=\"20\" y=\"24\"><tspan class=\"bold\">github-actions</tspan> commented</text>
{text}</svg>
",
        height = y,
        inner = y - 1,
    )
}

/// A line in rows of whole words.
fn wrapped(line: &str) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in line.split(' ') {
        let row = rows.last_mut().expect("there is one");
        if !row.is_empty() && row.chars().count() + word.chars().count() > WIDTH {
            rows.push(format!("{INDENT}{word}"));
        } else {
            let space = if row.is_empty() { "" } else { " " };
            *row = format!("{row}{space}{word}");
        }
    }
    rows
}
