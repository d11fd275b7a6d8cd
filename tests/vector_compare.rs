//! Compares what came out of a case with what was recorded, down to the first difference.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::case::{After, Case, Pixels, Place, TempFile};
use super::rule;
use pi_toolbox::message::ToolResult;

/// What became of a case.
#[derive(Debug)]
pub enum Verdict {
    /// It came out as recorded.
    Same,
    /// It differs where a rule says that it may.
    Departs,
    /// The first difference that no rule excuses.
    Differs(String),
}

/// Something that is not as recorded.
pub struct Difference<'a> {
    pub case: &'a Case,
    /// Where: a path of members.
    pub at: String,
    pub want: &'a Value,
    pub got: &'a Value,
    /// The code of a failed call.
    pub code: &'a str,
    /// The full-output file that the result names.
    pub named_file: Option<&'a str>,
}

pub fn judge(case: &Case, place: &Place, result: &ToolResult) -> Verdict {
    let text = result.content.iter().filter_map(|block| match block {
        pi_toolbox::message::Content::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let text = place.placeholders(&text.collect::<Vec<_>>().join("\n"));
    let mut got = serde_json::to_value(result).unwrap();
    place.put_placeholders(&mut got);
    let mut judging = Judging { case, got: &got, departs: false };
    let outcome = judging.result(&text).and_then(|()| {
        case.files_after.iter().try_for_each(|after| file(after, place))?;
        image(case.expect.image, result)
    });
    let outcome = outcome.and_then(|()| {
        let want = serde_json::to_value(&case.expect.tmpfile).unwrap();
        let got = serde_json::to_value(temp_file(place)?).unwrap();
        judging.same("tmpfile", &want, &got)
    });
    match (outcome, judging.departs) {
        (Err(difference), _) => Verdict::Differs(difference),
        (Ok(()), true) => Verdict::Departs,
        (Ok(()), false) => Verdict::Same,
    }
}

struct Judging<'a> {
    case: &'a Case,
    got: &'a Value,
    departs: bool,
}

impl Judging<'_> {
    fn result(&mut self, text: &str) -> Result<(), String> {
        let (expect, got) = (&self.case.expect, self.got);
        let text = Value::from(text);
        if let Some(pattern) = &expect.error_regex {
            return matches(pattern, &text).and(self.is_error(true));
        }
        if let Some(error) = &expect.error {
            // Another verdict is the bigger difference, but a rule may know of it.
            return self.same("error", error, &text).and(self.is_error_unless_departed());
        }
        self.is_error(expect.is_error)?;
        if let Some(pattern) = &expect.text_regex {
            matches(pattern, &text)?;
        }
        if let Some(content) = &expect.content {
            self.same("content", content, &got["content"])?;
        }
        self.same("details", expect.details.as_ref().unwrap_or(&Value::Null), &got["details"])?;
        // Where pi has nothing for programs, what we have is our own affair.
        let structured = expect.structured_content.as_ref();
        structured.map_or(Ok(()), |want| self.same("structuredContent", want, &got["structuredContent"]))
    }

    fn is_error(&self, want: bool) -> Result<(), String> {
        match self.got["isError"] == want {
            true => Ok(()),
            false => Err(format!("isError: want {want}, got {}", short(&self.got["content"]))),
        }
    }

    fn is_error_unless_departed(&self) -> Result<(), String> {
        if self.departs { Ok(()) } else { self.is_error(true) }
    }

    fn same(&mut self, at: &str, want: &Value, got: &Value) -> Result<(), String> {
        match (want, got) {
            _ if is_text(want) && at != "tmpfile" => match want == "{{TIME}}" {
                true if got.is_number() => Ok(()),
                _ if is_same_text(want, got, self.case.unordered) => Ok(()),
                _ => self.differs(at, want, got),
            },
            (Value::Object(wanted), Value::Object(members)) => {
                for (key, want) in wanted {
                    self.same(&format!("{at}.{key}"), want, members.get(key).unwrap_or(&Value::Null))?;
                }
                let is_left_out = |key: &str| {
                    key == "content" && at.ends_with("truncation") && self.case.expect.text_regex.is_some()
                };
                let extra = members.keys().find(|key| !wanted.contains_key(*key) && !is_left_out(key));
                extra.map_or(Ok(()), |key| self.differs(&format!("{at}.{key}"), &Value::Null, &members[key]))
            }
            (Value::Array(wanted), Value::Array(items)) if wanted.len() == items.len() => {
                let pairs = wanted.iter().zip(items).enumerate();
                pairs.into_iter().try_for_each(|(at_index, (want, got))| {
                    self.same(&format!("{at}[{at_index}]"), want, got)
                })
            }
            (Value::Number(want), Value::Number(got)) if want.as_f64() == got.as_f64() => Ok(()),
            _ if want == got => Ok(()),
            _ => self.differs(at, want, got),
        }
    }

    fn differs(&mut self, at: &str, want: &Value, got: &Value) -> Result<(), String> {
        let code = self.got["structuredContent"]["error"]["code"].as_str().unwrap_or_default();
        let named_file = self.got["details"]["fullOutputPath"].as_str();
        let difference = Difference { case: self.case, at: at.to_owned(), want, got, code, named_file };
        if !rule::excuses(&difference) {
            return Err(format!("{at}: want {}, got {}", short(want), short(got)));
        }
        self.departs = true;
        Ok(())
    }
}

/// A string, or the hash that stands for a long one.
fn is_text(want: &Value) -> bool {
    want.is_string() || (want["sha256"].is_string() && want["bytes"].is_u64())
}

