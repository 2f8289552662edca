//! The forms of texts, as their readers check them.

use hcoplan_kubernetes::label;
use hcoplan_kubernetes::text::is_digits;

pub(super) fn is_hex(text: &str, digits: std::ops::RangeInclusive<usize>) -> bool {
    digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

pub(super) fn is_pci_selector(text: &str) -> bool {
    text.split_once(':').is_some_and(|(vendor, product)| is_hex(vendor, 4..=4) && is_hex(product, 4..=4))
}

pub(crate) fn is_network_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((namespace, name)) => label::is_dns_label(namespace) && label::is_subdomain(name),
        None => label::is_subdomain(text),
    }
}

/// Kubernetes' IsExtendedResourceName.
pub(super) fn is_extended_resource(text: &str) -> bool {
    let is_native = !text.contains('/') || text.contains("kubernetes.io/");
    !is_native && !text.starts_with("requests.") && label::is_key(&format!("requests.{text}"))
}

/// NVIDIA's types have a name in addition to their identifier, and so does IBM's crypto card.
pub(super) fn is_type_identifier(text: &str) -> bool {
    let number = text.strip_prefix("nvidia-");
    number.is_some_and(|number| !number.is_empty() && is_digits(number)) || text == "vfio_ap-passthrough"
}

pub(super) fn is_host(text: &str) -> bool {
    let is_port = |(host, port): (&str, &str)| host.contains(':') || is_digits(port);
    !text.contains(['/', '*', ' ', '@', '?', '#']) && text.rsplit_once(':').is_none_or(is_port)
}

/// Whether a registry's URL names an image; CDI itself rejects other schemes.
pub(super) fn is_registry_url(text: &str) -> bool {
    match text.split_once(':') {
        // The importer's library rejects a reference with both a tag and a digest.
        Some(("docker", rest)) => rest.strip_prefix("//").is_some_and(|image| {
            let tagged = image.split_once('@').and_then(|(name, _)| name.rsplit_once(':'));
            is_image(image) && tagged.is_none_or(|(_, port)| port.contains('/'))
        }),
        Some(("oci-archive", rest)) => rest.starts_with("//"),
        _ => true,
    }
}

/// The grammar of `distribution/reference`: an optional host, lower-case parts, an optional tag or digest.
pub(super) fn is_image(text: &str) -> bool {
    let (name, digest) = text.split_once('@').map_or((text, None), |(name, digest)| (name, Some(digest)));
    let (name, tag) = match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (name, None),
    };
    let path = match name.split_once('/') {
        Some((host, path)) if host == "localhost" || host.contains(['.', ':']) || host != host.to_ascii_lowercase() => {
            if !host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.:[]".contains(&b)) {
                return false;
            }
            path
        }
        _ => name,
    };
    let is_part = |part: &str| {
        part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b))
            && part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    let is_tag = |tag: &str| {
        (1..=128).contains(&tag.len())
            && !tag.starts_with(['.', '-'])
            && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
    };
    let is_digest = |digest: &str| digest.split_once(':').is_some_and(|(_, hex)| is_hex(hex, 32..=128));
    path.split('/').all(is_part) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest)
}
