//! Sessions: a conversation as a tree of entries in a JSONL file that is only ever appended to.
//!
//! Reading never changes a file and reports what it skips. An entry is the bytes of its line: what is
//! only copied is copied as it was. Appending costs the same however long the file is, and any number
//! of processes may do it at once.

pub mod diagnostic;
pub mod entry;
pub mod error;
pub mod head;
pub mod header;
pub mod key;
mod line;
pub mod load;
mod migrate;
pub mod model_messages;
pub mod projection;
pub mod rows;
pub mod scan;
pub mod script_date;
pub mod script_json;
pub mod script_text;
mod splice;
mod store;
pub mod tree;

pub use diagnostic::{Diagnostic, Reason};
pub use entry::Entry;
pub use error::Error;
pub use head::{EntryType, Role};
pub use header::Header;
pub use load::{Loaded, load};
pub use tree::{Index, Label, Leaf, Tree};
