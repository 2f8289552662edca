//! Checks the documentation against the files it describes.

#[path = "budgets.rs"]
mod budgets;
#[path = "published_schema.rs"]
mod published_schema;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hcoplan::source::SourceFile;
use hcoplan::yaml::{self, Node};
use hcoplan_testing::annotations;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// README and the pages of `docs/` written by people.
fn pages() -> Vec<PathBuf> {
    let of_docs = fs::read_dir(root().join("docs")).expect("docs is readable");
    let of_docs = of_docs.map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> = of_docs.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// The pages of rules and examples, and those for contributors.
fn more_pages() -> Vec<PathBuf> {
    let examples = fs::read_dir(root().join("examples")).expect("examples");
    let examples = examples.map(|entry| entry.expect("an entry").path().join("README.md"));
    let below = ["docs/rules", "docs/contributing"].map(|d| fs::read_dir(root().join(d)).expect(d));
    let below = below.into_iter().flatten();
    let below = below.map(|entry| entry.expect("an entry").path());
    let below = below.filter(|path| path.extension().is_some_and(|e| e == "md"));
    below.chain(examples.filter(|p| p.is_file())).collect()
}

#[test]
fn the_readme_fits_a_screen_and_a_half() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 110, "{lines} lines: what is more belongs into docs/");
}

/// A row of the table in docs/contributing/channels.md: a channel and the job that fills it.
struct Channel {
    command: String,
    job: String,
    step: String,
}

fn channels() -> Vec<Channel> {
    let page = read("docs/contributing/channels.md");
    let (_, table) = page.split_once("## How each channel is published").expect("the table");
    let rows = table.lines().filter(|line| line.starts_with("| "));
    let channels: Vec<Channel> = rows
        .skip(1)
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            let cell = |at: usize| cells[at].trim().trim_matches('`').to_owned();
            Channel { command: cell(1), job: cell(2), step: cell(3) }
        })
        .collect();
    assert!(channels.len() > 10, "only {} channels", channels.len());
    channels
}

/// The text of a job's steps and matrix.
fn job_text(job: &Node) -> Vec<String> {
    let parts = ["steps", "strategy"].iter().filter_map(|key| job.get(key));
    parts.map(|part| part.to_json().to_string()).collect()
}

#[test]
fn every_channel_is_filled_by_a_step_of_the_release() {
    let file = SourceFile::new("release.yml", read(".github/workflows/release.yml"));
    let workflow = yaml::parse(&file);
    let jobs = workflow.documents[0].root.get("jobs").expect("jobs");
    for Channel { command, job: name, step } in channels() {
        let job = jobs.get(&name).unwrap_or_else(|| panic!("{command}: release.yml has no job {name}"));
        assert!(job.get("if").is_none(), "{command}: {name} runs only sometimes");
        let filled = job_text(job).iter().any(|text| text.contains(&step));
        assert!(filled, "{command}: no step of {name} has {step:?}");
    }
}

