//! The ends of the objects and lists of a JSON text. `build.rs` finds those of the texts that are
//! compiled in, with this very file.

/// The first byte of each object and list and the one behind its last, by the first; `None` when
/// brackets or quotes don't match, or behind 4 GiB.
pub(crate) fn containers(text: &str) -> Option<Vec<(u32, u32)>> {
    u32::try_from(text.len()).ok()?;
    let bytes = text.as_bytes();
    let mut containers: Vec<(u32, u32)> = Vec::with_capacity(bytes.len() / 32);
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => {
                open.push(containers.len());
                containers.push((offset(at), 0));
                at += 1;
            }
            b'}' | b']' => {
                let container = &mut containers[open.pop()?];
                let opened = bytes[container.0 as usize];
                if (opened == b'{') != (*byte == b'}') {
                    return None;
                }
                at += 1;
                container.1 = offset(at);
            }
            _ => at += 1,
        }
    }
    open.is_empty().then_some(containers)
}

/// An offset into a text whose length was checked.
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Behind the string that starts at a quote.
pub(crate) fn string_end(bytes: &[u8], quote: usize) -> Option<usize> {
    let mut at = quote + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
