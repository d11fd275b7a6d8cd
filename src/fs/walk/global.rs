//! Where the user's excludes for all repositories are: `core.excludesFile`, or git's default for it.

use std::path::{Path, PathBuf};

use crate::context::Context;

/// The file, whether or not it exists. The user's configuration is read with `read`; includes in it,
/// the system's and the repository's configuration are not asked.
pub(super) fn excludes_file(context: &Context, read: impl Fn(&Path) -> Option<String>) -> Option<PathBuf> {
    let variable = |name| context.environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = context.home.as_deref();
    let xdg = variable("XDG_CONFIG_HOME")
        .filter(|dir| dir.is_absolute())
        .or_else(|| home.map(|home| home.join(".config")))
        .map(|config| config.join("git"));
    let configurations = match variable("GIT_CONFIG_GLOBAL") {
        Some(only) => vec![only],
        None => [home.map(|home| home.join(".gitconfig")), xdg.as_ref().map(|git| git.join("config"))]
            .into_iter()
            .flatten()
            .collect(),
    };
    let configured = configurations.iter().find_map(|path| excludes_in(&read(path)?));
    match configured {
        Some(value) => match (value.strip_prefix("~/"), home) {
            (Some(below), Some(home)) => Some(home.join(below)),
            _ => Some(PathBuf::from(value)).filter(|path| path.is_absolute()),
        },
        None => xdg.map(|git| git.join("ignore")),
    }
}

/// The last `core.excludesFile` in the text of a configuration file.
fn excludes_in(configuration: &str) -> Option<String> {
    let mut in_core = false;
    let mut found = None;
    for line in configuration.lines() {
        let mut rest = line.trim_start();
        if let Some(header) = rest.strip_prefix('[') {
            let Some((section, behind)) = header.split_once(']') else { continue };
            in_core = section.trim().eq_ignore_ascii_case("core");
            rest = behind.trim_start();
        }
        if let Some((name, value)) = rest.split_once('=')
            && in_core
            && name.trim().eq_ignore_ascii_case("excludesfile")
        {
            found = Some(unquote(value.trim()));
        }
    }
    found
}

/// A value without its quotes, escapes and trailing comment.
fn unquote(value: &str) -> String {
    let mut text = String::new();
    let mut is_quoted = false;
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => match letters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    if value.ends_with('"') { text } else { text.trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_value_the_way_git_does() {
        for (configuration, expected) in [
            ("[core]\n\texcludesfile = ~/.ignore\n", Some("~/.ignore")),
            ("[CORE] ExcludesFile=/a b ; why\n", Some("/a b")),
            ("[core]\n excludesFile = \"/with # hash\"\n", Some("/with # hash")),
            (
                "[core]\nexcludesFile = /first\n[user]\nname = x\n[core]\nexcludesFile = /second",
                Some("/second"),
            ),
            ("[core \"sub\"]\nexcludesFile = /no\n[other]\nexcludesFile = /no\n", None),
            ("excludesFile = /no\n", None),
        ] {
            assert_eq!(excludes_in(configuration).as_deref(), expected, "{configuration:?}");
        }
    }
}
