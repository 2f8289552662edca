//! Completes the files of a page's blocks so that they can be linted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path as FilePath;

use hcoplan_diagnostics::source::SourceFile;
use hcoplan_testing::annotations;
use hcoplan_yaml as yaml;

use super::section::Block;

/// The default release.
const RELEASE: &str = "1.18";

/// The API versions that pages may omit.
const API_VERSIONS: [(&str, &str); 12] = [
    ("ClusterInventory", "hcoplan.dev/v1alpha1"),
    ("ClusterServiceVersion", "operators.coreos.com/v1alpha1"),
    ("ConfigMap", "v1"),
    ("ConfigurationPolicy", "policy.open-cluster-management.io/v1"),
    ("Deployment", "apps/v1"),
    ("HyperConverged", "hco.kubevirt.io/v1beta1"),
    ("KubeDescheduler", "operator.openshift.io/v1"),
    ("NetworkAttachmentDefinition", "k8s.cni.cncf.io/v1"),
    ("Pod", "v1"),
    ("Subscription", "operators.coreos.com/v1alpha1"),
    ("VirtualMachine", "kubevirt.io/v1"),
    ("VirtualMachineInstance", "kubevirt.io/v1"),
];

/// The files of documents without a name.
const FILES: [(&str, &str); 2] = [("HyperConverged", "hyperconverged.yaml"), ("ClusterInventory", "inventory.yaml")];

/// The HyperConverged before a change, always a separate file.
const BEFORE: &str = "before.yaml";

/// The default cluster.
const INVENTORY: &str = r#"kind: ClusterInventory
spec:
  platform: OpenShift
  nodePools:
  - {name: masters, count: 3, architecture: amd64, roles: [control-plane]}
  - {name: intel, count: 3, architecture: amd64, roles: [worker]}
  - {name: arm, count: 3, architecture: arm64, roles: [worker]}
"#;

#[derive(Debug, Clone, PartialEq)]
struct Line {
    text: String,
    /// Whether the page shows it, as opposed to an addition.
    is_shown: bool,
}

type Document = Vec<Line>;

/// Files by path, each a list of documents.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    files: BTreeMap<String, Vec<Document>>,
    release: Option<String>,
}

impl Files {
    /// The files of a fixture, without expected output.
    pub(super) fn of(directory: &FilePath) -> Self {
        let mut out = Self::default();
        for (path, bytes) in annotations::read(directory).expect("a fixture") {
            let text = String::from_utf8(bytes).expect("text");
            let path = path.to_string_lossy().into_owned();
            out.files.insert(path, documents(lines(&text, false)));
        }
        out.release = out.stated_release();
        out
    }

    fn stated_release(&self) -> Option<String> {
        let lines = self.files.get("inventory.yaml")?.iter().flatten();
        let mut stated = lines.filter_map(|l| l.text.trim().strip_prefix("release: "));
        let release = stated.next()?.split_whitespace().next()?;
        Some(release.trim_matches('"').to_owned())
    }

    /// The same for a release.
    pub(super) fn at(mut self, release: Option<&str>) -> Self {
        self.release = release.map(ToOwned::to_owned).or(self.release);
        self
    }

