//! The shortest way from one list of lines to another, with the choices that jsdiff makes among
//! equally short ones, so that diffs read as pi's do.

use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Edits beyond which the exact search, whose work grows with their square, gives way to `similar`.
const MAX_EDITS: isize = 1000;

/// A run of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// In both lists.
    Keep(usize),
    /// In the old list only.
    Remove(usize),
    /// In the new list only.
    Add(usize),
}

/// The steps that turn `old` into `new`.
pub fn steps<T: Eq + Hash>(old: &[T], new: &[T]) -> Vec<Step> {
    Search::new(old, new).run().unwrap_or_else(|| by_similar(old, new))
}

/// Myers' greedy search: after each round, how far into `old` every diagonal has come with that many
/// edits. Diagonal k holds the places with k more old lines behind them than new ones.
struct Search<'a, T> {
    old: &'a [T],
    new: &'a [T],
    /// The best path of each diagonal; index 0 is the diagonal `-reach - 1`.
    best: Vec<Option<Path>>,
    reach: isize,
    /// Runs of all paths; each knows the one before it.
    runs: Vec<Run>,
    /// Diagonals outside of these have met an edge of the grid: nothing shorter comes from there.
    lowest: isize,
    highest: isize,
}

#[derive(Clone, Copy)]
struct Path {
    old_done: isize,
    last_run: usize,
}

struct Run {
    step: Step,
    before: usize,
}

const NO_RUN: usize = usize::MAX;

impl<'a, T: Eq> Search<'a, T> {
    fn new(old: &'a [T], new: &'a [T]) -> Self {
        let reach = MAX_EDITS.min((old.len() + new.len()) as isize);
        let best = vec![None; 2 * reach as usize + 3];
        Self { old, new, best, reach, runs: Vec::new(), lowest: isize::MIN, highest: isize::MAX }
    }

    fn run(mut self) -> Option<Vec<Step>> {
        let start = Path { old_done: 0, last_run: NO_RUN };
        if let Some(end) = self.advance(start, 0) {
            return Some(self.steps_to(end));
        }
        for edits in 1..=self.reach {
            let mut diagonal = self.lowest.max(-edits);
            // Both bounds move while the round goes on, and the round heeds the upper one.
            while diagonal <= self.highest.min(edits) {
                if let Some(path) = self.step_onto(diagonal)
                    && let Some(end) = self.advance(path, diagonal)
                {
                    return Some(self.steps_to(end));
                }
                diagonal += 2;
            }
        }
        None
    }

    /// The better of the two ways to come onto a diagonal with one edit more.
    fn step_onto(&mut self, diagonal: isize) -> Option<Path> {
        let (old_len, new_len) = (self.old.len() as isize, self.new.len() as isize);
        let removing = self.best_on(diagonal - 1).take().filter(|path| path.old_done < old_len);
        let adding = self.best_on(diagonal + 1).filter(|path| {
            let new_done = path.old_done - diagonal;
            (1..=new_len).contains(&new_done)
        });
        *self.best_on(diagonal) = None;
        match (removing, adding) {
            (Some(removing), Some(adding)) if removing.old_done < adding.old_done => {
                Some(self.extended(adding, Step::Add(1), 0))
            }
            (Some(removing), _) => Some(self.extended(removing, Step::Remove(1), 1)),
            (None, Some(adding)) => Some(self.extended(adding, Step::Add(1), 0)),
            (None, None) => None,
        }
    }

    /// Follows equal lines, and notes the path; gives its last run when it has reached the end.
    fn advance(&mut self, path: Path, diagonal: isize) -> Option<usize> {
        let (old_done, new_done) = (path.old_done as usize, (path.old_done - diagonal) as usize);
        let equal =
            self.old[old_done..].iter().zip(&self.new[new_done..]).take_while(|(old, new)| old == new);
        let count = equal.count();
        let path = match count {
            0 => path,
            _ => self.extended(path, Step::Keep(count), count as isize),
        };
        let at_old_end = old_done + count == self.old.len();
        let at_new_end = new_done + count == self.new.len();
        if at_old_end && at_new_end {
            return Some(path.last_run);
        }
        *self.best_on(diagonal) = Some(path);
        if at_old_end {
            self.highest = self.highest.min(diagonal - 1);
        }
        if at_new_end {
            self.lowest = self.lowest.max(diagonal + 1);
        }
        None
    }

