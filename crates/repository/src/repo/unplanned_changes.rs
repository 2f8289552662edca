//! Changes of files that decide about something which isn't planned: its effect is unknown, not none.

use super::applied_changes::{role_of, settings_about};
use super::build::BUILT;
use super::candidate::is_candidate;
use super::charts::{CHART, chart_of, dependents};
use super::gitops::is_absent;
use super::helm::named_value_files;
use super::mentions::{has, has_any};
use super::nodes::filled;
use super::paths::{files_of, parent, path_words, start_of};
use super::{ClusterRef, Repo, UNPLANNED};
use crate::prelude::*;
use crate::repo::fields;

/// The findings about changed files that belong to something which isn't planned in `after`, or wasn't in `before`.
pub fn unplanned_changes(before: &Repo, after: &Repo, changed: &OnceLock<ChangedFiles>) -> Vec<Finding> {
    let all = [after, before].into_iter().flat_map(|r| r.problems().iter().map(|p| &p.finding).chain(r.findings()));
    let unplanned = all.filter(|f| UNPLANNED.contains(&f.rule.name));
    changes([before, after], changed, unplanned.collect(), true)
}

/// The findings about changed files from which an unknown value of a planned manifest may be filled in, and about what
/// applies the manifest and is no known controller: a task of Ansible, Terraform, kapp-controller. `found` are the
/// findings about the cluster.
pub fn changes_of_users(
    before: &Repo,
    after: &Repo,
    changed: &OnceLock<ChangedFiles>,
    was: &ClusterRef,
    found: &[Finding],
) -> Vec<Finding> {
    let unknown = found.iter().filter(|f| f.rule.name == VALUE_UNKNOWN.name);
    let mut out = changes([before, after], changed, unknown.collect(), false);
    let all = changed.get_or_init(|| ChangedFiles::between([before, after]));
    let [old, new] = [(before, 0), (after, 1)].map(|(repo, side)| all.users(repo, side, was));
    let lost = old.iter().find(|(_, said)| !new.iter().any(|(_, now)| now == said));
    out.extend(lost.map(|(path, _)| {
        let message = format!("`{path}` says something else of `{}`, which is not planned", was.named_path());
        not_planned(message, start_of(path))
    }));
    out
}

