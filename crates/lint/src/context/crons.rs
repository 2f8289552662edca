//! SSP's objects for golden images, with the lines they come from.

use super::Context;
use super::prelude::*;
use hcoplan_planner::boot_images::ssp_stage::{Displaced, ObjectOrigin, SourceTarget};

use super::GoldenImage;

/// The annotation that patches the SSP before SSP reads it.
const SSP_PATCH: &str = "ssp.kubevirt.io/jsonpatch";

/// The names of a DataImportCron and of its DataSource: kind, name, and the template's field that sets it.
pub(crate) fn cron_names(cron: &Rendered) -> [(&'static str, &str, &'static str); 2] {
    let data_source = tree::get(&cron.object.body, "spec.managedDataSource");
    let data_source = text(data_source);
    let name = cron.object.id.name.as_str();
    [("DataImportCron", name, "metadata.name"), ("DataSource", data_source, "spec.managedDataSource")]
}

impl<'a> Context<'a> {
    /// The DataImportCrons that SSP creates.
    pub fn import_crons(&self) -> impl Iterator<Item = &'a Rendered> + use<'a> {
        self.ssp_objects("DataImportCron")
    }

    /// The DataSources that SSP creates.
    pub fn data_sources(&self) -> impl Iterator<Item = &'a Rendered> + use<'a> {
        self.ssp_objects("DataSource")
    }

    fn ssp_objects(&self, kind: &'static str) -> impl Iterator<Item = &'a Rendered> + use<'a> {
        self.plan().ssp.iter().flat_map(move |stage| stage.of_kind(kind))
    }

    /// The DataImportCrons that SSP silently omits.
    pub fn displaced_crons(&self) -> &'a [Displaced] {
        let stage = self.plan().ssp.as_ref();
        stage.map_or(&[], |s| s.displaced.as_slice())
    }

    /// The golden image of an SSP object; `None` if a jsonpatch added it to the SSP.
    pub fn image_of(&self, origin: &ObjectOrigin) -> Option<&GoldenImage<'a>> {
        let name = &origin.template.as_ref()?.name;
        let images = self.golden_images();
        images.iter().find(|i| i.template.name() == name)
    }

    /// The location of a field in the template of an SSP object; `path` is relative to the template. If this file has
    /// no such template: the SSP's patch, else the switch of multi-arch golden images.
    pub fn origin_place(&self, origin: &ObjectOrigin, path: &str) -> Location {
        match self.image_of(origin) {
            Some(image) => match image.written {
                Some(written) => written.locate(path),
                None => self.image_place(image),
            },
            None => match self.annotation(SSP_PATCH) {
                Some(patch) => patch.value_place(),
                None => self.whole_location(),
            },
        }
    }

    /// The claim of the repository that a DataSource's name leads to.
    pub fn own_claim(&self, namespace: &str, name: &str) -> Option<&'a str> {
        let SourceTarget::Claim(claim) = self.plan().ssp.as_deref()?.target(namespace, name) else { return None };
        self.has_claim(namespace, claim).then_some(claim)
    }

    /// The names of the release's common golden images.
    pub fn common_images(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let common = self.release().golden_images().iter();
        common.filter_map(|c| c["metadata"]["name"].as_str())
    }

    /// A common golden image of the release, by name.
    pub fn common_image(&self, name: &str) -> Option<&'a Value> {
        let mut common = self.release().golden_images().iter();
        common.find(|c| c["metadata"]["name"] == name)
    }
}
