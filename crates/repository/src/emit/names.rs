//! Derives file and directory names from users' names. None points outside the tree.

use hcoplan_kubernetes::ObjectId;
use sha2::{Digest, Sha256};

use super::Error;
use super::kustomization::KUSTOMIZATION;
use super::manifest::{CLUSTER_MANIFEST, TOP_MANIFEST};
use crate::prelude::*;

/// The longest name that file systems allow, in bytes.
const MAX_BYTES: usize = 255;

const ENDING: &str = ".yaml";

/// A file name per object, in the objects' order, unique without regard to case: `<kind>-<name>.yaml`, or
/// `<kind>-<namespace>-<name>.yaml` if the short names clash.
pub fn file_names(objects: &[&ObjectId]) -> Vec<String> {
    let short: Vec<_> = objects.iter().map(|id| plain(&[&id.kind, &id.name])).collect();
    let mut uses = BTreeMap::<String, usize>::new();
    for name in &short {
        *uses.entry(name.to_lowercase()).or_default() += 1;
    }
    let mut taken = BTreeSet::new();
    let names = objects.iter().zip(short).map(|(id, short)| {
        let mut name = short;
        if uses.get(&name.to_lowercase()).is_some_and(|n| *n > 1)
            && let Some(namespace) = &id.namespace
        {
            name = plain(&[&id.kind, namespace, &id.name]);
        }
        // Two API groups with one kind, or characters that became the same.
        let mut numbered = name.clone();
        let mut number = 2;
        while !taken.insert(numbered.to_lowercase()) {
            numbered = format!("{name}-{number}");
            number += 1;
        }
        numbered + ENDING
    });
    names.collect()
}

/// The parts joined with `-`, other characters than letters, digits, dots and hyphens replaced by `_`, and truncated if
/// too long.
fn plain(parts: &[&str]) -> String {
    let joined = parts.join("-");
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let name: String = joined.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    let room = MAX_BYTES - ENDING.len() - "-999".len();
    if name.len() <= room {
        return name;
    }
    let digest = Sha256::digest(joined.as_bytes());
    let tail: String = digest.iter().take(6).map(|b| format!("{b:02x}")).collect();
    let kept = name.get(..room - tail.len() - 1).unwrap_or_default();
    format!("{kept}-{tail}")
}

/// The cluster's directory below the tree: its id; empty for the root's own cluster (`.`).
///
/// # Errors
/// A name that would point outside the tree or that file systems reject.
pub fn cluster_directory(cluster: &str) -> Result<Utf8PathBuf, Error> {
    if cluster == ClusterName::ROOT {
        return Ok(Utf8PathBuf::new());
    }
    let mut directory = Utf8PathBuf::new();
    for part in cluster.split('/') {
        let bad = |c: &char| c.is_control() || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
        let reason = match part {
            "" => "a part of it is empty".to_owned(),
            "." | ".." => format!("it has a part {part:?}"),
            _ if OWN_FILES.iter().any(|own| part.eq_ignore_ascii_case(own)) => {
                format!("{part} is a file of the output tree")
            }
            _ if is_device(part) => format!("{part} is a device on Windows"),
            _ if part.ends_with(['.', ' ']) => "a part of it ends with a dot or a space".to_owned(),
            _ if part.len() > MAX_BYTES => format!("a part of it is longer than {MAX_BYTES} bytes"),
            _ => match part.chars().find(bad) {
                Some(c) => format!("it has the character {c:?}"),
                None => {
                    directory.push(part);
                    continue;
                }
            },
        };
        return Err(rejected(cluster, reason));
    }
    Ok(directory)
}

fn rejected(cluster: &str, reason: String) -> Error {
    Error::ClusterName(cluster.to_owned(), reason)
}

/// Names of hcoplan's own files, which no directory can have.
const OWN_FILES: [&str; 3] = [TOP_MANIFEST, CLUSTER_MANIFEST, KUSTOMIZATION];

/// Whether Windows treats a name as a device, with any extension. Source: "Naming Files, Paths, and Namespaces" of the
/// Win32 documentation.
fn is_device(name: &str) -> bool {
    let stem = first_part(name, '.').trim_end();
    let stem = stem.to_ascii_uppercase();
    let numbered = stem.strip_prefix("COM").or(stem.strip_prefix("LPT"));
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL")
        || numbered.is_some_and(|n| {
            let mut digits = n.chars();
            matches!(digits.next(), Some('0'..='9' | '¹' | '²' | '³')) && digits.next().is_none()
        })
}

