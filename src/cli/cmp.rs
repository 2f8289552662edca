//! `hcoplan cmp`: a config management plugin of Argo CD.
//!
//! Source of the protocol: cmp-server of Argo CD 3.6. What it runs has the application's directory
//! as its own; standard output is what gets applied, and an empty one with exit code 0 empties the
//! application, so that never happens. Standard error of a failure is shown in the user interface.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::cmp_build::{self, Application, Build};
use super::cmp_manifests::{WAY_OUT, manifests};
use super::output::Output;
use super::settings::FailOn;
use crate::finding::{Finding, Severity};
use crate::lint::{self, RegisteredRule, Settings};
use crate::repo::{self, Config, Options, Repo, Trust};
use crate::secret::InputText;
use crate::verdict::{self as judged, NotPlannedKind};
use hcoplan_analysis::{ClusterTask, Exit, Failure, Findings, Progress};

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

/// Options of the plugin's own command: the repository's. An Application's parameters can only make the gate stricter.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan cmp generate --fail-on warning
  hcoplan cmp generate --release 4.20
  kustomize build . | hcoplan cmp generate -       the same, built by another tool")]
struct Gate {
    /// Reject from this severity on
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    fail_on: FailOn,

    /// HCO release line that the clusters run, or the directory of a release
    #[arg(long, value_name = "X.Y|DIR")]
    release: Option<String>,

    /// Read hcoplan.yaml, suppressions and own releases from the repository: only where every merge is reviewed
    #[arg(long)]
    trust_repository: bool,

    /// `-`: manifests built by another tool, on standard input, instead of the files
    #[arg(value_name = "-", value_parser = ["-"])]
    input: Option<String>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Discover => discover(output),
        Command::Parameters => {
            output.print(format!("{}\n", announcement()))?;
            Ok(Exit::default())
        }
        Command::Generate(gate) => {
            let mut said = Vec::new();
            let (text, verdict) = match generate(gate, output, &mut said) {
                Ok(made) => made,
                Err(failure) => {
                    if !matches!(failure, Failure::Interrupted) {
                        said.extend(lines(&failure));
                    }
                    let verdict = match failure {
                        Failure::Unreadable(_) => Exit::UNREADABLE,
                        Failure::Interrupted => Exit::default(),
                        _ => Exit::UNUSABLE,
                    };
                    (String::new(), verdict)
                }
            };
            for line in short(said) {
                output.show(line);
            }
            if verdict == Exit::default() && !hcoplan_analysis::interrupted() {
                output.print(text)?;
            }
            Ok(verdict)
        }
    }
}

/// The application's path, where its kustomization builds on a HyperConverged that lies elsewhere.
fn kustomization() -> Option<String> {
    let application = Application::new().ok()?;
    application.builds_on_others().then(|| ".".to_owned())
}

/// What can't be read is claimed, too: left to another tool, it would be applied unseen.
fn discover(output: &mut Output) -> Result<Exit, Failure> {
    let options = Options { trust: Trust::Nobody, checkout: true, ..Options::default() };
    let claimed = match Repo::open(Utf8Path::new("."), &options) {
        Ok(repo) => {
            let clusters = repo.clusters().iter().map(|c| c.path().to_string());
            let mut broken = repo.problems().iter().filter(|p| p.fatal);
            let broken = broken.find_map(|p| p.finding.location.as_ref());
            let broken = broken.map(|place| place.file.path().to_string());
            clusters.chain(broken).next().or_else(kustomization)
        }
        Err(repo::Error::Configuration(_)) => Some(repo::CONFIG_FILE.to_owned()),
        Err(other) => return Err(other.into()),
    };
    if let Some(path) = claimed {
        output.print(format!("{}\n", InputText::new(&path).line()))?;
    }
    Ok(Exit::default())
}

/// Announced defaults are not sent: [`Parameters::default`] has to say the same.
fn announcement() -> Value {
    json!([
        {
            "name": "fail-on", "title": "Reject from this severity on",
            "tooltip": "error, warning or never", "collectionType": "string", "string": "error",
        },
        {
            "name": "emit", "title": "What is passed on",
            "tooltip": "manifests, or operands for a preview that is never synced: what HCO and SSP would create, too",
            "collectionType": "string", "string": "manifests",
        },
        {
            "name": "hco-version", "title": "HCO release line",
            "tooltip": "X.Y; empty: what the inventory says", "collectionType": "string", "string": "",
        },
    ])
}

/// What an Application sets.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parameters {
    /// `None`: what the configuration says, else errors; `Some(None)`: never.
    fail_on: Option<Option<Severity>>,
    operands: bool,
    release: Option<String>,
}

