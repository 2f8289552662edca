//! Random repositories of layers, built by the installed kustomize: each scalar of the HyperConverged is traced to its
//! source text.

use hcoplan::repo::{BuildRequest, ClusterFilter, build};
use hcoplan::source::{Directory, SourceFile};
use hcoplan::yaml::{Node, parse};

use super::*;

const OBJECT: &str = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata:\n  name: hco\n";

/// Pseudo-random numbers from a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn tosses(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// Writes a repository in which each value of a layer is unique.
struct Writer<'s> {
    scene: &'s Scene,
    random: Random,
    values: u32,
    /// The numbers of the fields that are set (`field0`, `field1` …).
    known: Vec<u64>,
}

impl Writer<'_> {
    fn write(&self, path: &str, text: &str) {
        let path = self.scene.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn value(&mut self) -> String {
        self.values += 1;
        let quote = ["", "'", "\""][self.random.below(3) as usize];
        format!("{quote}v{}x{quote}", self.values)
    }

    fn base(&mut self) {
        let mut spec = String::new();
        for n in 0..4 {
            self.known.push(n);
            spec += &format!("  field{n}: {}\n", self.value());
        }
        let v: Vec<String> = (0..7).map(|_| self.value()).collect();
        spec += &format!("  list: [{}, {}]\n  deep:\n    one: {}\n    two: {}\n", v[0], v[1], v[2], v[3]);
        spec += &format!("  items:\n  - name: first\n    value: {}\n", v[4]);
        spec += "  containers:\n  - name: c\n    image: example.com/image:v0x\n";
        let metadata = format!("  labels: {{own: {}}}\n  annotations:\n    own: {}\n", v[5], v[6]);
        self.write("base/hc.yaml", &format!("{OBJECT}{metadata}spec:\n{spec}"));
        let data: String = (0..3).map(|n| format!("  key{n}: {}\n", self.value())).collect();
        let source = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: source}}\ndata:\n{data}");
        self.write("base/source.yaml", &source);
        self.write("base/kustomization.yaml", "resources: [hc.yaml, source.yaml]\n");
    }

    fn merge(&mut self) -> String {
        let mut out = format!("{OBJECT}spec:\n");
        for n in 0..6 {
            if self.random.tosses() {
                self.known.push(n);
                out += &format!("  field{n}: {}\n", self.value());
            }
        }
        match self.random.below(3) {
            0 => out += &format!("  list: [{}, {}]\n", self.value(), self.value()),
            1 => out += &format!("  deep: {{two: {}}}\n", self.value()),
            _ => out += &format!("  field9: {}\n", self.value()),
        }
        out
    }

    fn operations(&mut self) -> String {
        let mut out = String::new();
        for _ in 0..=self.random.below(2) {
            let field = self.known[self.random.below(self.known.len() as u64) as usize];
            let (op, path) = match self.random.below(6) {
                0 => ("replace", format!("/spec/field{field}")),
                1 => ("add", "/spec/list/-".to_owned()),
                2 => ("replace", "/spec/list/0".to_owned()),
                3 => ("add", "/spec/deep/three".to_owned()),
                4 => ("add", "/metadata/annotations/a.b~1c".to_owned()),
                _ => ("replace", "/spec/items/0/value".to_owned()),
            };
            out += &format!("- op: {op}\n  path: {path}\n  value: {}\n", self.value());
        }
        match self.random.below(4) {
            0 => {
                out += &format!("- op: add\n  path: /spec/whole\n  value: {{in: {}}}\n", self.value());
            }
            1 => out += "- {op: copy, from: /spec/deep/one, path: /spec/copied}\n",
            2 => out += "- {op: test, path: /spec/items/0/name, value: first}\n",
            _ => {}
        }
        out
    }

    /// Patches of both kinds, in files and inline, in the present and the deprecated fields.
    fn patches(&mut self, directory: &str) -> String {
        let mut lists: [Vec<String>; 3] = Default::default();
        for n in 0..=self.random.below(2) {
            let operations = self.random.tosses();
            let text = if operations { self.operations() } else { self.merge() };
            let list = match (self.random.below(4), operations) {
                (0, true) => 2,
                (0, false) => 1,
                _ => 0,
            };
            let target = "{group: hco.kubevirt.io, version: v1beta1, kind: HyperConverged, name: hco}";
            let indented: String = text.lines().map(|l| format!("    {l}\n")).collect();
            let entry = match (self.random.tosses(), list) {
                (true, 1) => {
                    self.write(&format!("{directory}/p{n}.yaml"), &text);
                    format!("- p{n}.yaml\n")
                }
                (false, 1) => format!("- |-\n{indented}"),
                (true, _) => {
                    self.write(&format!("{directory}/p{n}.yaml"), &text);
                    format!("- path: p{n}.yaml\n  target: {target}\n")
                }
                (false, _) => format!("- target: {target}\n  patch: |-\n{indented}"),
            };
            lists[list].push(entry);
        }
        let keys = ["patches", "patchesStrategicMerge", "patchesJson6902"];
        let written = keys.iter().zip(lists).filter(|(_, list)| !list.is_empty());
        written.map(|(key, list)| format!("{key}:\n{}", list.concat())).collect()
    }

    fn transformers(&mut self) -> String {
        let mut out = String::new();
        if self.random.tosses() {
            out += &format!("namespace: v{}x\n", self.values + 1000);
        }
        match self.random.below(4) {
            0 => out += &format!("commonLabels: {{common: {}}}\n", self.value()),
            1 => out += &format!("labels:\n- pairs:\n    paired: {}\n", self.value()),
            _ => {}
        }
        if self.random.tosses() {
            out += &format!("commonAnnotations:\n  noted: {}\n", self.value());
        }
        if self.random.below(3) == 0 {
            self.values += 1;
            out += &format!("namePrefix: v{}x-\n", self.values);
        }
        if self.random.tosses() {
            self.values += 1;
            out += &format!("images: [{{name: example.com/image, newTag: v{}x}}]\n", self.values);
        }
        if self.random.tosses() {
            let field = ["spec.field0", "spec.deep.one", "spec.items.[name=first].value", "spec.list.1"];
            let field = field[self.random.below(4) as usize];
            let key = self.random.below(3);
            let kind = ["HyperConverged", "ConfigMap"][usize::from(self.random.below(4) == 0)];
            let field = if kind == "ConfigMap" { "data.key0" } else { field };
            out += &format!(
                "replacements:\n- source: {{kind: ConfigMap, fieldPath: data.key{key}}}\n  targets:\n  - select: {{kind: {kind}}}\n    fieldPaths: ['{field}']\n"
            );
        }
        out
    }

    fn component(&mut self, directory: &str, depth: u64) {
        let mut text = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n".to_owned();
        if depth > 0 {
            self.component(&format!("{directory}-in"), depth - 1);
            let name = directory.rsplit('/').next().unwrap_or_default();
            text += &format!("components: [../{name}-in]\n");
        }
        text += &self.patches(directory);
        self.write(&format!("{directory}/kustomization.yaml"), &text);
    }

    /// Nested overlays; returns the outermost directory.
    fn overlays(&mut self) -> String {
        let mut below = "base".to_owned();
        for n in 0..=self.random.below(3) {
            let directory = format!("overlays/o{n}");
            let mut text = format!("resources: [../../{below}]\n");
            if self.random.tosses() {
                let depth = self.random.below(2);
                self.component(&format!("components/c{n}"), depth);
                text += &format!("components: [../../components/c{n}]\n");
            }
            text += &self.patches(&directory);
            text += &self.transformers();
            self.write(&format!("{directory}/kustomization.yaml"), &text);
            below = directory;
        }
        below
    }
}

