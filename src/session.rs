//! Sessions: a conversation as a tree of entries in a JSONL file that is only ever appended to.
//!
//! Reading never changes a file and reports what it skips. An entry is the bytes of its line: what is
//! only copied is copied as it was. Appending costs the same however long the file is, and any number
//! of processes may do it at once.

mod append;
mod batch;
pub mod branch;
pub mod checkpoint;
pub mod diagnostic;
pub mod draft;
pub mod entry;
pub mod error;
pub mod export;
mod head;
pub mod header;
pub mod id;
pub mod import;
pub mod key;
pub mod kind;
mod line;
pub mod list;
pub mod live;
pub mod load;
pub mod lookup;
mod migrate;
pub mod model_messages;
pub mod path_end;
pub mod projection;
pub mod rows;
pub mod scan;
pub mod script_date;
pub mod script_json;
pub mod script_text;
mod splice;
pub mod stats;
pub mod storage;
mod store;
mod stored;
pub mod tail;
pub mod tree;
pub mod view;

pub use branch::{Fork, ForkPoint, Navigation, Position, fork_from};
pub use diagnostic::{Diagnostic, Reason};
pub use draft::{Compaction, Draft, Summary};
pub use entry::Entry;
pub use error::Error;
pub use header::Header;
pub use id::Ids;
pub use kind::{EntryType, Role};
pub use list::Info;
pub use live::{Appended, Options, Place, Session};
pub use load::{Loaded, load};
pub use path_end::path_end;
pub use tail::{Appender, Written};
pub use tree::{Index, Label, Leaf, Tree};
