//! Making an image smaller until it may be sent.

use fast_image_resize::images::Image;
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{DynamicImage, ExtendedColorType, ImageEncoder};

use super::{Format, MAX_BASE64_BYTES, MAX_SIDE, Size, base64_len};

/// JPEG qualities, the best first; the first one competes with PNG.
const QUALITIES: [u8; 4] = [80, 65, 50, 35];

/// Decoded pixels, three or four bytes each.
pub(super) struct Pixels(Image<'static>);

/// The smaller of PNG and JPEG at the largest size that may be sent; else JPEG of lower quality; else
/// smaller sizes. `None` when even one pixel is too much.
pub(super) fn fit(pixels: &Pixels) -> Option<(Vec<u8>, Format, Size)> {
    let fits = |bytes: &Vec<u8>| base64_len(bytes.len()) < MAX_BASE64_BYTES;
    let mut size = within(pixels.size());
    loop {
        let scaled = pixels.scaled_to(size)?;
        let png = scaled.png().map(|bytes| (bytes, Format::Png));
        let opaque = scaled.on_white();
        let jpeg = |quality| opaque.jpeg(quality).map(|bytes| (bytes, Format::Jpeg));
        let best = png.into_iter().chain(jpeg(QUALITIES[0])).min_by_key(|(bytes, _)| bytes.len());
        let mut candidates =
            best.into_iter().chain(QUALITIES[1..].iter().filter_map(|quality| jpeg(*quality)));
        if let Some((bytes, format)) = candidates.find(|(bytes, _)| fits(bytes)) {
            return Some((bytes, format, size));
        }
        if size == (1, 1) {
            return None;
        }
        let less = |side: u32| (side * 3 / 4).max(1);
        size = (less(size.0), less(size.1));
    }
}

/// The largest size of the same shape with no side over the limit.
fn within((width, height): Size) -> Size {
    let part = |side: u32, numerator: u32, denominator: u32| {
        let exact = f64::from(side) * f64::from(numerator) / f64::from(denominator);
        (exact.round() as u32).max(1)
    };
    let (width, height) =
        if width > MAX_SIDE { (MAX_SIDE, part(height, MAX_SIDE, width)) } else { (width, height) };
    if height > MAX_SIDE { (part(width, MAX_SIDE, height), MAX_SIDE) } else { (width, height) }
}

impl From<DynamicImage> for Pixels {
    fn from(image: DynamicImage) -> Self {
        let (width, height) = (image.width(), image.height());
        let is_opaque = |image: &DynamicImage| {
            !image.color().has_alpha()
                || image.as_rgba8().is_some_and(|image| image.pixels().all(|pixel| pixel.0[3] == u8::MAX))
        };
        let (bytes, pixel_type) = if is_opaque(&image) {
            (image.into_rgb8().into_raw(), PixelType::U8x3)
        } else {
            (image.into_rgba8().into_raw(), PixelType::U8x4)
        };
        let pixels = Image::from_vec_u8(width, height, bytes, pixel_type);
        Self(pixels.unwrap_or_else(|_| Image::new(width, height, pixel_type)))
    }
}

impl Pixels {
    fn size(&self) -> Size {
        (self.0.width(), self.0.height())
    }

    fn scaled_to(&self, size: Size) -> Option<Self> {
        let mut scaled = Image::new(size.0, size.1, self.0.pixel_type());
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3));
        Resizer::new().resize(&self.0, &mut scaled, &options).ok()?;
        Some(Self(scaled))
    }

    /// What JPEG can show of it.
    fn on_white(&self) -> Self {
        if self.0.pixel_type() == PixelType::U8x3 {
            return Self(self.0.copy());
        }
        let over_white = |value: u8, alpha: u8| {
            let (value, alpha, full) = (u32::from(value), u32::from(alpha), u32::from(u8::MAX));
            ((value * alpha + full * (full - alpha) + full / 2) / full) as u8
        };
        let (width, height) = self.size();
        let mut opaque = Image::new(width, height, PixelType::U8x3);
        for (to, from) in opaque.buffer_mut().chunks_exact_mut(3).zip(self.0.buffer().chunks_exact(4)) {
            for channel in 0..3 {
                to[channel] = over_white(from[channel], from[3]);
            }
        }
        Self(opaque)
    }

    pub(super) fn png(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_with(PngEncoder::new(&mut bytes))?;
        Some(bytes)
    }

    fn jpeg(&self, quality: u8) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_with(JpegEncoder::new_with_quality(&mut bytes, quality))?;
        Some(bytes)
    }

    fn write_with(&self, encoder: impl ImageEncoder) -> Option<()> {
        let color = match self.0.pixel_type() {
            PixelType::U8x3 => ExtendedColorType::Rgb8,
            _ => ExtendedColorType::Rgba8,
        };
        let (width, height) = self.size();
        encoder.write_image(self.0.buffer(), width, height, color).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_their_shape_and_at_least_one_pixel() {
        assert_eq!(within((3000, 2500)), (2000, 1667));
        assert_eq!(within((100, 5000)), (40, 2000));
        assert_eq!(within((9000, 1)), (2000, 1));
        assert_eq!(within((2000, 2000)), (2000, 2000));
    }
}
