//! A node affinity that leaves out nodes that the images would run on.

use super::prelude::*;
use crate::ArchitectureScope;

pub(super) static RULE: Rule = Rule {
    name: "bundle-affinity-narrower-than-image",
    group: Group::Bundle,
    severity: Severity::Info,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("the operator can't use nodes that it would run on"),
    needs: Needs::Nodes,
    fix: FixKind::Suggested,
    summary: "the node affinity leaves out an architecture that nodes and all images have",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for pod in cx.pod_templates().filter(|p| p.in_bundle) {
        if pod.architecture_scope() != ArchitectureScope::Everywhere {
            continue;
        }
        let Some(support) = cx.supported_architectures(pod).filter(|s| s.is_complete) else {
            continue;
        };
        let open = cx.reachable_when_unrestricted(pod).into_iter();
        let open: Vec<&str> = open.filter(|a| support.architectures.contains(*a) && !pod.permits(a)).collect();
        if open.is_empty() {
            continue;
        }
        let lists = pod.named_architectures();
        let place = match lists.first() {
            Some((path, _)) => pod.document.locate(path),
            None => pod.place(),
        };
        let message = format!(
            "the node affinity of {} leaves {} out, although its images are there for it",
            pod.called,
            and(&open)
        );
        let changes = lists.iter().flat_map(|(path, _)| {
            let is_list = path.0.last() == Some(&Segment::Key("values".into()));
            let add = |a: &&str| Change::Append(path.clone(), (*a).into());
            open.iter().filter(move |_| is_list).map(add).collect::<Vec<_>>()
        });
        let changes: Vec<Change> = changes.collect();
        let title = format!("allow {}, too", and(&open));
        let fix = (!changes.is_empty()).then(|| suggested(&pod.document, title, &changes)).flatten();
        let finding = Finding::new(&RULE, message)
            .at(place)
            .object(object_of(&pod.document))
            .label(format!("forbids {}", and(&open)))
            .help(format!("allow {}, unless it was never tried", and(&open)))
            .fixes(fix);
        out.report(with_nodes(finding, cx, &open));
    }
}
