//! From the arguments a model sent to a tool's input: repair, coercion, validation.
//!
//! The rules are AJV's coercion as pi uses it (spec: providers §10), for the keywords our tools use.

use serde_json::{Map, Value};

use crate::error::{Code, Fault};
use crate::tool::{Tool, declaration};

/// The arguments do not fit the tool's schema; the text is pi's.
#[derive(Debug, thiserror::Error)]
#[error("Validation failed for tool \"{tool}\":\n{}\n\nReceived arguments:\n{received}", list(.problems))]
pub struct Invalid {
    tool: &'static str,
    problems: Vec<Problem>,
    received: String,
}

/// One thing wrong with the arguments.
#[derive(Debug)]
pub struct Problem {
    /// Dotted path of the value; `root` for the arguments as a whole.
    path: String,
    reason: String,
}

impl Fault for Invalid {
    fn code(&self) -> Code {
        Code::InvalidArguments
    }
}

/// The input of `T` from the arguments as sent.
pub fn read<T: Tool>(arguments: Value) -> Result<T::Input, Invalid> {
    let received = arguments.clone();
    let invalid = |problems| Invalid {
        tool: T::NAME,
        problems,
        received: serde_json::to_string_pretty(&received).unwrap_or_default(),
    };
    let schema = declaration::schema_of::<T::Input>();
    let mut arguments = T::repair(arguments);
    drop_nulls(&mut arguments, &schema);
    coerce(&mut arguments, &schema);
    let mut problems = Vec::new();
    check(&arguments, &schema, "", &mut problems);
    if !problems.is_empty() {
        return Err(invalid(problems));
    }
    serde_json::from_value(arguments)
        .map_err(|error| invalid(vec![Problem { path: "root".to_owned(), reason: error.to_string() }]))
}

fn list(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(|problem| format!("  - {}: {}", problem.path, problem.reason))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Drops a null in an optional property that may not be null, as deep as the schema goes.
fn drop_nulls(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(object) => {
            let required = required(schema);
            object.retain(|key, member| {
                !member.is_null()
                    || required.contains(&key.as_str())
                    || property(schema, key).is_none_or(|schema| accepts(schema, &Value::Null))
            });
            for (key, member) in object {
                if let Some(schema) = property(schema, key) {
                    drop_nulls(member, schema);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| drop_nulls(item, schema));
            }
        }
        _ => {}
    }
}

/// Turns a value into the type its schema asks for, where that can be done without guessing.
fn coerce(value: &mut Value, schema: &Value) {
    if let Some(branches) = branches(schema) {
        if branches.iter().any(|branch| is_valid(value, branch)) {
            return;
        }
        for branch in branches {
            let mut candidate = value.clone();
            coerce(&mut candidate, branch);
            if is_valid(&candidate, branch) {
                *value = candidate;
                return;
            }
        }
        return;
    }
    let types = types(schema);
    if types.len() == 1 || !types.iter().any(|name| has_type(value, name)) {
        for name in &types {
            if let Some(coerced) = coerced(value, name) {
                *value = coerced;
                break;
            }
        }
    }
    match value {
        Value::Object(object) => {
            for (key, member) in object {
                if let Some(schema) = property(schema, key) {
                    coerce(member, schema);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| coerce(item, schema));
            }
        }
        _ => {}
    }
}

