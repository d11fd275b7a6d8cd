//! Files and processes: paths, locks, atomic replace, walking, images, and the seam to other hosts.

pub mod backend;
pub mod image;
pub mod local;
pub mod lock;
pub mod path;
pub mod process;
pub mod replace;
pub mod walk;

pub use backend::{Backend, DirEntry, Kind, Metadata, Source};
pub use local::Local;
