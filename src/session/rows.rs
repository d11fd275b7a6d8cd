//! The tree in reading order: every entry under its parent, siblings by time.

use std::io;

use super::key::{self, Key};
use super::tree::{Index, Seen, Tree};

/// One entry in pre-order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The entry.
    pub index: Index,
    /// How many ancestors it has.
    pub depth: u32,
    /// How many children it has.
    pub children: u32,
}

impl Tree {
    /// All entries that can be reached from a root. Roots stand in file order, children by their
    /// timestamp. An entry whose id is used twice appears as often, as in pi; members of a cycle do not
    /// appear (see [`Tree::diagnostics`]), and nothing is repeated without end.
    pub fn rows(&self) -> io::Result<Vec<Row>> {
        let forest = Forest::grow(self)?;
        let mut rows = Vec::with_capacity(self.len());
        let mut ancestors = Seen::new(self.len());
        let mut shown = Seen::new(self.len());
        // What is still to be shown, the next one last; a depth of `None` marks where an entry's subtree ends.
        let mut waiting: Vec<(Index, Option<u32>)> =
            forest.roots.iter().rev().map(|root| (*root, Some(0))).collect();
        while let Some((index, depth)) = waiting.pop() {
            let Some(depth) = depth else {
                ancestors.remove(index);
                continue;
            };
            if ancestors.contains(index) {
                continue;
            }
            let children = forest.children(self.id_key(index));
            rows.push(Row { index, depth, children: children.len() as u32 });
            // Repeated ids inside repeated subtrees would multiply.
            let is_repeated = !shown.insert(index);
            if is_repeated && rows.len() > 2 * self.len() {
                continue;
            }
            ancestors.insert(index);
            waiting.push((index, None));
            waiting.extend(children.iter().rev().map(|child| (*child as Index, Some(depth + 1))));
        }
        Ok(rows)
    }
}

/// The children of every id, in one array.
struct Forest {
    roots: Vec<Index>,
    /// Where the children of a key begin in `children`.
    starts: Vec<u32>,
    children: Vec<u32>,
}

impl Forest {
    fn grow(tree: &Tree) -> io::Result<Self> {
        let mut roots = Vec::new();
        let mut starts = vec![0_u32; tree.keys.len() + 2];
        let hangs_under = |index: Index| {
            let (id, parent) = (tree.id_key(index), tree.parent_key(index));
            // pi: a missing parent is looked up like any other and finds an entry without an id.
            let is_child = parent != key::NULL && parent != id && tree.by_key(parent).is_some();
            is_child.then_some(parent)
        };
        let node = |index: Index| tree.by_key(tree.id_key(index)).unwrap_or(index);
        for index in 0..tree.len() {
            match hangs_under(index) {
                Some(parent) => starts[parent as usize + 2] += 1,
                None => roots.push(node(index)),
            }
        }
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut children = vec![0_u32; tree.len() - roots.len()];
        for index in 0..tree.len() {
            if let Some(parent) = hangs_under(index) {
                let place = &mut starts[parent as usize + 1];
                children[*place as usize] = node(index) as u32;
                *place += 1;
            }
        }
        let mut forest = Self { roots, starts, children };
        for key in 0..tree.keys.len() {
            let (start, end) = (forest.starts[key] as usize, forest.starts[key + 1] as usize);
            sort_by_time(tree, &mut forest.children[start..end])?;
        }
        Ok(forest)
    }

    fn children(&self, key: Key) -> &[u32] {
        let key = key as usize;
        &self.children[self.starts[key] as usize..self.starts[key + 1] as usize]
    }
}

/// As JavaScript sorts by `Date`: stable; what is no date equals everything.
fn sort_by_time(tree: &Tree, siblings: &mut [u32]) -> io::Result<()> {
    if siblings.len() < 2 {
        return Ok(());
    }
    let mut timed = siblings
        .iter()
        .map(|index| Ok((tree.time(*index as Index)?, *index)))
        .collect::<io::Result<Vec<(f64, u32)>>>()?;
    if timed.iter().any(|(time, _)| time.is_nan()) {
        insertion_sort(&mut timed);
    } else {
        timed.sort_by(|left, right| left.0.total_cmp(&right.0));
    }
    for (place, (_, index)) in siblings.iter_mut().zip(timed) {
        *place = index;
    }
    Ok(())
}

/// V8's sort of short arrays, whose outcome shows when "equal" is not transitive.
fn insertion_sort(timed: &mut [(f64, u32)]) {
    let mut run = 1;
    let is_descending = timed[1].0 < timed[0].0;
    while run < timed.len() && (timed[run].0 < timed[run - 1].0) == is_descending {
        run += 1;
    }
    if is_descending {
        timed[..run].reverse();
    }
    for start in run..timed.len() {
        let pivot = timed[start];
        // V8's own halving: with such an order every step counts.
        let (mut low, mut high) = (0, start);
        while low < high {
            let middle = low + (high - low) / 2;
            if pivot.0 < timed[middle].0 { high = middle } else { low = middle + 1 }
        }
        timed[low..=start].rotate_right(1);
    }
}
