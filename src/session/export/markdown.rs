//! A session as Markdown: what was said as it was written, everything else fenced.

mod passive;

use std::io::{self, Write};

use serde_json::Value;

use super::{Failure, Subject};
use crate::session::tree::Index;
use crate::session::view::{Block, Content, Message, View};
use passive::{fence, passive, plain};

/// Writes the path to the leaf, or every branch.
pub(super) fn write(subject: &Subject, all: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let tree = &subject.loaded.tree;
    writeln!(out, "# {}\n", plain(&subject.title()?))?;
    let header = &subject.loaded.header;
    writeln!(out, "- Session: {}\n- Directory: {}", plain(&header.id), plain(&header.cwd))?;
    let stats = tree.stats().map_err(|source| subject.reading(source))?;
    writeln!(
        out,
        "- Messages: {}; tokens: {}; cost: ${:.4}",
        stats.total_messages, stats.tokens.total, stats.cost
    )?;
    if !all {
        return entries(subject, &tree.path(subject.leaf), out);
    }
    let rows = tree.rows().map_err(|source| subject.reading(source))?;
    // Stretches of entries that hang under one another; each but the first says where it branched off.
    let mut stretch: Vec<Index> = Vec::new();
    for row in rows {
        if stretch.last().is_some_and(|last| tree.parent(row.index) != Some(*last)) {
            entries(subject, &std::mem::take(&mut stretch), out)?;
            let parent = tree.parent(row.index).and_then(|parent| tree.id(parent));
            let from = parent.map_or("the beginning".to_owned(), |id| plain(&id.into_lossy()));
            writeln!(out, "\n---\n\n# Branch from {from}")?;
        }
        stretch.push(row.index);
    }
    entries(subject, &stretch, out)
}

fn entries(subject: &Subject, path: &[Index], out: &mut dyn Write) -> Result<(), Failure> {
    let tree = &subject.loaded.tree;
    for index in path {
        subject.context.cancel.check().map_err(|_| crate::session::Error::Aborted)?;
        let entry = tree.entry(*index).map_err(|source| subject.reading(source))?;
        let label = tree.label(*index).map(|label| label.text.as_str());
        match entry.view() {
            Ok(view) => self::entry(&view, label, out)?,
            Err(_) => {
                title("Entry", None, label, out)?;
                fence(&String::from_utf8_lossy(entry.raw()), "json", out)?;
            }
        }
    }
    Ok(())
}

fn title(kind: &str, about: Option<&str>, label: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "\n## {kind}")?;
    if let Some(about) = about.filter(|about| !about.is_empty()) {
        write!(out, ": {}", plain(about))?;
    }
    if let Some(label) = label {
        write!(out, " \\[{}\\]", plain(label))?;
    }
    writeln!(out)
}

fn note(kind: &str, about: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n*{kind}: {}*", plain(about))
}

fn entry(view: &View, label: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    match view {
        View::Message { message } => self::message(message, label, out),
        View::ModelChange { provider, model_id } => note("Model", &format!("{provider}/{model_id}"), out),
        View::ThinkingLevelChange { thinking_level } => note("Thinking", thinking_level, out),
        View::SessionInfo { name } => note("Name", name.as_deref().unwrap_or("cleared"), out),
        View::Label { target_id, label } => {
            note("Label", &format!("{} for {target_id}", label.as_deref().unwrap_or("cleared")), out)
        }
        View::Usage { kind, provider, model, .. } => {
            note("Usage", &format!("{kind}, {provider}/{model}"), out)
        }
        View::Compaction { summary, .. } => {
            title("Compaction", None, label, out)?;
            passive(summary, out)
        }
        View::BranchSummary { summary, .. } => {
            title("Branch summary", None, label, out)?;
            passive(summary, out)
        }
        View::Custom { custom_type, data } => {
            note("Extension data", custom_type, out)?;
            data.as_ref().map_or(Ok(()), |data| json(data, out))
        }
        View::CustomMessage { custom_type, content, .. } => {
            title("Extension", Some(custom_type), label, out)?;
            self::content(content.as_ref(), true, out)
        }
        View::ContextEdit { target_id, replacement } => {
            note("Context edit", target_id, out)?;
            json(replacement, out)
        }
        View::Unknown(members) => {
            title("Entry", None, label, out)?;
            json(&Value::Object(members.clone()), out)
        }
    }
}

