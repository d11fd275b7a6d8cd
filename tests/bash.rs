//! pi-bash: what a command is given, how its end is told, and that nothing of it is left behind.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Deserialize;
use serde_json::json;

use crate::harness::{Answer, Run, World};

/// What pi-bash prints.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ran {
    output: String,
    truncated: bool,
    full_output_path: Option<PathBuf>,
    exit_code: i32,
    wall_time_seconds: f64,
    #[serde(default)]
    timed_out: bool,
}

/// How long to wait for what must happen before a test fails.
const PATIENCE: Duration = Duration::from_secs(20);

#[track_caller]
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "not in {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The command lines of all living processes with the marker in their environment.
fn marked(marker: &str) -> Vec<String> {
    let read = |path: PathBuf| std::fs::read(path).map(|text| String::from_utf8_lossy(&text).into_owned());
    let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let has_marker = |path: &PathBuf| {
        read(path.join("environ")).is_ok_and(|text| text.contains(&format!("MARKER={marker}")))
    };
    entries
        .filter(has_marker)
        .filter_map(|path| read(path.join("cmdline")).ok())
        .map(|line| line.trim_end_matches('\0').replace('\0', " "))
        .collect()
}

fn sleepers(marker: &str) -> usize {
    marked(marker).iter().filter(|line| line.starts_with("sleep ")).count()
}

fn marker(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

/// Starts a command whose stdout nobody reads yet.
fn start(run: Run<'_>, marker: &str) -> Child {
    let mut command = run.env("MARKER", marker).into_std();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

/// pi-bash with text output.
fn text<'w>(world: &'w World, command: &str) -> Run<'w> {
    world.command("pi-bash").args(["-o", "text", command])
}

fn stdout(answer: &Answer) -> String {
    String::from_utf8(answer.stdout.clone()).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Several children in several sessions, deaf to what can be ignored; three sleeps.
const FAMILY: &str =
    "trap '' TERM HUP INT; setsid sleep 4001 & (sleep 4002 &) ; echo begin; sleep 4003; touch RAN";

// What a command is given and what is said of it.

#[test]
fn the_structured_content_is_the_whole_truth() {
    let world = World::new();
    let answer = world.command("pi-bash").arg("echo out; echo err >&2").run().ok();
    let ran: Ran = answer.json();
    assert_eq!((ran.output.as_str(), ran.exit_code), ("out\nerr\n", 0));
    assert!(!ran.truncated && !ran.timed_out && ran.full_output_path.is_none());
    assert!((0.0..20.0).contains(&ran.wall_time_seconds));
}

#[test]
fn the_exit_status_is_the_commands_own() {
    let world = World::new();
    for (command, status) in [("true", 0), ("exit 3", 3), ("no-such-command", 127), ("kill -9 $$", 137)] {
        let answer = world.command("pi-bash").arg(command).run().status(status);
        assert_eq!(answer.json::<Ran>().exit_code, status);
    }
}

#[test]
fn a_failed_command_says_its_code_after_its_output() {
    let world = World::new();
    text(&world, "echo partial; exit 3")
        .run()
        .status(3)
        .stdout_is("partial\n\n\nCommand exited with code 3\n");
    text(&world, "exit 3").run().status(3).stdout_is("(no output)\n\nCommand exited with code 3\n");
    text(&world, "true").run().ok().stdout_is("(no output)\n");
}

#[test]
fn what_cannot_start_is_125() {
    let world = World::new();
    world.command("pi-bash").args(["--shell", "/no/such/shell", "true"]).run().fails(
        125,
        "not_started",
        "Custom shell path not found: /no/such/shell",
    );
    world.command("pi-bash").args(["-C", "gone", "true"]).run().fails(
        125,
        "not_started",
        "Working directory does not exist: ",
    );
    world.file("file", "");
    world.command("pi-bash").args(["-C", "file", "true"]).run().fails(
        125,
        "not_started",
        "is not a directory: ",
    );
    world.file("text", "no program");
    world.command("pi-bash").args(["--shell", "./text", "true"]).run().fails(125, "not_started", "EACCES: ");
}

#[test]
fn bad_usage_is_2() {
    let world = World::new();
    world.command("pi-bash").arg("--no-such-flag").run().status(2);
    world.command("pi-bash").args(["--timeout", "soon", "touch RAN"]).run().status(2);
    world.command("pi-bash").json(json!({"command": "touch RAN\0"})).run().fails(
        2,
        "invalid_arguments",
        "NUL",
    );
    assert!(world.tree().is_empty());
}

#[test]
fn the_shell_can_be_chosen_by_path_or_name() {
    let world = World::new();
    let script = "echo \"${BASH_VERSION:+bash}\" \"$0\"";
    text(&world, script).run().ok().stdout_is("bash /bin/bash\n");
    text(&world, script).args(["--shell", "/bin/sh"]).run().ok().stdout_is(" /bin/sh\n");
    let by_name = text(&world, script).args(["--shell", "sh"]).run().ok();
    assert!(stdout(&by_name).ends_with("/sh\n"), "{}", by_name.report());
}

#[test]
fn a_prefix_runs_first_in_the_same_shell() {
    let world = World::new();
    text(&world, "echo $X").args(["--prefix", "X=set # no more"]).run().ok().stdout_is("set\n");
}

#[test]
fn a_command_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let command = std::ffi::OsStr::from_bytes(b"printf '\xff' | od -An -tx1");
    world.command("pi-bash").args(["-o", "text"]).arg(command).run().ok().stdout_is(" ff\n");
}

