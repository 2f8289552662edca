//! Suggestions for usage errors.

use crate::prelude::*;
use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::command_line::Arguments;
use super::other_tools::OTHER_TOOLS;
use hcoplan_report::Named as _;

/// The whole command line.
pub(super) fn command_line() -> Command {
    let mut command = Arguments::command();
    command.build();
    command
}

pub(super) fn takes(subcommand: &Command, option: &str) -> bool {
    let mut arguments = subcommand.get_arguments();
    arguments.any(|a| a.get_long() == Some(option) && !a.is_hide_set())
}

pub(super) fn takes_directory(subcommand: &Command) -> bool {
    subcommand.get_positionals().any(|a| a.get_id() == "directory")
}

/// Replaces the suggestions of clap, which compares letters only.
pub(super) fn explain(error: &mut clap::Error, typed: &[OsString]) {
    let command = command_line();
    let subcommand = typed.iter().skip(1).find_map(|word| command.find_subcommand(word));
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            text(ContextKind::InvalidSubcommand).filter(|_| subcommand.is_none()).and_then(|w| of_subcommand(&w))
        }
        ErrorKind::UnknownArgument => {
            let word = text(ContextKind::InvalidArg);
            // clap would explain how to pass a value with a leading dash; ours have none.
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
            // clap's usage contains the option that it suggested.
            let usage = subcommand.clone().render_usage();
            error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
        }
    }
}

fn of_subcommand(word: &str) -> Option<String> {
    let word = word.to_lowercase();
    let found = OTHER_TOOLS.subcommands.iter().find(|(words, _)| words.contains(&word.as_str()));
    found.map(|(_, tip)| (*tip).to_owned())
}

fn of_argument(word: &str, subcommand: &Command) -> Option<String> {
    let name = subcommand.get_name();
    let option = word.split('=').next().unwrap_or(word);
    if !word.starts_with('-') {
        return takes_directory(subcommand).then(|| "give one directory or file".to_owned());
    }
    if takes(subcommand, "format") && is_format(option.trim_start_matches('-')) {
        let format = option.trim_start_matches('-');
        return Some(format!("`hcoplan {name} --format {format}`"));
    }
    if name == "why" && matches!(option, "--cluster" | "-c") {
        return Some("the cluster is the first word: `hcoplan why CLUSTER KIND FIELD`".to_owned());
    }
    let mut known = OTHER_TOOLS.options.iter();
    let found = known.find(|(words, ours, _)| words.contains(&option) && takes(subcommand, ours));
    if let Some((.., tip)) = found {
        return Some(tip.replace("CMD", name));
    }
    let is_path = OTHER_TOOLS.paths.contains(&option) && takes_directory(subcommand);
    is_path.then(|| format!("the directory or file needs no option: `hcoplan {name} PATH`"))
}

fn is_format(word: &str) -> bool {
    word == "html" || Format::named(word).is_some()
}

fn of_missing(subcommand: &Command) -> Option<String> {
    let tip = OTHER_TOOLS.missing.get(subcommand.get_name())?;
    Some((*tip).to_owned())
}
