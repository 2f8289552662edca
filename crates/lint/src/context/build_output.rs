//! Reads from builds and copies in the repository which platforms they publish.
//!
//! - commands in scripts, Makefiles and pipelines: `docker buildx build`, `docker build`, `podman build`, `buildah bud`
//!   with `--platform` or `--arch`, and `skopeo copy --override-arch`, `oc image mirror --filter-by-os` for what is in
//!   the mirror then
//! - targets of a `docker-bake.hcl` or `docker-bake.json`, services of a compose file
//! - GitHub workflows: `docker/build-push-action`, `redhat-actions/buildah-build`
//! - Tekton and Konflux: the parameters `build-platforms` and `output-image` of a PipelineRun
//!
//! A shell's loop is followed, other variables are not: an image whose name remains unknown is ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hcoplan_diagnostics::source::{Location, SourceFile, Span, lines};
use hcoplan_planner::inventory::Architecture;
use hcoplan_yaml::{Document, Node};

use super::image_output::{EvidenceOwner, Form, Platform, Record, repository};

/// The commands, and whether each copies an existing image.
const COMMANDS: [(&str, bool); 8] = [
    ("docker buildx build", false),
    ("docker build", false),
    ("podman build", false),
    ("buildah bud", false),
    ("buildah build", false),
    ("skopeo copy", true),
    ("oc image mirror", true),
    ("oc adm release mirror", true),
];

/// Options for the image's name, and for platforms.
const NAMES: [&str; 5] = ["-t", "--tag", "--manifest", "--output-image", "--image"];
const PLATFORMS: [&str; 5] = ["--platform", "--arch", "--platforms", "--override-arch", "--filter-by-os"];

/// The builds in a text file: a script, a Makefile, a pipeline, a bake file.
pub(super) fn built(file: &Arc<SourceFile>, out: &mut Vec<Record>) {
    let text = file.text();
    let builds = COMMANDS.iter().any(|(command, _)| file.mentions(command));
    if file.path().as_str().ends_with(".hcl") {
        bake(file, out);
    } else if builds {
        let loops = loops(text);
        let mut found: BTreeMap<String, (BTreeSet<String>, usize)> = BTreeMap::new();
        for (at, words, copies) in commands(text) {
            let words: Vec<Vec<String>> = words.iter().map(|w| expanded(w, &loops)).collect();
            let platforms: BTreeSet<String> = values(&words, &PLATFORMS).flat_map(|v| architectures(&v)).collect();
            if platforms.is_empty() || (copies && copies_all(&words)) {
                continue;
            }
            let names: Vec<String> =
                if copies { words.last().cloned().unwrap_or_default() } else { values(&words, &NAMES).collect() };
            for name in names {
                let name = name.rsplit('=').next().unwrap_or_default().trim_start_matches("docker://").to_owned();
                let entry = found.entry(name).or_insert_with(|| (BTreeSet::new(), at));
                entry.0.extend(platforms.iter().cloned());
            }
        }
        for (image, (platforms, at)) in found {
            let end = text.get(at..).and_then(|t| t.find('\n')).map_or(text.len(), |n| at + n);
            record(&image, &platforms, Location::new(file, Span::new(at, end)), out);
        }
    }
}

