//! `hcoplan fix`: applies the rules' fixes.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, ValueEnum};

use super::arguments::Sources;
use super::fix_document;
use super::fix_rounds::{FixRounds, diff_of, line};
use super::migrate;
use super::migrate_layers;
use super::output::Output;
use super::settings::Choice;
use crate::finding::{Applicability, Finding, Fix};
use crate::fix::{self, Applied, DroppedFix, Line, NewError, Rewritten};
use crate::lint::{self, Settings};
use crate::source::encode;
use crate::verdict::VerdictKind;
use crate::yaml::edit::Reason;
use hcoplan_analysis::{ClusterTask, Clusters, Exit, Failure, FinalFindings};
use hcoplan_report::{plural, shown_path};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// Fix findings that have a safe automatic fix
///
/// Without --write nothing is written: the changes are shown as a diff. Every comment and the layout stay; a fix with
/// another effect than intended is dropped. Findings with several fixes are listed with the effect of each.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan fix                                  show the fixes as a diff
  hcoplan fix --write                          write them
  hcoplan fix --choose multi-arch-boot-images-disabled=1
                                               apply the first of several fixes
  hcoplan fix --format json                    for programs: `hcoplan schema fix`
  hcoplan fix --migrate v1 --write             v1beta1 as v1, where the cluster would store the same")]
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

    /// Apply the N-th of several listed fixes of a rule
    #[arg(long, value_name = "RULE=N", value_delimiter = ',', help_heading = "Rules",
        value_parser = chosen)]
    choose: Vec<(String, usize)>,

    /// How to print the result: human, or json for programs
    #[arg(long, value_name = "FORMAT", help_heading = "Output", default_value = "human", hide_possible_values = true)]
    format: Format,

    /// Exit with 1 when anything changes
    #[arg(long, help_heading = "Output")]
    exit_code: bool,

    /// Rewrite HyperConvergeds in this API version instead, where the cluster's release serves it; the stored object
    /// stays the same
    #[arg(long, value_name = "VERSION", help_heading = "Rules", conflicts_with_all = ["select", "ignore", "pedantic", "also_unsafe", "choose"])]
    migrate: Option<migrate::TargetVersion>,
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: a diff, or what was done.
    Human,
    /// For programs: `hcoplan schema fix`.
    Json,
}

/// A rule, and which of its fixes.
fn chosen(text: &str) -> Result<(String, usize), String> {
    let (rule, number) = text.split_once('=').ok_or("write RULE=N")?;
    if lint::find(rule).is_none() {
        return Err(format!("there is no rule {rule:?}"));
    }
    match number.parse() {
        Ok(number) if number > 0 => Ok((rule.to_owned(), number)),
        _ => Err(format!("{number:?} is no number of a fix: they begin with 1")),
    }
}

/// What is wrong with a fix where clusters are built.
enum Wrong {
    /// A cluster would get an error by it.
    Harm(NewError),
    /// The build isn't what was meant.
    Other(Reason),
}