#[test]
fn the_environment_is_inherited_but_for_what_an_outer_agent_said() {
    let world = World::new();
    text(&world, "echo $OWN $AI_AGENT $PI_CODING_AGENT ${PI_MODEL-unset}")
        .env("OWN", "own")
        .env("PI_MODEL", "outer")
        .run()
        .ok()
        .stdout_is("own pi true unset\n");
}

#[test]
fn stream_copies_the_output_as_it_comes() {
    let world = World::new();
    let script = "echo first; until [ -e go ]; do sleep 0.02; done; echo second";
    let mut child = start(world.command("pi-bash").args(["--stream", script]), "stream");
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "first\n");
    world.file("go", "");
    stderr.read_to_string(&mut line).unwrap();
    assert_eq!(line, "first\nsecond\n");
    let output = child.wait_with_output().unwrap();
    let ran: Ran = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ran.output, "first\nsecond\n");
}

#[test]
fn a_reader_that_left_ends_the_command_quietly_after_its_job() {
    let world = World::new();
    let answer = world.script("pi-bash 'echo hi; touch RAN' | true; echo ${PIPESTATUS[0]}").run().ok();
    // The reader may leave before the answer or after it.
    assert!(["0\n", "141\n"].contains(&stdout(&answer).as_str()), "{}", answer.report());
    assert_eq!(world.tree(), ["RAN"]);
    world.script("pi-bash 'echo hi' >/dev/full").run().status(125).stderr_has("ENOSPC");
}

// The cases from the field.

#[test]
fn b01_a_silent_background_child_does_not_hold_the_call() {
    let world = World::new();
    let marker = marker("b01");
    let answer =
        world.command("pi-bash").env("MARKER", &marker).arg("sleep 4000 & echo up; echo $!").run().ok();
    let ran: Ran = answer.json();
    let (up, pid) = ran.output.trim_end().split_once('\n').unwrap();
    assert_eq!(up, "up");
    assert!(ran.wall_time_seconds < 100.0);
    assert_eq!(marked(&marker), ["sleep 4000"], "the child lives on, alone");
    kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGKILL).unwrap();
}

#[test]
fn b02_a_background_child_that_keeps_writing_does_not_hold_the_call_for_ever() {
    let world = World::new();
    let marker = marker("b02");
    // Never asleep: on a busy machine a pause could pass for the child's silence.
    let chatter = "(while :; do echo t; done) & echo up; exit 5";
    let with_timeout =
        text(&world, chatter).args(["--timeout", "1"]).env("MARKER", &marker).run().status(124);
    let output = stdout(&with_timeout);
    let end = output.split("\n\n").last().unwrap();
    assert!(
        end.starts_with("Command timed out after 1 seconds. The shell exited with code 5 after "),
        "{end}"
    );
    assert!(
        end.ends_with("background processes it started kept writing output until the timeout.\n"),
        "{end}"
    );
    assert_eq!(marked(&marker), Vec::<String>::new());
    let without = text(&world, chatter).env("MARKER", &marker).run().status(5);
    let end = ". Background processes of the command are still writing; what they write from here on is not \
               kept]\n\nCommand exited with code 5\n";
    assert!(stdout(&without).ends_with(end), "{}", without.report());
    eventually("the child ends when it next writes", || marked(&marker).is_empty());
}

#[test]
fn b04_a_timeout_ends_what_ignores_signals_and_what_left_the_session() {
    let world = World::new();
    let marker = marker("b04");
    let answer = text(&world, FAMILY).args(["--timeout", "0.5"]).env("MARKER", &marker).run().status(124);
    answer.stdout_is("begin\n\n\nCommand timed out after 0.5 seconds\n");
    assert_eq!(marked(&marker), Vec::<String>::new());
    assert!(world.tree().is_empty());
}

#[test]
fn a_timeout_still_gives_the_structured_content() {
    let world = World::new();
    let ran: Ran =
        world.command("pi-bash").args(["--timeout=0.3", "echo x; sleep 4005"]).run().status(124).json();
    assert_eq!((ran.output.as_str(), ran.exit_code, ran.timed_out), ("x\n", 124, true));
}

