//! Reads from builds and copies in the repository which platforms they publish.
//!
//! - commands in scripts and pipelines: `docker buildx build`, `docker build`, `podman build`, `buildah bud`
//!   with `--platform` or `--arch`, `podman manifest add` and `docker manifest annotate` with `--arch`
//! - copies, for what is in the mirror then: `skopeo copy` and `skopeo sync` with `--override-arch`, `crane copy
//!   --platform`, `oc image mirror --filter-by-os`, `oc adm catalog mirror --index-filter-by-os`
//! - other names of what was built or pulled: `docker tag`, `podman push IMAGE DESTINATION`, `buildah manifest push`,
//!   `docker manifest create`
//! - services of a compose file
//! - GitHub workflows: `docker/build-push-action`, `redhat-actions/buildah-build`
//! - Tekton and Konflux: the parameters `build-platforms` and `output-image` of a PipelineRun
//!
//! Of variables, those that the file sets are resolved (`IMG ?= quay.io/a/b:1`, `for a in amd64 arm64; do`): what has
//! another one is ignored.

use super::prelude::*;
use hcoplan_diagnostics::source::lines;

use super::image_output::{EvidenceOwner, Form, Record, platform_of, repository, tag};

/// Where a command has the name of the image that it publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NamedBy {
    /// An option, see [`NAMES`].
    Option,
    /// The same, and the image stays on the machine.
    Kept,
    /// The last word that is no option: the destination of a copy.
    Last,
    /// The first word that is no option: a manifest list.
    First,
    /// The last word is a directory of the mirror, to which the source's own name is added.
    Directory,
    /// The last word, but nothing is published yet: `docker pull`.
    Source,
    /// Nothing is built: the last word is another name of the word before it.
    Renamed,
    /// Nothing is built: the first word is a list of the others.
    List,
}

/// The commands, and what names their image.
static COMMANDS: Rows<(&str, NamedBy)> = Rows::of("buildCommands");

/// Options for the image's name, and for platforms.
const NAMES: [&str; 3] = ["-t", "--tag", "--manifest"];
pub(crate) static PLATFORMS: Rows<&str> = Rows::of("platformOptions");

/// Options without a value, which a name may follow.
static SWITCHES: Rows<&str> = Rows::of("buildSwitches");

/// The builds in a text file: a script, a pipeline.
pub(super) fn built(file: &Arc<SourceFile>, out: &mut Vec<Record>) {
    let text = file.text();
    let commands = commands(text);
    if commands.is_empty() {
        return;
    }
    let mut found: BTreeMap<String, (BTreeSet<String>, usize)> = BTreeMap::new();
    let (mut pulled, mut renamed) = (BTreeSet::new(), Vec::new());
    let variables = variables(text);
    let expanded = |word: &str| expanded(word, &variables);
    let pushes = text.contains(" push ");
    for Command { at, words, named, .. } in commands {
        let plain = plain_words(&words);
        // An image of a test stays where it is built.
        if (named == NamedBy::Kept || words.contains(&"--load")) && !words.contains(&"--push") && !pushes {
            continue;
        }
        match (named, plain.as_slice()) {
            (NamedBy::Renamed, [.., from, to]) => {
                let both = expanded(from).into_iter().zip(expanded(to));
                renamed.extend(both);
            }
            (NamedBy::List, all) => {
                let list = values(&words, &NAMES).next().or(all.first().copied()).unwrap_or_default();
                let lists = expanded(list);
                let all = all.iter().flat_map(|one| expanded(one));
                let all = all.filter(|one| !lists.contains(one));
                // A loop whose words stand elsewhere gives no name.
                renamed.extend(all.filter_map(|one| Some((one, lists.first()?.clone()))));
            }
            _ => {}
        }
        let platforms: Vec<String> = values(&words, &PLATFORMS).flat_map(expanded).collect();
        let is_open = platforms.iter().any(|value| value.contains('$'));
        let platforms: BTreeSet<String> = platforms.iter().flat_map(|value| architectures(value)).collect();
        if is_open || platforms.is_empty() || (named > NamedBy::Kept && copies_all(&words)) {
            continue;
        }
        for name in published(&words, &plain, named).iter().flat_map(|name| expanded(name)) {
            let name = local(last_part(&name, '='));
            if named == NamedBy::Source {
                pulled.insert(name.clone());
            }
            let entry = found.entry(name).or_insert_with(|| (BTreeSet::new(), at));
            entry.0.extend(platforms.iter().cloned());
        }
    }
    // A script's targets may be in any order.
    for (from, to) in renamed.iter().chain(&renamed) {
        if let Some((platforms, at)) = found.get(&local(from)).cloned() {
            found.entry(local(to)).or_insert_with(|| (BTreeSet::new(), at)).0.extend(platforms);
        }
    }
    for (image, (platforms, at)) in found.into_iter().filter(|(image, _)| !pulled.contains(image)) {
        let end = text.get(at..).and_then(|t| t.find('\n')).map_or(text.len(), |n| at + n);
        record(&image, &platforms, Location::new(file, Span::new(at, end)), out);
    }
}

