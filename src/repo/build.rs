//! Kustomizations, built by the program that builds them elsewhere: only when that is asked for.
//!
//! What a kustomization builds takes the place of the files that it reaches: it is one more file of
//! its directory, [`BUILT`], which is on no disk. hcoplan opens no network connection, but kustomize
//! does for what it doesn't find: so a kustomization that names anything else than files below the
//! root is refused before anything runs.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use super::Options;
use super::kustomization::is_kustomization;
use super::listed::HCO;
use crate::source::{Directory, SourceFile, Tree, Walk, normal};
use crate::yaml::{self, Node};

/// What a build is called, in the kustomization's directory.
pub const BUILT: &str = "kustomize-build.yaml";

/// What was built.
#[derive(Debug, Default)]
pub struct Built {
    /// The builds by their paths from the root.
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// The files that went into them, relative to the root.
    pub reached: Vec<Utf8PathBuf>,
    /// For each build, how it was made and which file its HyperConverged is from, where that is one.
    pub notes: Vec<String>,
}

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Nothing to build.
    #[error("{0} has no kustomization with a HyperConverged")]
    Nothing(Utf8PathBuf),
    /// A kustomization names what is not below the root.
    #[error("{file}: {name} is {what}")]
    Elsewhere {
        /// The kustomization.
        file: Utf8PathBuf,
        /// What it names.
        name: String,
        /// Where that is.
        what: &'static str,
    },
    /// A kustomization can't be read, so that nobody knows what it names.
    #[error("{file}: {why}")]
    Broken {
        /// The kustomization.
        file: Utf8PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is nothing to build with.
    #[error("neither kustomize nor kubectl is on the PATH")]
    NoProgram,
    /// The root can't be looked at.
    #[error(transparent)]
    Source(#[from] crate::source::Error),
    /// The build failed.
    #[error("`{command}` failed: {said}")]
    Failed {
        /// The command.
        command: String,
        /// The first lines of its standard error.
        said: String,
    },
}

/// Builds the kustomizations below a directory that no other one builds on and that reach a
/// HyperConverged; the directory's own in any case.
///
/// # Errors
/// What can't be built, or must not be.
pub fn build(root: &Utf8Path, options: &Options) -> Result<Built, BuildError> {
    let tree = Directory::open(root, options.max_bytes)?;
    let listing = tree.list(&Walk { ..Walk::default() })?;
    let files = listing.files.into_iter().filter(|p| is_kustomization(p));
    let mut all: BTreeMap<Utf8PathBuf, Kustomization> = BTreeMap::new();
    for path in files {
        let directory = path.parent().unwrap_or(Utf8Path::new("")).to_owned();
        all.insert(directory, Kustomization::read(&tree, root, path)?);
    }
    let named: BTreeSet<_> = all.iter().flat_map(|(d, k)| k.directories(d)).collect();
    let tops = all
        .iter()
        .filter(|(d, k)| !named.contains(*d) && !k.component);
    let mut built = Built::default();
    for (directory, _) in tops {
        let mut reached = Reached::default();
        let complete = reached.add(&tree, &all, directory);
        let mentions = |p: &&Utf8PathBuf| tree.mentions(p, &[HCO]);
        let sources: Vec<_> = reached.files.iter().filter(mentions).collect();
        if sources.is_empty() && !directory.as_str().is_empty() {
            continue;
        }
        complete?;
        let (command, bytes) = run(&shown(root, directory))?;
        let path = directory.join(BUILT);
        let from = match sources.as_slice() {
            [only] => format!(", its HyperConverged from {}", shown(root, only)),
            _ => String::new(),
        };
        let name = shown(root, &path);
        let note = format!("{name} is what `{command}` prints{from}");
        built.notes.push(note);
        built.files.insert(path, bytes);
        built.reached.extend(reached.files);
    }
    match built.files.is_empty() {
        true => Err(BuildError::Nothing(root.to_owned())),
        false => Ok(built),
    }
}

/// What a kustomization names.
#[derive(Debug)]
struct Kustomization {
    path: Utf8PathBuf,
    /// Files and directories that it builds on.
    resources: Vec<String>,
    /// Files that go into it otherwise.
    others: Vec<String>,
    /// Generators, transformers and validators: files, directories or the configuration itself.
    plugins: Vec<String>,
    component: bool,
}

impl Kustomization {
    fn read(tree: &dyn Tree, root: &Utf8Path, path: Utf8PathBuf) -> Result<Self, BuildError> {
        let shown = shown(root, &path);
        let broken = |why: String| BuildError::Broken {
            file: shown.clone(),
            why,
        };
        let bytes = tree.read(&path).map_err(|why| broken(why.to_string()))?;
        let parsed = yaml::parse(&SourceFile::from_bytes(&path, bytes));
        if let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) {
            return Err(broken(problem.message.clone()));
        }
        let Some(document) = parsed.documents.first() else {
            return Err(broken("there is nothing in it".to_owned()));
        };
        let root = &document.root;
        let list = |key: &&str| root.get(key).map_or(&[][..], Node::items).iter();
        let text = |node: &Node| node.as_str().map(ToOwned::to_owned);
        let resources = ["resources", "bases", "components"];
        let resources = resources.iter().flat_map(list).filter_map(text).collect();
        let plain = ["crds", "configurations", "patchesStrategicMerge"];
        let mut others: Vec<String> = plain.iter().flat_map(list).filter_map(text).collect();
        let placed = ["patches", "patchesJson6902", "replacements"];
        let placed = placed.iter().flat_map(list);
        others.extend(placed.filter_map(|n| text(n.get("path")?)));
        let openapi = root.get("openapi").and_then(|o| o.get("path"));
        others.extend(openapi.and_then(text));
        for entry in ["configMapGenerator", "secretGenerator"]
            .iter()
            .flat_map(list)
        {
            let files = ["files", "envs"].iter().filter_map(|k| entry.get(k));
            let files = files.flat_map(Node::items).filter_map(text);
            // `key=file` names the file's key.
            let file = |f: String| f.split_once('=').map_or(f.clone(), |(_, f)| f.to_owned());
            others.extend(files.map(file));
            others.extend(entry.get("env").and_then(text));
        }
        // A patch or a function may stand inline.
        others.retain(|t| !t.contains('\n') && !t.contains(": "));
        let plugins = ["generators", "transformers", "validators"];
        let plugins = plugins.iter().flat_map(list).filter_map(text).collect();
        let component = root.get("kind").and_then(Node::as_str) == Some("Component");
        Ok(Self {
            path: shown,
            resources,
            others,
            plugins,
            component,
        })
    }

    /// What may be directories that it builds on, relative to the root.
    fn directories<'k>(
        &'k self,
        directory: &'k Utf8Path,
    ) -> impl Iterator<Item = Utf8PathBuf> + 'k {
        let named = self.resources.iter();
        named.filter_map(|r| normal(&directory.join(r)))
    }

    fn elsewhere(&self, name: &str, what: &'static str) -> BuildError {
        BuildError::Elsewhere {
            file: self.path.clone(),
            name: name.to_owned(),
            what,
        }
    }
}