/// Whether a line installs hcoplan.
fn installs(line: &str) -> bool {
    const WAYS: &[&str] = &[
        "install ",
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

/// The code of a page: fenced lines and backticks.
fn code(page: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut fenced = false;
    for (number, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            out.push((number + 1, line.trim().to_owned()));
        } else {
            out.extend(line.split('`').skip(1).step_by(2).map(|text| (number + 1, text.to_owned())));
        }
    }
    out
}

#[test]
fn every_install_command_of_the_documentation_is_of_a_channel() {
    let channels = channels();
    let mut named = BTreeSet::new();
    for page in pages().into_iter().chain(more_pages()) {
        for (line, text) in code(&fs::read_to_string(&page).expect("readable")) {
            if !installs(&text) {
                continue;
            }
            let known = channels.iter().find(|channel| text.contains(&channel.command));
            let channel = known.unwrap_or_else(|| {
                panic!("{}:{line}: no channel of docs/contributing/channels.md has `{text}`", page.display())
            });
            named.insert(channel.command.clone());
        }
    }
    assert!(named.len() > 10, "{named:?}");
    assert!(installs("snap install hcoplan"), "a channel that nobody fills is an install command");
}

#[test]
fn the_page_about_gitlab_shows_the_job_that_init_writes() {
    let job = read("examples/gitlab/hcoplan.yml");
    assert!(read("docs/gitlab.md").contains(&format!("```yaml\n{job}```\n")));
}

#[test]
fn the_page_about_testdata_names_every_entry() {
    let page = read("testdata/README.md");
    let entries = fs::read_dir(root().join("testdata")).expect("testdata is readable");
    for entry in entries {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        let is_named = page.contains(&format!("`{name}`")) || page.contains(&format!("`{name}/"));
        assert!(is_named || name == "README.md", "testdata/README.md: {name}");
    }
}

/// Runs the binary in the repository; returns standard output.
fn hcoplan(arguments: &str) -> String {
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_hcoplan"))
        .args(arguments.split_whitespace())
        .current_dir(root())
        .output()
        .expect("hcoplan runs");
    String::from_utf8(done.stdout).expect("UTF-8")
}

#[test]
fn every_json_document_is_valid_by_its_schema() {
    let tree = tempfile::tempdir().expect("a directory");
    let plan = format!("plan examples/fleet --format json --out {}/rendered", tree.path().display());
    let nodes = "testdata/cli/import/in/must-gather";
    for (name, arguments) in [
        ("findings", "lint examples/fleet --pedantic --format json"),
        ("plan", &plan),
        ("diff", "diff examples/fleet --release 1.17..1.18 --format json"),
        ("argocd", "argocd examples/fleet --format json"),
        ("matrix", "matrix examples/fleet --format json"),
        ("release-list", "release list --format json"),
        ("release-diff", "release diff 1.16 1.19 --format json"),
        ("release-diff", "release diff 1.17 1.18 --format json"),
        ("release-diff", "release diff 1.18.0 1.20-dev --format json"),
        ("why", "why prod-east KubeVirt spec.configuration.migrations examples/fleet --format json"),
        ("why", "why prod-east AAQ examples/fleet --format json"),
        (
            "inventory-check",
            &format!("inventory check examples/fleet/clusters/prod-east/inventory.yaml {nodes} --format json"),
        ),
        (
            "inventory-check",
            "inventory check testdata/golden/cases/field-workloads-placement/inventory.yaml \
             testdata/golden/cases/arch-amd64-arm64-gate/nodes.yaml --format json",
        ),
    ] {
        valid(name, &hcoplan(arguments), arguments);
    }
    let rendered = hcoplan("render examples/fleet --format json");
    assert_eq!(rendered.lines().count(), 3);
    for line in rendered.lines() {
        valid("render", line, "render");
    }
}

fn valid(name: &str, document: &str, arguments: &str) {
    let printed = hcoplan(&format!("schema {name}"));
    assert_eq!(Some(printed.as_str()), hcoplan_schemas::document(name));
    let document = serde_json::from_str(document).unwrap_or_else(|e| panic!("{arguments}: {e}"));
    let errors = published_schema::errors(name, &document);
    assert_eq!(errors, [""; 0], "{arguments}");
    // The schema rejects something.
    assert_ne!(published_schema::errors(name, &7.into()), [""; 0], "{name}");
}

/// Pages that list the values of a field of the JSON: the text around the list, a value's form, and the schema's list.
const LISTED_VALUES: [(&str, [&str; 2], &str, &str, &str); 6] = [
    ("docs/report.md", ["| what it means |", "\n\n"], r"\| `([a-z]+)` \|", "matrix", "/$defs/cell/properties/state"),
    ("docs/report.md", ["`boots`: ", "A cell"], r"`([a-z' ]+)`: ", "matrix", "/$defs/outcome"),
    ("docs/upgrades.md", ["inventory (", ")"], r"`([a-z-]+)`", "inventory", "/properties/spec/properties/apply"),
    (
        "docs/github-action.md",
        ["`fail-on` | `error` |", " |"],
        r"`([a-z]+)`",
        "config",
        "/properties/lint/properties/failOn",
    ),
    ("action.yml", ["in a word: ", ";"], r"([a-z-]+)[,;]", "diff", "/$defs/review/properties/verdict"),
    ("action.yml", ["rating of the change: ", "\n"], r#"([a-z]+)[,"]"#, "diff", "/$defs/level"),
];

#[test]
fn pages_list_the_values_of_the_schemas() {
    for (page, [before, after], form, schema, pointer) in LISTED_VALUES {
        let text = read(page);
        let (at, _) = text.match_indices(before).next().unwrap_or_else(|| panic!("{page}: no {before:?}"));
        let end = at + before.len() + text[at + before.len()..].find(after).expect(after);
        let list = &text[at..end + after.len()];
        let form = regex::Regex::new(form).expect("an expression");
        let listed: BTreeSet<&str> = form.captures_iter(list).map(|c| c.extract::<1>().1[0]).collect();
        let schema: serde_json::Value =
            serde_json::from_str(hcoplan_schemas::document(schema).expect(schema)).expect("JSON");
        let values = schema.pointer(&format!("{pointer}/enum")).and_then(|v| v.as_array()).expect(pointer);
        let values: BTreeSet<&str> = values.iter().filter_map(|value| value.as_str()).collect();
        assert_eq!(listed, values, "{page}, {pointer}");
    }
}

/// The links of a page, except web addresses.
fn links(page: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Code may look like a link.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for (at, _) in prose.match_indices("](") {
            let target = prose[at + 2..].split(')').next().unwrap_or_default();
            if !target.starts_with("http") {
                out.push(target.to_owned());
            }
        }
    }
    out
}

/// The anchor of a heading on the forge and in mdBook.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    let mut pages = pages();
    let written = ["CONTRIBUTING.md", "SECURITY.md", "STABILITY.md", "testdata/README.md", "testdata/golden/README.md"];
    pages.extend(written.iter().map(|page| root().join(page)));
    pages.extend(more_pages());
    for page in pages {
        let text = fs::read_to_string(&page).expect("readable");
        let directory = page.parent().expect("a directory");
        // A release, and a new file, have a name that the reader fills in; the next release isn't there yet.
        let parts = text.split('`').filter(|part| !part.contains(['<', '*', ' ', '\n']) && !part.ends_with("/1.20"));
        for part in parts.filter(|part| ["crates/", "schemas/", "xtask/"].iter().any(|start| part.starts_with(start))) {
            assert!(root().join(part).exists(), "{}: there is no {part}", page.display());
        }
        for link in links(&text) {
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { directory.join(file) };
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            if !heading.is_empty() {
                let text = fs::read_to_string(&target).expect("readable");
                let known = text.lines().any(|l| l.starts_with('#') && anchor(l) == heading);
                assert!(known, "{}: there is no heading {link}", page.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 40, "only {checked} links");
}

#[test]
fn the_site_has_every_schema_where_its_id_says() {
    let book = read("book.toml");
    let (_, host) = book.split_once("cname = \"").expect("the site's host");
    let host = host.split('"').next().expect("it ends");
    let site = std::process::Command::new("bash").arg(root().join(".ci/site")).output().expect("bash runs");
    assert!(site.status.success(), "{site:?}");
    let mut served = 0;
    for entry in fs::read_dir(root().join("schemas")).expect("schemas") {
        let path = entry.expect("an entry").path();
        if !path.to_string_lossy().ends_with(".schema.json") {
            continue;
        }
        let text = read(&path);
        let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let id = schema["$id"].as_str().expect("an id");
        let below = id.strip_prefix(&format!("https://{host}/")).expect(id);
        // Other files than the book's pages are copied unchanged.
        assert!(read(Path::new("target/site-src").join(below)) == text, "{id}");
        served += 1;
    }
    assert!(served > 10, "{served}");
    assert!(read(".github/workflows/site.yml").contains("\"schemas/*.json\""));
}

#[test]
fn every_page_is_in_the_site_and_reached_from_the_first_one() {
    let summary = read("docs/SUMMARY.md");
    let docs = root().join("docs").canonicalize().expect("docs");
    let (mut reached, mut open) = (BTreeSet::new(), vec![docs.join("README.md")]);
    while let Some(page) = open.pop() {
        if !reached.insert(page.clone()) {
            continue;
        }
        let text = fs::read_to_string(&page).expect("readable");
        let targets =
            links(&text).into_iter().map(|link| page.with_file_name(link.split('#').next().unwrap_or_default()));
        let pages = targets.filter(|target| target.extension().is_some_and(|e| e == "md"));
        open.extend(pages.filter_map(|target| target.canonicalize().ok()).filter(|target| target.starts_with(&docs)));
    }
    let here = root().join("docs");
    for page in pages().into_iter().chain(more_pages()).filter(|page| page.starts_with(&here)) {
        let name = page.strip_prefix(&here).expect("in docs").display().to_string();
        if name == "README.md" || name == "SUMMARY.md" {
            continue;
        }
        assert!(
            reached.contains(&page.canonicalize().expect("there")),
            "no page that docs/README.md leads to has a link to {name}"
        );
        // `.ci/site` adds the pages of rules.
        let is_of_rule = name.starts_with("rules/") && name != "rules/README.md";
        assert!(is_of_rule || summary.contains(&format!("({name})")), "docs/SUMMARY.md lacks {name}");
    }
}

/// Subcommand and long options of a line's commands, up to a pipe, redirection or comment.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for part in line.split(['|', ';', '#']).flat_map(|p| p.split("&&")) {
        let words: Vec<&str> = part.split_whitespace().take_while(|w| !w.starts_with('>')).collect();
        let start = words.iter().position(|w| *w == "hcoplan");
        // `docker run … hcoplan`, `cargo install hcoplan` and similar are commands of other programs.
        let own = start.filter(|at| words[..*at].iter().all(|w| *w == "$" || w.contains('=') || *w == "-"));
        if let Some(at) = own {
            out.push(words[at + 1..].iter().map(|w| (*w).to_owned()).collect());
        }
    }
    out
}

#[test]
fn every_command_of_the_documentation_has_its_options() {
    let mut known: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    let mut checked = 0;
    for page in pages().into_iter().chain(more_pages()) {
        for (line, text) in code(&fs::read_to_string(&page).expect("readable")) {
            for command in commands(&text) {
                let is_name = |w: &&String| w.chars().all(|c| c.is_ascii_lowercase() || c == '-');
                let Some(first) = command.first().filter(|w| is_name(w) && !w.starts_with('-')) else {
                    continue;
                };
                let nested = ["inventory", "release", "cmp"].contains(&first.as_str());
                let second = command.get(1).filter(|w| nested && is_name(w) && !w.starts_with('-'));
                let name = [Some(first), second].into_iter().flatten();
                let name = name.map(String::as_str).collect::<Vec<_>>().join(" ");
                let help = known.entry(name.clone()).or_insert_with(|| hcoplan(&format!("{name} --help")));
                let place = format!("{}:{line}", page.display());
                assert!(help.contains("Usage: hcoplan"), "{place}: there is no `hcoplan {name}`");
                for option in command.iter().filter(|w| w.starts_with("--")) {
                    let option = option.split('=').next().unwrap_or_default();
                    let option = option.trim_end_matches(|c: char| !c.is_alphanumeric());
                    let has = help.split_whitespace().any(|w| w.trim_end_matches(',') == option);
                    assert!(has, "{place}: hcoplan {name} has no {option}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 40, "only {checked} options");
}

/// The text files below a directory, with paths relative to the root.
fn texts_below(directory: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(directory)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("readable").map(|entry| entry.expect("an entry").path()));
        } else if let Ok(text) = fs::read_to_string(&path) {
            found.push((path.strip_prefix(root()).expect("below").display().to_string(), text));
        }
    }
    found.sort();
    found
}

/// `--help` of hcoplan and every subcommand, with the command.
fn helps() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    while let Some(command) = open.pop() {
        let help = hcoplan(&format!("{command} --help"));
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        open.extend(names.map(|name| format!("{command} {name}")));
        found.push((format!("hcoplan{command} --help"), help));
    }
    found
}

/// Messages with their sources: findings of fixtures, output of commands, help.
fn messages() -> Vec<(String, String)> {
    let lines = |(place, text): (String, String)| -> Vec<(String, String)> {
        text.lines().zip(1..).map(|(line, n)| (format!("{place}:{n}"), line.to_owned())).collect()
    };
    let fixtures = texts_below("testdata/lint").into_iter().flat_map(lines);
    let fixtures = fixtures.filter(|(_, line)| line.trim_start().starts_with(annotations::MARKER));
    let consoles = texts_below("testdata/cli").into_iter().filter(|(path, _)| path.ends_with("/console"));
    fixtures.chain(consoles.flat_map(lines)).chain(helps().into_iter().flat_map(lines)).collect()
}

/// The texts for users and contributors with their paths: pages, the Action's inputs, schemas.
fn pages_and_schemas() -> Vec<(String, String)> {
    let own = [
        "CONTRIBUTING.md",
        "SECURITY.md",
        "STABILITY.md",
        "action.yml",
        "comment/action.yml",
        "testdata/golden/README.md",
        "testdata/README.md",
    ];
    let files = pages().into_iter().chain(more_pages()).chain(own.map(|name| root().join(name)));
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    let crates = crates.map(|entry| entry.expect("an entry").path().join("README.md"));
    let files = files.chain(crates.filter(|path| path.is_file()));
    let files = files.map(|path| (path.display().to_string(), fs::read_to_string(&path).expect("readable")));
    let schemas = texts_below("schemas").into_iter().filter(|(path, _)| path.ends_with(".schema.json"));
    files.chain(schemas).collect()
}

/// The paragraphs, items, cells, options and descriptions of a text, each in one line, without code.
fn paragraphs(text: &str) -> Vec<String> {
    let starts =
        regex::Regex::new(r#"^([-*>]|hcoplan|\d+\.|"?[\w-]+"?:) |^\S+( \S+)*\s{2,}\S"#).expect("an expression");
    let mut found = vec![String::new()];
    let mut fenced = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if let Some(row) = line.strip_prefix('|').filter(|_| !fenced) {
            found.extend(row.split('|').map(str::to_owned));
        } else if !fenced {
            if line.is_empty() || line.starts_with(['#', '-']) || starts.is_match(line) {
                found.push(String::new());
            }
            let last = found.last_mut().expect("the first");
            *last += " ";
            *last += line;
        }
    }
    found
}

#[test]
fn users_read_plain_words() {
    let list = read("testdata/words.txt");
    let phrases = list.lines().filter(|line| !line.starts_with('#'));
    let phrases: Vec<_> = phrases
        .map(|line| {
            let (phrase, instead) = line.split_once(" -> ").expect("a phrase and what to write instead");
            (regex::Regex::new(phrase).expect("an expression"), instead)
        })
        .collect();
    let mut texts = pages_and_schemas();
    texts.extend(messages());
    assert!(texts.len() > 10_000, "only {} texts", texts.len());
    let mut wrong = Vec::new();
    for (place, text) in &texts {
        for line in text.lines() {
            let lower = line.to_lowercase();
            let found = phrases.iter().filter_map(|(phrase, instead)| Some((phrase.find(&lower)?.as_str(), instead)));
            wrong.extend(found.map(|(phrase, instead)| format!("{place}: {phrase:?}: {instead}: {line}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A sentence ends with a full stop, colon or semicolon; a quotation counts as a word. Consoles have lists of any
/// length.
#[test]
fn sentences_have_at_most_thirty_words() {
    let quoted = regex::Regex::new(r#"`[^`]*`|"[^"]*"|\]\([^)]*\)"#).expect("an expression");
    let end = regex::Regex::new(r"[.:;!?]\)? ").expect("an expression");
    let described = regex::Regex::new(r#"^\s*"?description"?: (.*)"#).expect("an expression");
    let mut wrong = Vec::new();
    let messages = messages().into_iter().filter(|(place, _)| !place.contains("/console:"));
    for (place, text) in pages_and_schemas().into_iter().chain(helps()).chain(messages) {
        let mut prose = paragraphs(&text);
        if place.ends_with(".json") || place.ends_with(".yml") {
            let text = |line: &String| Some(described.captures(line)?[1].trim_matches(['"', ',']).to_owned());
            prose = prose.iter().filter_map(text).collect();
        }
        for paragraph in prose {
            let text = quoted.replace_all(&paragraph, "quoted");
            let long = end.split(&text).filter(|sentence| sentence.split_whitespace().count() > 30);
            wrong.extend(long.map(|sentence| format!("{place}: {sentence}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Build scripts and macros of dependencies are third-party code: they must run in jobs without a token.
#[test]
fn no_job_with_a_token_runs_build_scripts() {
    let script = regex::Regex::new(r"(?:\.ci|packaging)/[a-z]+").expect("a pattern");
    let mut tokens = 0;
    for file in fs::read_dir(root().join(".github/workflows")).expect("workflows") {
        let path = file.expect("a workflow").path();
        let name = path.display();
        let workflow = yaml::parse(&SourceFile::new("workflow.yml", read(&path)));
        let top = &workflow.documents[0].root;
        for job in top.get("jobs").expect("jobs").entries() {
            let permissions = job.value.get("permissions").or_else(|| top.get("permissions"));
            let permissions = permissions.unwrap_or_else(|| panic!("{name}: {} has no permissions", job.key.text));
            assert!(permissions.as_str().is_none(), "{name}: {} has every permission", job.key.text);
            // Uploading the results of a scan isn't a release.
            let writes = |e: &yaml::Entry| e.value.as_str() == Some("write") && e.key.text != "security-events";
            let has_secret = job.value.to_json().to_string().contains("secrets.");
            if !has_secret && !permissions.entries().iter().any(writes) {
                continue;
            }
            tokens += 1;
            let mut texts = job_text(&job.value);
            let named = texts.iter().flat_map(|text| script.find_iter(text)).map(|found| found.as_str());
            let scripts: Vec<String> = named.filter(|path| root().join(path).is_file()).map(read).collect();
            texts.extend(scripts);
            for line in texts.iter().flat_map(|text| text.split("\\n")).flat_map(str::lines) {
                let publishes = line.contains("cargo publish") && line.contains("--no-verify");
                let builds = ["cargo ", "rustc ", "npm ", "npx ", "pip install", "make ", "go build"];
                let builds = builds.iter().any(|b| line.contains(b)) && !publishes;
                let lays_out = line.contains("BINARY=released");
                let image = ["docker build", "buildx build"].iter().any(|b| line.contains(b)) && !lays_out;
                let is_comment = line.trim_start().starts_with('#');
                assert!(is_comment || !builds && !image, "{name}: {} has a token and builds: {line}", job.key.text);
            }
        }
    }
    assert!(tokens >= 5, "{tokens} jobs with a token");
}
