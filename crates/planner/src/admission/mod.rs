//! Admission of a HyperConverged: the verdict with the cluster's message and the location.
//!
//! Follows the API server's order: kind and version, metadata, pruning and defaults, the mutating webhook (which
//! decodes into Go types first), the CRD's schema and rules, the namespace policy, the validating webhook (which
//! renders the operands). `admission.json` says how releases differ. Bugs of a release's operator are reproduced in the
//! verdict and listed in [`Admission::holes`].

mod affinity;
mod gates;
mod gates_to_fields;
mod kubevirt;
mod metadata;
mod mutate;
mod operator_update;
mod render;
mod shape;
mod tls;
mod validate;
mod verdict;
mod webhook_edit;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;

use crate::cause::Stage;
use crate::inventory::Inventory;
use crate::prelude::*;
use crate::release::Release;
use std::cell::OnceCell;

pub use kubevirt::{OperandRejection, kubevirt_rejections};
pub use operator_update::{fill_eviction_strategy, is_complete, operator_update};
pub use render::tried_on_update;
pub use verdict::{Admission, OperatorBug, OperatorBugKind, Reason, Rejection};

use hcoplan_kubernetes::schema;
use render::DryRun;
use shape::Shape;

use crate::hyperconverged;
use crate::release::VersionRules;

/// The API group of the HyperConverged.
pub const GROUP: &str = "hco.kubevirt.io";
/// The kind of the HyperConverged.
pub const KIND: &str = "HyperConverged";

/// The kind of request to the API server.
#[derive(Debug, Clone, Copy)]
pub enum Operation<'a> {
    /// Creates an object.
    Create,
    /// Replaces an object.
    Update {
        /// The stored object, in any served version. Missing defaults (in an older commit's manifest) are filled in
        /// first.
        old: &'a Value,
        /// Kinds of operand CRs that don't exist. The webhook updates each in a dry run and rejects if one is missing.
        missing: &'a [&'static str],
    },
}

/// Returns the cluster's verdict on a document of the HyperConverged's API group.
pub fn admit(release: &Release, inventory: &Inventory, object: &Value, operation: Operation<'_>) -> Admission {
    let converted_old = match operation {
        Operation::Create => None,
        Operation::Update { old, .. } => old_in_version_of_new(release, old, object),
    };
    let request = Request {
        release,
        inventory,
        submitted: object,
        operation: match (&converted_old, operation) {
            (Some(old), Operation::Update { missing, .. }) => Operation::Update { old, missing },
            _ => operation,
        },
    };
    let mut admission = Admission::default();
    match request.run(&mut admission) {
        Ok(stored) => {
            admission.accepted = true;
            admission.stored = Some(stored);
        }
        Err(rejection) => {
            admission.further = request.further(&rejection, &admission);
            admission = admission.rejected(rejection);
        }
    }
    admission
}

/// The document as stored if neither schema nor webhook rejected it: pruned, defaulted, and mutated where possible.
/// `None` if its version isn't served.
pub fn stored_if_accepted(release: &Release, inventory: &Inventory, submitted: &Value) -> Option<Value> {
    let version = version_of(release, submitted).ok()?;
    let rules = release.admission().version(version)?;
    let schema = release.hyperconverged_schema(version)?;
    let mut object = submitted.clone();
    // A rejected part stays unchanged.
    let _ = metadata::decode(release, &mut object, &inventory.namespace);
    schema.prepare(&mut object);
    let mutating = mutate::Webhook { rules, shape: Shape { release, version }, operation: Operation::Create };
    let mut changed = object.clone();
    if mutating.run(&mut changed, &mut Admission::default()) == Ok(true) {
        object = changed;
        schema.fill_defaults(&mut object);
    }
    if let Value::Object(map) = &mut object {
        map.remove("status");
    }
    Some(object)
}

/// The old object in the new one's version, with defaults. `None` if that version isn't served.
fn old_in_version_of_new(release: &Release, old: &Value, new: &Value) -> Option<Value> {
    let version = version_of(release, new).ok()?;
    let schema = release.hyperconverged_schema(version)?;
    let mut read = hyperconverged::read_in(release, old, version);
    schema.fill_defaults(&mut read);
    Some(read)
}

