//! Compares the architectures in golden images' annotations with those of images and nodes.

use hcoplan_yaml::Key;

use super::prelude::*;
use crate::Annotation;

pub(super) static RULES: &[RegisteredRule] = &[
    always(&COMMON_DICT_ARCHITECTURES_IGNORED, |cx, out| each(cx, out, ignored)),
    always(&DICT_ARCHITECTURES_OVERCLAIM, |cx, out| each_claim(cx, out, overclaim)),
    always(&DICT_ARCHITECTURES_PARTIAL, |cx, out| each(cx, out, partial)),
    always(&DICT_ARCHITECTURES_UNDERCLAIM, |cx, out| each_claim(cx, out, underclaim)),
    always(&DICT_MISSING_ARCHITECTURES_ANNOTATION, |cx, out| each(cx, out, unannotated)),
    always(&DICT_NO_SUPPORTED_ARCHITECTURE, |cx, out| each(cx, out, unsupported)),
];

fn each<'a>(cx: &Context<'a>, out: &mut Sink, find: fn(&Context<'a>, &GoldenImage<'a>) -> Option<Finding>) {
    out.report_all(cx.golden_images().iter().filter_map(|image| find(cx, image)));
}

/// The architectures that a deployed golden image declares, with evidence about its image.
struct ImageClaim<'c, 'a> {
    image: &'c GoldenImage<'a>,
    written: WrittenTemplate<'a>,
    annotation: Annotation<'a>,
    named: Vec<&'a str>,
    evidence: ImageEvidence,
}

fn each_claim(cx: &Context<'_>, out: &mut Sink, find: fn(&Context<'_>, &ImageClaim<'_, '_>) -> Option<Finding>) {
    let claims = cx.golden_images().iter().filter_map(|image| {
        let written = image.written.filter(|_| image.template.is_deployed())?;
        let annotation = written.annotation(ARCHITECTURES_ANNOTATION)?;
        let named = annotation.text()?.split(',').map(str::trim).filter(|a| !a.is_empty()).collect();
        Some(ImageClaim { image, written, annotation, named, evidence: evidence(cx, &written)? })
    });
    out.report_all(claims.filter_map(|claim| find(cx, &claim)));
}

/// The evidence about a template's image.
fn evidence(cx: &Context<'_>, written: &WrittenTemplate<'_>) -> Option<ImageEvidence> {
    let namespace = written.node.text_at("metadata.namespace").filter(|n| !n.is_empty());
    let namespace = namespace.unwrap_or(cx.images_namespace());
    cx.source_evidence(&written.get("spec.template.spec.source")?.to_json(), namespace)
}

fn annotation_path(cx: &Context<'_>, written: &WrittenTemplate<'_>) -> Path {
    written.path(cx).below("metadata.annotations").key(ARCHITECTURES_ANNOTATION)
}

/// The fix that declares these architectures, if there are any.
fn naming(
    cx: &Context<'_>,
    written: &WrittenTemplate<'_>,
    architectures: &[impl AsRef<str>],
    applicability: Applicability,
) -> Option<Fix> {
    let names: Vec<&str> = architectures.iter().map(AsRef::as_ref).collect();
    (!names.is_empty())
        .then(|| cx.change(applicability, &[Change::Set(annotation_path(cx, written), names.join(",").into())]))?
}

fn overclaim(cx: &Context<'_>, claim: &ImageClaim<'_, '_>) -> Option<Finding> {
    let evidence = &claim.evidence;
    // Of a single image's claims, all but one are wrong.
    let possible = usize::from(evidence.is_one_unknown() && claim.named.len() > 1);
    let (missing, kept): (Vec<&str>, Vec<&str>) = claim.named.iter().partition(|a| possible == 1 || evidence.lacks(a));
    if missing.is_empty() {
        return None;
    }
    let name = claim.image.template.name();
    let imported = cx.import_crons().filter(|cron| {
        let (architecture, template) = (cron.origin.architecture.as_deref(), cron.origin.template.as_ref());
        template.is_some_and(|t| t.name == name) && architecture.is_some_and(|a| missing.contains(&a))
    });
    let is_wrong = imported.count() > possible;
    let there = if possible == 1 { "one of them".to_owned() } else { and(&evidence.architectures) };
    let message = format!("golden image {name} claims {}, but its image supports only {there}", and(&missing));
    let fix = naming(cx, &claim.written, &kept, Applicability::Unsafe);
    let proof = match evidence.form {
        Form::Legacy => "the image stream keeps one image: `importMode: PreserveOriginal` keeps all",
        _ => EVIDENCE,
    };
    let finding = cx
        .finding(message)
        .at(claim.annotation.value_place())
        .label(format!("{} can't be imported", or(&missing)))
        .help("remove what the image lacks, or push an image that has it")
        .related(evidence.place(), proof)
        .severity(error_if(is_wrong && evidence.is_certain()));
    Some(finding.fixes(fix))
}

