//! Prints `-h` on one screen and `--help` on two, shorter than clap's own.

use crate::prelude::*;
use clap::Arg;

use super::color::Color;

/// Examples come before the arguments.
const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// The help of the typed subcommand.
pub(super) fn page(mut command: Command, typed: &[OsString]) -> clap::builder::StyledStr {
    let words: Vec<&str> = typed.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let is_long = words.iter().any(|word| *word == "--help" || *word == "help");
    command.build();
    let mut path = vec!["hcoplan".to_owned()];
    for word in words {
        if let Some(found) = command.find_subcommand(word).filter(|found| found.get_name() != "help") {
            path.push(found.get_name().to_owned());
            command = found.clone();
        }
    }
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let command = command.bin_name(path.join(" ")).help_template(TEMPLATE).max_term_width(140);
    let command = width.into_iter().fold(command, Command::term_width);
    let mut command = if is_long { long(command) } else { short(command, &path.join(" ")) };
    command.render_help()
}

/// All options in their groups, after the examples.
fn long(command: Command) -> Command {
    let examples = command.get_after_long_help().or(command.get_after_help()).cloned();
    let about = command.get_long_about().or(command.get_about()).cloned();
    let command = match examples {
        Some(exit_codes) if command.has_subcommands() => command.after_help(exit_codes),
        Some(examples) => command.before_help(examples).after_help(None),
        None => command,
    };
    let command = about.into_iter().fold(command, Command::about);
    command.mut_args(|argument| {
        let argument = argument.hide_short_help(false);
        let is_help = argument.get_id() == "help";
        let argument = if is_help { argument.help("Print help") } else { argument };
        let is_global = argument.is_global_set() || is_help;
        if is_global { argument.help_heading("Everywhere") } else { argument }
    })
}

/// The common options in one list.
fn short(command: Command, path: &str) -> Command {
    if command.has_subcommands() {
        return command;
    }
    let is_common = |argument: &Arg| {
        argument.is_positional() || hcoplan_planner::NAMES["commonOptions"].contains(&argument.get_id().as_str())
    };
    command
        .mut_args(|argument| {
            let is_common = is_common(&argument);
            let argument = argument.hide_short_help(!is_common).hide_possible_values(true);
            let clause = argument.get_help().map(|help| first_clause(&help.to_string()));
            let argument = clause.into_iter().fold(argument, Arg::help);
            if is_common { argument.help_heading(None::<&str>) } else { argument }
        })
        .after_help(format!("All options, and examples: {path} --help"))
}

/// The colour setting, read from the typed words: help and usage errors come before parsing.
pub(super) fn color(typed: &[OsString]) -> Color {
    let mut words = typed.iter().filter_map(|word| word.to_str());
    let mut color = Color::Auto;
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => continue,
        };
        color = match value {
            Some("never") => Color::Never,
            Some("always") => Color::Always,
            _ => color,
        };
    }
    color
}

/// The first clause of a help text, with its default.
fn first_clause(help: &str) -> String {
    let (text, default) = help.split_at(help.find(" [default").unwrap_or(help.len()));
    let end = [": ", "; ", ", "].iter().filter_map(|mark| text.find(mark)).min();
    let (clause, _) = text.split_at(end.unwrap_or(text.len()));
    format!("{clause}{default}")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::command_line::Arguments;

    #[test]
    fn help_fits_a_screen_and_long_help_two_and_a_half() {
        for command in Arguments::command().get_subcommands() {
            for (option, most) in [("-h", 24), ("--help", 60)] {
                let typed = ["hcoplan", command.get_name(), option].map(OsString::from);
                let page = page(Arguments::command(), &typed).to_string();
                let lines = page.lines().count();
                assert!(lines <= most, "{} {option} has {lines} lines:\n{page}", command.get_name());
            }
        }
    }
}
