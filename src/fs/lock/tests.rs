//! Locks against threads, aliases, strangers and missing directories.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

struct Dirs {
    root: tempfile::TempDir,
}

impl Dirs {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for dir in ["run", "tmp", "work"] {
            fs::create_dir(root.path().join(dir)).unwrap();
        }
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn locks(&self) -> LockDir {
        LockDir::new(&Environment::from_iter([
            ("XDG_RUNTIME_DIR", self.path("run")),
            ("TMPDIR", self.path("tmp")),
        ]))
    }

    fn lock(&self, name: &str) -> Lock {
        self.locks().lock(&self.path(name), &Cancel::new()).unwrap()
    }

    /// Whether a second writer would have to wait; the wait is ended by its cancellation.
    fn is_taken(&self, name: &str) -> bool {
        let cancel = Cancel::new();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| self.locks().lock(&self.path(name), &cancel));
            std::thread::sleep(std::time::Duration::from_millis(20));
            cancel.cancel();
            matches!(second.join().unwrap(), Err(Error::Aborted))
        })
    }
}

#[test]
fn threads_exclude_each_other_and_lock_files_do_not_pile_up() {
    let dirs = Dirs::new();
    let (locks, file) = (dirs.locks(), dirs.path("work/f"));
    let (inside, total) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let _lock = locks.lock(&file, &Cancel::new()).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    total.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(total.into_inner(), 200);
    assert_eq!(fs::read_dir(dirs.path("run/pi/locks")).unwrap().count(), 0);
    let mode = |path| fs::metadata(dirs.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("run/pi"), mode("run/pi/locks")), (0o700, 0o700));
}

#[test]
fn all_names_of_a_file_are_one_lock_and_other_files_are_free() {
    let dirs = Dirs::new();
    symlink("f", dirs.path("work/link")).unwrap();
    let held = dirs.lock("work/f");
    assert!(dirs.is_taken("work/link"));
    drop(held);
    fs::write(dirs.path("work/f"), "").unwrap();
    let _held = dirs.lock("work/link");
    assert!(dirs.is_taken("work/f"));
    let _free = dirs.lock("work/g");
}

#[test]
fn a_runtime_dir_that_is_open_to_others_is_not_used() {
    let dirs = Dirs::new();
    fs::set_permissions(dirs.path("run"), fs::Permissions::from_mode(0o777)).unwrap();
    let _lock = dirs.lock("work/f");
    assert_eq!(fs::read_dir(dirs.path("run")).unwrap().count(), 0);
    let own = dirs.path("tmp").join(format!("pi-{}", nix::unistd::geteuid())).join("locks");
    assert_eq!(fs::read_dir(own).unwrap().count(), 1);
}

#[test]
fn without_a_lock_directory_the_file_itself_is_locked() {
    let dirs = Dirs::new();
    fs::remove_dir(dirs.path("run")).unwrap();
    fs::create_dir(dirs.path("elsewhere")).unwrap();
    let planted = dirs.path("tmp").join(format!("pi-{}", nix::unistd::geteuid()));
    symlink(dirs.path("elsewhere"), planted).unwrap();
    symlink("f", dirs.path("work/link")).unwrap();
    fs::write(dirs.path("work/f"), "").unwrap();
    let _held = dirs.lock("work/f");
    assert!(dirs.is_taken("work/link"));
    let _free = dirs.lock("work/missing");
    assert_eq!(fs::read_dir(dirs.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_lock_on_a_replaced_file_passes_on_to_the_new_one() {
    let dirs = Dirs::new();
    fs::remove_dir(dirs.path("run")).unwrap();
    fs::remove_dir(dirs.path("tmp")).unwrap();
    let file = dirs.path("work/f");
    fs::write(&file, "old").unwrap();
    let _first = dirs.lock("work/f");
    fs::write(dirs.path("work/new"), "new").unwrap();
    fs::rename(dirs.path("work/new"), &file).unwrap();
    let second = dirs.lock("work/f");
    assert!(is_named(second.file.as_ref().unwrap(), &file));
}
