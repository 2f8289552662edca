//! What a change does: to whom, when, and what to do about it.

use hcoplan_diagnostics::source::Location;

use super::semantic::{EffectTime, Impact};

/// One thing that a change does to a cluster.
#[derive(Debug, Clone)]
pub struct Effect {
    /// How bad it is.
    pub impact: Impact,
    /// Whether it happens in any case, and not only where something asks for what changes.
    pub certain: bool,
    /// When.
    pub when: EffectTime,
    /// A sentence without a full stop; where there are subjects, `{}` is replaced with them.
    pub text: String,
    /// What the sentence is about: images, DataSources, gates.
    pub subjects: Vec<String>,
    /// The virtual machines of the repository that it happens to, by name.
    pub machines: Vec<String>,
    /// What to do.
    pub action: Option<String>,
    /// What brings it about, as indexes into the causes of the comparison.
    pub causes: Vec<usize>,
    /// The line that it is about, where no cause names one.
    pub place: Option<Location>,
    /// What kind of work it makes.
    pub task: Task,
}

/// What kind of work something makes, in the order of a checklist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// Something has to be fixed first.
    Mend,
    /// A jsonpatch has to go, or to change.
    Patch,
    /// A value has to be written down where it is to stay as it is.
    Write,
    /// Something written has no meaning any more.
    TakeOut,
    /// Something is restarted or recreated.
    Restart,
    /// Nothing but to know it.
    Know,
}

impl Effect {
    /// Something that happens at once, in any case.
    pub fn new(impact: Impact, text: impl Into<String>) -> Self {
        Self {
            impact,
            certain: true,
            when: EffectTime::Now,
            text: text.into(),
            subjects: Vec::new(),
            machines: Vec::new(),
            action: None,
            causes: Vec::new(),
            place: None,
            task: match impact {
                Impact::Stops => Task::Mend,
                _ => Task::Know,
            },
        }
    }

    /// Says what to do.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into()).filter(|action: &String| !action.is_empty());
        self
    }

    /// Whether it is the same about other subjects.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.impact, self.certain, self.when) == (other.impact, other.certain, other.when)
            && (&self.text, &self.action) == (&other.text, &other.action)
    }

    /// The position in the one order of all effects: stops, data, machines and alerts come first; among them certain
    /// effects on machines.
    pub fn rank(&self) -> (bool, bool, bool, Impact) {
        let minor = self.impact > Impact::Alert;
        let alert = self.impact == Impact::Alert;
        (minor, alert, !self.certain, self.impact)
    }
}
