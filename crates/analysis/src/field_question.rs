//! `why`: explains a field of a cluster's object.

use crate::planned::Planned;
use crate::prelude::*;
use hcoplan_explain::why::{Answer, PlanInput, Problem, ask, ask_of};
use hcoplan_repository::repo::BuildLayer;
use hcoplan_rule_pages::rules::VALUE_UNKNOWN;

/// The field to explain.
#[derive(Debug)]
pub struct FieldQuestion {
    /// The object's kind.
    pub kind: String,
    /// Its name, if several objects have that kind.
    pub name: Option<String>,
    /// The field's path; empty for the whole object.
    pub field: String,
}

/// The explanation of a field.
#[derive(Debug)]
pub struct FieldAnswer {
    /// The explanation.
    pub answer: Answer,
    /// The cluster's name.
    pub cluster: String,
    /// The release of the explained state.
    pub release: Arc<Release>,
    /// What it rests on.
    pub basis: ReleaseBasis,
    /// The HyperConverged.
    pub document: Arc<Document>,
    /// The finding about its values that are filled in later.
    pub unknown: Option<Finding>,
    /// The object's file, relative to the output tree; `None` if it isn't rendered.
    pub file: Option<Utf8PathBuf>,
}

impl FieldQuestion {
    /// Explains a field of a planned cluster; `state` is its final state, unless it is new.
    pub(super) fn answer(
        &self,
        layers: &[BuildLayer],
        planned: &Planned<'_>,
        state: Option<&State>,
    ) -> Result<FieldAnswer, Problem> {
        let loaded = planned.loaded();
        let release = planned.release();
        let input = PlanInput::new(release, &loaded.document, &loaded.json, &loaded.inventory).with_layers(layers);
        let (kind, name, field) = (&self.kind, self.name.as_deref(), &self.field);
        let mut answer = match state {
            Some(state) => ask_of(state, &input, kind, name, field),
            None => ask(&input, kind, name, field),
        }?;
        answer.point_at_origins();
        Ok(FieldAnswer {
            file: file(loaded.name.id(), planned, &answer),
            answer,
            cluster: loaded.name.to_string(),
            release: Arc::clone(release),
            basis: planned.release_basis(),
            document: Arc::clone(&loaded.document),
            unknown: loaded.findings.iter().find(|found| found.rule.name == VALUE_UNKNOWN.name).cloned(),
        })
    }
}

/// The object's path in the output tree.
fn file(cluster: &str, planned: &Planned<'_>, answer: &Answer) -> Option<Utf8PathBuf> {
    let id = answer.object.as_ref()?;
    let shown = planned.as_judged();
    let ids: Vec<_> = shown.plan().objects().map(|o| &*o.id).collect();
    let index = ids.iter().position(|i| *i == id)?;
    let name = emit::file_names(&ids).into_iter().nth(index)?;
    Some(emit::cluster_directory(cluster).ok()?.join(name))
}
