//! The tree of a session drawn for people, as `git log --graph` draws a history, the root first.

use std::io::{self, Write};

use super::listing::{Entry, Listing};
use super::one_line;
use crate::session::rows::Row;

/// Branches drawn side by side; deeper ones share the last column.
const COLUMNS: usize = 24;
/// Characters of an id, a name or a label that are shown.
const WORD: usize = 60;

const YELLOW: &str = "33";
const CYAN: &str = "36;1";
const GREEN: &str = "32";
const BLUE: &str = "34;1";
const DIM: &str = "2";
const BOLD: &str = "1";

/// Draws all rows: `*` is on the path to the leaf, `o` is not.
pub(super) fn tree(listing: &Listing, color: bool, out: &mut dyn Write) -> io::Result<()> {
    let pen = Pen { color };
    let (id, cwd, name) = listing.title();
    write!(out, "{}", pen.paint(BOLD, &format!("session {}", one_line::of(id, WORD))))?;
    if let Some(name) = name {
        write!(out, " {}", pen.paint(CYAN, &format!("\"{}\"", one_line::of(name, WORD))))?;
    }
    writeln!(out, " {}", pen.paint(DIM, &one_line::of(cwd, 2 * WORD)))?;
    if listing.is_count() {
        return writeln!(out, "{}", listing.rows().len());
    }
    let mut columns = Columns::default();
    for row in listing.rows() {
        let (column, is_new) = if listing.is_flat() { (0, false) } else { columns.place(row) };
        if is_new {
            writeln!(out, "{}", pen.paint(DIM, &format!("{}|\\", "| ".repeat(column - 1))))?;
        }
        let entry = listing.entry(row);
        write!(out, "{}", pen.paint(DIM, &"| ".repeat(column)))?;
        line(&entry, listing.is_leaf(row), &pen, out)?;
    }
    Ok(())
}

fn line(entry: &Entry<'_>, is_leaf: bool, pen: &Pen, out: &mut dyn Write) -> io::Result<()> {
    let mark = if entry.on_path { "*" } else { "o" };
    let id = one_line::of(entry.id.as_deref().unwrap_or("-"), WORD);
    write!(out, "{mark} {}", pen.paint(YELLOW, &id))?;
    let label = entry.label.map(|label| format!("\"{}\"", one_line::of(label, WORD)));
    let signs: Vec<_> = is_leaf.then(|| "leaf".to_owned()).into_iter().chain(label).collect();
    if !signs.is_empty() {
        write!(out, " {}", pen.paint(CYAN, &format!("({})", signs.join(", "))))?;
    }
    let kind = entry.role.as_deref().or(entry.entry_type.as_deref()).unwrap_or("?");
    let color = match kind {
        "user" => GREEN,
        "assistant" => BLUE,
        _ => DIM,
    };
    write!(out, " {}", pen.paint(color, &one_line::of(kind, WORD)))?;
    match entry.text {
        Some(text) => writeln!(out, " {text}"),
        None => writeln!(out),
    }
}

struct Pen {
    color: bool,
}

impl Pen {
    fn paint(&self, color: &str, text: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[{color}m{text}\x1b[m") } else { text.to_owned() }
    }
}

/// In which column each row stands: the last branch of a fork goes on in the fork's own column, the
/// others stand in one of their own while they last.
#[derive(Default)]
struct Columns {
    /// Of the ancestors of the row met last, by depth: the column, and the children still to come.
    above: Vec<(usize, u32)>,
}

impl Columns {
    /// A row's column, and whether a branch begins there.
    fn place(&mut self, row: &Row) -> (usize, bool) {
        let depth = row.depth as usize;
        self.above.truncate(depth);
        let (column, is_new) = match self.above.last_mut() {
            None => (0, false),
            Some((column, left)) => {
                *left = left.saturating_sub(1);
                let is_branch = *left > 0 && *column < COLUMNS;
                (*column + usize::from(is_branch), is_branch)
            }
        };
        self.above.push((column, row.children));
        (column, is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_branches_but_the_last_stand_aside() {
        let mut columns = Columns::default();
        let rows = [(0, 2), (1, 1), (2, 2), (3, 0), (3, 0), (1, 0), (0, 0)];
        let places: Vec<_> = rows
            .map(|(depth, children)| columns.place(&Row { index: 0, depth, children }))
            .into_iter()
            .collect();
        let expected = [(0, false), (1, true), (1, false), (2, true), (1, false), (0, false), (0, false)];
        assert_eq!(places, expected);
    }

    #[test]
    fn a_comb_of_forks_has_a_bounded_width() {
        let mut columns = Columns::default();
        let widest = (0..10_000).map(|depth| columns.place(&Row { index: 0, depth, children: 2 }).0).max();
        assert_eq!(widest, Some(COLUMNS));
    }
}
