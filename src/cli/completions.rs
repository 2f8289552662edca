//! `hcoplan completions`: scripts for shells.

use std::collections::BTreeSet;

use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::exit::Verdict;
use super::explain_field;
use super::failure::Failure;
use super::format::Named;
use super::inventory_file::known_versions;
use super::output::Output;
use crate::lint;
use crate::release::Release;
use crate::report::{Format, changes, matrix};

/// Print a completion script for a shell
///
/// It knows subcommands, options, formats, releases, rules, groups, and the fields and feature gates of
/// HyperConverged that `hcoplan explain` has pages for.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan completions bash > /etc/bash_completion.d/hcoplan
  hcoplan completions zsh > \"${fpath[1]}/_hcoplan\"
  hcoplan completions fish > ~/.config/fish/completions/hcoplan.fish")]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// The command line with the values that arguments may have, where there is a list of them. What is typed
/// isn't held against it: each subcommand says better what is wrong.
fn with_values(command_line: Command) -> Command {
    let (rules, subjects, releases) = (rules(), subjects(), known_versions());
    command_line.mut_subcommands(|subcommand| {
        let formats = formats(subcommand.get_name());
        subcommand.mut_args(|arg| {
            let values = match arg.get_id().as_str() {
                "select" | "ignore" => values(&rules),
                "release" | "upgrade_to" => values(&releases),
                "subject" => values(&subjects),
                "format" if !formats.is_empty() => values(&formats),
                _ => return arg,
            };
            arg.value_parser(values)
        })
    })
}

fn values<S: AsRef<str>>(names: &[S]) -> PossibleValuesParser {
    let names: BTreeSet<String> = names.iter().map(|n| n.as_ref().to_owned()).collect();
    PossibleValuesParser::new(names)
}

/// Rules and groups.
fn rules() -> Vec<&'static str> {
    let rules = || lint::rules().iter().map(|r| r.rule);
    let groups = rules().map(|r| r.group.as_str());
    rules().map(|r| r.name).chain(groups).collect()
}

/// What `hcoplan explain` has a page for: rules, operands, the HyperConverged with its gates.
fn subjects() -> Vec<String> {
    let mut out: Vec<String> = lint::rules()
        .iter()
        .map(|r| r.rule.name.to_owned())
        .collect();
    let kinds = [
        "CDI",
        "HyperConverged",
        "KubeVirt",
        "NetworkAddonsConfig",
        "SSP",
    ];
    out.extend(kinds.map(|kind| format!("{kind}.spec")));
    let newest = Release::known_names().last().and_then(Release::known);
    let gates = newest.iter().flat_map(|r| &r.tables().feature_gates);
    let gates = gates.map(|gate| format!("HyperConverged.spec.featureGates.{}", gate.name));
    // Not every gate is a field of its own.
    out.extend(gates.filter(|gate| explain_field::page(gate, None).is_ok()));
    out
}

/// The formats of a subcommand that takes `--format FORMAT[=FILE]`.
fn formats(subcommand: &str) -> Vec<&'static str> {
    fn names<F: Named>(formats: &[F]) -> Vec<&'static str> {
        formats.iter().map(|f| f.name()).collect()
    }
    match subcommand {
        "lint" => names(<Format as Named>::ALL),
        "plan" | "diff" => names(<changes::Format as Named>::ALL),
        "matrix" => names(<matrix::Format as Named>::ALL),
        "argocd" | "why" => names(&[Format::Human, Format::Json]),
        _ => Vec::new(),
    }
}

pub(super) fn run(
    arguments: &Arguments,
    command_line: Command,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let mut script = Vec::new();
    let mut command_line = with_values(command_line);
    generate(arguments.shell, &mut command_line, "hcoplan", &mut script);
    output.print(script)?;
    Ok(Verdict::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_completed_can_be_asked_for() {
        for subject in subjects() {
            let is_known = lint::find(&subject).is_some()
                || (explain_field::is_field(&subject)
                    && explain_field::page(&subject, None).is_ok());
            assert!(is_known, "{subject}");
        }
        for name in rules() {
            assert!(lint::selector(name).is_some(), "{name}");
        }
        for name in known_versions() {
            assert!(crate::repo::named_release(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn scripts_know_rules_releases_gates_and_formats() {
        use clap::CommandFactory as _;
        let command = || with_values(crate::cli::command_line::Arguments::command());
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            generate(shell, &mut command(), "hcoplan", &mut script);
            let script = String::from_utf8(script).expect("UTF-8");
            // The script for fish completes no arguments without an option.
            let gate = (shell != Shell::Fish).then_some("downwardMetrics");
            let words = ["jsonpatch-present", "golden-images", "4.20", "sarif"];
            for word in words.into_iter().chain(gate) {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
