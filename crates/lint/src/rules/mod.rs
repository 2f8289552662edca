//! One file per rule.
//!
//! A rule's file holds `RULE` (metadata and page) and `check`. Adding one is a file, its line in
//! the list below, and its fixtures under `testdata/lint/`; see CONTRIBUTING.md.
//! (`cargo fmt` doesn't look into the list: format a rule with `rustfmt --edition 2024 FILE`.)

use super::registered_rule::{RegisteredRule, RunPhase};

/// Declares the modules and the registry of the rules.
macro_rules! rules {
    (@when) => { RunPhase::Always };
    (@when $when:ident) => { RunPhase::$when };
    ($($module:ident $(as $when:ident)?,)*) => {
        $(mod $module;)*

        pub(super) static RULES: &[RegisteredRule] = &[
            $(RegisteredRule {
                rule: &$module::RULE,
                when: rules!(@when $($when)?),
                check: $module::check,
            },)*
        ];
    };
}

// One line a rule, sorted.
rules! {
    aaq_pod_with_nodename,
    admission_refused as Last,
    admission_short_circuited,
    annotation_value_not_string,
    auto_cpu_limit_with_ratio_one,
    build_hardcodes_goarch,
    bundle_affinity_exceeds_image,
    bundle_affinity_narrower_than_image,
    bundle_affinity_preferred_only,
    bundle_affinity_terms_ored,
    bundle_csv_arch_labels,
    bundle_deployment_no_arch_affinity,
    bundle_image_missing_arch,
    bundle_image_not_manifest_list,
    cert_config_invalid,
    cli_default_version_changed,
    common_dict_architectures_ignored,
    common_dict_customization_drops_fields,
    common_dict_never_imported,
    common_dict_unknown_name,
    common_dict_without_source,
    common_template_in_git,
    containerdisk_image_missing_arch,
    control_plane_not_multi_node,
    crd_ordering,
    datasource_reference_unrendered,
    default_architecture_not_pinned,
    default_architecture_vs_datasource,
    default_cpu_model_not_portable,
    default_datasource_dangling,
    deploy_ovs_implicit,
    deprecated_feature_gate,
    deprecated_kubevirt_api,
    descheduler_longlifecycle_without_background,
    descheduler_misconfigured,
    dict_architectures_annotation_malformed,
    dict_architectures_overclaim,
    dict_architectures_partial,
    dict_architectures_underclaim,
    dict_duplicate_managed_data_source,
    dict_duplicate_name,
    dict_enable_annotation_invalid,
    dict_enabled_without_spec,
    dict_field_pruned,
    dict_metadata_misindented,
    dict_missing_architectures_annotation,
    dict_name_too_long,
    dict_no_supported_architecture,
    dict_platform_architecture_overwritten,
    dict_rejected_by_cdi,
    dict_rendered_name_collision,
    dict_retention_policy_implicit,
    dict_schedule_missing,
    dict_without_ssp,
    dict_without_storage_class,
    duplicate_mac_address,
    duplicate_resource,
    duplicate_wasp_agent,
    eviction_strategy_needs_two_nodes,
    feature_gate_contradicts_field,
    feature_gate_default_flip,
    feature_gate_unknown_or_duplicate,
    few_kvm_nodes,
    golden_image_namespace_missing,
    hco_api_v1_too_new,
    hco_api_v1beta1,
    hco_changed_by_command,
    hco_command_fails,
    hco_kind_unknown,
    hco_name_invalid,
    hco_namespace_mismatch,
    hco_schema_violation as Late,
    hco_unknown_field,
    hco_wrong_api_shape,
    host_device_not_permitted,
    ignored_field,
    image_arch_evidence_missing,
    infra_placement_matches_no_node,
    inventory_missing as Last,
    jsonpatch_before_upgrade,
    jsonpatch_breaks_on_upgrade,
    jsonpatch_case_mismatch,
    jsonpatch_contradicts_cr,
    jsonpatch_customize_components,
    jsonpatch_duplicate_feature_gate,
    jsonpatch_duplicates_field,
    jsonpatch_feature_gate_in_disabled_list,
    jsonpatch_feature_gate_inert,
    jsonpatch_feature_gates_replaced,
    jsonpatch_from_outside_spec,
    jsonpatch_invalid_json,
    jsonpatch_invalid_operation,
    jsonpatch_layered,
    jsonpatch_list_index,
    jsonpatch_many_operations,
    jsonpatch_noop,
    jsonpatch_not_an_array,
    jsonpatch_object_merges,
    jsonpatch_op_fails,
    jsonpatch_overrides_architecture,
    jsonpatch_overrides_lifecycle,
    jsonpatch_path_not_in_release,
    jsonpatch_path_outside_spec,
    jsonpatch_present,
    jsonpatch_remove_has_no_effect,
    jsonpatch_result_rejected_by_webhook,
    jsonpatch_result_violates_crd,
    jsonpatch_self_conflict,
    jsonpatch_ssp_without_openshift,
    jsonpatch_struct_list_merges,
    jsonpatch_test_blocks_reconcile,
    jsonpatch_type_mismatch,
    jsonpatch_unknown_annotation_key,
    jsonpatch_unknown_feature_gate,
    jsonpatch_unknown_field,
    jsonpatch_weakens_tls,
    ksd_nameserver_not_ipv4,
    kustomize_exec_function_skipped,
    mdev_types_conflict,
    mediated_device_not_permitted,
    mirror_filters_architectures,
    multi_arch_boot_images_disabled,
    multi_arch_on_single_arch_cluster,
    mutated_field_absent,
    network_reference_missing,
    no_effect_field,
    no_workload_nodes,
    node_arch_unsupported_by_ssp,
    node_reference_unmatched,
    null_section,
    operand_affinity_not_overridable,
    operand_managed_in_git,
    operand_violates_crd,
    operator_panics,
    operator_placement_not_covered,
    operator_update_refused,
    pinned_old_default,
    placement_affinity_invalid,
    placement_preferred_only_for_arch,
    placement_untolerated_taint,
    placement_wrong_level,
    reconcile_fails as Last,
    redundant_default,
    removed_object_in_git,
    rendered_golden_image_in_git,
    scalar_type_mismatch,
    second_operand_cr,
    server_metadata_in_git,
    single_arch_workloads_served_wrong_arch,
    ssp_refused as Last,
    status_in_git,
    storage_reference_missing,
    subscription_affinity_drops_arch,
    tls_profile_invalid,
    tls_profile_weak,
    tuning_policy_annotation_invalid,
    tuning_policy_high_burst,
    uninstall_strategy_remove_workloads,
    unresolved_placeholder,
    vendor_values_assumed,
    vm_arch_unsupported_device,
    vm_architecture_needs_multiarch_gate,
    vm_architecture_not_in_cluster,
    vm_architecture_unset,
    vm_datasource_arch_mismatch,
    vm_machine_type_arch_mismatch,
    vm_needs_feature_gate,
    vm_not_evictable,
    vm_pinned_machine_type,
    vm_placement_contradicts_architecture,
    vm_placement_matches_no_node,
    workload_placement_change_with_vms,
    workload_placement_matches_no_node,
    workload_updates_disabled,
}

