//! Previews upgrades of the recorded cases between any two of their releases.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use camino::Utf8Path;
use hcoplan_testing::recordings;
use rayon::prelude::*;
use serde_json::Value;

use hcoplan_explain::diff::semantic::Step;
use hcoplan_explain::diff::{Kind, Side, compare_plans, notes};
use hcoplan_kubernetes::{Object, ObjectId};
use hcoplan_planner::plan::{Plan, plan};
use hcoplan_planner::release::Release;
use hcoplan_repository::repo::{Options, Repo};
use hcoplan_yaml::edit::Change;
use hcoplan_yaml::{Path, Segment};

/// All recorded cases if they exist, else the selection.
fn cases() -> Vec<std::path::PathBuf> {
    let own = hcoplan_testing::root().join("testdata");
    let sets = match recordings() {
        Some(shared) => vec![shared.join("golden/curated"), shared.join("golden/random")],
        None => vec![own.join("golden")],
    };
    let all = sets.iter().flat_map(|set| {
        let entries = fs::read_dir(set.join("cases")).expect("cases");
        entries.map(|e| e.expect("an entry").path())
    });
    let mut all: Vec<_> = all.collect();
    all.sort();
    all
}

fn objects(plan: &Plan) -> Vec<Object> {
    plan.objects().cloned().collect()
}

/// Applies a step, whose place has to exist.
fn apply(body: &mut Value, step: &Step) {
    let parent = Path(step.path.0.split_last().map_or(&[][..], |(_, above)| above).to_vec());
    let container = parent.get(body).expect("every step has its place");
    let change = match (&step.after, step.path.0.last()) {
        (Some(after), Some(Segment::Index(index))) if step.before.is_none() => {
            let mut items = container.as_array().expect("a list").clone();
            items.insert(*index, after.clone());
            Change::Set(parent, items.into())
        }
        (Some(after), _) => Change::Set(step.path.clone(), after.clone()),
        (None, _) => Change::Remove(step.path.clone()),
    };
    change.apply(body).expect("every step has its place");
}

/// Applies the reported changes to the old objects.
fn applied(old: &[Object], comparison: &hcoplan_explain::diff::Comparison) -> BTreeMap<Arc<ObjectId>, Arc<Value>> {
    let mut all: BTreeMap<Arc<ObjectId>, Arc<Value>> =
        old.iter().map(|o| (o.id.clone(), Arc::clone(&o.body))).collect();
    for change in comparison.objects.iter() {
        let base = change.instead_of.as_ref().unwrap_or(&change.id);
        let was = match (change.kind, &change.instead_of) {
            (Kind::Add, None) => None,
            _ => all.remove(base),
        };
        match (was, &change.after) {
            (Some(was), Some(_)) => {
                let mut body = (*was).clone();
                change.fields.iter().for_each(|field| apply(&mut body, &field.step));
                all.insert(change.id.clone(), Arc::new(body));
            }
            (None, Some(after)) => {
                all.insert(change.id.clone(), Arc::clone(after));
            }
            (_, None) => {}
        }
    }
    all
}

#[test]
fn previews_every_step_of_an_upgrade() {
    let names: Vec<&str> = Release::known_names().collect();
    let seen: usize = cases()
        .par_iter()
        .map(|case| {
            let root = Utf8Path::from_path(case).expect("UTF-8");
            let repo = Repo::open(root, &Options::default()).expect("a case");
            let Some(cluster) = repo.clusters().first() else {
                return 0;
            };
            let Ok(loaded) = repo.load(cluster) else {
                return 0;
            };
            let inventory = &loaded.inventory;
            if inventory.documents.is_empty() {
                return 0;
            }
            let planned: Vec<_> = names
                .iter()
                .map(|name| {
                    let release = Release::known(name).expect("known");
                    let plan = plan(&release, &inventory.inventory, &loaded.json);
                    (release, plan)
                })
                .collect();
            let mut seen = 0;
            for (i, (old_release, old)) in planned.iter().enumerate() {
                for (new_release, new) in planned.iter().skip(i + 1) {
                    if old.hyperconverged.is_none() || new.hyperconverged.is_none() {
                        continue;
                    }
                    let side = |release, plan| Side {
                        stated: None,
                        release,
                        inventory,
                        document: Some(&loaded.document),
                        object: &loaded.json,
                        plan,
                    };
                    let (a, b) = (side(old_release, old), side(new_release, new));
                    let comparison = compare_plans(&a, &b);
                    let result = applied(&objects(old), &comparison);
                    let want: BTreeMap<_, _> = objects(new).into_iter().map(|o| (o.id, o.body)).collect();
                    assert_eq!(result.len(), want.len(), "{root}");
                    for (id, body) in &want {
                        assert_eq!(result.get(id), Some(body), "{root}: {id}");
                    }
                    // Notes refer to locations in the document.
                    for note in notes(&a, &b) {
                        assert!(!note.text.is_empty());
                        if let Some(place) = note.place {
                            assert!(!place.text().is_empty(), "{root}: {}", note.text);
                        }
                    }
                    seen += 1;
                }
            }
            seen
        })
        .sum();
    assert!(seen > 200, "only {seen} previews");
}
