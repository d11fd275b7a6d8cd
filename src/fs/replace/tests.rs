//! Replacements against conflicts, leftovers, links, attributes and what is not a file.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::temporary::Temporary;
use super::*;

struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn put(path: &Path, content: &str) -> Result<(), Error> {
    replace(path, &[content.as_bytes()], None, &Cancel::new())
}

fn put_expecting(path: &Path, content: &str, expected: &Version) -> Result<(), Error> {
    replace(path, &[content.as_bytes()], Some(expected), &Cancel::new())
}

fn version(path: &Path) -> Version {
    Version::of(&fs::metadata(path).unwrap())
}

#[test]
fn the_pieces_are_written_in_order_and_only_the_target_is_left() {
    let dir = Dir::new();
    let file = dir.path("f");
    replace(&file, &[b"a", b"", b"bc"], None, &Cancel::new()).unwrap();
    assert_eq!(dir.text("f"), "abc");
    replace(&file, &[], None, &Cancel::new()).unwrap();
    assert_eq!(dir.text("f"), "");
    assert_eq!(dir.names(), ["f"]);
}

#[test]
fn a_file_that_is_what_was_read_is_replaced() {
    let dir = Dir::new();
    let file = dir.file("f", "old");
    put_expecting(&file, "new", &version(&file)).unwrap();
    assert_eq!(dir.text("f"), "new");
    assert_eq!(dir.names(), ["f"]);
}

#[test]
fn a_file_that_changed_or_went_is_a_conflict_and_keeps_what_it_has() {
    let dir = Dir::new();
    let file = dir.file("f", "old");
    let read = version(&file);
    fs::write(&file, "other!").unwrap();
    assert!(matches!(put_expecting(&file, "new", &read), Err(Error::Changed { .. })));
    assert_eq!(dir.text("f"), "other!");
    fs::remove_file(&file).unwrap();
    let error = put_expecting(&file, "new", &read).unwrap_err();
    assert_eq!(error.code(), Code::Conflict);
    assert!(dir.names().is_empty());
}

#[test]
fn what_a_stranger_wrote_at_the_last_moment_comes_back() {
    let dir = Dir::new();
    let file = dir.file("f", "old");
    let (read, cancel) = (version(&file), Cancel::new());
    let target = Target::find(&file).unwrap();
    let job = Job { path: &file, target: &target, content: &[], expected: Some(&read), cancel: &cancel };
    fs::write(dir.path("stranger"), "theirs").unwrap();
    let mut temporary = Temporary::named(&file, 0o600, &cancel).unwrap();
    let name = temporary.name(&file, &cancel).unwrap().to_owned();
    // The stranger's rename comes between the last look and the exchange.
    fs::rename(dir.path("stranger"), &file).unwrap();
    let stop = job.exchange_with(&name, &read, temporary).unwrap_err();
    assert!(matches!(stop, Stop::Failed(Error::Changed { .. })));
    assert_eq!(dir.text("f"), "theirs");
    assert_eq!(dir.names(), ["f"]);
}

#[test]
fn a_conflict_is_also_seen_before_writing_in_place() {
    let dir = Dir::new();
    let file = dir.file("f", "old");
    fs::hard_link(&file, dir.path("g")).unwrap();
    let read = version(&file);
    fs::write(dir.path("g"), "other!").unwrap();
    assert!(matches!(put_expecting(&file, "new", &read), Err(Error::Changed { .. })));
    put_expecting(&file, "new", &version(&file)).unwrap();
    assert_eq!((dir.text("f"), dir.text("g")), ("new".into(), "new".into()));
}

#[test]
fn in_place_a_longer_and_a_shorter_text_are_whole() {
    let dir = Dir::new();
    let file = dir.file("f", "12345");
    fs::hard_link(&file, dir.path("g")).unwrap();
    for text in ["a longer text", "short", "", "again"] {
        replace(
            &file,
            &[text.as_bytes().split_at(text.len() / 2).0, &text.as_bytes()[text.len() / 2..]],
            None,
            &Cancel::new(),
        )
        .unwrap();
        assert_eq!(dir.text("g"), text);
    }
}

