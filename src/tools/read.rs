//! read: (owner fills in)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{Code, Error};
use crate::tool::{Example, Outcome, Tool};

/// The read tool.
pub struct Read;

/// Arguments of read.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// What read answers to programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Structured {}

impl Tool for Read {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Structured;

    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read file";
    const ABOUT: &'static str = "read";
    const PROMPT_SNIPPET: &'static str = "";
    const EXAMPLES: &'static [Example] = &[];

    fn description() -> String {
        String::new()
    }

    fn run(_input: Input, _options: &Options, _context: &Context) -> Result<Outcome<Self>, Error> {
        Err(Error::new(Code::Io, "not built yet"))
    }
}
