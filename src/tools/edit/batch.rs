//! Many edits as one: all documents of a stream are applied or none. Owns the order of locks, the files
//! held in memory meanwhile, and putting back what was written before a failure.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::Value;

use super::error::Cause;
use super::file::{self, ATTEMPTS, Content};
use super::plan::Plan;
use super::{Edit, Input, Job, Options};
use crate::cancel::Cancel;
use crate::context::Context;
use crate::error::{self, Code, Error};
use crate::fs::replace::{self, Version};
use crate::tool::Outcome;

/// Does all documents or none; an answer for each. Documents for one file, under whatever name, are
/// applied one after another, and the file is written once.
pub(super) fn run(
    inputs: Vec<Result<Input, Error>>,
    options: &Options,
    context: &Context,
) -> Vec<Result<Outcome<Edit>, Error>> {
    let jobs: Vec<_> = inputs.into_iter().map(|input| Job::new(input?, context)).collect();
    let count = jobs.len();
    match all_ready(jobs).and_then(|jobs| Ok((apply(&jobs, options.dry_run, context)?, jobs))) {
        Ok((plans, jobs)) => {
            let done = jobs.iter().zip(plans);
            done.map(|(job, plan)| Ok(job.outcome(&plan, options.dry_run))).collect()
        }
        Err(mut failures) => {
            let first = failures.keys().next().copied().unwrap_or_default();
            (0..count)
                .map(|document| Err(failures.remove(&document).unwrap_or_else(|| not_applied(first))))
                .collect()
        }
    }
}

/// What went wrong, by document.
type Failures = BTreeMap<usize, Error>;

fn all_ready(jobs: Vec<Result<Job, Error>>) -> Result<Vec<Job>, Failures> {
    let mut failures = Failures::new();
    let mut ready = Vec::with_capacity(jobs.len());
    for (document, job) in jobs.into_iter().enumerate() {
        match job {
            Ok(job) => ready.push(job),
            Err(error) => drop(failures.insert(document, error)),
        }
    }
    if failures.is_empty() { Ok(ready) } else { Err(failures) }
}

fn not_applied(failed: usize) -> Error {
    let number = failed + 1;
    let message = format!("Nothing was written, because document {number} of the stream failed.");
    let mut error = Error::new(Code::NotApplied, message);
    error.facts.insert("failed_document".to_owned(), number.into());
    error
}

fn apply(jobs: &[Job], dry_run: bool, context: &Context) -> Result<Vec<Plan>, Failures> {
    let of_all =
        |error: &Error| (0..jobs.len()).map(|document| (document, error.clone())).collect::<Failures>();
    // A cancelled stream may have ended early: what came in is not what was meant.
    context.cancel.check().map_err(|error| of_all(&error))?;
    let mut documents: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    for (document, job) in jobs.iter().enumerate() {
        let real = context.backend.canonicalize(&job.file).unwrap_or_else(|_| job.file.clone());
        documents.entry(real).or_default().push(document);
    }
    make_room_for(documents.len());
    // In the order of the real paths, so that two batches cannot wait for each other.
    let mut locks = Vec::with_capacity(documents.len());
    for (file, documents) in &documents {
        let lock = context.backend.lock(file, &context.cancel);
        locks.push(lock.map_err(|error| Failures::from([(documents[0], error.into())]))?);
    }
    for attempt in 0..ATTEMPTS {
        let (plans, files) = plan(jobs, &documents, attempt > 0, context)?;
        if dry_run {
            return Ok(plans);
        }
        match write(&files, context) {
            Ok(()) => return Ok(plans),
            Err(Stopped { error: replace::Error::Changed { .. }, stuck, .. }) if stuck.is_empty() => {}
            Err(stopped) => {
                let document = stopped.document;
                return Err(Failures::from([(document, stopped.into_error(&jobs[document]))]));
            }
        }
    }
    Err(of_all(&Error::new(
        Code::Conflict,
        "The files are changed by someone else all the time; nothing was written.",
    )))
}