/// The builds in a document: a workflow, a PipelineRun, a compose file, a bake file in JSON.
pub(super) fn built_by(document: &Arc<Document>, out: &mut Vec<Record>) {
    let root = &document.root;
    let mut add = |image: &str, platforms: &BTreeSet<String>, node: &Node| {
        record(image, platforms, document.location(node.span), out);
    };
    for job in root.get("jobs").map(Node::entries).unwrap_or_default() {
        for step in job.value.get("steps").map(Node::items).unwrap_or_default() {
            let Some(with) = step.get("with") else {
                continue;
            };
            let platforms = ["platforms", "archs", "platform"].iter().filter_map(|key| with.get(key));
            let platforms: BTreeSet<String> = platforms.flat_map(listed).flat_map(|p| architectures(&p)).collect();
            let tags: Vec<String> = with.get("tags").map(listed).unwrap_or_default();
            let names = match with.get("image").and_then(Node::as_str) {
                Some(image) => tags.iter().map(|tag| format!("{image}:{tag}")).collect(),
                None => tags,
            };
            names.iter().for_each(|name| add(name, &platforms, with));
        }
    }
    for service in root.get("services").map(Node::entries).unwrap_or_default() {
        let platforms = service.value.below("build.platforms");
        let image = service.value.get("image").and_then(Node::as_str);
        if let (Some(platforms), Some(image)) = (platforms, image) {
            let names = listed(platforms).iter().flat_map(|p| architectures(p)).collect();
            add(image, &names, platforms);
        }
    }
    for target in root.get("target").map(Node::entries).unwrap_or_default() {
        let lists = |key: &str| target.value.get(key).map(listed).unwrap_or_default();
        let platforms = lists("platforms").iter().flat_map(|p| architectures(p)).collect();
        lists("tags").iter().for_each(|tag| add(tag, &platforms, &target.value));
    }
    let parameters = root.below("spec.params").map(Node::items).unwrap_or_default();
    let parameter = |names: &[&str]| {
        let named = |p: &&Node| p.get("name").and_then(Node::as_str).is_some_and(|n| names.contains(&n));
        parameters.iter().find(named).and_then(|p| p.get("value").or_else(|| p.get("default")))
    };
    let platforms = parameter(&["build-platforms", "platforms", "PLATFORMS"]);
    let image = parameter(&["output-image", "IMAGE", "image"]).and_then(Node::as_str);
    if let (Some(platforms), Some(image)) = (platforms, image) {
        let names = listed(platforms).iter().flat_map(|p| architectures(p)).collect();
        add(image, &names, platforms);
    }
}

/// Records an image with its platforms, if both are known.
fn record(image: &str, platforms: &BTreeSet<String>, place: Location, out: &mut Vec<Record>) {
    let (name, tag) = (repository(image), image.get(repository(image).len() + 1..).unwrap_or_default());
    if name.contains(['$', '{', ' ']) || !name.contains(['/', '.']) || platforms.is_empty() {
        return;
    }
    let of = if tag.contains(['$', '{']) {
        // Any tag of the repository.
        EvidenceOwner::Repository { file: String::new(), name: name.to_owned(), digest: None, tags: Vec::new() }
    } else {
        EvidenceOwner::References(vec![image.to_owned()])
    };
    let platform = |name: &String| Platform { os: "linux".to_owned(), architecture: name.clone() };
    out.push(Record { of, form: Form::Built, platforms: platforms.iter().map(platform).collect(), place });
}

/// The items of a list, or of a text separated by lines or commas.
fn listed(node: &Node) -> Vec<String> {
    match node.as_str() {
        Some(text) => {
            text.split(|c: char| c == ',' || c.is_whitespace()).map(str::to_owned).filter(|t| !t.is_empty()).collect()
        }
        None => node.items().iter().filter_map(Node::as_str).map(str::to_owned).collect(),
    }
}

/// The architectures of platforms: `linux/amd64,linux/arm64/v8`, `linux/(amd64|arm64)`, `x86_64`.
fn architectures(text: &str) -> Vec<String> {
    let words = text.split([',', '|', '(', ')', '"', '\'']);
    let names = words.filter_map(|word| {
        let word = word.trim().trim_start_matches("linux").trim_start_matches(['/', '-']);
        Architecture::name(word.split('/').next().unwrap_or_default())
    });
    names.map(str::to_owned).collect()
}

/// The values of options, after `=` or as the next word.
fn values<'w>(words: &'w [Vec<String>], options: &'w [&str]) -> impl Iterator<Item = String> + 'w {
    words.iter().enumerate().flat_map(|(i, all)| {
        let joined = all.iter().filter_map(|word| word.split_once('=').filter(|(option, _)| options.contains(option)));
        let joined: Vec<String> = joined.map(|(_, value)| value.to_owned()).collect();
        let is_option = all.iter().any(|word| options.contains(&word.as_str()));
        let next = words.get(i + 1).filter(|_| is_option);
        joined.into_iter().chain(next.into_iter().flatten().cloned())
    })
}