fn changes(
    sides: [&Repo; 2],
    changed: &OnceLock<ChangedFiles>,
    mut found: Vec<&Finding>,
    is_unplanned: bool,
) -> Vec<Finding> {
    let mut units = BTreeSet::new();
    found.retain(|f| f.file().is_some_and(|file| units.insert(file.to_owned())));
    if found.is_empty() {
        return Vec::new();
    }
    let all = changed.get_or_init(|| ChangedFiles::between(sides));
    if all.files.is_empty() {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut reported = BTreeSet::new();
    for finding in found {
        let Some(place) = &finding.location else { continue };
        let changed = all.of(sides, place.file.path(), is_unplanned);
        let Some(first) = changed.first().filter(|_| reported.insert(changed.clone())) else { continue };
        // What is built here is named by its directory.
        let first = if first.file_name() == Some(BUILT) { parent(first) } else { first };
        let more = match changed.len() - 1 {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        // What is built here has no file of its own.
        let written = place.origin().unwrap_or_else(|| place.clone());
        let what = written.file.path();
        let message = if first == what {
            format!("`{first}`{more} changes, which is not planned")
        } else if is_unplanned {
            format!("`{first}`{more} changes, and what `{what}` makes of it is not planned")
        } else {
            format!("`{first}`{more} changes, from which a value in `{what}` may be filled in")
        };
        out.push(not_planned(message, place.clone()));
    }
    out
}

/// The finding about a change whose effect isn't known.
fn not_planned(message: String, place: Location) -> Finding {
    Finding::new(&CHANGE_NOT_PLANNED, message)
        .at(place)
        .label("its effect is unknown")
        .help("look at what the tool makes of it before you merge it: `… | hcoplan lint -`")
}

/// The files that differ between two sides; found once for all clusters.
#[derive(Debug, Default)]
pub struct ChangedFiles {
    /// Each with what it is on both sides.
    files: BTreeMap<Utf8PathBuf, Vec<Mentioned>>,
    /// The files that are planned, which the plan shows.
    planned: BTreeSet<Utf8PathBuf>,
    /// The files with what it is known to substitute, also by expressions that aren't computed here.
    variables: BTreeSet<Utf8PathBuf>,
    /// The files of each side that may name any of them.
    namers: [OnceLock<Vec<Arc<SourceFile>>>; 2],
}

impl ChangedFiles {
    fn between(sides: [&Repo; 2]) -> Self {
        let is_changed = |path: &Utf8PathBuf| {
            let [old, new] = sides.map(|repo| repo.tree.read(path).ok());
            old != new
        };
        let files: BTreeSet<Utf8PathBuf> = sides.into_iter().flat_map(|repo| files_of(&*repo.tree)).collect();
        let changed = files.into_iter().filter(is_changed).map(|path| (path.clone(), Mentioned::of(sides, &path)));
        let files: BTreeMap<Utf8PathBuf, Vec<Mentioned>> = changed.collect();
        if files.is_empty() {
            return Self::default();
        }
        let planned = sides.into_iter().flat_map(Repo::planned_files).collect();
        let variables = sides.into_iter().flat_map(Repo::files_of_variables).collect();
        Self { files, planned, variables, namers: Default::default() }
    }

    /// What they say of a cluster's file, by its path, its directory's or the name of its role.
    fn users(&self, repo: &Repo, side: usize, cluster: &ClusterRef) -> Vec<(&Utf8Path, String)> {
        let rendered: Vec<&Utf8Path> = repo.charts_of(cluster).collect();
        let is_rendered = !rendered.is_empty();
        let targets: Vec<&Utf8Path> =
            [cluster.path(), cluster.directory()].into_iter().chain(rendered.clone()).collect();
        let role = role_of(cluster.path()).and_then(Utf8Path::file_name);
        let names: Vec<&str> = targets.iter().filter_map(|target| target.file_name()).chain(role).collect();
        let templates = repo.controllers_in_charts().iter();
        let charts: BTreeSet<&Utf8Path> = templates.filter_map(|one| chart_of(&*repo.tree, one.file.path())).collect();
        let mut out = Vec::new();
        for (path, sides) in &self.files {
            let is_in_chart = charts.iter().any(|chart| path.starts_with(chart));
            let may = is_in_chart || sides.iter().any(|side| has_any(side.file.text(), &names));
            let one = sides.iter().find(|one| one.side == side).filter(|_| !self.planned.contains(path));
            let Some(Mentioned { file, .. }) = one.filter(|_| may || is_rendered) else { continue };
            if is_rendered && self.may_be_values((repo, side), (path, sides), &rendered) {
                out.push((&**path, file.text().to_owned()));
            }
            let runs = !is_document(path) && (is_rendered || has_any(file.text(), fields::of("commands.appliers")));
            // A role's tasks name its files and templates without their directories.
            let is_it = |word: &str| {
                let is_any =
                    |part: &&str| targets.iter().any(|target| leads_to(&format!("{part}{word}"), path, target));
                word.contains(['/', '.']) && ["", "files/", "templates/"].iter().any(is_any)
            };
            // An Application in a chart's template, and the values that it takes.
            if is_in_chart {
                let parts = blocks(file.text(), &|word| is_it(word) || names.contains(&word));
                out.extend(parts.into_iter().map(|part| (&**path, part)));
                // The directory itself may be filled in.
                let made = repo.applied()[1].around(cluster.directory()).filter(|by| by.document.file.path() == *path);
                out.extend(made.map(|by| (&**path, by.settings().to_string())));
                continue;
            }
            if path.extension() == Some("tf") {
                let blocks = file.text().split("\n}").filter(|block| path_words(block).any(is_it));
                out.extend(blocks.map(|block| (&**path, block.trim().to_owned())));
            } else if runs && !is_candidate(path) {
                out.extend(blocks(file.text(), &is_it).into_iter().map(|part| (&**path, part)));
            }
            out.extend(documents_of(file).iter().map(|document| &document.root).filter_map(|root| {
                let kind = root.text("kind");
                // A report in JSON is no list of tasks.
                let is_list = !root.items().is_empty() && path.extension() != Some("json");
                let is_ansible = kind.is_empty() && (is_list || root.get("dependencies").is_some());
                let names_it = |node: &Node| {
                    let text = node.as_str().unwrap_or_default();
                    path_words(text).any(is_it) || is_ansible && role == Some(text)
                };
                let is_meant = is_ansible || runs && kind.is_empty() || fields::has("appliers", kind);
                Some((&**path, settings_about(root, &names_it).filter(|_| is_meant)?))
            }));
        }
        out
    }

    /// Whether a file may hold the values with which something that isn't a known controller renders one of some charts: a
    /// script, a helmfile.
    fn may_be_values(
        &self,
        (repo, side): (&Repo, usize),
        (path, sides): (&Utf8Path, &[Mentioned]),
        charts: &[&Utf8Path],
    ) -> bool {
        let namers = self.namers[side].get_or_init(|| {
            let names: Vec<&str> = self.files.keys().filter_map(|path| path.file_name()).collect();
            let files = repo.paths.iter().filter_map(|path| repo.tree.source(path).ok());
            files.filter(|file| has_any(file.text(), &names) && !is_document(file.path())).collect()
        });
        let names = |by: &SourceFile, meant: &Utf8Path| {
            meant != by.path() && path_words(by.text()).any(|word| leads_to(word, by.path(), meant))
        };
        let is_object = || sides.iter().any(|side| !side.objects().is_empty());
        (holds_variables(path) || is_candidate(path) && !is_object())
            && namers.iter().any(|by| names(by, path) && charts.iter().any(|chart| names(by, chart)))
    }

    /// Those that may decide about what a file has, itself first.
    fn of(&self, sides: [&Repo; 2], file: &Utf8Path, is_unplanned: bool) -> Vec<Utf8PathBuf> {
        let chart = sides.into_iter().find_map(|repo| chart_of(&*repo.tree, file));
        let directory = chart.unwrap_or_else(|| parent(file));
        let is_script = !is_candidate(file);
        let of_chart = |repo: &Repo| chart.map(|chart| repo.inputs_of_chart(chart)).unwrap_or_default();
        let named: BTreeSet<Utf8PathBuf> = sides.into_iter().flat_map(of_chart).collect();
        let appliers = sides.into_iter().flat_map(|repo| repo.gitops().around(directory));
        let appliers = appliers.map(|by| by.document.file.path()).chain(named.iter().map(|path| &**path));
        // What says something of the file, and the file itself.
        let about: BTreeSet<&Utf8Path> = appliers.chain([file]).collect();
        let about: Vec<Mentioned> = about.into_iter().flat_map(|path| Mentioned::of(sides, path)).collect();
        let own: Vec<&Mentioned> = about.iter().filter(|one| one.file.path() == file).collect();
        let is_input = |path: &Utf8Path, sides: &[Mentioned]| {
            if path == file {
                return is_unplanned || is_script;
            }
            // An object holds no value, unless something names it.
            let is_object = || {
                sides.iter().any(|side| side.objects().iter().any(|(kind, _)| !fields::has("variables.kinds", kind)))
            };
            let is_beside = match directory.as_str() {
                "" => {
                    parent(path) == "" && path.extension().is_some() && !path.as_str().starts_with('.') && !is_object()
                }
                _ => path.starts_with(directory) && (is_unplanned || !is_object()),
            };
            let is_named = || {
                let mut pairs = sides.iter().flat_map(|side| about.iter().map(move |about| (side, about)));
                pairs.any(|(side, about)| side.is_in(about))
                    || sides.iter().any(|side| own.iter().any(|own| own.is_in(side)))
            };
            !is_unplanned && self.variables.contains(path)
                || !is_document(path)
                    && !self.planned.contains(path)
                    && (holds_variables(path)
                        || sides.iter().any(|side| side.file.text().starts_with("#@data/values"))
                        || is_beside
                        || named.contains(path)
                        || is_named())
        };
        let inputs = self.files.iter().filter(|(path, sides)| is_input(path, sides));
        let mut out: Vec<Utf8PathBuf> = inputs.map(|(path, _)| path.clone()).collect();
        out.sort_by_key(|path| path != file);
        out
    }
}

/// A file as others may mention it.
#[derive(Debug)]
struct Mentioned {
    file: Arc<SourceFile>,
    /// 1: after the change.
    side: usize,
    objects: OnceLock<Vec<(String, String)>>,
}

impl Mentioned {
    /// A path on each side that has it.
    fn of(sides: [&Repo; 2], path: &Utf8Path) -> Vec<Self> {
        let files = sides.into_iter().zip(0..).filter_map(|(repo, side)| Some((repo.tree.source(path).ok()?, side)));
        files.map(|(file, side)| Self { file, side, objects: OnceLock::new() }).collect()
    }

    /// The kinds and names of its objects.
    fn objects(&self) -> &[(String, String)] {
        self.objects.get_or_init(|| {
            let object = |d: Document| {
                let kind = filled(&d.root, "kind")?;
                // Other kinds make Secrets.
                let kind = if kind.ends_with("Secret") { "Secret" } else { kind };
                let name = filled(&d.root, "spec.target.name").or(filled(&d.root, "metadata.name"))?;
                Some((kind.to_owned(), name.to_owned()))
            };
            documents_of(&self.file).into_iter().filter_map(object).collect()
        })
    }

    /// Whether another file has its path, or the kind and the name of one of its objects.
    fn is_in(&self, other: &Self) -> bool {
        let (path, text) = (self.file.path(), other.file.text());
        let is_path = |word: &str| leads_to(word, other.file.path(), path);
        let has_word = |is_it: &dyn Fn(&str) -> bool| path_words(text).any(is_it);
        let mut objects = self.objects().iter();
        path.file_name().is_some_and(|name| has(text, name)) && has_word(&is_path)
            || objects.any(|(kind, name)| {
                // `existingSecret: a`
                let holds_values = fields::has("variables.kinds", kind);
                has(text, kind)
                    && has(text, name)
                    && has_word(&|word| word == name)
                    && (holds_values || has_word(&|word| word.starts_with(kind.as_str())))
            })
    }
}

/// Whether a file says nothing to a tool, by its name.
fn is_document(path: &Utf8Path) -> bool {
    path.extension().is_some_and(|suffix| fields::has("documents", suffix))
}

/// The documents of a file that may have manifests.
fn documents_of(file: &Arc<SourceFile>) -> Vec<Document> {
    if is_candidate(file.path()) { yaml::parse(file).documents } else { Vec::new() }
}

/// The lines of a text with such a word, each with the deeper ones below it.
fn blocks(text: &str, is_it: &dyn Fn(&str) -> bool) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let starts = (0..lines.len()).filter(|at| path_words(lines[*at]).any(is_it));
    let block = |at: usize| {
        let below = lines[at + 1..].iter().take_while(|line| depth(line) > depth(lines[at]));
        lines[at..=at].iter().chain(below).map(|line| line.trim()).collect()
    };
    starts.map(block).collect()
}

/// Whether a word of a file is a path, relative to any directory above it.
fn leads_to(word: &str, from: &Utf8Path, to: &Utf8Path) -> bool {
    let inner = word.trim_start_matches("../").trim_start_matches("./").trim_start_matches('/');
    let is_at = |above: &Utf8Path| above.join(inner) == to;
    !inner.is_empty() && from.ancestors().skip(1).any(is_at) || parent(to) != "" && Utf8Path::new(word).ends_with(to)
}

/// Whether tools fill in values from a file, by its name or its directory's.
fn holds_variables(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default().trim_start_matches('.');
    fields::of("variables.files").iter().any(|suffix| path.extension() == Some(*suffix) || name == *suffix)
        || parent(path).components().any(|part| fields::has("variables.directories", part.as_str()))
}

impl Repo {
    /// The files of its planned clusters: manifests, what builds read, inventories, and hcoplan's configuration.
    fn planned_files(&self) -> BTreeSet<Utf8PathBuf> {
        let mut out = BTreeSet::from([Utf8PathBuf::from(super::CONFIG_FILE)]);
        for cluster in self.clusters() {
            out.insert(cluster.path().to_owned());
            out.extend(cluster.inventory_files().iter().map(|file| file.to_path_buf()));
            out.extend(self.inputs_of(cluster.path()).into_iter().flatten().cloned());
        }
        out
    }

    /// The charts that a cluster is rendered from.
    fn charts_of(&self, cluster: &ClusterRef) -> impl Iterator<Item = &Utf8Path> + use<'_> {
        let inputs = self.inputs_of(cluster.path()).into_iter().flatten();
        inputs.filter(|input| input.file_name() == Some(CHART)).map(|chart| parent(chart))
    }

    /// The values files of a chart's named releases, and the objects that name these; also those of charts that depend
    /// on it, with their own values.
    fn inputs_of_chart(&self, chart: &Utf8Path) -> Vec<Utf8PathBuf> {
        let files: Vec<Utf8PathBuf> = self.paths.iter().map(|path| path.to_path_buf()).collect();
        let mut out = named_value_files(&*self.tree, self.gitops(), chart, &files);
        for outer in dependents(&*self.tree, &files, chart) {
            out.extend(files.iter().filter(|path| parent(path) == outer).cloned());
            out.extend(named_value_files(&*self.tree, self.gitops(), &outer, &files));
        }
        out
    }

    /// What the Flux Kustomization of a cluster substitutes from and the repository lacks, `the Secret a`, and where it
    /// names it.
    pub(super) fn missing_substitutes(&self, cluster: &ClusterRef) -> Option<(String, Location)> {
        let gitops = self.gitops();
        gitops.around(cluster.directory()).find_map(|applied| {
            let is_missing =
                |from: &&Node| gitops.named.config_map(&applied.document, from).is_none() && !is_absent(from);
            let missing = applied.document.root.list_at("spec.postBuild.substituteFrom").iter().find(is_missing)?;
            let place = applied.document.location(missing.span);
            Some((format!("the {} {}", missing.text("kind"), missing.text("name")), place))
        })
    }

    /// The files with Flux's Kustomizations that substitute, and with their ConfigMaps.
    fn files_of_variables(&self) -> Vec<Utf8PathBuf> {
        let gitops = self.gitops();
        let substitutes = gitops.applied.iter().filter(|by| by.object.below("spec.postBuild").is_some());
        substitutes.flat_map(|by| gitops.files_of(by)).map(|file| file.path().to_owned()).collect()
    }
}
