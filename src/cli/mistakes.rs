//! What was probably meant, where the command line is wrong.

use std::ffi::OsString;

use camino::Utf8Path;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, CommandFactory};

use super::command_line::Arguments;
use crate::finding::nearest;
use crate::release::Release;
use crate::repo::{self, Repo};
use crate::source::Revision;
use hcoplan_analysis::Place;
use hcoplan_report::Format;

/// Words that other tools have for what a subcommand does here, with what to type instead.
const SUBCOMMANDS: &[(&[&str], &str)] = &[
    (
        &["check", "test", "validate", "verify", "scan"],
        "`hcoplan lint` checks the manifests; `hcoplan render --out DIR --check` rendered files",
    ),
    (
        &["apply", "deploy", "install", "sync"],
        "hcoplan changes no cluster: `hcoplan plan` shows what applying would do",
    ),
    (&["upgrade"], "`hcoplan plan --upgrade-to 1.19` says what another release makes of the same files"),
    (&["version"], "`hcoplan --version` prints it"),
    (&["baseline"], "`hcoplan lint --baseline FILE --update-baseline` writes one"),
    (
        &["rules", "list", "alerts", "gates", "docs"],
        "`hcoplan explain` lists rules, alerts, annotations, feature gates and fields",
    ),
    (&["show", "build", "template", "generate", "manifests"], "`hcoplan render` prints what HCO and SSP would create"),
    (&["migrate", "convert"], "`hcoplan fix --migrate v1` shows v1beta1 as v1; with --write it changes the file"),
    (&["format", "fmt"], "`hcoplan fix` shows the fixes"),
    (
        &["drift"],
        "`hcoplan diff --live FILE` compares with what a cluster runs, `hcoplan inventory check INVENTORY DUMP` its nodes",
    ),
    (&["clusters", "status"], "`hcoplan lint --show-files` says which clusters there are, and what each is made of"),
    (&["config"], "`hcoplan init` writes hcoplan.yaml; `hcoplan schema config` says what may be in it"),
    (&["language-server", "server"], "`hcoplan lsp` is the language server"),
];

/// Options that other tools have, and which of the subcommand's they are here; with what to type instead,
/// where CMD is the subcommand.
const OPTIONS: &[(&[&str], &str, &str)] = &[
    (
        &["-o", "--output", "--output-file", "--out-file"],
        "format",
        "results are printed: `hcoplan CMD > FILE` writes them to a file",
    ),
    (
        &["--from", "--base", "--since", "--rev", "--revision", "--ref", "--before"],
        "against",
        "`hcoplan CMD --against REV` compares with a revision of git",
    ),
    (&["--to", "--upgrade", "--target", "--target-release"], "upgrade-to", "`hcoplan CMD --upgrade-to 1.19`"),
    (
        &["--disable", "--skip", "--skip-rule", "--exclude-rule"],
        "ignore",
        "`hcoplan CMD --ignore RULE` leaves a rule out",
    ),
    (&["--enable", "--rules", "--only-rule"], "select", "`hcoplan CMD --select RULE` runs some rules only"),
    (&["--strict", "--fail", "--fail-on-warning", "--max-warnings"], "fail-on", "`hcoplan CMD --fail-on warning`"),
    (
        &["--apply", "--in-place", "--fix", "--yes", "-y", "-w", "-i"],
        "write",
        "`hcoplan CMD --write` changes the files",
    ),
    (&["--dry-run", "--diff", "-n"], "write", "`hcoplan CMD` alone shows what it would change and writes nothing"),
    (
        &["--dry-run"],
        "check",
        "`hcoplan CMD` writes nothing without --out; `hcoplan render --out DIR --check` fails where DIR is stale",
    ),
    (&["--fix", "--write"], "statistics", "`hcoplan fix` fixes findings"),
    (
        &["--all", "-A", "--all-clusters"],
        "cluster",
        "every cluster is looked at unless --cluster names some: `hcoplan CMD`",
    ),
    (&["-c", "--name", "--clusters"], "cluster", "`hcoplan CMD --cluster GLOB`"),
    (
        &["--kubeconfig", "--context", "--server", "--token"],
        "live",
        "hcoplan talks to no cluster: `hcoplan CMD --live FILE` reads what \
         `kubectl get hyperconverged -A -o yaml` printed",
    ),
    (&["--version", "--hco-version"], "release", "`hcoplan CMD --release 1.18`"),
    (&["--no-color", "--no-colour", "--plain"], "color", "`hcoplan CMD --color never`"),
];

/// Options of other tools for what is given without one here.
const PATHS: &[&str] =
    &["-f", "--file", "--filename", "-d", "--dir", "--directory", "-p", "--path", "-C", "--chdir", "-R", "--recursive"];

