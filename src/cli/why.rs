//! `hcoplan why`: what makes a field of a rendered object what it is.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use hcoplan_report::terminal;

use super::arguments::InputArguments;
use super::format::{self, Target};
use super::output::Output;
use super::output_tree_arguments::OutputTreeArguments;
use super::plan::{is_step, no_step};
use super::previous_state;
use crate::finding::nearest;
use crate::inventory::LoadedInventory;
use crate::release::Release;
use crate::repo::{ClusterRef, Loaded, Repo};
use crate::why::{Answer, PlanInput, ask, ask_of};
use crate::{emit, plan};
use hcoplan_analysis::{ClusterTask, Exit, Failure, Sources, last_parts, typed};
use hcoplan_report::{Format, WhyPage, mask_answer, why_json};

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
#[command(after_long_help = EXAMPLES)]
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

    /// How to print the answer, as often as needed: `human` or `json`, alone or with `=FILE`
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,
}

const EXAMPLES: &str = "\
Examples:
  hcoplan why prod KubeVirt spec.configuration.evictionStrategy
  hcoplan why prod KubeVirt                     what makes the object exist, and its jsonpatch
  hcoplan why prod SSP spec.commonTemplates --live live.yaml
                                                also what the cluster keeps from before
  hcoplan why prod KubeVirt spec.configuration.migrations --upgrade-to 1.19";

impl Arguments {
    /// Field and directory. A third word that is a directory's path is no field.
    fn field_and_directory(&self) -> (&str, Utf8PathBuf) {
        let field = self.field.as_deref().unwrap_or_default();
        match &self.directory {
            Some(directory) => (field, directory.clone()),
            None if field.contains('/') && Utf8Path::new(field).exists() => ("", field.into()),
            None => (field, ".".into()),
        }
    }
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let targets = format::resolve(&arguments.format, "why", &[Format::Human, Format::Json])?;
    let (field, directory) = arguments.field_and_directory();
    let sources = Sources {
        release: arguments.release.clone(),
        inventory: arguments.inventory.clone(),
        update: arguments.previous.update(),
        ..arguments.reading.sources(&directory)
    };
    let foreign = arguments.previous.files();
    let found = hcoplan_analysis::find_named(&sources, foreign, typed(&arguments.cluster), output)?;
    if found.verdict.nothing_found {
        found.say_problems(output);
        return Ok(found.verdict);
    }
    let cluster = named(&found.repo, &arguments.cluster)?;
    let mut verdict = found.verdict;
    let loaded = match found.repo.load(cluster) {
        Ok(loaded) => loaded,
        Err(problem) => {
            output.error(&problem.finding.message);
            verdict.unreadable = true;
            return Ok(verdict);
        }
    };
    let (release, inventory) = usable(&loaded)?;
    let upgrade_to = arguments.upgrade_to.as_deref().map(|name| found.trust().named_release(name));
    let upgrade_to = upgrade_to.transpose()?;
    let base = arguments.previous.base(&found, output)?;
    let work = ClusterTask { before: base.before(), upgrade_to: upgrade_to.clone(), ..ClusterTask::default() };
    let state = hcoplan_analysis::end_state(&work, cluster, &loaded, release, inventory);
    let state = state.map_err(|problem| Failure::Unreadable(hcoplan_analysis::finding_line(&problem.finding)))?;
    if let Some(to) = upgrade_to.as_ref().filter(|to| !is_step(release, to)) {
        return Err(no_step(release, to, 1));
    }
    let release = upgrade_to.as_ref().unwrap_or(release);
    let layers = found.repo.build_layers(cluster).unwrap_or_default();
    let plan_input = PlanInput::new(release, &loaded.document, &loaded.json, inventory).of_layers(&layers);
    let (kind, name) = match arguments.object.split_once('/') {
        Some((kind, name)) => (kind, Some(name)),
        None => (arguments.object.as_str(), None),
    };
    let field = field.strip_prefix('.').unwrap_or(field);
    let answer = match &state {
        Some(state) => ask_of(state, &plan_input, kind, name, field),
        None => ask(&plan_input, kind, name, field),
    };
    let mut answer = answer.map_err(|problem| Failure::usage(problem.message, problem.help))?;
    answer.point_at_origins();
    let answer = mask_answer(answer, &loaded.document.file);
    for target in &targets {
        let page = WhyPage {
            answer: &answer,
            cluster: &loaded.name,
            release: release.label(),
            called: &release.display_name(),
            file: file(arguments, &loaded, &plan_input, &answer),
            root: &found.root,
        };
        let text = match target.format {
            Format::Json => hcoplan_report::visible_json::text(&why_json(&page)),
            _ => terminal::print(&page.document(), target.terminal(output)),
        };
        target.write(text.as_bytes(), output)?;
    }
    Ok(verdict)
}

/// The cluster of a name, or of a last part that no other has.
fn named<'c>(repo: &'c Repo, name: &str) -> Result<&'c ClusterRef, Failure> {
    let clusters = repo.clusters();
    let name = typed(name);
    if let Some(exact) = clusters.iter().find(|c| c.name() == name) {
        return Ok(exact);
    }
    let last = |c: &&ClusterRef| last_parts(c.name()).any(|part| part == name);
    let names = |clusters: &[&ClusterRef]| {
        let names: Vec<&str> = clusters.iter().map(|c| c.name()).collect();
        names.join(", ")
    };
    match clusters.iter().filter(last).collect::<Vec<_>>().as_slice() {
        [only] => Ok(only),
        [] => {
            let known = clusters.iter().map(ClusterRef::name).chain(repo.skipped_builds());
            let parts = known.clone().flat_map(|name| [Some(name), name.rsplit('/').next()]);
            let parts = parts.flatten();
            let help = match nearest(name, parts) {
                Some(near) => format!("did you mean {near}?"),
                None => {
                    let some: Vec<&str> = known.take(10).collect();
                    format!("there are {}", some.join(", "))
                }
            };
            Err(Failure::usage(format!("there is no cluster {name:?}"), help))
        }
        several => Err(Failure::usage(
            format!("there are {} clusters {name:?}", several.len()),
            format!("say which: {}", names(several)),
        )),
    }
}

/// What is needed to plan.
fn usable(loaded: &Loaded) -> Result<(&Arc<Release>, &LoadedInventory), Failure> {
    let release = loaded.release.as_ref();
    let release = release.map_err(|finding| {
        let help = finding.help.clone();
        Failure::usage(finding.message.clone(), help.unwrap_or_default())
    })?;
    let inventory = &*loaded.inventory;
    if inventory.valid {
        Ok((release, inventory))
    } else {
        Err(Failure::usage(
            format!("the inventory of {} can't be understood", loaded.name),
            "`hcoplan lint` says what is wrong with it",
        ))
    }
}

/// Where the object is in the output tree.
fn file(arguments: &Arguments, loaded: &Loaded, plan_input: &PlanInput<'_>, answer: &Answer) -> Option<Utf8PathBuf> {
    let id = answer.object.as_ref()?;
    let plan = plan::plan(plan_input.release(), plan_input.inventory(), &loaded.json);
    let ids: Vec<_> = plan.objects().map(|o| &*o.id).collect();
    let index = ids.iter().position(|i| *i == id)?;
    let name = emit::file_names(&ids).into_iter().nth(index)?;
    let directory = emit::cluster_directory(&loaded.name).ok()?;
    Some(arguments.out.out.as_ref()?.join(directory).join(name))
}
