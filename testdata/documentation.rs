//! What the documentation promises, held against what keeps the promise.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hcoplan::source::SourceFile;
use hcoplan::yaml::{self, Node};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// README and every page of `docs/` that a person has written.
fn pages() -> Vec<PathBuf> {
    let of_docs = fs::read_dir(root().join("docs")).expect("docs is readable");
    let of_docs = of_docs.map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> = of_docs
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// A row of the table of docs/install.md that says which job fills a channel.
struct Channel {
    command: String,
    job: String,
    step: String,
}

fn channels() -> Vec<Channel> {
    let page = read("docs/install.md");
    let (_, table) = page
        .split_once("## What publishes what")
        .expect("the table");
    let rows = table.lines().filter(|line| line.starts_with("| "));
    let channels: Vec<Channel> = rows
        .skip(1)
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            let cell = |at: usize| cells[at].trim().trim_matches('`').to_owned();
            Channel {
                command: cell(1),
                job: cell(2),
                step: cell(3),
            }
        })
        .collect();
    assert!(channels.len() > 10, "only {} channels", channels.len());
    channels
}

/// The text of a job's steps and of its matrix.
fn job_text(job: &Node) -> Vec<String> {
    let parts = ["steps", "strategy"].iter().filter_map(|key| job.get(key));
    parts.map(|part| part.to_json().to_string()).collect()
}

#[test]
fn every_channel_is_filled_by_a_step_of_the_release() {
    let file = SourceFile::new("release.yml", read(".github/workflows/release.yml"));
    let workflow = yaml::parse(&file);
    let jobs = workflow.documents[0].root.get("jobs").expect("jobs");
    for Channel {
        command,
        job: name,
        step,
    } in channels()
    {
        let job = jobs
            .get(&name)
            .unwrap_or_else(|| panic!("{command}: release.yml has no job {name}"));
        assert!(
            job.get("if").is_none(),
            "{command}: {name} runs only sometimes"
        );
        let filled = job_text(job).iter().any(|text| text.contains(&step));
        assert!(filled, "{command}: no step of {name} has {step:?}");
    }
}

/// What a reader would copy to install something, hcoplan by its name.
fn installs(line: &str) -> bool {
    const WAYS: &[&str] = &[
        "install ",
        "brew ",
        "krew ",
        "mise ",
        "asdf ",
        "uvx ",
        "npx ",
        "docker run",
        "podman run",
        "image:",
        "ghcr.io",
        "releases/download",
        "component:",
        "repo:",
        "uses:",
        "kubectl apply -f http",
        "apt ",
        "dnf ",
        "snap ",
        "choco ",
        "scoop ",
        "winget ",
        "nix ",
    ];
    line.contains("hcoplan") && WAYS.iter().any(|way| line.contains(way))
}

/// The code of a page: fenced lines and what stands between backticks.
fn code(page: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut fenced = false;
    for (number, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            out.push((number + 1, line.trim().to_owned()));
        } else {
            out.extend(
                line.split('`')
                    .skip(1)
                    .step_by(2)
                    .map(|text| (number + 1, text.to_owned())),
            );
        }
    }
    out
}

#[test]
fn every_install_command_of_the_documentation_is_of_a_channel() {
    let channels = channels();
    let mut named = BTreeSet::new();
    for page in pages() {
        for (line, text) in code(&fs::read_to_string(&page).expect("readable")) {
            if !installs(&text) {
                continue;
            }
            let known = channels
                .iter()
                .find(|channel| text.contains(&channel.command));
            let channel = known.unwrap_or_else(|| {
                panic!(
                    "{}:{line}: no channel of docs/install.md has `{text}`",
                    page.display()
                )
            });
            named.insert(channel.command.clone());
        }
    }
    assert!(named.len() > 10, "{named:?}");
    assert!(
        installs("snap install hcoplan"),
        "a channel that nobody fills is an install command"
    );
}

#[test]
fn the_page_about_testdata_names_every_entry() {
    let page = read("testdata/README.md");
    let entries = fs::read_dir(root().join("testdata")).expect("testdata is readable");
    for entry in entries {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        let is_named = page.contains(&format!("`{name}`")) || page.contains(&format!("`{name}/"));
        assert!(
            is_named || name == "README.md",
            "testdata/README.md: {name}"
        );
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = pages();
    let written = ["CONTRIBUTING.md", "SECURITY.md", "testdata/README.md"];
    pages.extend(written.iter().map(|page| root().join(page)));
    let beside = fs::read_dir(root().join("docs/contributing")).expect("docs/contributing");
    pages.extend(beside.map(|entry| entry.expect("an entry").path()));
    let mut lost = Vec::new();
    for page in pages {
        let text = read(&page);
        for link in text.split("](").skip(1).filter_map(|t| t.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let is_file = !target.is_empty() && !target.contains(':') && !target.contains(' ');
            if is_file && !page.parent().expect("a directory").join(target).exists() {
                lost.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
