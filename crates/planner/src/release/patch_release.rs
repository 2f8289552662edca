//! Published patch releases of a line (`1.17.3`), and the development of the next line: each is the line's data with
//! its differences.

use super::version_numbers;
use super::{Error, Files};
use crate::prelude::*;
use crate::release::Release;
use hcoplan_schemas::PATCH_RELEASES;

/// `schemas/patch-releases/<version>.json`; `cargo run -p xtask -- release --changes` writes it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchRelease {
    /// The line that it differs from, `1.17`: the newest state of its branch.
    pub line: String,
    /// The URL of the tag, or of a branch's commit.
    pub source: String,
    /// JSON merge patches (RFC 7396) of the line's files, by file name.
    pub changes: BTreeMap<String, Value>,
}

impl PatchRelease {
    /// The differences between a release line's files and others.
    ///
    /// # Errors
    /// A file isn't JSON, or has a null that the line lacks, which no merge patch can express.
    pub fn between(line: &Release, files: &BTreeMap<String, String>, source: String) -> Result<Self, Error> {
        let parsed = |name: &str, text: &str| -> Result<Value, Error> {
            serde_json::from_str(text).map_err(|e| Error::shape(name, &e.to_string()))
        };
        let mut changes = BTreeMap::new();
        for (name, text) in files {
            let mut old = match line.file(name) {
                Ok(text) => parsed(name, text)?,
                Err(_) => Value::Null,
            };
            let new = parsed(name, text)?;
            if old != new {
                let patch = merge_patch(&old, &new);
                json_patch::merge(&mut old, &patch);
                if old != new {
                    return Err(Error::shape(name, "a merge patch can't express a null"));
                }
                changes.insert(name.clone(), patch);
            }
        }
        Ok(Self { line: line.name().to_owned(), source, changes })
    }

    /// The line's files with the changes.
    fn files(&self, line: &Release) -> Result<Files, Error> {
        let mut files = Files::new();
        files.share(&line.files);
        for (name, patch) in &self.changes {
            let mut json: Value = line.files.parse(name)?;
            json_patch::merge(&mut json, patch);
            files.insert(name.clone(), json.to_string());
        }
        Ok(files)
    }
}

impl Release {
    /// The compiled-in patch release of this name: `1.17.3`, `1.20-dev`.
    pub fn patch(name: &str) -> Option<Arc<Self>> {
        static CELLS: LazyLock<Vec<OnceLock<Arc<Release>>>> =
            LazyLock::new(|| PATCH_RELEASES.iter().map(|_| OnceLock::new()).collect());
        let index = Self::patch_names().position(|known| known == name)?;
        let (cell, (name, text)) = (CELLS.get(index)?, PATCH_RELEASES.get(index)?);
        let release = cell.get_or_init(|| {
            let of_release = |error| panic!("{name}: {error}");
            let patch = serde_json::from_str(text);
            let patch: PatchRelease = patch.unwrap_or_else(|e| panic!("{name}: {e}"));
            let line = Self::known(&patch.line);
            let line = line.unwrap_or_else(|| panic!("{name}: unknown line {}", patch.line));
            let files = patch.files(&line).unwrap_or_else(of_release);
            let mut release = Self::named(line.name(), files);
            release.patch =
                Some(Patched { name, source: patch.source, changes: patch.changes, moving: name.ends_with("-dev") });
            Arc::new(release)
        });
        Some(Arc::clone(release))
    }

    /// The closest modelled release of a patch level (`1.17`, `2`): that patch release, else the newest one below, else
    /// the oldest. The line itself is its newest state. `None` if the line isn't modelled.
    pub fn nearest_patch(line: &str, patch: &str) -> Option<Arc<Self>> {
        let newest = Self::known(line)?;
        let requested = version_numbers(&format!("{line}.{patch}"));
        if requested >= version_numbers(newest.version()) {
            return Some(newest);
        }
        let of_line = |name: &&str| name.strip_prefix(line).is_some_and(|rest| rest.starts_with('.'));
        let mut patches: Vec<_> =
            Self::patch_names().filter(of_line).map(|name| (version_numbers(name), name)).collect();
        patches.sort();
        let below = patches.iter().rfind(|(numbers, _)| *numbers <= requested);
        below.or_else(|| patches.first()).map_or(Some(newest), |(_, name)| Self::patch(name))
    }

