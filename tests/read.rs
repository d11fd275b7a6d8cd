//! pi-read as a command.

use std::ffi::OsStr;
use std::io::{Cursor, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat, RgbImage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::{Answer, Run, World, bin_dir};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Image {
    r#type: String,
    data: String,
    mime_type: String,
    note: String,
}

impl Image {
    fn decoded(&self) -> DynamicImage {
        image::load_from_memory(&STANDARD.decode(&self.data).unwrap()).unwrap()
    }
}

/// pi-read under a watch: what would hang fails with status 124.
fn watched(world: &World) -> Run<'_> {
    world.program("timeout").arg("60").arg(bin_dir().join("pi-read"))
}

fn png(width: u32, height: u32) -> Vec<u8> {
    encoded(&RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, 7])), ImageFormat::Png)
}

fn encoded(image: &RgbImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Not random, but as incompressible as noise.
fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut image = RgbImage::new(width, height);
    image.fill_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    });
    image
}

trait FillWith {
    fn fill_with(&mut self, next: impl FnMut() -> u8);
}

impl FillWith for RgbImage {
    fn fill_with(&mut self, mut next: impl FnMut() -> u8) {
        self.iter_mut().for_each(|byte| *byte = next());
    }
}

#[test]
fn flags_choose_the_lines() {
    let world = World::new();
    world.file("five.txt", "one\ntwo\nthree\nfour\nfive\n");
    let read = || world.command("pi-read").arg("five.txt");
    read().run().ok().json_is(json!("one\ntwo\nthree\nfour\nfive\n"));
    read().args(["--offset", "5"]).run().ok().json_is(json!("five\n"));
    read()
        .args(["--limit", "2"])
        .run()
        .ok()
        .json_is(json!("one\ntwo\n\n[4 more lines in file. Use offset=3 to continue.]"));
    read()
        .args(["--offset=2", "--limit=1"])
        .run()
        .ok()
        .json_is(json!("two\n\n[4 more lines in file. Use offset=3 to continue.]"));
    read().args(["--offset", "-3"]).run().ok().json_is(json!("one\ntwo\nthree\nfour\nfive\n"));
    read().args(["--limit", "-1"]).run().ok().json_is(json!("one\ntwo\nthree\nfour\nfive\n"));
    read()
        .args(["-o", "text", "--limit", "1"])
        .run()
        .ok()
        .stdout_is("one\n\n[5 more lines in file. Use offset=2 to continue.]\n");
}

#[test]
fn arguments_of_a_model_are_coerced_and_floored() {
    let world = World::new();
    world.file("five.txt", "one\ntwo\nthree\nfour\nfive\n");
    world
        .command("pi-read")
        .json(json!({"path": "@five.txt", "offset": "2.9", "limit": 1.5}))
        .run()
        .ok()
        .json_is(json!("two\n\n[4 more lines in file. Use offset=3 to continue.]"));
}

#[test]
fn failures_have_a_code_a_status_and_facts() {
    let world = World::new();
    world.file("a.txt", "x");
    world.file("loop/.keep", "");
    std::os::unix::fs::symlink("me", world.path("me")).unwrap();
    let read = |path: &str| world.command("pi-read").arg(path).run();
    let at = |path: &str| world.path(path).to_str().unwrap().to_owned();
    read("nope").fails(
        1,
        "not_found",
        &format!("ENOENT: no such file or directory, access '{}'", at("nope")),
    );
    read("a.txt/b").fails(1, "not_directory", "ENOTDIR: not a directory, access");
    read("me").fails(1, "io", "ELOOP: too many symbolic links encountered, access");
    read("loop").fails(1, "is_directory", "EISDIR: illegal operation on a directory, read");
    let beyond = world.command("pi-read").args(["a.txt", "--offset", "9"]).run();
    beyond.fails(1, "beyond_end", "Offset 9 is beyond end of file (1 lines total)").json_is(
        json!({"error": {
            "code": "beyond_end",
            "message": "Offset 9 is beyond end of file (1 lines total)",
            "path": at("a.txt"),
            "lines": 1,
        }}),
    );
    let nul = world.command("pi-read").json(json!({"path": "a\0b"})).run().status(2);
    let error: Value = nul.json();
    assert_eq!(error["error"]["code"], "invalid_arguments", "{}", nul.report());
}

