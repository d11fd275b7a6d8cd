//! The commands for sessions: what they share and what each of them does.

pub mod export;
pub mod target;
