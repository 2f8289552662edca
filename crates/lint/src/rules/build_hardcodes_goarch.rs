//! A build for one architecture.

use hcoplan_diagnostics::source::lines;

use super::prelude::*;
use crate::context::{commands, values};

/// Go's names of architectures.
const GOARCHES: [&str; 6] = ["amd64", "arm", "arm64", "ppc64le", "riscv64", "s390x"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.all_architectures().len() < 2 && !cx.csvs().iter().any(|csv| csv.architectures().len() > 1) {
        return;
    }
    for file in cx.texts() {
        if file.mentions("GOARCH") && !is_for_several(file.text()) {
            hardcoded(cx, file, out);
        }
        if file.mentions("TARGETARCH") && is_dockerfile(file) {
            undeclared(cx, file, out);
        }
        if file.mentions("--platform") {
            platform(cx, file, out);
        }
    }
}

/// Whether a file builds for several architectures: it uses the variable or names a second one.
fn is_for_several(text: &str) -> bool {
    let mut fixed: Vec<&str> = goarches(text).map(|(_, name)| name).collect();
    fixed.dedup();
    text.replace("ARG TARGETARCH", "").contains("TARGETARCH") || fixed.len() != 1
}

/// The values of `GOARCH=` with their offsets, except variables.
fn goarches(text: &str) -> impl Iterator<Item = (usize, &str)> {
    set(text).filter_map(|(begin, value)| {
        let end = value.find(|c: char| !c.is_ascii_alphanumeric());
        let name = value.get(..end.unwrap_or(value.len()))?;
        GOARCHES.contains(&name).then_some((begin, name))
    })
}

/// What follows each `GOARCH=`, or `ENV GOARCH`, on its line, with its offset. Comments have none.
fn set(text: &str) -> impl Iterator<Item = (usize, &str)> {
    lines(text).filter(|(_, line)| !line.trim_start().starts_with('#')).flat_map(|(start, line)| {
        line.match_indices("GOARCH").filter_map(move |(at, key)| {
            let rest = line.get(at + key.len()..)?;
            let signs = rest.trim_start_matches([' ', '?', ':']);
            // `ENV GOARCH amd64` is the old form.
            let is_old = || line.get(..at).is_some_and(|before| before.trim().eq_ignore_ascii_case("ENV"));
            let value = signs.strip_prefix('=').or_else(|| is_old().then_some(signs))?;
            let value = value.trim_start_matches([' ', '"', '\'']);
            Some((start + line.len() - value.len(), value))
        })
    })
}

fn hardcoded(cx: &Context<'_>, file: &Arc<SourceFile>, out: &mut Sink) {
    let text = file.text();
    let Some((at, name)) = goarches(text).next() else {
        return;
    };
    let place = Location::new(file, Span::new(at, at + name.len()));
    let asks = is_dockerfile(file).then(|| asking(file)).flatten();
    out.report(
        cx.finding(format!("the program is built for {name} in images of every architecture"))
            .at(place)
            .label("fixed")
            .remedy("take it from the platform: GOARCH=$TARGETARCH, with ARG TARGETARCH above it", asks),
    );
}

/// The fix of a Dockerfile: replaces each fixed architecture by the argument, and declares that in each stage.
fn asking(file: &Arc<SourceFile>) -> Option<Fix> {
    let text = file.text();
    let stages = stages_of(text);
    let mut edits = Vec::new();
    let mut declared = None;
    for (at, name) in goarches(text) {
        let start = instruction(text, at)?;
        let stage = stages.partition_point(|stage| stage.start < start);
        if declared != Some(stage) {
            declared = Some(stage);
            edits.push(declaration(file, start));
        }
        edits.push(Edit {
            file: Arc::clone(file),
            span: Span::new(at, at + name.len()),
            text: "$TARGETARCH".to_owned(),
        });
    }
    let title = "write `$TARGETARCH`, with `ARG TARGETARCH` above it: the platform that is asked for";
    Some(suggestion(title, edits))
}

/// The declaration of the argument at an offset.
fn declaration(file: &Arc<SourceFile>, start: usize) -> Edit {
    Edit { file: Arc::clone(file), span: Span::new(start, start), text: "ARG TARGETARCH\n".to_owned() }
}