#[test]
fn bad_usage_leaves_with_2() {
    let world = World::new();
    world.file("a.txt", "x");
    for wrong in [
        &["a.txt", "--offset", "two"][..],
        &["a.txt", "--limit", "nan"],
        &["a.txt", "--timeout", "0"],
        &["a.txt", "--timeout", "2147483.648"],
        &["a.txt", "b.txt"],
        &[],
    ] {
        world.command("pi-read").args(wrong).run().fails(2, "invalid_arguments", "");
    }
}

#[test]
fn details_tell_how_the_text_was_cut() {
    let world = World::new();
    world.file("long.txt", "é\n".repeat(2100));
    let result: Value = world.command("pi-read").args(["-o", "result", "long.txt"]).run().ok().json();
    let mut cut = result["details"]["truncation"].clone();
    assert_eq!(cut["content"].take(), "é\n".repeat(2000).trim_end());
    assert_eq!(
        cut,
        json!({
            "content": null, "truncated": true, "truncatedBy": "lines", "totalLines": 2100,
            "totalBytes": 6300, "outputLines": 2000, "outputBytes": 5999, "lastLinePartial": false,
            "firstLineExceedsLimit": false, "maxLines": 2000, "maxBytes": 51200,
        })
    );
    assert_eq!(result["content"][0]["text"], result["structuredContent"]);
    world.file("short.txt", "x");
    let result: Value = world.command("pi-read").args(["-o", "result", "short.txt"]).run().ok().json();
    assert_eq!(result.get("details"), None);
}

#[test]
fn r01_a_line_of_a_huge_file_takes_little_memory() {
    let world = World::new();
    let line = "0123456789012345678901234567890123456789012345678901234567890\n";
    world.file("lines.log", line.repeat(2_000_000) + "the end\n");
    let hole = std::fs::File::create(world.path("one-line.bin")).unwrap();
    hole.set_len(150_000_000).unwrap();
    world
        .script(
            "ulimit -v 110000
             pi-read --offset 2000001 --limit 1 lines.log
             pi-read one-line.bin",
        )
        .run()
        .ok()
        .stdout_is(
            "\"the end\\n\\n[1 more lines in file. Use offset=2000002 to continue.]\"\n\
             \"[Line 1 is 143.1MB, exceeds 50.0KB limit. Use bash: sed -n '1p' one-line.bin | head -c 51200]\"\n",
        );
}

#[test]
fn r02_one_long_line_is_a_notice_with_a_way_on() {
    let world = World::new();
    world.file("min.js", "x".repeat(60_000));
    world.file("it's long.js", "x\n".to_owned() + &"y".repeat(60_000));
    let notice = |path: &str, line: u32, shown: &str| {
        let notice = format!(
            "[Line {line} is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '{line}p' {shown} | head -c 51200]"
        );
        let offset = line.to_string();
        let run = world.command("pi-read").args(["-o", "text", path, "--offset", &offset]);
        run.run().ok().stdout_is(notice.clone() + "\n");
        notice
    };
    notice("min.js", 1, "min.js");
    let full = world.path("min.js");
    notice("@min.js", 1, full.to_str().unwrap());
    let hint = notice("it's long.js", 2, r"'it'\''s long.js'");
    // The way on works.
    let command = hint.split_once("Use bash: ").unwrap().1.trim_end_matches(']');
    world.program("bash").args(["-c", command]).run().ok().stdout_is("y".repeat(51_200));
}

