//! The answer to a read of an image file.

use super::file::File;
use super::{Details, ImageBlock, ImageTag, Read, Structured};
use crate::context::Context;
use crate::error::Error;
use crate::fs::image::{self, Format, MAX_FILE_BYTES, Picture, Size, Unfit};
use crate::message::{Base64, Content};
use crate::tool::Outcome;
use crate::tool::truncate::format_size;

/// The image whose file begins with `start`, or a text that says why it is left out.
pub(super) fn outcome(
    start: Vec<u8>,
    mut file: File<'_>,
    format: Format,
    keeps_size: bool,
    context: &Context,
) -> Result<Outcome<Read>, Error> {
    let outcome = match whole(start, &mut file)? {
        None => omitted(format, &too_many_bytes()),
        Some(bytes) => {
            context.cancel.check()?;
            match image::prepare(bytes, format, keeps_size) {
                Ok(picture) => sent(picture, format),
                Err(unfit) => omitted(format, &reason(unfit, format, keeps_size)),
            }
        }
    };
    let model = context.session.as_deref().and_then(|session| session.model.as_ref());
    let blind = model.filter(|model| !model.takes_images).map(|model| model.id.clone());
    let details = blind.map(|id| Details { image_unsupported_by_model: Some(id), ..Details::default() });
    Ok(outcome.with_details(details))
}

/// All bytes of the file, unless they are more than are read of an image.
fn whole(mut bytes: Vec<u8>, file: &mut File<'_>) -> Result<Option<Vec<u8>>, Error> {
    let is_too_much = |len: usize, more: u64| len as u64 + more > MAX_FILE_BYTES;
    if let Some(left) = file.bytes_left() {
        if is_too_much(bytes.len(), left) {
            return Ok(None);
        }
        bytes.reserve_exact(left as usize);
    }
    loop {
        match file.block()? {
            [] => return Ok(Some(bytes)),
            block if is_too_much(bytes.len(), block.len() as u64) => return Ok(None),
            block => bytes.extend_from_slice(block),
        }
    }
}

fn sent(picture: Picture, original: Format) -> Outcome<Read> {
    let mime_type = picture.format.media_type();
    let mut note = headline(picture.format);
    if original == Format::Bmp {
        note += &format!("\n[Image converted from {} to {mime_type}.]", original.media_type());
    }
    if let Some((original, shown)) = picture.refitted {
        note += &format!(
            "\n[Image: original {}x{}, displayed at {}x{}. Multiply coordinates by {} to map to original image.]",
            original.0,
            original.1,
            shown.0,
            shown.1,
            factor(original, shown),
        );
    }
    let data = Base64::encode(&picture.bytes);
    let content =
        vec![Content::text(&note), Content::Image { data: data.clone(), mime_type: mime_type.to_owned() }];
    let block = ImageBlock { r#type: ImageTag::Image, data, mime_type: mime_type.to_owned(), note };
    Outcome::new(content, Structured::Image(block))
}

fn omitted(format: Format, reason: &str) -> Outcome<Read> {
    let text = format!("{}\n[Image omitted: {reason}]", headline(format));
    Outcome::text(text.clone(), Structured::Text(text))
}

fn headline(format: Format) -> String {
    format!("Read image file [{}]", format.media_type())
}

fn reason(unfit: Unfit, format: Format, keeps_size: bool) -> String {
    match unfit {
        Unfit::Damaged if format == Format::Bmp => {
            "could not be converted to a supported inline image format.".to_owned()
        }
        Unfit::Damaged if keeps_size => "it is damaged and does not decode.".to_owned(),
        // pi: says so of a damaged image, too.
        Unfit::Damaged | Unfit::TooLarge => {
            "could not be resized below the inline image size limit.".to_owned()
        }
        Unfit::TooManyPixels((width, height)) => {
            format!("{width}x{height} pixels are more than are decoded.")
        }
    }
}

fn too_many_bytes() -> String {
    format!("the file is larger than {}, more than is read of an image.", format_size(MAX_FILE_BYTES))
}

/// The horizontal scale with two decimals, rounded as JavaScript does: a tie goes up.
fn factor(original: Size, shown: Size) -> String {
    let factor = f64::from(original.0) / f64::from(shown.0);
    // Only eighths can be exact ties between two decimals.
    let is_tie = (factor * 8.0) % 2.0 == 1.0;
    format!("{:.2}", if is_tie { factor + 0.001 } else { factor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_round_as_javascript_does() {
        let shown = [(2001, "1.00"), (2250, "1.13"), (2750, "1.38"), (2010, "1.00"), (2500, "1.25")];
        for (width, expected) in shown {
            assert_eq!(factor((width, 10), (2000, 9)), expected, "{width}");
        }
    }
}