fn coerced(value: &Value, name: &str) -> Option<Value> {
    match (name, value) {
        ("string", Value::Number(number)) => Some(Value::String(javascript_number(number))),
        ("string", Value::Bool(flag)) => Some(Value::String(flag.to_string())),
        ("string", Value::Null) => Some(Value::String("null".to_owned())),
        ("number" | "integer", _) => {
            let number = number_from(value)?;
            let number = if name == "integer" { number.trunc() } else { number };
            Some(Value::Number(number_value(number)?))
        }
        ("boolean", Value::String(text)) => match text.as_str() {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        ("boolean", Value::Number(number)) => match number.as_f64() {
            Some(1.0) => Some(Value::Bool(true)),
            Some(0.0) => Some(Value::Bool(false)),
            _ => None,
        },
        ("boolean", Value::Null) => Some(Value::Bool(false)),
        ("array", Value::Array(_)) => None,
        ("array", other) => Some(Value::Array(vec![other.clone()])),
        _ => None,
    }
}

fn number_from(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Null => Some(0.0),
        Value::String(text) => match text.trim() {
            "" => Some(0.0),
            "true" => Some(1.0),
            "false" => Some(0.0),
            digits if digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                digits.parse().ok().filter(|number: &f64| number.is_finite())
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whole numbers stay whole, so that they can be read into integer fields and print as `5`.
fn number_value(number: f64) -> Option<serde_json::Number> {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    if number.fract() == 0.0 && number.abs() <= SAFE {
        Some((number as i64).into())
    } else {
        serde_json::Number::from_f64(number)
    }
}

/// A number as JavaScript writes it: `1.0` is `1`.
fn javascript_number(number: &serde_json::Number) -> String {
    match number.as_f64().and_then(number_value) {
        Some(plain) if number.is_f64() => plain.to_string(),
        _ => number.to_string(),
    }
}

fn check(value: &Value, schema: &Value, path: &str, problems: &mut Vec<Problem>) {
    let at = |path: &str| if path.is_empty() { "root".to_owned() } else { path.to_owned() };
    if let Some(branches) = branches(schema) {
        if !branches.iter().any(|branch| is_valid(value, branch)) {
            problems.push(Problem { path: at(path), reason: "fits none of the allowed forms".to_owned() });
        }
        return;
    }
    if let Some(Value::Array(members)) = schema.get("enum")
        && !members.contains(value)
    {
        let allowed = members.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        problems.push(Problem { path: at(path), reason: format!("must be one of {allowed}") });
        return;
    }
    let types = types(schema);
    if !types.is_empty() && !types.iter().any(|name| has_type(value, name)) {
        let reason = format!("expected {}, got {}", types.join(" or "), type_of(value));
        problems.push(Problem { path: at(path), reason });
        return;
    }
    match value {
        Value::Object(object) => check_members(object, schema, path, problems),
        Value::Array(items) => {
            if let Some(minimum) = schema.get("minItems").and_then(Value::as_u64)
                && (items.len() as u64) < minimum
            {
                let reason = format!("needs at least {minimum} item(s)");
                problems.push(Problem { path: at(path), reason });
            }
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    check(item, schema, &join(path, &index.to_string()), problems);
                }
            }
        }
        _ => {}
    }
}

fn check_members(object: &Map<String, Value>, schema: &Value, path: &str, problems: &mut Vec<Problem>) {
    for name in required(schema) {
        if !object.contains_key(name) {
            problems.push(Problem { path: join(path, name), reason: "missing".to_owned() });
        }
    }
    for (key, member) in object {
        if let Some(schema) = property(schema, key) {
            check(member, schema, &join(path, key), problems);
        }
    }
}

fn is_valid(value: &Value, schema: &Value) -> bool {
    let mut problems = Vec::new();
    check(value, schema, "", &mut problems);
    problems.is_empty()
}

fn accepts(schema: &Value, value: &Value) -> bool {
    is_valid(value, schema)
}

fn branches(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array)
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.map_or_else(Vec::new, |names| names.iter().filter_map(Value::as_str).collect())
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => type_of(value) == name,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Text that need not be UTF-8 when it comes from a flag or a pipe; a string in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub Vec<u8>);

impl From<std::ffi::OsString> for Text {
    fn from(text: std::ffi::OsString) -> Self {
        Self(std::os::unix::ffi::OsStringExt::into_vec(text))
    }
}

impl<'de> serde::Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into_bytes()))
    }
}