/// What a rule's file needs.
mod prelude {
    pub(super) use crate::Applied;
    pub(super) use crate::{Context, GoldenImage, Incident, NodeRef, PatchAnnotation, Sink};
    pub(super) use crate::{Csv, PodTemplate};
    pub(super) use hcoplan_diagnostics::finding::{
        Applicability, BecomesWhen, Claim, Confidence, Finding, Fix, FixKind, Group, Needs,
        PredictedValue, Prediction, Rule, Severity, nearest,
    };
    pub(super) use hcoplan_diagnostics::source::Location;
    pub(super) use hcoplan_kubernetes::tree;
    pub(super) use hcoplan_planner::boot_images::ssp_stage::Rendered;
    pub(super) use hcoplan_planner::boot_images::{ARCHITECTURES_ANNOTATION, TemplateSource};
    pub(super) use hcoplan_planner::jsonpatch::{self, Cause};
    pub(super) use hcoplan_planner::jsonpatch::{Op, Operation, Reason};
    pub(super) use hcoplan_yaml::edit::Change;
    pub(super) use hcoplan_yaml::{Document, Path, Segment};

    use hcoplan_diagnostics::source::Span;
    use hcoplan_kubernetes::ObjectId;
    use hcoplan_yaml::edit::edits;

    use crate::ImageEvidence;