#[test]
fn a_dead_writers_leftover_goes_and_a_living_ones_stays() {
    let dir = Dir::new();
    let file = dir.file("f", "old");
    dir.file(".f.pi-tmp", "left by a killed writer");
    let living = fs::File::create(dir.path(".f.pi-tmp1")).unwrap();
    living.lock().unwrap();
    put(&file, "new").unwrap();
    assert_eq!(dir.text("f"), "new");
    assert_eq!(dir.names(), [".f.pi-tmp1", "f"]);
    drop(living);
    put(&file, "newer").unwrap();
    assert_eq!(dir.names(), ["f"]);
}

#[test]
fn a_leftover_that_is_a_second_name_of_the_target_does_not_make_it_a_linked_file() {
    let dir = Dir::new();
    let file = dir.file("f", "old");
    fs::hard_link(&file, dir.path(".f.pi-tmp")).unwrap();
    let old = fs::metadata(&file).unwrap().ino();
    put(&file, "new").unwrap();
    assert_ne!(fs::metadata(&file).unwrap().ino(), old);
    assert_eq!(dir.names(), ["f"]);
}

#[test]
fn what_is_not_ours_under_a_temporary_name_is_left_alone() {
    let dir = Dir::new();
    let file = dir.file("f", "old");
    symlink("elsewhere", dir.path(".f.pi-tmp")).unwrap();
    fs::create_dir(dir.path(".f.pi-tmp1")).unwrap();
    put(&file, "new").unwrap();
    assert_eq!(dir.names(), [".f.pi-tmp", ".f.pi-tmp1", "f"]);
    for slot in [2, 3] {
        fs::create_dir(dir.path(&format!(".f.pi-tmp{slot}"))).unwrap();
    }
    put(&file, "in place, for want of a name").unwrap();
    assert_eq!(dir.text("f"), "in place, for want of a name");
}

#[test]
fn where_files_need_a_name_the_result_is_the_same() {
    let dir = Dir::new();
    let cancel = Cancel::new();
    let file = dir.file("f", "old");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    for (name, expected) in [("f", Some(version(&file))), ("f", None), ("new", None)] {
        let path = dir.path(name);
        let target = Target::find(&path).unwrap();
        let job = Job {
            path: &path,
            target: &target,
            content: &[b"text"],
            expected: expected.as_ref(),
            cancel: &cancel,
        };
        let temporary = Temporary::named(&path, 0o600, &cancel).unwrap();
        assert!(job.fill_and_place(temporary).is_ok());
        assert_eq!(dir.text(name), "text");
    }
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o640);
    assert_eq!(dir.names(), ["f", "new"]);
}

#[test]
fn a_new_file_never_replaces_one_that_has_just_appeared() {
    let dir = Dir::new();
    let (file, cancel) = (dir.path("f"), Cancel::new());
    let target = Target::find(&file).unwrap();
    let job = Job { path: &file, target: &target, content: &[b"ours"], expected: None, cancel: &cancel };
    dir.file("f", "theirs");
    for temporary in [Temporary::unnamed(&file, 0o600), Temporary::named(&file, 0o600, &cancel)] {
        assert!(matches!(job.fill_and_place(temporary.unwrap()), Err(Stop::Appeared)));
    }
    assert_eq!(dir.text("f"), "theirs");
    assert_eq!(dir.names(), ["f"]);
}

#[test]
fn a_cancelled_call_replaces_nothing() {
    let dir = Dir::new();
    let (file, cancel) = (dir.file("f", "old"), Cancel::new());
    let target = Target::find(&file).unwrap();
    let job = Job { path: &file, target: &target, content: &[b"new"], expected: None, cancel: &cancel };
    cancel.cancel();
    assert!(matches!(job.swap(), Err(Stop::Failed(Error::Aborted))));
    assert!(matches!(replace(&file, &[b"new"], None, &cancel), Err(Error::Aborted)));
    assert_eq!(dir.text("f"), "old");
    assert_eq!(dir.names(), ["f"]);
}

