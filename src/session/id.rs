//! Ids for new entries and sessions.

use std::sync::Arc;

use crate::context::random_hex;

/// Where new ids come from.
#[derive(Clone)]
pub struct Ids {
    entry: Arc<dyn Fn(usize) -> std::io::Result<String> + Send + Sync>,
    session: Arc<dyn Fn(i64) -> std::io::Result<String> + Send + Sync>,
}

impl Ids {
    /// Ids from given functions: of an entry by its length, of a session by the time in milliseconds.
    pub fn new(
        entry: impl Fn(usize) -> std::io::Result<String> + Send + Sync + 'static,
        session: impl Fn(i64) -> std::io::Result<String> + Send + Sync + 'static,
    ) -> Self {
        Self { entry: Arc::new(entry), session: Arc::new(session) }
    }

    /// An id for an entry that is none of those `is_taken` knows: [`SHORT`] digits when it knows all of
    /// the session's, else [`LONG`], which no two entries will ever share.
    pub(super) fn entry(&self, knows_all: bool, is_taken: impl Fn(&str) -> bool) -> std::io::Result<String> {
        let mut digits = if knows_all { SHORT } else { LONG };
        for attempt in 0.. {
            let id = (self.entry)(digits)?;
            if !is_taken(&id) {
                return Ok(id);
            }
            if attempt > 16 {
                digits = LONG;
            }
        }
        Err(std::io::ErrorKind::Other.into())
    }

    /// An id for a session.
    pub(super) fn session(&self, now: i64) -> std::io::Result<String> {
        (self.session)(now)
    }
}

impl Default for Ids {
    fn default() -> Self {
        Self::new(|digits| Ok(random_hex()?.chars().take(digits).collect()), uuid_v7)
    }
}

/// Hexadecimal digits of an entry's id where a collision can be ruled out by looking.
pub const SHORT: usize = 8;
/// Hexadecimal digits of an entry's id where nobody looks: 64 random bits.
pub const LONG: usize = 16;

/// Whether a session may bear this id: it becomes part of a file name.
pub fn is_valid_session_id(id: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    ends(id.chars().next()) && ends(id.chars().last()) && id.chars().all(is_allowed)
}

fn uuid_v7(now: i64) -> std::io::Result<String> {
    let random = [random_hex()?, random_hex()?].concat();
    let variant = u8::from_str_radix(&random[3..4], 16).unwrap_or(0) & 3 | 8;
    let time = format!("{:012x}", now.max(0) & 0xFFFF_FFFF_FFFF);
    Ok(format!(
        "{}-{}-7{}-{variant:x}{}-{}",
        &time[..8],
        &time[8..],
        &random[..3],
        &random[4..7],
        &random[7..19]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_are_uuids_of_version_7_in_order_of_time() {
        let ids = [
            Ids::default().session(1_777_957_505_555).unwrap(),
            Ids::default().session(1_777_957_505_556).unwrap(),
        ];
        assert!(ids[0] < ids[1] && ids.iter().all(|id| id.len() == 36 && &id[14..15] == "7"), "{ids:?}");
        assert!(ids[0].starts_with("019df689-0813-7") || ids[0].starts_with("019d"), "{ids:?}");
    }

    #[test]
    fn a_taken_id_is_not_given_again() {
        let ids = Ids::default();
        let first = ids.entry(true, |_| false).unwrap();
        assert_eq!(first.len(), SHORT);
        assert_ne!(ids.entry(true, |id| id == first).unwrap(), first);
        assert_eq!(ids.entry(false, |_| false).unwrap().len(), LONG);
        assert_eq!(ids.entry(true, |id| id.len() == SHORT).unwrap().len(), LONG);
    }

    #[test]
    fn session_ids_are_safe_as_file_names() {
        for id in ["a", "my.fork-1", "0_9"] {
            assert!(is_valid_session_id(id), "{id}");
        }
        for id in ["", "-bad", "bad-", "a/b", "a b", "é", ".."] {
            assert!(!is_valid_session_id(id), "{id}");
        }
    }
}