    /// Adds a page's blocks: named files replace those of the same name, objects those of the same kind, and a fragment
    /// replaces the only key of its name.
    pub(super) fn show<'b>(&mut self, blocks: impl Iterator<Item = &'b Block>) -> Result<(), String> {
        let mut added: Vec<(Option<String>, Document)> = Vec::new();
        for block in blocks {
            let shown = block.lines.iter().map(|text| Line { text: text.clone(), is_shown: true });
            match block.language.as_str() {
                "yaml" => {
                    let mut name = None;
                    for mut document in documents(shown.collect()) {
                        if let Some(named) = document.first().and_then(|l| file_name(&l.text)) {
                            name = Some(named.to_owned());
                            document.remove(0);
                        }
                        added.push((name.clone(), document));
                    }
                }
                "dockerfile" | "sh" => {
                    let mut lines: Document = shown.collect();
                    let named = lines.first().and_then(|l| file_name(&l.text));
                    let named = named.map(ToOwned::to_owned);
                    if named.is_some() {
                        lines.remove(0);
                    }
                    added.push((Some(named.unwrap_or_else(|| "Dockerfile".to_owned())), lines));
                }
                "text" => {
                    for path in shown {
                        let content = match &path.text {
                            p if p.ends_with("Chart.yaml") => "apiVersion: v2\nname: virt\nversion: 0.1.0",
                            p if p.ends_with("inventory.yaml") => INVENTORY,
                            p if p.contains("templates/") => {
                                "kind: HyperConverged\nspec:\n  defaultCPUModel: {{ .Values.model }}"
                            }
                            _ => "kind: HyperConverged",
                        };
                        added.push((Some(path.text), lines(content, true)));
                    }
                }
                other => return Err(format!("a block of {other}: nothing says which file it is")),
            }
        }
        let names = added.iter().filter_map(|(name, _)| name.as_ref());
        for name in names.cloned().collect::<Vec<_>>() {
            self.files.remove(&name);
        }
        let kinds = added.iter().filter(|(name, _)| name.is_none());
        let kinds = kinds.filter_map(|(_, document)| Some(kind(document)?.to_owned()));
        let places: BTreeMap<String, String> = kinds
            .collect::<Vec<_>>()
            .into_iter()
            .map(|kind| {
                let place = self.remove_kind(&kind).unwrap_or_else(|| place_of(&kind));
                (kind, place)
            })
            .collect();
        for (name, mut document) in added {
            let Some(kind) = kind(&document).map(ToOwned::to_owned) else {
                match name {
                    Some(name) => self.files.entry(name).or_default().push(document),
                    None => self.put_inside(document)?,
                }
                continue;
            };
            complete(&mut document, &kind, self.release())?;
            let place = name.or_else(|| places.get(&kind).cloned());
            let place = place.expect("each kind has one");
            self.files.entry(place).or_default().push(document);
        }
        Ok(())
    }

    fn release(&self) -> &str {
        self.release.as_deref().unwrap_or(RELEASE)
    }

    /// Adds a cluster, unless the text says that there is none.
    pub(super) fn with_cluster(mut self, prose: &str) -> Self {
        if prose.contains("no HyperConverged") {
            return self;
        }
        for (kind, content) in [("HyperConverged", "kind: HyperConverged\n"), ("ClusterInventory", INVENTORY)] {
            let is_unwanted = kind == "ClusterInventory" && prose.contains("no inventory");
            if !is_unwanted && !self.has(kind) && !self.files.contains_key(&place_of(kind)) {
                let mut document = lines(content, false);
                complete(&mut document, kind, self.release()).expect("can be completed");
                self.files.insert(place_of(kind), vec![document]);
            }
        }
        self
    }

    fn has(&self, wanted: &str) -> bool {
        let mut documents = self.files.iter().filter(|(path, _)| *path != BEFORE).flat_map(|(_, d)| d);
        documents.any(|d| kind(d) == Some(wanted) || d.iter().any(|l| l.text.contains(wanted)))
    }

    /// Removes the objects of a kind; returns the first one's file.
    pub(super) fn remove_kind(&mut self, wanted: &str) -> Option<String> {
        let mut place = None;
        self.files.retain(|path, documents| {
            let before = documents.len();
            let is_manifest = path != BEFORE && path.ends_with(".yaml");
            // The example may be about a kind in the wrong case.
            let is_it = |d: &Document| kind(d).is_some_and(|k| k.eq_ignore_ascii_case(wanted));
            documents.retain(|d| !is_manifest || !is_it(d));
            if documents.len() < before {
                place.get_or_insert_with(|| path.clone());
            }
            !documents.is_empty()
        });
        place
    }

    /// Removes everything that the page shows.
    pub(super) fn take_shown_away(&mut self) {
        self.files.retain(|_, documents| {
            documents.retain(|d| !d.iter().any(|l| l.is_shown));
            !documents.is_empty()
        });
    }

    /// Replaces the key of a fragment's name; a fragment that starts with a dash replaces the list element that starts
    /// alike.
    fn put_inside(&mut self, mut fragment: Document) -> Result<(), String> {
        let is_element = fragment.first().is_some_and(|l| l.text.starts_with("- "));
        if is_element {
            fragment.iter_mut().for_each(|l| l.text = l.text.split_off(2.min(l.text.len())));
        }
        let first = fragment.first().map_or("", |l| &l.text);
        let (key, _) = first.split_once(':').ok_or_else(|| format!("{first:?} has no place"))?;
        let wanted = format!("{key}:");
        let mut places = Vec::new();
        for (path, documents) in &self.files {
            for (document, lines) in documents.iter().enumerate() {
                for (line, text) in lines.iter().enumerate() {
                    let may_be = !is_element || text.text.trim_start().starts_with("- ");
                    if may_be && text.text.trim_start_matches([' ', '-']).starts_with(&wanted) {
                        places.push((path.clone(), document, line));
                    }
                }
            }
        }
        let [(path, document, line)] = &places[..] else {
            return Err(format!("{key} is at {} places, and not at one", places.len()));
        };
        let lines = &mut self.files.get_mut(path).expect("it is there")[*document];
        let text = &lines[*line].text;
        let column = text.len() - text.trim_start_matches([' ', '-']).len();
        let dash = &text[..column];
        let mut fragment: Document =
            fragment.into_iter().map(|l| Line { text: format!("{}{}", " ".repeat(column), l.text), ..l }).collect();
        fragment[0].text.replace_range(..column, dash);
        let below = lines[line + 1..].iter().take_while(|l| {
            let indent = l.text.len() - l.text.trim_start().len();
            let is_below = indent > column || indent == column && l.text.trim_start().starts_with("- ");
            is_below || l.text.trim().is_empty() || l.text.starts_with("#~")
        });
        let end = line + 1 + below.count();
        lines.splice(*line..end, fragment);
        Ok(())
    }

    /// Writes all files.
    pub(super) fn write(&self, directory: &FilePath) {
        for path in self.files.keys() {
            let place = directory.join(path);
            fs::create_dir_all(place.parent().expect("below it")).expect("made");
            let lines = self.lines(path).into_iter().map(|l| format!("{}\n", l.text));
            fs::write(place, lines.collect::<String>()).expect("written");
        }
    }

    /// Whether all files can be parsed.
    pub(super) fn check(&self) -> Result<(), String> {
        let manifests = self.files.keys().filter(|path| path.ends_with(".yaml"));
        for path in manifests {
            let lines = self.lines(path).into_iter();
            let text: String = lines.map(|l| format!("{}\n", l.text)).collect();
            let problems = yaml::parse(&SourceFile::new(path.as_str(), text)).problems;
            if let Some(problem) = problems.iter().find(|p| p.kind.is_fatal()) {
                return Err(format!("{path} can't be read: {}", problem.message));
            }
        }
        Ok(())
    }

    fn lines(&self, path: &str) -> Vec<Line> {
        let mut out: Vec<Line> = Vec::new();
        for document in self.files.get(path).into_iter().flatten() {
            if !out.is_empty() {
                out.extend(lines("---", false));
            }
            out.extend(document.iter().cloned());
        }
        out
    }

    /// Removes the document with this line (1-based), unless the page shows a part of it.
    pub(super) fn take_unshown_away(&mut self, path: &str, line: usize) -> bool {
        let Some(documents) = self.files.get_mut(path) else {
            return false;
        };
        let mut start = 0;
        for index in 0..documents.len() {
            let end = start + documents[index].len();
            if (start..end).contains(&(line - 1)) {
                let is_shown = documents[index].iter().any(|l| l.is_shown);
                if !is_shown {
                    documents.remove(index);
                    self.files.retain(|_, documents| !documents.is_empty());
                }
                return !is_shown;
            }
            start = end + 1;
        }
        false
    }

    /// Whether the page shows this line (1-based).
    pub(super) fn is_shown(&self, path: &str, line: usize) -> bool {
        self.lines(path).get(line - 1).is_some_and(|l| l.is_shown)
    }
}

