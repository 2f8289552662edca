//! Reads and writes messages on streams.
//!
//! A message is a header, an empty line, and as many bytes of JSON as the header gives. Malformed messages are answered
//! with an error and skipped; only the end of the stream ends the reading.

use crate::prelude::*;
use std::io::{self, BufRead, Read};

use lsp_server::{ErrorCode, Message, Response};

/// A received message.
#[derive(Debug)]
pub enum Incoming {
    /// A valid message.
    Message(Message),
    /// A malformed message.
    Malformed(Malformed),
}

/// A malformed message.
#[derive(Debug)]
pub struct Malformed {
    /// The request's id, if it can be parsed.
    pub id: Option<RequestId>,
    /// The error code.
    pub code: ErrorCode,
    /// The error message.
    pub message: String,
}

/// A message to send.
#[derive(Debug)]
pub enum Outgoing {
    /// A valid message.
    Message(Message),
    /// The response to a malformed message.
    Complaint(Malformed),
}

impl From<Response> for Outgoing {
    fn from(response: Response) -> Self {
        Self::Message(response.into())
    }
}

/// Maximum size of a message: larger than any message for the largest file.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum length of a header line.
const MAX_HEADER: u64 = 16 << 10;

fn malformed(code: ErrorCode, message: impl Into<String>) -> Incoming {
    Incoming::Malformed(Malformed { id: None, code, message: message.into() })
}

/// The next message; `None` at the end of the stream.
///
/// # Errors
/// An error of the stream.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let header = String::from_utf8_lossy(&line);
        let header = header.trim_end_matches(['\r', '\n']);
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.trim().eq_ignore_ascii_case("Content-Length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let Some(length) = length else {
        let message = "the header says no Content-Length";
        return Ok(Some(malformed(ErrorCode::ParseError, message)));
    };
    let mut body = input.by_ref().take(length);
    if length > MAX_BYTES {
        io::copy(&mut body, &mut io::sink())?;
        let message = format!("{length} bytes are more than is read");
        return Ok(Some(malformed(ErrorCode::InvalidRequest, message)));
    }
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(Some(message(&bytes))) } else { Ok(None) }
}

/// Parses the body of a message.
pub(super) fn message(bytes: &[u8]) -> Incoming {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return malformed(ErrorCode::ParseError, error.to_string()),
    };
    let id = value.get("id").cloned();
    match serde_json::from_value(value) {
        Ok(message) => Incoming::Message(message),
        Err(_) => Incoming::Malformed(Malformed {
            id: id.and_then(|id| serde_json::from_value(id).ok()),
            code: ErrorCode::InvalidRequest,
            message: "this isn't a request, notification or response".to_owned(),
        }),
    }
}

/// Writes a message.
///
/// # Errors
/// An error of the stream.
pub(super) fn write(message: &Outgoing, output: &mut impl Write) -> io::Result<()> {
    let complaint = match message {
        Outgoing::Message(message) => return message.write(output),
        Outgoing::Complaint(complaint) => complaint,
    };
    // The id of an unparsable request is null.
    let text = json!({
        "jsonrpc": "2.0",
        "id": complaint.id,
        "error": {"code": complaint.code as i32, "message": complaint.message},
    });
    let text = text.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &str) -> Vec<String> {
        let mut input = input.as_bytes();
        let mut out = Vec::new();
        while let Some(incoming) = read(&mut input).expect("memory") {
            out.push(match incoming {
                Incoming::Message(Message::Request(r)) => format!("request {}", r.method),
                Incoming::Message(Message::Notification(n)) => format!("notification {}", n.method),
                Incoming::Message(Message::Response(_)) => "response".to_owned(),
                Incoming::Malformed(m) => format!("{} {:?}", m.code as i32, m.id),
            });
        }
        out
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn skips_malformed_messages() {
        let request = framed(r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
        let cases = [
            (framed("{"), "-32700 None"),
            (framed("[]"), "-32600 None"),
            (framed(r#"{"id":7,"method":1}"#), "-32600 Some(RequestId(I32(7)))"),
            (framed(r#"{"id":{},"method":"x"}"#), "notification x"),
            ("Content-Length: many\r\n\r\n".to_owned(), "-32700 None"),
            ("\r\n".to_owned(), "-32700 None"),
            ("nonsense\n\n".to_owned(), "-32700 None"),
            (framed(r#"{"id":1,"result":null}"#), "response"),
            (framed(&"[".repeat(100_000)), "-32700 None"),
        ];
        for (text, expected) in cases {
            let found = all(&format!("{text}{request}"));
            assert_eq!(found, [expected, "request x"], "{text:.80}");
        }
        assert_eq!(all("content-length:2\n\n{"), Vec::<String>::new());
    }

    #[test]
    fn answers_errors_without_an_id() {
        let complaint =
            Outgoing::Complaint(Malformed { id: None, code: ErrorCode::ParseError, message: "no".to_owned() });
        let mut out = Vec::new();
        write(&complaint, &mut out).expect("memory");
        let text = String::from_utf8(out).expect("text");
        let expected = r#"{"error":{"code":-32700,"message":"no"},"id":null,"jsonrpc":"2.0"}"#;
        assert!(text.ends_with(expected), "{text}");
    }
}
