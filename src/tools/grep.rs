//! grep: (owner fills in)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{Code, Error};
use crate::tool::{Example, Outcome, Tool};

/// The grep tool.
pub struct Grep;

/// Arguments of grep.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// What grep answers to programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Structured {}

impl Tool for Grep {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Structured;

    const NAME: &'static str = "grep";
    const TITLE: &'static str = "Search contents";
    const ABOUT: &'static str = "grep";
    const PROMPT_SNIPPET: &'static str = "";
    const EXAMPLES: &'static [Example] = &[];

    fn description() -> String {
        String::new()
    }

    fn run(_input: Input, _options: &Options, _context: &Context) -> Result<Outcome<Self>, Error> {
        Err(Error::new(Code::Io, "not built yet"))
    }
}
