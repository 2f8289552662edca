//! `hcoplan explain`: the page of a rule, or of a field.

use super::output::Output;
use crate::prelude::*;

use crate::repo;
use hcoplan_report::explain;

/// Explain a rule, an alert, a feature gate, an annotation, a metric, a condition, a kind, a term or a field
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

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let subject = arguments.subject.join(" ");
    if subject.is_empty() {
        output.print(explain::topics())?;
        return Ok(Exit::default());
    }
    let release = arguments.release.as_deref().map(repo::known_release).transpose()?;
    let page = explain::page(&subject, release.as_ref())?;
    let terminal = output.terminal();
    if terminal.wraps {
        output.print(hcoplan_report::terminal::print(&explain::rendered(&page), terminal))?;
    } else {
        output.print(page)?;
    }
    Ok(Exit::default())
}
