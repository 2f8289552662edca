//! Properties of every fleet: the tree and the findings don't depend on the number of threads, or the order of files,
//! documents and keys.

use crate::prelude::*;
use std::fmt::Write as _;
use std::fs;

use proptest::prelude::*;

use super::{ClusterTask, Progress, entries, run};
use hcoplan_lint::Selection;
use hcoplan_repository::emit::{DiskTree, Tree};
use hcoplan_testing::generate::{self, Random};

/// A cluster's objects: first the HyperConverged, then the inventory.
type Cluster = Vec<Value>;

const ARCHITECTURES: [&str; 4] = ["amd64", "arm64", "s390x", "riscv64"];

/// A random cluster of a random release: a HyperConverged that is mostly accepted, nodes, and other objects.
fn cluster(random: &mut Random) -> Cluster {
    let names: Vec<&str> = Release::known_names().collect();
    let name = names[random.below(names.len())];
    let release = Release::known(name).expect("known");
    let served: Vec<&str> = release.schema_names().filter(|n| n.starts_with("hyperconverged.")).collect();
    let schema = release.schema(served[random.below(served.len())]);
    let (seed, odd) = (random.below(usize::MAX) as u64, random.one_in(4));
    let mut object = generate::object(schema.expect("served"), seed, odd);
    object["metadata"]["namespace"] = "kubevirt-hyperconverged".into();
    if random.one_in(3) {
        let patch = r#"[{"op": "add", "path": "/spec/imagePullPolicy", "value": "Always"}]"#;
        object["metadata"]["annotations"] = json!({"kubevirt.kubevirt.io/jsonpatch": patch});
    }
    let pool = |random: &mut Random, i: usize| {
        let role = ["control-plane", "worker", "infra"][random.below(3)];
        let architecture = ARCHITECTURES[random.below(ARCHITECTURES.len())];
        json!({
            "name": format!("p{i}"), "count": random.below(4), "roles": [role],
            "architecture": architecture, "labels": {"k": "a", "b": "1"},
        })
    };
    let count = random.below(4);
    let pools: Vec<Value> = (0..count).map(|i| pool(random, i)).collect();
    let platform = ["OpenShift", "Kubernetes"][random.below(2)];
    let mut out = vec![
        object,
        json!({
            "apiVersion": "hcoplan.dev/v1alpha1", "kind": "ClusterInventory",
            "metadata": {"name": format!("i{}", random.below(9))},
            "spec": {"release": name, "platform": platform, "nodePools": pools},
        }),
    ];
    for i in 0..random.below(3) {
        let architecture = ARCHITECTURES[random.below(ARCHITECTURES.len())];
        out.push(json!({
            "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
            "metadata": {"name": format!("vm{i}"), "namespace": "a"},
            "spec": {"running": true, "template": {"spec": {
                "architecture": architecture, "evictionStrategy": "None",
                "domain": {"machine": {"type": "q35"}, "devices": {}},
            }}},
        }));
    }
    let names: Vec<&str> = release.schema_names().collect();
    let beside = names[random.below(names.len())];
    if !beside.starts_with("hyperconverged.") {
        let schema = release.schema(beside).expect("there");
        out.push(generate::object(schema, random.below(usize::MAX) as u64, true));
    }
    out
}

/// An object as JSON, which is YAML, with its keys in some order.
fn written(value: &Value, order: &mut Option<Random>, out: &mut String) {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            if let Some(random) = order {
                shuffle(&mut entries, random);
            }
            out.push('{');
            for (i, (key, value)) in entries.into_iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                let _ = write!(out, "{comma}{}: ", Value::from(key.as_str()));
                written(value, order, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                written(item, order, out);
            }
            out.push(']');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for i in (1..items.len()).rev() {
        items.swap(i, random.below(i + 1));
    }
}

/// A fleet on disk.
struct Fleet {
    directory: tempfile::TempDir,
}

/// The layout of a fleet's files.
#[derive(Default)]
struct Layout {
    /// Create the files in another order.
    files: Option<Random>,
    /// Write the keys in another order.
    keys: Option<Random>,
    /// Write each cluster in one file, with its documents in some order.
    documents: Option<Random>,
}

