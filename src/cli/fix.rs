//! `hcoplan fix`: applies the rules' fixes.

use super::arguments::Sources;
use super::format::Form;
use super::output::Output;
use super::settings::Choice;
use crate::fix;
use crate::lint::{self, Selector};
use crate::prelude::*;
use hcoplan_analysis::{FixRequest, FixResult};
use hcoplan_report::fixes::{self, FixView};
use hcoplan_report::shown_path;

/// Fix findings that have a safe automatic fix
///
/// Without --write nothing is written: the changes are shown as a diff. Every comment and the layout stay; a fix with
/// another effect than intended is dropped. Findings with several fixes are listed with the effect of each.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("examples/fix.txt"))]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    choice: Choice,

    /// Write the files
    #[arg(long, help_heading = "Output")]
    write: bool,

    /// Also fixes that change what the cluster does
    #[arg(long = "unsafe", help_heading = "Rules")]
    also_unsafe: bool,

    /// Apply the N-th of several listed fixes of a rule; without --select, only this rule's
    #[arg(long, value_name = "RULE=N", value_delimiter = ',', help_heading = "Rules",
        value_parser = chosen)]
    choose: Vec<(String, usize)>,

    /// How to print the result: human, or json for programs
    #[arg(long, value_name = "FORMAT", help_heading = "Output", default_value = "human", hide_possible_values = true)]
    format: Form,

    /// Exit with 1 when anything changes
    #[arg(long, help_heading = "Output")]
    exit_code: bool,

    /// Rewrite HyperConvergeds in this API version instead, where the cluster's release serves it; the stored object
    /// stays the same
    #[arg(long, value_name = "VERSION", help_heading = "Rules", conflicts_with_all = ["select", "ignore", "pedantic", "also_unsafe", "choose"])]
    migrate: Option<TargetVersion>,
}

/// The version to write.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum TargetVersion {
    /// hco.kubevirt.io/v1, which releases from 1.18 on serve
    V1,
}

/// Parses RULE=N.
fn chosen(text: &str) -> Result<(String, usize), String> {
    let (rule, number) = text.split_once('=').ok_or("write RULE=N")?;
    if lint::find(rule).is_none() {
        return Err(format!("there is no rule {rule:?}"));
    }
    match number.parse() {
        Ok(number) if number > 0 => Ok((rule.to_owned(), number)),
        _ => Err(format!("{number:?} isn't a number of a fix: they begin with 1")),
    }
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    if arguments.sources.directory == "-" {
        return Err(Failure::usage("`fix` can't change standard input", "give the directory or the file"));
    }
    let found = hcoplan_analysis::find_to_edit(&arguments.sources.of_analysis(), output)?;
    found.say_problems(output);
    let (root, is_built) = (found.root.clone(), found.is_built());
    let mut exit = found.verdict;
    let fixed = match &arguments.migrate {
        Some(TargetVersion::V1) => found.migrate(&mut exit, output)?,
        None => {
            let mut settings = arguments.choice.settings(&found)?;
            if !arguments.choice.selects() && !arguments.choose.is_empty() {
                let rules = arguments.choose.iter().filter_map(|(rule, _)| lint::find(rule));
                settings.select = rules.map(|registered| Selector::Rule(registered.rule.name)).collect();
            }
            let request = FixRequest {
                also_unsafe: arguments.also_unsafe,
                chosen: &arguments.choose,
                only: None,
                writes: arguments.write,
            };
            found.fix(&request, &settings, &mut exit, output)?
        }
    };
    for (rule, number) in &fixed.unmatched {
        output.warning(format_args!("no finding of {rule} has a fix {number}"));
    }
    let writes = arguments.write && !exit.stops();
    let view = FixView {
        root: &root,
        typed: &arguments.sources.typed(),
        written: writes.then(|| write(&fixed, &root, &mut exit, output)),
        is_stopped: arguments.write && !writes,
        is_migration: arguments.migrate.is_some(),
        is_built,
    };
    let is_human = arguments.format == Form::Human;
    if is_human && !writes && fixes::root_from_top(&fixed, &root).is_some() {
        output.note("the paths of the diff count from the top of the git work tree: apply it there");
    }
    for warning in fixes::warnings(&fixed, &root) {
        output.warning(warning);
    }
    for cluster in &fixed.rejected {
        output
            .note(format_args!("{cluster} would still be rejected: rules that look at what it renders could not run"));
    }
    match arguments.format {
        Form::Human => output.print(fixes::text(&fixed, &view)?)?,
        Form::Json => output.print(hcoplan_report::visible_json::text(&fixes::document(&fixed, &view)))?,
    }
    exit.failed |= arguments.exit_code && !fixed.files.is_empty();
    Ok(exit)
}

/// Writes the files, all or none; returns how many.
fn write(fixed: &FixResult, root: &Utf8Path, exit: &mut Exit, output: &Output) -> usize {
    // Temporary files have to be removed after an interrupt.
    hcoplan_analysis::watch();
    let files = fixed.files.values().map(|file| fix::Replacement { before: &file.before, text: &file.text });
    match fix::write_all(root, files) {
        Ok(written) => written,
        Err((file, error)) => {
            exit.unusable = true;
            let path = shown_path(root, file);
            output.error(format_args!("nothing is written: {path}: {error}"));
            0
        }
    }
}
