//! The recorded vectors, run against the library: whatever pi did, we do, or it is written down why not.
//!
//! `tests/vectors/tools/*.json` and, when `PI_VECTORS_EXTRA` names a folder of the same layout, its
//! `tools/*.json` too. One case that differs is fine if `tests/departures.json` or a rule in
//! `vector_rule.rs` says why; a departure that is none any more fails as well.

#[path = "vector_case.rs"]
mod case;
#[path = "vector_compare.rs"]
mod compare;
#[path = "vector_rule.rs"]
mod rule;
#[path = "vector_run.rs"]
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use case::Case;
use compare::Verdict;

#[test]
fn vectors_tools() {
    let cases = cases("tools");
    let mut departures: BTreeMap<String, String> =
        serde_json::from_slice(&std::fs::read(own("departures.json")).unwrap()).unwrap();
    // The same list serves a runner of the commands; what only a command cannot do is no excuse here.
    departures.retain(|_, reason| !reason.starts_with("as a command: "));
    let report = judge(&cases, &departures);
    let failed = report.failures.len();
    let mut text =
        format!("vectors tools: {} cases, {failed} failed, {} departures\n", cases.len(), report.departures);
    for (name, difference) in &report.failures {
        text.push_str(&format!("{name}: {difference}\n"));
    }
    // Past the test harness, which would show it of failed tests only.
    std::io::stdout().write_all(text.as_bytes()).unwrap();
    assert!(failed == 0, "{text}");
}

#[test]
fn vectors_that_differ_are_told_from_departures_and_stale_ones() {
    let case = |name: &str, text: &str| -> Case {
        serde_json::from_value(serde_json::json!({
            "name": name, "tool": "write", "setup": [], "args": {"path": "a", "content": "x"},
            "expect": {"content": [{"type": "text", "text": text}], "isError": false},
            "files_after": [{"path": "a", "content": "x"}],
        }))
        .unwrap()
    };
    let right = "Successfully wrote to a";
    let cases = [case("same", right), case("listed", "?"), case("wrong", "?"), case("stale", right)];
    let listed = ["write/listed", "write/stale", "write/gone"];
    let departures = listed.map(|name| (name.to_owned(), "a reason".to_owned())).into();
    let report = judge(&cases, &departures);
    assert_eq!(report.departures, 1);
    let failures: Vec<_> = report.failures.iter().map(|(name, why)| (name.as_str(), why.as_str())).collect();
    assert_eq!(
        failures,
        [
            ("write/gone", "stale departure, no such case: a reason"),
            ("write/stale", "stale departure, it matches: a reason"),
            ("write/wrong", "content[0].text: want \"?\", got \"Successfully wrote to a\""),
        ]
    );
}

#[derive(Default)]
struct Report {
    failures: BTreeMap<String, String>,
    departures: usize,
}

/// Runs all cases, a few at a time: many of them only wait.
fn judge(cases: &[Case], departures: &BTreeMap<String, String>) -> Report {
    const AT_A_TIME: usize = 6;
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o022));
    let report = Mutex::new(Report::default());
    let matched = Mutex::new(BTreeSet::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = case.full_name();
                    let verdict = run::judge(case);
                    let mut report = report.lock().unwrap();
                    match verdict {
                        Verdict::Same => drop(matched.lock().unwrap().insert(name)),
                        Verdict::Departs => report.departures += 1,
                        Verdict::Differs(_) if departures.contains_key(&name) => report.departures += 1,
                        Verdict::Differs(difference) => drop(report.failures.insert(name, difference)),
                    }
                }
            });
        }
    });
    let mut report = report.into_inner().unwrap();
    let matched = matched.into_inner().unwrap();
    let known: BTreeSet<String> = cases.iter().map(Case::full_name).collect();
    for (name, reason) in departures {
        if matched.contains(name) {
            report.failures.insert(name.clone(), format!("stale departure, it matches: {reason}"));
        } else if !known.contains(name) {
            report.failures.insert(name.clone(), format!("stale departure, no such case: {reason}"));
        }
    }
    report
}

/// The cases of a kind, our own and those that `PI_VECTORS_EXTRA` adds.
fn cases(kind: &str) -> Vec<Case> {
    let extra = std::env::var_os("PI_VECTORS_EXTRA").map(PathBuf::from);
    let folders = [Some(own("vectors")), extra].into_iter().flatten().map(|folder| folder.join(kind));
    folders
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| files_in(&folder))
        .flat_map(|file| read(&file))
        .collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

fn read(file: &Path) -> Vec<Case> {
    let cases = pi_toolbox::json::parse(&std::fs::read(file).unwrap()).and_then(serde_json::from_value);
    cases.unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}
