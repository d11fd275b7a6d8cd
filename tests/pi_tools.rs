//! pi-tools: the declarations in each protocol's shape. What all commands have in common is in `contract.rs`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::harness::World;

const NAMES: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

#[test]
fn without_a_format_each_is_what_its_command_says_of_itself() {
    let world = World::new();
    let all: Vec<Value> = world.command("pi-tools").run().ok().json();
    let own =
        NAMES.map(|name| world.command(&format!("pi-{name}")).arg("--schema").run().ok().json::<Value>());
    assert_eq!(all, own);
}

#[test]
fn names_choose_and_order_and_count_once() {
    let world = World::new();
    let chosen: Vec<Value> = world.command("pi-tools").args(["write", "ls", "write"]).run().ok().json();
    let names: Vec<_> = chosen.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["write", "ls"]);
}

#[test]
fn an_unknown_name_is_refused_with_the_names_there_are() {
    let world = World::new();
    let run = world.command("pi-tools").args(["read", "dig"]).run();
    run.fails(2, "unknown_tool", "no tool is called 'dig'; there are read, bash").json_is(json!({"error": {
        "code": "unknown_tool",
        "message": "no tool is called 'dig'; there are read, bash, edit, write, grep, find, ls",
        "name": "dig",
        "tools": NAMES,
    }}));
}

#[test]
fn as_text_it_is_a_list_for_people() {
    let run = World::new().command("pi-tools").args(["-o", "text"]).run().ok();
    let text = String::from_utf8(run.stdout.clone()).unwrap();
    let first: Vec<_> = text.lines().map(|line| line.split_once(' ').unwrap()).collect();
    assert!(first.iter().map(|(name, _)| *name).eq(NAMES), "{text}");
    assert!(first.iter().all(|(_, what)| !what.trim().is_empty()), "{text}");
}

/// What every protocol is told, whatever it calls it.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Function {
    name: String,
    description: String,
    parameters: Map<String, Value>,
}

#[test]
fn pi_and_openai_take_functions_with_parameters() {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapped {
        r#type: String,
        function: Function,
    }
    let functions = declared::<Function>("pi");
    assert!(functions.iter().map(|function| function.name.as_str()).eq(NAMES));
    let wrapped = declared::<Wrapped>("openai");
    assert!(wrapped.iter().all(|tool| tool.r#type == "function"));
    assert!(wrapped.iter().map(|tool| &tool.function).eq(&functions));
}

#[test]
fn openai_responses_is_told_that_it_is_not_strict() {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Flat {
        r#type: String,
        name: String,
        description: String,
        parameters: Map<String, Value>,
        strict: bool,
    }
    let flat = declared::<Flat>("openai-responses");
    assert!(flat.iter().all(|tool| tool.r#type == "function" && !tool.strict));
    let functions = flat.into_iter().map(|tool| Function {
        name: tool.name,
        description: tool.description,
        parameters: tool.parameters,
    });
    assert!(functions.eq(declared::<Function>("pi")));
}

#[test]
fn anthropic_always_hears_what_is_required() {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Tool {
        name: String,
        description: String,
        input_schema: Schema,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Schema {
        r#type: String,
        properties: Map<String, Value>,
        required: Vec<String>,
    }
    for (tool, function) in declared::<Tool>("anthropic").into_iter().zip(declared::<Function>("pi")) {
        assert_eq!((tool.name, tool.description), (function.name, function.description));
        assert_eq!(tool.input_schema.r#type, "object");
        assert_eq!(Value::Object(tool.input_schema.properties), function.parameters["properties"]);
        let required = function.parameters.get("required").cloned().unwrap_or_else(|| json!([]));
        assert_eq!(json!(tool.input_schema.required), required);
    }
}

#[test]
fn google_takes_one_tool_that_holds_all_functions() {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Tool {
        function_declarations: Vec<Declaration>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Declaration {
        name: String,
        description: String,
        parameters_json_schema: Map<String, Value>,
    }
    let [tool] = <[Tool; 1]>::try_from(declared::<Tool>("google")).ok().unwrap();
    let functions = tool.function_declarations.into_iter().map(|tool| Function {
        name: tool.name,
        description: tool.description,
        parameters: tool.parameters_json_schema,
    });
    assert!(functions.eq(declared::<Function>("pi")));
    // It knows no `const`; pi writes those as an enum of one.
    assert!(declared::<Value>("google").iter().all(|tool| !tool.to_string().contains("\"const\":")));
}

#[test]
fn mcp_is_told_what_a_call_can_do() {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Tool {
        name: String,
        title: String,
        description: String,
        input_schema: Map<String, Value>,
        output_schema: Option<Map<String, Value>>,
        annotations: Value,
    }
    let hints = |title: &str, read_only: bool, destructive: bool, idempotent: bool, open_world: bool| {
        json!({"title": title, "readOnlyHint": read_only, "destructiveHint": destructive,
               "idempotentHint": idempotent, "openWorldHint": open_world})
    };
    let expected = |name: &str| match name {
        "write" => [false, true, true, false],
        "edit" => [false, true, false, false],
        "bash" => [false, true, false, true],
        _ => [true, false, true, false],
    };
    for (tool, function) in declared::<Tool>("mcp").into_iter().zip(declared::<Function>("pi")) {
        let [read_only, destructive, idempotent, open_world] = expected(&tool.name);
        assert_eq!(tool.annotations, hints(&tool.title, read_only, destructive, idempotent, open_world));
        assert_eq!(tool.input_schema["type"], "object");
        // A server for clients of 2025-11-25 can only promise objects; what read answers is a string.
        assert_eq!(tool.output_schema.is_some(), tool.name != "read", "{}", tool.name);
        assert!(tool.output_schema.is_none_or(|schema| schema["type"] == "object"));
        assert_eq!((tool.description, tool.input_schema), (function.description, function.parameters));
    }
}

#[test]
fn every_schema_in_every_format_is_valid() {
    for format in ["pi", "mcp", "anthropic", "openai", "openai-responses", "google"] {
        for tool in declared::<Value>(format) {
            let mut found = 0;
            each_schema(&tool, &mut |schema| {
                jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{format}: {error}"));
                found += 1;
            });
            assert!(found > 0, "{format}: {tool}");
        }
    }
}

fn each_schema(value: &Value, check: &mut impl FnMut(&Value)) {
    const PLACES: [&str; 5] =
        ["parameters", "input_schema", "inputSchema", "outputSchema", "parametersJsonSchema"];
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| match PLACES.contains(&key.as_str()) {
                true => check(member),
                false => each_schema(member, check),
            })
        }
        Value::Array(items) => items.iter().for_each(|item| each_schema(item, check)),
        _ => {}
    }
}

#[track_caller]
fn declared<T: serde::de::DeserializeOwned>(format: &str) -> Vec<T> {
    World::new().command("pi-tools").args(["--format", format]).run().ok().json()
}
