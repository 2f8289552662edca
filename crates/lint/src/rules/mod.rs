//! One file per rule.
//!
//! A rule's file holds `RULE` (metadata and page) and `check`. Adding one is a file, its two lines
//! below, and its fixtures under `testdata/lint/`; see CONTRIBUTING.md.

use super::registered_rule::RegisteredRule;
use super::registered_rule::RunPhase::{Always, Last, Late};

mod aaq_pod_with_nodename;
mod admission_refused;
mod admission_short_circuited;
mod annotation_value_not_string;
mod auto_cpu_limit_with_ratio_one;
mod build_hardcodes_goarch;
mod bundle_affinity_exceeds_image;
mod bundle_affinity_narrower_than_image;
mod bundle_affinity_preferred_only;
mod bundle_affinity_terms_ored;
mod bundle_csv_arch_labels;
mod bundle_deployment_no_arch_affinity;
mod bundle_image_missing_arch;
mod bundle_image_not_manifest_list;
mod cert_config_invalid;
mod cli_default_version_changed;
mod common_dict_architectures_ignored;
mod common_dict_customization_drops_fields;
mod common_dict_never_imported;
mod common_dict_unknown_name;
mod common_dict_without_source;
mod common_template_in_git;
mod containerdisk_image_missing_arch;
mod control_plane_not_multi_node;
mod crd_ordering;
mod datasource_reference_unrendered;
mod default_architecture_not_pinned;
mod default_architecture_vs_datasource;
mod default_cpu_model_not_portable;
mod default_datasource_dangling;
mod deploy_ovs_implicit;
mod deprecated_feature_gate;
mod deprecated_kubevirt_api;
mod descheduler_longlifecycle_without_background;
mod descheduler_misconfigured;
mod dict_architectures_annotation_malformed;
mod dict_architectures_overclaim;
mod dict_architectures_partial;
mod dict_architectures_underclaim;
mod dict_duplicate_managed_data_source;
mod dict_duplicate_name;
mod dict_enable_annotation_invalid;
mod dict_enabled_without_spec;
mod dict_field_pruned;
mod dict_metadata_misindented;
mod dict_missing_architectures_annotation;
mod dict_name_too_long;
mod dict_no_supported_architecture;
mod dict_platform_architecture_overwritten;
mod dict_rejected_by_cdi;
mod dict_rendered_name_collision;
mod dict_retention_policy_implicit;
mod dict_schedule_missing;
mod dict_without_ssp;
mod dict_without_storage_class;
mod duplicate_mac_address;
mod duplicate_resource;
mod duplicate_wasp_agent;
mod eviction_strategy_needs_two_nodes;
mod feature_gate_contradicts_field;
mod feature_gate_default_flip;
mod feature_gate_unknown_or_duplicate;
mod few_kvm_nodes;
mod golden_image_namespace_missing;
mod hco_api_v1_too_new;
mod hco_api_v1beta1;
mod hco_changed_by_command;
mod hco_command_fails;
mod hco_kind_unknown;
mod hco_name_invalid;
mod hco_namespace_mismatch;
mod hco_schema_violation;
mod hco_unknown_field;
mod hco_wrong_api_shape;
mod host_device_not_permitted;
mod ignored_field;
mod image_arch_evidence_missing;
mod infra_placement_matches_no_node;
mod inventory_missing;
mod jsonpatch_before_upgrade;
mod jsonpatch_breaks_on_upgrade;
mod jsonpatch_case_mismatch;
mod jsonpatch_contradicts_cr;
mod jsonpatch_customize_components;
mod jsonpatch_duplicate_feature_gate;
mod jsonpatch_duplicates_field;
mod jsonpatch_feature_gate_in_disabled_list;
mod jsonpatch_feature_gate_inert;
mod jsonpatch_feature_gates_replaced;
mod jsonpatch_from_outside_spec;
mod jsonpatch_invalid_json;
mod jsonpatch_invalid_operation;
mod jsonpatch_layered;
mod jsonpatch_list_index;
mod jsonpatch_many_operations;
mod jsonpatch_noop;
mod jsonpatch_not_an_array;
mod jsonpatch_object_merges;
mod jsonpatch_op_fails;
mod jsonpatch_overrides_architecture;
mod jsonpatch_overrides_lifecycle;
mod jsonpatch_path_not_in_release;
mod jsonpatch_path_outside_spec;
mod jsonpatch_present;
mod jsonpatch_remove_has_no_effect;
mod jsonpatch_result_rejected_by_webhook;
mod jsonpatch_result_violates_crd;
mod jsonpatch_self_conflict;
mod jsonpatch_ssp_without_openshift;
mod jsonpatch_struct_list_merges;
mod jsonpatch_test_blocks_reconcile;
mod jsonpatch_type_mismatch;
mod jsonpatch_unknown_annotation_key;
mod jsonpatch_unknown_feature_gate;
mod jsonpatch_unknown_field;
mod jsonpatch_weakens_tls;
mod ksd_nameserver_not_ipv4;
mod mdev_types_conflict;
mod mediated_device_not_permitted;
mod mirror_filters_architectures;
mod multi_arch_boot_images_disabled;
mod multi_arch_on_single_arch_cluster;
mod mutated_field_absent;
mod network_reference_missing;
mod no_effect_field;
mod no_workload_nodes;
mod node_arch_unsupported_by_ssp;
mod node_reference_unmatched;
mod null_section;
mod operand_affinity_not_overridable;
mod operand_managed_in_git;
mod operand_violates_crd;
mod operator_panics;
mod operator_placement_not_covered;
mod operator_update_refused;
mod pinned_old_default;
mod placement_affinity_invalid;
mod placement_preferred_only_for_arch;
mod placement_untolerated_taint;
mod placement_wrong_level;
mod reconcile_fails;
mod redundant_default;
mod removed_object_in_git;
mod rendered_golden_image_in_git;
mod scalar_type_mismatch;
mod second_operand_cr;
mod server_metadata_in_git;
mod single_arch_workloads_served_wrong_arch;
mod ssp_refused;
mod status_in_git;
mod storage_reference_missing;
mod subscription_affinity_drops_arch;
mod tls_profile_invalid;
mod tls_profile_weak;
mod tuning_policy_annotation_invalid;
mod tuning_policy_high_burst;
mod uninstall_strategy_remove_workloads;
mod unresolved_placeholder;
mod value_rejected_later;
mod value_without_effect;
mod vendor_values_assumed;
mod vm_arch_unsupported_device;
mod vm_architecture_needs_multiarch_gate;
mod vm_architecture_not_in_cluster;
mod vm_architecture_unset;
mod vm_datasource_arch_mismatch;
mod vm_machine_type_arch_mismatch;
mod vm_needs_feature_gate;
mod vm_not_evictable;
mod vm_pinned_machine_type;
mod vm_placement_contradicts_architecture;
mod vm_placement_matches_no_node;
mod workload_placement_change_with_vms;
mod workload_placement_matches_no_node;
mod workload_updates_disabled;

