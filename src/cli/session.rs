//! The commands for sessions: what they share and what each of them does.

pub mod append;
pub mod branch;
pub mod fork;
pub mod target;