#[test]
fn b05_cancelling_ends_the_whole_list() {
    let world = World::new();
    let marker = marker("b05");
    let child = start(text(&world, FAMILY), &marker);
    eventually("the family is up", || sleepers(&marker) == 3);
    signal(&child, Signal::SIGINT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "begin\n\n\nCommand aborted\n");
    assert_eq!(marked(&marker), Vec::<String>::new());
    assert!(world.tree().is_empty());
}

#[test]
fn b07_a_useless_timeout_runs_nothing() {
    let world = World::new();
    for (timeout, words) in [("0", "finite"), ("-1", "finite"), ("9999999", "maximum is 2147483.647")] {
        let message =
            format!("Invalid timeout: {words}").replace("finite", "must be a finite number of seconds");
        let arguments = format!(r#"{{"command":"touch RAN","timeout":{timeout}}}"#);
        world.command("pi-bash").args(["--args", &arguments]).run().fails(2, "invalid_arguments", &message);
        let flags = ["--timeout", timeout, "touch RAN"];
        world.command("pi-bash").args(flags).run().fails(2, "invalid_arguments", &message);
    }
    assert!(world.tree().is_empty());
}

#[test]
fn b08_a_long_last_line_is_shown_from_its_end_with_its_real_size() {
    let world = World::new();
    let answer = text(&world, "echo a; echo b; head -c 150000 /dev/zero | tr '\\0' x; echo").run().ok();
    let output = stdout(&answer);
    let (shown, notice) = output.split_once("\n\n").unwrap();
    assert_eq!(shown, "x".repeat(51200));
    let start = "[Showing last 50.0KB of line 3 (line is 146.5KB). Full output: ";
    assert!(notice.starts_with(start), "{notice}");
}

#[test]
fn b10_output_cut_by_lines_is_kept_whole() {
    let world = World::new();
    let answer = text(&world, "seq 2500").run().ok();
    let output = stdout(&answer);
    let (_, notice) = output.split_once("\n\n[Showing lines 501-2500 of 2500. Full output: ").unwrap();
    let path = PathBuf::from(notice.trim_end().trim_end_matches(']'));
    let expected: String = (1..=2500).map(|number| format!("{number}\n")).collect();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let ran: Ran = world.command("pi-bash").arg("seq 2500").run().ok().json();
    assert_eq!((ran.output, ran.truncated), (expected, false));
    assert_eq!(ran.full_output_path.unwrap().parent(), Some(world.temp().as_path()));
    assert_eq!(names(&world.temp()).len(), 2);
}

#[test]
fn b11_standard_input_is_empty() {
    let world = World::new();
    let mut command = text(&world, "cat; read -r x || echo eof").into_std();
    // A stdin that would never end; the write end lives until the test is over.
    let (reader, _writer) = std::io::pipe().unwrap();
    let output = command.stdin(reader).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "eof\n");
}

#[test]
fn b13_binary_output_is_valid_json() {
    let world = World::new();
    let script = r"printf 'a\0b\033[31mred\033[0m\033\\\xff\u0600\n'";
    let ran: Ran = world.command("pi-bash").arg(script).run().ok().json();
    assert_eq!(ran.output, "a\0b\u{1b}[31mred\u{1b}[0m\u{1b}\\\u{fffd}\u{600}\n");
}

#[test]
fn b14_a_removed_working_directory_is_said() {
    let world = World::new();
    let answer = world.script("mkdir gone; cd gone; rmdir ../gone; pi-bash pwd").run();
    answer.fails(125, "not_started", "Working directory does not exist: ");
}

#[test]
fn b16_truncated_calls_leak_no_descriptor() {
    const CALLS: usize = 100;
    let world = World::new();
    let mut service = Service::start(&world);
    service.call("seq 3000");
    let descriptors = service.descriptors();
    for _ in 0..CALLS {
        let ran = service.call("seq 3000");
        assert!(ran.full_output_path.unwrap().exists());
    }
    assert_eq!(service.descriptors(), descriptors);
    assert_eq!(names(&world.temp()).len(), CALLS + 1, "one announced log a call");
}

#[test]
fn two_hundred_quick_runs_leave_nothing() {
    let world = World::new();
    let mut service = Service::start(&world);
    service.call("echo hi");
    let descriptors = service.descriptors();
    for _ in 0..200 {
        service.call("echo hi");
    }
    assert_eq!(service.descriptors(), descriptors);
    assert_eq!(children_of(service.child.id()), 0);
    assert!(names(&world.temp()).is_empty());
}

/// One pi-bash that answers call after call.
struct Service {
    child: Child,
    calls: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Service {
    fn start(world: &World) -> Self {
        let mut command = world.command("pi-bash").args(["--args", "-"]).into_std();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let calls = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, calls, answers }
    }