fn underclaim(cx: &Context<'_>, claim: &ImageClaim<'_, '_>) -> Option<Finding> {
    let workload = &cx.topology().workload_architectures;
    let known = claim.evidence.architectures.iter().map(String::as_str);
    let open: Vec<&str> = known.filter(|a| workload.iter().any(|w| w == a) && !claim.named.contains(a)).collect();
    if open.is_empty() || !cx.is_multi_arch() {
        return None;
    }
    let (name, more) = (claim.image.template.name(), and(&open));
    let message = format!("golden image {name} isn't imported for {more}, although its image supports it");
    let all = [claim.named.as_slice(), open.as_slice()].concat();
    let finding = cx
        .finding(message)
        .at(claim.annotation.value_place())
        .label(format!("doesn't name {more}"))
        .help(format!("add {more}, unless it is left out on purpose"))
        .related(claim.evidence.place(), EVIDENCE)
        .fixes(naming(cx, &claim.written, &all, Applicability::Suggestion));
    Some(with_nodes(finding, cx, &open))
}

fn partial<'a>(cx: &Context<'a>, image: &GoldenImage<'a>) -> Option<Finding> {
    let original = image.template.original_architectures.as_deref().filter(|o| !o.is_empty())?;
    let written = image.written.filter(|_| image.template.is_deployed())?;
    let meant = original.to_ascii_lowercase();
    let workload = cx.topology().workload_architectures.iter().map(String::as_str);
    let missing: Vec<&str> =
        workload.filter(|w| !meant.split(is_separator).any(|a| Architecture::name(a) == Some(*w))).collect();
    // With evidence about the image, dict-architectures-underclaim is more precise.
    let evidence = evidence(cx, &written);
    let knows = |m: &&str| evidence.iter().any(|e| e.architectures.iter().any(|a| a == m));
    if missing.is_empty() || evidence.as_ref().is_some_and(ImageEvidence::is_complete) || missing.iter().any(knows) {
        return None;
    }
    let name = image.template.name();
    let kept = and(image.template.architectures().unwrap_or_default().split(','));
    let message =
        format!("golden image {name} is imported for {kept}, but workload nodes are {} as well", and(&missing));
    let finding = cx
        .finding(message)
        .at(own(image).map_or_else(|| written.name_place(), |a| a.value_place()))
        .label(format!("doesn't name {}", or(&missing)))
        .help(format!("add {} to `{ARCHITECTURES_ANNOTATION}` if the image exists for it", or(&missing)));
    Some(with_nodes(finding, cx, &missing))
}

/// The written annotation, if it is effective: a customised common image keeps the release's.
fn own<'a>(image: &GoldenImage<'a>) -> Option<Annotation<'a>> {
    let annotation = image.written?.annotation(ARCHITECTURES_ANNOTATION)?;
    (annotation.text().unwrap_or_default() == image.template.original_architectures.as_deref().unwrap_or_default())
        .then_some(annotation)
}

/// Correct and wrong separators.
pub(super) fn is_separator(c: char) -> bool {
    matches!(c, ',' | ';' | '|') || c.is_whitespace()
}

