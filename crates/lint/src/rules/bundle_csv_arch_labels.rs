//! Labels of an operator that claim architectures which its images don't have.

use super::prelude::*;
use crate::ImageUse;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for csv in cx.csvs() {
        overclaimed(cx, csv, out);
        excluded(cx, csv, out);
        missing(cx, csv, out);
    }
}

fn overclaimed(cx: &Context<'_>, csv: &Csv, out: &mut Sink) {
    for (architecture, label) in csv.overclaimed(cx) {
        let Some((used, evidence)) = csv.run_images(cx).into_iter().next() else {
            return;
        };
        let (without, said) = match &label {
            Some(_) => ("", "claims a missing architecture"),
            None => ("without a label, ", "the catalog treats it as amd64"),
        };
        let name = csv.name();
        let message = format!("{without}the operator {name} claims {architecture}, which none of its images supports");
        let finding = cx
            .finding_about(&csv.document, message)
            .severity(error_if(evidence.is_certain()))
            .at(label.clone().unwrap_or_else(|| name_place(&csv.document)))
            .label(said)
            .related(csv.document.locate(&used.path), format!("supports {}", has(&evidence)))
            .related(evidence.place(), EVIDENCE);
        let fix = match label {
            Some(_) => {
                let remove = [Change::Remove(Csv::label("arch", architecture))];
                unsafe_fix(&csv.document, changed(&remove), &remove)
            }
            None => claim(csv, &common(cx, csv)),
        };
        out.report(finding.remedy("claim the architectures of its deployments' images", fix));
    }
}

/// A claimed architecture that a deployment's own placement excludes, and no image lacks.
fn excluded(cx: &Context<'_>, csv: &Csv, out: &mut Sink) {
    let overclaimed = csv.overclaimed(cx);
    let claimed = csv.architectures().into_iter();
    let claimed = claimed.filter(|(name, _)| overclaimed.iter().all(|(other, _)| other != name));
    for (architecture, place) in claimed.filter_map(|(name, label)| Some((name, label?))) {
        let Some(pod) = csv.deployments.iter().find(|pod| !pod.permits(architecture)) else {
            continue;
        };
        let message =
            format!("the operator {} claims {architecture}, which a deployment's placement excludes", csv.name());
        out.report(
            cx.finding_about(&csv.document, message)
                .warning()
                .at(place)
                .label("claims an excluded architecture")
                .related(pod.place(), format!("{} never runs on {architecture}", pod.called))
                .help("claim only the architectures that all deployments allow"),
        );
    }
}

fn missing(cx: &Context<'_>, csv: &Csv, out: &mut Sink) {
    let (claimed, common) = (csv.architectures(), common(cx, csv));
    let open = common.iter().map(String::as_str).filter(|a| !claimed.iter().any(|(c, _)| c == a));
    let unclaimed: Vec<&str> = open.collect();
    // Without labels, the finding about the false claim covers this, too.
    if unclaimed.is_empty() || csv.overclaimed(cx).iter().any(|(_, label)| label.is_none()) {
        return;
    }
    let written = unclaimed.iter().find_map(|a| {
        let path = Csv::label("arch", a);
        Some((csv.document.locate(&path), csv.document.root.str_at(&path)?))
    });
    let (place, label, labels) = match written {
        Some((place, value)) => {
            let label = "says nothing: the value has to be `supported`".to_owned();
            (place, label, format!("its label `{value}` doesn't claim"))
        }
        None => {
            let labels = Path::dotted("metadata.labels");
            let place = match csv.document.root.at(&labels) {
                Some(_) => csv.document.locate_key(&labels),
                None => name_place(&csv.document),
            };
            (place, format!("doesn't claim {}", and(&unclaimed)), "its labels don't claim".to_owned())
        }
    };
    let known = csv.run_images(cx);
    let (who, does) = if known.is_empty() { ("deployments", "run on") } else { ("images", "support") };
    let message = format!("the {who} of the operator {} {does} {}, which {labels}", csv.name(), and(&unclaimed));
    let mut finding = cx.finding_about(&csv.document, message).warning().at(place).label(label);
    if let Some((first, evidence)) = known.first() {
        let image = csv.document.locate(&first.path);
        finding = finding.related(image, format!("supports {}", has(evidence))).related(evidence.place(), EVIDENCE);
    }
    out.report(finding.remedy("add the labels, if the operator was tried there", claim(csv, &common)));
}

/// The architectures that all images of the deployments have; if images are unknown, those that the placement of each
/// deployment names. Placements exclude some.
fn common(cx: &Context<'_>, csv: &Csv) -> BTreeSet<String> {
    let systems = csv.systems();
    let of_image = |(_, evidence): &(ImageUse<'_>, ImageEvidence)| -> BTreeSet<String> {
        let ours = evidence.platforms.iter().filter(|p| systems.first().is_some_and(|(os, _)| p.os == *os));
        ours.map(|p| p.architecture.clone()).collect()
    };
    let of_pod = |pod: &PodTemplate| -> BTreeSet<String> {
        let all = pod.named_architectures().into_iter().flat_map(|(_, names)| names);
        all.map(str::to_owned).collect()
    };
    let of_images = csv.run_images(cx).iter().map(of_image).reduce(|all, own| &all & &own);
    let of_pods = || csv.deployments.iter().map(of_pod).reduce(|all, own| &all & &own);
    let mut all = of_images.or_else(of_pods).unwrap_or_default();
    all.retain(|name| csv.deployments.iter().all(|pod| pod.permits(name)));
    all
}

/// Adds missing labels. With the first label, the implied default needs a label, too.
fn claim(csv: &Csv, all: &BTreeSet<String>) -> Option<Fix> {
    let os = csv.systems().into_iter().next().map(|(os, _)| Csv::label("os", os));
    let paths = all.iter().map(|a| Csv::label("arch", a)).chain(os);
    let unset = |p: &Path| csv.document.root.str_at(p) != Some("supported");
    let set: Vec<Change> = paths.filter(unset).map(|p| Change::Set(p, "supported".into())).collect();
    unsafe_fix(&csv.document, format!("{}, if the operator was tried there", changed(&set)), &set)
}
