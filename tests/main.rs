//! The integration tests: one crate, one module per command, recorded vectors, and the house rules.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, helpers included, a surprise should end the test where it shows"
)]
#![allow(unreachable_pub, reason = "one crate; `pub` says what other modules of it use")]

mod harness;

mod bash;
mod contract;
mod edit;
mod find;
mod grep;
mod ls;
mod pages;
mod pi_call;
mod pi_session_append;
mod pi_session_branch;
mod pi_session_check;
mod pi_session_context;
mod pi_session_fork;
mod pi_session_list;
mod pi_session_show;
mod pi_tools;
mod read;
mod session_file;
mod sessions;
mod tidy;
mod vectors;
mod write;
