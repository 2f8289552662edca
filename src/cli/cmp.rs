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

use super::clusters;
use super::cmp_manifests::manifests;
use super::exit::Verdict;
use super::failure::Failure;
use super::findings::Findings;
use super::output::Output;
use crate::app::{self, Progress, State, Work};
use crate::finding::{Finding, Severity};
use crate::lint::Settings;
use crate::repo::{self, Options, Repo};
use crate::secret::InputText;

/// Run as a config management plugin of Argo CD; see docs/argocd.md
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print where a HyperConverged is below the current directory, or nothing
    Discover,
    /// Print the manifests below the current directory, unless findings reach `fail-on`
    Generate,
    /// Print the parameters that an Application may set, as JSON
    Parameters,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    match arguments.command {
        Command::Discover => discover(output),
        Command::Parameters => {
            output.print(format!("{}\n", announcement()))?;
            Ok(Verdict::default())
        }
        Command::Generate => {
            let mut said = Vec::new();
            let (text, verdict) = match generate(output, &mut said) {
                Ok(made) => made,
                Err(failure) => {
                    said.extend(lines(&failure));
                    let verdict = match failure {
                        Failure::Unreadable(_) => Verdict::UNREADABLE,
                        _ => Verdict::UNUSABLE,
                    };
                    (String::new(), verdict)
                }
            };
            for line in short(said) {
                output.show(line);
            }
            if verdict == Verdict::default() && !app::interrupted() {
                output.print(text)?;
            }
            Ok(verdict)
        }
    }
}

/// What can't be read is claimed, too: left to another tool, it would be applied unseen.
fn discover(output: &mut Output) -> Result<Verdict, Failure> {
    let options = Options {
        checkout: true,
        ..Options::default()
    };
    let claimed = match Repo::open(Utf8Path::new("."), &options) {
        Ok(repo) => {
            let clusters = repo.clusters().iter().map(|c| c.path().to_string());
            let mut broken = repo.problems().iter().filter(|p| p.fatal);
            let broken = broken.find_map(|p| p.finding.location.as_ref());
            let broken = broken.map(|place| place.file.path().to_string());
            clusters.chain(broken).next()
        }
        Err(repo::Error::Configuration(_)) => Some(repo::CONFIG_FILE.to_owned()),
        Err(other) => return Err(other.into()),
    };
    if let Some(path) = claimed {
        output.print(format!("{}\n", InputText::new(&path).line()))?;
    }
    Ok(Verdict::default())
}

/// Announced defaults are not sent: [`Parameters::default`] has to say the same.
fn announcement() -> Value {
    json!([
        {
            "name": "fail-on", "title": "Refuse from this severity on",
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
            text => serde_json::from_str(text)
                .map_err(|e| wrong(format!("ARGOCD_APP_PARAMETERS is no JSON: {e}")))?,
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

/// The stream, and what is said on standard error.
fn generate(output: &Output, said: &mut Vec<String>) -> Result<(String, Verdict), Failure> {
    let text = std::env::var("ARGOCD_APP_PARAMETERS").unwrap_or_default();
    let parameters = Parameters::new(&text)?;
    let release = parameters.release.as_deref().map(repo::named_release);
    let options = Options {
        release: release.transpose()?,
        checkout: true,
        ..Options::default()
    };
    let repo = Repo::open(Utf8Path::new("."), &options)?;
    let found = clusters::everything(repo, Utf8PathBuf::from("."), options);
    let config = found.repo.config();
    let settings = Settings::configured(config)
        .map_err(|wrong| Failure::Configuration(wrong, found.root.clone()))?;
    let configured = || config.lint.fail_on.unwrap_or(Some(Severity::Error));
    let fail_on = parameters.fail_on.unwrap_or_else(configured);
    let chosen = found.chosen();
    if parameters.operands && chosen.len() > 1 {
        return Err(Failure::usage(
            format!("emit is operands, and there are {} clusters", chosen.len()),
            "give each cluster's directory an Application of its own",
        ));
    }
    let work = Work {
        lint: Some(&settings),
        yaml: parameters.operands,
        ..Work::default()
    };
    let mut findings = Findings::new(&found.repo, found.shard());
    let mut operands = String::new();
    let mut verdict = found.verdict;
    let progress = Progress::of(0, true);
    app::run(
        &found.repo,
        &chosen,
        &work,
        None,
        &progress,
        |mut outcome| {
            let name = &outcome.cluster;
            match &outcome.state {
                State::Done => {}
                State::Refused => verdict.failed |= parameters.operands,
                State::Unreadable => verdict.unreadable = true,
                State::Unusable => verdict.unusable |= parameters.operands || fail_on.is_some(),
                State::NoInventory => {
                    verdict.unusable = true;
                    said.push(format!(
                        "error: {name}: no inventory says which nodes there are"
                    ));
                }
                State::Panicked(what) => {
                    verdict.bug = true;
                    said.push(format!("error: {name}: hcoplan has a bug: {what}"));
                }
                State::Failed(error) => {
                    verdict.unusable = true;
                    said.push(format!("error: {name}: {error}"));
                }
            }
            operands.push_str(&outcome.printed);
            findings.add(&mut outcome);
            ControlFlow::Continue(())
        },
    );
    let settled = findings.settle(None, &settings, &found.root, output)?;
    verdict.failed |= settled.fail(fail_on);
    let mut sorted: Vec<&Finding> = settled.findings().iter().collect();
    sorted.sort_by_key(|f| std::cmp::Reverse(f.severity));
    said.extend(sorted.iter().map(|f| line(f)));
    if verdict != Verdict::default() {
        return Ok((String::new(), verdict));
    }
    let owned = sorted.iter().filter(|f| OWNED.contains(&f.rule.name));
    let mut left_out: BTreeMap<Utf8PathBuf, Vec<u32>> = BTreeMap::new();
    for place in owned.filter_map(|f| f.location.as_ref()) {
        let places = left_out.entry(place.file.path().to_owned()).or_default();
        places.push(place.span.start);
    }
    let mut text = manifests(&found.repo, &left_out, said)?;
    text.push_str(&operands);
    if text.is_empty() {
        said.push("error: there is no Kubernetes object below the application's path".to_owned());
        verdict.nothing_found = true;
    }
    Ok((text, verdict))
}

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
    format!(
        "{severity}: {}{message} [{rule}]",
        place.unwrap_or_default()
    )
}

fn lines(failure: &Failure) -> Vec<String> {
    match failure {
        Failure::Configuration(found, _) | Failure::Repo(repo::Error::Configuration(found)) => {
            found.iter().map(line).collect()
        }
        Failure::Repo(repo::Error::Unknown(unknown)) => {
            vec![
                format!("error: {unknown}"),
                format!("  help: {}", unknown.help),
            ]
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
        let expected = Parameters {
            fail_on: Some(Some(Severity::Error)),
            ..Parameters::default()
        };
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