/// Fixes that bring up others are followed this often.
const MOST_ROUNDS: usize = 10;

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    if arguments.sources.directory == "-" {
        return Err(Failure::usage("`fix` can't change standard input", "give the directory or the file"));
    }
    let found = hcoplan_analysis::find_to_edit(&arguments.sources.of_analysis(), output)?;
    found.say_problems(output);
    let (root, is_built) = (found.root.clone(), found.is_built());
    let mut verdict = found.verdict;
    let fixed = match &arguments.migrate {
        Some(to) => {
            let mut migrated = migrate::all(&found, *to, &mut verdict, output);
            if found.is_built() {
                migrate_layers::all(found, &mut migrated, &mut verdict, output)?;
            }
            FixRounds { files: migrated.files, applied: migrated.applied, ..FixRounds::default() }
        }
        None => rounds(arguments, found, &mut verdict, output)?,
    };
    let mut text = Vec::new();
    let mut changed = fixed.files.len();
    let writes = arguments.write && !verdict.stops();
    if writes {
        changed = 0;
        // There is something to clean up from here on.
        hcoplan_analysis::watch();
        for file in fixed.files.values() {
            match fix::write(&root, &file.before, &file.text) {
                Ok(()) => changed += 1,
                Err(error) => {
                    verdict.unusable = true;
                    let path = shown_path(&root, &file.before);
                    output.error(format_args!("{path} stays as it was: {error}"));
                }
            }
        }
        for applied in &fixed.applied {
            write_applied(&mut text, &root, applied)?;
        }
    } else {
        let from_top = fixed.root_from_top(&root);
        for file in fixed.files.values() {
            write_diff(&mut text, &diff_of(&root, from_top.as_deref(), file))?;
        }
        if from_top.is_some() && arguments.format == Format::Human {
            output.note("the paths of the diff count from the top of the git work tree: apply it there");
        }
        // The diff doesn't say that a base goes into several clusters.
        if is_built && arguments.migrate.is_none() && !fixed.applied.is_empty() {
            writeln!(text)?;
            for applied in &fixed.applied {
                write_applied(&mut text, &root, applied)?;
            }
        }
    }
    for dropped in &fixed.dropped {
        let Applied { rule, title, location, .. } = &dropped.fix;
        let place = place(&root, location.as_ref());
        let why = &dropped.why;
        output.warning(format_args!("{place}{rule}: can't {title}: {why}"));
    }
    for (finding, why) in &fixed.not_carried {
        let place = place(&root, finding.location.as_ref());
        output.warning(format_args!("{place}{}: {}", finding.rule.name, line(why)));
    }
    for (finding, fix, error) in &fixed.harmful {
        let place = place(&root, finding.location.as_ref());
        let (rule, title) = (finding.rule.name, line(&fix.title));
        let NewError { cluster, message } = error;
        let message = line(message);
        output.warning(format_args!("{place}{rule}: didn't {title}: {cluster} would have the error: {message}"));
    }
    if fixed.exhausted {
        output.warning(format_args!("stopped after {MOST_ROUNDS} rounds with fixes left: run it again"));
    }
    for cluster in &fixed.refused {
        output
            .note(format_args!("{cluster} would still be rejected: rules that look at what it renders could not run"));
    }
    if arguments.format == Format::Json {
        let document = fix_document::of(&fixed, &root, writes, changed);
        output.print(hcoplan_report::visible_json::text(&document))?;
    } else {
        write_left(&mut text, &root, &fixed.left)?;
        if !text.is_empty() {
            writeln!(text)?;
        }
        writeln!(text, "{}", fixed.summary(arguments, writes, changed))?;
        output.print(text)?;
    }
    verdict.failed |= arguments.exit_code && !fixed.files.is_empty();
    Ok(verdict)
}

