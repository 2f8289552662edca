//! `hcoplan cmp`: a config management plugin of Argo CD.
//!
//! Source of the protocol: cmp-server of Argo CD 3.6. It runs the plugin in the application's directory and applies its
//! standard output. An empty output with exit code 0 would delete all of the application's objects, so that never
//! happens. The user interface shows standard error after a failure.

use super::cmp_parameters::{ANNOUNCEMENT, Parameters};
use super::output::Output;
use super::settings::FailOn;
use crate::finding::Finding;
use crate::lint::{self, Settings};
use crate::prelude::*;
use crate::repo::{self, Options, Trust};
use crate::secret::InputText;
use hcoplan_analysis::{
    Analysis, AnalysisRequest, Application, BUILD_ELSEWHERE, CompareBase, KeptNotices, NoticeKind, Notices,
};
use hcoplan_report::plugin;

/// Run as a config management plugin of Argo CD; see docs/argocd.md
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_long_help = "Examples:
  hcoplan cmp generate --fail-on error"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the location of a HyperConverged below the current directory, or nothing
    #[command(after_long_help = "Examples:
  hcoplan cmp discover")]
    Discover,
    /// Print the manifests below the current directory, unless findings reach the gate
    Generate(Gate),
    /// Print the parameters that an Application may set, as JSON
    #[command(after_long_help = "Examples:
  hcoplan cmp parameters")]
    Parameters,
}

/// Options in the plugin's own command, which the repository's owner can't change. An Application's parameters can only
/// make the gate stricter.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan cmp generate --fail-on warning
  hcoplan cmp generate --release 4.20
  kustomize build . | hcoplan cmp generate -       the same, built by another tool")]
struct Gate {
    /// Reject from this severity on
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    fail_on: FailOn,

    /// HCO release line that the clusters run
    #[arg(long, value_name = "X.Y")]
    release: Option<String>,

    /// Read hcoplan.yaml and suppressions from the repository: only where every merge is reviewed
    #[arg(long)]
    trust_repository: bool,

    /// `-`: manifests built by another tool, on standard input, instead of the files
    #[arg(value_name = "-", value_parser = ["-"])]
    input: Option<String>,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Discover => {
            if let Some(path) = hcoplan_analysis::claimed()? {
                output.print(format!("{}\n", InputText::new(&path).line()))?;
            }
            Ok(Exit::default())
        }
        Command::Parameters => {
            output.print(format!("{}\n", *ANNOUNCEMENT))?;
            Ok(Exit::default())
        }
        Command::Generate(gate) => {
            let said = KeptNotices::default();
            let (text, verdict) = generate(gate, &said).unwrap_or_else(|failure| {
                said.say(NoticeKind::Shown, &plugin::failure_text(&failure));
                (String::new(), super::exit_of(&failure))
            });
            if !output.quiet() || verdict != Exit::default() {
                plugin::lines(said.take()).iter().for_each(|line| output.show(line));
            }
            if verdict == Exit::default() && !hcoplan_analysis::interrupted() {
                output.print(text)?;
            }
            Ok(verdict)
        }
    }
}

/// The manifests and the exit code.
fn generate(gate: &Gate, said: &KeptNotices) -> Result<(String, Exit), Failure> {
    let parameters = Parameters::new(&std::env::var("ARGOCD_APP_PARAMETERS").unwrap_or_default())?;
    let release = gate.release.as_ref().or(parameters.release.as_ref());
    let release = release.map(|name| repo::known_release(name).map_err(repo::Error::from)).transpose()?;
    let trust = if gate.trust_repository { Trust::Files } else { Trust::Nobody };
    let options = Options { release, trust, checkout: true, ..Options::default() };
    let (found, build) = Application::new()?.open(gate.input.is_some(), options)?;
    if parameters.operands && found.chosen().len() > 1 {
        return Err(Failure::usage(
            format!("emit is operands, and there are {} clusters", found.chosen().len()),
            "give each cluster's directory an Application of its own",
        ));
    }
    let config = found.repo.config();
    let configured = Settings::configured(config).map_err(|wrong| Failure::Configuration(wrong, found.root.clone()))?;
    let asked = [parameters.fail_on, config.lint.fail_on];
    let (settings, baseline, fail_on) = if gate.trust_repository {
        let fail_on = asked.into_iter().flatten().next();
        (configured, found.baseline(None), fail_on.unwrap_or_else(|| gate.fail_on.severity()))
    } else {
        let rules = || lint::rules().iter().map(|r| r.rule);
        let is_lax = config.lint.baseline.is_some() || config.lint.fail_on == Some(None);
        if is_lax || !config.ignore.is_empty() || configured.loosens(rules()) {
            (said as &dyn Notices).note(LOOSENS);
        }
        let strictest = asked.into_iter().flatten().chain([gate.fail_on.severity()]).flatten().min();
        // An untrusted configuration can't hide findings.
        (configured.tightened(rules()), None, strictest)
    };
    let request = AnalysisRequest {
        found: &found,
        settings: &settings,
        base: &CompareBase::default(),
        baseline,
        fail_on,
        work: ClusterTask {
            lint: Some(lint::Selection::of(&settings).without_fixes()),
            yaml: parameters.operands,
            ..ClusterTask::default()
        },
    };
    let mut operands = String::new();
    let analysis = request.analyse(said, |outcome, _| operands.push_str(&outcome.printed))?;
    let Some(Analysis { findings, mut verdict, .. }) = analysis else { return Err(Failure::Interrupted) };
    let findings = findings.findings();
    // Without a gate, rejected manifests are passed on, too.
    verdict.failed &= parameters.operands || fail_on.is_some();
    // Independent of the gate: another tool would apply or skip these objects without a check.
    verdict.failed |= findings.iter().any(|f| ALMOST.contains(&f.rule.name));
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|f| std::cmp::Reverse(f.severity));
    sorted.iter().for_each(|f| said.say(NoticeKind::Shown, &plugin::finding_line(f)));
    if findings.iter().any(|f| f.rule.name == hcoplan_rule_pages::rules::KUSTOMIZE_NOT_BUILT.name) {
        let help =
            if build.is_some() { BUILD_ELSEWHERE } else { "give each of these directories an Application of its own" };
        said.say(NoticeKind::Shown, &format_args!("  help: {help}"));
    }
    if verdict != Exit::default() {
        return Ok((String::new(), verdict));
    }
    let mut text = hcoplan_analysis::passed_on(
        &found.repo,
        found.below().unwrap_or(Utf8Path::new("")),
        build.as_deref(),
        findings,
        said,
    )?;
    text.push_str(&operands);
    if text.is_empty() {
        (said as &dyn Notices).error("no Kubernetes object found below the application's path");
        verdict.nothing_found = true;
    }
    Ok((text, verdict))
}

/// The note for a configuration that is less strict than the defaults.
const LOOSENS: &str = "hcoplan.yaml makes the gate stricter, not wider: its `ignore`, `suppress`, `lint.select`, \
                       `lint.ignore`, `lint.baseline`, `failOn: never` and lower severities have no effect here";

/// Rules that find unrecognised HyperConvergeds.
const ALMOST: [&str; 2] = ["hco-not-recognized", "hco-kind-unknown"];
