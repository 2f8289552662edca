//! Patches of the rendered KubeVirt, with recordings of the four operators.

use serde_json::{Map, Value};

use super::kubevirt;
use crate::jsonpatch::patch;

/// The recorded operators were built with a newer Go than the released ones, which name the innermost struct in a type
/// error (see `golden/`).
fn as_released(message: &str) -> String {
    let (newer, released) =
        ("KubeVirt.spec.configuration.migrations.", "MigrationConfiguration.spec.configuration.migrations.");
    let released_message = message.replace(newer, released);
    released_message.replace("field KubeVirt.spec.configuration.", "field KubeVirtConfiguration.spec.configuration.")
}

fn set(object: &mut Value, pointer: &str, value: &Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = parent.split('/').skip(1).fold(object, |at, key| {
        let map = at.as_object_mut().unwrap();
        map.entry(key).or_insert_with(|| Map::new().into())
    });
    let parent = parent.as_object_mut().unwrap();
    if value == "<absent>" {
        parent.remove(key);
    } else {
        parent.insert(key.to_owned(), value.clone());
    }
}

#[test]
fn agrees_with_the_recorded_cases() {
    let file = include_str!("../../../../../testdata/jsonpatch/jsonpatch-cases.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 64);
    let (mut changed, mut unchanged, mut failed) = (0, 0, 0);
    for release in cases[0]["result"].as_object().unwrap().keys() {
        let (types, ty, base) = kubevirt(release);
        for case in cases {
            let id = &case["id"];
            let text = |key: &str| case[key].as_str().unwrap();
            let answer = patch(types, ty, &base, text("annotation"), text("patch"));
            let recorded = &case["result"][release];
            if let Some(message) = recorded["error"].as_str() {
                let failure = answer.unwrap_err();
                assert_eq!(failure.message, as_released(message), "{release} {id}");
                failed += 1;
                continue;
            }
            let mut expected = base.clone();
            let changes = recorded["changes"].as_object().unwrap();
            for (path, change) in changes {
                assert_eq!(
                    base.pointer(path).unwrap_or(&Value::from("<absent>")),
                    &change["from"],
                    "{release} {id} {path}"
                );
                set(&mut expected, path, &change["to"]);
            }
            types.normalise_operand(&mut expected, ty);
            assert_eq!(answer.unwrap(), expected, "{release} {id}");
            *(if changes.is_empty() { &mut unchanged } else { &mut changed }) += 1;
        }
    }
    assert_eq!(changed + unchanged + failed, 4 * 64);
    assert_eq!((changed, unchanged, failed), (96, 52, 108));
}
