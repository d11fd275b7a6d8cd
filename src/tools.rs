//! The built-in tools and the one table that lists them.

pub mod bash;
pub mod batch;
pub mod declare;
pub mod edit;
pub mod find;
pub mod grep;
pub mod ls;
pub mod read;
pub mod write;

use serde_json::Value;

use crate::context::Context;
use crate::error::Error;
use crate::message::ToolResult;
use crate::tool::format::{Effects, Format};
use crate::tool::{self, Declaration, Tool, arguments};

/// The one table of the built-in tools, in the order they are declared to a model. Declarations and calls
/// come as two constants, so that a command that only declares links no tool.
macro_rules! built_in {
    ($($tool:ty => $effects:ident),+ $(,)?) => {
        /// What all built-in tools say of themselves.
        pub const DECLARED: &[Declared] = &[$(Declared::of::<$tool>(Effects::$effects)),+];
        /// All built-in tools, to be called.
        pub const ALL: &[Entry] = &[$(Entry::of::<$tool>(Effects::$effects)),+];
    };
}

built_in! {
    read::Read => Reads,
    bash::Bash => Anything,
    edit::Edit => ChangesFile,
    write::Write => ReplacesFile,
    grep::Grep => Reads,
    find::Find => Reads,
    ls::Ls => Reads,
}

/// The built-in tool of that name.
pub fn named(name: &str) -> Option<Entry> {
    ALL.iter().copied().find(|entry| entry.name() == name)
}

/// What a built-in tool says of itself.
#[derive(Clone, Copy)]
pub struct Declared {
    /// The tool's name.
    pub name: &'static str,
    /// What a call can do to the world.
    pub effects: Effects,
    declare: fn() -> Declaration,
}

impl Declared {
    const fn of<T: Tool>(effects: Effects) -> Self {
        Self { name: T::NAME, effects, declare: Declaration::of::<T> }
    }

    /// The tool's declaration.
    pub fn declaration(&self) -> Declaration {
        (self.declare)()
    }

    /// The tool's declaration in the shape a protocol takes.
    pub fn declaration_in(&self, format: Format) -> Value {
        format.declaration(&self.declaration(), self.effects)
    }
}

/// A built-in tool that can be called.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What it says of itself.
    pub declared: Declared,
    repair: fn(Value) -> Value,
    prepare: fn(Value) -> Result<Job, Error>,
}

/// A call whose arguments fit: does the job. Never fails; what goes wrong is an error result.
pub type Job = Box<dyn FnOnce(&Context) -> ToolResult>;

impl Entry {
    const fn of<T: Tool<Input: 'static>>(effects: Effects) -> Self {
        Self {
            declared: Declared::of::<T>(effects),
            repair: T::repair,
            prepare: |arguments| {
                let input = arguments::read::<T>(arguments)?;
                Ok(Box::new(move |context| tool::answer::<T>(input, &T::Options::default(), context)))
            },
        }
    }

    /// The tool's name.
    pub fn name(&self) -> &'static str {
        self.declared.name
    }

    /// Calls the tool with arguments as a model sent them.
    pub fn call(&self, arguments: Value, context: &Context) -> ToolResult {
        match self.prepare(arguments) {
            Ok(job) => job(context),
            Err(invalid) => ToolResult::failure(&invalid),
        }
    }

    /// The job that a call with these arguments is: they are repaired, coerced and validated.
    pub fn prepare(&self, arguments: Value) -> Result<Job, Error> {
        (self.prepare)(arguments)
    }

    /// The file that a call with these arguments will write, as the model named it; `None` where it
    /// writes none or the arguments are unusable.
    fn written_path(&self, arguments: &Value) -> Option<String> {
        if !matches!(self.declared.effects, Effects::ChangesFile | Effects::ReplacesFile) {
            return None;
        }
        match (self.repair)(arguments.clone()).get("path")? {
            Value::String(path) => Some(path.clone()),
            other => Some(other.to_string()),
        }
    }
}
