use std::path::Path;

use super::*;

/// Keeps what comes.
#[derive(Default)]
struct Kept(Vec<u8>);

impl Output for Kept {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

fn shell(script: &str) -> Command {
    Command {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        cwd: "/".into(),
        environment: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
        timeout: None,
    }
}

#[track_caller]
fn ran(script: &str) -> (Ended, String) {
    let mut kept = Kept::default();
    let ended = run(&shell(script), &mut kept, &Cancel::new()).unwrap();
    (ended, String::from_utf8(kept.0).unwrap())
}

#[test]
fn both_streams_arrive_in_order_with_the_status() {
    let (ended, text) = ran("echo a; echo b >&2; echo c; exit 7");
    assert_eq!((text.as_str(), ended.cause), ("a\nb\nc\n", Cause::Exited));
    assert_eq!(ended.exit.unwrap().status, 7);
    assert!(ended.exit.unwrap().after <= ended.wall_time);
    assert_eq!(ran("kill -9 $$").0.exit.unwrap().status, 137);
}

#[test]
fn the_command_inherits_no_descriptor_and_no_signal_setting() {
    // A descriptor from `dup` stays open across an exec.
    let held = nix::unistd::dup(std::fs::File::open("/").unwrap()).unwrap();
    /// The C library keeps signals 32 and 33 for itself and lets nobody set them.
    const OURS: u64 = !(0b11 << 31);
    let (_, text) = ran("ls /proc/self/fd | tr '\\n' ' '; \
         while read -r line; do case $line in Sig[BI]*) echo \"$line\"; esac; done </proc/$$/status");
    // The fourth is the directory that `ls` reads.
    assert!(text.starts_with("0 1 2 3 Sig"), "{text}");
    let masks: Vec<_> = text.lines().filter_map(|line| line.rsplit('\t').next()).collect();
    let masks: Vec<_> = masks.into_iter().map(|mask| u64::from_str_radix(mask, 16).unwrap() & OURS).collect();
    assert_eq!(masks, [0, 0], "{text}");
    drop(held);
}

#[test]
fn the_command_has_a_session_of_its_own_without_a_terminal() {
    let (_, text) = ran("cat; read x || echo eof; ps -o sid= -p $$; echo $$; : </dev/tty");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("eof"));
    assert_eq!(lines.next().map(str::trim), lines.next());
    assert!(lines.next().unwrap().contains("/dev/tty"), "{text}");
}

#[test]
fn what_cannot_start_says_why() {
    let mut command = shell("true");
    command.program = "/no/such/program".into();
    let error = run(&command, &mut Kept::default(), &Cancel::new()).unwrap_err();
    assert_eq!(error.to_string(), "ENOENT: no such file or directory, spawn '/no/such/program'");
    command.cwd = "/etc/passwd".into();
    let error = run(&command, &mut Kept::default(), &Cancel::new()).unwrap_err();
    assert_eq!(error.to_string(), "ENOTDIR: not a directory, chdir '/etc/passwd'");
    command.arguments = vec!["nul\0".into()];
    assert!(run(&command, &mut Kept::default(), &Cancel::new()).is_err());
}

#[test]
fn an_output_that_is_due_is_called_without_output() {
    struct Due(u32);
    impl Output for Due {
        fn write(&mut self, _: &[u8]) {}
        fn due(&self) -> Option<Instant> {
            (self.0 < 3).then(Instant::now)
        }
        fn tick(&mut self) {
            self.0 += 1;
        }
    }
    let mut due = Due(0);
    run(&shell("sleep 0.2"), &mut due, &Cancel::new()).unwrap();
    assert_eq!(due.0, 3);
}

/// Processes whose environment or arguments hold the marker.
fn survivors(marker: &str) -> Vec<String> {
    let holds = |path: &Path| {
        let has = |name: &str| {
            std::fs::read(path.join(name)).is_ok_and(|text| String::from_utf8_lossy(&text).contains(marker))
        };
        has("cmdline") || has("environ")
    };
    let entries = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| holds(path)).map(|path| path.display().to_string()).collect()
}

#[test]
fn a_timeout_ends_all_generations_in_all_sessions() {
    let marker = format!("pi-process-test-{}-timeout", std::process::id());
    let mut command = shell(
        "trap '' TERM; setsid sh -c 'setsid sleep 3301 & sleep 3302 & wait' & (sleep 3303 &); \
         setsid -f sleep 3304; echo up; sleep 3305",
    );
    command.environment.push(("MARKER".into(), marker.clone().into()));
    command.timeout = Some(Duration::from_millis(300));
    let mut kept = Kept::default();
    let ended = run(&command, &mut kept, &Cancel::new()).unwrap();
    assert_eq!((ended.cause, ended.exit), (Cause::TimedOut, None));
    assert_eq!(kept.0, b"up\n");
    assert_eq!(survivors(&marker), Vec::<String>::new());
}

#[test]
fn a_panic_of_the_caller_ends_the_command() {
    struct Panics;
    impl Output for Panics {
        fn write(&mut self, _: &[u8]) {
            panic!("on purpose");
        }
    }
    let marker = format!("pi-process-test-{}-panic", std::process::id());
    let mut command = shell("echo up; sleep 3306");
    command.environment.push(("MARKER".into(), marker.clone().into()));
    let result = std::panic::catch_unwind(move || run(&command, &mut Panics, &Cancel::new()));
    assert!(result.is_err());
    assert_eq!(survivors(&marker), Vec::<String>::new());
}

#[test]
fn many_threads_run_commands_at_once() {
    let threads: Vec<_> = (0..8)
        .map(|number| {
            std::thread::spawn(move || {
                for round in 0..5 {
                    let (ended, text) = ran(&format!("echo {number} {round}; exit {number}"));
                    assert_eq!(text, format!("{number} {round}\n"));
                    assert_eq!(ended.exit.unwrap().status, number);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
