//! The recorded cases, for tests of formats.

use camino::Utf8Path;
use hcoplan_repository::repo::{Loaded, Options, Repo};
use hcoplan_testing::{annotations, root};

/// Reads each recorded case of the selection that has an inventory, by name.
pub(crate) fn each_recorded_case(mut read: impl FnMut(&str, &Loaded)) {
    let copies = tempfile::tempdir().expect("a directory");
    annotations::copy(&root().join("testdata/golden/cases"), &copies.path().join("cases")).expect("copied");
    let cases = Utf8Path::from_path(copies.path()).expect("UTF-8").join("cases");
    let entries = cases.read_dir_utf8().expect("the cases");
    let mut names: Vec<_> = entries.map(|e| e.expect("an entry").into_path()).collect();
    names.sort();
    for case in names {
        let repo = Repo::open(&case, &Options::default()).expect("a case");
        let Some(cluster) = repo.clusters().first() else {
            continue;
        };
        let loaded = repo.load(cluster).expect("readable");
        if !loaded.inventory.documents.is_empty() {
            read(case.file_name().unwrap_or_default(), &loaded);
        }
    }
}
