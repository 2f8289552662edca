//! The ImageStreams that a vendor's golden images are pulled from. Source: HCO
//! `controllers/handlers/imageStream.go`.

use super::{Context, Error};
use crate::prelude::*;

/// Rendered on OpenShift, while common images are imported, in their namespace.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if !cx.hc.imports_common_images() {
        return Ok(Vec::new());
    }
    let namespace = cx.hc.common_images_namespace();
    let names = cx.release.tables().image_streams.iter();
    let streams = names.map(|name| {
        cx.changed(&format!("ImageStream/{name}"), |body| {
            if let Some(namespace) = namespace {
                body["metadata"]["namespace"] = namespace.into();
            }
        })
    });
    Ok(streams.collect())
}