/// Every rule, sorted by name.
pub(super) static RULES: &[RegisteredRule] = &[
    RegisteredRule { rule: &aaq_pod_with_nodename::RULE, when: Always, check: aaq_pod_with_nodename::check },
    RegisteredRule { rule: &admission_refused::RULE, when: Last, check: admission_refused::check },
    RegisteredRule { rule: &admission_short_circuited::RULE, when: Always, check: admission_short_circuited::check },
    RegisteredRule {
        rule: &annotation_value_not_string::RULE,
        when: Always,
        check: annotation_value_not_string::check,
    },
    RegisteredRule {
        rule: &auto_cpu_limit_with_ratio_one::RULE,
        when: Always,
        check: auto_cpu_limit_with_ratio_one::check,
    },
    RegisteredRule { rule: &build_hardcodes_goarch::RULE, when: Always, check: build_hardcodes_goarch::check },
    RegisteredRule {
        rule: &bundle_affinity_exceeds_image::RULE,
        when: Always,
        check: bundle_affinity_exceeds_image::check,
    },
    RegisteredRule {
        rule: &bundle_affinity_narrower_than_image::RULE,
        when: Always,
        check: bundle_affinity_narrower_than_image::check,
    },
    RegisteredRule {
        rule: &bundle_affinity_preferred_only::RULE,
        when: Always,
        check: bundle_affinity_preferred_only::check,
    },
    RegisteredRule { rule: &bundle_affinity_terms_ored::RULE, when: Always, check: bundle_affinity_terms_ored::check },
    RegisteredRule { rule: &bundle_csv_arch_labels::RULE, when: Always, check: bundle_csv_arch_labels::check },
    RegisteredRule {
        rule: &bundle_deployment_no_arch_affinity::RULE,
        when: Always,
        check: bundle_deployment_no_arch_affinity::check,
    },
    RegisteredRule { rule: &bundle_image_missing_arch::RULE, when: Always, check: bundle_image_missing_arch::check },
    RegisteredRule {
        rule: &bundle_image_not_manifest_list::RULE,
        when: Always,
        check: bundle_image_not_manifest_list::check,
    },
    RegisteredRule { rule: &cert_config_invalid::RULE, when: Always, check: cert_config_invalid::check },
    RegisteredRule {
        rule: &cli_default_version_changed::RULE,
        when: Always,
        check: cli_default_version_changed::check,
    },
    RegisteredRule {
        rule: &common_dict_architectures_ignored::RULE,
        when: Always,
        check: common_dict_architectures_ignored::check,
    },
    RegisteredRule {
        rule: &common_dict_customization_drops_fields::RULE,
        when: Always,
        check: common_dict_customization_drops_fields::check,
    },
    RegisteredRule { rule: &common_dict_never_imported::RULE, when: Always, check: common_dict_never_imported::check },
    RegisteredRule { rule: &common_dict_unknown_name::RULE, when: Always, check: common_dict_unknown_name::check },
    RegisteredRule { rule: &common_dict_without_source::RULE, when: Always, check: common_dict_without_source::check },
    RegisteredRule { rule: &common_template_in_git::RULE, when: Always, check: common_template_in_git::check },
    RegisteredRule {
        rule: &containerdisk_image_missing_arch::RULE,
        when: Always,
        check: containerdisk_image_missing_arch::check,
    },
    RegisteredRule {
        rule: &control_plane_not_multi_node::RULE,
        when: Always,
        check: control_plane_not_multi_node::check,
    },
    RegisteredRule { rule: &crd_ordering::RULE, when: Always, check: crd_ordering::check },
    RegisteredRule {
        rule: &datasource_reference_unrendered::RULE,
        when: Always,
        check: datasource_reference_unrendered::check,
    },
    RegisteredRule {
        rule: &default_architecture_not_pinned::RULE,
        when: Always,
        check: default_architecture_not_pinned::check,
    },
    RegisteredRule {
        rule: &default_architecture_vs_datasource::RULE,
        when: Always,
        check: default_architecture_vs_datasource::check,
    },
    RegisteredRule {
        rule: &default_cpu_model_not_portable::RULE,
        when: Always,
        check: default_cpu_model_not_portable::check,
    },
    RegisteredRule {
        rule: &default_datasource_dangling::RULE,
        when: Always,
        check: default_datasource_dangling::check,
    },
    RegisteredRule { rule: &deploy_ovs_implicit::RULE, when: Always, check: deploy_ovs_implicit::check },
    RegisteredRule { rule: &deprecated_feature_gate::RULE, when: Always, check: deprecated_feature_gate::check },
    RegisteredRule { rule: &deprecated_kubevirt_api::RULE, when: Always, check: deprecated_kubevirt_api::check },
    RegisteredRule {
        rule: &descheduler_longlifecycle_without_background::RULE,
        when: Always,
        check: descheduler_longlifecycle_without_background::check,
    },
    RegisteredRule { rule: &descheduler_misconfigured::RULE, when: Always, check: descheduler_misconfigured::check },
    RegisteredRule {
        rule: &dict_architectures_annotation_malformed::RULE,
        when: Always,
        check: dict_architectures_annotation_malformed::check,
    },
    RegisteredRule {
        rule: &dict_architectures_overclaim::RULE,
        when: Always,
        check: dict_architectures_overclaim::check,
    },
    RegisteredRule { rule: &dict_architectures_partial::RULE, when: Always, check: dict_architectures_partial::check },
    RegisteredRule {
        rule: &dict_architectures_underclaim::RULE,
        when: Always,
        check: dict_architectures_underclaim::check,
    },
    RegisteredRule {
        rule: &dict_duplicate_managed_data_source::RULE,
        when: Always,
        check: dict_duplicate_managed_data_source::check,
    },
    RegisteredRule { rule: &dict_duplicate_name::RULE, when: Always, check: dict_duplicate_name::check },
    RegisteredRule {
        rule: &dict_enable_annotation_invalid::RULE,
        when: Always,
        check: dict_enable_annotation_invalid::check,
    },
    RegisteredRule { rule: &dict_enabled_without_spec::RULE, when: Always, check: dict_enabled_without_spec::check },
    RegisteredRule { rule: &dict_field_pruned::RULE, when: Always, check: dict_field_pruned::check },
    RegisteredRule { rule: &dict_metadata_misindented::RULE, when: Always, check: dict_metadata_misindented::check },
    RegisteredRule {
        rule: &dict_missing_architectures_annotation::RULE,
        when: Always,
        check: dict_missing_architectures_annotation::check,
    },
    RegisteredRule { rule: &dict_name_too_long::RULE, when: Always, check: dict_name_too_long::check },
    RegisteredRule {
        rule: &dict_no_supported_architecture::RULE,
        when: Always,
        check: dict_no_supported_architecture::check,
    },
    RegisteredRule {
        rule: &dict_platform_architecture_overwritten::RULE,
        when: Always,
        check: dict_platform_architecture_overwritten::check,
    },
    RegisteredRule { rule: &dict_rejected_by_cdi::RULE, when: Always, check: dict_rejected_by_cdi::check },
    RegisteredRule {
        rule: &dict_rendered_name_collision::RULE,
        when: Always,
        check: dict_rendered_name_collision::check,
    },
    RegisteredRule {
        rule: &dict_retention_policy_implicit::RULE,
        when: Always,
        check: dict_retention_policy_implicit::check,
    },
    RegisteredRule { rule: &dict_schedule_missing::RULE, when: Always, check: dict_schedule_missing::check },
    RegisteredRule { rule: &dict_without_ssp::RULE, when: Always, check: dict_without_ssp::check },
    RegisteredRule { rule: &dict_without_storage_class::RULE, when: Always, check: dict_without_storage_class::check },
    RegisteredRule { rule: &duplicate_mac_address::RULE, when: Always, check: duplicate_mac_address::check },
    RegisteredRule { rule: &duplicate_resource::RULE, when: Always, check: duplicate_resource::check },
    RegisteredRule { rule: &duplicate_wasp_agent::RULE, when: Always, check: duplicate_wasp_agent::check },
    RegisteredRule {
        rule: &eviction_strategy_needs_two_nodes::RULE,
        when: Always,
        check: eviction_strategy_needs_two_nodes::check,
    },
    RegisteredRule {
        rule: &feature_gate_contradicts_field::RULE,
        when: Always,
        check: feature_gate_contradicts_field::check,
    },
    RegisteredRule { rule: &feature_gate_default_flip::RULE, when: Always, check: feature_gate_default_flip::check },
    RegisteredRule {
        rule: &feature_gate_unknown_or_duplicate::RULE,
        when: Always,
        check: feature_gate_unknown_or_duplicate::check,
    },
    RegisteredRule { rule: &few_kvm_nodes::RULE, when: Always, check: few_kvm_nodes::check },
    RegisteredRule {
        rule: &golden_image_namespace_missing::RULE,
        when: Always,
        check: golden_image_namespace_missing::check,
    },
    RegisteredRule { rule: &hco_api_v1_too_new::RULE, when: Always, check: hco_api_v1_too_new::check },
    RegisteredRule { rule: &hco_api_v1beta1::RULE, when: Always, check: hco_api_v1beta1::check },
    RegisteredRule { rule: &hco_changed_by_command::RULE, when: Always, check: hco_changed_by_command::check },
    RegisteredRule { rule: &hco_command_fails::RULE, when: Always, check: hco_command_fails::check },
    RegisteredRule { rule: &hco_kind_unknown::RULE, when: Always, check: hco_kind_unknown::check },
    RegisteredRule { rule: &hco_name_invalid::RULE, when: Always, check: hco_name_invalid::check },
    RegisteredRule { rule: &hco_namespace_mismatch::RULE, when: Always, check: hco_namespace_mismatch::check },
    RegisteredRule { rule: &hco_schema_violation::RULE, when: Late, check: hco_schema_violation::check },
    RegisteredRule { rule: &hco_unknown_field::RULE, when: Always, check: hco_unknown_field::check },
    RegisteredRule { rule: &hco_wrong_api_shape::RULE, when: Always, check: hco_wrong_api_shape::check },
    RegisteredRule { rule: &host_device_not_permitted::RULE, when: Always, check: host_device_not_permitted::check },
    RegisteredRule { rule: &ignored_field::RULE, when: Always, check: ignored_field::check },
    RegisteredRule {
        rule: &image_arch_evidence_missing::RULE,
        when: Always,
        check: image_arch_evidence_missing::check,
    },
    RegisteredRule {
        rule: &infra_placement_matches_no_node::RULE,
        when: Always,
        check: infra_placement_matches_no_node::check,
    },
    RegisteredRule { rule: &inventory_missing::RULE, when: Last, check: inventory_missing::check },
    RegisteredRule { rule: &jsonpatch_before_upgrade::RULE, when: Always, check: jsonpatch_before_upgrade::check },
    RegisteredRule {
        rule: &jsonpatch_breaks_on_upgrade::RULE,
        when: Always,
        check: jsonpatch_breaks_on_upgrade::check,
    },
    RegisteredRule { rule: &jsonpatch_case_mismatch::RULE, when: Always, check: jsonpatch_case_mismatch::check },
    RegisteredRule { rule: &jsonpatch_contradicts_cr::RULE, when: Always, check: jsonpatch_contradicts_cr::check },
    RegisteredRule {
        rule: &jsonpatch_customize_components::RULE,
        when: Always,
        check: jsonpatch_customize_components::check,
    },
    RegisteredRule {
        rule: &jsonpatch_duplicate_feature_gate::RULE,
        when: Always,
        check: jsonpatch_duplicate_feature_gate::check,
    },
    RegisteredRule { rule: &jsonpatch_duplicates_field::RULE, when: Always, check: jsonpatch_duplicates_field::check },
    RegisteredRule {
        rule: &jsonpatch_feature_gate_in_disabled_list::RULE,
        when: Always,
        check: jsonpatch_feature_gate_in_disabled_list::check,
    },
    RegisteredRule {
        rule: &jsonpatch_feature_gate_inert::RULE,
        when: Always,
        check: jsonpatch_feature_gate_inert::check,
    },
    RegisteredRule {
        rule: &jsonpatch_feature_gates_replaced::RULE,
        when: Always,
        check: jsonpatch_feature_gates_replaced::check,
    },
    RegisteredRule {
        rule: &jsonpatch_from_outside_spec::RULE,
        when: Always,
        check: jsonpatch_from_outside_spec::check,
    },
    RegisteredRule { rule: &jsonpatch_invalid_json::RULE, when: Always, check: jsonpatch_invalid_json::check },
    RegisteredRule {
        rule: &jsonpatch_invalid_operation::RULE,
        when: Always,
        check: jsonpatch_invalid_operation::check,
    },
    RegisteredRule { rule: &jsonpatch_layered::RULE, when: Always, check: jsonpatch_layered::check },
    RegisteredRule { rule: &jsonpatch_list_index::RULE, when: Always, check: jsonpatch_list_index::check },
    RegisteredRule { rule: &jsonpatch_many_operations::RULE, when: Always, check: jsonpatch_many_operations::check },
    RegisteredRule { rule: &jsonpatch_noop::RULE, when: Always, check: jsonpatch_noop::check },
    RegisteredRule { rule: &jsonpatch_not_an_array::RULE, when: Always, check: jsonpatch_not_an_array::check },
    RegisteredRule { rule: &jsonpatch_object_merges::RULE, when: Always, check: jsonpatch_object_merges::check },
    RegisteredRule { rule: &jsonpatch_op_fails::RULE, when: Always, check: jsonpatch_op_fails::check },
    RegisteredRule {
        rule: &jsonpatch_overrides_architecture::RULE,
        when: Always,
        check: jsonpatch_overrides_architecture::check,
    },
    RegisteredRule {
        rule: &jsonpatch_overrides_lifecycle::RULE,
        when: Always,
        check: jsonpatch_overrides_lifecycle::check,
    },
    RegisteredRule {
        rule: &jsonpatch_path_not_in_release::RULE,
        when: Always,
        check: jsonpatch_path_not_in_release::check,
    },
    RegisteredRule {
        rule: &jsonpatch_path_outside_spec::RULE,
        when: Always,
        check: jsonpatch_path_outside_spec::check,
    },
    RegisteredRule { rule: &jsonpatch_present::RULE, when: Always, check: jsonpatch_present::check },
    RegisteredRule {
        rule: &jsonpatch_remove_has_no_effect::RULE,
        when: Always,
        check: jsonpatch_remove_has_no_effect::check,
    },
    RegisteredRule {
        rule: &jsonpatch_result_rejected_by_webhook::RULE,
        when: Always,
        check: jsonpatch_result_rejected_by_webhook::check,
    },
    RegisteredRule {
        rule: &jsonpatch_result_violates_crd::RULE,
        when: Always,
        check: jsonpatch_result_violates_crd::check,
    },
    RegisteredRule { rule: &jsonpatch_self_conflict::RULE, when: Always, check: jsonpatch_self_conflict::check },
    RegisteredRule {
        rule: &jsonpatch_ssp_without_openshift::RULE,
        when: Always,
        check: jsonpatch_ssp_without_openshift::check,
    },
    RegisteredRule {
        rule: &jsonpatch_struct_list_merges::RULE,
        when: Always,
        check: jsonpatch_struct_list_merges::check,
    },
    RegisteredRule {
        rule: &jsonpatch_test_blocks_reconcile::RULE,
        when: Always,
        check: jsonpatch_test_blocks_reconcile::check,
    },
    RegisteredRule { rule: &jsonpatch_type_mismatch::RULE, when: Always, check: jsonpatch_type_mismatch::check },
    RegisteredRule {
        rule: &jsonpatch_unknown_annotation_key::RULE,
        when: Always,
        check: jsonpatch_unknown_annotation_key::check,
    },
    RegisteredRule {
        rule: &jsonpatch_unknown_feature_gate::RULE,
        when: Always,
        check: jsonpatch_unknown_feature_gate::check,
    },
    RegisteredRule { rule: &jsonpatch_unknown_field::RULE, when: Always, check: jsonpatch_unknown_field::check },
    RegisteredRule { rule: &jsonpatch_weakens_tls::RULE, when: Always, check: jsonpatch_weakens_tls::check },
    RegisteredRule { rule: &ksd_nameserver_not_ipv4::RULE, when: Always, check: ksd_nameserver_not_ipv4::check },
    RegisteredRule { rule: &mdev_types_conflict::RULE, when: Always, check: mdev_types_conflict::check },
    RegisteredRule {
        rule: &mediated_device_not_permitted::RULE,
        when: Always,
        check: mediated_device_not_permitted::check,
    },
    RegisteredRule {
        rule: &mirror_filters_architectures::RULE,
        when: Always,
        check: mirror_filters_architectures::check,
    },
    RegisteredRule {
        rule: &multi_arch_boot_images_disabled::RULE,
        when: Always,
        check: multi_arch_boot_images_disabled::check,
    },
    RegisteredRule {
        rule: &multi_arch_on_single_arch_cluster::RULE,
        when: Always,
        check: multi_arch_on_single_arch_cluster::check,
    },
    RegisteredRule { rule: &mutated_field_absent::RULE, when: Always, check: mutated_field_absent::check },
    RegisteredRule { rule: &network_reference_missing::RULE, when: Always, check: network_reference_missing::check },
    RegisteredRule { rule: &no_effect_field::RULE, when: Always, check: no_effect_field::check },
    RegisteredRule { rule: &no_workload_nodes::RULE, when: Always, check: no_workload_nodes::check },
    RegisteredRule {
        rule: &node_arch_unsupported_by_ssp::RULE,
        when: Always,
        check: node_arch_unsupported_by_ssp::check,
    },
    RegisteredRule { rule: &node_reference_unmatched::RULE, when: Always, check: node_reference_unmatched::check },
    RegisteredRule { rule: &null_section::RULE, when: Always, check: null_section::check },
    RegisteredRule {
        rule: &operand_affinity_not_overridable::RULE,
        when: Always,
        check: operand_affinity_not_overridable::check,
    },
    RegisteredRule { rule: &operand_managed_in_git::RULE, when: Always, check: operand_managed_in_git::check },
    RegisteredRule { rule: &operand_violates_crd::RULE, when: Always, check: operand_violates_crd::check },
    RegisteredRule { rule: &operator_panics::RULE, when: Always, check: operator_panics::check },
    RegisteredRule {
        rule: &operator_placement_not_covered::RULE,
        when: Always,
        check: operator_placement_not_covered::check,
    },
    RegisteredRule { rule: &operator_update_refused::RULE, when: Always, check: operator_update_refused::check },
    RegisteredRule { rule: &pinned_old_default::RULE, when: Always, check: pinned_old_default::check },
    RegisteredRule { rule: &placement_affinity_invalid::RULE, when: Always, check: placement_affinity_invalid::check },
    RegisteredRule {
        rule: &placement_preferred_only_for_arch::RULE,
        when: Always,
        check: placement_preferred_only_for_arch::check,
    },
    RegisteredRule {
        rule: &placement_untolerated_taint::RULE,
        when: Always,
        check: placement_untolerated_taint::check,
    },
    RegisteredRule { rule: &placement_wrong_level::RULE, when: Always, check: placement_wrong_level::check },
    RegisteredRule { rule: &reconcile_fails::RULE, when: Last, check: reconcile_fails::check },
    RegisteredRule { rule: &redundant_default::RULE, when: Always, check: redundant_default::check },
    RegisteredRule { rule: &removed_object_in_git::RULE, when: Always, check: removed_object_in_git::check },
    RegisteredRule {
        rule: &rendered_golden_image_in_git::RULE,
        when: Always,
        check: rendered_golden_image_in_git::check,
    },
    RegisteredRule { rule: &scalar_type_mismatch::RULE, when: Always, check: scalar_type_mismatch::check },
    RegisteredRule { rule: &second_operand_cr::RULE, when: Always, check: second_operand_cr::check },
    RegisteredRule { rule: &server_metadata_in_git::RULE, when: Always, check: server_metadata_in_git::check },
    RegisteredRule {
        rule: &single_arch_workloads_served_wrong_arch::RULE,
        when: Always,
        check: single_arch_workloads_served_wrong_arch::check,
    },
    RegisteredRule { rule: &ssp_refused::RULE, when: Last, check: ssp_refused::check },
    RegisteredRule { rule: &status_in_git::RULE, when: Always, check: status_in_git::check },
    RegisteredRule { rule: &storage_reference_missing::RULE, when: Always, check: storage_reference_missing::check },
    RegisteredRule {
        rule: &subscription_affinity_drops_arch::RULE,
        when: Always,
        check: subscription_affinity_drops_arch::check,
    },
    RegisteredRule { rule: &tls_profile_invalid::RULE, when: Always, check: tls_profile_invalid::check },
    RegisteredRule { rule: &tls_profile_weak::RULE, when: Always, check: tls_profile_weak::check },
    RegisteredRule {
        rule: &tuning_policy_annotation_invalid::RULE,
        when: Always,
        check: tuning_policy_annotation_invalid::check,
    },
    RegisteredRule { rule: &tuning_policy_high_burst::RULE, when: Always, check: tuning_policy_high_burst::check },
    RegisteredRule {
        rule: &uninstall_strategy_remove_workloads::RULE,
        when: Always,
        check: uninstall_strategy_remove_workloads::check,
    },
    RegisteredRule { rule: &unresolved_placeholder::RULE, when: Always, check: unresolved_placeholder::check },
    RegisteredRule { rule: &value_rejected_later::RULE, when: Always, check: value_rejected_later::check },
    RegisteredRule { rule: &value_without_effect::RULE, when: Always, check: value_without_effect::check },
    RegisteredRule { rule: &vendor_values_assumed::RULE, when: Always, check: vendor_values_assumed::check },
    RegisteredRule { rule: &vm_arch_unsupported_device::RULE, when: Always, check: vm_arch_unsupported_device::check },
    RegisteredRule {
        rule: &vm_architecture_needs_multiarch_gate::RULE,
        when: Always,
        check: vm_architecture_needs_multiarch_gate::check,
    },
    RegisteredRule {
        rule: &vm_architecture_not_in_cluster::RULE,
        when: Always,
        check: vm_architecture_not_in_cluster::check,
    },
    RegisteredRule { rule: &vm_architecture_unset::RULE, when: Always, check: vm_architecture_unset::check },
    RegisteredRule {
        rule: &vm_datasource_arch_mismatch::RULE,
        when: Always,
        check: vm_datasource_arch_mismatch::check,
    },
    RegisteredRule {
        rule: &vm_machine_type_arch_mismatch::RULE,
        when: Always,
        check: vm_machine_type_arch_mismatch::check,
    },
    RegisteredRule { rule: &vm_needs_feature_gate::RULE, when: Always, check: vm_needs_feature_gate::check },
    RegisteredRule { rule: &vm_not_evictable::RULE, when: Always, check: vm_not_evictable::check },
    RegisteredRule { rule: &vm_pinned_machine_type::RULE, when: Always, check: vm_pinned_machine_type::check },
    RegisteredRule {
        rule: &vm_placement_contradicts_architecture::RULE,
        when: Always,
        check: vm_placement_contradicts_architecture::check,
    },
    RegisteredRule {
        rule: &vm_placement_matches_no_node::RULE,
        when: Always,
        check: vm_placement_matches_no_node::check,
    },
    RegisteredRule {
        rule: &workload_placement_change_with_vms::RULE,
        when: Always,
        check: workload_placement_change_with_vms::check,
    },
    RegisteredRule {
        rule: &workload_placement_matches_no_node::RULE,
        when: Always,
        check: workload_placement_matches_no_node::check,
    },
    RegisteredRule { rule: &workload_updates_disabled::RULE, when: Always, check: workload_updates_disabled::check },
];