fn message(message: &Message, label: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    match message {
        Message::System { content, sections, .. } => {
            title("System", None, label, out)?;
            self::content(content.as_ref(), false, out)?;
            for (name, text) in sections.iter().flatten() {
                writeln!(out, "\n{}:", plain(name))?;
                fence(text.as_str().unwrap_or("taken away"), "markdown", out)?;
            }
            Ok(())
        }
        Message::User { content, .. } => {
            title("User", None, label, out)?;
            self::content(content.as_ref(), true, out)
        }
        Message::Assistant { content, model, more, .. } => {
            title("Assistant", model.as_deref(), label, out)?;
            self::content(content.as_ref(), true, out)?;
            match more.get("errorMessage").and_then(Value::as_str) {
                Some(failure) => note("Failed", failure, out),
                None => Ok(()),
            }
        }
        Message::ToolResult { tool_name, content, details, is_error, .. } => {
            let kind = if *is_error { "Failed result" } else { "Result" };
            title(kind, tool_name.as_deref(), label, out)?;
            if let Some(diff) = details.as_ref().and_then(|details| details.get("diff")?.as_str()) {
                fence(diff, "diff", out)?;
            }
            self::content(content.as_ref(), false, out)
        }
        Message::BashExecution { command, output, exit_code, .. } => {
            let status = exit_code.map(|status| format!("exit {status}"));
            title("Shell", status.as_deref(), label, out)?;
            fence(command, "sh", out)?;
            fence(output, "", out)
        }
        Message::Custom { custom_type, content, .. } => {
            title("Extension", custom_type.as_deref(), label, out)?;
            self::content(content.as_ref(), true, out)
        }
        Message::Unknown(members) => {
            title("Message", None, label, out)?;
            json(&Value::Object(members.clone()), out)
        }
    }
}

/// A content; with `as_markdown` its texts are Markdown, else they are fenced.
fn content(content: Option<&Content>, as_markdown: bool, out: &mut dyn Write) -> io::Result<()> {
    let text = |text: &str, out: &mut dyn Write| match as_markdown {
        true => passive(text, out),
        false => fence(text, "", out),
    };
    match content {
        None => Ok(()),
        Some(Content::Text(whole)) => text(whole, out),
        Some(Content::Unknown(value)) => json(value, out),
        Some(Content::Blocks(blocks)) => blocks.iter().try_for_each(|block| match block {
            Block::Text { text: part, .. } => text(part, out),
            Block::Image { data, mime_type, .. } => {
                note("Picture", &format!("{mime_type}, {} bytes of base64", data.len()), out)
            }
            Block::Thinking { thinking, .. } if thinking.is_empty() => Ok(()),
            Block::Thinking { thinking, .. } => {
                writeln!(out, "\n*Thinking:*")?;
                fence(thinking, "", out)
            }
            Block::ToolCall { name, arguments, .. } => {
                writeln!(out, "\n**{}**", plain(name))?;
                match arguments.as_ref() {
                    Some(Value::Object(members)) if members.len() == 1 && members.contains_key("command") => {
                        fence(members["command"].as_str().unwrap_or_default(), "sh", out)
                    }
                    Some(arguments) => json(arguments, out),
                    None => Ok(()),
                }
            }
            Block::Unknown(value) => json(value, out),
        }),
    }
}

fn json(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    fence(&serde_json::to_string_pretty(value)?, "json", out)
}
