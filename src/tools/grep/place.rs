//! Where to search: the path as typed, as it is, and as the caller can name what lies below it.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::error::{self, Code, Fault};
use crate::fs::{Kind, path};

/// A file or directory to search.
pub(super) struct Place {
    /// Where it is.
    pub(super) path: PathBuf,
    /// The same as the caller can name it.
    pub(super) named: PathBuf,
    pub(super) kind: Kind,
}

/// Why a place cannot be searched.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlaceError {
    #[error("Path not found: {}", .0.display())]
    NotFound(PathBuf),
    #[error("{}, stat '{}'", error::describe(.1), .0.display())]
    Unreachable(PathBuf, io::Error),
    #[error("{} is a {}; only regular files and directories can be searched", .0.display(), .1.noun())]
    Special(PathBuf, Kind),
}

impl Fault for PlaceError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => Code::NotFound,
            Self::Unreachable(_, source) => error::code_of(source),
            Self::Special(..) => Code::UnsupportedFile,
        }
    }
}

impl Place {
    pub(super) fn new(typed: Option<PathBuf>, context: &Context) -> Result<Self, PlaceError> {
        let typed = typed.filter(|path| !path.as_os_str().is_empty()).unwrap_or_else(|| ".".into());
        let path = path::resolve(&typed, context);
        let kind = match context.backend.metadata(&path) {
            Ok(metadata) => metadata.kind,
            Err(source) => {
                return Err(match error::code_of(&source) {
                    Code::NotFound | Code::NotDirectory => PlaceError::NotFound(path),
                    _ => PlaceError::Unreachable(path, source),
                });
            }
        };
        if !matches!(kind, Kind::Dir | Kind::File) {
            return Err(PlaceError::Special(path, kind));
        }
        let is_literal = context.backend.metadata(&context.cwd.join(&typed)).is_ok();
        let named = if is_literal { typed } else { path.clone() };
        Ok(Self { path, named, kind })
    }

    /// The directory that shown paths are relative to, as the caller can name it.
    pub(super) fn root(&self) -> Cow<'_, Path> {
        match self.kind {
            Kind::Dir => Cow::Borrowed(&self.named),
            _ => match self.named.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => Cow::Borrowed(parent),
                _ => Cow::Borrowed(Path::new(".")),
            },
        }
    }

    /// What is shown as `shown`, as the caller can name it.
    pub(super) fn named(&self, shown: &Path) -> PathBuf {
        match self.kind {
            Kind::Dir if self.named == Path::new(".") => shown.to_owned(),
            Kind::Dir => self.named.join(shown),
            _ => self.named.clone(),
        }
    }
}
