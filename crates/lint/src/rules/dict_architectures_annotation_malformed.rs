//! An architectures annotation with words that HCO doesn't recognise.

use super::dict_architectures::is_separator;
use super::prelude::*;
use serde::Serialize;

pub(super) fn find(cx: &Context<'_>, template: &WrittenTemplate<'_>) -> Option<Finding> {
    let annotation = template.annotation(ARCHITECTURES_ANNOTATION)?;
    let text = annotation.text().filter(|t| !t.trim().is_empty())?;
    let known = &cx.release().ssp().architectures;
    let wrong = worst_word(text, known)?;
    let [_, why, label] = MISTAKES.row(&variant(&wrong.what).0);
    let of = if template.name().is_empty() { "a golden image without a name" } else { template.name() };
    let message = format!("the architectures annotation of {of} {}", why.replace("{}", wrong.word.trim()));
    let place = annotation.part_location(wrong.start..wrong.start + wrong.word.len());
    let finding = cx.finding(message).at(place).label(label);
    let meant = meant(text, known);
    let finding = match wrong.what {
        WordMistake::NewArchitecture => {
            finding.warning().help(format!("remove {}: SSP knows {}", wrong.word, and(known)))
        }
        // HCO takes the others.
        WordMistake::Empty | WordMistake::Twice if meant.is_some() => finding.info().silent(),
        _ => finding.help("write architectures in lower case, separated by single commas: \"amd64,arm64\""),
    };
    let fix = meant.and_then(|meant| Some(safe(format!("write {meant:?}"), vec![annotation.rewrite(&meant)?])));
    Some(finding.fixes(fix))
}

/// The error of a word, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum WordMistake {
    /// Spaces around it.
    Blank,
    /// An alias, capitals, or another separator.
    Name,
    /// An architecture that SSP doesn't know.
    NewArchitecture,
    /// A duplicate.
    Twice,
    /// Empty or only spaces.
    Empty,
}

/// A word that HCO doesn't recognise.
struct UnknownWord<'t> {
    word: &'t str,
    start: usize,
    what: WordMistake,
}

/// The names of mistakes, with the end of the message and the label.
static MISTAKES: Rows<[&str; 3]> = Rows::of("architectureMistakes");

/// The word with the worst mistake.
fn worst_word<'t>(text: &'t str, known: &[String]) -> Option<UnknownWord<'t>> {
    let mut start = 0;
    let mut seen: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for word in text.split(',') {
        let what = if word.trim().is_empty() {
            Some(WordMistake::Empty)
        } else if word.trim() != word {
            Some(WordMistake::Blank)
        } else if seen.contains(&word) {
            Some(WordMistake::Twice)
        } else if known.iter().any(|k| k == word) {
            None
        } else if canonical(word, known).is_some() || !is_plain(word) {
            Some(WordMistake::Name)
        } else {
            Some(WordMistake::NewArchitecture)
        };
        found.extend(what.map(|what| UnknownWord { word, start, what }));
        seen.push(word);
        start += word.len() + 1;
    }
    found.into_iter().min_by_key(|word| word.what)
}

/// Whether a word may be the name of an architecture.
fn is_plain(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The architecture meant by a word.
fn canonical<'k>(word: &str, known: &'k [String]) -> Option<&'k str> {
    let name = Architecture::name(word.trim())?;
    known.iter().map(String::as_str).find(|k| *k == name)
}

/// The intended value; `None` if SSP doesn't know an architecture of it.
fn meant(text: &str, known: &[String]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for word in text.split(is_separator).filter(|w| !w.is_empty()) {
        let name = canonical(word, known)?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(","))
}
