//! Order, grouping and words of a review.

use super::*;
use hcoplan_diagnostics::finding::FindingKey;
use hcoplan_explain::diff::semantic::{EffectTime, Impact};
use hcoplan_explain::diff::{Cause, Effect};
use hcoplan_explain::diff::{Comparison, VerdictChange};
use hcoplan_planner::verdict::Verdict;
use hcoplan_rule_pages::rules::INVENTORY_INVALID;

fn cluster(name: &str, effects: Vec<Effect>) -> ClusterDiff {
    ClusterDiff { image_effects: effects, moved_from: Some("before".to_owned()), ..ClusterDiff::new(name) }
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
    let order: Vec<Impact> = review.entries().map(|e| e.effect.impact).collect();
    let expected = [Impact::Stops, Impact::Alert, Impact::DataLoss, Impact::BootFailure, Impact::Images];
    assert_eq!(order, expected);
    assert_eq!(review.level, Level::Bad);
    assert_eq!(review.word(), "stops");
    assert_eq!(review.verdict(), "rejected in 1 of 4 clusters, data loss in 1, possible boot failure in 1, alert in 1");
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
    let entries: Vec<_> = review.entries().collect();
    let [entry] = entries.as_slice() else {
        panic!("{entries:?}");
    };
    assert_eq!(entry.sentence(4), "the DataSources fedora and rhel9 lead nowhere");
    let crons = Effect {
        subjects: vec!["a".to_owned(), "b".to_owned()],
        ..Effect::new(Impact::Disruption, "SSP creates the DataImportCron {} again: what it imported is deleted")
    };
    let crons = Entry::new(crons, Vec::new()).sentence(4);
    assert_eq!(crons, "SSP creates the DataImportCrons a and b again: what they imported is deleted");
    assert_eq!(clusters(&entry.clusters), "2 clusters: a, b");
    assert_eq!(review.verdict(), "possible boot failure in 2 of 3 clusters");
    assert_eq!(review.word(), "boot-failure");
    assert_eq!(review.level, Level::Warn);
}

#[test]
fn names_machines_of_the_repository() {
    let mut effect = image(Impact::BootFailure, true, "{} goes", "fedora");
    effect.machines = vec!["apps/db".to_owned()];
    effect.when = EffectTime::NextStart;
    let all = [cluster("a", vec![effect])];
    let review = Review::of(&all, 1, &[], true);
    let sentence = review.entries().next().expect("an entry").sentence(4);
    assert_eq!(sentence, "fedora goes, from their next start: apps/db");
    assert!(review.summary(30).chars().count() == 30);
}

#[test]
fn reports_nothing_without_input() {
    let review = Review::of(&[], 2, &[], true);
    assert_eq!((&*review.word(), review.level), ("no-changes", Level::Good));
    assert_eq!(review.verdict(), "no changes in 2 clusters");
}

#[test]
fn a_change_of_findings_is_no_change_of_the_cluster() {
    let gone = Finding::new(&INVENTORY_INVALID, "it has no nodes");
    let all = [ClusterDiff { findings_removed: vec![gone], ..ClusterDiff::new("a") }];
    let review = Review::of(&all, 2, &[], true);
    assert_eq!(review.verdict(), "only findings change in 1 of 2 clusters");
    assert_eq!((&*review.word(), review.level), ("changes", Level::Calm));
}

#[test]
fn joins_entries_of_several_releases() {
    let restart = || Effect::new(Impact::Behaviour, "the pods are replaced");
    let steps = [
        ("1.18".to_owned(), vec![cluster("a", vec![restart()]), cluster("b", vec![restart()])]),
        ("1.19".to_owned(), vec![cluster("a", vec![restart()]), cluster("b", vec![restart()])]),
    ];
    let review = Review::of_steps(&steps, 2);
    let entries: Vec<_> = review.entries().collect();
    let [entry] = entries.as_slice() else {
        panic!("{entries:?}");
    };
    assert_eq!(entry.releases, ["1.18", "1.19"]);
    assert_eq!(entry.clusters, ["a", "b"]);
    assert_eq!(review.counts.differing, 2);
}