fn unsupported<'a>(cx: &Context<'a>, image: &GoldenImage<'a>) -> Option<Finding> {
    if !image.template.has_architectures_annotation() || image.template.is_deployed() || cx.places_nowhere() {
        return None;
    }
    let (name, workload) = (image.template.name(), &cx.topology().workload_architectures);
    let original = image.template.original_architectures.as_deref().unwrap_or_default();
    let why = if workload.is_empty() {
        "there are no workload nodes".to_owned()
    } else {
        let names = and(original.split(',').map(str::trim));
        format!("it exists for {names}, workload nodes are {}", and(workload))
    };
    let finding = cx.finding(format!("golden image {name} isn't deployed: {why}"));
    let mut finding = match own(image) {
        Some(own) => finding.at(own.value_place()).label("no workload node has one of these"),
        None => finding.at(cx.image_place(image)).label(format!("{name} exists for {original}")),
    };
    finding = with_related(
        finding,
        cx.node_per_architecture().iter().filter_map(NodeRef::architecture_place),
        "workload nodes are declared here",
    );
    let finding = finding.help("correct the list, or switch the template off until such nodes are there");
    Some(finding.fixes(cx.switch_image_off(name)))
}

fn unannotated<'a>(cx: &Context<'a>, image: &GoldenImage<'a>) -> Option<Finding> {
    if !cx.is_multi_arch() || image.template.has_architectures_annotation() {
        return None;
    }
    let message = format!("golden image {} has no annotation with its architectures", image.template.name());
    if let Some(key) = image.written.and_then(|w| w.misspelt(ARCHITECTURES_ANNOTATION)) {
        return Some(with_renamed(cx, cx.finding(message), key, ARCHITECTURES_ANNOTATION));
    }
    let finding = cx
        .finding(message)
        .help(format!("annotate it with {ARCHITECTURES_ANNOTATION}: a comma-separated list such as \"amd64,arm64\""));
    let finding = match image.written.and_then(|w| w.annotation(ARCHITECTURES_ANNOTATION)) {
        Some(annotation) => finding.at(annotation.value_place()).label("names no architecture"),
        None => finding.at(cx.image_place(image)).label(match image.template.source {
            TemplateSource::Customised { .. } => {
                "the registry source isn't the common image's, so the common image's annotation doesn't apply"
            }
            _ => "imported for no architecture in particular",
        }),
    };
    // A suggestion, since only the user knows the image's architectures.
    let fix = image.written.and_then(|written| {
        let workload = &cx.topology().workload_architectures;
        naming(cx, &written, workload, Applicability::Suggestion)
    });
    Some(finding.fixes(fix).related(cx.multi_arch_switch(), "multi-arch golden images are on"))
}

/// A finding at a misspelt annotation, with its correct name.
pub(super) fn with_renamed(cx: &Context<'_>, finding: Finding, key: &Key, name: &str) -> Finding {
    let place = cx.location(key.span);
    let fix = Fix::edit(format!("rename it to {name}"), Applicability::Unsafe, place.clone(), name);
    finding.at(place).label(format!("nothing reads `{}`", key.text)).fix(fix)
}

fn ignored<'a>(cx: &Context<'a>, image: &GoldenImage<'a>) -> Option<Finding> {
    let (written, counts) = (image.written?, image.template.original_architectures.as_deref()?);
    let annotation = written.annotation(ARCHITECTURES_ANNOTATION)?;
    let names = |annotation: &'_ str| annotation.split(',').map(str::to_owned).collect::<BTreeSet<_>>();
    let customised = matches!(image.template.source, TemplateSource::Customised { .. });
    if !customised || names(annotation.text()?) == names(counts) {
        return None;
    }
    let message = format!(
        "golden image {} keeps the architectures of the common image, {}: HCO ignores its annotation",
        image.template.name(),
        and(counts.split(','))
    );
    let registry = "spec.template.spec.source.registry";
    let (place, why) = match written.get(registry) {
        Some(_) => (written.locate_key(registry), "the registry source is the common image's"),
        None => (written.locate_key("spec.template.spec.source"), "the source isn't a registry"),
    };
    let remove = [Change::Remove(annotation_path(cx, &written))];
    let finding = cx
        .finding(message)
        .at(annotation.value_place())
        .label(format!("has no effect: HCO replaces it with {counts:?}"))
        .related(place, why)
        .help("remove the annotation, or import from another registry source");
    Some(finding.fixes(cx.change(Applicability::Unsafe, &remove)))
}