#[test]
fn links_are_followed_to_a_file_that_need_not_exist() {
    let dir = Dir::new();
    fs::create_dir(dir.path("d")).unwrap();
    symlink("d/target", dir.path("link")).unwrap();
    put(&dir.path("link"), "one").unwrap();
    put(&dir.path("link"), "two").unwrap();
    assert_eq!(dir.text("d/target"), "two");
    assert!(fs::symlink_metadata(dir.path("link")).unwrap().is_symlink());
    assert_eq!(fs::read_dir(dir.path("d")).unwrap().count(), 1);
}

#[test]
fn mode_and_attributes_come_along() {
    let dir = Dir::new();
    let file = dir.file("f", "old");
    xattr::set(&file, "user.origin", b"here").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o4751)).unwrap();
    put(&file, "new").unwrap();
    assert_eq!(xattr::get(&file, "user.origin").unwrap().unwrap(), b"here");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o4751);
}

#[test]
fn an_access_list_comes_along_and_a_directorys_default_is_not_added() {
    const ACCESS: &str = "system.posix_acl_access";
    let list: Vec<u8> =
        [(1, 6, u32::MAX), (2, 4, 12345), (4, 4, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)]
            .iter()
            .flat_map(|(tag, rights, id): &(u16, u16, u32)| {
                [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
            })
            .collect();
    let list = [&2_u32.to_le_bytes()[..], &list].concat();
    let dir = Dir::new();
    let (with, without) = (dir.file("with", "old"), dir.file("without", "old"));
    if let Err(error) = xattr::set(&with, ACCESS, &list) {
        println!("not tested: the temp dir's file system has no access control lists ({error})");
        return;
    }
    xattr::set(dir.0.path(), "system.posix_acl_default", &list).unwrap();
    put(&with, "new").unwrap();
    put(&without, "new").unwrap();
    assert_eq!(xattr::get(&with, ACCESS).unwrap().unwrap(), list);
    assert_eq!(xattr::get(&without, ACCESS).unwrap(), None);
    put(&dir.path("made"), "new").unwrap();
    assert!(xattr::get(dir.path("made"), ACCESS).unwrap().is_some());
}

#[test]
fn the_longest_name_has_a_temporary_one_too() {
    let dir = Dir::new();
    let name = "ü".repeat(127);
    assert_eq!(std::ffi::OsStr::new(&name).as_bytes().len(), 254);
    put(&dir.path(&name), "one").unwrap();
    put(&dir.path(&name), "two").unwrap();
    assert_eq!(dir.text(&name), "two");
    assert_eq!(dir.names(), [name]);
}

#[test]
fn what_is_no_file_is_refused_by_its_kind() {
    let dir = Dir::new();
    nix::unistd::mkfifo(&dir.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(dir.path("socket")).unwrap();
    for (path, kind) in [
        (dir.path("pipe"), Kind::Fifo),
        (dir.path("socket"), Kind::Socket),
        ("/dev/null".into(), Kind::CharDevice),
    ] {
        match put(&path, "x").unwrap_err() {
            Error::Unsupported { kind: found, .. } => assert_eq!(found, kind),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_running_program_is_replaced() {
    let dir = Dir::new();
    let program = dir.path("sleep");
    // A copy made by this process could be open for writing in a child that another test is starting.
    assert!(std::process::Command::new("cp").arg("/bin/sleep").arg(&program).status().unwrap().success());
    let mut child = std::process::Command::new(&program).arg("60").spawn().unwrap();
    let done = put(&program, "new");
    child.kill().unwrap();
    child.wait().unwrap();
    done.unwrap();
    assert_eq!(dir.text("sleep"), "new");
}
