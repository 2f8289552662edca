//! The pictures of README and docs: terminal sessions drawn from commands' output. `SNAPSHOTS=overwrite` draws them
//! again.

use std::fmt::Write as _;
use std::process::Command;

use super::main_directory;

/// Characters of a line; longer ones are wrapped.
const WIDTH: usize = 118;
/// The size of a character and a line in pixels, with a monospaced font of 13 pixels.
const CHARACTER: f64 = 7.83;
const LINE: usize = 19;

/// Each picture, its command and the maximum number of lines.
const PICTURES: [(&str, &[&str], usize); 3] = [
    ("plan", &["plan", "examples/arm64-nodes/after", "--against", "examples/arm64-nodes/before"], 60),
    ("lint", &["lint", "examples/arm64-nodes/after", "--select", "heterogeneous"], 40),
    ("matrix", &["matrix", "examples/arm64-nodes/after"], 24),
];

#[test]
fn pictures_show_what_the_commands_print() {
    for (name, arguments, most) in PICTURES {
        let done = Command::new(env!("CARGO_BIN_EXE_hcoplan"))
            .current_dir(main_directory())
            .args(arguments)
            .args(["--color", "always"])
            .env("LC_ALL", "C.UTF-8")
            .env_remove("NO_COLOR")
            .output()
            .expect("hcoplan runs");
        let text = String::from_utf8(done.stdout).expect("UTF-8");
        assert!(text.contains("arm64"), "{name}: {text}");
        let path = main_directory().join(format!("docs/pictures/{name}.svg"));
        let picture = snapbox::Data::read_from(&path, Some(snapbox::data::DataFormat::Text));
        let assert = snapbox::Assert::new().action_env("SNAPSHOTS");
        assert.eq(drawn(&arguments.join(" "), &text, most), picture.raw());
    }
}

/// A piece of a line with the class of its colour.
type Piece = (String, &'static str);

/// Splits a line at escape sequences; each piece has the class of the preceding sequence.
fn pieces(line: &str, class: &mut &'static str) -> Vec<Piece> {
    let mut out = Vec::new();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m') {
            Some((codes, text)) if index > 0 => {
                *class = match codes {
                    "0" | "" => "",
                    "2" => "soft",
                    codes if codes.contains("31") => "bad",
                    codes if codes.contains("33") => "warn",
                    codes if codes.contains("32") => "good",
                    codes if codes.contains("36") || codes.contains("35") => "calm",
                    "1" => "bold",
                    _ => *class,
                };
                text
            }
            _ => part,
        };
        if !text.is_empty() {
            out.push((text.to_owned(), *class));
        }
    }
    out
}

/// Wraps a line.
fn rows(line: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut rows: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut length = 0;
    for (text, class) in line {
        for word in text.split_inclusive(' ') {
            let long = word.chars().count();
            if length + long > WIDTH && length > 0 {
                rows.push(vec![("      ".to_owned(), "")]);
                length = 6;
            }
            length += long;
            rows.last_mut().expect("there is one").push((word.to_owned(), class));
        }
    }
    rows
}

fn drawn(command: &str, text: &str, most: usize) -> String {
    let mut class = "";
    let prompt = vec![vec![("$ ".to_owned(), "soft"), (format!("hcoplan {command}"), "bold")], Vec::new()];
    let lines = text.lines().flat_map(|line| rows(pieces(line, &mut class)));
    let mut all: Vec<Vec<Piece>> = prompt.into_iter().chain(lines).collect();
    if all.len() > most {
        all.truncate(most);
        all.push(vec![("…".to_owned(), "soft")]);
    }
    let mut body = String::new();
    for (index, row) in all.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let y = 48 + index * LINE;
        let _ = write!(body, "  <text x=\"18\" y=\"{y}\">");
        for (text, class) in row {
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
            let _ = write!(body, "<tspan{class}>{text}</tspan>");
        }
        body.push_str("</text>\n");
    }
    let height = 48 + all.len() * LINE;
    let width = (WIDTH as f64 * CHARACTER) as usize + 36;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" role=\"img\">
  <title>hcoplan {command}</title>
  <style>
    text {{ font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #e4e8ec; white-space: pre }}
    .bold {{ font-weight: 600; fill: #ffffff }} .soft {{ fill: #a0aab5 }}
    .bad {{ font-weight: 600; fill: #ff9a90 }} .warn {{ font-weight: 600; fill: #f2c76b }}
    .good {{ fill: #7fd89a }} .calm {{ fill: #8ac6ff }}
  </style>
  <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#11151a\" />
  <circle cx=\"20\" cy=\"16\" r=\"5\" fill=\"#ff5f57\" /><circle cx=\"38\" cy=\"16\" r=\"5\" fill=\"#febc2e\" /><circle cx=\"56\" cy=\"16\" r=\"5\" fill=\"#28c840\" />
{body}</svg>
"
    )
}
