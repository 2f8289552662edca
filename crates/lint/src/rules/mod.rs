//! One file per rule, or per table of rules.
//!
//! A rule's file has its `check`, or a `find` if it has one finding. To add one: a file, its line below, its page
//! `docs/rules/<rule>.md` with its metadata, and its fixtures in `testdata/lint/`; see CONTRIBUTING.md. Similar rules are
//! rows of a table in one file: its `RULES`.

use crate::prelude::*;
use hcoplan_rule_pages::rules;

use super::registered_rule::{Check, RegisteredRule};
use super::{Context, Sink};
use crate::rows::Rows;
use std::sync::LazyLock;

mod admission_short_circuited;
mod annotation_value_not_string;
mod application_aware_quota;
mod architecture_alias;
mod auto_cpu_limit_with_ratio_one;
mod boolean_annotations;
mod build_hardcodes_goarch;
mod bundle_affinity;
mod bundle_csv_arch_labels;
mod bundle_image_missing_arch;
mod bundle_image_not_manifest_list;
mod cert_config_invalid;
mod change_not_applied;
mod common_dict_customization_drops_fields;
mod common_dict_never_imported;
mod common_dict_unknown_name;
mod common_dict_without_source;
mod containerdisk_image_missing_arch;
mod control_plane_not_multi_node;
mod crd_ordering;
mod datasource_reference_unrendered;
mod default_architecture_not_pinned;
mod default_architecture_vs_datasource;
mod default_cpu_model_not_portable;
mod default_datasource_dangling;
mod defaults;
mod deprecated_feature_gate;
mod deprecated_kubevirt_api;
mod descheduler_longlifecycle_without_background;
mod descheduler_misconfigured;
mod dict_architectures;
mod dict_architectures_annotation_malformed;
mod dict_duplicate_managed_data_source;
mod dict_duplicate_name;
mod dict_enabled_without_spec;
mod dict_field_pruned;
mod dict_metadata_misindented;
mod dict_name_too_long;
mod dict_platform_architecture_overwritten;
mod dict_rejected_by_cdi;
mod dict_rendered_name_collision;
mod dict_retention_policy_implicit;
mod dict_schedule_missing;
mod dict_without_ssp;
mod dict_without_storage_class;
mod disk_rejected;
mod disk_smaller_than_source;
mod duplicate_disk_template;
mod duplicate_mac_address;
mod duplicate_resource;
mod eviction_strategy_needs_two_nodes;
mod feature_gate_contradicts_field;
mod feature_gate_default_flip;
mod feature_gate_unknown_or_duplicate;
mod few_kvm_nodes;
mod golden_image_namespace_missing;
mod hco_api_v1beta1;
mod hco_name_invalid;
mod hco_schema_violation;
mod hco_unknown_field;
mod hco_wrong_api_shape;
mod host_device_not_permitted;
mod ignored_field;
mod image_arch_evidence_missing;
mod image_stream_without_openshift;
mod import_architecture_undetermined;
mod infra_placement_matches_no_node;
mod jsonpatch_annotation;
mod jsonpatch_breaks_on_upgrade;
mod jsonpatch_contradicts_cr;
mod jsonpatch_customize_components;
mod jsonpatch_duplicates_field;
mod jsonpatch_fields;
mod jsonpatch_gates;
mod jsonpatch_layered;
mod jsonpatch_list_index;
mod jsonpatch_malformed;
mod jsonpatch_noop;
mod jsonpatch_object_merges;
mod jsonpatch_op_fails;
mod jsonpatch_overrides_architecture;
mod jsonpatch_overrides_lifecycle;
mod jsonpatch_path_outside_spec;
mod jsonpatch_remove_has_no_effect;
mod jsonpatch_result_rejected_by_webhook;
mod jsonpatch_result_violates_crd;
mod jsonpatch_self_conflict;
mod jsonpatch_struct_list_merges;
mod jsonpatch_test_blocks_reconcile;
mod jsonpatch_type_mismatch;
mod jsonpatch_unknown_annotation_key;
mod jsonpatch_weakens_tls;
mod ksd_nameserver_not_ipv4;
mod mdev_types_conflict;
mod mediated_device_not_permitted;
mod mirror_filters_architectures;
mod mirrored_images;
mod multi_arch_boot_images_disabled;
mod multi_arch_on_single_arch_cluster;
mod mutated_field_absent;
mod network_reference_missing;
mod no_workload_nodes;
mod node_reference_unmatched;
mod null_section;
mod operand_affinity_not_overridable;
mod operand_violates_crd;
mod operator_placement_not_covered;
mod owned_objects;
mod placement_affinity_invalid;
mod placement_preferred_only_for_arch;
mod placement_untolerated_taint;
mod placement_wrong_level;
mod referenced_key_missing;
mod rejections;
mod release_defect;
mod runtime_class_missing;
mod scalar_type_mismatch;
mod server_metadata_in_git;
mod service_selects_no_machine;
mod single_arch_workloads_served_wrong_arch;
mod status_in_git;
mod storage_mode_not_offered;
mod storage_reference_missing;
mod subscription_affinity_drops_arch;
mod subscription_contradicts_operator;
mod tls_profile_invalid;
mod tls_profile_weak;
mod tuning_policy_annotation_invalid;
mod tuning_policy_high_burst;
mod uninstall_strategy_remove_workloads;
mod unresolved_placeholder;
mod value_rejected_later;
mod value_without_effect;
mod vendor_values_assumed;
mod vm_architecture_needs_multiarch_gate;
mod vm_architecture_not_in_cluster;
mod vm_architecture_unset;
mod vm_boot_undetermined;
mod vm_bus_not_on_s390x;
mod vm_clone_not_permitted;
mod vm_datasource_arch_mismatch;
mod vm_device_not_attached;
mod vm_disk_elsewhere;
mod vm_fits_no_node;
mod vm_needs_feature_gate;
mod vm_not_evictable;
mod vm_pinned_machine_type;
mod vm_placement_contradicts_architecture;
mod vm_placement_matches_no_node;
mod vm_pod_rejected;
mod vm_rejected;
mod vm_state_without_class;
mod vm_type_unknown;
mod vm_without_migration_target;
mod workload_placement_change_with_vms;
mod workload_placement_matches_no_node;
mod workload_updates_disabled;