impl Fleet {
    fn new(clusters: &[Cluster], mut layout: Layout) -> Self {
        let mut files: Vec<(String, String)> = Vec::new();
        for (number, cluster) in clusters.iter().enumerate() {
            let text = |object: &Value, keys: &mut Option<Random>| {
                let mut out = "---\n".to_owned();
                written(object, keys, &mut out);
                out + "\n"
            };
            let mut texts = cluster.iter().map(|o| text(o, &mut layout.keys));
            let mut texts: Vec<String> = texts.by_ref().collect();
            if let Some(random) = &mut layout.documents {
                shuffle(&mut texts, random);
                files.push((format!("c{number}/all.yaml"), texts.concat()));
                continue;
            }
            for (i, text) in texts.into_iter().enumerate() {
                files.push((format!("c{number}/{i}.yaml"), text));
            }
        }
        if let Some(random) = &mut layout.files {
            shuffle(&mut files, random);
        }
        let directory = tempfile::tempdir().expect("a directory");
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().expect("one")).expect("made");
            fs::write(path, text).expect("written");
        }
        Self { directory }
    }

    fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.directory.path()).expect("UTF-8")
    }

    fn run(&self, jobs: usize) -> RunResult {
        let repo = Repo::open(self.root(), &Options::default()).expect("readable");
        let out = self.root().join(format!("rendered-{jobs}"));
        let tree = Tree::replace(&out, DiskTree::open(&out).expect("readable")).expect("begun");
        let settings = Settings { pedantic: true, ..Settings::default() };
        let work = ClusterTask { lint: Some(Selection::of(&settings)), tree: Some(&tree), ..ClusterTask::default() };
        let mut seen = RunResult::default();
        let clusters = entries(&repo, |_| true);
        let quiet = Progress::of(clusters.len(), true);
        let jobs = NonZeroUsize::new(jobs);
        run(&repo, &clusters, &work, jobs, &quiet, |outcome| {
            if let Verdict::NotPlanned(why) = &outcome.verdict {
                assert_ne!(why.kind, NotPlannedKind::Bug, "{}: {why}", outcome.cluster);
            }
            let state = format!("{} {}", outcome.cluster, outcome.verdict.kind().as_str());
            seen.states.push(state);
            for finding in outcome.found.findings {
                let place = finding.location.as_ref();
                let place = place.map(|l| (l.file.path().to_owned(), l.span.start, l.span.end));
                seen.findings.push(Found {
                    what: format!("{:?} {}: {}", finding.severity, finding.rule.name, finding.message),
                    place,
                });
            }
            ControlFlow::Continue(())
        });
        tree.finish().expect("finished");
        if out.exists() {
            read(&out, &out, &mut seen.tree);
            fs::remove_dir_all(out).expect("removed");
        }
        seen
    }
}

fn read(root: &Utf8Path, directory: &Utf8Path, out: &mut BTreeMap<String, String>) {
    for entry in directory.read_dir_utf8().expect("readable") {
        let path = entry.expect("an entry").into_path();
        if path.is_dir() {
            read(root, &path, out);
        } else {
            let text = fs::read_to_string(&path).expect("text");
            let below = path.strip_prefix(root).expect("below");
            out.insert(below.to_string(), text);
        }
    }
}

#[derive(Debug, PartialEq)]
struct Found {
    what: String,
    place: Option<(Utf8PathBuf, u32, u32)>,
}

/// The result of a run.
#[derive(Debug, Default, PartialEq)]
struct RunResult {
    states: Vec<String>,
    findings: Vec<Found>,
    tree: BTreeMap<String, String>,
}

impl RunResult {
    /// The files of objects.
    fn objects(&self) -> Vec<(&String, &String)> {
        let objects = self.tree.iter();
        objects.filter(|(name, _)| name.ends_with(".yaml")).collect()
    }

    /// The messages without locations.
    fn sentences(&self) -> Vec<&str> {
        let mut out: Vec<&str> = self.findings.iter().map(|f| f.what.as_str()).collect();
        out.sort_unstable();
        out
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn results_do_not_depend_on_the_order_of_files(seed: u64) {
        let mut random = Random(seed);
        let clusters: Vec<Cluster> = (0..6).map(|_| cluster(&mut random)).collect();
        let other = || Some(Random(seed ^ 0x55));
        let first = Fleet::new(&clusters, Layout::default()).run(1);
        prop_assert_eq!(first.states.len(), 6);
        prop_assert!(!first.findings.is_empty());

        let fleet = Fleet::new(&clusters, Layout { files: other(), ..Layout::default() });
        for jobs in [4, 1] {
            let seen = fleet.run(jobs);
            prop_assert_eq!(&seen.states, &first.states);
            prop_assert_eq!(&seen.findings, &first.findings);
            prop_assert!(seen.tree == first.tree, "the trees differ with {jobs} threads");
        }

        let turned = Fleet::new(&clusters, Layout { keys: other(), ..Layout::default() }).run(4);
        prop_assert_eq!(&turned.states, &first.states);
        prop_assert_eq!(turned.sentences(), first.sentences());
        prop_assert!(turned.objects() == first.objects(), "the order of keys counts");

        let streamed = Fleet::new(&clusters, Layout { documents: other(), ..Layout::default() }).run(4);
        prop_assert!(streamed.objects() == first.objects(), "the order of documents counts");
    }
}