/// Lints and fixes until no fix is left.
fn rounds(
    arguments: &Arguments,
    mut found: Clusters,
    verdict: &mut Exit,
    output: &Output,
) -> Result<FixRounds, Failure> {
    let settings = arguments.choice.settings(&found)?;
    let mut fixed = FixRounds::default();
    let mut refused = Vec::new();
    let first = lint(arguments, &found, &settings, &mut refused, Some(verdict), output)?;
    let mut now = None;
    let mut harmful: Vec<Fix> = Vec::new();
    let mut unproven: Vec<DroppedFix> = Vec::new();
    let mut done_by_choice: BTreeSet<String> = BTreeSet::new();
    for round in 0..=MOST_ROUNDS {
        let settled = now.as_ref().unwrap_or(&first);
        // What was chosen once isn't chosen again where it is still found.
        let wanted = |finding: &Finding| {
            let mut named = arguments.choose.iter().rev();
            let (_, number) = named.find(|(rule, _)| rule == finding.rule.name)?;
            let again = done_by_choice.contains(&finding.message);
            (!again).then(|| number.saturating_sub(1))
        };
        let mut choices = fix::choose_with(settled.findings(), arguments.also_unsafe, wanted);
        // Whoever chooses a fix by its number takes the error, too, that it is offered with.
        choices.retain(|c| wanted(c.finding).is_some() || !harmful.iter().any(|h| h.is_same(c.fix)));
        let is_chosen = |c: &&fix::Choice<'_>| wanted(c.finding).is_some();
        let messages = choices.iter().filter(is_chosen);
        let messages: Vec<String> = messages.map(|c| c.finding.message.clone()).collect();
        let mut done = fix::round(&choices);
        fixed.dropped = std::mem::take(&mut done.dropped);
        if done.files.is_empty() {
            fixed.exhausted = done.exhausted;
            break;
        }
        if round == MOST_ROUNDS {
            fixed.exhausted = true;
            break;
        }
        let relint =
            |found: &Clusters, refused: &mut Vec<String>| lint(arguments, found, &settings, refused, None, output);
        let was_built = found.is_built();
        // A base goes into other clusters, too, where the same edit may be wrong: named or not.
        let others = |found: &Clusters| {
            if was_built {
                found.findings_of_others(done.files.keys(), &settings, arguments.sources.reading.jobs)
            } else {
                Vec::new()
            }
        };
        let others_before = others(&found);
        let judge = |found: &Clusters, round: &fix::Round, after: &FinalFindings| {
            fix::first_new_error(settled.findings(), after.findings())
                .or_else(|| fix::first_new_error(&others_before, &others(found)))
                .map_or_else(|| found.is_as_meant(round).map_err(Wrong::Other), |c| Err(Wrong::Harm(c)))
        };
        found = found.edited(bytes(&done, |f| &f.text))?;
        let mut after = relint(&found, &mut refused)?;
        if judge(&found, &done, &after).is_err() {
            found = found.edited(bytes(&done, |f| f.before.text()))?;
            let known = harmful.len();
            for choice in &choices {
                let one = fix::round(std::slice::from_ref(choice));
                found = found.edited(bytes(&one, |f| &f.text))?;
                let after = relint(&found, &mut refused)?;
                match judge(&found, &one, &after) {
                    Err(Wrong::Harm(error)) if wanted(choice.finding).is_none() => {
                        harmful.push(choice.fix.clone());
                        fixed.harmful.push((choice.finding.clone(), choice.fix.clone(), error));
                    }
                    Err(Wrong::Other(why)) => {
                        harmful.push(choice.fix.clone());
                        let fix = one.applied.first().cloned();
                        unproven.extend(fix.map(|fix| DroppedFix { fix, why }));
                    }
                    _ => {}
                }
                found = found.edited(bytes(&one, |f| f.before.text()))?;
            }
            if harmful.len() > known {
                continue;
            }
            // Each is right alone, and all together aren't: one at a time.
            done = fix::round(choices.get(..1).unwrap_or_default());
            found = found.edited(bytes(&done, |f| &f.text))?;
            after = relint(&found, &mut refused)?;
        }
        for (path, file) in done.files {
            let text = file.text.clone();
            fixed.files.entry(path).or_insert(file).text = text;
        }
        done_by_choice.extend(messages);
        fixed.applied.extend(done.applied);
        now = Some(after);
    }
    for (rule, number) in &arguments.choose {
        let findings = first.findings().iter().filter(|f| f.rule.name == rule);
        if findings.clone().all(|f| f.fixes.len() < *number) {
            output.warning(format_args!("no finding of {rule} has a fix {number}"));
        }
    }
    fixed.dropped.append(&mut unproven);
    fixed.refused = refused;
    fixed.files.retain(|_, file| file.before.text() != file.text);
    let settled = now.as_ref().unwrap_or(&first);
    let findings = settled.findings().iter();
    let why = |f: &Finding| Some((f.clone(), f.not_fixed.clone()?.into_owned()));
    fixed.not_carried = findings.clone().filter_map(why).collect();
    let left = findings.filter(|f| !f.fixes.is_empty());
    fixed.left = if arguments.write {
        left.cloned().collect()
    } else {
        let mut before: HashMap<_, VecDeque<&Finding>> = HashMap::new();
        for finding in first.findings() {
            before.entry(same(finding)).or_default().push_back(finding);
        }
        // Each counts as one: a script may repeat a command, with the same finding for each.
        let mut out = Vec::new();
        for finding in left {
            let alike = before.get_mut(&same(finding));
            let first = alike.and_then(|alike| {
                let on_line = |f: &&Finding| line_of(f) == line_of(finding);
                alike.remove(alike.iter().position(on_line).unwrap_or(0))
            });
            out.push(first.unwrap_or(finding).clone());
        }
        out
    };
    // What is left is shown as it was found: of the files as they are, or as they were.
    let found = if arguments.write {
        found
    } else {
        let before = fixed.files.iter().map(|(path, f)| (path.clone(), encode(f.before.text(), f.before.encoding())));
        found.edited(before.collect())?
    };
    found.try_fixes(&mut fixed.left, &settings, arguments.sources.reading.jobs)?;
    let error_of = |fix: &Fix| fixed.harmful.iter().find(|(_, harmful, _)| harmful.is_same(fix)).map(|(.., e)| e);
    for finding in &mut fixed.left {
        // What can't be proven isn't offered; what harms a cluster is, with the error that the cluster then has.
        finding.fixes.retain(|fix| error_of(fix).is_some() || !harmful.iter().any(|h| h.is_same(fix)));
        for fix in &mut finding.fixes {
            if let Some(NewError { cluster, message }) = error_of(fix) {
                fix.applicability = Applicability::Suggestion;
                fix.title = format!("{}; {cluster} then has the error: {message}", fix.title);
            }
        }
    }
    fixed.left.retain(|finding| !finding.fixes.is_empty());
    Ok(fixed)
}

