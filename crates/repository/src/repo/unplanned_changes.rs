//! Changes of files that decide about something which isn't planned: its effect is unknown, not none.

use hcoplan_rule_pages::rules::{CHANGE_NOT_PLANNED, VALUE_UNKNOWN};

use super::build::BUILT;
use super::charts::{chart_of, dependents};
use super::gitops::is_absent;
use super::helm::named_value_files;
use super::mentions::has;
use super::nodes::filled;
use super::paths::{files_of, first_document, parent};
use super::{ClusterRef, Repo, UNPLANNED};
use crate::prelude::*;

/// Files and directories from which tools fill values in, wherever they are.
const VARIABLES: [&str; 6] = ["group_vars", "host_vars", "vars", "defaults", "envs", "environments"];
const VARIABLE_FILES: [&str; 4] = ["env", "tfvars", "tf", "properties"];

/// Files that say nothing to a tool.
const DOCUMENTS: [&str; 5] = ["md", "adoc", "rst", "png", "svg"];

/// The findings about changed files that belong to something which isn't planned in `after`, or wasn't in `before`.
pub fn unplanned_changes(before: &Repo, after: &Repo, changed: &OnceLock<ChangedFiles>) -> Vec<Finding> {
    let all = [after, before].into_iter().flat_map(|r| r.problems().iter().map(|p| &p.finding).chain(r.findings()));
    let unplanned = all.filter(|f| UNPLANNED.contains(&f.rule.name));
    changes(before, after, changed, unplanned.collect(), true)
}

/// The findings about changed files from which an unknown value of a planned manifest may be filled in; `found` are the
/// findings about the cluster.
pub fn changes_of_values(
    before: &Repo,
    after: &Repo,
    changed: &OnceLock<ChangedFiles>,
    found: &[Finding],
) -> Vec<Finding> {
    let unknown = found.iter().filter(|f| f.rule.name == VALUE_UNKNOWN.name);
    changes(before, after, changed, unknown.collect(), false)
}

fn changes(
    before: &Repo,
    after: &Repo,
    changed: &OnceLock<ChangedFiles>,
    mut found: Vec<&Finding>,
    is_unplanned: bool,
) -> Vec<Finding> {
    let mut units = BTreeSet::new();
    found.retain(|f| f.file().is_some_and(|file| units.insert(file.to_owned())));
    if found.is_empty() {
        return Vec::new();
    }
    let all = changed.get_or_init(|| ChangedFiles::between(before, after));
    if all.files.is_empty() {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut reported = BTreeSet::new();
    for finding in found {
        let Some(place) = &finding.location else { continue };
        let changed = all.of(before, after, place.file.path(), is_unplanned);
        let Some(first) = changed.first().filter(|_| reported.insert(changed.clone())) else { continue };
        // What is built here is named by its directory.
        let first = if first.file_name() == Some(BUILT) { parent(first) } else { first };
        let more = match changed.len() - 1 {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        // What is built here has no file of its own.
        let written = place.origin().map_or_else(|| Arc::clone(&place.file), |origin| origin.file);
        let what = written.path();
        let message = if first == what {
            format!("`{first}`{more} changes, which is not planned")
        } else if is_unplanned {
            format!("`{first}`{more} changes, and what `{what}` makes of it is not planned")
        } else {
            format!("`{first}`{more} changes, from which a value in `{what}` may be filled in")
        };
        out.push(
            Finding::new(&CHANGE_NOT_PLANNED, message)
                .at(place.clone())
                .label("its effect is unknown")
                .help("look at what the tool makes of it before you merge it: `… | hcoplan lint -`"),
        );
    }
    out
}

/// The files that differ between two sides; found once for all clusters.
#[derive(Debug, Default)]
pub struct ChangedFiles {
    files: BTreeSet<Utf8PathBuf>,
    /// The files that are planned, which the plan shows.
    planned: BTreeSet<Utf8PathBuf>,
    /// The files that may hold what Flux substitutes.
    substitutes: BTreeSet<Utf8PathBuf>,
    /// The files with what it is known to substitute, also by expressions that aren't computed here.
    variables: BTreeSet<Utf8PathBuf>,
}

impl ChangedFiles {
    fn between(before: &Repo, after: &Repo) -> Self {
        let sides = [before, after];
        let is_changed = |path: &Utf8PathBuf| {
            let [old, new] = sides.map(|repo| repo.tree.read(path).ok());
            old != new
        };
        let files: BTreeSet<Utf8PathBuf> = sides.into_iter().flat_map(|repo| files_of(&*repo.tree)).collect();
        let files: BTreeSet<Utf8PathBuf> = files.into_iter().filter(is_changed).collect();
        if files.is_empty() {
            return Self::default();
        }
        let planned = sides.into_iter().flat_map(Repo::planned_files).collect();
        let substitutes = sides.into_iter().flat_map(Repo::sources_of_substitutes).collect();
        let variables = sides.into_iter().flat_map(Repo::files_of_variables).collect();
        Self { files, planned, substitutes, variables }
    }

    /// Those that may decide about what a file has, itself first.
    fn of(&self, before: &Repo, after: &Repo, file: &Utf8Path, is_unplanned: bool) -> Vec<Utf8PathBuf> {
        let sides = [before, after];
        let chart = sides.into_iter().find_map(|repo| chart_of(&*repo.tree, file));
        let directory = chart.unwrap_or_else(|| parent(file));
        let is_script = !matches!(file.extension(), Some("yaml" | "yml" | "json"));
        let of_chart = |repo: &Repo| chart.map(|chart| repo.inputs_of_chart(chart)).unwrap_or_default();
        let named: BTreeSet<Utf8PathBuf> = sides.into_iter().flat_map(of_chart).collect();
        let is_input = |path: &&Utf8PathBuf| {
            if *path == file {
                return is_unplanned || is_script;
            }
            let is_beside = !directory.as_str().is_empty() && path.starts_with(directory);
            let is_document = path.extension().is_some_and(|suffix| DOCUMENTS.contains(&suffix));
            !is_unplanned && self.variables.contains(*path)
                || !is_document
                    && (holds_variables(path) || is_beside || named.contains(*path) || self.substitutes.contains(*path))
                    && !self.planned.contains(*path)
        };
        let mut out: Vec<Utf8PathBuf> = self.files.iter().filter(is_input).cloned().collect();
        out.sort_by_key(|path| path != file);
        out
    }
}

/// Whether tools fill in values from a file, by its name or its directory's.
fn holds_variables(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default().trim_start_matches('.');
    VARIABLE_FILES.iter().any(|suffix| path.extension() == Some(suffix) || name == *suffix)
        || parent(path).components().any(|part| VARIABLES.contains(&part.as_str()))
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
                |from: &&Node| gitops.config_maps.named_by(&applied.document, from).is_none() && !is_absent(from);
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

    /// The files that may hold what Flux substitutes: those with a name that Kustomizations list.
    fn sources_of_substitutes(&self) -> Vec<Utf8PathBuf> {
        let lists = self.gitops().documents.iter().flat_map(|d| d.root.list_at("spec.postBuild.substituteFrom"));
        let names: BTreeSet<&str> = lists.filter_map(|from| filled(from, "name")).collect();
        if names.is_empty() {
            return Vec::new();
        }
        // What can't be parsed, such as an encrypted file, may have any name.
        let may_have = |path: &&Arc<Utf8Path>| {
            let bytes = self.tree.read(path).unwrap_or_default();
            names.iter().any(|name| has(&bytes, name)) || first_document(&*self.tree, path).is_none()
        };
        self.paths.iter().filter(may_have).map(|path| path.to_path_buf()).collect()
    }
}
