//! Reads from builds and copies in the repository which platforms they publish.
//!
//! - commands in scripts, Makefiles and pipelines: `docker buildx build`, `docker build`, `podman build`, `buildah bud`
//!   with `--platform` or `--arch`, `podman manifest add` and `docker manifest annotate` with `--arch`
//! - copies, for what is in the mirror then: `skopeo copy` and `skopeo sync` with `--override-arch`, `crane copy
//!   --platform`, `oc image mirror --filter-by-os`, `oc adm catalog mirror --index-filter-by-os`; `docker pull
//!   --platform` of an image that is tagged and pushed under another name
//! - targets of a `docker-bake.hcl` or `docker-bake.json`, services of a compose file
//! - GitHub workflows: `docker/build-push-action`, `redhat-actions/buildah-build`
//! - Tekton and Konflux: the parameters `build-platforms` and `output-image` of a PipelineRun
//!
//! Variables are resolved within the same file; an image whose name remains unknown is ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hcoplan_diagnostics::source::{Location, SourceFile, Span, lines};
use hcoplan_planner::inventory::Architecture;
use hcoplan_yaml::{Document, Node};

use super::image_output::{EvidenceOwner, Form, Platform, Record, repository};

/// Where a command has the name of the image that it publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NamedBy {
    /// An option, see [`NAMES`].
    Option,
    /// The last word that is no option: the destination of a copy.
    Last,
    /// The first word that is no option: a manifest list.
    First,
    /// The last word is a directory of the mirror, to which the source's own name is added.
    Directory,
    /// Nothing is published yet: `docker pull`.
    Source,
}

/// The commands, and what names their image.
const COMMANDS: [(&str, NamedBy); 17] = [
    ("docker buildx build", NamedBy::Option),
    ("docker build", NamedBy::Option),
    ("podman build", NamedBy::Option),
    ("buildah bud", NamedBy::Option),
    ("buildah build", NamedBy::Option),
    ("docker manifest annotate", NamedBy::First),
    ("podman manifest annotate", NamedBy::First),
    ("podman manifest add", NamedBy::First),
    ("buildah manifest add", NamedBy::First),
    ("skopeo copy", NamedBy::Last),
    ("skopeo sync", NamedBy::Directory),
    ("crane copy", NamedBy::Last),
    ("crane cp", NamedBy::Last),
    ("oc image mirror", NamedBy::Last),
    ("oc adm catalog mirror", NamedBy::Directory),
    ("docker pull", NamedBy::Source),
    ("podman pull", NamedBy::Source),
];

/// The commands that give a pulled image another name.
const TAGS: [&str; 2] = ["docker tag ", "podman tag "];

/// Options for the image's name, and for platforms.
const NAMES: [&str; 5] = ["-t", "--tag", "--manifest", "--output-image", "--image"];
const PLATFORMS: [&str; 6] =
    ["--platform", "--arch", "--platforms", "--override-arch", "--filter-by-os", "--index-filter-by-os"];