/// A name in a machine's own storage, which a registry's name is, too.
fn local(name: &str) -> String {
    let name =
        ["docker://", "containers-storage:", "localhost/"].iter().fold(name, |name, p| name.trim_start_matches(p));
    name.strip_suffix(":latest").unwrap_or(name).to_owned()
}

/// The builds in a document: a workflow, a PipelineRun, a compose file.
pub(super) fn built_by(document: &Arc<Document>, out: &mut Vec<Record>) {
    let root = &document.root;
    let mut add = |image: &str, platforms: &BTreeSet<String>, node: &Node| {
        record(image, platforms, document.location(node.span), out);
    };
    let platforms_of = |node: &Node| listed(node).iter().flat_map(|p| architectures(p)).collect();
    let jobs = root.get("jobs").into_iter().flat_map(Node::entries).map(|job| &job.value);
    let steps = jobs.flat_map(|job| job.list_at("steps").iter().map(move |step| (job, step)));
    for (job, step, with) in steps.filter_map(|(job, step)| Some((job, step, step.get("with")?))) {
        // What `docker/build-push-action` builds for a test stays there.
        let is_kept = with.get("push").map_or(with.get("outputs").is_none(), |push| push.to_json() == false);
        if is_kept && step.text("uses").starts_with("docker/") {
            continue;
        }
        let variables = [step, job, root].map(|node| entries(node.get("env")));
        let listed = |node: &Node| {
            let mut all = listed(node);
            for entry in variables.into_iter().flatten() {
                let value = entry.value.as_str().unwrap_or_default();
                all.iter_mut()
                    .for_each(|text| *text = text.replace(&format!("${{{{env.{}}}}}", entry.key.text), value));
            }
            all
        };
        let platforms = ["platforms", "archs", "platform"].iter().filter_map(|key| with.get(key));
        let platforms = platforms.flat_map(listed).flat_map(|p| architectures(&p)).collect();
        for tag in with.get("tags").map(listed).unwrap_or_default() {
            match with.text_at("image") {
                Some(image) => add(&format!("{image}:{tag}"), &platforms, with),
                None => add(&tag, &platforms, with),
            }
        }
    }
    for service in entries(root.get("services")) {
        if let (Some(platforms), Some(image)) = (service.value.below("build.platforms"), service.value.text_at("image"))
        {
            add(image, &platforms_of(platforms), platforms);
        }
    }
    let parameter = |names: &[&str]| {
        let mut parameters = root.list_at("spec.params").iter();
        let named = parameters.find(|p| p.text_at("name").is_some_and(|n| names.contains(&n)));
        named.and_then(|p| p.get("value").or_else(|| p.get("default")))
    };
    let platforms = parameter(&["build-platforms", "platforms", "PLATFORMS"]);
    let image = parameter(&["output-image", "IMAGE", "image"]).and_then(Node::as_str);
    if let (Some(platforms), Some(image)) = (platforms, image) {
        add(image, &platforms_of(platforms), platforms);
    }
}

/// Records an image with its platforms, if both are known.
fn record(image: &str, platforms: &BTreeSet<String>, place: Location, out: &mut Vec<Record>) {
    let name = repository(image);
    if name.contains(['$', '{', ' ']) || !name.contains(['/', '.']) || platforms.is_empty() {
        return;
    }
    let of = if tag(image).contains(['$', '{']) {
        // Any tag of the repository.
        EvidenceOwner::Repository { file: String::new(), name: name.to_owned(), digest: None, tags: Vec::new() }
    } else {
        EvidenceOwner::References(vec![image.to_owned()])
    };
    let platforms = platforms.iter().map(|name| platform_of("linux", name)).collect();
    out.push(Record { of, form: Form::Built, platforms, place });
}

