//! What is said of a command that has ended: the text, the details, the structured content.

use std::time::Duration;

use super::{Bash, Details, HIGHEST_STATUS, Ran, TIMED_OUT};
use crate::context::Context;
use crate::fs::process::{Cause, Ended};
use crate::tool::Outcome;
use crate::tool::accumulator::{Finished, LogError};
use crate::tool::truncate::{Limit, MAX_BYTES, format_size};

/// The answer to a call, whichever way the command ended.
pub(super) fn outcome(
    finished: Finished,
    ended: Ended,
    timeout: Option<f64>,
    context: &Context,
) -> Outcome<Bash> {
    let status = status(&ended, context);
    let end = end(&ended, timeout);
    let text = text(&finished, &ended, end.as_deref());
    let Finished { truncation, full, full_is_cut, log, .. } = finished;
    let (full_output_path, lost) = match log {
        Some(Ok(path)) => (Some(path.to_string_lossy().into_owned()), None),
        Some(Err(error)) => (None, Some(lost_log(&error))),
        None => (None, None),
    };
    let details =
        truncation.truncated.then(|| Details { truncation, full_output_path: full_output_path.clone() });
    let ran = Ran {
        output: full,
        truncated: full_is_cut,
        full_output_path,
        exit_code: status,
        wall_time_seconds: milliseconds(ended.wall_time),
        timed_out: ended.cause == Cause::TimedOut,
    };
    let mut outcome = Outcome::text(text, ran).with_details(details);
    outcome.is_error = end.is_some();
    outcome.status = status.min(HIGHEST_STATUS);
    outcome.warnings.extend(lost);
    outcome
}

fn status(ended: &Ended, context: &Context) -> u8 {
    match (ended.cause, ended.exit) {
        (Cause::TimedOut, _) => TIMED_OUT,
        (Cause::Cancelled, _) => 128 + context.cancel.signal().map_or(libc::SIGKILL, |signal| signal) as u8,
        (Cause::Exited | Cause::Abandoned, exit) => exit.map_or(0, |exit| exit.status),
    }
}

/// How the command ended, if not well.
fn end(ended: &Ended, timeout: Option<f64>) -> Option<String> {
    match (ended.cause, ended.exit) {
        (Cause::Cancelled, _) => Some("Command aborted".to_owned()),
        (Cause::TimedOut, exit) => {
            let mut text = format!("Command timed out after {} seconds", timeout.unwrap_or_default());
            if let Some(exit) = exit {
                text.push_str(&format!(
                    ". The shell exited with code {} after {:.1} seconds, but background processes it \
                     started kept writing output until the timeout.",
                    exit.status,
                    exit.after.as_secs_f64()
                ));
            }
            Some(text)
        }
        (_, Some(exit)) if exit.status != 0 => Some(format!("Command exited with code {}", exit.status)),
        _ => None,
    }
}

fn text(finished: &Finished, ended: &Ended, end: Option<&str>) -> String {
    let mut parts = Vec::new();
    match (finished.truncation.content.as_str(), ended.cause) {
        ("", Cause::Exited | Cause::Abandoned) => parts.push("(no output)"),
        ("", _) => {}
        (content, _) => parts.push(content),
    }
    let notice = notice(finished, ended.cause);
    parts.extend(notice.as_deref());
    parts.extend(end);
    parts.join("\n\n")
}

fn notice(finished: &Finished, cause: Cause) -> Option<String> {
    let mut parts = Vec::new();
    if finished.truncation.truncated {
        parts.push(shown(finished));
    }
    match &finished.log {
        Some(Ok(path)) => parts.push(format!("Full output: {}", path.display())),
        Some(Err(error)) => parts.push(lost_log(error)),
        None => {}
    }
    if cause == Cause::Abandoned {
        let left =
            "Background processes of the command are still writing; what they write from here on is not kept";
        parts.push(left.to_owned());
    }
    (!parts.is_empty()).then(|| format!("[{}]", parts.join(". ")))
}

/// Which part of the output is shown.
fn shown(finished: &Finished) -> String {
    let record = &finished.truncation;
    let last = record.total_lines;
    if record.last_line_partial {
        let (shown, whole) = (format_size(record.output_bytes), format_size(finished.last_line_bytes));
        return format!("Showing last {shown} of line {last} (line is {whole})");
    }
    let first = (last + 1).saturating_sub(record.output_lines);
    let limit = match record.truncated_by {
        Some(Limit::Bytes) => format!(" ({} limit)", format_size(MAX_BYTES)),
        _ => String::new(),
    };
    format!("Showing lines {first}-{last} of {last}{limit}")
}

fn lost_log(error: &LogError) -> String {
    format!("The full output could not be kept: {error}")
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}
