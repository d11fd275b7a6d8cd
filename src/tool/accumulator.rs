//! Collecting a stream of output of any length: counts, the two ends in memory, all of it in a log.
//!
//! Bytes are kept raw and decoded when they are looked at; the counts are those of the decoded text
//! (seed: lecture 10, §10.3.2). The log exists only when a model is not shown everything.

mod count;
mod log;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use count::{Count, decode, decode_start, next_start};
use log::Log;
pub use log::LogError;

use crate::tool::truncate::{self, Limit, Limits, MAX_BYTES, Truncation};

/// Bytes of text that a program is given at most, half from each end.
pub const MAX_FULL_BYTES: usize = 1024 * 1024;
const HALF: usize = MAX_FULL_BYTES / 2;
/// A byte order mark is dropped, and a sequence at a cut may be longer than what is kept of it.
const SLACK: usize = 16;
/// What the model's view of the end is taken from.
const WINDOW: usize = 2 * MAX_BYTES as usize;

/// Output as it arrives.
#[derive(Debug)]
pub struct Accumulator {
    count: Count,
    /// The first bytes; all of them as long as no more than fit came.
    head: Vec<u8>,
    /// The last bytes, once `head` is full.
    tail: VecDeque<u8>,
    log: LogState,
    log_dir: PathBuf,
    log_prefix: &'static str,
}

#[derive(Debug)]
enum LogState {
    NotNeeded,
    Open(Log),
    Failed(LogError),
}

/// Output that has ended.
#[derive(Debug)]
pub struct Finished {
    /// What a model is shown of it, and why not more.
    pub truncation: Truncation,
    /// Bytes of the whole last line.
    pub last_line_bytes: u64,
    /// What a program is given of it.
    pub full: String,
    /// Whether `full` leaves out the middle.
    pub full_is_cut: bool,
    /// The log with every byte, when a model is not shown everything.
    pub log: Option<Result<PathBuf, LogError>>,
}

