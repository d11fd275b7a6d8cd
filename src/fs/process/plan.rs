//! A command in the form `execve` takes: all memory is made before the fork, none after it.

use std::ffi::{CString, OsStr, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use crate::fs::process::Command;

/// What the forked processes need of a command.
pub(super) struct Plan {
    pub(super) program: CString,
    pub(super) cwd: CString,
    pub(super) arguments: Pointers,
    pub(super) environment: Pointers,
}

/// Strings and the null-terminated array of pointers to them.
pub(super) struct Pointers {
    pointers: Vec<*const c_char>,
    _strings: Vec<CString>,
}

impl Plan {
    /// Fails on a string with a NUL in it.
    pub(super) fn new(command: &Command) -> io::Result<Self> {
        let program = c_string(command.program.as_os_str())?;
        let arguments = command.arguments.iter().map(|argument| c_string(argument));
        let environment = command.environment.iter().map(|(name, value)| {
            let mut variable = name.clone();
            variable.push("=");
            variable.push(value);
            c_string(&variable)
        });
        Ok(Self {
            cwd: c_string(command.cwd.as_os_str())?,
            arguments: Pointers::new(std::iter::once(Ok(program.clone())).chain(arguments))?,
            environment: Pointers::new(environment)?,
            program,
        })
    }
}

impl Pointers {
    fn new(strings: impl Iterator<Item = io::Result<CString>>) -> io::Result<Self> {
        let strings: Vec<CString> = strings.collect::<io::Result<_>>()?;
        let pointers = strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect();
        Ok(Self { pointers, _strings: strings })
    }

    pub(super) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}
