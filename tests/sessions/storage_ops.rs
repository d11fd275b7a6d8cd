//! The operations on directories of sessions: naming, listing, finding.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use pi_toolbox::context::{Context, Environment};
use pi_toolbox::session::lookup::{self, Named};
use pi_toolbox::session::script_json::Value;
use pi_toolbox::session::script_text::quoted;
use pi_toolbox::session::storage::{self, Directory};
use pi_toolbox::session::{Error, Info, Options, Session, list};

use super::case::{Case, joined};
use super::read_ops::{Json, array, object, undefined};

/// The modification time of an input file that has none of its own.
const MTIME: u64 = 1_800_000_000;

fn null() -> Json {
    b"null".to_vec()
}

fn name_of(path: &Path) -> Json {
    quoted(path.file_name().unwrap().to_str().unwrap())
}

fn lay_files(directory: &Path, files: Value<'_>) {
    std::fs::create_dir_all(directory).unwrap();
    for file in files.elements() {
        let path = directory.join(&*file.get("name").unwrap().lossy().unwrap());
        if file.get("directory").is_some() {
            std::fs::create_dir(path).unwrap();
            continue;
        }
        let content = match file.get("parts") {
            Some(parts) => joined(parts),
            None => file.get("content").unwrap().text().unwrap().as_bytes().to_vec(),
        };
        std::fs::write(&path, content).unwrap();
        let time = file.get("mtime").and_then(Value::number).map_or(MTIME, |time| time as u64);
        set_mtime(&path, time);
    }
}

fn set_mtime(path: &Path, seconds: u64) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

/// The case's directories laid out: its context, working directory and session directory.
fn lay_out(case: &Case<'_>) -> (Context, PathBuf, Directory) {
    let mut context = case.context();
    let agent = case.dir().join("agent");
    let environment = [("HOME", "/home/tester"), ("PI_CODING_AGENT_DIR", agent.to_str().unwrap())];
    context.environment = std::sync::Arc::new(environment.into_iter().collect::<Environment>());
    for (name, files) in case.arg("dirs").into_iter().flat_map(Value::members) {
        lay_files(&case.dir().join(&*name.lossy().unwrap()), files);
    }
    for (cwd, files) in case.arg("projects").into_iter().flat_map(Value::members) {
        lay_files(&storage::default_directory(Path::new(&*cwd.lossy().unwrap()), &agent), files);
    }
    let cwd =
        case.arg("cwd").map_or_else(|| context.cwd.clone(), |cwd| PathBuf::from(&*cwd.lossy().unwrap()));
    let chosen = case.arg("sessionDir").map(|dir| case.dir().join(&*dir.lossy().unwrap()));
    let directory = Directory::choose(chosen.as_ref().and_then(|path| path.to_str()), None, &cwd, &context);
    (context, cwd, directory)
}

fn info_json(info: &Info) -> Json {
    let mut json = serde_json::to_value(info).unwrap();
    json["path"] = info.path.file_name().unwrap().to_str().unwrap().into();
    serde_json::to_vec(&json).unwrap()
}

pub(super) fn info(case: &Case<'_>) -> Json {
    set_mtime(&case.file(), MTIME);
    let info = list::info(&case.file(), &case.context()).unwrap();
    object(&[("session", info.map_or_else(null, |info| info_json(&info)))])
}

pub(super) fn list_op(case: &Case<'_>) -> Json {
    let (context, cwd, directory) = lay_out(case);
    let all = case.arg("all").is_some_and(Value::is_truthy);
    let infos = match (all, directory.is_custom) {
        (true, false) => storage::list_all(&storage::agent_directory(&context), true, &context).unwrap(),
        (true, true) => directory.list(None, true, &context).unwrap(),
        (false, _) => directory.list(Some(&cwd), true, &context).unwrap(),
    };
    object(&[("sessions", array(infos.iter().map(info_json)))])
}

