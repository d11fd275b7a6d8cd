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

/// The bytes of a path, for output that must not be lossy.
pub fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
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

/// The path of a `file://` URL: percent escapes decoded, query and fragment dropped. What is written
/// where a host belongs is taken for the first name of a relative path, unless it is `localhost`: a
/// model that writes `file://src/main.rs` does not mean `/main.rs`.
fn file_url(rest: &str) -> PathBuf {
    let path = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    let path = path.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(path);
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| path.get(at + 1..at + 3).and_then(hex_byte)).flatten();
        decoded.push(escape.unwrap_or(bytes[at]));
        at += if escape.is_some() { 3 } else { 1 };
    }
    OsString::from_vec(decoded).into()
}

fn hex_byte(digits: &str) -> Option<u8> {
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
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

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    struct World {
        _folder: tempfile::TempDir,
        context: Context,
    }

    impl World {
        fn new(files: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            let mut context = Context::from_process(None).in_dir(root.join("cwd"));
            context.home = Some(root.join("home"));
            for file in ["cwd/.keep", "home/.keep"].iter().chain(files) {
                let path = root.join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            Self { _folder: folder, context }
        }

        /// Where a path leads, relative to the world's root.
        #[track_caller]
        fn leads(&self, typed: &str, expected: &str) {
            let root = self.context.cwd.parent().unwrap();
            assert_eq!(resolve(Path::new(typed), &self.context), root.join(expected), "{typed}");
        }

        #[track_caller]
        fn reads(&self, typed: &str, expected: &str) {
            let found = resolve_for_reading(Path::new(typed), &self.context);
            assert_eq!(found, self.context.cwd.join(expected), "{typed}");
        }
    }

    #[test]
    fn typed_paths_are_made_plain() {
        let world = World::new(&[]);
        for (typed, expected) in [
            ("a/b", "cwd/a/b"),
            ("./a//b/../c/", "cwd/a/c"),
            ("", "cwd"),
            ("../x", "x"),
            ("a.txt/", "cwd/a.txt"),
            ("@src/a", "cwd/src/a"),
            ("@@a", "cwd/@a"),
            ("@", "cwd"),
            ("~", "home"),
            ("~/", "home"),
            ("~/a", "home/a"),
            ("~//a", "home/a"),
            ("@~/a", "home/a"),
            ("~bob/a", "cwd/~bob/a"),
            ("a~", "cwd/a~"),
            ("\u{a0}a\u{2009}b\u{202f}c\u{205f}d\u{3000}", "cwd/ a b c d "),
            ("\u{a0}@a", "cwd/ @a"),
            ("a\u{200b}b", "cwd/a\u{200b}b"),
        ] {
            world.leads(typed, expected);
        }
    }

    #[test]
    fn file_urls_are_paths() {
        let world = World::new(&[]);
        let at = |path: &str| resolve(Path::new(path), &world.context);
        assert_eq!(at("file:///etc/a%20b%2Fc%C3%A9"), Path::new("/etc/a b/c\u{e9}"));
        assert_eq!(at("@file:///etc/hosts"), Path::new("/etc/hosts"));
        assert_eq!(at("file://localhost/etc/hosts?x#L10"), Path::new("/etc/hosts"));
        assert_eq!(at("file:///a%zz%4%+1"), Path::new("/a%zz%4%+1"));
        assert_eq!(bytes(&at("file:///%ff")), b"/\xff");
        world.leads("file://src/main.rs", "cwd/src/main.rs");
    }

    #[test]
    fn a_name_that_exists_as_typed_wins_over_its_plain_form() {
        let world = World::new(&["cwd/@a", "cwd/a", "cwd/b\u{a0}c", "cwd/b c", "cwd/~/d", "home/d"]);
        for typed in ["@a", "b\u{a0}c", "~/d"] {
            world.leads(typed, &format!("cwd/{typed}"));
        }
        let dangling = world.context.cwd.join("@link");
        std::os::unix::fs::symlink("nowhere", dangling).unwrap();
        world.leads("@link", "cwd/@link");
    }

    #[test]
    fn names_that_are_not_utf8_are_taken_as_they_are() {
        let world = World::new(&[]);
        let typed = Path::new(OsStr::from_bytes(b"@\xff/../x\xfe"));
        assert_eq!(
            resolve_for_reading(typed, &world.context),
            world.context.cwd.join(OsStr::from_bytes(b"x\xfe"))
        );
    }

    #[test]
    fn r14_names_a_mac_writes_are_found_when_typed_plainly() {
        let decomposed = "re\u{301}sume\u{301}";
        let both = "l\u{2019}e\u{301}cran";
        let files = ["it\u{2019}s", "Shot 9.41\u{202f}am.txt", "B 1\u{202f}PM.png", decomposed, both];
        let world = World::new(
            &files.map(|file| format!("cwd/{file}")).iter().map(String::as_str).collect::<Vec<_>>(),
        );
        world.reads("it's", files[0]);
        world.reads("Shot 9.41 am.txt", files[1]);
        world.reads("B 1 PM.png", files[2]);
        world.reads("r\u{e9}sum\u{e9}", decomposed);
        world.reads("l'\u{e9}cran", both);
        // Nothing to find: the name as typed, for the message.
        world.reads("it's not", "it's not");
        world.reads("A PM,", "A PM,");
    }

    #[test]
    fn an_exact_name_wins_over_a_variant() {
        let world = World::new(&["cwd/it's", "cwd/it\u{2019}s", "cwd/1 AM.x", "cwd/1\u{202f}AM.x"]);
        world.reads("it's", "it's");
        world.reads("1 AM.x", "1 AM.x");
    }

    #[test]
    fn a_nul_byte_is_a_name_that_does_not_exist() {
        let world = World::new(&[]);
        world.reads("a\0b", "a\0b");
        world.reads("@a\0\u{e9}'", "a\0\u{e9}'");
    }
}
