//! A cell: the disk that a virtual machine of an architecture gets for an image's name.

use super::objects::{Cron, Objects};
use super::{Architecture, WORDS};
use crate::prelude::*;
use hcoplan_planner::boot::{Architectures, sentence, variant};
use hcoplan_planner::boot_images::ssp_stage::{Displaced, Displacer, SourceTarget};
use hcoplan_planner::inventory::Architecture as Name;

/// The state of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The image is imported for the architecture.
    Covered,
    /// The name refers to an image of another architecture.
    Wrong,
    /// Nothing is imported for the architecture.
    Missing,
    /// The image is declared for other architectures of workload nodes.
    Undeclared,
    /// One image is imported; its architecture depends on the importing node.
    Undetermined,
    /// One image is imported, and its architecture is unknown; or what is wanted is, because nodes are assumed.
    Unknown,
    /// Disabled.
    #[serde(rename = "disabled")]
    Off,
    /// A DataSource exists; its volume is created in another way.
    External,
    /// No virtual machine of the architecture can run in the cluster.
    Unneeded,
}

impl State {
    /// Its sign in a table of signs, and its word.
    pub fn words(self) -> (&'static str, &'static str) {
        let row = &WORDS["states"][variant(&self).0];
        (text(&row[0]), text(&row[1]))
    }

    /// Whether virtual machines lack something.
    pub const fn is_problem(self) -> bool {
        matches!(self, Self::Wrong | Self::Missing | Self::Undetermined)
    }
}

/// Why a cell has its state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A DataImportCron imports it.
    Imported,
    /// No node of this architecture runs virtual machines.
    NoNode(String),
    /// Multi-arch golden images are disabled: one image is imported, for these architectures.
    #[serde(rename = "multi-arch-disabled")]
    MultiArchOff(String),
    /// The image declares no architectures: one is imported, for this architecture if known.
    Undeclared(Option<String>),
    /// Multi-arch golden images are disabled; the importing node has one of these architectures.
    Importer(String),
    /// The image declares no architectures; the importing node has one of these.
    UndeclaredImporter(String),
    /// The registry has no image for the requested platform.
    NotPublished,
    /// The requested platform is an alias of an architecture, which images don't use.
    #[serde(rename = "alias")]
    AliasAsked(String),
    /// The image declares only these architectures.
    NotDeclared(String),
    /// The image declares only these architectures, and no workload node has one of them.
    NoneDeclared(String),
    /// The image's annotation, written so that HCO doesn't find this architecture in it.
    Malformed(String),
    /// The template pins the architecture.
    Pinned(String),
    /// This object prevents the import.
    Displaced(String),
    /// The DataSource refers to this one, for which nothing is imported.
    Dangling(String),
    /// The annotation of the template disables it.
    #[serde(rename = "template-disabled")]
    SwitchedOff,
    /// Common golden images are disabled.
    #[serde(rename = "common-images-disabled")]
    CommonImagesOff,
    /// The template bundle has a DataSource without an import.
    External,
    /// The DataSource refers to this claim of the repository.
    Claim(String),
    /// SSP doesn't get or render the image.
    NotRendered,
    /// No DataSource has the plain name; those with an architecture exist.
    NoPlainName,
    /// Nothing is imported in the cluster; the name of a [`super::Obstacle`].
    #[serde(untagged)]
    Obstacle(String),
}

impl Reason {
    /// A stable name.
    pub fn name(&self) -> String {
        variant(self).0
    }

    /// The reason in words.
    pub fn sentence(&self) -> String {
        sentence(&WORDS["reasons"], self)
    }

    /// The rule whose page explains it.
    pub fn rule(&self) -> Option<&'static str> {
        WORDS["rules"][self.name()].as_str()
    }

    /// What helps an architecture without an image.
    pub(super) fn remedy(&self, architecture: &str) -> String {
        let rows = &WORDS["remedies"];
        let row = rows.get(self.name()).unwrap_or(&rows["*"]);
        text(row).replace("{}", architecture)
    }
}

/// A golden image without cells.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) templates: Vec<ObjectOrigin>,
}

