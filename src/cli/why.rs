//! `hcoplan why`: explains where a rendered field's value comes from.

use super::arguments::InputArguments;
use super::format::{self, Target};
use super::output::Output;
use super::output_tree_arguments::OutputTreeArguments;
use super::previous_state;
use crate::prelude::*;
use crate::verdict::{NotPlannedKind, Verdict};
use hcoplan_analysis::{FieldQuestion, Sources, cluster_named, last_release, report_outcome, typed};
use hcoplan_report::{WhyPage, terminal, visible_json, why_json};

/// Explain where a rendered field's value comes from
///
/// Removes the inputs one by one and plans again. Reports those that change the field: a line of the HyperConverged, an
/// operation of a jsonpatch annotation, nodes or a fact of the inventory. If none does, the value is a default or the
/// release's own.
///
/// Without a FIELD: why the object exists (or doesn't), and the effect of each operation of its jsonpatch annotation.
///
/// With --live, --against or --upgrade-to the answer is about the cluster after the change: values that aren't in the
/// sources are kept from before.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("examples/why.txt"))]
pub(super) struct Arguments {
    /// The cluster's name, or the last part of it
    #[arg(value_name = "CLUSTER")]
    cluster: String,

    /// The object: its kind, with its name where there are several of that kind
    #[arg(value_name = "KIND[/NAME]")]
    object: String,

    /// The field: `spec.a.b[0].c`, `spec.list[name]`, `metadata.annotations["a.b/c"]` or a JSON
    /// pointer; `.` or nothing for the object itself
    #[arg(value_name = "FIELD")]
    field: Option<String>,

    /// Directory to read, or one file of it [default: .]
    #[arg(value_name = "DIR")]
    directory: Option<Utf8PathBuf>,

    #[command(flatten)]
    reading: InputArguments,

    /// Release that the cluster runs, overriding its inventory: of HCO (1.16), or of OpenShift Virtualization (4.20)
    #[arg(long, value_name = "X.Y", help_heading = "Input")]
    release: Option<String>,

    /// Inventory of the cluster, overriding that of the repository
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    inventory: Vec<Utf8PathBuf>,

    #[command(flatten)]
    previous: previous_state::Arguments,

    /// Answer for the cluster after an upgrade of HCO to this release, release by release
    #[arg(long, value_name = "X.Y", help_heading = "Update")]
    upgrade_to: Option<String>,

    #[command(flatten)]
    out: OutputTreeArguments,

    /// Output format, repeatable: `human` or `json`; `=FILE` writes to a file
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,
}

impl Arguments {
    /// Field and directory. A third word that is a directory isn't a field.
    fn field_and_directory(&self) -> (&str, Utf8PathBuf) {
        let field = self.field.as_deref().unwrap_or_default();
        match &self.directory {
            Some(directory) => (field, directory.clone()),
            None if field.contains('/') && Utf8Path::new(field).exists() => ("", field.into()),
            None => (field, ".".into()),
        }
    }
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    let targets = format::among(&arguments.format, "why", &[Format::Human, Format::Json])?;
    let (field, directory) = arguments.field_and_directory();
    let sources = Sources {
        release: arguments.release.clone(),
        inventory: arguments.inventory.clone(),
        update: arguments.previous.update(),
        ..arguments.reading.sources(&directory)
    };
    let foreign = arguments.previous.files();
    let found = hcoplan_analysis::find_named(&sources, foreign, typed(&arguments.cluster), output)?;
    let mut verdict = found.verdict;
    if verdict.nothing_found {
        found.say_problems(output);
        return Ok(verdict);
    }
    let named = cluster_named(&found.repo, &arguments.cluster);
    if named.is_err() {
        found.say_problems(output);
    }
    let cluster = named?;
    let base = arguments.previous.base(&found, output)?;
    let (kind, name) = match arguments.object.split_once('/') {
        Some((kind, name)) => (kind, Some(name.to_owned())),
        None => (arguments.object.as_str(), None),
    };
    let field = field.strip_prefix('.').unwrap_or(field).to_owned();
    let work = ClusterTask {
        before: base.before(),
        upgrade_to: last_release(arguments.upgrade_to.as_slice(), &found, &[cluster])?,
        ask: Some(FieldQuestion { kind: kind.to_owned(), name, field }),
        ..ClusterTask::default()
    };
    let Some(outcome) = found.result_of(cluster, &work) else {
        return Ok(verdict);
    };
    verdict.failed |= outcome.verdict.fails();
    if let Verdict::NotPlanned(why) = &outcome.verdict {
        match why.kind {
            NotPlannedKind::Unusable => {
                return Err(Failure::usage(&why.text, why.help.as_deref().unwrap_or("`hcoplan lint` says more")));
            }
            NotPlannedKind::Unreadable => output.error(&why.text),
            NotPlannedKind::Bug => {}
        }
        report_outcome(&outcome, true, &mut verdict, output);
    }
    let Some(answer) = outcome.answer else {
        return Ok(verdict);
    };
    let answer = answer.map_err(|problem| Failure::usage(problem.message, problem.help))?;
    let page = WhyPage::new(answer, arguments.out.out.as_deref(), &found.root);
    for target in &targets {
        let text = match target.format {
            Format::Json => visible_json::text(&why_json(&page)),
            _ => terminal::print(&page.document(), target.terminal(output)),
        };
        target.write(text.as_bytes(), output)?;
    }
    Ok(verdict)
}
