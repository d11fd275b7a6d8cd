use std::sync::Mutex;
use std::time::Instant;

use super::*;
use crate::message::Content;
use crate::tool::truncate::Truncation;

fn context(dir: &tempfile::TempDir) -> Context {
    let mut context = Context::from_process(Some(dir.path()));
    context.temp_dir = dir.path().to_owned();
    context
}

fn input(command: &str, timeout: Option<f64>) -> Input {
    Input { command: Text(command.into()), timeout }
}

#[track_caller]
fn text(outcome: &Outcome<Bash>) -> &str {
    match outcome.content.as_slice() {
        [Content::Text { text }] => text,
        _ => panic!("not one text"),
    }
}

#[derive(Debug, Default)]
struct Seen {
    updates: Mutex<Vec<(Instant, String)>>,
    raw: Mutex<Vec<u8>>,
}

impl Observer for Seen {
    fn output(&self, bytes: &[u8]) {
        self.raw.lock().unwrap().extend_from_slice(bytes);
    }

    fn update(&self, so_far: &Truncation) {
        self.updates.lock().unwrap().push((Instant::now(), so_far.content.clone()));
    }
}

#[test]
fn an_observer_sees_nothing_first_then_the_latest_state_now_and_then() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Arc::new(Seen::default());
    let options = Options { observer: Some(seen.clone()), ..Options::default() };
    // 200 chunks in bursts, then silence in which the last state must still come.
    let script = "for i in $(seq 200); do echo $i; done; sleep 0.5; echo end";
    Bash::run(input(script, None), &options, &context(&dir)).unwrap();
    let updates = seen.updates.lock().unwrap();
    assert_eq!(updates[0].1, "");
    assert!(updates.iter().any(|(_, content)| content.ends_with("\n200\n")), "{updates:?}");
    for pair in updates.windows(2) {
        assert!(pair[1].0 - pair[0].0 >= Duration::from_millis(100), "{updates:?}");
    }
    assert!(seen.raw.lock().unwrap().ends_with(b"200\nend\n"));
}

#[test]
fn a_cancelled_call_runs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let context = context(&dir);
    context.cancel.cancel();
    let outcome = Bash::run(input("touch ran", None), &Options::default(), &context).unwrap();
    assert_eq!((text(&outcome), outcome.is_error, outcome.status), ("Command aborted", true, 137));
    assert!(!dir.path().join("ran").exists());
}

#[test]
fn a_cancelled_command_keeps_its_output() {
    let dir = tempfile::tempdir().unwrap();
    let context = context(&dir);
    #[derive(Debug)]
    struct Cancels(crate::cancel::Cancel);
    impl Observer for Cancels {
        fn output(&self, _: &[u8]) {
            self.0.cancel();
        }
    }
    let options = Options { observer: Some(Arc::new(Cancels(context.cancel.clone()))), ..Options::default() };
    let outcome = Bash::run(input("echo begin; sleep 3307", None), &options, &context).unwrap();
    assert_eq!(text(&outcome), "begin\n\n\nCommand aborted");
    assert_eq!(outcome.structured.output, "begin\n");
}

#[test]
fn the_session_is_told_unless_hidden() {
    use crate::context::{Model, Session};
    let dir = tempfile::tempdir().unwrap();
    let mut context = context(&dir);
    context.environment = Arc::new(crate::context::Environment::from_iter([
        ("PATH", std::env::var("PATH").unwrap().as_str()),
        ("PI_SESSION_FILE", "outer"),
        ("AI_AGENT", "outer"),
    ]));
    context.session = Some(Arc::new(Session {
        id: Some("s-1".into()),
        thinking_level: Some("high".into()),
        model: Some(Model { provider: "acme".into(), id: "big-1".into(), takes_images: false }),
        ..Session::default()
    }));
    let script = "env | grep -E '^(PI|AI)_' | sort";
    let outcome = Bash::run(input(script, None), &Options::default(), &context).unwrap();
    let agent = "AI_AGENT=pi\nPI_CODING_AGENT=true\n";
    let session = "PI_MODEL=big-1\nPI_PROVIDER=acme\nPI_REASONING_LEVEL=high\nPI_SESSION_ID=s-1\n";
    assert_eq!(outcome.structured.output, format!("{agent}{session}"));
    let options = Options { hide_session: true, ..Options::default() };
    let outcome = Bash::run(input(script, None), &options, &context).unwrap();
    assert_eq!(outcome.structured.output, agent);
}

#[test]
fn a_timeout_is_a_finite_number_of_seconds() {
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(checked(seconds), Err(Refusal::Timeout)));
    }
    assert!(matches!(checked(MAX_TIMEOUT + 0.001), Err(Refusal::LongTimeout)));
    assert_eq!(checked(MAX_TIMEOUT).unwrap().as_millis(), i32::MAX as u128);
}

#[test]
fn a_log_that_cannot_be_kept_is_said_and_the_command_ends_well() {
    let dir = tempfile::tempdir().unwrap();
    let mut context = context(&dir);
    context.temp_dir = "/no/such/dir".into();
    let outcome = Bash::run(input("seq 3000", None), &Options::default(), &context).unwrap();
    let notice = "3000\n\n[Showing lines 1001-3000 of 3000. The full output could not be kept: ENOENT: ";
    assert!(text(&outcome).contains(notice), "{}", text(&outcome));
    assert!(!outcome.is_error && outcome.structured.full_output_path.is_none());
    assert_eq!(outcome.warnings.len(), 1);
}
