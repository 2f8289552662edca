//! `hcoplan explain`: the page of a rule.

use clap::Args;

use super::Failure;
use super::exit::Verdict;
use super::output::Output;
use crate::{finding, lint};

/// Print the page of a rule
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The rule's name, as findings print it
    #[arg(value_name = "RULE")]
    rule: String,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let Some(found) = lint::find(&arguments.rule) else {
        let help = match nearest(&arguments.rule) {
            Some(name) => format!("did you mean {name}?"),
            None => "findings print the name of their rule in brackets".to_owned(),
        };
        let message = format!("there is no rule {:?}", arguments.rule);
        return Err(Failure::usage(message, help));
    };
    output.print(lint::page(found.rule))?;
    Ok(Verdict::default())
}

/// The rule whose name is most like a text, when it is like it at all.
fn nearest(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase().replace('_', "-");
    finding::nearest(&text, lint::rules().iter().map(|r| r.rule.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_right_is_found() {
        for rule in lint::rules() {
            let name = rule.rule.name;
            assert_eq!(nearest(name), Some(name));
            assert_eq!(nearest(&name.replace('-', "_")), Some(name));
        }
        assert_eq!(nearest("zzz"), None);
    }
}