/// The items of a list, or of a text separated by lines or commas.
fn listed(node: &Node) -> Vec<String> {
    match node.as_str() {
        Some(text) => {
            let text = text.replace("{{ ", "{{").replace(" }}", "}}");
            text.split(|c: char| c == ',' || c.is_whitespace()).map(str::to_owned).filter(|t| !t.is_empty()).collect()
        }
        None => strings(node.items()).map(str::to_owned).collect(),
    }
}

/// The architectures of platforms: `linux/amd64,linux/arm64/v8`, `linux/(amd64|arm64)`, `x86_64`.
fn architectures(text: &str) -> Vec<String> {
    let words = text.split([',', '|', '(', ')', '"', '\'']);
    let names = words.filter_map(|word| {
        let word = word.trim().trim_start_matches("linux").trim_start_matches(['/', '-']);
        Architecture::name(first_part(word, '/'))
    });
    names.map(str::to_owned).collect()
}

/// The words of a command that are neither options nor their values.
pub(crate) fn plain_words<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let is_option = |word: &str| word.starts_with('-');
    let has_value = |word: &str| is_option(word) && !word.contains('=') && !SWITCHES.contains(&word);
    let is_value = |i: usize| i > 0 && has_value(words[i - 1]);
    let plain = words.iter().enumerate().filter(|(i, word)| !is_value(*i) && !is_option(word));
    plain.map(|(_, word)| *word).collect()
}

/// The names of the images that a command publishes.
fn published(words: &[&str], plain: &[&str], named: NamedBy) -> Vec<String> {
    let last = plain.last().copied();
    let names: Vec<&str> = match named {
        NamedBy::Option | NamedBy::Kept => values(words, &NAMES).collect(),
        NamedBy::First => plain.first().copied().into_iter().collect(),
        NamedBy::Last | NamedBy::Source => last.into_iter().collect(),
        NamedBy::Renamed | NamedBy::List => Vec::new(),
        NamedBy::Directory => {
            let source = plain.iter().nth_back(1).map(|source| last_part(source, '/'));
            return last.zip(source).map(|(directory, own)| format!("{directory}/{own}")).into_iter().collect();
        }
    };
    names.into_iter().map(str::to_owned).collect()
}

/// A word of a command without quotes.
fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

/// The values of options, after `=` or as the next word.
pub(crate) fn values<'w>(words: &[&'w str], options: &[&str]) -> impl Iterator<Item = &'w str> {
    words.iter().enumerate().filter_map(|(i, word)| match word.split_once('=') {
        Some((option, value)) => options.contains(&option).then_some(unquoted(value)),
        None => words.get(i + 1).copied().filter(|_| options.contains(word)),
    })
}

/// Whether a copy includes all images of a manifest list.
pub(crate) fn copies_all(words: &[&str]) -> bool {
    let all = ["--all", "-a", "--keep-manifest-list=true", "--keep-manifest-list"];
    words.iter().any(|word| all.contains(word)) || values(words, &["--multi-arch"]).any(|which| which == "all")
}

/// A command of a text.
pub(crate) struct Command<'t> {
    /// Where it begins.
    pub(crate) at: usize,
    /// Its name: `skopeo copy`.
    pub(crate) name: &'static str,
    /// Where that ends.
    pub(crate) end: usize,
    /// Its other words.
    pub(crate) words: Vec<&'t str>,
    named: NamedBy,
}

impl Command<'_> {
    /// Whether it gives an image another name.
    pub(crate) fn renames(&self, image: &str) -> bool {
        let plain = plain_words(&self.words);
        self.named == NamedBy::Renamed && plain.iter().nth_back(1).is_some_and(|from| local(from) == local(image))
    }
}

