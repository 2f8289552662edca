//! Prints one document with each printer.

use hcoplan_diagnostics::source::{Location, SourceFile, Span as Place};
use sha2::{Digest, Sha256};

use super::document::{Block, Cell, DiffLine, Document, Entry, Layout, Level, Mark, Sign, Table, Text};
use super::excerpt::Excerpt;
use super::terminal::Terminal;
use super::{html, markdown, terminal};

const HOSTILE: &str = "</style><script>alert(1)</script>&amp;\"' | `x` @all https://x.example";

fn document() -> Document {
    let file = SourceFile::new("a/hco.yaml", "spec:\n  size: wrong\n");
    let mut finding = Entry::new(Level::Bad, Text::new().level(Level::Bad, "error").plain("[rule]"), HOSTILE);
    finding.place = Text::new().code("a/hco.yaml:2:9");
    finding.anchor = Some("finding-error-rule".to_owned());
    finding.marks = vec![Mark {
        path: "a/hco.yaml".to_owned(),
        place: Location::new(&file, Place::new(14, 19)),
        label: "here".to_owned(),
        primary: true,
    }];
    finding.note("help", "write `right`");
    let cell = Cell { text: "missing".into(), level: Some(Level::Bad), reason: Some("nothing is imported".to_owned()) };
    let line = |sign, depth, text: &str| DiffLine { sign, depth, text: text.into() };
    Document {
        title: "hcoplan".to_owned(),
        verdict: Some((Level::Bad, "rejected in 1 of 2 clusters".into())),
        blocks: vec![
            Block::Paragraph(Text::new().soft("from a to b")),
            Block::Heading(1, "Findings".into()),
            Block::Entries(Layout::Story, vec![finding.clone()]),
            Block::Heading(1, "Matrix".into()),
            Block::Table(Table {
                caption: "images".to_owned(),
                header: vec!["image".into(), "arm64".into()],
                rows: vec![vec![HOSTILE.into(), cell]],
                sortable: true,
            }),
            Block::Entries(Layout::Full, vec![finding]),
            Block::Folded(
                "Objects".into(),
                vec![Block::Diff(vec![
                    line(Sign::Change, 0, "KubeVirt kubevirt"),
                    line(Sign::Remove, 1, "spec.x: ```"),
                    line(Sign::Add, 1, "spec.y: 2"),
                    line(Sign::Note, 1, "because of spec.z"),
                ])],
            ),
        ],
        last: Some((Level::Bad, "1 error".into())),
    }
}

