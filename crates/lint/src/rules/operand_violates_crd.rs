//! An operand that HCO renders and the API server rejects.

use super::prelude::*;

/// The field that overrides the cluster's TLS profile.
const PROFILE: &str = "tlsSecurityProfile";

/// Operands rejected because of one field of the HyperConverged.
#[derive(Default)]
struct Rejected<'a> {
    kinds: Vec<&'a str>,
    message: String,
}

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut by_field: BTreeMap<Option<Path>, Rejected<'_>> = BTreeMap::new();
    for (_, object) in &cx.plan().operands {
        let kind = object.id.kind.as_str();
        let patched = cx.plan().patched.iter().find(|p| p.kind == kind);
        let body = patched.map_or(&object.body, |p| &p.before);
        let schema = cx.release().schema_of(&object.id.api_version, kind);
        let rejections = schema.map(|s| s.rejections(body)).unwrap_or_default();
        for violation in rejections {
            let field = cx.field_behind(kind, &violation.path).map(|(field, _)| field);
            let rejected = by_field.entry(field).or_default();
            if !rejected.kinds.contains(&kind) {
                rejected.kinds.push(kind);
            }
            if rejected.message.is_empty() {
                rejected.message = violation.message;
            }
        }
    }
    for (field, rejected) in by_field {
        let message = format!("the API server will reject {}: {}", and(&rejected.kinds), rejected.message);
        // Without the field, the cluster's own profile applies.
        let profile = (!cx.field(PROFILE).is_set())
            .then(|| cx.inventory_place(PROFILE).cloned())
            .flatten()
            .filter(|_| field.as_ref().is_some_and(|f| f.to_string().contains(PROFILE)));
        let help = match profile {
            Some(_) => "fix the cluster's profile, or set one in the HyperConverged",
            None => "write a value that the operand's schema accepts, too",
        };
        let place = profile.or_else(|| field.map(|path| cx.locate(&path)));
        out.report(
            cx.finding(message)
                .at(place.unwrap_or_else(|| cx.whole_location()))
                .label("accepted here, and rejected where HCO passes it on")
                .help(help),
        );
    }
}