#[derive(Clone, Copy)]
struct Request<'a> {
    release: &'a Release,
    inventory: &'a Inventory,
    submitted: &'a Value,
    operation: Operation<'a>,
}

impl Request<'_> {
    fn run(&self, admission: &mut Admission) -> Result<Value, Rejection> {
        let release = self.release;
        let version = version_of(release, self.submitted)?;
        let rules = release.admission().version(version);
        let rules = rules.expect("every served version has admission rules");
        let schema = release.hyperconverged_schema(version);
        let schema = schema.expect("every served version has a schema");

        let (mut object, pruned) = self.prepared(schema)?;
        admission.pruned = pruned;
        for field in &admission.pruned {
            let warning = format!("unknown field \"{}\"", schema::server_path(&field.path));
            admission.warnings.push(warning);
        }

        let mutating = mutate::Webhook { rules, shape: Shape { release, version }, operation: self.operation };
        match mutating.run(&mut object, admission) {
            Ok(false) => {}
            Ok(true) => schema.fill_defaults(&mut object),
            Err(rejection) => {
                if rejection.reason != Reason::GoDecode {
                    let unchanged = self.prepared(schema)?.0;
                    admission.forced = self.valid(schema, unchanged).ok();
                }
                return Err(rejection);
            }
        }
        let object = self.valid(schema, object)?;
        match self.validating_webhook(rules, version, &object, admission) {
            Ok(()) => Ok(object),
            Err(rejection) => {
                admission.forced = Some(object);
                Err(rejection)
            }
        }
    }

    /// Further reasons for rejection that don't follow from the first one.
    fn further(&self, first: &Rejection, known: &Admission) -> Vec<Rejection> {
        // Webhooks never see an object that the operator's Go types can't hold.
        if matches!(first.reason, Reason::UnknownKind | Reason::MetadataDecode | Reason::GoDecode) {
            return Vec::new();
        }
        let Ok(version) = version_of(self.release, self.submitted) else {
            return Vec::new();
        };
        let (Some(rules), Some(schema)) =
            (self.release.admission().version(version), self.release.hyperconverged_schema(version))
        else {
            return Vec::new();
        };
        let Some(object) = known.forced.clone().or_else(|| Some(self.prepared(schema).ok()?.0)) else {
            return Vec::new();
        };
        let mut out: Vec<Rejection> = Vec::new();
        let mut add = |rejection: Rejection| {
            // SSP's templates can't be rendered either.
            let follows = first.reason == Reason::TemplateWithoutSpec && rejection.reason == Reason::Render;
            let is_known = follows && rejection.panics
                || rejection.overlaps(first)
                || out.iter().any(|other| rejection.overlaps(other));
            if !is_known && rejection.reason != Reason::OperandMissing {
                out.push(rejection);
            }
        };
        let is_mutated = first.causes.iter().all(|cause| cause.stage != Stage::Mutating);
        if !is_mutated && let Err(rejection) = self.valid(schema, object.clone()) {
            add(rejection);
        }
        let policy = metadata::namespace_policy(&object, &self.inventory.namespace, self.operation);
        policy.err().into_iter().for_each(&mut add);
        let operation = match self.operation {
            // The webhook converts such an update first; the original is checked as a new object.
            Operation::Update { .. } if rules.update_as.is_some() => Operation::Create,
            operation => operation,
        };
        let dry_run = DryRun { release: self.release, inventory: self.inventory, read: OnceCell::new() };
        let shape = Shape { release: self.release, version };
        let webhook = validate::Webhook { rules, shape, object: &object, operation, dry_run };
        webhook.rejections().into_iter().for_each(add);
        out
    }

    /// The object as the mutating webhook receives it, and the pruned fields.
    fn prepared(&self, schema: &Schema) -> Result<(Value, Vec<PrunedField>), Rejection> {
        let mut object = self.submitted.clone();
        let mut pruned = metadata::decode(self.release, &mut object, &self.inventory.namespace)?;
        pruned.extend(schema.prepare(&mut object));
        Ok((object, pruned))
    }

    /// The object as stored, if schema and rules accept it. `object` already has its defaults.
    fn valid(&self, schema: &Schema, mut object: Value) -> Result<Value, Rejection> {
        if let Value::Object(map) = &mut object {
            map.remove("status");
        }
        let mut of_metadata = hcoplan_kubernetes::metadata::violations(&object);
        let violations = match self.operation {
            Operation::Create => schema.validate(&object),
            Operation::Update { old, .. } => {
                // The server checks finalizers only when it creates an object.
                let finalizers = Path::root().key("metadata").key("finalizers");
                of_metadata.retain(|violation| !violation.path.starts_with(&finalizers));
                of_metadata.splice(0..0, metadata::deletion_violations(self.submitted, old));
                schema.validate_update(&object, old)
            }
        };
        match metadata::reject(&violations, &of_metadata) {
            Some(rejected) => Err(rejected),
            None => Ok(object),
        }
    }

    fn validating_webhook(
        &self,
        rules: &VersionRules,
        version: &str,
        object: &Value,
        admission: &mut Admission,
    ) -> Result<(), Rejection> {
        metadata::namespace_policy(object, &self.inventory.namespace, self.operation)?;
        // The webhook also parses the old object, which may be older than the webhook.
        if let Operation::Update { old, .. } = self.operation {
            mutate::decode(self.release, version, old).map_err(|mut rejection| {
                rejection.causes.iter_mut().for_each(|cause| cause.stage = Stage::Validating);
                rejection
            })?;
        }
        if let (Operation::Update { old, missing }, Some(version)) = (self.operation, &rules.update_as) {
            return self.update_as(version, object, (old, missing), admission);
        }
        let webhook = validate::Webhook {
            rules,
            shape: Shape { release: self.release, version },
            object,
            operation: self.operation,
            dry_run: DryRun { release: self.release, inventory: self.inventory, read: OnceCell::new() },
        };
        webhook.run(admission)?;
        admission.read = webhook.dry_run.read.into_inner();
        Ok(())
    }
}

