//! pi-write: what ends up on disk, whatever happens on the way.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use pi_toolbox::cancel::Cancel;
use pi_toolbox::context::{Context, Environment};
use pi_toolbox::fs::lock::LockDir;
use serde_json::json;

use crate::harness::{Answer, Run, World, bin_dir};

#[test]
fn a_text_from_each_source_is_written_and_reported() {
    let world = World::new();
    let said = |effect| json!({"path": "d/f", "bytes": 6, "effect": effect});
    world.command("pi-write").arg("d/f").stdin("hello\n").run().ok().json_is(said("created"));
    assert_eq!(world.text("d/f"), "hello\n");
    world.command("pi-write").args(["d/f", "--content", "-again"]).run().ok().json_is(said("updated"));
    assert_eq!(world.text("d/f"), "-again");
    let arguments = json!({"path": "d/f", "content": "-again"});
    world.command("pi-write").json(arguments).run().ok().json_is(said("unchanged"));
    world
        .command("pi-write")
        .args(["-o", "text", "d/f", "--content", ""])
        .run()
        .ok()
        .stdout_is("Successfully wrote to d/f\n");
    assert_eq!(world.tree(), ["d", "d/f"]);
}

#[test]
fn w01_a_size_limit_keeps_the_old_file_and_leaves_nothing_beside_it() {
    let world = World::new();
    let old = "o".repeat(20_000);
    world.file("keep.txt", &old);
    world.file("linked.txt", &old);
    fs::hard_link(world.path("linked.txt"), world.path("other-name.txt")).unwrap();
    for name in ["keep.txt", "linked.txt", "new.txt"] {
        let script = format!("ulimit -f 8; exec pi-write {name}");
        // Longer than the old text, and shorter: the limit is below both.
        for len in [200_000, 10_000] {
            let answer = world.script(&script).stdin("n".repeat(len)).run();
            answer.fails(1, "no_space", "EFBIG");
        }
    }
    for name in ["keep.txt", "linked.txt", "other-name.txt"] {
        assert_eq!(world.text(name), old, "{name}");
    }
    assert_eq!(world.tree(), ["keep.txt", "linked.txt", "other-name.txt"]);
}

#[test]
fn w01_a_full_disk_keeps_the_old_file_and_leaves_nothing_beside_it() {
    let world = World::new();
    let as_root = ["--mount"];
    let as_anyone = ["--user", "--map-root-user", "--mount"];
    let may_mount = |flags: &[&str]| {
        let script = "mount -t tmpfs none \"$0\" 2>/dev/null";
        world.program("unshare").args(flags).args(["sh", "-c", script, "."]).run().status.success()
    };
    let Some(flags) = [&as_root[..], &as_anyone[..]].into_iter().find(|flags| may_mount(flags)) else {
        println!(
            "not tested: no right to mount a small disk here; the size limit test covers the same steps"
        );
        return;
    };
    fs::create_dir(world.path("disk")).unwrap();
    fs::create_dir(world.path("after")).unwrap();
    world.file("new.txt", "n".repeat(200_000));
    let script = "mount -t tmpfs -o size=64k none disk && cd disk || exit 99
        head -c 20000 /dev/zero | tr '\\0' o >keep.txt
        cp keep.txt linked.txt; ln linked.txt other-name.txt
        for name in keep.txt linked.txt made.txt; do pi-write $name <../new.txt; done
        cp -a . ../after";
    let path = format!("{}:{}", bin_dir().display(), std::env::var("PATH").unwrap());
    let answer = world.program("unshare").args(flags).args(["bash", "-c", script]).env("PATH", path).run();
    let answer = answer.status(0);
    let errors = answer.lines::<serde_json::Value>();
    assert_eq!(errors.len(), 3, "{}", answer.report());
    for error in &errors {
        assert_eq!(error["error"]["code"], "no_space", "{}", answer.report());
        assert!(error["error"]["message"].as_str().unwrap().starts_with("ENOSPC: "), "{}", answer.report());
    }
    let mut left: Vec<_> = fs::read_dir(world.path("after")).unwrap().map(|entry| entry.unwrap()).collect();
    left.sort_by_key(fs::DirEntry::file_name);
    let names: Vec<_> = left.iter().map(fs::DirEntry::file_name).collect();
    assert_eq!(names, ["keep.txt", "linked.txt", "other-name.txt"]);
    for entry in left {
        assert_eq!(fs::read_to_string(entry.path()).unwrap(), "o".repeat(20_000));
    }
}

