//! pi-tools: (owner fills in)
fn main() {}