/// The commands of a text. Lines that end in a backslash go on, as far as the next command: nothing is searched twice.
pub(crate) fn commands(text: &str) -> Vec<Command<'_>> {
    let mut starts = Vec::new();
    // Speed: most texts have none, and some of them lines as long as a picture.
    let known: Vec<_> = COMMANDS.iter().filter(|row| row.0.split(' ').all(|word| text.contains(word))).collect();
    for (at, line) in lines(text).filter(|_| !known.is_empty()) {
        if !["#", "//"].iter().any(|comment| line.trim_start().starts_with(comment)) {
            for &&(command, named) in &known {
                let found = line.match_indices(first_part(command, ' '));
                let found = found.filter_map(|(i, _)| Some((i, length(&line[i..], command)?)));
                let found = found.filter(|(i, _)| !is_printed(&line[..*i]));
                starts.extend(found.map(|(i, length)| (at + i, command, length, named)));
            }
        }
    }
    starts.sort_unstable();
    let mut out = Vec::new();
    for (i, &(at, name, length, named)) in starts.iter().enumerate() {
        let next = starts.iter().skip(i + 1).map(|next| next.0).find(|next| *next > at).unwrap_or(text.len());
        let mut end = at;
        for line in text.get(at..next).unwrap_or_default().split_inclusive('\n') {
            end += line.len();
            if !line.trim_end().ends_with('\\') {
                break;
            }
        }
        let whole = text.get(at..end).unwrap_or_default();
        let whole = whole.split(['|', ';', '&', '`']).next().filter(|_| !whole.contains("/(")).unwrap_or(whole);
        let is_own = |word: &&str| *word == "\\" || name.split(' ').any(|own| own == *word);
        let words = whole.split_whitespace().filter(|word| !is_own(word)).map(unquoted);
        out.push(Command { at, name, end: at + length, words: words.collect(), named });
    }
    out
}

/// The length of a command's name at the start of a text, with the options before its second word: `skopeo --debug copy`.
fn length(text: &str, name: &str) -> Option<usize> {
    let (first, second) = name.split_once(' ')?;
    let rest = text.strip_prefix(first)?;
    let at = rest.find(&format!(" {second} "))?;
    let (options, values): (Vec<&str>, Vec<&str>) =
        rest[..at].split_whitespace().partition(|word| word.starts_with('-'));
    (values.len() <= options.len()).then_some(name.len() + at)
}

/// Whether what follows on a line is a text that is printed.
fn is_printed(before: &str) -> bool {
    let own = before.rsplit([';', '|', '&']).next().unwrap_or_default().trim_start_matches(['@', '-', ' ', '\t']);
    own.starts_with("echo ") || own.starts_with("printf ")
}

/// The variables that a text sets, with all their words: `for a in x y; do`, `NAME ?= value`.
fn variables(text: &str) -> HashMap<&str, Vec<&str>> {
    let mut out: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in text.lines().map(str::trim) {
        let set = match line.strip_prefix("for ") {
            Some(head) => head.split_once(" in "),
            None => line.strip_prefix("export ").unwrap_or(line).split_once('='),
        };
        let Some((name, value)) = set.map(|(name, value)| (name.trim_end_matches([' ', '?', ':', '+']), value)) else {
            continue;
        };
        if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let words = value.split([';', '\\', '#']).next().unwrap_or_default().split_whitespace();
            out.entry(name).or_default().extend(words.map(|word| word.trim_matches(['"', '\'', '(', ')'])));
        }
    }
    out
}

/// Maximum number of variables of a word that are resolved one after the other, and of its values.
const MAX_STEPS: usize = 4;
const MAX_VALUES: usize = 100;

/// The values of a word with variables; those that the file doesn't set stay.
fn expanded(word: &str, variables: &HashMap<&str, Vec<&str>>) -> Vec<String> {
    let step = |word: String| -> Vec<String> {
        let (before, rest) = word.split_once('$').unwrap_or((&word, ""));
        let rest = rest.trim_start_matches(['$', '{', '(']);
        let (name, after) =
            rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len()));
        let after = after.strip_prefix(['}', ')']).unwrap_or(after);
        match variables.get(name) {
            Some(values) => values.iter().map(|value| format!("{before}{value}{after}")).collect(),
            None => vec![word],
        }
    };
    let one = vec![word.to_owned()];
    (0..MAX_STEPS).fold(one, |all, _| all.into_iter().flat_map(step).take(MAX_VALUES).collect())
}
