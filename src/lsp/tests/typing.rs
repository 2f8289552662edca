//! Documents while they are typed: no text causes a panic.

use hcoplan_testing::annotations;
use rayon::prelude::*;

use super::*;

fn seed() -> u64 {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok();
    seed.and_then(|s| s.parse().ok()).unwrap_or(20_261_121)
}

/// One of this many fixtures is tried, chosen by the seed.
const ONE_OF: u64 = 6;

/// Random numbers from a fixed seed or `PROPTEST_RNG_SEED`.
struct Draw(u64);

impl Draw {
    fn new() -> Self {
        Self(seed() | 1)
    }

    /// xorshift64*
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(drawn).unwrap_or_default() % end.max(1)
    }
}

/// Analyses a text, with hovers in some places and all actions.
fn look(editor: &mut Editor, draw: &mut Draw, path: &str, text: &str) {
    editor.change(path, text);
    // One hover before the analysis, which uses the previous state, and one after it.
    let at = draw.below(text.len() + 1);
    editor.hover(path, text, at);
    editor.run_jobs();
    for _ in 0..2 {
        let at = draw.below(text.len() + 1);
        editor.hover(path, text, at);
    }
    editor.actions(path, None);
    assert_eq!(editor.log, Vec::<String>::new(), "{text}");
}

/// A random prefix of a text.
fn prefix<'t>(draw: &mut Draw, text: &'t str) -> &'t str {
    &text[..text.floor_char_boundary(draw.below(text.len() + 1))]
}

/// A text with a random deletion or insertion.
fn mangled(draw: &mut Draw, text: &str) -> String {
    const TYPED: [&str; 12] = ["\"", "'", "{", "[", ":", "- ", "\n", "\t", "&a ", "*a", "|\n", "😀"];
    let mut text = text.to_owned();
    for _ in 0..=draw.below(3) {
        let start = text.floor_char_boundary(draw.below(text.len() + 1));
        let end = text.floor_char_boundary((start + draw.below(12)).min(text.len()));
        let typed = match draw.below(3) {
            0 => TYPED[draw.below(TYPED.len())],
            _ => "",
        };
        text.replace_range(start..end.max(start), typed);
    }
    text
}

fn yaml_below(directory: &Path, out: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).expect("readable").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            yaml_below(&path, out);
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "json") {
            out.push(path);
        }
    }
}

#[test]
fn survives_any_fixture_half_typed() {
    let fixtures = tempfile::tempdir().expect("a directory");
    annotations::copy(&package().join("testdata/lint"), fixtures.path()).expect("copied");
    let mut files = Vec::new();
    yaml_below(fixtures.path(), &mut files);
    yaml_below(&package().join("examples"), &mut files);
    files.retain(|f| !f.components().any(|c| c.as_os_str() == "rendered"));
    assert!(files.len() > 1000, "{}", files.len());
    let numbered = (0..).zip(&files).filter(|(at, _)| at % ONE_OF == seed() % ONE_OF);
    let drawn: Vec<(u64, &PathBuf)> = numbered.collect();
    drawn.into_par_iter().for_each(|(at, file)| {
        let Ok(text) = fs::read_to_string(file) else {
            return;
        };
        let mut draw = Draw((seed() ^ at << 32) | 1);
        let root = file.parent().expect("a directory");
        let name = file.file_name().expect("a name").to_string_lossy();
        let mut editor = Editor::plain(root);
        editor.open(&name, &text);
        let (typed, changed) = (prefix(&mut draw, &text), mangled(&mut draw, &text));
        look(&mut editor, &mut draw, &name, typed);
        look(&mut editor, &mut draw, &name, &changed);
    });
}

#[test]
fn survives_a_manifest_typed_character_by_character() {
    let path = "clusters/prod-east/hyperconverged.yaml";
    let root = package().join("examples/fleet");
    let mut editor = Editor::plain(&root);
    let text = fs::read_to_string(root.join(path)).expect("readable");
    let mut draw = Draw::new();
    editor.open(path, "");
    for (at, _) in text.char_indices().skip(1).step_by(5) {
        look(&mut editor, &mut draw, path, &text[..at]);
    }
    editor.change(path, &text);
    editor.run_jobs();
    let (typed, mut fresh) = (editor.shown, Editor::plain(&root));
    fresh.run_jobs();
    assert_eq!(typed, fresh.shown);
}