/// The command line as clap knows it once it is put together.
fn command_line() -> Command {
    let mut command = Arguments::command();
    command.build();
    command
}

/// The subcommand that was typed.
fn typed_subcommand<'c>(command: &'c Command, typed: &[OsString]) -> Option<&'c Command> {
    let mut words = typed.iter().skip(1).filter_map(|w| w.to_str());
    words.find_map(|word| command.find_subcommand(word))
}

fn takes(subcommand: &Command, option: &str) -> bool {
    let mut arguments = subcommand.get_arguments();
    arguments.any(|a| a.get_long() == Some(option) && !a.is_hide_set())
}

fn takes_directory(subcommand: &Command) -> bool {
    subcommand.get_positionals().any(|a| a.get_id() == "directory")
}

/// Says in a message of clap's what was meant, in place of what it guesses from letters alone.
pub(super) fn explain(error: &mut clap::Error, typed: &[OsString]) {
    let command = command_line();
    let subcommand = typed_subcommand(&command, typed);
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            text(ContextKind::InvalidSubcommand).and_then(|w| of_subcommand(&w, subcommand))
        }
        ErrorKind::UnknownArgument => {
            let word = text(ContextKind::InvalidArg);
            // How to give such a text as a value: none of ours begins with a dash.
            error.remove(ContextKind::Suggested);
            word.zip(subcommand).and_then(|(w, s)| of_argument(&w, s))
        }
        ErrorKind::MissingRequiredArgument => subcommand.and_then(of_missing),
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
        if let Some(subcommand) = subcommand {
            // clap's has the option in it that it guessed.
            let usage = subcommand.clone().render_usage();
            error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
        }
    }
}

fn of_subcommand(word: &str, parent: Option<&Command>) -> Option<String> {
    if let Some(parent) = parent {
        let is_release = parent.get_name() == "release" && Release::known(word).is_some();
        return is_release.then(|| format!("`hcoplan release show {word}` says what is modelled of it"));
    }
    let word = word.to_lowercase();
    let found = SUBCOMMANDS.iter().find(|(words, _)| words.contains(&word.as_str()));
    found.map(|(_, tip)| (*tip).to_owned())
}

fn of_argument(word: &str, subcommand: &Command) -> Option<String> {
    let name = subcommand.get_name();
    let option = word.split('=').next().unwrap_or(word);
    if !word.starts_with('-') {
        return takes_directory(subcommand).then(|| {
            if takes(subcommand, "cluster") {
                "give one directory, the one above all that is meant; --cluster GLOB, as often as \
                 needed, chooses clusters of it"
                    .to_owned()
            } else {
                "give one directory or file".to_owned()
            }
        });
    }
    if takes(subcommand, "format") && is_format(option.trim_start_matches('-')) {
        let format = option.trim_start_matches('-');
        return Some(format!("`hcoplan {name} --format {format}`"));
    }
    if matches!(name, "why") && matches!(option, "--cluster" | "-c") {
        return Some("the cluster is the first word: `hcoplan why CLUSTER KIND FIELD`".to_owned());
    }
    if name == "explain" && matches!(option, "--list" | "-l" | "--all") {
        return Some("`hcoplan explain` alone lists everything that has a page".to_owned());
    }
    let mut known = OPTIONS.iter();
    let found = known.find(|(words, ours, _)| words.contains(&option) && takes(subcommand, ours));
    if let Some((.., tip)) = found {
        return Some(tip.replace("CMD", name));
    }
    let is_path = PATHS.contains(&option) && takes_directory(subcommand);
    is_path.then(|| format!("the directory or file needs no option: `hcoplan {name} PATH`"))
}

fn is_format(word: &str) -> bool {
    word == "html" || Format::named(word).is_some()
}

fn of_missing(subcommand: &Command) -> Option<String> {
    let tip = match subcommand.get_name() {
        "why" => "name a cluster and a kind of object: `hcoplan why CLUSTER KubeVirt`",
        "import" => {
            "give what a cluster was dumped to: a must-gather, or `-` for `kubectl get nodes -o json | \
             hcoplan import -`"
        }
        _ => return None,
    };
    Some(tip.to_owned())
}

