//! Converts between `file:` addresses and paths.
use crate::prelude::*;
/// The path of a `file:` address; `None` for other schemes, other hosts, and names that aren't UTF-8.
pub(super) fn to_path(address: &str) -> Option<Utf8PathBuf> {
    let rest = address.strip_prefix("file://")?;
    let rest = rest.split(['?', '#']).next()?;
    let (host, path) = rest.split_at(rest.find('/')?);
    if !host.is_empty() && host != "localhost" {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.as_bytes();
    while let [first, rest @ ..] = left {
        left = rest;
        bytes.push(match first {
            b'%' => {
                let (digits, rest) = left.split_at_checked(2)?;
                left = rest;
                u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
            }
            other => *other,
        });
    }
    let mut path = String::from_utf8(bytes).ok()?;
    // Windows: `/C:/x`.
    if cfg!(windows) && path.get(2..3) == Some(":") {
        path.remove(0);
    }
    Some(Utf8PathBuf::from(path))
}

/// The address of an absolute path.
pub(super) fn of_path(path: &Utf8Path) -> String {
    let mut out = String::from("file://");
    let text = path.as_str().replace('\\', if cfg!(windows) { "/" } else { "\\" });
    if !text.starts_with('/') {
        out.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests;
