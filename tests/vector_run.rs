//! Runs one case against the library, in this process, and judges it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use nix::unistd::Uid;
use serde::Deserialize as _;
use serde::de::{Deserializer, IntoDeserializer, MapAccess, Visitor, value::Error as ValueError};
use serde_json::{Map, Value};

use super::case::{Case, Place, Requirement, Session};
use super::compare::{self, Verdict};
use pi_toolbox::cancel::Cancel;
use pi_toolbox::context::{self, Context, Environment};
use pi_toolbox::error::Error;
use pi_toolbox::fs::Local;
use pi_toolbox::message::ToolResult;
use pi_toolbox::tool::{Tool, arguments};
use pi_toolbox::tools::{self, bash, edit, find, grep, ls, read, write};

pub fn judge(case: &Case) -> Verdict {
    let place = Place::of(case);
    let result = if case.requires == Some(Requirement::Nonroot) && Uid::effective().is_root() {
        as_plain_user(case, &place)
    } else {
        call(case, &place)
    };
    compare::judge(case, &place, &result)
}

/// Calls the tool the way an agent does, or past its preparation where the case says so.
fn call(case: &Case, place: &Place) -> ToolResult {
    let context = context_of(case, place);
    let needs_more_than_a_call = case.skip_validation || case.abort_ms.is_some() || !case.options.is_empty();
    if !needs_more_than_a_call {
        let tool = tools::named(&case.tool).unwrap_or_else(|| panic!("no tool {}", case.tool));
        return tool.call(place.fill_in(&case.args), &context);
    }
    match case.tool.as_str() {
        "read" => run::<read::Read>(case, place, &read_options(&case.options), &context),
        "write" => run::<write::Write>(case, place, &write::Options::default(), &context),
        "edit" => run::<edit::Edit>(case, place, &edit::Options::default(), &context),
        "bash" => run::<bash::Bash>(case, place, &bash_options(&case.options), &context),
        "ls" => run::<ls::Ls>(case, place, &ls::Options::default(), &context),
        "find" => run::<find::Find>(case, place, &find::Options::default(), &context),
        "grep" => run::<grep::Grep>(case, place, &grep::Options::default(), &context),
        other => panic!("no tool {other}"),
    }
}

fn run<T: Tool>(case: &Case, place: &Place, options: &T::Options, context: &Context) -> ToolResult {
    let arguments = place.fill_in(&case.args);
    let input = if case.skip_validation {
        T::Input::deserialize(Unchecked(&arguments)).map_err(|error| panic!("{}: {error}", case.full_name()))
    } else {
        arguments::read::<T>(arguments).map_err(Error::from)
    };
    let abort = case.abort_ms.map(|after| abort_after(after, &context.cancel));
    let outcome = input.and_then(|input| T::run(input, options, context));
    if let Some(Some(abort)) = abort {
        abort.join().unwrap();
    }
    outcome.map_or_else(|error| ToolResult::failure(&error), ToolResult::from)
}

/// Cancels now, or so many milliseconds later: that time is part of the case.
fn abort_after(milliseconds: u64, cancel: &Cancel) -> Option<std::thread::JoinHandle<()>> {
    if milliseconds == 0 {
        cancel.cancel();
        return None;
    }
    let cancel = cancel.clone();
    Some(std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(milliseconds));
        cancel.cancel();
    }))
}

fn context_of(case: &Case, place: &Place) -> Context {
    let mut variables = vec![
        ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
        ("HOME".to_owned(), place.home.to_str().unwrap().to_owned()),
        ("TMPDIR".to_owned(), place.temp.to_str().unwrap().to_owned()),
        ("XDG_RUNTIME_DIR".to_owned(), place.runtime.to_str().unwrap().to_owned()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
    ];
    for (name, value) in &case.env {
        variables.retain(|(other, _)| other != name);
        variables.push((name.clone(), place.fill_in_text(value.as_str().unwrap())));
    }
    let environment = Environment::from_iter(variables);
    Context {
        cwd: case.cwd.as_ref().map_or_else(|| place.cwd.clone(), |below| place.cwd.join(below)),
        home: Some(place.home.clone()),
        temp_dir: place.temp.clone(),
        cancel: Cancel::new(),
        backend: Arc::new(Local::new(&environment)),
        environment: Arc::new(environment),
        session: case.ctx.as_ref().map(|session| Arc::new(session_of(session, place))),
        now: SystemTime::now,
    }
}

fn session_of(session: &Session, place: &Place) -> context::Session {
    let filled_in = |path: &PathBuf| PathBuf::from(place.fill_in_text(path.to_str().unwrap()));
    context::Session {
        id: session.session_id.clone(),
        file: session.session_file.as_ref().map(filled_in),
        thinking_level: session.thinking_level.clone(),
        model: session.model.as_ref().map(|model| context::Model {
            provider: model.provider.clone(),
            id: model.id.clone(),
            takes_images: model.input.as_ref().is_none_or(|kinds| kinds.iter().any(|kind| kind == "image")),
        }),
    }
}

fn read_options(wanted: &Map<String, Value>) -> read::Options {
    let mut options = read::Options::default();
    for (name, value) in wanted {
        match name.as_str() {
            "autoResizeImages" => options.no_resize = value == false,
            other => panic!("read has no option {other}"),
        }
    }
    options
}

fn bash_options(wanted: &Map<String, Value>) -> bash::Options {
    let mut options = bash::Options::default();
    for (name, value) in wanted {
        let text = value.as_str();
        match name.as_str() {
            "commandPrefix" => options.prefix = text.map(OsString::from),
            "shellPath" => options.shell = text.map(PathBuf::from),
            "exposeSessionEnvironment" => options.hide_session = value == false,
            other => panic!("bash has no option {other}"),
        }
    }
    options
}

/// Runs the case in a thread that is nobody's, who also owns the files. On Linux a thread has rights of
/// its own when it asks the kernel past the C library.
fn as_plain_user(case: &Case, place: &Place) -> ToolResult {
    const NOBODY: libc::id_t = 65534;
    let owner = format!("{NOBODY}:{NOBODY}");
    let owned = std::process::Command::new("chown").args(["-Rh", &owner]).arg(place.root()).status();
    assert!(owned.unwrap().success());
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            for call in [libc::SYS_setresgid, libc::SYS_setresuid] {
                // SAFETY: both calls take three ids by value and change nothing but this thread's rights.
                let answer = unsafe { libc::syscall(call, NOBODY, NOBODY, NOBODY) };
                assert_eq!(answer, 0);
            }
            self::call(case, place)
        });
        run.join().unwrap()
    })
}

/// Arguments that go to the tool as they are, with numbers that JSON has no way to write.
struct Unchecked<'a>(&'a Value);

impl<'de> Deserializer<'de> for Unchecked<'_> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let wrong = |error: serde_json::Error| serde::de::Error::custom(error);
        match self.0 {
            Value::Object(object) if object.contains_key("$number") => {
                visitor.visit_f64(object["$number"].as_str().unwrap().parse().unwrap())
            }
            Value::Object(object) => visitor.visit_map(Members(object.iter(), None)),
            other => other.clone().deserialize_any(visitor).map_err(wrong),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Members<'a>(serde_json::map::Iter<'a>, Option<&'a Value>);

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = ValueError;

    fn next_key_seed<K: serde::de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ValueError> {
        let Some((key, value)) = self.0.next() else { return Ok(None) };
        self.1 = Some(value);
        seed.deserialize(key.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: serde::de::DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ValueError> {
        seed.deserialize(Unchecked(self.1.take().unwrap()))
    }
}