/// The files of a round with one of their texts, encoded as they are.
fn bytes(round: &fix::Round, text: impl Fn(&Rewritten) -> &str) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    let files = round.files.iter();
    files.map(|(path, f)| (path.clone(), encode(text(f), f.before.encoding()))).collect()
}

/// What tells whether a finding of a file is still there in what became of it.
fn same(finding: &Finding) -> (&str, &str, Option<&str>) {
    let Finding { message, cluster, .. } = finding;
    (finding.rule.name, message, cluster.as_deref())
}

/// The text of the line that a finding points at.
fn line_of(finding: &Finding) -> Option<&str> {
    let at = finding.location.as_ref()?;
    Some(at.file.line(at.start().line.checked_sub(1)?)?.1)
}

/// The findings; problems of reading are reported the first time only.
fn lint(
    arguments: &Arguments,
    found: &Clusters,
    settings: &Settings,
    refused: &mut Vec<String>,
    mut verdict: Option<&mut Exit>,
    output: &Output,
) -> Result<FinalFindings, Failure> {
    let work = ClusterTask { lint: Some(lint::Selection::of(settings)), ..ClusterTask::default() };
    refused.clear();
    let jobs = arguments.sources.reading.jobs;
    let findings = found.each(&work, jobs, output, |outcome, progress| {
        if outcome.verdict.kind() == VerdictKind::Rejected {
            refused.push(outcome.cluster.clone());
        }
        if let Some(verdict) = &mut verdict {
            // Here a rejection is one of the things to fix.
            let failed = verdict.failed;
            progress.suspend(|| hcoplan_analysis::report_outcome(outcome, true, verdict, output));
            verdict.failed = failed;
        }
    });
    findings.finished(None, settings, &found.root, output)
}

impl FixRounds {
    fn summary(&self, arguments: &Arguments, written: bool, changed: usize) -> String {
        let migrated = arguments.migrate.is_some();
        let what = if migrated {
            plural(self.applied.len(), "HyperConverged")
        } else {
            plural(self.applied.len(), "fix").replace("fixs", "fixes")
        };
        let files = plural(changed, "file");
        let mut parts = vec![match (self.files.is_empty(), written) {
            (true, _) if migrated => "nothing to migrate".to_owned(),
            (true, _) => "nothing to fix".to_owned(),
            (false, true) if migrated => format!("{what} migrated in {files}"),
            (false, true) => format!("{what} applied in {files}"),
            (false, false) if migrated => format!("{what} to migrate in {files} (--write does it)"),
            (false, false) => format!("{what} to apply in {files} (--write does it)"),
        }];
        let of = |wanted: Applicability| {
            let all = self.left.iter();
            let is = |f: &&Finding| best(f) == Some(wanted);
            all.filter(is).count()
        };
        let fixes = |n: usize| plural(n, "fix").replace("fixs", "fixes");
        match of(Applicability::Unsafe) {
            0 => {}
            n => parts.push(format!("{} with --unsafe", fixes(n))),
        }
        match of(Applicability::Suggestion) {
            0 => {}
            n => parts.push(format!("{} to choose from", plural(n, "finding"))),
        }
        parts.join("; ")
    }
}