    /// The string at a dotted path of a document.
    pub(super) fn text_at<'d>(document: &'d Document, path: &str) -> Option<&'d str> {
        document.root.below(path)?.as_str()
    }

    /// The namespace that a neighbour is in, where it says one.
    pub(super) fn namespace_of(document: &Document) -> &str {
        text_at(document, "metadata.namespace").unwrap_or_default()
    }

    /// A finding about a neighbour as a whole: its name.
    pub(super) fn finding_about(
        rule: &'static Rule,
        document: &Document,
        message: impl Into<String>,
    ) -> Finding {
        Finding::new(rule, message)
            .at(document.locate(&Path::dotted("metadata.name")))
            .object(object_of(document))
    }

    /// A suggestion that changes a neighbour.
    pub(super) fn suggested(
        document: &Document,
        title: impl Into<String>,
        changes: &[Change],
    ) -> Option<Fix> {
        Some(Fix {
            title: title.into(),
            applicability: Applicability::Suggestion,
            edits: edits(document, changes).ok()?,
        })
    }

    /// A fix of a neighbour that changes what the cluster does.
    pub(super) fn unsafe_fix(
        document: &Document,
        title: impl Into<String>,
        changes: &[Change],
    ) -> Option<Fix> {
        let fix = suggested(document, title, changes)?;
        Some(Fix {
            applicability: Applicability::Unsafe,
            ..fix
        })
    }

    /// What an image is there for, in words: `amd64 only`.
    pub(super) fn has(evidence: &ImageEvidence) -> String {
        let platform = |p: &crate::Platform| match p.os.as_str() {
            "linux" => p.architecture.clone(),
            os => format!("{os}/{}", p.architecture),
        };
        let all: Vec<String> = evidence.platforms.iter().map(platform).collect();
        match all.as_slice() {
            [] => "none".to_owned(),
            [only] => format!("{only} only"),
            several => and(several),
        }
    }

    /// Whether the rendered KubeVirt object enables a feature gate.
    pub(super) fn has_gate(cx: &Context<'_>, gate: &str) -> bool {
        const GATES: &str = "spec.configuration.developerConfiguration.featureGates";
        let gates = cx.plan().operand("KubeVirt");
        let gates = gates.and_then(|kv| tree::get(kv, GATES)?.as_array());
        gates.is_some_and(|all| all.iter().any(|g| g == gate))
    }

    /// A suggestion that adds a document to the end of a document's file, which has to be YAML.
    pub(super) fn append_document(document: &Document, title: &str, manifest: &str) -> Option<Fix> {
        let text = document.file.text();
        let extension = document.file.path().extension().unwrap_or_default();
        if !matches!(extension, "yaml" | "yml") {
            return None;
        }
        let end = Span::new(text.len(), text.len());
        let separator = match text.ends_with('\n') {
            true => "---\n",
            false => "\n---\n",
        };
        Some(Fix::edit(
            title,
            Applicability::Suggestion,
            document.location(end),
            format!("{separator}{manifest}"),
        ))
    }

    /// What a neighbour is called in a report.
    pub(super) fn object_of(document: &Document) -> String {
        ObjectId::of(&document.root.to_json()).to_string()
    }

    /// Reports what is wrong with an annotation as a whole: as the explanation of the incident
    /// that it leads to, if it is the annotation that fails first.
    pub(super) fn explain_patch(
        cx: &Context<'_>,
        out: &mut Sink,
        patch: &PatchAnnotation<'_>,
        finding: Finding,
    ) {
        let name = patch.target.name;
        match cx.patch_failure().filter(|f| f.annotation == name) {
            Some(failed) if !out.is_explained(failed.incident) => {
                out.explain(failed.incident, finding);
            }
            _ => out.report(finding),
        }
    }

    /// `a`, `a and b`, `a, b and c`.
    pub(super) fn and<T: AsRef<str>>(words: &[T]) -> String {
        list(words, "and")
    }

    /// The finding with the places where nodes of these architectures are declared.
    pub(super) fn with_nodes<T: AsRef<str>>(
        mut finding: Finding,
        cx: &Context<'_>,
        architectures: &[T],
    ) -> Finding {
        for architecture in architectures.iter().map(AsRef::as_ref) {
            let mut nodes = cx.workload_nodes().chain(cx.nodes());
            let node = nodes.find(|n| n.node.architecture == architecture);
            if let Some(place) = node.and_then(|n| n.architecture_place()) {
                finding = finding.related(place, format!("{architecture} nodes are declared here"));
            }
        }
        finding
    }

    /// `a`, `a or b`, `a, b or c`.
    pub(super) fn or<T: AsRef<str>>(words: &[T]) -> String {
        list(words, "or")
    }

    fn list<T: AsRef<str>>(words: &[T], joined: &str) -> String {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        match words.split_last() {
            None => String::new(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} {joined} {last}", rest.join(", ")),
        }
    }
}
