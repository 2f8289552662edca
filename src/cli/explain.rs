//! `hcoplan explain`: the page of a rule, or of a field.

use std::sync::Arc;

use clap::Args;

use super::output::Output;
use super::{explain_field, explain_topic};
use crate::docs::steps;
use crate::release::Release;
use crate::{finding, lint, repo};
use hcoplan_analysis::{Exit, Failure};

/// Print the page of a rule, an alert, a feature gate, an annotation, a metric, a condition, a kind, a term or a field
///
/// Without a subject, lists everything that has a page. For a field: its type, the effect of its values, the fields of
/// the HyperConverged that feed it, its default, and its changes between the releases.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan explain jsonpatch-present                    a rule
  hcoplan explain UnsupportedHCOModification           an alert
  hcoplan explain HotplugVolumes --release 1.19        a feature gate
  hcoplan explain golden image                         a term
  hcoplan explain evictionStrategy                     a field of the HyperConverged
  hcoplan explain kv.spec.configuration.migrations     a field of an operand
  hcoplan explain HyperConverged.spec --release 4.22   a field, up to a version of OpenShift Virtualization")]
pub(super) struct Arguments {
    /// The rule's name, as findings print it; an alert, a feature gate, an annotation, a metric, a condition, a term; or
    /// a field: KubeVirt.spec.configuration.migrations, spec.dataImportCronTemplates[0].spec.schedule
    #[arg(value_name = "SUBJECT")]
    subject: Vec<String>,

    /// Show the subject in this release; of a field, also in earlier ones. 4.20 is one of OpenShift Virtualization
    #[arg(long, value_name = "RELEASE")]
    release: Option<String>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let subject = arguments.subject.join(" ");
    if subject.is_empty() {
        output.print(explain_topic::topics())?;
        return Ok(Exit::default());
    }
    let release = arguments.release.as_deref().map(repo::named_release).transpose()?;
    output.print(page(&subject, release.as_ref())?)?;
    Ok(Exit::default())
}

/// The page of a subject.
pub(super) fn page(subject: &str, release: Option<&Arc<Release>>) -> Result<String, Failure> {
    if let Some(found) = lint::find(subject) {
        return Ok(lint::page(found.rule).to_owned());
    }
    if let Some(page) = explain_topic::page(subject, release) {
        return Ok(page);
    }
    // The last step of a path may be an annotation's name, or a gate's.
    let last = steps(subject).and_then(|mut all| all.pop());
    let last = last.map(|step| step.trim_matches(['[', ']']).trim_start_matches("name=").to_owned());
    let is_named = subject.contains(".annotations") || subject.contains("featureGates[");
    if let Some(page) = last.filter(|_| is_named).and_then(|last| explain_topic::page(&last, release)) {
        return Ok(page);
    }
    // A field by its name comes before a term that is only like it.
    let name = subject.to_lowercase();
    let by_name = explain_field::qualified(subject).first().is_some_and(|field| field.to_lowercase().ends_with(&name));
    if let Some(page) = explain_topic::page_like(subject, release).filter(|_| !by_name) {
        return Ok(page);
    }
    if let Some(page) = explain_field::page_of_named(subject, release) {
        return page;
    }
    if explain_field::is_field(subject) {
        return explain_field::page(subject, release);
    }
    let help = match nearest(subject) {
        Some(name) => format!("did you mean {name}?"),
        None if let Some(field) = explain_field::nearest_field(subject) => field,
        None if let Some(names) = with_part(subject) => format!("did you mean {names}?"),
        None => "`hcoplan explain` lists everything; findings print the name of their rule in brackets; fields begin with a kind, \
                 as in KubeVirt.spec"
            .to_owned(),
    };
    Err(Failure::usage(format!("nothing that has a page is called {subject:?}"), help))
}

/// The name that is most like a text, when one is like it at all: of a rule first.
fn nearest(text: &str) -> Option<String> {
    let rule = text.to_lowercase().replace('_', "-");
    let found = finding::nearest(&rule, lint::rules().iter().map(|r| r.rule.name)).map(str::to_owned);
    found.or_else(|| {
        let names: Vec<String> = explain_topic::names().into_iter().flat_map(|(_, names)| names).collect();
        finding::nearest(text, names.iter().map(String::as_str)).map(str::to_owned)
    })
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
            assert_eq!(nearest(name).as_deref(), Some(name));
            assert_eq!(nearest(&name.replace('-', "_")).as_deref(), Some(name));
        }
        assert_eq!(nearest("zzz"), None);
    }
}