#[test]
fn a_terminal_shows_signs_excerpts_and_the_last_line() {
    let text = terminal::print(&document(), Terminal::default());
    for part in [
        "✗ rejected in 1 of 2 clusters\nfrom a to b\n",
        "\nFindings\n  ✗ error[rule]: ",
        " a/hco.yaml:2:9\n    help: write `right`\n",
        "2 │   size: wrong",
        "  = help: write `right`\n",
        "  ~ KubeVirt kubevirt\n    - spec.x: ```\n    + spec.y: 2\n      because of spec.z\n",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(text.ends_with("\n\n✗ 1 error\n"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn wraps_lines_only_at_the_terminals_width() {
    let sentence = "words ".repeat(60);
    let document = Document { blocks: vec![Block::Paragraph(sentence.as_str().into())], ..Document::default() };
    let of = |wraps, width| terminal::print(&document, Terminal { wraps, width, ..Terminal::default() });
    assert_eq!(of(false, 60).lines().count(), 1);
    let broken = of(true, 60);
    assert!(broken.lines().count() > 5 && broken.lines().all(|line| line.chars().count() <= 60), "{broken}");
}

#[test]
fn without_unicode_everything_is_ascii() {
    let document = Document {
        verdict: Some((Level::Good, "a → b · c … d".into())),
        last: Some((Level::Bad, "no".into())),
        ..Document::default()
    };
    let text = terminal::print(&document, Terminal { unicode: false, ..Terminal::default() });
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn markdown_lists_entries_and_folds_the_rest() {
    let text = markdown::print(&document(), Some("marker"), None, "hcoplan plan");
    assert!(text.starts_with("<!-- marker -->\n### 🔴 hcoplan: rejected in 1 of 2 clusters\n"), "{text}");
    assert!(text.contains("\n- 🔴 **error**\\[rule\\]: "), "{text}");
    assert!(text.contains("  \n  **Help**: "), "{text}");
    // The fence has to be longer than the backticks inside.
    assert!(text.contains("\n````diff\n! KubeVirt kubevirt\n-   spec.x: ```\n+   spec.y: 2\n"), "{text}");
    assert!(!text.replace("\\<", "").contains("<script") && !text.contains("@all"), "{text}");
}

#[test]
fn markdown_within_a_budget_counts_what_it_omits() {
    let whole = markdown::print(&document(), None, None, "hcoplan plan");
    for budget in [markdown::MIN_BUDGET, 700] {
        let text = markdown::print(&document(), None, Some(budget), "hcoplan plan");
        assert!(text.len() <= budget && text.len() < whole.len(), "{} of {budget}: {text}", text.len());
        assert!(text.contains("left out**, as the comment is full: `hcoplan plan` prints everything."), "{text}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
}

#[test]
fn a_page_escapes_what_comes_from_files() {
    let text = html::print(&document());
    assert_eq!(text.matches("<script").count(), 1, "only the page's own: {text}");
    assert_eq!(text.matches("</style>").count(), 1);
    assert!(text.contains("href=\"#matrix\"") && text.contains("id=\"matrix\""), "{text}");
    assert!(text.contains("nothing is imported"), "{text}");
}

#[test]
fn the_content_security_policy_allows_own_style_and_script() {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let base64 = |bytes: &[u8]| {
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let word = chunk.iter().fold(0_u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
            for i in 0..4 {
                let digit = (word >> (18 - 6 * i)) as usize & 63;
                out.push(if i <= chunk.len() { char::from(ALPHABET[digit]) } else { '=' });
            }
        }
        out
    };
    let page = html::print(&Document::default());
    for text in [html::STYLE, html::SCRIPT] {
        let digest = format!("'sha256-{}'", base64(&Sha256::digest(text)));
        assert!(page.contains(&digest.replace('\'', "&#39;")) || page.contains(&digest), "write {digest} into html.rs");
    }
    assert!(!html::STYLE.contains('<') && !html::STYLE.contains("url(") && !html::STYLE.contains("@import"));
}

#[test]
fn an_excerpt_marks_the_span() {
    let file = SourceFile::new("a.yaml", "spec:\n  a: 1\n");
    let place = Location::new(&file, Place::new(8, 9));
    let mark = Mark { path: "a.yaml".to_owned(), place, label: "here".to_owned(), primary: true };
    let excerpt = Excerpt::new(&[&mark], 80).expect("an excerpt");
    let rows = excerpt.rows();
    assert_eq!(rows[0].pieces, [("spec:", false)]);
    assert_eq!(rows[1].pieces, [("  ", false), ("a", true), (": 1", false)]);
    assert_eq!(rows[1].labels, [("here", true)]);
}

#[test]
fn no_line_of_an_excerpt_is_a_workflow_command() {
    let file = SourceFile::new("a.yaml", "a: 1 # ##[error]pwned\n");
    let mark = Mark {
        path: "a.yaml".to_owned(),
        place: Location::new(&file, Place::new(0, 1)),
        label: "##[error]pwned".to_owned(),
        primary: true,
    };
    let excerpt = Excerpt::new(&[&mark], 80).expect("an excerpt");
    let shown = format!("{:?}", excerpt.rows());
    assert!(shown.contains("pwned") && !shown.contains("##["), "{shown}");
}