impl Parameters {
    /// Reads `ARGOCD_APP_PARAMETERS`; its other variables' names collide.
    fn new(text: &str) -> Result<Self, Failure> {
        let wrong = |message: String| {
            let help = "there are fail-on (error, warning, never), emit (manifests, operands) and \
                        hco-version (X.Y), each a string";
            Failure::usage(message, help)
        };
        let list: Value = match text.trim() {
            "" => Value::Null,
            text => serde_json::from_str(text).map_err(|e| wrong(format!("ARGOCD_APP_PARAMETERS is no JSON: {e}")))?,
        };
        let list = match list {
            Value::Null => Vec::new(),
            Value::Array(list) => list,
            _ => return Err(wrong("ARGOCD_APP_PARAMETERS is no list".to_owned())),
        };
        let mut out = Self::default();
        for parameter in &list {
            let name = parameter["name"].as_str().unwrap_or_default();
            let value = parameter["string"].as_str();
            match (name, value) {
                ("fail-on", Some("error")) => out.fail_on = Some(Some(Severity::Error)),
                ("fail-on", Some("warning")) => out.fail_on = Some(Some(Severity::Warning)),
                ("fail-on", Some("never")) => out.fail_on = Some(None),
                ("emit", Some("operands")) => out.operands = true,
                ("emit", Some("manifests")) => out.operands = false,
                ("hco-version", Some("auto")) => out.release = None,
                ("fail-on" | "emit" | "hco-version", Some("")) => {}
                ("hco-version", Some(release)) => out.release = Some(release.to_owned()),
                ("fail-on" | "emit" | "hco-version", value) => {
                    let value = value.unwrap_or("no string");
                    return Err(wrong(format!("the parameter {name} is {value}")));
                }
                _ => return Err(wrong(format!("there is no parameter {name:?}"))),
            }
        }
        Ok(out)
    }
}

/// The stream, and the lines for standard error.
fn generate(gate: &Gate, output: &Output, said: &mut Vec<String>) -> Result<(String, Exit), Failure> {
    let text = std::env::var("ARGOCD_APP_PARAMETERS").unwrap_or_default();
    let parameters = Parameters::new(&text)?;
    let release = match (&gate.release, &parameters.release) {
        (Some(name), _) => Some(repo::named_release(name)?),
        // A directory would be one of the repository's.
        (None, Some(name)) => Some(repo::known_release(name).map_err(repo::Error::from)?),
        (None, None) => None,
    };
    let mut options = Options {
        release,
        trust: if gate.trust_repository { Trust::Files } else { Trust::Nobody },
        checkout: true,
        ..Options::default()
    };
    let application = Application::new()?;
    let has_kustomization = application.has_kustomization();
    let printed = gate.input.as_ref().map(|_| cmp_build::standard_input());
    let printed = printed.transpose()?;
    let (found, build) = if printed.is_some() || has_kustomization {
        let Build { root, repo, file } = application.build(printed, &mut options)?;
        let found = hcoplan_analysis::all_clusters(repo, Utf8PathBuf::from("."), options);
        (found.in_root(root), Some(file))
    } else {
        let repo = Repo::open(Utf8Path::new("."), &options)?;
        let found = hcoplan_analysis::all_clusters(repo, Utf8PathBuf::from("."), options);
        (found, None)
    };
    let config = found.repo.config();
    let settings = Settings::configured(config).map_err(|wrong| Failure::Configuration(wrong, found.root.clone()))?;
    let settings = if gate.trust_repository {
        settings
    } else {
        let tightened = settings.tightened(lint::rules().iter().map(|r| r.rule));
        if loosens(&settings, config) {
            said.push(LOOSENS.to_owned());
        }
        tightened
    };
    let asked = [parameters.fail_on, config.lint.fail_on];
    let fail_on = if gate.trust_repository { asked.into_iter().flatten().next() } else { None };
    let stricter = || {
        let all = asked.into_iter().flatten().chain([gate.fail_on.severity()]);
        all.flatten().min()
    };
    let fail_on = fail_on.unwrap_or_else(stricter);
    let chosen = found.chosen();
    if parameters.operands && chosen.len() > 1 {
        return Err(Failure::usage(
            format!("emit is operands, and there are {} clusters", chosen.len()),
            "give each cluster's directory an Application of its own",
        ));
    }
    let work = ClusterTask {
        lint: Some(lint::Selection::of(&settings).without_fixes()),
        yaml: parameters.operands,
        ..ClusterTask::default()
    };
    // A configuration that isn't trusted hides nothing.
    let baseline = if gate.trust_repository { found.baseline(None) } else { None };
    let mut findings = Findings::new(&found.repo, None, found.shard());
    let mut operands = String::new();
    let mut verdict = found.verdict;
    let progress = Progress::of(0, true);
    hcoplan_analysis::run(&found.repo, &found.pairs(work.before), &work, None, &progress, |mut outcome| {
        match &outcome.verdict {
            judged::Verdict::NotPlanned(why) => match why.kind {
                NotPlannedKind::Unreadable => verdict.unreadable = true,
                NotPlannedKind::Unusable => verdict.failed |= parameters.operands || fail_on.is_some(),
                NotPlannedKind::Bug => {
                    verdict.bug = true;
                    said.push(format!("error: {}: hcoplan has a bug: {why}", outcome.cluster));
                }
            },
            judged => verdict.failed |= judged.fails() && (parameters.operands || fail_on.is_some()),
        }
        if let Some(error) = &outcome.failed {
            verdict.unusable = true;
            said.push(format!("error: {}: {error}", outcome.cluster));
        }
        operands.push_str(&outcome.printed);
        findings.add(&mut outcome);
        ControlFlow::Continue(())
    });
    let mut settled = findings.finished(baseline.as_ref(), &settings, &found.root, output)?;
    verdict.failed |= settled.fails_from(fail_on, None);
    // Independent of the gate: other tools would pass it on, or skip it.
    let almost = |f: &Finding| ALMOST.contains(&f.rule.name);
    verdict.failed |= settled.findings().iter().any(almost);
    let mut sorted: Vec<&Finding> = settled.findings().iter().collect();
    sorted.sort_by_key(|f| std::cmp::Reverse(f.severity));
    said.extend(sorted.iter().map(|f| line(f)));
    let is_unbuilt = |f: &Finding| f.rule.name == repo::KUSTOMIZE_NOT_BUILT.name;
    if settled.findings().iter().any(is_unbuilt) {
        let help = if has_kustomization { WAY_OUT } else { "give each of these directories an Application of its own" };
        said.push(format!("  help: {help}"));
    }
    if verdict != Exit::default() {
        return Ok((String::new(), verdict));
    }
    let owned = sorted.iter().filter(|f| OWNED.contains(&f.rule.name));
    let mut left_out: BTreeMap<Utf8PathBuf, Vec<u32>> = BTreeMap::new();
    for place in owned.filter_map(|f| f.made.as_ref().or(f.location.as_ref())) {
        let places = left_out.entry(place.file.path().to_owned()).or_default();
        places.push(place.span.start);
    }
    let mut text = match &build {
        Some(file) => {
            let places = left_out.get(file.path()).map_or(&[][..], Vec::as_slice);
            cmp_build::manifests(file, places)?
        }
        None => manifests(&found.repo, &left_out, said)?,
    };
    text.push_str(&operands);
    if text.is_empty() {
        said.push("error: there is no Kubernetes object below the application's path".to_owned());
        verdict.nothing_found = true;
    }
    Ok((text, verdict))
}