/// The rules with their own file, each by its name with `_`; all run in the first phase.
pub(super) static RULES: &[(&str, Check)] = include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The rules in tables.
pub(super) static TABLES: &[&[RegisteredRule]] = &[
    application_aware_quota::RULES,
    boolean_annotations::RULES,
    bundle_affinity::RULES,
    defaults::RULES,
    dict_architectures::RULES,
    hco_schema_violation::RULES,
    jsonpatch_annotation::RULES,
    jsonpatch_fields::RULES,
    jsonpatch_gates::RULES,
    jsonpatch_malformed::RULES,
    mirrored_images::RULES,
    owned_objects::RULES,
    rejections::RULES,
];

/// The check of a rule with its own file.
pub(super) fn of_file(rule: &Rule) -> Option<Check> {
    RULES.iter().find(|(file, _)| file.replace('_', "-") == rule.name).map(|(_, check)| *check)
}

/// The rules that find what keeps a virtual machine from starting, with their checks.
static STARTING: LazyLock<Vec<(&Rule, Check)>> = LazyLock::new(|| {
    static NAMES: Rows<&str> = Rows::of("startRules");
    // Rules that are about other objects, too.
    let parts: [(&str, Check); 4] = [
        (rules::DATASOURCE_REFERENCE_UNRENDERED.name, datasource_reference_unrendered::without_ssp),
        (rules::NETWORK_REFERENCE_MISSING.name, network_reference_missing::machines),
        (rules::STORAGE_REFERENCE_MISSING.name, storage_reference_missing::each_disk),
        (rules::VM_DEVICE_NOT_ATTACHED.name, vm_device_not_attached::keeps_from_starting),
    ];
    let row = |rule: &'static Rule| {
        let part = parts.iter().find(|(name, _)| *name == rule.name).map(|(_, check)| *check);
        Some((rule, part.or_else(|| of_file(rule))?))
    };
    hcoplan_rule_pages::RULES.iter().copied().filter(|rule| NAMES.contains(&rule.name)).filter_map(row).collect()
});

/// What they find, except what they only inform of.
pub(super) fn start_failures(cx: &Context<'_>) -> Vec<Finding> {
    let mut sink = Sink::default();
    STARTING.iter().for_each(|(rule, check)| cx.run(rule, *check, &mut sink));
    let is_type = |finding: &Finding| finding.rule.name == rules::VM_TYPE_UNKNOWN.name;
    sink.findings.retain(|finding| finding.severity != Severity::Info || is_type(finding));
    sink.findings
}

/// Imports of rules' files.
mod prelude {

    pub(super) use crate::paths::gates_path;
    pub(super) use crate::prelude::*;
    pub(super) use hcoplan_diagnostics::finding::{BecomesWhen, PredictedValue, nearest};
    pub(super) use hcoplan_diagnostics::words::list;
    pub(super) use hcoplan_kubernetes::go::TypeStep;
    pub(super) use hcoplan_kubernetes::schema::ViolationKind;
    pub(super) use hcoplan_kubernetes::{ObjectId, tree};
    pub(super) use hcoplan_planner::admission::Reason;
    pub(super) use hcoplan_planner::boot::{BootCause, BootOutcome, NodeBarrier, variant};
    pub(super) use hcoplan_planner::boot_images::ssp_stage::Rendered;
    pub(super) use hcoplan_planner::boot_images::{ARCHITECTURES_ANNOTATION, ENABLE_ANNOTATION, TemplateSource};
    pub(super) use hcoplan_planner::inventory::Architecture;

