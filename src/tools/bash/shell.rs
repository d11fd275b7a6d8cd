//! What runs a command: the shell, its arguments, its directory and its environment.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Options, Refusal};
use crate::context::{Context, Session};
use crate::fs::process::Command;
use crate::fs::{Kind, path};

/// Variables that tell of the running agent; those of an agent further out are not passed on.
const SESSION_VARIABLES: [&str; 5] =
    ["PI_SESSION_ID", "PI_SESSION_FILE", "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL"];
/// Variables that tell that there is an agent.
const AGENT_VARIABLES: [(&str, &str); 2] = [("AI_AGENT", "pi"), ("PI_CODING_AGENT", "true")];

/// The process to run for a shell command.
pub(super) fn command(
    text: Vec<u8>,
    timeout: Option<Duration>,
    options: &Options,
    context: &Context,
) -> Result<Command, Refusal> {
    match context.backend.metadata(&context.cwd).map(|metadata| metadata.kind) {
        Ok(Kind::Dir) => {}
        Ok(_) => return Err(Refusal::NotDirectory(context.cwd.clone())),
        Err(_) => return Err(Refusal::NoDirectory(context.cwd.clone())),
    }
    let program = match &options.shell {
        Some(asked) => chosen(asked, context).ok_or_else(|| Refusal::NoSuchShell(asked.clone()))?,
        None => usual(context).ok_or(Refusal::NoShell)?,
    };
    let mut text = OsString::from_vec(text);
    if let Some(prefix) = &options.prefix {
        text = [prefix.as_os_str(), OsStr::new("\n"), &text].into_iter().collect();
    }
    if text.as_encoded_bytes().contains(&0) {
        return Err(Refusal::Nul);
    }
    Ok(Command {
        program,
        arguments: vec!["-c".into(), text],
        cwd: context.cwd.clone(),
        environment: environment(options, context),
        timeout,
    })
}

/// The shell somebody asked for: a path, or a name to look up.
fn chosen(asked: &Path, context: &Context) -> Option<PathBuf> {
    let is_name = !asked.as_os_str().as_encoded_bytes().contains(&b'/');
    let found = is_name.then(|| on_path(asked, context)).flatten();
    found.or_else(|| Some(path::resolve(asked, context)).filter(|path| is_file(path, context)))
}

fn usual(context: &Context) -> Option<PathBuf> {
    let bash = PathBuf::from("/bin/bash");
    if is_file(&bash, context) {
        return Some(bash);
    }
    on_path(Path::new("bash"), context).or_else(|| on_path(Path::new("sh"), context))
}

fn on_path(name: &Path, context: &Context) -> Option<PathBuf> {
    let path = context.environment.get("PATH")?;
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|file| is_executable(file, context))
}

fn is_file(path: &Path, context: &Context) -> bool {
    context.backend.metadata(path).is_ok_and(|metadata| metadata.kind == Kind::File)
}

fn is_executable(path: &Path, context: &Context) -> bool {
    let metadata = context.backend.metadata(path);
    metadata.is_ok_and(|metadata| metadata.kind == Kind::File && metadata.mode & 0o111 != 0)
}

fn environment(options: &Options, context: &Context) -> Vec<(OsString, OsString)> {
    let is_replaced = |name: &OsStr| {
        SESSION_VARIABLES
            .iter()
            .chain(AGENT_VARIABLES.iter().map(|(name, _)| name))
            .any(|known| name == *known)
    };
    let inherited = context.environment.iter().filter(|(name, _)| !is_replaced(name));
    let mut environment: Vec<(OsString, OsString)> =
        inherited.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    environment.extend(AGENT_VARIABLES.map(|(name, value)| (name.into(), value.into())));
    if let Some(session) = context.session.as_deref().filter(|_| !options.hide_session) {
        let values = SESSION_VARIABLES.into_iter().zip(session_values(session));
        environment.extend(values.filter_map(|(name, value)| Some((name.into(), value?))));
    }
    environment
}

/// The values of [`SESSION_VARIABLES`], in that order.
fn session_values(session: &Session) -> [Option<OsString>; 5] {
    let model = session.model.as_ref();
    [
        session.id.as_ref().map(OsString::from),
        session.file.as_ref().map(OsString::from),
        model.map(|model| OsString::from(&model.provider)),
        model.map(|model| OsString::from(&model.id)),
        session.thinking_level.as_ref().map(OsString::from),
    ]
}
