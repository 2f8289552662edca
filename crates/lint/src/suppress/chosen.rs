//! Finds the suppression of a finding, efficiently for thousands of both.

use std::collections::HashMap;

use super::super::date::Date;
use super::super::suppression::{Scope, Suppression};
use crate::prelude::*;

/// A group of findings with the same result: location, rule, whether rejections, whether errors.
type Group = (Place, &'static str, bool, bool);

/// The location of suppressions that are examined together.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Place {
    /// In the configuration, for a finding with this file, object and cluster.
    Configuration { file: Option<Utf8PathBuf>, object: Option<String>, cluster: Option<String> },
    /// For a range of a file that starts at this offset.
    Bytes(Utf8PathBuf, u32),
}

/// Suppressions by the start of their range, with its end.
type ByStart = BTreeMap<u32, (u32, Rc<Vec<usize>>)>;

pub(super) struct Chosen<'s> {
    all: &'s [Suppression],
    today: Date,
    configured: Rc<Vec<usize>>,
    /// The ranges of comments, and of objects with an annotation; neither overlap among themselves.
    about: HashMap<&'s Utf8Path, [ByStart; 2]>,
    known: HashMap<Group, Option<usize>>,
    /// Whether each matched a finding.
    pub(super) used: Vec<bool>,
    /// Findings about suppressions that are not effective.
    pub(super) objections: Vec<Finding>,
}

impl<'s> Chosen<'s> {
    pub(super) fn of(all: &'s [Suppression], today: Date) -> Self {
        let mut configured = Vec::new();
        let mut about: HashMap<&Utf8Path, [ByStart; 2]> = HashMap::new();
        for (index, suppression) in all.iter().enumerate() {
            let Scope::Bytes(span) = suppression.scope else {
                configured.push(index);
                continue;
            };
            let kind = usize::from(!suppression.place.text().starts_with('#'));
            let starts = &mut about.entry(suppression.place.file.path()).or_default()[kind];
            let (end, indices) = starts.entry(span.start).or_insert((span.end, Rc::default()));
            *end = span.end.max(*end);
            Rc::make_mut(indices).push(index);
        }
        let used = vec![false; all.len()];
        let configured = Rc::new(configured);
        Self { all, today, configured, about, known: HashMap::new(), used, objections: Vec::new() }
    }

    /// The effective suppression of a finding: in the configuration, a comment, or its object's annotation.
    pub(super) fn suppression(&mut self, finding: &Finding) -> Option<&'s Suppression> {
        let mut asked = Vec::new();
        if !self.configured.is_empty() {
            let place = Place::Configuration {
                file: finding.file().map(ToOwned::to_owned),
                object: finding.object.as_ref().map(ToString::to_string),
                cluster: finding.cluster.as_ref().map(ToString::to_string),
            };
            asked.push((place, Rc::clone(&self.configured)));
        }
        for kind in 0..2 {
            for place in finding.location.iter().chain(&finding.generated) {
                let (path, at) = (place.file.path(), place.span.start);
                let starts = self.about.get(path).map(|about| &about[kind]);
                let before = starts.and_then(|starts| starts.range(..=at).next_back());
                let around = before.filter(|(_, (end, _))| at < *end);
                asked.extend(
                    around.map(|(start, (_, indices))| (Place::Bytes(path.to_owned(), *start), Rc::clone(indices))),
                );
            }
        }
        asked.into_iter().find_map(|(place, indices)| self.ask(place, &indices, finding))
    }

    fn ask(&mut self, place: Place, indices: &[usize], finding: &Finding) -> Option<&'s Suppression> {
        let question = (place, finding.rule.name, finding.rejection, finding.is_error());
        if let Some(known) = self.known.get(&question) {
            return known.map(|index| &self.all[index]);
        }
        let mut found = None;
        for index in indices.iter().copied() {
            let suppression = &self.all[index];
            if !suppression.matches(finding) {
                continue;
            }
            self.used[index] = true;
            match suppression.objection(finding, self.today) {
                Some(objection) => self.objections.push(objection),
                None => {
                    found = Some(index);
                    break;
                }
            }
        }
        self.known.insert(question, found);
        found.map(|index| &self.all[index])
    }
}
