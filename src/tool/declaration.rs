//! The declaration of a tool as models and protocols want to see it.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use crate::tool::Tool;

/// What a tool says of itself (MCP's key names).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Declaration {
    /// The name a model calls it by.
    pub name: &'static str,
    /// A short title for lists.
    pub title: &'static str,
    /// What it does and how it bounds its output.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the structured content.
    pub output_schema: Value,
    /// The line in the system prompt that says the tool exists.
    pub prompt_snippet: &'static str,
    /// Rules for the system prompt that come with the tool.
    pub prompt_guidelines: &'static [&'static str],
}

impl Declaration {
    /// The declaration of `T`.
    pub fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            description: T::description(),
            input_schema: schema_of::<T::Input>(),
            output_schema: schema_of::<T::Structured>(),
            prompt_snippet: T::PROMPT_SNIPPET,
            prompt_guidelines: T::PROMPT_GUIDELINES,
        }
    }
}

/// The JSON Schema of a type in the plain form that every provider takes: no `$schema`, no `title`,
/// no `format`, no description of the whole, no `null` among the types of an optional property, no references.
pub fn schema_of<S: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    settings.transforms.push(Box::new(RecursiveTransform(plain)));
    let mut schema = settings.into_generator().into_root_schema_for::<S>();
    schema.remove("description");
    schema.to_value()
}

fn plain(schema: &mut Schema) {
    for key in ["title", "format", "default"] {
        schema.remove(key);
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
}
