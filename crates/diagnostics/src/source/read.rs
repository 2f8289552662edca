//! The bytes of a file or stream, up to the limit.

use std::io::{self, Read};

use super::{Unreadable, max_bytes};

/// Reads the rest of a file or stream, but not more than [`max_bytes`].
///
/// # Errors
/// Those of the reader, and that there is more.
pub fn read_limited(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = max_bytes();
    reader.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most { Err(io::Error::other(Unreadable::TooBig(most))) } else { Ok(bytes) }
}

/// Reads a file of known size, which saves a read for its end. Bytes appended meanwhile are not read.
///
/// # Errors
/// Those of the reader.
pub fn read_sized(reader: &mut dyn Read, size: usize) -> io::Result<Vec<u8>> {
    // Files of the kernel have size 0 and content nevertheless.
    if size == 0 {
        return read_limited(reader);
    }
    let mut bytes = Vec::with_capacity(size);
    reader.take(size as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_an_endless_stream() {
        let error = read_limited(&mut io::repeat(b'#')).expect_err("too much");
        assert_eq!(error.to_string(), "it is larger than 64 MiB, the limit");
        assert_eq!(read_limited(&mut b"a: 1".as_slice()).unwrap(), b"a: 1");
    }
}
