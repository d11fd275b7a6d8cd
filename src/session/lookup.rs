//! Finding a session by what a user calls it: a path, an id, the beginning of an id.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::list::Info;
use super::storage::{Directory, absolute, agent_directory, expand, list_all};
use crate::context::Context;

/// What a name for a session stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A path, whether or not something is there.
    Path(PathBuf),
    /// A session of this working directory.
    Here(PathBuf),
    /// A session of another one.
    Elsewhere {
        /// Its file.
        path: PathBuf,
        /// Its working directory.
        cwd: String,
    },
}

/// Finds a session by path, id or the beginning of an id: the exact id here, one that begins so here,
/// then the same anywhere. The most recently active of several wins.
pub fn lookup(name: &str, cwd: &Path, directory: &Directory, context: &Context) -> Result<Named, Error> {
    if is_path(name) {
        return Ok(Named::Path(absolute(&expand(name, context), &context.clone().in_dir(cwd))));
    }
    if let Some(path) = directory.find(name, cwd, context) {
        return Ok(Named::Here(path));
    }
    let pick = |infos: Vec<Info>| {
        let exact = infos.iter().position(|info| info.id == name);
        let begins = || infos.iter().position(|info| info.id.starts_with(name));
        exact.or_else(begins).map(|at| infos[at].clone())
    };
    let here = directory.list(Some(cwd), false, context)?;
    if let Some(found) = here.into_iter().find(|info| info.id.starts_with(name)) {
        return Ok(Named::Here(found.path));
    }
    let everywhere = if directory.is_custom {
        directory.list(None, false, context)?
    } else {
        list_all(&agent_directory(context), false, context)?
    };
    match pick(everywhere) {
        Some(found) => Ok(Named::Elsewhere { path: found.path, cwd: found.cwd }),
        None => Err(Error::NoSession { id: name.to_owned() }),
    }
}

/// As [`lookup`], for programs: a beginning that several sessions share is an error naming them.
pub fn lookup_only(
    name: &str,
    cwd: &Path,
    directory: &Directory,
    context: &Context,
) -> Result<PathBuf, Error> {
    let found = match lookup(name, cwd, directory, context)? {
        Named::Path(path) | Named::Here(path) => return unambiguous(name, path, cwd, directory, context),
        Named::Elsewhere { path, .. } => path,
    };
    let all = if directory.is_custom {
        directory.list(None, false, context)?
    } else {
        list_all(&agent_directory(context), false, context)?
    };
    only(name, found, &all)
}

fn unambiguous(
    name: &str,
    found: PathBuf,
    cwd: &Path,
    directory: &Directory,
    context: &Context,
) -> Result<PathBuf, Error> {
    if is_path(name) { Ok(found) } else { only(name, found, &directory.list(Some(cwd), false, context)?) }
}

fn only(name: &str, found: PathBuf, infos: &[Info]) -> Result<PathBuf, Error> {
    let candidates: Vec<String> =
        infos.iter().filter(|info| info.id.starts_with(name)).map(|info| info.id.clone()).collect();
    let is_exact = infos.iter().any(|info| info.path == found && info.id == name);
    if is_exact || candidates.len() < 2 {
        Ok(found)
    } else {
        Err(Error::Ambiguous { id: name.to_owned(), candidates })
    }
}

/// Whether a name for a session is a path.
pub fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || name.ends_with(".jsonl")
}