/// A template that the image comes from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ObjectOrigin {
    /// `metadata.name` of the template.
    pub(super) name: String,
    /// Its declared architectures.
    pub(super) declared: Option<String>,
    /// What disables it.
    pub(super) off: Option<Reason>,
}

/// A cell with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Its state.
    pub state: State,
    /// The reason for it.
    pub reason: Reason,
    /// The DataSource that a virtual machine refers to.
    pub data_source: Option<String>,
    /// The DataImportCron that fills it.
    pub cron: Option<String>,
    /// The image's possible architectures.
    pub architecture: Architectures,
}

impl Cell {
    pub(super) fn new(state: State, reason: Reason) -> Self {
        Self { state, reason, data_source: None, cron: None, architecture: Architectures::none() }
    }

    fn imported((state, reason): (State, Reason), data_source: &str, cron: Cron<'_>, is: Architectures) -> Self {
        Self {
            data_source: Some(data_source.to_owned()),
            cron: Some(cron.name().to_owned()),
            architecture: is,
            ..Self::new(state, reason)
        }
    }
}

/// The cell of an image and an architecture; `blocked` is that of an image that an obstacle prevents.
pub(super) fn of(row: &Row, objects: &Objects<'_, '_>, architecture: &Architecture, blocked: Option<Cell>) -> Cell {
    let name = &architecture.name;
    let mut cell = blocked.unwrap_or_else(|| wanted(row, objects, name));
    if architecture.workload_nodes == 0 {
        cell.state = State::Unneeded;
        cell.reason = Reason::NoNode(name.clone());
    }
    cell
}

/// The cell, given that virtual machines of the architecture can run.
fn wanted(row: &Row, objects: &Objects<'_, '_>, name: &str) -> Cell {
    let own = format!("{}-{name}", row.name);
    let candidates = [own.as_str(), &row.name];
    let mut found = Vec::new();
    for candidate in candidates {
        if let SourceTarget::Import(rendered) = objects.target(&row.namespace, candidate) {
            let cron = Cron { rendered };
            let is = objects.context.cron_disk(cron.rendered);
            if is.has(name) {
                return Cell::imported((State::Covered, Reason::Imported), candidate, cron, is);
            }
            found.push((candidate, cron, is));
        }
    }
    // SSP's import for one architecture serves only that; any other import is the only one.
    let only = found.into_iter().find(|(_, cron, _)| cron.label().is_none_or(|label| label == name));
    if let Some((data_source, cron, is)) = only {
        let found = match single(objects, cron, &is) {
            (State::Undetermined, reason) if is.lacks(name) => (State::Wrong, reason),
            (State::Covered, reason @ Reason::Pinned(_)) => (State::Undeclared, reason),
            (State::Covered, reason) => (State::Wrong, reason),
            found => found,
        };
        return Cell::imported(found, data_source, cron, is);
    }
    let claim = candidates.into_iter().find_map(|name| Some((name, objects.context.own_claim(&row.namespace, name)?)));
    claim.map_or_else(|| absent(row, objects, name), |(name, claim)| of_claim(name, claim))
}

/// The cell of a DataSource that refers to a claim of the repository.
fn of_claim(source: &str, claim: &str) -> Cell {
    let cell = Cell::new(State::External, Reason::Claim(claim.to_owned()));
    Cell { data_source: Some(source.to_owned()), architecture: Architectures::Unknown, ..cell }
}

/// The state of an image of which one disk is imported.
fn single(objects: &Objects<'_, '_>, cron: Cron<'_>, is: &Architectures) -> (State, Reason) {
    let names = is.names().join(" or ");
    match is {
        Architectures::Known(none) | Architectures::Built(none) if none.is_empty() => {
            match cron.pin().filter(|pin| Name::alias(pin).is_some()) {
                Some(alias) => (State::Missing, Reason::AliasAsked(alias.to_owned())),
                None => (State::Missing, Reason::NotPublished),
            }
        }
        Architectures::Undetermined(_) if objects.multi_arch => {
            (State::Undetermined, Reason::UndeclaredImporter(names))
        }
        Architectures::Undetermined(_) => (State::Undetermined, Reason::Importer(names)),
        Architectures::Unknown => (State::Unknown, Reason::Undeclared(None)),
        _ if cron.pin().is_some() => (State::Covered, Reason::Pinned(names)),
        _ if objects.multi_arch => (State::Covered, Reason::Undeclared(Some(names))),
        _ => (State::Covered, Reason::MultiArchOff(names)),
    }
}

