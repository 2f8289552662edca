//! An image with the name of a common one, while common images are disabled.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>, template: &WrittenTemplate<'_>) -> Option<Finding> {
    let name = template.name();
    if !cx.common_images_off() || !cx.is_openshift() || cx.common_image(name).is_none() || !template.is_enabled() {
        return None;
    }
    let message = format!("{name} is never imported: it has a common image's name, and the common images are off");
    Some(
        cx.finding(message)
            .at(template.name_place())
            .label("changes an image that doesn't exist")
            .help("give it a name of its own, or set `enableCommonBootImageImport: true`"),
    )
}
