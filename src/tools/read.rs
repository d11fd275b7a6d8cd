//! read: text by lines or an image, bounded whatever the file. Owns the choice between the two and
//! what comes of it; refuses what could make it wait without an end.

mod block;
mod failure;
mod file;
mod lines;
mod lossy;
mod notice;
mod picture;

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::failure::Failure;
use self::file::{File, Patience};
use self::lines::Selection;
use crate::context::Context;
use crate::error::Error;
use crate::fs::{image, path};
use crate::message::Base64;
use crate::tool::truncate::{MAX_BYTES, MAX_LINES, Truncation, format_size};
use crate::tool::{Example, Outcome, Tool};

/// The read tool.
pub struct Read;

/// Arguments of read.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    /// File to read: text, or an image (jpeg, png, gif, webp, bmp); - is standard input
    #[arg(value_name = "FILE")]
    #[schemars(description = "File to read: text, or an image (jpeg, png, gif, webp, bmp)")]
    path: PathBuf,
    /// First line to show, counted from 1
    #[arg(long, value_name = "LINE", value_parser = number, allow_negative_numbers = true)]
    offset: Option<f64>,
    /// How many lines to show at most
    #[arg(long, value_name = "LINES", value_parser = number, allow_negative_numbers = true)]
    limit: Option<f64>,
    /// Whether a person or a script asks, whose own pipes are theirs to wait for.
    #[arg(skip)]
    #[serde(skip)]
    #[schemars(skip)]
    is_typed: bool,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// Read at most so long; needed for named pipes, devices and terminals, which may never end
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Send images in their own size, however large
    #[arg(long)]
    pub no_resize: bool,
}

/// What a user interface shows beside the text.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// How the text was cut, when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
    /// The id of the model in use, when it takes no images and this is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_unsupported_by_model: Option<String>,
}

/// What read answers to programs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Structured {
    /// The text, with the notice that says how to go on.
    Text(String),
    /// An image.
    Image(ImageBlock),
}

/// An image and what is to be said of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageBlock {
    /// Always `image`.
    #[schemars(with = "String", extend("enum" = ["image"]))]
    pub r#type: ImageTag,
    /// The encoded image, in base64.
    pub data: Base64,
    /// Its media type.
    pub mime_type: String,
    /// What a model is told of it.
    pub note: String,
}

/// The type of an [`ImageBlock`].
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageTag {
    /// The only value.
    Image,
}

impl Tool for Read {
    type Input = Input;
    type Options = Options;
    type Details = Details;
    type Structured = Structured;

    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read file";
    const ABOUT: &'static str = "read text by lines, or an image, bounded";
    const PROMPT_SNIPPET: &'static str = "Look into a file: text by lines, or an image";
    const PROMPT_GUIDELINES: &'static [&'static str] =
        &["Look into files with read; cat and sed through bash are not bounded."];
    const EXAMPLES: &'static [Example] = &[
        Example { purpose: "Show a file as a model reads it", command: "pi-read -o text src/main.rs" },
        Example {
            purpose: "Show twenty lines from line 300 on",
            command: "pi-read --offset 300 --limit 20 app.log",
        },
        Example { purpose: "Read what a command prints", command: "git show HEAD:Cargo.toml | pi-read -" },
        Example {
            purpose: "Listen to a named pipe for two seconds",
            command: "pi-read --timeout 2 events.fifo",
        },
    ];

    fn description() -> String {
        format!(
            "Read a file. Text comes by lines: at most {MAX_LINES} lines or {}, whichever is reached first; a \
             notice at the end says how to go on with offset. Images (jpeg, png, gif, webp, bmp; told by their \
             content) come as images, scaled down to {side}x{side} where they are larger.",
            format_size(MAX_BYTES),
            side = image::MAX_SIDE,
        )
    }

    fn complete(input: &mut Input, _options: &Options) -> Result<(), String> {
        input.is_typed = true;
        if input.path == Path::new("-") {
            input.path = PathBuf::from("/dev/stdin");
        }
        Ok(())
    }

    fn run(input: Input, options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        context.cancel.check()?;
        let path = path::resolve_for_reading(&input.path, context);
        let patience = match options.timeout {
            Some(seconds) => Patience::For(Duration::from_secs_f64(seconds)),
            None if input.is_typed => Patience::OwnPipes,
            None => Patience::None,
        };
        let mut file = File::open(&path, patience, context)?;
        let start = file.whole_block()?;
        if let Some(format) = image::sniff(start) {
            let start = start.to_vec();
            return picture::outcome(start, file, format, options.no_resize, context);
        }
        let mut selection = Selection::new(lines_before(input.offset), lines_wanted(input.limit));
        selection.push(without_mark(start));
        loop {
            match file.block()? {
                [] => break,
                block => selection.push(block),
            }
        }
        let stopped_after = options.timeout.filter(|_| file.is_cut());
        let selected = selection.finish().map_err(|end| Failure::BeyondEnd {
            path: path.clone(),
            offset: input.offset.unwrap_or_default(),
            lines: end.file_lines,
            stopped_after,
        })?;
        let shown_path = if path == path::absolute(&input.path, context) { &input.path } else { &path };
        let text = notice::with_notice(&selected, shown_path, stopped_after);
        let truncation = Some(selected.text).filter(|text| text.truncated);
        let details = truncation.map(|cut| Details { truncation: Some(cut), ..Details::default() });
        Ok(Outcome::text(text.clone(), Structured::Text(text)).with_details(details))
    }
}

/// Lines in front of the first one to show; 1 and everything below it is the first line.
fn lines_before(offset: Option<f64>) -> u64 {
    offset.map_or(0, |offset| (offset.floor() - 1.0).max(0.0) as u64)
}

/// Lines to show; a negative number asks for no limit.
fn lines_wanted(limit: Option<f64>) -> Option<u64> {
    limit.filter(|limit| *limit >= 0.0).map(|limit| limit.floor() as u64)
}

/// A text does not begin with its byte order mark; on disk it stays.
fn without_mark(start: &[u8]) -> &[u8] {
    start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(start)
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if f64::is_finite(number) => Ok(number),
        _ => Err("not a number".to_owned()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    /// What a timer can hold, in seconds: 2^31 - 1 milliseconds.
    const LONGEST: f64 = 2_147_483.647;
    match number(text)? {
        seconds if seconds > 0.0 && seconds <= LONGEST => Ok(seconds),
        _ => Err(format!("it takes more than 0 and at most {LONGEST} seconds")),
    }
}

#[cfg(test)]
mod tests;