/// A lock is an open file: where a shell's usual limit would not do, the process takes what it may have.
fn make_room_for(locks: usize) {
    const OTHER_FILES: u64 = 64;
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < locks as u64 + OTHER_FILES
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// A file of the batch.
struct Held<'a> {
    file: &'a Path,
    /// The first document that edits it.
    document: usize,
    old: Content,
    new: Vec<u8>,
}

/// Works everything out in memory. Every document that fails says so, unless an earlier one of its
/// file did.
fn plan<'a>(
    jobs: &[Job],
    documents: &'a BTreeMap<PathBuf, Vec<usize>>,
    is_anew: bool,
    context: &Context,
) -> Result<(Vec<Plan>, Vec<Held<'a>>), Failures> {
    let mut failures = Failures::new();
    let mut plans = BTreeMap::new();
    let mut files = Vec::with_capacity(documents.len());
    for (file, documents) in documents {
        let first = documents[0];
        context.cancel.check().map_err(|error| Failures::from([(first, error)]))?;
        let old = match Content::read(file, context) {
            Ok(old) => old,
            Err(cause) => {
                failures.insert(first, jobs[first].error(cause).into());
                continue;
            }
        };
        let mut new: Option<Vec<u8>> = None;
        for &document in documents {
            let (job, content) = (&jobs[document], new.as_deref().unwrap_or(&old.bytes));
            match Plan::new(content, &job.edits) {
                Ok(plan) => {
                    new = Some(plan.pieces(content).concat());
                    plans.insert(document, plan);
                }
                Err(cause) => {
                    let error = job.error(cause);
                    let conflict = |error| job.error(Cause::Conflict(Some(Box::new(error))));
                    let error = if is_anew { conflict(error) } else { error };
                    failures.insert(document, error.into());
                    break;
                }
            }
        }
        files.extend(new.map(|new| Held { file, document: first, old, new }));
    }
    if failures.is_empty() { Ok((plans.into_values().collect(), files)) } else { Err(failures) }
}

/// A batch that stopped while it was writing; what had been written was put back.
struct Stopped {
    document: usize,
    error: replace::Error,
    /// Files that could not be put back, and why.
    stuck: Vec<(PathBuf, replace::Error)>,
}

impl Stopped {
    /// Why, and which files were left with their new content.
    fn into_error(self, job: &Job) -> Error {
        let mut error = file::write_error(job, self.error);
        for (file, reason) in &self.stuck {
            let reason = match reason {
                replace::Error::Io { source, .. } => error::describe(source),
                other => other.to_string(),
            };
            error.message +=
                &format!("\n{} keeps its new content, it could not be put back: {reason}", file.display());
        }
        if !self.stuck.is_empty() {
            let names = self.stuck.iter().map(|(file, _)| Value::from(file.to_string_lossy())).collect();
            error.facts.insert("not_put_back".to_owned(), Value::Array(names));
        }
        error
    }
}

fn write(files: &[Held<'_>], context: &Context) -> Result<(), Stopped> {
    let mut written: Vec<(&Held<'_>, Option<Version>)> = Vec::with_capacity(files.len());
    for held in files.iter().filter(|held| held.new != held.old.bytes) {
        let version = Some(&held.old.version);
        if let Err(error) = context.backend.replace(held.file, &[&held.new], version, &context.cancel) {
            let back = written.into_iter().rev();
            let stuck = back.filter_map(|(held, version)| put_back(held, version.as_ref(), context).err());
            return Err(Stopped { document: held.document, error, stuck: stuck.collect() });
        }
        written.push((held, context.backend.metadata(held.file).ok().map(|metadata| metadata.version)));
    }
    Ok(())
}

fn put_back(
    held: &Held<'_>,
    version: Option<&Version>,
    context: &Context,
) -> Result<(), (PathBuf, replace::Error)> {
    let whatever_was_asked = Cancel::new();
    let outcome = context.backend.replace(held.file, &[&held.old.bytes], version, &whatever_was_asked);
    outcome.map_err(|error| (held.file.to_owned(), error))
}
