//! The table of operands, and rendering them in order.

use super::cr::{CustomResource, ROWS, Rendering};
use super::{
    Context, Error, aie_webhook, cdi, console_plugin, image_streams, kubevirt, network_addons,
    network_resources_injector, observability, passt, ssp, wasp_agent,
};
use crate::jsonpatch::Patched;
use crate::prelude::*;

/// An operand: its name in the release's order of work, and its renderer.
struct Operand {
    /// The name, as in `behaviour.json`.
    name: &'static str,
    /// How it is rendered.
    render: Render,
}

/// How an operand is rendered.
enum Render {
    /// The CR of an operator.
    Cr(fn(&Context<'_>) -> Rendering),
    /// Objects without an operator; none if its conditions aren't met.
    Objects(fn(&Context<'_>) -> Result<Vec<Object>, Error>),
}

use Render::{Cr, Objects};

/// The operands that have code; the others are [`ROWS`].
static OPERANDS: &[Operand] = &[
    // Source: HCO `handlers/kubevirt.go`.
    Operand { name: "kubevirt", render: Cr(kubevirt::render) },
    Operand { name: "cdi", render: Cr(cdi::render) },
    Operand { name: "network-addons", render: Cr(network_addons::render) },
    Operand { name: "passt-network", render: Objects(passt::render_network) },
    Operand { name: "passt-access", render: Objects(passt::render_access) },
    Operand { name: "aie-webhook", render: Objects(aie_webhook::render) },
    // Source of both: HCO 1.18 `controllers/handlers/aie`.
    Operand {
        name: "iommufd-device-plugin",
        render: Objects(|cx| {
            Ok(with_aie(cx, &["ServiceAccount/iommufd-device-plugin", "DaemonSet/iommufd-device-plugin"]))
        }),
    },
    Operand {
        name: "iommufd-access",
        render: Objects(|cx| Ok(with_aie(cx, &["SecurityContextConstraints/iommufd-device-plugin"]))),
    },
    Operand { name: "network-resources-injector", render: Objects(network_resources_injector::render) },
    Operand { name: "observability-controller", render: Objects(observability::render) },
    Operand { name: "ssp", render: Cr(ssp::render) },
    Operand { name: "image-streams", render: Objects(image_streams::render) },
    Operand { name: "wasp-agent", render: Objects(wasp_agent::render) },
    Operand { name: "console-plugin", render: Objects(console_plugin::render) },
];

/// The operand of this name, if there is one.
pub fn known(name: &str) -> Option<&'static str> {
    let with_code = OPERANDS.iter().map(|o| o.name);
    let mut all = with_code.chain(ROWS.crs.iter().map(|cr| cr.operand)).chain(ROWS.constants.keys().copied());
    all.find(|known| *known == name)
}

/// With the AIE annotation, on every platform.
fn with_aie(cx: &Context<'_>, names: &[&str]) -> Vec<Object> {
    if aie_webhook::is_deployed(cx) { cx.constants(names) } else { Vec::new() }
}

/// The result of rendering the operands.
#[derive(Debug, Default)]
pub struct Rendered {
    /// The objects with the name of their operand, in the order of work.
    pub objects: Vec<(&'static str, Object)>,
    /// The first error, which ended the rendering.
    pub error: Option<Error>,
    /// The operands that a jsonpatch annotation changed.
    pub patched: Vec<Patched>,
}

/// Renders every operand in the release's order up to the first error. From 1.18 on a panic prevents all operands: the
/// operator renders them all before it deploys one. The priority class is deployed when the operator starts.
pub fn render_all(cx: &Context<'_>) -> Rendered {
    if let Err(error) = cx.tls.check_in_pods(cx.release) {
        return panicked(cx, error);
    }
    render(cx, cx.release.work_order().operands_of(cx.inventory.platform))
}

/// Renders the operands after the named one, whose patch may have written an unknown TLS profile into the
/// HyperConverged.
pub fn render_after(cx: &Context<'_>, name: &str) -> Rendered {
    let later = || {
        let all = cx.release.work_order().operands_of(cx.inventory.platform);
        all.skip_while(|operand| *operand != name).skip(1)
    };
    let reads_profile = |operand: &str| match operand {
        "console-plugin" => true,
        "aie-webhook" => aie_webhook::is_deployed(cx),
        "network-resources-injector" => network_resources_injector::is_deployed(cx),
        _ => false,
    };
    match cx.tls.check_in_pods(cx.release) {
        Err(error) if later().any(reads_profile) => panicked(cx, error),
        _ => render(cx, later()),
    }
}

/// The objects that the operator deploys when it starts, independent of any HyperConverged.
pub fn of_start(cx: &Context<'_>) -> Rendered {
    let (objects, _) = render_one(cx, "priority-class").unwrap_or_default();
    let named = objects.into_iter().map(|o| ("priority-class", o));
    Rendered { objects: named.collect(), ..Rendered::default() }
}

fn panicked(cx: &Context<'_>, error: Error) -> Rendered {
    Rendered { error: Some(error), ..of_start(cx) }
}

fn render<'n>(cx: &Context<'_>, names: impl Iterator<Item = &'n str> + Clone) -> Rendered {
    let rendered = render_in_order(cx, names.clone());
    let reports_ready = |(name, _): &(&str, Object)| *name == "network-resources-injector";
    if rendered.error.is_none() || rendered.objects.iter().any(reports_ready) {
        return rendered;
    }
    // KubeVirt comes first and depends on the readiness.
    render_in_order(&cx.never_ready(), names)
}

fn render_in_order<'n>(cx: &Context<'_>, names: impl Iterator<Item = &'n str>) -> Rendered {
    let renders_first = cx.release.has("renders-all-operands-first");
    let mut rendered = Rendered::default();
    for name in names {
        let operand = known(name).unwrap_or_else(|| panic!("behaviour.json has an unknown operand: {name}"));
        match render_one(cx, operand) {
            Err(error) if error.is_panic() && renders_first => return panicked(cx, error),
            Err(error) if rendered.error.is_none() => rendered.error = Some(error),
            Ok((objects, patched)) if rendered.error.is_none() => {
                rendered.objects.extend(objects.into_iter().map(|object| (operand, object)));
                rendered.patched.extend(patched);
            }
            // After an error, only a panic matters.
            Ok(_) | Err(_) => {}
        }
        if rendered.error.is_some() && !renders_first {
            break;
        }
    }
    rendered
}

/// Renders one operand by its name: its objects, and what its jsonpatch annotation did.
///
/// # Errors
/// The error of the operator's reconcile (or the webhook's dry run).
pub fn render_one(cx: &Context<'_>, name: &str) -> Result<(Vec<Object>, Option<Patched>), Error> {
    if let Some(names) = ROWS.constants.get(name) {
        return Ok((cx.constants(names), None));
    }
    let cr = match OPERANDS.iter().find(|o| o.name == name).map(|operand| &operand.render) {
        Some(Objects(render)) => return Ok((render(cx)?, None)),
        Some(Cr(render)) => render(cx)?,
        None => cx.by_row(name)?,
    };
    Ok(match cr {
        Some(CustomResource { object, patched }) => (vec![object], patched),
        None => Default::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{Platform, Release};

    #[test]
    fn every_release_has_known_operands() {
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            for platform in [Platform::OpenShift, Platform::Kubernetes] {
                for operand in release.work_order().operands_of(platform) {
                    assert!(known(operand).is_some(), "{name}: {operand}");
                }
            }
        }
    }
}
