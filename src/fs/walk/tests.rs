//! The walk against git, against itself with other numbers of threads, and stopped early.

use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::context::Environment;

const EVERYWHERE: Dialect = Dialect { own_files: &[".fdignore", ".ignore"], git_everywhere: true };
const IN_REPOSITORIES: Dialect = Dialect { own_files: &[".ignore"], git_everywhere: false };

/// Notes every entry (cheap) or every file (not), as `path\n`.
struct Notes<const CHEAP: bool> {
    visited: AtomicUsize,
}

impl<const CHEAP: bool> Visit for Notes<CHEAP> {
    type Worker = ();
    type Found = Vec<u8>;
    const IS_CHEAP: bool = CHEAP;

    fn worker(&self) {}

    fn visit(&self, (): &mut (), entry: &Entry<'_>, found: &mut Vec<u8>) {
        self.visited.fetch_add(1, Ordering::Relaxed);
        found.extend_from_slice(entry.relative.as_os_str().as_bytes());
        found.extend_from_slice(if entry.kind == Kind::Dir { b"/\n" } else { b"\n" });
    }

    fn weight(&self, found: &Vec<u8>) -> usize {
        found.iter().filter(|byte| **byte == b'\n').count()
    }
}

struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, path: &str, content: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn git(&self, from: &str, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.0.path().join(from)).args(["-c", "core.quotePath=false"]).args(arguments);
        git.env("HOME", self.0.path().join("home")).env_remove("XDG_CONFIG_HOME");
        let output = git.output().expect("git is installed");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn context(&self) -> Context {
        Context {
            home: Some(self.0.path().join("home")),
            environment: Arc::new(Environment::default()),
            ..Context::from_process(None)
        }
    }

    /// The lines a walk gives, and how many entries it looked at.
    fn walk<const CHEAP: bool>(
        &self,
        from: &str,
        dialect: Dialect,
        threads: usize,
        most: usize,
    ) -> (Vec<String>, usize) {
        let notes = Notes::<CHEAP> { visited: AtomicUsize::new(0) };
        let mut lines = Vec::new();
        let root = self.0.path().join(from);
        let walk = Walk { root: &root, dialect, ahead: 4, threads };
        let sink = &mut |event: Event<Vec<u8>>| {
            match event {
                Event::Found(found) => {
                    lines.extend(String::from_utf8_lossy(&found).lines().map(str::to_owned));
                }
                Event::Unreadable(unreadable) => lines.push(unreadable.to_string()),
            }
            if lines.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        walk.run(&notes, &self.context(), sink).unwrap();
        (lines, notes.visited.into_inner())
    }

    fn files(&self, from: &str, dialect: Dialect) -> Vec<String> {
        self.walk::<false>(from, dialect, 1, usize::MAX).0
    }
}

#[test]
fn order_is_by_component_and_a_directory_comes_before_what_is_in_it() {
    let tree = Tree::new();
    for path in ["a/x", "a.b", "a-b/y", "a/b/z", "b", "A/q"] {
        tree.file(path, "");
    }
    let (lines, _) = tree.walk::<true>("", EVERYWHERE, 1, usize::MAX);
    assert_eq!(lines, ["A/", "A/q", "a/", "a/b/", "a/b/z", "a/x", "a-b/", "a-b/y", "a.b", "b"]);
}

#[test]
fn many_threads_give_what_one_gives() {
    let tree = Tree::new();
    for directory in 0..60 {
        for file in 0..directory % 30 {
            tree.file(&format!("{:x}/{directory}/{:02}/f{file}", directory % 7, file % 3), "");
        }
    }
    let alone = tree.walk::<false>("", EVERYWHERE, 1, usize::MAX);
    let entries = tree.walk::<true>("", EVERYWHERE, 1, usize::MAX);
    for threads in [2, 3, 8, 16] {
        assert_eq!(tree.walk::<false>("", EVERYWHERE, threads, usize::MAX), alone);
        assert_eq!(tree.walk::<true>("", EVERYWHERE, threads, usize::MAX), entries);
        for most in [1, 50, 200] {
            let (lines, _) = tree.walk::<false>("", EVERYWHERE, threads, most);
            assert_eq!(lines, alone.0[..lines.len()]);
            assert!(lines.len() >= most);
        }
    }
}

#[test]
fn a_walk_that_has_enough_looks_at_little_more() {
    let tree = Tree::new();
    for directory in 0..100 {
        for file in 0..30 {
            tree.file(&format!("d{directory:03}/f{file:02}"), "");
        }
    }
    for threads in [1, 4] {
        let (_, visited) = tree.walk::<false>("", EVERYWHERE, threads, 1);
        // One batch for each thread, and as much as may be held ahead.
        assert!(visited <= (threads + 5) * BATCH, "{visited} of 3000 files with {threads} threads");
    }
}