    /// Whether another release of the same line is newer; versions of distributions aren't compared.
    pub fn is_patched_by(&self, other: &Self) -> bool {
        let is_patched = self.patch.is_some() || other.patch.is_some();
        is_patched && version_numbers(self.version()) < version_numbers(other.version())
    }

    /// The names of the compiled-in patch releases, oldest first.
    pub fn patch_names() -> impl Iterator<Item = &'static str> {
        PATCH_RELEASES.iter().map(|(name, _)| *name)
    }
}

/// A patch release's name and source.
#[derive(Debug)]
pub struct Patched {
    /// The name: `1.17.3`, `1.20-dev`.
    pub name: &'static str,
    /// See [`PatchRelease::source`].
    pub source: String,
    /// See [`PatchRelease::changes`].
    pub changes: BTreeMap<String, Value>,
    /// Whether it is a development branch, newer than its line.
    pub moving: bool,
}

/// The merge patch from `before` to `after`: null for each removed key.
pub fn merge_patch(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return after.clone();
    };
    let mut out = Map::new();
    for (key, value) in after {
        match before.get(key) {
            Some(old) if old == value => {}
            Some(old @ Value::Object(_)) if value.is_object() => {
                out.insert(key.clone(), merge_patch(old, value));
            }
            _ => drop(out.insert(key.clone(), value.clone())),
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        out.insert(key.clone(), Value::Null);
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_patch_release_has_its_version() {
        for name in Release::patch_names() {
            let release = Release::patch(name).expect("listed");
            assert_eq!(release.label(), name);
            let version = name.replace("-dev", ".0");
            assert_eq!(release.version(), version);
        }
    }

    #[test]
    fn differs_only_in_the_changed_values() {
        for (name, text) in PATCH_RELEASES {
            let patch: PatchRelease = serde_json::from_str(text).expect("JSON");
            let line = Release::known(&patch.line).expect("known");
            let release = Release::patch(name).expect("listed");
            let files = release.file_names();
            let files = files.map(|f| (f.to_owned(), release.file(f).expect("listed").to_owned()));
            let again = PatchRelease::between(&line, &files.collect(), patch.source);
            assert_eq!(again.expect("JSON").changes, patch.changes, "{name}");
        }
    }

    #[test]
    fn rejects_a_null_that_no_merge_patch_can_express() {
        let line = Release::known("1.18").expect("known");
        let files = [("own.json".to_owned(), "{\"a\": {\"b\": null}}".to_owned())];
        let error = PatchRelease::between(&line, &files.into(), String::new()).unwrap_err();
        assert!(error.to_string().contains("own.json"), "{error}");
    }

    #[test]
    fn uses_the_nearest_patch_release_below() {
        let label = |line, patch| Release::nearest_patch(line, patch).map(|r| r.label().to_owned());
        let newest = Release::known("1.18").expect("known").version().to_owned();
        let (_, newest) = newest.rsplit_once('.').expect("a patch level");
        assert_eq!(label("1.18", newest).as_deref(), Some("1.18"));
        assert_eq!(label("1.18", "99").as_deref(), Some("1.18"));
        assert_eq!(label("1.18", "1").as_deref(), Some("1.18.1"));
        assert_eq!(label("1.16", "0").as_deref(), Some("1.16.0"));
        assert_eq!(label("1.15", "1"), None);
    }

    #[test]
    fn orders_patch_releases_of_a_line() {
        let release = |name| Release::patch(name).expect("listed");
        assert!(release("1.17.1").is_patched_by(&release("1.17.3")));
        assert!(!release("1.17.3").is_patched_by(&release("1.17.1")));
        // The next line in development is newer than all lines.
        let line = Release::known_names().last().and_then(Release::known).expect("known");
        for next in Release::patch_names().filter(|name| name.ends_with("-dev")).map(release) {
            assert!(line.is_patched_by(&next));
            let before = next.previous().expect("modelled");
            assert_eq!((before.label(), next.next().is_some()), (line.label(), false));
        }
    }
}
