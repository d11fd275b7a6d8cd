//! From a path as typed by a model or a person to a path on disk.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use icu_normalizer::DecomposingNormalizer;

use crate::context::Context;

/// Where a path points: `@` and `~` taken off, odd spaces made plain, relative to the tool's cwd.
/// A name that exists exactly as typed wins over its normalised form.
pub fn resolve(typed: &Path, context: &Context) -> PathBuf {
    let as_typed = absolute(typed, context);
    let normalised = match typed.to_str().map(normalise) {
        Some(text) => absolute(&expand(&text, context), context),
        None => return as_typed,
    };
    if normalised != as_typed
        && !typed.as_os_str().is_empty()
        && context.backend.symlink_metadata(&as_typed).is_ok()
    {
        return as_typed;
    }
    normalised
}

/// As [`resolve`], and when nothing is there: the names macOS gives screenshots and accented files.
pub fn resolve_for_reading(typed: &Path, context: &Context) -> PathBuf {
    let resolved = resolve(typed, context);
    if exists(&resolved, context) {
        return resolved;
    }
    let Some(text) = resolved.to_str() else { return resolved };
    let decomposed = DecomposingNormalizer::new_nfd().normalize(text).into_owned();
    let variants = [
        narrow_space_before_meridiem(text),
        decomposed.clone(),
        text.replace('\'', "\u{2019}"),
        decomposed.replace('\'', "\u{2019}"),
    ];
    variants
        .into_iter()
        .filter(|variant| variant != text)
        .map(PathBuf::from)
        .find(|variant| exists(variant, context))
        .unwrap_or(resolved)
}

/// A path for people and models: relative to `base` when below it, `/`-separated, lossy.
pub fn display_under<'a>(path: &'a Path, base: &Path) -> Cow<'a, str> {
    path.strip_prefix(base).unwrap_or(path).to_string_lossy()
}

fn exists(path: &Path, context: &Context) -> bool {
    context.backend.metadata(path).is_ok()
}

/// Odd Unicode spaces become plain ones, and one leading `@` goes.
fn normalise(typed: &str) -> Cow<'_, str> {
    let typed = if typed.is_ascii() { Cow::Borrowed(typed) } else { Cow::Owned(plain_spaces(typed)) };
    match typed {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_prefix('@').unwrap_or(text)),
        Cow::Owned(text) => Cow::Owned(text.strip_prefix('@').map(str::to_owned).unwrap_or(text)),
    }
}

fn plain_spaces(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
            other => other,
        })
        .collect()
}

/// `~`, `~/…` and `file://` URLs.
fn expand(text: &str, context: &Context) -> PathBuf {
    if let Some(url) = text.strip_prefix("file://") {
        return file_url(url);
    }
    match (&context.home, text.strip_prefix('~')) {
        (Some(home), Some("")) => home.clone(),
        (Some(home), Some(rest)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    }
}

/// The path of a `file://` URL: host dropped, percent escapes decoded.
fn file_url(rest: &str) -> PathBuf {
    let path = rest.find('/').map_or("/", |slash| &rest[slash..]);
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%')
            .then(|| path.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()))
            .flatten();
        decoded.push(escape.unwrap_or(bytes[at]));
        at += if escape.is_some() { 3 } else { 1 };
    }
    OsString::from_vec(decoded).into()
}

/// Joined to the cwd, with `.` and `..` and doubled or trailing slashes taken out by name, as pi does.
pub fn absolute(path: &Path, context: &Context) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in context.cwd.join(path).components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

/// `… AM.png` → U+202F in place of the blank, as macOS writes it.
fn narrow_space_before_meridiem(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    let mut rest = text;
    while let Some(blank) = rest.find(' ') {
        let (before, from_blank) = rest.split_at(blank);
        result.push_str(before);
        let after = &from_blank.as_bytes()[1..];
        let is_meridiem = after.len() >= 3
            && matches!(after[0].to_ascii_lowercase(), b'a' | b'p')
            && after[1].eq_ignore_ascii_case(&b'm')
            && after[2] == b'.';
        result.push(if is_meridiem { '\u{202f}' } else { ' ' });
        rest = &from_blank[1..];
    }
    result.push_str(rest);
    result
}

/// The bytes of a path, for output that must not be lossy.
pub fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}
