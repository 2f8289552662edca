//! Order, grouping and words of a review.

use super::*;
use hcoplan_explain::diff::Effect;
use hcoplan_explain::diff::semantic::{EffectTime, Impact};
use hcoplan_explain::diff::{Comparison, VerdictChange};
use hcoplan_planner::verdict::Verdict;
use hcoplan_rule_pages::rules::INVENTORY_INVALID;

fn cluster(name: &str, effects: Vec<Effect>) -> ClusterDiff {
    ClusterDiff { image_effects: effects, moved_from: Some(format!("{name}-before")), ..ClusterDiff::new(name) }
}

fn image(impact: Impact, certain: bool, text: &str, name: &str) -> Effect {
    Effect { certain, subjects: vec![name.to_owned()], ..Effect::new(impact, text) }
}

fn rejected(name: &str) -> ClusterDiff {
    let verdict = VerdictChange { before: None, after: Some("it is wrong".to_owned()) };
    ClusterDiff {
        comparison: Comparison { verdict: Some(verdict), alerts_added: vec!["SomeAlert"], ..Comparison::default() },
        verdict: Verdict::Rejected(Vec::new()),
        ..ClusterDiff::new(name)
    }
}

#[test]
fn sorts_by_severity_and_certainty() {
    let all = [
        cluster("a", vec![image(Impact::Images, true, "{} is imported", "x")]),
        cluster("b", vec![image(Impact::BootFailure, false, "{} may be missing", "x")]),
        cluster("c", vec![image(Impact::DataLoss, true, "{} is deleted", "x")]),
        rejected("d"),
    ];
    let review = Review::of(&all, 4, &[], true);
    let order: Vec<Impact> = review.entries.iter().map(|e| e.effect.impact).collect();
    let expected = [Impact::Stops, Impact::DataLoss, Impact::BootFailure, Impact::Alert, Impact::Images];
    assert_eq!(order, expected);
    assert_eq!(review.level, Level::Bad);
    assert_eq!(review.word(), "stops");
    assert_eq!(review.verdict(), "rejected in 1 of 4 clusters");
}

#[test]
fn groups_same_changes_with_their_names() {
    let both = |name: &str| {
        cluster(
            name,
            vec![
                image(Impact::BootFailure, false, "the DataSource {} leads nowhere", "fedora"),
                image(Impact::BootFailure, false, "the DataSource {} leads nowhere", "rhel9"),
            ],
        )
    };
    let all = [both("c/a"), both("c/b")];
    let review = Review::of(&all, 3, &[], true);
    let [entry] = review.entries.as_slice() else {
        panic!("{:?}", review.entries);
    };
    assert_eq!(entry.sentence(4), "the DataSources fedora and rhel9 lead nowhere");
    assert_eq!(clusters(&entry.clusters), "2 clusters: a, b");
    assert_eq!(review.verdict(), "possible boot failure in 2 of 3 clusters");
    assert_eq!(review.word(), "boot-failure");
    assert_eq!(review.level, Level::Warn);
}

#[test]
fn names_machines_of_the_repository() {
    let mut effect = image(Impact::BootFailure, true, "{} goes", "fedora");
    effect.machines = vec!["apps/db".to_owned()];
    effect.when = EffectTime::NewMachines;
    let all = [cluster("a", vec![effect])];
    let review = Review::of(&all, 1, &[], true);
    let sentence = review.entries[0].sentence(4);
    assert_eq!(sentence, "fedora goes; in this repository: apps/db");
    assert!(review.summary(30).chars().count() == 30);
}

#[test]
fn reports_nothing_without_input() {
    let review = Review::of(&[], 2, &[], true);
    assert_eq!((review.word(), review.level), ("no-changes", Level::Good));
    assert_eq!(review.verdict(), "no changes in 2 clusters");
}

#[test]
fn a_change_of_findings_is_no_change_of_the_cluster() {
    let gone = Finding::new(&INVENTORY_INVALID, "it has no nodes");
    let all = [ClusterDiff { findings_removed: vec![gone], ..ClusterDiff::new("a") }];
    let review = Review::of(&all, 2, &[], true);
    assert_eq!(review.verdict(), "only findings change in 1 of 2 clusters");
    assert_eq!((review.word(), review.level), ("changes", Level::Calm));
}

#[test]
fn joins_entries_of_several_releases() {
    let restart = || Effect::new(Impact::Behaviour, "the pods are replaced");
    let steps = [
        ("1.18".to_owned(), vec![cluster("a", vec![restart()]), cluster("b", vec![restart()])]),
        ("1.19".to_owned(), vec![cluster("a", vec![restart()]), cluster("b", vec![restart()])]),
    ];
    let review = Review::of_steps(&steps, 2);
    let [entry] = review.entries.as_slice() else {
        panic!("{:?}", review.entries);
    };
    assert_eq!(entry.releases, ["1.18", "1.19"]);
    assert_eq!(entry.clusters, ["a", "b"]);
    assert_eq!(review.counts.differing, 2);
}