#[test]
fn w01_a_kill_at_any_moment_leaves_the_whole_old_or_the_whole_new_file() {
    const ROUNDS: u64 = 120;
    let world = World::new();
    let texts = [vec![b'o'; 3_000_000], vec![b'n'; 3_000_000]];
    let sources = [world.home().join("o"), world.home().join("n")];
    for (source, text) in sources.iter().zip(&texts) {
        fs::write(source, text).unwrap();
    }
    let write = |source: &Path| {
        let mut command = world.command("pi-write").arg("f").into_std();
        command.stdin(File::open(source).unwrap()).stdout(Stdio::null());
        command.spawn().unwrap()
    };
    // Only to spread the kills over the life of a write; nothing depends on it.
    let start = Instant::now();
    assert!(write(&sources[0]).wait().unwrap().success());
    let life = start.elapsed();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..ROUNDS {
        let (old, new) = if round % 2 == 0 { (0, 1) } else { (1, 0) };
        fs::write(world.path("f"), &texts[old]).unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = write(&sources[new]);
        std::thread::sleep(life.mul_f64((seed >> 33) as f64 / (1_u64 << 31) as f64));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = world.bytes("f");
        assert!(found == texts[old] || found == texts[new], "round {round}: {} bytes", found.len());
        world.command("pi-write").args(["f", "--content", "next"]).run().ok();
        assert_eq!(world.tree(), ["f"], "round {round}");
    }
}