/// Whether a configuration asks for less than the defaults.
fn loosens(settings: &Settings, config: &Config) -> bool {
    let lower = |rule: &RegisteredRule| {
        let configured = settings.severity(rule.rule);
        configured.is_some_and(|s| s.is_none_or(|s| s < rule.rule.severity))
    };
    !settings.select.is_empty()
        || !settings.ignore.is_empty()
        || !settings.suppressions.is_empty()
        || !config.ignore.is_empty()
        || lint::rules().iter().any(lower)
}

/// The warning in that case.
const LOOSENS: &str = "warning: hcoplan.yaml makes the gate stricter, not wider: its `ignore`, `suppress`, \
                       `lint.select`, `lint.ignore` and lower severities have no effect here";

/// Rules that find what is meant to be a HyperConverged and is none.
const ALMOST: [&str; 2] = ["hco-not-recognized", "hco-kind-unknown"];

/// Rules that find objects which the operators own.
const OWNED: [&str; 2] = ["operand-managed-in-git", "rendered-golden-image-in-git"];

/// A finding as one line, without colour.
fn line(finding: &Finding) -> String {
    let place = finding.location.as_ref().map(|place| {
        let at = place.start();
        let path = InputText::new(place.file.path().as_str()).line();
        format!("{path}:{}:{}: ", at.line, at.column)
    });
    let (severity, rule) = (finding.severity.as_str(), finding.rule.name);
    let message = InputText::new(&finding.message).line();
    format!("{severity}: {}{message} [{rule}]", place.unwrap_or_default())
}

fn lines(failure: &Failure) -> Vec<String> {
    match failure {
        Failure::Configuration(found, _) | Failure::Repo(repo::Error::Configuration(found)) => {
            found.iter().map(line).collect()
        }
        Failure::Repo(repo::Error::Unknown(unknown)) => {
            vec![format!("error: {unknown}"), format!("  help: {}", unknown.help)]
        }
        other => vec![format!("error: {other}")],
    }
}

/// As many lines as the user interface shows well.
fn short(mut lines: Vec<String>) -> Vec<String> {
    const MOST: usize = 19;
    let more = lines.len().saturating_sub(MOST);
    if more > 0 {
        lines.truncate(MOST);
        lines.push(format!("and {more} more: hcoplan lint shows them all"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announced_defaults_are_the_defaults() {
        let text = announcement().to_string();
        let announced = Parameters::new(&text).expect("its own announcement");
        let expected = Parameters { fail_on: Some(Some(Severity::Error)), ..Parameters::default() };
        assert_eq!(announced, expected);
        assert_eq!(Parameters::new("null").ok(), Some(Parameters::default()));
        assert!(Parameters::new(r#"[{"name": "fail-on", "array": ["never"]}]"#).is_err());
        assert!(Parameters::new(r#"[{"name": "failon", "string": "never"}]"#).is_err());
    }

    #[test]
    fn failures_are_short() {
        let many = (0..50).map(|n| n.to_string()).collect();
        assert_eq!(short(many).len(), 20);
        assert_eq!(short(vec!["one".to_owned()]), ["one"]);
    }
}
