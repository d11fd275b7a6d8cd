//! Points in time as JavaScript's `Date` reads and writes them, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use super::scan::Kind;
use super::script_json::Value;

const DAY: i64 = 86_400_000;
/// Beyond this many milliseconds from 1970 JavaScript has no dates.
const RANGE: f64 = 8.64e15;

/// What `new Date(value).getTime()` gives: NaN where that is no date, absent values included.
pub fn time_value(value: Option<Value<'_>>) -> f64 {
    let Some(value) = value else { return f64::NAN };
    match value.kind() {
        Kind::Null | Kind::False => 0.0,
        Kind::True => 1.0,
        Kind::Number => value.number().filter(|time| time.abs() <= RANGE).map_or(f64::NAN, f64::trunc),
        Kind::String => value.lossy().map_or(f64::NAN, |text| parse(&text)),
        Kind::Array | Kind::Object => f64::NAN,
    }
}

/// `Date.parse` for the formats of the language standard, for a blank in place of the `T`, and for dates
/// in English words; a time without an offset is taken as UTC.
pub fn parse(text: &str) -> f64 {
    let text = text.trim();
    parse_parts(text).or_else(|| parse_words(text)).map_or(f64::NAN, |time| time as f64)
}

/// Milliseconds since 1970 as `YYYY-MM-DDTHH:MM:SS.mmmZ`.
pub fn to_iso(milliseconds: i64) -> String {
    let (year, month, day) = civil(milliseconds.div_euclid(DAY));
    let rest = milliseconds.rem_euclid(DAY);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        year if year < 0 => format!("-{:06}", -year),
        year => format!("+{year:06}"),
    };
    format!(
        "{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        rest / 3_600_000,
        rest / 60_000 % 60,
        rest / 1000 % 60,
        rest % 1000
    )
}

/// A clock's time in milliseconds since 1970.
pub fn milliseconds(time: SystemTime) -> i64 {
    let since = |duration: std::time::Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => since(after),
        Err(before) => -since(before.duration()),
    }
}

fn parse_parts(text: &str) -> Option<i64> {
    let mut rest = text;
    let year = match rest.as_bytes().first()? {
        b'+' => number(&mut rest, 1, 6)?,
        b'-' => -number(&mut rest, 1, 6)?,
        _ => number(&mut rest, 0, 4)?,
    };
    let month = if starts(&mut rest, '-') { number(&mut rest, 0, 2)? } else { 1 };
    let day = if starts(&mut rest, '-') { number(&mut rest, 0, 2)? } else { 1 };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let date = days(year, month, day) * DAY;
    if rest.is_empty() {
        return Some(date);
    }
    if !starts(&mut rest, 'T') && !starts(&mut rest, 't') && !starts(&mut rest, ' ') {
        return None;
    }
    let hour = number(&mut rest, 0, 2)?;
    if !starts(&mut rest, ':') {
        return None;
    }
    let minute = number(&mut rest, 0, 2)?;
    let (mut second, mut fraction) = (0, 0);
    if starts(&mut rest, ':') {
        second = number(&mut rest, 0, 2)?;
        if starts(&mut rest, '.') {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (found, after) = rest.split_at(digits);
            fraction = format!("{found:0<3}").get(..3).filter(|_| digits > 0)?.parse().ok()?;
            rest = after;
        }
    }
    let offset = match rest.as_bytes().first() {
        None => 0,
        Some(b'Z' | b'z') if rest.len() == 1 => 0,
        Some(sign @ (b'+' | b'-')) => {
            let sign = if *sign == b'+' { 1 } else { -1 };
            let hours = number(&mut rest, 1, 2)?;
            starts(&mut rest, ':');
            let minutes = number(&mut rest, 0, 2).filter(|_| rest.is_empty())?;
            sign * (hours * 60 + minutes)
        }
        Some(_) => return None,
    };
    let in_day = hour < 24 || (hour == 24 && minute == 0 && second == 0 && fraction == 0);
    (in_day && minute < 60 && second < 60)
        .then_some(date + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction)
}

/// `Thu, 01 Jan 2026 08:00:00 GMT` and `Thu Jan 01 2026 08:00:00 GMT+0100`.
fn parse_words(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (mut year, mut month, mut day, mut time, mut offset) = (None, None, None, 0, 0);
    let text = text.split('(').next()?.to_ascii_lowercase();
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let zone = word.strip_prefix("gmt").or(word.strip_prefix("utc")).unwrap_or(word);
        if let Some(at) = word.get(..3).and_then(|start| MONTHS.iter().position(|month| *month == start)) {
            month = Some(at as i64 + 1);
        } else if word.contains(':') {
            let parts: Vec<i64> = word.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
            let [hours, minutes, seconds] = *[&parts[..], &[0][..]].concat().first_chunk()?;
            time = (hours * 60 + minutes) * 60 + seconds;
        } else if zone.starts_with(['+', '-']) && zone.len() == 5 {
            let number: i64 = zone[1..].parse().ok()?;
            let minutes = number / 100 * 60 + number % 100;
            offset = if zone.starts_with('-') { -minutes } else { minutes };
        } else if let Ok(number) = word.parse::<i64>() {
            if word.len() > 2 { year = Some(number) } else { day = Some(number) }
        }
    }
    Some((days(year?, month?, day?) * (DAY / 1000) + time - offset * 60) * 1000)
}

fn starts(rest: &mut &str, letter: char) -> bool {
    match rest.strip_prefix(letter) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

/// A number of exactly `count` digits behind `skip` bytes.
fn number(rest: &mut &str, skip: usize, count: usize) -> Option<i64> {
    let digits = rest.get(skip..skip + count)?;
    let value = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    *rest = &rest[skip + count..];
    Some(value)
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date a number of days after 1970-01-01: year, month, day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_standard_formats_and_no_others() {
        for (text, expected) in [
            ("1970-01-01T00:00:00.000Z", 0.0),
            ("2026-01-01", 1_767_225_600_000.0),
            ("2026-01-01T10:00:00", 1_767_261_600_000.0),
            ("2026-01-01T10:00:00+02:00", 1_767_254_400_000.0),
            ("2026-01-01T10:00:00.123456Z", 1_767_261_600_123.0),
            ("2026-01-01T24:00:00Z", 1_767_312_000_000.0),
            ("2026-01-01 10:00:00", 1_767_261_600_000.0),
            ("Thu, 01 Jan 2026 08:00:00 GMT", 1_767_254_400_000.0),
            ("Thu Jan 01 2026 09:00:00 GMT+0100 (CET)", 1_767_254_400_000.0),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        for text in ["", "garbage", "2026-13-01", "2026-01-01T25:00:00Z", "2026-01-01T10", "2026-01-01Tx"] {
            assert!(parse(text).is_nan(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(time in -62_167_219_200_000_i64..=253_402_300_799_999) {
            proptest::prop_assert_eq!(parse(&to_iso(time)), time as f64);
        }
    }
}
