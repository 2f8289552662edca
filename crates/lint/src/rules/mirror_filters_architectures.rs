//! A mirror that gets only a part of a manifest list.

use super::prelude::*;
use crate::context::{Command, PLATFORMS, commands, copies_all, plain_words, values};

/// What files with a copy mention.
const COPIES: [&str; 5] = ["skopeo", "filter-by-os", "docker pull", "podman pull", "buildah pull"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let is_mentioned = |file: &&Arc<SourceFile>| COPIES.iter().any(|word| file.mentions(word));
    for file in cx.texts().iter().filter(is_mentioned) {
        let all = commands(file.text());
        for command in &all {
            let plain = plain_words(&command.words);
            let source = plain.iter().nth_back(1).copied();
            let is_pushed = |from: &&str| file.mentions(" push ") && all.iter().any(|other| other.renames(from));
            let from = match command.name {
                "skopeo copy" if plain.last().is_some_and(|to| to.starts_with("docker://")) => {
                    source.and_then(|from| from.strip_prefix("docker://"))
                }
                "skopeo sync" => source,
                "docker pull" | "podman pull" | "buildah pull" => plain.last().copied().filter(is_pushed),
                _ => None,
            };
            if !copies_all(&command.words) {
                out.report_all(from.and_then(|from| one_of_list(cx, file, command, from)));
                out.report_all(oc(cx, file, command));
            }
        }
    }
    for document in cx.of_kind("ImageSetConfiguration") {
        image_set(cx, document, out);
    }
}

/// A copy that takes one image out of a list.
fn one_of_list(cx: &Context<'_>, file: &Arc<SourceFile>, command: &Command<'_>, from: &str) -> Option<Finding> {
    let only = values(&command.words, &PLATFORMS).next();
    let is_pull = !command.name.starts_with("skopeo");
    let is_single = cx.image_evidence(from).is_some_and(|e| e.form == Form::Single);
    // What is pulled for one platform is evidence for the images that are pushed.
    if is_single || is_pull && only.is_some() {
        return None;
    }
    let only = only.map_or_else(|| "the architecture of the machine that copies it".to_owned(), str::to_owned);
    let end = command.end;
    let finding = cx.finding(format!("{from} is copied only for {only}"));
    let finding =
        finding.at(Location::new(file, Span::new(command.at, end))).label("takes one image out of a manifest list");
    if is_pull {
        return Some(finding.help("copy the whole list between the registries: skopeo copy --all"));
    }
    let insertion = Location::new(file, Span::new(end, end));
    Some(finding.fix(suggested_text("add --all, which copies the whole list", insertion, " --all")))
}

fn oc(cx: &Context<'_>, file: &Arc<SourceFile>, command: &Command<'_>) -> Option<Finding> {
    let flags = ["--filter-by-os", "--index-filter-by-os"];
    if values(&command.words, &flags).next()? == ".*" {
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
    let names: Vec<&str> = strings(list.items()).collect();
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