#[test]
fn r04_the_media_type_comes_from_the_content() {
    let world = World::new();
    let bytes = png(3, 2);
    for name in ["real.jpg", "noext"] {
        world.file(name, &bytes);
        let image: Image = world.command("pi-read").arg(name).run().ok().json();
        assert_eq!((image.r#type.as_str(), image.mime_type.as_str()), ("image", "image/png"));
        assert_eq!(image.note, "Read image file [image/png]");
        assert_eq!(STANDARD.decode(image.data).unwrap(), bytes);
    }
    world
        .command("pi-read")
        .args(["-o", "text", "noext"])
        .run()
        .ok()
        .stdout_is("Read image file [image/png]\n");
}

#[test]
fn r05_a_broken_picture_never_becomes_an_image_block() {
    let world = World::new();
    world.file("shot.png", "not an image at all\n");
    world.command("pi-read").arg("shot.png").run().ok().json_is(json!("not an image at all\n"));
    world.file("half.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDRjunk");
    let whole = png(40, 40);
    world.file("cut.png", &whole[..whole.len() / 2]);
    for name in ["half.png", "cut.png"] {
        world.command("pi-read").arg(name).run().ok().json_is(json!(
            "Read image file [image/png]\n[Image omitted: could not be resized below the inline image size limit.]"
        ));
        world.command("pi-read").args([name, "--no-resize"]).run().ok().json_is(json!(
            "Read image file [image/png]\n[Image omitted: it is damaged and does not decode.]"
        ));
    }
}

#[test]
fn an_image_that_claims_billions_of_pixels_takes_no_memory() {
    let world = World::new();
    let mut bytes = png(1, 1);
    bytes[16..24].copy_from_slice(&[0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50]);
    let crc = crc32(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    world.file("bomb.png", bytes);
    let hole = std::fs::File::create(world.path("huge.gif")).unwrap();
    (&hole).write_all(b"GIF89a").unwrap();
    hole.set_len(1 << 40).unwrap();
    world
        .script("ulimit -v 200000; pi-read -o text bomb.png; pi-read -o text huge.gif")
        .run()
        .ok()
        .stdout_is(
            "Read image file [image/png]\n[Image omitted: 50000x50000 pixels are more than are decoded.]\n\
         Read image file [image/gif]\n\
         [Image omitted: the file is larger than 64.0MB, more than is read of an image.]\n",
        );
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[test]
fn r07_a_bitmap_becomes_a_png() {
    let world = World::new();
    let bytes = encoded(&RgbImage::from_pixel(3, 1, image::Rgb([255, 0, 0])), ImageFormat::Bmp);
    world.file("a.bmp", bytes);
    let image: Image = world.command("pi-read").arg("a.bmp").run().ok().json();
    assert_eq!(image.note, "Read image file [image/png]\n[Image converted from image/bmp to image/png.]");
    assert_eq!(image.mime_type, "image/png");
    let pixels = image.decoded().into_rgb8();
    assert_eq!((pixels.dimensions(), pixels.get_pixel(2, 0).0), ((3, 1), [255, 0, 0]));
}

#[test]
fn r08_a_photo_over_the_inline_limit_comes_smaller() {
    let world = World::new();
    let photo = noise(2100, 620);
    let mut bytes = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 100);
    photo.write_with_encoder(encoder).unwrap();
    assert!(bytes.len() * 4 / 3 > 4_718_592, "{}", bytes.len());
    world.file("photo.jpg", &bytes);
    let image: Image = world.command("pi-read").arg("photo.jpg").run().ok().json();
    assert!(image.data.len() < 4_718_592);
    assert_eq!(image.mime_type, "image/jpeg");
    assert_eq!(
        image.note,
        "Read image file [image/jpeg]\n[Image: original 2100x620, displayed at 2000x590. \
         Multiply coordinates by 1.05 to map to original image.]"
    );
    let shown = image.decoded();
    assert_eq!((shown.width(), shown.height()), (2000, 590));
    let image: Image = world.command("pi-read").args(["photo.jpg", "--no-resize"]).run().ok().json();
    assert_eq!(STANDARD.decode(image.data).unwrap(), bytes);
}

#[test]
fn r10_proc_files_of_size_0_are_read() {
    let world = World::new();
    let text: String = world.command("pi-read").args(["/proc/self/status", "--limit", "1"]).run().ok().json();
    let (line, notice) = text.split_once("\n\n").unwrap();
    assert!(line.starts_with("Name:"), "{text}");
    assert!(notice.ends_with(" more lines in file. Use offset=2 to continue.]"), "{text}");
}

#[test]
fn r11_pipes_and_devices_are_refused_at_once() {
    let world = World::new();
    world.program("mkfifo").arg("pp").run().ok();
    watched(&world).arg("pp").run().fails(1, "unsupported_file", "is a named pipe");
    watched(&world).arg("/dev/zero").run().fails(1, "unsupported_file", "is a character device");
    watched(&world).arg("/dev/zero").run().fails(1, "unsupported_file", "--timeout SECONDS");
    let _socket = std::os::unix::net::UnixListener::bind(world.path("sock")).unwrap();
    watched(&world).args(["sock", "--timeout", "9"]).run().fails(1, "unsupported_file", "is a socket");
}

#[test]
fn r11_a_terminal_is_refused_at_once() {
    let world = World::new();
    let terminal = nix::pty::openpty(None, None).unwrap();
    let mut command = watched(&world).arg("-").into_std();
    let output = command.stdin(terminal.slave).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(error["error"]["code"], "unsupported_file");
    assert!(error["error"]["message"].as_str().unwrap().contains("is a terminal"), "{error}");
}

#[test]
fn r11_with_a_timeout_a_pipe_is_read_to_its_end() {
    let world = World::new();
    world
        .script("mkfifo pp; (printf 'hel'; printf 'lo\\n') > pp & timeout 60 pi-read --timeout 50 pp")
        .run()
        .ok()
        .json_is(json!("hello\n"));
}

#[test]
fn r11_with_a_timeout_what_never_ends_is_read_that_long() {
    let world = World::new();
    // A writer that keeps the pipe open, one that never comes, and one that never stops.
    let open = "mkfifo pp; exec 3<>pp; printf 'a\\nb' >&3; timeout 60 pi-read --timeout 0.2 pp";
    let stopped = "[Stopped after 0.2 seconds, before the end.]";
    world.script(open).run().ok().json_is(json!(format!("a\nb\n\n{stopped}")));
    world.program("mkfifo").arg("nobody").run().ok();
    watched(&world).args(["nobody", "--timeout", "0.2"]).run().ok().json_is(json!(format!("\n\n{stopped}")));
    let zeros: String = watched(&world).args(["/dev/zero", "--timeout", "0.2"]).run().ok().json();
    assert!(
        zeros.starts_with("[Line 1 is ") && zeros.ends_with("Stopped after 0.2 seconds, before the end.]")
    );
    watched(&world).args(["nobody", "--timeout", "0.2", "--offset", "7"]).run().fails(
        1,
        "beyond_end",
        "(1 lines total when reading stopped after 0.2 seconds)",
    );
}

#[test]
fn a_pipe_of_ones_own_is_read_to_its_end() {
    let world = World::new();
    for path in ["-", "/dev/stdin", "/dev/fd/0"] {
        world.command("pi-read").arg(path).stdin("from a pipe\n").run().ok().json_is(json!("from a pipe\n"));
    }
    world.script("pi-read <(printf 'from a command\\n')").run().ok().json_is(json!("from a command\n"));
    world.command("pi-read").arg("-").stdin(png(2, 2)).run().ok().json::<Image>();
    world.file("-", "a file\n");
    world.command("pi-read").arg("./-").run().ok().json_is(json!("a file\n"));
    // A model has no pipes of its own.
    world.command("pi-read").json(json!({"path": "-"})).run().ok().json_is(json!("a file\n"));
    let answer = world.command("pi-read").json(json!({"path": "/dev/stdin"})).stdin("x").run();
    answer.fails(1, "unsupported_file", "'/dev/stdin' is a named pipe");
}

#[test]
fn r13_a_character_on_any_edge_stays_whole() {
    let world = World::new();
    for before in [997, 998, 999, 511, 1023, 4095, 8191, 65_535, 262_142, 262_143] {
        let line = "漢漢漢\n";
        world.file("c.md", "a".repeat(before) + "\n" + line);
        world.command("pi-read").args(["c.md", "--offset", "2"]).run().ok().json_is(json!(line));
        if before < 10_000 {
            let text = "a".repeat(before) + line;
            world.file("c.md", &text);
            world.command("pi-read").arg("c.md").run().ok().json_is(json!(text));
        }
    }
}

#[test]
fn r14_names_typed_plainly_are_found() {
    let world = World::new();
    world.file("it\u{2019}s.txt", "x");
    world.file("Shot 9.41\u{202f}am.txt", "y");
    world.command("pi-read").arg("it's.txt").run().ok().json_is(json!("x"));
    world.command("pi-read").arg("Shot 9.41 am.txt").run().ok().json_is(json!("y"));
    world.file("it's.txt", "exact");
    world.command("pi-read").arg("it's.txt").run().ok().json_is(json!("exact"));
    world.file("it\u{a0}is.txt", "odd");
    world.command("pi-read").arg("it\u{a0}is.txt").run().ok().json_is(json!("odd"));
}

#[test]
fn r16_a_byte_order_mark_is_not_shown_and_stays_on_disk() {
    let world = World::new();
    let bytes = b"\xef\xbb\xbfimport os\n\xef\xbb\xbfx\n";
    world.file("bom.py", bytes);
    world.command("pi-read").args(["-o", "text", "bom.py"]).run().ok().stdout_is("import os\n\u{feff}x\n");
    // Only the first of a file is a mark.
    world.command("pi-read").args(["bom.py", "--offset", "2"]).run().ok().json_is(json!("\u{feff}x\n"));
    world.file("only.txt", "\u{feff}");
    world.command("pi-read").arg("only.txt").run().ok().json_is(json!(""));
    assert_eq!(world.bytes("bom.py"), bytes);
}

#[test]
fn names_that_are_not_utf8_are_read_and_reported() {
    let world = World::new();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    world.file(name, "x\n");
    world.command("pi-read").arg(name).run().ok().json_is(json!("x\n"));
    std::fs::remove_file(world.path(name)).unwrap();
    let answer = world.command("pi-read").arg(name).run();
    let error: Value = answer.json();
    assert_eq!(error["error"]["path"], format!("{}/caf\u{fffd}.txt", world.dir().display()));
    let raw = STANDARD.encode(world.path(name).as_os_str().as_bytes());
    assert_eq!(error["error"]["path_base64"], raw);
    answer.status(1);
}

#[test]
fn an_interrupt_ends_a_wait() {
    let world = World::new();
    world.program("mkfifo").arg("pp").run().ok();
    let mut command = world.command("pi-read").args(["pp", "--timeout", "3600"]).into_std();
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opens only when the command has its side open.
    let writer = std::fs::OpenOptions::new().write(true).open(world.path("pp")).unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(writer);
    assert_eq!(output.status.signal(), Some(2));
    let error: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(error["error"]["code"], "aborted");
}

#[test]
fn u01_a_reader_that_leaves_ends_the_command_quietly() {
    let world = World::new();
    world.file("n.txt", (1..=5000).map(|n| format!("{n}\n")).collect::<String>());
    world
        .script(
            "for i in {1..200}; do echo '{\"path\":\"n.txt\"}'; done > calls
             pi-read --args - < calls | head -n1 | head -c8; echo \" ${PIPESTATUS[0]}\"",
        )
        .run()
        .ok()
        .stdout_is("\"1\\n2\\n3 141\n");
}

#[test]
fn a_stream_of_calls_gets_an_answer_each() {
    let world = World::new();
    world.file("a", "1");
    let answer: Answer = world
        .command("pi-read")
        .args(["--args", "-"])
        .stdin("{\"path\":\"a\"}\n{\"path\":\"b\"}\n{\"path\":\"a\",\"offset\":null}")
        .run()
        .status(1);
    let lines: Vec<Value> = answer.lines();
    assert_eq!((&lines[0], &lines[2]), (&json!("1"), &json!("1")));
    assert_eq!(lines[1]["error"]["code"], "not_found");
}