impl Accumulator {
    /// An accumulator whose log, should it need one, is `log_dir/log_prefix-….log`.
    pub fn new(log_dir: &Path, log_prefix: &'static str) -> Self {
        Self {
            count: Count::default(),
            head: Vec::new(),
            tail: VecDeque::new(),
            log: LogState::NotNeeded,
            log_dir: log_dir.to_owned(),
            log_prefix,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.count.push(bytes);
        self.log(bytes);
        self.hold(bytes);
    }

    /// What a model would be shown now; a character that has only half arrived is left out.
    pub fn snapshot(&mut self) -> Truncation {
        let Window { text, starts_at_line } = self.window();
        let mut text = text.as_str();
        let mut follows_long_line = false;
        if !starts_at_line
            && let Some((_, lines)) = text.split_once('\n').filter(|(_, lines)| !lines.is_empty())
        {
            text = lines;
            follows_long_line = true;
        }
        let mut record = truncate::tail(text, Limits::MODEL);
        record.total_bytes = self.count.bytes();
        record.total_lines = self.count.lines();
        if follows_long_line && !record.truncated {
            // pi: keeps the final newline when all lines behind one too long to hold are shown.
            record.truncated = true;
            record.truncated_by = Some(self.limit_passed());
        }
        record
    }

    /// The end of the output: an incomplete character becomes U+FFFD, the log is closed and kept.
    pub fn finish(mut self) -> Finished {
        self.count.finish();
        self.log(&[]);
        let truncation = self.snapshot();
        let full_is_cut = self.count.bytes() > MAX_FULL_BYTES as u64;
        let full = if full_is_cut { self.both_ends() } else { decode_start(&self.head) };
        let log = match self.log {
            LogState::NotNeeded => None,
            LogState::Open(log) => Some(log.keep()),
            LogState::Failed(error) => Some(Err(error)),
        };
        Finished { truncation, last_line_bytes: self.count.last_line_bytes(), full, full_is_cut, log }
    }

    /// Opens the log when the first limit is passed, earlier bytes first.
    fn log(&mut self, bytes: &[u8]) {
        if matches!(self.log, LogState::NotNeeded) {
            if !self.passes_a_limit() {
                return;
            }
            self.log = match Log::create(&self.log_dir, self.log_prefix) {
                Ok(log) => LogState::Open(log),
                Err(error) => LogState::Failed(error),
            };
            // No limit was passed before these bytes, so the ones before are all in `head`.
            write(&mut self.log, &self.head);
        }
        write(&mut self.log, bytes);
    }

    fn passes_a_limit(&self) -> bool {
        self.count.bytes() > Limits::MODEL.bytes || self.count.lines() > Limits::MODEL.lines
    }

    fn limit_passed(&self) -> Limit {
        if self.count.bytes() > Limits::MODEL.bytes { Limit::Bytes } else { Limit::Lines }
    }

    fn hold(&mut self, bytes: &[u8]) {
        const HEAD: usize = MAX_FULL_BYTES + SLACK;
        const TAIL: usize = HALF + SLACK;
        let (first, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(first);
        if rest.is_empty() {
            return;
        }
        if self.tail.is_empty() {
            self.tail.reserve_exact(TAIL);
            self.tail.extend(&self.head[HEAD - TAIL..]);
        }
        let new = &rest[rest.len().saturating_sub(TAIL)..];
        self.tail.drain(..(self.tail.len() + new.len()).saturating_sub(TAIL));
        self.tail.extend(new);
    }

    /// The last bytes of the output that are decoded, as far as they are held, and whether they are all.
    fn held(&mut self) -> (&[u8], bool) {
        let is_all = self.tail.is_empty();
        let bytes = if is_all { &self.head[..] } else { self.tail.make_contiguous() };
        (&bytes[..bytes.len() - self.count.undecoded()], is_all)
    }

    fn window(&mut self) -> Window {
        let (bytes, is_all) = self.held();
        if is_all && bytes.len() <= WINDOW {
            return Window { text: decode_start(bytes), starts_at_line: true };
        }
        let start = next_start(bytes, bytes.len() - WINDOW);
        Window { text: decode(&bytes[start..]), starts_at_line: bytes.get(start - 1) == Some(&b'\n') }
    }

    fn both_ends(&mut self) -> String {
        // pi: counts what is over the limit; whole characters may leave out a few bytes more.
        let omitted = self.count.bytes().saturating_sub(MAX_FULL_BYTES as u64);
        let mut text = decode_start(&self.head[..HALF + SLACK]);
        text.truncate(truncate::floor_boundary(&text, HALF));
        let (bytes, _) = self.held();
        let end = decode(&bytes[next_start(bytes, bytes.len() - HALF)..]);
        let end = &end[truncate::ceil_boundary(&end, end.len().saturating_sub(HALF))..];
        text.push_str(&format!("\n\n[... {omitted} bytes omitted ...]\n\n"));
        text.push_str(end);
        text
    }
}

/// The end of the text, long enough for what a model may be shown.
struct Window {
    text: String,
    starts_at_line: bool,
}

fn write(log: &mut LogState, bytes: &[u8]) {
    if let LogState::Open(file) = log
        && let Err(error) = file.write(bytes)
    {
        *log = LogState::Failed(error);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finished(chunks: &[&[u8]], dir: &Path) -> Finished {
        let mut accumulator = Accumulator::new(dir, "pi-test");
        for chunk in chunks {
            accumulator.push(chunk);
        }
        accumulator.finish()
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn what_a_model_is_shown_whole_leaves_no_log() {
        let dir = tempfile::tempdir().unwrap();
        for text in [vec![b'a'; 51200], b"x\n".repeat(2000), "\u{feff}".as_bytes().to_vec()] {
            let finished = finished(&[&text], dir.path());
            assert!(finished.log.is_none() && !finished.truncation.truncated && !finished.full_is_cut);
        }
        let bom = [&b"\xef\xbb\xbf"[..], &[b'a'; 51200]].concat();
        let finished = finished(&[&bom], dir.path());
        assert_eq!(finished.truncation.total_bytes, 51200, "the mark is not text");
        assert!(finished.log.is_none());
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn the_log_holds_every_raw_byte_and_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let text = b"\xef\xbb\xbfa\xff\n".repeat(3000);
        let chunks: Vec<&[u8]> = text.chunks(1000).collect();
        let path = finished(&chunks, dir.path()).log.unwrap().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), text);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let name = path.file_name().unwrap().to_str().unwrap();
        let digits = name.strip_prefix("pi-test-").and_then(|rest| rest.strip_suffix(".log")).unwrap();
        assert!(digits.len() == 16 && digits.chars().all(|c| c.is_ascii_hexdigit()), "{name}");
        assert_eq!(names(dir.path()), [name]);
    }

    #[test]
    fn output_that_is_dropped_leaves_no_log() {
        let dir = tempfile::tempdir().unwrap();
        let mut accumulator = Accumulator::new(dir.path(), "pi-test");
        accumulator.push(&b"x\n".repeat(3000));
        drop(accumulator);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_log_that_cannot_be_written_costs_only_the_log() {
        let finished = finished(&[&b"x\n".repeat(3000)], Path::new("/no/such/dir"));
        assert_eq!(finished.truncation.output_lines, 2000);
        assert_eq!(finished.full, "x\n".repeat(3000));
        assert!(finished.log.unwrap().unwrap_err().to_string().starts_with("ENOENT: "));
    }

    #[test]
    fn an_incomplete_character_can_be_what_passes_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let text = [&[b'a'; 51199][..], b"\xe2\x82"].concat();
        let finished = finished(&[&text], dir.path());
        assert_eq!(finished.truncation.total_bytes, 51202);
        assert_eq!(std::fs::read(finished.log.unwrap().unwrap()).unwrap(), text);
    }

    #[test]
    fn the_size_of_a_long_last_line_is_its_own() {
        let dir = tempfile::tempdir().unwrap();
        for end in ["", "\n"] {
            let text = format!("a\nb\n{}{end}", "x".repeat(150_000));
            let finished = finished(&[text.as_bytes()], dir.path());
            assert!(finished.truncation.last_line_partial);
            assert_eq!((finished.truncation.total_lines, finished.last_line_bytes), (3, 150_000));
            assert_eq!(finished.truncation.content, "x".repeat(51200));
        }
    }

    #[test]
    fn a_snapshot_leaves_out_half_a_character() {
        let mut accumulator = Accumulator::new(Path::new("/"), "pi-test");
        accumulator.push(b"1 \xe2\x82");
        assert_eq!(accumulator.snapshot().content, "1 ");
        accumulator.push(b"\xac");
        assert_eq!(accumulator.snapshot().content, "1 €");
    }

    #[test]
    fn a_program_is_given_both_ends_of_more_than_a_mebibyte() {
        let dir = tempfile::tempdir().unwrap();
        for unit in ["a", "é", "€", "😀"] {
            for extra in ["", "b", "bb"] {
                let text = extra.to_owned() + &unit.repeat((MAX_FULL_BYTES + 8) / unit.len());
                let finished = finished(&text.as_bytes().chunks(77_777).collect::<Vec<_>>(), dir.path());
                assert!(finished.full_is_cut);
                let (head, rest) = finished.full.split_once("\n\n[... ").unwrap();
                let (omitted, tail) = rest.split_once(" bytes omitted ...]\n\n").unwrap();
                assert!(text.starts_with(head) && text.ends_with(tail));
                assert!((HALF - 3..=HALF).contains(&head.len()) && (HALF - 3..=HALF).contains(&tail.len()));
                assert_eq!(omitted.parse::<usize>().unwrap(), text.len() - MAX_FULL_BYTES);
            }
        }
    }

    /// Pieces of text and of what is none.
    fn units() -> impl Strategy<Value = &'static [u8]> {
        proptest::sample::select(vec![
            &b"line\n"[..],
            b"line\n",
            b"\n",
            b"\n",
            "é€😀".as_bytes(),
            b"\xff",
            b"\xe2\x82",
            b"\xf0\x9f",
            b"\xef\xbb\xbf",
            b"\x80\x80\x80\x80\x80",
            b"\xed\xa0\x80",
        ])
    }

    /// Bytes that make and break characters.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = proptest::sample::select(b"a\x80\xbf\xc3\xe2\x82\xed\xf0\x9f\xff".to_vec());
        proptest::collection::vec(byte, 0..40)
    }

