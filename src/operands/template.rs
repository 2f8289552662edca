//! Objects that are a template of the release with something filled in.

use std::sync::Arc;

use serde_json::Value;

use super::Context;
use crate::kube::Object;
use crate::release::Memo;

/// All that decides what is filled in.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Decided<'v> {
    /// Whether HCO runs what it deploys itself with two replicas.
    pub(super) highly_available: bool,
    /// The infra placement, even an empty one.
    pub(super) placement: Option<&'v Value>,
    /// Arguments, or other texts.
    pub(super) texts: &'v [String],
}

impl<'v> Decided<'v> {
    /// By texts alone.
    pub(super) fn by(texts: &'v [String]) -> Self {
        Self {
            texts,
            ..Self::default()
        }
    }

    /// By the nodes and the HyperConverged's infra placement, and by texts.
    pub(super) fn by_placement(cx: &'v Context<'_>, texts: &'v [String]) -> Self {
        Self {
            highly_available: cx.highly_available(),
            placement: cx.infra_placement(),
            texts,
        }
    }
}

/// What an object was made from.
struct Request {
    template: Arc<Value>,
    highly_available: bool,
    placement: Option<Value>,
    texts: Vec<String>,
}

/// Objects of a release: a fleet has few that differ.
type Filled = Memo<Request, Object, 48>;

/// The object of a template, made once for equal inputs: `fill`, one and the same for each template,
/// sees nothing else.
pub(super) fn filled_in(
    cx: &Context<'_>,
    name: &str,
    decided: Decided<'_>,
    fill: fn(&mut Value, Decided<'_>),
) -> Object {
    let template = cx.constant(name).body;
    let objects: &Filled = cx.release.kept();
    let known = objects.find(|r| {
        Arc::ptr_eq(&r.template, &template)
            && r.highly_available == decided.highly_available
            && r.placement.as_ref() == decided.placement
            && r.texts == decided.texts
    });
    known.unwrap_or_else(|| {
        let mut body = template.as_ref().clone();
        fill(&mut body, decided);
        let object = Object::new(body);
        let request = Request {
            template,
            highly_available: decided.highly_available,
            placement: decided.placement.cloned(),
            texts: decided.texts.to_vec(),
        };
        objects.keep(request, object.clone());
        object
    })
}
