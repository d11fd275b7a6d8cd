//! What is wrong with a session, said to people on stderr; never more than a screenful.

use crate::session::Diagnostic;

/// Findings that are told one by one.
const TOLD: usize = 10;

/// A warning for each of the first findings, and how many more there are.
pub(super) fn of(found: &[Diagnostic]) -> Vec<String> {
    let mut warnings: Vec<String> = found.iter().take(TOLD).map(warning).collect();
    if found.len() > TOLD {
        warnings.push(format!("{} more findings; pi-session-check lists them all", found.len() - TOLD));
    }
    warnings
}

fn warning(found: &Diagnostic) -> String {
    match (found.line, &found.id) {
        (Some(line), _) => format!("line {line}: {}", found.message),
        (None, Some(id)) => format!("entry {id}: {}", found.message),
        (None, None) => found.message.clone(),
    }
}