/// The builds in a text file: a script, a Makefile, a pipeline, a bake file.
pub(super) fn built(file: &Arc<SourceFile>, out: &mut Vec<Record>) {
    let text = file.text();
    let builds = COMMANDS.iter().any(|(command, _)| file.mentions(command));
    if file.path().as_str().ends_with(".hcl") {
        bake(file, out);
    } else if builds {
        let variables = Variables::of(text);
        let mut found: BTreeMap<String, (BTreeSet<String>, usize)> = BTreeMap::new();
        let renamed = renamed(text, &variables);
        for (at, words, named) in commands(text) {
            let words: Vec<Vec<String>> = words.iter().map(|w| variables.expand(w)).collect();
            let platforms: BTreeSet<String> = values(&words, &PLATFORMS).flat_map(|v| architectures(&v)).collect();
            if platforms.is_empty() || (named != NamedBy::Option && copies_all(&words)) {
                continue;
            }
            for name in published(&words, named, &renamed) {
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
            let names = match with.text_at("image") {
                Some(image) => tags.iter().map(|tag| format!("{image}:{tag}")).collect(),
                None => tags,
            };
            names.iter().for_each(|name| add(name, &platforms, with));
        }
    }
    for service in root.get("services").map(Node::entries).unwrap_or_default() {
        let platforms = service.value.below("build.platforms");
        let image = service.value.text_at("image");
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
        let named = |p: &&Node| p.text_at("name").is_some_and(|n| names.contains(&n));
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

/// The names of the images that a command publishes.
fn published(words: &[Vec<String>], named: NamedBy, renamed: &[(String, String)]) -> Vec<String> {
    let is_value =
        |i: usize| i > 0 && words.get(i - 1).is_some_and(|w| w.iter().any(|w| w.starts_with('-') && !w.contains('=')));
    let plain =
        words.iter().enumerate().filter(|(i, all)| !is_value(*i) && all.iter().all(|word| !word.starts_with('-')));
    let plain: Vec<&Vec<String>> = plain.map(|(_, all)| all).collect();
    let last = plain.last().map(|all| (*all).clone()).unwrap_or_default();
    match named {
        NamedBy::Option => values(words, &NAMES).collect(),
        NamedBy::Last => last,
        NamedBy::First => plain.first().map(|all| (*all).clone()).unwrap_or_default(),
        NamedBy::Directory => {
            let sources = plain.iter().rev().nth(1).map(|all| (*all).clone()).unwrap_or_default();
            let own = |source: &String| source.rsplit('/').next().unwrap_or_default().to_owned();
            last.iter().flat_map(|to| sources.iter().map(move |source| format!("{to}/{}", own(source)))).collect()
        }
        NamedBy::Source => {
            let is_pulled = |from: &String| last.contains(from);
            renamed.iter().filter(|(from, _)| is_pulled(from)).map(|(_, to)| to.clone()).collect()
        }
    }
}

/// The names that a text gives to images: the old and the new one.
fn renamed(text: &str, variables: &Variables) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (_, line) in lines(text).filter(|(_, line)| !line.trim_start().starts_with('#')) {
        for rest in TAGS.iter().filter_map(|command| Some(line.split_once(command)?.1)) {
            let mut words = rest.split_whitespace().map(|word| variables.expand(word.trim_matches(['"', '\''])));
            if let (Some(from), Some(to)) = (words.next(), words.next()) {
                out.extend(from.into_iter().zip(to));
            }
        }
    }
    out
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

/// The commands of a text, each with where it begins, its words, and what names its image. Lines that end in a backslash
/// go on, as far as the next command: nothing is searched twice.
fn commands(text: &str) -> Vec<(usize, Vec<String>, NamedBy)> {
    let mut starts = Vec::new();
    for (at, line) in lines(text) {
        if !line.trim_start().starts_with('#') {
            for (command, named) in COMMANDS {
                starts.extend(line.match_indices(command).map(|(i, _)| (at + i, command.len(), named)));
            }
        }
    }
    starts.sort_unstable();
    let mut out = Vec::new();
    for (i, &(at, length, named)) in starts.iter().enumerate() {
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
        out.push((at, words.collect(), named));
    }
    out
}

/// No image has a longer name.
const MAX_LENGTH: usize = 255;

/// So many values of loops are followed.
const MAX_VALUES: usize = 100;

/// What a file sets its variables to.
struct Variables(BTreeMap<String, Vec<String>>);

impl Variables {
    /// Parses assignments (`IMG ?= a`, `IMG=a`, `IMG: a`) and loops (`for a in x y; do`).
    fn of(text: &str) -> Self {
        let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in text.lines() {
            let line = line.trim().trim_start_matches("- ").trim_start_matches("export ");
            if let Some((name, rest)) = line.strip_prefix("for ").and_then(|rest| rest.split_once(" in ")) {
                let words = rest.split([';', '\\']).next().unwrap_or_default();
                let words = words.split_whitespace().take(MAX_VALUES).filter(|word| word.len() <= MAX_LENGTH);
                out.insert(name.trim().to_owned(), words.map(str::to_owned).collect());
                continue;
            }
            let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(line.len());
            let (name, rest) = line.split_at(end);
            let value = rest.trim_start().trim_start_matches(['?', ':']);
            let value = value.strip_prefix('=').or_else(|| rest.strip_prefix(": "));
            let value = value.map(|value| value.trim().trim_matches(['"', '\'']));
            if let Some(value) = value.filter(|value| !name.is_empty() && value.len() <= MAX_LENGTH) {
                out.entry(name.to_owned()).or_insert_with(|| vec![value.to_owned()]);
            }
        }
        Self(out)
    }

    /// A word with variables replaced, once for each value of a loop.
    fn expand(&self, word: &str) -> Vec<String> {
        let mut words = vec![word.to_owned()];
        // A variable may refer to another.
        for _ in 0..4 {
            words = words.iter().flat_map(|word| self.once(word)).take(MAX_VALUES).collect();
        }
        words
    }

    fn once(&self, word: &str) -> Vec<String> {
        let Some(at) = word.find('$').filter(|at| !word.get(*at..).is_some_and(|w| w.starts_with("${{"))) else {
            return vec![word.to_owned()];
        };
        let rest = word.get(at + 1..).unwrap_or_default().trim_start_matches('$');
        let close = match rest.chars().next() {
            Some('{') => "}",
            Some('(') => ")",
            _ => "",
        };
        let inner = if close.is_empty() { rest } else { rest.get(1..).unwrap_or_default() };
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
        let (name, after) = inner.split_at(end);
        // `${IMG:-default}`
        let (default, after) = match (close, after.find(close)) {
            ("", _) | (_, None) => (None, after),
            (close, Some(end)) => (
                after.get(..end).and_then(|d| d.strip_prefix(":-")),
                after.get(end + close.len()..).unwrap_or_default(),
            ),
        };
        let before = word.get(..at).unwrap_or_default();
        let join = |value: &str| format!("{before}{value}{after}");
        match (self.0.get(name), default) {
            (Some(values), _) => values.iter().map(|value| join(value)).collect(),
            (None, Some(default)) => vec![join(default)],
            (None, None) => vec![word.to_owned()],
        }
    }
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
