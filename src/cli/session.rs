//! The commands for sessions: what they share and what each of them does.

mod draw;
mod glance;
mod listing;
mod one_line;
pub mod show;
pub mod target;
mod warnings;
