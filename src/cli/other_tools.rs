//! Suggestions for words and options of other tools.

use hcoplan_kubernetes::Table;
use serde::Deserialize;
use std::collections::BTreeMap;

pub(super) static OTHER_TOOLS: Table<OtherTools> = Table::of(include_str!("other_tools.json"));

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(super) struct OtherTools {
    /// Subcommands of other tools, and what to type instead.
    pub(super) subcommands: Vec<(Vec<&'static str>, &'static str)>,
    /// Options of other tools, the equivalent option here, and what to type instead, with CMD for the subcommand.
    pub(super) options: Vec<(Vec<&'static str>, &'static str, &'static str)>,
    /// Options of other tools for directories, which are positional arguments here.
    pub(super) paths: Vec<&'static str>,
    /// What to give, by the subcommand that lacks its argument.
    pub(super) missing: BTreeMap<&'static str, &'static str>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;
    use crate::cli::command_line::Arguments;
    use crate::cli::mistakes::{command_line, takes, takes_directory};

    /// The commands in a suggestion, with placeholders filled in.
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
        for (_, tip) in &OTHER_TOOLS.subcommands {
            commands(tip).iter().for_each(|c| parses(c));
        }
        let all = command_line();
        for (words, ours, tip) in &OTHER_TOOLS.options {
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
        assert!(tried > 10, "{tried}");
    }

    #[test]
    fn nothing_that_can_be_typed_is_called_a_mistake() {
        let all = command_line();
        for (words, _) in &OTHER_TOOLS.subcommands {
            for word in words {
                assert!(all.find_subcommand(word).is_none(), "{word}");
            }
        }
    }
}
