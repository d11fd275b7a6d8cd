//! The operations that only read: load, header, tree, path, projection.

use std::collections::BTreeMap;

use pi_toolbox::session::load::{self, Loaded};
use pi_toolbox::session::model_messages::model_messages;
use pi_toolbox::session::projection::Message;
use pi_toolbox::session::script_json::{Document, Value};
use pi_toolbox::session::script_text::{self, Text, quoted};
use pi_toolbox::session::{Error, Header, Index, Leaf, Tree, header as session_header};

use super::case::Case;

/// JSON text under construction.
pub(super) type Json = Vec<u8>;

/// An array of JSON texts.
pub(super) fn array(items: impl IntoIterator<Item = Json>) -> Json {
    let items: Vec<Json> = items.into_iter().collect();
    [b"[", &items.join(&b","[..])[..], b"]"].concat()
}

/// An object of JSON texts.
pub(super) fn object(members: &[(&str, Json)]) -> Json {
    let members: Vec<Json> =
        members.iter().map(|(name, value)| [&quoted(name), &b":"[..], value].concat()).collect();
    [b"{", &members.join(&b","[..])[..], b"}"].concat()
}

/// The marker for JavaScript's `undefined`.
pub(super) fn undefined() -> Json {
    br#"{"$undef":true}"#.to_vec()
}

/// A number.
pub(super) fn number(value: usize) -> Json {
    value.to_string().into_bytes()
}

/// A string, if there is one.
pub(super) fn optional(text: Option<Text<'_>>) -> Json {
    text.map_or_else(undefined, |text| {
        let mut out = Vec::new();
        script_text::write(&text, &mut out);
        out
    })
}

/// An error as the vectors have it.
pub(super) fn failure(error: &Error) -> Json {
    match error.system() {
        Some(source) => object(&[("fsError", quoted(&pi_toolbox::error::symbol(source)))]),
        None => object(&[("error", quoted(&error.to_string()))]),
    }
}

/// A hashed list wants its `JSON.stringify` text.
fn loaded(case: &Case<'_>) -> Loaded {
    load::load(&case.file(), &case.context()).unwrap().unwrap()
}

/// The text of a leaf in `args`, migrated ids put in.
fn leaf_text(leaf: Value<'_>, is_migrated: bool) -> Option<String> {
    let text = leaf.lossy()?.into_owned();
    let number = text.strip_prefix("{{ID").and_then(|rest| rest.strip_suffix("}}"));
    Some(match number.filter(|_| is_migrated) {
        Some(number) => format!("{:08x}", number.parse::<u32>().unwrap()),
        None => text,
    })
}

fn resolve(tree: &Tree, leaf: Value<'_>, is_migrated: bool) -> Option<Index> {
    match leaf_text(leaf, is_migrated).as_deref() {
        None => tree.resolve(Leaf::Root),
        Some("<leaf>" | "<undefined>") => tree.resolve(Leaf::Current),
        Some(id) => tree.resolve(Leaf::Id(id)),
    }
}

fn is_numbered(loaded: &Loaded) -> bool {
    loaded.is_migrated && loaded.tree.id(0).is_some_and(|id| id.as_bytes() == b"00000001")
}

/// Ids of a migration become `{{IDn}}`.
pub(super) fn with_migrated_ids(loaded_count: usize, is_numbered: bool, text: Json) -> Json {
    if !is_numbered {
        return text;
    }
    let mut text = String::from_utf8(text).unwrap();
    let mut out = String::with_capacity(text.len());
    while let Some(at) = text.find("000") {
        let number = text.get(at..at + 8).and_then(|hex| usize::from_str_radix(hex, 16).ok());
        let is_quoted =
            text[..at].ends_with('"') && text[at + 8.min(text.len() - at)..].starts_with(['"', '\\']);
        match number.filter(|number| is_quoted && (1..=loaded_count).contains(number)) {
            Some(number) => {
                out.push_str(&text[..at]);
                out.push_str(&format!("{{{{ID{number}}}}}"));
                text.drain(..at + 8);
            }
            None => {
                out.push_str(&text[..at + 1]);
                text.drain(..at + 1);
            }
        }
    }
    out.push_str(&text);
    out.into_bytes()
}