/// What was probably meant by a path that isn't there: a revision, a release or a cluster where a directory
/// is looked for, else a path with nearly that name.
pub(super) fn missing_path(typed: &[OsString], missing: &Utf8Path) -> Option<String> {
    let command = command_line();
    let matches = command.clone().try_get_matches_from(typed).ok()?;
    let (name, given) = matches.subcommand()?;
    let subcommand = command.find_subcommand(name)?;
    let words = positionals(given);
    if words.contains(&missing.as_str()) {
        let (paths, words): (Vec<&str>, _) = words.into_iter().partition(|w| Utf8Path::new(w).exists());
        if let Some(options) = as_options(subcommand, &words) {
            let words = ["hcoplan", name].into_iter().chain(paths);
            let meant = words.chain([options.as_str()]).collect::<Vec<_>>().join(" ");
            return Some(format!("did you mean `{meant}`?"));
        }
    }
    let (directory, last) = (missing.parent()?, missing.file_name()?);
    let at = if directory == "" { Utf8Path::new(".") } else { directory };
    let entries = at.read_dir_utf8().ok()?.filter_map(Result::ok);
    let names: Vec<String> = entries.map(|e| e.file_name().to_owned()).collect();
    let near = nearest(last, names.iter().map(String::as_str))?;
    Some(format!("did you mean {}?", directory.join(near)))
}

/// The directories that were typed.
fn positionals(given: &ArgMatches) -> Vec<&str> {
    let ids = given.ids().filter(|id| ["directory", "other"].contains(&id.as_str()));
    let mut ids: Vec<&str> = ids.map(clap::Id::as_str).collect();
    ids.sort_unstable();
    let typed = |id: &&str| given.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
    let words = ids.into_iter().filter(typed).filter_map(|id| given.get_raw(id)?.next());
    words.filter_map(|w| w.to_str()).collect()
}

/// The options that say what was typed as directories.
fn as_options(subcommand: &Command, words: &[&str]) -> Option<String> {
    let all = |is: fn(&str) -> bool| {
        let parts = |w: &str| match hcoplan_analysis::range(w) {
            Ok((a, b)) => is(&a) && b.is_none_or(|b| is(&b)),
            Err(_) => false,
        };
        words.iter().all(|w| parts(w))
    };
    let range = words.join("..");
    if all(|name| Release::known(name).is_some()) && takes(subcommand, "release") {
        let upgrade = if takes(subcommand, "upgrade-to") && words.len() == 1 {
            format!("` or `--upgrade-to {range}")
        } else {
            String::new()
        };
        return Some(format!("--release {range}{upgrade}"));
    }
    let is_revision = |name: &str| !name.starts_with('-') && Revision::is_there(Utf8Path::new("."), name);
    if takes(subcommand, "against") && all(is_revision) {
        return Some(format!("--against {range}"));
    }
    if !takes(subcommand, "cluster") {
        return None;
    }
    let repo = Repo::open(&Place::configured(".".into()).root, &repo::Options::default()).ok()?;
    let is_cluster = |word: &&str| {
        let mut clusters = repo.clusters().iter();
        clusters.any(|c| c.name() == *word || c.name().rsplit('/').next() == Some(*word))
    };
    let options = words.iter().map(|w| format!("--cluster {w}"));
    let are_clusters = words.iter().all(is_cluster);
    are_clusters.then(|| options.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands in a tip, with something in place of what is to be filled in.
    fn commands(tip: &str) -> Vec<String> {
        let quoted = tip.split('`').skip(1).step_by(2);
        quoted.filter(|c| c.starts_with("hcoplan ")).map(str::to_owned).collect()
    }

    #[test]
    fn suggestions_can_be_typed() {
        let mut tried = 0;
        let mut parses = |command: &str| {
            tried += 1;
            let parsed = Arguments::command().try_get_matches_from(command.split_whitespace());
            let parsed = parsed.err().filter(|e| e.kind() != ErrorKind::DisplayVersion);
            assert!(parsed.is_none(), "{command}: {}", parsed.expect("an error"));
        };
        for (_, tip) in SUBCOMMANDS {
            commands(tip).iter().for_each(|c| parses(c));
        }
        let all = command_line();
        for (words, ours, tip) in OPTIONS {
            let takers: Vec<_> = all.get_subcommands().filter(|c| takes(c, ours)).collect();
            assert!(!takers.is_empty(), "{ours}");
            for subcommand in takers.iter().filter(|c| c.get_name() != "why" && takes_directory(c)) {
                for command in commands(tip) {
                    let command = command.replace("CMD", subcommand.get_name());
                    let command = command.replace("RULE", "jsonpatch-present");
                    parses(command.split('>').next().unwrap_or_default());
                }
            }
            assert!(!words.is_empty());
        }
        assert!(tried > 60, "{tried}");
    }

    #[test]
    fn nothing_that_can_be_typed_is_called_a_mistake() {
        let all = command_line();
        for (words, _) in SUBCOMMANDS {
            for word in *words {
                assert!(all.find_subcommand(word).is_none(), "{word}");
            }
        }
    }
}
