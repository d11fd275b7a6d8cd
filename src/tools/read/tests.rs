//! The choice of lines against a naive one, and what only an embedding program can set.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use proptest::prelude::*;

use super::lines::{BeyondEnd, Selection};
use super::*;
use crate::cancel::Cancel;
use crate::context::{Model, Session};
use crate::fs::lock::{self, Lock};
use crate::fs::process::{Command, Ended, Output, StartError};
use crate::fs::replace::{self, Version};
use crate::fs::{Backend, DirEntry, Local, Metadata, Source};
use crate::message::ToolResult;
use crate::tool::{self, truncate};

/// Text that is heavy in newlines, broken characters, and lines around the limit.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(b"\n".to_vec()),
        4 => proptest::collection::vec(any::<u8>(), 0..12),
        2 => "[a-zé€😀]{0,12}".prop_map(String::into_bytes),
        1 => (51_190_usize..51_210).prop_map(|len| vec![b'x'; len]),
        1 => (25_590_usize..25_610).prop_map(|len| vec![0xff; len]),
        1 => (1_990_usize..2_010).prop_map(|len| vec![b'\n'; len]),
        1 => (1_990_usize..2_010).prop_map(|len| b"row\n".repeat(len)),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Everything in memory: split, slice, join, cut.
fn naive(bytes: &[u8], skip: usize, take: Option<usize>) -> Result<(u64, u64, u64, Truncation), BeyondEnd> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.split('\n').collect();
    if skip >= lines.len() {
        return Err(BeyondEnd { file_lines: lines.len() as u64 });
    }
    let end = take.map_or(lines.len(), |take| lines.len().min(skip.saturating_add(take)));
    let chosen = lines[skip..end].join("\n");
    let first = lines[skip..end].first().map_or(0, |line| line.len() as u64);
    let cut = truncate::head(&chosen, truncate::Limits::MODEL);
    Ok((lines.len() as u64, (lines.len() - end) as u64, first, cut))
}

proptest! {
    #[test]
    fn streaming_chooses_what_a_naive_reader_chooses(
        bytes in bytes(),
        skip in prop_oneof![0_usize..12, 1_990_usize..2_010],
        take in proptest::option::of(prop_oneof![0_usize..6, 1_990_usize..2_010, Just(usize::MAX)]),
        block in prop_oneof![1_usize..9, 4_000_usize..70_000],
    ) {
        let mut selection = Selection::new(skip as u64, take.map(|take| take as u64));
        bytes.chunks(block).for_each(|block| selection.push(block));
        let streamed = selection.finish().map(|selected| {
            (selected.file_lines, selected.lines_left, selected.first_line_bytes, selected.text)
        });
        prop_assert_eq!(streamed, naive(&bytes, skip, take));
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), content).unwrap();
        Self(folder)
    }

    fn context(&self) -> Context {
        Context::from_process(None).in_dir(self.0.path())
    }
}

fn text(result: &ToolResult) -> &str {
    match &result.content[0] {
        crate::message::Content::Text { text } => text,
        crate::message::Content::Image { .. } => panic!("an image"),
    }
}

fn call(arguments: serde_json::Value, context: &Context) -> ToolResult {
    tool::call::<Read>(arguments, &Options::default(), context)
}

#[test]
fn r17_a_cancelled_call_answers_operation_aborted_and_leaks_no_descriptor() {
    let folder = Folder::with("a.txt", "x\n");
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let context = folder.context();
    context.cancel.cancel();
    let before = open();
    for _ in 0..100 {
        let input = Input { path: "a.txt".into(), offset: None, limit: None, is_typed: false };
        let Err(error) = Read::run(input, &Options::default(), &context) else { panic!("it read") };
        assert_eq!(error.message, "Operation aborted");
        // Cancelled only once the file is about to be opened.
        let Err(error) = File::open(&folder.0.path().join("a.txt"), Patience::None, &context) else {
            panic!("it opened")
        };
        assert_eq!(error.message, "Operation aborted");
    }
    // Other tests open and close files in the same process meanwhile, but never a hundred.
    assert!(open() < before + 50);
}

