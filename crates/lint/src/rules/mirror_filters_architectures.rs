//! A mirror that gets only a part of a manifest list.

use hcoplan_diagnostics::source::SourceFile;

use super::prelude::*;
use crate::Form;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for file in cx.texts().iter().filter(|file| file.mentions("skopeo") || file.mentions("--filter-by-os")) {
        for (number, line) in file.text().lines().enumerate() {
            if line.contains("skopeo") {
                skopeo(cx, file, number, out);
            } else if line.contains("image") && line.contains("mirror") {
                oc(cx, file, number, out);
            }
        }
    }
    for document in cx.of_kind("ImageSetConfiguration") {
        image_set(cx, document, out);
    }
}

/// A command from a line on, with the lines that continue it as far as the next one, and where it begins in the file.
/// Comments hold none.
fn command<'f>(file: &'f SourceFile, number: usize, words: &[&str]) -> Option<(usize, &'f str)> {
    let (start, line) = file.line(number)?;
    let at = position(line, words)?;
    if line.get(..at)?.trim_start().starts_with(['#', '/']) {
        return None;
    }
    let mut end = start + line.len();
    let (mut next, mut last) = (number + 1, line);
    while last.trim_end().ends_with('\\') {
        let Some((begin, line)) = file.line(next).filter(|(_, line)| position(line, words).is_none()) else {
            break;
        };
        end = begin + line.len();
        (next, last) = (next + 1, line);
    }
    let begin = start + at;
    let text = file.text().get(begin..end)?;
    // Another command follows.
    let stop = text.find(['|', ';', '&']).unwrap_or(text.len());
    Some((begin, text.get(..stop)?.trim_end()))
}

/// The offset of consecutive words in a line, separated by any spaces.
fn position(line: &str, words: &[&str]) -> Option<usize> {
    let (first, rest) = words.split_first()?;
    line.match_indices(first).find_map(|(at, _)| {
        let mut text = line.get(at + first.len()..)?;
        for word in rest {
            text = text.strip_prefix([' ', '\t'])?.trim_start();
            text = text.strip_prefix(word)?;
        }
        let before = line.get(..at)?.chars().next_back();
        let own = before.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '_');
        (own && text.starts_with([' ', '\t', '\\'])).then_some(at)
    })
}

fn skopeo(cx: &Context<'_>, file: &Arc<SourceFile>, number: usize, out: &mut Sink) {
    let words = ["skopeo", "copy"];
    let Some((begin, text)) = command(file, number, &words) else {
        return;
    };
    let arguments: Vec<&str> = text.split_whitespace().collect();
    let images: Vec<String> = arguments.iter().map(|a| a.trim_matches(['"', '\'', ',']).to_owned()).collect();
    let images: Vec<&str> = images.iter().filter_map(|a| a.strip_prefix("docker://")).collect();
    let copies_all = |(i, a): (usize, &&str)| match *a {
        "--all" | "-a" | "--multi-arch=all" => true,
        "--multi-arch" => arguments.get(i + 1) == Some(&"all"),
        _ => false,
    };
    let [from, _] = images.as_slice() else {
        return;
    };
    if arguments.iter().enumerate().any(copies_all) {
        return;
    }
    if cx.image_evidence(from).is_some_and(|e| e.form == Form::Single) {
        return;
    }
    // After `skopeo copy`.
    let verb = text.find("copy").map_or(0, |at| at + "copy".len());
    let place = Location::new(file, Span::new(begin, begin + verb));
    let insertion = Location::new(file, Span::new(begin + verb, begin + verb));
    out.report(
        cx.finding(format!("{from} is copied only for the architecture of the machine that copies it"))
            .at(place)
            .label("takes one image out of a manifest list")
            .fix(suggested_text("add --all, which copies the whole list", insertion, " --all")),
    );
}

fn oc(cx: &Context<'_>, file: &Arc<SourceFile>, number: usize, out: &mut Sink) {
    let Some((begin, text)) = command(file, number, &["oc", "image", "mirror"]) else {
        return;
    };
    let Some(at) = text.find("--filter-by-os") else {
        return;
    };
    let rest = text.get(at..).unwrap_or_default();
    let flag = rest.split_whitespace().next().unwrap_or_default();
    let value = match flag.split_once('=') {
        Some((_, value)) => value,
        None => rest.split_whitespace().nth(1).unwrap_or_default(),
    };
    if value.trim_matches(['"', '\'']) == ".*" || text.contains("--keep-manifest-list=true") {
        return;
    }
    let span = Span::new(begin + at, begin + at + flag.len());
    out.report(
        cx.finding("images are mirrored for some of their architectures only")
            .at(Location::new(file, span))
            .label("the rest of each manifest list is left out")
            .fix(suggested_text(
                "add --keep-manifest-list=true",
                Location::new(file, Span::new(begin + at, begin + at)),
                "--keep-manifest-list=true ",
            )),
    );
}

fn image_set(cx: &Context<'_>, document: &Document, out: &mut Sink) {
    let version = document.text("apiVersion");
    let path = Path::dotted("mirror.platform.architectures");
    let Some(list) = document.root.at(&path) else {
        return;
    };
    let names: Vec<&str> = list.items().iter().filter_map(|n| n.as_str()).collect();
    let there = cx.all_architectures().iter().copied();
    let missing: Vec<&str> = there.filter(|a| !names.contains(a)).collect();
    let ours = version.starts_with("mirror.openshift.io/");
    if !ours || names.contains(&"multi") || names.is_empty() || missing.is_empty() {
        return;
    }
    let all = [Change::Set(path.clone(), ["multi"].as_slice().into())];
    let message = format!("the platform's images are mirrored for {}, and not for {}", and(&names), and(&missing));
    let finding = cx
        .finding_about(document, message)
        .at(document.locate(&path))
        .label(format!("leaves {} out", and(&missing)))
        .help("mirror the release for several architectures: `multi`")
        .fixes(suggested(document, changed(&all), &all));
    out.report(with_nodes(finding, cx, &missing));
}
