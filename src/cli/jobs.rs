//! Running the jobs a command line asks for, one answer each, in order.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::unix::ffi::OsStringExt;

use serde_json::Value;

use super::command::Jobs;
use super::stdin::Stdin;
use super::{Output, status_of};
use crate::context::Context;
use crate::error::{self, Code, Error};
use crate::json::{self, Stream};
use crate::tool::{Outcome, Tool, arguments};

/// Does all jobs; the worst exit status. `Err`: an answer could not be written.
pub(super) fn run<T: Tool>(
    jobs: Jobs<T::Input>,
    options: &T::Options,
    context: &Context,
    output: &mut Output,
) -> io::Result<u8> {
    let source: Box<dyn BufRead> = match jobs {
        Jobs::None => return Ok(0),
        Jobs::Flags(input) => {
            return answer_to::<T>(with_stdin::<T>(input, context), options, context, output);
        }
        Jobs::Json(text) => Box::new(Cursor::new(text.into_vec())),
        Jobs::Stdin => Box::new(BufReader::with_capacity(64 * 1024, Stdin::new(&context.cancel))),
        Jobs::File(path) => match File::open(context.cwd.join(&path)) {
            Ok(file) => Box::new(BufReader::new(file)),
            Err(source) => {
                let message = format!("{}, open '{}'", error::describe(&source), path.display());
                return answer_with::<T>(Err(Error::new(Code::InvalidArguments, message)), output);
            }
        },
    };
    let mut documents = Documents::new(source, context);
    if T::is_all_or_nothing(options) {
        let inputs = documents.map(|text| input_from::<T>(&text?)).collect();
        let answers = T::run_all(inputs, options, context);
        return answers.into_iter().try_fold(0, |worst, answer| {
            answer_with::<T>(answer, output).map(|status| worse(worst, status))
        });
    }
    documents.try_fold(0, |worst, text| {
        let input = text.and_then(|text| input_from::<T>(&text));
        answer_to::<T>(input, options, context, output).map(|status| worse(worst, status))
    })
}

/// The texts of a stream of JSON values, until its end or the call's cancellation.
pub(super) struct Documents<'a, R> {
    stream: Stream<R>,
    context: &'a Context,
}

impl<'a, R: BufRead> Documents<'a, R> {
    pub(super) fn new(source: R, context: &'a Context) -> Self {
        Self { stream: Stream::new(source), context }
    }
}

impl<R: BufRead> Iterator for Documents<'_, R> {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.context.cancel.is_cancelled() {
                return None;
            }
            return match self.stream.next_text() {
                Ok(text) => text.map(Ok),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Some(Err(Error::new(error::code_of(&error), error::describe(&error)))),
            };
        }
    }
}

fn input_from<T: Tool>(text: &[u8]) -> Result<T::Input, Error> {
    let arguments: Value = json::parse(text).map_err(|error| {
        Error::new(
            Code::InvalidArguments,
            format!("the arguments of {} are not valid JSON: {error}", T::NAME),
        )
    })?;
    Ok(arguments::read::<T>(arguments)?)
}

/// Fills the argument that standard input stands for, if the flags left one open.
fn with_stdin<T: Tool>(mut input: T::Input, context: &Context) -> Result<T::Input, Error> {
    if let Some(text) = T::stdin_argument(&mut input) {
        let mut stdin = Stdin::piped(&format!("pi-{}", T::NAME), &context.cancel)?;
        read_all(&mut stdin, text, context)?;
    }
    Ok(input)
}

/// As `read_to_end`, which would go on waiting after a signal.
pub(super) fn read_all(source: &mut impl Read, text: &mut Vec<u8>, context: &Context) -> Result<(), Error> {
    const STEP: usize = 256 * 1024;
    loop {
        context.cancel.check()?;
        let filled = text.len();
        text.resize(filled + STEP, 0);
        let read = source.read(&mut text[filled..]);
        text.truncate(filled + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::new(error::code_of(&error), error::describe(&error))),
        }
    }
}

/// Does one job and prints its answer; the exit status.
fn answer_to<T: Tool>(
    input: Result<T::Input, Error>,
    options: &T::Options,
    context: &Context,
    output: &mut Output,
) -> io::Result<u8> {
    match input {
        Ok(input) if T::STREAMS && output.is_plain_json() => {
            match output.streamed(|out| T::run_into(input, options, context, out))? {
                Ok(written) => {
                    output.warn(&written.warnings);
                    Ok(written.status)
                }
                Err(error) => answer_with::<T>(Err(error), output),
            }
        }
        input => answer_with::<T>(input.and_then(|input| T::run(input, options, context)), output),
    }
}

fn answer_with<T: Tool>(answer: Result<Outcome<T>, Error>, output: &mut Output) -> io::Result<u8> {
    match answer {
        Ok(outcome) => {
            output.outcome(&outcome)?;
            Ok(outcome.status)
        }
        Err(error) => {
            output.failure(&error)?;
            Ok(status_of::<T>(&error))
        }
    }
}

/// The worse of two statuses: bad arguments over failures, failures over success.
pub(super) fn worse(one: u8, other: u8) -> u8 {
    let rank = |status| match status {
        0 => 0,
        2 => 3,
        1 => 1,
        _ => 2,
    };
    if rank(other) > rank(one) { other } else { one }
}
