#![cfg(unix)]

use super::*;

#[test]
fn converts_there_and_back() {
    for path in ["/a/b.yaml", "/a b/ü%20[x]#?.yaml", "/", "/a\\b"] {
        let address = of_path(Utf8Path::new(path));
        assert_eq!(to_path(&address).as_deref(), Some(Utf8Path::new(path)));
    }
    assert_eq!(of_path(Utf8Path::new("/a ü")), "file:///a%20%C3%BC");
}

#[test]
fn rejects_addresses_of_other_machines() {
    for address in [
        "untitled:Untitled-1",
        "git:/a/b",
        "http://x/y",
        "file://server/share",
        "file:///a%",
        "file:///a%f",
        "file:///a%zz",
        "file:///%ff",
        "file://",
        "",
    ] {
        assert_eq!(to_path(address), None, "{address}");
    }
    assert!(to_path("file://localhost/a").is_some());
}
