//! A tool's declaration in the shape each protocol takes: one element of a request's `tools` array.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::tool::Declaration;

/// What a call of a tool can do to the world; MCP's annotations follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// It looks only.
    Reads,
    /// It changes a part of one file.
    ChangesFile,
    /// It puts one file's whole content.
    ReplacesFile,
    /// It can do whatever the user can, on other machines too.
    Anything,
}

/// Who is to read the declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// pi: what a session's system messages and a model request hold (name, description, parameters)
    Pi,
    /// Model Context Protocol: the `tools` of a tools/list result, with annotations
    Mcp,
    /// Anthropic Messages
    Anthropic,
    /// OpenAI Chat Completions
    Openai,
    /// OpenAI Responses
    OpenaiResponses,
    /// Google Gemini: one tool that holds all function declarations
    Google,
}

impl Format {
    /// The value of a request's `tools`, from what [`Format::declaration`] made of each tool.
    pub fn list(self, declarations: Vec<Value>) -> Vec<Value> {
        match self {
            Self::Google if declarations.is_empty() => Vec::new(),
            Self::Google => vec![value(&Google { function_declarations: declarations })],
            _ => declarations,
        }
    }

    /// One tool's declaration.
    pub fn declaration(self, tool: &Declaration, effects: Effects) -> Value {
        let (name, description, parameters) = (tool.name, tool.description.as_str(), &tool.input_schema);
        match self {
            Self::Pi => value(&Function { name, description, parameters }),
            Self::Mcp => value(&Mcp {
                name,
                title: tool.title,
                description,
                input_schema: parameters,
                output_schema: Some(&tool.output_schema).filter(|schema| is_object(schema)),
                annotations: Annotations::of(tool.title, effects),
            }),
            Self::Anthropic => {
                value(&Anthropic { name, description, input_schema: anthropic_schema(parameters) })
            }
            Self::Openai => value(&Completions {
                r#type: "function",
                function: Function { name, description, parameters },
            }),
            Self::OpenaiResponses => {
                value(&Responses { r#type: "function", name, description, parameters, strict: false })
            }
            Self::Google => value(&GoogleFunction { name, description, parameters_json_schema: parameters }),
        }
    }
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
struct Completions<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

/// `strict` is said aloud: this API takes a missing one for true and then refuses optional arguments.
#[derive(Serialize)]
struct Responses<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    strict: bool,
}

#[derive(Serialize)]
struct Anthropic<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Google {
    function_declarations: Vec<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GoogleFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Mcp<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    /// Left out unless it describes an object: until 2025-11-25 the protocol knows no other structured
    /// content, and a server for such clients has to wrap what read answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a Value>,
    annotations: Annotations<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations<'a> {
    title: &'a str,
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

impl<'a> Annotations<'a> {
    fn of(title: &'a str, effects: Effects) -> Self {
        let is_read_only = effects == Effects::Reads;
        Self {
            title,
            read_only_hint: is_read_only,
            destructive_hint: !is_read_only,
            idempotent_hint: matches!(effects, Effects::Reads | Effects::ReplacesFile),
            open_world_hint: effects == Effects::Anything,
        }
    }
}

/// The root keywords that the API takes, `required` among them even where nothing is.
fn anthropic_schema(parameters: &Value) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), Value::from("object"));
    schema.insert("properties".to_owned(), Value::Object(Map::new()));
    schema.insert("required".to_owned(), Value::Array(Vec::new()));
    for key in ["properties", "required", "additionalProperties", "$defs", "definitions"] {
        if let Some(part) = parameters.get(key) {
            schema.insert(key.to_owned(), part.clone());
        }
    }
    Value::Object(schema)
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "object")
}

/// These types hold strings, booleans and JSON alone, which always serialise.
fn value(declaration: &impl Serialize) -> Value {
    serde_json::to_value(declaration).unwrap_or_default()
}