fn lines(text: &str, is_shown: bool) -> Vec<Line> {
    text.lines().map(|text| Line { text: text.to_owned(), is_shown }).collect()
}

fn documents(lines: Vec<Line>) -> Vec<Document> {
    let documents = lines.split(|l| l.text == "---").map(<[Line]>::to_vec);
    documents.filter(|d| !d.is_empty()).collect()
}

fn place_of(kind: &str) -> String {
    let known = FILES.iter().find(|(of, _)| *of == kind);
    known.map_or_else(|| format!("{}.yaml", kind.to_lowercase()), |(_, file)| (*file).to_owned())
}

/// The file named by a comment: `# vm.yaml`.
pub(super) fn file_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("# ")?;
    let suffixes = [".yaml", ".json", ".sh", "file"];
    let is_name = !name.contains(' ') && suffixes.iter().any(|s| name.ends_with(s));
    is_name.then_some(name)
}

/// The kind of an object; a HyperConverged if it has only its sections. `None` for other fragments.
fn kind(document: &[Line]) -> Option<&str> {
    let keys = document.iter().filter_map(|l| l.text.split_once(':'));
    let keys: Vec<_> = keys.filter(|(key, _)| key.starts_with(char::is_alphabetic)).collect();
    if let Some((_, kind)) = keys.iter().find(|(key, _)| *key == "kind") {
        return Some(kind.trim());
    }
    let sections = ["apiVersion", "metadata", "spec", "status"];
    let is_object = !keys.is_empty() && keys.iter().all(|(key, _)| sections.contains(key));
    is_object.then_some("HyperConverged")
}

