//! The built-in tools of the `pi` coding agent as a library and a box of small commands.
//!
//! Layers, each knowing only those below it (see `man/pi-toolbox.7`):
//!
//! | module | owns |
//! |---|---|
//! | [`cli`] | the command contract: arguments, output, errors, exit status, signals |
//! | [`tools`] | read, write, edit, bash, ls, find, grep, and their registry |
//! | [`tool`] | what a tool is: trait, declaration, arguments, truncation, accumulator |
//! | [`fs`] | paths, locks, atomic replace, walking, images, processes, the `Backend` seam |
//! | [`message`], [`json`] | the wire types of pi and tolerant JSON |
//! | [`context`], [`cancel`], [`error`] | what a call may know of its process, stopping, failing |
//!
//! Only `cli` prints, and only `context` asks the process for its environment.

pub mod cancel;
pub mod cli;
pub mod context;
pub mod error;
pub mod fs;
pub mod json;
pub mod message;
pub mod session;
pub mod tool;
pub mod tools;