impl Request<'_> {
    /// An update that the webhook converts first. Paths in its rejection are moved back to the submitted version.
    fn update_as(
        &self,
        version: &str,
        object: &Value,
        (old, missing): (&Value, &[&'static str]),
        admission: &mut Admission,
    ) -> Result<(), Rejection> {
        let converted = hyperconverged::convert(self.release, object, version);
        let old = hyperconverged::convert(self.release, old, version);
        let rules = self.release.admission().version(version);
        let request = Request { operation: Operation::Update { old: &old, missing }, ..*self };
        let rules = rules.expect("an update is converted to a version that is served");
        let known_holes = admission.holes.len();
        let verdict = request.validating_webhook(rules, version, &converted, admission);
        admission.read = None;
        for hole in admission.holes.iter_mut().skip(known_holes) {
            hole.path = shape::path_in_v1(object, &hole.path);
            for cause in hole.hidden.iter_mut().flat_map(|h| &mut h.causes) {
                cause.path = shape::path_in_v1(object, &cause.path);
            }
        }
        verdict.map_err(|mut rejection| {
            for cause in &mut rejection.causes {
                cause.path = shape::path_in_v1(object, &cause.path);
            }
            rejection
        })
    }
}

/// The object's version (`v1beta1`) if it is served.
fn version_of<'a>(release: &Release, object: &'a Value) -> Result<&'a str, Rejection> {
    let text = |key: &str| text(object.get(key));
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let version = api_version.strip_prefix(GROUP).and_then(|v| v.strip_prefix('/'));
    let served = version.filter(|v| release.admission().version(v).is_some());
    match served {
        Some(version) if kind == KIND => Ok(version),
        found => {
            let message = format!("no matches for kind \"{kind}\" in version \"{api_version}\"");
            let key = if found.is_some() { "kind" } else { "apiVersion" };
            Err(Rejection::new(Reason::UnknownKind, message).at(Path::root().key(key)))
        }
    }
}
