//! Checks the whole command line: help, examples, shared options.

use super::*;

/// Visits every command with its words.
fn each(look: &mut dyn FnMut(&[String], &Command)) {
    fn walk(words: &[String], command: &Command, look: &mut dyn FnMut(&[String], &Command)) {
        look(words, command);
        let below = command.get_subcommands();
        for below in below.filter(|c| c.get_name() != "help") {
            let words = [words, &[below.get_name().to_owned()]].concat();
            walk(&words, below, look);
        }
    }
    let mut command = Arguments::command();
    command.build();
    walk(&[], &command, look);
}

/// The words of an example before a comment, pipe or redirection.
fn example(line: &str) -> Option<Vec<&str>> {
    let from = line.find("hcoplan ")?;
    let line = line[from..].split("  ").next()?;
    let line = line.split(['|', '>']).next()?;
    Some(line.split_whitespace().collect())
}

#[test]
fn every_help_has_examples_that_can_be_typed() {
    let mut commands = 0;
    each(&mut |words, command| {
        let help = command.clone().render_long_help().to_string();
        if words.is_empty() {
            return;
        }
        commands += 1;
        let name = words.join(" ");
        let (_, examples) = help.split_once("Examples:\n").expect(&name);
        let own = examples.lines().filter_map(example);
        let own: Vec<_> = own.filter(|e| *e != ["hcoplan"]).collect();
        assert!(!own.is_empty(), "{name}");
        for example in own {
            let parsed = Arguments::try_parse_from(&example);
            assert!(parsed.is_ok(), "{example:?}: {}", parsed.unwrap_err());
        }
    });
    assert!(commands > 20, "{commands}");
}

#[test]
fn commands_that_read_a_repository_have_the_same_options() {
    /// The options of `arguments::InputArguments`.
    const READING: [&str; 6] = ["config", "trust-base", "kustomize-remote", "helm", "show-files", "jobs"];
    /// The commands that take fewer of them: the options, and why.
    const OTHERS: [(&str, &[&str], &str); 10] = [
        ("init", &[], "it writes the configuration"),
        ("explain", &[], "it reads no file"),
        ("import", &[], "its files aren't a repository"),
        ("inventory", &[], "its files aren't a repository"),
        ("release", &[], "it reads no file"),
        ("schema", &[], "it reads no file"),
        ("cmp", &[], "the environment of Argo CD says what it does"),
        ("lsp", &[], "the editor says what it does"),
        ("completions", &[], "it reads no file"),
        ("help", &[], "it reads no file"),
    ];
    let command = Arguments::command();
    for command in command.get_subcommands() {
        let name = command.get_name();
        let other = OTHERS.iter().find(|(other, ..)| *other == name);
        let expected = other.map_or(&READING[..], |(_, takes, _)| takes);
        let long = |option: &&str| {
            let mut own = command.get_arguments();
            own.any(|a| a.get_long() == Some(*option))
        };
        let takes: Vec<&str> = READING.iter().copied().filter(|o| long(o)).collect();
        assert_eq!(takes, expected, "{name}");
        for argument in command.get_arguments().filter(|a| a.get_long().is_some_and(|l| READING.contains(&l))) {
            assert_eq!(argument.get_help_heading(), Some("Input"), "{name}");
        }
    }
}

#[test]
fn a_subcommand_is_listed_as_its_own_help_begins() {
    let listed = Arguments::command();
    let mut built = Arguments::command();
    built.build();
    for subcommand in listed.get_subcommands() {
        let name = subcommand.get_name();
        let own = built.find_subcommand(name).and_then(|c| c.get_about());
        assert!(own.is_some(), "{name}");
        assert_eq!(subcommand.get_about(), own, "{name}");
    }
}
