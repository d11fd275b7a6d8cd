//! Scripts: a list of calls on one session, each with its result.

use std::path::Path;

use pi_toolbox::session::script_json::Value;
use pi_toolbox::session::script_text::quoted;
use pi_toolbox::session::{Appended, Compaction, Draft, Error, Leaf, Options, Session, Summary};

use super::case::Case;
use super::read_ops::{Json, array, failure, number, object, optional, undefined, with_migrated_ids};
use super::write_ops::{leaf_of, lossy, options};

/// Answers every step.
pub(super) fn script(case: &Case<'_>) -> Json {
    let mut stage = Stage { case, session: None, options: options(), ours: 0 };
    let mut results = Vec::new();
    for step in case.arg("steps").unwrap().elements() {
        let parts: Vec<Value<'_>> = step.elements().collect();
        let call = parts[0].lossy().unwrap();
        let result = stage.run(&call, &parts[1..]).unwrap_or_else(|error| failure(&error));
        results.push(result);
    }
    let answer = object(&[("results", array(results))]);
    with_migrated_ids(stage.ours, stage.ours > 0, answer)
}

struct Stage<'c, 'v> {
    case: &'c Case<'v>,
    session: Option<Session>,
    options: Options,
    /// How many ids a migration gave.
    ours: usize,
}

fn missing(value: Value<'_>) -> bool {
    value.get("$undef").is_some()
}

fn raw(value: Value<'_>) -> Json {
    value.to_script_json()
}

fn id(appended: Result<Appended, Error>) -> Result<Json, Error> {
    appended.map(|appended| quoted(&appended.id))
}

impl Stage<'_, '_> {
    fn session(&mut self) -> &mut Session {
        self.session.as_mut().unwrap()
    }

    fn directory(&self) -> std::path::PathBuf {
        self.case.dir().join("sessions")
    }

    fn open(&mut self, path: &Path) -> Result<Json, Error> {
        self.session = Some(Session::open_or_create(path, &self.case.context(), self.options.clone())?);
        Ok(b"null".to_vec())
    }

