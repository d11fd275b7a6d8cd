//! tools: what a model or a protocol is told of the built-in tools. The command pi-tools; no model calls it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::error::{Code, Error, Fault};
use crate::tool::format::Format;
use crate::tool::{Example, Outcome, Tool};
use crate::tools::{self, Declared};

/// The command pi-tools, as a tool, so that it keeps the contract of all commands.
pub struct Declare;

/// Arguments of pi-tools.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    /// Tools to declare [default: all]
    #[arg(value_name = "NAME")]
    #[serde(default)]
    names: Vec<String>,
    /// Whose shape the declarations have [default: that of each command's --schema]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Format>,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// The declarations, in the order of the tools.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Declarations(pub Vec<Map<String, Value>>);

impl Tool for Declare {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Declarations;

    const NAME: &'static str = "tools";
    const TITLE: &'static str = "Declare tools";
    const ABOUT: &'static str = "print the declarations of the tools for a model or a protocol";
    const PROMPT_SNIPPET: &'static str = "List the tools there are";
    const EXAMPLES: &'static [Example] = &[
        Example { purpose: "List the tools for people", command: "pi-tools -o text" },
        Example {
            purpose: "Give two tools to a model behind the Anthropic API",
            command: "pi-tools read bash --format anthropic",
        },
        Example {
            purpose: "Answer an MCP client's tools/list",
            command: "pi-tools --format mcp | jq -c '{tools: .}'",
        },
    ];
    const EXIT_STATUS: &'static [(&'static str, &'static str)] = &[
        ("0", "done"),
        ("1", "the declarations could not be written"),
        ("2", "bad usage, or no tool of that name"),
    ];

    fn description() -> String {
        "Declare the built-in tools: an array, the value that a request of the chosen protocol has as its \
         tools."
            .to_owned()
    }

    fn run(input: Input, _options: &Options, _context: &Context) -> Result<Outcome<Self>, Error> {
        let chosen = chosen(&input.names)?;
        let text = chosen.iter().map(line).collect::<Vec<_>>().join("\n");
        let declarations = match input.format {
            None => chosen.iter().filter_map(|tool| serde_json::to_value(tool.declaration()).ok()).collect(),
            Some(format) => format.list(chosen.iter().map(|tool| tool.declaration_in(format)).collect()),
        };
        let objects = declarations.into_iter().filter_map(|declaration| match declaration {
            Value::Object(members) => Some(members),
            _ => None,
        });
        Ok(Outcome::text(text, Declarations(objects.collect())))
    }
}

/// A name that is no tool's.
#[derive(Debug, thiserror::Error)]
#[error("no tool is called '{name}'; there are {}", names().join(", "))]
pub struct Unknown {
    name: String,
}

impl Fault for Unknown {
    fn code(&self) -> Code {
        Code::UnknownTool
    }

    fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        facts.insert("name".to_owned(), Value::from(self.name.as_str()));
        facts.insert("tools".to_owned(), Value::from(names()));
        facts
    }
}

/// The tools of those names, each once, in the order of the names; all where there are none.
pub fn chosen(names: &[String]) -> Result<Vec<Declared>, Unknown> {
    if names.is_empty() {
        return Ok(tools::DECLARED.to_vec());
    }
    let mut chosen: Vec<Declared> = Vec::new();
    for name in names {
        let tool = tools::DECLARED.iter().copied().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| Unknown { name: name.clone() })?;
        if chosen.iter().all(|other| other.name != tool.name) {
            chosen.push(tool);
        }
    }
    Ok(chosen)
}

fn names() -> Vec<&'static str> {
    tools::DECLARED.iter().map(|tool| tool.name).collect()
}

fn line(tool: &Declared) -> String {
    format!("{:<6} {}", tool.name, tool.declaration().prompt_snippet)
}
