//! What became of operand CRs, kept for other clusters.

use std::sync::Arc;

use serde_json::Value;

use super::cr::Cr;
use super::spec::Spec;
use crate::jsonpatch::{Failure, Patch, PatchedPart};
use crate::kube::Object;
use crate::kube::go::{GoType, GoTypes};
use crate::release::Memo;

/// What became of a release's CRs, for other clusters.
#[derive(Default)]
pub(super) struct Made {
    /// Objects before a patch. In a fleet few differ.
    drafts: Drafts,
    /// KubeVirts before a patch. Hardly two are the same, but most are like another one.
    kubevirts: Drafts,
    /// Patches that were read, by their kind and text.
    patches: Memo<(&'static str, String), Arc<Patch>, 24>,
    /// What became of the part that a patch leads to.
    parts: Memo<(Arc<Patch>, Value), Arc<PatchedPart>, 48>,
    /// Patched drafts.
    patched: Memo<(Arc<Patch>, Object), Arc<Value>, 24>,
}

type Drafts = Memo<Unpatched, Object, 24>;

/// Everything that decides what becomes of a CR, but for its patch; the rest of it is the same for
/// all of its kind.
pub(super) struct Unpatched {
    namespace: String,
    version: String,
    kind: &'static str,
    annotations: &'static [&'static str],
    spec: Spec<'static>,
}

/// In how many parts of the spec a KubeVirt is like another one.
const FEW: usize = 4;

impl Unpatched {
    pub(super) fn of(cr: &Cr<'_>, namespace: &str, version: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            version: version.to_owned(),
            kind: cr.kind,
            annotations: cr.annotations,
            spec: cr.spec.to_owned(),
        }
    }
}

impl Made {
    /// An object that is like a CR's before its patch, and the parts of the spec that differ.
    pub(super) fn like(
        &self,
        cr: &Cr<'_>,
        namespace: &str,
        version: &str,
    ) -> Option<(Object, Vec<usize>)> {
        let (drafts, most) = self.drafts(cr.kind);
        drafts.nearest(|draft| {
            let is = draft.kind == cr.kind
                && draft.annotations == cr.annotations
                && draft.namespace == namespace
                && draft.version == version;
            let unlike = is.then(|| cr.spec.unlike(&draft.spec, most)).flatten()?;
            Some((unlike.len(), unlike))
        })
    }

    /// Keeps an object as it is before its patch.
    pub(super) fn keep(&self, made_from: Unpatched, draft: Object) {
        self.drafts(made_from.kind).0.keep(made_from, draft);
    }

    /// The drafts of a kind, and in how many parts of the spec another one may differ.
    fn drafts(&self, kind: &str) -> (&Drafts, usize) {
        match kind {
            "KubeVirt" => (&self.kubevirts, FEW),
            _ => (&self.drafts, 0),
        }
    }

    /// An annotation as it was read.
    ///
    /// # Errors
    /// See [`Patch::read`].
    pub(super) fn patch(
        &self,
        kind: &'static str,
        annotation: &str,
        text: &str,
    ) -> Result<Arc<Patch>, Failure> {
        let known = self.patches.find(|(of, its)| *of == kind && its == text);
        known.map_or_else(
            || {
                let patch = Arc::new(Patch::read(annotation, text)?);
                let made_from = (kind, text.to_owned());
                self.patches.keep(made_from, Arc::clone(&patch));
                Ok(patch)
            },
            Ok,
        )
    }

    /// What a patch makes of the part of an operand that it leads to.
    ///
    /// # Errors
    /// See [`Patch::apply`].
    pub(super) fn part(
        &self,
        patch: &Arc<Patch>,
        types: &GoTypes,
        ty: &GoType,
        operand: &Value,
    ) -> Result<Arc<PatchedPart>, Failure> {
        let part = patch.part(types, ty, operand);
        let is = |(of, its): &(Arc<Patch>, Value)| Arc::ptr_eq(of, patch) && *its == part;
        if let Some(known) = self.parts.find(is) {
            return Ok(known);
        }
        let made = Arc::new(patch.apply(types, ty, part.clone())?);
        if is_small(&made.after, &mut { LARGEST }) {
            let made_from = (Arc::clone(patch), part);
            self.parts.keep(made_from, Arc::clone(&made));
        }
        Ok(made)
    }

    /// A draft after a patch.
    pub(super) fn patched(
        &self,
        patch: &Arc<Patch>,
        draft: &Object,
        make: impl FnOnce() -> Value,
    ) -> Arc<Value> {
        // A KubeVirt is the cluster's own.
        if draft.id.kind == "KubeVirt" {
            return Arc::new(make());
        }
        let is = |(of, its): &(Arc<Patch>, Object)| {
            Arc::ptr_eq(of, patch) && Arc::ptr_eq(&its.body, &draft.body)
        };
        self.patched.find(is).unwrap_or_else(|| {
            let body = Arc::new(make());
            if is_small(&body, &mut { LARGEST }) {
                let made_from = (Arc::clone(patch), draft.clone());
                self.patched.keep(made_from, Arc::clone(&body));
            }
            body
        })
    }
}

/// Of how many values is kept what a patch made: a few operations can make a great many.
const LARGEST: usize = 20_000;

fn is_small(value: &Value, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    *left > 0
        && match value {
            Value::Array(items) => items.iter().all(|value| is_small(value, left)),
            Value::Object(entries) => entries.values().all(|value| is_small(value, left)),
            _ => true,
        }
}

/// An object with other values in some parts of its spec; `None` where encoding these isn't enough.
pub(super) fn copy(
    mut object: Object,
    spec: &Spec<'_>,
    unlike: &[usize],
    types: &GoTypes,
    ty: &GoType,
) -> Option<Object> {
    for part in unlike {
        let (path, value) = spec.alone(*part)?;
        let body = Arc::make_mut(&mut object.body);
        if !types.set_normalised(body, ty, &format!("spec.{path}"), value) {
            return None;
        }
    }
    Some(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_large_is_not_kept() {
        assert!(is_small(&json!({"a": [1, {"b": 2}]}), &mut 6));
        assert!(!is_small(&json!({"a": [1, {"b": 2}]}), &mut 5));
        let many = Value::Array(vec![json!([]); LARGEST]);
        assert!(!is_small(&many, &mut { LARGEST }));
    }
}