    pub(super) use hcoplan_planner::jsonpatch::{self, FailureKind, Op, Operation};
    pub(super) use hcoplan_planner::machines::{Verdict, is_placeholder};
    pub(super) use hcoplan_planner::release::{Phase, Platform, Release};
    pub(super) use hcoplan_rule_pages::rules::*;
    pub(super) use hcoplan_yaml::{Trail, pointer};
    pub(super) use serde_json::{Value as Json, json};

    pub(super) use crate::context::{DiskSpec, PREFERRED, REQUIRED, REQUIRED_TERMS, last_key, object_of};
    pub(super) use crate::lists::{distinct, elements, entries, items, json_of, members, name_of, namespace_of, texts};
    pub(super) use crate::registered_rule::{RegisteredRule, always, last, late};
    pub(super) use crate::rows::Rows;
    pub(super) use crate::suggestion::{safe, suggested, suggested_change, suggested_text, suggestion};
    pub(super) use crate::words::{and, changed, or, quoted};
    pub(super) use crate::{Applied, Form, POD_KINDS, PatchAnnotation};
    pub(super) use crate::{
        Context, Csv, Descheduler, Extent, GoldenImage, ImageEvidence, Incident, NodeRef, PodTemplate, Pods,
    };
    pub(super) use crate::{Sink, VirtualMachine, WrittenTemplate};

    /// The words for the location of an image's evidence.
    pub(super) const EVIDENCE: &str = "this says what the image has";

    /// The kinds that make a claim of their name.
    pub(super) const CLAIMS: [&str; 2] = ["PersistentVolumeClaim", "DataVolume"];

    /// The string at a dotted path of a document.
    pub(super) fn text_at<'d>(document: &'d Document, path: &str) -> Option<&'d str> {
        document.root.text_at(path)
    }

    /// Adds locations with the same words to a finding.
    pub(super) fn with_related(
        finding: Finding,
        places: impl IntoIterator<Item = Location>,
        words: impl Into<String>,
    ) -> Finding {
        let words = words.into();
        places.into_iter().fold(finding, |finding, place| finding.related(place, words.clone()))
    }

    /// The location of an object's name.
    pub(super) fn name_place(document: &Document) -> Location {
        document.locate(&Path::dotted("metadata.name"))
    }

    /// The location of an object's namespace.
    pub(super) fn namespace_place(document: &Document) -> Location {
        document.locate(&Path::dotted("metadata.namespace"))
    }

    /// An error if the consequence is certain, else a warning.
    pub(super) fn error_if(is_certain: bool) -> Severity {
        if is_certain { Severity::Error } else { Severity::Warning }
    }

    /// A fix of another object that changes the cluster's behaviour.
    pub(super) fn unsafe_fix(document: &Document, title: impl Into<String>, changes: &[Change]) -> Option<Fix> {
        let fix = suggested(document, title, changes)?;
        Some(Fix { applicability: Applicability::Unsafe, ..fix })
    }

    /// The platforms of an image in words: `amd64 only`.
    pub(super) fn has(evidence: &ImageEvidence) -> String {
        let all: Vec<String> = evidence.platforms.iter().map(|p| platform(&p.os, &p.architecture)).collect();
        match all.as_slice() {
            [] => "none".to_owned(),
            [only] => format!("{only} only"),
            several => and(several),
        }
    }

    /// `arm64`, or `windows/amd64`.
    pub(super) fn platform(os: &str, architecture: &str) -> String {
        match os {
            "linux" => architecture.to_owned(),
            _ => format!("{os}/{architecture}"),
        }
    }

    /// Adds a suggestion to replace the marked name by the intended one; otherwise other help.
    pub(super) fn did_you_mean(
        finding: Finding,
        verb: &str,
        meant: Option<&str>,
        otherwise: impl Into<std::borrow::Cow<'static, str>>,
    ) -> Finding {
        match (meant, finding.location.clone()) {
            (Some(meant), Some(place)) => {
                let fix = suggested_text(format!("{verb} {meant}"), place, meant);
                finding.fix(fix)
            }
            _ => finding.help(otherwise),
        }
    }

    /// Reports a finding about an annotation; as the explanation of the incident, if this annotation causes it.
    pub(super) fn explain_patch(cx: &Context<'_>, out: &mut Sink, patch: &PatchAnnotation<'_>, finding: Finding) {
        let name = patch.target.name;
        match cx.patch_failure().filter(|f| f.annotation == name) {
            Some(failed) if !out.is_explained(failed.incident) => {
                out.explain(failed.incident, finding);
            }
            _ => out.report(finding),
        }
    }

    /// Adds the locations of nodes with these architectures.
    pub(super) fn with_nodes<T: AsRef<str>>(mut finding: Finding, cx: &Context<'_>, architectures: &[T]) -> Finding {
        for architecture in architectures.iter().map(AsRef::as_ref) {
            let mut nodes = cx.workload_nodes().chain(cx.nodes());
            let node = nodes.find(|n| n.node.architecture == architecture);
            finding = with_related(
                finding,
                node.and_then(|n| n.architecture_place()),
                format!("{architecture} nodes are declared here"),
            );
        }
        finding
    }
}