/// `TARGETARCH` in a stage that doesn't declare it, which affects the build: docker sets it only in stages that declare
/// it, else it is empty, and Go builds for the stage's platform.
fn undeclared(cx: &Context<'_>, file: &Arc<SourceFile>, out: &mut Sink) {
    let text = file.text();
    let stages = stages_of(text);
    for (at, value) in set(text) {
        let variable = ["$TARGETARCH", "${TARGETARCH"].into_iter().find(|v| value.starts_with(v));
        let Some(variable) = variable else {
            continue;
        };
        let Some(stage) = stages.iter().rfind(|stage| stage.start < at) else {
            continue;
        };
        if stage.asks.is_some_and(|asks| asks < at) {
            continue;
        }
        let default = value.strip_prefix("${TARGETARCH:-");
        let default = default.and_then(|rest| rest.split('}').next());
        let built_for = match default.filter(|name| GOARCHES.contains(name)) {
            Some(name) => name,
            None => match stage.platform {
                Some("$BUILDPLATFORM" | "${BUILDPLATFORM}") => "the machine that builds",
                Some(fixed) if !fixed.contains('$') => fixed,
                _ => continue,
            },
        };
        let place = Location::new(file, Span::new(at, at + variable.len()));
        let message = format!("the program is built for {built_for} in images of every architecture");
        let title = "add `ARG TARGETARCH`: docker sets it in stages that ask for it";
        let fix = instruction(text, at).map(|start| suggestion(title, vec![declaration(file, start)]));
        out.report(cx.finding(message).at(place).label("empty: the stage doesn't declare it").remedy(title, fix));
    }
}

/// A stage of a Dockerfile.
struct Stage<'t> {
    /// Its offset.
    start: usize,
    /// The platform of `FROM --platform`; by default the image's.
    platform: Option<&'t str>,
    /// The offset of `ARG TARGETARCH`.
    asks: Option<usize>,
}

/// The stages of a Dockerfile in order.
fn stages_of(text: &str) -> Vec<Stage<'_>> {
    let mut out: Vec<Stage<'_>> = Vec::new();
    for (at, line) in lines(text) {
        let mut words = line.split_whitespace();
        let instruction = words.next().unwrap_or_default();
        if instruction.eq_ignore_ascii_case("FROM") {
            out.push(Stage {
                start: at,
                platform: words.find_map(|word| word.strip_prefix("--platform=")),
                asks: None,
            });
        } else if instruction.eq_ignore_ascii_case("ARG")
            && words.any(|word| word.split('=').next() == Some("TARGETARCH"))
            && let Some(stage) = out.last_mut()
        {
            stage.asks.get_or_insert(at);
        }
    }
    out
}

/// Where the instruction begins that a place is in, as one usually writes it: its other lines, and a script's, are none.
fn instruction(text: &str, at: usize) -> Option<usize> {
    let before = lines(text).take_while(|(start, _)| *start <= at);
    let begins = before.filter(|(_, line)| ["RUN ", "ENV ", "ARG ", "COPY "].iter().any(|name| line.starts_with(name)));
    begins.map(|(start, _)| start).last()
}

fn is_dockerfile(file: &SourceFile) -> bool {
    let name = file.path().file_name().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    name.contains("dockerfile") || name.contains("containerfile")
}

fn platform(cx: &Context<'_>, file: &Arc<SourceFile>, out: &mut Sink) {
    let text = file.text();
    // The same command for another platform is a matrix that was written out.
    if text.matches("linux/").nth(1).is_some() {
        return;
    }
    let builds = commands(text).into_iter().filter(|command| command.name.contains(" bu"));
    let builds = builds.filter_map(|command| Some((command.at, values(&command.words, &["--platform"]).next()?)));
    // The last stage is the image.
    let stage = is_dockerfile(file).then(|| stages_of(text).pop()).flatten();
    let of_stage = stage.and_then(|stage| Some((stage.start, stage.platform?)));
    for (at, value) in builds.chain(of_stage) {
        let value = value.trim_matches(['"', '\'']);
        let name = value.strip_prefix("linux/").and_then(|name| name.split('/').next());
        if value.contains(',') || !name.is_some_and(|name| GOARCHES.contains(&name)) {
            continue;
        }
        let begin = at + text.get(at..).and_then(|rest| rest.find(value)).unwrap_or(0);
        let place = Location::new(file, Span::new(begin, begin + value.len()));
        out.report(
            cx.finding(format!("the image is built for {value} only"))
                .at(place)
                .label("one platform")
                .help("name all platforms of the cluster's nodes: --platform linux/amd64,linux/arm64"),
        );
    }
}
