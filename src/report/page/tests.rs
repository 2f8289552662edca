//! The page around the sections.

use sha2::{Digest, Sha256};

use super::{PageHeader, STYLE, STYLE_DIGEST, Section, SeverityColour, page};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |w, b| w << 8 | u32::from(*b));
        let word = word << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = (word >> (18 - 6 * i)) as usize & 63;
            out.push(if i <= chunk.len() { char::from(ALPHABET[digit]) } else { '=' });
        }
    }
    out
}

/// The browser compares the same.
#[test]
fn the_policy_names_the_style() {
    assert_eq!(base64(b"ab"), "YWI=");
    let digest = format!("sha256-{}", base64(&Sha256::digest(STYLE)));
    assert_eq!(STYLE_DIGEST, digest, "write the new digest into page/mod.rs");
    assert!(!STYLE.contains('<') && !STYLE.contains("url(") && !STYLE.contains("@import"));
}

#[test]
fn what_comes_from_files_is_escaped() {
    let hostile = "</style><script>alert(1)</script>&amp;\"'";
    let lead = PageHeader {
        source: maud::html! {},
        tone: SeverityColour::Bad,
        verdict: hostile.to_owned(),
        sentence: hostile.to_owned(),
        figures: vec![(hostile.to_owned(), "things", "one")],
        content: maud::html! {},
    };
    let section = |anchor| Section { anchor, name: "One", count: Some(3), content: maud::html! { p { (hostile) } } };
    let text = page(hostile, &lead, &[section("one"), section("two")]);
    assert!(!text.contains("<script"), "{text}");
    assert_eq!(text.matches("</style>").count(), 1);
    assert_eq!(text.matches("&lt;script&gt;").count(), 7);
    assert!(text.contains("href=\"#two\"") && text.contains("id=\"two\""));
}