pub(super) fn find_most_recent(case: &Case<'_>) -> Json {
    let path = case.dir().join("d");
    lay_files(&path, case.arg("files").unwrap());
    let cwd = case.arg("cwd").and_then(Value::lossy).map(|cwd| PathBuf::from(&*cwd));
    let found = Directory { path, is_custom: true }.most_recent(cwd.as_deref(), &case.context());
    object(&[("found", found.map_or_else(null, |found| name_of(&found)))])
}

pub(super) fn find_by_id(case: &Case<'_>) -> Json {
    let (context, cwd, directory) = lay_out(case);
    let found = case.arg("ids").unwrap().elements().map(|id| {
        let found = directory.find(&id.lossy().unwrap(), &cwd, &context);
        found.map_or_else(null, |found| name_of(&found))
    });
    object(&[("found", array(found))])
}

pub(super) fn continue_recent(case: &Case<'_>) -> Json {
    let (context, cwd, directory) = lay_out(case);
    let found = directory.continue_recent(&cwd, &context).unwrap();
    let mut session = Session::open(&found, &context, Options::default()).unwrap();
    session.set_cwd(cwd.to_str().unwrap());
    object(&[
        ("sessionId", quoted(&session.header().id)),
        ("cwd", quoted(session.cwd().to_str().unwrap())),
        ("headerCwd", quoted(&session.header().cwd)),
        ("onDisk", session.is_stored().to_string().into_bytes()),
    ])
}

pub(super) fn resolve(case: &Case<'_>) -> Json {
    let (context, cwd, directory) = lay_out(case);
    let results = case.arg("queries").unwrap().elements().map(|query| {
        let query = query.lossy().unwrap();
        match lookup::lookup(&query, &cwd, &directory, &context) {
            Ok(Named::Path(path)) => {
                object(&[("type", quoted("path")), ("path", quoted(path.to_str().unwrap()))])
            }
            Ok(Named::Here(path)) => object(&[("type", quoted("local")), ("path", name_of(&path))]),
            Ok(Named::Elsewhere { path, cwd }) => {
                object(&[("type", quoted("global")), ("path", name_of(&path)), ("cwd", quoted(&cwd))])
            }
            Err(Error::NoSession { id }) => object(&[("type", quoted("not_found")), ("arg", quoted(&id))]),
            Err(error) => panic!("{error}"),
        }
    });
    object(&[("results", array(results))])
}

pub(super) fn session_dir(case: &Case<'_>) -> Json {
    let context = case.context();
    let agent = storage::resolve(&case.arg("agentDir").unwrap().lossy().unwrap(), &context);
    let directories = case.arg("cwds").unwrap().elements().map(|cwd| {
        let cwd = storage::resolve(&cwd.lossy().unwrap(), &context);
        quoted(storage::default_directory(&cwd, &agent).to_str().unwrap())
    });
    object(&[("dirs", array(directories))])
}

pub(super) fn missing_cwd(case: &Case<'_>) -> Json {
    let results = case.arg("cases").unwrap().elements().map(|one| {
        let text = |name| one.get(name).and_then(Value::lossy).map(|text| PathBuf::from(&*text));
        let stored = text("sessionCwd").unwrap();
        let here = text("fallbackCwd").unwrap();
        match storage::missing_cwd(&stored, text("sessionFile").as_deref(), &here, &case.context()) {
            None => undefined(),
            Some(missing) => {
                let option = |label: &str, value: Option<&str>| {
                    let mut members = vec![("label", quoted(label))];
                    members.extend(value.map(|value| ("value", quoted(value))));
                    object(&members)
                };
                let choices = missing.choices();
                object(&[
                    ("error", quoted(&missing.to_string())),
                    ("prompt", quoted(&missing.prompt())),
                    ("options", array(choices.iter().map(|(label, value)| option(label, *value)))),
                ])
            }
        }
    });
    object(&[("results", array(results))])
}
