//! (owner fills in)
