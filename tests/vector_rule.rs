//! The rules by which a case may differ from its recording without being listed, each with its reason.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::compare::Difference;

/// Whether a difference is one that a rule allows.
type Predicate = fn(&Difference) -> bool;

/// The name of the rule that allows a difference.
pub fn excusing(difference: &Difference) -> Option<&'static str> {
    const RULES: [(&str, Predicate); 5] = [
        ("system_wording", system_wording),
        ("pattern_wording", pattern_wording),
        ("nul_in_path", nul_in_path),
        ("encoded_image", encoded_image),
        ("infinity", infinity),
    ];
    RULES.into_iter().find(|(_, allows)| allows(difference)).map(|(name, _)| name)
}

/// pi's message is the system's error as Node words it. Ours may use other words, but not another
/// error: the same symbol (`ENOENT`) must be in both, and the call must fail in both.
fn system_wording(difference: &Difference) -> bool {
    static SYMBOL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bE[A-Z]{3,}\b").unwrap());
    let symbol = |text: &Value| SYMBOL.find(text.as_str()?).map(|symbol| symbol.as_str().to_owned());
    difference.at == "error"
        && symbol(difference.want).is_some_and(|want| symbol(difference.got) == Some(want))
}

/// pi hands on what ripgrep or fd print. We use their libraries and say it in our own words, but the
/// fault must be the same one.
fn pattern_wording(difference: &Difference) -> bool {
    let want = difference.want.as_str().unwrap_or_default();
    let program = ["rg: ", "[fd error]: "].into_iter().find(|program| want.starts_with(program));
    let code = match want {
        _ if want.contains("is not a directory") => "not_directory",
        _ if want.contains("Permission denied") => "permission_denied",
        _ => "invalid_pattern",
    };
    difference.at == "error" && program.is_some() && difference.code == code
}

/// Node refuses a path with a NUL in words about its own types.
fn nul_in_path(difference: &Difference) -> bool {
    let want = difference.want.as_str().unwrap_or_default();
    difference.at == "error" && want.contains("without null bytes") && difference.code == "invalid_arguments"
}

/// The encoder that pi ships chooses other bytes for the same picture. Its pixel size is compared from
/// the decoded picture, its media type beside it.
fn encoded_image(difference: &Difference) -> bool {
    difference.case.expect.image.is_some() && difference.at.ends_with(".data") && difference.got.is_string()
}

/// JavaScript reads `1e999` as Infinity and pi then refuses that. JSON has no such number: what cannot
/// be handed over cannot be refused.
fn infinity(difference: &Difference) -> bool {
    difference.case.args.to_string().contains(r#"{"$number":"Infinity"}"#) && !difference.case.skip_validation
}
