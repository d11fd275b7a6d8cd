//! The memory a file is read into.

/// Bytes of a whole block: large enough for memory speed, small enough to be counted in the cache.
pub(super) const BLOCK: usize = 256 * 1024;
/// The kernel copies to the start of a page a quarter faster than to any other place.
const PAGE: usize = 4096;

/// A buffer for blocks.
pub(super) struct Block {
    memory: Vec<u8>,
    start: usize,
    size: usize,
}

impl Block {
    /// Room for `size` bytes.
    pub(super) fn new(size: usize) -> Self {
        let spare = if size < PAGE { 0 } else { PAGE };
        let memory = vec![0; size + spare];
        let start = memory.as_ptr().align_offset(PAGE).min(spare);
        Self { memory, start, size }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.size]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.size]
    }
}