/// What a kustomization reaches.
#[derive(Debug, Default)]
struct Reached {
    directories: BTreeSet<Utf8PathBuf>,
    files: Vec<Utf8PathBuf>,
}

impl Reached {
    /// Adds what a directory's kustomization reaches; the first thing that it names elsewhere is the
    /// error, and the rest is added all the same.
    fn add(
        &mut self,
        tree: &dyn Tree,
        all: &BTreeMap<Utf8PathBuf, Kustomization>,
        directory: &Utf8Path,
    ) -> Result<(), BuildError> {
        let Some(kustomization) = all.get(directory) else {
            return Ok(());
        };
        if !self.directories.insert(directory.to_owned()) {
            return Ok(());
        }
        let mut done = Ok(());
        for name in &kustomization.others {
            let fails = below(kustomization, directory, name).map(|_| ());
            done = done.and(fails);
        }
        for plugin in &kustomization.plugins {
            let fails = self.plugin(tree, all, directory, kustomization, plugin);
            done = done.and(fails);
        }
        for name in &kustomization.resources {
            let path = match below(kustomization, directory, name) {
                Ok(path) => path,
                Err(error) => {
                    done = done.and(Err(error));
                    continue;
                }
            };
            if all.contains_key(&path) {
                let inner = self.add(tree, all, &path);
                done = done.and(inner);
            } else if tree.check(&path).is_ok() {
                self.files.push(path);
            } else {
                // kustomize takes a name that it doesn't find for a repository to clone.
                let what = "neither a file nor a kustomization here";
                done = done.and(Err(kustomization.elsewhere(name, what)));
            }
        }
        done
    }
}

