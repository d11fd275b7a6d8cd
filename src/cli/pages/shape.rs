//! A JSON Schema in one line for people: `{path, bytes, effect: "created"|"updated"}`.

use serde_json::{Map, Value};

/// Choices are spelled out up to so many characters; a page describes longer ones in words.
const LONGEST_CHOICE: usize = 40;

/// The shape that `schema` describes.
pub(super) fn of(schema: &Value) -> String {
    if let Some(branches) = branches(schema) {
        let branches: Vec<_> = branches.iter().filter(|branch| !is_null(branch)).collect();
        let separator =
            if branches.iter().all(|branch| branch.get("const").is_some()) { "|" } else { " or " };
        return branches.into_iter().map(of).collect::<Vec<_>>().join(separator);
    }
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join("|");
    }
    match (schema.get("type").and_then(Value::as_str), properties(schema)) {
        (_, Some(properties)) => {
            let members = properties.iter().map(|(name, member)| of_member(name, member, schema));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        (Some("array"), None) => match schema.get("items").map(of) {
            Some(items) if items.starts_with('{') => format!("[{items}, …]"),
            _ => "[…]".to_owned(),
        },
        (Some(name), None) => name.to_owned(),
        (None, None) => "any value".to_owned(),
    }
}

/// The members of the object that `schema` describes, with their descriptions.
pub(super) fn members(schema: &Value) -> Vec<(String, String)> {
    let properties = properties(schema).into_iter().flatten();
    properties
        .filter_map(|(name, member)| Some((name.clone(), member.get("description")?.as_str()?.to_owned())))
        .collect()
}

fn of_member(name: &str, member: &Value, object: &Value) -> String {
    let mark = if is_required(object, name) { "" } else { "?" };
    let shape = of(member);
    let is_structure = shape.starts_with(['{', '[']);
    let is_short_choice = shape.starts_with('"') && shape.len() <= LONGEST_CHOICE;
    if is_structure || is_short_choice { format!("{name}{mark}: {shape}") } else { format!("{name}{mark}") }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
}

fn is_required(object: &Value, name: &str) -> bool {
    let required = object.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn branches(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_shape_names_members_options_and_choices() {
        let schema = json!({"type": "object", "required": ["path", "entries"], "properties": {
            "path": {"type": "string", "description": "Where."},
            "entries": {"type": "array", "items": {"type": "object", "required": ["name"],
                "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}},
            "names": {"type": "array", "items": {"type": "string"}},
            "effect": {"oneOf": [{"const": "created"}, {"const": "updated"}]},
            "sort": {"anyOf": [{"enum": ["up", "down"]}, {"type": "null"}]},
            "kind": {"enum": ["file", "dir", "symlink", "fifo", "socket", "device"]},
        }});
        assert_eq!(
            of(&schema),
            r#"{path, entries: [{name, size?}, …], names?: […], effect?: "created"|"updated", sort?: "up"|"down", kind?}"#
        );
        assert_eq!(members(&schema), [("path".to_owned(), "Where.".to_owned())]);
        let either = json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"data": {}}}]});
        assert_eq!(of(&either), "string or {data?}");
    }
}
