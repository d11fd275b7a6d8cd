//! What careless models send for `edits`: JSON in a string, one object, or pi's old top-level pair.

use serde_json::Value;

use crate::json;

/// The keys of the old form, in which a call had one edit.
const PAIR: [&str; 2] = ["oldText", "newText"];

/// The arguments with `edits` as an array, where that can be made out.
pub(super) fn repair(mut arguments: Value) -> Value {
    let Some(object) = arguments.as_object_mut() else { return arguments };
    if let Some(edits) = object.get_mut("edits") {
        let parsed = edits.as_str().and_then(|text| json::parse(text.as_bytes()).ok());
        if let Some(parsed) = parsed.filter(|parsed| parsed.is_array() || parsed.is_object()) {
            *edits = parsed;
        }
        if edits.is_object() {
            *edits = Value::Array(vec![edits.take()]);
        }
    }
    if PAIR.iter().all(|key| object.get(*key).is_some_and(Value::is_string)) {
        let pair = PAIR.into_iter().filter_map(|key| object.shift_remove_entry(key));
        let pair = Value::Object(pair.collect());
        match object.get_mut("edits") {
            Some(Value::Array(edits)) => edits.push(pair),
            _ => drop(object.insert("edits".to_owned(), Value::Array(vec![pair]))),
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_of_edits_becomes_an_array() {
        let edit = json!({"oldText": "a", "newText": "b"});
        let whole = json!({"path": "f", "edits": [edit]});
        for edits in [json!([edit]), edit.clone(), json!(edit.to_string()), json!(json!([edit]).to_string())]
        {
            assert_eq!(repair(json!({"path": "f", "edits": edits})), whole);
        }
        assert_eq!(repair(json!({"path": "f", "oldText": "a", "newText": "b"})), whole);
        assert_eq!(
            repair(json!({"path": "f", "oldText": "a", "newText": "b", "edits": {"oldText": "c"}})),
            json!({"path": "f", "edits": [{"oldText": "c"}, edit]}),
        );
    }

    #[test]
    fn what_is_not_understood_stays_for_the_validation() {
        for arguments in [
            json!({"path": "f", "edits": "5"}),
            json!({"path": "f", "edits": "[{"}),
            json!({"path": "f", "oldText": "a"}),
            json!({"path": "f", "oldText": "a", "newText": 1}),
            json!("f"),
        ] {
            assert_eq!(repair(arguments.clone()), arguments);
        }
    }
}