/// Whether a copy includes all images of a manifest list.
fn copies_all(words: &[Vec<String>]) -> bool {
    let all = ["--all", "-a", "--multi-arch=all", "--keep-manifest-list=true", "--keep-manifest-list"];
    words.iter().flatten().any(|word| all.contains(&word.as_str()))
}

/// The commands of a text, each with where it begins, its words, and whether it copies. Lines that end in a backslash
/// go on, as far as the next command: nothing is searched twice.
fn commands(text: &str) -> Vec<(usize, Vec<String>, bool)> {
    let mut starts = Vec::new();
    for (at, line) in lines(text) {
        if !line.trim_start().starts_with('#') {
            for (command, copies) in COMMANDS {
                starts.extend(line.match_indices(command).map(|(i, _)| (at + i, command.len(), copies)));
            }
        }
    }
    starts.sort_unstable();
    let mut out = Vec::new();
    for (i, &(at, length, copies)) in starts.iter().enumerate() {
        let next = starts.iter().skip(i + 1).map(|next| next.0).find(|next| *next > at).unwrap_or(text.len());
        let mut end = at;
        for line in text.get(at..next).unwrap_or_default().split_inclusive('\n') {
            end += line.len();
            if !line.trim_end().ends_with('\\') {
                break;
            }
        }
        let whole = text.get(at + length..end).unwrap_or_default();
        let whole = whole.split(['|', ';', '&', '`']).next().filter(|_| !whole.contains("(")).unwrap_or(whole);
        let words = whole.split_whitespace().filter(|w| *w != "\\").map(|w| w.trim_matches(['"', '\'']).to_owned());
        out.push((at, words.collect(), copies));
    }
    out
}

/// So many values of a loop are followed.
const MAX_VALUES: usize = 20;

/// The values of a shell's loops, `for a in amd64 arm64; do`, by variable.
fn loops(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let heads = text.lines().filter_map(|line| line.trim().strip_prefix("for ")?.split_once(" in "));
    heads.map(|(name, rest)| (name.trim(), values_of(rest))).collect()
}

/// The words of a loop's head.
fn values_of(rest: &str) -> Vec<&str> {
    let words = rest.split([';', '\\']).next().unwrap_or_default();
    words.split_whitespace().take(MAX_VALUES).collect()
}

/// A word for each value of the loop whose variable it has.
fn expanded(word: &str, loops: &BTreeMap<&str, Vec<&str>>) -> Vec<String> {
    for (name, values) in loops {
        for variable in [format!("${{{name}}}"), format!("${name}")] {
            if word.contains(&variable) {
                return values.iter().map(|value| word.replace(&variable, value)).collect();
            }
        }
    }
    vec![word.to_owned()]
}

/// The targets of a bake file in HCL, one `name = [...]` at a time.
fn bake(file: &Arc<SourceFile>, out: &mut Vec<Record>) {
    let begins = lines(file.text()).filter(|(_, line)| line.trim_start().starts_with("target "));
    let starts: Vec<usize> = begins.map(|(at, _)| at).collect();
    for (i, &at) in starts.iter().enumerate() {
        let block = file.text().get(at..starts.get(i + 1).copied().unwrap_or(file.text().len())).unwrap_or_default();
        let list = |key: &str| {
            let mut lists = block.match_indices(key).filter_map(|(i, _)| {
                block.get(i + key.len()..)?.trim_start().strip_prefix('=')?.trim_start().strip_prefix('[')
            });
            let list = lists.next().and_then(|rest| rest.split_once(']')).map(|(list, _)| list);
            let items = list.unwrap_or_default().split(',').map(|item| item.trim().trim_matches('"').to_owned());
            items.filter(|item| !item.is_empty()).collect::<Vec<_>>()
        };
        let platforms: BTreeSet<String> = list("platforms").iter().flat_map(|p| architectures(p)).collect();
        let line = block.find('\n').unwrap_or(block.len());
        for tag in list("tags") {
            record(&tag, &platforms, Location::new(file, Span::new(at, at + line)), out);
        }
    }
}