fn each_leaf(case: &Case<'_>, loaded: &Loaded, name: &str, answer: impl Fn(Option<Index>) -> Json) -> Json {
    let leaves: Vec<Option<Index>> = match case.arg("leaves") {
        Some(leaves) => {
            leaves.elements().map(|leaf| resolve(&loaded.tree, leaf, is_numbered(loaded))).collect()
        }
        None => vec![loaded.tree.resolve(Leaf::Current)],
    };
    let answers = array(leaves.into_iter().map(answer));
    with_migrated_ids(loaded.tree.len(), is_numbered(loaded), object(&[(name, answers)]))
}

fn ids(tree: &Tree, path: &[Index]) -> Json {
    array(path.iter().map(|index| optional(tree.id(*index))))
}

pub(super) fn load(case: &Case<'_>) -> Json {
    let mut values = values(case.input());
    if values.first().is_none_or(|first| Header::parse(first).is_none()) {
        values.clear();
    }
    let unchanged = std::fs::read(case.file()).unwrap() == case.input();
    let scripted: Vec<Json> = values.iter().map(|value| scripted(value)).collect();
    let text = String::from_utf8(scripted.join(&b"\n"[..])).unwrap();
    object(&[
        ("count", number(values.len())),
        ("entries", array(values)),
        ("text", quoted(&text)),
        ("fileAfter", quoted(if unchanged { "unchanged" } else { "changed" })),
    ])
}

pub(super) fn parse(case: &Case<'_>) -> Json {
    // pi's function for a text in memory takes blanks and a BOM off its ends first.
    let values = values(script_text::trim(case.input()));
    object(&[("count", number(values.len())), ("entries", array(values))])
}

fn values(bytes: &[u8]) -> Vec<Json> {
    let mut found = Vec::new();
    load::each_value(&mut &bytes[..], &mut Vec::new(), &mut |_, value| found.push(utf8(value))).unwrap();
    found
}

fn utf8(bytes: &[u8]) -> Json {
    String::from_utf8_lossy(bytes).into_owned().into_bytes()
}

/// A JSON text as JavaScript would write it.
pub(super) fn scripted(text: &[u8]) -> Json {
    Document::parse(text).unwrap().root().to_script_json()
}

pub(super) fn header(case: &Case<'_>) -> Json {
    let mut file = std::fs::File::open(case.file()).unwrap();
    match session_header::scan(&mut file, &case.file()) {
        Ok(found) => object(&[("header", found.map_or(b"null".to_vec(), |header| header.raw().to_vec()))]),
        Err(error) => failure(&error),
    }
}

pub(super) fn tree(case: &Case<'_>) -> Json {
    let loaded = loaded(case);
    let rows = loaded.tree.rows().unwrap();
    let listed: Vec<Json> = rows
        .iter()
        .map(|row| {
            let entry = loaded.tree.entry(row.index).unwrap();
            let kind = entry.root().get("type").map_or_else(undefined, |kind| kind.raw().to_vec());
            let mut members = vec![
                ("depth", number(row.depth as usize)),
                ("id", optional(loaded.tree.id(row.index))),
                ("type", kind),
            ];
            if let Some(label) = loaded.tree.label(row.index) {
                let entry = loaded.tree.entry(label.entry).unwrap();
                members.push(("label", label.raw.clone()));
                let time = entry.root().get("timestamp");
                members.push(("labelTimestamp", time.map_or_else(undefined, |time| time.raw().to_vec())));
            }
            if case.is_hashed() {
                let mut short = vec![members[0].1.clone(), members[1].1.clone()];
                short.extend(
                    members.iter().filter(|(name, _)| *name == "label").map(|(_, label)| label.clone()),
                );
                return array(short);
            }
            object(&members)
        })
        .collect();
    let answer = if case.is_hashed() {
        object(&[
            ("rows", number(rows.len())),
            ("roots", number(rows.iter().filter(|row| row.depth == 0).count())),
            ("maxDepth", number(rows.iter().map(|row| row.depth).max().unwrap_or(0) as usize)),
            ("list", array(listed)),
        ])
    } else {
        object(&[("rows", array(listed))])
    };
    with_migrated_ids(loaded.tree.len(), is_numbered(&loaded), answer)
}

pub(super) fn path(case: &Case<'_>) -> Json {
    let loaded = loaded(case);
    each_leaf(case, &loaded, "paths", |leaf| ids(&loaded.tree, &loaded.tree.path(leaf)))
}

