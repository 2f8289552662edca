//! Suggestions for words and options of other tools.

/// Subcommands of other tools, and what to type instead.
pub(super) const SUBCOMMANDS: &[(&[&str], &str)] = &[
    (
        &["check", "test", "validate", "verify", "scan"],
        "`hcoplan lint` checks the manifests; `hcoplan render --out DIR --check` rendered files",
    ),
    (
        &["apply", "deploy", "install", "sync"],
        "hcoplan changes no cluster: `hcoplan plan` shows what applying would do",
    ),
    (&["upgrade"], "`hcoplan plan --upgrade-to 1.19` says what another release makes of the same files"),
    (&["version"], "`hcoplan --version` prints it"),
    (&["baseline"], "`hcoplan lint --baseline FILE --update-baseline` writes one"),
    (
        &["rules", "list", "alerts", "gates", "docs"],
        "`hcoplan explain` lists rules, alerts, annotations, feature gates and fields",
    ),
    (&["show", "build", "template", "generate", "manifests"], "`hcoplan render` prints what HCO and SSP would create"),
    (&["migrate", "convert"], "`hcoplan fix --migrate v1` shows v1beta1 as v1; with --write it changes the file"),
    (&["format", "fmt"], "`hcoplan fix` shows the fixes"),
    (
        &["drift"],
        "`hcoplan diff --live FILE` compares with what a cluster runs, `hcoplan inventory check INVENTORY DUMP` its nodes",
    ),
    (&["clusters", "status"], "`hcoplan lint --show-files` says which clusters there are, and what each is made of"),
    (&["config"], "`hcoplan init` writes hcoplan.yaml; `hcoplan schema config` says what may be in it"),
    (&["language-server", "server"], "`hcoplan lsp` is the language server"),
];

/// Options of other tools, the equivalent option here, and what to type instead, with CMD for the subcommand.
pub(super) const OPTIONS: &[(&[&str], &str, &str)] = &[
    (
        &["-o", "--output", "--output-file", "--out-file"],
        "format",
        "results are printed: `hcoplan CMD > FILE` writes them to a file",
    ),
    (
        &["--from", "--base", "--since", "--rev", "--revision", "--ref", "--before"],
        "against",
        "`hcoplan CMD --against REV` compares with a revision of git",
    ),
    (&["--to", "--upgrade", "--target", "--target-release"], "upgrade-to", "`hcoplan CMD --upgrade-to 1.19`"),
    (
        &["--disable", "--skip", "--skip-rule", "--exclude-rule"],
        "ignore",
        "`hcoplan CMD --ignore RULE` leaves a rule out",
    ),
    (&["--enable", "--rules", "--only-rule"], "select", "`hcoplan CMD --select RULE` runs some rules only"),
    (&["--strict", "--fail", "--fail-on-warning", "--max-warnings"], "fail-on", "`hcoplan CMD --fail-on warning`"),
    (
        &["--apply", "--in-place", "--fix", "--yes", "-y", "-w", "-i"],
        "write",
        "`hcoplan CMD --write` changes the files",
    ),
    (&["--dry-run", "--diff", "-n"], "write", "`hcoplan CMD` alone shows what it would change and writes nothing"),
    (
        &["--dry-run"],
        "check",
        "`hcoplan CMD` writes nothing without --out; `hcoplan render --out DIR --check` fails where DIR is stale",
    ),
    (&["--fix", "--write"], "statistics", "`hcoplan fix` fixes findings"),
    (
        &["--all", "-A", "--all-clusters"],
        "cluster",
        "every cluster is looked at unless --cluster names some: `hcoplan CMD`",
    ),
    (&["-c", "--name", "--clusters"], "cluster", "`hcoplan CMD --cluster GLOB`"),
    (
        &["--kubeconfig", "--context", "--server", "--token"],
        "live",
        "hcoplan talks to no cluster: `hcoplan CMD --live FILE` reads what \
         `kubectl get hyperconverged -A -o yaml` printed",
    ),
    (&["--version", "--hco-version"], "release", "`hcoplan CMD --release 1.18`"),
    (&["--no-color", "--no-colour", "--plain"], "color", "`hcoplan CMD --color never`"),
];

/// Options of other tools for directories, which are positional arguments here.
pub(super) const PATHS: &[&str] =
    &["-f", "--file", "--filename", "-d", "--dir", "--directory", "-p", "--path", "-C", "--chdir", "-R", "--recursive"];

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;
    use crate::cli::command_line::Arguments;
    use crate::cli::mistakes::{command_line, takes, takes_directory};

    /// The commands in a suggestion, with placeholders filled in.
    fn commands(tip: &str) -> Vec<String> {
        let quoted = tip.split('`').skip(1).step_by(2);
        quoted.filter(|c| c.starts_with("hcoplan ")).map(str::to_owned).collect()
    }

    #[test]
    fn suggestions_can_be_typed() {
        let mut tried = 0;
        let mut parses = |command: &str| {
            tried += 1;
            let parsed = Arguments::command().try_get_matches_from(command.split_whitespace());
            let parsed = parsed.err().filter(|e| e.kind() != ErrorKind::DisplayVersion);
            assert!(parsed.is_none(), "{command}: {}", parsed.expect("an error"));
        };
        for (_, tip) in SUBCOMMANDS {
            commands(tip).iter().for_each(|c| parses(c));
        }
        let all = command_line();
        for (words, ours, tip) in OPTIONS {
            let takers: Vec<_> = all.get_subcommands().filter(|c| takes(c, ours)).collect();
            assert!(!takers.is_empty(), "{ours}");
            for subcommand in takers.iter().filter(|c| c.get_name() != "why" && takes_directory(c)) {
                for command in commands(tip) {
                    let command = command.replace("CMD", subcommand.get_name());
                    let command = command.replace("RULE", "jsonpatch-present");
                    parses(command.split('>').next().unwrap_or_default());
                }
            }
            assert!(!words.is_empty());
        }
        assert!(tried > 60, "{tried}");
    }

    #[test]
    fn nothing_that_can_be_typed_is_called_a_mistake() {
        let all = command_line();
        for (words, _) in SUBCOMMANDS {
            for word in *words {
                assert!(all.find_subcommand(word).is_none(), "{word}");
            }
        }
    }
}
