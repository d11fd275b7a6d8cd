//! Pictures for a model: found by content, proven to decode, small enough to send inline.

mod shrink;
mod sniff;

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, ImageReader, Limits};

pub use sniff::sniff;

/// Bytes of an image file that are read at most.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Width and height that are sent at most.
pub const MAX_SIDE: u32 = 2000;
/// Bytes of base64 that a sent image stays under.
pub const MAX_BASE64_BYTES: u64 = 9 * 1024 * 1024 / 2;
/// Pixels that are decoded at most; a small file can claim billions.
const MAX_PIXELS: u64 = 128 * 1024 * 1024;
/// Memory for decoded pixels, at most.
const MAX_PIXEL_BYTES: u64 = 4 * MAX_PIXELS;

/// The image formats that are told from other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JPEG, but not JPEG-LS.
    Jpeg,
    /// PNG, but not an animated one.
    Png,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
    /// A Windows bitmap; models do not take it, so it becomes a PNG.
    Bmp,
}

impl Format {
    /// The media type, such as `image/png`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Bmp => "image/bmp",
        }
    }

    fn codec(self) -> image::ImageFormat {
        match self {
            Self::Jpeg => image::ImageFormat::Jpeg,
            Self::Png => image::ImageFormat::Png,
            Self::Gif => image::ImageFormat::Gif,
            Self::Webp => image::ImageFormat::WebP,
            Self::Bmp => image::ImageFormat::Bmp,
        }
    }
}

/// Width and height in pixels.
pub type Size = (u32, u32);

/// An image that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The encoded image.
    pub bytes: Vec<u8>,
    /// How it is encoded.
    pub format: Format,
    /// The size it had, upright, and the size it has, when it was encoded anew to fit.
    pub refitted: Option<(Size, Size)>,
}

/// Why an image cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It does not decode.
    Damaged,
    /// It claims more pixels than are decoded.
    TooManyPixels(Size),
    /// It does not get small enough.
    TooLarge,
}

/// Makes a file of this format fit to send: as it is where possible. With `keeps_size`, an image that
/// is over the limits is sent all the same.
pub fn prepare(file: Vec<u8>, format: Format, keeps_size: bool) -> Result<Picture, Unfit> {
    let (image, size) = decode(&file, format)?;
    let is_small = |bytes: &[u8]| {
        keeps_size || (size.0 <= MAX_SIDE && size.1 <= MAX_SIDE && base64_len(bytes.len()) < MAX_BASE64_BYTES)
    };
    if format != Format::Bmp && is_small(&file) {
        return Ok(Picture { bytes: file, format, refitted: None });
    }
    drop(file);
    let pixels = shrink::Pixels::from(image);
    if format == Format::Bmp {
        let bytes = pixels.png().ok_or(Unfit::Damaged)?;
        if is_small(&bytes) {
            return Ok(Picture { bytes, format: Format::Png, refitted: None });
        }
    }
    let (bytes, format, shown) = shrink::fit(&pixels).ok_or(Unfit::TooLarge)?;
    Ok(Picture { bytes, format, refitted: Some((size, shown)) })
}

/// The upright image and its size.
fn decode(file: &[u8], format: Format) -> Result<(DynamicImage, Size), Unfit> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_PIXEL_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(file), format.codec());
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|_| Unfit::Damaged)?;
    let size = decoder.dimensions();
    if u64::from(size.0) * u64::from(size.1) > MAX_PIXELS || decoder.total_bytes() > MAX_PIXEL_BYTES {
        return Err(Unfit::TooManyPixels(size));
    }
    let orientation = decoder.orientation().unwrap_or(image::metadata::Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(|_| Unfit::Damaged)?;
    image.apply_orientation(orientation);
    let size = (image.width(), image.height());
    Ok((image, size))
}

/// Bytes of base64 for so many bytes.
fn base64_len(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3) * 4
}