    fn extended(&mut self, path: Path, step: Step, old_lines: isize) -> Path {
        let merged = self.runs.get(path.last_run).and_then(|last| {
            let step = match (last.step, step) {
                (Step::Remove(count), Step::Remove(more)) => Step::Remove(count + more),
                (Step::Add(count), Step::Add(more)) => Step::Add(count + more),
                _ => return None,
            };
            Some(Run { step, before: last.before })
        });
        self.runs.push(merged.unwrap_or(Run { step, before: path.last_run }));
        Path { old_done: path.old_done + old_lines, last_run: self.runs.len() - 1 }
    }

    fn best_on(&mut self, diagonal: isize) -> &mut Option<Path> {
        &mut self.best[(diagonal + self.reach + 1) as usize]
    }

    fn steps_to(&self, end: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = end;
        while let Some(run) = self.runs.get(at) {
            steps.push(run.step);
            at = run.before;
        }
        steps.reverse();
        steps
    }
}

fn by_similar<T: Eq + Hash>(old: &[T], new: &[T]) -> Vec<Step> {
    let ops = capture_diff_slices(Algorithm::Myers, old, new);
    let steps = ops.into_iter().flat_map(|op| match op {
        DiffOp::Equal { len, .. } => [Step::Keep(len), Step::Keep(0)],
        DiffOp::Delete { old_len, .. } => [Step::Remove(old_len), Step::Keep(0)],
        DiffOp::Insert { new_len, .. } => [Step::Add(new_len), Step::Keep(0)],
        DiffOp::Replace { old_len, new_len, .. } => [Step::Remove(old_len), Step::Add(new_len)],
    });
    steps.filter(|step| *step != Step::Keep(0)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Walks the steps; the number of edits.
    fn edits(old: &[u8], new: &[u8], steps: &[Step]) -> usize {
        let (mut old_at, mut new_at, mut edits) = (0, 0, 0);
        for &step in steps {
            match step {
                Step::Keep(count) => {
                    assert_eq!(old[old_at..old_at + count], new[new_at..new_at + count]);
                    (old_at, new_at) = (old_at + count, new_at + count);
                }
                Step::Remove(count) => (old_at, edits) = (old_at + count, edits + count),
                Step::Add(count) => (new_at, edits) = (new_at + count, edits + count),
            }
        }
        assert_eq!((old_at, new_at), (old.len(), new.len()));
        edits
    }

    fn fewest_edits(old: &[u8], new: &[u8]) -> usize {
        let mut row: Vec<usize> = (0..=new.len()).collect();
        for (index, one) in old.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = index + 1;
            for (at, other) in new.iter().enumerate() {
                let best = if one == other { diagonal } else { 1 + row[at].min(row[at + 1]) };
                diagonal = std::mem::replace(&mut row[at + 1], best);
            }
        }
        row[new.len()]
    }

    #[test]
    fn removals_come_before_additions() {
        assert_eq!(steps(b"abc", b"axyc"), [Step::Keep(1), Step::Remove(1), Step::Add(2), Step::Keep(1)]);
        assert_eq!(steps(b"abbc", b"abbbc"), [Step::Keep(3), Step::Add(1), Step::Keep(1)]);
        assert_eq!(steps(b"", b"ab"), [Step::Add(2)]);
        assert_eq!(steps(b"ab", b""), [Step::Remove(2)]);
        assert_eq!(steps::<u8>(b"", b""), []);
    }

    #[test]
    fn lists_with_nothing_in_common_still_come_to_an_end() {
        let old: Vec<u32> = (0..20_000).collect();
        let new: Vec<u32> = (20_000..40_000).collect();
        assert_eq!(steps(&old, &new), [Step::Remove(20_000), Step::Add(20_000)]);
    }

    proptest! {
        #[test]
        fn the_way_is_right_and_the_shortest(old in "[abc]{0,24}", new in "[abc]{0,24}") {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            prop_assert_eq!(edits(old, new, &steps(old, new)), fewest_edits(old, new));
            edits(old, new, &by_similar(old, new));
        }
    }
}
