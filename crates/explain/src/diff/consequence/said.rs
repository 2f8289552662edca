//! What a row says, and how its sentence is filled in.

use super::Change;
use super::placement::Places;
use super::shown::{UNSET, names_changed, same_value, selected, shown, summary, without_fields_of};
use super::users::selected_by;
use crate::diff::consequence::Consequence;
use crate::diff::semantic::{EffectTime, Impact, Task};
use crate::prelude::*;

/// A sentence with its severity; a behaviour that happens at once unless it says otherwise. `{is}` and `{was}` are
/// values, `{field}` is a field, `{}` the subject.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    pub(super) impact: Impact,
    pub(super) when: EffectTime,
    pub(super) text: &'static str,
    /// What to do; empty if nothing.
    pub(super) action: &'static str,
    /// Whether it happens only if something uses what changes.
    pub(super) possibly: bool,
    /// The virtual machines that it is about.
    #[serde(borrow)]
    pub(super) users: Option<&'static str>,
    /// The subject, if it isn't the object.
    #[serde(borrow)]
    pub(super) about: Option<&'static str>,
    /// The kind of task: `restart` where pods are replaced.
    pub(super) task: Task,
    /// The rule whose finding says the same.
    #[serde(borrow)]
    pub(super) rule: Option<&'static str>,
}

/// The sentences that functions choose.
pub(super) static SENTENCES: Table<BTreeMap<&'static str, Said>> = Table::of(include_str!("sentences.json"));

/// A sentence of `sentences.json`, which functions choose.
pub(super) fn sentence(name: &str) -> Said {
    *SENTENCES.get(name).expect("a test asks for every name")
}

/// A sentence of a table of words; `None` if it has none.
pub(super) fn said(value: &'static Value) -> Option<Said> {
    Said::deserialize(value).ok()
}

/// Sentences by value.
type ByValue<'a> = BTreeMap<&'a str, Said>;

/// What a row says about its values.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Says {
    /// A value in words, the sentence about another one, and those about some: by the value that is (`is`), the one that
    /// was (`was`), both (`from`), and any smaller number (`less`).
    Value {
        #[serde(flatten)]
        words: Words,
        says: Said,
        #[serde(default, borrow)]
        is: ByValue<'static>,
        #[serde(default, borrow)]
        was: ByValue<'static>,
        #[serde(default, borrow)]
        from: BTreeMap<&'static str, ByValue<'static>>,
        less: Option<Said>,
    },
    /// A selector of labels: no selector in words, `on {} node`, and the sentence. Its users are those with the labels.
    Selector { unset: &'static str, of: &'static str, says: Said },
    /// A switch: its default, on, off.
    Switch { default: bool, on: Said, off: Said },
    /// A value that a field gets, or loses.
    Becomes { value: &'static str, gets: Said, loses: Said },
    /// A section or object that appears, is removed, or changes.
    Section { add: Said, remove: Said, change: Option<Said> },
    /// Each changed field below the path; unset ones have the value that the words name.
    Each {
        #[serde(flatten)]
        words: Words,
        #[serde(flatten)]
        says: Said,
    },
    /// Each name in a list, or each key of a map, that is added, removed or changed.
    Names { add: Said, remove: Said, change: Option<Said> },
    /// Where pods run: without a placement, the nodes that they leave if that matters, and any other change.
    Placement {
        #[serde(borrow)]
        unset: Option<&'static str>,
        missed: Option<Said>,
        changed: Said,
    },
    /// Computed, by the name of the function.
    Code(&'static str),
}

/// Values in words.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Words {
    /// The value of an unset field, in words.
    default: &'static str,
    /// Words for values, by value or by field; `*` is for any other, with the value at `{}`.
    #[serde(alias = "defaults", borrow)]
    words: BTreeMap<&'static str, &'static str>,
}

/// Whether a value is absent, or an empty text, which is the same to the operators.
fn is_unset(value: &Value) -> bool {
    value.is_null() || *value == ""
}

impl Words {
    fn get(&self, key: &str) -> Option<&'static str> {
        self.words.get(key).or(self.words.get("*")).copied()
    }

    fn own(&self, value: &Value) -> String {
        if is_unset(value) { self.default.to_owned() } else { shown(value) }
    }

    fn value(&self, value: &Value) -> String {
        let own = self.own(value);
        match self.get(&own).filter(|_| !is_unset(value)) {
            Some(words) => words.replace("{}", &own),
            None => own,
        }
    }

    fn field(&self, field: &str, value: String) -> String {
        match self.get(field) {
            Some(default) if value == UNSET => default.to_owned(),
            _ => value,
        }
    }
}

impl Said {
    /// The consequence without values.
    pub(super) fn plain(self) -> Consequence {
        self.fill(&[])
    }

    /// With the values of its placeholders.
    pub(super) fn fill(self, values: &[(&str, &dyn Display)]) -> Consequence {
        let filled = |text: &str| {
            values.iter().fold(text.to_owned(), |text, (name, value)| {
                // The braces of a value aren't the subject's.
                text.replace(&format!("{{{name}}}"), &value.to_string().replace("{}", "{ }"))
            })
        };
        Consequence {
            impact: self.impact,
            when: self.when,
            certain: !self.possibly,
            text: filled(self.text),
            action: filled(self.action),
            users: self.users.map(str::to_owned).into_iter().collect(),
            task: self.task,
            rule: self.rule,
            ..Consequence::default()
        }
    }

