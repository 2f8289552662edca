//! A virtual machine whose namespace isn't permitted to clone its disk.

use super::prelude::*;

/// The service account that KubeVirt uses for cloning, unless the machine sets one.
const ACCOUNT: &str = "default";

/// Roles of every cluster that permit cloning.
static ROLES: Rows<&str> = Rows::of("cloningRoles");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let own = vm.namespace();
        let claims = vm.template_claims().into_iter().map(|claim| (claim, &CLAIMS[..]));
        let sources = vm.template_sources().into_iter().map(|source| (source, &["DataSource"][..]));
        for (reference, kinds) in sources.chain(claims) {
            let source = reference.namespace;
            if own.is_empty() || source == own || source == cx.images_namespace() {
                continue;
            }
            let mut declared = kinds.iter().filter_map(|k| cx.named(k, Some(source), reference.name));
            let Some(declared) = declared.next() else {
                continue;
            };
            let volumes = vm.volumes().filter_map(|(_, v)| v.below("serviceAccount.serviceAccountName"));
            let account = volumes.filter_map(Node::as_str).next().unwrap_or(ACCOUNT);
            // Of a DataSource that CDI fills, the claim is unknown.
            let claim = text_at(declared, "spec.source.pvc.name").or((kinds == CLAIMS).then_some(reference.name));
            if may_clone(cx, [own, account], source, claim) {
                continue;
            }
            let message = format!(
                "no declared role lets {vm} clone {source}/{}: its service account {own}/{account} has none there",
                reference.name
            );
            let has_rbac = bindings(cx).next().is_some();
            let finding = vm
                .finding(cx, message)
                .at(vm.document.locate(&reference.path.key("namespace")))
                .severity(if has_rbac { Severity::Warning } else { Severity::Info })
                .label("KubeVirt asks whether it may create datavolumes/source")
                .help(format!("add a RoleBinding in {source} for system:serviceaccount:{own}:{account}"))
                .related(namespace_place(declared), "declared here");
            out.report(finding);
        }
    }
}

fn bindings<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = &'c Arc<Document>> {
    ["RoleBinding", "ClusterRoleBinding"].into_iter().flat_map(|kind| cx.of_kind(kind))
}

/// What permits cloning: API group and resources. Source: CDI's `authorize_utils.go`.
static PERMITS: Rows<(&str, Vec<&str>)> = Rows::of("cloningPermissions");

/// Whether a declared binding permits a service account to clone a claim from a namespace.
fn may_clone(cx: &Context<'_>, [own, account]: [&str; 2], source: &str, claim: Option<&str>) -> bool {
    let of_namespace = format!("system:serviceaccounts:{own}");
    let groups = ["system:serviceaccounts", &of_namespace, "system:authenticated"];
    bindings(cx).any(|binding| {
        let is_there = namespace_of(binding) == source || binding.text("kind") == "ClusterRoleBinding";
        let subjects = binding.root.list_at("subjects");
        let is_meant = subjects.iter().any(|subject| {
            let text = |key: &str| subject.text(key);
            match text("kind") {
                "ServiceAccount" => text("name") == account && text("namespace") == own,
                "Group" => groups.contains(&text("name")),
                "User" => text("name") == format!("system:serviceaccount:{own}:{account}"),
                _ => false,
            }
        });
        is_there && is_meant && grants(cx, binding, claim)
    })
}

/// Whether the role of a binding permits cloning; unknown for a role that isn't declared.
fn grants(cx: &Context<'_>, binding: &Document, claim: Option<&str>) -> bool {
    let [name, kind] = ["roleRef.name", "roleRef.kind"].map(|field| binding.text(field));
    let of_binding = |role: &&Arc<Document>| {
        name_of(role) == name && (kind != "Role" || namespace_of(role) == namespace_of(binding))
    };
    let Some(role) = cx.of_kind(kind).iter().find(of_binding) else {
        return ROLES.contains(&name) || kind == "ClusterRole";
    };
    let rules = role.root.list_at("rules");
    rules.iter().any(|rule| {
        let lists = |key: &str, values: &[&str]| strings(rule.list_at(key)).any(|v| v == "*" || values.contains(&v));
        let names = rule.list_at("resourceNames");
        PERMITS.iter().any(|(group, resources)| lists("apiGroups", &[group]) && lists("resources", resources))
            && lists("verbs", &["create"])
            && (names.is_empty() || claim.is_none_or(|claim| names.iter().any(|n| n.as_str() == Some(claim))))
    })
}
