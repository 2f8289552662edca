//! The alerts that the gauges fire. Source: HCO `pkg/monitoring/hyperconverged/rules`.

use serde_json::{Map, Value};

/// The alerts that HCO's gauges decide, sorted. Others belong to other operators.
pub const PREDICTED: [&str; 4] = [
    "HCOGoldenImageWithNoArchitectureAnnotation",
    "HCOGoldenImageWithNoSupportedArchitecture",
    "HCOMultiArchGoldenImagesDisabled",
    "UnsupportedHCOModification",
];

/// The alerts that would fire, sorted by name.
pub(super) fn of(metrics: &Map<String, Value>) -> Vec<&'static str> {
    let gauge = |name: &str| metrics.get(name).unwrap_or(&Value::Null);
    let any = |name: &str, fires: fn(&Value) -> bool| {
        let entries = gauge(name).as_array().into_iter().flatten();
        entries.map(|e| &e["value"]).any(fires)
    };
    let zero = |value: &Value| value.as_u64() == Some(0);
    let alerts = [
        (
            "HCOGoldenImageWithNoArchitectureAnnotation",
            any("kubevirt_hco_dataimportcrontemplate_with_architecture_annotation", zero),
        ),
        (
            "HCOGoldenImageWithNoSupportedArchitecture",
            any("kubevirt_hco_dataimportcrontemplate_with_supported_architectures", zero),
        ),
        ("HCOMultiArchGoldenImagesDisabled", zero(gauge("kubevirt_hco_multi_arch_boot_images_enabled"))),
        ("UnsupportedHCOModification", any("kubevirt_hco_unsafe_modifications", |v| v.as_u64() > Some(0))),
    ];
    let firing = alerts.into_iter().filter(|(_, fires)| *fires);
    firing.map(|(name, _)| name).collect()
}