/// All scalars below a node with their paths.
fn scalars<'n>(node: &'n Node, path: &str, out: &mut Vec<(String, &'n Node)>) {
    for entry in node.entries() {
        scalars(&entry.value, &format!("{path}/{}", entry.key.text), out);
    }
    for (index, item) in node.items().iter().enumerate() {
        scalars(item, &format!("{path}/{index}"), out);
    }
    if node.entries().is_empty() && node.items().is_empty() {
        out.push((path.to_owned(), node));
    }
}

/// Whether a text is the source of a value: the value itself, a part of it, or the name of the copied field.
fn made(text: &str, value: &str, path: &str) -> bool {
    let text = text.trim_matches(['"', '\'']);
    let is_part = text.ends_with('x') || text.ends_with('-');
    let is_path = |field: &str| {
        let field = field.replace("[name=first]", "0").replace('.', "/");
        format!("/{}", field.trim_start_matches('/')) == path
    };
    // Of what only the program computes, the place is the entry that asks for it.
    let mut asked = text.split("fieldPaths: ['").skip(1).filter_map(|rest| rest.split("']").next());
    let mut tags = text.split("newTag: ").skip(1).filter_map(|rest| rest.split('}').next());
    let is_tag = tags.any(|tag| value.ends_with(&format!(":{tag}")));
    let is_partly = is_part && !text.is_empty() && value.contains(text);
    is_tag || is_partly || text == value || is_path(text) || asked.any(is_path)
}

#[test]
fn each_scalar_of_a_build_is_traced_to_the_text_that_made_it() {
    let is_there = |program: &&str| Command::new(program).arg("version").output().is_ok();
    if !["kustomize", "kubectl"].iter().any(is_there) {
        println!("not run: there is neither kustomize nor kubectl");
        return;
    }
    let mut held = 0;
    for seed in 0..25 {
        let scene = Scene::new(Path::new("nowhere"));
        let mut writer = Writer { scene: &scene, random: Random(seed), values: 0, known: Vec::new() };
        writer.base();
        let top = writer.overlays();
        let root = camino::Utf8PathBuf::from_path_buf(scene.path("")).expect("UTF-8");
        let tree = Directory::open(&root, 1 << 20).expect("a directory");
        let asked = BuildRequest {
            within: None,
            chosen: &ClusterFilter::default(),
            is_off: false,
            fetches: false,
            is_exact: false,
            most_bytes: 1 << 20,
            stop: &|| false,
        };
        let built = build(&tree, &root, &asked, &Default::default()).expect("built");
        assert!(built.failed.is_empty(), "seed {seed}: {:#?}", built.failed);
        let path = camino::Utf8Path::new(&top).join(hcoplan::repo::BUILT);
        let bytes = built.files.get(&path).expect("the outermost one is built");
        let file = SourceFile::from_bytes(&path, bytes.clone());
        file.set_origins(std::sync::Arc::clone(&built.origins[&path]));
        for document in parse(&file).documents {
            let mut all = Vec::new();
            scalars(&document.root, "", &mut all);
            for (path, node) in all {
                let place = document.location(node.span).origin().expect("traced");
                let value = node.as_str().expect("a string");
                let at = place.start();
                let (from, text) = (place.file.path(), place.text());
                assert!(
                    made(text, value, &path),
                    "seed {seed}: {path} is {value}, and {from}:{} is {text:?}\n{}\n{}",
                    at.line,
                    String::from_utf8_lossy(bytes),
                    fs::read_to_string(scene.path(&format!("{top}/kustomization.yaml"))).expect("there"),
                );
                held += 1;
            }
        }
    }
    assert!(held > 400, "{held}");
    println!("{held} scalars");
}
