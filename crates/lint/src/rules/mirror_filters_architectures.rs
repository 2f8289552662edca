//! A mirror that gets only a part of a manifest list.

use super::prelude::*;
use crate::Form;
use crate::context::{Command, commands, copies_all, plain_words, values};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for file in cx.texts().iter().filter(|file| file.mentions("skopeo") || file.mentions("filter-by-os")) {
        for command in commands(file.text()) {
            let is_copied = || !copies_all(&command.words);
            let found = match command.name {
                "skopeo copy" | "skopeo sync" if is_copied() => skopeo(cx, file, &command),
                "oc image mirror" | "oc adm catalog mirror" if is_copied() => oc(cx, file, &command),
                _ => None,
            };
            out.report_all(found);
        }
    }
    for document in cx.of_kind("ImageSetConfiguration") {
        image_set(cx, document, out);
    }
}

fn skopeo(cx: &Context<'_>, file: &Arc<SourceFile>, command: &Command<'_>) -> Option<Finding> {
    let plain = plain_words(&command.words);
    let from = plain.iter().nth_back(1)?;
    let is_copy = command.name == "skopeo copy";
    let from = if is_copy { from.strip_prefix("docker://")? } else { from };
    let is_single = cx.image_evidence(from).is_some_and(|e| e.form == Form::Single);
    if is_single || is_copy && !plain.last()?.starts_with("docker://") {
        return None;
    }
    let only = values(&command.words, &["--override-arch"]).next();
    let only = only.map_or_else(|| "the architecture of the machine that copies it".to_owned(), str::to_owned);
    let end = command.at + command.name.len();
    let finding = cx.finding(format!("{from} is copied only for {only}"));
    let finding =
        finding.at(Location::new(file, Span::new(command.at, end))).label("takes one image out of a manifest list");
    let insertion = Location::new(file, Span::new(end, end));
    Some(finding.fix(suggested_text("add --all, which copies the whole list", insertion, " --all")))
}

fn oc(cx: &Context<'_>, file: &Arc<SourceFile>, command: &Command<'_>) -> Option<Finding> {
    let flags = ["--filter-by-os", "--index-filter-by-os"];
    if values(&command.words, &flags).next()?.trim_matches(['"', '\'']) == ".*" {
        return None;
    }
    let flag = command.words.iter().find(|word| flags.iter().any(|flag| word.starts_with(flag)))?;
    let begin = command.at + file.text().get(command.at..)?.find(flag)?;
    let place = |end| Location::new(file, Span::new(begin, end));
    let finding = |what: &str| cx.finding(format!("{what} mirrored for some of their architectures only"));
    let label = "the rest of each manifest list is left out";
    if command.name == "oc adm catalog mirror" {
        let finding = finding("images of catalogs are").at(place(begin + flag.len())).label(label);
        return Some(finding.help("mirror the catalog's image with all of its architectures: skopeo copy --all"));
    }
    const KEPT: &str = "--keep-manifest-list=true ";
    let fix = suggested_text("add --keep-manifest-list=true", place(begin), KEPT);
    Some(finding("images are").at(place(begin + flag.len())).label(label).fix(fix))
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
