//! Access modes of virtual machines' claims, as far as the repository has them.

use super::Context;
use super::prelude::*;

use super::default_place;
use super::virtual_machines::{VirtualMachine, claim_name};

/// Annotations of default storage classes: for virtual machines, and for all claims.
static DEFAULTS: Rows<&str> = Rows::of("defaultClassAnnotations");

/// Access modes with the document and the path that have them, if a document does.
type Modes<'d> = (Vec<String>, Option<(&'d Document, Path)>);

impl Context<'_> {
    /// The access modes of a virtual machine's claim; none if unknown.
    pub fn access_modes(&self, vm: &VirtualMachine<'_>, claim: &str) -> Vec<String> {
        self.modes(vm, claim).map(|(modes, _)| modes).unwrap_or_default()
    }

    /// The location of a volume's access modes in the virtual machine.
    pub fn access_modes_place(&self, vm: &VirtualMachine<'_>, volume: &Path) -> Option<Location> {
        let claim = claim_name(vm.document.root.at(volume)?)?;
        let (document, path) = self.modes(vm, claim)?.1?;
        std::ptr::eq(document, vm.document).then(|| document.locate(&path))
    }

    fn modes<'v>(&'v self, vm: &VirtualMachine<'v>, claim: &str) -> Option<Modes<'v>> {
        if let Some(spec) = vm.disk_template(claim) {
            return self.volume_modes(vm.document, &spec);
        }
        let declared = |kind| self.named(kind, Some(vm.namespace()), claim);
        if let Some(document) = declared("PersistentVolumeClaim") {
            return Some(written_modes(document, Path::dotted("spec.accessModes")));
        }
        self.volume_modes(declared("DataVolume")?, &Path::dotted("spec"))
    }

    /// The access modes of a DataVolume's spec, else those that CDI takes for its volume mode.
    fn volume_modes<'v>(&'v self, document: &'v Document, spec: &Path) -> Option<Modes<'v>> {
        let mut written = ["storage", "pvc"].into_iter().map(|k| spec.key(k).key("accessModes"));
        if let Some(path) = written.find(|p| document.root.at(p).is_some_and(|n| !n.items().is_empty())) {
            return Some(written_modes(document, path));
        }
        let storage = document.root.at(&spec.key("storage"))?;
        let class = storage.text_at("storageClassName").or_else(|| self.default_class())?;
        let offered = self.offered_modes(class, storage.text_at("volumeMode").unwrap_or_default())?;
        Some((offered.default, None))
    }

    /// The declared default storage class.
    pub fn default_class(&self) -> Option<&str> {
        DEFAULTS.iter().find_map(|annotation| {
            let mut classes = self.storage_classes();
            classes.find(|class| default_place(class, annotation).is_some()).map(|class| name_of(class))
        })
    }
}

fn written_modes(document: &Document, path: Path) -> Modes<'_> {
    let modes = strings(items(document.root.at(&path))).map(str::to_owned);
    (modes.collect(), Some((document, path)))
}
