//! The post-renderers of a HelmRelease: kustomizations over what its chart renders.

use super::native::{accumulate, emitted, origins};
use super::{Additions, BUILT};
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::kustomization::{Kustomizations, entries_at};
use crate::repo::nodes::said;

/// Changes rendered manifests as a HelmRelease's post-renderers and common metadata do, in their order.
///
/// # Errors
/// Why kustomize refuses one, or only kustomize itself computes it, and where.
pub(crate) fn post_render(
    tree: &dyn Tree,
    path: &Utf8Path,
    rendered: (Vec<u8>, Origins),
    release: &Arc<Document>,
    whole: &Location,
) -> Result<(Vec<u8>, Origins), (String, Location)> {
    let renderers = release.root.list_at("spec.postRenderers").iter().filter_map(|renderer| renderer.get("kustomize"));
    let entries = renderers.map(|kustomize| entries_at(kustomize, fields::of("kustomize.of-helm"), |_| release));
    let renderer = |entries| Additions { entries, is_unrestricted: true, ..Additions::default() };
    let common = said(&release.root, "spec.commonMetadata");
    let last =
        common.map(|value| Additions { common: Some((Arc::clone(release), value.clone())), ..renderer(Vec::new()) });
    let (mut bytes, mut places) = rendered;
    for additions in entries.map(renderer).chain(last) {
        // A directory of its own, so that no other kustomization is there.
        let directory = path.with_extension("post");
        let files = [("kustomization.yaml", b"resources: [kustomize-build.yaml]".to_vec()), (BUILT, bytes)];
        let files = files.map(|(name, bytes)| (directory.join(name), bytes)).into();
        let known = BTreeMap::from([(directory.join(BUILT), Arc::new(places))]);
        let view = EditedTree::new(tree, files).with_origins(known);
        let mut built = accumulate(&Kustomizations::new(&view), &directory, &additions)
            .map_err(|refused| (refused.why, refused.place))?;
        if let Some(beyond) = built.beyond.first() {
            return Err((format!("hcoplan doesn't compute {}", beyond.what), beyond.place.clone()));
        }
        additions.finish(&mut built.objects);
        bytes = emitted(&built.objects);
        places = origins(path, &bytes, &built.objects, whole);
    }
    Ok((bytes, places))
}
