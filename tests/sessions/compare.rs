//! Comparing what we give with what was recorded, placeholders for values JSON lacks included.

use pi_toolbox::session::scan::Kind;
use pi_toolbox::session::script_json::{Document, Value};

use super::rules::Rules;
use super::sha256;

/// The first difference that no rule covers, if there is one.
pub(super) fn difference(
    actual: Value<'_>,
    expected: Value<'_>,
    at: &str,
    rules: &mut Rules<'_>,
) -> Option<String> {
    let found = first_difference(actual, expected, at, rules)?;
    (!rules.cover(actual, expected, at)).then_some(found)
}

fn first_difference(
    actual: Value<'_>,
    expected: Value<'_>,
    at: &str,
    rules: &mut Rules<'_>,
) -> Option<String> {
    let differs = || {
        let cut = |value: Value<'_>| {
            let text = String::from_utf8_lossy(&value.to_script_json()).into_owned();
            if text.chars().count() > 400 { text.chars().take(400).collect::<String>() + "…" } else { text }
        };
        Some(format!("at {at}: got {} instead of {}", cut(actual), cut(expected)))
    };
    if expected.kind() == Kind::Object {
        let names: Vec<_> = expected.members().map(|(name, _)| name.lossy().unwrap()).collect();
        match &names[..] {
            // Any clean error will do, and so does a sensible answer where pi fell over or never came back.
            [only] if only == "throws" || only == "neverReturns" => return None,
            [only] if only == "$num" => {
                let is_nan = actual.kind() == Kind::Null || actual.get("$num").is_some();
                return if is_nan { None } else { differs() };
            }
            [only] if only == "$json" || only == "$jsonText" => {
                let text = expected.members().next().unwrap().1.text().unwrap();
                let wanted = Document::parse(text.as_bytes()).unwrap();
                return (actual.to_script_json() != wanted.root().to_script_json()).then(differs).flatten();
            }
            _ if names.iter().any(|name| name == "sha256") && names.len() <= 3 => {
                let text = match actual.text() {
                    Some(text) if !names.iter().any(|name| name == "json") => text.as_bytes().to_vec(),
                    _ => actual.to_script_json(),
                };
                let is_same = expected.get("sha256").unwrap().is_str(&sha256::hex(&text));
                let wanted = expected.get("bytes").unwrap().number().unwrap();
                let note = format!("at {at}: hash differs, {} bytes instead of {wanted}", text.len());
                return (!is_same).then_some(note);
            }
            _ => {}
        }
        if actual.kind() != Kind::Object {
            return differs();
        }
        for (name, value) in expected.members() {
            let name = name.lossy().unwrap();
            let inside = format!("{at}.{name}");
            let is_undefined = value.kind() == Kind::Object && value.get("$undef").is_some();
            match actual.get(&name) {
                Some(found) if is_undefined && found.get("$undef").is_some() => {}
                None if is_undefined => {}
                Some(found) => {
                    if let Some(difference) = difference(found, value, &inside, rules) {
                        return Some(difference);
                    }
                }
                None => return Some(format!("at {inside}: missing")),
            }
        }
        let extra = actual.members().find(|(name, value)| {
            expected.get(&name.lossy().unwrap()).is_none() && value.get("$undef").is_none()
        });
        return extra.map(|(name, value)| format!("at {at}: unexpected {name:?}: {value:?}"));
    }
    if expected.kind() == Kind::Array && actual.kind() == Kind::Array {
        let (ours, theirs): (Vec<_>, Vec<_>) = (actual.elements().collect(), expected.elements().collect());
        if ours.len() != theirs.len() {
            return differs();
        }
        return ours
            .iter()
            .zip(theirs)
            .enumerate()
            .find_map(|(index, (ours, theirs))| difference(*ours, theirs, &format!("{at}[{index}]"), rules));
    }
    (actual.to_script_json() != expected.to_script_json()).then(differs).flatten()
}