fn is_same_text(want: &Value, got: &Value, unordered: bool) -> bool {
    let Some(got) = got.as_str() else { return false };
    let got = if unordered { sorted(got) } else { got.to_owned() };
    match want.as_str() {
        Some(want) if unordered => sorted(want) == got,
        Some(want) => want == got,
        None => want["bytes"] == got.len() && want["sha256"] == hash(got.as_bytes()),
    }
}

/// The lines of a text in byte order; a notice at its end stays there.
fn sorted(text: &str) -> String {
    let notice = text.rfind("\n\n[").filter(|at| text.ends_with(']') && !text[at + 2..].contains('\n'));
    let (body, notice) = text.split_at(notice.unwrap_or(text.len()));
    let mut lines: Vec<_> = body.split('\n').collect();
    lines.sort_unstable();
    lines.join("\n") + notice
}

fn matches(pattern: &str, text: &Value) -> Result<(), String> {
    let is_match = Regex::new(pattern).unwrap().is_match(text.as_str().unwrap_or_default());
    if is_match { Ok(()) } else { Err(format!("{} does not match {pattern:?}", short(text))) }
}

fn image(want: Option<Pixels>, result: &ToolResult) -> Result<(), String> {
    let Some(want) = want else { return Ok(()) };
    let data = result.content.iter().find_map(|block| match block {
        pi_toolbox::message::Content::Image { data, .. } => Some(data),
        _ => None,
    });
    let data = data.ok_or("there is no image")?;
    let bytes = STANDARD.decode(&data.0).map_err(|error| error.to_string())?;
    let picture = image::load_from_memory(&bytes).map_err(|error| error.to_string())?;
    let got = Pixels { width: picture.width(), height: picture.height() };
    if got == want { Ok(()) } else { Err(format!("image: want {want:?}, got {got:?}")) }
}

/// The file with the full output that the call left behind.
fn temp_file(place: &Place) -> Result<Option<TempFile>, String> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(&place.temp)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("pi-bash-")))
        .collect();
    let Some(path) = found.pop() else { return Ok(None) };
    if !found.is_empty() {
        return Err(format!("tmpfile: {} too many", found.len()));
    }
    let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    Ok(Some(TempFile { bytes: bytes.len() as u64, sha256: hash(&bytes), mode: format!("{mode:04o}") }))
}

fn file(after: &After, place: &Place) -> Result<(), String> {
    let path = place.path(&after.path);
    let metadata = std::fs::symlink_metadata(&path);
    let is = |what: &str| Err(format!("{}: {what}", after.path));
    let metadata = match (metadata, after.absent) {
        (Ok(_), true) => return is("exists"),
        (Err(_), true) => return Ok(()),
        (Err(_), false) => return is("is gone"),
        (Ok(metadata), false) => metadata,
    };
    if let Some(target) = &after.symlink {
        let got = std::fs::read_link(&path).map_err(|error| format!("{}: {error}", after.path))?;
        if got.as_os_str() != place.fill_in_text(target).as_str() {
            return is(&format!("is a link to {}", got.display()));
        }
        return Ok(());
    }
    if let Some(mode) = &after.mode {
        let got = std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        if u32::from_str_radix(mode, 8) != Ok(got) {
            return is(&format!("has mode {got:o}, not {mode}"));
        }
    }
    if after.dir {
        return if metadata.is_dir() { Ok(()) } else { is("is no directory") };
    }
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", after.path))?;
    let content = after.content.as_ref().map(|text| text.clone().into_bytes());
    let content = content.or_else(|| after.base64.as_ref().map(|text| STANDARD.decode(text).unwrap()));
    let is_as_wanted = content.is_none_or(|content| content == bytes)
        && after.sha256.as_ref().is_none_or(|sha256| *sha256 == hash(&bytes))
        && after.bytes.is_none_or(|count| count == bytes.len() as u64);
    if is_as_wanted {
        Ok(())
    } else {
        is(&format!("holds {}", short(&String::from_utf8_lossy(&bytes).into())))
    }
}

impl Place {
    fn put_placeholders(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.placeholders(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.put_placeholders(item)),
            Value::Object(object) => object.values_mut().for_each(|member| self.put_placeholders(member)),
            _ => {}
        }
    }

    fn placeholders(&self, text: &str) -> String {
        static SHELL_EXITED: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"(exited with code \d+ after )[\d.]+( seconds)").unwrap());
        static FULL_OUTPUT: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\{\{TEMP\}\}/pi-bash-[0-9a-f]{16}\.log").unwrap());
        let text = text.replace(self.temp.to_str().unwrap(), "{{TEMP}}");
        let text = FULL_OUTPUT.replace_all(&text, "{{TMPFILE}}");
        let text = text.replace(self.cwd.to_str().unwrap(), "{{CWD}}");
        let text = text.replace(self.home.to_str().unwrap(), "{{HOME}}");
        SHELL_EXITED.replace_all(&text, "${1}{{TIME}}${2}").into_owned()
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value for a message: its ends, when it is long.
fn short(value: &Value) -> String {
    const ENDS: usize = 160;
    let characters: Vec<char> = value.to_string().chars().collect();
    if characters.len() <= 2 * ENDS {
        return characters.into_iter().collect();
    }
    let (head, tail) = (&characters[..ENDS], &characters[characters.len() - ENDS..]);
    format!("{} … {}", head.iter().collect::<String>(), tail.iter().collect::<String>())
}
