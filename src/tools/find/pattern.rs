//! The glob of a find: what it is matched against, and which directories cannot hold a match.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

/// A parsed pattern.
pub(super) struct Pattern {
    glob: GlobMatcher,
    against: Against,
    /// For each component up to the first `**`, what a directory at that depth must be called.
    components: Vec<GlobMatcher>,
    /// Whether there is a `**`, so that a match may lie at any depth below the components.
    is_deep: bool,
}

/// What the glob is matched against.
enum Against {
    /// The last component (a pattern without a slash).
    Name,
    /// The path from the search directory on.
    Relative,
    /// The path from the file system's root on, with the search directory as named.
    Absolute(PathBuf),
}

impl Pattern {
    /// Reads a pattern for a search in `root`. Without capitals in it, ASCII letters match in either case.
    pub(super) fn new(pattern: &str, root: &Path) -> Result<Self, globset::Error> {
        let mut pattern = pattern;
        while let Some(rest) = pattern.strip_prefix("./") {
            pattern = rest;
        }
        let ignore_case = !pattern.chars().any(char::is_uppercase);
        let compile = |glob: &str| -> Result<GlobMatcher, globset::Error> {
            let mut builder = GlobBuilder::new(glob);
            builder.literal_separator(true).backslash_escape(true).case_insensitive(ignore_case);
            Ok(builder.build()?.compile_matcher())
        };
        let glob = compile(pattern)?;
        let against = match pattern {
            absolute if absolute.starts_with('/') => Against::Absolute(root.to_owned()),
            relative if relative.contains('/') => Against::Relative,
            _ => Against::Name,
        };
        let mut components = Vec::new();
        let mut is_deep = true;
        if let (Against::Relative, Some(parts)) = (&against, components_of(pattern)) {
            is_deep = parts.iter().any(|part| part.contains("**"));
            let shallow = parts.iter().take_while(|part| !part.contains("**"));
            components = shallow.map(|part| compile(part)).collect::<Result<_, _>>()?;
        }
        Ok(Self { glob, against, components, is_deep })
    }

    /// Whether the entry at `relative` matches.
    pub(super) fn matches(&self, relative: &Path) -> bool {
        match &self.against {
            Against::Name => relative.file_name().is_some_and(|name| self.glob.is_match(name)),
            Against::Relative => self.glob.is_match(relative),
            Against::Absolute(root) => self.glob.is_match(root.join(relative)),
        }
    }

    /// Whether there can be a match below the directory at `relative`, whose parent was entered.
    pub(super) fn reaches_below(&self, relative: &Path) -> bool {
        let depth = memchr::memchr_iter(b'/', relative.as_os_str().as_bytes()).count();
        match self.components.get(depth) {
            Some(component) => {
                let is_last = depth + 1 == self.components.len() && !self.is_deep;
                !is_last && relative.file_name().is_some_and(|name| component.is_match(name))
            }
            None => self.is_deep,
        }
    }
}

/// The components of a glob; none if a slash stands inside braces or a class.
fn components_of(pattern: &str) -> Option<Vec<&str>> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for letter in pattern.chars() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '/' if depth > 0 => return None,
            _ => {}
        }
    }
    Some(pattern.split('/').collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text, Path::new("/r")).unwrap()
    }

    #[test]
    fn only_directories_that_can_hold_a_match_are_entered() {
        for (text, entered, left) in [
            ("etc/host*", &["etc"][..], &["usr", "etc/hosts"][..]),
            ("src/**/*.rs", &["src", "src/a", "src/a/b"], &["lib"]),
            ("**/x", &["a", "a/b"], &[]),
            ("*.rs", &["a", "a/b/c"], &[]),
            ("{a,b}/[cd]/*", &["a", "b", "a/c"], &["c", "a/e", "a/c/f"]),
            ("{a/b,c}/*", &["a", "x"], &[]),
            ("SRC/*", &["SRC"], &["src"]),
            ("/r/*", &["a"], &[]),
        ] {
            let pattern = pattern(text);
            assert!(entered.iter().all(|path| pattern.reaches_below(Path::new(path))), "{text}");
            assert!(!left.iter().any(|path| pattern.reaches_below(Path::new(path))), "{text}");
        }
    }

    proptest! {
        /// Leaving directories out never loses a match.
        #[test]
        fn every_match_can_be_reached(
            text in "(\\./)?([ab*?{}\\[\\],]{1,4}/|\\*\\*/){0,3}[ab*?]{1,3}",
            path in "([ab]{1,3}/){0,4}[ab]{1,3}",
        ) {
            if let Ok(pattern) = Pattern::new(&text, Path::new("/r")) {
                let path = Path::new(&path);
                if pattern.matches(path) {
                    let above = path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
                    for directory in above {
                        prop_assert!(pattern.reaches_below(directory), "{text} {path:?} {directory:?}");
                    }
                }
            }
        }
    }
}