/// Checks that every cluster can have its own directory.
///
/// # Errors
/// The first name that can't, including names that differ only in case: such a tree can't be checked out everywhere.
pub fn check_names<'a>(clusters: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
    let mut seen = BTreeMap::<String, &str>::new();
    for cluster in clusters {
        let directory = cluster_directory(cluster)?;
        if let Some(other) = seen.insert(directory.as_str().to_lowercase(), cluster) {
            let reason = if other == cluster {
                "another cluster has the same name".to_owned()
            } else {
                format!("it differs from {other:?} only in letters' case")
            };
            return Err(rejected(cluster, reason));
        }
    }
    // A directory inside another cluster's directory must not have the name of one of its files.
    for directory in seen.keys().map(Utf8Path::new) {
        let inner = directory.ancestors();
        let like_files = inner.filter(|d| d.as_str().ends_with(ENDING));
        let outer = like_files.filter_map(|d| seen.get(d.parent()?.as_str()));
        if let (Some(outer), Some(cluster)) = (outer.last(), seen.get(directory.as_str())) {
            let reason = format!("its directory would have the name of a file of cluster {outer:?}");
            return Err(rejected(cluster, reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(objects: &[ObjectId]) -> Vec<String> {
        file_names(&objects.iter().collect::<Vec<_>>())
    }

    #[test]
    fn adds_the_namespace_only_to_clashing_names() {
        let objects = [
            ObjectId::namespaced("v1", "ConfigMap", "a", "virtio-win"),
            ObjectId::namespaced("v1", "Role", "a", "reader"),
            ObjectId::namespaced("v1", "Role", "b", "Reader"),
            ObjectId::cluster_scoped("v1", "ClusterRole", "ssp:view"),
        ];
        assert_eq!(
            names(&objects),
            ["ConfigMap-virtio-win.yaml", "Role-a-reader.yaml", "Role-b-Reader.yaml", "ClusterRole-ssp_view.yaml"]
        );
    }

    #[test]
    fn numbers_names_that_are_still_equal() {
        let objects = [ObjectId::cluster_scoped("a/v1", "X", "n/1"), ObjectId::cluster_scoped("b/v1", "X", "n:1")];
        assert_eq!(names(&objects), ["X-n_1.yaml", "X-n_1-2.yaml"]);
    }

    #[test]
    fn names_stay_in_the_tree_and_below_the_limit() {
        let evil = ObjectId::cluster_scoped("v1", "..", "/../../etc/passwd\0");
        assert_eq!(names(&[evil]), ["..-_.._.._etc_passwd_.yaml"]);
        let long = "x".repeat(300);
        let objects = [
            ObjectId::cluster_scoped("v1", "ConfigMap", &format!("{long}a")),
            ObjectId::cluster_scoped("v1", "ConfigMap", &format!("{long}b")),
        ];
        let names = names(&objects);
        assert!(names.iter().all(|n| n.len() <= MAX_BYTES), "{names:?}");
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn a_name_leaves_room_for_its_number_and_ending() {
        let room = MAX_BYTES - ENDING.len() - "-999".len();
        for length in [room - 1, room, room + 1, 2 * room] {
            assert_eq!(plain(&[&"x".repeat(length)]).len(), length.min(room));
        }
    }

    #[test]
    fn rejects_cluster_names_outside_the_tree() {
        assert_eq!(cluster_directory(".").expect("root"), "");
        assert_eq!(cluster_directory("a/münchen 1").expect("name"), "a/münchen 1");
        let long = "x".repeat(256);
        for (bad, reason) in [
            ("", "empty"),
            ("/a", "empty"),
            ("a//b", "empty"),
            ("a/", "empty"),
            ("../a", "a part \"..\""),
            ("a/..", "a part \"..\""),
            ("a/./b", "a part \".\""),
            ("a\\..\\b", "the character '\\\\'"),
            ("a\0b", "the character '\\0'"),
            ("a\nb", "the character '\\n'"),
            ("c:x", "the character ':'"),
            (&long, "longer than 255 bytes"),
            ("nul", "nul is a device on Windows"),
            ("a/Aux.b", "Aux.b is a device on Windows"),
            ("com1", "com1 is a device"),
            ("LPT³.x", "LPT³.x is a device"),
            ("a./b", "ends with a dot or a space"),
            ("a ", "ends with a dot or a space"),
            ("hcoplan-manifest.json", "a file of the output tree"),
            ("a/HCOplan-cluster.json/b", "a file of the output tree"),
            ("kustomization.yaml", "a file of the output tree"),
        ] {
            let error = cluster_directory(bad).expect_err(bad).to_string();
            assert!(error.contains(reason), "{bad:?}: {error}");
        }
        for good in ["&x".repeat(127).as_str(), "console", "com", "com10", "lpt", "nul-1", ".a"] {
            assert!(cluster_directory(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn clusters_have_different_directories() {
        assert!(check_names(["a", "b", "a/b"]).is_ok());
        let error = check_names(["a/B", "a/b"]).expect_err("case");
        assert!(error.to_string().contains("letters' case"), "{error}");
        assert!(check_names(["a", "a"]).is_err());
        for names in [["a", "a/CDI-x.yaml"], ["a", "A/cdi-x.YAML/b/c"], ["x.yaml/b", "."]] {
            let error = check_names(names).expect_err("a file's name").to_string();
            assert!(error.contains("the name of a file of"), "{names:?}: {error}");
        }
        assert!(check_names(["a/x.yaml", "b", "a/x.yaml/c"]).is_ok());
    }
}