/// What may be done without asking, if anything.
fn best(finding: &Finding) -> Option<Applicability> {
    finding.fixes.iter().map(|f| f.applicability).min()
}

fn place(root: &Utf8Path, location: Option<&crate::source::Location>) -> String {
    location.map_or_else(String::new, |at| {
        let (path, start) = (shown_path(root, &at.file), at.start());
        let path = line(path.as_str());
        format!("{path}:{}:{}: ", start.line, start.column)
    })
}

fn write_applied(out: &mut Vec<u8>, root: &Utf8Path, applied: &Applied) -> std::io::Result<()> {
    let place = place(root, applied.location.as_ref());
    let Applied { rule, title, .. } = applied;
    writeln!(out, "{BOLD}{place}{BOLD:#}{rule}: {}", line(title))
}

fn write_diff(out: &mut Vec<u8>, diff: &str) -> std::io::Result<()> {
    for full in diff.split_inclusive('\n') {
        let style = match full.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', b' ', ..] => BOLD,
            [b'+', ..] => GREEN,
            [b'-', ..] => RED,
            [b'@', ..] => CYAN,
            _ => Style::new(),
        };
        let (text, end) = match full.strip_suffix('\n') {
            Some(text) => (text, "\n"),
            None => (full, ""),
        };
        write!(out, "{style}{}{style:#}{end}", line(text))?;
    }
    Ok(())
}

/// The findings that were not fixed, each with its fixes.
fn write_left(out: &mut Vec<u8>, root: &Utf8Path, left: &[Finding]) -> std::io::Result<()> {
    let mut allowance = HashMap::new();
    let mut untold = 0;
    for finding in left {
        if !out.is_empty() {
            writeln!(out)?;
        }
        let place = place(root, finding.location.as_ref());
        let (rule, message) = (finding.rule.name, line(&finding.message));
        writeln!(out, "{BOLD}{place}{BOLD:#}{rule}: {message}")?;
        let several = finding.fixes.len() > 1;
        for (index, fix) in finding.fixes.iter().enumerate() {
            let mark = if several { format!("{}.", index + 1) } else { "*".to_owned() };
            let word = match fix.applicability {
                Applicability::Safe => "",
                Applicability::Unsafe => " (--unsafe)",
                Applicability::Suggestion => "",
            };
            writeln!(out, "  {CYAN}{mark}{CYAN:#} {}{word}", line(&fix.title))?;
            if !may_preview(fix, &mut allowance) {
                untold += 1;
                continue;
            }
            for part in fix::preview(fix) {
                match part {
                    Line::At(path, number) => {
                        let path = root.join(&*path);
                        let path = path.strip_prefix(".").unwrap_or(&path);
                        let path = line(path.as_str());
                        writeln!(out, "      {DIM}{path}:{number}{DIM:#}")?;
                    }
                    Line::Gone(text) => writeln!(out, "      {RED}-{}{RED:#}", line(&text))?,
                    Line::New(text) => writeln!(out, "      {GREEN}+{}{GREEN:#}", line(&text))?,
                }
            }
        }
    }
    if untold > 0 {
        let fixes = plural(untold, "fix").replace("fixs", "fixes");
        let text = format!("{fixes} are listed without their lines: there are too many in one file");
        writeln!(out, "\n{DIM}{text}{DIM:#}")?;
    }
    Ok(())
}

/// Whether the lines that a fix changes may be looked for once more: a file is read for each, so that many
/// in a large file would take the square of its size.
fn may_preview(fix: &Fix, allowance: &mut HashMap<Utf8PathBuf, usize>) -> bool {
    const SMALL: usize = 2 << 20;
    const OFTEN: usize = 20;
    fix.edits.iter().all(|edit| {
        let size = edit.file.text().len();
        let left = allowance.entry(edit.file.path().to_owned());
        let left = left.or_insert(SMALL + OFTEN * size);
        let enough = *left >= size;
        *left = left.saturating_sub(size);
        enough
    })
}
