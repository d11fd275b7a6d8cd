//! The built-in tools and the one table that lists them.

pub mod bash;
pub mod edit;
pub mod find;
pub mod grep;
pub mod ls;
pub mod read;
pub mod write;

use serde_json::Value;

use crate::context::Context;
use crate::message::ToolResult;
use crate::tool::{self, Declaration, Tool};

/// A tool as the registry knows it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The tool's name.
    pub name: &'static str,
    declare: fn() -> Declaration,
    call: fn(Value, &Context) -> ToolResult,
}

impl Entry {
    const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            declare: Declaration::of::<T>,
            call: |arguments, context| tool::call::<T>(arguments, &T::Options::default(), context),
        }
    }

    /// The tool's declaration.
    pub fn declaration(&self) -> Declaration {
        (self.declare)()
    }

    /// Calls the tool with arguments as a model sent them.
    pub fn call(&self, arguments: Value, context: &Context) -> ToolResult {
        (self.call)(arguments, context)
    }
}

/// All built-in tools, in the order they are declared to a model.
pub const ALL: [Entry; 7] = [
    Entry::of::<read::Read>(),
    Entry::of::<bash::Bash>(),
    Entry::of::<edit::Edit>(),
    Entry::of::<write::Write>(),
    Entry::of::<grep::Grep>(),
    Entry::of::<find::Find>(),
    Entry::of::<ls::Ls>(),
];

/// The built-in tool of that name.
pub fn named(name: &str) -> Option<Entry> {
    ALL.into_iter().find(|entry| entry.name == name)
}