    /// With a value and the one before.
    pub(super) fn turns(self, is: impl Display, was: impl Display) -> Consequence {
        self.fill(&[("is", &is), ("was", &was)])
    }

    pub(super) fn about(self, subject: impl Into<String>) -> Consequence {
        self.plain().about(subject)
    }
}

impl Consequence {
    pub(in crate::diff) fn about(mut self, subject: impl Into<String>) -> Self {
        self.subjects = vec![subject.into()];
        self.users.iter_mut().for_each(|users| *users = users.replace("{}", &self.subjects[0]));
        self
    }
}

impl Says {
    /// A value in words; `None` if it does nothing.
    pub(super) fn value(&self, value: &Value) -> Option<String> {
        match self {
            Self::Value { words, .. } => (!value.is_null()).then(|| words.value(value)),
            Self::Selector { unset, .. } if value.is_null() => Some((*unset).to_owned()),
            Self::Selector { of, .. } => Some(selected(of, value)),
            _ => (value == true).then(String::new),
        }
    }

    /// The consequences of a change.
    pub(super) fn consequences(&self, change: &Change<'_>) -> Vec<Consequence> {
        let (was, is) = (change.before, change.after);
        let named = |said: Said, consequence: Consequence| {
            let subject = || said.about.map_or_else(|| change.object_name(), str::to_owned);
            if said.text.contains("{}") { consequence.about(subject()) } else { consequence }
        };
        match self {
            Self::Value { words, says, is: of_new, was: of_old, from, less } => {
                let [was_own, is_own] = [was, is].map(|value| words.own(value));
                let is_less = is_own.parse::<f64>().ok().zip(was_own.parse().ok()).is_some_and(|(is, was)| is < was);
                let less = less.as_ref().filter(|_| is_less);
                let of_both = from.get(&*was_own).and_then(|of| of.get(&*is_own));
                let said = of_both.or(of_new.get(&*is_own)).or(of_old.get(&*was_own)).or(less).unwrap_or(says);
                let (was, is) = (words.value(was), words.value(is));
                if same_value(&was, &is) { Vec::new() } else { vec![named(*said, said.turns(is, was))] }
            }
            Self::Selector { says, .. } => {
                let labels = if is.is_null() { was } else { is };
                let [was, is] = [was, is].map(|value| self.value(value).unwrap_or_default());
                if was == is {
                    return Vec::new();
                }
                let mut said = says.turns(is, was);
                // `namespace` after the last ` & ` is whose labels are selected.
                let users = said.users.pop().and_then(|users| {
                    let (others, kind) = users.rsplit_once(" & ")?;
                    Some(format!("{others} & {}", selected_by(kind, labels)?))
                });
                said.users.extend(users);
                vec![said]
            }
            Self::Switch { default, on, off } => {
                let (was, is) = (was.as_bool().unwrap_or(*default), is.as_bool().unwrap_or(*default));
                if was == is { Vec::new() } else { vec![if is { on } else { off }.plain()] }
            }
            Self::Becomes { value, gets, loses } => {
                let said = *if is == value { gets } else { loses };
                if (was == value) == (is == value) { Vec::new() } else { vec![named(said, said.plain())] }
            }
            Self::Section { add, remove, change: other } => {
                let said = match (was.is_null(), is.is_null()) {
                    (true, _) => Some(*add),
                    (_, true) => Some(*remove),
                    _ => *other,
                };
                said.map(|said| named(said, said.turns(summary(is), summary(was)))).into_iter().collect()
            }
            Self::Each { words, says } => {
                let leaf = |(field, was, is): (String, String, String)| {
                    let (was, is) = (words.field(&field, was), words.field(&field, is));
                    (was != is).then(|| named(*says, says.fill(&[("field", &field), ("is", &is), ("was", &was)])))
                };
                change.leaves().into_iter().filter_map(leaf).collect()
            }
            Self::Names { add, remove, change: other } => names_changed(was, is)
                .into_iter()
                .filter_map(|(name, was, is)| {
                    let said = match (was.is_null(), is.is_null()) {
                        (true, _) => add,
                        (_, true) => remove,
                        _ => other.as_ref()?,
                    };
                    let (is, was) = (without_fields_of(&was, is.clone()), without_fields_of(&is, was));
                    Some(said.turns(summary(&is), summary(&was)).about(name))
                })
                .collect(),
            Self::Placement { unset, missed, changed } => {
                let Places { is, was, left } = Places::of(change, *unset);
                match (missed, left) {
                    (Some(missed), Some((nodes, possibly))) => {
                        let missed = Said { possibly: missed.possibly || possibly, ..*missed };
                        vec![missed.fill(&[("nodes", &nodes), ("is", &is), ("was", &was)])]
                    }
                    _ if is == was => Vec::new(),
                    _ => vec![changed.turns(is, was).about(changed.about.unwrap_or_default())],
                }
            }
            // The row calls it.
            Self::Code(_) => Vec::new(),
        }
    }
}
