//! edit: (owner fills in)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{Code, Error};
use crate::tool::{Example, Outcome, Tool};

/// The edit tool.
pub struct Edit;

/// Arguments of edit.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// What edit answers to programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Structured {}

impl Tool for Edit {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Structured;

    const NAME: &'static str = "edit";
    const TITLE: &'static str = "Edit file";
    const ABOUT: &'static str = "edit";
    const PROMPT_SNIPPET: &'static str = "";
    const EXAMPLES: &'static [Example] = &[];

    fn description() -> String {
        String::new()
    }

    fn run(_input: Input, _options: &Options, _context: &Context) -> Result<Outcome<Self>, Error> {
        Err(Error::new(Code::Io, "not built yet"))
    }
}