fn cause(what: &str) -> Cause {
    Cause { what: what.to_owned(), ..Cause::default() }
}

/// A cluster with two causes, an effect of each, and a finding of the first.
fn two_causes(name: &str) -> ClusterDiff {
    let finding = Finding::new(&INVENTORY_INVALID, "it has no nodes");
    let of = |index: usize, text: &str| Effect { causes: vec![index], ..Effect::new(Impact::Behaviour, text) };
    let effects = vec![of(0, "one thing happens"), of(1, "another thing happens")];
    let comparison = Comparison { causes: vec![cause("spec.a"), cause("spec.b")], ..Comparison::default() };
    ClusterDiff {
        comparison,
        moved_from: None,
        finding_causes: vec![(FindingKey::of(&finding), vec![0])],
        findings_added: vec![finding],
        ..cluster(name, effects)
    }
}

#[test]
fn each_cause_has_a_story_of_all_its_clusters() {
    let all = ["a", "b"].map(two_causes);
    let review = Review::of(&all, 2, &[], true);
    let told: Vec<_> = review.stories.iter().map(|s| (s.causes[0].what, s.effects.len(), s.clusters.clone())).collect();
    assert_eq!(told, [("spec.a", 1, vec!["a", "b"]), ("spec.b", 1, vec!["a", "b"])]);
}

/// What only some clusters have is in the story of the line, with their names; images have other names there.
#[test]
fn a_line_that_does_more_in_some_clusters_is_one_story() {
    let file = SourceFile::new("base.yaml", "spec: {}\n");
    let mut all = ["a", "b", "c"].map(two_causes);
    for (diff, image) in all.iter_mut().zip(["fedora", "fedora", "fedora-amd64"]) {
        diff.comparison.causes[0].location = Some(Location::new(&file, hcoplan_diagnostics::source::Span::new(0, 4)));
        let images = Effect { subjects: vec![image.to_owned()], ..Effect::new(Impact::Images, "{} is imported") };
        diff.image_effects.push(Effect { causes: vec![0], ..images });
    }
    all[1].image_effects.push(Effect { causes: vec![0], ..Effect::new(Impact::Scheduling, "one more thing") });
    let review = Review::of(&all, 3, &[], true);
    let [first, second] = review.stories.as_slice() else {
        panic!("{:?}", review.stories);
    };
    let effects = first.effects.iter().map(|entry| (entry.sentence(4), entry.clusters.join(" ")));
    let expected =
        [("one more thing", "b"), ("fedora and fedora-amd64 are imported", "a b c"), ("one thing happens", "a b c")];
    assert_eq!(effects.collect::<Vec<_>>(), expected.map(|(text, names)| (text.to_owned(), names.to_owned())));
    assert_eq!((first.clusters.len(), second.clusters.len()), (3, 3));
}

#[test]
fn what_several_causes_do_together_is_a_story_of_all() {
    let mut diff = two_causes("a");
    diff.image_effects.push(Effect { causes: vec![0, 1], ..Effect::new(Impact::Scheduling, "both do it") });
    let all = [diff];
    let review = Review::of(&all, 1, &[], true);
    let causes: Vec<usize> = review.stories.iter().map(|story| story.causes.len()).collect();
    // The first has an error.
    assert_eq!(causes, [1, 2, 1]);
}

#[test]
fn a_finding_that_says_what_an_effect_says_is_its_rule() {
    let mut diff = two_causes("a");
    diff.image_effects[0].rule = Some(INVENTORY_INVALID.name);
    let all = [diff];
    let review = Review::of(&all, 1, &[], true);
    let [first, _] = review.stories.as_slice() else {
        panic!("{:?}", review.stories);
    };
    assert!(first.findings.is_empty());
    assert_eq!(first.effects[0].rules.len(), 1);
}
