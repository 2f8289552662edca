//! Suggestions that change virtual machines of the repository, if the HyperConverged can't help.

use super::prelude::*;
use super::{Context, VirtualMachine};
use hcoplan_yaml::edit;

use crate::suggestion::suggestion;

impl Context<'_> {
    /// A suggestion that sets the architecture of each virtual machine that uses the default; `None` if there is none.
    pub fn machines_made(&self, architecture: &str) -> Option<Fix> {
        let machines = self.virtual_machines();
        let open: Vec<_> = machines.iter().filter(|vm| !self.guest_architecture(vm).is_chosen()).collect();
        let name_it = |vm: &&VirtualMachine<'_>| {
            let set = Change::Set(vm.path("architecture"), architecture.into());
            edit::edits(vm.document, &[set]).ok()
        };
        let edits: Vec<Vec<Edit>> = open.iter().map(name_it).collect::<Option<_>>()?;
        let machines = match open.len() {
            1 => "the VM without one".to_owned(),
            n => format!("the {n} VMs without one"),
        };
        let title = format!("set `architecture: {architecture}` in {machines}");
        (!edits.is_empty()).then(|| suggestion(title, edits.concat()))
    }

    /// A suggestion that clones another DataSource wherever a virtual machine clones `name`; `None`
    /// where none does.
    pub fn clone_instead(&self, namespace: &str, name: &str, instead: &str) -> Option<Fix> {
        let machines = self.virtual_machines();
        let mut edits = Vec::new();
        for vm in &machines {
            for source in vm.template_sources() {
                if source.namespace == namespace && source.name == name {
                    let set = Change::Set(source.path.key("name"), instead.into());
                    edits.extend(edit::edits(vm.document, &[set]).ok()?);
                }
            }
        }
        (!edits.is_empty()).then(|| suggestion(format!("clone {instead} where {name} is cloned"), edits))
    }
}