/// What a rule's file needs.
mod prelude {
    pub(super) use crate::Applied;
    pub(super) use crate::{Context, GoldenImage, Incident, NodeRef, PatchAnnotation, Sink};
    pub(super) use crate::{Csv, PodTemplate};
    pub(super) use hcoplan_diagnostics::finding::{
        Applicability, BecomesWhen, Claim, Confidence, Finding, Fix, FixKind, Group, Needs, PredictedValue, Prediction,
        Rule, Severity, nearest,
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
    pub(super) fn finding_about(rule: &'static Rule, document: &Document, message: impl Into<String>) -> Finding {
        Finding::new(rule, message).at(document.locate(&Path::dotted("metadata.name"))).object(object_of(document))
    }

    /// A suggestion that changes a neighbour.
    pub(super) fn suggested(document: &Document, title: impl Into<String>, changes: &[Change]) -> Option<Fix> {
        Some(Fix {
            title: title.into(),
            applicability: Applicability::Suggestion,
            edits: edits(document, changes).ok()?,
        })
    }

    /// A fix of a neighbour that changes what the cluster does.
    pub(super) fn unsafe_fix(document: &Document, title: impl Into<String>, changes: &[Change]) -> Option<Fix> {
        let fix = suggested(document, title, changes)?;
        Some(Fix { applicability: Applicability::Unsafe, ..fix })
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
        let separator = if text.ends_with('\n') { "---\n" } else { "\n---\n" };
        Some(Fix::edit(title, Applicability::Suggestion, document.location(end), format!("{separator}{manifest}")))
    }

    /// What a neighbour is called in a report.
    pub(super) fn object_of(document: &Document) -> String {
        ObjectId::of(&document.root.to_json()).to_string()
    }

    /// Reports what is wrong with an annotation as a whole: as the explanation of the incident
    /// that it leads to, if it is the annotation that fails first.
    pub(super) fn explain_patch(cx: &Context<'_>, out: &mut Sink, patch: &PatchAnnotation<'_>, finding: Finding) {
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
    pub(super) fn with_nodes<T: AsRef<str>>(mut finding: Finding, cx: &Context<'_>, architectures: &[T]) -> Finding {
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
