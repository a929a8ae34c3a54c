//! Lists of items by group, one after another in one pool.

use super::index::List;

/// For each group, its items in the order in which they were added. It is filled in two walks over the same items: the first
/// counts them, and the second puts each in its place. So no item is moved, and the memory is reused. Where items are found
/// group by group, one walk is enough.
///
/// ```
/// # use azulejo_core::ir::grouped::Grouped;
/// let words = ["the", "a", "bird", "an", "egg"];
/// let mut by_length = Grouped::default();
/// by_length.start(5);
/// words.iter().for_each(|word| by_length.count(word.len()));
/// by_length.make_room("");
/// words.iter().for_each(|word| by_length.add(word.len(), *word));
/// by_length.finish();
/// assert_eq!(by_length.group(3), ["the", "egg"]);
/// assert!(by_length.group(0).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Grouped<T> {
    /// The items of all groups, in order. Items that are in no group may be appended.
    pub pool: Vec<T>,
    /// Where each group starts in the pool, and where the last one ends. While items are added, where the next item of each
    /// group goes.
    starts: Vec<u32>,
}

impl<T> Default for Grouped<T> {
    fn default() -> Self {
        Grouped { pool: Vec::new(), starts: Vec::new() }
    }
}

impl<T: Copy> Grouped<T> {
    /// Empties it and starts the first walk, which counts the items of `n_groups` groups.
    pub fn start(&mut self, n_groups: usize) {
        self.pool.clear();
        self.starts.clear();
        self.starts.resize(n_groups + 1, 0);
    }

    /// Counts an item of a group.
    #[inline(always)]
    pub fn count(&mut self, group: usize) {
        self.starts[group + 1] += 1;
    }

    /// Ends the first walk: makes room for the counted items. The room holds `filler` until they are added.
    pub fn make_room(&mut self, filler: T) {
        for group in 1..self.starts.len() {
            self.starts[group] += self.starts[group - 1];
        }
        self.pool.resize(self.starts[self.starts.len() - 1] as usize, filler);
    }

    /// Adds an item that was counted.
    #[inline(always)]
    pub fn add(&mut self, group: usize, item: T) {
        let next = &mut self.starts[group];
        self.pool[*next as usize] = item;
        *next += 1;
    }

    /// Ends the second walk.
    pub fn finish(&mut self) {
        // Each entry has become the end of its group, which is the start of the group after it.
        self.starts.rotate_right(1);
        debug_assert_eq!(self.starts[0] as usize, self.pool.len(), "what was counted was added");
        self.starts[0] = 0;
    }

    /// Adds the group that comes next, with these items. For items that are known group by group: neither of the two walks is
    /// needed then, after a [`start`](Self::start) with no groups.
    pub fn add_group(&mut self, items: impl IntoIterator<Item = T>) {
        items.into_iter().for_each(|item| self.pool.push(item));
        self.starts.push(self.pool.len() as u32);
    }

    /// The place of a group's items in the pool.
    #[inline(always)]
    pub fn list(&self, group: usize) -> List {
        let [start, end] = [self.starts[group], self.starts[group + 1]];
        List { start, len: end - start }
    }

    /// The items of a group.
    #[inline(always)]
    pub fn group(&self, group: usize) -> &[T] {
        &self.pool[self.list(group).range()]
    }

    /// The items of each group.
    pub fn groups(&self) -> impl Iterator<Item = &[T]> {
        self.starts.windows(2).map(|ends| &self.pool[ends[0] as usize..ends[1] as usize])
    }
}
