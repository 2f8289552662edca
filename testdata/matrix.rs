//! Compares each cell of the example fleet's matrix with the rendered files: this test reads the DataImportCrons,
//! DataSources, SSP and inventories itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Scene, main_directory};

fn documents(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file = hcoplan::source::SourceFile::new("a.yaml", text);
    hcoplan::yaml::parse(&file).documents[0].root.to_json()
}

/// SSP's objects in a cluster.
#[derive(Default)]
struct Rendered {
    crons: Vec<Value>,
    sources: BTreeMap<String, Value>,
    ssp: Value,
}

fn rendered(directory: &Path) -> Rendered {
    let mut out = Rendered::default();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.starts_with("DataImportCron-") {
            out.crons.push(documents(&path));
        } else if name.starts_with("DataSource-") {
            let source = documents(&path);
            out.sources.insert(text(&source["metadata"]["name"]), source);
        } else if name.starts_with("SSP-") {
            out.ssp = documents(&path);
        }
    }
    out
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

const ARCHITECTURE: &str = "template.kubevirt.io/architecture";
const PLAIN: &str = "cdi.kubevirt.io/storage.import.datasource-name";

impl Rendered {
    /// The names for virtual machines: DataSources without an architecture, and those of crons.
    fn names(&self) -> BTreeSet<String> {
        let plain = self.sources.values();
        let plain = plain.filter(|s| s["metadata"]["labels"][ARCHITECTURE].is_null());
        let plain = plain.map(|s| text(&s["metadata"]["name"]));
        let of_crons = self.crons.iter().map(|c| match &c["metadata"]["labels"][PLAIN] {
            Value::Null => text(&c["spec"]["managedDataSource"]),
            name => text(name),
        });
        plain.chain(of_crons).collect()
    }

    /// The cron that fills a DataSource, with its image's architecture; `None` if it depends on the importing node.
    fn import(&self, data_source: &str) -> Option<(&Value, Option<String>)> {
        let cron = self.crons.iter().find(|c| c["spec"]["managedDataSource"] == data_source)?;
        let registry = &cron["spec"]["template"]["spec"]["source"]["registry"];
        let pinned = text(&registry["platform"]["architecture"]);
        let multi_arch = self.ssp["spec"]["enableMultipleArchitectures"] == true;
        let workload = self.ssp["spec"]["cluster"]["workloadArchitectures"].as_array().expect("a list");
        match (pinned.is_empty(), multi_arch) {
            (false, _) => Some((cron, Some(pinned))),
            (true, false) => Some((cron, workload.first().filter(|_| workload.len() == 1).map(text))),
            (true, true) => panic!("an image without architectures: {cron}"),
        }
    }

    fn leads_to(&self, name: &str) -> String {
        match self.sources.get(name).map(|s| &s["spec"]["source"]["dataSource"]["name"]) {
            Some(Value::String(target)) => target.clone(),
            _ => name.to_owned(),
        }
    }

    /// `covered fedora-arm64`
    fn cell(&self, name: &str, architecture: &str) -> String {
        let own = format!("{name}-{architecture}");
        if let Some((_, is)) = self.import(&own) {
            assert_eq!(is.as_deref(), Some(architecture));
            return format!("covered {own}");
        }
        if let Some((cron, is)) = self.import(name) {
            assert!(cron["metadata"]["labels"][ARCHITECTURE].is_null());
            let state = match is {
                None => "undetermined",
                Some(is) if is == architecture => "covered",
                Some(_) => "wrong",
            };
            return format!("{state} {name}");
        }
        if self.is_imported(name) { "undeclared -".to_owned() } else { "external -".to_owned() }
    }

    fn is_imported(&self, name: &str) -> bool {
        let mut crons = self.crons.iter();
        crons.any(|c| c["metadata"]["labels"][PLAIN] == name || c["spec"]["managedDataSource"] == name)
    }

    /// `covered amd64`
    fn plain(&self, name: &str) -> String {
        match self.import(&self.leads_to(name)) {
            Some((_, Some(is))) => format!("covered {is}"),
            Some((_, None)) => "undetermined -".to_owned(),
            None if self.is_imported(name) => "missing -".to_owned(),
            None => "external -".to_owned(),
        }
    }
}

/// Nodes by architecture: workers and control plane.
fn nodes(inventory: &Value) -> BTreeMap<String, (u64, u64)> {
    let mut out: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for pool in inventory["spec"]["nodePools"].as_array().expect("pools") {
        let roles = pool["roles"].as_array().expect("roles");
        let has = |role: &str| u64::from(roles.iter().any(|r| r == role));
        let count = pool["count"].as_u64().expect("a number");
        let (workers, control_plane) = (has("worker") * count, has("control-plane") * count);
        if workers + control_plane > 0 {
            let of = out.entry(text(&pool["architecture"])).or_default();
            of.0 += workers;
            of.1 += control_plane;
        }
    }
    out
}

