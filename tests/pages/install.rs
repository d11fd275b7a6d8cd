//! (later)
