//! A session file in batches of whole lines, scanned by several threads and handed out in order.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::{ControlFlow, Range};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::diagnostic::Diagnostic;
use super::head::Head;
use super::kind::EntryType;
use super::load;
use crate::fs::Source;

/// How much is read at once; a longer line makes a larger batch.
const BLOCK: usize = 256 * 1024;

/// Some lines of a file and the values found on them.
pub(super) struct Batch<T> {
    /// Where the lines begin in the file.
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) pieces: Vec<Piece<T>>,
    /// Numbers of lines count from this batch's first one.
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) lines: u64,
    /// How many of the bytes need not be read again: all but a last line its writer has not finished.
    pub(super) read: usize,
}

/// A value and what was gathered from it.
pub(super) struct Piece<T> {
    pub(super) range: Range<usize>,
    /// The line it is on, from 1 in this batch.
    pub(super) line: u64,
    pub(super) head: Head,
    pub(super) gathered: T,
}

/// Reads a file to its end, or until `visit` says to stop, and gives it back.
pub(super) fn each<T: Send>(
    source: Box<dyn Source>,
    gather: &(impl Fn(EntryType, &[u8]) -> T + Sync),
    visit: &mut dyn FnMut(Batch<T>) -> ControlFlow<()>,
) -> io::Result<Box<dyn Source>> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        let (to_workers, blocks) = sync_channel::<(u64, u64, Vec<u8>)>(workers);
        let (to_us, batches) = sync_channel::<(u64, Batch<T>)>(workers);
        let reader = scope.spawn(move || read(source, &to_workers));
        let blocks = std::sync::Arc::new(Mutex::new(blocks));
        for _ in 0..workers {
            let (blocks, to_us) = (blocks.clone(), to_us.clone());
            scope.spawn(move || work(&blocks, gather, &to_us));
        }
        // Only the workers hold these now: when they stop, so does the one at the other end.
        drop((blocks, to_us));
        in_order(batches, visit);
        reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader died")))
    })
}

/// Cuts the file into blocks that end with a line.
fn read(mut source: Box<dyn Source>, out: &SyncSender<(u64, u64, Vec<u8>)>) -> io::Result<Box<dyn Source>> {
    let (mut number, mut offset) = (0, 0);
    let mut block = Vec::with_capacity(BLOCK + BLOCK / 4);
    loop {
        let had = block.len();
        let count = Read::take(&mut source, BLOCK as u64).read_to_end(&mut block)?;
        let end = memchr::memrchr(b'\n', &block[had..]).map(|feed| had + feed + 1);
        let cut = match end {
            _ if count == 0 => block.len(),
            Some(end) => end,
            None => continue,
        };
        let mut rest = Vec::with_capacity(BLOCK + BLOCK / 4);
        rest.extend_from_slice(&block[cut..]);
        block.truncate(cut);
        let len = block.len() as u64;
        if len > 0 && out.send((number, offset, std::mem::replace(&mut block, rest))).is_err() {
            // Nobody wants more.
            return Ok(source);
        }
        if count == 0 {
            return Ok(source);
        }
        number += 1;
        offset += len;
    }
}

fn work<T>(
    blocks: &Mutex<Receiver<(u64, u64, Vec<u8>)>>,
    gather: &impl Fn(EntryType, &[u8]) -> T,
    out: &SyncSender<(u64, Batch<T>)>,
) {
    loop {
        let next = blocks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, offset, bytes)) = next else { return };
        if out.send((number, scanned(offset, bytes, gather))).is_err() {
            return;
        }
    }
}

fn in_order<T>(batches: Receiver<(u64, Batch<T>)>, visit: &mut dyn FnMut(Batch<T>) -> ControlFlow<()>) {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (number, batch) in batches {
        early.insert(number, batch);
        while let Some(batch) = early.remove(&next) {
            if visit(batch).is_break() {
                return;
            }
            next += 1;
        }
    }
}

/// Finds the values in some lines.
pub(super) fn scanned<T>(offset: u64, bytes: Vec<u8>, gather: &impl Fn(EntryType, &[u8]) -> T) -> Batch<T> {
    let mut pieces = Vec::with_capacity(bytes.len() / 512);
    let mut diagnostics = Vec::new();
    let mut found = Vec::new();
    let (mut lines, mut start, mut read) = (0, 0, bytes.len());
    while start < bytes.len() {
        let feed = memchr::memchr(b'\n', &bytes[start..]);
        let end = feed.map_or(bytes.len(), |feed| start + feed);
        lines += 1;
        load::pieces(lines, start as u64, &bytes[start..end], &mut diagnostics, &mut found);
        if feed.is_none() && found.is_empty() {
            read = start;
        }
        pieces.extend(found.drain(..).map(|piece| {
            let range = piece.offset as usize..piece.offset as usize + piece.text.len();
            let gathered = gather(piece.head.entry_type, piece.text);
            Piece { range, line: lines, head: piece.head, gathered }
        }));
        start = end + 1;
    }
    Batch { offset, bytes, pieces, diagnostics, lines, read }
}