/// Compares every cell; returns the number of each state.
fn compare(scene: &Scene) -> BTreeMap<String, usize> {
    let mut said = String::new();
    scene.run("hcoplan render --out now -q", &mut said);
    scene.run("hcoplan matrix --format json=matrix.json", &mut said);
    let matrix = fs::read_to_string(scene.path("matrix.json")).expect("readable");
    let matrix: Value = serde_json::from_str(&matrix).expect("JSON");
    let mut seen = BTreeMap::new();
    let clusters = matrix["clusters"].as_array().expect("clusters");
    assert_eq!(clusters.len(), 3, "{said}");
    for cluster in clusters {
        let name = text(&cluster["cluster"]);
        let objects = rendered(&scene.path("now").join(&name));
        let nodes = nodes(&documents(&scene.path(&name).join("inventory.yaml")));
        let architectures = cluster["architectures"].as_array().expect("a list");
        let counted = architectures.iter().map(|a| {
            let n = |key: &str| a[key].as_u64().expect("a number");
            (text(&a["name"]), (n("workloadNodes"), n("controlPlaneNodes")))
        });
        assert_eq!(counted.collect::<BTreeMap<_, _>>(), nodes, "{name}");
        let images = cluster["images"].as_array().expect("images");
        let names: BTreeSet<String> = images.iter().map(|i| text(&i["name"])).collect();
        assert_eq!(names, objects.names(), "{name}");
        let or_none = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let mut crons = BTreeSet::new();
        for image in images {
            let (image_name, plain) = (text(&image["name"]), &image["plainName"]);
            let is = or_none(&plain["imageArchitecture"]);
            let is = format!("{} {is}", text(&plain["state"]));
            assert_eq!(is, objects.plain(&image_name), "{name}: {image_name}");
            let cells = image["cells"].as_array().expect("cells");
            assert_eq!(cells.len(), nodes.len());
            for cell in cells {
                let architecture = text(&cell["architecture"]);
                let state = text(&cell["state"]);
                *seen.entry(state.clone()).or_default() += 1;
                crons.insert(or_none(&cell["dataImportCron"]));
                if nodes[&architecture].0 == 0 {
                    assert_eq!(state, "unneeded");
                    continue;
                }
                let is = format!("{state} {}", or_none(&cell["dataSource"]));
                let want = objects.cell(&image_name, &architecture);
                assert_eq!(is, want, "{name}: {image_name} on {architecture}");
            }
        }
        // The matrix has every import.
        for cron in &objects.crons {
            assert!(crons.contains(&text(&cron["metadata"]["name"])), "{name}: {cron}");
        }
    }
    seen
}

#[test]
fn the_matrix_is_what_is_rendered() {
    let scene = Scene::new(&main_directory().join("examples/fleet"));
    let seen = compare(&scene);
    assert_eq!((seen["covered"], seen["undetermined"]), (12, 8));

    // The control plane's architecture runs no workloads, and an image lacks an architecture.
    let change = |file: &str, from: &str, to: &str| {
        let path = scene.path(file);
        let text = fs::read_to_string(&path).expect("readable");
        assert!(text.contains(from), "{file} has no {from:?}");
        fs::write(&path, text.replacen(from, to, 1)).expect("written");
    };
    let amd = "count: 2\n      architecture: amd64";
    change("clusters/lab-multiarch/inventory.yaml", amd, &amd.replace("amd64", "arm64"));
    let file = "clusters/prod-east/hyperconverged.yaml";
    change(file, "amd64,arm64", "arm64");
    let on = "\nspec:\n  featureGates: {enableMultiArchBootImageImport: true}\n";
    change(file, "\nspec:\n", on);
    let seen = compare(&scene);
    for (state, least) in [("covered", 9), ("undeclared", 1), ("unneeded", 3), ("external", 12)] {
        assert!(seen[state] >= least, "{state}: {seen:?}");
    }
}

/// The same bytes every time, without data of the machine.
#[test]
fn pages_are_the_same_every_time() {
    let scene = Scene::new(&main_directory().join("examples/fleet"));
    let mut said = String::new();
    scene.run("commit", &mut said);
    let mut pages = BTreeSet::new();
    for jobs in [1, 1, 7] {
        scene.run(&format!("hcoplan report --jobs {jobs} --format html=page.html"), &mut said);
        pages.insert(fs::read_to_string(scene.path("page.html")).expect("readable"));
    }
    assert_eq!(pages.len(), 1, "{said}");
    let page = pages.first().expect("a page");
    assert!(!page.contains(&*scene.path(".").to_string_lossy()));
    for anchor in ["matrix", "findings", "alerts", "changes", "clusters"] {
        assert!(page.contains(&format!("<section id=\"{anchor}\"")), "{anchor}");
    }
}
