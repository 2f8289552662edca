//! How controllers sync what they apply.

use super::{Applied, Controller};
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::identity::{FactOrigin, WithSource, sync_method};

impl Applied {
    fn options(&self) -> impl Iterator<Item = &str> + Clone {
        strings(self.object.list_at("spec.syncPolicy.syncOptions"))
    }

    /// Its sync options that may change an object.
    pub(crate) fn changing_options(&self) -> BTreeSet<&str> {
        self.options().filter(|option| !fields::has("argocd.harmless-options", first_part(option, '='))).collect()
    }

    /// Whether Argo CD skips the dry run of kinds that the cluster doesn't know yet; `None` of other controllers.
    pub(crate) fn skips_dry_run(&self) -> Option<bool> {
        let is_argo = self.kind.controller() == Controller::ArgoCd;
        is_argo.then(|| self.options().any(|o| o == "SkipDryRunOnMissingResource=true"))
    }

    /// The update method, with the object's kind and the location; `None` where it isn't known of the controller.
    pub(crate) fn method(&self) -> Option<WithSource<UpdateMethod>> {
        let usual = match self.kind.controller() {
            Controller::ArgoCd => UpdateMethod::Apply,
            Controller::Flux if self.object.text("spec.upgrade.serverSideApply") == "disabled" => UpdateMethod::Apply,
            Controller::Flux => UpdateMethod::ServerSide,
            Controller::Acm | Controller::Fleet => return None,
        };
        let place = Some(self.place());
        let value = sync_method(self.options()).unwrap_or(usual);
        Some(WithSource { value, by: FactOrigin::Object(self.kind.name()), place })
    }
}
