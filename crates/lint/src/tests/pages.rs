//! `docs/rules/README.md`: the list of all rules.

use std::fmt::Write;
use std::fs;

use hcoplan_diagnostics::finding::{Group, Prediction};

use crate::page::sentence;
use crate::rules::RULES;
use crate::{find, rules};

#[test]
fn the_list_of_pages_is_current() {
    let path = hcoplan_testing::root().join("docs/rules/README.md");
    let expected = index();
    if fs::read_to_string(&path).unwrap_or_default() == expected {
        return;
    }
    let overwrites = std::env::var("SNAPSHOTS").is_ok_and(|s| s == "overwrite");
    assert!(overwrites, "docs/rules/README.md differs from the rules; expected:\n{expected}");
    fs::write(&path, expected).expect("docs/rules can be written");
}

#[test]
fn each_check_has_a_page() {
    for (file, _) in RULES {
        assert!(find(&file.replace('_', "-")).is_some(), "docs/rules has no page for rules/{file}.rs");
    }
}

/// The index of all rules by group.
fn index() -> String {
    let mut out = String::from(
        "# Rules\n\n`hcoplan explain RULE` prints these pages.\n\nAn example is a part of a repository: without `kind` it \
         is part of a HyperConverged, and a fragment belongs where its first key is. The quote below it is the message of \
         `hcoplan lint`. A test runs all examples and remedies.\n\nHigh confidence: the finding follows from rendered \
         objects or recorded behaviour. Medium: it is right unless something outside git changes it. Low: a hint.\n\n\
         An error about a HyperConverged that the API server rejects can't be suppressed. For all others a comment \
         `# hcoplan: ignore[RULE] reason` above the line is enough ([suppressions](../baseline.md)).\n",
    );
    for group in Group::ALL {
        let mut of_group = rules().iter().filter(|r| r.rule.group == group).peekable();
        if of_group.peek().is_none() {
            continue;
        }
        let _ = writeln!(out, "\n## {}\n\n{}.\n", group.as_str(), sentence(about(group)));
        out.push_str("| rule | severity | finds | predicts |\n|---|---|---|---|\n");
        for rule in of_group.map(|r| r.rule) {
            let (name, severity) = (rule.name, rule.severity.as_str());
            let predicts = match rule.predicts {
                Prediction::Alert { name, .. } => name,
                Prediction::Rejection(_) => "rejection",
                Prediction::ReconcileError(_) => "reconcile error",
                Prediction::Silent(_) => "",
            };
            let pedantic = if rule.pedantic { " (pedantic)" } else { "" };
            let summary = rule.summary;
            let _ = writeln!(out, "| [{name}]({name}.md) | {severity}{pedantic} | {summary} | {predicts} |");
        }
    }
    out
}

/// The subject of a group.
fn about(group: Group) -> &'static str {
    match group {
        Group::Heterogeneous => "clusters whose nodes have several architectures",
        Group::GoldenImages => "golden images: DataImportCronTemplates and their imports",
        Group::Jsonpatch => "the jsonpatch annotations",
        Group::Placement => "node placement and topology",
        Group::Admission => "what the API server or a webhook rejects, or accepts although it breaks later",
        Group::Upgrade => "what an upgrade changes",
        Group::Gitops => "how the manifests are kept in git",
        Group::Operands => "operand objects that are also managed elsewhere",
        Group::Bundle => "operators' bundles that claim to be multi-arch",
        Group::Hygiene => "YAML itself, and the inventory",
    }
}
