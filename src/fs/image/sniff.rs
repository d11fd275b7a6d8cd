//! Telling images from other files by their first bytes, never by name.

use super::Format;

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The image format of a file that begins so; `None` for what is read as text.
pub fn sniff(head: &[u8]) -> Option<Format> {
    let tag = |at: usize, tag: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(tag));
    if tag(0, b"\xff\xd8\xff") {
        const JPEG_LS: u8 = 0xf7;
        return (head.get(3) != Some(&JPEG_LS)).then_some(Format::Jpeg);
    }
    if tag(0, PNG_SIGNATURE) {
        return is_still_png(head).then_some(Format::Png);
    }
    if tag(0, b"GIF87a") || tag(0, b"GIF89a") {
        return Some(Format::Gif);
    }
    if tag(0, b"RIFF") && tag(8, b"WEBP") {
        return Some(Format::Webp);
    }
    (tag(0, b"BM") && has_bitmap_header(head)).then_some(Format::Bmp)
}

/// A header chunk first, and no animation control before the image data.
fn is_still_png(head: &[u8]) -> bool {
    let mut chunks = &head[PNG_SIGNATURE.len()..];
    if !chunks.starts_with(b"\0\0\0\x0dIHDR") {
        return false;
    }
    while let Some((len, rest)) = chunks.split_first_chunk::<4>() {
        match rest.get(..4) {
            Some(b"acTL") => return false,
            Some(b"IDAT") | None => return true,
            Some(_) => {}
        }
        // Name, data, checksum.
        let size = (u32::from_be_bytes(*len) as usize).saturating_add(8);
        chunks = rest.get(size..).unwrap_or_default();
    }
    true
}

/// Two letters would claim many a text: the header behind them has to make sense.
fn has_bitmap_header(head: &[u8]) -> bool {
    let short = |at: usize| Some(u16::from_le_bytes(*head.get(at..)?.first_chunk()?));
    let Some(size) = head.get(14..).and_then(|rest| rest.first_chunk()).copied().map(u32::from_le_bytes)
    else {
        return false;
    };
    let (planes, depth) = match size {
        12 => (short(22), short(24)),
        16 | 40 | 52 | 56 | 64 | 108 | 124 => (short(26), short(28)),
        _ => return false,
    };
    planes == Some(1) && matches!(depth, Some(1 | 4 | 8 | 16 | 24 | 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_begins_like_an_image_is_text() {
        for text in [
            "GIF is a format",
            "BM25 ranks documents by term frequency",
            "RIFF of the day",
            "BM",
            "\u{89}PNG",
        ] {
            assert_eq!(sniff(text.as_bytes()), None, "{text}");
        }
        assert_eq!(sniff(PNG_SIGNATURE), None);
        assert_eq!(sniff(b"\xff\xd8\xff\xf7\nA"), None);
    }

    #[test]
    fn an_animation_chunk_counts_only_before_the_image_data() {
        let chunk =
            |name: &[u8], len: u32| [&len.to_be_bytes()[..], name, &vec![0; len as usize + 4]].concat();
        let png = |chunks: &[&[u8]]| {
            let chunks = chunks.iter().map(|name| chunk(name, 13)).collect::<Vec<_>>().concat();
            [PNG_SIGNATURE, &chunks].concat()
        };
        assert_eq!(sniff(&png(&[b"IHDR", b"iCCP", b"acTL", b"IDAT"])), None);
        assert_eq!(sniff(&png(&[b"IHDR", b"IDAT", b"acTL"])), Some(Format::Png));
        assert_eq!(sniff(&[PNG_SIGNATURE, b"\0\0\0\rIHDRjunk"].concat()), Some(Format::Png));
    }
}
