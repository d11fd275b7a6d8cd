//! The rules by which a case may differ from its recording without being listed, each with its reason.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::compare::Difference;

/// Whether one of the rules allows a difference.
pub fn excuses(difference: &Difference) -> bool {
    const RULES: [fn(&Difference) -> bool; 8] = [
        system_wording,
        pattern_wording,
        nul_in_path,
        hint_for_an_edit,
        encoded_image,
        full_output_path,
        unnamed_log,
        infinity,
    ];
    RULES.iter().any(|allows| allows(difference))
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

/// An edit that fits nowhere or more than once fails with pi's message; a hint on the lines behind it
/// says where it nearly fits, or how to choose.
fn hint_for_an_edit(difference: &Difference) -> bool {
    let (want, got) = (difference.want.as_str(), difference.got.as_str());
    let rest = want.zip(got).and_then(|(want, got)| got.strip_prefix(want));
    difference.at == "error"
        && matches!(difference.code, "no_match" | "not_unique")
        && rest.is_some_and(|rest| rest.starts_with('\n'))
}

/// The encoder that pi ships chooses other bytes for the same picture. Its pixel size is compared from
/// the decoded picture, its media type beside it.
fn encoded_image(difference: &Difference) -> bool {
    difference.case.expect.image.is_some() && difference.at.ends_with(".data") && difference.got.is_string()
}

/// pi tells programs of the file with the full output only when their own 1 MiB of it was cut. Ours
/// tell them of every file that the text for the model names.
fn full_output_path(difference: &Difference) -> bool {
    difference.at == "structuredContent.full_output_path"
        && difference.want.is_null()
        && difference.got.as_str() == difference.named_file
}

/// pi leaves a log behind whose path it tells nobody. We leave no file that nothing names.
fn unnamed_log(difference: &Difference) -> bool {
    difference.at == "tmpfile"
        && difference.got.is_null()
        && difference.named_file.is_none()
        && difference.case.expect.details.is_none()
        && difference.case.expect.error.is_none()
}

/// JavaScript reads `1e999` as Infinity and pi then refuses that. JSON has no such number: what cannot
/// be handed over cannot be refused.
fn infinity(difference: &Difference) -> bool {
    difference.case.args.to_string().contains(r#"{"$number":"Infinity"}"#) && !difference.case.skip_validation
}
