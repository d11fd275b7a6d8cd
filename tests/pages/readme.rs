//! README.md: its tables are made from the commands, its examples are run and their output compared.
//!
//! Between `<!-- tested -->` and `<!-- /tested -->` every `sh` block is run, in one folder, from the
//! top down; the `text` or `json` block behind it is what it prints. Between `<!-- made: NAME -->`
//! and `<!-- /made -->` stands a table.

use std::fmt::Write as _;

use pi_toolbox::cli::pages::{self, overview};

use super::{in_repository, is_committed};
use crate::harness::World;

#[test]
fn pages_of_the_readme_show_what_the_commands_do() {
    let readme = std::fs::read_to_string(in_repository("README.md")).unwrap();
    let tables = [("commands", commands()), ("exit statuses", exit_statuses())];
    let with_tables = tables.iter().fold(readme, |text, (name, table)| with_table(&text, name, table));
    is_committed("README.md", &with_outputs(&with_tables));
}

fn commands() -> String {
    let mut table = String::from("| command | job | prints |\n|---|---|---|\n");
    for page in pages::all() {
        let _ = writeln!(table, "| {} | {} | {} |", code(&page.usage()), page.about, code(&page.prints));
    }
    table
}

fn exit_statuses() -> String {
    let mut table = String::from("| status | meaning |\n|---|---|\n");
    for (status, meaning) in overview::EXIT_STATUSES {
        let _ = writeln!(table, "| {status} | {} |", meaning.replace("(1)", ""));
    }
    table
}

/// Typed text in a cell: a bar would end the cell.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

#[track_caller]
fn with_table(text: &str, name: &str, table: &str) -> String {
    let (open, close) = (format!("<!-- made: {name} -->\n"), "<!-- /made -->");
    let start = text.find(&open).unwrap_or_else(|| panic!("README.md has no {open}")) + open.len();
    let end = start + text[start..].find(close).unwrap();
    format!("{}{table}{}", &text[..start], &text[end..])
}

/// The text with every tested block followed by what it prints now.
fn with_outputs(text: &str) -> String {
    let world = World::new();
    let mut out = String::new();
    let mut is_tested = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        is_tested = (is_tested || line == "<!-- tested -->") && line != "<!-- /tested -->";
        if !is_tested || line != "```sh" {
            continue;
        }
        let script = lines.by_ref().take_while(|line| *line != "```").collect::<Vec<_>>().join("\n");
        let _ = writeln!(out, "{script}\n```");
        let printed = world.script(&script).run().ok().stdout;
        let printed = String::from_utf8(printed).unwrap();
        // The output that the file shows now goes; what was printed takes its place.
        let mut ahead = lines.clone();
        while ahead.next_if(|line| line.is_empty()).is_some() {}
        if ahead.next_if(|line| ["```text", "```json"].contains(line)).is_some() {
            ahead.by_ref().take_while(|line| *line != "```").for_each(drop);
            lines = ahead;
        }
        if !printed.is_empty() {
            let _ = writeln!(out, "\n```{}\n{}\n```", language(&printed), printed.trim_end());
        }
    }
    out
}

fn language(printed: &str) -> &'static str {
    let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    if printed.lines().all(is_json) { "json" } else { "text" }
}
