//! Access modes and storage classes of virtual machines' claims, as far as the repository has them.

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

    /// The access modes of a claim, else those that CDI takes for its volume mode.
    fn modes<'v>(&'v self, vm: &VirtualMachine<'v>, claim: &str) -> Option<Modes<'v>> {
        let (document, path, claim) = self.requested(vm, claim)?;
        let modes = claim.list_at("accessModes");
        if !modes.is_empty() {
            let modes = strings(modes).map(str::to_owned);
            return Some((modes.collect(), Some((document, path.key("accessModes")))));
        }
        let class = claim.text_at("storageClassName").or_else(|| self.default_class())?;
        let offered = self.offered_modes(class, claim.text_at("volumeMode").unwrap_or_default())?;
        Some((offered.default, None))
    }

    /// What requests a virtual machine's claim: its template, or an object of its namespace.
    fn requested<'v>(&'v self, vm: &VirtualMachine<'v>, claim: &str) -> Option<(&'v Document, Path, &'v Node)> {
        let own = Path::dotted("spec");
        let declared = |kind| self.named(kind, Some(vm.namespace()), claim);
        let (document, spec) = match vm.disk_template(claim) {
            Some(spec) => (vm.document, spec),
            None => (declared("PersistentVolumeClaim").or_else(|| declared("DataVolume"))?, own),
        };
        let mut places = [spec.key("storage"), spec.key("pvc"), spec].into_iter();
        places.find_map(|path| Some((document, path.clone(), document.root.at(&path)?)))
    }

    /// The declared storage classes of a virtual machine's disks.
    pub fn disk_classes<'c>(&'c self, vm: &VirtualMachine<'c>) -> impl Iterator<Item = &'c Arc<Document>> {
        let claims = vm.volumes().filter_map(|(_, volume)| self.requested(vm, claim_name(volume)?));
        let classes =
            claims.filter_map(|(.., claim)| claim.text_at("storageClassName").or_else(|| self.default_class()));
        let names: BTreeSet<&str> = classes.collect();
        self.storage_classes().filter(move |class| names.contains(name_of(class)))
    }

    /// The declared default storage class.
    pub fn default_class(&self) -> Option<&str> {
        DEFAULTS.iter().find_map(|annotation| {
            let mut classes = self.storage_classes();
            classes.find(|class| default_place(class, annotation).is_some()).map(|class| name_of(class))
        })
    }
}
