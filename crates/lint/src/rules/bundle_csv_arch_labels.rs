//! Labels of an operator that claim architectures which its images don't have.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for csv in cx.csvs() {
        overclaimed(cx, csv, out);
        missing(cx, csv, out);
    }
}

fn overclaimed(cx: &Context<'_>, csv: &Csv, out: &mut Sink) {
    for (architecture, label) in csv.overclaimed(cx) {
        let Some((used, evidence)) = csv.run_images(cx).into_iter().next() else {
            return;
        };
        let (message, place) = match &label {
            Some(place) => (
                format!("the operator {} claims {architecture}, which none of its images supports", csv.name()),
                place.clone(),
            ),
            None => (
                format!(
                    "without a label, the operator {} claims {architecture}, which none of its images supports",
                    csv.name()
                ),
                name_place(&csv.document),
            ),
        };
        let finding = cx
            .finding_about(&csv.document, message)
            .severity(error_if(evidence.is_certain()))
            .at(place)
            .label(match label {
                Some(_) => "claims a missing architecture",
                None => "the catalog treats it as amd64",
            })
            .related(csv.document.locate(&used.path), format!("supports {}", has(&evidence)))
            .related(evidence.place(), EVIDENCE);
        let fix = match label {
            Some(_) => {
                let remove = [Change::Remove(Csv::architecture_label(architecture))];
                unsafe_fix(&csv.document, changed(&remove), &remove)
            }
            None => common(cx, csv).and_then(|(os, all)| claim(csv, os, &all)),
        };
        out.report(finding.remedy("claim the architectures of its deployments' images", fix));
    }
}

fn missing(cx: &Context<'_>, csv: &Csv, out: &mut Sink) {
    if !csv.is_known(cx) {
        return;
    }
    // Without labels, the finding about the false claim covers this, too.
    if csv.overclaimed(cx).iter().any(|(_, label)| label.is_none()) {
        return;
    }
    let known = csv.run_images(cx);
    let claimed = csv.claimed();
    let (Some((first, evidence)), Some((os, common))) = (known.first(), common(cx, csv)) else {
        return;
    };
    let unclaimed: Vec<&str> =
        common.iter().map(String::as_str).filter(|a| !claimed.architectures.iter().any(|(c, _)| c == a)).collect();
    if unclaimed.is_empty() {
        return;
    }
    let written = unclaimed.iter().find_map(|a| {
        let path = Csv::architecture_label(a);
        csv.document.root.at(&path)?;
        Some(csv.document.locate(&path))
    });
    let (place, label) = match written {
        Some(place) => (place, "says nothing: the value has to be `supported`".to_owned()),
        None => {
            let labels = Path::dotted("metadata.labels");
            let place = match csv.document.root.at(&labels) {
                Some(_) => csv.document.locate_key(&labels),
                None => name_place(&csv.document),
            };
            (place, format!("doesn't claim {}", and(&unclaimed)))
        }
    };
    let message =
        format!("the images of the operator {} support {}, which its labels don't claim", csv.name(), and(&unclaimed));
    let fix = claim(csv, os, &common);
    out.report(
        cx.finding_about(&csv.document, message)
            .warning()
            .at(place)
            .label(label)
            .related(csv.document.locate(&first.path), format!("supports {}", has(evidence)))
            .related(evidence.place(), EVIDENCE)
            .remedy("add the labels, if the operator was tried there", fix),
    );
}

/// The first claimed operating system, and the architectures that all images of the deployments have.
fn common<'c>(cx: &Context<'_>, csv: &'c Csv) -> Option<(&'c str, BTreeSet<String>)> {
    let (os, _) = csv.claimed().systems.into_iter().next()?;
    let known = csv.run_images(cx);
    let (_, first) = known.first()?;
    let all = first.platforms.iter().filter(|p| p.os == os);
    let all = all.map(|p| p.architecture.clone());
    Some((os, all.filter(|a| known.iter().all(|(_, e)| !e.lacks_platform(os, a))).collect()))
}

/// Adds missing labels. With the first label, the implied default needs a label, too.
fn claim(csv: &Csv, os: &str, all: &BTreeSet<String>) -> Option<Fix> {
    let names = all.iter().map(|a| Csv::architecture_label(a));
    let paths = names.chain([Csv::os_label(os)]);
    let unset = |p: &Path| csv.document.root.str_at(p) != Some("supported");
    let set = paths.filter(unset).map(|p| Change::Set(p, "supported".into()));
    let set: Vec<Change> = set.collect();
    unsafe_fix(&csv.document, format!("{}, if the operator was tried there", changed(&set)), &set)
}