impl Reached {
    /// Checks a plugin, which may name files itself: nothing in its configuration may look like a URL.
    fn plugin(
        &mut self,
        tree: &dyn Tree,
        all: &BTreeMap<Utf8PathBuf, Kustomization>,
        directory: &Utf8Path,
        kustomization: &Kustomization,
        plugin: &str,
    ) -> Result<(), BuildError> {
        let inline = plugin.contains('\n') || plugin.contains(": ");
        let text = match inline {
            true => plugin.to_owned(),
            false => {
                let path = below(kustomization, directory, plugin)?;
                if all.contains_key(&path) {
                    return self.add(tree, all, &path);
                }
                let bytes = tree.read(&path).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        let mut words = text.split([' ', '\n', '"', '\'', ',', '[', ']', '{', '}']);
        match words.find(|word| word.contains("://")) {
            Some(url) => Err(kustomization.elsewhere(url, FETCHED)),
            None => Ok(()),
        }
    }
}

/// What is said about a URL.
const FETCHED: &str = "not in the directory, and nothing is fetched";

/// The path from the root of what a kustomization names.
fn below(
    kustomization: &Kustomization,
    directory: &Utf8Path,
    name: &str,
) -> Result<Utf8PathBuf, BuildError> {
    if name.contains("://") || name.starts_with("git@") || name.contains("?ref=") {
        return Err(kustomization.elsewhere(name, FETCHED));
    }
    let outside = "outside the directory that is read";
    normal(&directory.join(name)).ok_or_else(|| kustomization.elsewhere(name, outside))
}

/// A path as it is reported, and as programs take it.
fn shown(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    match (root.as_str(), path.as_str()) {
        (_, "") => root.to_owned(),
        (".", _) => path.to_owned(),
        _ => root.join(path),
    }
}

/// Runs kustomize, or kubectl where that isn't there; the command as it would be typed, and what it
/// printed.
fn run(directory: &Utf8Path) -> Result<(String, Vec<u8>), BuildError> {
    let directory = match directory.as_str() {
        // What begins with a hyphen is no option.
        path if path.starts_with('-') => &format!("./{path}"),
        path => path.trim_end_matches('/'),
    };
    for words in [["kustomize", "build"], ["kubectl", "kustomize"]] {
        let [program, verb] = words;
        let mut command = Command::new(program);
        command.args([verb, directory]).stdin(Stdio::null());
        let done = match command.output() {
            Ok(done) => done,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                return Err(BuildError::Failed {
                    command: program.to_owned(),
                    said: error.to_string(),
                });
            }
        };
        let command = format!("{program} {verb} {directory}");
        if done.status.success() {
            return Ok((command, done.stdout));
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let said: Vec<_> = said.lines().filter(|l| !l.trim().is_empty()).collect();
        let said = said.iter().take(MOST_LINES).copied();
        return Err(BuildError::Failed {
            command,
            said: said.collect::<Vec<_>>().join("\n  "),
        });
    }
    Err(BuildError::NoProgram)
}

/// How much of a failing build's standard error is shown.
const MOST_LINES: usize = 5;
