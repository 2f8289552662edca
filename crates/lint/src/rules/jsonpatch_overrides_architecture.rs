//! A patch that overrides HCO's decisions about architectures.

use super::prelude::*;

const DEFAULT: &str = "/spec/configuration/architectureConfiguration/defaultArchitecture";
const SWITCH: &str = "/spec/enableMultipleArchitectures";
const CLUSTER: &str = "/spec/cluster";

/// Operands, the affected paths, the most important first, and the help.
static PLACES: Rows<(&str, &str, &str)> = Rows::of("patchedArchitectures");

pub(super) fn find(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Finding> {
    let mut of_kind = PLACES.iter().filter(|(kind, ..)| *kind == applied.kind());
    let found = of_kind.find_map(|(_, place, help)| Some((*place, *help, applied.changed_below(place)?)));
    let (place, help, pointer) = found?;
    let contradiction = contradiction(cx, applied, place);
    let severity = match contradiction {
        Some(_) => Severity::Error,
        None if place == DEFAULT && !cx.release().has("default-architecture") => Severity::Info,
        None => Severity::Warning,
    };
    let message = match &contradiction {
        Some(why) => format!("the patch sets {pointer} of {}{why}", applied.kind()),
        None => format!("the patch sets {pointer} of {}, which HCO derives for itself", applied.kind()),
    };
    let finding = cx
        .finding(message)
        .severity(severity)
        .at(applied.written_location(pointer))
        .label("HCO's status and alerts don't see it");
    Some(match severity {
        Severity::Info => finding.help(
            "keep it, as this release has no field for it; check it when nodes of another \
         architecture come or go",
        ),
        _ => finding.help(help).fixes(cx.drop_operation(applied)),
    })
}

/// The value and the fact in nodes or HCO that contradicts it, to follow the path in the message.
fn contradiction(cx: &Context<'_>, applied: &Applied<'_, '_>, place: &str) -> Option<String> {
    let result = applied.patch.result()?;
    match place {
        DEFAULT => {
            let architecture = result.pointer(DEFAULT)?.as_str()?;
            let workload = &cx.topology().workload_architectures;
            let known = workload.is_empty() || workload.iter().any(|a| a == architecture);
            (!known).then(|| format!(" to {architecture}, but no workload node is {architecture}"))
        }
        SWITCH => {
            let on = result.pointer(SWITCH).is_some_and(|v| *v == true);
            let own = cx.hyperconverged()?.multi_arch();
            (on != own).then(|| {
                if on {
                    " to true, but HCO keeps importing golden images for one architecture".to_owned()
                } else {
                    ", but HCO keeps importing golden images for several architectures".to_owned()
                }
            })
        }
        CLUSTER => {
            let cluster = result.pointer(CLUSTER)?;
            let lists = ["workloadArchitectures", "controlPlaneArchitectures"].into_iter();
            let known = cx.node_architectures();
            let mut foreign = lists.flat_map(|list| texts(&cluster[list])).filter(|a| !known.contains(a));
            let foreign = foreign.next().filter(|_| cx.has_nodes())?;
            Some(format!(", but no node is {foreign}"))
        }
        _ => None,
    }
}
