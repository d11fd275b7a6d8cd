//! Which session a command is about: a file, an id or the beginning of one, and where to look it up.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::Context;
use crate::error::{Code, Error};
use crate::session::lookup;
use crate::session::storage::{self, Directory};

/// The arguments that name one session. Flattened into a command's own.
#[derive(Clone, Debug, Default, clap::Args, Deserialize, JsonSchema)]
pub struct Target {
    /// Session file, session id, or the beginning of an id
    #[arg(value_name = "FILE|ID")]
    #[serde(rename = "session")]
    pub file_or_id: PathBuf,
    /// Look ids up in DIR [default: $PI_CODING_AGENT_SESSION_DIR, the setting sessionDir, or the
    /// directory of the working directory's sessions]
    #[arg(long, value_name = "DIR")]
    #[serde(default, rename = "sessionDir")]
    pub session_dir: Option<String>,
}

/// The file of the session that the words name. For a path (anything with a slash, or that ends with
/// `.jsonl`) nothing need be there; an id that nothing or more than one session begins with is an error.
pub fn find(words: &Target, context: &Context) -> Result<PathBuf, Error> {
    let there = context.cwd.join(&words.file_or_id);
    let Some(name) = words.file_or_id.to_str() else { return Ok(there) };
    if name.is_empty() {
        return Err(Error::new(Code::InvalidArguments, "the name of the session is empty"));
    }
    // A file is meant even when its name has neither slash nor suffix.
    if !lookup::is_path(name) && context.backend.metadata(&there).is_ok() {
        return Ok(there);
    }
    let directory = directory(words.session_dir.as_deref(), context);
    Ok(lookup::lookup_only(name, &context.cwd, &directory, context)?)
}

/// The directory in force for the sessions of the working directory; `flag` is what `--session-dir` says.
pub fn directory(flag: Option<&str>, context: &Context) -> Directory {
    let setting = setting(context);
    Directory::choose(flag, setting.as_deref(), &context.cwd, context)
}

/// `sessionDir` of the project's settings, else of the user's.
fn setting(context: &Context) -> Option<String> {
    let of_project = context.cwd.join(".pi/settings.json");
    let of_user = storage::agent_directory(context).join("settings.json");
    session_dir_in(&of_project, context).or_else(|| session_dir_in(&of_user, context))
}

/// A settings file that is missing or broken says nothing.
fn session_dir_in(file: &Path, context: &Context) -> Option<String> {
    #[derive(Deserialize)]
    struct Settings {
        #[serde(rename = "sessionDir")]
        session_dir: Option<String>,
    }
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut context.backend.open(file).ok()?, &mut text).ok()?;
    serde_json::from_slice::<Settings>(&text).ok()?.session_dir.filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Environment;

    fn context(root: &Path, variables: &[(&str, &str)]) -> Context {
        let mut context = Context::from_process(None).in_dir(root.join("project"));
        context.home = Some(root.join("home"));
        context.environment = Environment::from_iter(variables.iter().copied()).into();
        context
    }

    #[test]
    fn flag_before_variable_before_the_project_before_the_user() {
        let root = tempfile::tempdir().unwrap();
        let there = |name: &str| root.path().join(name);
        for (folder, dir) in [("project/.pi", "/of/project"), ("home/.pi/agent", "/of/user")] {
            std::fs::create_dir_all(there(folder)).unwrap();
            let text = format!(r#"{{"sessionDir":"{dir}"}}"#);
            std::fs::write(there(folder).join("settings.json"), text).unwrap();
        }
        let named = context(root.path(), &[("PI_CODING_AGENT_SESSION_DIR", "/of/variable")]);
        let unnamed = context(root.path(), &[]);
        assert_eq!(directory(Some("/of/flag"), &named).path, Path::new("/of/flag"));
        assert_eq!(directory(None, &named).path, Path::new("/of/variable"));
        assert_eq!(directory(None, &unnamed).path, Path::new("/of/project"));
        std::fs::write(there("project/.pi/settings.json"), "{broken").unwrap();
        assert_eq!(directory(None, &unnamed).path, Path::new("/of/user"));
        std::fs::remove_file(there("home/.pi/agent/settings.json")).unwrap();
        assert!(!directory(None, &unnamed).is_custom);
    }

    #[test]
    fn a_file_without_a_slash_in_its_name_is_found() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("project")).unwrap();
        std::fs::write(root.path().join("project/copy"), "").unwrap();
        let context = context(root.path(), &[]);
        let named = |name: &str| Target { file_or_id: name.into(), session_dir: None };
        assert_eq!(find(&named("copy"), &context).unwrap(), root.path().join("project/copy"));
        assert_eq!(find(&named("new.jsonl"), &context).unwrap(), root.path().join("project/new.jsonl"));
        assert_eq!(find(&named("cafe"), &context).unwrap_err().code, Code::NotFound);
        assert_eq!(find(&named(""), &context).unwrap_err().code, Code::InvalidArguments);
    }
}