    fn run(&mut self, call: &str, args: &[Value<'_>]) -> Result<Json, Error> {
        let text = |at: usize| args.get(at).and_then(|arg| arg.lossy()).map(|text| text.into_owned());
        let present = |at: usize| args.get(at).copied().filter(|arg| !missing(*arg));
        let null = || Ok(b"null".to_vec());
        match call {
            "create" => {
                let context = self.case.context();
                self.session = Some(Session::create(
                    &text(0).unwrap(),
                    &self.directory(),
                    &context,
                    self.options.clone(),
                )?);
                null()
            }
            "inMemory" => {
                let context = self.case.context();
                self.session = Some(match args.get(2) {
                    None => Session::in_memory(&text(0).unwrap(), &context, self.options.clone())?,
                    Some(entries) => {
                        let lines: Vec<Json> = entries.elements().map(raw).collect();
                        let lines = [&lines.join(&b"\n"[..])[..], b"\n"].concat();
                        let session =
                            Session::from_lines(&text(0).unwrap(), &lines, &context, self.options.clone())?;
                        self.ours = session.tree().len();
                        session
                    }
                });
                null()
            }
            "open" => self.open(&self.case.file()),
            "openPath" => self.open(&self.case.dir().join(text(0).unwrap())),
            "reopen" => {
                let file = self.session().file().unwrap().to_owned();
                self.session = None;
                self.open(&file)
            }
            "newSession" => {
                let context = self.case.context();
                let cwd = self.session().cwd().to_str().unwrap().to_owned();
                let session = Session::create(&cwd, &self.directory(), &context, self.options.clone())?;
                let file = session.file().unwrap().to_str().unwrap().to_owned();
                self.session = Some(session);
                Ok(quoted(&file))
            }
            "createBranchedSession" => {
                let branched = self.session().branched(&text(0).unwrap())?;
                let file = branched.file().map(|file| quoted(file.to_str().unwrap()));
                self.session = Some(branched);
                Ok(file.unwrap_or_else(undefined))
            }
            "append" => {
                use std::io::Write;
                let mut file =
                    std::fs::OpenOptions::new().append(true).open(self.session().file().unwrap()).unwrap();
                file.write_all(text(0).unwrap().as_bytes()).unwrap();
                null()
            }
            "removeFile" => {
                std::fs::remove_file(self.session().file().unwrap()).unwrap();
                null()
            }
            "removeDir" => {
                std::fs::remove_dir_all(self.directory()).unwrap();
                null()
            }
            "appendMessage" => {
                let draft = Draft::message(&raw(args[0]))?;
                id(self.session().append(&draft))
            }
            "appendModelChange" => {
                let draft = Draft::model_change(&text(0).unwrap(), &text(1).unwrap());
                id(self.session().append(&draft))
            }
            "appendThinkingLevelChange" => {
                let draft = Draft::thinking_level_change(&text(0).unwrap());
                id(self.session().append(&draft))
            }
            "appendUsage" => {
                let (kind, provider, model) = (text(0).unwrap(), text(1).unwrap(), text(2).unwrap());
                let draft = Draft::usage(&kind, &provider, &model, &raw(args[3]), text(4).as_deref())?;
                id(self.session().append(&draft))
            }
            "appendCustomEntry" => {
                let draft = Draft::custom(&text(0).unwrap(), args.get(1).map(|data| raw(*data)).as_deref())?;
                id(self.session().append(&draft))
            }
            "appendCustomMessageEntry" => {
                let details = args.get(3).map(|details| raw(*details));
                let draft = Draft::custom_message(
                    &text(0).unwrap(),
                    &raw(args[1]),
                    args[2].is_truthy(),
                    details.as_deref(),
                )?;
                id(self.session().append(&draft))
            }
            "appendSessionInfo" => {
                let draft = Draft::session_info(&text(0).unwrap());
                id(self.session().append(&draft))
            }
            "appendLabelChange" => {
                let label = text(1);
                id(self.session().label(&text(0).unwrap(), label.as_deref()))
            }
            "appendContextEdit" => {
                let replacement = raw(args[1]);
                id(self.session().edit_context(&text(0).unwrap(), &replacement))
            }
            "appendCompaction" => {
                let (summary, kept) = (text(0).unwrap(), text(1));
                let (details, usage) = (present(3).map(raw), present(5).map(raw));
                let compaction = Compaction {
                    summary: &summary,
                    first_kept: kept.as_deref(),
                    tokens_before: args[2].number().unwrap() as u64,
                    details: details.as_deref(),
                    from_hook: present(4).map(Value::is_truthy),
                    usage: usage.as_deref(),
                    system_message: None,
                };
                id(self.session().compact(&compaction))
            }
            "branchWithSummary" => {
                let summary = text(1).unwrap();
                let (details, usage) = (present(2).map(raw), present(4).map(raw));
                let summary = Summary {
                    text: &summary,
                    details: details.as_deref(),
                    from_hook: present(3).map(Value::is_truthy),
                    usage: usage.as_deref(),
                };
                id(self.session().branch_with_summary(text(0).as_deref(), &summary))
            }
            "branch" => self.session().branch(&text(0).unwrap()).map(|()| undefined()),
            "resetLeaf" => {
                self.session().reset_leaf();
                Ok(undefined())
            }
            _ => Ok(self.ask(call, text(0).as_deref())),
        }
    }

    /// The steps that only ask.
    fn ask(&mut self, call: &str, argument: Option<&str>) -> Json {
        let directory = self.directory();
        let base = self.case.dir();
        let session = self.session();
        let tree = session.tree();
        match call {
            "getLeafId" => leaf_of(session),
            "getSessionId" => quoted(&session.header().id),
            "getCwd" => quoted(session.cwd().to_str().unwrap()),
            "getSessionName" => tree.name().unwrap().map_or_else(undefined, |name| quoted(&name)),
            "getEntryCount" => number(tree.len()),
            "isPersisted" => session.file().is_some().to_string().into_bytes(),
            "entryIds" => array((0..tree.len()).map(|index| optional(tree.id(index)))),
            "fileName" => session
                .file()
                .map_or(b"null".to_vec(), |file| quoted(file.file_name().unwrap().to_str().unwrap())),
            "fileText" => lossy(&std::fs::read(session.file().unwrap()).unwrap()),
            "files" => {
                let count = |directory: &Path| {
                    std::fs::read_dir(directory)
                        .into_iter()
                        .flatten()
                        .filter(|entry| {
                            entry.as_ref().is_ok_and(|entry| {
                                entry.path().extension().is_some_and(|found| found == "jsonl")
                            })
                        })
                        .count()
                };
                let file_directory = session.file().and_then(Path::parent);
                number(if file_directory == Some(&base) { count(&base) } else { count(&directory) })
            }
            "memory" => lossy(&session.lines(session.header().raw()).unwrap()),
            "labels" => {
                let labels: Vec<(String, Json)> = tree
                    .labels()
                    .map(|label| (tree.target(label).unwrap().into_lossy().into_owned(), label.raw.clone()))
                    .collect();
                object(&labels.iter().map(|(id, label)| (&**id, label.clone())).collect::<Vec<_>>())
            }
            "branchIds" => {
                let end = argument.map_or_else(|| session.leaf(), |id| tree.find(id));
                array(tree.path(end).into_iter().map(|index| optional(tree.id(index))))
            }
            "contextIds" => {
                let entries = tree.context_entries(&session.path()).unwrap();
                array(entries.into_iter().map(|index| optional(tree.id(index))))
            }
            "contextRoles" => {
                let messages = session.projection().unwrap().messages;
                array(messages.into_iter().map(|message| quoted(message.role.name().unwrap_or("?"))))
            }
            other => {
                let _ = tree.resolve(Leaf::Current);
                panic!("no such step: {other}")
            }
        }
    }
}
