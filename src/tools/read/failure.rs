//! Why a file was not read.

use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::error::{self, Code, Fault};
use crate::fs::path;
use crate::message::Base64;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{}, access '{}'", error::describe(.source), .path.display())]
    Access { path: PathBuf, source: io::Error },
    #[error("{}, read '{}'", error::describe(.source), .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("EISDIR: illegal operation on a directory, read '{}'. Use ls to see what is in it.", .path.display())]
    Directory { path: PathBuf },
    #[error("'{}' is a socket; only what connects to it can read from it", .path.display())]
    Socket { path: PathBuf },
    #[error(
        "'{}' is a {}, which may never end or never begin; pi-read --timeout SECONDS reads what comes in that time",
        .path.display(),
        .noun
    )]
    Unsupported { path: PathBuf, noun: &'static str },
    #[error("Offset {offset} is beyond end of file ({lines} lines total{})", stopped(.stopped_after))]
    BeyondEnd { path: PathBuf, offset: f64, lines: u64, stopped_after: Option<f64> },
}

impl Fault for Failure {
    fn code(&self) -> Code {
        match self {
            Self::Access { source, .. } | Self::Read { source, .. } => error::code_of(source),
            Self::Directory { .. } => Code::IsDirectory,
            Self::Socket { .. } | Self::Unsupported { .. } => Code::UnsupportedFile,
            Self::BeyondEnd { .. } => Code::BeyondEnd,
        }
    }

    fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        let path = match self {
            Self::Access { path, .. }
            | Self::Read { path, .. }
            | Self::Directory { path }
            | Self::Socket { path }
            | Self::Unsupported { path, .. }
            | Self::BeyondEnd { path, .. } => path,
        };
        facts.insert("path".to_owned(), path.to_string_lossy().into());
        if path.to_str().is_none() {
            facts.insert("path_base64".to_owned(), Base64::encode(path::bytes(path)).0.into());
        }
        if let Self::BeyondEnd { lines, .. } = self {
            facts.insert("lines".to_owned(), (*lines).into());
        }
        facts
    }
}

fn stopped(after: &Option<f64>) -> String {
    after.map_or_else(String::new, |seconds| format!(" when reading stopped after {seconds} seconds"))
}
