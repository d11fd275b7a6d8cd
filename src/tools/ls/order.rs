//! The order of a listing: that of the ICU root collation of the lower-cased names, as pi's.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use icu_collator::options::CollatorOptions;
use icu_collator::{CollatorBorrowed, CollatorPreferences};

use crate::fs::DirEntry;

/// Printable ASCII in the root collation's order, letters in lower case. Each of these characters has
/// a primary weight of its own there, so the order of texts made of them is the order of these places.
const ASCII: &[u8] = br##" _-,;:!?.'"()[]{}@*/\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"##;

/// Sorts by name. Names that differ only in case (or are equal to the collation) go by their bytes.
pub(super) fn sort(entries: &mut [DirEntry]) {
    if entries.iter().all(|entry| is_plain(&entry.name)) {
        let places = ascii_places();
        let place = |byte: &u8| places[usize::from(*byte) & 0x7f];
        entries.sort_by(|a, b| {
            let (a, b) = (a.name.as_bytes(), b.name.as_bytes());
            a.iter().map(place).cmp(b.iter().map(place)).then_with(|| a.cmp(b))
        });
        return;
    }
    match CollatorBorrowed::try_new(CollatorPreferences::default(), CollatorOptions::default()) {
        Ok(collator) => entries.sort_by_cached_key(|entry| Key::of(&entry.name, &collator)),
        // Its data is compiled in, so this does not happen; bytes are an order, too.
        Err(_) => entries.sort_by(|a, b| a.name.cmp(&b.name)),
    }
}

/// What a name is compared by, where that is not its plain ASCII.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    collation: Vec<u8>,
    name: OsString,
}

impl Key {
    fn of(name: &OsString, collator: &CollatorBorrowed<'_>) -> Self {
        let mut collation = Vec::new();
        let Ok(()) = collator.write_sort_key_to(&name.to_string_lossy().to_lowercase(), &mut collation);
        Self { collation, name: name.clone() }
    }
}

fn is_plain(name: &OsString) -> bool {
    name.as_bytes().iter().all(|byte| matches!(byte, b' '..=b'~'))
}

fn ascii_places() -> [u8; 128] {
    let mut places = [0; 128];
    for (place, byte) in (1..).zip(ASCII) {
        places[usize::from(*byte)] = place;
        places[usize::from(byte.to_ascii_uppercase())] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;
    use crate::fs::Kind;
    use proptest::prelude::*;

    fn compare(a: &str, b: &str) -> Ordering {
        let collator = CollatorBorrowed::try_new(Default::default(), CollatorOptions::default()).unwrap();
        collator.compare(&a.to_lowercase(), &b.to_lowercase()).then_with(|| a.as_bytes().cmp(b.as_bytes()))
    }

    proptest! {
        #[test]
        fn ascii_names_and_others_go_by_the_root_collation(
            names in prop::collection::vec("[ -~]{1,6}|[a-cA-C._ -]{1,4}|[aäÄéeß中カか😀A]{1,3}", 2..12),
            is_ascii in any::<bool>(),
        ) {
            let names: Vec<_> = names.into_iter().filter(|name| !is_ascii || name.is_ascii()).collect();
            let entry = |name: &String| DirEntry { name: name.into(), kind: Kind::File };
            let mut entries: Vec<_> = names.iter().map(entry).collect();
            sort(&mut entries);
            let mut expected = names.clone();
            expected.sort_by(|a, b| compare(a, b));
            let sorted: Vec<_> = entries.iter().map(|entry| entry.name.to_str().unwrap().to_owned()).collect();
            prop_assert_eq!(sorted, expected);
        }
    }
}