#[test]
fn a_cancelled_walk_ends() {
    let tree = Tree::new();
    tree.file("a/b", "");
    let context = tree.context();
    context.cancel.cancel();
    let notes = Notes::<true> { visited: AtomicUsize::new(0) };
    let walk = Walk { root: tree.0.path(), dialect: EVERYWHERE, ahead: 4, threads: 2 };
    walk.run(&notes, &context, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(notes.visited.into_inner(), 0);
}

#[test]
#[should_panic(expected = "scoped thread panicked")]
fn a_panic_in_a_thread_is_not_a_deadlock() {
    struct Panics(std::thread::ThreadId);
    impl Visit for Panics {
        type Worker = ();
        type Found = ();
        const IS_CHEAP: bool = false;
        fn worker(&self) {}
        fn visit(&self, (): &mut (), _: &Entry<'_>, (): &mut ()) {
            assert_eq!(std::thread::current().id(), self.0, "on another thread");
            std::thread::yield_now();
        }
        fn weight(&self, (): &()) -> usize {
            0
        }
    }
    let tree = Tree::new();
    for directory in 0..500 {
        tree.file(&format!("d{directory}/f"), "");
    }
    let walk = Walk { root: tree.0.path(), dialect: EVERYWHERE, ahead: 4, threads: 2 };
    let visit = Panics(std::thread::current().id());
    // The other thread may get nothing to do; it gets its turn sooner or later.
    loop {
        walk.run(&visit, &tree.context(), &mut |_| ControlFlow::Continue(())).unwrap();
    }
}

#[test]
fn own_files_come_before_gits_and_the_nearest_of_a_kind_decides() {
    let tree = Tree::new();
    tree.file(".git/info/exclude", "ex\n");
    tree.file("home/.config/git/ignore", "glob\n");
    tree.file(".gitignore", "*.log\nhome\n");
    tree.file("a/.gitignore", "!keep.log\n");
    tree.file(".ignore", "tmp\n!own.log\n");
    tree.file(".fdignore", "!tmp\nfd\n");
    for path in ["a/keep.log", "a/x.log", "own.log", "tmp", "fd", "ex", "glob", "a/ex"] {
        tree.file(path, "");
    }
    let dotfiles = [".fdignore", ".gitignore", ".ignore", "a/.gitignore"];
    let without_dotfiles = |files: Vec<String>| -> Vec<_> {
        files.into_iter().filter(|file| !dotfiles.contains(&file.as_str())).collect()
    };
    assert_eq!(without_dotfiles(tree.files("", EVERYWHERE)), ["a/keep.log", "own.log", "tmp"]);
    assert_eq!(without_dotfiles(tree.files("", IN_REPOSITORIES)), ["a/keep.log", "fd", "own.log"]);
}

#[test]
fn git_rules_count_outside_of_repositories_only_where_the_dialect_says_so() {
    let tree = Tree::new();
    tree.file(".gitignore", "*.log\n");
    tree.file("a/x.log", "");
    tree.file("in/.git/HEAD", "");
    tree.file("in/y.log", "");
    assert_eq!(tree.files("a", EVERYWHERE), [""; 0]);
    assert_eq!(tree.files("a", IN_REPOSITORIES), ["x.log"]);
    assert_eq!(tree.files("in", EVERYWHERE), ["y.log"]);
    assert_eq!(tree.files("", EVERYWHERE), [".gitignore", "in/y.log"]);
}

#[test]
fn a_worktree_uses_the_excludes_of_its_main_repository() {
    let tree = Tree::new();
    tree.file("main/.git/info/exclude", "secret\n");
    tree.file("main/.git/worktrees/w/commondir", "../..\n");
    tree.file("w/.git", "gitdir: ../main/.git/worktrees/w\n");
    tree.file("w/secret", "");
    tree.file("w/open", "");
    assert_eq!(tree.files("w", IN_REPOSITORIES), [".git", "open"]);
}

#[test]
fn the_inside_of_git_is_left_out_unless_the_walk_starts_there() {
    let tree = Tree::new();
    tree.file("r/.git/hooks/h", "");
    tree.file("r/a", "");
    assert_eq!(tree.walk::<true>("r", EVERYWHERE, 1, usize::MAX).0, [".git/", "a"]);
    assert_eq!(tree.files("r/.git", EVERYWHERE), ["hooks/h"]);
}

fn pattern() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "*.x", "a*", "?", "**", "[ab]", "f.x"]);
    (prop::bool::ANY, prop::bool::ANY, prop::collection::vec(name, 1..4), prop::bool::ANY).prop_map(
        |(not, rooted, names, only_dir)| {
            format!(
                "{}{}{}{}",
                if not { "!" } else { "" },
                if rooted { "/" } else { "" },
                names.join("/"),
                if only_dir { "/" } else { "" }
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// From every directory that git looks into, the walk lists the files that git lists.
    #[test]
    fn lists_what_git_lists_from_every_directory(
        files in prop::collection::btree_set("(a/|b/|aa/){0,3}(f\\.x|g|c\\.x)", 1..14),
        rules in prop::collection::btree_map("(a/|b/){0,2}", prop::collection::vec(pattern(), 1..4), 0..4),
    ) {
        let tree = Tree::new();
        tree.file("r/.keep", "");
        for file in &files {
            tree.file(&format!("r/{file}"), "");
        }
        for (directory, lines) in &rules {
            tree.file(&format!("r/{directory}.gitignore"), &lines.join("\n"));
        }
        tree.git("r", &["init", "-q"]);
        let listed = tree.git("r", &["ls-files", "-co", "--exclude-standard"]);
        let mut starts: Vec<_> = listed
            .lines()
            .flat_map(|file| Path::new(file).ancestors().skip(1).map(|path| path.to_str().unwrap().to_owned()))
            .collect();
        starts.sort();
        starts.dedup();
        for start in starts {
            let start = format!("r/{start}");
            let by_git = tree.git(&start, &["ls-files", "-co", "--exclude-standard"]);
            let mut by_git: Vec<_> = by_git.lines().collect();
            by_git.sort_by_key(|file| Key::of(Path::new(file)));
            prop_assert_eq!(tree.files(&start, IN_REPOSITORIES), by_git, "from {} with {:?}", start, rules);
        }
    }
}