    proptest! {
        /// However the bytes are cut into chunks, everything is as if the whole had come at once.
        #[test]
        fn chunks_do_not_matter(
            units in proptest::collection::vec(units(), 1..40),
            repeats in prop_oneof![4 => 1..60_usize, 1 => 2000..4000_usize],
            sizes in proptest::collection::vec(prop_oneof![3 => 1..9_usize, 1 => 1..100_000_usize], 1..10),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let raw = units.concat().repeat(repeats);
            let text = String::from_utf8_lossy(&raw);
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            let mut accumulator = Accumulator::new(dir.path(), "pi-test");
            let mut rest = &raw[..];
            for size in sizes.iter().cycle() {
                // A long text in crumbs takes too long.
                let size = if raw.len() - rest.len() > 2000 { size.max(&4096) } else { size };
                let (chunk, after) = rest.split_at((*size).min(rest.len()));
                accumulator.push(chunk);
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            let finished = accumulator.finish();
            let mut expected = truncate::tail(text, Limits::MODEL);
            if text.len() > WINDOW && finished.truncation.content == format!("{}\n", expected.content) {
                // pi's final newline behind a long line; see `snapshot`.
                expected.content.push('\n');
                expected.output_bytes += 1;
            }
            prop_assert_eq!(&finished.truncation, &expected);
            if !finished.full_is_cut {
                prop_assert_eq!(&finished.full, text);
            }
            let body = text.strip_suffix('\n').unwrap_or(text);
            prop_assert_eq!(finished.last_line_bytes as usize, body.rsplit('\n').next().unwrap().len());
            match finished.log {
                None => prop_assert!(!expected.truncated),
                Some(log) => prop_assert!(std::fs::read(log.unwrap()).unwrap() == raw),
            }
        }

        /// Decoding from the middle gives the end of what decoding from the start gives.
        #[test]
        fn decoding_can_start_anywhere(bytes in bytes(), at in 0..41_usize) {
            let start = next_start(&bytes, at.min(bytes.len()));
            prop_assert_eq!(decode(&bytes[..start]) + &decode(&bytes[start..]), decode(&bytes));
        }
    }
}
