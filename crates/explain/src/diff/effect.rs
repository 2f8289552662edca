//! The effect of a change: subjects, time, and what to do.

use super::consequence::{Consequence, sentence};
use super::note::ValueChange;
use crate::diff::semantic::{EffectTime, Impact, Task};
use crate::prelude::*;

/// One effect of a change on a cluster.
#[derive(Debug, Clone, Default)]
pub struct Effect {
    /// Its severity.
    pub impact: Impact,
    /// Whether it always happens, not only if something uses the changed part.
    pub certain: bool,
    /// When it happens.
    pub when: EffectTime,
    /// A sentence without a full stop; `{}` is replaced with the subjects.
    pub text: String,
    /// The subjects: images, DataSources, gates.
    pub subjects: Vec<String>,
    /// The affected virtual machines of the repository, by name.
    pub machines: Vec<String>,
    /// What to do.
    pub action: Option<String>,
    /// Its causes, as indexes into the comparison's causes.
    pub causes: Vec<usize>,
    /// Its location, if no cause has one.
    pub place: Option<Location>,
    /// The kind of task.
    pub task: Task,
    /// The value that an upgrade changes.
    pub value: Option<ValueChange>,
    /// The rule whose finding says the same.
    pub rule: Option<&'static str>,
    /// Whether the HyperConverged is refused, as the finding about that says, too.
    pub is_refusal: bool,
    /// Whether it says that nothing more is known of its causes.
    pub is_unknown: bool,
    /// Whether it happens only if the edit of an object is accepted.
    pub needs_acceptance: bool,
    /// Whether it is about these machines alone, not about all of a kind.
    pub is_of_machine: bool,
}

impl From<Consequence> for Effect {
    fn from(said: Consequence) -> Self {
        let effect = Self::new(said.impact, said.text).action(said.action);
        let task = if said.task == Task::Note { effect.task } else { said.task };
        Self { when: said.when, certain: said.certain, subjects: said.subjects, task, rule: said.rule, ..effect }
    }
}

impl Effect {
    /// The effect of a sentence.
    pub(super) fn said(name: &str, values: &[(&str, &dyn Display)]) -> Self {
        sentence(name, values).into()
    }

    /// Creates an effect that happens immediately and always.
    pub fn new(impact: Impact, text: impl Into<String>) -> Self {
        let task = if impact == Impact::Stops { Task::Fix } else { Task::Note };
        Self { impact, certain: true, text: text.into(), task, ..Self::default() }
    }

    /// Adds what to do.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into()).filter(|action: &String| !action.is_empty());
        self
    }

    /// Whether it is about objects that are deleted and created again.
    pub fn is_recreation(&self) -> bool {
        self.task == Task::Recreate
    }

    /// Whether an alert starts or stops firing.
    pub fn is_alert(&self) -> bool {
        self.task == Task::Alert
    }

    /// Whether it is the same effect on other subjects.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.impact, self.certain, self.when) == (other.impact, other.certain, other.when)
            && (&self.text, &self.action) == (&other.text, &other.action)
    }

    /// The sort key of effects: stops, data loss, machines and alerts come first; among them certain effects on
    /// machines.
    pub fn rank(&self) -> (bool, bool, bool, Impact) {
        let minor = self.impact > Impact::Alert;
        let alert = self.impact == Impact::Alert;
        (minor, alert, !self.certain, self.impact)
    }
}