impl schemars::JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "count": {"type": "integer"},
                "limit": {"type": "number"},
                "flag": {"type": "boolean"},
                "list": {"type": "array", "minItems": 1, "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "line": {"type": "integer"}},
                    "required": ["name"]
                }},
                "any": {"anyOf": [{"type": "number"}, {"type": "boolean"}]},
                "mode": {"type": "string", "enum": ["a", "b"]}
            },
            "required": ["text"]
        })
    }

    fn prepared(mut arguments: Value) -> Result<Value, Vec<String>> {
        drop_nulls(&mut arguments, &schema());
        coerce(&mut arguments, &schema());
        let mut problems = Vec::new();
        check(&arguments, &schema(), "", &mut problems);
        if problems.is_empty() {
            Ok(arguments)
        } else {
            Err(problems.iter().map(|problem| format!("{}: {}", problem.path, problem.reason)).collect())
        }
    }

    #[track_caller]
    fn becomes(given: Value, expected: Value) {
        let mut given_all = json!({"text": "t"});
        let mut expected_all = given_all.clone();
        for (all, part) in [(&mut given_all, given), (&mut expected_all, expected)] {
            all.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        }
        assert_eq!(prepared(given_all), Ok(expected_all));
    }

    #[track_caller]
    fn fails(given: Value, problems: &[&str]) {
        assert_eq!(prepared(given).unwrap_err(), problems);
    }

    #[test]
    fn values_become_what_the_schema_asks_for() {
        becomes(json!({"text": 5}), json!({"text": "5"}));
        becomes(json!({"text": 1.0}), json!({"text": "1"}));
        becomes(json!({"text": 1.5}), json!({"text": "1.5"}));
        becomes(json!({"text": true}), json!({"text": "true"}));
        becomes(json!({"text": null}), json!({"text": "null"}));
        becomes(json!({"limit": "30"}), json!({"limit": 30}));
        becomes(json!({"limit": " 2.5 "}), json!({"limit": 2.5}));
        becomes(json!({"limit": ""}), json!({"limit": 0}));
        becomes(json!({"limit": true}), json!({"limit": 1}));
        becomes(json!({"limit": "false"}), json!({"limit": 0}));
        becomes(json!({"count": 2.9}), json!({"count": 2}));
        becomes(json!({"count": "-7"}), json!({"count": -7}));
        becomes(json!({"flag": "true"}), json!({"flag": true}));
        becomes(json!({"flag": 0}), json!({"flag": false}));
        becomes(json!({"flag": "1"}), json!({"flag": true}));
        becomes(json!({"any": "7"}), json!({"any": 7}));
        becomes(json!({"any": true}), json!({"any": true}));
        becomes(json!({"list": {"name": 1, "line": "3"}}), json!({"list": [{"name": "1", "line": 3}]}));
    }

    #[test]
    fn a_null_for_an_absent_optional_argument_is_dropped_at_any_depth() {
        becomes(json!({"limit": null, "flag": null}), json!({}));
        becomes(json!({"list": [{"name": "n", "line": null}]}), json!({"list": [{"name": "n"}]}));
    }

    #[test]
    fn unknown_arguments_are_left_alone() {
        becomes(json!({"other": {"x": null}}), json!({"other": {"x": null}}));
    }

    #[test]
    fn what_does_not_fit_is_listed_with_its_place() {
        fails(json!({}), &["text: missing"]);
        fails(json!([]), &["root: expected object, got array"]);
        fails(json!({"text": {}}), &["text: expected string, got object"]);
        fails(json!({"text": "t", "limit": "two"}), &["limit: expected number, got string"]);
        fails(json!({"text": "t", "flag": 2}), &["flag: expected boolean, got number"]);
        fails(json!({"text": "t", "any": "x"}), &["any: fits none of the allowed forms"]);
        fails(json!({"text": "t", "mode": "c"}), &["mode: must be one of \"a\", \"b\""]);
        fails(json!({"text": "t", "list": []}), &["list: needs at least 1 item(s)"]);
        fails(
            json!({"text": "t", "list": [{"line": 1}, 7]}),
            &["list.0.name: missing", "list.1: expected object, got number"],
        );
    }
}
