//! pi-session-export: the command, what its documents hold, and what a real browser makes of the page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde_json::{Value, json};

use crate::harness::World;

const HEADER: &str = r#"{"type":"session","version":3,"id":"0198c0de-0000-7000-8000-000000000001","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/tmp/x"}"#;
/// What runs when anything of a session does.
const ATTACK: &str = "document.title='pwned';document.documentElement.dataset.pwned='yes'";

/// A session file of these entries.
fn session(entries: &[Value]) -> String {
    let lines = entries.iter().map(|entry| format!("{entry}\n"));
    format!("{HEADER}\n{}", lines.collect::<String>())
}

fn entry(id: &str, parent: Option<&str>, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-02T03:04:06.000Z", "message": message})
}

fn user(id: &str, parent: Option<&str>, text: &str) -> Value {
    entry(id, parent, json!({"role": "user", "content": text, "timestamp": 1}))
}

fn assistant(id: &str, parent: Option<&str>, content: Value) -> Value {
    let usage = json!({"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.25}});
    let message =
        json!({"role": "assistant", "content": content, "model": "m", "provider": "p", "usage": usage});
    entry(id, parent, message)
}

/// Two branches, a call with its result, a label.
fn branched() -> String {
    session(&[
        user("aaaaaaaa", None, "# Title\n\nplease *do* it"),
        assistant(
            "bbbbbbbb",
            Some("aaaaaaaa"),
            json!([{"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}]),
        ),
        entry(
            "cccccccc",
            Some("bbbbbbbb"),
            json!({"role": "toolResult", "toolCallId": "c1", "toolName": "bash", "content": [{"type": "text", "text": "haystack needle"}], "isError": false}),
        ),
        assistant("dddddddd", Some("cccccccc"), json!([{"type": "text", "text": "first branch"}])),
        json!({"type": "label", "id": "eeeeeeee", "parentId": "dddddddd", "timestamp": "2026-01-02T03:04:07.000Z", "targetId": "aaaaaaaa", "label": "start"}),
        assistant("ffffffff", Some("aaaaaaaa"), json!([{"type": "text", "text": "second branch"}])),
    ])
}

/// The document a browser makes of the page.
#[track_caller]
fn browse(world: &World, page: &str, fragment: &str) -> String {
    let has_browser = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join("chromium").exists()));
    assert!(has_browser, "no chromium: apt-get install -y --no-install-recommends chromium");
    let profile = world.temp().join("profile");
    let answer = world
        .program("timeout")
        .args(["--kill-after=5", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu"])
        .args([
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-dev-shm-usage",
        ])
        .args(["--disable-component-update", "--disable-sync", "--disable-breakpad"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("file://{}{fragment}", world.path(page).display()))
        .run()
        .status(0);
    let dom = String::from_utf8(answer.stdout).unwrap();
    assert!(dom.contains("data-ready=\"yes\""), "the page's script did not run to its end");
    dom
}

/// The numbers of the entries that the tree lists.
fn listed(dom: &str) -> String {
    let rows = Regex::new(r#"<div id="tree"[^>]* data-rows="([^"]*)""#).unwrap();
    rows.captures(dom).expect("no tree")[1].to_owned()
}

fn drawn(dom: &str) -> String {
    let (_, shown) = dom.split_once("<div id=\"entries\">").expect("no entries");
    shown.split_once("</main>").expect("no end of the entries").0.to_owned()
}

/// The file that a page holds.
fn held(page: &str) -> Vec<u8> {
    let block =
        Regex::new(r#"(?s)<script type="application/json" class="lines" data-first="\d+">(.*?)</script>"#);
    let mut file = Vec::new();
    for block in block.unwrap().captures_iter(page) {
        for item in serde_json::from_str::<Vec<Value>>(&block[1]).unwrap() {
            match &item {
                Value::String(line) => file.extend_from_slice(format!("{line}\n").as_bytes()),
                odd => {
                    file.extend_from_slice(odd["file"].as_str().unwrap_or_default().as_bytes());
                    file.extend(STANDARD.decode(odd["file64"].as_str().unwrap_or_default()).unwrap());
                }
            }
        }
    }
    file
}

fn page(world: &World, session: impl AsRef<[u8]>) -> String {
    world.file("s.jsonl", session);
    world.command("pi-session-export").args(["s.jsonl", "--to", "s.html"]).run().ok();
    world.text("s.html")
}

#[test]
fn writes_a_page_named_after_the_session_and_says_so() {
    let world = World::new();
    world.file("s.jsonl", branched());
    let answer = world.command("pi-session-export").arg("s.jsonl").run().ok();
    let report: Value = answer.json();
    let file = world.path("pi-session-s.html");
    let bytes = world.bytes("pi-session-s.html").len();
    assert_eq!(report, json!({"path": file.to_str(), "format": "html", "bytes": bytes, "entries": 6}));
    world
        .command("pi-session-export")
        .args(["s.jsonl", "--format", "md", "-o", "text"])
        .run()
        .ok()
        .stdout_is(format!("{}\n", world.path("pi-session-s.md").display()));
    assert_eq!(world.tree(), ["pi-session-s.html", "pi-session-s.md", "s.jsonl"]);
}

#[test]
fn prints_the_document_in_place_of_a_file() {
    let world = World::new();
    world.file("s.jsonl", branched());
    let markdown = world.command("pi-session-export").args(["s.jsonl", "-o", "md"]).run().ok().stdout;
    assert!(markdown.starts_with(b"# s.jsonl\n"));
    let args = ["s.jsonl", "--format", "md", "--to", "-"];
    world.command("pi-session-export").args(args).run().ok().stdout_is(&markdown);
    world.command("pi-session-export").args(["s.jsonl", "--to", "x.md"]).run().ok();
    assert_eq!(world.bytes("x.md"), markdown);
    let html = world.command("pi-session-export").args(["s.jsonl", "-o", "html"]).run().ok().stdout;
    assert!(html.starts_with(b"<!doctype html>"));
    assert_eq!(world.tree(), ["s.jsonl", "x.md"]);
}

#[test]
fn markdown_holds_the_path_or_every_branch() {
    let world = World::new();
    world.file("s.jsonl", branched());
    let run = |args: &[&str]| {
        let run = world.command("pi-session-export").args(["s.jsonl", "-o", "md"]).args(args.iter());
        String::from_utf8(run.run().ok().stdout).unwrap()
    };
    let path = run(&[]);
    assert!(path.contains("second branch") && !path.contains("first branch"), "{path}");
    assert!(path.contains("## User \\[start\\]\n\n# Title\n\nplease *do* it\n"), "{path}");
    let other = run(&["--leaf", "dddddddd"]);
    assert!(other.contains("first branch") && !other.contains("second branch"), "{other}");
    assert!(other.contains("**bash**\n\n```sh\nls\n```\n"), "{other}");
    let all = run(&["--all"]);
    assert!(all.contains("first branch") && all.contains("# Branch from aaaaaaaa"), "{all}");
    assert_eq!(all.matches("second branch").count(), 1);
}

#[test]
fn failures_and_bad_usage() {
    let world = World::new();
    world.file("s.jsonl", branched());
    world.file("empty.jsonl", "");
    let run = |args: &[&str]| world.command("pi-session-export").args(args.iter()).run();
    run(&["none.jsonl"]).fails(1, "not_found", "none.jsonl");
    run(&["0badbad"]).fails(1, "not_found", "0badbad");
    run(&["empty.jsonl"]).fails(1, "unsupported_file", "not a valid pi session");
    run(&["s.jsonl", "--leaf", "00000000"]).fails(1, "not_found", "00000000");
    run(&["s.jsonl", "--to", "s.jsonl"]).fails(1, "invalid_arguments", "the session itself");
    std::fs::hard_link(world.path("s.jsonl"), world.path("other.html")).unwrap();
    run(&["s.jsonl", "--to", "other.html"]).fails(1, "invalid_arguments", "the session itself");
    assert_eq!(world.text("s.jsonl"), branched());
    run(&["s.jsonl", "--to", "no/such/x.html"]).fails(1, "not_found", "x.html");
    run(&["s.jsonl", "-o", "md", "--to", "x.md"]).fails(2, "invalid_arguments", "--format");
    run(&["s.jsonl", "-o", "md", "--format", "html"]).fails(2, "invalid_arguments", "different formats");
    run(&["none.jsonl", "-o", "md"]).stdout_is("").stderr_has("none.jsonl").status(1);
}

#[test]
fn the_page_holds_the_file_byte_for_byte() {
    let world = World::new();
    let whole = branched();
    let lines: Vec<&str> = whole.lines().collect();
    let odd: [Vec<u8>; 6] = [
        whole.clone().into_bytes(),
        whole.trim_end().into(),
        whole.replace('\n', "\r\n").into(),
        [whole.as_bytes(), b"\xff\xfe </script> broken\n\n\0\n", lines[1].as_bytes(), b"\n{\"type\":"]
            .concat(),
        format!("{}\n{}{}\n{HEADER}\nnull\n7\n", lines[0], lines[1], lines[2]).into(),
        [
            lines[0].as_bytes(),
            b"\n{\"type\":\"x\",\"id\":\"1\",\"parentId\":null,\"a\":\"\xff\\ud800\xe2\x80\xa8\"}\n",
        ]
        .concat(),
    ];
    for source in odd {
        assert_eq!(held(&page(&world, &source)), source, "{}", String::from_utf8_lossy(&source));
    }
}

#[test]
fn an_old_session_is_shown_migrated_and_held_as_it_was() {
    let world = World::new();
    let old = "{\"type\":\"session\",\"id\":\"old\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n\
               {\"type\":\"message\",\"timestamp\":\"2025-01-01T00:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"very old\"}}\n";
    assert_eq!(held(&page(&world, old)), old.as_bytes());
    assert!(drawn(&browse(&world, "s.html", "")).contains("very old"));
}

#[test]
fn filters_search_and_entries_are_chosen_by_the_address() {
    let world = World::new();
    page(&world, branched());
    let dom = browse(&world, "s.html", "");
    assert_eq!(listed(&dom), "0 1 2 3 5");
    let shown = drawn(&dom);
    assert!(shown.contains("<h1>Title</h1><p>please <em>do</em> it</p>"), "{shown}");
    assert!(shown.contains("second branch") && !shown.contains("first branch"), "{shown}");
    for (fragment, rows) in [
        ("#filter=all", "0 1 2 3 4 5"),
        ("#filter=no-tools", "0 3 5"),
        ("#filter=user", "0"),
        ("#filter=labelled", "0"),
        ("#search=NEEDLE+hay", "2"),
        ("#filter=user&search=needle", ""),
    ] {
        assert_eq!(listed(&browse(&world, "s.html", fragment)), rows, "{fragment}");
    }
    let shown = drawn(&browse(&world, "s.html", "#entry=cccccccc"));
    assert!(shown.contains("first branch") && !shown.contains("second branch"), "{shown}");
    let target = r#"<article class="entry card is-toolResult target" id="e2" data-entry="cccccccc">"#;
    assert!(shown.contains(target), "{shown}");
}

#[test]
fn nothing_of_a_hostile_session_runs() {
    let world = World::new();
    let payloads = [
        format!("<script>{ATTACK}</script>"),
        format!("</script><script>{ATTACK}</script>"),
        format!("<!--<script>{ATTACK}</script>-->"),
        format!("<img src=x onerror=\"{ATTACK}\">"),
        format!("\"><svg onload=\"{ATTACK}\">"),
        format!(
            "[click](javascript:{ATTACK}) [x](JaVaScRiPt:{ATTACK}) [y](data:text/html,<script>{ATTACK}</script>)"
        ),
        format!("![p](javascript:{ATTACK}) <javascript:{ATTACK}> [r]\n\n[r]: javascript:{ATTACK}"),
        format!("{{{{script}}}}{{{{data}}}}${{{ATTACK}}}\u{2028}{ATTACK}\u{2029}"),
        format!(
            "```\"><script>{ATTACK}</script>\n<script>{ATTACK}</script>\n```\n| <b>a</b> |\n|--|\n| <i>b</i> |"
        ),
        format!(
            "<style>@import 'http://127.0.0.1:1/x'</style><iframe srcdoc=\"<script>parent.{ATTACK}</script>\">"
        ),
        "\u{202e}\u{0}\u{7}\u{1b}[2J".to_owned(),
    ];
    let mut entries = Vec::new();
    let mut parent: Option<String> = None;
    let mut push = |make: &dyn Fn(&str, Option<&str>) -> Value| {
        let id = format!("{:08x}", entries.len());
        entries.push(make(&id, parent.as_deref()));
        parent = Some(id);
    };
    for payload in &payloads {
        push(&|id, parent| user(id, parent, payload));
        push(&|id, parent| {
            assistant(
                id,
                parent,
                json!([{"type": "text", "text": payload}, {"type": "thinking", "thinking": payload}, {"type": "toolCall", "id": payload, "name": payload, "arguments": {"path": payload, "content": payload, "__proto__": payload}}, {"type": payload}]),
            )
        });
        push(&|id, parent| {
            entry(
                id,
                parent,
                json!({"role": "toolResult", "toolCallId": payload, "toolName": payload, "content": [{"type": "text", "text": payload}, {"type": "image", "mimeType": "image/svg+xml", "data": payload}, {"type": "image", "mimeType": "image/png", "data": payload}, {"type": "image", "mimeType": format!("image/png\" onerror=\"{ATTACK}"), "data": "iVBORw0KGgo="}], "details": {"diff": payload}, "isError": false}),
            )
        });
        push(&|id, parent| {
            entry(
                id,
                parent,
                json!({"role": "bashExecution", "command": payload, "output": payload, "fullOutputPath": payload}),
            )
        });
        push(&|id, parent| entry(id, parent, json!({"role": payload, "content": payload})));
        push(&|id, parent| json!({"type": payload, "id": id, "parentId": parent, "timestamp": payload}));
        push(
            &|id, parent| json!({"type": "label", "id": id, "parentId": parent, "targetId": "00000000", "label": payload}),
        );
        push(
            &|id, parent| json!({"type": "session_info", "id": id, "parentId": parent, "name": format!("{payload}{}", "x".repeat(100_000))}),
        );
    }
    for name in ["__proto__", "constructor", "toString"] {
        push(&|id, parent| entry(id, parent, json!({"role": name, "content": [null, 1, [], {}]})));
        push(&|id, parent| json!({"type": name, "id": id, "parentId": parent, "message": null}));
    }
    push(
        &|id, parent| json!({"type": "message", "id": format!("\"><script>{ATTACK}</script>{id}"), "parentId": parent, "message": {"role": "user", "content": "odd id"}}),
    );
    let mut file = session(&entries);
    file.push_str(&format!("</script><script>{ATTACK}</script>\n{{\"</script><script>{ATTACK}</script>\n"));
    file.push_str("{\"type\":\"message\",\"id\":\"99999999\",\"parentId\":\"00000000\",\"message\":{\"role\":\"user\",\"content\":\"lone \\ud83d half, last words\"}}\n");
    let source = page(&world, &file);
    assert_eq!(held(&source), file.as_bytes());
    let scripts = Regex::new(r"(?i)<script|</script|<!--").unwrap();
    let data = source.matches("class=\"lines\"").count();
    assert_eq!(scripts.find_iter(&source).count(), 2 * (data + 2), "markup of the session's in the page");

    // Once at the end, and once along the long branch with every payload.
    let address = format!("#entry={:08x}&filter=all&search=%3Cscript%3E{ATTACK}", entries.len() - 2);
    let element = Regex::new(r#"<([a-z0-9-]+)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>"#).unwrap();
    let handler = Regex::new(r#"\son[a-z]+="#).unwrap();
    let target = Regex::new(r#"\s(?:href|src)="([^"]*)""#).unwrap();
    let value = Regex::new(r#""[^"]*""#).unwrap();
    let between = Regex::new(r">[^<]*<").unwrap();
    for fragment in ["", &address] {
        let dom = browse(&world, "s.html", fragment);
        assert!(!dom.contains("data-pwned"), "a script of the session ran");
        assert!(!dom.contains("<title>pwned"), "a script of the session ran");
        let body = &dom[dom.find("<body").unwrap()..];
        let shown = &body[..body.find("<script type=").unwrap()];
        for found in element.captures_iter(shown) {
            assert!(
                !["script", "iframe", "style", "svg", "object", "embed", "form", "b", "i"]
                    .contains(&&found[1]),
                "{}",
                &found[0]
            );
            let outside_values = value.replace_all(&found[2], "\"\"").into_owned();
            assert!(!handler.is_match(&outside_values), "{}", &found[0]);
        }
        for found in target.captures_iter(&between.replace_all(shown, "><")) {
            let is_safe = ["#", "https://", "http://", "mailto:", "data:image/png;base64,"]
                .iter()
                .any(|start| found[1].starts_with(start));
            assert!(is_safe, "{}", &found[0]);
        }
    }
    let shown = drawn(&browse(&world, "s.html", ""));
    assert!(shown.contains("lone \u{fffd} half, last words"), "{shown}");
    assert!(
        shown.contains(&format!("&lt;script&gt;{ATTACK}&lt;/script&gt;")),
        "the text is not shown literally"
    );

    let markdown =
        world.command("pi-session-export").args(["s.jsonl", "-o", "md", "--all"]).run().ok().stdout;
    assert_inactive(&String::from_utf8(markdown).unwrap());
}

/// No line outside of a fence holds a tag.
#[track_caller]
fn assert_inactive(markdown: &str) {
    let mut fence: Option<usize> = None;
    for line in markdown.lines() {
        let run = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if run >= 3 && !line[run..].contains('`') => fence = Some(run),
            None => {
                assert!(!line.contains('<') && !line.replace("\\]", "").contains("](javascript"), "{line}")
            }
            Some(open) if run >= open && line[run..].trim().is_empty() => fence = None,
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "a fence is left open");
}

#[test]
fn a_session_of_20_mb_opens_at_its_last_message() {
    let world = World::new();
    let filler = "some words of a long session, <b>again</b> and again; ".repeat(18);
    let mut file = format!("{HEADER}\n");
    let mut parent = "null".to_owned();
    for number in 0..18_000 {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        let text = format!("message {number} {filler}");
        file.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"{number:08x}\",\"parentId\":{parent},\"timestamp\":\"2026-01-02T03:04:06.000Z\",\
             \"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        ));
        parent = format!("\"{number:08x}\"");
    }
    assert!(file.len() > 20_000_000, "{}", file.len());
    page(&world, &file);
    let dom = browse(&world, "s.html", "");
    let shown = drawn(&dom);
    assert!(shown.contains("message 17999 some words"), "the last message is not shown");
    let articles = shown.matches("<article").count();
    assert!((1..=400).contains(&articles), "{articles} entries drawn at once");
    let rows = dom.matches("role=\"option\"").count();
    assert!((1..=200).contains(&rows), "{rows} rows drawn at once");
    let far = drawn(&browse(&world, "s.html", "#entry=00000064"));
    assert!(far.contains("message 100 some words"));
    let size = world.path("s.html").metadata().unwrap().len() as usize;
    assert!(size < file.len() / 2 * 3, "{size} bytes of page for {} of session", file.len());
}
