//! The commands for sessions: what they share and what each of them does.

pub mod append;
pub mod branch;
pub mod check;
pub mod context;
mod draw;
pub mod fork;
mod glance;
pub mod list;
mod listing;
mod one_line;
mod repair;
pub mod show;
pub mod target;
mod warnings;
