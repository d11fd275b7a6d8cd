//! The commands for sessions: what they share and what each of them does.

pub mod check;
pub mod context;
mod draw;
mod glance;
pub mod list;
mod listing;
mod one_line;
mod repair;
pub mod show;
pub mod target;
mod warnings;
