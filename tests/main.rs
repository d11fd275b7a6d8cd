//! The integration tests: one crate, one module per command, recorded vectors, and the house rules.

mod harness;

mod bash;
mod contract;
mod edit;
mod find;
mod grep;
mod ls;
mod pages;
mod pi_call;
mod pi_tools;
mod read;
mod sessions;
mod tidy;
mod vectors;
mod write;
