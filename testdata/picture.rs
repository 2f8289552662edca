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

/// The comment on a pull request with the first of these.
const COMMENT: [&str; 2] = ["--format", "markdown"];
const COMMENT_WIDTH: usize = 125;

#[test]
fn pictures_show_what_the_commands_print() {
    for (name, arguments, most) in PICTURES {
        let text = printed(&[arguments, &["--color", "always"]].concat());
        compare(name, &drawn(&arguments.join(" "), &text, most));
    }
    compare("comment", &drawn_comment(&printed(&[PICTURES[0].1, &COMMENT].concat())));
}

fn printed(arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_hcoplan"))
        .current_dir(main_directory())
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .env_remove("NO_COLOR")
        .output()
        .expect("hcoplan runs");
    let text = String::from_utf8(done.stdout).expect("UTF-8");
    assert!(text.contains("arm64"), "{arguments:?}: {text}");
    text
}

fn compare(name: &str, drawn: &str) {
    let path = main_directory().join(format!("docs/pictures/{name}.svg"));
    let picture = snapbox::Data::read_from(&path, Some(snapbox::data::DataFormat::Text));
    snapbox::Assert::new().action_env("SNAPSHOTS").eq(drawn, picture.raw());
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

/// Wraps a line of a terminal.
fn rows(line: Vec<Piece>) -> Vec<Vec<Piece>> {
    wrapped(line, WIDTH, 6)
}

fn wrapped(line: Vec<Piece>, width: usize, indent: usize) -> Vec<Vec<Piece>> {
    let words = line.iter().flat_map(|(text, class)| text.split_inclusive(' ').map(move |word| (word, *class)));
    let words: Vec<Piece> = words.map(|(word, class)| (word.to_owned(), class)).collect();
    let mut rows: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut length = 0;
    let mut rest = &words[..];
    while !rest.is_empty() {
        // A word may have several colours.
        let end = rest.iter().position(|(part, _)| part.ends_with(' ')).map_or(rest.len(), |last| last + 1);
        let (word, others) = rest.split_at(end);
        let long: usize = word.iter().map(|(part, _)| part.chars().count()).sum();
        if length + long > width && length > 0 {
            rows.push(vec![(" ".repeat(indent), "")]);
            length = indent;
        }
        length += long;
        rows.last_mut().expect("there is one").extend_from_slice(word);
        rest = others;
    }
    rows
}

/// Splits a line of markdown: bold text, code, links, escaped characters.
fn markdown_pieces(line: &str) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let (mut class, mut rest) = ("", line);
    while let Some(first) = rest.chars().next() {
        let mut take = |text: &str, class| match out.last_mut().filter(|(_, last)| *last == class) {
            Some((last, _)) => last.push_str(text),
            None => out.push((text.to_owned(), class)),
        };
        let after = &rest[first.len_utf8()..];
        let link = after.split_once("](").and_then(|(text, url)| Some((text, url.split_once(')')?.1)));
        if let Some((text, end)) = link.filter(|_| first == '[') {
            take(text, "link");
            rest = end;
            continue;
        }
        rest = match first {
            '*' if after.starts_with('*') => {
                class = if class == "bold" { "" } else { "bold" };
                &after[1..]
            }
            '`' => {
                class = if class == "code" { "" } else { "code" };
                after
            }
            '\\' => {
                let next = after.chars().next().map_or(0, char::len_utf8);
                take(&after[..next], class);
                &after[next..]
            }
            other => {
                take(other.encode_utf8(&mut [0; 4]), class);
                after
            }
        };
    }
    out
}

/// The comment as a forge shows it, with its details closed.
fn drawn_comment(text: &str) -> String {
    let mut all: Vec<Vec<Piece>> = Vec::new();
    let mut is_closed = false;
    for line in text.lines().filter(|line| !line.starts_with("<!--")) {
        if let Some(title) = line.strip_prefix("<details><summary>") {
            all.push(vec![(format!("▸ {}", title.trim_end_matches("</summary>")), "")]);
            is_closed = true;
        } else if line == "</details>" {
            is_closed = false;
        } else if !is_closed {
            let (text, indent) = match (line.strip_prefix("### "), line.strip_prefix("- ")) {
                (Some(title), _) => (format!("**{title}**"), 0),
                (_, Some(item)) => (format!("• {item}"), 3),
                _ => (line.trim_end().to_owned(), 3),
            };
            let pieces = markdown_pieces(&text).into_iter();
            let pieces = pieces.map(|(text, class)| (text, if line.starts_with('#') { "title" } else { class }));
            all.extend(wrapped(pieces.collect(), COMMENT_WIDTH, indent));
        }
    }
    let height = 62 + all.len() * LINE;
    let body = body(&all, 72);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"940\" height=\"{height}\" role=\"img\">
  <title>hcoplan's comment on a pull request</title>
  <style>
    text {{ font: 14px -apple-system, \"Segoe UI\", \"Noto Sans\", Helvetica, Arial, sans-serif; fill: #1f2328; white-space: pre }}
    .bold {{ font-weight: 600 }} .title {{ font-weight: 600; font-size: 17px }} .link {{ fill: #0969da }}
    .code {{ font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #57606a }}
  </style>
  <rect x=\"0.5\" y=\"0.5\" width=\"939\" height=\"{}\" rx=\"6\" fill=\"#ffffff\" stroke=\"#d0d7de\" />
  <path d=\"M1 37 V7 a6 6 0 0 1 6 -6 H933 a6 6 0 0 1 6 6 V37 Z\" fill=\"#f6f8fa\" />
  <text x=\"18\" y=\"24\"><tspan class=\"bold\">github-actions</tspan><tspan> commented</tspan></text>
{body}</svg>
",
        height - 1
    )
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
    let body = body(&all, 48);
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

/// The rows, from a height on.
fn body(all: &[Vec<Piece>], top: usize) -> String {
    let mut body = String::new();
    for (index, row) in all.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let y = top + index * LINE;
        let _ = write!(body, "  <text x=\"18\" y=\"{y}\">");
        for (text, class) in row {
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
            let _ = write!(body, "<tspan{class}>{text}</tspan>");
        }
        body.push_str("</text>\n");
    }
    body
}