/// Why nothing is imported.
fn absent(row: &Row, objects: &Objects<'_, '_>, name: &str) -> Cell {
    let template = row.templates.iter().find(|t| t.off.is_none());
    let Some(template) = template else {
        return match row.templates.iter().find_map(|t| t.off.clone()) {
            Some(off) => Cell::new(State::Off, off),
            None => Cell::new(State::External, Reason::External),
        };
    };
    let displaced = objects.displaced.iter().find(|d| {
        let is_it = d.origin.template.as_ref().is_some_and(|t| t.name == template.name);
        is_it && d.origin.architecture.as_deref().is_none_or(|a| a == name)
    });
    let mut state = missing(objects);
    let reason = match (displaced, &template.declared) {
        (Some(displaced), _) => Reason::Displaced(displacer(displaced)),
        (None, Some(declared)) if !names(declared, name) && objects.multi_arch => {
            // As people mean it: ignoring spaces and case, accepting aliases of architectures.
            if Architectures::listed(declared).has(name) {
                Reason::Malformed(declared.clone())
            } else if !objects.context.topology().workload_architectures.iter().any(|own| names(declared, own)) {
                Reason::NoneDeclared(declared.clone())
            } else {
                state = State::Undeclared;
                Reason::NotDeclared(declared.clone())
            }
        }
        _ => Reason::NotRendered,
    };
    Cell::new(state, reason)
}

/// With assumed nodes nobody knows which images are wanted.
fn missing(objects: &Objects<'_, '_>) -> State {
    if objects.context.has_nodes() { State::Missing } else { State::Unknown }
}

/// As HCO reads the annotation: split at commas, without trimming.
fn names(declared: &str, architecture: &str) -> bool {
    declared.split(',').any(|a| a == architecture)
}

fn displacer(displaced: &Displaced) -> String {
    match &displaced.by {
        Displacer::SameDataSource(origin) | Displacer::SameName(origin) => match &origin.template {
            Some(template) => format!("the DataImportCron of {}", template.name),
            None => "another DataImportCron".to_owned(),
        },
        Displacer::DataSource(name) => format!("the DataSource {name} of SSP's own"),
        Displacer::Claim(name) => format!("the claim {name}"),
    }
}

/// The cell of the plain name.
pub(super) fn plain(row: &Row, objects: &Objects<'_, '_>) -> Cell {
    let target = objects.reference(&row.namespace, &row.name);
    let mut cell = match objects.target(&row.namespace, &row.name) {
        SourceTarget::Import(rendered) => {
            let cron = Cron { rendered };
            let is = objects.context.cron_disk(cron.rendered);
            let found = match single(objects, cron, &is) {
                (State::Covered, _) => (State::Covered, Reason::Imported),
                found => found,
            };
            Cell::imported(found, &row.name, cron, is)
        }
        behind => {
            let nothing = match objects.context.own_claim(&row.namespace, &row.name) {
                Some(claim) => of_claim(&row.name, claim),
                None => absent(row, objects, ""),
            };
            match (nothing.state, behind) {
                (State::Off | State::External, _) => nothing,
                (_, SourceTarget::Missing(target)) => dangling(objects, target),
                (_, SourceTarget::Claim(_)) => dangling(objects, target.unwrap_or(&row.name)),
                _ if objects.crons().any(|((of, name), _)| of == row.namespace && name == row.name) => {
                    Cell::new(State::Missing, Reason::NoPlainName)
                }
                _ => nothing,
            }
        }
    };
    if let Some(target) = target {
        cell.data_source = Some(target.to_owned());
    }
    cell
}

fn dangling(objects: &Objects<'_, '_>, target: &str) -> Cell {
    Cell::new(missing(objects), Reason::Dangling(target.to_owned()))
}
