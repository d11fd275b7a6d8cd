//! A session's side towards its file: making it, appending to it, noticing what others did to it.

use std::path::Path;

use super::append::{Locked, Writer};
use super::draft::Draft;
use super::error::Error;
use super::head::Head;
use super::kind::EntryType;
use super::live::{Appended, Needs, Session, Stage};
use super::load;
use super::migrate;

impl Session {
    /// Hangs an entry under the leaf and moves the leaf to it. When this fails, nothing has changed.
    pub fn append(&mut self, draft: &Draft) -> Result<Appended, Error> {
        match std::mem::replace(&mut self.stage, Stage::Memory) {
            Stage::Memory => self.push_new(draft),
            Stage::Pending(path) if draft.is_conversation() => {
                let result = self.create_file(&path, draft);
                if result.is_err() {
                    self.stage = Stage::Pending(path);
                }
                result
            }
            Stage::Pending(path) => {
                self.stage = Stage::Pending(path);
                self.push_new(draft)
            }
            Stage::Stored { path, mut end, mut writer, mut needs } => {
                let result = self.append_to_file(draft, &path, &mut end, &mut writer, &mut needs);
                self.stage = Stage::Stored { path, end, writer, needs };
                result
            }
        }
    }

    /// Does now what the first append would do to the file: a header for an empty one, the current
    /// version for an old one.
    pub fn prepare(&mut self) -> Result<(), Error> {
        if let Stage::Stored { path, mut end, mut writer, mut needs } =
            std::mem::replace(&mut self.stage, Stage::Memory)
        {
            let result = self.prepare_file(&path, &mut end, &mut writer, &mut needs);
            self.stage = Stage::Stored { path, end, writer, needs };
            return result;
        }
        Ok(())
    }

    fn prepare_file(
        &mut self,
        path: &Path,
        end: &mut u64,
        writer: &mut Option<Writer>,
        needs: &mut Needs,
    ) -> Result<(), Error> {
        if *needs == Needs::Migration {
            migrate::on_disk(path, &self.context)?;
            *needs = Needs::Nothing;
            self.reload(path, end)?;
        }
        let writer = match writer {
            Some(writer) => writer,
            None => writer.insert(Writer::open(path)?),
        };
        if *needs == Needs::Header {
            let (mut locked, _) = writer.lock(&self.context.cancel)?;
            if locked.len == 0 {
                locked.append(&[self.header.raw(), b"\n"].concat(), self.options.sync)?;
                *end = locked.len;
            } else {
                drop(locked);
                self.reload(path, end)?;
            }
            *needs = Needs::Nothing;
        }
        Ok(())
    }

    fn append_to_file(
        &mut self,
        draft: &Draft,
        path: &Path,
        end: &mut u64,
        writer: &mut Option<Writer>,
        needs: &mut Needs,
    ) -> Result<Appended, Error> {
        self.prepare_file(path, end, writer, needs)?;
        let cancel = self.context.cancel.clone();
        let Some(writer) = writer else { return Err(Error::Aborted) };
        if writer.is_gone() {
            // pi: goes on in a new file without the header and all that was said.
            let lines = self.lines(self.header.raw())?;
            writer.restore(&lines, self.options.sync)?;
            *end = lines.len() as u64;
        }
        let (mut locked, is_other) = writer.lock(&cancel)?;
        if is_other || locked.len < *end {
            self.reload(path, end)?;
        }
        self.catch_up(&mut locked, end)?;
        let (id, line) = self.line(draft)?;
        locked.append(&[&line[..], b"\n"].concat(), self.options.sync)?;
        *end = locked.len;
        self.push(id, line)
    }

    /// Takes in what others have appended meanwhile.
    fn catch_up(&mut self, locked: &mut Locked<'_>, end: &mut u64) -> Result<(), Error> {
        // A last line without its line break was read already; what healed it begins with one.
        if locked.len <= *end {
            return Ok(());
        }
        let bytes = locked.read_from(*end)?;
        let mut values = Vec::new();
        load::each_value(&mut &bytes[..], &mut self.diagnostics, &mut |_, value| values.push(value.to_vec()))
            .map_err(|source| self.reading(source))?;
        for value in values {
            let Ok(head) = Head::scan_line(&value) else { continue };
            if head.entry_type != EntryType::Session {
                self.tree.keep(&value, &head).ok_or_else(|| self.too_large())?;
            }
        }
        *end = locked.len;
        Ok(())
    }

    /// Reads the file anew after somebody replaced it; the leaf stays where it was.
    fn reload(&mut self, path: &Path, end: &mut u64) -> Result<(), Error> {
        let replaced = || Error::Replaced { path: path.to_owned() };
        let loaded = load::load(path, &self.context)?.ok_or_else(replaced)?;
        if loaded.header.id != self.header.id {
            return Err(replaced());
        }
        let leaf = self.tree.keys.text_of(self.leaf);
        self.header = loaded.header;
        self.tree = loaded.tree;
        self.leaf = match leaf {
            Some(leaf) => self.tree.keys.text(leaf.as_bytes()).ok_or_else(|| self.too_large())?,
            None => self.leaf,
        };
        *end = loaded.end;
        Ok(())
    }

    fn create_file(&mut self, path: &Path, draft: &Draft) -> Result<Appended, Error> {
        let (id, line) = self.line(draft)?;
        let mut lines = self.lines(self.header.raw())?;
        lines.extend_from_slice(&line);
        lines.push(b'\n');
        let writer = Writer::create(path, &lines, self.options.sync)?;
        let stored = Stage::Stored {
            path: path.to_owned(),
            end: lines.len() as u64,
            writer: Some(writer),
            needs: Needs::Nothing,
        };
        self.stage = stored;
        self.push(id, line)
    }
}