    #[track_caller]
    fn call(&mut self, command: &str) -> Ran {
        writeln!(self.calls, "{}", json!({ "command": command })).unwrap();
        let ran: Ran = serde_json::from_str(&self.answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(ran.exit_code, 0);
        ran
    }

    fn proc(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.child.id()))
    }

    fn descriptors(&self) -> usize {
        std::fs::read_dir(self.proc().join("fd")).unwrap().count()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The children of a process, dead ones that nobody has taken leave of included.
fn children_of(parent: u32) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let parents = stats.filter_map(|stat| Some(stat.rsplit_once(") ")?.1.split(' ').nth(1)?.to_owned()));
    parents.filter(|found| *found == parent.to_string()).count()
}

#[test]
fn b17_a_signal_to_the_command_ends_all_it_started() {
    use std::os::unix::process::ExitStatusExt;
    for cause in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
        let world = World::new();
        let marker = marker(&format!("b17-{cause}"));
        let child = start(world.command("pi-bash").arg(FAMILY), &marker);
        eventually("the family is up", || sleepers(&marker) == 3);
        signal(&child, cause);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(cause as i32), "it ends as the signal would have ended it");
        let ran: Ran = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((ran.output.as_str(), ran.exit_code), ("begin\n", 128 + cause as i32));
        assert_eq!(marked(&marker), Vec::<String>::new(), "{cause}");
        assert!(world.tree().is_empty());
    }
}

#[test]
fn b17_kill_9_leaves_nothing_behind() {
    let world = World::new();
    let marker = marker("b17-kill");
    // 3000 lines: the log is begun by then, and nobody will announce it.
    let mut child = start(world.command("pi-bash").arg(format!("seq 3000; {FAMILY}")), &marker);
    eventually("the family is up", || sleepers(&marker) == 3);
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    eventually("all processes are gone", || marked(&marker).is_empty());
    assert!(world.tree().is_empty());
    assert_eq!(names(&world.temp()), Vec::<String>::new());
}

#[test]
fn a_kill_of_the_whole_process_group_leaves_nothing_behind() {
    use std::os::unix::process::CommandExt;
    let world = World::new();
    let marker = marker("group");
    let mut command = world.command("pi-bash").arg(FAMILY).env("MARKER", &marker).into_std();
    let mut child = command.process_group(0).stdout(Stdio::null()).spawn().unwrap();
    eventually("the family is up", || sleepers(&marker) == 3);
    nix::sys::signal::killpg(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGKILL).unwrap();
    child.wait().unwrap();
    eventually("all processes are gone", || marked(&marker).is_empty());
}

#[test]
fn a_killed_supervisor_takes_the_command_with_it() {
    let world = World::new();
    let marker = marker("supervisor");
    let child = start(world.command("pi-bash").arg("echo begin; sleep 4006; true"), &marker);
    eventually("the command is up", || sleepers(&marker) == 1);
    let parent = format!(" {} ", child.id());
    let stats = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let supervisor = stats
        .filter(|stat| stat.contains("(pi-supervisor)") && stat.contains(&parent))
        .find_map(|stat| stat.split(' ').next()?.parse().ok())
        .unwrap();
    kill(Pid::from_raw(supervisor), Signal::SIGKILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let ran: Ran = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((ran.output.as_str(), ran.exit_code), ("begin\n", 137));
    eventually("all processes are gone", || marked(&marker).is_empty());
}

// Output of any size.

#[test]
fn memory_does_not_grow_with_the_output() {
    const MOST_KILOBYTES: u64 = 16 * 1024;
    let world = World::new();
    let mut service = Service::start(&world);
    let ran = service.call("yes 'some line of output' | head -c 200000000");
    assert!(ran.truncated && ran.output.len() < 1_100_000);
    assert_eq!(std::fs::metadata(ran.full_output_path.unwrap()).unwrap().len(), 200_000_000);
    let status = std::fs::read_to_string(service.proc().join("status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix(" kB")).unwrap();
    assert!(peak.trim().parse::<u64>().unwrap() < MOST_KILOBYTES, "{peak} kB");
}

#[test]
fn a_log_over_the_file_size_limit_is_given_up_and_said() {
    let world = World::new();
    let answer = world.script("ulimit -f 16; pi-bash -o text 'seq 30000'").run().status(0);
    let answer = answer.stderr_has("could not be kept: EFBIG");
    let notice = "[Showing lines 28001-30000 of 30000. The full output could not be kept: EFBIG: ";
    assert!(stdout(&answer).contains(notice), "{}", answer.report());
    assert_eq!(names(&world.temp()), Vec::<String>::new());
}

#[test]
fn a_status_of_255_does_not_stop_xargs() {
    let world = World::new();
    let answer = world.command("pi-bash").arg("exit 255").run().status(254);
    assert_eq!(answer.json::<serde_json::Value>()["exit_code"], 255);
}