#[test]
fn cancelling_ends_a_wait_for_a_pipe() {
    let folder = Folder::with("x", "");
    let fifo = folder.0.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let context = folder.context();
    let cancel = context.cancel.clone();
    let waiting = std::thread::spawn(move || {
        let options = Options { timeout: Some(3600.0), ..Options::default() };
        tool::call::<Read>(serde_json::json!({"path": "fifo"}), &options, &context)
    });
    // A writer gets in only when the reader has opened its side.
    let writer = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
    cancel.cancel();
    let result = waiting.join().unwrap();
    drop(writer);
    assert_eq!((text(&result), result.is_error), ("Operation aborted", true));
}

/// Files that somebody appends to faster than they are read.
struct Growing(Local);

struct GrowingFile(Metadata);

impl io::Read for GrowingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Never more than three bytes at once, and never an end.
        let count = buffer.len().min(3);
        buffer[..count].fill(b'+');
        Ok(count)
    }
}

impl io::Seek for GrowingFile {
    fn seek(&mut self, _: io::SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Source for GrowingFile {
    fn metadata(&self) -> io::Result<Metadata> {
        Ok(self.0.clone())
    }

    fn wait_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

impl Backend for Growing {
    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.0.metadata(path)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.0.symlink_metadata(path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.canonicalize(path)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.read_link(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(GrowingFile(self.0.metadata(path)?)))
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.0.read_dir(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.create_dir_all(path)
    }

    fn lock(&self, path: &Path, cancel: &Cancel) -> Result<Lock, lock::Error> {
        self.0.lock(path, cancel)
    }

    fn replace(
        &self,
        path: &Path,
        content: &[&[u8]],
        expected: Option<&Version>,
        cancel: &Cancel,
    ) -> Result<(), replace::Error> {
        self.0.replace(path, content, expected, cancel)
    }

    fn run(&self, command: &Command, output: &mut dyn Output, cancel: &Cancel) -> Result<Ended, StartError> {
        self.0.run(command, output, cancel)
    }
}

#[test]
fn a_growing_file_ends_where_it_ended_when_it_was_opened() {
    let folder = Folder::with("log", "0123456789");
    let mut context = folder.context();
    context.backend = Arc::new(Growing(Local::new(&context.environment)));
    let result = call(serde_json::json!({"path": "log"}), &context);
    assert_eq!(text(&result), "++++++++++");
}

#[test]
fn a_model_without_eyes_is_named_in_the_details() {
    let folder = Folder::with("p.gif", tiny_gif());
    let mut context = folder.context();
    let model = |takes_images| Model { provider: "acme".into(), id: "m-1".into(), takes_images };
    for (takes_images, expected) in [(true, None), (false, Some("m-1"))] {
        context.session = Some(Arc::new(Session { model: Some(model(takes_images)), ..Session::default() }));
        let result = call(serde_json::json!({"path": "p.gif"}), &context);
        let named = result.details.as_ref().and_then(|details| details["imageUnsupportedByModel"].as_str());
        assert_eq!(named, expected);
        assert_eq!(result.content.len(), 2);
    }
}

#[test]
fn numbers_that_are_none_do_no_harm() {
    assert_eq!(lines_before(Some(f64::NAN)), 0);
    assert_eq!(lines_before(Some(-1e300)), 0);
    assert_eq!(lines_before(Some(f64::INFINITY)), u64::MAX);
    assert_eq!(lines_wanted(Some(f64::NAN)), None);
    assert_eq!(lines_wanted(Some(2.9)), Some(2));
    assert_eq!(lines_wanted(Some(-1.0)), None);
    let folder = Folder::with("a.txt", "x\n");
    let result = call(serde_json::json!({"path": "a.txt", "offset": 1e300}), &folder.context());
    assert!(result.is_error);
    let result = call(serde_json::json!({"path": "a.txt", "limit": 1e300}), &folder.context());
    assert_eq!(text(&result), "x\n");
}

fn tiny_gif() -> Vec<u8> {
    let mut gif = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff".to_vec();
    gif.extend(b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;");
    gif
}