#[test]
fn w02_mode_and_link_stay() {
    let world = World::new();
    world.file("t.sh", "old\n");
    fs::set_permissions(world.path("t.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("t.sh", world.path("lk")).unwrap();
    world.command("pi-write").json(json!({"path": "lk", "content": "new\n"})).run().ok();
    assert_eq!(world.text("t.sh"), "new\n");
    assert_eq!(fs::metadata(world.path("t.sh")).unwrap().mode() & 0o7777, 0o750);
    assert_eq!(fs::read_link(world.path("lk")).unwrap(), Path::new("t.sh"));
    assert_eq!(world.tree(), ["lk", "t.sh"]);
}

#[test]
fn w04_half_a_surrogate_pair_is_replaced_and_not_refused() {
    let world = World::new();
    let arguments = r#"{"path":"ls.txt","content":"a\ud83dz"}"#;
    world.command("pi-write").args(["--args", arguments]).run().ok();
    assert_eq!(world.text("ls.txt"), "a\u{fffd}z");
}

#[test]
fn w05_the_count_is_of_bytes() {
    let world = World::new();
    let answer = world.command("pi-write").json(json!({"path": "e.txt", "content": "😀"})).run();
    answer.ok().json_is(json!({"path": "e.txt", "bytes": 4, "effect": "created"}));
}

#[test]
fn w07_a_write_that_cannot_be_is_a_failure() {
    let world = World::new();
    fs::create_dir(world.path("dir")).unwrap();
    world.file("file", "x");
    let write = |path: &str| world.command("pi-write").args([path, "--content", "q"]).run();
    let open = format!("EISDIR: is a directory, open '{}'", world.path("dir").display());
    write("dir").fails(1, "is_directory", &open);
    let mkdir = format!("EEXIST: file exists, mkdir '{}'", world.path("file").display());
    write("file/sub").fails(1, "not_directory", &mkdir).stderr_has("not a directory");
    write("file/sub/below").fails(1, "not_directory", "ENOTDIR: not a directory, mkdir '");
    write(&"n".repeat(300)).fails(1, "io", "ENAMETOOLONG: ");
    assert_eq!(world.tree(), ["dir", "file"]);
    assert_eq!(world.text("file"), "x");
}

#[test]
fn a_pipe_or_a_device_is_refused_at_once() {
    let world = World::new();
    nix::unistd::mkfifo(&world.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let write = |path: &str| world.command("pi-write").args([path, "--content", "q"]).run();
    let answer = write("pipe").fails(1, "unsupported_file", "is a named pipe, not a regular file");
    let error: serde_json::Value = answer.json();
    assert_eq!(error["error"]["kind"], "fifo");
    write("/dev/null").fails(1, "unsupported_file", "'/dev/null' is a character device");
}

#[test]
fn a_file_that_holds_the_text_already_is_not_touched() {
    let world = World::new();
    let text = "x".repeat(200_000);
    let file = world.file("f", &text);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let before = fs::metadata(&file).unwrap();
    let unchanged = json!({"path": "f", "bytes": 200_000, "effect": "unchanged"});
    as_plain_user(&world).arg("f").stdin(text.clone()).run().ok().json_is(unchanged);
    let after = fs::metadata(&file).unwrap();
    assert_eq!((after.ino(), after.mtime_nsec()), (before.ino(), before.mtime_nsec()));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let other = format!("{}y", &text[1..]);
    let updated = json!({"path": "f", "bytes": 200_000, "effect": "updated"});
    as_plain_user(&world).arg("f").stdin(other.clone()).run().ok().json_is(updated);
    assert_eq!(world.text("f"), other);
}

#[test]
fn hard_links_keep_sharing_one_file() {
    let world = World::new();
    world.file("a", "a longer old text");
    fs::hard_link(world.path("a"), world.path("b")).unwrap();
    for text in ["new", "", "a text that is longer than the old one"] {
        world.command("pi-write").arg("a").stdin(text).run().ok();
        assert_eq!(world.text("b"), text);
    }
    assert_eq!(world.tree(), ["a", "b"]);
}

#[test]
fn attributes_come_along() {
    let world = World::new();
    let file = world.file("f", "old");
    xattr::set(&file, "user.origin", b"https://example.org").unwrap();
    world.command("pi-write").args(["f", "--content", "new"]).run().ok();
    assert_eq!(xattr::get(&file, "user.origin").unwrap().unwrap(), b"https://example.org");
}

#[test]
fn a_new_file_has_the_mode_the_umask_leaves() {
    let world = World::new();
    world.script("umask 027; pi-write d/f --content x").run().ok();
    let mode = |name| fs::metadata(world.path(name)).unwrap().mode() & 0o7777;
    assert_eq!((mode("d"), mode("d/f")), (0o750, 0o640));
}

#[test]
fn a_read_only_file_is_refused_though_its_directory_is_open() {
    let world = World::new();
    let file = world.file("ro", "old");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let refusal = format!("EACCES: permission denied, open '{}'", file.display());
    let answer = as_plain_user(&world).args(["ro", "--content", "new"]).run();
    answer.fails(1, "permission_denied", &refusal);
    assert_eq!(world.text("ro"), "old");
    assert_eq!(world.tree(), ["ro"]);
}

#[test]
fn in_a_closed_directory_a_file_is_written_in_place_and_none_is_made() {
    let world = World::new();
    let file = world.file("d/f", "old");
    let run = as_plain_user(&world).args(["d/f", "--content", "new"]);
    fs::set_permissions(world.path("d"), fs::Permissions::from_mode(0o555)).unwrap();
    let inode = fs::metadata(&file).unwrap().ino();
    run.run().ok().json_is(json!({"path": "d/f", "bytes": 3, "effect": "updated"}));
    assert_eq!((world.text("d/f"), fs::metadata(&file).unwrap().ino()), ("new".into(), inode));
    let refusal = format!("EACCES: permission denied, open '{}'", world.path("d/made").display());
    let run = as_plain_user(&world).args(["d/made", "--content", "x"]);
    fs::set_permissions(world.path("d"), fs::Permissions::from_mode(0o555)).unwrap();
    run.run().fails(1, "permission_denied", &refusal);
    assert_eq!(world.tree(), ["d", "d/f"]);
    fs::set_permissions(world.path("d"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_file_of_somebody_else_stays_his() {
    if !geteuid().is_root() {
        println!("not tested: only root can make a file of another user's");
        return;
    }
    let world = World::new();
    let file = world.file("f", "old");
    let run = as_plain_user(&world).args(["f", "--content", "new"]);
    chown(&file, Some(0), Some(0)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    run.run().ok();
    let after = fs::metadata(&file).unwrap();
    assert_eq!((world.text("f"), after.uid(), after.gid()), ("new".into(), 0, 0));
    // And root keeps a file its owner's.
    chown(&file, Some(PLAIN_USER), Some(PLAIN_USER)).unwrap();
    world.command("pi-write").args(["f", "--content", "newer"]).run().ok();
    let after = fs::metadata(&file).unwrap();
    assert_eq!((world.text("f"), after.uid(), after.gid()), ("newer".into(), PLAIN_USER, PLAIN_USER));
    assert_eq!(world.tree(), ["f"]);
}

#[test]
fn of_32_writers_at_once_one_wins_whole() {
    let world = World::new();
    let text = |writer: u8| vec![b'A' + writer; 100_000];
    world.file("f", text(32));
    symlink("f", world.path("link")).unwrap();
    let mut writers: Vec<_> = (0..32)
        .map(|writer| {
            let source = world.home().join(writer.to_string());
            fs::write(&source, text(writer)).unwrap();
            let name = if writer % 2 == 0 { "f" } else { "link" };
            let mut command = world.command("pi-write").arg(name).into_std();
            command.stdin(File::open(source).unwrap()).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    let is_whole = |found: &[u8]| found.len() == 100_000 && found.iter().all(|byte| *byte == found[0]);
    while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
        assert!(is_whole(&world.bytes("f")));
    }
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert!(is_whole(&world.bytes("f")));
    assert_eq!(world.tree(), ["f", "link"]);
    assert_eq!(fs::read_dir(lock_dir(&world)).unwrap().count(), 0, "lock files piled up");
}

#[test]
fn a_planted_lock_directory_is_not_used() {
    let world = World::new();
    let planted = world.temp().join(format!("pi-{}", geteuid()));
    fs::create_dir(&planted).unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o777)).unwrap();
    let run = world.command("pi-write").args(["f", "--content", "x"]);
    run.env("XDG_RUNTIME_DIR", "not/absolute").run().ok();
    assert_eq!(fs::read_dir(&planted).unwrap().count(), 0);
    assert_eq!(world.text("f"), "x");
}

#[test]
fn without_any_place_for_locks_writing_still_works() {
    let world = World::new();
    world.file("f", "old");
    for name in ["f", "made"] {
        let run = world.command("pi-write").args([name, "--content", "x"]);
        run.env("XDG_RUNTIME_DIR", "/proc").env("TMPDIR", "/proc").run().ok();
        assert_eq!(world.text(name), "x");
    }
}

#[test]
fn a_signal_ends_the_wait_for_another_writer() {
    let world = World::new();
    world.file("f", "old");
    let locks = LockDir::new(&Environment::from_iter([("XDG_RUNTIME_DIR", run_dir(&world))]));
    let held = locks.lock(&world.path("f"), &Cancel::new()).unwrap();
    let mut command = world.command("pi-write").args(["f", "--content", "new"]).into_std();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // What wakes it from its wait is only made once it waits.
    let descriptors = PathBuf::from(format!("/proc/{}/fd", child.id()));
    let waits = || {
        let open = fs::read_dir(&descriptors).unwrap().flatten();
        open.filter_map(|entry| fs::read_link(entry.path()).ok())
            .any(|name| name.to_string_lossy().contains("eventfd"))
    };
    while !waits() {
        std::thread::sleep(Duration::from_millis(1));
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(15));
    let error: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(error["error"], json!({"code": "aborted", "message": "Operation aborted"}));
    assert_eq!(world.text("f"), "old");
    drop(held);
}

#[test]
fn a_call_that_is_aborted_before_it_starts_writes_nothing() {
    let world = World::new();
    let context = Context::from_process(None).in_dir(world.dir());
    context.cancel.cancel();
    let write = pi_toolbox::tools::named("write").unwrap();
    let result = write.call(json!({"path": "a.txt", "content": "x"}), &context);
    assert!(result.is_error);
    assert_eq!(serde_json::to_value(&result.content).unwrap()[0]["text"], "Operation aborted");
    assert!(world.tree().is_empty());
}

#[test]
fn a_name_that_is_not_utf_8_is_reported_in_raw_bytes_too() {
    let world = World::new();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    let answer = world.command("pi-write").arg(name).stdin("x").run();
    let report =
        json!({"path": "caf\u{fffd}.txt", "path_base64": "Y2Fm6S50eHQ=", "bytes": 1, "effect": "created"});
    answer.ok().json_is(report);
    assert_eq!(world.text(name), "x");
    let answer = world.command("pi-write").args(["-o", "text"]).arg(name).stdin("y").run();
    assert_eq!(answer.ok().stdout, b"Successfully wrote to caf\xe9.txt\n");
}

#[test]
fn bytes_from_a_pipe_need_not_be_text() {
    let world = World::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    world.command("pi-write").arg("f").stdin(bytes.clone()).run().ok();
    assert_eq!(world.bytes("f"), bytes);
}

/// An id of no account of its own.
const PLAIN_USER: u32 = 65534;

/// `pi-write` as a user whom permissions bind, and who owns everything in the world so far.
fn as_plain_user(world: &World) -> Run<'_> {
    if !geteuid().is_root() {
        return world.command("pi-write");
    }
    let root = world.dir().join("..");
    // The build directory may be closed to others.
    let program = world.dir().with_file_name("pi-write");
    if !program.exists() {
        let copy = world.program("cp").arg(bin_dir().join("pi-write")).arg(&program).run();
        drop(copy.ok());
    }
    let everything = world.program("chown").arg("-R").arg(format!("{PLAIN_USER}:{PLAIN_USER}")).arg(&root);
    drop::<Answer>(everything.run().ok());
    let id = PLAIN_USER.to_string();
    world.program("setpriv").args(["--reuid", &id, "--regid", &id, "--clear-groups"]).arg(program)
}

fn run_dir(world: &World) -> PathBuf {
    world.dir().with_file_name("run")
}

fn lock_dir(world: &World) -> PathBuf {
    run_dir(world).join("pi/locks")
}
