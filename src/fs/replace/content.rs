//! New content, in the pieces it comes in: never joined, because it may be hundreds of megabytes.

use std::fs::File;
use std::io::{self, IoSlice, Write};

/// As many pieces as one system call takes.
const BATCH: usize = 1024;

/// Bytes in all pieces.
pub(super) fn len(content: &[&[u8]]) -> u64 {
    content.iter().map(|piece| piece.len() as u64).sum()
}

/// Cuts after `at` bytes.
pub(super) fn split<'a>(content: &[&'a [u8]], at: u64) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
    let mut left = at;
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    for piece in content {
        let here = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
        let (before, after) = piece.split_at(here);
        left -= here as u64;
        head.push(before);
        tail.push(after);
    }
    (head, tail)
}

/// Writes all pieces where the file stands.
pub(super) fn write(mut file: &File, content: &[&[u8]]) -> io::Result<()> {
    let filled = content.iter().filter(|piece| !piece.is_empty());
    let mut slices: Vec<IoSlice> = filled.map(|piece| IoSlice::new(piece)).collect();
    let mut rest = &mut slices[..];
    while !rest.is_empty() {
        let batch = rest.len().min(BATCH);
        match file.write_vectored(&rest[..batch]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_cut_and_written_as_their_whole(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..2500),
            at in 0_u64..4000,
        ) {
            let content: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let whole = content.concat();
            let (head, tail) = split(&content, at);
            let cut = whole.len().min(at as usize);
            prop_assert_eq!(head.concat(), &whole[..cut]);
            prop_assert_eq!(tail.concat(), &whole[cut..]);
            prop_assert_eq!(len(&content), whole.len() as u64);
            let file = tempfile::NamedTempFile::new().unwrap();
            write(file.as_file(), &content).unwrap();
            prop_assert_eq!(std::fs::read(file.path()).unwrap(), whole);
        }
    }
}
