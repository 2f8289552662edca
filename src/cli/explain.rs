//! `hcoplan explain`: the page of a rule, or of a field.

use clap::Args;

use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use super::{explain_field, explain_topic};
use crate::{finding, lint, repo};

/// Print the page of a rule, an alert, a feature gate, an annotation or a field
///
/// Without a subject, everything that has a page is listed. For a field: its type, what of the HyperConverged feeds it, what HCO writes when nothing is said,
/// and what changed between the releases.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan explain jsonpatch-present                    a rule
  hcoplan explain UnsupportedHCOModification           an alert
  hcoplan explain HotplugVolumes --release 1.19        a feature gate
  hcoplan explain evictionStrategy                     a field of the HyperConverged
  hcoplan explain kv.spec.configuration.migrations     a field of an operand
  hcoplan explain HyperConverged.spec --release 4.22   a field, up to a version of OpenShift Virtualization")]
pub(super) struct Arguments {
    /// The rule's name, as findings print it; an alert, a feature gate, an annotation; or a field:
    /// KubeVirt.spec.configuration.migrations
    #[arg(value_name = "SUBJECT")]
    subject: Option<String>,

    /// The release that is asked about; of a field, what came before it is told, too. 4.20 is one of
    /// OpenShift Virtualization
    #[arg(long, value_name = "RELEASE")]
    release: Option<String>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let Some(subject) = &arguments.subject else {
        output.print(explain_topic::topics())?;
        return Ok(Verdict::default());
    };
    let Some(found) = lint::find(subject) else {
        let release = arguments.release.as_deref().map(repo::named_release);
        let release = release.transpose()?;
        if let Some(page) = explain_topic::page(subject, release.as_ref()) {
            output.print(page)?;
            return Ok(Verdict::default());
        }
        let alone = || explain_field::of_hyperconverged_alone(subject).is_some();
        if explain_field::is_field(subject) || alone() {
            output.print(explain_field::page(subject, release.as_ref())?)?;
            return Ok(Verdict::default());
        }
        let help = match nearest(subject) {
            Some(name) => format!("did you mean {name}?"),
            None if let Some(name) = explain_topic::nearest_topic(subject) => {
                format!("did you mean {name}?")
            }
            None if let Some(field) = explain_field::nearest_field(subject) => field,
            None if let Some(names) = with_part(subject) => format!("did you mean {names}?"),
            None => "`hcoplan explain` lists everything; findings print the name of their rule in brackets; fields begin with a kind, \
                     as in KubeVirt.spec"
                .to_owned(),
        };
        let message = format!("nothing that has a page is called {subject:?}");
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

/// The first rules with a text in their names.
fn with_part(text: &str) -> Option<String> {
    let text = text.to_lowercase().replace('_', "-");
    let names = lint::rules().iter().map(|r| r.rule.name);
    let names: Vec<_> = names.filter(|n| n.contains(&text)).take(5).collect();
    (!names.is_empty() && text.len() > 2).then(|| names.join(", "))
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