pub(super) fn branch(case: &Case<'_>) -> Json {
    let tree = loaded(case).tree;
    let paths = case.arg("from").unwrap().elements().map(|from| {
        let end = match &*from.lossy().unwrap() {
            "<leaf>" => tree.resolve(Leaf::Current),
            id => tree.find(id),
        };
        ids(&tree, &tree.path(end))
    });
    object(&[("paths", array(paths))])
}

pub(super) fn children(case: &Case<'_>) -> Json {
    let tree = loaded(case).tree;
    let of = case.arg("of").unwrap().elements();
    object(&[("children", array(of.map(|of| ids(&tree, &tree.children(of.lossy().as_deref())))))])
}

pub(super) fn state(case: &Case<'_>) -> Json {
    let loaded = loaded(case);
    let tree = &loaded.tree;
    let last = tree.len().checked_sub(1);
    let labels: Vec<(String, Json)> = tree
        .labels()
        .filter(|label| tree.find(&tree.target(label).unwrap().into_lossy()).is_some())
        .map(|label| (tree.target(label).unwrap().into_lossy().into_owned(), label.raw.clone()))
        .collect();
    let labels: Vec<(&str, Json)> = labels.iter().map(|(id, label)| (id.as_str(), label.clone())).collect();
    let kind = last.map_or_else(undefined, |last| {
        tree.entry(last).unwrap().root().get("type").map_or_else(undefined, |kind| kind.raw().to_vec())
    });
    let answer = object(&[
        ("leafId", last.map_or(b"null".to_vec(), |last| optional(tree.id(last)))),
        ("leafType", kind),
        ("name", tree.name().unwrap().map_or_else(undefined, |name| quoted(&name))),
        ("labels", object(&labels)),
    ]);
    with_migrated_ids(tree.len(), is_numbered(&loaded), answer)
}

pub(super) fn context_entries(case: &Case<'_>) -> Json {
    let loaded = loaded(case);
    let tree = &loaded.tree;
    each_leaf(case, &loaded, "leaves", |leaf| {
        let entries = tree.context_entries(&tree.path(leaf)).unwrap();
        if !case.is_hashed() {
            return ids(tree, &entries);
        }
        object(&[
            ("count", number(entries.len())),
            ("first", entries.first().map_or_else(undefined, |first| optional(tree.id(*first)))),
            ("last", entries.last().map_or_else(undefined, |last| optional(tree.id(*last)))),
            ("ids", ids(tree, &entries)),
        ])
    })
}

pub(super) fn projection(case: &Case<'_>) -> Json {
    let loaded = loaded(case);
    let tree = &loaded.tree;
    each_leaf(case, &loaded, "leaves", |leaf| {
        let projection = tree.project(&tree.path(leaf)).unwrap();
        let model = serde_json::to_vec(&projection.model).unwrap();
        let sources = array(
            projection
                .entries
                .iter()
                .map(|(index, count)| array([optional(tree.id(*index)), number(*count)])),
        );
        let mut members = vec![("thinkingLevel", quoted(&projection.thinking_level)), ("model", model)];
        if case.is_hashed() {
            members.push(("entries", number(projection.entries.len())));
            members.push(("sources", sources));
        } else {
            members.push(("entries", sources));
        }
        members.extend(messages(case, &projection.messages));
        object(&members)
    })
}

pub(super) fn llm(case: &Case<'_>) -> Json {
    let loaded = loaded(case);
    let tree = &loaded.tree;
    each_leaf(case, &loaded, "leaves", |leaf| {
        object(&messages(case, &model_messages(&tree.project(&tree.path(leaf)).unwrap().messages)))
    })
}

fn messages(case: &Case<'_>, messages: &[Message]) -> Vec<(&'static str, Json)> {
    let list = array(messages.iter().map(|message| utf8(&message.raw)));
    if !case.is_hashed() {
        return vec![("messages", list)];
    }
    let mut roles: BTreeMap<String, usize> = BTreeMap::new();
    for message in messages {
        let parsed = Document::parse(&message.raw[..]).unwrap();
        *roles.entry(parsed.root().get("role").unwrap().lossy().unwrap().into_owned()).or_default() += 1;
    }
    let roles = serde_json::to_vec(&roles).unwrap();
    vec![("messages", number(messages.len())), ("roles", roles), ("text", list)]
}
