//! man/: a page per command from its [`Page`], and pi-toolbox(7).

use std::process::Command as Process;

use clap::{Arg, ArgAction};
use pi_toolbox::cli::pages::{self, Page, overview};
use pi_toolbox::tool::Example;

use super::mdoc::Mdoc;
use super::{holds_only, in_repository, is_committed};

#[test]
fn pages_of_the_manual_are_up_to_date() {
    let pages = manual();
    for (name, text) in &pages {
        is_committed(&format!("man/{name}"), text);
    }
    holds_only("man", pages.into_iter().map(|(name, _)| name).collect());
}

#[test]
fn pages_of_the_manual_are_clean_for_mandoc() {
    let folder = tempfile::tempdir().unwrap();
    let pages = manual();
    for (name, text) in &pages {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let output = Process::new("mandoc")
        .args(["-T", "lint", "-W", "warning"])
        .args(pages.iter().map(|(name, _)| name))
        .current_dir(folder.path())
        .output()
        .unwrap_or_else(|error| panic!("mandoc: {error}; install the package mandoc"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn pages_exist_for_every_command() {
    let mut commands: Vec<_> = std::fs::read_dir(in_repository("src/bin"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    commands.sort();
    let mut documented: Vec<_> = pages::all().iter().map(|page| page.name().to_owned()).collect();
    documented.sort();
    assert_eq!(documented, commands);
}

/// All pages: file name and text.
fn manual() -> Vec<(String, String)> {
    let pages = pages::all();
    let overview = ("pi-toolbox.7".to_owned(), overview_page(&pages));
    pages.iter().map(|page| (format!("{}.1", page.name()), command_page(page))).chain([overview]).collect()
}

fn command_page(page: &Page) -> String {
    let mut out = Mdoc::new(page.name(), "1", &page.about, &release_date());
    let mut command = page.command.clone();
    command.build();
    let arguments: Vec<_> = command.get_arguments().filter(|argument| !argument.is_hide_set()).collect();
    synopsis(&mut out, page.name(), &arguments);
    out.section("DESCRIPTION");
    out.paragraphs(page.description.iter().map(String::as_str));
    options(&mut out, &arguments);
    output(&mut out, page);
    listing(
        &mut out,
        "ENVIRONMENT",
        "The variables that all commands know are in pi-toolbox(7).",
        page.text.environment,
    );
    listing(&mut out, "FILES", "", page.text.files);
    out.section("EXIT STATUS");
    out.terms(page.exit_statuses.iter().copied());
    examples(&mut out, page.examples);
    out.see_also(&[page.text.see_also, &[("pi-toolbox", "7")]].concat());
    out.finish()
}

fn overview_page(all: &[Page]) -> String {
    let mut out = Mdoc::new("pi-toolbox", "7", overview::ABOUT, &release_date());
    out.section("DESCRIPTION");
    out.paragraphs(overview::DESCRIPTION.iter().copied());
    out.section("COMMANDS");
    out.list(|out| {
        for page in all {
            out.item(&["Sy", &page.usage()]);
            out.prose(&format!("{}: {}.", page.about, page.prints));
        }
    });
    for section in overview::CONTRACT {
        out.section(section.title);
        out.paragraphs(section.paragraphs.iter().copied());
    }
    out.section("ERROR CODES");
    let codes = overview::error_codes();
    out.terms(codes.iter().map(|(code, meaning)| (code.as_str(), meaning.as_str())));
    listing(&mut out, "ENVIRONMENT", "", overview::ENVIRONMENT);
    listing(&mut out, "FILES", "", overview::FILES);
    out.section("EXIT STATUS");
    out.terms(overview::EXIT_STATUSES.iter().copied());
    examples(&mut out, overview::PIPES);
    out.section("COMPATIBILITY");
    out.paragraphs(overview::COMPATIBILITY.iter().copied());
    let own: Vec<_> = all.iter().map(|page| (page.name(), "1")).collect();
    out.see_also(&[own.as_slice(), overview::SEE_ALSO].concat());
    out.finish()
}

fn synopsis(out: &mut Mdoc, name: &str, arguments: &[&Arg]) {
    out.section("SYNOPSIS");
    out.macros(&["Nm", name]);
    let (operands, options): (Vec<&Arg>, Vec<&Arg>) =
        arguments.iter().partition(|argument| argument.is_positional());
    for argument in options.iter().chain(&operands).filter(|argument| !is_about_itself(argument)) {
        let words = words_of(argument, Form::Shortest);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        if argument.is_required_set() {
            out.macros(&words);
        } else {
            out.macros(&[&["Op"], words.as_slice()].concat());
        }
    }
}

/// Operands first, then the command's own options, then those of every command.
fn options(out: &mut Mdoc, arguments: &[&Arg]) {
    let heading = |argument: &&Arg| argument.get_help_heading().map(str::to_owned);
    out.section("OPTIONS");
    let (operands, options): (Vec<&Arg>, Vec<&Arg>) =
        arguments.iter().partition(|argument| argument.is_positional());
    let (own, common): (Vec<&Arg>, Vec<&Arg>) =
        options.into_iter().filter(|o| !is_about_itself(o)).partition(|option| heading(option).is_none());
    let own: Vec<_> = operands.into_iter().chain(own).collect();
    if !own.is_empty() {
        out.list(|out| own.iter().for_each(|argument| option(out, argument)));
    }
    let mut title = None;
    for (index, argument) in common.iter().enumerate() {
        if title != heading(argument) {
            title = heading(argument);
            out.subsection(title.as_deref().unwrap_or_default());
            let group: Vec<_> = common[index..].iter().take_while(|other| heading(other) == title).collect();
            out.list(|out| group.iter().for_each(|argument| option(out, argument)));
        }
    }
}

fn option(out: &mut Mdoc, argument: &Arg) {
    let words = words_of(argument, Form::Whole);
    out.item(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    out.prose(&sentence(&help));
    if !takes_value(argument) {
        return;
    }
    let values = argument.get_possible_values();
    if !values.is_empty() {
        out.list(|out| {
            for value in values.iter().filter(|value| !value.is_hide_set()) {
                out.item(&["Cm", value.get_name()]);
                out.prose(&sentence(&value.get_help().map(ToString::to_string).unwrap_or_default()));
            }
        });
    }
    if let [default] = argument.get_default_values() {
        out.paragraph_break();
        out.prose(&format!("The default is `{}`.", default.to_string_lossy()));
    }
}

fn output(out: &mut Mdoc, page: &Page) {
    out.section("OUTPUT");
    out.prose("One line of JSON per job:");
    out.shape(&page.prints);
    if !page.members.is_empty() {
        out.terms(page.members.iter().map(|(name, meaning)| (name.as_str(), meaning.as_str())));
    }
    out.paragraph_break();
    out.prose("A job that failed prints its error in the same place; see pi-toolbox(7).");
}

fn listing(out: &mut Mdoc, title: &str, introduction: &str, terms: &[(&str, &str)]) {
    if terms.is_empty() {
        return;
    }
    out.section(title);
    out.prose(introduction);
    out.terms(terms.iter().copied());
}

fn examples(out: &mut Mdoc, examples: &[Example]) {
    if examples.is_empty() {
        return;
    }
    out.section("EXAMPLES");
    for (index, example) in examples.iter().enumerate() {
        if index > 0 {
            out.paragraph_break();
        }
        out.prose(&format!("{}:", example.purpose));
        out.code(example.command);
    }
}

enum Form {
    /// For the synopsis: the short name, if there is one.
    Shortest,
    /// All names.
    Whole,
}

/// An argument as words of mdoc: `Fl o , Fl -output Ar FORMAT`.
fn words_of(argument: &Arg, form: Form) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut push = |parts: &[&str]| words.extend(parts.iter().map(|part| (*part).to_owned()));
    let long = argument.get_long().map(|long| format!("-{long}"));
    match (argument.get_short(), long.as_deref()) {
        (Some(short), None) => push(&["Fl", &short.to_string()]),
        (None, Some(long)) => push(&["Fl", long]),
        (Some(short), Some(long)) => match form {
            Form::Shortest => push(&["Fl", &short.to_string()]),
            Form::Whole => push(&["Fl", &short.to_string(), ",", "Fl", long]),
        },
        (None, None) => {}
    }
    if takes_value(argument) {
        let value = argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string);
        let value = value.collect::<Vec<_>>().join(" ");
        let repeats = matches!(argument.get_action(), ArgAction::Append) && !value.ends_with("...");
        let more = if repeats { " ..." } else { "" };
        push(&["Ar", &format!("{value}{more}")]);
    }
    words
}

fn takes_value(argument: &Arg) -> bool {
    argument.get_action().takes_values()
}

fn is_about_itself(argument: &Arg) -> bool {
    matches!(
        argument.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    )
}

/// A doc comment's line as a sentence.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '!', '?', ':', ']']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// The day of the newest release in the change log, as mdoc wants it: `December 1, 2026`.
fn release_date() -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let log = std::fs::read_to_string(in_repository("CHANGELOG.md")).unwrap();
    let release =
        log.lines().find_map(|line| line.strip_prefix("## [")).filter(|line| !line.starts_with("Unrel"));
    let (version, date) = release.and_then(|line| line.split_once("] - ")).expect("## [version] - date");
    assert_eq!(version, env!("CARGO_PKG_VERSION"), "the newest release in CHANGELOG.md");
    let mut parts = date.split('-').map(|part| part.trim().parse::<usize>().unwrap());
    let (year, month, day) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    format!("{} {day}, {year}", MONTHS[month - 1])
}
