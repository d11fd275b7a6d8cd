//! JSON for people: laid out with two blanks, keys and values in colour.

use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

const KEY: &[u8] = b"\x1b[34;1m";
const STRING: &[u8] = b"\x1b[32m";
const SCALAR: &[u8] = b"\x1b[33m";
const NULL: &[u8] = b"\x1b[2m";
const PLAIN: &[u8] = b"\x1b[0m";

/// A serde_json formatter that colours what [`PrettyFormatter`] lays out.
#[derive(Default)]
pub(super) struct Colored {
    layout: PrettyFormatter<'static>,
    in_key: bool,
}

impl Formatter for Colored {
    fn write_null<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        colored(writer, NULL, |writer| CompactFormatter.write_null(writer))
    }

    fn write_bool<W: ?Sized + Write>(&mut self, writer: &mut W, value: bool) -> io::Result<()> {
        colored(writer, SCALAR, |writer| CompactFormatter.write_bool(writer, value))
    }

    fn write_i64<W: ?Sized + Write>(&mut self, writer: &mut W, value: i64) -> io::Result<()> {
        colored(writer, SCALAR, |writer| CompactFormatter.write_i64(writer, value))
    }

    fn write_u64<W: ?Sized + Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        colored(writer, SCALAR, |writer| CompactFormatter.write_u64(writer, value))
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        colored(writer, SCALAR, |writer| CompactFormatter.write_f64(writer, value))
    }

    fn begin_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.in_key { KEY } else { STRING })?;
        writer.write_all(b"\"")
    }

    fn end_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\"")?;
        writer.write_all(PLAIN)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.in_key = true;
        self.layout.begin_object_key(writer, first)
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.in_key = false;
        self.layout.end_object_key(writer)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.layout.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_object(writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_object_value(writer)
    }
}

fn colored<W: ?Sized + Write>(
    writer: &mut W,
    color: &[u8],
    value: impl FnOnce(&mut W) -> io::Result<()>,
) -> io::Result<()> {
    writer.write_all(color)?;
    value(writer)?;
    writer.write_all(PLAIN)
}