/// Adds the required fields of an object.
fn complete(document: &mut Document, kind: &str, release: &str) -> Result<(), String> {
    let is_shown = document.iter().any(|l| l.is_shown);
    let lines = |text: &str| lines(text, is_shown);
    let at = |document: &Document, key: &str| {
        let wanted = format!("{key}:");
        document.iter().position(|l| l.text.starts_with(&wanted))
    };
    if at(document, "kind").is_none() {
        document.splice(0..0, lines(&format!("kind: {kind}")));
    }
    if at(document, "apiVersion").is_none() {
        let known = API_VERSIONS.iter().find(|(of, _)| *of == kind);
        let (_, version) = known.ok_or_else(|| format!("which apiVersion has {kind}?"))?;
        document.splice(0..0, lines(&format!("apiVersion: {version}")));
    }
    let (section, key, entry) = match kind {
        "ClusterInventory" => ("spec", "release", format!("release: {release:?}")),
        "HyperConverged" => ("metadata", "name", "name: kubevirt-hyperconverged".to_owned()),
        _ => ("metadata", "name", "name: example".to_owned()),
    };
    let Some(start) = at(document, section) else {
        let end = at(document, "kind").expect("it is there") + 1;
        document.splice(end..end, lines(&format!("{section}: {{{entry}}}")));
        return Ok(());
    };
    let below = document[start + 1..].iter().take_while(|l| l.text.starts_with([' ', '\t', '-']));
    let end = start + 1 + below.count();
    let flow = document[start].text.find('{');
    let has = |l: &Line| {
        let text = l.text.split_once(": {").map_or(&*l.text, |(_, inside)| inside);
        let mut entries = text.split([',', '{']).map(str::trim_start);
        entries.any(|e| e.starts_with(&format!("{key}:")))
    };
    let of_its_own = |l: &Line| l.text.starts_with("  ") && !l.text.starts_with("   ");
    match flow {
        Some(brace) if !document[start..end].iter().any(has) => {
            document[start].text.insert_str(brace + 1, &format!("{entry}, "));
        }
        None if !document[start..end].iter().filter(|l| of_its_own(l)).any(has) => {
            document.splice(start + 1..=start, lines(&format!("  {entry}")));
        }
        _ => {}
    }
    Ok(())
}
