//! Finds the decisive inputs: sections first, then their parts; then pairs of inputs that can replace each other.

use super::input::InputTree;
use crate::why::input::Input;
use crate::why::plan_input::PlanInput;
use crate::why::target::{FoundValue, Target};

/// Up to this many parts of a section are removed one by one.
const MAX_SINGLE: usize = 16;

/// If more parts of a section than these change the target, only the section is reported.
const MAX_REPORTED: usize = 16;

/// In a section with more parts, single parts aren't searched if the section has no effect.
const MAX_PARTS: usize = 64;

/// Inputs without which the value would differ: one, or two that must be removed together.
#[derive(Debug)]
pub(super) struct DecisiveInputs {
    pub(super) inputs: Vec<Input>,
    pub(super) without: FoundValue,
}

pub(super) struct Search<'a> {
    pub(super) plan_input: &'a PlanInput<'a>,
    pub(super) target: &'a Target,
    pub(super) base: &'a FoundValue,
}

impl Search<'_> {
    /// The value without these inputs; the present one if the operators fail without them: an edit's other effects
    /// don't answer the question.
    fn without(&self, inputs: &[&Input]) -> FoundValue {
        let plan = self.plan_input.without(inputs);
        if self.plan_input.stops_operators(&plan) { self.base.clone() } else { self.target.read(&plan) }
    }

    /// The value without a unit and other inputs.
    fn without_unit(&self, others: &[&Input], unit: &InputTree) -> FoundValue {
        self.without(&[others, &[&unit.input]].concat())
    }

    /// All inputs whose removal changes the target.
    pub(super) fn run(&self, units: &[InputTree]) -> Vec<DecisiveInputs> {
        let mut found = Vec::new();
        let mut without_effect: Vec<&InputTree> = Vec::new();
        for unit in units {
            let value = self.without(&[&unit.input]);
            if value != *self.base {
                self.descend(unit, value, &[], &mut found);
                continue;
            }
            without_effect.push(unit);
            // A missing value may be suppressed by a part of a section that would create it.
            if !matches!(self.base, FoundValue::Value(_)) {
                for (part, value) in self.hidden(unit, &[], self.base) {
                    self.descend(part, value, &[], &mut found);
                }
            }
        }
        while let Some([one, other]) = self.pair(&without_effect) {
            let without = self.without(&[&one.input, &other.input]);
            // The parts of each that matter while the other is removed.
            let mut parts = Vec::new();
            for (unit, removed) in [(one, other), (other, one)] {
                self.descend(unit, without.clone(), &[&removed.input], &mut parts);
            }
            without_effect.retain(|u| ![one, other].iter().any(|s| std::ptr::eq(*s, *u)));
            found.push(DecisiveInputs { inputs: parts.into_iter().flat_map(|part| part.inputs).collect(), without });
        }
        found
    }

    /// The smallest parts of a unit whose removal changes the target while `others` are removed.
    fn descend(&self, unit: &InputTree, whole: FoundValue, others: &[&Input], found: &mut Vec<DecisiveInputs>) {
        let mut decisive: Vec<(&InputTree, FoundValue)> = Vec::new();
        let base = match others {
            [] => self.base.clone(),
            _ => self.without(others),
        };
        self.collect_decisive(&unit.children, others, others, &base, &mut decisive);
        if decisive.len() > MAX_REPORTED {
            found.push(DecisiveInputs { inputs: vec![unit.input.clone()], without: whole });
            return;
        }
        // A larger section was searched by halves already.
        if decisive.is_empty() && unit.children.len() <= MAX_PARTS {
            // A default may replace a part with the same value.
            let children = unit.children.iter();
            decisive = children.flat_map(|c| self.hidden(c, others, &base)).collect();
        }
        let same = decisive.len() > 1 && decisive.iter().all(|(_, r)| *r == whole);
        if same && unit.joins && self.same_value(unit, others, &base, found) {
            return;
        }
        if decisive.is_empty() || (unit.joins && same) {
            found.push(DecisiveInputs { inputs: vec![unit.input.clone()], without: whole });
            return;
        }
        for (child, value) in decisive {
            self.descend(child, value, others, found);
        }
    }

    /// Collects the units that each change the target while `others` are removed; more than [`MAX_REPORTED`] aren't
    /// complete. Many units are removed by halves first: most have no effect.
    ///
    /// `away` are the others and the units without effect: removing these too makes each plan smaller.
    fn collect_decisive<'u>(
        &self,
        units: &'u [InputTree],
        others: &[&'u Input],
        away: &[&'u Input],
        base: &FoundValue,
        moved: &mut Vec<(&'u InputTree, FoundValue)>,
    ) {
        if moved.len() > MAX_REPORTED {
            return;
        }
        if units.len() > MAX_SINGLE {
            let (first, second) = units.split_at(units.len() / 2);
            let with_half = |half: &'u [InputTree]| {
                let half = half.iter().map(|u| &u.input);
                away.iter().copied().chain(half).collect::<Vec<_>>()
            };
            let (without_first, without_second) = (with_half(first), with_half(second));
            let first_moves = self.without(&without_first) != *base;
            let second_moves = self.without(&without_second) != *base;
            match (first_moves, second_moves) {
                (true, true) => {
                    self.collect_decisive(first, others, away, base, moved);
                    self.collect_decisive(second, others, away, base, moved);
                }
                (true, false) => self.collect_decisive(first, others, &without_second, base, moved),
                (false, true) => self.collect_decisive(second, others, &without_first, base, moved),
                (false, false) => {}
            }
            return;
        }
        for unit in units {
            let mut value = self.without_unit(away, unit);
            if value != *base && away.len() > others.len() {
                value = self.without_unit(others, unit);
            }
            if value != *base {
                moved.push((unit, value));
            }
        }
    }

    /// The parts of a unit that change the target although the unit itself doesn't.
    fn hidden<'u>(
        &self,
        unit: &'u InputTree,
        others: &[&'u Input],
        base: &FoundValue,
    ) -> Vec<(&'u InputTree, FoundValue)> {
        let mut found = Vec::new();
        // Single ones of many parts aren't searched, as in `descend`.
        if unit.children.len() > MAX_PARTS {
            self.collect_decisive(&unit.children, others, others, base, &mut found);
            return found;
        }
        for child in &unit.children {
            let value = self.without_unit(others, child);
            if value == *base {
                found.extend(self.hidden(child, others, base));
            } else {
                found.push((child, value));
            }
        }
        found
    }

    /// Finds the leaves of a unit that have the target's value and change it: they are more precise than the unit.
    /// Returns whether there are any.
    fn same_value(
        &self,
        unit: &InputTree,
        others: &[&Input],
        base: &FoundValue,
        found: &mut Vec<DecisiveInputs>,
    ) -> bool {
        let FoundValue::Value(value) = self.base else {
            return false;
        };
        let before = found.len();
        for leaf in unit.leaves() {
            let written = leaf.input.written().and_then(|p| p.get(self.plan_input.object));
            if written != Some(value) {
                continue;
            }
            let without = self.without_unit(others, leaf);
            if without != *base {
                found.push(DecisiveInputs { inputs: vec![leaf.input.clone()], without });
            }
        }
        found.len() > before
    }

    /// Two units that change the target when removed together: from the end, the first with which the units do, and the
    /// first with which they do in addition to it. Without nodes nothing may be rendered: lines are also tried alone.
    fn pair<'u>(&self, units: &[&'u InputTree]) -> Option<[&'u InputTree; 2]> {
        let moves = |units: &[&InputTree]| {
            let inputs: Vec<&Input> = units.iter().map(|u| &u.input).collect();
            self.without(&inputs) != *self.base
        };
        let first_of = |set: &[&'u InputTree], other: Option<&'u InputTree>| {
            let starts: Vec<usize> = (0..set.len()).rev().collect();
            let from = |start: usize| set.iter().skip(start).copied().chain(other).collect::<Vec<_>>();
            let start = starts.get(starts.partition_point(|start| !moves(&from(*start))))?;
            set.get(*start).copied()
        };
        let lines = units.iter().copied().filter(|unit| unit.input.written().is_some());
        [units.to_vec(), lines.collect()].into_iter().find_map(|set| {
            let one = first_of(&set, None)?;
            let pair = [one, first_of(&set, Some(one))?];
            moves(&pair).then_some(pair)
        })
    }
}
